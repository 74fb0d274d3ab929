"""Roles of the columns of a table: numbers, categories, dates, or left out because they only name the samples."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bahsic.kernels.rows import Array

# Rows from which on a column can be said to only name them.
_FEWEST_ROWS = 20

# Names of columns that name the rows: id, ID, user_id, PassengerId, uuid, index.
_IDENTIFIER_NAMES = re.compile(r"(^|[_\W])(id|uuid|guid|index|rowid)$", re.IGNORECASE), re.compile(r"[a-z]I[dD]$")

# Share of the rows, but at least one row, that differs from the others in a column that hardly varies.
_FEW_ROWS = 0.01

# Roles of columns that take no part in the selection.
LEFT_OUT = ("identifier", "text", "empty")


class ColumnRole(NamedTuple):
    """The use that was made of a column.

    Attributes
    ----------
    name : str
        Of the column; x0, x1, ... where columns have no names.
    role : str
        "number", "category" or "date"; "identifier", "text" or "empty" for a column that is left out; "constant" for
        one that does not vary.
    reason : str
        The reason for the role, and what was done with missing entries, in words.
    """

    name: str
    role: str
    reason: str

    @property
    def left_out(self) -> bool:
        """Whether the column takes no part in the selection."""
        return self.role in LEFT_OUT


def text_role(codes: Array, categories: Array) -> tuple[str, str] | None:
    """Role and reason of a column of strings that are nearly all different, else None.

    Examples
    --------
    >>> names = np.array([f"passenger {i}" for i in range(40)])
    >>> text_role(np.arange(40.0), names)
    ('text', '40 different texts in 40 rows')
    """
    n_observed, n_different = int(np.count_nonzero(~np.isnan(codes))), len(categories)
    if n_different < _FEWEST_ROWS or 2 * n_different <= n_observed or not isinstance(categories[0], str | bytes):
        return None
    spaced = sum(" " in str(text).strip() for text in categories)
    role = "text" if 2 * spaced > n_different else "identifier"
    return role, f"{n_different} different texts in {n_observed} rows"


def number_role(x: Array, name: str | None) -> tuple[str, str] | None:
    """Role and reason of a column of whole numbers that only names the rows, else None.

    They are all different, and count the rows up or down from about zero, also with gaps, or the column is called so.

    Examples
    --------
    >>> number_role(np.arange(1.0, 101.0), None)
    ('identifier', 'counts the rows')
    >>> number_role(np.arange(100.0)[::-1] ** 2, "patient_id")
    ('identifier', 'a different whole number in each row, and its name')
    """
    if len(x) < _FEWEST_ROWS or not np.array_equal(x, np.round(x)):  # NaN differs from itself
        return None
    steps = np.diff(x)
    if ((steps > 0).all() or (steps < 0).all()) and x.min() >= 0 and x.max() <= 2 * len(x):
        return "identifier", "counts the rows"
    called_so = name is not None and any(pattern.search(name) for pattern in _IDENTIFIER_NAMES)
    if called_so and len(np.unique(x)) == len(x):
        return "identifier", "a different whole number in each row, and its name"
    return None


def rare_rows(x: Array) -> NDArray[np.bool_] | None:
    """The rows in which a column that hardly varies has another value than in nearly all rows; None for other columns.

    Examples
    --------
    >>> np.flatnonzero(rare_rows(np.array([5.0] * 30 + [7.0] + [5.0] * 30)))
    array([30])
    """
    if len(x) < _FEWEST_ROWS:
        return None
    usual = np.nanmedian(x)  # the value of more than half of the rows is the median
    rare = ~((x == usual) | np.isnan(x))
    n_rare = np.count_nonzero(rare)
    return rare if 0 < n_rare <= max(1, _FEW_ROWS * len(x)) else None
