"""Tables made from the user's X: columns of numbers or categories, and their names."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from bahsic.arrays import Indices, Mask
from bahsic.data import entries
from bahsic.data.column_choice import Names, as_objects, column_mask
from bahsic.data.sources import Source, place_words
from bahsic.kernels.base import Kernel
from bahsic.kernels.rows import EXACT, Array, FloatArray, as_float, check_at_hand
from bahsic.kernels.vector import Gaussian, Laplacian
from bahsic.names import first_few
from bahsic.parameters import Given, Message


@dataclass(frozen=True, eq=False)
class Table:
    """Table of samples x features, as numbers and codes of categories, NaN where an entry is missing."""

    values: FloatArray | sparse.csc_array | Source
    categorical: Mask
    names: Names  # None unless all are strings
    categories: dict[int, Array]  # of each categorical column, in the order of their codes
    missing: Mask  # columns with missing entries
    special: dict[int, tuple[str, str]] = field(default_factory=dict)  # role and reason: left out (all 0 here), dates
    is_frame: bool = False  # whose columns may be of any kind

    @property
    def left_out(self) -> list[int]:
        """Columns that take no part."""
        return [j for j, (role, _) in self.special.items() if role in entries.LEFT_OUT]

    @property
    def column_names(self) -> list[str]:
        """Names of the columns; x0, x1, ... where they have none."""
        return [f"x{j}" for j in range(len(self.categorical))] if self.names is None else self.names.tolist()

    def roles(self, constant: Mask, missing: str) -> list[entries.ColumnRole]:
        """Return the role of each column; ``missing`` says what was done with missing entries."""
        counts = _n_missing(self.values) if self.missing.any() else np.zeros(len(constant), dtype=np.intp)
        how, left_out, roles = "a value of their own" if missing == "indicator" else "neutral", set(self.left_out), []
        for j, name in enumerate(self.column_names):
            role, reason = self.special.get(j, ("number", ""))
            if self.categorical[j]:
                role, reason = "category", f"{len(self.categories[j])} categories"
            if j not in left_out:
                if constant[j]:
                    role, reason = "constant", "one value in all rows"
                gaps = f"{counts[j]} missing: {how}" if counts[j] else ""
                reason = ", ".join(filter(None, (reason, gaps)))
            roles.append(entries.ColumnRole(name, role, reason))
        return roles

    def categorical_for(self, kernel: Kernel) -> Mask:
        """Return a mask of the columns that are categories for a kernel; where it takes none, booleans are 0 and 1."""
        if type(kernel) in (Gaussian, Laplacian):
            return self.categorical
        booleans = [j for j, known in self.categories.items() if all(isinstance(one, bool | np.bool_) for one in known)]
        return self.categorical & ~np.isin(np.arange(len(self.categorical)), booleans)

    def of_samples(self, samples: Indices) -> Table:
        """Return the table of some samples, in memory."""
        values: Any = self.values[samples]  # type: ignore[index]
        missing = _n_missing(values) > 0 if self.missing.any() else self.missing
        return replace(self, values=values, missing=missing)


def as_table(
    X: Any,
    categorical_features: Any = None,
    missing: str = "error",
    argument: str = "X",
    labels: Any = None,
    identifiers: Any = "use",
    used: Any = None,
) -> Table:
    """Return numbers and categories of an array, a dataframe or a sparse matrix; for the options see `BAHSIC`.

    ``labels`` are names of columns for errors, if X has none; columns ``used`` never look like identifiers.
    """
    if not isinstance(missing, str) or missing not in ("error", "neutral", "indicator"):
        raise ValueError(f"missing is {missing!r}; accepted: 'error', 'neutral', 'indicator'")
    data, names = _data(X, argument), column_names(X, argument)
    categorical, named = _categorical(data, categorical_features, names, argument)
    shown = labels if names is None else names
    values, categories = _values(data, categorical, shown, argument)
    listed = isinstance(data, list)
    dates = [j for j in np.flatnonzero(~categorical).tolist() if listed and entries.is_time(data[j])]
    special, frame = dict.fromkeys(dates, ("date", "in days")), listed or is_frame(X)
    if frame and not sparse.issparse(values):
        if isinstance(identifiers, str) and identifiers not in ("drop", "use"):
            raise ValueError(f"identifiers is {identifiers!r}; accepted: 'drop', 'use', or a list of columns")
        by_name = isinstance(identifiers, str)
        given = column_mask(None if by_name else identifiers, len(categorical), names, "identifiers")
        asked = column_mask(used, len(categorical), names, "keep") | (not by_name or identifiers == "use")
        left_out = _left_out(values, categories, names, asked | named)
        left_out |= {j: ("identifier", "given as one") for j in np.flatnonzero(given).tolist() if j not in left_out}
        values = values.copy() if left_out and not listed else values  # it may be the user's memory
        for j in left_out:
            values[:, j], categorical[j] = 0.0, False
            categories.pop(j, None)
        special |= left_out
    absent = _checked_entries(values, missing, shown, argument)
    return Table(values, categorical, names, categories, absent, special, frame)


def _left_out(values: Array, categories: dict[int, Array], names: Names, named: Mask) -> dict[int, tuple[str, str]]:
    """Return role and reason of columns without entries, and of those that look like identifiers but for ``named``."""
    roles = {}
    for j in range(values.shape[1]):
        x, role = values[:, j], None
        if np.isnan(x).all():
            role = "empty", "no entry"
        elif not named[j]:
            name = None if names is None else names[j]
            role = entries.text_role(x, categories[j]) if j in categories else entries.number_role(x, name)
        if role is not None:
            roles[j] = role
    return roles


def as_numbers(X: Any, argument: str = "X") -> FloatArray | sparse.csc_array:
    """Return values of `as_table` for a table without categories; unlike there, a column may be missing altogether."""
    data = _data(X, argument)
    nowhere, _ = _categorical(data, None, None, argument)
    values: FloatArray | sparse.csc_array = _values(data, nowhere, column_names(X, argument), argument)[0]
    return values


def _data(X: Any, argument: str) -> Any:
    """Return X as an array of numbers, a csc_array, or a list of columns of any types."""
    check_at_hand(X, argument)
    is_array = not (sparse.issparse(X) or is_frame(X))
    array = as_array(X, argument) if is_array else np.broadcast_to(0.0, X.shape)  # its shape is checked
    if array.ndim != 2:  # scikit-learn's messages would show all entries
        raise ValueError(
            f"{argument} has shape {array.shape}; accepted: samples x features. Reshape your data: "
            f"{argument}.reshape(-1, 1) if they are a single feature"
        )
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {argument} has dtype {array.dtype}; accepted: real numbers")
    check_array(array, dtype=None, ensure_all_finite=False, input_name=argument)
    if is_array:
        return array if array.dtype.kind in "fiub" else list(array.T)
    return _csc(X, argument) if sparse.issparse(X) else _frame_data(X, argument)


def is_frame(X: Any) -> bool:
    """Return whether X is a dataframe of pandas, polars or pyarrow, or another one that narwhals knows."""
    return bool(nw.dependencies.is_into_dataframe(X)) or type(X).__name__ == "RecordBatch"


def _as_narwhals(X: Any) -> Any:
    """Return a dataframe as one of narwhals; a table for a record batch, and names that differ for pandas."""
    if type(X).__name__ == "RecordBatch":
        X = import_module("pyarrow").Table.from_batches([X])
    if hasattr(X, "iloc") and not X.columns.is_unique:
        X = X.set_axis(range(X.shape[1]), axis=1)
    return nw.from_native(X, eager_only=True)


def _frame_data(X: Any, argument: str) -> Any:
    types: list[Any] = list(X.dtypes) if hasattr(X, "iloc") else [None]
    if all(isinstance(dtype, np.dtype) and dtype.kind in "fiu" for dtype in types):
        array = np.asarray(X)
        rounded = array.dtype.kind == "f" and any(dtype.kind in "iu" for dtype in types)
        if not (rounded and (np.abs(array) > EXACT).any()):
            return array
    if all(str(dtype).startswith("Sparse") and dtype.fill_value == 0 for dtype in types):
        return _csc(X.sparse.to_coo(), argument)
    columns = list(_as_narwhals(X).iter_columns())
    nested = next((column for column in columns if column.dtype in (nw.List, nw.Struct, nw.Array)), None)
    if nested is not None:
        what = f"column {nested.name!r} of {argument} has dtype {entries.type_name(nested)}"
        raise TypeError(f"{what}; accepted: one number or category in each row")
    return columns


def columns_of(X: Any, positions: list[int]) -> Any:
    """Return some columns of X, in the same container: an array, a sparse array, or a dataframe."""
    if sparse.issparse(X):
        return X.tocsc()[:, positions]
    if hasattr(X, "iloc"):
        return X.iloc[:, positions]
    return _as_narwhals(X)[:, positions].to_native() if is_frame(X) else X[:, positions]


def decoded(X: Any) -> Any:
    """Return X; a pyarrow table with its dictionaries decoded, as these lose missing entries in arrays."""
    if not nw.dependencies.is_pyarrow_table(X):
        return X
    types = [getattr(kind, "value_type", kind) if "dictionary" in str(kind) else kind for kind in X.schema.types]
    columns = [column.cast(kind) for column, kind in zip(X.itercolumns(), types, strict=True)]
    return type(X).from_arrays(columns, names=X.column_names)


def as_plain(frame: Any) -> Array:
    """Return a dataframe as an array: of numbers if all columns are numbers, else of objects."""
    if hasattr(frame, "iloc") and all(isinstance(dtype, np.dtype) for dtype in frame.dtypes):
        return np.asarray(frame.to_numpy())
    data = _frame_data(frame, "X")
    if not isinstance(data, list):
        return np.asarray(data.toarray() if sparse.issparse(data) else data)
    if not any(entries.has_categories(column) or entries.is_time(column) for column in data):
        return np.asarray(as_numbers(frame))
    return np.column_stack([as_objects(column.to_list()) for column in data])


def column_names(X: Any, argument: str) -> Names:
    """Return the names of the columns of a dataframe if all are strings, else None."""
    names = list(X.column_names if hasattr(X, "column_names") else X.columns) if is_frame(X) else []
    if not names or not all(isinstance(name, str) for name in names):
        return None
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise ValueError(f"{argument} has {times} columns called {name!r}; accepted: names that differ")
    return as_objects(names)


def as_array(X: Any, argument: str) -> Array:
    """Return an X that is not a dataframe as an array; lists with strings become objects, masked entries None."""
    if np.ma.is_masked(X):
        X = np.where(np.ma.getmaskarray(X), None, X.data)
    try:
        array = np.asarray(X)
    except ValueError as error:  # rows of different lengths
        raise ValueError(f"{argument} is not a rectangular array: {error}") from None
    listed_strings = array.dtype.kind == "U" and not hasattr(X, "dtype")
    return np.array(X, dtype=object) if listed_strings else array  # asarray has made numbers strings


def _csc(X: Any, argument: str) -> sparse.csc_array:
    if X.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {argument} is sparse of dtype {X.dtype}; accepted: real numbers")
    matrix = sparse.csc_array(as_float(X))  # before entries given twice are added: other types could overflow
    if not matrix.has_canonical_format:
        matrix = matrix.copy()  # it may share the user's memory
        matrix.sum_duplicates()
    return matrix


def _categorical(data: Any, wanted: Any, names: Names, argument: str) -> tuple[Mask, ...]:
    """Return masks of the columns of categories, and of those of them that the user has named."""
    n_features = len(data) if isinstance(data, list) else data.shape[1]
    wanted, by_type = by_dtype(wanted)
    if isinstance(wanted, str) and (names is None or wanted not in names):
        raise ValueError(
            f"categorical_features is {wanted!r}; accepted: 'from_dtype', or columns by their names, indices or a mask"
        )
    mask = named = column_mask(wanted, n_features, names, "categorical_features")
    if by_type and isinstance(data, list):
        mask = named | [entries.has_categories(column) for column in data]
    if sparse.issparse(data) and mask.any():
        raise ValueError(f"categorical_features has columns of a sparse {argument}; accepted: None, or dense data")
    return mask, named


def by_dtype(categorical_features: Any) -> tuple[Any, bool]:
    """Return the columns that a user names as categories, and whether those with such a type are categories too."""
    if isinstance(categorical_features, str):
        return (None, True) if categorical_features == "from_dtype" else (categorical_features, False)
    if isinstance(categorical_features, list | tuple) and "from_dtype" in categorical_features:
        return [column for column in categorical_features if column != "from_dtype"], True
    return categorical_features, False


def _values(data: Any, categorical: Mask, names: Names, argument: str) -> tuple[Any, dict[int, Array]]:
    if not isinstance(data, list) and not categorical.any():
        return as_float(data), {}
    values, categories = [], {}
    for j, column in enumerate(data if isinstance(data, list) else data.T):
        where = f"column {_shown(names, j)} of {argument}"
        if categorical[j]:
            codes, categories[j] = entries.coded(column, where)
            values.append(codes)
        else:
            values.append(entries.numbers(column, where))
    return np.column_stack(values), categories


def _checked_entries(values: Any, missing: str, names: Names, argument: str) -> Mask:
    """Return columns with missing entries; raises where these, or infinite ones, are not accepted."""
    stored = values.data if sparse.issparse(values) else values
    if not stored.size or (math.isfinite(stored.min()) and math.isfinite(stored.max())):  # both propagate NaN
        return np.zeros(values.shape[1], dtype=bool)
    if math.isinf(np.fmin.reduce(stored, axis=None)) or math.isinf(np.fmax.reduce(stored, axis=None)):
        raise ValueError(
            f"{argument} contains infinity: {_places(np.isinf, values, names)}; accepted: finite numbers, or "
            "missing entries in their place"
        )
    if missing == "error":
        found = _places(np.isnan, values, names)
        way_out = "; accepted: complete data, or ", Given("missing", "neutral"), " or 'indicator'"
        raise ValueError(Message(f"{argument} contains NaN or null: {found}", *way_out))
    counts = _n_missing(values)
    unknown = np.flatnonzero(counts == values.shape[0])
    if unknown.size:
        raise ValueError(f"{argument} has no observed entry in column {_shown(names, unknown[0])}; accepted: some")
    return counts > 0


def _places(test: Any, values: Any, names: Names) -> str:
    """Return words for the entries that pass a test."""
    rows, columns = _where(test, values)
    others = [_shown(names, j) for j in np.unique(columns) if j != columns[0]]
    more = f", others in {first_few(others)}" if others else ""
    return place_words(len(rows), rows[0], _shown(names, columns[0])) + more


def _n_missing(values: Any) -> Indices:
    """Return the number of missing entries of each column."""
    if isinstance(values, Source):
        return np.zeros(values.shape[1], dtype=np.intp)
    if sparse.issparse(values):
        return np.bincount(_where(np.isnan, values)[1], minlength=values.shape[1])
    return np.asarray(np.isnan(values).sum(axis=0))


def _where(test: Any, values: Any) -> Any:
    """Rows and columns of the entries that pass a test; zero must not pass it."""
    if sparse.issparse(values):
        stored = np.flatnonzero(test(values.data))
        return values.indices[stored], np.searchsorted(values.indptr, stored, side="right") - 1
    return np.nonzero(test(values))


def _shown(names: Names, j: int) -> str:
    return str(j) if names is None else repr(names[j])
