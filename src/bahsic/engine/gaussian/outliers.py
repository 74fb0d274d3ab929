r"""Outlying samples of a column: their pairs one by one, so that the expansion holds for all others.

The expansion takes samples beyond a limit for zero, where u is zero and g - 1 is u of the other sample. What is missing
then is the sum of :math:`M_{ab} (g(x_a, x_b) - 1 - u(x_b))` over the pairs of an outlying sample a and any other
sample b, where u is zero if b is outlying too.
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
    missing : ndarray of shape (c, m)
        The exponent of the missing entries alone.
    edges : ndarray of shape (c, m)
        log(1 + u), zero for outlying entries.
    outlying : ndarray of shape (c, m)
    """

    pairs: Pairs
    gamma: float
    a: float
    values: Array
    missing: Array
    edges: Array
    outlying: NDArray[np.bool_]

    @staticmethod
    def of(pairs: Pairs, features: Indices, limit: float, gamma: float, a: float) -> OutlyingPairs:
        """Those of some columns, whose entries beyond a limit are outlying."""
        data: Columns = pairs.columns
        values = data.rows(features)
        outlying, missing = are_outlying(values, limit), a * data.neutral[features, None] / 2 * np.isnan(values)
        np.nan_to_num(values, copy=False, nan=0.0)
        edges = np.where(outlying, 0.0, a * np.square(values) + missing)
        return OutlyingPairs(pairs, gamma, a, values, missing, edges, outlying)

    def sums(self, executor: Executor) -> tuple[Array, Array]:
        """The sum that is missing in each column, and the sum of the magnitudes of its terms."""
        value, size = 2 * map_sum(executor, self, range(len(self.pairs.plan.tiles)))[0]
        return value, size

    def __call__(self, index: int) -> Sums:
        """Half of both sums on one tile: pairs of an outlying row, then those of an outlying column and other rows."""
        tile, D, W = self.pairs.plan.tiles[index], self.pairs.totals(index), self.pairs.weights(index)
        samples, columns = np.nonzero(self.outlying.T)
        found = np.zeros((2, len(self.values)))
        sides = (tile.rows, tile.cols, D, W), (tile.cols, tile.rows, D.T, W.T)
        for number, (side, other, D_side, W_side) in enumerate(sides):
            first, last = np.searchsorted(samples, (side.start, side.stop))
            height = max(1, _ENTRIES // D_side.shape[1])
            for start in range(first, last, height):
                some = slice(start, min(start + height, last))
                places, mine = samples[some] - side.start, columns[some]
                w = W_side[places]
                if number == 1:
                    w = np.where(self.outlying[mine, other], 0.0, w)
                before, after = self._exponents(samples[some], mine, other, D_side[places])
                before, after = w * np.exp(before), w * np.exp(after)
                found[0] += np.bincount(mine, (after - before).sum(axis=1), len(found[0]))
                found[1] += np.bincount(mine, (np.abs(before) + np.abs(after)).sum(axis=1), len(found[0]))
        return (found,)

    def _exponents(self, samples: Indices, columns: Indices, other: slice, D: Array) -> tuple[Array, Array]:
        """Exponents of K (1 + u) and of K g, for some outlying entries and a range of other samples."""
        exponents = -self.gamma * D
        after = np.square(self.values[columns, samples][:, None] - self.values[columns, other])
        after *= self.a
        after += self.missing[columns, other]
        after += exponents
        exponents += self.edges[columns, other]
        return exponents, after
