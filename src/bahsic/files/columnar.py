"""Parquet, Feather and Arrow, by pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bahsic.files.data import (
    Data,
    DataError,
    check_expansion,
    check_names,
    column_position,
    labels,
    library,
    one_line_errors,
    shown,
)


def read_parquet(path: Path, target: str | int | None = None) -> Data:
    """A Parquet file: numbers as they are, strings as categories; an index of pandas is no feature."""
    parquet = library("pyarrow.parquet", path.suffix)
    with one_line_errors(path, "reading Parquet"), parquet.ParquetFile(path) as file:
        size = 8 * file.metadata.num_rows * file.metadata.num_columns  # before reading: repetition packs well
        check_expansion(path, size)
        return _table_data(path, file.read(), target)


def read_arrow(path: Path, target: str | int | None = None) -> Data:
    """A Feather or Arrow file (the IPC format of files or of streams), as `read_parquet` has it."""
    feather, ipc = library("pyarrow.feather", path.suffix), library("pyarrow.ipc", path.suffix)
    with one_line_errors(path, "reading Arrow"):
        with path.open("rb") as file:
            magic = file.read(4)
        # Files begin with ARROW1, the first version of Feather with FEA1; streams have no such mark.
        if magic in {b"ARRO", b"FEA1"}:
            table = feather.read_table(path)
        else:
            with ipc.open_stream(str(path)) as stream:
                table = stream.read_all()
        return _table_data(path, table, target)


def _table_data(path: Path, table: Any, target: str | int | None) -> Data:
    pandas = library("pandas", path.suffix)
    frame = table.to_pandas(strings_to_categorical=True)
    if not len(frame):
        raise DataError(f"{path}: there is no row; give one row for each sample")
    return frame_data(path, frame.set_axis([str(name) for name in frame.columns], axis=1), target, pandas)


def frame_data(path: Path, frame: Any, target: str | int | None, pandas: Any) -> Data:
    """A DataFrame as data: the target taken out, every other column of numbers or categories."""
    names = list(frame.columns)
    check_names(path, names)
    if target is None:
        _check_types(path, frame, pandas)
        return Data(frame, names=names, source=path)
    name = names.pop(column_position(path, target, names, len(names)))
    X = frame[names]
    _check_types(path, X, pandas)
    column = frame[name]
    is_number = pandas.api.types.is_numeric_dtype(column) and not hasattr(column.array, "_mask")
    y = labels(path, column.to_numpy() if is_number else column.astype(object).to_numpy(), name, len(frame))
    return Data(X, y, names, target=name, source=path)


def _check_types(path: Path, frame: Any, pandas: Any) -> None:
    for name, dtype in frame.dtypes.items():
        is_text = isinstance(dtype, pandas.CategoricalDtype) or pandas.api.types.is_string_dtype(frame[name])
        if not (is_text or pandas.api.types.is_numeric_dtype(dtype)) or dtype.kind == "c":
            raise DataError(f"{path}: column {shown(name)} is of type {dtype}; leave it out or make numbers of it")
