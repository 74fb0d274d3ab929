"""Columns that are copies of each other, and codes of categories."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bahsic.data.columns import Columns

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


def copies(columns: Columns, tolerance: float = 0.0) -> Indices:
    """Return for each column the first one that is equal to it up to a tolerance or, for numbers, to its negative."""
    first = np.arange(columns.n_features)
    # Candidates have the same inner product with any vector, up to sign and rounding.
    direction = np.cos(np.arange(columns.n_samples))
    rows = (columns.rows(block) for block in columns.blocks())
    signature = np.concatenate([np.abs(np.nan_to_num(X, copy=False, nan=math.e) @ direction) for X in rows])
    order = np.argsort(signature, kind="stable")
    close = np.diff(signature[order]) <= 1e-9 * signature[order][1:] + 1e-300 + tolerance * columns.n_samples
    for run in np.split(order, np.flatnonzero(~close) + 1):
        if len(run) > 1:
            _mark_copies(columns, np.sort(run), first, tolerance)
    return first


def _mark_copies(columns: Columns, run: Indices, first: Indices, tolerance: float) -> None:
    originals: list[tuple[int, Array]] = []
    for column in run:
        x = columns.rows(np.array([column]))[0]
        for original, values in originals:
            alike = all(kind[original] == kind[column] for kind in (columns.different, columns.neutral))
            near = (np.allclose(values, other, rtol=0, atol=tolerance, equal_nan=True) for other in (x, -x))
            if alike and any(near):
                first[column] = original
                break
        else:
            originals.append((int(column), x))


def in_order_of_appearance(codes: Array) -> Array:
    """Return codes that count the values in the order in which they appear; missing ones stay missing."""
    known = ~np.isnan(codes)
    _, first, inverse = np.unique(codes[known], return_index=True, return_inverse=True)
    found = np.full(len(codes), np.nan)
    found[known] = np.argsort(np.argsort(first))[inverse]
    return found
