"""Reader of CSV and TSV, also compressed by gzip, by pandas."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from bahsic.files.cells import (
    MISSING_MARKS,
    CommasError,
    Form,
    dates,
    decimal_marks,
    form_of,
    has_spaces,
    is_mark,
    meaning_of_commas,
    mostly_decimal_commas,
    plain,
)
from bahsic.files.data import Data, DataError, check_gzip, check_unchanged, library, one_line_errors, stamp_of
from bahsic.files.targets import Wanted
from bahsic.files.text import Layout, filled, layout_of, opened_rows
from bahsic.kernels.rows import EXACT
from bahsic.names import first_few, for_message

# Cells that are parsed at once, and rows: fewer would cost time for each column of a wide table.
CELLS_AT_ONCE, ROWS_AT_ONCE = 2**18, 32
# Cells of columns that hold more than plain numbers, whose different texts are in memory at once.
TEXTS_AT_ONCE = 2**20
# A column of numbers may have one different entry in so many that is none.
_STRANGE = 20
# Texts that are looked at to tell whether most of a column have decimal commas.
_SAMPLE = 100
# Numbers that float64 spells in another way than people.
_WHOLE, _ZEROS_IN_FRONT = re.compile(r"\s*-?(0|[1-9][0-9]*)\s*"), re.compile(r"\s*[-+]?0[0-9]")


def read_delimited(path: Path, wanted: Wanted, delimiter: str | None = None) -> Data:
    """Read a table of text: columns of numbers become float64, ISO dates datetime64, all others categories.

    The file is read several times, so that memory holds little more than the numbers: to find the encoding, to count
    rows and cells, to parse numbers by chunks of rows, and to parse the columns that hold anything else.

    Notes
    -----
    Empty cells, the marks that pandas knows (NA, NaN, null, ...) and ``?`` are missing values; marks such as ``-``,
    ``.`` and ``unknown`` are missing if all other entries of the column are numbers or dates, else categories.

    A column is of numbers if all its entries are, also with one percent sign or sign of a currency in all entries
    (12% is read as 12), with separators of thousands, or with decimal commas if the delimiter is another one. For what
    commas mean see `bahsic.files.cells.meaning_of_commas`. Integers that float64 would round stay integers up to
    2^64, larger ones are rounded; one beyond the largest float64, such as 1e400, is infinite, which selectors refuse
    by its row and column.
    """
    pandas = library("pandas", "".join(path.suffixes[-2:]))
    stamp = stamp_of(path)
    check_gzip(path)
    layout = layout_of(path, delimiter)
    features, outputs = wanted.split(list(layout.names))
    with one_line_errors(path, "parsing the cells (look for a quote that is not closed)"):
        table = _Parsed(pandas, layout, [*features, *outputs])  # outputs last, so that X is a view of the others
        columns = {name: table.column(len(features) + k) for k, name in enumerate(outputs)}
        y, target, rows, left_out = wanted.outputs(columns, layout.n_rows)
        notes = *table.all_notes, *left_out
        X = table.frame(len(features), rows)
        return Data(X, y, features, target=target, source=path, notes=notes).stored_as(StoredText(layout, stamp, rows))


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
        with opened_rows(self.layout) as (_, reader):
            for i, row in enumerate(islice(filled(reader), 1, None)):
                if kept is None or i in kept:
                    yield [row[j] for j in places]

    def frame(self, parsed: Any) -> Any:
        """Return a frame of these columns with integers as such, and with text where numbers have zeros in front."""
        for j, cells in enumerate(zip(*self.cells(list(parsed.columns)), strict=True)):
            if parsed.dtypes.iloc[j] == np.float64:
                empty = parsed.iloc[:, j].isna().to_numpy()
                if any(map(_ZEROS_IN_FRONT.match, cells)):
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
        self.places = [layout.names[name] for name in names]  # among the cells of a row
        self.numbers = np.empty((layout.n_rows, len(names)))
        self.others: dict[int, Any] = {}  # categories, dates and large integers, by positions
        self.styles: dict[str, list[str]] = {}  # columns by what was decided about the spelling of their numbers
        self.notes: list[str] = []
        self.marks: Counter[str] = Counter()
        self.decimal_marks: set[str] = set()
        wanted = set(self.places)
        for (place, mark), times in layout.marks.items():
            self.marks[mark] += times if place in wanted else 0
        odd = self._read_numbers()
        self.is_plain = ~odd
        undecided = self._read_texts(np.flatnonzero(odd).tolist(), self._undecided)
        self._read_texts(undecided, self._decimal_mark)

    def frame(self, n_features: int, rows: Any) -> Any:
        """Return a DataFrame of the first columns, of some rows in their order; the numbers are moved in place."""
        if rows is not None:
            step = max(1, CELLS_AT_ONCE // len(self.names))
            for start in range(0, len(rows), step):
                chosen = rows[start : start + step]
                self.numbers[start : start + len(chosen)] = self.numbers[chosen]
            self.numbers = self.numbers[: len(rows)]
        frame = self.pandas.DataFrame(self.numbers, columns=self.names, copy=False)
        for j, column in self.others.items():
            chosen = column if rows is None else column[rows]
            unused = rows is not None and hasattr(chosen, "remove_unused_categories")
            frame.isetitem(j, chosen.remove_unused_categories() if unused else chosen)
        return frame.iloc[:, :n_features]

    def column(self, j: int) -> Any:
        """Return the entries of a column."""
        if j not in self.others:
            return self.numbers[:, j].copy()  # rows may be moved later
        column = self.others[j]
        return column if isinstance(column, np.ndarray) else np.asarray(column, dtype=object)

    @property
    def all_notes(self) -> list[str]:
        """Decisions about the file, one line each."""
        styles = [f"{_listed(names)}: {what}" for what, names in self.styles.items()]
        marks = [f"{for_message(mark)} in {n} cell{'s' * (n > 1)}" for mark, n in self.marks.most_common() if n]
        missing = [f"taken for missing values: {first_few(marks)}"] if marks else []
        return [*self.layout.notes, *styles, *self.notes, *missing]

    def _read_numbers(self) -> Any:
        """Parse plain numbers; return a mask of the columns that have other entries, or too large integers."""
        odd = np.zeros(len(self.names), dtype=bool)
        for start, chunk in self._chunks(range(len(self.names))):
            odd |= ~np.isin([dtype.kind for dtype in chunk.dtypes.loc[self.places]], ["i", "u", "f"])
            plain = np.flatnonzero(~odd)
            values = chunk[[self.places[j] for j in plain]].to_numpy(np.float64)
            self.numbers[start : start + len(chunk), plain] = values
            odd[plain] |= np.fmax.reduce(np.abs(values), axis=0, initial=0.0) > EXACT
        return odd

    def _read_texts(self, positions: list[int], decimal_mark: Any) -> list[int]:
        """Parse columns with other entries than plain numbers; return those whose commas are undecided."""
        undecided, at_once = [], max(1, TEXTS_AT_ONCE // self.layout.n_rows)
        for first in range(0, len(positions), at_once):
            group = positions[first : first + at_once]
            coded = self._coded(group)
            for j in group:
                try:
                    self._read_text(j, *coded.pop(j), decimal_mark)
                except _UndecidedError:
                    undecided.append(j)
        return undecided

    def _coded(self, positions: list[int]) -> dict[int, tuple[list[str], Any]]:
        """Return the different texts of columns without spaces around them, and their codes, -1 where there is none."""
        code_of: dict[int, dict[str, int]] = {j: {"": -1} for j in positions}
        codes = np.empty((len(positions), self.layout.n_rows), dtype=np.int32)
        for start, chunk in self._chunks(positions, dtype="category"):
            for position, j in enumerate(positions):
                part = chunk[self.places[j]].array
                # Some versions of pandas turn "True" into True here.
                texts = (str(text).strip() for text in part.categories)
                found = [code_of[j].setdefault(text, len(code_of[j]) - 1) for text in texts]
                codes[position, start : start + len(part)] = np.array([*found, -1])[part.codes]
        return {j: (list(code_of.pop(j))[1:], codes[position]) for position, j in enumerate(positions)}

    def _read_text(self, j: int, texts: list[str], codes: Any, decimal_mark: Any) -> None:
        """Parse a column by its different texts: numbers in a style of their own, dates, or categories."""
        counts = np.bincount(codes + 1, minlength=len(texts) + 1)[1:]
        marks = {text for text in texts if is_mark(text)}
        forms = [None if text in marks else form_of(text) for text in texts]
        strange = [text for text, form in zip(texts, forms, strict=True) if form is None and text not in marks]
        n_entries = len(texts) - len(marks)
        values: Any = None
        if len(strange) <= (max(1, n_entries // _STRANGE) if n_entries >= _STRANGE else 0):
            values = self._numbers_of(j, texts, forms, codes, decimal_mark, certain=not strange)
        if values is not None and strange:
            n_cells = int(counts[np.isin(texts, strange)].sum())
            self._note(j, strange, f"{n_cells} {'cell is' if n_cells == 1 else 'cells are'} taken for missing")
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
        for text, count in zip(texts, counts, strict=True) if marks else ():
            self.marks[text] += int(count) if text in marks else 0

    def _numbers_of(
        self, j: int, texts: list[str], forms: list[Form | None], codes: Any, decimal_mark: Any, *, certain: bool
    ) -> Any:
        """Return the number that each text means, and NaN behind; None if they have no common style."""
        found = {form for form in forms if form is not None}
        symbols, kinds = {symbol for symbol, _ in found}, {kind for _, kind in found}
        if certain:
            self.decimal_marks |= decimal_marks(kinds)
        if len(symbols) != 1:
            return None
        try:
            commas = meaning_of_commas(kinds, self.layout.delimiter, decimal_mark)
        except CommasError as error:
            if certain:
                raise self._ambiguous(j, error, texts) from None
            return None
        self._note_style(j, symbols.pop(), commas, spaced=any(map(has_spaces, texts)))
        plain_texts = [form and plain(text, commas) for text, form in zip(texts, forms, strict=True)]
        values = _floats(plain_texts)
        huge = [code for code in np.flatnonzero(np.isinf(values)).tolist() if forms[code] != ("", "infinite")]
        if huge:
            row = int(np.argmax(np.isin(codes, huge)))
            self.notes.append(
                f"column {for_message(self.names[j])}: {texts[codes[row]][:20]} in row {row}, counted from 0, is "
                "beyond the largest number and read as infinite"
            )
        return self._integers(plain_texts) if kinds == {"whole"} and np.nanmax(np.abs(values)) > EXACT else values

    def _integers(self, texts: list[str | None]) -> Any:
        """Return integers that float64 would round as such, if 64 bits hold them."""
        for dtype in ("Int64", "UInt64"):
            try:
                return self.pandas.array([*(None if text is None else int(text) for text in texts), None], dtype=dtype)
            except (ValueError, OverflowError, TypeError):  # such as 1e30
                continue
        return _floats(texts)

    def _check_numbers_in_text(self, j: int, texts: list[str], strange: list[str], n_entries: int) -> None:
        """Note a column of categories nearly all of which are numbers; refuse it if they have decimal commas."""
        if mostly_decimal_commas(texts[:: max(1, len(texts) // _SAMPLE)]):
            raise self._ambiguous(j, CommasError("decimal commas"), texts)
        few = max(1, n_entries // 10)
        if 0 < len(strange) <= few < n_entries / 2:
            self._note(j, strange[:1], "all are read as categories", separator=";")

    def _decimal_mark(self) -> str | None:
        """Return the decimal mark of all columns in which it is certain, if it is the same."""
        values = self.numbers[:, self.is_plain]
        fractions = bool(np.any(np.isfinite(values) & (values != np.round(values))))
        found = self.decimal_marks | ({"."} if fractions else set())
        return found.pop() if len(found) == 1 else None

    def _undecided(self) -> str | None:
        raise _UndecidedError

    def _ambiguous(self, j: int, error: CommasError, texts: list[str]) -> DataError:
        example = for_message(next(text for text in texts if "," in text))
        column = for_message(self.names[j])
        return DataError(f"{self.layout.path}: column {column} has {error.what}, as in {example}; {error.remedy}")

    def _note(self, j: int, strange: list[str], what: str, separator: str = ":") -> None:
        named, other = for_message(self.names[j]), for_message(min(strange))
        self.notes.append(f"column {named} has numbers, but also {other}{separator} {what}")

    def _note_style(self, j: int, symbol: str, commas: str, *, spaced: bool) -> None:
        meaning = "commas are decimal" if commas == "decimal" else "commas separate thousands"
        for applies, what in (
            (commas, meaning),
            (symbol, f"read as numbers without {symbol!r}"),
            (spaced, "spaces separate thousands"),
        ):
            if applies:
                self.styles.setdefault(what, []).append(self.names[j])

    def _chunks(self, positions: Sequence[int], **options: Any) -> Iterator[tuple[int, Any]]:
        """Yield columns by chunks of rows, each with the number of its first row."""
        start, rows_at_once = 0, max(ROWS_AT_ONCE, CELLS_AT_ONCE // self.layout.n_cells)
        with self._read(positions, chunksize=rows_at_once, **options) as chunks:
            for chunk in chunks:
                if start + len(chunk) > self.layout.n_rows:
                    break
                yield start, chunk
                start += len(chunk)
                del chunk  # before the next one is made
        if start != self.layout.n_rows:
            raise DataError(
                f"{self.layout.path}: blank and quoted cells leave the number of rows unclear; "
                "write it without blank lines"
            )

    @contextmanager
    def _read(self, positions: Sequence[int], **options: Any) -> Iterator[Any]:
        """Parse columns with pandas; their names are their places."""
        if int(self.pandas.__version__.partition(".")[0]) < 3:  # later versions are exact by default
            options["float_precision"] = "round_trip"
        with opened_rows(self.layout) as (text, rows):
            next(filled(rows))  # pandas starts after the header
            yield self.pandas.read_csv(
                text,
                sep=self.layout.delimiter,
                header=None,
                names=range(self.layout.n_cells),
                usecols=[self.places[j] for j in positions],
                index_col=False,
                skipinitialspace=self.layout.skips_spaces,
                na_values=sorted(MISSING_MARKS),
                low_memory=False,
                **options,
            )


def _floats(texts: list[str | None]) -> Any:
    return np.array([*(np.nan if text is None else float(text) for text in texts), np.nan])


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"column{'s' * (len(names) > 1)} {', '.join(map(for_message, names[:3]))}{more}"
