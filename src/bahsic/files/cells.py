"""Meaning of single cells of text: marks of missing values, numbers as people write them, dates."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import NamedTuple

# Marks that are missing values in every column: those of pandas, and marks that no category is called by.
_MARKS_OF_PANDAS = (
    *("NA", "N/A", "n/a", "<NA>", "#N/A", "#N/A N/A", "#NA", "NULL", "null", "None"),
    *("NaN", "nan", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)
MISSING_MARKS = frozenset([*_MARKS_OF_PANDAS, "?", r"\N", "#DIV/0!", "#NAME?", "#NUM!", "#REF!", "#VALUE!"])

# Marks, in small letters, that are missing values among numbers or dates, and categories among other text.
_MARKS_AMONG_NUMBERS = frozenset(
    [
        *("-", "--", "---", "\N{EN DASH}", "\N{EM DASH}", ".", "..", "...", "*", "**"),
        *("na", "n/a", "n.a.", "n.a", "n/d", "nd", "nan", "nil", "none", "null", "tbd"),
        *("missing", "unknown", "undefined", "not available", "not applicable", "no data"),
    ]
)

_PLAIN = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?inf(?:inity)?", re.IGNORECASE)
_SPACES = "[ \u00a0\u2009\u202f]"  # plain, hard and thin ones, which separate thousands
_MINUS = str.maketrans({"\u2212": "-"})
_SIGNED = re.compile(rf"([-+]?)\s*([$€£¥₹]?)\s*([-+]?)([0-9.,eE{_SPACES[1:-1]}+-]+?)\s*([%$€£¥₹]?)")
_SPACED = re.compile(rf"[0-9]{{1,3}}(?:{_SPACES}[0-9]{{3}})+(?:[.,][0-9]*)?")
_POINT_OF_THOUSANDS = re.compile(r"[1-9][0-9]{0,2}\.[0-9]{3}")
_KINDS = {
    "thousands": re.compile(r"[1-9][0-9]{0,2}(?:(?:,[0-9]{3}){2,}(?:\.[0-9]*)?|,[0-9]{3}\.[0-9]*)"),
    "either": re.compile(r"[1-9][0-9]{0,2},[0-9]{3}"),
    "decimal": re.compile(r"[0-9]*,[0-9]+(?:[eE][-+]?[0-9]+)?"),
    "decimal and points": re.compile(r"[1-9][0-9]{0,2}(?:\.[0-9]{3})+,[0-9]+"),
}
_LIST = re.compile(r"\s*[0-9]+(?:\s*,\s*[0-9]+){2,}\s*")
_DECIMAL_COMMA = re.compile(r"\s*[-+]?[0-9]+,[0-9]+\s*")
_DATE = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:Z|[-+][0-9]{2}:?[0-9]{2})?)?"
)


class Form(NamedTuple):
    """Spelling of one number.

    Attributes
    ----------
    symbol : str
        A percent sign or the sign of a currency; empty without one.
    kind : str
        "whole", "point" (a decimal point), "point or thousands" (as 1.234), "thousands" (commas that separate
        thousands for certain, as in 1,234,567 or 1,234.5), "decimal" (a decimal comma for certain, as 1,5), "decimal
        and points" (as 1.234,5), "either" (as 1,234).
    """

    symbol: str
    kind: str


class Style(NamedTuple):
    """Spelling of all numbers of a column: the symbol of each, and the meaning of commas."""

    symbol: str
    comma: str  # "thousands", "decimal", or empty where there is none


def is_mark(text: str) -> bool:
    """Whether a cell among numbers or dates is a mark of a missing value."""
    return text in MISSING_MARKS or text.lower() in _MARKS_AMONG_NUMBERS


def has_spaces(text: str) -> bool:
    """Whether a number has spaces that separate thousands.

    Examples
    --------
    >>> has_spaces("1 234"), has_spaces("12 %")
    (True, False)
    """
    return re.search(rf"[0-9]{_SPACES}[0-9]", text) is not None


def form_of(text: str) -> Form | None:
    """Form of a number without spaces around it; None if the text is no number.

    Examples
    --------
    >>> form_of("$1,200.50"), form_of("7,5 %"), form_of("1 234"), form_of("red")
    (Form(symbol='$', kind='thousands'), Form(symbol='%', kind='decimal'), Form(symbol='', kind='whole'), None)
    """
    text = text.translate(_MINUS)
    if _PLAIN.fullmatch(text):
        return Form("", _kind(text.lstrip("-+")) or "whole")
    parts = _SIGNED.fullmatch(text)
    if parts is None or (parts[1] and parts[3]) or (parts[2] and parts[5]):
        return None
    body = parts[4]
    if _SPACED.fullmatch(body):
        body = re.sub(_SPACES, "", body)
    kind = _kind(body)
    return None if kind is None else Form(parts[2] or parts[5], kind)


def added(forms: set[Form], texts: Iterable[object]) -> set[Form] | None:
    """The forms, with those of more cells; None as soon as one is no number and no mark."""
    for text in texts:
        if not isinstance(text, str):  # pandas makes True of "True"
            return None
        form = form_of(text.strip())
        if form is not None:
            forms.add(form)
        elif not is_mark(text.strip()):
            return None
    return forms


def _kind(body: str) -> str | None:
    if _PLAIN.fullmatch(body):
        if _POINT_OF_THOUSANDS.fullmatch(body):
            return "point or thousands"
        return "point" if "." in body else "whole"
    return next((kind for kind, pattern in _KINDS.items() if pattern.fullmatch(body)), None)


def decimal_marks(forms: Iterable[Form]) -> set[str]:
    """Decimal marks that some numbers have for certain: a comma, a point, both or none."""
    kinds = {form.kind for form in forms}
    comma, point = kinds & {"decimal", "decimal and points"}, kinds & {"point", "thousands"}
    return ({","} if comma else set()) | ({"."} if point else set())


def style_of(
    forms: Iterable[Form], delimiter: str, decimal_mark: Callable[[], str | None] = lambda: None
) -> Style | None:
    """Style of a column, from the forms of all its numbers.

    Parameters
    ----------
    forms : iterable of Form
        Each form that occurs.
    delimiter : str
        That of the file.
    decimal_mark : callable
        Returns the decimal mark of the other columns of the file, None if it is unknown; called only if the column
        itself does not decide.

    Returns
    -------
    Style or None
        None if there is no number, or if some numbers have a symbol that others have not, so that the column is text.

    Raises
    ------
    ValueError
        If the meaning of commas is ambiguous. The message is one of "decimal commas", "commas and points" and
        "commas".

    Notes
    -----
    Commas separate thousands if an entry cannot be read otherwise (1,234,567 or 1,234.5), or if other entries have a
    decimal point. They are decimal if an entry can be read only so (1,5 or 0,123), which is ambiguous, and refused, in
    a file that is delimited by commas: there "1,5" in quotes may be a list. Where all entries with commas are like
    1,234, they separate thousands in a file that is delimited by commas, as in English; in other files the decimal
    mark of the other columns decides. Without one, commas beside semicolons, which spreadsheets write where the comma
    is decimal, are decimal if all entries have one (read otherwise, all would be 1000 times as large, which changes no
    selection); anything else is refused.

    Examples
    --------
    >>> style_of({form_of("1,234"), form_of("999")}, ","), style_of({form_of("1,234"), form_of("0,5")}, ";")
    (Style(symbol='', comma='thousands'), Style(symbol='', comma='decimal'))
    """
    found = set(forms)
    symbols, kinds = {form.symbol for form in found}, {form.kind for form in found}
    return Style(symbols.pop(), _comma(kinds, delimiter, decimal_mark)) if len(symbols) == 1 else None


def _comma(kinds: set[str], delimiter: str, decimal_mark: Callable[[], str | None]) -> str:
    if kinds & {"decimal", "decimal and points"}:
        points = {"point", "thousands"} | (set() if "decimal and points" in kinds else {"point or thousands"})
        if kinds & points:
            raise ValueError("commas and points")
        if delimiter == ",":
            raise ValueError("decimal commas")
        return "decimal"
    if "either" not in kinds:
        return "thousands" if "thousands" in kinds else ""
    if delimiter == "," or kinds & {"thousands", "point", "point or thousands"}:
        return "thousands"
    mark = decimal_mark() or ("," if delimiter == ";" and kinds == {"either"} else None)
    if mark is None:
        raise ValueError("commas")
    return "decimal" if mark == "," else "thousands"


def number(text: str, style: Style) -> float:
    """Number that a cell of a column in this style means; infinity beyond the largest float64.

    Examples
    --------
    >>> number("-$1,200.50", Style("$", "thousands")), number("1.200,5", Style("", "decimal"))
    (-1200.5, 1200.5)
    """
    plain = re.sub(rf"{_SPACES}|\s|[%$€£¥₹]", "", text.translate(_MINUS))
    if style.comma == "thousands":
        plain = plain.replace(",", "")
    elif style.comma == "decimal":
        plain = plain.replace(".", "").replace(",", ".")
    return float(plain)


def mostly_decimal_commas(texts: Iterable[str]) -> bool:
    """Whether more than half of some texts are numbers with decimal commas, and none is a list of numbers."""
    some = list(texts)
    commas = sum(_DECIMAL_COMMA.fullmatch(text) is not None for text in some)
    return commas > len(some) / 2 and not any(map(_LIST.fullmatch, some))


def dates(texts: Iterable[str]) -> list[datetime | None] | None:
    """Dates and times in ISO format, those with a time zone in UTC; None if any text is neither date nor mark.

    Examples
    --------
    >>> dates(["2024-05-01", "-", "2024-05-01T12:30:00+02:00"])
    [datetime.datetime(2024, 5, 1, 0, 0), None, datetime.datetime(2024, 5, 1, 10, 30)]
    >>> dates(["05/01/2024"])
    """
    found: list[datetime | None] = []
    for text in texts:
        if is_mark(text):
            found.append(None)
        elif _DATE.fullmatch(text):
            try:
                when = datetime.fromisoformat(text)
                found.append(when if when.tzinfo is None else when.astimezone(UTC).replace(tzinfo=None))
            except (ValueError, OverflowError):  # such as the 30th of February
                return None
        else:
            return None
    return found if any(found) else None
