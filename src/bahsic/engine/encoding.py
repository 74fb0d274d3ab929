"""Columns in the form that the loops over pairs of samples take."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bahsic.arrays import Array, Indices
from bahsic.data.columns import Columns


@dataclass(frozen=True, eq=False)
class Encoded:
    """Columns whose contributions to a pair of samples, with entries x and y, are min(|x - y|^p, cap) + u + v.

    Numbers have no cap. Different categories are so far apart that their difference exceeds the cap, which is what
    they contribute. A missing number is 0 and has an offset, u or v; a missing category is NaN and has one too. Where
    the missing numbers of a column lie together, |u - v| takes the place of u + v: exactly zero for two of them.
    """

    x: NDArray[Any]  # (n_columns, n_samples)
    offsets: NDArray[Any]  # (1 + n_incomplete, n_samples): zeros, then the offsets of each column with missing entries
    which: NDArray[np.int64]  # (n_columns,): row of the offsets of each column
    cap: NDArray[Any]  # (n_columns,)
    bend: NDArray[Any]  # (n_columns,): 1 where missing numbers lie together, else 0
    ends: NDArray[np.int64]  # (n_units + 1,): the columns of unit k are those from ends[k] to ends[k + 1]

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Arguments of the loops."""
        return self.x, self.offsets, self.which, self.cap, self.bend

    @property
    def is_mixed(self) -> bool:
        """Whether any column has categories or missing entries."""
        return bool(self.which.any() or np.isfinite(self.cap).any())

    def chosen(self, rows: Indices, ends: NDArray[np.int64]) -> Encoded:
        """Return some of the columns, as units."""
        return Encoded(self.x[rows], self.offsets, self.which[rows], self.cap[rows], self.bend[rows], ends)

    def norms(self, sizes: Array, *, absolute: bool) -> Array:
        """Bound the sums over the pairs of abs(M) t for each unit, given the sums of abs(M) by sample."""
        # A contribution is at most the sum of one term of each sample: 2 x^2 + u, or abs(x) + u, or cap / 2 + u.
        largest = float(sizes.max()) or 1.0  # float32 would round small sums to zero
        weights = (sizes / largest).astype(self.x.dtype)
        found, numbers = np.zeros(len(self.x)), np.isinf(self.cap)
        found[~numbers] = self.cap[~numbers] * (weights.sum() / 2)
        x = self.x if numbers.all() else self.x[numbers]
        found[numbers] = np.abs(x) @ weights if absolute else 2 * (np.square(x) @ weights)
        found += (np.abs(self.offsets) @ weights)[self.which]
        return np.asarray(1.001 * largest * np.add.reduceat(found, self.ends[:-1]))


def encode(
    columns: Columns, features: Indices, power: int, dtype: Any = np.float64, scale: Array | None = None
) -> Encoded:
    """Encode columns for kernels of squared (power 2) or absolute differences, which are divided by a scale each."""
    x, unit = columns.rows(features), np.ones(len(features)) if scale is None else scale
    different, neutral = columns.different[features] / unit, columns.neutral[features] / unit
    categories, incomplete = different > 0, columns.missing[features]
    numbers = np.flatnonzero(~categories)
    if scale is not None:
        x[numbers] /= (np.sqrt(unit) if power == 2 else unit)[numbers, None]
    for k in np.flatnonzero(categories):  # a power of two keeps equal codes equal
        x[k] *= 2.0 ** math.ceil(1 + math.log2(max(different[k], 1e-300)) / power)
    offsets, which = np.zeros((1 + np.count_nonzero(incomplete), x.shape[1])), np.zeros(len(features), np.int64)
    bend = np.zeros(len(features))
    for row, k in enumerate(np.flatnonzero(incomplete), start=1):
        absent = np.isnan(x[k])
        which[k] = row
        offsets[row] = (neutral[k] - different[k]) / 2 * absent
        if not categories[k]:
            x[k, absent] = 0.0
            bend[k] = columns.together
    cap = np.where(categories, different, np.inf)
    x, offsets, cap, bend = (array.astype(dtype, copy=False) for array in (x, offsets, cap, bend))
    return Encoded(x, offsets, which, cap, bend, np.arange(len(features) + 1))
