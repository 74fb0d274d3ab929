"""Scores by the kernel values of every candidate subset: the Laplacian, and any kernel at all."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bahsic.engine.executor import Executor, map_sum
from bahsic.engine.intervals import Intervals, Stage
from bahsic.engine.pairs import Pairs
from bahsic.engine.plan import Plan
from bahsic.engine.scorer import Scorer, diagonal, gamma_of
from bahsic.engine.tile import AbsoluteDistances, strips
from bahsic.hsic import Weights
from bahsic.kernels import Laplacian
from bahsic.kernels.base import Kernel

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

_EPS = float(np.finfo(np.float64).eps)

# Largest gamma abs(x) for which exp(gamma x) is formed: its square stays within range, and so does
# its product with an exp(-gamma D) that has not underflowed.
_MAX_EXPONENT = 150.0


class LaplacianScorer(Scorer):
    """Scores for k = exp(-gamma D) with D the L1 distance.

    The factor exp(gamma abs(x - y)) of a feature has a kink, so no short expansion; but it is the
    greater of exp(gamma x) exp(-gamma y) and exp(-gamma x) exp(gamma y), two outer products.
    """

    def __init__(self, XT: Array, kernel: Laplacian, weights: Weights, executor: Executor, plan: Plan) -> None:
        super().__init__(XT, kernel, weights)
        self._pairs = Pairs(XT, AbsoluteDistances, weights, plan)
        self._executor = executor
        self._trace = float(diagonal(weights).sum())  # k(x, x) = 1

    def _score(self, subset: Indices, kernel: Kernel) -> float:
        gamma = gamma_of(kernel)
        self._pairs.move(subset)

        def tile_score(index: int) -> tuple[Array, ...]:
            K = np.exp(-gamma * self._pairs.totals(index))
            return (np.array(2 * np.vdot(K, self._pairs.weights(index))),)

        (score,) = map_sum(self._executor, tile_score, range(len(self._pairs.plan.tiles)))
        self._pairs.settle()
        return float(score) + self._trace

    def _round(
        self, subset: Indices, candidates: Indices, kernel: Kernel, own: Kernel | None, *, leaving: bool
    ) -> tuple[Sequence[Stage], float]:
        score = 0.0 if own is None else self._score(subset, own)
        self._pairs.move(subset)

        def direct(positions: Indices) -> Intervals:
            return self._scores(gamma_of(kernel), candidates[positions], leaving=leaving)

        return [direct], score

    def _scores(self, gamma: float, features: Indices, *, leaving: bool) -> Intervals:
        safe = gamma * np.abs(self.XT[features]).max(axis=1) <= _MAX_EXPONENT

        def tile_scores(index: int) -> tuple[Array, ...]:
            tile, take = self._pairs.plan.tiles[index], self._pairs.scratch.take
            D, W = self._pairs.totals(index), self._pairs.weights(index)
            sums = np.zeros((2, len(features)))
            for rows in strips(tile.shape):
                shape = D[rows].shape
                exponents = np.multiply(D[rows], -gamma, out=take("first", shape))
                K, M = np.exp(exponents, out=take("second", shape)), take("third", shape)
                for position, x in enumerate(self.XT[features]):
                    left, right, a = x[tile.rows][rows], x[tile.cols], gamma if leaving else -gamma
                    if safe[position]:
                        _laplacian_factor(left, right, a, out=M, other=take("fourth", shape))
                        M *= K
                    else:
                        np.abs(np.subtract.outer(left, right, out=M), out=M)
                        M *= a
                        M += exponents
                        np.exp(M, out=M)
                    M *= W[rows]
                    sums[0, position] += M.sum()
                    sums[1, position] += np.abs(M, out=M).sum()
            return (sums,)

        values, sizes = 2 * map_sum(self._executor, tile_scores, range(len(self._pairs.plan.tiles)))[0]
        reach = gamma * float(np.abs(self.XT[self._pairs.subset]).max(axis=1).sum())
        return Intervals(values, _EPS * (64 + 4 * reach) * sizes)


def _laplacian_factor(left: Array, right: Array, a: float, out: Array, other: Array) -> Array:
    """exp(a abs(x - y)) without an exponential for each pair."""
    np.multiply.outer(np.exp(a * left), np.exp(-a * right), out=out)
    np.multiply.outer(np.exp(-a * left), np.exp(a * right), out=other)
    return (np.maximum if a > 0 else np.minimum)(out, other, out=out)


class GenericScorer(Scorer):
    """Scores for any kernel, by its whole matrix for each candidate: correct, and slow."""

    @cached_property
    def _matrix(self) -> Array:
        return np.asarray(self._weights.matrix(), dtype=np.float64)

    def _products(self, subset: Indices, kernel: Kernel) -> tuple[float, float]:
        """The score of a subset, and the sum of the magnitudes of its terms."""
        K = kernel(np.ascontiguousarray(self.XT[subset].T)) * self._matrix
        return float(K.sum()), float(np.abs(K).sum())

    def _score(self, subset: Indices, kernel: Kernel) -> float:
        return self._products(subset, kernel)[0]

    def _round(
        self, subset: Indices, candidates: Indices, kernel: Kernel, own: Kernel | None, *, leaving: bool
    ) -> tuple[Sequence[Stage], float]:
        changed = np.setdiff1d if leaving else np.union1d

        def scores(positions: Indices) -> Intervals:
            found = [self._products(changed(subset, [j]), kernel) for j in candidates[positions]]
            values, sizes = np.array(found).T
            return Intervals(values, _EPS * (256 + 4 * len(subset)) * sizes)

        return [scores], 0.0 if own is None else self._score(subset, own)
