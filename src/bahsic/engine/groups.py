"""Units of selection that are groups of columns: their scores by the kernel values of every pair of samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bahsic.engine.columns import Columns
from bahsic.engine.executor import Executor, map_sum
from bahsic.engine.levels import copies
from bahsic.engine.pairs import Pairs
from bahsic.engine.tile import strips

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Terms of the series of exp(z) - 1 in float32, and the z up to which they suffice.
_MAX_TERMS = 9


class Units:
    """What enters or leaves together: single columns, or groups of columns.

    Parameters
    ----------
    columns : Columns
    groups : sequence of arrays of int, optional
        The columns of each unit; by default each column is one.
    """

    def __init__(self, columns: Columns, groups: Sequence[Indices] | None = None) -> None:
        self._groups = groups
        self.representatives = _representatives(copies(columns), groups)

    @property
    def are_columns(self) -> bool:
        """Whether each unit is the column of the same number."""
        return self._groups is None

    def columns(self, units: Indices) -> Indices:
        """The columns of some units, in increasing order."""
        if self._groups is None:
            return np.sort(units)
        parts = [self._groups[unit] for unit in units]
        return np.sort(np.concatenate([np.empty(0, dtype=np.intp), *parts]))

    def size(self, units: Indices) -> int:
        """Number of columns of some units."""
        return len(units) if self._groups is None else sum(len(self._groups[unit]) for unit in units)

    def each(self, units: Indices) -> list[Indices]:
        """The columns of each unit."""
        return [units[i : i + 1] if self._groups is None else self._groups[unit] for i, unit in enumerate(units)]

    def single(self, units: Indices) -> NDArray[np.bool_]:
        """Which of these units are single columns."""
        if self._groups is None:
            return np.ones(len(units), dtype=bool)
        return np.array([len(self._groups[unit]) == 1 for unit in units], dtype=bool)


def _representatives(first: Indices, groups: Sequence[Indices] | None) -> Indices:
    """For each unit the first one of the same columns, or of copies of them."""
    if groups is None:
        return first
    known: dict[tuple[int, ...], int] = {}
    keys = [tuple(sorted(first[group].tolist())) for group in groups]
    return np.array([known.setdefault(key, unit) for unit, key in enumerate(keys)], dtype=np.intp)


def scores_by_pairs(
    pairs: Pairs, executor: Executor, groups: Sequence[Indices], sign: float, link: Callable[[Array], Array]
) -> tuple[Array, Array]:
    """Sums over the pairs a < b of W link(D + sign D_G) and of its magnitudes, for each group of columns.

    ``link`` may overwrite its argument.
    """
    changes = [pairs.contributions(group) for group in groups]

    def tile_scores(index: int) -> tuple[Array, ...]:
        tile, take = pairs.plan.tiles[index], pairs.scratch.take
        D, W = pairs.totals(index), pairs.weights(index)
        sums = np.zeros((2, len(groups)))
        for position, change in enumerate(changes):
            panel = change.panel(tile, out=take("panel", tile.shape))
            for rows in strips(tile.shape):
                K = np.multiply(panel[rows], sign, out=take("second", D[rows].shape))
                K += D[rows]
                K = link(K)
                K *= W[rows]
                sums[0, position] += K.sum()
                sums[1, position] += np.abs(K, out=K).sum()
        return (sums,)

    values, sizes = map_sum(executor, tile_scores, range(len(pairs.plan.tiles)))[0]
    return values, sizes


def quick_changes(
    pairs: Pairs, executor: Executor, groups: Sequence[Indices], a: float, gamma: float
) -> tuple[Array, Array, Array]:
    """Sums over the pairs a < b of M (exp(a D_G) - 1) in float32 for each group of columns, and their error.

    With M = W exp(-gamma D). Returns values, the sums of the magnitudes of their terms, and the largest a D_G.
    """
    changes = [pairs.contributions(group, np.float32) for group in groups]

    def tile_changes(index: int) -> tuple[Array, ...]:
        tile, take = pairs.plan.tiles[index], pairs.scratch.take
        D, W = pairs.totals(index), pairs.weights(index)
        M = take("M", tile.shape, np.float32)
        for rows in strips(tile.shape):
            K = np.multiply(D[rows], -gamma, out=take("first", D[rows].shape))
            np.exp(K, out=K)
            np.multiply(K, W[rows], out=M[rows], casting="same_kind")
        sums = np.zeros((3, len(groups)))
        for position, change in enumerate(changes):
            z = change.panel(tile, out=take("panel32", tile.shape, np.float32))
            z *= np.float32(a)
            largest = max(float(z.max()), -float(z.min()))
            for rows in strips(tile.shape):
                E = _expm1(z[rows], largest, take("E", z[rows].shape, np.float32))
                E *= M[rows]
                sums[0, position] += float(E.sum())
                sums[1, position] += float(np.abs(E, out=E).sum())
            sums[2, position] = largest
        return (sums[:2], sums[2:])

    results = executor.map(tile_changes, range(len(pairs.plan.tiles)))
    values, sizes = np.sum([sums for sums, _ in results], axis=0)
    return values, sizes, np.max([largest for _, largest in results], axis=(0, 1))


def _expm1(z: NDArray[Any], largest: float, out: NDArray[Any]) -> NDArray[Any]:
    """exp(z) - 1 in float32, by its series where that is short."""
    n_terms = next((n for n in range(2, _MAX_TERMS) if largest**n / np.prod(np.arange(2.0, n + 2)) < 3e-8), None)
    if n_terms is None:
        np.exp(z, out=out)
        out -= 1
        return out
    out[:] = 1.0
    for n in range(n_terms, 1, -1):
        out *= z
        out *= np.float32(1 / n)
        out += 1
    out *= z
    return out
