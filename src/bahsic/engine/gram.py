"""Kernel values of all samples by blocks, never all at once, and the variance of HSIC from them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bahsic.arrays import Array, Indices
from bahsic.criteria.hsic import variance_of_products
from bahsic.criteria.weights import Gram, centring_shift, overflow_reported, typical_entry
from bahsic.data.columns import Columns
from bahsic.engine.executor import Executor, Placed, Sums, map_sum
from bahsic.engine.pairs import Pairs, WeightTiles
from bahsic.engine.plan import Plan, Tile, strips
from bahsic.engine.tiles import Differences, none_to_itself
from bahsic.kernels.bandwidth import ScaledKernel
from bahsic.kernels.base import Kernel
from bahsic.kernels.rows import FloatArray


def gamma_of(kernel: Kernel) -> float:
    """The gamma of a kernel whose rules have been resolved."""
    return float(vars(kernel)["gamma"])


def is_flat(columns: Columns, features: Indices, kernel: ScaledKernel) -> bool:
    """Whether all kernel values on some columns are nearly equal, see `flat_below` of kernels."""
    reach = 2 * columns.ranges[features]
    return float((reach**kernel.power).sum()) <= kernel.flat_below


def link(columns: Columns, features: Indices, kernel: ScaledKernel) -> Callable[..., Any]:
    """Return the function from distances to kernel values, or to differences from k(x, x) if these keep more digits."""
    return kernel.deviation if is_flat(columns, features, kernel) else kernel.link


class KernelBlocks:
    """Kernel matrix of all samples on some columns, made block by block with at most so many bytes of the columns kept.

    Nearly constant values are given as differences from k(x, x): the same once centred, with more digits.
    """

    def __init__(
        self, columns: Columns, features: Indices, kernel: Kernel, most: float = math.inf, before: Any = ()
    ) -> None:
        """If distances on the columns ``before`` are known, only those on the others are made."""
        self._columns, self._features, self._kernel = columns, features, kernel
        self._added: Differences | None = None
        if isinstance(kernel, ScaledKernel):
            self._added = Differences(columns, np.setdiff1d(features, before), kernel.power, most, gamma_of(kernel))
            self._link = link(columns, features, kernel)

    def __len__(self) -> int:
        return self._columns.n_samples

    def block(self, rows: slice, cols: slice, known: Array | None = None, out: Array | None = None) -> Array:
        """Return kernel values of two ranges of samples; the other distances are added to those that are known."""
        if self._added is None:
            X, Y = (self._columns.rows(self._features, samples=side).T for side in (rows, cols))
            return np.asarray(self._kernel(X, Y), dtype=np.float64)
        D = distances(self._added, rows, cols)
        if known is not None:
            D = np.add(known, D, out=known)
        return np.asarray(self._link(D, out=D if out is None else out))


class NestedKernels:
    """Kernel matrices on growing subsets of columns, a kernel of the same kind for each; distances are added up."""

    def __init__(self, columns: Columns, subsets: Sequence[Indices], kernels: Sequence[Kernel]) -> None:
        steps = zip([(), *subsets[:-1]], subsets, kernels, strict=True)
        self._kernels = [KernelBlocks(columns, subset, kernel, before=before) for before, subset, kernel in steps]

    def blocks(self, rows: slice, cols: slice) -> Iterator[Array]:
        """Yield the kernel values of two ranges of samples for each subset, valid until the next."""
        D, out = (np.zeros((rows.stop - rows.start, cols.stop - cols.start)) for _ in range(2))
        return (kernel.block(rows, cols, D, out) for kernel in self._kernels)


def distances(contributions: Differences, rows: slice, cols: slice) -> Array:
    """Return the distances between two ranges of samples."""
    tile = Tile(rows, cols)
    D = contributions.panel(tile, np.empty(tile.shape))
    np.maximum(D, 0, out=D)
    return none_to_itself(D, tile)  # a distance is a root, which magnifies rounding errors


@dataclass(frozen=True, eq=False)
class GramTiles:
    """The tiles of a matrix that is read by blocks, less a typical entry."""

    gram: Gram
    plan: Plan

    @cached_property
    def _reference(self) -> float:
        return typical_entry(self.gram, self.plan.tiles[0].cols.stop)

    def strips(self, index: int) -> Iterator[tuple[slice, Array]]:
        """Yield some rows of a tile after the other, with their values: arrays to write into, valid until the next."""
        tile = self.plan.tiles[index]
        K = self.gram.block(tile.rows, tile.cols)
        for rows in strips(tile.shape):
            yield rows, np.subtract(K[rows], self._reference, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class LinkedTiles:
    """The values of a kernel on the subset of a search, or after some columns have left or entered it, from its D."""

    pairs: Pairs
    link: Callable[..., Any]
    centre: float  # a typical value of D, whose kernel value is taken off
    change: Differences | None = None
    add: np.ufunc = np.add  # or subtract, if the columns leave

    @property
    def plan(self) -> Plan:
        return self.pairs.plan

    def strips(self, index: int) -> Iterator[tuple[slice, Array]]:
        D, take = self.pairs.totals(index), self.pairs.scratch.take
        change = None if self.change is None else self.change.panel(self.plan.tiles[index], take("panel", D.shape))
        reference = self.link(np.array([self.centre]))
        for rows in strips(D.shape):
            Z, out = D[rows], take("first", D[rows].shape)
            if change is not None:
                Z = self.add(Z, change[rows], out=out)
                np.maximum(Z, 0.0, out=Z)
            K = self.link(Z, out=out)
            K -= reference
            yield rows, K


# Kernel values of all pairs of samples, centrable and less a constant, on the tiles of a plan.
KernelTiles = GramTiles | LinkedTiles


def _sums(K: KernelTiles, W: WeightTiles, w: FloatArray, executor: Executor) -> tuple[Array, Array, Array]:
    """Return the sums over the other samples j of w_j K_ij, and of W_ij K_ij, for each sample i; and K_ii."""

    def tile_sums(index: int) -> Sums:
        tile, block = K.plan.tiles[index], W(index)
        across, down = np.zeros((2, tile.shape[0])), np.zeros((2, tile.shape[1]))
        own = np.zeros(tile.shape[0] if tile.on_diagonal else 0)
        for rows, values in K.strips(index):
            if tile.on_diagonal:
                places = np.arange(len(values)), np.arange(rows.start, rows.stop)
                own[rows], values[places] = values[places], 0.0
            with overflow_reported():  # of sums, not within a kernel, whose own business that is
                across[0, rows] = values @ w[tile.cols]
                down[0] += w[tile.rows][rows] @ values
                M = np.multiply(values, block[rows], out=values)
                across[1, rows] = M.sum(axis=1)
                down[1] += M.sum(axis=0)
        down[0, : len(own)] = 0.0  # these pairs are in the sums of the rows: K has both triangles, W has one
        rows_and_columns = (tile.rows.start, across), (tile.cols.start, down)
        return *(Placed(start, one) for start, sums in rows_and_columns for one in sums), Placed(tile.rows.start, own)

    found = map_sum(executor, tile_sums, range(len(K.plan.tiles)), len(w))
    return found[0] + found[2], found[1] + found[3], found[4]


def tiled_variance(K: KernelTiles, W: WeightTiles, executor: Executor) -> float:
    r"""`bahsic.hsic_variance` of kernel values that are made tile by tile, once.

    With the U-centred :math:`\tilde K_{ij} = K_{ij} - s_i - s_j`, and as the rows of W sum to zero, its products are
    :math:`\sum_j \tilde K_{ij} W_{ij} = \sum_j K_{ij} W_{ij} - \sum_j W_{ij} s_j`.

    W is that of the unbiased estimate.
    """
    given = W.weights.sample_weight
    w = np.ones(len(W.weights)) if given is None else given
    totals, products, own = _sums(K, W, w, executor)
    shift = centring_shift(totals + (w - 1) * own, "unbiased", w)
    products -= _product(W, shift, executor)
    products += 0.0 if given is None else (own - shift) * W.weights.diagonal()
    return variance_of_products(products, given)


def _product(W: WeightTiles, vector: FloatArray, executor: Executor) -> Array:
    """W times a vector, but for the diagonal of W."""
    tiles = W.plan.tiles

    def products(index: int) -> Sums:
        tile, block = tiles[index], W(index)
        return Placed(tile.rows.start, block @ vector[tile.cols]), Placed(tile.cols.start, vector[tile.rows] @ block)

    across, down = map_sum(executor, products, range(len(tiles)), len(vector))
    return np.asarray(across + down)


def block_variance(K: KernelTiles, W: WeightTiles, starts: Sequence[int], executor: Executor) -> float:
    """Variance of the mean of HSIC over blocks of samples, by its spread; W is that of the mean."""
    _, products, _ = _sums(K, W, np.ones(len(W.weights)), executor)
    values = len(starts) * np.add.reduceat(products, starts)
    return float(values.var(ddof=1)) / len(values)
