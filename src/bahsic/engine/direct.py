"""Scores by the whole kernel matrix of each candidate subset: slow, but right for any kernel."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bahsic.engine.executor import Sums, map_sum
from bahsic.engine.gram import KernelBlocks
from bahsic.engine.intervals import Intervals, Stage
from bahsic.engine.scorer import Scorer
from bahsic.kernels.base import Kernel

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

_EPS = float(np.finfo(np.float64).eps)


class GenericScorer(Scorer):
    """Scores for any kernel, by its whole matrix for each candidate: slow, but always right."""

    @cached_property
    def _matrix(self) -> Array:
        return np.asarray(self._weights.matrix(), dtype=np.float64)

    def _products(self, columns: Indices, kernel: Kernel) -> tuple[float, float]:
        """The score of a subset, and the sum of the magnitudes of its terms."""
        if not self.plan.keep:
            return self._products_by_tiles(columns, kernel)
        K = kernel(np.ascontiguousarray(self.columns.rows(columns).T)) * self._matrix
        return float(K.sum()), float(np.abs(K).sum())

    def _products_by_tiles(self, columns: Indices, kernel: Kernel) -> tuple[float, float]:
        """Score of a subset and the sum of the magnitudes of its terms, tile by tile to save memory."""
        tiles, weights = self.plan.tiles, self._weights
        K = KernelBlocks(self.columns, columns, kernel, self.plan.budget / 4)

        def products(index: int) -> Sums:
            tile = tiles[index]
            M = K.block(tile.rows, tile.cols) * weights.block(tile.rows, tile.cols)
            if tile.on_diagonal:  # pairs below the diagonal repeat those above it, and the sum is doubled
                square = M[:, : len(M)]
                M[:, : len(M)] = np.triu(square, 1) + np.diag(np.diagonal(square)) / 2
            return (2 * np.array([M.sum(), np.abs(M).sum()]),)

        score, size = map_sum(self.executor, products, range(len(tiles)))[0]
        return float(score), float(size)

    def _score(self, columns: Indices, kernel: Kernel) -> float:
        return self._products(columns, kernel)[0]

    def _offset(self, columns: Indices, candidates: Indices, kernel: Kernel) -> float:
        return self._score(columns, kernel) if len(columns) else 0.0

    def _round(
        self, columns: Indices, candidates: Indices, kernel: Kernel, own: Kernel | None, *, leaving: bool
    ) -> tuple[Sequence[Stage], float]:
        changed, groups = np.setdiff1d if leaving else np.union1d, self.units.each(candidates)

        def scores(positions: Indices) -> Intervals:
            found = [self._products(changed(columns, groups[position]), kernel) for position in positions]
            values, sizes = np.array(found).T
            return Intervals(values, _EPS * (256 + 4 * len(columns)) * sizes)

        return [scores], 0.0 if own is None else self._score(columns, own)
