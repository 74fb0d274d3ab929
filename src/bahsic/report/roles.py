"""Roles of the columns in a few lines: used, left out, and why."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from bahsic.data.roles import LEFT_OUT

_PLURALS = {"number": "numbers", "category": "categories", "date": "dates"}
_MISSING = re.compile(r"(\d+) missing: (.+)")
_NAMED = 6  # columns named in a line

# What is done with columns of each role.
_TREATMENTS = {
    "category": "any two categories equally unlike",
    "date": "as days, zero mean and unit variance",
    **dict.fromkeys(LEFT_OUT, "left out"),
}

# Words for columns that are left out because of what they contain.
_IDLE = {"constant": "Constant", "copy": "Copies", "uninformative": "Uninformative"}


def role_lines(columns: Sequence[Mapping[str, str]], n_samples: int, remedy: str = "--identifiers use") -> list[str]:
    """Lines on the columns of a result: how many of each kind, those left out, missing entries, and what hardly varies.

    Parameters
    ----------
    columns : sequence of mappings
        With name, role and reason, see `bahsic.data.roles.ColumnRole`.
    n_samples : int
    remedy : str
        The option that takes columns that are left out.

    Returns
    -------
    list of str
        Empty where all columns are complete numbers.

    Examples
    --------
    >>> age = {"name": "age", "role": "number", "reason": "3 missing: neutral"}
    >>> for line in role_lines([age, {"name": "id", "role": "identifier", "reason": "counts the rows"}], 20):
    ...     print(line)
    Columns: 1 number; 1 left out.
    Left out: id (counts the rows); --identifiers use takes them.
    Missing: age 3 of 20 rows; neutral.
    """
    counts = Counter(column["role"] for column in columns)
    left_out = [column for column in columns if column["role"] in LEFT_OUT]
    gaps = [(column["name"], *found.groups()) for column in columns if (found := _MISSING.search(column["reason"]))]
    rare = [
        column for column in columns if "one value in all but" in column["reason"] and column["role"] not in LEFT_OUT
    ]
    if not (left_out or gaps or rare) and set(counts) <= {"number"}:
        return []
    present = [(counts[role], role, plural) for role, plural in _PLURALS.items() if counts[role]]
    kinds = [f"{n} {role if n == 1 else plural}" for n, role, plural in present]
    lines = [f"Columns: {', '.join(kinds)}" + (f"; {len(left_out)} left out." if left_out else ".")]
    names = [column for column in left_out if column["role"] not in _IDLE]
    if names:
        lines.append(f"Left out: {_some(list(map(_with_reason, names)))}; {remedy} takes them.")
    for role, word in _IDLE.items():
        idle = [column for column in left_out if column["role"] == role]
        words = [column["name"] if role == "constant" else _with_reason(column) for column in idle]
        lines += [f"{word}: {_some(words)}."] if idle else []
    if gaps:
        told = _some([f"{name} {n}" for name, n, _ in gaps])
        lines.append(f"Missing: {told} of {n_samples} rows; {gaps[0][2]}.")
    if rare:
        lines.append(f"Hardly varying: {_some([column['name'] for column in rare])} (one value in nearly all rows).")
    return lines


def n_used(result: Mapping[str, Any]) -> int:
    """Number of features of a result that are not left out."""
    left_out = sum(column["role"] in LEFT_OUT for column in result.get("columns") or [])
    return int(result["input"].get("n_features", len(result["ranking"]))) - left_out


def used_rows(result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Entries of the ranking for features that are not left out."""
    left_out = {column["name"] for column in result.get("columns") or [] if column["role"] in LEFT_OUT}
    return [entry for entry in result["ranking"] if entry["feature"] not in left_out or entry.get("selected")]


def treatment(role: str, *, standardized: bool = True) -> str:
    """Treatment of columns of a role, in a few words.

    Examples
    --------
    >>> treatment("number"), treatment("text")
    ('zero mean and unit variance', 'left out')
    """
    number = "zero mean and unit variance" if standardized else "as it is"
    return _TREATMENTS.get(role, number)


def _with_reason(column: Mapping[str, str]) -> str:
    return f"{column['name']} ({column['reason']})"


def _some(items: list[str]) -> str:
    more = f" and {len(items) - _NAMED} more" if len(items) > _NAMED else ""
    return ", ".join(items[:_NAMED]) + more


def role_table(result: Mapping[str, Any]) -> list[Mapping[str, str]]:
    """The columns of a result, those first of which something is to be said; results of before have none."""
    return sorted(result.get("columns") or [], key=lambda column: (column["role"] == "number", not column["reason"]))
