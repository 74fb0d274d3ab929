"""Reader of the first sheet of an Excel workbook, by pandas and openpyxl."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zipfile import ZipFile

from bahsic.files.cells import MISSING_MARKS, is_mark
from bahsic.files.columnar import frame_data, whole_numbers
from bahsic.files.data import Data, DataError, check_expansion, library, one_line_errors
from bahsic.files.targets import Wanted
from bahsic.kernels.rows import EXACT
from bahsic.names import for_message


def read_excel(path: Path, wanted: Wanted) -> Data:
    """Read the first sheet: names in the first row, a sample in each row that is not empty.

    Text becomes categories. As in CSV files, a first column without a name holds labels of rows, and marks such as "NA"
    are missing values. Of a formula, the value that was last computed is read.
    """
    pandas, _ = library("pandas", path.suffix), library("openpyxl", path.suffix)
    with one_line_errors(path, "reading Excel"):
        with ZipFile(path) as archive:
            check_expansion(path, sum(part.file_size for part in archive.infolist()))
        with pandas.ExcelFile(path, engine="openpyxl") as book:
            sheets = book.sheet_names
            cells = book.parse(0, header=None, na_values=sorted(MISSING_MARKS), dtype=object)
        rows = cells.iloc[1:].dropna(how="all").reset_index(drop=True)
        if not len(rows):
            raise DataError(f"{path}: there is no row; give one row for each sample below a row of names")
        names = ["" if pandas.isna(name) else str(name).strip() for name in cells.iloc[0]]
        empty = [not name and (j == 0 or rows[j].isna().all()) for j, name in enumerate(names)]
        places = [j for j in range(len(names)) if not empty[j]]
        columns = [_typed(rows[j], pandas) for j in places]
        frame = pandas.concat(columns, axis=1).set_axis([names[j] for j in places], axis=1)
        notes = [f"read the first of {len(sheets)} sheets, {for_message(sheets[0])}"] if len(sheets) > 1 else []
        return frame_data(path, frame, wanted, pandas, notes)[0]


def _typed(column: Any, pandas: Any) -> Any:
    """Return a column of cells as numbers, booleans, dates or categories, whichever holds them all."""
    observed = column[[not (isinstance(cell, str) and is_mark(cell.strip())) for cell in column]]
    kind = pandas.api.types.infer_dtype(observed, skipna=True)
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
