"""Scores by the whole kernel matrix of each candidate subset: slow, but right for any kernel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bahsic.engine.executor import Sums, map_sum
from bahsic.engine.gram import KernelBlocks
from bahsic.engine.intervals import Intervals, Stage
from bahsic.engine.scorer import Scorer
from bahsic.kernels.base import Kernel

Indices = NDArray[np.intp]

_EPS = float(np.finfo(np.float64).eps)


class GenericScorer(Scorer):
    """Scores for any kernel, by its whole matrix for each candidate: slow, but always right."""

    def _products(self, columns: Indices, kernel: Kernel) -> tuple[float, float]:
        """Return the score of a subset, and the sum of the magnitudes of its terms."""
        if self.plan.keep:
            M = kernel(np.ascontiguousarray(self.columns.rows(columns).T)) * self.W.matrix
            return float(M.sum()), float(np.abs(M).sum())
        tiles, weights = self.plan.tiles, self.W.weights
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

    def total(self, columns: Indices, kernel: Kernel) -> float:
        """Return <K, W> of a subset with a kernel."""
        return self._products(columns, kernel)[0]

    def changes(self, columns: Indices, candidates: Indices, kernel: Kernel, *, leaving: bool) -> Intervals:
        """Return the changes of <K, W> by all candidates."""
        found = super().changes(columns, candidates, kernel, leaving=leaving)
        return Intervals(found.values - (self.total(columns, kernel) if len(columns) else 0.0), found.radii)

    def _round(
        self, columns: Indices, candidates: Indices, kernel: Kernel, own: Kernel | None, *, leaving: bool
    ) -> tuple[Sequence[Stage], float]:
        """Stages for the scores themselves, whose order is that of their changes."""
        changed, groups = np.setdiff1d if leaving else np.union1d, self.units.each(candidates)

        def scores(positions: Indices) -> Intervals:
            found = [self._products(changed(columns, groups[position]), kernel) for position in positions]
            values, sizes = np.array(found).T
            return Intervals(values, _EPS * (256 + 4 * len(columns)) * sizes)

        return [scores], 0.0 if own is None else self.total(columns, own)
