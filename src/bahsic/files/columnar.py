"""Readers of tables with typed columns: Parquet, Feather and Arrow by pyarrow, Excel by openpyxl, ARFF by liac-arff."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np

from bahsic.files.cells import MISSING_MARKS, is_mark
from bahsic.files.data import Data, DataError, check_expansion, check_names, check_unchanged, library, named, stamp_of
from bahsic.files.targets import Wanted, of_rows
from bahsic.files.text import text_encoding
from bahsic.kernels.rows import EXACT
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

    path: Path
    stamp: tuple[int, int]
    rows: Any

    def frame(self, parsed: Any) -> Any:
        """Return a frame of the same columns in their own types."""
        check_unchanged(self.path, self.stamp)
        table, pandas = _arrow_table(self.path), library("pandas", self.path.suffix)
        names = named(table.column_names)[0]
        chosen = table.select([names.index(name) for name in parsed.columns])
        frame = chosen.to_pandas(types_mapper=pandas.ArrowDtype, ignore_metadata=True)
        return of_rows(frame, self.rows).set_axis(parsed.columns, axis=1)


def read_arrow(path: Path, wanted: Wanted) -> Data:
    """Read a Parquet, Feather or Arrow file: strings become categories; an index of pandas is no feature."""
    pandas = library("pandas", path.suffix)
    stamp, table = stamp_of(path), _arrow_table(path)
    frame = table.to_pandas(strings_to_categorical=True, date_as_object=False)
    for field in table.schema:  # types that pandas turns into objects or, beside missing entries, into floats
        kind, name = str(field.type), field.name
        if kind == "bool" and frame[name].dtype == object:
            frame[name] = frame[name].astype("category")
        elif kind == "null" or kind.startswith("decimal"):
            frame[name] = frame[name].astype("float64")
        elif kind in _LARGEST and frame[name].dtype == float and frame[name].abs().max() > EXACT:
            frame[name] = pandas.array(table[name].to_pylist(), dtype=_LARGEST[kind])
    data, rows = frame_data(frame.set_axis([str(name) for name in frame.columns], axis=1), wanted, pandas)
    return data.stored_as(StoredTable(path, stamp, rows))


def _arrow_table(path: Path) -> Any:
    return _parquet(path) if path.suffix.lower() == ".parquet" else _arrow(path)


def _parquet(path: Path) -> Any:
    parquet = library("pyarrow.parquet", path.suffix)
    with parquet.ParquetFile(path) as file:
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


def _arrow(path: Path) -> Any:
    """Return the table of a Feather or Arrow file: the IPC format of files or of streams."""
    pyarrow, feather, ipc = (library(f"pyarrow{part}", path.suffix) for part in ("", ".feather", ".ipc"))
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


def frame_data(frame: Any, wanted: Wanted, pandas: Any, notes: Sequence[str] = ()) -> tuple[Data, Any]:
    """Turn a DataFrame of numbers, categories and dates into `Data`, and return the rows that have a target."""
    if not len(frame):
        raise DataError("there is no row; give one row for each sample")
    names, more = named(list(frame.columns))
    check_names(names)
    frame = frame.set_axis(names, axis=1)
    features, outputs = wanted.split(names)
    columns = {name: _target_values(frame[name], pandas) for name in outputs}
    X = _checked_types(frame[features], pandas)
    y, target, rows, left_out = wanted.outputs(columns, len(frame))
    data = Data(of_rows(X, rows), y, features, target=target, notes=(*notes, *more, *left_out))
    return data, rows


def _target_values(column: Any, pandas: Any) -> Any:
    """Return a column of a frame as an array of numbers or objects."""
    if pandas.api.types.is_numeric_dtype(column) and not hasattr(column.array, "_mask"):
        return column.to_numpy()
    if pandas.api.types.is_float_dtype(column):
        return column.to_numpy("float64", na_value=float("nan"))
    return column.astype(object).to_numpy()


def _checked_types(frame: Any, pandas: Any) -> Any:
    """Return the frame, times with a zone in UTC; refuse columns that are neither numbers nor categories nor dates."""
    zoned, types = {}, pandas.api.types
    for name, dtype in frame.dtypes.items():
        is_text = isinstance(dtype, pandas.CategoricalDtype) or types.is_string_dtype(frame[name])
        is_time = types.infer_dtype(frame[name]).startswith(("date", "time"))
        if isinstance(dtype, pandas.DatetimeTZDtype):
            zoned[name] = frame[name].dt.tz_convert("UTC").dt.tz_localize(None)
        elif dtype.kind == "c" or not (is_text or is_time or types.is_numeric_dtype(dtype)):
            raise DataError(f"column {for_message(name)} is of type {dtype}; drop it or convert it to numbers")
    return frame.assign(**zoned) if zoned else frame


def read_excel(path: Path, wanted: Wanted) -> Data:
    """Read the first sheet by the rules of CSV files: names in the first row, a sample in each row with entries."""
    pandas, _ = library("pandas", path.suffix), library("openpyxl", path.suffix)
    with ZipFile(path) as archive:
        check_expansion(path, sum(part.file_size for part in archive.infolist()))
    with pandas.ExcelFile(path, engine="openpyxl") as book:
        sheets = book.sheet_names
        cells = book.parse(0, header=None, na_values=sorted(MISSING_MARKS), dtype=object)
    rows = cells.iloc[1:].dropna(how="all").reset_index(drop=True)
    if not len(rows):
        raise DataError("there is no row; give one row for each sample below a row of names")
    names = ["" if pandas.isna(name) else str(name).strip() for name in cells.iloc[0]]
    empty = [not name and (j == 0 or rows[j].isna().all()) for j, name in enumerate(names)]
    places = [j for j in range(len(names)) if not empty[j]]
    columns = [_typed_cells(rows[j], pandas) for j in places]
    frame = pandas.concat(columns, axis=1).set_axis([names[j] for j in places], axis=1)
    notes = [f"read the first of {len(sheets)} sheets, {for_message(sheets[0])}"] if len(sheets) > 1 else []
    return frame_data(frame, wanted, pandas, notes)[0]


def _typed_cells(column: Any, pandas: Any) -> Any:
    """Return a column of cells as numbers, booleans, dates or categories, whichever holds them all."""
    observed = column[[not (isinstance(cell, str) and is_mark(cell.strip())) for cell in column]]
    kind = pandas.api.types.infer_dtype(observed)
    if kind == "integer" and (observed.notna().sum() == len(column) or observed.abs().max() > EXACT):
        cells = observed.reindex(column.index)
        return pandas.Series(whole_numbers(cells.where(cells.notna(), None).tolist(), pandas))
    if kind in ("integer", "floating", "mixed-integer-float", "empty"):
        return observed.astype("float64").reindex(column.index)
    if kind.startswith(("date", "time")):
        return observed.reindex(column.index)
    if kind == "boolean" and not column.isna().any():
        return column.astype(bool)
    return column.map(lambda cell: str(cell).strip(), na_action="ignore").astype("category")


def read_arff(path: Path, wanted: Wanted) -> Data:
    """Read a table whose attributes are numbers, nominal or strings; the last two become categories."""
    arff, pandas = library("arff", path.suffix), library("pandas", path.suffix)
    encoding, notes = text_encoding(path)
    with path.open(encoding=encoding) as text:
        content = arff.load(text)
    names = [str(name) for name, _ in content["attributes"]]
    check_names(names)
    if not content["data"]:
        raise DataError("there is no row; give one row for each sample after @data")
    columns = {}
    for (name, kind), values in zip(content["attributes"], zip(*content["data"], strict=True), strict=True):
        is_number = isinstance(kind, str) and kind in {"NUMERIC", "REAL", "INTEGER"}
        columns[str(name)] = pandas.Series(values, dtype="float64") if is_number else pandas.Categorical(values)
    return frame_data(pandas.DataFrame(columns), wanted, pandas, notes)[0]
