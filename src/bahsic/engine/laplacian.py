"""Score changes for the Laplacian kernel, without an exponential for each pair."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bahsic.engine.diagonal import on_diagonal
from bahsic.engine.executor import Sums, map_sum
from bahsic.engine.gram import ChangedTiles, KernelTiles, LinkedTiles, can_change
from bahsic.engine.intervals import Intervals, Stage
from bahsic.engine.scorer import PairScorer, gamma_of
from bahsic.engine.tiles import AbsoluteDistances, strips
from bahsic.engine.units import scores_by_pairs
from bahsic.kernels import Laplacian
from bahsic.kernels.base import Kernel

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

_EPS = float(np.finfo(np.float64).eps)

# Largest gamma abs(x) for which exp(gamma x) is formed: neither its square nor its product with an
# exp(-gamma D) that has not underflowed can overflow.
_MAX_EXPONENT = 150.0


class LaplacianScorer(PairScorer):
    """Scores for k = exp(-gamma D) with D the L1 distance.

    The factor exp(gamma abs(x - y)) of a feature has a kink and hence no short expansion, but it is the
    greater of exp(gamma x) exp(-gamma y) and exp(-gamma x) exp(gamma y), which are outer products.
    """

    _contributions = AbsoluteDistances

    @cached_property
    def _on_diagonal(self) -> float:
        return on_diagonal(self._weights)

    def move(self, columns: Indices) -> None:
        """Make some columns the current subset."""
        self._pairs.move(columns)

    def kernel_tiles(self, columns: Indices, kernel: Kernel) -> KernelTiles:
        """Kernel values of all samples on some columns, less a constant."""
        if not isinstance(kernel, Laplacian) or not np.array_equal(self._pairs.subset, columns):
            return super().kernel_tiles(columns, kernel)
        return LinkedTiles(self._pairs, kernel, 0.0)

    def changed_tiles(self, columns: Indices, group: Indices, kernel: Kernel, *, leaving: bool) -> KernelTiles:
        """Kernel values on a subset after some columns have left it or entered it, less a constant."""
        pairs = self._pairs
        if not isinstance(kernel, Laplacian) or not can_change(pairs, columns, group, kernel, leaving=leaving):
            return super().changed_tiles(columns, group, kernel, leaving=leaving)
        return ChangedTiles(pairs, kernel, 0.0, pairs.contributions(group), -1 if leaving else 1)

    def _score(self, columns: Indices, kernel: Kernel) -> float:
        gamma, pairs = gamma_of(kernel), self._pairs
        pairs.move(columns)

        def tile_score(index: int) -> Sums:
            K = np.exp(-gamma * pairs.totals(index))
            return (np.array(2 * np.vdot(K, pairs.weights(index))),)

        (score,) = map_sum(self._executor, tile_score, range(len(self._pairs.plan.tiles)))
        self._pairs.settle()
        return float(score) + self._on_diagonal

    def _round(
        self, columns: Indices, candidates: Indices, kernel: Kernel, own: Kernel | None, *, leaving: bool
    ) -> tuple[Sequence[Stage], float]:
        score = 0.0 if own is None else self._score(columns, own)
        self._pairs.move(columns)
        gamma, groups = gamma_of(kernel), self.units.each(candidates)

        def direct(positions: Indices) -> Intervals:
            return self._changed_scores(gamma, [groups[position] for position in positions], leaving=leaving)

        return [direct], score

    def _offset(self, columns: Indices, candidates: Indices, kernel: Kernel) -> float:
        return self._score(columns, kernel) - self._on_diagonal

    def _changed_scores(self, gamma: float, groups: Sequence[Indices], *, leaving: bool) -> Intervals:
        values, radii = np.zeros((2, len(groups)))
        plain = np.array([len(group) == 1 and not self.columns.special[group[0]] for group in groups], dtype=bool)
        if plain.any():
            features = np.array([group[0] for group in groups], dtype=np.intp)[plain]
            found = self._scores(gamma, features, leaving=leaving)
            values[plain], radii[plain] = found.values, found.radii
        if not plain.all():
            others = [group for group, one in zip(groups, plain, strict=True) if not one]

            def link(D: Array) -> Array:
                D *= -gamma
                return np.exp(D, out=D)

            sign = -1.0 if leaving else 1.0
            sums, sizes = scores_by_pairs(self._pairs, self._executor, others, sign, link)
            values[~plain], radii[~plain] = 2 * sums, 2 * self._rounding(gamma) * sizes
        return Intervals(values, radii)

    def _rounding(self, gamma: float) -> float:
        reach = gamma * float(self.columns.ranges[self._pairs.subset].sum())
        return _EPS * (64 + 4 * reach)

    def _scores(self, gamma: float, features: Indices, *, leaving: bool) -> Intervals:
        safe = gamma * self.columns.ranges[features] <= _MAX_EXPONENT
        columns, pairs = self.columns.rows(features), self._pairs

        def tile_scores(index: int) -> Sums:
            tile, take = pairs.plan.tiles[index], pairs.scratch.take
            D, W = pairs.totals(index), pairs.weights(index)
            sums = np.zeros((2, len(features)))
            for rows in strips(tile.shape):
                shape = D[rows].shape
                exponents = np.multiply(D[rows], -gamma, out=take("first", shape))
                K, M = np.exp(exponents, out=take("second", shape)), take("third", shape)
                for position, x in enumerate(columns):
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

        values, sizes = 2 * map_sum(self._executor, tile_scores, range(len(pairs.plan.tiles)))[0]
        return Intervals(values, self._rounding(gamma) * sizes)


def _laplacian_factor(left: Array, right: Array, a: float, out: Array, other: Array) -> Array:
    """exp(a abs(x - y)) without an exponential for each pair."""
    np.multiply.outer(np.exp(a * left), np.exp(-a * right), out=out)
    np.multiply.outer(np.exp(-a * left), np.exp(a * right), out=other)
    return (np.maximum if a > 0 else np.minimum)(out, other, out=out)
