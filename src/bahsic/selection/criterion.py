"""A criterion that users have written, as a search asks for it: units in place of columns, answers checked."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from bahsic.criteria.base import Criterion, checked_score
from bahsic.engine.prediction import GAINS
from bahsic.engine.scorer import Round
from bahsic.selection.problem import Problem

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


class CriterionScorer:
    """Rounds of a search by a criterion of the user's, which is fitted to the data of a problem."""

    def __init__(self, criterion: Criterion, problem: Problem) -> None:
        data = problem.data.columns
        X = np.nan_to_num(data.rows(np.arange(data.n_features)).T, copy=False)
        self._criterion = clone(criterion).fit(X, problem.label_features, problem.data.weights)
        self._units = problem.units

    def score(self, subset: Indices) -> Round:
        """Return the score of a subset; 0 for the empty one."""
        return Round(subset, subset[:0], self._value(subset) if len(subset) else 0.0)

    def leaving(self, subset: Indices, candidates: Indices, count: int) -> Round:
        """Find the ``count`` candidates that leave the subset next."""
        changed = candidates[:count]
        if len(subset) > 1 and count:
            changed = self._ranked("leaving", subset, candidates, count)
        return Round(subset, changed, self._value(subset))

    def entering(self, subset: Indices, candidates: Indices, count: int) -> Round:
        """Find the ``count`` candidates that enter the subset next."""
        changed = self._ranked("entering", subset, candidates, count) if count else candidates[:0]
        return Round(subset, changed, self.score(subset).score)

    def worth(self, selected: Indices, outside: Indices) -> Array:
        """Return what the subset would lose without each of its units, or gain with the first `GAINS` others."""
        worth, subset = np.zeros(len(self._units)), np.sort(selected)
        whole = self._value(subset)
        worth[outside] = np.nan
        for unit in outside[:GAINS]:
            worth[unit] = self._value(np.union1d(subset, unit)) - whole
        for unit in subset:
            worth[unit] = whole - (self._value(np.setdiff1d(subset, unit)) if len(subset) > 1 else 0.0)
        return worth

    def _value(self, subset: Indices) -> float:
        return checked_score(self._criterion, self._units.columns(subset))

    def _ranked(self, method: str, subset: Indices, candidates: Indices, count: int) -> Indices:
        groups = self._units.each(candidates)
        best = np.asarray(getattr(self._criterion, method)(self._units.columns(subset), groups, count))
        if best.shape == (count,) and np.isin(best, np.arange(len(candidates))).all() and len(set(best)) == count:
            return np.asarray(candidates[best])
        raise ValueError(
            f"criterion is {self._criterion!r}, whose method {method} returns {best!r}; accepted: {count} different "
            f"positions among {len(candidates)} candidates"
        )
