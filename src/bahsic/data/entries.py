"""One column of a table: its entries as numbers, codes of categories or days, and the role that it is given."""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from bahsic.arrays import Mask
from bahsic.data.column_choice import as_objects
from bahsic.kernels.rows import EXACT, Array, FloatArray, as_float, is_missing

_CATEGORIES = (nw.Categorical, nw.Enum)

# Rows from which on a column can look like an identifier.
_FEWEST_ROWS = 20

# Names of identifiers: id, ID, user_id, id_customer, PassengerId, CUSTOMERID, uuid, index.
_IDENTIFIER_NAMES = (
    re.compile(r"(^|[_\W])(id|uuid|guid)([_\W]|$)|^(index|row|rowid|row[ _]?names?)$", re.IGNORECASE),
    re.compile(r"(account|case|customer|order|passenger|patient|person|record|sample|subject|user)id$", re.IGNORECASE),
    re.compile(r"[a-z]I[dD]$"),
)

# Share of the rows of a column with such a name that have to differ from all others.
_NEARLY_ALL = 0.95

# Share of the rows, but at least one row, that differs from the others in a column that hardly varies.
_FEW_ROWS = 0.01

# Roles of columns that take no part in the selection.
LEFT_OUT = ("identifier", "text", "empty", "constant", "uninformative", "copy")


def has_categories(column: Any) -> bool:
    """Return whether the type of a column, or its entries, are categories."""
    if not isinstance(column, np.ndarray) and column.dtype in (*_CATEGORIES, nw.Boolean):
        return True
    array = entries(column)
    if _has_strings(array):
        return True
    kinds = {type(value) for value in array if not is_missing(value)} if array.dtype.kind == "O" else set()
    return bool(kinds) and kinds <= {bool, np.bool_}  # objects that are all true, false or missing


def entries(column: Any) -> Array:
    """Return the entries of a column as an array; integers beside missing entries are not rounded."""
    if isinstance(column, np.ndarray):
        return column
    if column.dtype.is_integer() and column.null_count() and max(column.max() or 0, -(column.min() or 0)) > EXACT:
        return as_objects(column.to_list())
    return np.asarray(column.to_numpy())


def _has_strings(array: Array) -> bool:
    kind = array.dtype.kind
    return kind in "UST" or (kind == "O" and any(isinstance(value, str | bytes) for value in array))


def type_name(column: Any) -> str:
    """Return the type of a column, as its library names it."""
    native: Any = column if isinstance(column, np.ndarray) else column.to_native()
    return str(native.dtype if hasattr(native, "dtype") else native.type)


def coded(column: Any, where: str) -> tuple[FloatArray, Array]:
    """Return codes of a column's entries, and its categories."""
    if isinstance(column, np.ndarray):
        values = column if column.dtype.kind in "fiub" else column.astype(object)
    else:  # arrays would round large integers beside nulls
        values = as_objects(column.to_list())
    objects = values.dtype.kind == "O"
    observed = ~(np.fromiter(map(is_missing, values), bool, len(values)) if objects else np.isnan(values))
    codes = np.full(len(values), np.nan)
    try:
        if objects:
            categories = as_objects(sorted(set(values[observed]), key=lambda value: (isinstance(value, str), value)))
            code = {value: position for position, value in enumerate(categories)}  # numbers before strings
            codes[observed] = [code[value] for value in values[observed]]
        else:
            categories, codes[observed] = np.unique(values[observed], return_inverse=True)
    except TypeError as error:
        raise TypeError(f"{where} has values that are not categories ({error}); accepted: strings, numbers") from None
    if categories.dtype.kind in "fO" and any(value in (math.inf, -math.inf) for value in categories):
        raise ValueError(f"{where} contains infinity; accepted: finite numbers, or missing entries in their place")
    return codes, categories


def numbers(column: Any, where: str) -> Any:
    """Return a column as floats, NaN where an entry is missing."""
    array = entries(column)
    is_category = not isinstance(column, np.ndarray) and column.dtype in _CATEGORIES
    if is_category or _has_strings(array):
        accepted = "real numbers, or categories where categorical_features is or has 'from_dtype'"
        raise TypeError(f"{where} has strings or categories (dtype {type_name(column)}); accepted: {accepted}")
    if is_time(column):
        try:
            return _days(array)
        except TypeError as error:
            raise TypeError(f"{where} has dates and other values ({error}); accepted: one kind") from None
    if array.dtype.kind == "O":
        observed = ~np.fromiter(map(is_missing, array), bool, len(array))
        values, array = array[observed], np.full(len(array), np.nan, dtype=object)
        if all(type(value) is int for value in values) and max(map(abs, values), default=0) > EXACT:
            values = values - min(values)  # float64 would round them
        array[observed] = values
    if array.dtype.kind not in "fiubO" or (array.dtype.kind == "O" and any(map(np.iscomplexobj, array))):
        raise TypeError(f"{where} has dtype {type_name(column)} (first value {array[0]}); accepted: real numbers")
    try:
        return as_float(array)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(
            f"{where} has values that are not real numbers ({error}); accepted: real numbers, or strings and "
            "categorical types for categories"
        ) from None


def is_time(column: Any) -> bool:
    """Return whether a column has dates, times, periods or durations."""
    array = entries(column)
    if array.dtype.kind != "O":
        return array.dtype.kind in "mM"
    first = next((value for value in array if not is_missing(value)), None)
    return isinstance(first, date | time | timedelta) or type(first).__name__ == "Period"


def _days(array: Array) -> FloatArray:
    """Return dates and times as days since 1970, durations and times of the day as days; NaN where one is missing."""
    if array.dtype.kind == "O":
        return np.array([np.nan if is_missing(value) else _in_days(value) for value in array], dtype=np.float64)
    durations: Any = array - np.datetime64(0, "s") if array.dtype.kind == "M" else array
    return np.asarray(durations / np.timedelta64(1, "D"))  # NaN for NaT


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


class ColumnRole(NamedTuple):
    """Record of how a column was used.

    Attributes
    ----------
    name : str
        Name of the column; x0, x1, ... if columns have no names.
    role : str
        "number", "category" or "date"; or, for an ignored column, "identifier", "text", "empty", "constant",
        "uninformative" (hardly varies, or has many categories or gaps, and is unrelated to the labels by itself) or
        "copy" (carries the same information as another column).
    reason : str
        The reason for the role, and how missing entries were treated.
    """

    name: str
    role: str
    reason: str

    @property
    def left_out(self) -> bool:
        """Whether the column takes no part in the selection."""
        return self.role in LEFT_OUT


def text_role(codes: Array, categories: Array) -> tuple[str, str] | None:
    """Return role and reason of a column of strings that are nearly all different, else None."""
    n_observed, n_different = int(np.count_nonzero(~np.isnan(codes))), len(categories)
    if n_different < _FEWEST_ROWS or 2 * n_different <= n_observed:
        return None
    if 2 * sum(isinstance(category, str | bytes) for category in categories) < n_different:
        return None
    spaced = sum(" " in str(text).strip() for text in categories)
    role = "text" if 2 * spaced > n_different else "identifier"
    return role, f"{n_different} different texts in {n_observed} rows"


def number_role(x: Array, name: str | None) -> tuple[str, str] | None:
    """Return role and reason of a column of whole numbers that counts rows, or is called an identifier, else None."""
    x = x[~np.isnan(x)]
    if len(x) < _FEWEST_ROWS or not np.isfinite(x).all() or not np.array_equal(x, np.round(x)):
        return None
    steps = np.diff(x)
    if ((steps > 0).all() or (steps < 0).all()) and x.min() >= 0 and x.max() <= 2 * len(x):
        return "identifier", "counts the rows"
    called_so = name is not None and any(pattern.search(name) for pattern in _IDENTIFIER_NAMES)
    if called_so and len(np.unique(x)) >= _NEARLY_ALL * len(x):
        return "identifier", "nearly all different whole numbers, and its name"
    return None


def rare_rows(x: Array, weights: Array | None = None, *, missing: bool = False) -> Mask | None:
    """Return the rows that differ from nearly all others in a column that hardly varies; None for other columns."""
    w = np.ones(len(x)) if weights is None else weights
    if w.sum() < _FEWEST_ROWS:
        return None
    if np.isnan(x).all():
        return None
    if missing:
        x = np.nan_to_num(x, nan=np.nanmax(x) + 1.0)
    usual = np.nanquantile(x, 0.5, weights=w, method="inverted_cdf")  # the median is the value of more than half
    rare = ~((x == usual) | np.isnan(x))
    n_rare = w[rare].sum()
    return rare if 0 < n_rare <= max(1, _FEW_ROWS * w.sum()) else None
