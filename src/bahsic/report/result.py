"""The result of a selection as plain data, for JSON files and reports.

Numbers are finite, or None where there is none. The same data and parameters give the same result but for ``timing``.
"""

from __future__ import annotations

import json
import math
import platform
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from typing import Any

import numpy as np

from bahsic import __version__
from bahsic.data.prepared import Prepared, prepared
from bahsic.data.roles import ColumnRole
from bahsic.data.tables import Table
from bahsic.inference.predictability import interactions, predictability_alone
from bahsic.inference.redundancy import redundancy
from bahsic.inference.scores import hsic_scores
from bahsic.kernels import label_kernel
from bahsic.kernels.vector import kernel_on_features
from bahsic.names import target_name
from bahsic.report.headline import headline_of, measures_of, outcome_of_selector
from bahsic.report.neighbours import near_copies
from bahsic.report.schema import SCHEMA
from bahsic.report.selector import candidate_mask, display_order, fold_counts, path_of, predicts, search_order
from bahsic.report.views import add_effects, feature_views, n_missing, pair_view
from bahsic.report.words import LEAST_TOGETHER, MOST_PAIRED

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
    """Return the result of a fitted `BAHSIC` or `FOHSIC`.

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

    def record(
        self, groups: Sequence[Any] | None, test: Any, stability: Mapping[str, Any] | None, heading: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return everything that is known as plain data."""
        selector, names, order = self.selector, self.names, display_order(self.selector)
        support = [int(j) for j in order if selector.support_[j]]
        selected = support if predicts(selector) else []
        views = feature_views(self.data, self.y, selector.target_kernel_, selected[:MOST_DESCRIBED], names)
        add_effects(views, self.in_order, self.y, selected, selected[:MOST_DESCRIBED])
        pairs = self._pairs(selected)
        return {
            "schema": SCHEMA,
            "kind": "select",
            "headline": self._headline(heading),
            **result_heading("select", **heading),
            "criterion": selector.criterion,
            "kernel": str(selector.kernel_),
            "block_size": selector.block_size_,
            "selected": [names[j] for j in selected],
            "kept": [] if selected else [names[j] for j in support],
            "n_features": len(selected),
            "reason": _reason(selector),
            **measures_of(selector),
            "leaks": list(getattr(selector, "leaks_", ())),
            "columns": column_records(selector.columns_, names, self.data.table),
            "ranking": self._ranking(order, selected, groups, pairs, test),
            "path": [self._step(step) for step in selector.path_],
            "redundancy": self._redundancy(selected[:MOST_DESCRIBED]),
            "near_copies": self._near_copies(selected[:MOST_DESCRIBED]),
            "views": views,
            "interactions": pairs,
            "pair": self._pair(pairs) if views else None,
            "stability": None if stability is None else self._stability(stability, order),
            "test": None if test is None else self._test(test),
        }

    def _headline(self, heading: Mapping[str, Any]) -> str:
        target = heading.get("input", {}).get("target")
        return headline_of(outcome_of_selector(self.selector, path_of(self.selector)), target_name(target)).ascii

    def _ranking(
        self,
        order: Any,
        selected: list[int],
        groups: Sequence[Any] | None,
        pairs: Sequence[Mapping[str, Any]],
        test: Any,
    ) -> list[dict[str, Any]]:
        selector, alone = self.selector, self._alone(selected[:MOST_DESCRIBED])
        took_part = candidate_mask(selector)
        place = {int(j): at for at, j in enumerate(filter(took_part.__getitem__, search_order(selector)), start=1)}
        folds = None if fold_counts(selector) is None else selector.selection_frequencies_
        entries = []
        for entry in ranked(*self._dependences(), self.names, order):
            j, group = entry["column"], None if groups is None else str(groups[entry["column"]])
            dependence = {"score": entry.pop("score"), "pvalue": entry.pop("pvalue")}
            worth = float(selector.scores_[j]) if j in place and np.isfinite(selector.scores_[j]) else None
            entry |= {"selected": j in selected, **dependence, "group": group, "relevance": worth}
            entry |= {"frequency": None if folds is None else float(folds[j]), "alone": alone.get(j)}
            entry |= {"place": place.get(j), **_partner(entry["feature"] if group is None else group, pairs)}
            entries.append(entry | {"needed": None if test is None else float(test.feature_pvalues[j])})
        return entries

    def _dependences(self) -> tuple[Any, Any]:
        """Return HSIC of each feature alone, and its p-value."""
        options = {name: getattr(self.selector, name) for name in ("n_jobs", *_OPTIONS)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit has already warned
            return hsic_scores(self.data, self.y, target_kernel=self._target_kernel, **options)

    @property
    def _target_kernel(self) -> Any:
        given = self.selector.target_kernel
        return self.selector.target_kernel_ if isinstance(given, str) and given == "auto" else given

    def _alone(self, features: list[int]) -> dict[int, float]:
        """Return R2 of the regression on each of some features alone, with the criterion "prediction"."""
        if self.selector.criterion != "prediction" or not features:
            return {}
        labels, kernel = label_kernel(self.y, self._target_kernel), self.data.kernel
        return dict(zip(features, predictability_alone(self.in_order, labels, features, kernel), strict=True))

    def _pairs(self, selected: list[int]) -> list[dict[str, Any]]:
        """Return pairs of the best selected features, or groups, with their interaction, the best pair first."""
        if self.selector.criterion != "prediction" or not selected:
            return []
        by_index = self.selector.feature_groups is None and self.data.names is None
        return [
            {"features": [self.names[one] if by_index else str(one) for one in pair[:2]], "together": pair.together}
            for pair in interactions(self.selector, self.in_order, self.y, n_features=MOST_PAIRED)
        ]

    def _pair(self, pairs: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
        """Return the picture of the two features that work together best, if any do."""
        if not pairs or pairs[0]["together"] < LEAST_TOGETHER or not set(pairs[0]["features"]) <= set(self.names):
            return None
        pair = [self.names.index(name) for name in pairs[0]["features"]]
        view = pair_view(self.data, self.y, self.selector.target_kernel_, pair, self.names)
        return {"together": pairs[0]["together"], **view}

    def _step(self, step: Any) -> dict[str, Any]:
        parameter = None if step.parameter is None else float(step.parameter)
        features = [self.names[j] for j in step.features]
        return {**{name: getattr(step, name) for name in _STEP}, "parameter": parameter, "features": features}

    def _redundancy(self, features: list[int]) -> dict[str, Any] | None:
        """Return normalised HSIC of each two of some features."""
        if not features:
            return None
        options = {name: getattr(self.selector, name) for name in _OPTIONS}
        values = redundancy(self.data, features, **options)
        return {"features": [self.names[j] for j in features], "table": values.tolist()}

    def _near_copies(self, features: list[int]) -> list[dict[str, Any]]:
        """Return for each of some features the similar ones that were not selected."""
        similar = near_copies(self.data, features, self.selector.kernel_) if features else []
        return [
            {
                "feature": self.names[j],
                "copies": [{"feature": self.names[i], "similarity": value} for i, value in copies],
            }
            for j, copies in zip(features, similar, strict=True)
        ]

    def _stability(self, resampled: Mapping[str, Any], order: Any) -> dict[str, Any]:
        """Return the frequencies of the features that were selected in any resample, in the order of the ranking."""
        shares = [(self.names[j], float(resampled["frequencies"][j])) for j in order]
        features = [{"feature": name, "frequency": share} for name, share in shares if share > 0]
        return {"n_resamples": resampled["n_resamples"], "subsample": resampled["subsample"], "features": features}

    def _test(self, test: Any) -> dict[str, Any]:
        discoveries = [self.names[j] for j in test.discoveries(_FALSE_DISCOVERIES)]
        return {"pvalue": test.pvalue, "split_pvalues": test.split_pvalues.tolist(), "discoveries": discoveries}


def _partner(name: str, pairs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the feature that one works with best, and what the two are worth together beyond their sum."""
    best = next((pair for pair in pairs if name in pair["features"]), None)
    if best is None or best["together"] < LEAST_TOGETHER:
        return {"partner": None, "together": None}
    first, second = best["features"]
    return {"partner": second if first == name else first, "together": best["together"]}


def _reason(selector: Any) -> str:
    """Return why so many features were selected."""
    wanted = selector.n_features_to_select
    automatic = next((step.reason for step in selector.path_ if step.reason), None)
    if automatic is not None or not isinstance(wanted, int):
        return automatic or f"a fraction of {wanted} requested"
    kind = "feature" if selector.feature_groups is None else "group"
    return f"{wanted} {kind}{'' if wanted == 1 else 's'} requested"


def _finite(value: Any) -> Any:
    """Return the same data with None in place of numbers that JSON does not have."""
    if isinstance(value, Mapping):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
