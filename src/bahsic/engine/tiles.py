"""Distances on one tile of the pairs of samples, and bounds on their rounding errors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bahsic.arrays import EPS, Array, Indices, Mask
from bahsic.data.columns import Columns, largest_contributions
from bahsic.data.sparse_rows import SparseRows
from bahsic.engine.compiled import loops as load_loops
from bahsic.engine.encoding import encode
from bahsic.engine.plan import Tile
from bahsic.engine.reference import add_columns

_SQUARES = 512  # columns whose squares are added up at once, as many as matrix products do or more
_PRODUCT_ERROR = 1e-10  # largest of scale * D by products; columns that are too wide for that are made of differences


def upper(block: Array, tile: Tile) -> Array:
    """Zero the pairs a >= b of a tile in place, so that sums over tiles count each pair once."""
    if not tile.on_diagonal:
        return block
    square = block[:, : tile.shape[0]]
    np.copyto(square, 0.0, where=np.tri(len(square), dtype=bool))
    return block


def by_differences(columns: Columns, features: Indices, scale: float) -> Mask:
    """Mask of the columns too wide for the error of a product of all others, times ``scale``, to be negligible.

    The product ``x^2 + y^2 - 2 x y`` has an error relative to the squared norms of the samples, at most the sum of
    the squared ranges, however close x and y are.
    """
    squares, most = np.square(columns.ranges[features]), _widest(scale, len(features))
    if squares.sum() <= most:
        return np.zeros(len(features), dtype=bool)
    order, wide = np.argsort(squares, kind="stable"), np.empty(len(features), dtype=bool)
    wide[order] = np.cumsum(squares[order]) > most
    limits, norms = columns.largest_norms  # of all columns up to a limit, so at least those of any of them
    by_norms = squares > np.max(limits[norms <= most], initial=0.0)
    return by_norms if by_norms.sum() < wide.sum() else wide


def _product_error(n_features: int) -> float:
    """Error of squared distances by a product, relative to the squared norms, in units of the machine precision."""
    return 16.0 + 2 * (min(n_features, _SQUARES) + n_features / _SQUARES)


def _widest(scale: float, n_features: int) -> float:
    """Largest squared norm of samples whose squared distances a product makes exactly enough."""
    error = _product_error(n_features) * EPS * scale
    return _PRODUCT_ERROR / error if error > 0 else math.inf


def rounding_errors(columns: Columns, features: Indices, power: int, scale: float) -> tuple[float, float]:
    """Bound the rounding errors of a sum of contributions, in units of the machine precision.

    Returned are the error of those that are made by matrix products, and the largest sum of the others, which are made
    of differences and have errors relative to themselves.
    """
    largest = largest_contributions(columns, features, power)
    if power == 1:
        return 0.0, 2 * float(largest.sum())
    wide, squares = by_differences(columns, features, scale), np.square(columns.ranges[features])
    norms = min(float(squares[~wide].sum()), _widest(scale, len(features)))
    return _product_error(len(features)) * norms, float(largest[wide | columns.special[features]].sum())


class Differences:
    r"""Sum of the contributions of some columns to a squared or absolute distance, a tile at a time.

    Squared differences of complete columns of numbers are made by one product, :math:`x^2 + y^2 - 2 x y`, unless
    they are too wide for that. At most so many bytes of the columns are kept from tile to tile, and errors matter
    relative to 1 / scale.
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
        self._columns, self._together = columns, features[~singly]
        sparse = isinstance(columns.data, SparseRows)
        few = 8 * (len(self._together) + 2) * columns.n_samples <= most
        one = len(columns.portions(self._together)) == 1 if sparse else few
        self._all = self._rows(self._together, None) if one and self._product else None

    def _rows(self, features: Indices, samples: slice | None) -> NDArray[Any]:
        """Complete columns of numbers, with a row of ones and a row of the samples' squared norms below."""
        width = self._columns.n_samples if samples is None else samples.stop - samples.start
        right = np.empty((len(features) + 2, width))
        chosen = self._columns.rows(features, right[:-2], samples)
        parts = (chosen[start : start + _SQUARES] for start in range(0, len(chosen), _SQUARES))
        right[-2], right[-1] = 1.0, sum(np.einsum("ij,ij->j", part, part) for part in parts)
        return right

    def _sides(self, tile: Tile) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Yield the two factors of the product on a tile, for its rows and its columns, some features at a time."""
        if self._all is not None:
            yield self._all[:, tile.rows], self._all[:, tile.cols]
            return
        for part in self._columns.portions(self._together, tile.shape[1]):
            right = self._rows(part, tile.cols)
            yield right[:, : tile.shape[0]] if tile.on_diagonal else self._rows(part, tile.rows), right

    def panel(self, tile: Tile, out: NDArray[Any]) -> NDArray[Any]:
        """Sum on a tile, not clamped at zero: distances of zero may be off by a rounding error."""
        if not self._product:
            out[:] = 0.0
        for position, (rows, right) in enumerate(self._sides(tile) if self._product else ()):
            left = -2 * rows
            left[-2], left[-1] = rows[-1], 1.0
            if position == 0:
                np.matmul(left.T, right, out=out)
            else:
                out += left.T @ right
        if len(self._singly):
            add_differences(self._columns, self._singly, self._power, tile, out, compiled=self._compiled)
        return none_to_itself(out, tile) if self._gaps else out


def add_differences(columns: Columns, features: Indices, power: int, tile: Tile, out: Array, *, compiled: bool) -> None:
    """Add the contributions of some columns to a squared or absolute distance on a tile, made of differences."""
    loops = load_loops() if compiled else None
    if loops is None:
        add_columns(columns, features, power, tile, out)
        return
    for part in columns.portions(features) if len(features) else ():
        loops.add(out, tile.rows.start, tile.cols.start, encode(columns, part, power), absolute=power == 1)


def none_to_itself(out: NDArray[Any], tile: Tile) -> NDArray[Any]:
    """Zero the contributions of samples to themselves on a tile."""
    same = np.arange(max(tile.rows.start, tile.cols.start), min(tile.rows.stop, tile.cols.stop))
    out[same - tile.rows.start, same - tile.cols.start] = 0.0
    return out
