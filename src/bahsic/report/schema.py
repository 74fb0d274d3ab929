"""Results as plain data, of the schema "bahsic/1": what all readers may rely on, and the curve that they draw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from bahsic.data.entries import LEFT_OUT

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
_LOGARITHMIC_FROM = 30  # sizes from which on an axis is logarithmic


class Quantity(NamedTuple):
    """Quantity along a path, with the keys of its value and of its standard error in a step."""

    name: str
    key: str
    error_key: str


HSIC = Quantity("HSIC", "hsic", "standard_error")
HELD_OUT = Quantity("held-out R²", "predictability", "predictability_error")


@dataclass(frozen=True)
class Curve:
    """Curve along a path, sizes increasing."""

    quantity: Quantity
    sizes: list[int]
    values: list[float]
    errors: list[float] | None  # standard errors of the values
    selected: int  # number of features to be marked; 0 marks none
    selected_value: float | None  # of the selection itself, which may lack features of the path
    n_candidates: int  # number of all features that took part

    @property
    def is_r2(self) -> bool:
        """Whether it shows how well the features predict."""
        return self.quantity is HELD_OUT

    @property
    def is_logarithmic(self) -> bool:
        """Whether the axis of the sizes should be logarithmic."""
        return self.sizes[-1] > _LOGARITHMIC_FROM

    @property
    def value_of_all(self) -> float | None:
        """R2 of all features, where it is known and they are not all selected."""
        apart = self.is_r2 and self.selected != self.n_candidates == self.sizes[-1]
        return self.values[-1] if apart else None

    def thinned(self, n_points: int) -> Curve:
        """Return so many points at most, evenly spread along the axis; the selected and the last one stay."""
        if len(self.sizes) <= n_points:
            return self
        spaced = np.geomspace if self.is_logarithmic else np.linspace
        wanted = [*spaced(self.sizes[0], self.sizes[-1], n_points - 1), self.selected]
        kept = np.unique(np.searchsorted(self.sizes, np.minimum(wanted, self.sizes[-1]))).tolist()
        errors = self.errors and [self.errors[i] for i in kept]
        return replace(self, sizes=[self.sizes[i] for i in kept], values=[self.values[i] for i in kept], errors=errors)


def curve_of(result: Mapping[str, Any]) -> Curve | None:
    """Return the curve of R2 along the path of a result if all steps have it, else of HSIC; None without either."""
    steps = sorted(
        (step for step in result["path"] if step["n_features"] >= 1), key=lambda step: int(step["n_features"])
    )
    sizes, selected = [int(step["n_features"]) for step in steps], result["n_features"]
    for quantity in (HELD_OUT, HSIC):
        values: list[Any] = [step.get(quantity.key) for step in steps]
        errors: list[Any] = [step.get(quantity.error_key) for step in steps]
        if values and None not in values:
            value = dict(zip(sizes, values, strict=True)).get(selected)
            if quantity is HELD_OUT and result["predicts"] is not False and result["predictability"] is not None:
                value = result["predictability"]
            known_errors = None if None in errors else errors
            return Curve(quantity, sizes, values, known_errors, selected, value, n_candidates(result))
    return None


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
