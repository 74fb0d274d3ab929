"""Readers of Parquet, Feather and Arrow, by pyarrow."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, time, timedelta
from pathlib import Path
from typing import Any

from bahsic.files.data import (
    Data,
    DataError,
    check_expansion,
    check_names,
    column_position,
    kept_names,
    library,
    named,
    one_line_errors,
    with_target,
)
from bahsic.kernels.rows import is_missing
from bahsic.names import for_message


def read_parquet(path: Path, target: str | int | None = None, drop: Sequence[str] = ()) -> Data:
    """Read a Parquet file: strings become categories; an index of pandas is no feature."""
    parquet = library("pyarrow.parquet", path.suffix)
    with one_line_errors(path, "reading Parquet"), parquet.ParquetFile(path) as file:
        size = 8 * file.metadata.num_rows * file.metadata.num_columns  # before reading: repeated values are packed
        check_expansion(path, size)
        table = _validated(file.read())
        for j in _written_as_categories(file.metadata.metadata or {}, path.suffix):
            if j < table.num_columns and "dictionary" not in str(table.column(j).type):
                table = table.set_column(j, table.column_names[j], table.column(j).dictionary_encode())
        return _table_data(path, table, target, drop)


def _written_as_categories(metadata: Mapping[bytes, bytes], suffix: str) -> list[int]:
    """Columns that were categories when the file was written; reading forgets this for numbers."""
    pyarrow, ipc = library("pyarrow", suffix), library("pyarrow.ipc", suffix)
    if b"ARROW:schema" not in metadata:
        return []
    schema = ipc.read_schema(pyarrow.py_buffer(base64.b64decode(metadata[b"ARROW:schema"])))
    return [j for j, field in enumerate(schema) if str(field.type).startswith("dictionary")]


def read_arrow(path: Path, target: str | int | None = None, drop: Sequence[str] = ()) -> Data:
    """Read a Feather or Arrow file (the IPC format of files or of streams), like `read_parquet`."""
    pyarrow, feather, ipc = (library(f"pyarrow{part}", path.suffix) for part in ("", ".feather", ".ipc"))
    with one_line_errors(path, "reading Arrow"):
        with path.open("rb") as file:
            magic = file.read(4)
        # Files begin with ARROW1, the first version of Feather with FEA1; streams have no such mark.
        if magic == b"FEA1":
            table = feather.read_table(path)
        elif magic == b"ARRO":
            with ipc.open_file(str(path)) as file:
                batches = map(file.get_batch, range(file.num_record_batches))
                table = pyarrow.Table.from_batches(_checked(path, batches), file.schema)
        else:
            with ipc.open_stream(str(path)) as stream:
                table = pyarrow.Table.from_batches(_checked(path, stream), stream.schema)
        return _table_data(path, _validated(table), target, drop)


def _validated(table: Any) -> Any:
    """The table, if its offsets, indices and texts are sound; others would end the process later."""
    table.validate(full=True)
    return table


def _checked(path: Path, batches: Iterable[Any]) -> Iterator[Any]:
    """Yield batches; raise once they take far more memory than the size of the file suggests."""
    size = 0
    for batch in batches:
        size += batch.nbytes
        check_expansion(path, size)
        yield batch


def _table_data(path: Path, table: Any, target: str | int | None, drop: Sequence[str]) -> Data:
    pandas = library("pandas", path.suffix)
    frame = table.to_pandas(strings_to_categorical=True, date_as_object=False)
    if not len(frame):
        raise DataError(f"{path}: there is no row; give one row for each sample")
    for field in table.schema:  # types that pandas turns into objects
        kind = str(field.type)
        if kind == "bool" and frame[field.name].dtype == object:
            frame[field.name] = frame[field.name].astype("category")
        elif kind == "null" or kind.startswith("decimal"):
            frame[field.name] = frame[field.name].astype("float64")
    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    return frame_data(path, frame, target, pandas, drop)


def frame_data(path: Path, frame: Any, target: str | int | None, pandas: Any, drop: Sequence[str] = ()) -> Data:
    """Turn a DataFrame into `Data`: one column becomes the target, all others must be numbers, categories or dates."""
    names, notes = named(list(frame.columns))
    check_names(path, names)
    frame = frame.set_axis(names, axis=1)[kept_names(path, names, drop)]
    names = list(frame.columns)
    if target is None:
        return Data(_checked_types(path, frame, pandas), names=names, source=path, notes=tuple(notes))
    name = names.pop(column_position(path, target, names, len(names)))
    data = Data(_checked_types(path, frame[names], pandas), names=names, source=path, notes=tuple(notes))
    return with_target(path, data, target_values(frame[name], pandas), name)


def target_values(column: Any, pandas: Any) -> Any:
    """Return a column of a frame as an array of numbers or objects."""
    if not pandas.api.types.is_numeric_dtype(column):
        return column.astype(object).to_numpy()
    if not hasattr(column.array, "_mask"):
        return column.to_numpy()
    is_bool = pandas.api.types.is_bool_dtype(column)
    return column.astype(object).to_numpy() if is_bool else column.to_numpy("float64", na_value=float("nan"))


def _is_time(column: Any) -> bool:
    """Whether a column has dates, times or durations."""
    if column.dtype.kind in "mM":
        return True
    first = next((value for value in column if not is_missing(value)), None) if column.dtype == object else None
    return isinstance(first, date | time | timedelta)


def _checked_types(path: Path, frame: Any, pandas: Any) -> Any:
    """The frame, times with a zone in UTC; refuse columns that are neither numbers nor categories nor dates."""
    zoned = {}
    for name, dtype in frame.dtypes.items():
        is_text = isinstance(dtype, pandas.CategoricalDtype) or pandas.api.types.is_string_dtype(frame[name])
        if isinstance(dtype, pandas.DatetimeTZDtype):
            zoned[name] = frame[name].dt.tz_convert("UTC").dt.tz_localize(None)
        elif not (is_text or _is_time(frame[name]) or pandas.api.types.is_numeric_dtype(dtype)) or dtype.kind == "c":
            raise DataError(f"{path}: column {for_message(name)} is of type {dtype}; drop it or make numbers of it")
    return frame.assign(**zoned) if zoned else frame
