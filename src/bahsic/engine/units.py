"""Units of selection: single columns, or groups of columns that enter and leave together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bahsic.data.columns import Columns
from bahsic.data.levels import copies

Indices = NDArray[np.intp]


class Units:
    """Units of a search, which enter or leave as a whole: single columns, or groups of columns.

    Parameters
    ----------
    columns : Columns
    groups : sequence of arrays of int, optional
        The columns of each unit; by default each column is a unit.
    """

    def __init__(self, columns: Columns, groups: Sequence[Indices] | None = None) -> None:
        self.groups = groups
        self.representatives = _representatives(copies(columns), groups)
        self._distinct = bool((self.representatives == np.arange(len(self.representatives))).all())

    @property
    def are_columns(self) -> bool:
        """Whether each unit is the column of the same number."""
        return self.groups is None

    def first_copies(self, units: Indices) -> Indices:
        """For each of some units, the position of the first one among them with the same columns."""
        if self._distinct:
            return np.arange(len(units))
        _, first, inverse = np.unique(self.representatives[units], return_index=True, return_inverse=True)
        return np.asarray(first[inverse])

    def columns(self, units: Indices) -> Indices:
        """The columns of some units, in increasing order."""
        if self.groups is None:
            return np.sort(units)
        parts = [self.groups[unit] for unit in units]
        return np.sort(np.concatenate([np.empty(0, dtype=np.intp), *parts]))

    def size(self, units: Indices) -> int:
        """Number of columns of some units."""
        return len(units) if self.groups is None else sum(len(self.groups[unit]) for unit in units)

    def each(self, units: Indices) -> list[Indices]:
        """The columns of each unit."""
        return [units[i : i + 1] if self.groups is None else self.groups[unit] for i, unit in enumerate(units)]

    def single(self, units: Indices) -> NDArray[np.bool_]:
        """Mask of the units that are single columns."""
        if self.groups is None:
            return np.ones(len(units), dtype=bool)
        return np.array([len(self.groups[unit]) == 1 for unit in units], dtype=bool)


def _representatives(first: Indices, groups: Sequence[Indices] | None) -> Indices:
    """For each unit the first unit with the same columns, or with copies of them."""
    if groups is None:
        return first
    known: dict[tuple[int, ...], int] = {}
    keys = [tuple(sorted(first[group].tolist())) for group in groups]
    return np.array([known.setdefault(key, unit) for unit, key in enumerate(keys)], dtype=np.intp)
