"""The columns of the data before a search: standardised, of few values, copies of each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bahsic.kernels.bandwidth import ScaledKernel
from bahsic.kernels.base import Kernel

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# A column of v values needs v - 1 columns of a product; beyond this the expansion is shorter.
MAX_LEVELS = 4

# Samples that are looked at before a column is taken to have many values.
_SAMPLE = 64

# Squares of larger values leave the range of float64.
_LARGEST = 1e150

# Smaller values may leave it too: differences may be 1e-16 of the values.
_SMALLEST = 1e-130


def prepared_columns(X: NDArray[Any], kernel: Kernel, *, standardize: bool) -> tuple[Array, NDArray[np.bool_]]:
    """A new array with a feature in each row, standardised if asked for, and which are constant.

    Where features are not standardised, they are still centred for kernels of differences, which
    changes nothing but the rounding errors.
    """
    XT = np.array(X.T, dtype=np.float64, order="C")
    constant = XT.min(axis=1) == XT.max(axis=1)
    if not standardize:
        largest = float(max(XT.max(), -XT.min()))
        if largest > _LARGEST:
            raise ValueError(f"X has values up to {largest:.3g}; accepted with standardize=False: up to {_LARGEST:g}")
        if isinstance(kernel, ScaledKernel):
            XT -= XT.mean(axis=1, keepdims=True)
            XT[constant] = 0.0
        return XT, constant
    peaks = np.maximum(XT.max(axis=1), -XT.min(axis=1))
    extreme = (peaks > _LARGEST) | (peaks < _SMALLEST)
    if extreme.any():  # a power of two is exact, and out of the way of overflow and underflow
        XT[extreme] = np.ldexp(XT[extreme], -np.frexp(peaks[extreme])[1][:, None])
    for _ in range(2):  # the second time takes off what rounding left of a large mean
        XT -= XT.mean(axis=1, keepdims=True)
    deviations = np.sqrt(np.vecdot(XT, XT) / XT.shape[1])
    XT /= np.where(constant, 1.0, deviations)[:, None]
    XT[constant] = 0.0
    return XT, constant


@dataclass(frozen=True)
class Levels:
    """The values of columns that have equally few of them.

    Attributes
    ----------
    columns : ndarray of shape (n_columns,)
        Which columns these are, in increasing order.
    values : ndarray of shape (n_columns, n_levels)
        The values, the most frequent one first.
    codes : ndarray of int8 of shape (n_columns, n_samples)
        The position in ``values`` of each sample.
    """

    columns: Indices
    values: Array
    codes: NDArray[np.int8]


def few_levels(XT: Array) -> tuple[Levels, ...]:
    """The columns (rows of ``XT``) of two to `MAX_LEVELS` values, by their number of values.

    Examples
    --------
    >>> (binary,) = few_levels(np.array([[0.0, 1.0, 1.0], [5.0, 5.0, 5.0]]))
    >>> binary.columns, binary.values, binary.codes
    (array([0]), array([[1., 0.]]), array([[1, 0, 0]], dtype=int8))
    """
    found: dict[int, list[tuple[int, Array, NDArray[np.int8]]]] = {}
    for column in _suspects(XT):
        values, codes, counts = np.unique(XT[column], return_inverse=True, return_counts=True)
        if 2 <= len(values) <= MAX_LEVELS:
            order = np.argsort(-counts, kind="stable")
            position = np.argsort(order)
            found.setdefault(len(values), []).append((int(column), values[order], position[codes].astype(np.int8)))
    return tuple(
        Levels(
            np.array([column for column, _, _ in group]),
            np.stack([values for _, values, _ in group]),
            np.stack([codes for _, _, codes in group]),
        )
        for _, group in sorted(found.items())
    )


def _suspects(XT: Array) -> Indices:
    """Columns that have few values among the first samples."""
    first = np.sort(XT[:, :_SAMPLE], axis=1)
    n_values = 1 + np.count_nonzero(np.diff(first, axis=1), axis=1)
    return np.flatnonzero(n_values <= MAX_LEVELS)


def copies(XT: Array) -> Indices:
    """For each column (row of ``XT``) the first one that is equal to it, or to its negative.

    Such columns have the same differences between samples up to sign, hence the same scores.

    Examples
    --------
    >>> copies(np.array([[1.0, -1.0], [2.0, -2.0], [-1.0, 1.0]]))
    array([0, 1, 0])
    """
    first = np.arange(len(XT))
    # Candidates have the same inner product with any vector, up to sign and rounding.
    signature = np.abs(XT @ np.cos(np.arange(XT.shape[1])))
    order = np.argsort(signature, kind="stable")
    close = np.diff(signature[order]) <= 1e-9 * signature[order][1:] + 1e-300
    for run in np.split(order, np.flatnonzero(~close) + 1):
        for position, column in enumerate(run := np.sort(run)):
            for earlier in run[:position]:
                if first[earlier] == earlier and _same(XT[earlier], XT[column]):
                    first[column] = earlier
                    break
    return first


def _same(x: Array, y: Array) -> bool:
    return np.array_equal(x, y) or np.array_equal(x, -y)
