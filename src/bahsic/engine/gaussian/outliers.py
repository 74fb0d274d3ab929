r"""Outlying samples of a column: their pairs one by one, so that the expansion holds for all others.

With g and u of `bahsic.engine.gaussian.expansion`: the expansion takes samples beyond a limit for zero, where u is zero
and g - 1 is u of the other sample. What is missing then is the sum of :math:`M_{ab} (g(x_a, x_b) - 1 - u(x_b))` over
the pairs of an outlying sample a and any other sample b, where u is zero if b is outlying too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bahsic.data.columns import Columns
from bahsic.engine.executor import Executor, Sums, map_sum
from bahsic.engine.pairs import Pairs

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Elements of the arrays that are worked on at a time.
_ENTRIES = 1 << 15


def are_outlying(X: Array, limit: float) -> NDArray[np.bool_]:
    """Which entries are of a greater magnitude than the limit; missing ones are not.

    Examples
    --------
    >>> are_outlying(np.array([1.0, -5.0, np.nan]), 4.0)
    array([False,  True, False])
    """
    return np.asarray(np.abs(X) > limit)


@dataclass(frozen=True, eq=False)
class OutlyingPairs:
    """The pairs with an outlying sample, of some columns of numbers.

    Attributes
    ----------
    pairs : Pairs
        D of the current subset, and W.
    gamma, a : float
        As in `GaussianRound`.
    values : ndarray of shape (c, m)
        The columns, zero where an entry is missing.
    missing : ndarray of shape (c, m) or None
        The exponent of the missing entries alone; None if there are none.
    edges : ndarray of shape (c, m)
        log(1 + u), zero for outlying entries.
    outlying : ndarray of bool of shape (c, m)
    samples, columns : ndarray of int
        The sample and the column of each outlying entry, in the order of the samples.
    """

    pairs: Pairs
    gamma: float
    a: float
    values: Array
    missing: Array | None
    edges: Array
    outlying: NDArray[np.bool_]
    samples: Indices
    columns: Indices

    @staticmethod
    def of(pairs: Pairs, features: Indices, limit: float, gamma: float, a: float) -> OutlyingPairs:
        """Those of some columns, whose entries beyond a limit are outlying."""
        data: Columns = pairs.columns
        values, missing = data.rows(features), None
        outlying = are_outlying(values, limit)
        if data.missing[features].any():
            missing = a * data.neutral[features, None] / 2 * np.isnan(values)
            np.nan_to_num(values, copy=False, nan=0.0)
        edges = a * np.square(values)
        if missing is not None:
            edges += missing
        edges[outlying] = 0.0
        return OutlyingPairs(pairs, gamma, a, values, missing, edges, outlying, *np.nonzero(outlying.T))

    def sums(self, executor: Executor) -> tuple[Array, Array]:
        """The sum that is missing in each column, and the sum of the magnitudes of its terms."""
        value, size = 2 * map_sum(executor, self, range(len(self.pairs.plan.tiles)))[0]
        return value, size

    def __call__(self, index: int) -> Sums:
        """Half of both sums on one tile: pairs of an outlying row, then those of an outlying column and other rows."""
        tile, found = self.pairs.plan.tiles[index], np.zeros((2, len(self.values)))
        ends = [np.searchsorted(self.samples, (side.start, side.stop)) for side in (tile.rows, tile.cols)]
        if all(first == last for first, last in ends):
            return (found,)
        D, W = self.pairs.totals(index), self.pairs.weights(index)
        sides = (tile.rows, tile.cols, D, W), (tile.cols, tile.rows, D.T, W.T)
        for number, (side, other, D_side, W_side) in enumerate(sides):
            first, last = ends[number]
            height = max(1, _ENTRIES // D_side.shape[1])
            for start in range(first, last, height):
                some = slice(start, min(start + height, last))
                places, mine = self.samples[some] - side.start, self.columns[some]
                w = W_side[places]
                if number == 1:
                    w = np.where(self.outlying[mine, other], 0.0, w)
                before, after = self._exponents(self.samples[some], mine, other, D_side[places])
                before, after = w * np.exp(before), w * np.exp(after)
                found[0] += np.bincount(mine, (after - before).sum(axis=1), len(found[0]))
                found[1] += np.bincount(mine, (np.abs(before) + np.abs(after)).sum(axis=1), len(found[0]))
        return (found,)

    def _exponents(self, samples: Indices, columns: Indices, other: slice, D: Array) -> tuple[Array, Array]:
        """Exponents of K (1 + u) and of K g, for some outlying entries and a range of other samples."""
        exponents = -self.gamma * D
        after = np.square(self.values[columns, samples][:, None] - self.values[columns, other])
        after *= self.a
        if self.missing is not None:
            after += self.missing[columns, other]
        after += exponents
        exponents += self.edges[columns, other]
        return exponents, after
