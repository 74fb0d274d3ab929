"""Results as plain data, of the schema "bahsic/1": what every reader of them may rely on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bahsic.data.entries import LEFT_OUT
from bahsic.report.curve import Curve, path_curve

SCHEMA = "bahsic/1"
SOMETHING = 0.1  # R2 that may be more than chance
LEAST_TOGETHER = 0.01  # R2 from which on two features work together

# Entries that say how well a selection predicts; a selector has them as attributes.
MEASURES = ("predictability", "predictability_error", "score", "score_name", "n_folds", "n_judged", "predicts")

_ENTRIES = (
    *("input", "parameters", "criterion", "block_size", "selected", "kept", "n_features", "reason", *MEASURES),
    *("leaks", "columns", "ranking", "path", "redundancy", "near_copies", "views", "interactions", "pair"),
    *("stability", "test"),
)


def checked(result: Any) -> dict[str, Any]:
    """Return a result of a selection, or raise if it is none."""
    if not isinstance(result, Mapping):
        raise TypeError(f"result is of type {type(result).__name__}; accepted: a mapping such as a result file holds")
    if result.get("schema") != SCHEMA:
        raise ValueError(f"result has schema {result.get('schema')!r}; accepted: {SCHEMA!r}")
    if result.get("kind") != "select":
        raise ValueError(f"result is of kind {result.get('kind')!r}; accepted: 'select', the result of a selection")
    missing = [entry for entry in _ENTRIES if entry not in result]
    if missing:
        raise ValueError(f"result has no {missing[0]!r}; accepted: what `bahsic select --json` prints")
    if not result["ranking"]:
        raise ValueError("result has an empty ranking; accepted: at least one feature")
    return dict(result)


def candidates(result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the entries of the ranking for features that took part in the selection."""
    left_out = {column["name"] for column in result.get("columns", ()) if column["role"] in LEFT_OUT}
    return [row for row in result["ranking"] if row["feature"] not in left_out or row.get("selected")]


def n_candidates(result: Mapping[str, Any]) -> int:
    """Return the number of features that took part in the selection."""
    return sum(column["role"] not in LEFT_OUT for column in result["columns"])


def r2_of(result: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """Return held-out R2 and its standard error: the best on the path where nothing predicts the target."""
    measures = result
    if result["predicts"] is False:
        measures = max(result["path"], key=lambda step: float(step["predictability"]))
    return measures["predictability"], measures["predictability_error"]


def curve_of(result: Mapping[str, Any]) -> Curve | None:
    """Return the curve along the path of a result; None if nothing was measured along it."""
    r2 = None if result["predicts"] is False else result["predictability"]
    return path_curve(result["path"], result["n_features"], r2, n_candidates(result))
