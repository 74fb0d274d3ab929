"""Results as plain data, of the schema "bahsic/1": what every reader of them may rely on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bahsic.data.roles import LEFT_OUT
from bahsic.report.headline import Outcome, outcome_of

SCHEMA = "bahsic/1"

_PARTS = ("input", "parameters", "selected", "n_features", "reason", "ranking", "path")

# Entries that results of earlier versions may lack.
_DEFAULTS: dict[str, Any] = {
    **dict.fromkeys(("n_folds", "predicts", "redundancy", "pair", "stability", "test", "block_size")),
    **dict.fromkeys(("leaks", "columns", "views", "near_copies", "interactions", "kept"), ()),
    "criterion": "hsic",
    "score": None,
    "score_name": None,
    "n_judged": None,
}


def checked(result: Any) -> dict[str, Any]:
    """Return a result of a selection with all its entries, or raise if it is none.

    Examples
    --------
    >>> checked({"schema": "bahsic/2"})
    Traceback (most recent call last):
    ValueError: result has schema 'bahsic/2'; accepted: 'bahsic/1'
    """
    if not isinstance(result, Mapping):
        raise TypeError(f"result is of type {type(result).__name__}; accepted: a mapping such as a result file holds")
    if result.get("schema") != SCHEMA:
        raise ValueError(f"result has schema {result.get('schema')!r}; accepted: {SCHEMA!r}")
    if result.get("kind", "select") != "select":
        raise ValueError(f"result is of kind {result['kind']!r}; accepted: 'select', the result of a selection")
    missing = [part for part in _PARTS if part not in result]
    if missing:
        raise ValueError(f"result has no {missing[0]!r}; accepted: a result with {', '.join(_PARTS)}")
    if not result["ranking"]:
        raise ValueError("result has an empty ranking; accepted: at least one feature")
    complete = {**_DEFAULTS, **result}
    if complete["predicts"] is False and complete["selected"]:  # of earlier versions
        unselected = [{**row, "selected": False} for row in complete["ranking"]]
        complete |= {"kept": complete["selected"], "selected": [], "n_features": 0, "ranking": unselected}
    return complete


def candidates(result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the entries of the ranking for features that took part in the selection."""
    left_out = {column["name"] for column in result.get("columns") or () if column["role"] in LEFT_OUT}
    return [row for row in result["ranking"] if row["feature"] not in left_out or row.get("selected")]


def n_candidates(result: Mapping[str, Any]) -> int:
    """Return the number of features that took part in the selection."""
    left_out = sum(column["role"] in LEFT_OUT for column in result["columns"])
    return int(result["input"].get("n_features", len(result["ranking"]))) - left_out


def outcome_of_result(result: Mapping[str, Any]) -> Outcome:
    """Return the outcome of a checked result."""
    return outcome_of(result, result["path"], result["n_features"], n_candidates(result))
