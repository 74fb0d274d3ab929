"""Columns of a table that become y: one, several outputs, or the time and the event of survival data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

import numpy as np
from scipy import sparse

from bahsic.files.data import Data, DataError, TargetError, chosen, column_position
from bahsic.kernels.rows import EXACT, is_missing
from bahsic.names import for_message, suggestion

_EVENTS = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}


@dataclass(frozen=True)
class Wanted:
    """Columns of a table with names that become y, and those that are left out."""

    targets: Sequence[Any] = ()
    event: str | None = None
    drop: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Refuse columns that are named twice, or dropped as well, and an event without one time."""
        targets, event = self.targets, self.event
        if event is not None and len(targets) != 1:
            count = f"{len(targets)} targets" if targets else "no target"
            raise TargetError(f"event is {for_message(event)}, with {count}; accepted: one target, the time")
        columns = [*targets, *([] if event is None else [event])]
        for name in columns:
            if len(targets) > 1 and not isinstance(name, str):
                raise TargetError(f"{name!r} is among several targets; accepted: names of columns")
            if columns.count(name) > 1:
                raise TargetError(f"{for_message(name)} is given twice as target or event; name different columns")
            if name in self.drop:
                raise TargetError(f"{for_message(name)} is a target or event and also dropped; choose one")

    def split(self, names: Sequence[str]) -> tuple[list[str], list[str]]:
        """Return the names of the features, and of the target and event."""
        left_out = {chosen("column", name, names) for name in self.drop}
        kept = [name for name in names if name not in left_out]
        outputs = [kept[column_position(target, kept, len(kept))] for target in self.targets]
        features = [name for name in kept if name not in outputs]
        if self.event is not None:
            if self.event not in features:
                hint = suggestion(self.event, features)
                raise TargetError(f"no column for the event is called {for_message(self.event)}; {hint}")
            features.remove(self.event)
            outputs.append(self.event)
        return features, outputs

    def outputs(self, columns: dict[str, Any], n_rows: int) -> tuple[Any, Any, Any, list[str]]:
        """Return y, its name or names, the rows that have it (None for all), and notes, given its columns."""
        outputs, rows, notes = observed_targets(columns, n_rows)
        names = list(columns)
        if self.event is not None:
            return self._survival(names[0], outputs), names[0], rows, notes
        if len(outputs) > 1:
            return np.column_stack(outputs), names, rows, notes
        return (outputs[0], names[0], rows, notes) if outputs else (None, None, rows, notes)

    def _survival(self, time: str, outputs: Sequence[Any]) -> Any:
        times, events = outputs
        if times.dtype.kind not in "fiu":
            raise TargetError(f"target {for_message(time)} has no numbers; accepted with an event: times")
        seen = [_EVENTS.get(str(value).lower()) for value in events]
        if None in seen:
            found = f"event {for_message(self.event)} has {for_message(events[seen.index(None)])}"
            raise TargetError(f"{found}; accepted: 0 and 1, or true and false")
        y = np.zeros(len(times), dtype=[(str(self.event), bool), (time, float)])
        y[str(self.event)], y[time] = seen, times
        return y


def observed_targets(columns: dict[str, Any], n_rows: int) -> tuple[list[Any], Any, list[str]]:
    """Return the targets of the rows that have all of them, these rows (None for all), and notes about the others."""
    observed, notes, outputs = np.ones(n_rows, dtype=bool), [], []
    for name, values in columns.items():
        y = np.asarray(values)
        if y.size != n_rows:
            raise DataError(f"target {for_message(name)} has shape {y.shape}; accepted: one value a row ({n_rows})")
        outputs.append(y.reshape(n_rows))
        missing = observed & np.fromiter(map(is_missing, outputs[-1].tolist()), bool, n_rows)
        observed &= ~missing
        if not observed.any():
            raise DataError(f"target {for_message(name)} is missing in all rows; give a column with entries")
        if times := int(missing.sum()):
            notes.append(f"{times} row{'s' * (times > 1)} without a target left out")
    rows = np.flatnonzero(observed) if notes else None
    chosen_rows = slice(None) if rows is None else rows
    return [_typed(y[chosen_rows], name) for name, y in zip(columns, outputs, strict=True)], rows, notes


def with_target(data: Data, values: Any, name: str) -> Data:
    """Return the data with a target, without the rows that have none."""
    (y,), rows, notes = observed_targets({name: values}, data.X.shape[0])
    return replace(data, X=of_rows(data.X, rows), y=y, target=name, notes=(*data.notes, *notes))


def of_rows(X: Any, rows: Any) -> Any:
    """Return some rows of an array, a sparse array or a DataFrame; categories without a row are left out."""
    if rows is None:
        return X
    if not hasattr(X, "iloc"):
        return (X.tocsr() if sparse.issparse(X) else X)[rows]
    frame = X.iloc[rows].reset_index(drop=True)
    for j, dtype in enumerate(frame.dtypes):
        if str(dtype) == "category":
            frame.isetitem(j, frame.iloc[:, j].cat.remove_unused_categories())
    return frame


def _typed(y: Any, name: str) -> Any:
    if y.dtype.kind in "mM" or any(isinstance(value, date | timedelta) for value in y[:1]):
        raise DataError(f"target {for_message(name)} has times ({y[0]}, ...); convert it to numbers or classes")
    if y.dtype.kind == "O" and all(isinstance(value, bool | np.bool_ | int | np.integer) for value in y):
        plain = np.asarray(y.tolist())  # booleans and large integers beside missing ones
        return plain if plain.dtype.kind in "biu" else y
    whole = y.dtype.kind == "f" and bool(np.all((np.abs(y) < EXACT) & (y == np.round(y))))
    return y.astype(np.int64) if whole else y
