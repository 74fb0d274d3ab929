"""Meaning of single cells of text that no library knows: marks of missing values, numbers as people write them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

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

_SPACES = " \u00a0\u2009\u202f"  # plain, hard and thin ones, which separate thousands
_CURRENCY = "$€£¥₹"
_EXPONENT = "(?:[eE][-+]?[0-9]+)?"
_SPACED = rf"[0-9]{{1,3}}(?:[{_SPACES}][0-9]{{3}})+"

# Spellings of a number without sign and symbol. The meaning of commas in the last four: separators of thousands for
# certain, a decimal comma for certain (also with points for thousands), and either.
_KINDS = {
    "whole": rf"[0-9]+{_EXPONENT}|{_SPACED}",
    "point_or_thousands": r"[1-9][0-9]{0,2}\.[0-9]{3}",
    "point": rf"[0-9]+\.[0-9]*{_EXPONENT}|\.[0-9]+{_EXPONENT}|{_SPACED}\.[0-9]*",
    "thousands": r"[1-9][0-9]{0,2}(?:(?:,[0-9]{3}){2,}(?:\.[0-9]*)?|,[0-9]{3}\.[0-9]*)",
    "either": r"[1-9][0-9]{0,2},[0-9]{3}",
    "decimal": rf"[0-9]*,[0-9]+{_EXPONENT}|{_SPACED},[0-9]+",
    "decimal_and_points": r"[1-9][0-9]{0,2}(?:\.[0-9]{3})+,[0-9]+",
    "infinite": "inf(?:inity)?",
}
_BODY = "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _KINDS.items())
_NUMBER = re.compile(
    rf"(?=[^%{_CURRENCY}]*([%{_CURRENCY}]?)[^%{_CURRENCY}]*$)"  # one symbol at most, which group 1 holds
    rf"(?:[-+]?\s*[{_CURRENCY}]?\s*|[{_CURRENCY}]\s*[-+])(?:{_BODY})\s*[%{_CURRENCY}]?",
    re.IGNORECASE,
)
_MINUS = {0x2212: "-"}
_UNWRITTEN = dict.fromkeys(map(ord, f"{_SPACES}\t%{_CURRENCY}")) | _MINUS
TRANSLATIONS = {  # of numbers to how Python writes them, for each meaning of commas
    "": _UNWRITTEN,
    "thousands": _UNWRITTEN | {ord(","): None},
    "decimal": _UNWRITTEN | {ord("."): None, ord(","): "."},
}
SPACED = re.compile(rf"[0-9][{_SPACES}][0-9]")  # spaces that separate thousands
_LIST = re.compile(r"\s*[0-9]+(?:\s*,\s*[0-9]+){2,}\s*")
_DECIMAL_COMMA = re.compile(r"\s*[-+]?[0-9]+,[0-9]+\s*")
_DATE = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:Z|[-+][0-9]{2}:?[0-9]{2})?)?"
)

_EMPTY = MISSING_MARKS | {""}

# Kinds of numbers that have a decimal mark for certain.
DECIMAL_MARKS = {"decimal": ",", "decimal_and_points": ",", "point": ".", "thousands": "."}

Form = tuple[str, str]  # the symbol of a number, empty without one, and the kind of its spelling


class CommasError(ValueError):
    """Commas in numbers whose meaning cannot be known: what they are and, unless points help, what to do."""


def is_mark(text: str) -> bool:
    """Return whether a cell among numbers or dates is a mark of a missing value."""
    return text in MISSING_MARKS or text.lower() in _MARKS_AMONG_NUMBERS


def plain_numbers(cells: Sequence[str]) -> NDArray[np.float64] | None:
    """Return cells as numbers, NaN where they are empty or a mark in every column; None if any is something else."""
    together = "".join(cells)
    if "_" in together or not together.isascii():  # which Python takes for numbers
        return None
    try:
        values = np.array([math.nan if cell in _EMPTY else float(cell) for cell in cells])
    except ValueError:
        return None
    gaps = np.flatnonzero(np.isnan(values)).tolist()
    return values if all(cells[i] in _EMPTY for i in gaps) else None


def form_of(text: str) -> Form | None:
    """Return the form of a number without spaces around it, such as ('%', 'decimal') for 7,5 %; None for other text."""
    found = _NUMBER.fullmatch(text.translate(_MINUS))
    return None if found is None else (found[1], str(found.lastgroup))


def meaning_of_commas(kinds: Collection[str], delimiter: str, decimal_mark: Callable[[], str | None]) -> str:
    """Return what commas mean in a column, by the rules of docs/files.md."""
    kinds = set(kinds)
    if kinds & {"decimal", "decimal_and_points"}:
        points = {"point", "thousands"} | (set() if "decimal_and_points" in kinds else {"point_or_thousands"})
        if kinds & points:
            raise CommasError("decimal commas and points")
        if delimiter == ",":  # "1,5" in quotes may be a list
            raise CommasError("decimal commas")
        return "decimal"
    if "either" not in kinds:
        return "thousands" if "thousands" in kinds else ""
    if delimiter == "," or kinds & {"thousands", "point", "point_or_thousands"}:
        return "thousands"
    # Spreadsheets write semicolons where the comma is decimal; 1000 times as large numbers would change no selection.
    mark = decimal_mark() or ("," if delimiter == ";" and kinds == {"either"} else None)
    if mark is None:
        raise CommasError("commas, decimal or of thousands", "write numbers without them")
    return "decimal" if mark == "," else "thousands"


def mostly_decimal_commas(texts: Iterable[str]) -> bool:
    """Return whether more than half of some texts are numbers with decimal commas, and none is a list of numbers."""
    some = list(texts)
    commas = sum(_DECIMAL_COMMA.fullmatch(text) is not None for text in some)
    return commas > len(some) / 2 and not any(map(_LIST.fullmatch, some))


def dates(texts: Iterable[str]) -> list[datetime | None] | None:
    """Return dates and times in ISO format, those with a time zone in UTC; None if a text is neither date nor mark."""
    found: list[datetime | None] = []
    for text in texts:
        if not (is_mark(text) or _DATE.fullmatch(text)):
            return None
        try:
            when = None if is_mark(text) else datetime.fromisoformat(text)
            found.append(when.astimezone(UTC).replace(tzinfo=None) if when and when.tzinfo else when)
        except (ValueError, OverflowError):  # such as the 30th of February, or beyond the year 9999 in UTC
            return None
    return found if any(found) else None
