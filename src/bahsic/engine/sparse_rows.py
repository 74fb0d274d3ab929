"""Sparse columns, standardised without filling them in: what an entry that is not stored stands for is one number."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Columns of a sparse table, a row each, made dense when asked for.

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

    def rows(self, features: Indices, out: Array | None = None) -> Array:
        """Some columns, a row each."""
        dense = np.empty((len(features), self.shape[1])) if out is None else out
        dense[:] = self.otherwise[features, None]
        starts = self.stored.indptr[features]
        counts = self.stored.indptr[features + 1] - starts
        ends = np.cumsum(counts)
        positions = np.repeat(starts - ends + counts, counts) + np.arange(counts.sum())
        dense[np.repeat(np.arange(len(features)), counts), self.stored.indices[positions]] = self.stored.data[positions]
        return dense

    def scaled(self, exponent: int) -> SparseRows:
        """All values times 2**exponent."""
        stored = self.stored.copy()
        stored.data = np.ldexp(stored.data, exponent)
        return replace(self, stored=stored, otherwise=np.ldexp(self.otherwise, exponent))

    @staticmethod
    def standardised(
        X: sparse.csc_array, weights: NDArray[Any] | None, *, standardize: bool
    ) -> tuple[SparseRows, NDArray[np.bool_]]:
        """The columns of X (n_samples, n_features), standardised if asked for, and which are constant."""
        XT = sparse.csr_array(X.T, dtype=np.float64, copy=True)
        XT.sum_duplicates()
        n_features, m = XT.shape
        w = np.ones(m) if weights is None else np.asarray(weights, dtype=np.float64)
        otherwise = np.zeros(n_features)
        full = np.diff(XT.indptr) == m
        low, high = (np.asarray(extreme.todense()).ravel() for extreme in (XT.min(axis=1), XT.max(axis=1)))
        constant = low == high
        if not standardize:
            return SparseRows(XT, otherwise), constant
        peaks = np.maximum(np.abs(low), np.abs(high))
        exponents = np.where((peaks > 1e150) | ((peaks < 1e-130) & (peaks > 0)), np.frexp(peaks)[1], 0)
        feature = np.repeat(np.arange(n_features), np.diff(XT.indptr))
        XT.data = np.ldexp(XT.data, -exponents[feature])
        w_total = float(w.sum())
        w_stored = np.where(full, w_total, np.bincount(feature, w[XT.indices], n_features))
        for _ in range(2):  # the second time takes off what rounding left of a large mean
            sums = np.bincount(feature, XT.data * w[XT.indices], n_features)
            means = (sums + otherwise * (w_total - w_stored)) / w_total
            XT.data -= means[feature]
            otherwise -= means
        squares = np.bincount(feature, np.square(XT.data) * w[XT.indices], n_features)
        variances = (squares + np.square(otherwise) * (w_total - w_stored)) / w_total
        deviations = np.where(constant, 1.0, np.sqrt(variances))
        XT.data /= deviations[feature]
        XT.data[constant[feature]] = 0.0
        return SparseRows(XT, np.where(constant, 0.0, otherwise / deviations)), constant
