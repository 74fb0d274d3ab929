"""The result of a selection as plain data, for JSON files and reports.

Numbers are finite, or None where there is none. The same data and parameters give the same result but for ``timing``.
"""

from __future__ import annotations

import json
import platform
import warnings
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from bahsic import __version__
from bahsic.data.entries import ColumnRole
from bahsic.data.prepared import Prepared, prepared
from bahsic.data.tables import Table
from bahsic.inference.predictability import predictability_alone
from bahsic.inference.scores import hsic_scores, redundancy
from bahsic.kernels import label_kernel
from bahsic.kernels.vector import kernel_on_features
from bahsic.names import target_name
from bahsic.report import selector as reading
from bahsic.report.schema import LEAST_TOGETHER, MEASURES, SCHEMA
from bahsic.report.views import feature_views, near_copies, numbers_of, pair_view
from bahsic.report.words import headline_of, plural

MOST_DESCRIBED = 30  # selected features whose redundancy, near-duplicates and pictures are recorded
_FALSE_DISCOVERIES = 0.1
_HOW = ("standardize", "categorical_features", "missing", "identifiers")  # data become columns
_MEASURED = ("hsic", "standard_error", "predictability", "predictability_error", "score", "ridge", "parameter")


def selection_result(
    selector: Any,
    X: Any,
    y: Any,
    names: Sequence[str],
    *,
    groups: Sequence[Any] | None = None,
    test: Any = None,
    stability: Mapping[str, Any] | None = None,
    **heading: Any,
) -> dict[str, Any]:
    """Return the result of a fitted `BAHSIC` or `FOHSIC` as plain data.

    Parameters
    ----------
    selector : BAHSIC or FOHSIC, fitted to X and y
    X : array-like, sparse matrix or dataframe of shape (m, d)
        The data, or what ``bahsic.data.prepared.prepared`` made of them.
    y : array-like of shape (m,)
    names : sequence of d str
    groups : sequence of d labels, optional
        The group of each feature.
    test : SelectionTest, optional
    stability : mapping, optional
        ``n_resamples``, ``subsample`` and the ``frequencies`` of the d features, see `bahsic.selection_frequencies`.
    **heading
        ``input``, ``parameters`` and ``seed``, as they are.

    Returns
    -------
    dict
        What ``bahsic select --json`` prints, but for the times. Where nothing predicts the target, ``selected`` is
        empty and ``kept`` has what `transform` keeps nevertheless.

    Examples
    --------
    >>> from bahsic import BAHSIC
    >>> from bahsic.datasets import make_xor
    >>> X, y, _ = make_xor(n_samples=200, n_features=6, random_state=0)
    >>> selector = BAHSIC(2).fit(X, y)
    >>> sorted(selection_result(selector, X, y, list("abcdef"))["selected"])
    ['a', 'b']
    """
    kernel, options = kernel_on_features(selector.kernel_, "single features"), {n: getattr(selector, n) for n in _HOW}
    # All samples in their own order, which the search may not have used.
    data, names = prepared(X, kernel, **options, whole=True).ordered(None), list(names)
    known, order = reading.measured(selector), reading.display_order(selector).tolist()
    selected = order[: known["n_features"]]
    described = selected[:MOST_DESCRIBED]
    pairs = reading.pairs_of(selector, names, data, y)
    views = feature_views(data, y, selector.target_kernel_, selected, described, names)
    pair: dict[str, Any] | None = None
    if views and pairs and pairs[0]["together"] >= LEAST_TOGETHER and set(pairs[0]["features"]) <= set(names):
        best = [names.index(name) for name in pairs[0]["features"]]
        pair = {"together": pairs[0]["together"], **pair_view(data, y, selector.target_kernel_, best, names)}
    similar = redundancy(data, described, **options).tolist() if described else []
    ranking = _ranking(selector, data, y, names, order)
    for j, row in zip(order, ranking, strict=True):
        row["group"] = None if groups is None else str(groups[j])
        row.update(reading.partner_in(pairs, row["feature"] if groups is None else row["group"]))
        row["needed"] = None if test is None else float(test.feature_pvalues[j])
    if stability is not None:
        how_often = {name: value for name, value in stability.items() if name != "frequencies"}
        often = [(names[j], float(stability["frequencies"][j])) for j in order]
        features = [{"feature": name, "frequency": frequency} for name, frequency in often if frequency > 0]
        stability = {**how_often, "features": features}
    if test is not None:
        discoveries = [names[j] for j in test.discoveries(_FALSE_DISCOVERIES)]
        test = {"pvalue": test.pvalue, "split_pvalues": test.split_pvalues.tolist(), "discoveries": discoveries}
    target = target_name(heading.get("input", {}).get("target"))
    return {
        **dict.fromkeys(("schema", "kind")),
        "headline": headline_of(known, target).ascii,
        **result_heading("select", **heading),
        "criterion": selector.criterion,
        "kernel": str(selector.kernel_),
        "block_size": selector.block_size_,
        "selected": [names[j] for j in selected],
        "kept": [] if selected else [names[j] for j in order if selector.support_[j]],
        "n_features": len(selected),
        "reason": _reason(selector),
        **{name: known[name] for name in (*MEASURES, "leaks")},
        "columns": column_records(selector.columns_, names, data.table),
        "ranking": ranking,
        "path": [
            {name: step[name] for name in ("n_features", *_MEASURED)}
            | {"features": [names[j] for j in step["features"]]}
            for step in known["path"]
        ],
        "redundancy": {"features": [names[j] for j in described], "table": similar} if described else None,
        "near_copies": near_copies(data, described, names) if described else [],
        "views": views,
        "interactions": pairs,
        "pair": pair,
        "stability": stability,
        "test": test,
    }


def result_heading(kind: str, **heading: Any) -> dict[str, Any]:
    """Return the beginning of all results: schema, versions, and the given entries."""
    libraries = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    versions = {"bahsic": __version__, "python": platform.python_version(), **libraries}
    return {"schema": SCHEMA, "kind": kind, "versions": versions, **heading}


def input_record(data: Any, sha256: str, target_kernel: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the file that the data come from and how it was read; never its folder."""
    return {
        "name": data.source.name,
        "sha256": sha256,
        "n_samples": int(data.X.shape[0]),
        "n_features": int(data.X.shape[1]),
        "target": data.target,
        "target_kernel": target_kernel,
        "options": {name: value for name, value in options.items() if value is not None},
        **({"notes": list(data.notes)} if getattr(data, "notes", ()) else {}),
    }


def as_json(result: Mapping[str, Any]) -> str:
    """Return the JSON text of a result, in ASCII, so that no name can harm a terminal; null for NaN and infinity."""
    finite = json.loads(json.dumps(result), parse_constant=lambda _: None)
    return json.dumps(finite, indent=1, allow_nan=False) + "\n"


def column_records(columns: Sequence[ColumnRole], names: Sequence[str], table: Table) -> list[dict[str, Any]]:
    """Return the roles of columns as plain data, with the number of missing values of those that are used."""
    return [
        {
            **role._asdict(),
            "name": name,
            "n_missing": 0 if role.left_out or not table.missing[j] else int(np.isnan(numbers_of(table, j)).sum()),
        }
        for j, (role, name) in enumerate(zip(columns, names, strict=True))
    ]


def _ranking(selector: Any, data: Prepared, y: Any, names: Sequence[str], order: Sequence[int]) -> list[dict[str, Any]]:
    """Return an entry for each feature; its group, partner and p-value are still to be known."""
    selected, folds = order[: reading.measured(selector)["n_features"]], reading.fold_shares(selector)
    took_part = filter(reading.candidate_mask(selector).__getitem__, reading.search_order(selector).tolist())
    place = {j: at for at, j in enumerate(took_part, start=1)}
    given = selector.target_kernel
    target_kernel = selector.target_kernel_ if isinstance(given, str) and given == "auto" else given
    how = {name: getattr(selector, name) for name in (*_HOW, "n_jobs")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit has already warned
        scores, pvalues = hsic_scores(data, y, target_kernel=target_kernel, **how)
    alone: dict[int, float] = {}
    if selector.criterion == "prediction" and selected:
        labels, described = label_kernel(y, target_kernel), selected[:MOST_DESCRIBED]
        alone = dict(zip(described, predictability_alone(data, labels, described, data.kernel), strict=True))
    return [
        {
            "feature": names[j],
            "column": j,
            "rank": rank,
            "selected": j in selected,
            "score": float(scores[j]),
            "pvalue": float(pvalues[j]),
            "group": None,
            "relevance": float(selector.scores_[j]) if j in place and np.isfinite(selector.scores_[j]) else None,
            "frequency": None if folds is None else float(folds[j]),
            "alone": alone.get(j),
            "place": place.get(j),
        }
        for rank, j in enumerate(order, start=1)
    ]


def _reason(selector: Any) -> str:
    """Return why so many features were selected."""
    number = selector.n_features_to_select
    automatic = next((step.reason for step in selector.path_ if step.reason), None)
    if automatic is not None or not isinstance(number, int):
        return automatic or f"a fraction of {number} requested"
    return f"{plural(number, 'feature' if selector.feature_groups is None else 'group')} requested"
