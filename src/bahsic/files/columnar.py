"""Readers of Parquet, Feather and Arrow, by pyarrow."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, time, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from bahsic.files.data import (
    Data,
    DataError,
    check_expansion,
    check_names,
    check_unchanged,
    library,
    named,
    one_line_errors,
    stamp_of,
)
from bahsic.files.targets import Wanted, of_rows
from bahsic.kernels.rows import EXACT, is_missing
from bahsic.names import for_message

# Types of integers that float64 does not tell apart.
_LARGEST = {"int64": "Int64", "uint64": "UInt64"}


def whole_numbers(values: Sequence[int | None], pandas: Any) -> Any:
    """Return whole numbers as an array of 64 bits, if these hold them all, else of objects."""
    for dtype in ("int64", *_LARGEST.values()):
        with suppress(ValueError, OverflowError, TypeError):
            return pandas.array(values, dtype=dtype)
    return np.array(values, dtype=object)


@dataclass(frozen=True)
class StoredTable:
    """Columns of an Arrow table as they stand in the file."""

    read: Callable[[Path], Any]
    path: Path
    stamp: tuple[int, int]
    names: list[str]
    rows: Any

    def frame(self, parsed: Any) -> Any:
        """Return a frame of the same columns in their own types."""
        check_unchanged(self.path, self.stamp)
        pandas = library("pandas", self.path.suffix)
        table = self.read(self.path).select([self.names.index(name) for name in parsed.columns])
        frame = table.to_pandas(types_mapper=pandas.ArrowDtype, ignore_metadata=True)
        return of_rows(frame, self.rows).set_axis(parsed.columns, axis=1)


def read_parquet(path: Path, wanted: Wanted) -> Data:
    """Read a Parquet file: strings become categories; an index of pandas is no feature."""
    return _table_data(path, _parquet, wanted)


def _parquet(path: Path) -> Any:
    parquet = library("pyarrow.parquet", path.suffix)
    with one_line_errors(path, "reading Parquet"), parquet.ParquetFile(path) as file:
        size = 8 * file.metadata.num_rows * file.metadata.num_columns  # before reading: repeated values are packed
        check_expansion(path, size)
        table = _validated(file.read())
        if (encoded := (file.metadata.metadata or {}).get(b"ARROW:schema")) is not None:
            pyarrow, ipc = library("pyarrow", path.suffix), library("pyarrow.ipc", path.suffix)
            schema = ipc.read_schema(pyarrow.py_buffer(base64.b64decode(encoded)))
            for j, column in enumerate(table.columns[: len(schema)]):  # reading forgets categories that are numbers
                if "dictionary" in str(schema.field(j).type) and "dictionary" not in str(column.type):
                    table = table.set_column(j, table.column_names[j], column.dictionary_encode())
        return table


def read_arrow(path: Path, wanted: Wanted) -> Data:
    """Read a Feather or Arrow file (the IPC format of files or of streams), like `read_parquet`."""
    return _table_data(path, _arrow, wanted)


def _arrow(path: Path) -> Any:
    pyarrow, feather, ipc = (library(f"pyarrow{part}", path.suffix) for part in ("", ".feather", ".ipc"))
    with one_line_errors(path, "reading Arrow"):
        with path.open("rb") as file:
            magic = file.read(4)
        # Files begin with ARROW1, the first version of Feather with FEA1; streams have no such mark.
        if magic == b"FEA1":
            return _validated(feather.read_table(path))
        with (ipc.open_file if magic == b"ARRO" else ipc.open_stream)(str(path)) as file:
            batches = map(file.get_batch, range(file.num_record_batches)) if magic == b"ARRO" else file
            return _validated(pyarrow.Table.from_batches(_checked(path, batches), file.schema))


def _validated(table: Any) -> Any:
    """Return the table, if its offsets, indices and texts are sound; others would end the process later."""
    table.validate(full=True)
    return table


def _checked(path: Path, batches: Iterable[Any]) -> Iterator[Any]:
    """Yield batches; raise once they take far more memory than the size of the file suggests."""
    size = 0
    for batch in batches:
        size += batch.nbytes
        check_expansion(path, size)
        yield batch


def _table_data(path: Path, read: Callable[[Path], Any], wanted: Wanted) -> Data:
    pandas = library("pandas", path.suffix)
    stamp, table = stamp_of(path), read(path)
    with one_line_errors(path, "reading the table"):
        frame = table.to_pandas(strings_to_categorical=True, date_as_object=False)
        for field in table.schema:  # types that pandas turns into objects or, beside missing entries, into floats
            kind, name = str(field.type), field.name
            if kind == "bool" and frame[name].dtype == object:
                frame[name] = frame[name].astype("category")
            elif kind == "null" or kind.startswith("decimal"):
                frame[name] = frame[name].astype("float64")
            elif kind in _LARGEST and frame[name].dtype == float and frame[name].abs().max() > EXACT:
                frame[name] = pandas.array(table[name].to_pylist(), dtype=_LARGEST[kind])
        frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
        names = named(list(frame.columns))[0]
        data, rows = frame_data(path, frame, wanted, pandas)
        return data.stored_as(StoredTable(read, path, stamp, names, rows))


def frame_data(path: Path, frame: Any, wanted: Wanted, pandas: Any, notes: Sequence[str] = ()) -> tuple[Data, Any]:
    """Turn a DataFrame into `Data`, and return the rows that have a target.

    Columns become the target; all others have to be numbers, categories or dates.
    """
    if not len(frame):
        raise DataError(f"{path}: there is no row; give one row for each sample")
    names, more = named(list(frame.columns))
    check_names(path, names)
    frame = frame.set_axis(names, axis=1)
    features, outputs = wanted.split(names)
    columns = {name: _target_values(frame[name], pandas) for name in outputs}
    X = _checked_types(path, frame[features], pandas)
    y, target, rows, left_out = wanted.outputs(columns, len(frame))
    data = Data(of_rows(X, rows), y, features, target=target, source=path, notes=(*notes, *more, *left_out))
    return data, rows


def _target_values(column: Any, pandas: Any) -> Any:
    """Return a column of a frame as an array of numbers or objects."""
    if pandas.api.types.is_numeric_dtype(column) and not hasattr(column.array, "_mask"):
        return column.to_numpy()
    if pandas.api.types.is_float_dtype(column):
        return column.to_numpy("float64", na_value=float("nan"))
    return column.astype(object).to_numpy()


def _is_time(column: Any) -> bool:
    """Return whether a column has dates, times or durations."""
    if column.dtype.kind in "mM":
        return True
    first = next((value for value in column if not is_missing(value)), None) if column.dtype == object else None
    return isinstance(first, date | time | timedelta)


def _checked_types(path: Path, frame: Any, pandas: Any) -> Any:
    """Return the frame, times with a zone in UTC; refuse columns that are neither numbers nor categories nor dates."""
    zoned = {}
    for name, dtype in frame.dtypes.items():
        is_text = isinstance(dtype, pandas.CategoricalDtype) or pandas.api.types.is_string_dtype(frame[name])
        if isinstance(dtype, pandas.DatetimeTZDtype):
            zoned[name] = frame[name].dt.tz_convert("UTC").dt.tz_localize(None)
        elif not (is_text or _is_time(frame[name]) or pandas.api.types.is_numeric_dtype(dtype)) or dtype.kind == "c":
            raise DataError(f"{path}: column {for_message(name)} is of type {dtype}; drop it or convert it to numbers")
    return frame.assign(**zoned) if zoned else frame
