"""The function that writes the reduced table, in the format of the suffix."""

from __future__ import annotations

import csv
import gzip
import io
import os
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from scipy import sparse
from scipy.io import savemat
from sklearn.datasets import dump_svmlight_file

from bahsic.files.cells import form_of
from bahsic.files.data import Data, DataError, library, one_line_errors
from bahsic.files.delimited import StoredText
from bahsic.files.reading import known_suffix
from bahsic.files.science import mark_selection
from bahsic.names import for_message, for_spreadsheet
from bahsic.whole import appearing, check_place


def write_table(
    path: str | os.PathLike[str], data: Data, columns: Any, ranking: Any = None, *, escape_formulas: bool = False
) -> None:
    """Write the chosen columns and the target exactly as in the input file.

    Parameters
    ----------
    path : str or Path
        The suffix gives the format: .csv, .tsv (each also .gz), .parquet, .feather, .arrow, .npy (without the
        target), .npz, .svmlight, .libsvm, .mat. For .h5ad the whole .h5ad file of the data is copied, and
        ``var["hsic_selected"]`` and ``var["hsic_rank"]`` added. An existing file is replaced, once all is written.
    data : Data
    columns : array-like of int or bool
        Columns of X, by their numbers in the wanted order or by a mask.
    ranking : array-like of shape (d,), optional
        The rank of each column of X, for .h5ad.
    escape_formulas : bool, default=False
        Whether to put an apostrophe before text in .csv and .tsv that a spreadsheet could take for a formula: text that
        starts with = + - @ or the end of a line. Names always get it.

    Raises
    ------
    DataError
        If the format cannot hold the table.
    OSError
        If the file cannot be written.

    Notes
    -----
    Text, such as 00001 or a number of 20 digits, is copied from .csv and .tsv, and columns of .parquet, .feather and
    .arrow keep their types; the file is read again. Data that were made or changed in Python are written as they are.
    Columns without names are called x0, x1, ...

    Examples
    --------
    >>> import tempfile
    >>> data = Data(np.arange(6.0).reshape(2, 3), np.array([0, 1]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(f"{folder}/reduced.npz", data, [2, 0])
    ...     print(np.load(f"{folder}/reduced.npz")["feature_names"])
    ['x2' 'x0']
    """
    path = Path(path)
    suffix = known_suffix(path, _LIBRARIES, "writing")
    check_writing(path, data.source, several=data.y is not None and (data.y.ndim > 1 or data.y.dtype.names is not None))
    selected = np.arange(data.X.shape[1])[np.asarray(columns)]
    names = [f"x{j}" if data.names is None else data.names[j] for j in selected]
    X = data.X.iloc[:, selected].reset_index(drop=True) if hasattr(data.X, "iloc") else data.X[:, selected]
    table = replace(data, X=X, names=names).stored_as(data.stored)
    with one_line_errors(f"writing {suffix}", f"{path}: "), appearing(path) as draft:
        if suffix == ".h5ad":
            mark_selection(draft, cast("Path", data.source), np.isin(np.arange(data.X.shape[1]), selected), ranking)
        elif "sv." in f"{suffix}.":
            _write_delimited(draft, table, suffix, escape=escape_formulas)
        elif "pandas" in _LIBRARIES[suffix]:
            _write_columnar(draft, table, suffix)
        elif suffix in (".svmlight", ".libsvm"):
            _write_svmlight(draft, table, suffix)
        else:
            _write_arrays(draft, table, suffix)


def check_writing(path: str | os.PathLike[str], source: Path | None = None, *, several: bool = False) -> None:
    """Raise the error that would prevent writing a table, before any work is done.

    Parameters
    ----------
    path : str or Path
        As `write_table` takes it.
    source : Path, optional
        The file that the data come from.
    several : bool, default=False
        Whether the target has several columns.

    Examples
    --------
    >>> check_writing("reduced.npz")
    >>> check_writing("reduced.doc")
    Traceback (most recent call last):
        ...
    bahsic.files.data.DataError: reduced.doc: writing needs a known suffix, got '.doc'; known: ...
    """
    path = Path(path)
    suffix = known_suffix(path, _LIBRARIES, "writing")
    check_place(path)
    for name in _LIBRARIES[suffix]:
        library(name, suffix, "writing")
    if several and suffix in (".npz", ".svmlight", ".libsvm", ".mat"):
        raise DataError(f"{suffix} holds one target, and there are several; write .csv or .parquet")
    if suffix == ".h5ad" and (source is None or source.suffix.lower() != ".h5ad"):
        raise DataError("an .h5ad file is written from an .h5ad file only; write .csv or .parquet")


def _targets(table: Data) -> dict[str, Any]:
    """Return the columns of the target by names that no feature has."""
    if table.y is None:
        return {}
    wanted = table.target if isinstance(table.target, list) else [table.target or "target"]
    columns = list(table.y.T) if table.y.ndim == 2 else [table.y]
    if table.y.dtype.names:
        event, time = wanted = table.y.dtype.names
        columns = [table.y[event].astype(int), table.y[time]]
    names = table.names or []
    free = (next(free for n in range(len(names) + 1) if (free := name + "_" * n) not in names) for name in wanted)
    return dict(zip(free, columns, strict=True))


def _frame(table: Data, suffix: str) -> Any:
    """Return the columns and the target as a DataFrame, as they stand in the file that they come from."""
    X = table.X.toarray() if sparse.issparse(table.X) else table.X
    frame = library("pandas", suffix, "writing").DataFrame(X).set_axis(table.names, axis=1).assign(**_targets(table))
    return frame if table.stored is None else table.stored.frame(frame)


def _write_delimited(path: Path, table: Data, suffix: str, *, escape: bool) -> None:
    dialect: dict[str, Any] = {"lineterminator": "\r\n"}  # that of RFC 4180
    delimiter = "\t" if ".tsv" in suffix else ","
    with ExitStack() as stack:
        file: Any = stack.enter_context(path.open("wb"))
        if suffix.endswith(".gz"):  # without name and time, so that the same table gives the same bytes
            file = stack.enter_context(gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0))
        file = stack.enter_context(io.TextIOWrapper(file, encoding="utf-8", newline=""))
        if isinstance(table.stored, StoredText):
            names = [*(table.names or []), *_targets(table)]
            writer = csv.writer(file, delimiter=delimiter, **dialect)
            writer.writerow(map(for_spreadsheet, names))
            for row in table.stored.cells(names):
                writer.writerow(map(_escaped, row) if escape else row)
            return
        frame = _frame(table, suffix)
        frame.columns = [for_spreadsheet(name) for name in frame.columns]
        for j, dtype in enumerate(frame.dtypes) if escape else ():
            if not isinstance(dtype, np.dtype) or dtype.kind not in "fiubM":
                frame.isetitem(j, frame.iloc[:, j].astype(object).map(_escaped))
        frame.to_csv(file, sep=delimiter, index=False, **dialect)


def _escaped(value: Any) -> Any:
    """Return a text that a spreadsheet would take for a formula with an apostrophe before it."""
    return for_spreadsheet(value) if isinstance(value, str) and form_of(value.strip()) is None else value


def _write_columnar(path: Path, table: Data, suffix: str) -> None:
    pyarrow, feather, parquet = (library(f"pyarrow{part}", suffix, "writing") for part in ("", ".feather", ".parquet"))
    content = pyarrow.Table.from_pandas(_frame(table, suffix), preserve_index=False)
    (parquet.write_table if suffix == ".parquet" else feather.write_feather)(content, str(path))


def _numbers(table: Data, suffix: str) -> Any:
    if not hasattr(table.X, "iloc"):
        return table.X
    for name, dtype in zip(table.names or [], table.X.dtypes, strict=True):
        if not isinstance(dtype, np.dtype) or dtype.kind not in "fiub":
            what = f"column {for_message(name)} has {'dates' if dtype.kind == 'M' else 'categories'}"
            raise DataError(f"{suffix} holds numbers only, and {what}; write .csv or .parquet")
    return table.X.to_numpy()


def _write_arrays(path: Path, table: Data, suffix: str) -> None:
    """Write the arrays X, y and feature_names of .npz and .mat, or X alone to .npy."""
    X, names, labels = _numbers(table, suffix), table.names, {}
    if table.y is not None:
        numbers = table.y.dtype.kind in "fiub"
        labels["y"] = table.y if numbers else table.y.astype(object if suffix == ".mat" else str)
    if suffix == ".mat":
        savemat(path, {"X": X, "feature_names": np.array(names, dtype=object), **labels}, oned_as="column")
        return
    X = X.toarray() if sparse.issparse(X) else X
    with path.open("wb") as file:  # given a path, numpy may add a suffix
        if suffix == ".npy":
            np.save(file, X, allow_pickle=False)
        else:
            np.savez(file, X=X, feature_names=np.array(names, dtype=str), **labels)


def _write_svmlight(path: Path, table: Data, suffix: str) -> None:
    y = np.zeros(table.X.shape[0]) if table.y is None else table.y
    if y.dtype.kind not in "fiub":
        raise DataError(f"{suffix} holds numbers only, and the target has strings; write .csv or .parquet")
    dump_svmlight_file(_numbers(table, suffix), y, str(path), zero_based=False)


# For each suffix the libraries that its writer needs.
_LIBRARIES = {
    **dict.fromkeys((".csv", ".csv.gz", ".tsv", ".tsv.gz"), ("pandas",)),
    **dict.fromkeys((".parquet", ".feather", ".arrow"), ("pandas", "pyarrow")),
    **dict.fromkeys((".npy", ".npz", ".mat", ".svmlight", ".libsvm"), ()),
    ".h5ad": ("anndata", "h5py"),
}
