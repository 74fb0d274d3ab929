"""The function that writes the reduced table, in the format of the suffix."""

from __future__ import annotations

import csv
import gzip
import io
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TextIO, cast

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
    suffix = known_suffix(path, _WRITERS, "writing")
    _check_targets(suffix, several=data.y is not None and (data.y.ndim > 1 or data.y.dtype.names is not None))
    selected = np.arange(data.X.shape[1])[np.asarray(columns)]
    write, _ = _WRITERS[suffix]
    options: dict[str, Any] = {"escape": escape_formulas} if write is _write_delimited else {}
    options |= {"ranking": ranking} if write is _write_h5ad else {}
    with one_line_errors(path, f"writing {suffix}"), appearing(path) as draft:
        write(draft, data, selected, suffix, **options)


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
    suffix = known_suffix(path, _WRITERS, "writing")
    check_place(path)
    _check_targets(suffix, several=several)
    if suffix == ".h5ad":
        _check_source(source)
    for name in _WRITERS[suffix][1]:
        library(name, suffix, "writing")


def _check_targets(suffix: str, *, several: bool) -> None:
    if several and suffix in (".npz", ".svmlight", ".libsvm", ".mat"):
        raise DataError(f"{suffix} holds one target, and there are several; write .csv or .parquet")


def _check_source(source: Path | None) -> None:
    if source is None or source.suffix.lower() != ".h5ad":
        raise DataError("an .h5ad file is written from an .h5ad file only; write .csv or .parquet")


def _names(data: Data, selected: Any) -> list[str]:
    return [f"x{j}" if data.names is None else data.names[j] for j in selected]


def _targets(data: Data, names: list[str]) -> dict[str, Any]:
    """Return the columns of the target by names that no feature has."""
    if data.y is None:
        return {}
    wanted = data.target if isinstance(data.target, list) else [data.target or "target"]
    columns = list(data.y.T) if data.y.ndim == 2 else [data.y]
    if data.y.dtype.names:
        event, time = wanted = data.y.dtype.names
        columns = [data.y[event].astype(int), data.y[time]]
    return {_free(name, names): column for name, column in zip(wanted, columns, strict=True)}


def _free(name: str, names: list[str]) -> str:
    while name in names:
        name += "_"
    return name


def _frame(data: Data, selected: Any, suffix: str) -> Any:
    """Return the columns and the target as a DataFrame, as they stand in the file that they come from."""
    pandas = library("pandas", suffix, "writing")
    names = _names(data, selected)
    if hasattr(data.X, "iloc"):
        frame = data.X.iloc[:, selected].set_axis(names, axis=1).reset_index(drop=True)
    else:
        frame = pandas.DataFrame(_dense(data, selected), columns=names)
    frame = frame.assign(**_targets(data, names))
    return frame if data.stored is None else data.stored.frame(frame)


def _dense(data: Data, selected: Any) -> Any:
    X = data.X[:, selected]
    return X.toarray() if sparse.issparse(X) else X


def _write_delimited(path: Path, data: Data, selected: Any, suffix: str, *, escape: bool = False) -> None:
    delimiter, line_end = "\t" if ".tsv" in suffix else ",", "\r\n"  # that of RFC 4180
    with _text_opened(path, suffix) as file:
        if isinstance(data.stored, StoredText):
            names = _names(data, selected)
            names += _targets(data, names)
            writer = csv.writer(file, delimiter=delimiter, lineterminator=line_end)
            writer.writerow(map(for_spreadsheet, names))
            for row in data.stored.cells(names):
                writer.writerow(map(_escaped, row) if escape else row)
            return
        frame = _frame(data, selected, suffix)
        frame.columns = [for_spreadsheet(name) for name in frame.columns]
        for j, dtype in enumerate(frame.dtypes) if escape else ():
            if not isinstance(dtype, np.dtype) or dtype.kind not in "fiubM":
                frame.isetitem(j, frame.iloc[:, j].astype(object).map(_escaped))
        frame.to_csv(file, sep=delimiter, index=False, lineterminator=line_end)


def _escaped(value: Any) -> Any:
    """Return a text that a spreadsheet would take for a formula with an apostrophe before it."""
    return for_spreadsheet(value) if isinstance(value, str) and form_of(value.strip()) is None else value


@contextmanager
def _text_opened(path: Path, suffix: str) -> Iterator[TextIO]:
    """Open a file for text; gzip gets no name and time, so that the same table gives the same bytes."""
    with ExitStack() as stack:
        file: Any = stack.enter_context(path.open("wb"))
        if suffix.endswith(".gz"):
            file = stack.enter_context(gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0))
        yield stack.enter_context(io.TextIOWrapper(file, encoding="utf-8", newline=""))


def _write_columnar(path: Path, data: Data, selected: Any, suffix: str) -> None:
    pyarrow, feather, parquet = (library(f"pyarrow{part}", suffix, "writing") for part in ("", ".feather", ".parquet"))
    table = pyarrow.Table.from_pandas(_frame(data, selected, suffix), preserve_index=False)
    (parquet.write_table if suffix == ".parquet" else feather.write_feather)(table, str(path))


def _numbers(data: Data, selected: Any, suffix: str) -> Any:
    if not hasattr(data.X, "iloc"):
        return data.X[:, selected]
    frame = data.X.iloc[:, selected]
    for name, dtype in frame.dtypes.items():
        if not isinstance(dtype, np.dtype) or dtype.kind not in "fiub":
            what = "dates" if getattr(dtype, "kind", "O") == "M" else "categories"
            raise DataError(
                f"{suffix} holds numbers only, and column {for_message(name)} has {what}; write .csv or .parquet"
            )
    return frame.to_numpy()


def _write_arrays(path: Path, data: Data, selected: Any, suffix: str) -> None:
    """Write the arrays X, y and feature_names of .npz and .mat, or X alone to .npy."""
    X, names = _numbers(data, selected, suffix), _names(data, selected)
    labels: dict[str, Any] = {}
    if data.y is not None:
        numbers = data.y.dtype.kind in "fiub"
        labels["y"] = data.y if numbers else data.y.astype(object if suffix == ".mat" else str)
    if suffix == ".mat":
        savemat(path, {"X": X, "feature_names": np.array(names, dtype=object), **labels}, oned_as="column")
        return
    X = X.toarray() if sparse.issparse(X) else X
    with path.open("wb") as file:  # given a path, numpy may add a suffix
        if suffix == ".npy":
            np.save(file, X, allow_pickle=False)
        else:
            np.savez(file, X=X, feature_names=np.array(names, dtype=str), **labels)


def _write_svmlight(path: Path, data: Data, selected: Any, suffix: str) -> None:
    y = np.zeros(data.X.shape[0]) if data.y is None else data.y
    if y.dtype.kind not in "fiub":
        raise DataError(f"{suffix} holds numbers only, and the target has strings; write .csv or .parquet")
    dump_svmlight_file(_numbers(data, selected, suffix), y, str(path), zero_based=False)


def _write_h5ad(path: Path, data: Data, selected: Any, _: str, *, ranking: Any = None) -> None:
    _check_source(data.source)
    mark_selection(path, cast("Path", data.source), np.isin(np.arange(data.X.shape[1]), selected), ranking)


# For each suffix its writer, and the libraries that it needs.
_WRITERS: dict[str, tuple[Callable[..., None], tuple[str, ...]]] = {
    **dict.fromkeys((".csv", ".csv.gz", ".tsv", ".tsv.gz"), (_write_delimited, ("pandas",))),
    **dict.fromkeys((".parquet", ".feather", ".arrow"), (_write_columnar, ("pandas", "pyarrow"))),
    **dict.fromkeys((".npy", ".npz", ".mat"), (_write_arrays, ())),
    **dict.fromkeys((".svmlight", ".libsvm"), (_write_svmlight, ())),
    ".h5ad": (_write_h5ad, ("anndata", "h5py")),
}
