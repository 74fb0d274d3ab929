"""Checks of what pictures are drawn from."""

from __future__ import annotations

import reprlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

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


def _numbers(argument: str, values: Any) -> Array:
    try:
        array = np.asarray(values)
        if array.dtype.kind in "biufO":
            return array.astype(np.float64)
    except (TypeError, ValueError):  # ragged, or objects that are no numbers
        pass
    raise TypeError(f"{argument} is {reprlib.repr(values)}; accepted: an array of real numbers")


def vector(argument: str, values: Any, count: int | None = None) -> Array:
    """Return a checked array of one dimension, of finite numbers and of a given length if there is one."""
    array = _numbers(argument, values)
    if array.ndim != 1 or not len(array) or (count is not None and len(array) != count):
        length = "at least 1" if count is None else str(count)
        raise ValueError(f"{argument} has shape {array.shape}; accepted: one dimension, length {length}")
    for position in np.flatnonzero(~np.isfinite(array))[:1]:
        raise ValueError(f"{argument} has {array[position]} at position {position}; accepted: finite numbers")
    return array


def fractions(argument: str, values: Any, count: int | None = None) -> Array:
    """Return a checked array of numbers between 0 and 1."""
    return _between_0_and_1(argument, vector(argument, values, count))


def _between_0_and_1(argument: str, array: Array) -> Array:
    wrong = array[~((array >= -_ROUNDING) & (array <= 1 + _ROUNDING))]
    if len(wrong):
        raise ValueError(f"{argument} has {wrong[0]:g}; accepted: numbers between 0 and 1")
    return array


def check_fraction(argument: str, value: Any) -> None:
    """Raise unless a number is between 0 and 1."""
    if np.ndim(value) or not isinstance(value, int | float | np.number) or not 0 <= value <= 1:
        raise ValueError(f"{argument} is {reprlib.repr(value)}; accepted: a number between 0 and 1")


def similarity_table(table: Any) -> Array:
    """Return a checked table of `bahsic.redundancy`."""
    array = _numbers("table", table)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or not array.size:
        raise ValueError(f"table has shape {array.shape}; accepted: as many rows as columns, at least 1")
    _between_0_and_1("table", array)
    if np.abs(array - array.T).max() > _ROUNDING:
        raise ValueError("table is not symmetric; accepted: table[i, j] == table[j, i]")
    return array


def band_values(hsic: Any, lower: Any, upper: Any) -> tuple[np.ma.MaskedArray[Any, Any], Array, Array]:
    """Return the checked HSIC of bands, masked where the lower cut-off is not below the upper one, and the cut-offs."""
    lows, highs = (_cutoffs(name, values) for name, values in (("lower", lower), ("upper", upper)))
    array = _numbers("hsic", hsic)
    if array.shape != (len(lows), len(highs)):
        raise ValueError(f"hsic has shape {array.shape}; accepted: {(len(lows), len(highs))}, that of lower and upper")
    no_band = lows[:, None] >= highs
    if no_band.all():
        raise ValueError(f"lower begins at {lows[0]:g}, upper ends at {highs[-1]:g}; accepted: at least one band")
    for i, j in np.argwhere(~no_band & ~np.isfinite(array))[:1]:
        raise ValueError(f"hsic[{i}, {j}] is {array[i, j]} for a band; accepted: finite numbers where lower < upper")
    return np.ma.masked_array(array, no_band), lows, highs


def _cutoffs(argument: str, values: Any) -> Array:
    array = vector(argument, values)
    for i in np.flatnonzero(np.diff(array) <= 0)[:1]:
        raise ValueError(f"{argument} has {array[i + 1]:g} after {array[i]:g}; accepted: increasing frequencies")
    if array[0] < 0:
        raise ValueError(f"{argument} has {array[0]:g}; accepted: frequencies of at least 0")
    return array
