"""Columns of few values, and columns that are copies of each other."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bahsic.data.columns import Columns

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# A column of v values needs v - 1 columns of a product; for more values the polynomial expansion is shorter.
MAX_LEVELS = 4

# Categories have no polynomial expansion; for more of them an exponential for each pair costs less.
MAX_CATEGORIES = 40

# Number of samples that decide whether a column of numbers has many values.
_SAMPLE = 64


@dataclass(frozen=True)
class Levels:
    """Values of columns that have the same small number of values.

    Attributes
    ----------
    columns : ndarray of shape (n_columns,)
        The columns, in increasing order.
    values : ndarray of shape (n_columns, n_levels)
        The values, the most frequent one first; NaN for missing entries.
    tables : ndarray of shape (n_columns, n_levels, n_levels)
        Contribution of each pair of values to a squared distance.
    """

    columns: Indices
    values: Array
    tables: Array

    def codes(self, rows: Indices, X: Array) -> NDArray[np.int8]:
        """Positions in ``values[rows]`` of the entries of these columns, given as the rows of X."""
        codes = np.zeros(X.shape, dtype=np.int8)
        for k in range(1, self.values.shape[1]):
            value = self.values[rows, k]
            codes[value[:, None] == X] = k
            absent = np.isnan(value)
            if absent.any():
                codes[absent] = np.where(np.isnan(X[absent]), k, codes[absent])
        return codes


def few_levels(columns: Columns) -> tuple[Levels, ...]:
    """Columns of two to `MAX_LEVELS` numbers or `MAX_CATEGORIES` categories, grouped by their number of values.

    A missing entry is one more value.

    Examples
    --------
    >>> (binary,) = few_levels(Columns.plain(np.array([[0.0, 1.0, 1.0], [5.0, 5.0, 5.0]])))
    >>> binary.columns, binary.values, binary.tables
    (array([0]), array([[1., 0.]]), array([[[0., 1.],
            [1., 0.]]]))
    """
    found: dict[int, list[tuple[int, Array]]] = {}
    for block in columns.blocks():
        X = columns.rows(block)
        for row, values in _levels_of(X, columns.different[block] > 0):
            found.setdefault(len(values), []).append((block.start + row, values))
    return tuple(_levels(columns, group) for _, group in sorted(found.items()))


def _levels(columns: Columns, group: list[tuple[int, Array]]) -> Levels:
    members = np.array([column for column, _ in group])
    values = np.stack([values for _, values in group])
    return Levels(members, values, np.stack([_table(columns, *pair) for pair in group]))


def _table(columns: Columns, column: int, values: Array) -> Array:
    return columns.contribution(column, 2, values, values, np.empty((len(values), len(values))))


def _levels_of(X: Array, categorical: NDArray[np.bool_]) -> list[tuple[int, Array]]:
    """Rows of X with few values, each with its values, the most frequent first."""
    low, high = np.fmin.reduce(X, axis=1, keepdims=True), np.fmax.reduce(X, axis=1, keepdims=True)
    at_low = low == X
    counts = at_low.sum(axis=1)
    binary = (at_low | (high == X)).all(axis=1) & (low < high)[:, 0]
    common_first = np.where(2 * counts[:, None] < X.shape[1], [[1, 0]], [[0, 1]])
    pairs = np.take_along_axis(np.hstack([low, high]), common_first, axis=1)
    found = [(int(row), pairs[row]) for row in np.flatnonzero(binary)]
    first = np.sort(X[:, :_SAMPLE], axis=1)
    few = 1 + np.count_nonzero(np.diff(first, axis=1) > 0, axis=1) <= MAX_LEVELS
    for row in np.flatnonzero((few | categorical) & ~binary):
        values, counts = np.unique(X[row], return_counts=True)
        numbers = len(values) - int(np.isnan(values[-1]))
        if 2 <= numbers <= (MAX_CATEGORIES if categorical[row] else MAX_LEVELS):
            found.append((int(row), values[np.argsort(-counts, kind="stable")]))
    return sorted(found, key=lambda pair: pair[0])


def copies(columns: Columns, tolerance: float = 0.0) -> Indices:
    """Return for each column the first one that is equal to it up to a tolerance or, for numbers, to its negative.

    Such columns have the same differences between samples up to sign, and hence the same scores.

    Examples
    --------
    >>> copies(Columns.plain(np.array([[1.0, -1.0], [2.0, -2.0], [-1.0, 1.0]])))
    array([0, 1, 0])
    """
    first = np.arange(columns.n_features)
    # Candidates have the same inner product with any vector, up to sign and rounding.
    direction = np.cos(np.arange(columns.n_samples))
    rows = (columns.rows(block) for block in columns.blocks())
    signature = np.concatenate([np.abs(np.nan_to_num(X, copy=False, nan=math.e) @ direction) for X in rows])
    order = np.argsort(signature, kind="stable")
    close = np.diff(signature[order]) <= 1e-9 * signature[order][1:] + 1e-300 + tolerance * columns.n_samples
    for run in np.split(order, np.flatnonzero(~close) + 1):
        if len(run) > 1:
            _mark_copies(columns, np.sort(run), first, tolerance)
    return first


def _mark_copies(columns: Columns, run: Indices, first: Indices, tolerance: float) -> None:
    originals: list[tuple[int, Array]] = []
    for column in run:
        x = columns.rows(np.array([column]))[0]
        for original, values in originals:
            alike = all(kind[original] == kind[column] for kind in (columns.different, columns.neutral))
            if alike and _same(values, x, tolerance):
                first[column] = original
                break
        else:
            originals.append((int(column), x))


def _same(x: Array, y: Array, tolerance: float) -> bool:
    return any(np.allclose(x, other, rtol=0, atol=tolerance, equal_nan=True) for other in (y, -y))


def in_order_of_appearance(codes: Array) -> Array:
    """Return codes that count the values in the order in which they appear; missing ones stay missing.

    Examples
    --------
    >>> in_order_of_appearance(np.array([7.0, 2.0, np.nan, 7.0, 5.0]))
    array([ 0.,  1., nan,  0.,  2.])
    """
    known = ~np.isnan(codes)
    _, first, inverse = np.unique(codes[known], return_index=True, return_inverse=True)
    found = np.full(len(codes), np.nan)
    found[known] = np.argsort(np.argsort(first))[inverse]
    return found
