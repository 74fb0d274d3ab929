"""Targets of several columns of a table: outputs, and the event beside a survival time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bahsic.files.columnar import target_values
from bahsic.files.data import Data, TargetError, column_position, library, of_rows, suggestion, target_rows
from bahsic.names import for_message

_EVENTS = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}


def check_targets(path: Path, targets: Sequence[Any], event: str | None, drop: Sequence[str]) -> None:
    """Refuse columns that are named twice, as target, event or among those to drop, and an event without one time."""
    if event is not None and len(targets) != 1:
        count = f"{len(targets)} targets" if targets else "no target"
        raise TargetError(f"{path}: event is {for_message(event)}, with {count}; accepted: one target, the time")
    columns = [*targets, *([] if event is None else [event])]
    for name in columns:
        if len(targets) > 1 and not isinstance(name, str):
            raise TargetError(f"{path}: {name!r} is among several targets; accepted: names of columns")
        if columns.count(name) > 1:
            raise TargetError(f"{path}: {for_message(name)} is given twice as target or event; name different columns")
        if name in drop:
            raise TargetError(f"{path}: {for_message(name)} is a target or event and also dropped; choose one")


def with_outputs(path: Path, data: Data, names: Sequence[str]) -> Data:
    """Return the data with columns of X as further outputs, the columns of y beside the target that they have."""
    if not names:
        return data
    target, outputs = [str(data.target), *names], [data.y]
    for name in names:
        data, outputs = _moved(path, data, name, outputs)
    return replace(data, y=np.column_stack(outputs), target=target)


def with_event(path: Path, data: Data, name: str) -> Data:
    """Return the data with y as pairs of the event and the survival time, which have the names of their columns."""
    names = data.names or ()
    if name not in names:
        raise TargetError(f"{path}: no column for the event is called {for_message(name)}; {suggestion(name, names)}")
    if data.y.dtype.kind not in "fiu":
        raise TargetError(f"{path}: target {for_message(data.target)} has no numbers; accepted with an event: times")
    data, (time, event) = _moved(path, data, name, [data.y])
    seen = [_EVENTS.get(str(value).lower()) for value in event]
    if None in seen:
        value = for_message(event[seen.index(None)])
        raise TargetError(f"{path}: event {for_message(name)} has {value}; accepted: 0 and 1, or true and false")
    y = np.zeros(len(time), dtype=[(name, bool), (str(data.target), float)])
    y[name], y[str(data.target)] = seen, time
    return replace(data, y=y)


def _moved(path: Path, data: Data, name: str, outputs: Sequence[Any]) -> tuple[Data, list[Any]]:
    """Return the data without a column, and it beside other outputs, for the rows in which it is not missing."""
    names = list(data.names or ())
    j = column_position(path, name, names, len(names))
    column = target_values(data.X.iloc[:, j], library("pandas", path.suffix))
    found, rows, notes = target_rows(path, column, name, len(data.X))
    X = data.X.drop(columns=data.X.columns[j])
    if rows is not None:
        X, outputs = of_rows(X, rows), [output[rows] for output in outputs]
    left = names[:j] + names[j + 1 :]
    return replace(data, X=X, names=left, notes=(*data.notes, *notes)), [*outputs, found]
