"""The numeric kernel of the engine: pure functions of one tile of the pairs of samples.

Every driver (serial, threads, out of memory, cluster) calls these and adds up what they return.
The weights of a tile are zero but for the pairs a < b, so sums over a tile count each pair once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from bahsic.engine.plan import Tile
from bahsic.engine.scratch import Scratch

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Columns = NDArray[Any]

# Length of the sums that are made in the precision of the columns before they are added in float64.
# It bounds the rounding error of a float32 product.
INNER = 1024

# Columns of one product, few enough for it to stay in the cache.
COLUMNS = 512

# Elements that elementwise passes work on at a time, so that they stay in the cache.
STRIP = 1 << 17

_NEGLIGIBLE = 1e-14


def upper(block: Array, tile: Tile) -> Array:
    """Zero the pairs a >= b of a tile in place."""
    square = block[:, : tile.stop - tile.start]
    square[np.tril_indices(len(square))] = 0.0
    return block


def strips(shape: tuple[int, int]) -> Iterator[slice]:
    """Ranges of rows that split a tile into pieces of about ``STRIP`` elements."""
    height = max(1, STRIP // shape[1])
    for start in range(0, shape[0], height):
        yield slice(start, min(start + height, shape[0]))


def rows_of(XT: Array, features: Indices, out: Array) -> Array:
    """Some rows of ``XT`` in ``out``; a mode other than "raise" spares numpy a copy of the output."""
    return np.take(XT, features, axis=0, out=out, mode="clip")


class SquaredDistances:
    """Squared distances over some features, a tile at a time: one product, norms as extra rows."""

    def __init__(self, XT: Array, features: Indices) -> None:
        self._right = np.empty((len(features) + 2, XT.shape[1]))
        chosen = rows_of(XT, features, out=self._right[:-2])
        self._right[-2], self._right[-1] = 1.0, np.einsum("ij,ij->j", chosen, chosen)

    def panel(self, tile: Tile, out: Array) -> Array:
        """Squared distances of a tile, not clamped: exact zeros may be off by a rounding error."""
        left = -2 * self._right[:, tile.rows]
        left[-2], left[-1] = self._right[-1, tile.rows], 1.0
        return np.matmul(left.T, self._right[:, tile.cols], out=out)


class InnerProducts:
    """Inner products over some features, a tile at a time."""

    def __init__(self, XT: Array, features: Indices) -> None:
        self._XT = XT[features]

    def panel(self, tile: Tile, out: Array) -> Array:
        """Inner products of a tile."""
        return np.matmul(self._XT[:, tile.rows].T, self._XT[:, tile.cols], out=out)


class AbsoluteDistances:
    """L1 distances over some features, a tile at a time."""

    def __init__(self, XT: Array, features: Indices) -> None:
        self._X = np.ascontiguousarray(XT[features].T)

    def panel(self, tile: Tile, out: Array) -> Array:
        """L1 distances of a tile."""
        return np.asarray(cdist(self._X[tile.rows], self._X[tile.cols], "cityblock", out=out))


def quadratic_forms(columns: Columns, M: Columns, tile: Tile, scratch: Scratch) -> Array:
    """Contribution of a tile to phi' M phi of symmetric M, for each row phi of ``columns``.

    Both have one dtype; partial sums of at most ``INNER`` products are added in float64.
    """
    total = np.zeros(len(columns))
    for first in range(0, len(columns), COLUMNS):
        some = columns[first : first + COLUMNS]
        product = scratch.take("product", (len(some), M.shape[0]), columns.dtype)
        for start in range(0, M.shape[1], INNER):
            stop = min(start + INNER, M.shape[1])
            np.matmul(some[:, tile.start + start : tile.start + stop], M[:, start:stop].T, out=product)
            total[first : first + COLUMNS] += np.vecdot(product, some[:, tile.rows])
    return 2 * total


def row_sums(M: Columns, tile: Tile) -> Array:
    """Contribution of a tile to the row sums of symmetric M."""
    sums = np.zeros(tile.n_samples)
    sums[tile.rows] += M @ np.ones(M.shape[1], dtype=M.dtype)
    sums[tile.cols] += np.ones(M.shape[0], dtype=M.dtype) @ M
    return sums


def exponential_sum(M: Array, D: Array, centre: float, shift: float, scratch: Scratch) -> float:
    """Sum of M exp(shift (D - centre)): by a few moments where the exponent is small."""
    z = np.subtract(D, centre, out=scratch.take("second", D.shape))
    square = np.multiply(z, z, out=scratch.take("third", D.shape))
    order = _taylor_order(abs(shift) * math.sqrt(float(square.max())))
    if order is None:
        z *= shift
        np.exp(z, out=z)
        return float(np.vdot(M, z))
    total = float(M.sum()) + shift * float(np.vdot(M, z))
    even, odd = M, z  # M z^(n - 2), for the last even and odd n
    for n in range(2, order + 1):
        if n == 3:
            odd = np.multiply(M, z, out=z)
        elif n >= 4 and n % 2 == 0:
            even = np.multiply(even, square, out=scratch.take("fourth", D.shape))
        elif n >= 5:
            odd *= square
        total += shift**n / math.factorial(n) * float(np.vdot(odd if n % 2 else even, square))
    return total


def _taylor_order(size: float) -> int | None:
    """Terms after which the exponential series is exact to rounding, or None if they are many."""
    for order in range(1, 9):
        if size ** (order + 1) / math.factorial(order + 1) <= _NEGLIGIBLE:
            return order
    return None
