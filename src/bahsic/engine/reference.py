"""Sums over the pairs of a tile in numpy: the definition of what `bahsic.engine.loops` computes."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from bahsic.arrays import Array, Indices
from bahsic.data.columns import Columns
from bahsic.engine.plan import Tile, strips


def add_columns(columns: Columns, features: Indices, power: int, tile: Tile, out: Array) -> None:
    """Add the contributions of some columns to distances on a tile."""
    by_rows = ~columns.special[features]
    if np.count_nonzero(by_rows) == 1:  # which is quicker by itself
        by_rows[:] = False
    together = features[by_rows]
    for part in columns.portions(together, tile.shape[1]) if len(together) else ():
        left, right = (np.asfortranarray(columns.rows(part, samples=side)).T for side in (tile.rows, tile.cols))
        out += cdist(left, right, "sqeuclidean" if power == 2 else "cityblock")
    for feature in features[~by_rows]:
        x, y = (columns.rows(np.array([feature]), samples=side)[0] for side in (tile.rows, tile.cols))
        out += columns.contribution(int(feature), power, x, y, np.empty(out.shape))


def weigh(D: Array, W: Array, gamma: float, M: Array) -> None:
    """Set M to W exp(-gamma D)."""
    for rows in strips(D.shape):
        np.multiply(D[rows], -gamma, out=M[rows])
        np.exp(M[rows], out=M[rows])
        M[rows] *= W[rows]


def form(M: Array, across: Array, down: Array) -> None:
    """Add the sums of M and of abs(M) over the columns and the rows to the rows of ``across`` and ``down``."""
    for rows in strips(M.shape):
        for side, values in enumerate((M[rows], np.abs(M[rows]))):
            across[side, rows] += values.sum(axis=1)
            down[side] += values.sum(axis=0)


def changed(D: Array, W: Array, T: Array, gamma: float, sign: float) -> tuple[float, float]:
    """Return the sum of W (exp(-gamma (D - sign T)) - exp(-gamma D)), and that of its magnitudes."""
    total = size = 0.0
    for rows in strips(D.shape):  # the larger exponential is taken out, so that small changes keep all their digits
        K = (T[rows] if sign > 0 else 0.0) - D[rows]
        K *= gamma
        np.minimum(K, 0.0, out=K)
        np.exp(K, out=K)
        K *= np.expm1(-gamma * T[rows])
        total -= float(np.vecdot(K, W[rows]).sum())  # by rows, as one sum over many terms would round too often
        size -= float(np.vecdot(K, np.abs(W[rows])).sum())
    return sign * total, size
