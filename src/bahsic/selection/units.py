"""Units of a search: columns, or groups of columns that enter and leave together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bahsic.data.column_choice import group_of_columns
from bahsic.parameters import Given, Message, is_count, is_fraction
from bahsic.selection.problem import Problem, is_auto

Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class FeatureUnits:
    """Units of the search: columns, or groups of columns that enter or leave together.

    Attributes
    ----------
    groups, used : list of ndarray of int, or None
        The columns of each unit, and those of them that take part; None where each column is one.
    of_columns : ndarray of int of shape (n_features,)
        The unit of each column.
    labels : ndarray of shape (n_units,)
        Names of the units.
    idle, kept, left_out : ndarray of bool of shape (n_units,)
        Those that say nothing; those that never leave; those that take no part.
    """

    groups: list[Indices] | None
    used: list[Indices] | None
    of_columns: Indices
    labels: NDArray[Any]
    idle: NDArray[np.bool_]
    kept: NDArray[np.bool_]
    left_out: NDArray[np.bool_]

    @property
    def constant(self) -> NDArray[np.bool_]:
        """Mask of the units that say nothing and may leave."""
        return self.idle & ~self.kept

    @property
    def n_used(self) -> int:
        """Number of units that take part."""
        return int(np.count_nonzero(~self.left_out))

    def __len__(self) -> int:
        return len(self.labels)

    def each(self, units: Indices) -> list[Indices]:
        """Return the columns of each of some units."""
        return [units[i : i + 1] if self.groups is None else self.groups[unit] for i, unit in enumerate(units)]

    def size(self, units: Indices) -> int:
        """Return the number of columns of some units."""
        return sum(map(len, self.each(units)))

    def columns(self, units: Indices) -> Indices:
        """Return the columns of some units that take part, in increasing order."""
        if self.used is None:
            return np.sort(units)
        return np.sort(np.concatenate([np.empty(0, dtype=np.intp), *(self.used[unit] for unit in units)]))

    @property
    def name(self) -> str:
        """The word for the units."""
        return "features" if self.groups is None else "groups"


def feature_units(feature_groups: Any, problem: Problem) -> FeatureUnits:
    """Return the units of a problem; a group with a kept column is kept as a whole.

    Columns that take no part are in no unit but those of their own, unless all columns are such.
    """
    constant, kept = problem.data.constant, problem.kept
    d = len(constant)
    without = np.isin(np.arange(d), [*problem.data.table.left_out, *problem.aside])
    idle = constant | without
    without |= constant & (kept | ~idle).any()
    if feature_groups is None:
        return FeatureUnits(None, None, np.arange(d), np.arange(d), constant, kept, without & ~kept)
    of_columns, labels = group_of_columns(feature_groups, d, problem.data.table.names)
    groups = [np.flatnonzero(of_columns == unit) for unit in range(len(labels))]
    whole = np.array([kept[group].any() for group in groups], dtype=bool)
    resting, away = (np.array([mask[group].all() for group in groups], dtype=bool) for mask in (constant, without))
    used = [group if away[unit] else group[~without[group]] for unit, group in enumerate(groups)]
    return FeatureUnits(groups, used, of_columns, labels, resting, whole, away & ~whole)


def checked_number(wanted: Any, units: FeatureUnits) -> int:
    """Number of units to select; all for "auto", which is decided when the search is over."""
    n_kept = int(units.kept.sum())
    n_used = units.n_used
    if n_used == 0:
        raise ValueError(
            Message(
                f"all {units.name} of X are empty or look like identifiers; accepted: at least one other, or ",
                Given("identifiers", "use"),
                " to use the identifiers",
            )
        )
    if wanted is None:
        return max(1, n_kept, n_used // 2)
    if is_auto(wanted):
        return n_used
    if is_count(wanted):
        number = min(int(wanted), n_used)
    elif is_fraction(wanted):
        number = max(1, int(n_used * wanted))
    else:
        raise ValueError(
            f"n_features_to_select is {wanted!r}; accepted: None (half), an int of at least 1, "
            "a float in (0, 1] for a fraction of the features, or 'auto'"
        )
    if number < n_kept:
        what = f" is {wanted!r}, which makes {number} {units.name}, and keep has {n_kept}"
        raise ValueError(Message(Given("n_features_to_select"), what, "; accepted: at least as many as are kept"))
    return number
