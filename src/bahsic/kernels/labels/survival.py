"""Labels that are censored survival times: each subject is represented by its expected survival curve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bahsic.kernels.labels.outputs import Output, outputs
from bahsic.kernels.rows import Array, FloatArray, frequencies, row_blocks
from bahsic.parameters import Given, Message

_MOST_COLUMNS = 512  # of the curves; with more event times, neighbouring ones share a column
_ACCEPTED = "two columns, the event (booleans, or 0 and 1) and the time (numbers)"


def survival_vectors(y: Any, sample_weight: Any = None) -> FloatArray:
    r"""Return vectors of the subjects with the same squared distances as their expected survival curves.

    The curve :math:`S_i(u)` of subject i is the probability that it lives beyond the time u. For an event at t
    it is 1 for u < t and 0 from t on. For a subject censored at c it is 1 up to c and then S(u) / S(c), where S is the
    Kaplan-Meier estimate of the whole sample (Efron, The two sample problem with censored data, 1967). With F = 1 - S

    .. math:: d_{ij}^2 = \int (S_i(u) - S_j(u))^2 \, dF(u)

    over the event times. Only the ranks of times matter. Without censoring :math:`d_{ij}^2 = |F(t_i) - F(t_j)|`, and
    a Gaussian kernel of d is a Laplacian one of the ranks. In ties, censoring comes after the event.
    """
    event, time = _event_and_time(y)
    weights = frequencies(sample_weight, len(time))
    seen = event & (weights > 0)
    if not seen.any():
        what = f" has no event among {len(time)} subjects"
        raise ValueError(Message(Given("y"), what, "; accepted: at least one that is not censored"))
    times = np.unique(time[seen])
    survival, jumps = kaplan_meier(times, event, time, weights)
    cells = _cells(jumps)
    masses = np.add.reduceat(jumps, cells)
    roots = np.sqrt(np.where(masses > 0, masses, 1.0))  # with very different weights a jump may round to zero
    known = np.append(1.0, survival)[np.searchsorted(times, time, side="right")]  # S(c), 1 before all events
    known = np.where(event | (known == 0), np.inf, known)  # survival is zero after an event
    vectors = np.empty((len(time), len(cells)))
    for rows in row_blocks(len(time)):
        curves = np.where(times < time[rows, None], 1.0, survival / known[rows, None])  # S_i at the event times
        vectors[rows] = np.add.reduceat(curves * jumps, cells, axis=1) / roots
    return vectors


def kaplan_meier(times: Array, event: Array, time: Array, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Kaplan-Meier estimate of survival beyond each of the sorted event times, and its decrease there."""
    n = len(times)
    deaths = np.bincount(np.searchsorted(times, time[event]), weights[event], n + 1)[:n]
    last_seen = np.bincount(np.searchsorted(times, time, side="right"), weights, n + 1)[1:]
    hazards = np.minimum(deaths / np.cumsum(last_seen[::-1])[::-1], 1.0)
    survival = np.cumprod(1 - hazards)
    return survival, np.append(1.0, survival[:-1]) * hazards


def _cells(jumps: FloatArray) -> Array:
    """Return the first event time of each column: all, or those that divide the probability into equal parts."""
    if len(jumps) <= _MOST_COLUMNS:
        return np.arange(len(jumps))
    before = np.cumsum(jumps) - jumps
    parts = np.floor(before * (_MOST_COLUMNS / jumps.sum())).clip(0, _MOST_COLUMNS - 1)
    return np.flatnonzero(np.diff(parts, prepend=-1))


def _event_and_time(y: Any) -> tuple[Array, Array]:
    fields = getattr(getattr(y, "dtype", None), "names", None)
    columns = outputs(y, numbers=(True, True)) if fields or hasattr(y, "columns") or np.ndim(y) == 2 else []
    if len(columns) != 2:
        shape = f"{len(columns)} columns" if columns else f"type {type(y).__name__}, no fields"
        raise ValueError(Message(Given("y"), f" has {shape}; accepted for survival: {_ACCEPTED}"))
    event, time = reversed(columns) if _is_event(columns[1]) and not _is_event(columns[0]) else columns
    if not _is_event(event) or time.values.dtype.kind not in "fiu":
        shown = ", ".join(f"{column.name!r} ({column.values.dtype})" for column in (event, time))
        raise ValueError(Message(Given("y"), f" has the columns {shown}; accepted for survival: {_ACCEPTED}"))
    if time.values.min() < 0:
        what = f" has the time {time.values.min()} in column {time.name!r}"
        raise ValueError(Message(Given("y"), what, "; accepted: times from 0 on"))
    return event.values.astype(bool), time.values.astype(np.float64)


def _is_event(column: Output) -> bool:
    """Return whether a column can say if the event was seen: booleans, or the numbers 0 and 1."""
    values = column.values
    return values.dtype.kind == "b" or (values.dtype.kind in "fiu" and bool(np.isin(values, (0, 1)).all()))


def survival_hint(columns: Sequence[Output]) -> Message | None:
    """Return what to say of two outputs that look like the time and the event of survival, or None."""
    events = [column.name for column in columns if _is_event(column) and len(np.unique(column.values)) == 2]
    times = [column.name for column in columns if column.values.dtype.kind in "fiu" and column.values.min() > 0]
    if len(columns) != 2 or len(events) != 1 or len(times) != 1:
        return None
    what = f" looks like survival times (column {times[0]!r}) with their events (column {events[0]!r}) and is treated "
    otherwise = " treats it as censored times, 'multioutput' as two outputs"
    return Message(Given("y"), what, "as two outputs; ", Given("target_kernel", "survival"), otherwise)
