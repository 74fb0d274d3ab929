"""The arithmetic of the engine: pure functions of one tile of the pairs of samples.

Every driver (serial, threads, out of memory, cluster) calls these functions and adds up their results.
The weights of a tile are zero except for pairs a < b, so sums over a tile count each pair once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bahsic.data.columns import Columns
from bahsic.data.sparse_rows import SparseRows
from bahsic.engine.compiled import loops as load_loops
from bahsic.engine.encoding import encoded_portions, reach
from bahsic.engine.executor import Placed
from bahsic.engine.plan import PANEL_HEIGHT, Tile
from bahsic.engine.reference import add_columns
from bahsic.engine.scratch import Scratch

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Vectors = NDArray[Any]

# Length of the sums made in the precision of the columns, before these are added in float64.
# It limits the rounding error of a float32 product.
INNER = 1024

# Columns of one product, few enough for it to stay in the cache.
COLUMNS = 512

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

    def __init__(self, columns: Columns, features: Indices, most: float) -> None:
        self._columns, self._features = columns, features
        sparse = isinstance(columns.data, SparseRows)
        one = len(columns.portions(features)) == 1 if sparse else 8 * (len(features) + 2) * columns.n_samples <= most
        self._all = self._rows(features, None) if one else None

    def _rows(self, features: Indices, samples: slice | None) -> NDArray[Any]:
        """Return rows that enter the product for some features, with a column for each sample."""
        return self._columns.rows(features, samples=samples)

    def sides(self, tile: Tile) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Yield the two factors of the product on a tile, for its rows and its columns, some features at a time."""
        if self._all is not None:
            yield self._all[:, tile.rows], self._all[:, tile.cols]
            return
        for part in self._columns.portions(self._features, tile.shape[1]):
            right = self._rows(part, tile.cols)
            yield right[:, : tile.shape[0]] if tile.on_diagonal else self._rows(part, tile.rows), right


class Differences(_Pieces):
    r"""Sum of the contributions of some columns to a squared or absolute distance, a tile at a time.

    Squared differences of complete columns of numbers are made by one product, :math:`x^2 + y^2 - 2 x y`, unless
    they are too wide for that. All others are made of differences, by a compiled loop if there is one.

    Parameters
    ----------
    columns : Columns
    features : ndarray of int
    power : {1, 2}
    most : float
        Bytes of the columns that may be kept in memory from tile to tile.
    scale : float
        Errors matter relative to 1 / scale.
    compiled : bool
        Whether to use compiled loops.
    """

    def __init__(
        self,
        columns: Columns,
        features: Indices,
        power: int,
        most: float = math.inf,
        scale: float = 0.0,
        *,
        compiled: bool = False,
    ) -> None:
        singly = columns.special[features] | (power == 1)
        if power == 2:
            singly |= by_differences(columns, features, scale)
        self._singly, self._power, self._compiled = features[singly], power, compiled
        self._gaps = bool(columns.missing[features].any())
        self._product = not singly.all()
        super().__init__(columns, features[~singly], most)

    @staticmethod
    def rounding(columns: Columns, features: Indices, power: int, scale: float) -> Rounding:
        """Return bounds on the rounding errors of the contributions of some features."""
        largest = reach(columns, features, power)
        if power == 1:
            return Rounding(0.0, 2 * float(largest.sum()))
        wide, squares = by_differences(columns, features, scale), np.square(columns.ranges[features])
        norms = min(float(squares[~wide].sum()), _widest(scale))
        singly = wide | columns.special[features]
        return Rounding(_PRODUCT * norms, float(largest[singly].sum()))

    def _rows(self, features: Indices, samples: slice | None) -> NDArray[Any]:
        """Complete columns of numbers, with a row of ones and a row of the samples' squared norms below."""
        width = self._columns.n_samples if samples is None else samples.stop - samples.start
        right = np.empty((len(features) + 2, width))
        chosen = self._columns.rows(features, right[:-2], samples)
        right[-2], right[-1] = 1.0, np.einsum("ij,ij->j", chosen, chosen)
        return right

    def panel(self, tile: Tile, out: NDArray[Any]) -> NDArray[Any]:
        """Sum on a tile, not clamped at zero: distances of zero may be off by a rounding error."""
        if not self._product:
            out[:] = 0.0
        for position, (rows, right) in enumerate(self.sides(tile) if self._product else ()):
            left = -2 * rows
            left[-2], left[-1] = rows[-1], 1.0
            if position == 0:
                np.matmul(left.T, right, out=out)
            else:
                out += left.T @ right
        if len(self._singly):
            add_differences(self._columns, self._singly, self._power, tile, out, compiled=self._compiled)
        return none_to_itself(out, tile) if self._gaps else out


def add_differences(
    columns: Columns, features: Indices, power: int, tile: Tile, out: Array, *, compiled: bool
) -> None:
    """Add the contributions of some columns to a squared or absolute distance on a tile, made of differences."""
    loops = load_loops() if compiled else None
    if loops is None:
        add_columns(columns, features, power, tile, out)
        return
    for _, part in encoded_portions(columns, features, power, np.float64, None):
        loops.add(out, tile.start, tile.first, 1.0, part, absolute=power == 1)


def none_to_itself(out: NDArray[Any], tile: Tile) -> NDArray[Any]:
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
        most: float = math.inf,
    ) -> None:
        super().__init__(columns, features, most)

    @staticmethod
    def rounding(columns: Columns, features: Indices) -> Rounding:
        """Return bounds on the rounding errors of the contributions of some features."""
        return Rounding(_PRODUCT * float(np.square(columns.ranges[features]).sum()), 0.0)

    def panel(self, tile: Tile, out: NDArray[Any]) -> NDArray[Any]:
        """Inner products of a tile."""
        out[:] = 0
        for left, right in self.sides(tile):
            out += left.T @ right
        return out


class Kind(Protocol):
    """What D adds up: makes the contributions of some features, and knows their rounding errors.

    ``scale`` says how exact they must be: errors matter relative to 1 / scale.
    """

    def contributions(self, columns: Columns, features: Indices, most: float, scale: float) -> Any:
        """Return an object whose method ``panel(tile, out)`` writes the sum of the contributions of some features."""

    def rounding(self, columns: Columns, features: Indices, scale: float) -> Rounding:
        """Return bounds on the rounding errors of the contributions of some features."""


@dataclass(frozen=True)
class OfDifferences:
    """Squared (power 2) or absolute differences, by compiled loops or not."""

    power: int
    compiled: bool = False

    def contributions(self, columns: Columns, features: Indices, most: float, scale: float) -> Differences:
        return Differences(columns, features, self.power, most, scale, compiled=self.compiled)

    def rounding(self, columns: Columns, features: Indices, scale: float) -> Rounding:
        return Differences.rounding(columns, features, self.power, scale)


@dataclass(frozen=True)
class OfProducts:
    """Products of two samples."""

    def contributions(self, columns: Columns, features: Indices, most: float, scale: float) -> InnerProducts:
        return InnerProducts(columns, features, most)

    def rounding(self, columns: Columns, features: Indices, scale: float) -> Rounding:
        return InnerProducts.rounding(columns, features)


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
