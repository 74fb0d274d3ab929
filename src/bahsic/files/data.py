"""Content of a data file, the error for one that cannot be read, and checks that all formats share."""

from __future__ import annotations

import gzip
import warnings
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from bahsic.names import first_few, for_message, one_line, suggestion
from bahsic.parameters import Message

# A file that expands to more than both of these is taken for an attack or an accident.
LARGEST_EXPANSION = 100  # times its own size
HARMLESS_SIZE = 2 * 10**9  # bytes

# Sparse tables with more columns lose the empty ones.
MANY_COLUMNS = 100_000

# The extras that install packages; that of all others is "files".
_EXTRAS = {"anndata": "anndata", "h5py": "anndata", "mne": "mne"}


class DataError(ValueError):
    """Error for a file that cannot be read or written, with a message of one line that says what to do.

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
    """A table of samples and features, with the target if there is one.

    Attributes
    ----------
    X : ndarray, scipy sparse array or pandas DataFrame of shape (m, d)
    y : ndarray of shape (m,) or (m, number of outputs), or None
        The target: integers, numbers, strings, or pairs of an event and a time, without missing values.
    names : list of str, or None
        Names of the columns of X, as the file spells them.
    groups : list of str, or None
        The group of each column of X, if the format has groups.
    target : str, list of str, or None
        The name of y, or of its columns.
    source : Path, or None
        Where the data come from.
    notes : tuple of str
        What the reader has decided about the file, such as rows and columns left out, one line each.
    stored : object, or None
        The columns exactly as in the file, for `write_table`; None if X has them unchanged, and for data that were not
        read or were changed.

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
    stored: Any = field(default=None, init=False, repr=False)  # so that `replace` leaves it out

    def stored_as(self, stored: Any) -> Data:
        """Note the columns as they stand in the file, and return the data."""
        object.__setattr__(self, "stored", stored)
        return self


def library(name: str, suffix: str, action: str = "reading") -> Any:
    """Import an optional library, or raise an ImportError that says how to install it."""
    try:
        return import_module(name)
    except ImportError:
        package = "liac-arff" if name == "arff" else name.partition(".")[0]
        extra = _EXTRAS.get(package, "files")
        raise ImportError(f'{action} {suffix} needs {package}: pip install "bahsic[{extra}]"') from None


@contextmanager
def errors_of(path: Path) -> Iterator[None]:
    """Put the path of the file in front of the message of a `DataError`."""
    try:
        yield
    except DataError as error:
        error.args = (Message(f"{path}: ", *getattr(error.args[0], "parts", error.args)),)
        raise


@contextmanager
def one_line_errors(action: str, where: str = "") -> Iterator[None]:
    """Turn whatever a library says about a bad file into one `DataError`, and its warnings into silence."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (DataError, ImportError):
        raise
    except MemoryError:
        raise DataError(f"{where}not enough memory for {action}; use a smaller file") from None
    except Exception as error:  # a broken file makes its library raise anything
        if isinstance(error, OSError) and action.startswith("writing"):
            raise  # of a full disk, say
        raise DataError(f"{where}{action} failed: {one_line(str(error)) or type(error).__name__}") from error


def chosen(kind: str, wanted: str, known: Iterable[str]) -> str:
    """Return the wanted one of several names, or raise an error that suggests the nearest."""
    names = list(known)
    if wanted not in names:
        raise DataError(f"no {kind} is called {for_message(wanted)}; {suggestion(wanted, names)}")
    return wanted


def column_position(target: str | int, names: Sequence[str] | None, n_columns: int) -> int:
    """Return the position of a column, given by its name or, also in a table without names, by its number from 0."""
    if names is not None and isinstance(target, str):
        return list(names).index(chosen("column", target, names))
    try:
        return range(n_columns)[int(target)]
    except (ValueError, IndexError):
        raise DataError(f"target is {target!r}; accepted: a column number below {n_columns}") from None


def check_names(names: Sequence[str], remedy: str = "rename or remove all but one") -> None:
    """Refuse names that occur more than once, and empty ones."""
    if not names:
        raise DataError("there is no column; give a table with a column for each feature")
    name, times = Counter(names).most_common(1)[0]
    if "" in names:
        raise DataError(f"column {list(names).index('') + 1} has no name; give it one")
    if times > 1:
        raise DataError(f"{times} columns are called {for_message(name)}; {remedy}")


def named(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return names, with one such as "column 7" for a column that has none, and the note that says so."""
    taken, given = set(names), list(names)
    nameless = [j for j, name in enumerate(names) if not name]
    for j in nameless:
        given[j] = f"column {j + 1}"
        while given[j] in taken:
            given[j] += "_"
        taken.add(given[j])
    if len(nameless) < 2:
        return given, [f"column {j + 1} has no name and is called {for_message(given[j])}" for j in nameless]
    listed = first_few([for_message(given[j]) for j in nameless[:4]], 3)
    return given, [f"{len(nameless)} columns have no name and are called {listed} after their places"]


def stamp_of(path: Path) -> tuple[int, int]:
    """Return size and time of a file, by which a changed one is known."""
    return (status := path.stat()).st_size, status.st_mtime_ns


def check_unchanged(path: Path, stamp: tuple[int, int]) -> None:
    """Refuse to copy columns from a file that is no longer the one that was read."""
    if stamp_of(path) != stamp:
        raise DataError(f"{path}: has changed since it was read; run again")


def check_expansion(path: Path, size: int) -> None:
    """Refuse a file that would take far more memory than its own size makes one expect."""
    if size > HARMLESS_SIZE and size > LARGEST_EXPANSION * path.stat().st_size:
        raise DataError(
            f"expands to {size / 1e9:.1f} GB or more, over {LARGEST_EXPANSION} times its size; "
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
        what = one_line(str(error)) or type(error).__name__
        raise DataError(f"incomplete gzip file ({what}); fetch or pack it again") from None
    if size == 0:
        raise DataError("the file is empty; give one with a header and rows")


def checked_sparse(X: Any) -> Any:
    """X; a sparse array only if all its indices are within its shape, as the code that works on it is not careful."""
    if sparse.issparse(X) and hasattr(X, "check_format"):
        try:
            X.check_format(full_check=True)
        except ValueError as error:
            raise DataError(f"the sparse array is damaged ({one_line(str(error))}); write it again") from None
    return X


def without_empty_columns(data: Data) -> Data:
    """Return the data; a sparse table without names and with very many columns, most of them empty, without these."""
    # A few bytes of a file can claim a thousand million columns.
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
