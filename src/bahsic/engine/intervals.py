"""Scores with error bounds, and the stages that refine only candidates whose order is undecided."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bahsic.arrays import Array, Indices


@dataclass(frozen=True)
class Intervals:
    """Values known to within radii, which are infinite where nothing is known."""

    values: Array
    radii: Array


Stage = Callable[[Indices], Intervals]


def leading(stages: Sequence[Stage], representatives: Indices, count: int) -> tuple[Indices, Intervals]:
    """Positions of the ``count`` greatest scores, greatest first, ties to the lowest position.

    Each stage takes the positions that the one before left undecided and returns their scores with tighter bounds.
    Intervals that still overlap after the last stage are ties. For each position ``representatives`` has the first one
    with the same column: only that is evaluated. Returned are also the scores of all positions, as far as they were
    refined.
    """
    values = np.zeros(len(representatives))
    radii = np.full(len(representatives), np.inf)
    undecided = np.flatnonzero(representatives == np.arange(len(representatives)))
    for stage in stages:
        found = stage(undecided)
        if np.isnan(found.values).any():
            raise ValueError(
                "scores of features exceed the range of float64; accepted: data of moderate size, so rescale X"
            )
        better = found.radii < radii[undecided]
        values[undecided[better]] = found.values[better]
        radii[undecided[better]] = found.radii[better]
        scores = Intervals(values[representatives], radii[representatives])
        order, groups = overlap_groups(scores, count)
        members = np.bincount(groups)
        labels, starts = representatives[order], np.flatnonzero(np.diff(groups, prepend=-1))
        distinct = np.minimum.reduceat(labels, starts) < np.maximum.reduceat(labels, starts)  # whether labels differ
        undecided = np.unique(labels[(members > 1)[groups] & distinct[groups]])
        if not len(undecided):
            break
    order = order[np.lexsort((order, groups))]
    return order[:count], scores


def overlap_groups(scores: Intervals, count: int) -> tuple[Indices, Indices]:
    """Positions that may be among the ``count`` greatest, sorted, and their groups, whose intervals don't overlap."""
    lower, upper = scores.values - scores.radii, scores.values + scores.radii
    threshold = np.partition(lower, len(lower) - count)[len(lower) - count]
    candidates = np.flatnonzero(upper >= threshold)
    order = candidates[np.argsort(-scores.values[candidates], kind="stable")]
    least_above = np.minimum.accumulate(lower[order])[:-1]
    greatest_below = np.maximum.accumulate(upper[order][::-1])[::-1][1:]
    groups = np.concatenate([[0], np.cumsum(least_above > greatest_below)])
    return order, groups
