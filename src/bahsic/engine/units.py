"""Units of a search: columns or groups, which enter and leave as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bahsic.arrays import Indices, Mask


@dataclass(frozen=True, eq=False)
class Units:
    """Units of a search: columns, or groups of columns, which enter and leave as a whole."""

    labels: NDArray[Any]  # the name of each unit
    of_columns: Indices  # the unit of each column
    idle: Mask  # units whose columns are constant
    kept: Mask  # units that never leave
    left_out: Mask  # units that take no part
    groups: Sequence[Indices] | None = None  # the columns of each unit that take part; None if each column is a unit

    @classmethod
    def plain(cls, n_columns: int, groups: Sequence[Indices] | None = None) -> Units:
        """Return units that all take part: columns, or the given groups of them."""
        of_columns = np.arange(n_columns)
        for unit, group in enumerate(groups or ()):
            of_columns[group] = unit
        nowhere = np.zeros(n_columns if groups is None else len(groups), dtype=bool)
        return cls(np.arange(len(nowhere)), of_columns, nowhere, nowhere, nowhere, groups)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def name(self) -> str:
        """The word for the units."""
        return "features" if self.groups is None else "groups"

    @property
    def n_used(self) -> int:
        """Number of units that take part."""
        return int(np.count_nonzero(~self.left_out))

    @property
    def n_kept(self) -> int:
        """Number of units that never leave."""
        return int(np.count_nonzero(self.kept))

    def each(self, units: Indices) -> list[Indices]:
        """Return the columns of each of some units."""
        return [units[i : i + 1] if self.groups is None else self.groups[unit] for i, unit in enumerate(units)]

    def columns(self, units: Indices) -> Indices:
        """Return the columns of some units, in increasing order."""
        if self.groups is None:
            return np.sort(units)
        return np.sort(np.concatenate([units[:0], *self.each(units)]))

    def members(self, units: Indices) -> Indices:
        """Return the columns of some units in their order, with those that take no part."""
        if self.groups is None:
            return units
        return np.concatenate([units[:0], *(np.flatnonzero(self.of_columns == unit) for unit in units)])

    def representatives(self, copies: Indices) -> Indices:
        """Return for each unit the first one with the same columns, given the first copy of each column."""
        if self.groups is None:
            return copies
        known: dict[tuple[int, ...], int] = {}
        keys = [tuple(sorted(copies[group].tolist())) for group in self.groups]
        return np.array([known.setdefault(key, unit) for unit, key in enumerate(keys)], dtype=np.intp)
