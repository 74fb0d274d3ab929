"""Standardising: columns of numbers get mean zero and variance one, by numbers that can be applied to other rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bahsic.kernels.bandwidth import ScaledKernel
from bahsic.kernels.base import Kernel

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Squares of larger values overflow.
_LARGEST = 1e150

# Squares of differences of smaller values underflow: differences may be 1e-16 of the values.
_SMALLEST = 1e-130

# Columns that are not standardised are centred if nine tenths of their values are at least the largest over this.
_WIDEST = 100.0

# Number of samples that are reordered at a time.
_SOME_SAMPLES = 1 << 13


@dataclass(frozen=True, eq=False)
class Standard:
    """Numbers that standardise raw columns, any part of them with the same result to the last bit.

    Attributes
    ----------
    exponents : ndarray of int of shape (n,)
        Columns are first multiplied by 2**-exponent, against overflow.
    shifts : tuple of ndarrays of shape (n,)
        Subtracted from the columns, one after the other.
    deviations : ndarray of shape (n,)
        Divisors of the columns.
    constant : ndarray of bool of shape (n,)
        Constant columns, which are set to zero if there are shifts.
    """

    exponents: NDArray[np.int32]
    shifts: tuple[Array, ...]
    deviations: Array
    constant: NDArray[np.bool_]

    def of(self, features: Indices) -> Standard:
        """Numbers of some of the columns."""
        shifts = tuple(shift[features] for shift in self.shifts)
        return Standard(self.exponents[features], shifts, self.deviations[features], self.constant[features])

    def apply(self, XT: Array) -> Array:
        """Standardise raw columns, the rows of XT, in place."""
        if self.exponents.any():
            np.ldexp(XT, -self.exponents[:, None], out=XT)
        for shift in self.shifts:
            XT -= shift[:, None]
        XT /= self.deviations[:, None]
        if self.shifts:
            XT[self.constant] = 0.0
        return XT

    @staticmethod
    def joined(parts: list[Standard]) -> Standard:
        """Join the numbers of several sets of columns, one after the other."""
        return Standard(
            np.concatenate([part.exponents for part in parts]),
            tuple(np.concatenate(shifts) for shifts in zip(*(part.shifts for part in parts), strict=True)),
            np.concatenate([part.deviations for part in parts]),
            np.concatenate([part.constant for part in parts]),
        )


def prepared_columns(
    X: NDArray[Any],
    kernel: Kernel,
    *,
    standardize: bool,
    weights: NDArray[Any] | None = None,
    order: Indices | None = None,
    complete: bool = True,
    n_own: int | None = None,
) -> tuple[Array, NDArray[np.bool_]]:
    """New array with a feature in each row, standardised if asked for, and a mask of the constant features.

    Where features are not standardised, they are still centred for kernels of differences, which changes nothing but
    the rounding errors. Missing entries (NaN) stay, and take no part in means; ``complete`` says that there are none.
    Weights are frequencies of the samples, all of them positive. ``order`` is the one in which the samples come. Means
    and deviations are those of the first ``n_own`` samples, by default of all.
    """
    options = {"standardize": standardize, "centre": isinstance(kernel, ScaledKernel)}
    XT = np.array(X.T, dtype=np.float64, order="C") if order is None else _ordered(X, order)
    if complete:
        return XT, standardised(DenseNumbers(XT, weights, n_own), **options).constant
    observed = ~np.isnan(XT)
    own = observed[:, :n_own]
    fill = np.take_along_axis(XT, own.argmax(axis=1)[:, None], axis=1)  # a value of the column: same extremes
    XT = np.where(observed, XT, np.nan_to_num(fill))
    counts = own * (1.0 if weights is None else weights)
    counts[~own.any(axis=1)] = 1.0  # nothing is known of a column: it is constant
    constant = standardised(DenseNumbers(XT, counts, n_own), **options).constant
    XT[~observed] = np.nan
    return XT, constant


class Numbers(Protocol):
    """Columns of numbers, dense or sparse, that are standardised in place."""

    def extremes(self) -> tuple[Array, Array]:
        """The least and the greatest value of each column."""

    def means(self) -> Array:
        """The mean of each column."""

    def safe_shifts(self) -> Array:
        """The mean of each column, or zero if the small values of a column would lose digits by that shift."""

    def mean_squares(self) -> Array:
        """The mean of the squares of each column."""

    def scale(self, exponents: NDArray[np.int32]) -> None:
        """Multiply columns by 2**-exponent."""

    def shift(self, by: Array) -> None:
        """Take a number off each column."""

    def divide(self, by: Array) -> None:
        """Divide each column by a number."""

    def clear(self, columns: NDArray[np.bool_]) -> None:
        """Set some columns to zero."""


@dataclass(frozen=True, eq=False)
class DenseNumbers:
    """Columns in memory, the rows of XT, of which the first ``n_own`` samples count.

    Weights are those of these samples, or of their single entries.
    """

    XT: Array
    weights: NDArray[Any] | None
    n_own: int | None = None

    @property
    def _own(self) -> Array:
        return self.XT[:, : self.n_own]

    def extremes(self) -> tuple[Array, Array]:
        return self._own.min(axis=1), self._own.max(axis=1)

    def means(self) -> Array:
        return _means(self._own, self.weights)

    def safe_shifts(self) -> Array:
        tenth = self._own.shape[1] // 10
        parts = [np.partition(np.abs(x), tenth) for x in self._own]
        wide = np.array([x[tenth:].max() > _WIDEST * x[tenth] for x in parts], dtype=bool)
        return np.where(wide, 0.0, self.means())

    def mean_squares(self) -> Array:
        XT = self._own
        return np.asarray(np.vecdot(XT, XT) / XT.shape[1]) if self.weights is None else _means(XT**2, self.weights)

    def scale(self, exponents: NDArray[np.int32]) -> None:
        some = exponents != 0
        self.XT[some] = np.ldexp(self.XT[some], -exponents[some][:, None])

    def shift(self, by: Array) -> None:
        np.subtract(self.XT, by[:, None], out=self.XT)

    def divide(self, by: Array) -> None:
        np.divide(self.XT, by[:, None], out=self.XT)

    def clear(self, columns: NDArray[np.bool_]) -> None:
        self.XT[columns] = 0.0


def standardised(X: Numbers, *, standardize: bool, centre: bool = True) -> Standard:
    """Standardise columns in place; those that are not to be standardised are only centred, if ``centre`` says so."""
    low, high = X.extremes()
    n, constant, peaks = len(low), low == high, np.maximum(high, -low)
    exponents, deviations, shifts = np.zeros(n, dtype=np.int32), np.ones(n), []
    if standardize:
        extreme = (peaks > _LARGEST) | (peaks < _SMALLEST)
        if extreme.any():  # a power of two is exact, and out of the way of overflow and underflow
            exponents[extreme] = np.frexp(peaks[extreme])[1]
            X.scale(exponents)
    elif peaks.max() > _LARGEST:
        raise ValueError(f"X has values up to {peaks.max():.3g}; accepted with standardize=False: up to {_LARGEST:g}")
    # The second mean is what rounding left of a large first one.
    for _ in range(2 if standardize else int(centre)):
        shifts.append(X.means() if standardize else X.safe_shifts())
        X.shift(shifts[-1])
    if standardize:
        deviations = np.where(constant, 1.0, np.sqrt(X.mean_squares()))
        X.divide(deviations)
    if shifts:
        X.clear(constant)
    return Standard(exponents, tuple(shifts), deviations, constant)


def _means(XT: Array, weights: NDArray[Any] | None) -> Array:
    if weights is None:
        return np.asarray(XT.mean(axis=1))
    if weights.ndim == 2:
        return np.asarray(np.vecdot(XT, weights) / weights.sum(axis=1))
    return np.asarray(XT @ (weights / weights.sum()))


def _ordered(X: NDArray[Any], order: Indices) -> Array:
    """Columns with some samples in an order, made without a second copy of X."""
    XT = np.empty((X.shape[1], len(order)))
    for start in range(0, len(order), _SOME_SAMPLES):
        XT[:, start : start + _SOME_SAMPLES] = X[order[start : start + _SOME_SAMPLES]].T
    return XT
