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

# Columns that are not standardised are centred if nine tenths of their values are at least the largest over this.
_WIDEST = 100.0

# Number of samples that are reordered at a time.
_SAMPLES_AT_ONCE = 1 << 13


@dataclass(frozen=True, eq=False)
class Standard:
    """Numbers that standardise raw columns, any part of them with the same result to the last bit."""

    exponents: NDArray[np.int32]
    shifts: tuple[Array, ...]
    deviations: Array
    constant: NDArray[np.bool_]

    def of(self, features: Indices) -> Standard:
        """Return numbers of some of the columns."""
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
    """Return a new array with a feature in each row, standardised if asked for, and a mask of the constant features.

    Where features are not standardised, they are still centred for kernels of differences, which changes nothing but
    the rounding errors. Missing entries (NaN) stay, and take no part in means; ``complete`` says that there are none.
    Weights are frequencies of the samples, all of them positive. ``order`` is the one in which the samples come. Means
    and deviations are those of the first ``n_own`` samples, by default of all.
    """
    options: dict[str, Any] = {"standardize": standardize, "centre": isinstance(kernel, ScaledKernel), "n_own": n_own}
    XT = np.array(X.T, dtype=np.float64, order="C") if order is None else _ordered(X, order)
    if complete:
        return XT, standardised(XT, weights, **options).constant
    observed = ~np.isnan(XT)
    own = observed[:, :n_own]
    fill = np.take_along_axis(XT, own.argmax(axis=1)[:, None], axis=1)  # a value of the column: same extremes
    XT = np.where(observed, XT, np.nan_to_num(fill))
    counts = own * (1.0 if weights is None else weights)
    counts[~own.any(axis=1)] = 1.0  # nothing is known of a column: it is constant
    constant = standardised(XT, counts, **options).constant
    XT[~observed] = np.nan
    return XT, constant


def standardised(
    XT: Array,
    weights: NDArray[Any] | None,
    *,
    standardize: bool,
    centre: bool = True,
    n_own: int | None = None,
) -> Standard:
    """Standardise columns, the rows of XT, in place; without ``standardize`` only centre them, if ``centre``.

    Means and deviations are those of the first ``n_own`` samples, and weights of these or of their single entries.
    """
    own = XT[:, :n_own]
    low, high = own.min(axis=1), own.max(axis=1)
    exponents = safe_exponents(low, high, standardize=standardize)
    constant, deviations, shifts = low == high, np.ones(len(XT)), []
    scaled = exponents != 0
    XT[scaled] = np.ldexp(XT[scaled], -exponents[scaled][:, None])
    # The second mean is what rounding left of a large first one.
    for _ in range(2 if standardize else int(centre)):
        shifts.append(_means(own, weights) if standardize else _safe_shifts(own, weights))
        XT -= shifts[-1][:, None]
    if standardize:
        squares = np.vecdot(own, own) / own.shape[1] if weights is None else _means(own**2, weights)
        deviations = np.where(constant, 1.0, np.sqrt(squares))
        XT /= deviations[:, None]
    if shifts:
        XT[constant] = 0.0
    return Standard(exponents, tuple(shifts), deviations, constant)


def safe_exponents(low: Array, high: Array, *, standardize: bool) -> NDArray[np.int32]:
    """Return powers of two that keep the squares of columns, given their extremes, from over- and underflow."""
    peaks = np.maximum(high, -low)
    if not standardize and peaks.max() > _LARGEST:
        raise ValueError(f"X has values up to {peaks.max():.3g}; accepted with standardize=False: up to {_LARGEST:g}")
    extreme = (peaks > _LARGEST) | (peaks < _SMALLEST)
    return np.where(extreme & standardize, np.frexp(peaks)[1], 0).astype(np.int32)


def _safe_shifts(own: Array, weights: NDArray[Any] | None) -> Array:
    """Return the mean of each column, or zero where its small values would lose digits by that."""
    tenth = own.shape[1] // 10
    parts = [np.partition(np.abs(x), tenth) for x in own]
    wide = np.array([x[tenth:].max() > _WIDEST * x[tenth] for x in parts], dtype=bool)
    return np.where(wide, 0.0, _means(own, weights))


def _means(XT: Array, weights: NDArray[Any] | None) -> Array:
    if weights is None:
        return np.asarray(XT.mean(axis=1))
    if weights.ndim == 2:
        return np.asarray(np.vecdot(XT, weights) / weights.sum(axis=1))
    return np.asarray(XT @ (weights / weights.sum()))


def _ordered(X: NDArray[Any], order: Indices) -> Array:
    """Return columns with some samples in an order, made without a second copy of X."""
    XT = np.empty((X.shape[1], len(order)))
    for start in range(0, len(order), _SAMPLES_AT_ONCE):
        XT[:, start : start + _SAMPLES_AT_ONCE] = X[order[start : start + _SAMPLES_AT_ONCE]].T
    return XT
