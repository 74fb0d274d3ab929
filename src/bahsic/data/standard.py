"""Standardising: columns of numbers get mean zero and variance one, by numbers that can be applied to other rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from bahsic.arrays import Array, Indices, Mask
from bahsic.kernels.bandwidth import ScaledKernel
from bahsic.kernels.base import Kernel

# Squares of larger values overflow.
_LARGEST = 1e150

# Squares of differences of smaller values underflow: differences may be 1e-16 of the values.
_SMALLEST = 1e-130

# Columns that are not standardised are centred if nine tenths of their values are at least the largest over this.
_WIDEST = 100.0

# Number of samples that are reordered at a time.
_SAMPLES_AT_ONCE = 1 << 13


@dataclass(frozen=True, eq=False)
class Standardisation:
    """Whether columns get mean zero and variance one, and by which samples."""

    standardize: bool = True
    weights: NDArray[Any] | None = None  # how often each sample counts, all positive
    order: Indices | None = None  # samples, if not all of them or in another order
    n_own: int | None = None  # the first samples, which means and deviations are made of; None for all


def standardise(XT: Array, numbers: Array) -> None:
    """Apply what `standardised` has returned to any part of the columns, with the same result to the last bit."""
    exponents, *shifts, deviations = numbers[..., None]
    if exponents.any():
        np.ldexp(XT, -exponents.astype(np.int32), out=XT)
    for shift in shifts:
        XT -= shift
    XT /= deviations


def prepared_columns(
    X: NDArray[Any], kernel: Kernel, how: Standardisation, *, complete: bool = True
) -> tuple[Array, Mask]:
    """Return a new array with a feature in each row, standardised or centred, and a mask of the constant features."""
    centre, order = isinstance(kernel, ScaledKernel), how.order
    if order is None:
        XT = np.array(X.T, dtype=np.float64, order="C")
    else:
        XT = np.empty((X.shape[1], len(order)))
        for some in gen_batches(len(order), _SAMPLES_AT_ONCE):  # without a second copy of X
            XT[:, some] = X[order[some]].T
    if complete:
        return XT, standardised(XT, how, centre=centre)[1]
    observed = ~np.isnan(XT)
    own = observed[:, : how.n_own]
    fill = np.take_along_axis(XT, own.argmax(axis=1)[:, None], axis=1)  # a value of the column: same extremes
    XT = np.where(observed, XT, np.nan_to_num(fill))
    counts = own * (1.0 if how.weights is None else how.weights)
    counts[~own.any(axis=1)] = 1.0  # nothing is known of a column: it is constant
    _, constant = standardised(XT, replace(how, weights=counts), centre=centre)
    XT[~observed] = np.nan
    return XT, constant


def standardised(XT: Array, how: Standardisation, *, centre: bool = True) -> tuple[Array, Mask]:
    """Standardise rows of XT in place, or only centre them; return the numbers for `standardise`, and constant rows."""
    own, weights, standardize = XT[:, : how.n_own], how.weights, how.standardize
    low, high = own.min(axis=1), own.max(axis=1)
    constant, numbers = low == high, np.zeros((4, len(XT)))
    exponents, shifts, deviations = numbers[0], numbers[1:3], numbers[3]
    exponents[:] = safe_exponents(low, high, standardize=standardize)
    scaled = exponents != 0
    XT[scaled] = np.ldexp(XT[scaled], -exponents[scaled][:, None].astype(np.int32))
    # The second mean is what rounding left of a large first one.
    for shift in shifts[: 2 if standardize else int(centre)]:
        shift[:] = _means(own, weights) if standardize else _safe_shifts(own, weights)
        XT -= shift[:, None]
    deviations[:] = 1.0
    if standardize:
        squares = np.vecdot(own, own) / own.shape[1] if weights is None else _means(own**2, weights)
        deviations[:] = np.sqrt(squares)
    if standardize or centre:
        deviations[constant] = np.inf  # so that they become zero
    XT /= deviations[:, None]
    return numbers, constant


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
