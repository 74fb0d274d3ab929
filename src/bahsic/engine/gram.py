"""Kernel values of all samples by blocks, never all at once, and the variance of HSIC from them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bahsic.criteria.hsic import variance_of_products
from bahsic.criteria.weights import Gram, centring_shift, overflow_reported, typical_entry
from bahsic.data.columns import Columns
from bahsic.engine.diagonal import diagonal
from bahsic.engine.encoding import largest_contributions
from bahsic.engine.executor import Executor, Placed, Sums, map_sum
from bahsic.engine.pairs import Pairs, WeightTiles
from bahsic.engine.plan import Plan, Tile, strips
from bahsic.engine.tiles import Differences
from bahsic.kernels.bandwidth import ScaledKernel
from bahsic.kernels.base import Kernel
from bahsic.kernels.rows import FloatArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


def gamma_of(kernel: Kernel) -> float:
    """The gamma of a kernel whose rules have been resolved."""
    return float(vars(kernel)["gamma"])


def is_flat(columns: Columns, features: Indices, kernel: ScaledKernel) -> bool:
    """Whether all kernel values on some columns are nearly equal, see `flat_below` of kernels."""
    reach = 2 * columns.ranges[features]
    return float((reach**kernel.power).sum()) <= kernel.flat_below


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
    compiled : bool
        Whether to use compiled loops.
    """

    def __init__(
        self,
        columns: Columns,
        features: Indices,
        kernel: Kernel,
        most: float = math.inf,
        *,
        compiled: bool = False,
    ) -> None:
        self._columns, self._features, self._kernel = columns, features, kernel
        self.contributions: Differences | None = None
        if isinstance(kernel, ScaledKernel):
            self.contributions = Differences(columns, features, kernel.power, most, gamma_of(kernel), compiled=compiled)
            self.flat = is_flat(columns, features, kernel)

    def __len__(self) -> int:
        return self._columns.n_samples

    def block(self, rows: slice, cols: slice) -> Array:
        """Kernel values of two ranges of samples."""
        if self.contributions is None:
            X, Y = (self._columns.rows(self._features, samples=side).T for side in (rows, cols))
            return np.asarray(self._kernel(X, Y), dtype=np.float64)
        D = _distances(self.contributions, rows, cols)
        return self.linked(D, D)

    def linked(self, D: Array, out: Array) -> Array:
        """Kernel values of distances."""
        kernel: Any = self._kernel
        return np.asarray(kernel.deviation(D, out=out) if self.flat else kernel.link(D, out=out))


class NestedKernels:
    """Kernel matrices of all samples on growing subsets of columns, made block by block; distances are added up.

    Parameters
    ----------
    columns : Columns
    subsets : sequence of ndarray of int
        Each has the columns of the one before.
    kernels : sequence of Kernel
        One for each subset, all of the same kind.
    """

    def __init__(self, columns: Columns, subsets: Sequence[Indices], kernels: Sequence[Kernel]) -> None:
        before = np.empty(0, dtype=np.intp)
        self._added: list[KernelBlocks] = []
        for subset, kernel in zip(subsets, kernels, strict=True):
            if isinstance(kernel, ScaledKernel):
                self._added.append(KernelBlocks(columns, np.setdiff1d(subset, before), kernel))
                self._added[-1].flat = is_flat(columns, subset, kernel)
                before = subset
            else:
                self._added.append(KernelBlocks(columns, subset, kernel))

    def blocks(self, rows: slice, cols: slice) -> Iterator[Array]:
        """Yield the kernel values of two ranges of samples for each subset, valid until the next."""
        D, out = (np.zeros((rows.stop - rows.start, cols.stop - cols.start)) for _ in range(2))
        for added in self._added:
            if added.contributions is None:
                yield added.block(rows, cols)
            else:
                D += _distances(added.contributions, rows, cols)
                yield added.linked(D, out)


def _distances(contributions: Differences, rows: slice, cols: slice) -> Array:
    """Distances between two ranges of samples."""
    tile = Tile(rows.start, rows.stop, cols.start, cols.stop)
    D = contributions.panel(tile, np.empty(tile.shape))
    np.maximum(D, 0, out=D)
    same = np.arange(max(rows.start, cols.start), min(rows.stop, cols.stop))
    D[same - rows.start, same - cols.start] = 0.0  # a distance is a root, which magnifies rounding errors
    return np.asarray(D)


class KernelTiles(Protocol):
    """Kernel values of all pairs of samples, centrable and less a constant, on the tiles of a plan."""

    @property
    def plan(self) -> Plan: ...

    def strips(self, index: int) -> Iterator[tuple[slice, Array]]:
        """Some rows of a tile after the other, with their values: arrays to write into, valid until the next."""


@dataclass(frozen=True, eq=False)
class GramTiles:
    """The tiles of a matrix that is read by blocks, less a typical entry."""

    gram: Gram
    plan: Plan

    @cached_property
    def _reference(self) -> float:
        return typical_entry(self.gram, self.plan.tiles[0].end)

    def strips(self, index: int) -> Iterator[tuple[slice, Array]]:
        """Some rows of a tile after the other, with their values."""
        tile = self.plan.tiles[index]
        K = self.gram.block(tile.rows, tile.cols)
        for rows in strips(tile.shape):
            yield rows, np.subtract(K[rows], self._reference, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class LinkedTiles:
    """The values of a kernel on the subset that a search is at, from its totals D.

    Attributes
    ----------
    pairs : Pairs
    kernel : ScaledKernel
        In the unit of the pairs.
    centre : float
        A typical value of D, whose kernel value is taken off.
    """

    pairs: Pairs
    kernel: ScaledKernel
    centre: float

    @property
    def plan(self) -> Plan:
        """The tiles."""
        return self.pairs.plan

    @cached_property
    def _link(self) -> Callable[..., NDArray[Any]]:
        flat = is_flat(self.pairs.columns, self.pairs.subset, self.kernel)
        return self.kernel.deviation if flat else self.kernel.link

    def strips(self, index: int) -> Iterator[tuple[slice, Array]]:
        """Some rows of a tile after the other, with their values."""
        D, take = self.pairs.totals(index), self.pairs.scratch.take
        reference = self._link(np.array([self.centre]))
        for rows in strips(D.shape):
            K = self._link(D[rows], out=take("first", D[rows].shape))
            K -= reference
            yield rows, K


@dataclass(frozen=True, eq=False)
class ChangedTiles(LinkedTiles):
    """The values of a kernel on the subset of a search after some columns have left it or entered it.

    Attributes
    ----------
    change : Differences
        Of these columns.
    sign : int
        -1 if they leave, 1 if they enter.
    """

    change: Differences
    sign: int

    def strips(self, index: int) -> Iterator[tuple[slice, Array]]:
        """Some rows of a tile after the other, with their values."""
        D, take = self.pairs.totals(index), self.pairs.scratch.take
        change = self.change.panel(self.plan.tiles[index], out=take("panel", D.shape))
        reference = self.kernel.link(np.array([self.centre]))
        for rows in strips(D.shape):
            Z = take("first", D[rows].shape)
            (np.subtract if self.sign < 0 else np.add)(D[rows], change[rows], out=Z)
            np.maximum(Z, 0.0, out=Z)
            K: Array = np.asarray(self.kernel.link(Z, out=Z))
            K -= reference
            yield rows, K


def can_change(pairs: Pairs, columns: Indices, group: Indices, kernel: ScaledKernel, *, leaving: bool) -> bool:
    """Whether D after a change is exact enough as that of the subset less, or plus, that of some columns."""
    if not (pairs.is_kept and np.array_equal(pairs.subset, columns)):
        return False
    after = np.setdiff1d(columns, group) if leaving else np.union1d(columns, group)
    largest = largest_contributions(pairs.columns, group, kernel.power).sum()
    wide = leaving and bool(pairs.too_wide(largest, gamma_of(kernel)))
    return not wide and not is_flat(pairs.columns, after, kernel)


@dataclass(frozen=True, eq=False)
class _TileSums:
    """Sums over j of w_j K_ij and of W_ij K_ij on one tile, i != j, and the entries K_ii."""

    K: KernelTiles
    W: WeightTiles
    w: FloatArray

    def __call__(self, index: int) -> Sums:
        """Both sums of the rows of the tile, both of its columns, and its part of the diagonal."""
        tile, W = self.K.plan.tiles[index], self.W(index)
        across, down = np.zeros((2, tile.shape[0])), np.zeros((2, tile.shape[1]))
        own = np.zeros(tile.shape[0] if tile.on_diagonal else 0)
        for rows, K in self.K.strips(index):
            if tile.on_diagonal:
                places = np.arange(len(K)), np.arange(rows.start, rows.stop)
                own[rows], K[places] = K[places], 0.0
            with overflow_reported():  # of sums, not within a kernel, whose own business that is
                across[0, rows] = K @ self.w[tile.cols]
                down[0] += self.w[tile.rows][rows] @ K
                M = np.multiply(K, W[rows], out=K)
                across[1, rows] = M @ np.ones(M.shape[1])
                down[1] += np.ones(len(M)) @ M
        down[0, : len(own)] = 0.0  # these pairs are in the sums of the rows: K has both triangles, W has one
        rows_and_columns = (tile.start, across), (tile.first, down)
        return *(Placed(start, one) for start, sums in rows_and_columns for one in sums), Placed(tile.start, own)


def _sums(K: KernelTiles, W: WeightTiles, w: FloatArray, executor: Executor) -> tuple[Array, Array, Array]:
    """Sums over the other samples j of w_j K_ij, and of W_ij K_ij, for each sample i; and K_ii."""
    found = map_sum(executor, _TileSums(K, W, w), range(len(K.plan.tiles)), len(w))
    return found[0] + found[2], found[1] + found[3], found[4]


def tiled_variance(K: KernelTiles, W: WeightTiles, executor: Executor) -> float:
    r"""`bahsic.hsic_variance` of kernel values that are made tile by tile, once.

    With the U-centred :math:`\tilde K_{ij} = K_{ij} - s_i - s_j`, and as the rows of W sum to zero, its products are
    :math:`\sum_j \tilde K_{ij} W_{ij} = \sum_j K_{ij} W_{ij} - \sum_j W_{ij} s_j`.

    Parameters
    ----------
    K : KernelTiles
    W : WeightTiles
        Of the unbiased estimate.
    executor : Executor
    """
    given = W.weights.sample_weight
    w = np.ones(len(W.weights)) if given is None else given
    totals, products, own = _sums(K, W, w, executor)
    shift = centring_shift(totals + (w - 1) * own, "unbiased", w)
    products -= _product(W, shift, executor)
    products += 0.0 if given is None else (own - shift) * diagonal(W.weights)
    return variance_of_products(products, given)


def _product(W: WeightTiles, vector: FloatArray, executor: Executor) -> Array:
    """W times a vector, but for the diagonal of W."""
    factors, tiles = W.weights.factors(), W.plan.tiles
    if factors is not None and factors[0].shape[1] <= len(vector) // 4:
        Q, B = factors
        return np.asarray(Q @ (B @ (vector @ Q)) - np.vecdot(Q @ B, Q) * vector)

    def products(index: int) -> Sums:
        tile, block = tiles[index], W(index)
        return Placed(tile.start, block @ vector[tile.cols]), Placed(tile.first, vector[tile.rows] @ block)

    across, down = map_sum(executor, products, range(len(tiles)), len(vector))
    return np.asarray(across + down)


def block_variance(K: KernelTiles, W: WeightTiles, starts: Sequence[int], executor: Executor) -> float:
    """Variance of the mean of HSIC over blocks of samples, by its spread; W is that of the mean."""
    _, products, _ = _sums(K, W, np.ones(len(W.weights)), executor)
    values = len(starts) * np.add.reduceat(products, starts)
    return float(values.var(ddof=1)) / len(values)
