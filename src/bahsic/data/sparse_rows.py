"""Sparse columns, standardised without becoming dense: all entries of a column that are not stored have one value."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis, min_max_axis

from bahsic.arrays import Array, Indices, Mask
from bahsic.data.standard import Standardisation, safe_exponents
from bahsic.kernels.bandwidth import ScaledKernel
from bahsic.kernels.base import Kernel

# Share of stored entries up to which these alone score a column, and how much quicker that is.
RARE, _GAIN = 1 / 8, 10

# Contributions of features to pairs of samples that a core makes in a second, and seconds from which on to warn.
_RATE, _LONG = 4e9, 10.0
_UNITS = ("hours", 3600), ("minutes", 60), ("seconds", 1)


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Columns of a sparse table, a row each, made dense when they are used."""

    stored: sparse.csr_array
    otherwise: Array

    @property
    def shape(self) -> tuple[int, int]:
        """Number of features and of samples."""
        n_features, n_samples = self.stored.shape
        return int(n_features), int(n_samples)

    def rows(self, features: Indices, out: Array | None = None, samples: slice | None = None) -> Array:
        """Return some columns, a row each, of all samples or of a range of them."""
        part = self.stored[features] if samples is None else self.stored[features][:, samples]
        dense = np.empty(part.shape) if out is None else out
        dense[:] = self.otherwise[features, None]
        dense[part.tocoo().coords] = part.data
        return dense

    def of_samples(self, samples: Indices) -> SparseRows:
        """Return the same columns for some samples only."""
        return replace(self, stored=self.stored[:, samples])

    def scaled(self, exponent: int) -> SparseRows:
        """All values times 2**exponent."""
        factor = math.ldexp(1.0, exponent)
        return SparseRows(self.stored * factor, self.otherwise * factor)

    def shift(self, feature: int, by: float) -> None:
        """Take a number off a column, in place."""
        self.stored.data[slice(*self.stored.indptr[feature : feature + 2])] -= by
        self.otherwise[feature] -= by

    def clear(self, features: Indices) -> None:
        """Set columns to zero, in place."""
        for feature in features:
            self.stored.data[slice(*self.stored.indptr[feature : feature + 2])] = 0.0
        self.otherwise[features] = 0.0

    @staticmethod
    def standardised(X: sparse.csc_array, how: Standardisation) -> tuple[SparseRows, Mask]:
        """Return columns of X (n_samples, n_features), standardised if asked for, and a mask of the constant ones."""
        XT = sparse.csr_array((X if how.order is None else X[how.order]).T, dtype=np.float64, copy=True)
        XT.sort_indices()
        extremes = min_max_axis(XT[:, : how.n_own].T, axis=0, ignore_nan=True)
        low, high = (np.nan_to_num(values) for values in extremes)
        constant, feature = low == high, np.repeat(np.arange(XT.shape[0]), np.diff(XT.indptr))
        exponents = safe_exponents(low, high, standardize=how.standardize)
        XT.data = np.ldexp(XT.data, -exponents[feature])
        otherwise = np.zeros(XT.shape[0])
        if how.standardize:
            means, variances = mean_variance_axis(XT[:, : how.n_own].T, axis=0, weights=how.weights)
            means, deviations = np.nan_to_num(means), np.where(constant, 1.0, np.sqrt(np.nan_to_num(variances)))
            XT.data = (XT.data - means[feature]) / deviations[feature]
            XT.data[constant[feature] & ~np.isnan(XT.data)] = 0.0
            otherwise = np.where(constant, 0.0, -means / deviations)
        return SparseRows(XT, otherwise), constant


def warn_of_cost(X: Any, kernel: Kernel, n_pairs: float, n_candidates: float) -> None:
    """Warn if a search on sparse data takes long: it visits all pairs of samples, however few entries are stored."""
    if not isinstance(kernel, ScaledKernel):
        return
    rare = np.mean(np.diff(sparse.csc_array(X).indptr) <= RARE * X.shape[0])
    seconds = n_pairs * n_candidates / _RATE * (1 - rare + rare / _GAIN)
    if seconds < _LONG:
        return
    unit, length = next((unit, size) for unit, size in _UNITS if seconds >= 2 * size)
    share = 100 * X.nnz / math.prod(X.shape)
    warnings.warn(
        f"X is sparse, with {share:.2g}% of its entries stored, but the search visits all pairs of samples and takes "
        f"about {seconds / length:.0f} {unit} of one core; fewer columns, such as those of scikit-learn's "
        "SelectKBest, fewer samples or a larger step take less",
        UserWarning,
        stacklevel=5,
    )
