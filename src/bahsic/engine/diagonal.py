"""The part of a score on the diagonal: pairs of a sample with itself, or with copies of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bahsic.criteria.weights import Gram, Weights
from bahsic.data.columns import Columns

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


def diagonal(matrix: Gram) -> Array:
    """The diagonal of W, or of any matrix that is read by blocks."""
    m = len(matrix)
    parts = [slice(start, min(start + 64, m)) for start in range(0, m, 64)]
    return np.concatenate([np.diagonal(matrix.block(part, part)) for part in parts])


class Diagonal:
    """The sum of W_ii k(x_i, x_i) for an exponential kernel exp(-gamma D).

    A sample has distance zero from itself, except that each missing entry adds its constant here too.
    """

    def __init__(self, weights: Weights, columns: Columns) -> None:
        self._W = diagonal(weights)
        self._columns = columns
        self.varies = bool(columns.missing.any() and self._W.any())
        self._D = np.zeros(len(self._W))

    def move(self, subset: Indices) -> None:
        """Make ``subset`` the current columns."""
        if self.varies:
            self._D = self._distances(subset)

    def score(self, gamma: float) -> float:
        """Diagonal part of the score of the current columns."""
        return float(self._W @ np.exp(-gamma * self._D)) if self.varies else float(self._W.sum())

    def changes(self, groups: Sequence[Indices], gamma: float, a: float) -> Array:
        """Change of the diagonal part by each group of columns, whose D_G is subtracted (a > 0) or added (a < 0)."""
        weights = self._W * np.exp(-gamma * self._D)
        return np.array([float(weights @ np.expm1(a * self._distances(group))) for group in groups])

    def _distances(self, features: Indices) -> Array:
        incomplete = features[self._columns.missing[features]]
        absent = np.isnan(self._columns.rows(incomplete))
        distances: Array = self._columns.neutral[incomplete] @ absent
        return distances
