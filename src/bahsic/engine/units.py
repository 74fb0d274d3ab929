"""Units of selection, single columns or groups, and scores of groups by the kernel values of every pair of samples."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bahsic.data.columns import Columns
from bahsic.data.levels import copies
from bahsic.engine.executor import Executor, Sums, map_sum
from bahsic.engine.pairs import Pairs
from bahsic.engine.tiles import strips

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Relative error of the float32 polynomial for exp(z) - 1, and the most terms that it may have.
QUICK_ERROR = 1e-6
MAX_TERMS = 14

# Greatest abs(z) for which the polynomial is used.
QUICK_LARGEST = 4.0

# Number of products that are added in float32, which limits the rounding error of their sum.
SHORT = 64

# Entries of the columns of groups that are worked on together.
_BLOCK_ENTRIES = 1 << 21

# Entries of the arrays that one operation works on.
_BATCH = 1 << 18


class Units:
    """Units of a search, which enter or leave as a whole: single columns, or groups of columns.

    Parameters
    ----------
    columns : Columns
    groups : sequence of arrays of int, optional
        The columns of each unit; by default each column is a unit.
    """

    def __init__(self, columns: Columns, groups: Sequence[Indices] | None = None) -> None:
        self._groups = groups
        self.representatives = _representatives(copies(columns), groups)
        self._distinct = bool((self.representatives == np.arange(len(self.representatives))).all())

    @property
    def are_columns(self) -> bool:
        """Whether each unit is the column of the same number."""
        return self._groups is None

    def first_copies(self, units: Indices) -> Indices:
        """For each of some units, the position of the first one among them with the same columns."""
        if self._distinct:
            return np.arange(len(units))
        _, first, inverse = np.unique(self.representatives[units], return_index=True, return_inverse=True)
        return np.asarray(first[inverse])

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
        """Mask of the units that are single columns."""
        if self._groups is None:
            return np.ones(len(units), dtype=bool)
        return np.array([len(self._groups[unit]) == 1 for unit in units], dtype=bool)


def _representatives(first: Indices, groups: Sequence[Indices] | None) -> Indices:
    """For each unit the first unit with the same columns, or with copies of them."""
    if groups is None:
        return first
    known: dict[tuple[int, ...], int] = {}
    keys = [tuple(sorted(first[group].tolist())) for group in groups]
    return np.array([known.setdefault(key, unit) for unit, key in enumerate(keys)], dtype=np.intp)


Link = Callable[[Array], Array]  # may overwrite its argument


def exponential(gamma: float) -> Link:
    """The function exp(-gamma D), in place."""

    def link(D: Array) -> Array:
        D *= -gamma
        return np.exp(D, out=D)

    return link


def scores_by_pairs(
    pairs: Pairs, executor: Executor, groups: Sequence[Indices], sign: float, link: Link, scale: float = 0.0
) -> tuple[Array, Array]:
    """Sums over the pairs a < b of W link(D + sign D_G) and of its magnitudes, for each group of columns.

    D_G is exact relative to 1 / ``scale``.
    """

    def changed(panel: Array, D: Array, out: Array) -> Array:
        K = np.multiply(panel, sign, out=out)
        K += D
        return link(K)

    return _sums_by_pairs(pairs, executor, groups, changed, scale)


def scores_anew(
    pairs: Pairs, executor: Executor, subsets: Sequence[Indices], scale: float, link: Link
) -> tuple[Array, Array]:
    """Sums over the pairs a < b of W link(D_S) and of its magnitudes, for each subset of the columns."""
    return _sums_by_pairs(pairs, executor, subsets, lambda panel, *_: link(panel), scale)


def _sums_by_pairs(
    pairs: Pairs,
    executor: Executor,
    groups: Sequence[Indices],
    kernel: Callable[[Array, Array, Array], Array],
    scale: float,
) -> tuple[Array, Array]:
    """Sums of W kernel(D_G, D, out) and of its magnitudes, some groups at a time."""
    parts = [
        _sums_of_some(pairs, executor, groups[part], kernel, scale) for part in batches(groups, pairs.columns.n_samples)
    ]
    values, sizes = (np.concatenate(found) for found in zip(*parts, strict=True))
    return values, sizes


def _sums_of_some(
    pairs: Pairs,
    executor: Executor,
    groups: Sequence[Indices],
    kernel: Callable[[Array, Array, Array], Array],
    scale: float,
) -> tuple[Array, Array]:
    changes = [pairs.contributions(group, scale=scale) for group in groups]

    def tile_scores(index: int) -> Sums:
        tile, take = pairs.plan.tiles[index], pairs.scratch.take
        D, W = pairs.totals(index), pairs.weights(index)
        sums = np.zeros((2, len(groups)))
        for position, change in enumerate(changes):
            panel = change.panel(tile, out=take("panel", tile.shape))
            for rows in strips(tile.shape):
                K = kernel(panel[rows], D[rows], take("second", D[rows].shape))
                K *= W[rows]
                sums[0, position] += K.sum()
                sums[1, position] += np.abs(K, out=K).sum()
        return (sums,)

    values, sizes = map_sum(executor, tile_scores, range(len(pairs.plan.tiles)))[0]
    return values, sizes


def batches(groups: Sequence[Indices], n_samples: int) -> list[slice]:
    """Ranges of groups whose columns together take about one block of memory."""
    sizes = np.cumsum([len(group) for group in groups])
    numbers = (sizes * n_samples) // _BLOCK_ENTRIES
    starts = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(groups)]
    return [slice(start, stop) for start, stop in itertools.pairwise(starts)]


def quick_changes(
    pairs: Pairs, executor: Executor, groups: Sequence[Indices], a: float, gamma: float, largest: float
) -> Array:
    """Sums over the pairs a < b of M (exp(a D_G) - 1) in float32 for each group of columns, with M = W exp(-gamma D).

    ``largest`` bounds abs(a D_G) of all groups.
    """
    changes = [pairs.contributions(group, np.float32) for group in groups]
    coefficients = expm1_coefficients(a, largest)

    def tile_changes(index: int) -> Sums:
        tile, take = pairs.plan.tiles[index], pairs.scratch.take
        M = _quick_matrix(pairs, index, gamma)
        sums = np.zeros(len(groups))
        size = tile.shape[0] * tile.shape[1]
        # Several groups at a time: many short operations would make threads wait for each other.
        batch = max(1, _BATCH // size)
        for start in range(0, len(groups), batch):
            some = changes[start : start + batch]
            D = take("panel32", (len(some), *tile.shape), np.float32)
            for change, panel in zip(some, D, strict=True):
                change.panel(tile, out=panel)
            D *= np.float32(a)  # before the powers: those of a by itself may be too small for float32
            E = _polynomial(D, coefficients, out=take("E", D.shape, np.float32))
            sums[start : start + batch] = short_dots(E.reshape(len(some), size), M.reshape(size))
        return (sums,)

    return map_sum(executor, tile_changes, range(len(pairs.plan.tiles)))[0]


def _quick_matrix(pairs: Pairs, index: int, gamma: float) -> NDArray[Any]:
    """M on one tile, in float32."""
    D, W, take = pairs.totals(index), pairs.weights(index), pairs.scratch.take
    M = take("M", D.shape, np.float32)
    for rows in strips(D.shape):
        K = np.multiply(D[rows], -gamma, out=take("first", D[rows].shape))
        np.exp(K, out=K)
        np.multiply(K, W[rows], out=M[rows], casting="same_kind")
    return M


def short_dots(rows: NDArray[Any], vector: NDArray[Any]) -> Array:
    """Inner products of float32 rows (c, n) with a vector, from sums of `SHORT` products that are added in float64."""
    n = len(vector) // SHORT * SHORT
    sums = np.vecdot(rows[:, :n].reshape(len(rows), -1, SHORT), vector[:n].reshape(-1, SHORT)).sum(axis=1, dtype=float)
    return np.asarray(sums + np.vecdot(rows[:, n:], vector[n:]))


def expm1_coefficients(a: float, largest: float) -> list[np.float32]:
    """Coefficients of a polynomial c_1 z + c_2 z^2 + ... that is exp(z) - 1 to a relative error of `QUICK_ERROR`.

    It holds for z of the sign of ``a`` with abs(z) <= ``largest``. It interpolates (exp(z) - 1) / z at Chebyshev
    points, where the n-th derivative is at most exp(abs(z)).
    """
    z = max(largest, 1e-6)
    enough = (n for n in range(1, MAX_TERMS + 1) if _interpolation_error(z, n) < QUICK_ERROR / 2)
    return [np.float32(c) for c in chebinterpolate_expm1(math.copysign(z, a), next(enough))]


def _interpolation_error(z: float, n: int) -> float:
    return 2 * math.exp(2 * z) * (z / 4) ** n / math.factorial(n)


def chebinterpolate_expm1(z: float, n: int) -> Array:
    """Coefficients of the polynomial of degree n - 1 that equals (exp(t) - 1) / t at n Chebyshev points of [0, z]."""
    points = z / 2 * (1 + np.cos(np.pi * (np.arange(n) + 0.5) / n))
    powers = np.vander(points / z, n, increasing=True)
    return np.asarray(np.linalg.solve(powers, np.expm1(points) / points) / z ** np.arange(n))


def _polynomial(z: NDArray[Any], coefficients: Sequence[np.float32], out: NDArray[Any]) -> NDArray[Any]:
    """Polynomial c_1 z + c_2 z^2 + ..., by Horner's rule."""
    np.multiply(z, coefficients[-1], out=out)
    for c in coefficients[-2::-1]:
        out += c
        out *= z
    return out
