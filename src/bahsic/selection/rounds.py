"""One search with one kernel: its rounds, its held-out predictions, and the relevance of single features."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
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
from bahsic.selection.checkpoint import Folder
from bahsic.selection.criterion import CriterionScorer
from bahsic.selection.problem import Problem
from bahsic.selection.search import round_size

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Work up to which the worth of every selected unit has a regression of its own.
_MAX_WORK = 1e11

# Samples that are predicted together.
_TOGETHER = 1000

_ROUNDS = "bahsic-checkpoint.json"


class Search:
    """A search with one kernel: its rounds, their regressions, and what these predict."""

    def __init__(self, problem: Problem, executor: Executor, *, regressions: bool) -> None:
        """With ``regressions`` each subset has one, whatever the criterion, so that it can predict other samples."""
        self.problem, self.units, self.rounds = problem, problem.units, list[Round]()
        self._executor, self._plan = executor, tile_plan(len(problem), starts=problem.starts)
        self._direction, self._regressions = problem.search, regressions
        self._losses: dict[bytes, Array] = {}
        self._judge: PredictionScorer | None = None
        criterion = problem.criterion
        if criterion == "prediction" or regressions:
            most = None if criterion == "prediction" else MOST_REGRESSIONS
            Y, ridge, w = problem.label_features, problem.selector.ridge, problem.data.weights
            regression = RidgeRegression(Y, ridge, self._plan, problem.starts, w, executor, most_blocks=most)
            self._judge = PredictionScorer(self.linear, regression)
        self.scorer: Any
        if isinstance(criterion, Criterion):
            self.scorer = CriterionScorer(criterion, problem)
        else:
            self.scorer = self._judge if criterion == "prediction" else self.linear

    @cached_property
    def linear(self) -> Scorer:
        """Scores that are linear in the kernel matrix: HSIC, or first-order changes of the explained variance."""
        problem = self.problem
        weights, units = problem.label_weights(self._executor), self.units
        return scorer_for(problem.data.columns, problem.kernel, weights, self._executor, self._plan, units)

    def run(self, folder: Folder | None = None) -> Iterator[Round]:
        """Yield the rounds: those that the folder of a checkpoint keeps, then the others."""
        if folder is not None:
            self.rounds = [Round.from_plain(plain) for plain in folder.read(_ROUNDS).get("rounds", [])]
            yield from self.rounds[:]
        if self._judge is not None and self.rounds:
            fitted = [step for step in self.rounds if len(step.subset) and step.ridge is not None]
            self._judge.resume([step.subset for step in fitted], [float(step.ridge or 0.0) for step in fitted])
        if len(self.rounds) == len(self._direction.sizes()):
            return
        for step in self._direction.rounds(self.scorer, self.rounds[-1] if self.rounds else None):
            self.rounds.append(self._recorded(step))
            if folder is not None:
                folder.write(_ROUNDS, rounds=[known.as_plain() for known in self.rounds])
            yield self.rounds[-1]

    def _recorded(self, step: Round) -> Round:
        """Return a round with its standard error and its regression, where these are needed."""
        if self.problem.selector.standard_errors and self.problem.criterion == "hsic" and step.kernel is not None:
            step = replace(step, standard_error=math.sqrt(self.linear.variance(step.subset, step.kernel)))
        if self._regressions and self._judge is not None and step.fit is None:
            step = replace(step, fit=self._judge.fit(step.subset, judges=False)[0])
        return step

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

        The columns have the samples of this search, and the others behind them. No units predict the mean.
        """
        order, fits = self.used_first, {len(step.subset): step.fit for step in self.rounds}
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
        known = [fit or self._fit_to(self._judge, subset) for fit, subset in zip(fits, subsets, strict=True)]
        nested = [self.units.columns(subset) for subset in subsets]
        kernels = NestedKernels(columns, nested, [self.linear.kernel(part, len(part)) for part in nested])
        return _predicted(kernels, columns.n_samples, known, Y, w, self.problem.starts)

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
        before, after = (np.asarray(self._fit_to(judge, units, losses=True).losses) for units in (subset, larger))
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
            count = min(round_size(step, len(subset)), len(subset) - 1)
            subset = np.delete(subset, idle[np.argsort(worth[idle], kind="stable")[:count]])
        return subset

    def _fit_to(self, judge: PredictionScorer, subset: Indices, *, losses: bool = False) -> RidgeFit:
        """Return the regression on some units, with the ridge that a round had at their number if there was one."""
        ridges = [step.ridge for step in self.rounds if len(step.subset) == len(subset)]
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
        if self._judge is not None and self.problem.criterion == "prediction":
            fit = self._fit_to(self._judge, inside, losses=True)
            if len(outside):
                scores[outside] = self._judge.gains(inside, outside, fit)
            work = sum(float(end - start) ** 3 for start, end in pairwise([*self.problem.starts, len(self.problem)]))
            if len(inside) <= EXACT or len(inside) * work <= _MAX_WORK:
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
