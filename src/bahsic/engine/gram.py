"""Kernel matrix of all samples, made block by block, for the variance of HSIC and for the HSIC of blocks of samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bahsic.criteria.hsic import variance_of_products
from bahsic.criteria.weights import Weights
from bahsic.data.columns import Columns
from bahsic.engine.diagonal import diagonal
from bahsic.engine.executor import Executor, Placed, Sums, map_sum
from bahsic.engine.plan import Plan, Tile
from bahsic.engine.tiles import AbsoluteDistances, SquaredDistances, row_sums, upper
from bahsic.kernels.bandwidth import ScaledKernel
from bahsic.kernels.base import Kernel

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


class KernelBlocks:
    """Kernel matrix of all samples on some columns, made block by block.

    Nearly constant values are given as differences from k(x, x): the same once centred, with more digits.

    Parameters
    ----------
    columns : Columns
    features : ndarray of int
        The columns of the subset.
    kernel : Kernel
        With numbers, not rules, as parameters.
    most : float
        Bytes of the columns that may be kept in memory.
    """

    def __init__(self, columns: Columns, features: Indices, kernel: Kernel, most: float = math.inf) -> None:
        self._columns, self._features, self._kernel = columns, features, kernel
        self._contributions: SquaredDistances | AbsoluteDistances | None = None
        if isinstance(kernel, ScaledKernel):
            contributions = SquaredDistances if kernel.power == 2 else AbsoluteDistances
            self._contributions = contributions(columns, features, np.float64, most)
            reach = 2 * columns.ranges[features]
            self._flat = float((reach**kernel.power).sum()) <= kernel.flat_below

    def __len__(self) -> int:
        return self._columns.n_samples

    def block(self, rows: slice, cols: slice) -> Array:
        """Kernel values of two ranges of samples."""
        if self._contributions is None:
            X, Y = (self._columns.rows(self._features, samples=side).T for side in (rows, cols))
            return np.asarray(self._kernel(X, Y), dtype=np.float64)
        tile = Tile(rows.start, rows.stop, cols.start, cols.stop)
        D = self._contributions.panel(tile, np.empty(tile.shape))
        np.maximum(D, 0, out=D)
        if not self._columns.missing[self._features].any():  # missing entries contribute on the diagonal too
            same = np.arange(max(rows.start, cols.start), min(rows.stop, cols.stop))
            D[same - rows.start, same - cols.start] = 0.0  # a distance is a root, which magnifies rounding errors
        kernel: Any = self._kernel
        return np.asarray(kernel.deviation(D, out=D) if self._flat else kernel.link(D, out=D))


def tiled_variance(K: KernelBlocks, weights: Weights, plan: Plan, executor: Executor) -> float:
    """`bahsic.hsic_variance` for W of the unbiased estimate, from kernel values made tile by tile in two passes."""
    m, tiles, given = len(K), plan.tiles, weights.sample_weight
    w = np.ones(m) if given is None else given

    def sums(index: int) -> Sums:
        tile = tiles[index]
        G = upper(K.block(tile.rows, tile.cols), tile)
        return Placed(tile.start, G @ w[tile.cols]), Placed(tile.first, w[tile.rows] @ G)

    own = None if given is None else diagonal(K)
    row_total = np.sum(map_sum(executor, sums, range(len(tiles)), m), axis=0)
    row_total += 0.0 if own is None else (w - 1) * own
    n = float(w.sum())
    shift = row_total / (n - 2) - float(w @ row_total) / (2 * (n - 1) * (n - 2))

    def products(index: int) -> Sums:
        tile = tiles[index]
        P = K.block(tile.rows, tile.cols)
        P -= shift[tile.rows, None] + shift[tile.cols]
        P *= weights.block(tile.rows, tile.cols)
        return row_sums(upper(P, tile), tile)

    found = np.sum(map_sum(executor, products, range(len(tiles)), m), axis=0)
    found += 0.0 if own is None else (own - 2 * shift) * diagonal(weights)
    return variance_of_products(found, given)


def block_values(K: KernelBlocks, weights: Weights, starts: Sequence[int], executor: Executor) -> Array:
    """HSIC of each block of samples by itself, for the W of the mean over the blocks."""
    blocks = list(pairwise([*starts, len(K)]))

    def value(ends: tuple[int, int]) -> float:
        block = slice(*ends)
        return len(blocks) * float(np.vdot(K.block(block, block), weights.block(block, block)))

    return np.array(list(executor.stream(value, blocks)))
