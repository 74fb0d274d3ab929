"""Entries of one column of a table: numbers, codes of categories, dates as days; what is missing."""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import numpy as np

from bahsic.data.column_choice import as_objects
from bahsic.kernels.rows import Array, FloatArray, is_missing

# Types of pandas, polars and pyarrow whose columns are always categories.
_CATEGORICAL_TYPE = re.compile(r"categor|dictionary|bool", re.IGNORECASE)

# Types of polars and pyarrow with several values in each row.
_NESTED_TYPE = re.compile(r"(large_|fixed_size_)?(list|struct|array|map)\b(_view)?", re.IGNORECASE)


def check_flat(columns: list[Any], names: Any, argument: str) -> None:
    """Raise TypeError for a column of polars or pyarrow that has several values in each row."""
    for j, column in enumerate(columns):
        if _NESTED_TYPE.match(_type_name(column)):
            name = str(j) if names is None else repr(names[j])
            raise TypeError(
                f"column {name} of {argument} has dtype {_type_name(column)}; "
                "accepted: one number or category in each row"
            )


def has_categories(column: Any) -> bool:
    """Whether the type of a column, or its entries, are categories."""
    return bool(_CATEGORICAL_TYPE.match(_type_name(column))) or _has_names(np.asarray(column))


def _has_names(array: Array) -> bool:
    """Whether an array has strings, or objects that are all true, false or missing."""
    if _has_strings(array):
        return True
    kinds = {type(value) for value in array if not is_missing(value)} if array.dtype.kind == "O" else set()
    return bool(kinds) and kinds <= {bool, np.bool_}


def _has_strings(array: Array) -> bool:
    kind = array.dtype.kind
    return kind in "UST" or (kind == "O" and any(isinstance(value, str | bytes) for value in array))


def _type_name(column: Any) -> str:
    return str(column.dtype if hasattr(column, "dtype") else column.type)


def coded(column: Any, where: str) -> tuple[FloatArray, Array]:
    """Codes of a column's entries, and its categories."""
    if isinstance(column, np.ndarray):
        entries = column if column.dtype.kind in "fiub" else column.astype(object)
    else:  # arrays would round large integers beside nulls, and fill the nulls of a pyarrow dictionary
        entries = as_objects(column.to_pylist() if hasattr(column, "to_pylist") else column.to_list())
    observed = ~_missing(entries)
    codes = np.full(len(entries), np.nan)
    try:
        codes[observed], categories = _sorted_codes(entries[observed])
    except TypeError as error:
        raise TypeError(f"{where} has values that are no categories ({error}); accepted: strings, numbers") from None
    if categories.dtype.kind in "fO" and any(value in (math.inf, -math.inf) for value in categories):
        raise ValueError(f"{where} contains infinity; accepted: finite numbers, or missing entries in their place")
    return codes, categories


def _sorted_codes(entries: Array) -> tuple[Array, Array]:
    if entries.dtype.kind != "O":
        categories, codes = np.unique(entries, return_inverse=True)
        return codes, categories
    values = sorted(set(entries), key=lambda value: (isinstance(value, str), value))  # numbers before strings
    code = {value: position for position, value in enumerate(values)}
    return np.array([code[value] for value in entries], dtype=np.intp), as_objects(values)


def numbers(column: Any, where: str) -> Any:
    """A column as floats, NaN where an entry is missing."""
    name, array = _type_name(column), np.asarray(column)
    if _has_strings(array) or (_CATEGORICAL_TYPE.match(name) and not name.lower().startswith("bool")):
        accepted = "real numbers, or categories where categorical_features is or has 'from_dtype'"
        raise TypeError(f"{where} has strings or categories (dtype {name}); accepted: {accepted}")
    if name.lower().startswith("period"):
        array = np.asarray(column.dt.to_timestamp())
    if _has_times(array):
        try:
            return _days(array)
        except TypeError as error:
            raise TypeError(f"{where} has dates and other values ({error}); accepted: one kind") from None
    if array.dtype.kind == "O":
        array = np.where(_missing(array), np.nan, array)
    if array.dtype.kind not in "fiubO" or (array.dtype.kind == "O" and any(map(np.iscomplexobj, array))):
        raise TypeError(f"{where} has dtype {name} (first value {array[0]}); accepted: real numbers")
    try:
        return as_float(array)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(
            f"{where} has values that are no real numbers ({error}); accepted: real numbers, or strings and "
            "categorical types for categories"
        ) from None


def date_columns(data: Any) -> list[int]:
    """Positions of the columns of dates and times."""
    if not isinstance(data, list):
        return []
    return [
        j
        for j, column in enumerate(data)
        if _has_times(np.asarray(column)) or _type_name(column).lower().startswith("period")
    ]


def _has_times(array: Array) -> bool:
    if array.dtype.kind != "O":
        return array.dtype.kind in "mM"
    first = next((value for value in array if not is_missing(value)), None)
    return isinstance(first, date | time | timedelta)


def _days(array: Array) -> FloatArray:
    """Dates and times as days since 1970, durations and times of the day as days; NaN where they are missing."""
    if array.dtype.kind == "O":
        return np.array([np.nan if is_missing(value) else _in_days(value) for value in array], dtype=np.float64)
    numbers = array - np.datetime64(0, "s") if array.dtype.kind == "M" else array
    days: FloatArray = numbers / np.timedelta64(1, "D")  # NaN for NaT
    return days


def _in_days(value: Any) -> float:
    if isinstance(value, datetime):
        value = (value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)) - datetime(1970, 1, 1)  # noqa: DTZ001
    elif isinstance(value, date):
        value = value - date(1970, 1, 1)
    elif isinstance(value, time):
        value = datetime.combine(date.min, value.replace(tzinfo=None)) - datetime.min  # noqa: DTZ901
    return float(value / timedelta(days=1))


def as_float(numbers: Any) -> Any:
    """Numbers in float32 or float64; those beyond its range are infinite."""
    dtype = numbers.dtype if numbers.dtype in (np.float32, np.float64) else np.float64
    with np.errstate(over="ignore"):  # numbers beyond float64 become infinite, which is reported later
        return numbers.astype(dtype, copy=False)


def _missing(array: Array) -> Any:
    return np.fromiter(map(is_missing, array), bool, len(array)) if array.dtype.kind == "O" else np.isnan(array)
