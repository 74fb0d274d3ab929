"""Parts of the score changes that need no matrix product with R, with error bounds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bahsic.engine.gaussian.moments import LowRank

Array = NDArray[np.float64]
Parts = tuple[Array, ...]


@dataclass(frozen=True)
class Known:
    """Parts of the score changes by c features that need no product with R, with error bounds.

    Attributes
    ----------
    value : ndarray of shape (c,)
        The part of the change that needs no product: the edges u(x) + u(y), and kappa W in all terms.
    dropped : ndarray of shape (c,)
        Bound on the terms beyond the leading ones.
    sizes : ndarray of shape (n_leading, c)
        Bounds on the sums of magnitudes in each leading term, for the rounding of the products.
    error : ndarray of shape (c,)
        Bound on all other rounding errors.
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
    """Row sums and bounds of M = kappa W + R.

    Attributes
    ----------
    sums : ndarray of shape (n_samples,)
        Row sums of M.
    magnitudes : ndarray of shape (n_samples,)
        Bounds on the row sums of abs(R).
    kappa : float
    low_rank : LowRank
        The factors of W; without columns, and kappa zero, if W is not of low rank.
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

    @property
    def total(self) -> float:
        """Bound on the sum of abs(M)."""
        return float(self.magnitudes.sum()) + self.kappa * self.low_rank.norm * self.n_samples

    @cached_property
    def weights(self) -> tuple[Array, Array]:
        """Weights of the sums over samples that `FunctionSums` are made of: of u and the phi_k, of their squares."""
        pairs = (self.sums, self.low_rank.Q), (self.magnitudes, self.low_rank.diagonal)
        plain, squared = (np.ascontiguousarray(np.column_stack(pair).T) for pair in pairs)
        return plain, squared

    def low_rank_forms(self, projections: Array, diagonals: Array) -> Array:
        """Quadratic forms phi' W phi from Q' phi (..., q) and the sum of phi^2 times the diagonal of Q B Q'."""
        forms: Array = np.vecdot(projections @ self.low_rank.B, projections) - diagonals
        return forms


class FunctionSums:
    """Sums of functions phi (n_terms, c, n_samples) that `Known` is made from, added up over ranges of samples.

    Parameters
    ----------
    matrices : Matrices
    projections, norms : ndarray of shape (n_terms, c, q) and (n_terms, c, 2), optional
        The sums so far: of the functions times Q, and of their squares times the last of `Matrices.weights`.
    """

    def __init__(self, matrices: Matrices, projections: Any = 0.0, norms: Any = 0.0) -> None:
        self._matrices, self.projections, self.norms = matrices, projections, norms

    def add(self, phi: Array, samples: slice) -> None:
        """Add the values phi of all functions at some samples; phi is overwritten."""
        self.projections = self.projections + phi @ self._matrices.low_rank.Q[samples]
        np.multiply(phi, phi, out=phi)
        self.norms = self.norms + phi @ self._matrices.weights[1][:, samples].T

    def known(
        self, lam: Array, edge: Array, edge_size: Array, lead: int, places: NDArray[np.intp] | slice = slice(None)
    ) -> Parts:
        """Fields of `Known`, given the eigenvalues lam (n_terms, c), and where the function of each is among phi."""
        matrices, norms = self._matrices, self.norms[places]
        of_W = lam * matrices.low_rank_forms(self.projections[places], norms[..., 1])
        bounds = np.abs(lam) * norms[..., 0]
        of_W_size = matrices.kappa * np.abs(of_W).sum(axis=0)
        return (
            2 * edge + matrices.kappa * of_W.sum(axis=0),
            bounds[lead:].sum(axis=0),
            bounds[:lead],
            matrices.floor * (2 * edge_size + bounds.sum(axis=0) + of_W_size),
            lam[:lead],
        )


def known_from_functions(matrices: Matrices, lam: Array, phi: Array, edge: Array, edge_size: Array, lead: int) -> Parts:
    """Fields of `Known` from the values phi (n_terms, c, n_samples) of all functions; phi is overwritten."""
    sums = FunctionSums(matrices)
    sums.add(phi, slice(0, matrices.n_samples))
    return sums.known(lam, edge, edge_size, lead)
