"""Families of columns whose Gaussian factor separates: by polynomials, or by their few values.

Each family knows, for its columns, the terms of ``g - 1 = u + u' + sum lambda_k phi_k phi_k'``, fills
the leading functions phi_k into the columns of a product, and says what is known without a product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bahsic.engine.separable import Expansion, chebyshev_values, even_polynomial

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Functions = Sequence[NDArray[Any]]  # of shape (c, n_samples) each, in the dtype that the term needs

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Known:
    """What is known of the changes by c features before any product with R.

    Attributes
    ----------
    value : ndarray of shape (c,)
        The part of the change that needs no product: the edges u, and kappa W in all terms.
    dropped : ndarray of shape (c,)
        Bound on the terms beyond the leading ones.
    sizes : ndarray of shape (n_leading, c)
        Bounds on the sums of magnitudes in each leading term, for the rounding of the products.
    error : ndarray of shape (c,)
        Bound on the rounding error of everything else.
    eigenvalues : ndarray of shape (n_leading, c)
        The lambda_k of the leading terms.
    """

    value: Array
    dropped: Array
    sizes: Array
    error: Array
    eigenvalues: Array


@dataclass(frozen=True)
class Matrices:
    """M = kappa W + R, as far as it is known without products.

    Attributes
    ----------
    sums : ndarray of shape (n_samples,)
        Row sums of M.
    magnitudes : ndarray of shape (n_samples,)
        Row sums of abs(R).
    kappa : float
    low_rank : LowRank
        The factors of W, empty where it has none (kappa is zero then).
    floor : float
        Relative rounding error of sums over the samples in float64.
    """

    sums: Array
    magnitudes: Array
    kappa: float
    low_rank: LowRank
    floor: float

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return len(self.sums)

    def forms_of_W(self, projections: Array, diagonals: Array) -> Array:
        """phi' W phi from Q' phi (..., q) and the sum of phi^2 over the diagonal of Q B Q'."""
        return np.vecdot(projections @ self.low_rank.B, projections) - diagonals


@dataclass(frozen=True)
class LowRank:
    """W = Q B Q' off the diagonal, with ``diagonal`` = diag(Q B Q'), and the largest row sum of abs(W)."""

    Q: Array
    B: Array
    diagonal: Array
    norm: float


class Family(Protocol):
    """Columns that share the form of their expansion."""

    @property
    def members(self) -> Indices:
        """Positions of the columns among those that were asked for."""

    @property
    def n_leading(self) -> int:
        """Number of terms that enter the products."""

    @property
    def n_double(self) -> int:
        """How many of these, from the first on, need float64; float32 will do for the others."""

    @property
    def width(self) -> int:
        """Arrays of the size of a column that `evaluate` makes for each column."""

    @property
    def remainder(self) -> float:
        """Bound on what is left after all terms, at any pair of samples."""

    def evaluate(self, part: slice, matrices: Matrices, out: Functions) -> Known:
        """Fill the leading functions of the members ``part`` into ``out``, an array for each."""


@dataclass(frozen=True)
class Moments:
    """Sums of powers of each feature over the samples: all that W and error bounds need of them.

    Attributes
    ----------
    projections : ndarray of shape (n_features, degree + 1, q)
        Sums of x^p times the columns of Q.
    diagonals : ndarray of shape (n_features, degree + 1)
        Sums of x^(2 p) times the diagonal of Q B Q'.
    norms : ndarray of shape (n_features, degree + 1)
        Sums of x^(2 p).
    """

    projections: Array
    diagonals: Array
    norms: Array

    @property
    def degree(self) -> int:
        """Degree of the polynomials that these moments serve."""
        return self.norms.shape[1] - 1

    @staticmethod
    def empty(n_features: int, degree: int, q: int) -> Moments:
        """Room for the moments of some features."""
        return Moments(
            np.empty((n_features, degree + 1, q)),
            np.empty((n_features, degree + 1)),
            np.empty((n_features, degree + 1)),
        )

    def fill(self, part: slice, columns: Array, low_rank: LowRank) -> None:
        """Moments of the features ``part``, given their columns (c, n_samples)."""
        weights = np.column_stack([low_rank.Q, low_rank.diagonal, np.ones(columns.shape[1])])
        power, q = np.ones_like(columns), low_rank.Q.shape[1]
        for p in range(2 * self.degree + 1):
            sums = power @ weights
            if p <= self.degree:
                self.projections[part, p] = sums[:, :q]
            if p % 2 == 0:
                self.diagonals[part, p // 2], self.norms[part, p // 2] = sums[:, q], sums[:, q + 1]
            power *= columns


@dataclass(frozen=True)
class Polynomial:
    """Columns of many values, by an expansion of low degree: only the leading terms are evaluated."""

    members: Indices
    XT: Array
    columns: Indices
    expansion: Expansion
    n_leading: int
    n_double: int
    moments: Moments

    @property
    def remainder(self) -> float:
        """Bound on what is left after all terms, at any pair of samples."""
        return self.expansion.remainder

    @property
    def width(self) -> int:
        """Arrays of the size of a column that `evaluate` makes for each column."""
        return 4

    def evaluate(self, part: slice, matrices: Matrices, out: Functions) -> Known:
        """Fill the leading functions of the members ``part`` into ``out``."""
        z = self.XT[self.columns[part]]
        z /= self.expansion.radius
        u = z * z
        norms = np.empty((self.n_leading, len(z)))
        for k, coefficients in enumerate(self.expansion.monomials[: self.n_leading]):
            phi = even_polynomial(coefficients, u, z)
            out[k][:] = phi
            norms[k] = np.multiply(phi, phi, out=phi) @ matrices.magnitudes
        edge = even_polynomial(self.expansion.edge_monomials, u, z) @ matrices.sums
        return self._known(part, matrices, edge, norms)

    def _known(self, part: slice, matrices: Matrices, edge: Array, norms: Array) -> Known:
        terms, columns, lead = self.expansion, self.columns[part], self.n_leading
        degree = terms.monomials.shape[1] - 1
        lam, c = terms.eigenvalues[:, None], terms.monomials
        scale = terms.radius ** -np.arange(2 * degree + 1.0)
        projections = np.tensordot(
            c * scale[: degree + 1], self.moments.projections[columns, : degree + 1], axes=(1, 1)
        )
        squares = terms.squares * scale[::2]
        of_W = lam * matrices.forms_of_W(
            projections, squares @ self.moments.diagonals[columns, : degree + 1].T
        )
        plain = np.abs(squares @ self.moments.norms[columns, : degree + 1].T)
        # Monomials cancel: their values are as good as the sum of the magnitudes of their coefficients.
        error = 4 * (degree + 1) * _EPS * np.abs(c).sum(axis=1)[:, None]
        plain += error * np.abs(c).sum(axis=1)[:, None] * matrices.n_samples
        largest = matrices.magnitudes.max() + matrices.kappa * matrices.low_rank.norm
        value = 2 * edge + matrices.kappa * of_W.sum(axis=0)
        dropped = matrices.magnitudes.max() * (np.abs(lam) * plain)[lead:].sum(axis=0)
        sizes = np.abs(lam[:lead]) * norms
        spread = np.sqrt(plain * matrices.n_samples)
        rounding = (np.abs(lam) * error * (2 * spread + error * matrices.n_samples)).sum(axis=0) * largest
        edges = terms.edge_bound * np.abs(matrices.sums).max() * self.moments.norms[columns, 1] * scale[2]
        rounding += matrices.floor * (
            2 * edges + sizes.sum(axis=0) + dropped + matrices.kappa * np.abs(of_W).sum(axis=0)
        )
        return Known(value, dropped, sizes, rounding, np.broadcast_to(lam[:lead], norms.shape))


def _copy(phi: Array, out: Functions) -> None:
    for values, target in zip(phi, out, strict=False):
        target[:] = values


def known_from_functions(
    matrices: Matrices, lam: Array, phi: Array, edge: Array, edge_size: Array, lead: int
) -> Known:
    """What follows from the values of all functions phi (n_terms, c, n_samples), which are overwritten."""
    projections = phi @ matrices.low_rank.Q
    np.multiply(phi, phi, out=phi)
    norms = phi @ np.column_stack([matrices.magnitudes, matrices.low_rank.diagonal])
    of_W = lam * matrices.forms_of_W(projections, norms[..., 1])
    bounds = np.abs(lam) * norms[..., 0]
    dropped = bounds[lead:].sum(axis=0)
    return Known(
        value=2 * edge + matrices.kappa * of_W.sum(axis=0),
        dropped=dropped,
        sizes=bounds[:lead],
        error=matrices.floor
        * (2 * edge_size + bounds.sum(axis=0) + matrices.kappa * np.abs(of_W).sum(axis=0)),
        eigenvalues=lam[:lead],
    )


@dataclass(frozen=True)
class Smooth:
    """Columns of many values, by an expansion of any degree in Chebyshev polynomials."""

    members: Indices
    XT: Array
    columns: Indices
    expansion: Expansion
    n_leading: int
    n_double: int

    @property
    def remainder(self) -> float:
        """Bound on what is left after all terms, at any pair of samples."""
        return self.expansion.remainder

    @property
    def width(self) -> int:
        """Arrays of the size of a column that `evaluate` makes for each column."""
        return sum(self.expansion.functions.shape)

    def evaluate(self, part: slice, matrices: Matrices, out: Functions) -> Known:
        """Fill the leading functions of the members ``part`` into ``out``."""
        z = self.XT[self.columns[part]]
        z /= self.expansion.radius
        basis = chebyshev_values(z, self.expansion.functions.shape[1] - 1)
        phi = (self.expansion.functions @ basis.reshape(len(basis), -1)).reshape(-1, *z.shape)
        _copy(phi, out)
        edge = self.expansion.edge @ (basis @ matrices.sums)
        edge_size = self.expansion.edge_bound * np.abs(matrices.sums).max() * np.vecdot(z, z)
        lam = np.broadcast_to(self.expansion.eigenvalues[:, None], phi.shape[:2])
        return known_from_functions(matrices, lam, phi, edge, edge_size, self.n_leading)


@dataclass(frozen=True)
class Levels:
    """The values of columns that have few of them.

    Attributes
    ----------
    columns : ndarray of shape (n_columns,)
        Which columns these are, in increasing order.
    values : ndarray of shape (n_columns, n_levels)
        The values, the most frequent one first.
    codes : ndarray of int8 of shape (n_columns, n_samples)
        The position in ``values`` of each sample.
    """

    columns: Indices
    values: Array
    codes: NDArray[np.int8]


@dataclass(frozen=True)
class Discrete:
    """Columns of few values: exact, with one term less than values."""

    members: Indices
    levels: Levels
    rows: Indices
    a: float
    double: bool

    @property
    def n_leading(self) -> int:
        """Number of terms, which all enter the products."""
        return self.levels.values.shape[1] - 1

    @property
    def n_double(self) -> int:
        """How many of these need float64."""
        return self.n_leading if self.double else 0

    @property
    def width(self) -> int:
        """Arrays of the size of a column that `evaluate` makes for each column."""
        return self.n_leading + 2

    @property
    def remainder(self) -> float:
        """Nothing is left."""
        return 0.0

    def evaluate(self, part: slice, matrices: Matrices, out: Functions) -> Known:
        """Fill the functions of the members ``part`` into ``out``."""
        values = self.levels.values[self.rows[part]]
        codes = self.levels.codes[self.rows[part]]
        edges = np.expm1(self.a * (values - values[:, :1]) ** 2)
        squares = (values[:, :, None] - values[:, None, :]) ** 2
        core = np.expm1(self.a * squares) - edges[:, :, None] - edges[:, None, :]
        eigenvalues, vectors = np.linalg.eigh(core[:, 1:, 1:])
        tables = np.insert(vectors, 0, 0.0, axis=1)  # every phi_k is zero at the first value
        phi = np.stack(
            [np.take_along_axis(tables[:, :, k], codes, axis=1) for k in range(self.n_leading)]
        )
        _copy(phi, out)
        edge = np.take_along_axis(edges, codes, axis=1)
        edge_size = np.abs(edge) @ np.abs(matrices.sums)
        return known_from_functions(
            matrices, eigenvalues.T, phi, edge @ matrices.sums, edge_size, self.n_leading
        )
