"""One search with one kernel: its rounds, its held-out predictions, and the relevance of single features."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bahsic.criteria.base import Criterion
from bahsic.criteria.blocks import MOST_REGRESSIONS
from bahsic.criteria.prediction import CLEARLY, ResidualWeights, RidgeFit, mean_error
from bahsic.data.columns import Columns
from bahsic.engine import Executor, scorer_for, tile_plan
from bahsic.engine.gram import NestedKernels
from bahsic.engine.prediction import EXACT, PredictionScorer
from bahsic.engine.ridge import RidgeRegression
from bahsic.engine.scorer import Round, Scorer
from bahsic.selection.checkpoint import Checkpoint
from bahsic.selection.criterion import CriterionScorer
from bahsic.selection.problem import Problem
from bahsic.selection.search import Backward, Forward, round_size
from bahsic.selection.units import FeatureUnits, feature_units

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Work up to which the worth of every selected unit has a regression of its own.
_MOST_WORK = 1e11

# Samples that are predicted together.
_TOGETHER = 1000


@dataclass(frozen=True)
class Task:
    """Parameters that a selector passes to its searches, on all samples and in folds.

    Attributes
    ----------
    criterion, statistic, ridge, standard_errors, feature_groups, step
        Parameters of the selector.
    forward : bool
        Whether units enter, instead of leaving.
    number : int or None
        Number of units at which a forward search ends; None for all.
    """

    criterion: Any
    statistic: str
    ridge: Any
    standard_errors: bool
    feature_groups: Any
    step: float
    forward: bool
    number: int | None

    def units(self, problem: Problem) -> FeatureUnits:
        """Return the units of a problem."""
        return feature_units(self.feature_groups, problem)

    def direction(self, units: FeatureUnits) -> Backward | Forward:
        """Return the search for some units."""
        if not self.forward:
            return Backward(units, self.step)
        return Forward(units, self.step, units.n_used if self.number is None else min(self.number, units.n_used))

    def work(self, problem: Problem) -> int:
        """Return the amount of work of a search, in candidates."""
        return sum(self.direction(self.units(problem)).sizes())


class Search:
    """A search with one kernel: its rounds, resumed from a checkpoint if there is one.

    Parameters
    ----------
    problem : Problem
    task : Task
    executor : Executor
    regressions : bool
        Whether each subset gets a regression, whatever the criterion, so that it can predict other samples.
    """

    def __init__(self, problem: Problem, task: Task, executor: Executor, *, regressions: bool) -> None:
        self.problem, self.units, self._task = problem, task.units(problem), task
        self._direction = task.direction(self.units)
        self._losses: dict[bytes, Array] = {}
        self._executor, self._plan = executor, tile_plan(len(problem), starts=problem.starts)
        self._judge: PredictionScorer | None = None
        if task.criterion == "prediction" or regressions:
            most = None if task.criterion == "prediction" else MOST_REGRESSIONS
            Y, starts, w = problem.label_features, problem.starts, problem.data.weights
            regression = RidgeRegression(Y, task.ridge, self._plan, starts, w, executor, most_blocks=most)
            self._judge = PredictionScorer(self.linear, regression)
        self.scorer: Any = self._judge
        if task.criterion != "prediction":
            custom = isinstance(task.criterion, Criterion)
            self.scorer = CriterionScorer(task.criterion, problem, self.units) if custom else self.linear
        self._regressions = regressions
        self.rounds: list[Round] = []
        self._saved: Checkpoint | None = None

    @cached_property
    def linear(self) -> Scorer:
        """Scores that are linear in the kernel matrix: HSIC, or first-order changes of the explained variance."""
        problem = self.problem
        weights = problem.label_weights(self._task.statistic, self._executor)
        columns, groups = problem.data.columns, self.units.used
        return scorer_for(columns, problem.kernel, weights, self._executor, self._plan, groups)

    def resume(self, saved: Checkpoint) -> None:
        """Take over the rounds of a checkpoint, and add the new ones to it."""
        self._saved = saved
        if saved.rounds:
            self.rounds = [Round.from_plain(found) for found in saved.rounds]
            if self._judge is not None:
                fitted = [one for one in self.rounds if len(one.subset) and one.ridge is not None]
                self._judge.resume([one.subset for one in fitted], [float(one.ridge or 0.0) for one in fitted])

    def run(self) -> Iterator[Round]:
        """Yield the rounds that are missing."""
        after = self.rounds[-1] if self.rounds else None
        if len(self.rounds) == len(self._direction.sizes()):
            return
        for found in self._direction.rounds(self.scorer, after):
            self.rounds.append(self._recorded(found))
            if self._saved is not None:
                self._saved.write([one.as_plain() for one in self.rounds])
            yield self.rounds[-1]

    def _recorded(self, found: Round) -> Round:
        task = self._task
        if task.standard_errors and task.criterion == "hsic" and found.kernel is not None:
            found = replace(found, standard_error=math.sqrt(self.linear.variance(found.subset, found.kernel)))
        if self._regressions and self._judge is not None and found.fit is None:
            found = replace(found, fit=self._judge.fit(found.subset, judges=False)[0])
        return found

    @property
    def order(self) -> Indices:
        """All units, the most relevant first; those that a forward search left are ranked by what each would add."""
        return self._direction.order(self.rounds, self.scorer)

    @property
    def used_first(self) -> Indices:
        """The units that take part, the most relevant first; those that a forward search left in any order."""
        order = self._direction.order(self.rounds)
        return order[~self.units.left_out[order]]

    def predictions(self, columns: Columns, sizes: Sequence[int]) -> dict[int, Array]:
        """Predict the label features of other samples from the best units, for several numbers of them.

        Parameters
        ----------
        columns : Columns
            The samples of this search, and the others behind them.
        sizes : sequence of int
            Numbers of units; with none of them the mean is predicted.

        Returns
        -------
        dict
            For each number an array of shape (n, c), where c is the number of label features.
        """
        order, fits = self.used_first, {len(one.subset): one.fit for one in self.rounds}
        Y, w = self.problem.label_features, self.problem.data.weights
        means = np.repeat([np.average(Y, axis=0, weights=w)], columns.n_samples - len(Y), axis=0)
        subsets = {size: np.sort(order[:size]) for size in sorted(sizes) if size}
        values = self.predicted(columns, list(subsets.values()), [fits.get(size) for size in subsets])
        return {0: means, **dict(zip(subsets, values, strict=True))}

    def predicted(
        self, columns: Columns, subsets: Sequence[Indices], fits: Sequence[RidgeFit | None] = (None,)
    ) -> list[Array]:
        """Predict the label features of other samples from nested subsets, whose regressions may be known."""
        if self._judge is None:
            raise ValueError("regressions is False; accepted: a search with a regression for each subset")
        Y, w = self.problem.label_features, self.problem.data.weights
        found = [fit or self._fit_to(self._judge, one) for fit, one in zip(fits, subsets, strict=True)]
        of_columns = [self.units.columns(subset) for subset in subsets]
        kernels = NestedKernels(columns, of_columns, [self.linear.kernel(some, len(some)) for some in of_columns])
        return _predicted(kernels, columns.n_samples, found, Y, w, self.problem.starts)

    def needed(self, order: Indices, size: int) -> Indices:
        """Return the best so many units without those that add nothing.

        The next ones, as many as left, are tried in their place: each has to predict clearly better with the others.
        """
        subset = self._useful(order[:size])
        for unit in order[size : 2 * size - len(subset)]:
            larger = np.union1d(subset, unit)
            if self._improves(subset, larger):
                subset = larger
        return self._useful(subset)

    def _improves(self, subset: Indices, larger: Indices) -> bool:
        """Whether a larger subset predicts better by a one-sided test at 5%, by leave-one-out."""
        if self._judge is None:
            return False
        judge, w = self._judge, self.problem.data.weights
        before, after = (np.asarray(self._fit_to(judge, some, losses=True).losses) for some in (subset, larger))
        saved = before - after
        return bool(np.average(saved, weights=w) > CLEARLY * mean_error(saved, w))

    def _useful(self, subset: Indices) -> Indices:
        """Return a subset without the units that add nothing, the worst first, unless they are kept."""
        subset, step = np.sort(subset), self._direction.step
        while len(subset) > 1:
            worth = self.scores(subset, subset[:0])[subset]
            idle = np.flatnonzero(~self.units.kept[subset] & ~(worth > 0))
            if not len(idle):
                break
            most = min(round_size(step, len(subset)), len(subset) - 1)
            subset = np.delete(subset, idle[np.argsort(worth[idle], kind="stable")[:most]])
        return subset

    def _fit_to(self, judge: PredictionScorer, subset: Indices, *, losses: bool = False) -> RidgeFit:
        """Return the regression on some units, with the ridge that a round had at their number if there was one."""
        ridges = [one.ridge for one in self.rounds if len(one.subset) == len(subset)]
        return judge.fit(subset, *ridges[:1], losses=losses)[0]

    def scores(self, selected: Indices, outside: Indices) -> Array:
        """Return for each unit what its leaving the selection would lose, or its joining it would add.

        Those outside are given in order; with "prediction" only the first of them are measured, the others are NaN.

        With the criterion HSIC, in units of it and with the kernel of the selection. With "prediction", in units of
        predictability: see `PredictionScorer.losses` and `gains`; where so many selected units would take too long,
        first-order changes of the explained variance. With a criterion of the user's, in units of it.
        """
        if isinstance(self.scorer, CriterionScorer):
            return self.scorer.worth(selected, outside)
        linear, scores, inside = self.linear, np.zeros(len(self.units)), np.sort(selected)
        columns = self.units.columns(inside)
        kernel = linear.kernel(columns, len(columns))
        if self._task.criterion == "prediction" and self._judge is not None:
            fit = self._fit_to(self._judge, inside, losses=True)
            if len(outside):
                scores[outside] = self._judge.gains(inside, outside, fit)
            work = sum(float(end - start) ** 3 for start, end in pairwise([*self.problem.starts, len(self.problem)]))
            if len(inside) <= EXACT or len(inside) * work <= _MOST_WORK:
                key = inside.tobytes()
                if key not in self._losses:
                    self._losses[key] = self._judge.losses(inside, fit)
                scores[inside] = self._losses[key]
                return scores
            linear.weigh(ResidualWeights(fit.Q, self.problem.starts, self.problem.data.weights))
        elif len(outside):
            scores[outside] = linear.changes(columns, outside, kernel, leaving=False).values
        if len(inside) == 1:
            scores[inside] = linear.total(columns, kernel)
        else:
            scores[inside] = -linear.changes(columns, inside, kernel, leaving=True).values
        return scores


def _predicted(
    kernels: NestedKernels,
    m: int,
    fits: Sequence[RidgeFit],
    Y: Array,
    sample_weight: NDArray[Any] | None,
    starts: Sequence[int],
) -> list[Array]:
    """Return predictions of nested subsets for the samples behind those of their fits, the mean over blocks.

    The intercept of a block is that of its first sample i, whose residual is lambda a_i / w_i.
    """
    n = len(Y)
    w = np.ones(n) if sample_weight is None else sample_weight
    total = [np.zeros((m - n, Y.shape[1])) for _ in fits]
    blocks = [slice(*ends) for ends in pairwise([*starts, n]) if ends[0] < len(fits[0].coefficients)]
    for block in blocks:
        i, size = block.start, float(w[block].sum())
        parts = [fit.coefficients[block] for fit in fits]
        own = [K @ a for K, a in zip(kernels.blocks(slice(i, i + 1), block), parts, strict=True)]
        intercepts = [
            Y[i] - fit.ridge * size * a[0] / w[i] - first for fit, a, first in zip(fits, parts, own, strict=True)
        ]
        for start in range(n, m, _TOGETHER):
            rows = slice(start, min(start + _TOGETHER, m))
            values = kernels.blocks(rows, block)
            for out, K, a, intercept in zip(total, values, parts, intercepts, strict=True):
                out[rows.start - n : rows.stop - n] += K @ a + intercept
    return [out / len(blocks) for out in total]
