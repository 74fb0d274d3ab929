"""Checks of what pictures are drawn from."""

from __future__ import annotations

import reprlib
from contextlib import suppress
from typing import Any

import numpy as np

from bahsic.arrays import Array

_ROUNDING = 1e-9


def checked_names(names: Any, count: int) -> list[Any]:
    """Return the names of so many features, x0, x1, ... where there are none."""
    if names is None:
        return [f"x{j}" for j in range(count)]
    if isinstance(names, str) or not hasattr(names, "__iter__"):
        raise TypeError(f"names is {reprlib.repr(names)}; accepted: a sequence of {count} names, one for each feature")
    checked = list(names)
    if len(checked) != count:
        raise ValueError(f"names has length {len(checked)}; accepted: {count}, one for each feature")
    return checked


def vector(argument: str, values: Any, count: int | None = None, *, fractions: bool = False) -> Array:
    """Return a checked array of one dimension, of finite numbers or fractions, and of a length if one is given."""
    array = _numbers(argument, values, fractions=fractions)
    if array.ndim != 1 or not len(array) or count not in (None, len(array)):
        raise ValueError(f"{argument} has shape {array.shape}; accepted: one dimension, length {count or 'at least 1'}")
    for position in np.flatnonzero(~np.isfinite(array))[:1]:
        raise ValueError(f"{argument} has {array[position]} at position {position}; accepted: finite numbers")
    return array


def check_fraction(argument: str, value: Any) -> None:
    """Raise unless a number is between 0 and 1."""
    if np.ndim(value) or not isinstance(value, int | float | np.number) or not 0 <= value <= 1:
        raise ValueError(f"{argument} is {reprlib.repr(value)}; accepted: a number between 0 and 1")


def similarity_table(table: Any) -> Array:
    """Return a checked table of `bahsic.redundancy`."""
    array = _numbers("table", table, fractions=True)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or not array.size:
        raise ValueError(f"table has shape {array.shape}; accepted: as many rows as columns, at least 1")
    if np.abs(array - array.T).max() > _ROUNDING:
        raise ValueError("table is not symmetric; accepted: table[i, j] == table[j, i]")
    return array


def band_values(hsic: Any, lower: Any, upper: Any) -> tuple[np.ma.MaskedArray[Any, Any], Array, Array]:
    """Return the checked HSIC of bands, masked where the lower cut-off is not below the upper one, and the cut-offs."""
    lows, highs, array = vector("lower", lower), vector("upper", upper), _numbers("hsic", hsic)
    for name, cutoffs in (("lower", lows), ("upper", highs)):
        if cutoffs[0] < 0 or (np.diff(cutoffs) <= 0).any():
            raise ValueError(f"{name} is {reprlib.repr(cutoffs.tolist())}; accepted: increasing frequencies, from 0 on")
    if array.shape != (len(lows), len(highs)):
        raise ValueError(f"hsic has shape {array.shape}; accepted: {(len(lows), len(highs))}, that of lower and upper")
    no_band = lows[:, None] >= highs
    if no_band.all():
        raise ValueError(f"lower begins at {lows[0]:g}, upper ends at {highs[-1]:g}; accepted: at least one band")
    for i, j in np.argwhere(~no_band & ~np.isfinite(array))[:1]:
        raise ValueError(f"hsic[{i}, {j}] is {array[i, j]} for a band; accepted: finite numbers where lower < upper")
    return np.ma.masked_array(array, no_band), lows, highs


def _numbers(argument: str, values: Any, *, fractions: bool = False) -> Array:
    array = None
    with suppress(TypeError, ValueError):  # ragged, or objects that are no numbers
        given = np.asarray(values)
        array = given.astype(np.float64) if given.dtype.kind in "biufO" else None
    if array is None:
        raise TypeError(f"{argument} is {reprlib.repr(values)}; accepted: an array of real numbers")
    wrong = array[~((array >= -_ROUNDING) & (array <= 1 + _ROUNDING))]
    if fractions and len(wrong):
        raise ValueError(f"{argument} has {wrong[0]:g}; accepted: numbers between 0 and 1")
    return array
