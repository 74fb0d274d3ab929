"""Score changes by single columns from the pairs of samples, for those without an expansion and for the last digits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bahsic.engine.executor import Sums, map_sum
from bahsic.engine.gaussian.groups import GroupChanges
from bahsic.engine.intervals import Intervals
from bahsic.engine.tiles import strips

Indices = NDArray[np.intp]

# Largest exponent for which the change by categories is a multiple of the sum over pairs of different ones: exp of it
# multiplies the rounding error.
_MAX_CATEGORY_EXPONENT = 3.0


class ColumnChanges(GroupChanges):
    """Score changes by single columns: a pass over all pairs of samples for each."""

    total: float

    def direct(self, features: Indices) -> Intervals:
        """Score changes by the pairs of samples, by an exponential for each unless the column is one of categories."""
        data, values, radii = self._pairs.columns, *np.zeros((2, len(features)))
        exponents = self.a * data.different[features]
        simple = (exponents != 0) & (exponents <= _MAX_CATEGORY_EXPONENT) & ~data.missing[features]
        for mine, method in ((simple, self._by_categories), (~simple, self._by_exponentials)):
            if mine.any():
                found = method(features[mine])
                values[mine], radii[mine] = found.values, found.radii
        return Intervals(values, radii)

    def _by_categories(self, features: Indices) -> Intervals:
        """Score changes by columns of categories: pairs of different ones change by the same factor."""
        pairs, gamma, data = self._pairs, self.gamma, self._pairs.columns
        columns = data.rows(features).astype(np.int32)

        def tile_sums(index: int) -> Sums:
            tile, take = pairs.plan.tiles[index], pairs.scratch.take
            D, W = pairs.totals(index), pairs.weights(index)
            same = np.zeros(len(columns))
            for rows in strips(tile.shape):
                M = np.multiply(D[rows], -gamma, out=take("first", D[rows].shape))
                np.exp(M, out=M)
                M *= W[rows]
                for position, codes in enumerate(columns):
                    equal = np.equal.outer(codes[tile.rows][rows], codes[tile.cols])
                    same[position] += np.multiply(M, equal, out=take("second", M.shape)).sum()
            return (same,)

        same = 2 * map_sum(self._executor, tile_sums, range(len(pairs.plan.tiles)))[0]
        factors = np.expm1(self.a * data.different[features])
        return Intervals(factors * (self.score - same), np.abs(factors) * 2 * self._matrices.floor * self.total)

    def _by_exponentials(self, features: Indices) -> Intervals:
        return self._each(self._direct, [features[i : i + 1] for i in range(len(features))])

    def _direct(self, groups: Sequence[Indices]) -> Intervals:
        data, features = self._pairs.columns, np.concatenate(groups)
        # The last column changes nothing: its score is the one that the others are compared with.
        columns = np.vstack([data.rows(features), np.zeros(self._matrices.n_samples)])
        known = [int(feature) for feature in features]
        pairs, gamma, a = self._pairs, self.gamma, self.a

        def tile_changes(index: int) -> Sums:
            tile, take = pairs.plan.tiles[index], pairs.scratch.take
            D, W = pairs.totals(index), pairs.weights(index)
            sums = np.zeros((2, len(columns)))
            for rows in strips(tile.shape):
                exponents = np.multiply(D[rows], -gamma, out=take("first", D[rows].shape))
                for position, x in enumerate(columns):
                    K = take("second", exponents.shape)
                    if position < len(known):
                        data.contribution(known[position], 2, x[tile.rows][rows], x[tile.cols], K)
                    else:
                        K[:] = 0.0
                    K *= a
                    K += exponents
                    np.minimum(K, 0.0, out=K)  # a sample that lacks an entry does not differ from itself
                    np.exp(K, out=K)
                    K *= W[rows]
                    sums[0, position] += K.sum()
                    sums[1, position] += np.abs(K, out=K).sum()
            return (sums,)

        scores, sizes = 2 * map_sum(self._executor, tile_changes, range(len(pairs.plan.tiles)))[0]
        return Intervals(scores[:-1] - scores[-1], self._relative(groups) * (sizes[:-1] + sizes[-1]))
