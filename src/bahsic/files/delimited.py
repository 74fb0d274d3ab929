"""Reader of CSV and TSV, also compressed by gzip, by pandas."""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TextIO, cast

import numpy as np

from bahsic.files.data import (
    Data,
    DataError,
    check_gzip,
    check_names,
    column_position,
    kept_names,
    labels,
    library,
    library_version,
    one_line_errors,
)
from bahsic.names import for_message

_CELLS_AT_ONCE = 2**18
_DECIMAL_COMMA = re.compile(r"\s*[-+]?\d+,\d+\s*")


class _Layout(NamedTuple):
    """Header and size of a file, found in the first pass; a column of row labels comes first, with an empty name."""

    names: list[str]
    n_rows: int
    delimiter: str


def read_delimited(
    path: Path, target: str | int | None = None, delimiter: str | None = None, drop: Sequence[str] = ()
) -> Data:
    """Read a table of text: columns of numbers become float64, all others categories.

    The file is read up to three times, so that memory holds little more than the numbers: to count rows and
    cells, to parse numbers by chunks of rows, and to parse the columns that hold anything else.

    Parameters
    ----------
    path : Path
        .csv or .tsv, also followed by .gz, in UTF-8; the first line holds the names. A first column without a name
        holds labels of rows, which are no feature.
    target : str or int, optional
        The column that becomes y.
    delimiter : str, optional
        By default a comma, or a tabulator in .tsv.
    drop : sequence of str
        Names of columns to leave out.

    Returns
    -------
    Data
        X is a pandas DataFrame. Memory: 8 bytes a cell, and a few MB.
    """
    pandas = library("pandas", "".join(path.suffixes[-2:]))
    check_gzip(path)
    layout = _layout(path, delimiter or ("\t" if ".tsv" in path.name.lower()[-7:] else ","))
    features = list(range(layout.names[0] == "", len(layout.names)))
    check_names(path, [layout.names[j] for j in features])
    kept = set(kept_names(path, [layout.names[j] for j in features], drop))
    features = [j for j in features if layout.names[j] in kept]
    names = [layout.names[j] for j in features]
    if target is not None:  # moved to the end, so that X is a view of the columns before it
        features.append(features.pop(column_position(path, target, names, len(names))))
    with one_line_errors(path, "parsing the cells (look for a quote that is not closed)"):
        frame = _frame(pandas, path, layout, features)
    if target is None:
        return Data(frame, names=names, source=path)
    name = layout.names[features[-1]]
    y = labels(path, _plain(frame.iloc[:, -1]), name, len(frame))
    return Data(frame.iloc[:, :-1], y, [n for n in names if n != name], target=name, source=path)


def _opened(path: Path) -> TextIO:
    binary = gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb")  # noqa: SIM115 - closed by the wrapper
    return io.TextIOWrapper(cast("io.BufferedReader", binary), encoding="utf-8-sig", newline="")


def _layout(path: Path, delimiter: str) -> _Layout:
    with _opened(path) as text:
        rows = csv.reader(text, delimiter=delimiter)
        try:
            names = next(_filled(rows), [])
            _check_header(path, names, delimiter)
            return _Layout(names, _n_rows(path, rows, len(names)), delimiter)
        except UnicodeDecodeError:
            place = f"near line {rows.line_num + 1}"
            raise DataError(f"{path}: no text in UTF-8 ({place}); give a text file, saved as UTF-8") from None
        except csv.Error as error:
            raise DataError(f"{path}: line {rows.line_num}: {error}; look for a quote that is not closed") from None


def _filled(rows: Iterator[list[str]]) -> Iterator[list[str]]:
    """Rows without the blank lines, which pandas leaves out too."""
    return (row for row in rows if len(row) > 1 or (row and row[0].strip()))


def _check_header(path: Path, names: list[str], delimiter: str) -> None:
    if not names:
        raise DataError(f"{path}: the file is empty; give one with a header and rows")
    if "\0" in "".join(names):
        raise DataError(f"{path}: no text but binary data; give a text file, or the suffix of its format")
    others = [other for other in ",;\t|" if other != delimiter and other in names[0]]
    if len(names) == 1 and others:
        raise DataError(
            f"{path}: the header has {others[0]!r} but no {delimiter!r}; say that the delimiter is {others[0]!r}"
        )


def _n_rows(path: Path, rows: Any, n_columns: int) -> int:
    n_rows = 0
    for row in _filled(rows):
        if len(row) != n_columns:
            raise DataError(
                f"{path}: line {rows.line_num} has {len(row)} cells, the header {n_columns}; correct that line"
            )
        n_rows += 1
    if n_rows == 0:
        raise DataError(f"{path}: there is a header but no row; give one row for each sample")
    return n_rows


def _frame(pandas: Any, path: Path, layout: _Layout, columns: list[int]) -> Any:
    """Frame of the columns in this order: one block of numbers, into which the categories are put."""
    values, text = _numbers(pandas, path, layout, columns)
    frame = pandas.DataFrame(values, columns=[layout.names[j] for j in columns], copy=False)
    if text:
        used = [columns[j] for j in text]
        categories = _parsed(pandas, path, layout, usecols=used, dtype="category")
        for j in text:
            _check_decimal_commas(path, layout.names[columns[j]], categories[columns[j]].cat.categories)
            # Some versions of pandas turn "True" into True here.
            frame.isetitem(j, categories[columns[j]].cat.rename_categories(str))
    return frame


def _check_decimal_commas(path: Path, name: str, texts: Any) -> None:
    """Refuse numbers with decimal commas, which would silently become categories."""
    some = [str(text) for text in texts[:100]]
    if some and sum(_DECIMAL_COMMA.fullmatch(text) is not None for text in some) > len(some) / 2:
        raise DataError(
            f"{path}: column {for_message(name)} has decimal commas, as in {for_message(some[0])}; write points"
        )


def _numbers(pandas: Any, path: Path, layout: _Layout, columns: list[int]) -> tuple[Any, list[int]]:
    """Array with the numbers, and the positions of the columns that hold anything else."""
    values = np.empty((layout.n_rows, len(columns)))
    is_text, start = np.zeros(len(columns), dtype=bool), 0
    rows_at_once = max(1, _CELLS_AT_ONCE // len(layout.names))
    with _parsed(pandas, path, layout, usecols=columns, chunksize=rows_at_once) as chunks:
        for chunk in chunks:
            kinds = [dtype.kind for dtype in chunk.dtypes.loc[columns]]
            is_text |= ~np.isin(kinds, ["i", "u", "f"])
            stop, numeric = start + len(chunk), np.flatnonzero(~is_text)
            values[start:stop, numeric] = chunk[[columns[j] for j in numeric]].to_numpy(np.float64)
            start = stop
    if start != layout.n_rows:
        raise DataError(
            f"{path}: blank and quoted cells leave the number of rows unclear; write it without blank lines"
        )
    return values, np.flatnonzero(is_text).tolist()


def _parsed(pandas: Any, path: Path, layout: _Layout, **options: Any) -> Any:
    """Parse the file with pandas; the names of the columns are their numbers."""
    if library_version(pandas) < 3:  # later versions are exact by default
        options["float_precision"] = "round_trip"
    every = list(range(len(layout.names)))
    return pandas.read_csv(
        path, sep=layout.delimiter, encoding="utf-8-sig", header=0, names=every, index_col=False, **options
    )


def _plain(column: Any) -> Any:
    return column.astype(object).to_numpy() if column.dtype == "category" else column.to_numpy()
