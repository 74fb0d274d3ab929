"""Reader of CSV and TSV, also compressed by gzip."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from bahsic.files.cells import (
    DECIMAL_MARKS,
    MISSING_MARKS,
    SPACED,
    TRANSLATIONS,
    CommasError,
    Form,
    dates,
    form_of,
    is_mark,
    meaning_of_commas,
    mostly_decimal_commas,
    plain_numbers,
)
from bahsic.files.columnar import whole_numbers
from bahsic.files.data import Data, DataError, check_unchanged, library, one_line_errors, stamp_of
from bahsic.files.targets import Wanted, of_rows
from bahsic.files.text import Layout, layout_of
from bahsic.kernels.rows import EXACT
from bahsic.names import first_few, for_message

# Cells that are parsed at once, few enough for the cache of a processor; and rows, for wide tables.
CELLS_AT_ONCE, ROWS_AT_ONCE = 2**13, 8
# Cells of columns that hold more than plain numbers, whose different texts are in memory at once.
TEXTS_AT_ONCE = 2**21
# A column of numbers may have one different entry in so many that is none.
_STRANGE = 20
# Texts that are looked at to tell whether most of a column have decimal commas.
_SAMPLE = 100
# Numbers that float64 spells in another way than people.
_WHOLE, _ZEROS_IN_FRONT = re.compile(r"\s*-?(0|[1-9][0-9]*)\s*"), re.compile(r"\s*[-+]?0[0-9]")


def read_delimited(path: Path, wanted: Wanted, delimiter: str | None = None) -> Data:
    """Read a table of text: columns of numbers become float64, ISO dates datetime64, all others categories.

    What the entries mean is in docs/files.md. The file is read several times, so that memory holds little more than the
    numbers; they are copied only where rows without a target are left out.
    """
    pandas = library("pandas", "".join(path.suffixes[-2:]))
    stamp = stamp_of(path)
    layout = layout_of(path, delimiter)
    features, outputs = wanted.split(list(layout.names))
    with one_line_errors("parsing the cells (look for a quote that is not closed)"):
        table = _Parsed(pandas, layout, [*features, *outputs])  # outputs last, so that X is a view of the others
        columns = {name: table.column(len(features) + k) for k, name in enumerate(outputs)}
        y, target, rows, left_out = wanted.outputs(columns, layout.n_rows)
        X, notes = table.frame(len(features), rows), (*table.all_notes, *left_out)
        return Data(X, y, features, target=target, notes=notes).stored_as(StoredText(layout, stamp, rows))


@dataclass(frozen=True)
class StoredText:
    """Columns of a text file as they stand there."""

    layout: Layout
    stamp: tuple[int, int]
    rows: Any = None

    def cells(self, names: Sequence[str]) -> Iterator[list[str]]:
        """Return the cells of some columns, row by row."""
        check_unchanged(self.layout.path, self.stamp)
        places = [self.layout.names[name] for name in names]
        kept = None if self.rows is None else set(self.rows.tolist())
        with self.layout.opened() as (_, rows):
            for i, row in enumerate(islice(rows, 1, None)):
                if kept is None or i in kept:
                    yield [row[j] for j in places]

    def frame(self, parsed: Any) -> Any:
        """Return a frame of these columns with integers as such, and with text where numbers have zeros in front."""
        for j, cells in enumerate(zip(*self.cells(list(parsed.columns)), strict=True)):
            if (kind := str(parsed.dtypes.iloc[j])) in ("float64", "object"):
                empty = parsed.iloc[:, j].isna().to_numpy()
                if kind == "object" or any(map(_ZEROS_IN_FRONT.match, cells)):
                    text = [None if gap else cell.strip() for cell, gap in zip(cells, empty, strict=True)]
                    parsed.isetitem(j, np.array(text, dtype=object))
                elif all(gap or _WHOLE.fullmatch(cell) for cell, gap in zip(cells, empty, strict=True)):
                    parsed.isetitem(j, parsed.iloc[:, j].astype("Int64" if empty.any() else "int64"))
        return parsed


class _UndecidedError(Exception):
    """The meaning of the commas in a column depends on columns that have not been read."""


class _Parsed:
    """Columns of a file: one block of numbers, and the columns that hold anything else."""

    def __init__(self, pandas: Any, layout: Layout, names: list[str]) -> None:
        self.pandas, self.layout, self.names = pandas, layout, names
        self.numbers = np.empty((layout.n_rows, len(names)))
        self.others: dict[int, Any] = {}  # categories, dates and large integers, by positions
        self.styles: dict[str, list[str]] = {}  # columns by what was decided about the spelling of their numbers
        self.notes: list[str] = []
        self.marks: Counter[str] = Counter()
        self.decimal_marks: set[str] = set()
        self.odd = self._read_numbers()
        self.decided = False  # whether all columns in which the decimal mark is certain have been read
        undecided = self._read_texts(sorted(self.odd))
        self.decided = True
        self._read_texts(undecided)

    def frame(self, n_features: int, rows: Any) -> Any:
        """Return a DataFrame of the first columns, of some rows."""
        frame = self.pandas.DataFrame(self.numbers, columns=self.names, copy=False)
        for j, column in self.others.items():
            frame.isetitem(j, column)
        return of_rows(frame.iloc[:, :n_features], rows)

    def column(self, j: int) -> Any:
        """Return the entries of a column."""
        if j not in self.others:
            return self.numbers[:, j].copy()
        column = self.others[j]
        return column if isinstance(column, np.ndarray) else np.asarray(column, dtype=object)

    @property
    def all_notes(self) -> list[str]:
        """Decisions about the file, one line each."""
        styles = []
        for style, names in self.styles.items():
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            styles.append(f"column{'s' * (len(names) > 1)} {', '.join(map(for_message, names[:3]))}{more}: {style}")
        marks = [f"{for_message(mark)} in {n} cell{'s' * (n > 1)}" for mark, n in self.marks.most_common()]
        missing = [f"treated as missing values: {first_few(marks)}"] if marks else []
        return [*self.layout.notes, *styles, *self.notes, *missing]

    def _chunks(self, positions: Sequence[int]) -> Iterator[tuple[slice, list[tuple[str, ...]]]]:
        """Yield the cells of columns by chunks of rows."""
        n_rows = max(ROWS_AT_ONCE, CELLS_AT_ONCE // self.layout.n_cells)
        places = [self.layout.names[self.names[j]] for j in positions]
        with self.layout.opened() as (_, rows):
            next(rows)  # the header
            for start in range(0, self.layout.n_rows, n_rows):
                cells = list(zip(*islice(rows, n_rows), strict=True))
                yield slice(start, start + len(cells[0])), [cells[place] for place in places]

    def _read_numbers(self) -> set[int]:
        """Parse plain numbers; return the columns that have other entries, or too large integers."""
        odd: set[int] = set()
        marks: dict[int, Counter[str]] = {}
        for rows, columns in self._chunks(range(len(self.names))):
            for j, cells in enumerate(columns):
                if j in odd:
                    continue
                values = plain_numbers(cells)
                if values is None:
                    odd.add(j)
                    continue
                self.numbers[rows, j] = values
                if found := MISSING_MARKS.intersection(cells):
                    marks.setdefault(j, Counter()).update(cell for cell in cells if cell in found)
            largest = np.fmax.reduce(np.abs(self.numbers[rows]), axis=0, initial=0.0)
            odd.update(np.flatnonzero(largest > EXACT).tolist())
        for j in marks.keys() - odd:
            self.marks += marks[j]
        return odd

    def _read_texts(self, positions: list[int]) -> list[int]:
        """Parse columns with other entries than plain numbers; return those whose commas are undecided."""
        undecided, at_once = [], max(1, TEXTS_AT_ONCE // self.layout.n_rows)
        for first in range(0, len(positions), at_once):
            group = positions[first : first + at_once]
            coded = self._coded(group)
            for j in group:
                try:
                    self._read_text(j, *coded.pop(j))
                except _UndecidedError:
                    undecided.append(j)
        return undecided

    def _coded(self, positions: list[int]) -> dict[int, tuple[list[str], Any]]:
        """Return the different texts of columns without spaces around them, and their codes, -1 where there is none."""
        code_of: list[dict[str, int]] = [{"": 0} for _ in positions]
        codes = np.empty((len(positions), self.layout.n_rows), dtype=np.int32)
        for rows, columns in self._chunks(positions):
            for known, coded, cells in zip(code_of, codes, columns, strict=True):
                coded[rows] = [known.setdefault(cell.strip(), len(known)) for cell in cells]
        codes -= 1
        return {j: (list(known)[1:], coded) for j, known, coded in zip(positions, code_of, codes, strict=True)}

    def _read_text(self, j: int, texts: list[str], codes: Any) -> None:
        """Parse a column by its different texts: numbers in a style of their own, dates, or categories."""
        counts = np.bincount(codes + 1, minlength=len(texts) + 1)[1:]
        marks = {text for text in texts if is_mark(text)}
        forms = [None if text in marks else form_of(text) for text in texts]
        strange = [text for text, form in zip(texts, forms, strict=True) if form is None and text not in marks]
        n_entries = len(texts) - len(marks)
        values: Any = None
        if len(strange) <= (max(1, n_entries // _STRANGE) if n_entries >= _STRANGE else 0):
            values = self._numbers_of(j, texts, forms, codes, certain=not strange)
        if values is not None and strange:
            n_cells = int(counts[np.isin(texts, strange)].sum())
            self._note(j, strange, f"{n_cells} {'cell is' if n_cells == 1 else 'cells are'} treated as missing")
        if values is None and (found := dates(texts)) is not None:
            values = np.array([*found, None], dtype="datetime64[us]")
        if values is None:
            self._check_numbers_in_text(j, texts, strange, n_entries)
            marks &= MISSING_MARKS
            categories = sorted(set(texts) - marks)
            place = {text: code for code, text in enumerate(categories)}
            places = np.array([*(place.get(text, -1) for text in texts), -1])
            self.others[j] = self.pandas.Categorical.from_codes(places[codes], categories)
        elif values.dtype == np.float64:
            self.numbers[:, j] = values[codes]  # the code -1 is the last one, missing
        else:
            self.others[j] = values[codes]
        self.marks.update({text: int(count) for text, count in zip(texts, counts, strict=True) if text in marks})

    def _numbers_of(self, j: int, texts: list[str], forms: list[Form | None], codes: Any, *, certain: bool) -> Any:
        """Return the number that each text means, and NaN behind; None if they have no common style."""
        found = {form for form in forms if form is not None}
        symbols, kinds = {symbol for symbol, _ in found}, {kind for _, kind in found}
        if certain:
            self.decimal_marks |= {DECIMAL_MARKS[kind] for kind in kinds & DECIMAL_MARKS.keys()}
        if len(symbols) != 1:
            return None
        try:
            commas = meaning_of_commas(kinds, self.layout.delimiter, self._decimal_mark)
        except CommasError as error:
            if certain:
                raise self._ambiguous(j, texts, *error.args) from None
            return None
        self._note_style(j, symbols.pop(), commas, spaced=any(map(SPACED.search, texts)))
        plain_texts = [form and text.translate(TRANSLATIONS[commas]) for text, form in zip(texts, forms, strict=True)]
        values = np.array([*(np.nan if text is None else float(text) for text in plain_texts), np.nan])
        huge = [code for code in np.flatnonzero(np.isinf(values)).tolist() if forms[code] != ("", "infinite")]
        if huge:
            row = int(np.argmax(np.isin(codes, huge)))
            self.notes.append(
                f"column {for_message(self.names[j])}: {texts[codes[row]][:20]} in row {row}, counted from 0, is "
                "beyond the largest number and read as infinite"
            )
        return self._whole(plain_texts, values) if kinds == {"whole"} and np.nanmax(np.abs(values)) > EXACT else values

    def _whole(self, texts: list[str | None], values: Any) -> Any:
        """Return whole numbers that float64 rounds as integers; those beyond 64 bits only if some would be the same."""
        try:
            whole = [None if text is None else int(text) for text in texts]
        except ValueError:  # such as 1e30
            return values
        found = whole_numbers([*whole, None], self.pandas)
        return found if found.dtype != object or len(np.unique(values[:-1])) < len(set(whole)) else values

    def _check_numbers_in_text(self, j: int, texts: list[str], strange: list[str], n_entries: int) -> None:
        """Note a column of categories nearly all of which are numbers; refuse it if they have decimal commas."""
        if mostly_decimal_commas(texts[:: max(1, len(texts) // _SAMPLE)]):
            raise self._ambiguous(j, texts, "decimal commas")
        few = max(1, n_entries // 10)
        if 0 < len(strange) <= few < n_entries / 2:
            self._note(j, strange[:1], "all are read as categories", separator=";")

    def _decimal_mark(self) -> str | None:
        """Return the decimal mark of all columns in which it is certain, if it is the same."""
        if not self.decided:
            raise _UndecidedError
        values = self.numbers[:, [j for j in range(len(self.names)) if j not in self.odd]]
        fractions = bool(np.any(np.isfinite(values) & (values != np.round(values))))
        found = self.decimal_marks | ({"."} if fractions else set())
        return found.pop() if len(found) == 1 else None

    def _ambiguous(self, j: int, texts: list[str], what: str, remedy: str = "write points") -> DataError:
        example = for_message(next(text for text in texts if "," in text))
        column = for_message(self.names[j])
        return DataError(f"column {column} has {what}, as in {example}; {remedy}")

    def _note(self, j: int, strange: list[str], what: str, separator: str = ":") -> None:
        named, other = for_message(self.names[j]), for_message(min(strange))
        self.notes.append(f"column {named} has numbers, but also {other}{separator} {what}")

    def _note_style(self, j: int, symbol: str, commas: str, *, spaced: bool) -> None:
        styles = [f"commas {'are decimal' if commas == 'decimal' else 'separate thousands'}"] if commas else []
        styles += [f"read as numbers without {symbol!r}"] if symbol else []
        for style in [*styles, "spaces separate thousands"] if spaced else styles:
            self.styles.setdefault(style, []).append(self.names[j])
