"""Entries of one column of a table: numbers, codes of categories, dates as days; what is missing."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import narwhals as nw
import numpy as np

from bahsic.data.column_choice import as_objects
from bahsic.kernels.rows import EXACT, Array, FloatArray, is_missing

_CATEGORIES = (nw.Categorical, nw.Enum)
_NESTED = (nw.List, nw.Struct, nw.Array)


def check_flat(columns: list[Any], names: Any, argument: str) -> None:
    """Raise TypeError for a column of a frame that has several values in each row."""
    for j, column in enumerate(columns):
        if column.dtype in _NESTED:
            name = str(j) if names is None else repr(names[j])
            raise TypeError(
                f"column {name} of {argument} has dtype {_type_name(column)}; "
                "accepted: one number or category in each row"
            )


def has_categories(column: Any) -> bool:
    """Return whether the type of a column, or its entries, are categories."""
    return _is_of(column, *_CATEGORIES, nw.Boolean) or _has_names(entries(column))


def _is_of(column: Any, *types: Any) -> bool:
    return not isinstance(column, np.ndarray) and column.dtype in types


def entries(column: Any) -> Array:
    """Return the entries of a column as an array; integers beside missing entries are not rounded."""
    if isinstance(column, np.ndarray):
        return column
    if column.dtype.is_integer() and column.null_count() and max(column.max() or 0, -(column.min() or 0)) > EXACT:
        return as_objects(column.to_list())
    return np.asarray(column.to_numpy())


def _has_names(array: Array) -> bool:
    """Return whether an array has strings, or objects that are all true, false or missing."""
    if _has_strings(array):
        return True
    kinds = {type(value) for value in array if not is_missing(value)} if array.dtype.kind == "O" else set()
    return bool(kinds) and kinds <= {bool, np.bool_}


def _has_strings(array: Array) -> bool:
    kind = array.dtype.kind
    return kind in "UST" or (kind == "O" and any(isinstance(value, str | bytes) for value in array))


def _type_name(column: Any) -> str:
    native: Any = column if isinstance(column, np.ndarray) else column.to_native()
    return str(native.dtype if hasattr(native, "dtype") else native.type)


def coded(column: Any, where: str) -> tuple[FloatArray, Array]:
    """Return codes of a column's entries, and its categories."""
    if isinstance(column, np.ndarray):
        values = column if column.dtype.kind in "fiub" else column.astype(object)
    else:  # arrays would round large integers beside nulls
        values = as_objects(column.to_list())
    observed = ~_missing(values)
    codes = np.full(len(values), np.nan)
    try:
        codes[observed], categories = _sorted_codes(values[observed])
    except TypeError as error:
        raise TypeError(f"{where} has values that are no categories ({error}); accepted: strings, numbers") from None
    if categories.dtype.kind in "fO" and any(value in (math.inf, -math.inf) for value in categories):
        raise ValueError(f"{where} contains infinity; accepted: finite numbers, or missing entries in their place")
    return codes, categories


def _sorted_codes(values: Array) -> tuple[Array, Array]:
    if values.dtype.kind != "O":
        categories, codes = np.unique(values, return_inverse=True)
        return codes, categories
    different = sorted(set(values), key=lambda value: (isinstance(value, str), value))  # numbers before strings
    code = {value: position for position, value in enumerate(different)}
    return np.array([code[value] for value in values], dtype=np.intp), as_objects(different)


def numbers(column: Any, where: str) -> Any:
    """Return a column as floats, NaN where an entry is missing."""
    array = entries(column)
    if _is_of(column, *_CATEGORIES) or _has_strings(array):
        accepted = "real numbers, or categories where categorical_features is or has 'from_dtype'"
        raise TypeError(f"{where} has strings or categories (dtype {_type_name(column)}); accepted: {accepted}")
    if is_time(column):
        try:
            return _days(column)
        except TypeError as error:
            raise TypeError(f"{where} has dates and other values ({error}); accepted: one kind") from None
    if array.dtype.kind == "O":
        array = np.where(_missing(array), np.nan, _without_offset_of_objects(array))
    if array.dtype.kind not in "fiubO" or (array.dtype.kind == "O" and any(map(np.iscomplexobj, array))):
        raise TypeError(f"{where} has dtype {_type_name(column)} (first value {array[0]}); accepted: real numbers")
    try:
        return as_float(array)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(
            f"{where} has values that are no real numbers ({error}); accepted: real numbers, or strings and "
            "categorical types for categories"
        ) from None


def is_time(column: Any) -> bool:
    """Return whether a column has dates, times, periods or durations."""
    array = entries(column)
    if array.dtype.kind != "O":
        return array.dtype.kind in "mM"
    first = next((value for value in array if not is_missing(value)), None)
    return isinstance(first, date | time | timedelta) or type(first).__name__ == "Period"


def _days(column: Any) -> FloatArray:
    """Return dates and times as days since 1970, durations and times of the day as days; NaN where one is missing."""
    array = entries(column)
    if array.dtype.kind == "O":
        return np.array([np.nan if is_missing(value) else _in_days(value) for value in array], dtype=np.float64)
    numbers = array - np.datetime64(0, "s") if array.dtype.kind == "M" else array
    days: FloatArray = numbers / np.timedelta64(1, "D")  # NaN for NaT
    return days


def _in_days(value: Any) -> float:
    if type(value).__name__ == "Period":
        value = value.to_timestamp()
    if isinstance(value, datetime):
        value = (value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)) - datetime(1970, 1, 1)  # noqa: DTZ001
    elif isinstance(value, date):
        value = value - date(1970, 1, 1)
    elif isinstance(value, time):
        value = datetime.combine(date.min, value.replace(tzinfo=None)) - datetime.min  # noqa: DTZ901
    return float(value / timedelta(days=1))


def as_float(numbers: Any) -> Any:
    """Return numbers in float32 or float64; those beyond its range are infinite.

    Of integers that float64 would round, the least of their column is subtracted first, which changes no difference.
    """
    if isinstance(numbers, np.ndarray) and numbers.dtype.kind in "iu" and numbers.itemsize == 8 and numbers.size:
        low, high = numbers.min(axis=0), numbers.max(axis=0)
        large = (high > EXACT) | (low < -EXACT)
        if large.any():
            less = numbers.astype(np.uint64) - np.where(large, low, 0).astype(np.uint64)  # modulo 2**64
            return np.where(large, less.astype(np.float64), numbers.astype(np.float64))
    dtype = numbers.dtype if numbers.dtype in (np.float32, np.float64) else np.float64
    with np.errstate(over="ignore"):  # numbers beyond float64 become infinite, which is reported later
        return numbers.astype(dtype, copy=False)


def _without_offset_of_objects(array: Array) -> Array:
    """Return integers that float64 would round, less the least of them; other objects as they are."""
    whole = [value for value in array if not is_missing(value)]
    if not whole or not all(type(value) is int for value in whole) or max(map(abs, whole)) <= EXACT:
        return array
    least = min(whole)
    return as_objects([value if is_missing(value) else value - least for value in array])


def _missing(array: Array) -> Any:
    return np.fromiter(map(is_missing, array), bool, len(array)) if array.dtype.kind == "O" else np.isnan(array)
