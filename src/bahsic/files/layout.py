"""First pass over a file of delimited text: encoding, delimiter, header, number of rows, marks of missing values."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

from bahsic.files.cells import MISSING_MARKS
from bahsic.files.data import DataError, named
from bahsic.files.encoding import opened_text, text_encoding


@dataclass
class Layout:
    """Header and size of a file of delimited text.

    Attributes
    ----------
    path : Path
    encoding : str
    delimiter : str
    n_cells : int
        Number of cells of each row.
    n_rows : int
        Without the header and blank lines.
    names : dict of int to str
        For each column that is a feature or the target its place among the cells, and its name.
    marks : Counter of (int, str)
        How often each mark of a missing value occurs in each column.
    notes : list of str
        What was decided about header and columns.
    """

    path: Path
    encoding: str
    delimiter: str
    n_cells: int = 0
    n_rows: int = 0
    names: dict[int, str] = field(default_factory=dict)
    marks: Counter[tuple[int, str]] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    @property
    def skips_spaces(self) -> bool:
        """Whether spaces after a delimiter are no part of the cell."""
        return self.delimiter != " "


def layout_of(path: Path, delimiter: str | None) -> Layout:
    """Layout of a file.

    Parameters
    ----------
    path : Path
    delimiter : str or None
        By default a comma, or a tabulator in .tsv; if the header does not have it, the one of comma, semicolon,
        tabulator and bar with which all rows have as many cells as the header.

    Returns
    -------
    Layout

    Raises
    ------
    DataError
        If rows have different numbers of cells, or if several delimiters are possible.
    """
    encoding, notes = text_encoding(path)
    usual = delimiter or ("\t" if ".tsv" in path.name.lower()[-7:] else ",")
    plain = Layout(path, encoding, usual, notes=notes)
    others = _other_delimiters(plain)
    if not others:
        return _counted(plain)
    if delimiter is not None:
        raise DataError(
            f"{path}: the header has {others[0]!r} but no {usual!r}; say that the delimiter is {others[0]!r}"
        )
    found = _only(path, [_attempt(replace(plain, delimiter=other, notes=[])) for other in others])
    return replace(found, notes=[*notes, f"the delimiter is {found.delimiter!r}, not {usual!r}", *found.notes])


def rows_of(layout: Layout, text: TextIO) -> Any:
    """Reader of the rows of a file; the same rules as pandas has them with `skipinitialspace`."""
    return csv.reader(text, delimiter=layout.delimiter, skipinitialspace=layout.skips_spaces)


def header_of(rows: Iterator[list[str]]) -> list[str]:
    """The first row that is not blank, without spaces around the names unless these make them differ."""
    names = next(_filled(rows), [])
    stripped = [name.strip() for name in names]
    return stripped if len(set(stripped)) == len(set(names)) else names


def _filled(rows: Iterator[list[str]]) -> Iterator[list[str]]:
    """Rows without the blank lines, which pandas leaves out too."""
    return (row for row in rows if len(row) > 1 or (row and row[0].strip()))


def _other_delimiters(layout: Layout) -> list[str]:
    """Delimiters that divide the header, if its own does not."""

    def n_names(delimiter: str) -> int:
        tried = replace(layout, delimiter=delimiter)
        with opened_text(layout.path, layout.encoding) as text, _explained(layout.path, tried, text) as rows:
            return len(next(_filled(rows), []))

    if n_names(layout.delimiter) > 1:
        return []
    return [other for other in ",;\t|" if other != layout.delimiter and n_names(other) > 1]


def _attempt(layout: Layout) -> Layout | DataError:
    try:
        return _counted(layout)
    except DataError as error:
        return error


def _only(path: Path, attempts: list[Layout | DataError]) -> Layout:
    """The one layout that is possible."""
    possible = [layout for layout in attempts if isinstance(layout, Layout)]
    if len(possible) > 1:
        listed = " or ".join(repr(layout.delimiter) for layout in possible)
        raise DataError(
            f"{path}: the delimiter may be {listed}; say that the delimiter is {possible[0].delimiter!r} or the other"
        )
    if not possible:
        raise next(error for error in attempts if isinstance(error, DataError))
    return possible[0]


@contextmanager
def _explained(path: Path, layout: Layout, text: TextIO) -> Iterator[Any]:
    """Rows of a file, whose errors become one line."""
    rows = rows_of(layout, text)
    try:
        yield rows
    except csv.Error as error:
        raise DataError(f"{path}: line {rows.line_num}: {error}; look for a quote that is not closed") from None


def _counted(layout: Layout) -> Layout:
    """The layout with everything that a pass over the rows tells."""
    path = layout.path
    with opened_text(path, layout.encoding) as text, _explained(path, layout, text) as rows:
        names = header_of(rows)
        if not names:
            raise DataError(f"{path}: the file is empty; give one with a header and rows")
        first = next(_filled(rows), None)
        if first is None:
            raise DataError(f"{path}: there is a header but no row; give one row for each sample")
        line = rows.line_num
        n_names = len(names)
        names, notes = _fitted(names, first)
        if len(names) != len(first):
            raise _ragged(path, line, len(first), n_names)
        empty = {j for j, name in enumerate(names) if j and not name}
        n_rows, marks = 0, Counter[tuple[int, str]]()
        for row in chain([first], _filled(rows)):
            if len(row) != len(names):
                raise _ragged(path, rows.line_num, len(row), n_names)
            n_rows += 1
            if not MISSING_MARKS.isdisjoint(row):
                marks.update((j, cell) for j, cell in enumerate(row) if cell in MISSING_MARKS)
            if empty:
                empty = {j for j in empty if not row[j].strip()}
    if len(names) > n_names and n_names not in empty:
        raise _ragged(path, line, len(first), n_names)
    kept, more = _kept_names(names, empty, rows_longer=len(names) > n_names)
    return replace(
        layout,
        n_cells=len(names),
        n_rows=n_rows,
        names=kept,
        marks=marks,
        notes=[*layout.notes, *notes, *more],
    )


def _ragged(path: Path, line: int, n_cells: int, n_names: int) -> DataError:
    return DataError(f"{path}: line {line} has {n_cells} cells, the header {n_names}; correct that line")


def _fitted(names: list[str], first: list[str]) -> tuple[list[str], list[str]]:
    """A name for each cell, if the header or the rows alone end with a delimiter."""
    if len(names) == len(first) + 1 and not names[-1]:
        return names[:-1], ["the header ends with a delimiter, which makes no column"]
    if len(first) == len(names) + 1 and not first[-1].strip():
        return [*names, ""], []
    return names, []


def _kept_names(names: list[str], empty: set[int], *, rows_longer: bool) -> tuple[dict[int, str], list[str]]:
    """Names by places, without row labels and without columns that have neither a name nor entries."""
    last = len(names) - 1
    notes = [f"every row{'' if rows_longer else ', as the header,'} ends with a delimiter, which makes no column"]
    if last not in empty:
        notes = []
    left_out = sorted(empty - {last})
    if left_out:
        places = ", ".join(str(j + 1) for j in left_out[:5]) + (", ..." if len(left_out) > 5 else "")
        what = f"column {places} has" if len(left_out) == 1 else f"columns {places} have"
        notes.append(f"{what} neither a name nor entries; left out")
    # A first column without a name has labels of rows; any name keeps `named` from giving it one.
    full, more = named([name if j not in empty and (j or name) else "-" for j, name in enumerate(names)])
    kept = {j: name for j, name in enumerate(full) if j not in empty and (j or names[0])}
    return kept, notes + more
