"""Score changes for the Laplacian kernel, without an exponential for each pair."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bahsic.engine.diagonal import on_diagonal
from bahsic.engine.executor import Sums, map_sum
from bahsic.engine.gram import ChangedTiles, KernelTiles, LinkedTiles, can_change, gamma_of
from bahsic.engine.intervals import Intervals, Stage
from bahsic.engine.scorer import PairScorer
from bahsic.engine.tiles import AbsoluteDistances, strips
from bahsic.engine.units import exponential, scores_anew, scores_by_pairs
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

    def move(self, columns: Indices, kernel: Kernel) -> None:
        """Make some columns the current subset."""
        self._move(columns, gamma_of(kernel))

    def _move(self, columns: Indices, gamma: float) -> None:
        """Make some columns the current subset, with a D that is exact for ``gamma``, also if gamma D is tiny."""
        typical = float(np.sqrt(self.columns.typical[columns]).sum())
        self._pairs.move(columns, max(gamma, 1 / typical if typical else 0.0))

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
        return ChangedTiles(
            pairs, kernel, 0.0, pairs.contributions(group, scale=gamma_of(kernel)), -1 if leaving else 1
        )

    def _score(self, columns: Indices, kernel: Kernel) -> float:
        gamma, pairs = gamma_of(kernel), self._pairs
        self._move(columns, gamma)

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
        gamma, groups = gamma_of(kernel), self.units.each(candidates)
        self._move(columns, gamma)

        def direct(positions: Indices) -> Intervals:
            return self._changed_scores(gamma, [groups[position] for position in positions], leaving=leaving)

        return [direct], score

    def _offset(self, columns: Indices, candidates: Indices, kernel: Kernel) -> float:
        return self._score(columns, kernel) - self._on_diagonal

    def _changed_scores(self, gamma: float, groups: Sequence[Indices], *, leaving: bool) -> Intervals:
        values, radii, pairs = *np.zeros((2, len(groups))), self._pairs
        plain = np.array([len(group) == 1 and not self.columns.special[group[0]] for group in groups], dtype=bool)
        dominant = np.array([leaving and pairs.too_wide(group, gamma) for group in groups], dtype=bool)
        for mine in (plain & ~dominant, ~plain & ~dominant, dominant):
            some = [group for group, one in zip(groups, mine, strict=True) if one]
            errors = [pairs.change_error(group, gamma, entering=not leaving) + pairs.rounding(gamma) for group in some]
            if not some:
                continue
            if dominant[mine].any():  # D less their contributions would be inexact
                subsets = [np.setdiff1d(pairs.subset, group) for group in some]
                sums, sizes = scores_anew(pairs, self._executor, subsets, gamma, exponential(gamma))
                errors = [pairs.rounding(gamma, rest) for rest in subsets]
            elif plain[mine].any():
                sums, sizes = self._scores(gamma, np.concatenate(some), leaving=leaving)
            else:
                sign = -1.0 if leaving else 1.0
                sums, sizes = scores_by_pairs(pairs, self._executor, some, sign, exponential(gamma), gamma)
            values[mine], radii[mine] = 2 * sums, 2 * (64 * _EPS + np.array(errors)) * sizes
        return Intervals(values, radii)

    def _scores(self, gamma: float, features: Indices, *, leaving: bool) -> tuple[Array, Array]:
        """Sums over the pairs a < b of W K after each feature has left or entered, and of its magnitudes."""
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

        values, sizes = map_sum(self._executor, tile_scores, range(len(pairs.plan.tiles)))[0]
        return values, sizes


def _laplacian_factor(left: Array, right: Array, a: float, out: Array, other: Array) -> Array:
    """exp(a abs(x - y)) without an exponential for each pair."""
    np.multiply.outer(np.exp(a * left), np.exp(-a * right), out=out)
    np.multiply.outer(np.exp(-a * left), np.exp(a * right), out=other)
    return (np.maximum if a > 0 else np.minimum)(out, other, out=out)
