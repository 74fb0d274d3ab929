"""Sparse columns, standardised without becoming dense: all entries of a column that are not stored have one value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bahsic.data.standard import standardised

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


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
    def standardised(
        X: sparse.csc_array, weights: NDArray[Any] | None, *, standardize: bool, n_own: int | None = None
    ) -> tuple[SparseRows, NDArray[np.bool_]]:
        """Columns of X (n_samples, n_features), standardised if asked for, and a mask of the constant ones.

        Missing entries (stored as NaN) stay NaN and do not enter means. Means and deviations are those of the first
        ``n_own`` samples, by default of all.
        """
        numbers = _SparseNumbers(sparse.csr_array(X.T, dtype=np.float64, copy=True), weights, n_own)
        constant = standardised(numbers, standardize=standardize, centre=False).constant
        return SparseRows(numbers.XT, numbers.otherwise), constant


class _SparseNumbers:
    """Sparse columns, the rows of XT, while they are standardised; ``otherwise`` is what is not stored."""

    def __init__(self, XT: sparse.csr_array, weights: NDArray[Any] | None, n_own: int | None = None) -> None:
        XT.sort_indices()  # or `extremes` would, and what follows would belong to other entries
        self.XT, self.otherwise = XT, np.zeros(XT.shape[0])
        self._feature = np.repeat(np.arange(XT.shape[0]), np.diff(XT.indptr))
        self._absent = np.isnan(XT.data)
        self._n_own = XT.shape[1] if n_own is None else n_own
        w = np.zeros(XT.shape[1])
        w[: self._n_own] = 1.0 if weights is None else weights
        self._weights = np.where(self._absent, 0.0, w[XT.indices])
        self._others = w.sum() - self._sums(w[XT.indices])  # weights of the entries that are not stored
        self._others[self._sums(w[XT.indices] > 0) == self._n_own] = 0.0
        self._observed = self._sums(self._weights) + self._others
        self._observed[self._observed == 0] = 1.0  # nothing is known of a column: it is constant

    def extremes(self) -> tuple[Array, Array]:
        own = self.XT[:, : self._n_own]
        low, high = (np.asarray(found.todense()).ravel() for found in (own.nanmin(axis=1), own.nanmax(axis=1)))
        return np.nan_to_num(low), np.nan_to_num(high)

    def means(self) -> Array:
        return self._mean_of(self._known(), self.otherwise)

    def safe_shifts(self) -> Array:
        return np.zeros(len(self.otherwise))

    def mean_squares(self) -> Array:
        return self._mean_of(np.square(self._known()), np.square(self.otherwise))

    def scale(self, exponents: NDArray[np.int32]) -> None:
        self.XT.data = np.ldexp(self.XT.data, -exponents[self._feature])

    def shift(self, by: Array) -> None:
        self.XT.data -= by[self._feature]
        self.otherwise -= by

    def divide(self, by: Array) -> None:
        self.XT.data /= by[self._feature]
        self.otherwise /= by

    def clear(self, columns: NDArray[np.bool_]) -> None:
        self.XT.data[columns[self._feature] & ~self._absent] = 0.0
        self.otherwise[columns] = 0.0

    def _known(self) -> Array:
        """Stored entries, zero where they are missing."""
        return np.where(self._absent, 0.0, self.XT.data)

    def _mean_of(self, stored: Array, otherwise: Array) -> Array:
        return np.asarray((self._sums(stored * self._weights) + otherwise * self._others) / self._observed)

    def _sums(self, stored: Array) -> Array:
        """Sums over the stored entries of each column."""
        return np.asarray(np.bincount(self._feature, stored, self.XT.shape[0]), dtype=np.float64)
