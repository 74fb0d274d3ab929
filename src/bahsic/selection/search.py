"""One search with one kernel: which units leave or enter round by round, held-out predictions, scores of features.

`Backward` and `Forward` know neither kernels nor scikit-learn: they ask a scorer which units are next, by the methods
``leaving``, ``entering`` and ``score`` of `bahsic.engine.scorer.Scorer`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone

from bahsic.arrays import Array, Indices
from bahsic.criteria.base import Criterion, checked_score
from bahsic.criteria.blocks import MOST_REGRESSIONS, block_weights
from bahsic.criteria.prediction import CLEARLY, ResidualWeights, RidgeFit, mean_error
from bahsic.criteria.weights import Weights, label_weights
from bahsic.data.columns import Columns
from bahsic.engine import Executor, scorer_for, tile_plan
from bahsic.engine.gram import NestedKernels
from bahsic.engine.prediction import EXACT, GAINS, PredictionScorer
from bahsic.engine.ridge import RidgeRegression
from bahsic.engine.scorer import NO_UNITS, Ranking, Round, Scorer
from bahsic.engine.units import Units
from bahsic.parameters import is_auto
from bahsic.selection.checkpoint import Folder
from bahsic.selection.problem import Problem

_MAX_WORK = 1e11  # up to which the worth of every selected unit has a regression of its own
_TOGETHER = 1000  # samples that are predicted together
_ROUNDS = "bahsic-checkpoint.json"


def round_size(step: float, remaining: int) -> int:
    """Return the number of units that change in a round: an int is a count, a float a fraction of the remaining ones.

    Examples
    --------
    >>> round_size(0.1, 25), round_size(0.1, 5), round_size(3, 2)
    (2, 1, 2)
    """
    count = int(step) if isinstance(step, Integral) else math.floor(step * remaining)
    return min(remaining, max(1, count))


@dataclass(frozen=True, eq=False)
class Backward:
    """Elimination of all units, the least relevant ones first (the paper's algorithm BAHSIC)."""

    units: Units  # kept ones never leave, those left out take no part
    step: float  # see `round_size`

    def rounds(self, scorer: Any, after: Round | None = None) -> Iterator[Round]:
        """Yield rounds until no unit may leave, at least one; from the beginning, or after one of an earlier search."""
        kept, subset = self.units.kept, np.flatnonzero(~self.units.left_out)
        if after is not None:
            subset = np.setdiff1d(after.subset, after.changed, assume_unique=True)
        elif kept[subset].all():
            yield scorer.score(subset)
        while not kept[subset].all():
            free = subset[~kept[subset]]
            answer = scorer.leaving(subset, free, round_size(self.step, len(free)))
            yield answer
            subset = np.setdiff1d(subset, answer.changed, assume_unique=True)

    def sizes(self) -> list[int]:
        """Return the number of units in the subset of each round."""
        kept, sizes = self.units.n_kept, []
        free = self.units.n_used - kept
        while free:
            sizes.append(free + kept)
            free -= round_size(self.step, free)
        return sizes or [kept]

    def order(self, rounds: Sequence[Round], scorer: Any = None) -> Indices:
        """Return all units, the most relevant first."""
        leaving = [unit for step in rounds for unit in step.changed]
        parts = [*np.flatnonzero(self.units.left_out)[::-1], *leaving, *np.flatnonzero(self.units.kept)]
        return np.array(parts, dtype=np.intp)[::-1]


@dataclass(frozen=True, eq=False)
class Forward:
    """Selection of units, the most relevant ones first."""

    units: Units  # kept ones are there from the beginning, those left out take no part
    step: float  # see `round_size`
    number: int  # of units at which the search ends

    def rounds(self, scorer: Any, after: Round | None = None) -> Iterator[Round]:
        """Yield rounds until there are enough units; from the beginning, or after one of an earlier search."""
        subset, entering = np.flatnonzero(self.units.kept), NO_UNITS
        if after is not None:
            subset, entering = np.union1d(after.subset, after.following), after.following
        while len(subset) < self.number:
            outside = np.setdiff1d(np.flatnonzero(~self.units.left_out), subset, assume_unique=True)
            count = min(round_size(self.step, len(outside)), self.number - len(subset))
            answer = scorer.entering(subset, outside, count)
            if len(entering):
                yield replace(answer, changed=entering, following=answer.changed)
            entering = answer.changed
            subset = np.union1d(subset, entering)
        yield replace(scorer.score(subset), changed=entering)

    def sizes(self) -> list[int]:
        """Return the number of units in the subset of each round."""
        n_used, selected, sizes = self.units.n_used, self.units.n_kept, []
        while selected < self.number:
            selected += min(round_size(self.step, n_used - selected), self.number - selected)
            sizes.append(selected)
        return sizes or [selected]

    def order(self, rounds: Sequence[Round], scorer: Any = None) -> Indices:
        """Return all units, the most relevant first; those that did not enter by what each would add, with a scorer."""
        entering = [unit for step in rounds for unit in step.changed]
        chosen = np.array([*np.flatnonzero(self.units.kept), *entering], dtype=np.intp)
        outside = np.setdiff1d(np.flatnonzero(~self.units.left_out), chosen, assume_unique=True)
        if scorer is not None and len(outside):
            outside = scorer.entering(np.sort(chosen), outside, len(outside)).changed
        return np.concatenate([chosen, outside, np.flatnonzero(self.units.left_out)])


def direction(problem: Problem) -> Backward | Forward:
    """Return the search for the units of a problem."""
    units, step, number = problem.units, problem.selector.step, problem.selector.n_features_to_select
    if not problem.forward:
        return Backward(units, step)
    to_the_end = number is None or is_auto(number)
    return Forward(units, step, units.n_used if to_the_end else min(problem.number, units.n_used))


class CriterionScorer(Ranking):
    """Rounds of a search by a criterion of the user's: units in place of columns, answers checked."""

    def __init__(self, criterion: Criterion, problem: Problem) -> None:
        data = problem.data.columns
        X = np.nan_to_num(data.rows(np.arange(data.n_features)).T, copy=False)
        self._criterion = clone(criterion).fit(X, problem.label_features, problem.data.weights)
        self._units = problem.units

    def score(self, subset: Indices) -> Round:
        """Return the score of a subset; 0 for the empty one."""
        return Round(subset, subset[:0], self._value(subset) if len(subset) else 0.0)

    def worth(self, selected: Indices, outside: Indices) -> Array:
        """Return what the subset would lose without each of its units, or gain with the first `GAINS` others."""
        worth, subset = np.zeros(len(self._units)), np.sort(selected)
        whole = self._value(subset)
        worth[outside] = np.nan
        for unit in outside[:GAINS]:
            worth[unit] = self._value(np.union1d(subset, unit)) - whole
        for unit in subset:
            worth[unit] = whole - self.score(np.setdiff1d(subset, unit)).score
        return worth

    def _value(self, subset: Indices) -> float:
        return checked_score(self._criterion, self._units.columns(subset))

    def _ranked(self, subset: Indices, candidates: Indices, count: int, *, leaving: bool) -> Round:
        groups, method = self._units.each(candidates), "leaving" if leaving else "entering"
        best = np.asarray(getattr(self._criterion, method)(self._units.columns(subset), groups, count))
        if best.shape == (count,) and np.isin(best, np.arange(len(candidates))).all() and len(set(best)) == count:
            return replace(self.score(subset), changed=np.asarray(candidates[best]))
        raise ValueError(
            f"criterion is {self._criterion!r}, whose method {method} returns {best!r}; accepted: {count} different "
            f"positions among {len(candidates)} candidates"
        )


class Search:
    """A search with one kernel: its rounds, their regressions, and what these predict."""

    def __init__(self, problem: Problem, executor: Executor, *, regressions: bool) -> None:
        """With ``regressions`` each subset has one, whatever the criterion, so that it can predict other samples."""
        self.problem, self.units, self.rounds = problem, problem.units, list[Round]()
        self._executor, self._plan = executor, tile_plan(len(problem), starts=problem.starts)
        self.direction, self._regressions = direction(problem), regressions
        self._losses: dict[bytes, Array] = {}

    @cached_property
    def scorer(self) -> Any:
        """The scorer that says which units are next."""
        criterion = self.problem.selector.criterion
        if isinstance(criterion, Criterion):
            return CriterionScorer(criterion, self.problem)
        return self.regression if criterion == "prediction" else self.linear

    @cached_property
    def linear(self) -> Scorer:
        """Scores that are linear in the kernel matrix: HSIC, or first-order changes of the explained variance."""
        problem, stream = self.problem, self._executor.stream
        weights: Weights
        if len(problem.starts) > 1:
            weights = block_weights(problem.labels, problem.starts, stream)
        else:
            weights = label_weights(problem.labels, problem.selector.statistic, problem.data.weights, stream)
        return scorer_for(problem.data.columns, problem.kernel, weights, self._executor, self._plan, self.units)

    @cached_property
    def regression(self) -> PredictionScorer:
        """Kernel ridge regression on the subsets."""
        problem = self.problem
        most = None if problem.selector.criterion == "prediction" else MOST_REGRESSIONS
        Y, ridge, w = problem.label_features, problem.selector.ridge, problem.data.weights
        regression = RidgeRegression(Y, ridge, self._plan, problem.starts, w, self._executor, most_blocks=most)
        return PredictionScorer(self.linear, regression)

    def run(self, folder: Folder | None = None) -> Iterator[Round]:
        """Yield the rounds: those that the folder of a checkpoint keeps, then the others."""
        selector = self.problem.selector
        if folder is not None:
            self.rounds = [Round.from_plain(plain) for plain in folder.read(_ROUNDS).get("rounds", [])]
            yield from self.rounds[:]
        fitted = [step for step in self.rounds if len(step.subset) and step.ridge is not None]
        if fitted:
            self.regression.resume([step.subset for step in fitted], [float(step.ridge or 0.0) for step in fitted])
        if len(self.rounds) == len(self.direction.sizes()):
            return
        for answer in self.direction.rounds(self.scorer, self.rounds[-1] if self.rounds else None):
            step = answer
            if selector.standard_errors and selector.criterion == "hsic" and step.kernel is not None:
                step = replace(step, standard_error=math.sqrt(self.linear.variance(step.subset, step.kernel)))
            if self._regressions and step.fit is None:
                step = replace(step, fit=self.regression.fit(step.subset, judges=False)[0])
            self.rounds.append(step)
            if folder is not None:
                folder.write(_ROUNDS, rounds=[known.as_plain() for known in self.rounds])
            yield self.rounds[-1]

    @property
    def used_first(self) -> Indices:
        """The units that take part, the most relevant first; those that a forward search left in any order."""
        order = self.direction.order(self.rounds)
        return order[~self.units.left_out[order]]

    def predictions(self, columns: Columns, sizes: Sequence[int]) -> dict[int, Array]:
        """Predict the label features of samples behind those of this search from its best units, for several sizes."""
        order, fits = self.used_first, {len(step.subset): step.fit for step in self.rounds}
        Y, w = self.problem.label_features, self.problem.data.weights
        means = np.repeat([np.average(Y, axis=0, weights=w)], columns.n_samples - len(Y), axis=0)
        subsets = {size: np.sort(order[:size]) for size in sorted(sizes) if size}
        values = self.predicted(columns, list(subsets.values()), [fits.get(size) for size in subsets])
        return {0: means, **dict(zip(subsets, values, strict=True))}

    def predicted(
        self, columns: Columns, subsets: Sequence[Indices], fits: Sequence[RidgeFit | None] = (None,)
    ) -> list[Array]:
        """Predict the same from nested subsets, whose regressions may be known; blocks are averaged."""
        known = [fit or self._fit_to(subset) for fit, subset in zip(fits, subsets, strict=True)]
        nested = [self.units.columns(subset) for subset in subsets]
        kernels = NestedKernels(columns, nested, [self.linear.kernel(part, len(part)) for part in nested])
        Y, m, n = self.problem.label_features, columns.n_samples, len(self.problem)
        w = np.ones(n) if self.problem.data.weights is None else self.problem.data.weights
        total = [np.zeros((m - n, Y.shape[1])) for _ in known]
        ends = pairwise([*self.problem.starts, n])
        blocks = [slice(start, stop) for start, stop in ends if start < len(known[0].coefficients)]
        intercepts = []
        for block in blocks:
            i, size = block.start, float(w[block].sum())  # of sample i the residual is known: lambda a_i / w_i
            pairs = zip(known, kernels.blocks(slice(i, i + 1), block), strict=True)
            residuals = ((fit.ridge * size / w[i], fit.coefficients[block], K) for fit, K in pairs)
            intercepts.append([Y[i] - share * a[0] - K @ a for share, a, K in residuals])

        def add(start: int) -> None:
            rows = slice(start, min(start + _TOGETHER, m))
            for block, means in zip(blocks, intercepts, strict=True):
                for out, fit, K, mean in zip(total, known, kernels.blocks(rows, block), means, strict=True):
                    out[rows.start - n : rows.stop - n] += K @ fit.coefficients[block] + mean

        self._executor.map(add, range(n, m, _TOGETHER))
        return [out / len(blocks) for out in total]

    def needed(self, order: Indices, size: int) -> Indices:
        """Return the best so many units without those that add nothing, and with others that clearly add something."""
        subset, w = self._useful(order[:size]), self.problem.data.weights
        # As many of the next ones as have left are tried, by a one-sided test at 5% of leave-one-out losses.
        for unit in order[size : 2 * size - len(subset)]:
            larger = np.union1d(subset, unit)
            before, after = (np.asarray(self._fit_to(units, losses=True).losses) for units in (subset, larger))
            if np.average(before - after, weights=w) > CLEARLY * mean_error(before - after, w):
                subset = larger
        return self._useful(subset)

    def _useful(self, subset: Indices) -> Indices:
        """Return a subset without the units that add nothing, the worst first, unless they are kept."""
        subset, step = np.sort(subset), self.direction.step
        while len(subset) > 1:
            worth = self.scores(subset, subset[:0])[subset]
            idle = np.flatnonzero(~self.units.kept[subset] & ~(worth > 0))
            if not len(idle):
                break
            count = min(round_size(step, len(subset)), len(subset) - 1)
            subset = np.delete(subset, idle[np.argsort(worth[idle], kind="stable")[:count]])
        return subset

    def _fit_to(self, subset: Indices, *, losses: bool = False) -> RidgeFit:
        """Return the regression on some units, with the ridge that a round had at their number if there was one."""
        ridges = [step.ridge for step in self.rounds if len(step.subset) == len(subset)]
        return self.regression.fit(subset, *ridges[:1], losses=losses)[0]

    def scores(self, selected: Indices, outside: Indices) -> Array:
        """Return for each unit what its leaving the selection would lose, or joining it would add; see ``scores_``."""
        if isinstance(self.scorer, CriterionScorer):
            return self.scorer.worth(selected, outside)
        linear, scores, inside = self.linear, np.zeros(len(self.units)), np.sort(selected)
        columns = self.units.columns(inside)
        kernel = linear.kernel(columns, len(columns))
        if self.problem.selector.criterion == "prediction":
            fit = self._fit_to(inside, losses=True)
            if len(outside):
                scores[outside] = self.regression.gains(inside, outside, fit)
            work = sum(float(end - start) ** 3 for start, end in pairwise([*self.problem.starts, len(self.problem)]))
            if len(inside) <= EXACT or len(inside) * work <= _MAX_WORK:
                key = inside.tobytes()
                if key not in self._losses:
                    self._losses[key] = self.regression.losses(inside, fit)
                scores[inside] = self._losses[key]
                return scores
            linear.weigh(ResidualWeights(fit.Q, self.problem.starts))
        elif len(outside):
            scores[outside] = linear.changes(columns, outside, kernel, leaving=False).values
        if len(inside) == 1:
            scores[inside] = linear.total(columns, kernel)
        else:
            scores[inside] = -linear.changes(columns, inside, kernel, leaving=True).values
        return scores
