"""The scorer for the Laplacian kernel: scores of subsets, and the stages of a round."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bahsic.criteria.weights import Weights
from bahsic.engine.diagonal import on_diagonal
from bahsic.engine.executor import Sums, map_sum
from bahsic.engine.gaussian.residual import Form, Rest
from bahsic.engine.gram import ChangedTiles, KernelTiles, LinkedTiles, can_change, gamma_of
from bahsic.engine.hyperbolic import MAX_EXPONENT, HyperbolicChanges
from bahsic.engine.intervals import Intervals, Stage
from bahsic.engine.loops import worthwhile
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

    A round has three stages: `hyperbolic` in float32, in float64 for candidates that it leaves undecided, and for those
    that are still undecided all kernel values. In these the factor exp(gamma abs(x - y)) of a feature is the greater of
    exp(gamma x) exp(-gamma y) and exp(-gamma x) exp(gamma y), which are outer products.
    """

    _contributions = AbsoluteDistances

    _current: HyperbolicChanges | None = None  # the last round
    _formed_with: Weights | None = None  # its W

    @cached_property
    def _on_diagonal(self) -> float:
        return on_diagonal(self._weights)

    @cached_property
    def _compiled(self) -> bool:
        return worthwhile(self._plan.n_pairs, self.columns.n_features)

    @cached_property
    def _kept(self) -> dict[tuple[int, str], NDArray[Any]]:
        """Memory for M on each tile in each precision, used again from round to round."""
        return {}

    def total(self, columns: Indices, kernel: Kernel) -> float:
        """<K, W> of a subset with a kernel, which the last round may have found on the way."""
        current, here = self._current, np.array_equal(self._pairs.subset, columns)
        known = here and current is not None and self._formed_with is self._weights
        if current is None or not known or current.rest.gamma != gamma_of(kernel):
            return super().total(columns, kernel)
        return current.score + self._on_diagonal

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
        current, score = self._formed(columns, gamma_of(kernel), own, leaving=leaving)
        self._current, self._formed_with = current, self._weights
        groups = self.units.each(candidates)
        heads = np.array([group[0] for group in groups], dtype=np.intp)
        smooth = self.units.single(candidates) & self._is_smooth(heads, current.rest.gamma)

        def exact(positions: Indices) -> Intervals:
            return self._exact(current, [groups[position] for position in positions])

        def first(positions: Indices) -> Intervals:
            return _chosen(positions, smooth, lambda some: current(heads[some], np.float32), exact)

        def second(positions: Indices) -> Intervals:
            return _chosen(positions, smooth, lambda some: current(heads[some], np.float64), None)

        return [first, second, exact], score

    def _formed(
        self, columns: Indices, gamma: float, own: Kernel | None, *, leaving: bool
    ) -> tuple[HyperbolicChanges, float]:
        """A round with M on the tiles, and the score of the subset with the kernel ``own``."""
        pairs, m = self._pairs, self.columns.n_samples
        self._move(columns, gamma)
        rest = Rest(pairs, gamma, 0.0, self._kept, self._compiled)
        form = Form(rest, None if own is None else gamma_of(own))
        found = map_sum(self._executor, form, range(len(pairs.plan.tiles)), m)
        pairs.settle()
        # The magnitudes were summed in float32, where small ones may have underflowed.
        magnitudes = 1.001 * (found[2] + found[3]) + m * float(np.finfo(np.float32).tiny)
        floor = self._rounding(gamma) + m * _EPS
        current = HyperbolicChanges(rest, self._executor, leaving, found[0] + found[1], magnitudes, floor)
        return current, 0.0 if own is None else 2 * float(found[4]) + self._on_diagonal

    def _is_smooth(self, features: Indices, gamma: float) -> NDArray[np.bool_]:
        """Mask of complete columns of numbers of a moderate range."""
        moderate = gamma * self.columns.ranges[features] <= MAX_EXPONENT
        return np.asarray(moderate & ~self.columns.special[features])

    def _exact(self, current: HyperbolicChanges, groups: Sequence[Indices]) -> Intervals:
        """Changes by groups from the scores of the changed subsets, less that of the subset."""
        gamma = current.rest.gamma
        scores = self._changed_scores(gamma, groups, leaving=current.leaving)
        own_radius = self._rounding(gamma) * float(current.magnitudes.sum())
        return Intervals(scores.values - current.score, scores.radii + own_radius)

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

    def _rounding(self, gamma: float) -> float:
        """Relative error of exp(-gamma D)."""
        return 64 * _EPS + self._pairs.rounding(gamma)

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


def _chosen(positions: Indices, smooth: NDArray[np.bool_], stage: Stage, other: Stage | None) -> Intervals:
    """Intervals of the smooth candidates by one stage, of the others by another; without one, nothing is known."""
    values, radii = np.zeros(len(positions)), np.full(len(positions), np.inf)
    for mine, way in ((smooth[positions], stage), (~smooth[positions], other)):
        if way is not None and mine.any():
            found = way(positions[mine])
            values[mine], radii[mine] = found.values, found.radii
    return Intervals(values, radii)


def _laplacian_factor(left: Array, right: Array, a: float, out: Array, other: Array) -> Array:
    """exp(a abs(x - y)) without an exponential for each pair."""
    np.multiply.outer(np.exp(a * left), np.exp(-a * right), out=out)
    np.multiply.outer(np.exp(-a * left), np.exp(a * right), out=other)
    return (np.maximum if a > 0 else np.minimum)(out, other, out=out)
