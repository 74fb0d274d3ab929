"""The curve along a path, held-out R2 or HSIC, that pages, pictures and terminals draw."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

_LOGARITHMIC_FROM = 30  # sizes from which on an axis is logarithmic


@dataclass(frozen=True)
class Quantity:
    """Quantity along a path, with the keys of its value and of its standard error in a step."""

    name: str
    key: str
    error_key: str

    @property
    def is_r2(self) -> bool:
        """Whether it measures how well the features predict."""
        return self.key == "predictability"


HSIC = Quantity("HSIC", "hsic", "standard_error")
HELD_OUT = Quantity("held-out R²", "predictability", "predictability_error")
LEAVE_ONE_OUT = replace(HELD_OUT, name="leave-one-out R²")  # of earlier versions


@dataclass(frozen=True)
class Curve:
    """Curve along a path, sizes increasing."""

    quantity: Quantity
    sizes: list[int]
    values: list[float]
    errors: list[float] | None = None  # standard errors of the values
    selected: int = 0  # number of features to be marked; 0 marks none
    n_candidates: int | None = None  # number of all features that took part

    @property
    def is_logarithmic(self) -> bool:
        """Whether the axis of the sizes should be logarithmic."""
        return self.sizes[-1] > _LOGARITHMIC_FROM

    def thinned(self, n_points: int) -> Curve:
        """Return so many points at most, evenly spread along the axis; the selected and the last one stay."""
        if len(self.sizes) <= n_points:
            return self
        at = [math.log(size) if self.is_logarithmic else float(size) for size in self.sizes]
        gap, kept = (at[-1] - at[0]) / max(1, n_points - 3), list[int]()
        for i, size in enumerate(self.sizes):
            if not kept or at[i] - at[kept[-1]] >= gap or size in (self.selected, self.sizes[-1]):
                kept.append(i)
        errors = self.errors and [self.errors[i] for i in kept]
        return replace(self, sizes=[self.sizes[i] for i in kept], values=[self.values[i] for i in kept], errors=errors)


def quantity_of(path: Sequence[Mapping[str, Any]]) -> Quantity | None:
    """Return R2 if all steps of the path have it, else HSIC; None if they have neither."""
    for quantity in (LEAVE_ONE_OUT if path and "score" not in path[0] else HELD_OUT, HSIC):
        if path and all(step.get(quantity.key) is not None for step in path):
            return quantity
    return None


def path_curve(path: Sequence[Mapping[str, Any]], selected: int = 0, n_candidates: int | None = None) -> Curve | None:
    """Return the curve along a path; None if it has measured nothing."""
    quantity = quantity_of(path)
    steps = sorted((step for step in path if step["n_features"] >= 1), key=lambda step: int(step["n_features"]))
    if quantity is None or not steps:
        return None
    sizes, values = [int(step["n_features"]) for step in steps], [step[quantity.key] for step in steps]
    errors: list[Any] = [step.get(quantity.error_key) for step in steps]
    return Curve(quantity, sizes, values, None if None in errors else errors, selected, n_candidates)
