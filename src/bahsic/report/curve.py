"""The curve along a path, held-out R2 or HSIC, that pages, pictures and terminals draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

_LOGARITHMIC_FROM = 30  # sizes from which on an axis is logarithmic


@dataclass(frozen=True)
class Quantity:
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
    errors: list[float] | None = None  # standard errors of the values
    selected: int = 0  # number of features to be marked; 0 marks none
    selected_value: float | None = None  # of the selection itself, which may lack features of the path
    n_candidates: int | None = None  # number of all features that took part

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


def path_curve(
    path: Sequence[Mapping[str, Any]], selected: int = 0, r2: float | None = None, n_candidates: int | None = None
) -> Curve | None:
    """Return the curve of R2 along a path if all steps have it, else of HSIC; None if they have neither.

    ``r2`` is that of the selected features.
    """
    steps = sorted((step for step in path if step["n_features"] >= 1), key=lambda step: int(step["n_features"]))
    sizes = [int(step["n_features"]) for step in steps]
    for quantity in (HELD_OUT, HSIC):
        values: list[Any] = [step.get(quantity.key) for step in steps]
        errors: list[Any] = [step.get(quantity.error_key) for step in steps]
        if values and None not in values:
            value = dict(zip(sizes, values, strict=True)).get(selected)
            value = value if r2 is None or quantity is HSIC else r2
            return Curve(quantity, sizes, values, None if None in errors else errors, selected, value, n_candidates)
    return None
