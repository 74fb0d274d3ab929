"""Content of a data file, the error for one that cannot be read, and checks that all formats share."""

from __future__ import annotations

import gzip
import warnings
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, timedelta
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from scipy import sparse

from bahsic.kernels.rows import is_missing
from bahsic.names import for_message, one_line

# A file that expands to more than both of these is taken for an attack or an accident.
LARGEST_EXPANSION = 100  # times its own size
HARMLESS_SIZE = 2 * 10**9  # bytes

# Sparse tables with more columns lose the empty ones.
MANY_COLUMNS = 100_000

# For each module that is optional, the package it belongs to and the extra that installs it.
_EXTRAS = {
    "pandas": ("pandas", "files"),
    "pyarrow": ("pyarrow", "files"),
    "openpyxl": ("openpyxl", "files"),
    "arff": ("liac-arff", "files"),
    "anndata": ("anndata", "anndata"),
    "h5py": ("h5py", "anndata"),
    "mne": ("mne", "mne"),
}


class DataError(ValueError):
    """A file that cannot be read or written; the message is one line that says what to do.

    Examples
    --------
    >>> from bahsic.files import read_data
    >>> read_data("wine.cvs")
    Traceback (most recent call last):
        ...
    bahsic.files.data.DataError: wine.cvs: reading needs a known suffix, got '.cvs'; known: ...
    """


class TargetError(DataError):
    """Columns of the target or event that do not fit the file or the other options."""


@dataclass(frozen=True, eq=False)
class Data:
    """A table of samples and features, and the target where there is one.

    Attributes
    ----------
    X : ndarray, scipy sparse array or pandas DataFrame of shape (m, d)
    y : ndarray of shape (m,) or (m, number of outputs), or None
        The target: integers, numbers, strings, or pairs of an event and a time; nothing is missing in it.
    names : list of str, or None
        Names of the columns of X, as the file spells them.
    groups : list of str, or None
        For each column of X the group that it belongs to, where the format has groups.
    target : str, list of str, or None
        The name of y, or of its columns.
    source : Path, or None
        Where the data come from.
    notes : tuple of str
        What the reader has decided about the file, such as rows and columns left out, one line each.

    Examples
    --------
    >>> Data(X=np.eye(2), y=np.array([0, 1]), names=["a", "b"]).names
    ['a', 'b']
    """

    X: Any
    y: Any = None
    names: list[str] | None = None
    groups: list[str] | None = None
    target: str | list[str] | None = None
    source: Path | None = None
    notes: tuple[str, ...] = ()


def library(name: str, suffix: str, action: str = "reading") -> Any:
    """An optional library, imported here and nowhere else; an ImportError says how to install it."""
    try:
        return import_module(name)
    except ImportError:
        package, extra = _EXTRAS[name.partition(".")[0]]
        raise ImportError(f'{action} {suffix} needs {package}: pip install "bahsic[{extra}]"') from None


@contextmanager
def one_line_errors(path: Path, action: str) -> Iterator[None]:
    """Turn whatever a library says about a bad file into one `DataError`, and its warnings into silence.

    What the system says of a file that is written stays what it is.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (DataError, ImportError):
        raise
    except MemoryError:
        raise DataError(f"{path}: not enough memory for {action}; use a smaller file") from None
    except Exception as error:  # a broken file makes its library raise anything
        if isinstance(error, OSError) and action.startswith("writing"):
            raise
        raise DataError(f"{path}: {action} failed: {one_line(str(error)) or type(error).__name__}") from error


def suggestion(wanted: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: the nearest one, or the first few."""
    names = [name for name in known if isinstance(name, str)]
    comparable = {name.lower(): name for name in names if len(name) <= 2 * len(wanted) + 2}  # long ones take long
    near = get_close_matches(wanted.lower(), comparable, n=1)
    if near:
        return f"did you mean {for_message(comparable[near[0]])}?"
    listed = ", ".join(map(for_message, names[:5])) + (", ..." if len(names) > 5 else "")
    return f"known: {listed}" if names else "there is none"


def chosen(path: Path, kind: str, wanted: str, known: Iterable[str]) -> str:
    """The wanted one of several names; an error that names the nearest if there is none."""
    names = list(known)
    if wanted not in names:
        raise DataError(f"{path}: no {kind} is called {for_message(wanted)}; {suggestion(wanted, names)}")
    return wanted


def kept_names(path: Path, names: Sequence[str], drop: Sequence[str]) -> list[str]:
    """The names of the columns that are not left out."""
    left_out = {chosen(path, "column", name, names) for name in drop}
    return [name for name in names if name not in left_out]


def column_position(path: Path, target: str | int, names: Sequence[str] | None, n_columns: int) -> int:
    """Position of a column, given by its name or, also in a table without names, by its number from 0."""
    if names is not None and isinstance(target, str):
        return list(names).index(chosen(path, "column", target, names))
    try:
        return range(n_columns)[int(target)]
    except (ValueError, IndexError):
        raise DataError(f"{path}: target is {target!r}; accepted: a column number below {n_columns}") from None


def check_names(path: Path, names: Sequence[str], remedy: str = "rename or remove all but one") -> None:
    """Refuse names that occur more than once, and empty ones."""
    if not names:
        raise DataError(f"{path}: there is no column; give a table with a column for each feature")
    name, times = Counter(names).most_common(1)[0]
    if "" in names:
        raise DataError(f"{path}: column {list(names).index('') + 1} has no name; give it one")
    if times > 1:
        raise DataError(f"{path}: {times} columns are called {for_message(name)}; {remedy}")


def named(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Names, with one such as "column 7" for a column that has none, and the note that says so.

    Examples
    --------
    >>> named(["a", "", "c"])
    (['a', 'column 2', 'c'], ["column 2 has no name and is called 'column 2'"])
    """
    taken, given = set(names), list(names)
    nameless = [j for j, name in enumerate(names) if not name]
    for j in nameless:
        given[j] = f"column {j + 1}"
        while given[j] in taken:
            given[j] += "_"
        taken.add(given[j])
    if len(nameless) < 2:
        return given, [f"column {j + 1} has no name and is called {for_message(given[j])}" for j in nameless]
    listed = ", ".join(for_message(given[j]) for j in nameless[:3]) + (", ..." if len(nameless) > 3 else "")
    return given, [f"{len(nameless)} columns have no name and are called {listed} after their places"]


def check_expansion(path: Path, size: int) -> None:
    """Refuse a file that would take far more memory than its own size makes one expect."""
    if size > HARMLESS_SIZE and size > LARGEST_EXPANSION * path.stat().st_size:
        raise DataError(
            f"{path}: expands to {size / 1e9:.1f} GB or more, over {LARGEST_EXPANSION} times its size; "
            "if you trust it, unpack it and give the unpacked file"
        )


def check_gzip(path: Path) -> None:
    """Unpack a .gz file without keeping anything: the size that it declares need not be true."""
    if path.suffix.lower() != ".gz":
        return
    size = 0
    try:
        with gzip.open(path) as unpacked:
            while chunk := unpacked.read(2**20):
                size += len(chunk)
                check_expansion(path, size)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(
            f"{path}: no complete gzip file ({one_line(str(error)) or type(error).__name__}); fetch or pack it again"
        ) from None
    if size == 0:
        raise DataError(f"{path}: the file is empty; give one with a header and rows")


def labels(path: Path, values: Any, name: str, n_samples: int) -> Any:
    """A target as an array: integers where all numbers are, nothing missing, one entry for each sample."""
    y = _one_each(path, values, name, n_samples)
    missing = _missing(y)
    if missing.any():
        row, times = int(np.argmax(missing)), int(missing.sum())
        raise DataError(
            f"{path}: target {for_message(name)} is missing in {times} rows, the first row {row}, counted from 0; "
            "remove them"
        )
    return _typed(path, y, name)


def _typed(path: Path, y: Any, name: str) -> Any:
    if y.dtype.kind in "mM" or any(isinstance(value, date | timedelta) for value in y[:1]):
        raise DataError(f"{path}: target {for_message(name)} has times ({y[0]}, ...); make numbers or classes of them")
    whole = y.dtype.kind == "f" and bool(np.all((np.abs(y) < 2**53) & (y == np.round(y))))
    return y.astype(np.int64) if whole else y


def target_rows(path: Path, values: Any, name: str, n_samples: int) -> tuple[Any, Any, list[str]]:
    """Target of the rows that have one.

    Parameters
    ----------
    path : Path
    values : array-like of n_samples entries
    name : str
        Of the target.
    n_samples : int

    Returns
    -------
    y : ndarray
        As `labels` returns it.
    rows : ndarray of int, or None
        The rows that have a target; None if all have.
    notes : list of str
        How many rows have none.
    """
    y = _one_each(path, values, name, n_samples)
    missing = _missing(y)
    if not missing.any():
        return _typed(path, y, name), None, []
    rows, times = np.flatnonzero(~missing), int(missing.sum())
    if not rows.size:
        raise DataError(f"{path}: target {for_message(name)} is missing in all rows; give a column with entries")
    observed = y[rows]
    if observed.dtype.kind == "O" and all(isinstance(value, bool | np.bool_) for value in observed):
        observed = observed.astype(bool)  # as without missing entries
    counted = "1 row" if times == 1 else f"{times} rows"
    return _typed(path, observed, name), rows, [f"{counted} without a target left out"]


def with_target(path: Path, data: Data, values: Any, name: str) -> Data:
    """The data with a target, without the rows that have none."""
    y, rows, notes = target_rows(path, values, name, data.X.shape[0])
    X = data.X if rows is None else of_rows(data.X, rows)
    return replace(data, X=X, y=y, target=name, notes=(*data.notes, *notes))


def checked_sparse(path: Path, X: Any) -> Any:
    """X; a sparse array only if all its indices are within its shape, as the code that works on it is not careful."""
    if sparse.issparse(X) and hasattr(X, "check_format"):
        try:
            X.check_format(full_check=True)
        except ValueError as error:
            raise DataError(f"{path}: the sparse array is damaged ({one_line(str(error))}); write it again") from None
    return X


def without_empty_columns(data: Data) -> Data:
    """The data; a sparse table without names that has very many columns, most of them empty, only with the others.

    An empty column is constant and can't be selected, and a few bytes of a file can claim a thousand million of them.
    The columns that stay are called x0, x7, ... after their places.
    """
    n_columns = data.X.shape[1]
    if data.names is not None or not sparse.issparse(data.X) or n_columns <= MANY_COLUMNS:
        return data
    X = data.X.tocsr()
    columns, places = np.unique(X.indices, return_inverse=True)
    if 2 * len(columns) > n_columns:
        return data
    X = sparse.csr_matrix((X.data, places.astype(X.indptr.dtype), X.indptr), shape=(X.shape[0], len(columns)))
    note = f"{len(columns)} of {n_columns} columns have entries; the empty ones are left out"
    return replace(data, X=X, names=[f"x{j}" for j in columns.tolist()], notes=(*data.notes, note))


def of_rows(X: Any, rows: Any) -> Any:
    """Some rows of an array, a sparse array or a DataFrame, numbered anew; categories without a row are left out."""
    if not hasattr(X, "iloc"):
        return (X.tocsr() if sparse.issparse(X) else X)[rows]
    frame = X.iloc[rows].reset_index(drop=True)
    for j, dtype in enumerate(frame.dtypes):
        if str(dtype) == "category":
            frame.isetitem(j, frame.iloc[:, j].cat.remove_unused_categories())
    return frame


def _one_each(path: Path, values: Any, name: str, n_samples: int) -> Any:
    y = np.asarray(values)
    if y.size != n_samples:
        raise DataError(
            f"{path}: target {for_message(name)} has shape {y.shape}; accepted: one value a row ({n_samples})"
        )
    return y.reshape(n_samples)


def _missing(y: Any) -> Any:
    if y.dtype.kind == "f":
        return np.isnan(y)
    return np.array([is_missing(value) for value in y.tolist()], dtype=bool)


def library_version(module: ModuleType) -> int:
    """The major version of a library."""
    return int(str(module.__version__).partition(".")[0])
