"""Sums over the pairs of a tile in numpy: the definition of what `bahsic.engine.loops` computes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from bahsic.data.columns import Columns
from bahsic.engine.plan import Tile, strips

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Columns of numbers up to which each is added by itself.
_FEW = 3


def add_columns(columns: Columns, features: Indices, power: int, tile: Tile, out: Array) -> None:
    """Add the contributions of some columns to distances on a tile."""
    by_rows = ~columns.special[features]
    if np.count_nonzero(by_rows) <= _FEW:
        by_rows[:] = False
    together = features[by_rows]
    for part in columns.portions(together, tile.shape[1]) if len(together) else ():
        left, right = (np.asfortranarray(columns.rows(part, samples=side)).T for side in (tile.rows, tile.cols))
        out += cdist(left, right, "sqeuclidean" if power == 2 else "cityblock")
    for feature in features[~by_rows]:
        x, y = (columns.rows(np.array([feature]), samples=side)[0] for side in (tile.rows, tile.cols))
        out += columns.contribution(int(feature), power, x, y, np.empty(out.shape))


def form(D: Array, W: Array, gamma: float, own_gamma: float, across: Array, down: Array) -> tuple[float, float]:
    """Return the sums of M = W exp(-gamma D) and of W exp(-own_gamma D), the latter unless own_gamma is negative.

    The sums of abs(M) over the columns and over the rows are added to ``across`` and ``down``.
    """
    score = own = 0.0
    for rows in strips(D.shape):
        M = np.exp(-gamma * D[rows]) * W[rows]
        score += float(M.sum())
        np.abs(M, out=M)
        across[rows] += M.sum(axis=1)
        down += M.sum(axis=0)
        own += float(np.vecdot(np.exp(-own_gamma * D[rows]), W[rows]).sum()) if own_gamma >= 0 else 0.0
    return score, own


def changed(D: Array, W: Array, T: Array, gamma: float, a: float) -> tuple[float, float]:
    """Return the sum of W exp(a T - gamma D), and that of its magnitudes."""
    total = size = 0.0
    for rows in strips(D.shape):
        K = np.multiply(T[rows], a)
        K -= gamma * D[rows]
        np.minimum(K, 0.0, out=K)
        np.exp(K, out=K)
        total += float(np.vecdot(K, W[rows]).sum())  # by rows, as one sum over many terms would round too often
        size += float(np.vecdot(K, np.abs(W[rows])).sum())
    return total, size
