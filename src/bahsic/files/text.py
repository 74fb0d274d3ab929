"""First pass over a file of delimited text: encoding, delimiter, header, number of rows."""

from __future__ import annotations

import codecs
import csv
import gzip
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from bahsic.files.data import DataError, check_names, named
from bahsic.names import first_few
from bahsic.parameters import Given, Message

BYTES_AT_ONCE = 2**20

# Byte-order marks; the longer ones first, as UTF-32 starts like UTF-16.
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}

# Characters of binary data: NUL, and in text of one byte a character other controls than tabulator, line and page ends.
_END = "\0"  # a last line, which is one cell unless a quote before it is not closed
_NUL, _CONTROLS = re.compile("\0"), re.compile("[\0-\x08\x0e-\x1f]")


@dataclass
class Layout:
    """Header and size of a file of delimited text; the names have the places of their cells in a row."""

    path: Path
    encoding: str
    delimiter: str
    n_cells: int = 0
    n_rows: int = 0
    names: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @contextmanager
    def opened(self) -> Iterator[tuple[Any, Iterator[list[str]]]]:
        """Open the file: the reader of the csv module, and its rows without blank lines, the header first."""
        with _opened(self.path, "rt", encoding=self.encoding, newline="") as text:  # line ends stay as they are
            lines = chain(text, [_END])
            reader = csv.reader(lines, delimiter=self.delimiter, skipinitialspace=self.delimiter != " ")
            try:
                yield reader, _filled(reader)
            except csv.Error as error:
                raise DataError(f"line {reader.line_num}: {error}; look for a quote that is not closed") from None


def _filled(reader: Any) -> Iterator[list[str]]:
    row: list[str] = []
    for row in reader:
        if len(row) > 1 or (row and row[0].strip() and row != [_END]):
            yield row
    if row != [_END]:
        raise csv.Error("the file ends in a cell")


def layout_of(path: Path, delimiter: str | None) -> Layout:
    """Find the layout of a file."""
    encoding, notes = text_encoding(path)
    usual = delimiter or ("\t" if ".tsv" in path.name.lower()[-7:] else ",")
    n_names = {tried: _n_names(Layout(path, encoding, tried)) for tried in dict.fromkeys([usual, *",;\t|"])}
    others = [other for other, count in n_names.items() if count > 1]
    if usual in others or not others:
        return _counted(Layout(path, encoding, usual, notes=notes))
    if delimiter is not None:
        raise DataError(Message(f"the header has {others[0]!r} but no {usual!r}; give ", Given("delimiter", others[0])))
    possible, errors = [], []
    for other in others:
        note = f"the delimiter is {other!r}, not {usual!r}"
        try:
            possible.append(_counted(Layout(path, encoding, other, notes=[*notes, note])))
        except DataError as error:
            errors.append(error)
    if not possible:
        raise errors[0]
    if len(possible) > 1:
        listed = " or ".join(repr(layout.delimiter) for layout in possible)
        given = Given("delimiter", possible[0].delimiter)
        raise DataError(Message(f"the delimiter may be {listed}; give ", given, " or the other"))
    return possible[0]


def _n_names(layout: Layout) -> int:
    with suppress(DataError), layout.opened() as (_, rows):
        return len(next(rows, []))
    return 0  # with a wrong delimiter a wide header is one cell too long


def _counted(layout: Layout) -> Layout:
    """Return the layout with everything that a pass over the rows tells."""
    with layout.opened() as (reader, rows):
        header, first = next(rows, []), next(rows, [])
        if not first:
            what = "there is a header but no row" if header else "the file is empty"
            raise DataError(f"{what}; give a header, and one row for each sample")
        names = [name.strip() for name in header]
        names = names if len(set(names)) == len(set(header)) else header  # spaces may make them differ
        if len(names) == len(first) + 1 and not names[-1]:
            names.pop()
            layout.notes.append("the header ends with a delimiter, which is ignored")
        elif len(first) == len(names) + 1 and not first[-1].strip():
            names.append("")
        empty = {j for j, name in enumerate(names) if j and not name}
        line = reader.line_num
        for row in chain([first], rows):
            if len(row) != len(names) or (len(row) > len(header) and row[-1].strip()):
                line = line if len(row) == len(names) else reader.line_num
                raise DataError(f"line {line} has {len(row)} cells, the header {len(header)}; correct that line")
            layout.n_rows += 1
            if empty:
                empty = {j for j in empty if not row[j].strip()}
    layout.n_cells = len(names)
    _name_columns(layout, names, empty, rows_longer=len(names) > len(header))
    return layout


def _name_columns(layout: Layout, names: list[str], empty: set[int], *, rows_longer: bool) -> None:
    """Name the columns but for row labels and those that have neither a name nor entries."""
    last = len(names) - 1
    if last in empty:
        heading = "" if rows_longer else ", as the header,"
        layout.notes.append(f"every row{heading} ends with a delimiter, which is ignored")
    if left_out := sorted(empty - {last}):
        places = first_few([j + 1 for j in left_out])
        what = f"column {places} has" if len(left_out) == 1 else f"columns {places} have"
        layout.notes.append(f"{what} neither a name nor entries; left out")
    # A first column without a name has labels of rows; any name keeps `named` from giving it one.
    full, notes = named([name if j not in empty and (j or name) else "-" for j, name in enumerate(names)])
    layout.notes += notes
    kept = [j for j in range(len(names)) if j not in empty and (j or names[0])]
    check_names([full[j] for j in kept])
    layout.names = {full[j]: j for j in kept}


def text_encoding(path: Path) -> tuple[str, list[str]]:
    """Return the encoding of the byte-order mark, UTF-8, Windows-1252 or Latin-1, whichever decodes all, and notes."""
    # Guesses by frequencies of letters, as in charset-normalizer, take "temp °C" in Windows-1252 for Chinese.
    with _opened(path) as file:
        start = file.read(4)
    marked = next((encoding for mark, encoding in _BYTE_ORDER_MARKS.items() if start.startswith(mark)), None)
    line = _undecoded_line(path, marked or "utf-8-sig", _NUL)
    if line is None:
        return marked or "utf-8-sig", []
    if marked:
        what = f"not {marked.upper()}, although its byte-order mark says so (near line {line})"
        raise DataError(f"{what}; save it as UTF-8")
    latin = _undecoded_line(path, "cp1252", _CONTROLS) and _undecoded_line(path, "latin-1", _CONTROLS) is None
    encoding, name = ("latin-1", "Latin-1") if latin else ("cp1252", "Windows-1252")
    return encoding, [f"not UTF-8 (line {line}), so read as {name}"]


def _undecoded_line(path: Path, encoding: str, binary: re.Pattern[str]) -> int | None:
    """Return the first line that is not in an encoding, else None; refuse a file with characters of binary data."""
    line = 1
    with _opened(path) as file:
        try:
            for text in codecs.iterdecode(iter(partial(file.read, BYTES_AT_ONCE), b""), encoding):
                if binary.search(text):
                    raise DataError("binary data, not text; give a text file, or the suffix of its format")
                line += text.count("\n") or text.count("\r")
        except UnicodeDecodeError as error:
            before = bytes(error.object[: error.start])
            return line + (before.count(b"\n") or before.count(b"\r"))
    return None


def _opened(path: Path, mode: str = "rb", **options: Any) -> Any:
    return gzip.open(path, mode, **options) if path.suffix.lower() == ".gz" else path.open(mode, **options)
