"""Scores for the linear kernel, by one matrix product, and for polynomials of degree p, by p products."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from math import comb

import numpy as np

from bahsic.arrays import EPS, Array, Indices
from bahsic.criteria.weights import Weights
from bahsic.data.columns import Columns
from bahsic.engine.executor import Placed, Sums, map_sum
from bahsic.engine.plan import Tile
from bahsic.engine.scorer import Intervals, Scorer, Stage
from bahsic.kernels.base import Kernel

_LARGEST = 1e290  # greatest kernel value whose sums over the samples do not overflow
_TOGETHER = 512  # columns that a product takes together
MAX_DEGREE = 6  # for higher degrees the whole kernel matrix of each candidate is cheaper


class PolynomialScorer(Scorer):
    r"""Scores for k = (D + c)^p with D the inner product, by the binomial formula.

    .. math:: (D \mp x x' + c)^p = \sum_q \binom{p}{q} (\mp x x')^q (D + c)^{p - q}

    so that a change of the score is a sum of p quadratic forms in the powers of the column. For the linear kernel it
    does not depend on the subset.
    """

    def _set_up(self) -> None:
        columns, kernel = self.columns, self._kernel
        self._degree, self._coef0 = int(getattr(kernel, "degree", 1)), float(getattr(kernel, "coef0", 0.0))
        largest = float(columns.ranges.max())
        accepted = _LARGEST ** (1 / (2 * self._degree)) / math.sqrt(columns.n_features)
        if largest > accepted:
            raise ValueError(
                f"X has values up to {largest:.3g}; accepted with {kernel!r} of {columns.n_features} features, whose "
                f"values would overflow: up to {accepted:.3g}"
            )

    def weigh(self, weights: Weights) -> None:
        """Replace W."""
        super().weigh(weights)
        vars(self).pop("_products", None)

    def total(self, columns: Indices, kernel: Kernel) -> float:
        """Return <K, W> of a subset."""
        if self._degree == 1:
            return float(self._products.values[columns].sum())
        data, tiles, weights, coef0, degree = self.columns, self.plan.tiles, self.W, self._coef0, self._degree

        def tile_score(index: int) -> Sums:
            K = (_inner_products(data, columns, tiles[index]) + coef0) ** degree
            return (np.array(2 * np.vdot(K, weights(index))),)

        (score,) = map_sum(self.executor, tile_score, range(len(tiles)))
        return float(score) + float(weights.diagonal @ (self._norms(columns) + coef0) ** degree)

    def _round(
        self, columns: Indices, candidates: Indices, kernel: Kernel, own: Kernel | None, *, leaving: bool
    ) -> tuple[Sequence[Stage], float]:
        groups, sign = self.units.each(candidates), -1.0 if leaving else 1.0

        def changes(positions: Indices) -> Intervals:
            chosen = [groups[position] for position in positions]
            everyone, starts = np.concatenate(chosen), np.cumsum([0, *map(len, chosen[:-1])])
            if self._degree > 1:  # each group is a column, see `scorer_for`
                return self._changes_by(columns, everyone, sign)
            values, radii = self._products.values[everyone], self._products.radii[everyone]
            return Intervals(sign * np.add.reduceat(values, starts), np.add.reduceat(radii, starts))

        return [changes], 0.0 if own is None else self.total(columns, own)

    @cached_property
    def _products(self) -> Intervals:
        """Score x' W x of every feature; with the linear kernel it does not depend on the subset."""
        everything = np.arange(self.columns.n_features)
        return self._changes_by(everything[:0], everything, 1.0)

    def _norms(self, columns: Indices) -> Array:
        rows = (self.columns.rows(part) for part in self.columns.portions(columns))
        return np.asarray(sum(np.einsum("ij,ij->j", X, X) for X in rows))

    def _changes_by(self, subset: Indices, features: Indices, sign: float) -> Intervals:
        base = self._norms(subset) + self._coef0
        parts = [
            part[i : i + _TOGETHER] for part in self.columns.portions(features) for i in range(0, len(part), _TOGETHER)
        ]
        found = [self._changes(subset, base, part, sign) for part in parts]
        values, sizes = (np.concatenate(parts) for parts in zip(*found, strict=True))
        rounding = EPS * (self.columns.n_samples + 16 * self._degree + len(subset))
        return Intervals(values, rounding * sizes)

    def _changes(self, subset: Indices, base: Array, features: Indices, sign: float) -> tuple[Array, Array]:
        """Score changes by some features, and the sums of the magnitudes of their terms."""
        values, sizes = np.zeros((2, len(features)))
        columns = self.columns.rows(features)
        powers = np.ones_like(columns)
        for q in range(1, self._degree + 1):
            powers *= columns
            factor = comb(self._degree, q) * sign**q
            forms, magnitudes = self._forms(subset, powers, self._degree - q)
            on_diagonal = self.W.diagonal * base ** (self._degree - q)
            squares = powers**2
            values += factor * (forms + squares @ on_diagonal)
            sizes += abs(factor) * (squares @ (magnitudes + np.abs(on_diagonal)))
        return values, sizes

    def _forms(self, subset: Indices, columns: Array, power: int) -> tuple[Array, ...]:
        """Quadratic forms phi' M phi of every column for M = W (D + c)^power, and the row sums of abs(M)."""
        data, tiles, weights, coef0 = self.columns, self.plan.tiles, self.W, self._coef0

        def tile_forms(index: int) -> Sums:
            tile, M = tiles[index], weights(index)
            if power:
                M = M * (_inner_products(data, subset, tile) + coef0) ** power
            forms = 2 * np.vecdot(columns[:, tile.cols] @ M.T, columns[:, tile.rows])
            sizes = np.abs(M)
            return forms, Placed(tile.rows.start, sizes.sum(axis=1)), Placed(tile.cols.start, sizes.sum(axis=0))

        forms, across, down = map_sum(self.executor, tile_forms, range(len(tiles)), self.columns.n_samples)
        return forms, across + down


def _inner_products(data: Columns, features: Indices, tile: Tile) -> Array:
    """Inner products of the samples of a tile over some columns."""
    found = np.zeros(tile.shape)
    for part in data.portions(features, tile.shape[1]) if len(features) else ():
        found += data.rows(part, samples=tile.rows).T @ data.rows(part, samples=tile.cols)
    return found
