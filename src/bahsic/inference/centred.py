"""Doubly centred kernel matrices HKH, as matrices or as factors, and their inner products."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bahsic.criteria.weights import Gram, centred
from bahsic.inference.cholesky import pivoted_cholesky
from bahsic.kernels.rows import row_blocks, scaled_by_power_of_two

Array = NDArray[np.float64]

# Largest error of factors, relative to the matrix, with which they are used.
_LARGEST_ERROR = 1e-12


@dataclass(frozen=True, eq=False)
class CentredMatrices:
    """Centred kernel matrices of c kernels on the same m samples: as matrices, or as F'F + diag(excess).

    Attributes
    ----------
    diagonals : ndarray of shape (c, m)
    squares : ndarray of shape (c,)
        Sums of the squared entries.
    errors : ndarray of shape (c,)
        Frobenius norms of the errors of the factors.
    exponents : ndarray of int of shape (c,)
        The matrices are those stored here times 2**exponents, so that squares neither overflow nor underflow.
    matrices : ndarray of shape (c, m, m) or None
        The matrices themselves, in place of factors.
    factors : ndarray or csr_array of shape (r, m) or None
        Factors of all matrices, one below the other. Rows of an array are centred, those of a csr_array are not.
    owners : csr_array of shape (c, r) or None
        One where a factor belongs to a matrix.
    excess : ndarray of shape (c, m) or None
        What is added to the diagonals before centring.
    """

    diagonals: Array
    squares: Array
    errors: Array
    exponents: NDArray[np.intp]
    matrices: Array | None = None
    factors: Any = None
    owners: Any = None
    excess: Array | None = None

    @property
    def traces(self) -> Array:
        """Traces of the matrices."""
        return np.asarray(self.diagonals.sum(axis=1))


def from_matrices(grams: Sequence[Gram]) -> CentredMatrices:
    """Doubly centre matrices that are read by blocks."""
    m = len(grams[0])
    A, exponents = np.empty((len(grams), m, m)), np.zeros(len(grams), dtype=np.intp)
    for position, gram in enumerate(grams):
        one, centred_gram = A[position], centred(gram, "biased")
        for rows in row_blocks(m):
            one[rows] = centred_gram.block(rows, slice(0, m))
        exponents[position] = math.frexp(max(float(one.max()), -float(one.min())))[1]
        np.ldexp(one, -exponents[position], out=one)
    squares = np.array([sum(float(np.vdot(one[rows], one[rows])) for rows in row_blocks(m)) for one in A])
    diagonals = np.diagonal(A, axis1=1, axis2=2)
    return CentredMatrices(diagonals, squares, np.zeros(len(A)), exponents, matrices=A)


def from_vectors(vectors: NDArray[Any]) -> CentredMatrices:
    """Centre the matrix of the inner products of vectors (m, k)."""
    scaled, exponent = scaled_by_power_of_two(vectors - vectors.mean(axis=0))
    factors = np.array(scaled.T, dtype=np.float64)
    return replace(from_factors(factors, [len(factors)]), exponents=np.array([2 * exponent]))


def from_factors(
    factors: Any, counts: Sequence[int], errors: Array | None = None, excess: Array | None = None
) -> CentredMatrices:
    """Centre c matrices F'F + diag(excess).

    Parameters
    ----------
    factors : ndarray or csr_array of shape (r, m)
        Those of all matrices; an array is overwritten.
    counts : sequence of c int
        Numbers of factors of each matrix; equal ones for an array.
    errors : ndarray of shape (c,), optional
        Bounds on the norms of the errors, zero by default.
    excess : ndarray of shape (c, m), optional

    Returns
    -------
    CentredMatrices
        Cost O(m r^2 / c); the squares of sparse factors cost O(m c).
    """
    c, owners = len(counts), factor_owners(counts)
    if sparse.issparse(factors):
        means = factors.mean(axis=1)
        shifted = owners @ (factors.power(2) - 2 * sparse.diags_array(means) @ factors)
        diagonals = shifted.toarray() + (owners @ np.square(means))[:, None]
    else:
        factors -= factors.mean(axis=1, keepdims=True)
        diagonals = owners @ np.square(factors)
    diagonals = diagonals if excess is None else diagonals + _centred_diagonals(excess)
    errors = np.zeros(c) if errors is None else errors
    matrices = CentredMatrices(
        diagonals, np.zeros(c), errors, np.zeros(c, dtype=np.intp), factors=factors, owners=owners, excess=excess
    )
    return replace(matrices, squares=_squares(matrices))


def factor_owners(counts: Sequence[int]) -> Any:
    """Return which of sum(counts) factors belong to which matrix, shape (c, sum(counts))."""
    ends = np.append(0, np.cumsum(counts))
    return sparse.csr_array((np.ones(ends[-1]), np.arange(ends[-1]), ends), shape=(len(counts), ends[-1]))


def _centred_diagonals(excess: Array) -> Array:
    """Return the diagonals of HDH for diagonal matrices D."""
    m = excess.shape[1]
    return np.asarray(excess * (1 - 2 / m) + excess.sum(axis=1, keepdims=True) / m**2)


def _squares(A: CentredMatrices) -> Array:
    c, m = A.diagonals.shape
    if sparse.issparse(A.factors):
        return np.diagonal(inner_products(A, A))
    factors = A.factors.reshape(c, A.factors.shape[0] // c, m)
    squares = np.square(np.matmul(factors, factors.transpose(0, 2, 1))).sum(axis=(1, 2))
    if A.excess is None:
        return np.asarray(squares)
    return np.asarray(squares + np.vecdot(A.excess, 2 * A.diagonals - _centred_diagonals(A.excess)))


def factored(A: CentredMatrices) -> CentredMatrices | None:
    """Return factors of a single matrix, or None if its rank is more than a quarter of its size or they are inexact."""
    if A.matrices is None:
        return A
    (matrix,), m = A.matrices, A.diagonals.shape[1]
    (F,), _ = pivoted_cholesky(A.diagonals.copy(), lambda pivots: matrix[pivots], m // 4)
    # The matrix may come from a user's function and be indefinite, so the error has to be computed.
    error = math.sqrt(sum(float(np.square(matrix[rows] - F[:, rows].T @ F).sum()) for rows in row_blocks(m)))
    if error > _LARGEST_ERROR * math.sqrt(A.squares[0]):
        return None
    return replace(A, matrices=None, factors=F, owners=factor_owners([len(F)]), errors=np.array([error]))


def inner_products(A: CentredMatrices, B: CentredMatrices) -> Array:
    """Return the inner products <A_i, B_j> of all pairs of matrices, without their exponents, shape (c, c')."""
    if A.matrices is not None and B.matrices is not None:
        return np.asarray(A.matrices.reshape(len(A.matrices), -1) @ B.matrices.reshape(len(B.matrices), -1).T)
    if A.matrices is not None:
        return inner_products(B, A).T
    table: Any
    if B.matrices is not None:
        table = np.column_stack([A.owners @ _quadratic_forms(matrix, A.factors) for matrix in B.matrices])
    else:
        table = A.owners @ _squared_products(A.factors, B.factors) @ B.owners.T
    if sparse.issparse(table):
        table = table.toarray() + _squared_sums(A) @ _squared_sums(B).T
    if A.excess is not None:
        table += A.excess @ B.diagonals.T
    if B.excess is not None:
        own = 0.0 if A.excess is None else _centred_diagonals(A.excess)
        table += (A.diagonals - own) @ B.excess.T
    return np.asarray(table)


def _quadratic_forms(matrix: Array, factors: Any) -> Array:
    """Return the forms f'Mf of a centred matrix, for factors (r, m)."""
    rows = factors.toarray() if sparse.issparse(factors) else factors
    return np.asarray(np.vecdot(rows @ matrix, rows))


def _squared_products(F: Any, G: Any) -> Any:
    """Return the squared inner products of factors (r, r'); of two sparse ones without the constant part."""
    products = F @ G.T
    if not sparse.issparse(products):
        return np.square(products, out=products)
    # (p - s t / m)^2 = p (p - 2 s t / m) + (s t / m)^2 for the sums s and t of two factors.
    products, m = products.tocoo(), F.shape[1]
    row, col = products.coords
    products.data *= products.data - 2 / m * F.sum(axis=1)[row] * G.sum(axis=1)[col]
    return products.tocsr()


def _squared_sums(A: CentredMatrices) -> Array:
    """Return the sums over the factors of each matrix of s^2 / m, for their sums s; shape (c, 1)."""
    return np.asarray(A.owners @ np.square(A.factors.sum(axis=1)) / A.factors.shape[1])[:, None]
