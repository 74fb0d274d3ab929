"""The part of a score on the diagonal: pairs of a sample with itself, or with copies of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bahsic.criteria.weights import Gram, Weights

Array = NDArray[np.float64]


def diagonal(matrix: Gram) -> Array:
    """The diagonal of W, or of any matrix that is read by blocks."""
    m = len(matrix)
    parts = [slice(start, min(start + 64, m)) for start in range(0, m, 64)]
    return np.concatenate([np.diagonal(matrix.block(part, part)) for part in parts])


def on_diagonal(weights: Weights) -> float:
    """The sum of W_ii k(x_i, x_i) for a kernel with k(x, x) = 1."""
    return float(diagonal(weights).sum())
