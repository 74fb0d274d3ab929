"""The fast path: scores of subsets for the Gaussian kernel."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bahsic.engine.columns import few_levels
from bahsic.engine.executor import Executor
from bahsic.engine.gaussian import GaussianRound, GaussianSetting
from bahsic.engine.intervals import Intervals, Stage
from bahsic.engine.moments import LowRank, Moments
from bahsic.engine.pairs import Pairs
from bahsic.engine.plan import Plan
from bahsic.engine.scorer import Scorer, diagonal, gamma_of
from bahsic.engine.tile import SquaredDistances
from bahsic.hsic import Weights
from bahsic.kernels.base import Kernel

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Degree of the polynomials that are worked out by moments; above it their coefficients cancel too much.
_MOMENT_DEGREE = 16

# Relative accuracy of scores that are recorded.
_ACCURACY = 1e-9

# What the scores of the first round may vary by, relative to the bound on them.
_FIRST_SPREAD = 0.01

# Binary exponents of data that are used as they are; standardised data have small ones.
_USUAL_EXPONENT = 20

# Features whose moments are made at a time.
_CHUNK = 64


class GaussianScorer(Scorer):
    """Scores for the Gaussian kernel by the separable expansion, exact scores where that is needed.

    Parameters
    ----------
    XT : ndarray of shape (n_features, n_samples)
        The data, a feature in each row, with means of zero.
    kernel : Gaussian
    weights : Weights
    executor : Executor
    plan : Plan
    """

    def __init__(self, XT: Array, kernel: Kernel, weights: Weights, executor: Executor, plan: Plan) -> None:
        super().__init__(XT, kernel, weights)
        XT, self._unit = _in_range(XT)
        self._trace = float(diagonal(weights).sum())  # k(x, x) = 1
        self._squares = np.vecdot(XT, XT) / XT.shape[1]
        low_rank = _low_rank(weights)
        ranges = np.maximum(XT.max(axis=1), -XT.min(axis=1))
        self._setting = GaussianSetting(
            pairs=Pairs(XT, SquaredDistances, weights, plan),
            executor=executor,
            ranges=ranges,
            levels=few_levels(XT),
            low_rank=low_rank,
            moments=_moments(XT, ranges, low_rank, executor),
        )
        self._spread = _FIRST_SPREAD
        self._known: tuple[Indices, float, float] | None = None

    def _score(self, subset: Indices, kernel: Kernel) -> float:
        known = self._known_score(subset, kernel)
        if known is not None:
            return known
        return self._formed(subset, kernel, kernel, leaving=True).own_score + self._trace

    def _round(
        self, subset: Indices, candidates: Indices, kernel: Kernel, own: Kernel | None, *, leaving: bool
    ) -> tuple[Sequence[Stage], float]:
        known = self._known_score(subset, own)
        self._current = self._formed(subset, kernel, None if known is not None else own, leaving=leaving)
        score = self._current.own_score + self._trace if known is None else known
        return self._current.stages(candidates), score

    def _formed(self, subset: Indices, kernel: Kernel, own: Kernel | None, *, leaving: bool) -> GaussianRound:
        self._setting.pairs.move(subset)
        centre = 2 * float(self._squares[subset].sum())
        own_gamma = None if own is None else self._gamma(own)
        return GaussianRound(self._setting, self._gamma(kernel), own_gamma, leaving, centre, self._spread)

    def _gamma(self, kernel: Kernel) -> float:
        """The gamma of a kernel in the unit of the setting."""
        return gamma_of(kernel) * self._unit**2

    def _best(self, stages: Sequence[Stage], candidates: Indices, count: int) -> tuple[Indices, Intervals]:
        best, changes = super()._best(stages, candidates, count)
        self._spread = self._current.spread
        if count == 1:  # the score of the subset to come, with the gamma of this round
            if changes.radii[0] > _ACCURACY * abs(self._current.score + changes.values[0]):
                changes = self._current.exact(best)
            changed = np.setxor1d(self._setting.pairs.subset, best)
            score = self._current.score + float(changes.values[0]) + self._trace
            self._known = (changed, self._current.gamma, score)
        return best, changes

    def _known_score(self, subset: Indices, kernel: Kernel | None) -> float | None:
        """The score of a subset, where the round before has found it on the way."""
        if self._known is None or kernel is None:
            return None
        known, gamma, score = self._known
        return score if gamma == self._gamma(kernel) and np.array_equal(known, subset) else None


def _in_range(XT: Array) -> tuple[Array, float]:
    """The data in a unit in which powers of them neither overflow nor vanish, and that unit."""
    exponent = int(np.frexp(max(XT.max(), -XT.min()))[1])
    if abs(exponent) <= _USUAL_EXPONENT:
        return XT, 1.0
    return np.ldexp(XT, -exponent), math.ldexp(1.0, exponent)


def _moments(XT: Array, ranges: Array, low_rank: LowRank, executor: Executor) -> Moments:
    moments = Moments.empty(ranges, _MOMENT_DEGREE, low_rank.Q.shape[1])

    def fill(start: int) -> None:
        part = slice(start, min(start + _CHUNK, len(XT)))
        moments.fill(part, XT[part], low_rank)

    executor.map(fill, range(0, len(XT), _CHUNK))
    return moments


def _low_rank(weights: Weights) -> LowRank:
    """The factors of W, with no columns where it has none that are short."""
    m, factors = len(weights), weights.factors()
    if factors is None or factors[0].shape[1] > m // 4:
        return LowRank(np.empty((m, 0)), np.empty((0, 0)), np.zeros(m), np.zeros(m), 0.0)
    Q, B = (np.asarray(factor, dtype=np.float64) for factor in factors)
    magnitudes = np.abs(Q) @ (np.abs(B) @ np.abs(Q).sum(axis=0))
    diagonal_of_product = np.vecdot(Q @ B, Q)
    sums = Q @ (B @ Q.sum(axis=0)) - diagonal_of_product
    return LowRank(Q, B, diagonal_of_product, sums, float(magnitudes.max()))
