"""Roles of the columns of a table: numbers, categories, dates, or left out because they look like identifiers."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bahsic.kernels.rows import Array

# Rows from which on a column can look like an identifier.
_FEWEST_ROWS = 20

# Names of identifiers: id, ID, user_id, id_customer, PassengerId, CUSTOMERID, uuid, index.
_IDENTIFIER_NAMES = (
    re.compile(r"(^|[_\W])(id|uuid|guid)([_\W]|$)|^(index|row|rowid|row[ _]?names?)$", re.IGNORECASE),
    re.compile(r"(account|case|customer|order|passenger|patient|person|record|sample|subject|user)id$", re.IGNORECASE),
    re.compile(r"[a-z]I[dD]$"),
)

# Share of the rows of a column with such a name that have to differ from all others.
_NEARLY_ALL = 0.95

# Share of the rows, but at least one row, that differs from the others in a column that hardly varies.
_FEW_ROWS = 0.01

# Roles of columns that take no part in the selection.
LEFT_OUT = ("identifier", "text", "empty", "constant", "uninformative", "copy")


class ColumnRole(NamedTuple):
    """The use that was made of a column.

    Attributes
    ----------
    name : str
        Of the column; x0, x1, ... where columns have no names.
    role : str
        "number", "category" or "date"; or one of those that are left out: "identifier", "text", "empty", "constant",
        "uninformative" (hardly varies, or has many categories or gaps, and tells nothing of the labels by itself)
        or "copy" (tells the same as another column).
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
    """Return role and reason of a column of strings that are nearly all different, else None."""
    n_observed, n_different = int(np.count_nonzero(~np.isnan(codes))), len(categories)
    if n_different < _FEWEST_ROWS or 2 * n_different <= n_observed:
        return None
    if 2 * sum(isinstance(category, str | bytes) for category in categories) < n_different:
        return None
    spaced = sum(" " in str(text).strip() for text in categories)
    role = "text" if 2 * spaced > n_different else "identifier"
    return role, f"{n_different} different texts in {n_observed} rows"


def number_role(x: Array, name: str | None) -> tuple[str, str] | None:
    """Return role and reason of a column of whole numbers that looks like an identifier, else None.

    They count the rows up or down from about zero, or are nearly all different in a column that is called so.
    """
    x = x[~np.isnan(x)]
    if len(x) < _FEWEST_ROWS or not np.array_equal(x, np.round(x)):
        return None
    steps = np.diff(x)
    if ((steps > 0).all() or (steps < 0).all()) and x.min() >= 0 and x.max() <= 2 * len(x):
        return "identifier", "counts the rows"
    called_so = name is not None and any(pattern.search(name) for pattern in _IDENTIFIER_NAMES)
    if called_so and len(np.unique(x)) >= _NEARLY_ALL * len(x):
        return "identifier", "nearly all different whole numbers, and its name"
    return None


def rare_rows(x: Array, weights: Array | None = None, *, missing: bool = False) -> NDArray[np.bool_] | None:
    """Return the rows that differ from nearly all others in a column that hardly varies; None for other columns."""
    w = np.ones(len(x)) if weights is None else weights
    if w.sum() < _FEWEST_ROWS:
        return None
    if missing:
        x = np.nan_to_num(x, nan=np.nanmax(x) + 1.0)
    if np.isnan(x).all():
        return None
    usual = np.nanquantile(x, 0.5, weights=w, method="inverted_cdf")  # the median is the value of more than half
    rare = ~((x == usual) | np.isnan(x))
    n_rare = w[rare].sum()
    return rare if 0 < n_rare <= max(1, _FEW_ROWS * w.sum()) else None
