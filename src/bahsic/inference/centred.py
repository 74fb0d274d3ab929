r"""Doubly centred kernel matrices A = HKH and B = HLH, and the sums that tests of independence need.

The biased estimate is <A, B> / (m - 1)^2. The unbiased one, from their diagonals a and b:

.. math:: [<A, B> - \frac{m}{m - 2} a'b + \frac{\mathrm{tr} A \; \mathrm{tr} B}{(m - 1)(m - 2)}] / (m (m - 3))

(e_uhsic for matrices whose rows sum to zero, so that row sums without the diagonal are -a and -b).
A permutation of the labels changes <A, B> and a'b only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bahsic.criteria.weights import Gram, centred
from bahsic.inference.column_kernels import ColumnKernel, Part, centred_column
from bahsic.inference.factors import pivoted_factors
from bahsic.kernels.rows import row_blocks, scaled_by_power_of_two

Array = NDArray[np.float64]
Permutations = NDArray[np.int32]

# Reading one entry of a permuted matrix takes as long as so many multiplications in a matrix product.
_PRICE_OF_LOOKING_UP = 40

# Largest error of factors, relative to the matrix, with which they are used.
_LARGEST_ERROR = 1e-12

# Rows of the products in one task.
_ROWS = 512


@dataclass(frozen=True, eq=False)
class CentredMatrices:
    """Centred matrices HKH of c kernels on the same m samples, as factors or (one kernel) as a matrix.

    Attributes
    ----------
    diagonals : ndarray of shape (c, m)
    squares : ndarray of shape (c,)
        Sums of the squared entries.
    factors : ndarray of shape (c, rank, m) or None
        HKH is the sum of the outer products f f' of these vectors, and of the parts.
    matrix : ndarray of shape (m, m) or None
        HKH itself.
    errors : ndarray of shape (c,)
        Frobenius norms of the errors of the factors.
    exponent : int
        Entries of HKH are those stored here times 2**exponent, so that squares neither overflow nor underflow.
    parts : tuple of Groups and Chain
        Further parts of a single matrix (c = 1), beside its factors.
    """

    diagonals: Array
    squares: Array
    factors: Array | None
    matrix: Array | None
    errors: Array
    exponent: int = 0
    parts: tuple[Part, ...] = ()

    @property
    def traces(self) -> Array:
        traces: Array = self.diagonals.sum(axis=1)
        return traces

    @property
    def price(self) -> int:
        """Cost of a product, in multiplications for each row and column of the other matrix."""
        return _PRICE_OF_LOOKING_UP if self.factors is None else int(self.factors.shape[1])


def from_matrix(gram: Gram) -> CentredMatrices:
    """Doubly centre a matrix that is read by blocks."""
    m = len(gram)
    A, centred_gram = np.empty((m, m)), centred(gram, "biased")
    for rows in row_blocks(m):
        A[rows] = centred_gram.block(rows, slice(0, m))
    exponent = math.frexp(max(float(A.max()), -float(A.min())))[1]
    A = np.ldexp(A, -exponent, out=A)
    square = sum(float(np.vdot(A[rows], A[rows])) for rows in row_blocks(m))
    return CentredMatrices(np.diagonal(A)[None], np.array([square]), None, A, np.zeros(1), exponent)


def from_vectors(vectors: NDArray[Any]) -> CentredMatrices:
    """Centred matrix of the inner products of vectors (m, k)."""
    scaled, exponent = scaled_by_power_of_two(vectors - vectors.mean(axis=0))
    factors = np.array(scaled.T[None], dtype=np.float64)
    return replace(from_factors(factors, np.zeros(1)), exponent=2 * exponent)


def from_factors(factors: Array, left: Array) -> CentredMatrices:
    """Centred matrices of factors (c, rank, m), which are overwritten; ``left`` bounds the norms of their errors."""
    factors -= factors.mean(axis=2, keepdims=True)
    inner = np.matmul(factors, factors.transpose(0, 2, 1))
    squares = np.square(inner).sum(axis=(1, 2))
    return CentredMatrices(np.square(factors).sum(axis=1), squares, factors, None, left)


def from_column(kernel: ColumnKernel) -> CentredMatrices:
    """Centred matrix of a single column."""
    found, square, exponent = centred_column(kernel, np.ones(kernel.factors.shape[1]))
    diagonal = sum((part.diagonal() for part in found.parts), start=np.square(found.factors).sum(axis=0))
    error = np.array([found.left])
    return CentredMatrices(
        diagonal[None], np.array([square]), found.factors[None], None, error, exponent, parts=found.parts
    )


def as_matrix(A: CentredMatrices) -> CentredMatrices:
    """The same single matrix, written out."""
    if A.factors is None:
        return A
    matrix = A.factors[0].T @ A.factors[0]
    for part in A.parts:
        D = part.matrix()
        D -= D.mean(axis=0)
        D -= D.mean(axis=1, keepdims=True)
        matrix += D
    return replace(A, factors=None, matrix=matrix, parts=())


def factored(A: CentredMatrices) -> CentredMatrices | None:
    """Factors of a matrix, or None if its rank is more than a quarter of its size or their error is too large."""
    matrix = A.matrix
    if matrix is None:
        return A
    m = len(matrix)
    factors, _ = pivoted_factors(A.diagonals.copy(), lambda pivots: matrix[pivots], m // 4)
    F = factors[0]
    # The matrix may come from a user's function and be indefinite, so the error has to be computed.
    missing = sum(float(np.square(matrix[rows] - F[:, rows].T @ F).sum()) for rows in row_blocks(m))
    error = np.sqrt(missing)
    if error > _LARGEST_ERROR * np.sqrt(A.squares[0]):
        return None
    return replace(A, factors=factors, matrix=None, errors=np.array([error]))


def for_permutations(A: CentredMatrices, B: CentredMatrices) -> tuple[CentredMatrices, CentredMatrices]:
    """Two matrices in the forms, matrix or factors, for which `permuted_products` is quickest."""
    m = int(A.diagonals.shape[1])
    forms = [(a, b) for a in (A, factored(A)) for b in (B, factored(B)) if a is not None and b is not None]

    def price(form: tuple[CentredMatrices, CentredMatrices]) -> int:
        a, b = form
        if a.factors is not None and b.factors is not None:
            return a.price * b.price
        return m * min(a.price, b.price)

    return min(forms, key=price)


def products(A: CentredMatrices, B: CentredMatrices) -> Array:
    """Inner products <A, B> for each of the matrices of A, shape (c,); B is a single matrix."""
    m = A.diagonals.shape[1]
    found: Array = permuted_products(A, B, np.arange(m, dtype=np.int32)[None])[0]
    return found


def permuted_products(A: CentredMatrices, B: CentredMatrices, permutations: Permutations) -> Array:
    """Sums over i and j of A_ij B_p(i)p(j) for permutations p (n, m) and each of the matrices of A, shape (n, c)."""
    n, m = permutations.shape
    if A.factors is not None and B.factors is not None:
        shuffled = np.take(B.factors[0], permutations, axis=1).reshape(-1, m)
        projections = shuffled @ A.factors.reshape(-1, m).T
        np.square(projections, out=projections)
        sums: Array = projections.reshape(B.factors.shape[1], n, *A.factors.shape[:2]).sum(axis=(0, 3))
        for part in A.parts:
            sums += part.forms(shuffled).reshape(-1, n).sum(axis=0)[:, None]
        return sums
    if A.matrix is not None and B.factors is not None:
        return _quadratic_forms(A.matrix, np.take(B.factors, permutations, axis=2)).T
    if A.factors is not None and B.matrix is not None:
        return _quadratic_forms(B.matrix, np.take(A.factors, _inverses(permutations), axis=2)).T
    if A.matrix is not None and B.matrix is not None:
        return np.array([[_looked_up(A.matrix, B.matrix, permutation)] for permutation in permutations])
    raise AssertionError("a matrix is given as itself or as factors")


def _quadratic_forms(matrix: Array, vectors: Array) -> Array:
    """Sums over the second axis of v' M v, for vectors of shape (c, rank, n, m): shape (c, n)."""
    rows = vectors.reshape(-1, len(matrix))
    forms: Array = np.vecdot(rows @ matrix, rows).reshape(vectors.shape[:3]).sum(axis=1)
    return forms


def _looked_up(A: Array, B: Array, permutation: NDArray[np.int32]) -> float:
    # Whole rows: one triangle has half the entries, but not in contiguous rows, which is slower.
    parts = row_blocks(len(A))
    return sum(float(np.vdot(A[part], B[permutation[part]].take(permutation, axis=1))) for part in parts)


def _inverses(permutations: Permutations) -> Permutations:
    inverses = np.empty_like(permutations)
    np.put_along_axis(inverses, permutations, np.arange(permutations.shape[1], dtype=np.int32)[None], axis=1)
    return inverses


def chunk_size(A: CentredMatrices, B: CentredMatrices) -> int:
    """Number of permutations for one call of `permuted_products`; independent of the number of threads."""
    ranks = [side.factors.shape[1] for side in (B, A) if side.factors is not None]
    return max(1, _ROWS // max(1, ranks[0])) if ranks else 1


def diagonal_products(A: CentredMatrices, B: CentredMatrices, permutations: Permutations) -> Array:
    """Sums over i of A_ii B_p(i)p(i), shape (n, c)."""
    found: Array = B.diagonals[0][permutations] @ A.diagonals.T
    return found


def unbiased(A: CentredMatrices, B: CentredMatrices, products: Array, diagonals: Array) -> Array:
    """Unbiased estimates from <A, B> and a'b, by the formula at the head of this module."""
    m = A.diagonals.shape[1]
    constant = A.traces * B.traces / ((m - 1) * (m - 2))
    return _scaled((products - m / (m - 2) * diagonals + constant) / (m * (m - 3)), A, B)


def _scaled(values: Array, A: CentredMatrices, B: CentredMatrices) -> Array:
    return np.ldexp(values, A.exponent + B.exponent)


def uncertainty(A: CentredMatrices, B: CentredMatrices) -> Array:
    """Bounds on the errors of unbiased estimates by rounding and by factors, shape (c,)."""
    m = A.diagonals.shape[1]
    a, b = np.sqrt(A.squares), np.sqrt(B.squares)
    missing = A.errors * (b + B.errors) + a * B.errors
    # Products, diagonals and traces enter with weights 1, m / (m - 2) and less: together less than 4.
    return _scaled(4 * (2 * m * np.finfo(float).eps * a * b + missing) / (m * (m - 3)), A, B)


def permutation_moments(A: CentredMatrices, B: CentredMatrices) -> tuple[Array, Array]:
    """Mean and variance of <A, B> over all permutations of the samples of B, each of shape (c,).

    With traces T, sums of squares T2 and sums of squared diagonals S (Kazi-Aoual et al. 1995):
    mean ``T_A T_B / (m - 1)``, variance
    ``2 u_A u_B / ((m-1)^2 (m+1) (m-2)) + v_A v_B / (m (m+1) (m-1) (m-2) (m-3))`` with
    ``u = (m-1) T2 - T^2`` and ``v = m (m+1) S - (m-1) (T^2 + 2 T2)``.
    """
    m = A.diagonals.shape[1]
    u_A, v_A = _invariants(A, m)
    u_B, v_B = _invariants(B, m)
    mean = A.traces * B.traces / (m - 1)
    variance = 2 * u_A * u_B / ((m - 1) ** 2 * (m + 1) * (m - 2))
    variance += v_A * v_B / (m * (m + 1) * (m - 1) * (m - 2) * (m - 3))
    return mean, variance


def _invariants(A: CentredMatrices, m: int) -> tuple[Array, Array]:
    T, T2, S = A.traces, A.squares, np.square(A.diagonals).sum(axis=1)
    return (m - 1) * T2 - T**2, m * (m + 1) * S - (m - 1) * (T**2 + 2 * T2)
