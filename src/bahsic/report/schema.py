"""Results as plain data, of the schema "bahsic/1": what every reader of them may rely on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bahsic.data.entries import LEFT_OUT
from bahsic.report.curve import HELD_OUT, quantity_of
from bahsic.report.svg import shown

SCHEMA = "bahsic/1"
SOMETHING = 0.1  # R2 that may be more than chance

_PARTS = ("input", "parameters", "selected", "n_features", "reason", "ranking", "path")

# Entries that results of earlier versions may lack.
_DEFAULTS: dict[str, Any] = {
    **dict.fromkeys(("n_folds", "predicts", "redundancy", "pair", "stability", "test", "block_size")),
    **dict.fromkeys(("score", "score_name", "n_judged")),
    **dict.fromkeys(("leaks", "columns", "views", "near_copies", "interactions", "kept"), ()),
    "criterion": "hsic",
}

# Entries that say how well a selection predicts; a selector has them as attributes.
MEASURES = ("predictability", "predictability_error", "score", "score_name", "n_folds", "n_judged", "predicts")


def checked(result: Any) -> dict[str, Any]:
    """Return a result of a selection with all its entries, or raise if it is none."""
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


@dataclass(frozen=True)
class Outcome:
    """Numbers that say how well a selection predicts."""

    n_selected: int
    n_candidates: int
    r2: float | None = None  # of the selected features; the best on the path where nothing predicts the target
    error: float | None = None  # its standard error
    r2_all: float | None = None  # of all candidates, where the path has it
    score: float | None = None  # the usual measure (ROC AUC, accuracy, R2) of the same predictions
    score_name: str | None = None
    predicts: bool | None = None  # False where nothing predicts the target, None where the number was fixed
    r2_name: str = HELD_OUT.name
    n_judged: int | None = None  # number of samples that were predicted

    @property
    def nothing(self) -> bool:
        """Whether nothing predicts the target."""
        return self.predicts is False

    @property
    def r2_text(self) -> str:
        """R2 with its standard error, such as "0.70 ± 0.02"; errors below 0.001 are shown as 0.001."""
        digits = ".2f" if self.error is None or self.error >= 0.005 else ".3f"
        band = "" if self.error is None else f" ± {max(self.error, 0.001):{digits}}"
        return f"{shown(self.r2 or 0.0, digits)}{band}"

    @property
    def score_text(self) -> str:
        """The usual measure, such as "ROC AUC 0.97"; empty where it is R2, or where nothing predicts the target."""
        usual = self.score is not None and self.score_name != "R2" and not self.nothing
        return f"{self.score_name} {self.score:.2f}" if usual else ""


def outcome_of(
    measures: Mapping[str, Any], path: Sequence[Mapping[str, Any]], n_selected: int, n_features: int
) -> Outcome:
    """Return the outcome of a selection; results of earlier versions have their measures on the path only."""
    quantity = quantity_of(path)
    steps = {step["n_features"]: step for step in path} if quantity is not None and quantity.is_r2 else {}
    here = measures if "predictability" in measures else steps.get(n_selected, {})
    if measures.get("predicts") is False:
        here = max(steps.values(), key=lambda step: float(step["predictability"]), default=measures)
    return Outcome(
        n_selected,
        n_features,
        r2=here.get("predictability"),
        error=here.get("predictability_error"),
        r2_all=steps.get(n_features, {}).get("predictability"),
        **{name: measures.get(name) for name in ("score", "score_name", "predicts", "n_judged")},
        r2_name=quantity.name if quantity is not None and steps else HELD_OUT.name,
    )


def outcome_of_result(result: Mapping[str, Any]) -> Outcome:
    """Return the outcome of a checked result."""
    return outcome_of(result, result["path"], result["n_features"], n_candidates(result))
