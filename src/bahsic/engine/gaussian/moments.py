"""Factors of W and power sums of the columns, which are computed once for a search."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bahsic.data.columns import Columns
from bahsic.engine.executor import Executor
from bahsic.engine.gaussian.expansion import Expansion

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Features whose moments are made at a time, and entries of them.
_CHUNK, _CHUNK_ENTRIES = 64, 1 << 21


@dataclass(frozen=True)
class LowRank:
    """Factors of W = Q B Q' off the diagonal.

    Attributes
    ----------
    Q : ndarray of shape (n_samples, q)
    B : ndarray of shape (q, q)
    diagonal : ndarray of shape (n_samples,)
        The diagonal of Q B Q', which is subtracted from its quadratic forms.
    sums : ndarray of shape (n_samples,)
        Row sums of W without its diagonal.
    norm : float
        Bound on the row sums of abs(W).
    """

    Q: Array
    B: Array
    diagonal: Array
    sums: Array
    norm: float


@dataclass(frozen=True)
class Moments:
    """Sums over the samples of powers of each feature, for quadratic forms of W and for error bounds.

    Attributes
    ----------
    features : ndarray of shape (n,)
        The features, in increasing order.
    ranges : ndarray of shape (n,)
        Largest magnitude r of each feature; powers are those of z = x / r.
    projections : ndarray of shape (n, degree + 1, q)
        Sums of z^p times the columns of Q.
    diagonals : ndarray of shape (n, degree + 1)
        Sums of z^(2 p) times the diagonal of Q B Q'.
    norms : ndarray of shape (n, degree + 1)
        Sums of z^(2 p).
    """

    features: Indices
    ranges: Array
    projections: Array
    diagonals: Array
    norms: Array

    @property
    def degree(self) -> int:
        """Largest degree of polynomials that these moments suffice for."""
        return int(self.norms.shape[1]) - 1

    @staticmethod
    def empty(features: Indices, ranges: Array, degree: int, q: int) -> Moments:
        """Uninitialised moments of features with the given ranges."""
        n = len(features)
        return Moments(
            features, ranges, np.empty((n, degree + 1, q)), np.empty((n, degree + 1)), np.empty((n, degree + 1))
        )

    @staticmethod
    def made(features: Indices, degree: int, columns: Columns, low_rank: LowRank, executor: Executor) -> Moments:
        """Moments of some features."""
        moments = Moments.empty(features, columns.ranges[features], degree, low_rank.Q.shape[1])
        chunk = max(1, min(_CHUNK, _CHUNK_ENTRIES // columns.n_samples))

        def fill(start: int) -> None:
            part = slice(start, min(start + chunk, len(features)))
            moments.fill(part, columns.rows(features[part]), low_rank)

        executor.map(fill, range(0, len(features), chunk))
        return moments

    def fill(self, part: slice, columns: Array, low_rank: LowRank) -> None:
        """Compute the moments of the features at positions ``part``, given their columns (c, n_samples)."""
        weights = np.column_stack([low_rank.Q, low_rank.diagonal, np.ones(columns.shape[1])])
        power, q = np.ones_like(columns), low_rank.Q.shape[1]
        z = columns / np.where(self.ranges[part] > 0, self.ranges[part], 1.0)[:, None]
        for p in range(self.degree + 1):
            sums = power @ weights
            self.projections[part, p] = sums[:, :q]
            if p % 2 == 0:
                self.diagonals[part, p // 2], self.norms[part, p // 2] = sums[:, q:].T
            power *= z
        z *= z
        power = z ** (self.degree // 2 + 1)
        for p in range(self.degree // 2 + 1, self.degree + 1):  # of the higher powers, only the even ones
            self.diagonals[part, p], self.norms[part, p] = (power @ weights[:, q:]).T
            power *= z

    def of(self, columns: Indices, terms: Expansion) -> tuple[Array, Array, Array]:
        """Sums over the samples of the polynomials phi_k of an expansion, for some features.

        Returns Q' phi_k (n_terms, c, q), the sums of phi_k^2 times the diagonal of Q B Q', and the sums of
        phi_k^2 (n_terms, c).
        """
        squares = np.stack([np.convolve(row, row)[::2] for row in terms.monomials]).T
        columns = np.searchsorted(self.features, columns)
        powers = (self.ranges[columns, None] / terms.radius) ** np.arange(terms.degree + 1)
        n = terms.degree + 1
        projections = self.projections[columns, :n] * powers[:, :, None]
        return (
            np.tensordot(terms.monomials, projections, axes=(1, 1)),
            ((self.diagonals[columns, :n] * powers**2) @ squares).T,
            ((self.norms[columns, :n] * powers**2) @ squares).T,
        )


@dataclass(frozen=True)
class SearchMoments:
    """Moments that serve all rounds of a search: made when first asked for, which few rounds forward never do.

    Attributes
    ----------
    features : ndarray of int
        The features that may be asked for, in increasing order.
    columns : Columns
    low_rank : LowRank
        The factors of W.
    executor : Executor
    degree : int
        Largest degree of polynomials that may be asked for.
    """

    features: Indices
    columns: Columns
    low_rank: LowRank
    executor: Executor
    degree: int

    @cached_property
    def _made(self) -> Moments:
        return Moments.made(self.features, self.degree, self.columns, self.low_rank, self.executor)

    def of(self, columns: Indices, terms: Expansion) -> tuple[Array, Array, Array]:
        """Sums over the samples of the polynomials of an expansion, see `Moments.of`."""
        return self._made.of(columns, terms)


@dataclass(frozen=True)
class RoundMoments:
    """Moments with a W that serves one round only: made when asked for, up to the degree that is needed.

    Attributes
    ----------
    columns : Columns
    low_rank : LowRank
        The factors of W.
    executor : Executor
    degree : int
        Largest degree of polynomials that may be asked for.
    """

    columns: Columns
    low_rank: LowRank
    executor: Executor
    degree: int

    def of(self, columns: Indices, terms: Expansion) -> tuple[Array, Array, Array]:
        """Sums over the samples of the polynomials of an expansion, see `Moments.of`."""
        moments = Moments.made(columns, terms.degree, self.columns, self.low_rank, self.executor)
        return moments.of(columns, terms)
