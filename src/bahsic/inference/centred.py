r"""Doubly centred kernel matrices A = HKH and B = HLH, their HSIC, and its distribution over permutations of labels.

The biased estimate is <A, B> / (m - 1)^2. The unbiased one, from their diagonals a and b:

.. math:: [<A, B> - \frac{m}{m - 2} a'b + \frac{\mathrm{tr} A \; \mathrm{tr} B}{(m - 1)(m - 2)}] / (m (m - 3))

(e_uhsic for matrices whose rows sum to zero, so that row sums without the diagonal are -a and -b).
A permutation of the labels changes <A, B> and a'b only. There may be several matrices A, but only one B.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from bahsic.arrays import Array, Indices
from bahsic.criteria.weights import Gram, centred
from bahsic.engine.executor import Executor
from bahsic.kernels.rows import row_blocks

Permutations = NDArray[np.int32]

_LARGEST_ERROR = 1e-12  # of factors that are used, relative to the matrix
_TOLERANCE = 1e-13  # trace of the error of a Cholesky factorisation, relative to the matrix: just above rounding
_PRICE_OF_LOOKING_UP = 40  # one entry of a permuted matrix takes as long as so many multiplications in a matrix product
_ROWS = 512  # of the products in one task


@dataclass(frozen=True, eq=False)
class CentredMatrices:
    """Centred kernel matrices of c kernels, over 2**exponents: as matrices, or as F'F + diag(excess)."""

    diagonals: Array  # (c, m)
    exponents: Indices  # (c,): with them, fourth powers of the factors neither overflow nor underflow
    excess: Array  # (c, m): added to the diagonals before centring; zeros for matrices
    matrices: Array | None = None  # (c, m, m), or else:
    factors: Any = None  # (r, m), those of all matrices; rows of an array are centred, those of a csr_array are not
    owners: Any = None  # csr_array (c, r): one where a factor belongs to a matrix
    errors: Array | float = 0.0  # Frobenius norms of the errors of the factors

    @property
    def traces(self) -> Array:
        return np.asarray(self.diagonals.sum(axis=1))

    @cached_property
    def squares(self) -> Array:
        """Sums of the squared entries."""
        if self.matrices is not None:
            entries = self.matrices.reshape(len(self.matrices), -1)
            return np.asarray(np.vecdot(entries, entries))
        if sparse.issparse(self.factors):
            return np.diagonal(inner_products(self, self))
        factors = self.factors.reshape(len(self.diagonals), -1, self.factors.shape[1])
        squares = np.square(np.matmul(factors, factors.transpose(0, 2, 1))).sum(axis=(1, 2))
        return np.asarray(squares + np.vecdot(self.excess, 2 * self.diagonals - _centred_diagonals(self.excess)))


def from_matrices(grams: Sequence[Gram]) -> CentredMatrices:
    """Doubly centre matrices that are read by blocks."""
    m = len(grams[0])
    A, exponents = np.empty((len(grams), m, m)), np.zeros(len(grams), dtype=np.intp)
    for position, gram in enumerate(grams):
        matrix, centred_gram = A[position], centred(gram, "biased")
        for rows in row_blocks(m):
            matrix[rows] = centred_gram.block(rows, slice(0, m))
        exponents[position] = math.frexp(max(float(matrix.max()), -float(matrix.min())))[1]
        np.ldexp(matrix, -exponents[position], out=matrix)
    return CentredMatrices(np.diagonal(A, axis1=1, axis2=2), exponents, np.zeros((len(A), m)), matrices=A)


def from_factors(
    factors: Any, counts: Sequence[int], errors: Array | float = 0.0, excess: Array | None = None
) -> CentredMatrices:
    """Centre c matrices F'F + diag(excess), given the number of factors of each; an array of factors is overwritten."""
    exponents, owners = np.zeros(len(counts), dtype=np.intp), _owners(counts)
    excess = np.zeros((len(counts), factors.shape[1])) if excess is None else excess
    if sparse.issparse(factors):
        means = factors.mean(axis=1)
        shifted = owners @ (factors.power(2) - 2 * sparse.diags_array(means) @ factors)
        diagonals = shifted.toarray() + (owners @ np.square(means))[:, None]
    else:
        factors -= factors.mean(axis=1, keepdims=True)
        peaks = np.maximum(factors.max(axis=1), -factors.min(axis=1)).reshape(len(counts), -1).max(axis=1, initial=0.0)
        exponents = np.frexp(peaks)[1].astype(np.intp)
        np.ldexp(factors, -np.repeat(exponents, counts)[:, None], out=factors)
        errors = np.ldexp(errors, -2 * exponents)
        excess = np.ldexp(excess, -2 * exponents[:, None])
        diagonals = owners @ np.square(factors)
    diagonals += _centred_diagonals(excess)
    return CentredMatrices(diagonals, 2 * exponents, excess, factors=factors, owners=owners, errors=errors)


def _owners(counts: Sequence[int]) -> Any:
    """Return which of sum(counts) factors belong to which matrix, shape (c, sum(counts))."""
    ends = np.append(0, np.cumsum(counts))
    return sparse.csr_array((np.ones(ends[-1]), np.arange(ends[-1]), ends), shape=(len(counts), ends[-1]))


def _centred_diagonals(excess: Array) -> Array:
    """Return the diagonals of HDH for diagonal matrices D."""
    m = excess.shape[1]
    return np.asarray(excess * (1 - 2 / m) + excess.sum(axis=1, keepdims=True) / m**2)


def factored(A: CentredMatrices) -> CentredMatrices:
    """Factor a single matrix, unless its rank is more than a quarter of its size or the factors are inexact."""
    if A.matrices is None:
        return A
    (matrix,), m = A.matrices, A.diagonals.shape[1]
    (F,), _ = pivoted_cholesky(A.diagonals.copy(), lambda pivots: matrix[pivots], m // 4)
    # The matrix may come from a user's function and be indefinite, so the error has to be computed.
    error = math.sqrt(sum(float(np.square(matrix[rows] - F[:, rows].T @ F).sum()) for rows in row_blocks(m)))
    if error > _LARGEST_ERROR * math.sqrt(A.squares[0]):
        return A
    return replace(A, matrices=None, factors=F, owners=_owners([len(F)]), errors=error)


def inner_products(A: CentredMatrices, B: CentredMatrices) -> Array:
    """Return the inner products <A_i, B_j> of all pairs of matrices, without their exponents, shape (c, c')."""
    if A.matrices is not None and B.matrices is not None:
        return np.asarray(A.matrices.reshape(len(A.matrices), -1) @ B.matrices.reshape(len(B.matrices), -1).T)
    if A.matrices is not None:
        return inner_products(B, A).T
    if B.matrices is not None:
        rows = A.factors.toarray() if sparse.issparse(A.factors) else A.factors
        table = np.column_stack([A.owners @ np.vecdot(rows @ matrix, rows) for matrix in B.matrices])
    elif sparse.issparse(A.factors) and sparse.issparse(B.factors):
        # (p - s t / m)^2 = p (p - 2 s t / m) + (s t / m)^2 for products p and sums s and t of two factors
        p, m, s, t = (A.factors @ B.factors.T).tocoo(), A.factors.shape[1], A.factors.sum(axis=1), B.factors.sum(axis=1)
        row, col = p.coords
        p.data *= p.data - 2 / m * s[row] * t[col]
        table = (A.owners @ p.tocsr() @ B.owners.T).toarray()
        table += np.multiply.outer(A.owners @ np.square(s) / m, B.owners @ np.square(t) / m)
    else:
        table = A.owners @ np.square(A.factors @ B.factors.T) @ B.owners.T
    return np.asarray(table + A.excess @ B.diagonals.T + (A.diagonals - _centred_diagonals(A.excess)) @ B.excess.T)


def pivoted_cholesky(diagonals: Array, rows: Callable[[Indices], Array], max_rank: int) -> tuple[Array, Array]:
    """Return Cholesky factors (c, rank, m) of c matrices, and traces of the errors.

    Each step takes the row with the largest remaining diagonal entry of each matrix: ``rows(pivots)`` returns row
    ``pivots[i]`` of matrix i for all i, shape (c, m), a new array. ``diagonals`` (c, m) are overwritten.
    """
    c, m = diagonals.shape
    each = np.arange(c)
    left = diagonals.sum(axis=1)
    enough = _TOLERANCE * left
    factors = np.empty((c, min(16, max_rank), m))
    rank = 0
    while rank < max_rank and (left > enough).any():
        pivots = diagonals.argmax(axis=1)
        largest = diagonals[each, pivots]
        if rank == factors.shape[1]:
            factors = np.concatenate([factors, np.empty((c, min(rank, max_rank - rank), m))], axis=1)
        known, new = factors[:, :rank], factors[:, rank]
        new[:] = rows(pivots)
        new -= np.matmul(known[each, :, pivots][:, None], known)[:, 0]
        going = (left > enough) & (largest > 0)
        new *= np.where(going, 1 / np.sqrt(np.where(going, largest, 1.0)), 0.0)[:, None]
        diagonals -= np.square(new)
        diagonals[each, pivots] = 0.0
        left = np.maximum(diagonals, 0, out=diagonals).sum(axis=1)
        rank += 1
    return factors[:, :rank], left


def cheapest_forms(A: CentredMatrices, B: CentredMatrices) -> tuple[CentredMatrices, CentredMatrices]:
    """Return two single matrices in the forms, matrices or factors, whose products are cheapest to permute."""
    m, forms = A.diagonals.shape[1], (factored(A), factored(B))
    price = math.prod(m if form.matrices is not None else len(form.factors) for form in forms)
    by_looking_up = A.matrices is not None and B.matrices is not None and price > _PRICE_OF_LOOKING_UP * m
    return (A, B) if by_looking_up else forms


def gamma_test(A: CentredMatrices, B: CentredMatrices) -> tuple[Array, Array]:
    """Return biased estimates, and p-values by a gamma distribution with the moments of their permutations."""
    m, observed = A.diagonals.shape[1], inner_products(A, B)[:, 0]
    (u_A, v_A), (u_B, v_B) = _invariants(A), _invariants(B)
    # Moments of <A, B> over all permutations of the samples of B (Kazi-Aoual et al. 1995).
    mean = A.traces * B.traces / (m - 1)
    variance = 2 * u_A * u_B / ((m - 1) ** 2 * (m + 1) * (m - 2))
    variance += v_A * v_B / (m * (m + 1) * (m - 1) * (m - 2) * (m - 3))
    # If permutations change only rounding errors, all values are as great as the observed one: p is 1. So it is where
    # no gamma distribution has the mean, which matrices of less than a few bits and indefinite ones may give.
    changes = (variance > 1e-14 * mean**2) & (mean > 0)
    scale = np.divide(variance, mean, out=np.ones_like(mean), where=changes)
    pvalues = special.gammaincc(np.where(changes, mean, 1.0) / scale, np.maximum(observed, 0) / scale)
    return _scaled(observed / (m - 1) ** 2, A, B), np.where(changes, pvalues, 1.0)


def _invariants(A: CentredMatrices) -> tuple[Array, Array]:
    """Return u and v of the variance over permutations."""
    m, T, T2, S = A.diagonals.shape[1], A.traces, A.squares, np.square(A.diagonals).sum(axis=1)
    return (m - 1) * T2 - T**2, m * (m + 1) * S - (m - 1) * (T**2 + 2 * T2)


def permutation_test(
    A: CentredMatrices, B: CentredMatrices, permutations: Permutations, executor: Executor | None = None
) -> tuple[Array, Array]:
    """Return unbiased estimates for all permutations (n, c), and p-values of those for the first one (c,)."""
    # Tasks do not depend on the number of threads, so that results do not either.
    ranks = [side.factors.shape[0] for side in (B, A) if side.matrices is None]
    size = max(1, _ROWS // max(1, ranks[0])) if ranks else 1
    chunks = [permutations[start : start + size] for start in range(0, len(permutations), size)]
    values = np.concatenate((executor or Executor()).map(lambda chunk: unbiased(A, B, chunk), chunks))
    # Values that differ by less than their error bounds count as equal.
    return values, np.mean(values >= values[0] - 2 * _uncertainty(A, B), axis=0)


def unbiased(A: CentredMatrices, B: CentredMatrices, permutations: Permutations) -> Array:
    """Return unbiased estimates for permutations of the labels, shape (n, c)."""
    m = A.diagonals.shape[1]
    products, diagonals = _permuted_products(A, B, permutations), B.diagonals[0][permutations] @ A.diagonals.T
    constant = A.traces * B.traces / ((m - 1) * (m - 2))
    return _scaled((products - m / (m - 2) * diagonals + constant) / (m * (m - 3)), A, B)


def draw_permutations(m: int, count: int, random: np.random.RandomState) -> Permutations:
    """Draw ``count`` permutations of m samples after the identity; return all permutations if these are no more."""
    if m < 13 and math.factorial(m) <= count + 1:
        return np.array(list(itertools.permutations(range(m))), dtype=np.int32)
    drawn = itertools.chain([np.arange(m)], (random.permutation(m) for _ in range(count)))
    return np.fromiter(drawn, np.dtype((np.int32, m)), count + 1)


def _permuted_products(A: CentredMatrices, B: CentredMatrices, permutations: Permutations) -> Array:
    """Return the sums over i and j of A_ij B_p(i)p(j) for permutations p (n, m) of B, shape (n, c)."""
    n, m = permutations.shape
    if B.matrices is None:
        factors = np.take(B.factors, permutations, axis=1).swapaxes(0, 1).reshape(-1, m)
        owners = _owners([len(B.factors)] * n)
        diagonals, excess = B.diagonals[0][permutations], B.excess[0][permutations]
        shuffled = replace(B, diagonals=diagonals, excess=excess, factors=factors, owners=owners)
        return inner_products(A, shuffled).T
    if A.matrices is None:  # a single one too
        return _permuted_products(B, A, np.argsort(permutations, axis=1).astype(np.int32))
    products = np.zeros((n, len(A.matrices)))
    for p, row in zip(permutations, products, strict=True):
        # Whole rows: one triangle has half the entries, but not in contiguous rows, which is slower.
        for part in row_blocks(m):
            permuted = B.matrices[0][p[part]].take(p, axis=1)
            row += [np.vdot(matrix[part], permuted) for matrix in A.matrices]
    return products


def _scaled(values: Array, A: CentredMatrices, B: CentredMatrices) -> Array:
    return np.asarray(np.ldexp(values, A.exponents + B.exponents))


def _uncertainty(A: CentredMatrices, B: CentredMatrices) -> Array:
    """Return bounds on the errors of unbiased estimates by rounding and by factors, shape (c,)."""
    m = A.diagonals.shape[1]
    a, b = np.sqrt(A.squares), np.sqrt(B.squares)
    missing = A.errors * (b + B.errors) + a * B.errors
    # Products, diagonals and traces enter with weights 1, m / (m - 2) and less: together less than 4.
    return _scaled(4 * (2 * m * np.finfo(float).eps * a * b + missing) / (m * (m - 3)), A, B)
