"""The arithmetic of the engine: pure functions of one tile of the pairs of samples.

Every driver (serial, threads, out of memory, cluster) calls these functions and adds up their results.
The weights of a tile are zero except for pairs a < b, so sums over a tile count each pair once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from bahsic.data.columns import Columns
from bahsic.data.levels import MAX_CATEGORIES
from bahsic.data.sparse_rows import SparseRows
from bahsic.engine.executor import Placed
from bahsic.engine.plan import PANEL_HEIGHT, Tile
from bahsic.engine.scratch import Scratch

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Vectors = NDArray[Any]

# Length of the sums made in the precision of the columns, before these are added in float64.
# It limits the rounding error of a float32 product.
INNER = 1024

# Columns of one product, few enough for it to stay in the cache.
COLUMNS = 512

# Elements that elementwise passes work on at a time, so that they stay in the cache.
STRIP = 1 << 17

_EPS = float(np.finfo(np.float64).eps)

# Error of squared distances by a product, relative to the squared norms, in units of the machine precision.
_PRODUCT = 16.0

# Largest error of scale * D that products may make; columns that are too wide for that are made of differences.
_PRODUCT_ERROR = 1e-10


def upper(block: Array, tile: Tile) -> Array:
    """Zero the pairs a >= b of a tile in place."""
    if not tile.on_diagonal:
        return block
    square = block[:, : tile.stop - tile.start]
    np.copyto(square, 0.0, where=_lower(len(square)))
    return block


@lru_cache(maxsize=4)
def _lower(n: int) -> NDArray[np.bool_]:
    """Mask of the diagonal and the entries below it, of an n x n matrix."""
    return np.tri(n, dtype=bool)


def strips(shape: tuple[int, int]) -> Iterator[slice]:
    """Ranges of rows that split a tile into pieces of about ``STRIP`` elements."""
    height = max(1, STRIP // shape[1])
    for start in range(0, shape[0], height):
        yield slice(start, min(start + height, shape[0]))


@dataclass(frozen=True)
class Rounding:
    """Bounds on the rounding errors of sums of contributions, in units of the machine precision.

    Attributes
    ----------
    absolute : float
        Error of the contributions that are made by matrix products.
    largest : float
        Largest sum of the others, which are made of differences and have errors relative to themselves.
    """

    absolute: float
    largest: float


def by_differences(columns: Columns, features: Indices, scale: float) -> NDArray[np.bool_]:
    """Mask of the columns too wide for the error of a product of all others, times ``scale``, to be negligible.

    The product ``x^2 + y^2 - 2 x y`` has an error relative to the squared norms of the samples, at most the sum of
    the squared ranges, however close x and y are.
    """
    squares, most = np.square(columns.ranges[features]), _widest(scale)
    if squares.sum() <= most:
        return np.zeros(len(features), dtype=bool)
    order, wide = np.argsort(squares, kind="stable"), np.empty(len(features), dtype=bool)
    wide[order] = np.cumsum(squares[order]) > most
    limits, norms = columns.largest_norms  # of all columns up to a limit, so at least those of any of them
    by_norms = squares > np.max(limits[norms <= most], initial=0.0)
    return by_norms if by_norms.sum() < wide.sum() else wide


def _widest(scale: float) -> float:
    """Largest squared norm of samples whose squared distances a product makes exactly enough."""
    error = _PRODUCT * _EPS * scale
    return _PRODUCT_ERROR / error if error > 0 else math.inf


class _Pieces:
    """Columns of some features on the two sides of a tile, made once for all tiles or anew for each tile.

    The choice, and the number of features at a time, depend on sizes alone, not on where the data are stored.
    """

    def __init__(self, columns: Columns, features: Indices, dtype: Any, most: float) -> None:
        self._columns, self._features, self._dtype = columns, features, dtype
        sparse = isinstance(columns.data, SparseRows)
        one = len(columns.portions(features)) == 1 if sparse else 8 * (len(features) + 2) * columns.n_samples <= most
        self._all = self._made(features, None) if one else None

    def _made(self, features: Indices, samples: slice | None) -> NDArray[Any]:
        """Rows that enter the product for some features, with a column for each sample."""
        return self._columns.rows(features, samples=samples).astype(self._dtype, copy=False)

    def sides(self, tile: Tile) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Yield the two factors of the product on a tile, for its rows and its columns, some features at a time."""
        if self._all is not None:
            yield self._all[:, tile.rows], self._all[:, tile.cols]
            return
        for part in self._columns.portions(self._features, tile.shape[1]):
            right = self._made(part, tile.cols)
            yield right[:, : tile.shape[0]] if tile.on_diagonal else self._made(part, tile.rows), right


class SquaredDistances(_Pieces):
    r"""Sum of the contributions of some columns to a squared distance, a tile at a time, by one matrix product.

    With x set to zero where it is missing, q one there, and c the contribution of two missing entries, a column of
    numbers contributes :math:`u + u' - 2 x x'` with :math:`u = x^2 + c q / 2`, less :math:`c q q'` if its missing
    entries lie together. A column of categories contributes :math:`d + v + v' - d \sum_k 1_k 1_k'` with
    :math:`v = (c - d) q / 2`, where d is the contribution of two different categories and :math:`1_k` marks the
    samples of the k-th. Complete columns of numbers share one u, the squared norms of the samples.
    """

    def __init__(
        self,
        columns: Columns,
        features: Indices,
        dtype: Any = np.float64,
        most: float = math.inf,
        scale: float = 0.0,
    ) -> None:
        special, wide = columns.special[features], by_differences(columns, features, scale)
        # A row for each of many categories would take as much memory as D.
        singly = (columns.n_categories[features] > MAX_CATEGORIES) | (wide & special)
        self._singly, lifted = features[singly], features[special & ~singly]
        self._special = _LiftedSpecial(columns, lifted, dtype) if len(lifted) else None
        self._wide = _Differences(columns, features[wide & ~special], "sqeuclidean", most)
        self._gaps = bool(columns.missing[features].any())
        super().__init__(columns, features[~special & ~wide], dtype, most)

    @staticmethod
    def rounding(columns: Columns, features: Indices, scale: float) -> Rounding:
        """Bounds on the rounding errors of the contributions of some features."""
        wide, squares = by_differences(columns, features, scale), np.square(columns.ranges[features])
        norms = min(float(squares[~wide].sum()), _widest(scale))
        return Rounding(_PRODUCT * norms, 4 * float((squares + columns.neutral[features])[wide].sum()))

    def _made(self, features: Indices, samples: slice | None) -> NDArray[Any]:
        """Complete columns of numbers, with a row of ones and a row of the samples' squared norms below."""
        width = self._columns.n_samples if samples is None else samples.stop - samples.start
        right = np.empty((len(features) + 2, width))
        chosen = self._columns.rows(features, right[:-2], samples)
        right[-2], right[-1] = 1.0, np.einsum("ij,ij->j", chosen, chosen)
        return right.astype(self._dtype, copy=False)

    def panel(self, tile: Tile, out: NDArray[Any]) -> NDArray[Any]:
        """Sum on a tile, not clamped at zero: distances of zero may be off by a rounding error."""
        for position, (rows, right) in enumerate(self.sides(tile)):
            left = -2 * rows
            left[-2], left[-1] = rows[-1], 1.0
            if position == 0:
                np.matmul(left.T, right, out=out)
            else:
                out += left.T @ right
        if self._special is not None:
            self._special.add(tile, out)
        self._wide.add(tile, out)
        _add_one_by_one(self._columns, self._singly, tile, 2, out)
        return _none_to_itself(out, tile) if self._gaps else out


class _LiftedSpecial:
    """Columns of categories or with missing numbers, as rows l and r with D = sum(l r') + constant."""

    def __init__(self, columns: Columns, features: Indices, dtype: Any) -> None:
        pairs = [_lifted_special(columns, int(j)) for j in features]
        self._left, self._right = (np.vstack(sides).astype(dtype, copy=False) for sides in zip(*pairs, strict=True))
        self._constant = float(columns.different[features].sum())

    def add(self, tile: Tile, out: NDArray[Any]) -> None:
        """Add the contributions on a tile."""
        out += self._left[:, tile.rows].T @ self._right[:, tile.cols]
        out += out.dtype.type(self._constant)


def _lifted_special(columns: Columns, feature: int) -> tuple[Array, Array]:
    x = columns.rows(np.array([feature]))[0]
    different, neutral = float(columns.different[feature]), float(columns.neutral[feature])
    absent, ones = np.isnan(x).astype(np.float64), np.ones(len(x))
    if different == 0:
        x = np.nan_to_num(x, nan=0.0)
        u = x**2 + neutral / 2 * absent
        left, right = [u, ones, -2 * x], [ones, u, x]
        return (
            (np.array([*left, -neutral * absent]), np.array([*right, absent]))
            if columns.together
            else (np.array(left), np.array(right))
        )
    marks = (x == np.unique(x[absent == 0])[:, None]).astype(np.float64)
    if not columns.missing[feature]:
        return -different * marks, marks
    v = (neutral - different) / 2 * absent
    return np.vstack([-different * marks, v, ones]), np.vstack([marks, ones, v])


def _none_to_itself(out: NDArray[Any], tile: Tile) -> NDArray[Any]:
    """Zero the contributions of samples to themselves on a tile."""
    same = np.arange(max(tile.start, tile.first), min(tile.stop, tile.end))
    out[same - tile.start, same - tile.first] = 0.0
    return out


class InnerProducts(_Pieces):
    """Inner products over some features, a tile at a time."""

    def __init__(
        self,
        columns: Columns,
        features: Indices,
        dtype: Any = np.float64,
        most: float = math.inf,
        scale: float = 0.0,
    ) -> None:
        super().__init__(columns, features, dtype, most)

    @staticmethod
    def rounding(columns: Columns, features: Indices, scale: float) -> Rounding:  # noqa: ARG004 - see Kind
        """Bounds on the rounding errors of the contributions of some features."""
        return Rounding(_PRODUCT * float(np.square(columns.ranges[features]).sum()), 0.0)

    def panel(self, tile: Tile, out: NDArray[Any]) -> NDArray[Any]:
        """Inner products of a tile."""
        out[:] = 0
        for left, right in self.sides(tile):
            out += left.T @ right
        return out


class _Differences(_Pieces):
    """Sum of squared or absolute differences over some complete columns of numbers, a tile at a time."""

    def __init__(self, columns: Columns, features: Indices, metric: str, most: float) -> None:
        self._metric = metric
        super().__init__(columns, features, np.float64, most)

    def _made(self, features: Indices, samples: slice | None) -> NDArray[Any]:
        """Columns in Fortran order, so that cdist gets a contiguous row for each sample."""
        return np.asfortranarray(super()._made(features, samples))

    def add(self, tile: Tile, out: NDArray[Any]) -> None:
        """Add the sum on a tile."""
        for left, right in self.sides(tile) if len(self._features) else ():
            out += cdist(left.T, right.T, self._metric)


class AbsoluteDistances:
    """Sum of the contributions of some columns to an L1 distance, a tile at a time."""

    def __init__(
        self,
        columns: Columns,
        features: Indices,
        dtype: Any = np.float64,
        most: float = math.inf,
        scale: float = 0.0,
    ) -> None:
        special = columns.special[features]
        self._columns, self._special = columns, features[special]
        self._plain = _Differences(columns, features[~special], "cityblock", most)

    @staticmethod
    def rounding(columns: Columns, features: Indices, scale: float) -> Rounding:  # noqa: ARG004 - see Kind
        """Bounds on the rounding errors of the contributions of some features."""
        largest = np.maximum(columns.ranges[features], columns.different[features]) + columns.neutral[features]
        return Rounding(0.0, 2 * float(largest.sum()))

    def panel(self, tile: Tile, out: NDArray[Any]) -> NDArray[Any]:
        """Sum on a tile."""
        out[:] = 0.0
        self._plain.add(tile, out)
        _add_one_by_one(self._columns, self._special, tile, 1, out)
        return _none_to_itself(out, tile) if self._columns.missing[self._special].any() else out


def _add_one_by_one(columns: Columns, features: Indices, tile: Tile, power: int, out: NDArray[Any]) -> None:
    """Add the contributions of columns, one column after the other, for all pairs of a tile."""
    change = np.empty(out.shape) if len(features) else out
    for feature in features:
        x, y = (columns.rows(np.array([feature]), samples=side)[0] for side in (tile.rows, tile.cols))
        out += columns.contribution(int(feature), power, x, y, change)


def quadratic_forms(columns: Vectors, M: Vectors, tile: Tile, scratch: Scratch) -> Array:
    """Contribution of a tile to the quadratic forms phi' M phi of symmetric M, for each row phi of ``columns``.

    ``columns`` and M have one dtype; partial sums of at most ``INNER`` products are added in float64.
    """
    total = np.zeros(len(columns))
    for first in range(0, len(columns), COLUMNS):
        some = columns[first : first + COLUMNS]
        for top in range(0, M.shape[0], PANEL_HEIGHT):
            rows = slice(top, min(top + PANEL_HEIGHT, M.shape[0]))
            product = scratch.take("product", (len(some), rows.stop - top), columns.dtype)
            left = some[:, tile.start + top : tile.start + rows.stop]
            for start in range(0, M.shape[1], INNER):
                stop = min(start + INNER, M.shape[1])
                np.matmul(some[:, tile.first + start : tile.first + stop], M[rows, start:stop].T, out=product)
                total[first : first + COLUMNS] += np.vecdot(product, left)
    return 2 * total


def row_sums(M: Vectors, tile: Tile) -> tuple[Placed, Placed]:
    """Contributions of a tile to the row sums of symmetric M: one part for its rows, one for its columns."""
    across = M @ np.ones(M.shape[1], dtype=M.dtype)
    down = np.ones(M.shape[0], dtype=M.dtype) @ M
    return Placed(tile.start, across), Placed(tile.first, down)
