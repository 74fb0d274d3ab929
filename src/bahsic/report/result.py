"""The result of a selection as plain data, for JSON files and reports.

Numbers are finite, or None where there is none. The same data and parameters give the same result but for ``timing``.
"""

from __future__ import annotations

import json
import math
import platform
import warnings
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from bahsic import __version__
from bahsic.data.prepared import Prepared, prepared
from bahsic.inference.interactions import interactions
from bahsic.inference.predictability import predictability_alone
from bahsic.inference.redundancy import redundancy
from bahsic.inference.scores import hsic_scores
from bahsic.kernels import label_kernel
from bahsic.kernels.vector import kernel_on_features
from bahsic.names import target_name
from bahsic.report.drawable import LEAST_TOGETHER, MOST_PAIRED, fold_counts, order_of, path_of, search_order
from bahsic.report.headline import headline_of, measures_of, outcome_of_selector
from bahsic.report.neighbours import near_copies
from bahsic.report.page import SCHEMA
from bahsic.report.views import add_effects, feature_views, pair_view

# Number of selected features whose redundancy, near-copies and pictures are recorded.
MOST_DESCRIBED = 30

_FALSE_DISCOVERIES = 0.1

# Parameters of the selector that say how data become columns.
_OPTIONS = ("standardize", "categorical_features", "missing", "identifiers")


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
    """The result of a fitted `BAHSIC` or `FOHSIC`.

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
        schema, kind, headline, versions, input, parameters, seed, criterion, kernel, block_size, selected, n_features,
        reason, predictability, predictability_error, score, score_name, n_folds, n_judged, predicts, leaks, columns,
        ranking, path, redundancy, near_copies, views, interactions, pair, stability, test.

    Examples
    --------
    >>> from bahsic import BAHSIC
    >>> from bahsic.datasets import make_xor
    >>> X, y, _ = make_xor(n_samples=200, n_features=6, random_state=0)
    >>> selector = BAHSIC(2).fit(X, y)
    >>> sorted(selection_result(selector, X, y, list("abcdef"))["selected"])
    ['a', 'b']
    """
    data = _prepared(selector, X)
    order = order_of(selector)
    selected = [int(j) for j in order if selector.support_[j]]
    described = selected[:MOST_DESCRIBED]
    pairs = _pairs(selector, data, y, names)
    views = feature_views(data, y, selector.target_kernel_, described, names)
    if getattr(selector, "predicts_", True):
        add_effects(views, data, y, selected, described)
    return {
        "schema": SCHEMA,
        "kind": "select",
        "headline": _headline(selector, **heading),
        **result_heading("select", **heading),
        "criterion": selector.criterion,
        "kernel": str(selector.kernel_),
        "block_size": selector.block_size_,
        "selected": [names[j] for j in selected],
        "n_features": len(selected),
        "reason": _reason(selector),
        **measures_of(selector),
        "leaks": list(getattr(selector, "leaks_", ())),
        "columns": [{**role._asdict(), "name": name} for role, name in zip(selector.columns_, names, strict=True)],
        "ranking": _with_verdicts(
            _ranking(selector, data, y, order, names, groups, _alone(selector, data, y, described)), pairs, test
        ),
        "path": [_step(step, names) for step in selector.path_],
        "redundancy": _redundancy(selector, data, described, names),
        "near_copies": _near_copies(selector, data, described, names),
        "views": views,
        "interactions": pairs,
        "pair": _strongest(pairs, views, data, y, selector.target_kernel_, names),
        "stability": _stability(stability, order, names),
        "test": None if test is None else _test(test, names),
    }


def result_heading(kind: str, **heading: Any) -> dict[str, Any]:
    """The beginning of all results: the schema, versions, and the given entries."""
    libraries = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    versions = {"bahsic": __version__, "python": platform.python_version(), **libraries}
    return {"schema": SCHEMA, "kind": kind, "versions": versions, **heading}


def input_record(data: Any, sha256: str, target_kernel: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The file that the data come from and how it was read; never its folder."""
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
    """The JSON text of a result, in ASCII, so that no name can harm a terminal."""
    return json.dumps(_finite(result), indent=1, allow_nan=False) + "\n"


def ranked(scores: Any, pvalues: Any, names: Sequence[str], order: Any) -> list[dict[str, Any]]:
    """Features in order, each with its rank, its HSIC alone and the p-value of that."""
    return [
        {"feature": names[j], "column": int(j), "rank": rank, "score": float(scores[j]), "pvalue": float(pvalues[j])}
        for rank, j in enumerate(order, start=1)
    ]


def _prepared(selector: Any, X: Any) -> Prepared:
    """X by the options of the selector, for the kernel that it used; of all samples, also those that took no part."""
    kernel = kernel_on_features(selector.kernel_, "single features")
    data = prepared(X, kernel, **{name: getattr(selector, name) for name in _OPTIONS}, whole=True)
    return data.weighted(None).ordered(None)


def _ranking(
    selector: Any,
    data: Prepared,
    y: Any,
    order: Any,
    names: Sequence[str],
    groups: Sequence[Any] | None,
    alone: Mapping[int, float],
) -> list[dict[str, Any]]:
    options = {name: getattr(selector, name) for name in ("target_kernel", "n_jobs", *_OPTIONS)}
    if isinstance(options["target_kernel"], str) and options["target_kernel"] == "auto":
        options["target_kernel"] = selector.target_kernel_  # the fit has told of the choice
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit has told what matters
        scores, pvalues = hsic_scores(data, y, kernel=selector.kernel_, **options)
    entries, counts = ranked(scores, pvalues, names, order), fold_counts(selector)
    used = [j for j in search_order(selector) if not selector.columns_[j].left_out or selector.support_[j]]
    place = {int(j): at for at, j in enumerate(used, start=1)}
    for entry, j in zip(entries, order, strict=True):
        group = None if groups is None else str(groups[j])
        dependence = {"score": entry.pop("score"), "pvalue": entry.pop("pvalue")}
        relevance = float(selector.scores_[j]) if int(j) in place and np.isfinite(selector.scores_[j]) else None
        frequency = None if counts is None else float(selector.selection_frequencies_[j])
        entry.update(selected=bool(selector.support_[j]), **dependence, group=group)
        entry.update(relevance=relevance, frequency=frequency, alone=alone.get(int(j)), place=place.get(int(j)))
    return entries


def _alone(selector: Any, data: Prepared, y: Any, features: list[int]) -> dict[int, float]:
    """R2 of the regression on each of some features alone, with the criterion "prediction"."""
    if selector.criterion != "prediction":
        return {}
    labels = label_kernel(y, selector.target_kernel_ if selector.target_kernel == "auto" else selector.target_kernel)
    kernel = kernel_on_features(selector.kernel_, "single features")
    return dict(zip(features, predictability_alone(data, labels, features, kernel), strict=True))


def _pairs(selector: Any, data: Prepared, y: Any, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the pairs of the best selected features, or groups, with the R2 that each adds, the best pair first."""
    if selector.criterion != "prediction" or not getattr(selector, "predicts_", True):
        return []
    by_index = selector.feature_groups is None and data.names is None
    found = interactions(selector, data, y, n_features=MOST_PAIRED)
    labels = [[names[one] if by_index else str(one) for one in pair[:2]] for pair in found]
    return [{"features": label, "together": pair.together} for label, pair in zip(labels, found, strict=True)]


def _with_verdicts(
    ranking: list[dict[str, Any]], pairs: Sequence[Mapping[str, Any]], test: Any
) -> list[dict[str, Any]]:
    """The ranking with the partner of each feature, and the p-value of the hypothesis that it is not needed."""
    for entry in ranking:
        name = entry["feature"] if entry["group"] is None else entry["group"]
        best = next((pair for pair in pairs if name in pair["features"]), None)
        entry |= {"partner": None, "together": None}
        if best is not None and best["together"] >= LEAST_TOGETHER:
            first, second = best["features"]
            entry |= {"partner": second if first == name else first, "together": best["together"]}
        entry["needed"] = None if test is None else float(test.feature_pvalues[entry["column"]])
    return ranking


def _strongest(
    pairs: Sequence[Mapping[str, Any]],
    views: Sequence[Any],
    data: Prepared,
    y: Any,
    target_kernel: str,
    names: Sequence[str],
) -> dict[str, Any] | None:
    """The picture of the two features that work together best, if any do and there are pictures at all."""
    if not views or not pairs or pairs[0]["together"] < LEAST_TOGETHER or not set(pairs[0]["features"]) <= set(names):
        return None
    pair = [list(names).index(name) for name in pairs[0]["features"]]
    return {"together": pairs[0]["together"], **pair_view(data, y, target_kernel, pair, names)}


def _test(test: Any, names: Sequence[str]) -> dict[str, Any]:
    discoveries = [names[j] for j in test.discoveries(_FALSE_DISCOVERIES)]
    return {"pvalue": test.pvalue, "split_pvalues": test.split_pvalues.tolist(), "discoveries": discoveries}


def _step(step: Any, names: Sequence[str]) -> dict[str, Any]:
    told = ("n_features", "hsic", "standard_error", "predictability", "predictability_error", "score", "ridge")
    return {
        **{name: getattr(step, name) for name in told},
        "parameter": None if step.parameter is None else float(step.parameter),
        "features": [names[j] for j in step.features],
    }


def _headline(selector: Any, **heading: Any) -> str:
    target = heading.get("input", {}).get("target")
    outcome = outcome_of_selector(selector, path_of(selector))
    return headline_of(outcome, target_name(target)).ascii


def _reason(selector: Any) -> str:
    """The reason for this number of features, in words."""
    wanted, told = selector.n_features_to_select, [step.reason for step in selector.path_ if step.reason]
    if told or not isinstance(wanted, int):
        return told[0] if told else f"a share of {wanted} was asked for"
    kind = "features" if selector.feature_groups is None else "groups"
    return f"{wanted} {kind if wanted != 1 else kind[:-1]} asked for"


def _redundancy(selector: Any, data: Prepared, features: list[int], names: Sequence[str]) -> dict[str, Any]:
    """Normalised HSIC of each two of some features."""
    options = {name: getattr(selector, name) for name in _OPTIONS}
    values = redundancy(data, features, kernel=selector.kernel_, **options)
    return {"features": [names[j] for j in features], "table": values.tolist()}


def _near_copies(selector: Any, data: Prepared, features: list[int], names: Sequence[str]) -> list[dict[str, Any]]:
    """For each of some selected features the similar ones that were left out."""
    found = near_copies(data, features, selector.kernel_)
    return [
        {"feature": names[j], "copies": [{"feature": names[i], "similarity": value} for i, value in copies]}
        for j, copies in zip(features, found, strict=True)
    ]


def _stability(found: Mapping[str, Any] | None, order: Any, names: Sequence[str]) -> dict[str, Any] | None:
    """Frequencies of the features that were selected in any resample, in the order of the ranking."""
    if found is None:
        return None
    frequencies = [(names[j], float(found["frequencies"][j])) for j in order if found["frequencies"][j] > 0]
    told = [{"feature": name, "frequency": frequency} for name, frequency in frequencies]
    return {"n_resamples": found["n_resamples"], "subsample": found["subsample"], "features": told}


def _finite(value: Any) -> Any:
    """The same data with None in place of numbers that JSON does not have."""
    if isinstance(value, Mapping):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
