"""The scorer for the Gaussian kernel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bahsic.criteria.weights import Weights
from bahsic.data.columns import Columns
from bahsic.data.levels import Levels, few_levels
from bahsic.engine.diagonal import on_diagonal
from bahsic.engine.executor import Executor
from bahsic.engine.gaussian.moments import LowRank, RoundMoments, SearchMoments
from bahsic.engine.gaussian.round import GaussianRound
from bahsic.engine.gaussian.setting import GaussianSetting
from bahsic.engine.gram import ChangedTiles, KernelTiles, LinkedTiles, can_change, gamma_of
from bahsic.engine.intervals import Intervals, Stage
from bahsic.engine.loops import worthwhile
from bahsic.engine.pairs import Pairs, WeightTiles
from bahsic.engine.plan import Plan
from bahsic.engine.scorer import Scorer
from bahsic.engine.tiles import SquaredDistances
from bahsic.engine.units import Units
from bahsic.kernels import Gaussian
from bahsic.kernels.base import Kernel

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Largest degree of polynomials that are evaluated from moments; above it their coefficients cancel too much.
_MOMENT_DEGREE = 16

# Accuracy of scores that are recorded: relative to the score or, if its terms cancel, to the sum of their magnitudes.
_ACCURACY, _CANCELLED = 1e-9, 1e-12

# Guess of the spread of the scores of the first round, relative to the bound on them.
_FIRST_SPREAD = 0.01

# Share of the candidates up to which those that are wanted are few.
_FEW = 0.01

# Largest binary exponent of data that are used unscaled; standardised data have small ones.
_USUAL_EXPONENT = 20


class GaussianScorer(Scorer):
    """Scores for the Gaussian kernel by the separable expansion, by exponentials for close candidates.

    Zero should lie amid the values of columns of numbers.
    """

    def __init__(
        self,
        columns: Columns,
        kernel: Kernel,
        weights: Weights,
        executor: Executor,
        plan: Plan,
        units: Units | None = None,
    ) -> None:
        super().__init__(columns, kernel, weights, executor, plan, units)
        columns, self._unit = _in_range(columns)
        self._on_diagonal = on_diagonal(weights)
        self._typical = columns.typical
        low_rank = _low_rank(weights)
        levels = few_levels(columns)
        self._setting = GaussianSetting(
            pairs=Pairs(columns, SquaredDistances, weights, plan),
            executor=executor,
            ranges=columns.ranges,
            levels=levels,
            low_rank=low_rank,
            moments=_moments(columns, levels, low_rank, executor),
            compiled=worthwhile(plan.n_pairs, columns.n_features),
        )
        self._spread = _FIRST_SPREAD
        self._known: tuple[Indices, float, float] | None = None

    def state(self) -> dict[str, Any]:
        """State that, beside the subset, determines the next round."""
        return {
            "pairs": self._setting.pairs.state(),
            "spread": self._spread,
            "known": None if self._known is None else [self._known[0].tolist(), *self._known[1:]],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Restore the `state` of another search."""
        self._setting.pairs.restore(state["pairs"])
        self._spread, known = float(state["spread"]), state["known"]
        self._known = None if known is None else (np.array(known[0], dtype=np.intp), float(known[1]), float(known[2]))

    def weigh(self, weights: Weights) -> None:
        """Replace W."""
        super().weigh(weights)
        self._setting.pairs.weigh(weights)
        low_rank = _low_rank(weights)
        moments = RoundMoments(self._setting.pairs.columns, low_rank, self._executor, _MOMENT_DEGREE)
        self._setting = replace(self._setting, low_rank=low_rank, moments=moments)
        self._on_diagonal = on_diagonal(weights)
        self._known = None

    def total(self, columns: Indices, kernel: Kernel) -> float:
        """<K, W> of a subset with a kernel, which the last round may have found on the way."""
        current = getattr(self, "_current", None)
        gamma, here = self._gamma(kernel), np.array_equal(self._setting.pairs.subset, columns)
        if current is None or current.gamma != gamma or not here or self._weights is not self._formed_with:
            return super().total(columns, kernel)
        return float(current.score) + self._on_diagonal

    def move(self, columns: Indices, kernel: Kernel) -> None:
        """Make some columns the current subset."""
        self._move(columns, self._gamma(kernel))

    def _move(self, columns: Indices, gamma: float) -> None:
        """Make some columns the current subset, with a D that is exact for ``gamma``, also if gamma D is tiny."""
        typical = float(self._typical[columns].sum())
        self._setting.pairs.move(columns, max(gamma, 1 / typical if typical else 0.0))

    def _score(self, columns: Indices, kernel: Kernel) -> float:
        known = self._known_score(columns, kernel)
        if known is not None:
            return known
        formed = self._formed(columns, kernel, kernel, leaving=True)
        return formed.own_score + self._on_diagonal

    def _round(
        self, columns: Indices, candidates: Indices, kernel: Kernel, own: Kernel | None, *, leaving: bool
    ) -> tuple[Sequence[Stage], float]:
        known = self._known_score(columns, own)
        self._current = self._formed(columns, kernel, None if known is not None else own, leaving=leaving)
        if known is None:
            known = self._current.own_score
            known += 0.0 if own is None else self._on_diagonal
        return self._current.stages(self.units, candidates), known

    def _formed(self, columns: Indices, kernel: Kernel, own: Kernel | None, *, leaving: bool) -> GaussianRound:
        gamma, own_gamma = self._gamma(kernel), None if own is None else self._gamma(own)
        self._move(columns, max(gamma, own_gamma or 0.0))
        self._formed_with = self._weights
        centre = float(self._typical[columns].sum())
        return GaussianRound(self._setting, gamma, own_gamma, leaving, centre, self._spread)

    def kernel_tiles(self, columns: Indices, kernel: Kernel) -> KernelTiles:
        pairs = self._setting.pairs
        if not np.array_equal(pairs.subset, columns):  # moving there would change the rounding of D in later rounds
            return super().kernel_tiles(columns, kernel)
        centre = float(self._typical[columns].sum())
        return LinkedTiles(pairs, Gaussian(self._gamma(kernel)), centre)

    def changed_tiles(self, columns: Indices, group: Indices, kernel: Kernel, *, leaving: bool) -> KernelTiles:
        """Kernel values on a subset after some columns have left it or entered it, less a constant."""
        pairs, linked = self._setting.pairs, Gaussian(self._gamma(kernel))
        if not can_change(pairs, columns, group, linked, leaving=leaving):
            return super().changed_tiles(columns, group, kernel, leaving=leaving)
        sign = -1 if leaving else 1
        centre = float(self._typical[columns].sum() + sign * self._typical[group].sum())
        return ChangedTiles(pairs, linked, centre, pairs.contributions(group, scale=gamma_of(linked)), sign)

    def follow(self) -> None:
        """Update D on all tiles."""
        self._setting.pairs.follow(self._executor)

    def _kept_weights(self) -> WeightTiles:
        return self._setting.pairs.weights

    def _gamma(self, kernel: Kernel) -> float:
        """The gamma of a kernel, for data in the unit of `_in_range`."""
        return gamma_of(kernel) * self._unit**2

    def _best(self, stages: Sequence[Stage], candidates: Indices, count: int) -> tuple[Indices, Intervals]:
        if 2 * count > len(candidates) and len(stages) > 2:  # the first stage hardly tells neighbours apart
            stages = stages[1:]
        self._current.few_wanted = count <= _FEW * len(candidates)
        best, changes = super()._best(stages, candidates, count)
        self._spread = self._current.spread
        self._known = None
        if count == 1:  # then the score of the next subset is known, if it is exact enough
            if not self._is_accurate(changes):
                changes = self._current.exact(self.units, best)
            if self._is_accurate(changes):
                changed = np.setxor1d(self._setting.pairs.subset, self.units.columns(best))
                score = self._current.score + float(changes.values[0]) + self._on_diagonal
                self._known = (changed, self._current.gamma, score)
        return best, changes

    def _is_accurate(self, changes: Intervals) -> bool:
        """Whether a score change is known well enough for the score after it to be recorded."""
        score = self._current.score + self._on_diagonal + float(changes.values[0])
        return bool(changes.radii[0] <= max(_ACCURACY * abs(score), _CANCELLED * self._current.total))

    def _known_score(self, columns: Indices, kernel: Kernel | None) -> float | None:
        """Score of a subset if the round before has found it with the same gamma, else None."""
        if self._known is None or kernel is None:
            return None
        known, gamma, score = self._known
        return score if gamma == self._gamma(kernel) and np.array_equal(known, columns) else None


def _in_range(columns: Columns) -> tuple[Columns, float]:
    """Data in a unit in which their powers neither overflow nor underflow, and that unit."""
    exponent = int(np.frexp(columns.ranges.max())[1])
    if abs(exponent) <= _USUAL_EXPONENT:
        return columns, 1.0
    return columns.in_unit(exponent), math.ldexp(1.0, exponent)


def _moments(columns: Columns, levels: tuple[Levels, ...], low_rank: LowRank, executor: Executor) -> SearchMoments:
    """Moments of the complete columns of many numbers."""
    many = ~columns.special
    for group in levels:
        many[group.columns] = False
    return SearchMoments(np.flatnonzero(many), columns, low_rank, executor, _MOMENT_DEGREE)


def _low_rank(weights: Weights) -> LowRank:
    """Factors of W; without columns if the rank of W is too high to be of use."""
    m, factors = len(weights), weights.factors()
    if factors is None or factors[0].shape[1] > m // 4:
        return _no_factors(m)
    Q, B = (np.asarray(factor, dtype=np.float64) for factor in factors)
    magnitudes = np.abs(Q) @ (np.abs(B) @ np.abs(Q).sum(axis=0))
    diagonal_of_product = np.vecdot(Q @ B, Q)
    sums = Q @ (B @ Q.sum(axis=0)) - diagonal_of_product
    return LowRank(Q, B, diagonal_of_product, sums, float(magnitudes.max()))


def _no_factors(m: int) -> LowRank:
    return LowRank(np.empty((m, 0)), np.empty((0, 0)), np.zeros(m), np.zeros(m), 0.0)
