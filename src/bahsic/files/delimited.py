"""Reader of CSV and TSV, also compressed by gzip, by pandas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from bahsic.files.cells import (
    MISSING_MARKS,
    Form,
    Style,
    added,
    dates,
    decimal_marks,
    form_of,
    has_spaces,
    is_mark,
    mostly_decimal_commas,
    number,
    style_of,
)
from bahsic.files.data import (
    Data,
    DataError,
    check_gzip,
    check_names,
    column_position,
    kept_names,
    library,
    library_version,
    one_line_errors,
    target_rows,
)
from bahsic.files.encoding import opened_text
from bahsic.files.layout import Layout, header_of, layout_of, rows_of
from bahsic.names import for_message

# Cells that are parsed at once, and rows: fewer would cost time for each column of a wide table.
_CELLS_AT_ONCE, _ROWS_AT_ONCE = 2**18, 64
# A column of numbers may have one different entry in so many that is none.
_STRANGE = 20

_SAMPLE = 100  # texts that are looked at to tell whether most of a column have decimal commas


def read_delimited(
    path: Path, target: str | int | None = None, delimiter: str | None = None, drop: Sequence[str] = ()
) -> Data:
    """Read a table of text: columns of numbers become float64, ISO dates datetime64, all others categories.

    The file is read several times, so that memory holds little more than the numbers: to find the encoding, to count
    rows and cells, to parse numbers by chunks of rows, and to parse the columns that hold anything else.

    Parameters
    ----------
    path : Path
        .csv or .tsv, also followed by .gz; the first line holds the names. The encoding is UTF-8, or that of a
        byte-order mark, or else Windows-1252. A first column without a name holds labels of rows, which are no
        feature. Other columns without a name are left out if they are empty, else called "column 7" after their
        places.
    target : str or int, optional
        The column that becomes y; rows without an entry in it are left out.
    delimiter : str, optional
        By default a comma, or a tabulator in .tsv; if the header does not have it, the one that fits all rows.
    drop : sequence of str
        Names of columns to leave out.

    Returns
    -------
    Data
        X is a pandas DataFrame; `notes` say what was decided. Memory: 8 bytes a cell, and a few MB.

    Notes
    -----
    Empty cells, the marks that pandas knows (NA, NaN, null, ...) and ``?`` are missing values; marks such as ``-``,
    ``.`` and ``unknown`` are missing if all other entries of the column are numbers or dates, else categories.

    A column is of numbers if all its entries are, also with one percent sign or sign of a currency in all entries
    (12% is read as 12), with separators of thousands, or with decimal commas if the delimiter is another one. For what
    commas mean see `bahsic.files.cells.style_of`. Whole numbers of any length are numbers; one beyond the largest
    float64, such as 1e400, is infinite, which selectors refuse by its row and column.
    """
    pandas = library("pandas", "".join(path.suffixes[-2:]))
    check_gzip(path)
    layout = layout_of(path, delimiter)
    names = list(layout.names.values())
    check_names(path, names)
    kept = set(kept_names(path, names, drop))
    columns = [j for j, name in layout.names.items() if name in kept]
    names = [layout.names[j] for j in columns]
    if target is not None:  # moved to the end, so that X is a view of the columns before it
        columns.append(columns.pop(column_position(path, target, names, len(names))))
    with one_line_errors(path, "parsing the cells (look for a quote that is not closed)"):
        table = _Parsed(pandas, layout, columns)
        if target is None:
            return Data(table.frame(), names=names, source=path, notes=table.notes())
        y, rows, more = target_rows(path, table.target(), layout.names[columns[-1]], layout.n_rows)
        if rows is not None:
            table.keep(rows)
        name, X = layout.names[columns[-1]], table.frame().iloc[:, :-1]
        return Data(X, y, [n for n in names if n != name], target=name, source=path, notes=(*table.notes(), *more))


class _Parsed:
    """Columns of a file: one block of numbers, and the columns that hold anything else.

    Parameters
    ----------
    pandas : module
    layout : Layout
    columns : list of int
        Places of the wanted columns among the cells of a row, in the wanted order.
    """

    def __init__(self, pandas: Any, layout: Layout, columns: list[int]) -> None:
        self.pandas, self.layout, self.columns = pandas, layout, columns
        self.names = [layout.names[j] for j in columns]
        self.values = np.empty((layout.n_rows, len(columns)))
        self.others: dict[int, Any] = {}  # categories and dates, by positions
        self.decided: list[str] = []  # notes
        self.marks: Counter[str] = Counter()
        wanted = set(columns)
        for (j, mark), times in layout.marks.items():
            self.marks[mark] += times if j in wanted else 0
        forms = self._read_numbers()
        styles = self._styles(forms)
        self._read_styled(styles)
        self._read_text([j for j in forms if j not in styles])

    def frame(self) -> Any:
        """DataFrame of the columns in their order."""
        frame = self.pandas.DataFrame(self.values, columns=self.names, copy=False)
        for j, column in self.others.items():
            frame.isetitem(j, column)
        return frame

    def target(self) -> Any:
        """Entries of the last column."""
        last = len(self.columns) - 1
        if last not in self.others:
            return self.values[:, last].copy()  # rows may be moved later
        column = self.others[last]
        return column if isinstance(column, np.ndarray) else np.asarray(column, dtype=object)

    def keep(self, rows: Any) -> None:
        """Keep some rows, given in their order; the numbers are moved in place, as they fill the memory."""
        step = max(1, _CELLS_AT_ONCE // len(self.columns))
        for start in range(0, len(rows), step):
            chosen = rows[start : start + step]
            self.values[start : start + len(chosen)] = self.values[chosen]
        self.values = self.values[: len(rows)]
        self.others = {j: _of_rows(column, rows) for j, column in self.others.items()}

    def notes(self) -> tuple[str, ...]:
        """Decisions about the file, one line each."""
        return (*self.layout.notes, *self.decided, *_marks_note(self.marks))

    def _read_numbers(self) -> dict[int, set[Form] | None]:
        """Parse columns of plain numbers.

        Returns
        -------
        dict of int to set of Form, or None
            The forms of the numbers in each column that has other entries than plain numbers; None for text.
        """
        forms: dict[int, set[Form] | None] = {}
        for start, chunk in self._chunks(range(len(self.columns))):
            stop = start + len(chunk)
            is_plain = np.isin([dtype.kind for dtype in chunk.dtypes.loc[self.columns]], ["i", "u", "f"])
            plain = np.flatnonzero(is_plain)
            self.values[start:stop, plain] = chunk[[self.columns[j] for j in plain]].to_numpy(np.float64)
            for j in np.flatnonzero(~is_plain).tolist():
                self.values[start:stop, j] = np.nan
                if forms.setdefault(j, set()) is not None:
                    forms[j] = added(forms[j] or set(), chunk[self.columns[j]].dropna().unique())
        return forms

    def _styles(self, forms: dict[int, set[Form] | None]) -> dict[int, Style]:
        """Styles of the columns all of whose entries are numbers or marks."""
        numbers = {j: found | self._plain_forms(j) for j, found in forms.items() if found is not None}
        styles = {}
        for j, found in numbers.items():
            try:
                style = style_of(found, self.layout.delimiter, lambda: self._decimal_mark(forms, numbers))
            except ValueError as reason:
                raise self._ambiguous(j, str(reason)) from None
            if style is not None:
                styles[j] = style
        return styles

    def _plain_forms(self, j: int) -> set[Form]:
        """Forms of the numbers of a column that pandas has parsed."""
        column = self.values[:, j]
        plain = column[np.isfinite(column)]
        if not plain.size:
            return set()
        return {Form("", "point" if np.any(plain != np.round(plain)) else "whole")}

    def _decimal_mark(self, odd: Iterable[int], numbers: dict[int, set[Form]]) -> str | None:
        """The decimal mark of all columns in which it is certain, if it is the same."""
        found = {mark for forms in numbers.values() for mark in decimal_marks(forms)}
        plain = set(range(len(self.columns))) - set(odd)
        found |= {"." for j in plain for form in self._plain_forms(j) if form.kind == "point"}
        return found.pop() if len(found) == 1 else None

    def _ambiguous(self, j: int, reason: str) -> DataError:
        text = next(
            (
                text
                for _, chunk in self._chunks([j], dtype=str)
                for text in chunk[self.columns[j]].dropna()
                if "," in text
            ),
            "",
        )
        what, remedy = {
            "commas": ("commas, decimal or of thousands", "write numbers without them"),
            "commas and points": ("decimal commas and points", "write points"),
        }.get(reason, (reason, "write points"))
        column, example = for_message(self.names[j]), for_message(text.strip())
        return DataError(f"{self.layout.path}: column {column} has {what}, as in {example}; {remedy}")

    def _read_styled(self, styles: dict[int, Style]) -> None:
        """Parse columns of numbers that are not plain, or have marks among them."""
        huge: dict[int, tuple[str, int]] = {}
        spaced: set[int] = set()
        for start, chunk in self._chunks(list(styles), dtype=str) if styles else ():
            for j, style in styles.items():
                codes, texts = self.pandas.factorize(chunk[self.columns[j]])
                numbers = np.array([*(self._number(str(text).strip(), style) for text in texts), np.nan])
                self.values[start : start + len(chunk), j] = numbers[codes]  # the code -1 is the last one, missing
                self._count_marks(texts, codes)
                if any(has_spaces(str(text)) for text in texts):
                    spaced.add(j)
                for code in np.flatnonzero(np.isinf(numbers)):
                    if any(character.isdigit() for character in texts[code]):
                        huge.setdefault(j, (texts[code], start + int(np.argmax(codes == code))))
        self.decided += _style_notes(self.names, styles)
        if spaced:
            self.decided.append(f"{_listed([self.names[j] for j in sorted(spaced)])}: spaces separate thousands")
        self.decided += [
            f"column {for_message(self.names[j])}: {text.strip()[:20]} in row {row}, counted from 0, is beyond the "
            "largest number and read as infinite"
            for j, (text, row) in huge.items()
        ]

    def _number(self, text: str, style: Style) -> float:
        return np.nan if is_mark(text) else number(text, style)

    def _count_marks(self, texts: Iterable[Any], codes: Any) -> None:
        marks = {code: str(text).strip() for code, text in enumerate(texts) if is_mark(str(text).strip())}
        for code, mark in marks.items():
            self.marks[mark] += int(np.sum(codes == code))

    def _read_text(self, positions: list[int]) -> None:
        """Parse columns of text: dates, or categories."""
        if not positions:
            return
        with self._read(positions, dtype="category") as table:
            for j in positions:
                column = table[self.columns[j]].array
                # Some versions of pandas turn "True" into True here.
                texts = [str(text).strip() for text in column.categories]
                found, numbers = dates(texts), self._mostly_numbers(j, texts, column.codes)
                if numbers is not None:
                    self.others[j] = numbers
                elif found is None:
                    self.others[j] = self._categories(j, column, texts)
                else:
                    self._count_marks(texts, column.codes)
                    self.others[j] = np.array([*found, None], dtype="datetime64[us]")[column.codes]

    def _mostly_numbers(self, j: int, texts: list[str], codes: Any) -> Any:
        """Numbers of a column in which hardly any entry is none; such entries are missing. None for other columns."""
        entries = [text for text in texts if not is_mark(text)]
        strange = {text for text in entries if form_of(text) is None}
        if not 0 < len(strange) <= max(1, len(entries) // _STRANGE) or len(entries) < _STRANGE:
            return None
        try:
            style = style_of({form_of(text) for text in entries if text not in strange}, self.layout.delimiter)  # type: ignore[misc]
        except ValueError:
            return None
        if style is None:
            return None
        values = [np.nan if text in strange or is_mark(text) else number(text, style) for text in texts]
        n_cells = sum(int(np.sum(codes == code)) for code, text in enumerate(texts) if text in strange)
        self._count_marks(texts, codes)
        self.decided.append(
            f"column {for_message(self.names[j])} has numbers, but also {for_message(min(strange))}: {n_cells} "
            f"{'cell is' if n_cells == 1 else 'cells are'} taken for missing"
        )
        return np.array([*values, np.nan])[codes]

    def _categories(self, j: int, column: Any, texts: list[str]) -> Any:
        """The column with categories without spaces around them, and without those that are marks."""
        self._check_numbers_in_text(j, texts)
        marks = MISSING_MARKS.intersection(texts)
        if not marks and texts == list(column.categories):
            return column
        for code, text in enumerate(texts):
            if text in marks:
                self.marks[text] += int(np.sum(column.codes == code))
        categories = sorted(set(texts) - marks - {""})
        place = {text: code for code, text in enumerate(categories)}
        codes = np.array([*(place.get(text, -1) for text in texts), -1])[column.codes]
        return self.pandas.Categorical.from_codes(codes, categories)

    def _check_numbers_in_text(self, j: int, texts: list[str]) -> None:
        """Note a column of categories nearly all of which are numbers; refuse it if they have decimal commas."""
        if mostly_decimal_commas(texts[:: max(1, len(texts) // _SAMPLE)]):
            raise self._ambiguous(j, "decimal commas")
        entries = [text for text in texts if not is_mark(text)]
        few = max(1, len(entries) // 10)
        strange = list(islice((text for text in entries if form_of(text) is None), few + 1))
        if strange and len(strange) <= few < len(entries) / 2:
            self.decided.append(
                f"column {for_message(self.names[j])} has numbers, but also {for_message(strange[0])}; "
                "all are read as categories"
            )

    def _chunks(self, positions: Iterable[int], **options: Any) -> Iterator[tuple[int, Any]]:
        """Columns by chunks of rows, each with the number of its first row."""
        start, rows_at_once = 0, max(_ROWS_AT_ONCE, _CELLS_AT_ONCE // self.layout.n_cells)
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
    def _read(self, positions: Iterable[int], **options: Any) -> Iterator[Any]:
        """Parse columns with pandas; their names are their places."""
        if library_version(self.pandas) < 3:  # later versions are exact by default
            options["float_precision"] = "round_trip"
        with opened_text(self.layout.path, self.layout.encoding) as text:
            header_of(rows_of(self.layout, text))  # pandas starts after it
            yield self.pandas.read_csv(
                text,
                sep=self.layout.delimiter,
                header=None,
                names=range(self.layout.n_cells),
                usecols=[self.columns[j] for j in positions],
                index_col=False,
                skipinitialspace=self.layout.skips_spaces,
                na_values=sorted(MISSING_MARKS),
                low_memory=False,
                **options,
            )


def _of_rows(column: Any, rows: Any) -> Any:
    chosen = column[rows]
    return chosen if isinstance(chosen, np.ndarray) else chosen.remove_unused_categories()


def _marks_note(marks: Counter[str]) -> list[str]:
    listed = [f"{for_message(mark)} in {times} cell{'s' * (times > 1)}" for mark, times in marks.most_common() if times]
    if not listed:
        return []
    return [f"taken for missing values: {', '.join(listed[:5])}{', ...' if len(listed) > 5 else ''}"]


def _style_notes(names: list[str], styles: dict[int, Style]) -> list[str]:
    """Notes on signs and commas, one for each kind, with the columns that have them."""
    columns: dict[str, list[str]] = {}
    for j, style in styles.items():
        if style.comma:
            meaning = "commas are decimal" if style.comma == "decimal" else "commas separate thousands"
            columns.setdefault(meaning, []).append(names[j])
        if style.symbol:
            columns.setdefault(f"read as numbers without {style.symbol!r}", []).append(names[j])
    return [f"{_listed(named)}: {what}" for what, named in columns.items()]


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"column{'s' * (len(names) > 1)} {', '.join(map(for_message, names[:3]))}{more}"
