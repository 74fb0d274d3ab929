"""The result of a selection as plain data, for JSON files and reports.

Numbers are finite, or None where there is none. The same data and parameters give the same result but for ``timing``.
"""

from __future__ import annotations

import json
import math
import platform
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from typing import Any

import numpy as np

from bahsic import __version__
from bahsic.data.entries import ColumnRole
from bahsic.data.prepared import Prepared, prepared
from bahsic.data.tables import Table
from bahsic.inference.predictability import interactions, predictability_alone
from bahsic.inference.redundancy import redundancy
from bahsic.inference.scores import hsic_scores
from bahsic.kernels import label_kernel
from bahsic.kernels.vector import kernel_on_features
from bahsic.names import target_name
from bahsic.report.neighbours import near_copies
from bahsic.report.schema import SCHEMA
from bahsic.report.selector import (
    candidate_mask,
    display_order,
    fold_counts,
    measures_of,
    outcome_of_selector,
    search_order,
    selected_mask,
)
from bahsic.report.views import add_effects, feature_views, n_missing, pair_view
from bahsic.report.words import LEAST_TOGETHER, MOST_PAIRED, headline_of, plural

# Selected features whose redundancy, near-duplicates and pictures are recorded.
MOST_DESCRIBED = 30

_FALSE_DISCOVERIES = 0.1

# Parameters of the selector that say how data become columns.
_OPTIONS = ("standardize", "categorical_features", "missing", "identifiers")

_STEP = ("n_features", "hsic", "standard_error", "predictability", "predictability_error", "score", "ridge")


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
        schema, kind, headline, versions, input, parameters, seed, criterion, kernel, block_size, selected, kept,
        n_features, reason, predictability, predictability_error, score, score_name, n_folds, n_judged, predicts, leaks,
        columns, ranking, path, redundancy, near_copies, views, interactions, pair, stability, test. Where nothing
        predicts the target, ``selected`` is empty and ``kept`` has what `transform` keeps nevertheless.

    Examples
    --------
    >>> from bahsic import BAHSIC
    >>> from bahsic.datasets import make_xor
    >>> X, y, _ = make_xor(n_samples=200, n_features=6, random_state=0)
    >>> selector = BAHSIC(2).fit(X, y)
    >>> sorted(selection_result(selector, X, y, list("abcdef"))["selected"])
    ['a', 'b']
    """
    kernel = kernel_on_features(selector.kernel_, "single features")
    data = prepared(X, kernel, **{name: getattr(selector, name) for name in _OPTIONS}, whole=True)
    return _Selection(selector, data, y, list(names)).record(groups, test, stability, heading)


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
    """Return the JSON text of a result, in ASCII, so that no name can harm a terminal."""
    return json.dumps(_finite(result), indent=1, allow_nan=False) + "\n"


def ranked(scores: Any, pvalues: Any, names: Sequence[str], order: Any) -> list[dict[str, Any]]:
    """Return features in order, each with its rank, its HSIC alone and the p-value of that."""
    return [
        {"feature": names[j], "column": int(j), "rank": rank, "score": float(scores[j]), "pvalue": float(pvalues[j])}
        for rank, j in enumerate(order, start=1)
    ]


def column_records(columns: Sequence[ColumnRole], names: Sequence[str], table: Table) -> list[dict[str, Any]]:
    """Return the roles of columns as plain data, with the number of missing values of those that are used."""
    gaps = [0 if role.left_out or not table.missing[j] else n_missing(table, j) for j, role in enumerate(columns)]
    return [
        {**role._asdict(), "name": name, "n_missing": n} for role, name, n in zip(columns, names, gaps, strict=True)
    ]


@dataclass(frozen=True)
class _Selection:
    """A fitted selector with its data and the names of the features."""

    selector: Any
    data: Prepared
    y: Any
    names: list[str]

    @cached_property
    def in_order(self) -> Prepared:
        """The data of all samples in their own order, which the search may not have used."""
        return self.data.ordered(None)

    @property
    def target_kernel(self) -> Any:
        """The kernel on the labels as an option, the one that was chosen in place of "auto"."""
        given = self.selector.target_kernel
        return self.selector.target_kernel_ if isinstance(given, str) and given == "auto" else given

    def named(self, columns: Iterable[int]) -> list[str]:
        """Return the names of columns."""
        return [self.names[j] for j in columns]

    def record(
        self, groups: Sequence[Any] | None, test: Any, stability: Mapping[str, Any] | None, heading: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return everything that is known as plain data."""
        selector, order = self.selector, display_order(self.selector)
        selected = [int(j) for j in order if selected_mask(selector)[j]]
        described = selected[:MOST_DESCRIBED]
        views = feature_views(self.data, self.y, selector.target_kernel_, described, self.names)
        add_effects(views, self.in_order, self.y, selected, described)
        pairs = self.pairs(selected)
        result = {
            "headline": headline_of(
                outcome_of_selector(selector), target_name(heading.get("input", {}).get("target"))
            ).ascii,
            **result_heading("select", **heading),
            "criterion": selector.criterion,
            "kernel": str(selector.kernel_),
            "block_size": selector.block_size_,
            "selected": self.named(selected),
            "kept": [] if selected else self.named(j for j in order if selector.support_[j]),
            "n_features": len(selected),
            "reason": _reason(selector),
            **measures_of(selector),
            "leaks": list(getattr(selector, "leaks_", ())),
            "columns": column_records(selector.columns_, self.names, self.data.table),
            "ranking": self.ranking(order, selected, groups, pairs, test),
            "path": [self.step(step) for step in selector.path_],
            **self.similarities(described),
            "views": views,
            "interactions": pairs,
            "pair": self.pair(pairs) if views else None,
            "stability": None if stability is None else self.stability(stability, order),
            "test": None,
        }
        if test is not None:
            result["test"] = {"pvalue": test.pvalue, "split_pvalues": test.split_pvalues.tolist()}
            result["test"]["discoveries"] = self.named(test.discoveries(_FALSE_DISCOVERIES))
        return {"schema": SCHEMA, "kind": "select", **result}

    def ranking(
        self,
        order: Any,
        selected: list[int],
        groups: Sequence[Any] | None,
        pairs: Sequence[Mapping[str, Any]],
        test: Any,
    ) -> list[dict[str, Any]]:
        """Return an entry for each feature."""
        selector, took_part = self.selector, candidate_mask(self.selector)
        place = {int(j): at for at, j in enumerate(filter(took_part.__getitem__, search_order(selector)), start=1)}
        folds = None if fold_counts(selector) is None else selector.selection_frequencies_
        options = {name: getattr(selector, name) for name in ("n_jobs", *_OPTIONS)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit has already warned
            scores = hsic_scores(self.data, self.y, target_kernel=self.target_kernel, **options)
        alone: dict[int, float] = {}
        if selector.criterion == "prediction" and selected:
            labels, described = label_kernel(self.y, self.target_kernel), selected[:MOST_DESCRIBED]
            values = predictability_alone(self.in_order, labels, described, self.data.kernel)
            alone = dict(zip(described, values, strict=True))
        entries = []
        for entry in ranked(*scores, self.names, order):
            j, group = entry["column"], None if groups is None else str(groups[entry["column"]])
            dependence = {"score": entry.pop("score"), "pvalue": entry.pop("pvalue")}
            worth = float(selector.scores_[j]) if j in place and np.isfinite(selector.scores_[j]) else None
            entry |= {"selected": j in selected, **dependence, "group": group, "relevance": worth}
            entry |= {"frequency": None if folds is None else float(folds[j]), "alone": alone.get(j)}
            entry |= {"place": place.get(j), **_partner(entry["feature"] if group is None else group, pairs)}
            entries.append(entry | {"needed": None if test is None else float(test.feature_pvalues[j])})
        return entries

    def pairs(self, selected: list[int]) -> list[dict[str, Any]]:
        """Return pairs of the best selected features, or groups, with their interaction, the best pair first."""
        if self.selector.criterion != "prediction" or not selected:
            return []
        by_index = self.selector.feature_groups is None and self.data.names is None
        return [
            {"features": self.named(pair[:2]) if by_index else list(map(str, pair[:2])), "together": pair.together}
            for pair in interactions(self.selector, self.in_order, self.y, n_features=MOST_PAIRED)
        ]

    def pair(self, pairs: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
        """Return the picture of the two features that work together best, if any do."""
        if not pairs or pairs[0]["together"] < LEAST_TOGETHER or not set(pairs[0]["features"]) <= set(self.names):
            return None
        pair = [self.names.index(name) for name in pairs[0]["features"]]
        view = pair_view(self.data, self.y, self.selector.target_kernel_, pair, self.names)
        return {"together": pairs[0]["together"], **view}

    def step(self, step: Any) -> dict[str, Any]:
        """Return a step of the path."""
        parameter = None if step.parameter is None else float(step.parameter)
        numbers = {name: getattr(step, name) for name in _STEP}
        return {**numbers, "parameter": parameter, "features": self.named(step.features)}

    def similarities(self, features: list[int]) -> dict[str, Any]:
        """Return the redundancy of features, and for each the similar ones that were not selected."""
        if not features:
            return {"redundancy": None, "near_copies": []}
        table = redundancy(self.data, features, **{name: getattr(self.selector, name) for name in _OPTIONS}).tolist()
        similar = near_copies(self.data, features, self.selector.kernel_)
        copies = [[{"feature": self.names[i], "similarity": value} for i, value in nearest] for nearest in similar]
        near = [{"feature": self.names[j], "copies": entries} for j, entries in zip(features, copies, strict=True)]
        return {"redundancy": {"features": self.named(features), "table": table}, "near_copies": near}

    def stability(self, resampled: Mapping[str, Any], order: Any) -> dict[str, Any]:
        """Return the frequencies of the features that were selected in any resample, in the order of the ranking."""
        shares = [(self.names[j], float(resampled["frequencies"][j])) for j in order]
        features = [{"feature": name, "frequency": share} for name, share in shares if share > 0]
        return {"n_resamples": resampled["n_resamples"], "subsample": resampled["subsample"], "features": features}


def _partner(name: str, pairs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the feature that one works with best, and what the two are worth together beyond their sum."""
    best = next((pair for pair in pairs if name in pair["features"]), None)
    if best is None or best["together"] < LEAST_TOGETHER:
        return {"partner": None, "together": None}
    first, second = best["features"]
    return {"partner": second if first == name else first, "together": best["together"]}


def _reason(selector: Any) -> str:
    """Return why so many features were selected."""
    number = selector.n_features_to_select
    automatic = next((step.reason for step in selector.path_ if step.reason), None)
    if automatic is not None or not isinstance(number, int):
        return automatic or f"a fraction of {number} requested"
    return f"{plural(number, 'feature' if selector.feature_groups is None else 'group')} requested"


def _finite(value: Any) -> Any:
    """Return the same data with None in place of numbers that JSON does not have."""
    if isinstance(value, Mapping):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
