"""Standardising: columns of numbers get mean zero and variance one, by numbers that can be applied to other rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
) -> tuple[Array, NDArray[np.bool_]]:
    """New array with a feature in each row, standardised if asked for, and a mask of the constant features.

    Features that are not standardised are still centred for kernels of differences, which changes
    only the rounding errors. Missing entries (NaN) stay NaN and do not enter means.
    Weights are positive frequencies of the samples. ``order`` gives the samples to use, in the order wanted.
    """
    XT = np.array(X.T, dtype=np.float64, order="C") if order is None else _ordered(X, order)
    complete = not np.isnan(XT.min())
    if complete:
        return XT, standardised(XT, kernel, weights, standardize=standardize).constant
    observed = ~np.isnan(XT)
    fill = np.take_along_axis(XT, observed.argmax(axis=1)[:, None], axis=1)  # a value of the column: same extremes
    XT = np.where(observed, XT, fill)
    counts = observed * (1.0 if weights is None else weights)
    constant = standardised(XT, kernel, counts, standardize=standardize).constant
    XT[~observed] = np.nan
    return XT, constant


def standardised(XT: Array, kernel: Kernel, weights: NDArray[Any] | None, *, standardize: bool) -> Standard:
    """Standardise XT in place; weights belong to the samples, or to single entries."""
    n = len(XT)
    low, high = XT.min(axis=1), XT.max(axis=1)
    constant, exponents = low == high, np.zeros(n, dtype=np.int32)
    if not standardize:
        largest = float(max(high.max(), -low.min()))
        if largest > _LARGEST:
            raise ValueError(f"X has values up to {largest:.3g}; accepted with standardize=False: up to {_LARGEST:g}")
        shifts = (_means(XT, weights),) if isinstance(kernel, ScaledKernel) else ()
        return _applied(XT, Standard(exponents, shifts, np.ones(n), constant))
    peaks = np.maximum(high, -low)
    extreme = (peaks > _LARGEST) | (peaks < _SMALLEST)
    if extreme.any():  # against overflow and underflow; a power of two is exact
        exponents[extreme] = np.frexp(peaks[extreme])[1]
        XT[extreme] = np.ldexp(XT[extreme], -exponents[extreme][:, None])
    means = []
    for _ in range(2):  # the second time removes the rounding error of a large mean
        means.append(_means(XT, weights))
        XT -= means[-1][:, None]
    deviations = np.where(constant, 1.0, np.sqrt(_mean_squares(XT, weights)))
    XT /= deviations[:, None]
    XT[constant] = 0.0
    return Standard(exponents, tuple(means), deviations, constant)


def _applied(XT: Array, found: Standard) -> Standard:
    found.apply(XT)
    return found


def _means(XT: Array, weights: NDArray[Any] | None) -> Array:
    if weights is None:
        return np.asarray(XT.mean(axis=1))
    if weights.ndim == 2:
        return np.asarray(np.vecdot(XT, weights) / weights.sum(axis=1))
    return np.asarray(XT @ (weights / weights.sum()))


def _mean_squares(XT: Array, weights: NDArray[Any] | None) -> Array:
    return np.asarray(np.vecdot(XT, XT) / XT.shape[1]) if weights is None else _means(np.square(XT), weights)


def _ordered(X: NDArray[Any], order: Indices) -> Array:
    """Columns with the samples in another order, made without a second copy of X."""
    XT = np.empty(X.shape[::-1])
    for start in range(0, len(order), _SOME_SAMPLES):
        XT[:, start : start + _SOME_SAMPLES] = X[order[start : start + _SOME_SAMPLES]].T
    return XT
