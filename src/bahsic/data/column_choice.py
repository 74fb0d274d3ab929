"""Columns and groups of columns that a user names: by names, numbers or a mask."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bahsic.arrays import Mask
from bahsic.kernels.rows import Array
from bahsic.names import first_few

Names = NDArray[np.object_] | None


def column_mask(columns: Any, n_features: int, names: Names, argument: str) -> Mask:
    """Return the given columns as a mask."""
    mask = np.zeros(n_features, dtype=bool)
    if columns is not None:
        mask[column_positions(columns, n_features, names, argument)] = True
    return mask


def column_positions(columns: Any, n_features: int, names: Names, argument: str) -> list[int]:
    """Return positions of the given columns, in the given order; see `column_mask`."""
    entries: list[Any] = [columns] if isinstance(columns, str | Integral) else _listed(columns, argument)
    if entries and all(isinstance(entry, bool | np.bool_) for entry in entries):
        if len(entries) != n_features:
            raise ValueError(f"{argument} is a mask of {len(entries)} columns; accepted: a mask of {n_features}")
        return [j for j, chosen in enumerate(entries) if chosen]
    by_name = any(isinstance(entry, str) for entry in entries)
    position = {column: j for j, column in enumerate(names if by_name and names is not None else range(n_features))}
    for entry in entries:
        if not isinstance(entry, str | Integral) or isinstance(entry, bool) or entry not in position:
            known = first_few(list(map(repr, list(position)[:11])), 10)
            raise ValueError(
                f"{argument} has {entry!r}, which is not a column; accepted: a mask, or columns among {known}"
            )
    return [position[entry] for entry in entries]


def group_of_columns(feature_groups: Any, n_features: int, names: Names) -> tuple[NDArray[np.intp], Array]:
    """Return the number of the group that each column belongs to, alone where none is given, and the groups' labels."""
    label_of = _labels_of_columns(feature_groups, n_features, names)
    labels = list(dict.fromkeys(label_of))
    number = {label: position for position, label in enumerate(labels)}
    integers = all(isinstance(label, Integral) for label in labels)
    return np.array([number[label] for label in label_of]), np.array(labels) if integers else as_objects(labels)


def _listed(values: Any, argument: str) -> list[Any]:
    entries = values.tolist() if hasattr(values, "tolist") else values
    if isinstance(entries, str) or not isinstance(entries, Iterable):
        raise TypeError(f"{argument} is {values!r}; accepted: a list or an array")
    return list(entries)


def _labels_of_columns(feature_groups: Any, n_features: int, names: Names) -> list[Any]:
    own = list(range(n_features) if names is None else names)
    if feature_groups is None:
        return own
    if isinstance(feature_groups, Mapping):
        return _labels_of_members(feature_groups, own, names)
    entries = _listed(feature_groups, "feature_groups")
    if any(isinstance(entry, Iterable) and not isinstance(entry, str) for entry in entries):
        return _labels_of_members({f"group {i}": columns for i, columns in enumerate(entries)}, own, names)
    for entry in entries:
        if not isinstance(entry, str | Integral) or isinstance(entry, bool):
            raise TypeError(f"feature_groups has the label {entry!r}; accepted: integers, strings, or lists of columns")
    if len(entries) != n_features:
        raise ValueError(f"feature_groups has {len(entries)} labels; accepted: one for each of {n_features} columns")
    return entries


def _labels_of_members(members: Mapping[Any, Any], own: list[Any], names: Names) -> list[Any]:
    label_of: dict[int, Any] = {}
    for label, columns in members.items():
        positions = column_positions(columns, len(own), names, "feature_groups")
        if not positions:
            raise ValueError(f"feature_groups has no column in {label!r}; accepted: one or more in each group")
        for j in positions:
            if j in label_of:
                raise ValueError(f"feature_groups has column {own[j]!r} twice: in {label_of[j]!r} and {label!r}")
            label_of[j] = label
    for j, name in enumerate(own):
        if name in members and j not in label_of:
            raise ValueError(f"feature_groups has the label {name!r}, which is a column in none of the groups")
    return [label_of.get(j, name) for j, name in enumerate(own)]


def as_objects(values: list[Any]) -> Array:
    """One-dimensional array of objects, also where the values are sequences."""
    return np.fromiter(values, dtype=object, count=len(values))
