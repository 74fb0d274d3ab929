"""Sparse columns, standardised without becoming dense: all entries of a column that are not stored have one value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Squares of values beyond these, or of their differences, overflow or underflow.
_LARGEST, _SMALLEST = 1e150, 1e-130


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Columns of a sparse table, a row each, made dense when they are used.

    Attributes
    ----------
    stored : csr_array of shape (n_features, n_samples)
        The values of stored entries.
    otherwise : ndarray of shape (n_features,)
        The value of all other entries.
    """

    stored: sparse.csr_array
    otherwise: Array

    @property
    def shape(self) -> tuple[int, int]:
        """Number of features and of samples."""
        n_features, n_samples = self.stored.shape
        return int(n_features), int(n_samples)

    @property
    def nbytes(self) -> int:
        """Memory of the stored entries."""
        return int(self.stored.data.nbytes + self.stored.indices.nbytes)

    def rows(self, features: Indices, out: Array | None = None, samples: slice | None = None) -> Array:
        """Some columns, a row each, of all samples or of a range of them."""
        if samples is not None:
            part = SparseRows(self.stored[features][:, samples], self.otherwise[features])
            return part.rows(np.arange(len(features)), out)
        dense = np.empty((len(features), self.shape[1])) if out is None else out
        dense[:] = self.otherwise[features, None]
        starts = self.stored.indptr[features]
        counts = self.stored.indptr[features + 1] - starts
        ends = np.cumsum(counts)
        positions = np.repeat(starts - ends + counts, counts) + np.arange(counts.sum())
        dense[np.repeat(np.arange(len(features)), counts), self.stored.indices[positions]] = self.stored.data[positions]
        return dense

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Mask of the columns with missing entries."""
        absent = np.isnan(self.stored.data)
        n_features, _ = self.shape
        feature = np.repeat(np.arange(n_features), np.diff(self.stored.indptr))
        found: NDArray[np.bool_] = np.bincount(feature[absent], minlength=n_features) > 0
        return found

    def filled(self) -> SparseRows:
        """Columns with missing entries set to zero."""
        stored = self.stored.copy()
        stored.data = np.nan_to_num(stored.data, nan=0.0)
        return replace(self, stored=stored)

    def of_samples(self, samples: Indices) -> SparseRows:
        """The same columns for some samples only."""
        return replace(self, stored=self.stored[:, samples])

    def scaled(self, exponent: int) -> SparseRows:
        """All values times 2**exponent."""
        stored = self.stored.copy()
        stored.data = np.ldexp(stored.data, exponent)
        return replace(self, stored=stored, otherwise=np.ldexp(self.otherwise, exponent))

    @staticmethod
    def standardised(
        X: sparse.csc_array, weights: NDArray[Any] | None, *, standardize: bool
    ) -> tuple[SparseRows, NDArray[np.bool_]]:
        """Columns of X (n_samples, n_features), standardised if asked for, and a mask of the constant ones.

        Missing entries (stored as NaN) stay NaN and do not enter means.
        """
        XT = sparse.csr_array(X.T, dtype=np.float64, copy=True)
        low, high = (np.asarray(extreme.todense()).ravel() for extreme in (XT.nanmin(axis=1), XT.nanmax(axis=1)))
        constant = low == high
        otherwise = np.zeros(len(constant))
        if standardize:
            peaks = np.maximum(np.abs(low), np.abs(high))
            extreme = (peaks > _LARGEST) | ((peaks < _SMALLEST) & (peaks > 0))
            feature = np.repeat(np.arange(len(constant)), np.diff(XT.indptr))
            XT.data = np.ldexp(XT.data, -np.where(extreme, np.frexp(peaks)[1], 0)[feature])
            otherwise = _standardise(XT, feature, weights, constant)
        return SparseRows(XT, otherwise), constant


def _standardise(
    XT: sparse.csr_array, feature: Indices, weights: NDArray[Any] | None, constant: NDArray[np.bool_]
) -> Array:
    """Give the rows of XT mean zero and variance one in place; returns the value of entries that are not stored."""
    n_features, m = XT.shape
    w = np.ones(m) if weights is None else np.asarray(weights, dtype=np.float64)
    absent = np.isnan(XT.data)
    w_stored, w_here = w[XT.indices], np.where(absent, 0.0, w[XT.indices])
    others = w.sum() - np.bincount(feature, w_stored, n_features)  # weights of the entries that are not stored
    others[np.diff(XT.indptr) == m] = 0.0
    observed = np.bincount(feature, w_here, n_features) + others
    otherwise = np.zeros(n_features)
    for _ in range(2):  # the second time removes the rounding error of a large mean
        sums = np.bincount(feature, np.where(absent, 0.0, XT.data) * w_here, n_features)
        means = (sums + otherwise * others) / observed
        XT.data -= means[feature]
        otherwise -= means
    squares = np.bincount(feature, np.square(np.where(absent, 0.0, XT.data)) * w_here, n_features)
    variances = (squares + np.square(otherwise) * others) / observed
    deviations = np.where(constant, 1.0, np.sqrt(variances))
    XT.data /= deviations[feature]
    XT.data[constant[feature] & ~absent] = 0.0
    return np.where(constant, 0.0, otherwise / deviations)
