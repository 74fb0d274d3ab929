r"""Outlying samples of a column: their pairs one by one, so that the expansion holds for all others.

With g and u of `bahsic.engine.gaussian.expansion`: the expansion takes samples beyond a limit for zero, where u is zero
and g - 1 is u of the other sample. What is missing then is the sum of :math:`M_{ab} (g(x_a, x_b) - 1 - u(x_b))` over
the pairs of an outlying sample a and any other sample b, where u is zero if b is outlying too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bahsic.data.columns import Columns
from bahsic.engine.executor import Executor, Sums, map_sum
from bahsic.engine.gaussian.expansion import largest_radius
from bahsic.engine.pairs import Pairs

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Largest share of the entries of a column that may be beyond the range of the expansion: each takes an exponential for
# every other sample. On a part of that range the expansion is so much shorter that a smaller share is worthwhile.
_OUTLYING = 0.1
_SHORTER, _FEW_OUTLYING = 0.6, 0.01

# Elements of the arrays that are worked on at a time, and memory for each entry of the columns.
_ENTRIES, _BYTES = 1 << 15, 25


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


class Outliers:
    """Outlying entries of all columns in one round: the limits beyond which they lie, and the sums over their pairs.

    Parameters
    ----------
    pairs : Pairs
    ranges : ndarray of shape (n_features,)
        Largest magnitude of each column.
    executor : Executor
    gamma, a : float
        As in `GaussianRound`.
    floor : float
        Relative rounding error of sums over the pairs.
    allowed : int
        Bytes for the columns of one pass.
    """

    def __init__(
        self, pairs: Pairs, ranges: Array, executor: Executor, gamma: float, a: float, floor: float, allowed: int
    ) -> None:
        self._pairs, self._ranges, self._executor = pairs, ranges, executor
        self._gamma, self._a, self._floor, self._allowed = gamma, a, floor, allowed
        self._limits = np.full((2, pairs.columns.n_features), np.nan)
        self.known: dict[float, Array] = {}  # values and errors for each limit

    def limits(self, features: Indices, *, first_look: bool) -> Array:
        """Magnitude beyond which entries of each column are outlying: infinite if none is, zero if too many are.

        ``first_look`` says whether the features only have a first look, for which a shorter expansion is no gain.
        """
        known = self._limits[int(first_look)]
        new = features[np.isnan(known[features])]
        if len(new):
            known[new] = self._new_limits(new, first_look=first_look)
        return np.asarray(known[features])

    def _new_limits(self, features: Indices, *, first_look: bool) -> Array:
        data, ranges, widest = self._pairs.columns, self._ranges[features], largest_radius(self._a)
        limits = np.where(ranges <= widest, np.inf, 0.0)
        trials = [(widest, _OUTLYING)]
        if self._pairs.plan.keep and not first_look:  # else another pass over the pairs costs more
            trials.append((_SHORTER * widest, _FEW_OUTLYING))
        for limit, share in trials:
            for part in data.portions(np.flatnonzero(ranges > limit), data.n_samples):
                counts = np.count_nonzero(are_outlying(data.rows(features[part]), limit), axis=1)
                limits[part[counts <= share * data.n_samples]] = limit
        trimmed = np.flatnonzero((limits > 0) & (limits < np.inf))
        for some, widest_one in self._by_width(features[trimmed]):
            if self._a > 0 and self._pairs.too_wide(widest_one, self._gamma):  # D without them has to be made anew
                limits[trimmed[some]] = 0.0
        return limits

    def beyond(self, features: Indices, limit: float) -> tuple[Array, Array]:
        """Score changes by the pairs with an entry beyond a limit, and their error bounds; made once."""
        n_samples, n_features = self._pairs.columns.n_samples, self._pairs.columns.n_features
        values, errors = self.known.setdefault(limit, np.full((2, n_features), np.nan))
        new = features[np.isnan(values[features])]
        height = max(1, self._allowed // (_BYTES * n_samples))
        for some in (new[start : start + height] for start in range(0, len(new), height)):
            found = OutlyingPairs.of(self._pairs, some, limit, self._gamma, self._a)
            values[some], errors[some] = found.sums(self._executor)
        for some, widest in self._by_width(new):
            errors[new[some]] *= self._floor + self._pairs.change_error(widest, self._gamma, entering=self._a < 0)
        return values[features], errors[features]

    def _by_width(self, features: Indices) -> Iterator[tuple[Indices, Indices]]:
        """Positions of columns of about the same width, with the widest of them, whose rounding errors are greatest."""
        widths = np.square(self._ranges[features]) + self._pairs.columns.neutral[features]
        classes = np.frexp(widths)[1]
        for one in np.unique(classes):
            some = np.flatnonzero(classes == one)
            yield some, features[some[np.argmax(widths[some])]][None]
