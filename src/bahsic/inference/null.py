r"""HSIC of centred kernel matrices A = HKH and B = HLH, and its distribution over permutations of the labels.

The biased estimate is <A, B> / (m - 1)^2. The unbiased one, from their diagonals a and b:

.. math:: [<A, B> - \frac{m}{m - 2} a'b + \frac{\mathrm{tr} A \; \mathrm{tr} B}{(m - 1)(m - 2)}] / (m (m - 3))

(e_uhsic for matrices whose rows sum to zero, so that row sums without the diagonal are -a and -b).
A permutation of the labels changes <A, B> and a'b only. There may be several matrices A, but only one B.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bahsic.engine.executor import Executor, ThreadExecutor
from bahsic.inference.centred import CentredMatrices, factor_owners, factored, inner_products
from bahsic.kernels.rows import row_blocks

Array = NDArray[np.float64]
Permutations = NDArray[np.int32]

# Reading one entry of a permuted matrix takes as long as so many multiplications in a matrix product.
_PRICE_OF_LOOKING_UP = 40

# Rows of the products in one task.
_ROWS = 512


def unbiased(A: CentredMatrices, B: CentredMatrices) -> Array:
    """Return unbiased estimates, shape (c,)."""
    return np.asarray(_unbiased(A, B, inner_products(A, B).T, B.diagonals @ A.diagonals.T)[0])


def cheapest_forms(A: CentredMatrices, B: CentredMatrices) -> tuple[CentredMatrices, CentredMatrices]:
    """Return two single matrices in the forms, matrices or factors, whose products are cheapest to permute."""
    m, forms = A.diagonals.shape[1], (factored(A) or A, factored(B) or B)
    price = math.prod(m if form.matrices is not None else len(form.factors) for form in forms)
    by_looking_up = A.matrices is not None and B.matrices is not None and price > _PRICE_OF_LOOKING_UP * m
    return (A, B) if by_looking_up else forms


def gamma_test(A: CentredMatrices, B: CentredMatrices) -> tuple[Array, Array]:
    """Return biased estimates, and p-values by a gamma distribution with the moments of their permutations."""
    observed, (mean, variance) = inner_products(A, B)[:, 0], _permutation_moments(A, B)
    # If permutations change only rounding errors, all values are as great as the observed one: p is 1. So it is where
    # no gamma distribution has the mean, which matrices of less than a few bits and indefinite ones may give.
    changes = (variance > 1e-14 * mean**2) & (mean > 0)
    scale = np.divide(variance, mean, out=np.ones_like(mean), where=changes)
    pvalues = special.gammaincc(np.where(changes, mean, 1.0) / scale, np.maximum(observed, 0) / scale)
    m = A.diagonals.shape[1]
    return _scaled(observed / (m - 1) ** 2, A, B), np.where(changes, pvalues, 1.0)


def permutation_test(
    A: CentredMatrices, B: CentredMatrices, permutations: Permutations, executor: Executor | None = None
) -> tuple[Array, Array]:
    """Return unbiased estimates for all permutations but the first (n, c), and p-values of that for the first (c,).

    The executor gets some permutations at a time; the division does not depend on the executor.
    """
    size = _chunk_size(A, B)
    chunks = [permutations[start : start + size] for start in range(0, len(permutations), size)]
    values = np.concatenate((executor or ThreadExecutor(1)).map(lambda chunk: _estimates(A, B, chunk), chunks))
    # Values that differ by less than their error bounds count as equal.
    pvalues = np.mean(values >= values[0] - 2 * _uncertainty(A, B), axis=0)
    return values[1:], pvalues


def _estimates(A: CentredMatrices, B: CentredMatrices, permutations: Permutations) -> Array:
    """Return unbiased estimates for permuted labels, shape (n, c)."""
    diagonals = B.diagonals[0][permutations] @ A.diagonals.T
    return _unbiased(A, B, _permuted_products(A, B, permutations), diagonals)


def draw_permutations(m: int, count: int, random: np.random.RandomState) -> Permutations:
    """Draw ``count`` permutations of m samples after the identity; return all permutations if these are no more."""
    if m < 13 and math.factorial(m) <= count + 1:
        return np.array(list(itertools.permutations(range(m))), dtype=np.int32)
    permutations = np.empty((count + 1, m), dtype=np.int32)
    permutations[0] = np.arange(m)
    for row in permutations[1:]:
        row[:] = random.permutation(m)
    return permutations


def _permuted_products(A: CentredMatrices, B: CentredMatrices, permutations: Permutations) -> Array:
    """Return the sums over i and j of A_ij B_p(i)p(j) for permutations p (n, m) of B, shape (n, c)."""
    n, m = permutations.shape
    if B.matrices is None:
        factors = np.take(B.factors, permutations, axis=1).swapaxes(0, 1).reshape(-1, m)
        shuffled = replace(
            B, diagonals=B.diagonals[0][permutations], factors=factors, owners=factor_owners([len(B.factors)] * n)
        )
        return inner_products(A, shuffled).T
    if A.matrices is None:  # a single one too
        return _permuted_products(B, A, np.argsort(permutations, axis=1).astype(np.int32))
    return np.array([[_permuted_inner_product(one, B.matrices[0], p) for one in A.matrices] for p in permutations])


def _permuted_inner_product(A: Array, B: Array, permutation: NDArray[np.int32]) -> float:
    # Whole rows: one triangle has half the entries, but not in contiguous rows, which is slower.
    parts = row_blocks(len(A))
    return sum(float(np.vdot(A[part], B[permutation[part]].take(permutation, axis=1))) for part in parts)


def _chunk_size(A: CentredMatrices, B: CentredMatrices) -> int:
    """Return the number of permutations for one task, which does not depend on the number of threads."""
    ranks = [side.factors.shape[0] for side in (B, A) if side.matrices is None]
    return max(1, _ROWS // max(1, ranks[0])) if ranks else 1


def _unbiased(A: CentredMatrices, B: CentredMatrices, products: Array, diagonals: Array) -> Array:
    """Return unbiased estimates from <A, B> and a'b, by the formula at the head of this module."""
    m = A.diagonals.shape[1]
    constant = A.traces * B.traces / ((m - 1) * (m - 2))
    return _scaled((products - m / (m - 2) * diagonals + constant) / (m * (m - 3)), A, B)


def _scaled(values: Array, A: CentredMatrices, B: CentredMatrices) -> Array:
    return np.asarray(np.ldexp(values, A.exponents + B.exponents))


def _uncertainty(A: CentredMatrices, B: CentredMatrices) -> Array:
    """Return bounds on the errors of unbiased estimates by rounding and by factors, shape (c,)."""
    m = A.diagonals.shape[1]
    a, b = np.sqrt(A.squares), np.sqrt(B.squares)
    missing = A.errors * (b + B.errors) + a * B.errors
    # Products, diagonals and traces enter with weights 1, m / (m - 2) and less: together less than 4.
    return _scaled(4 * (2 * m * np.finfo(float).eps * a * b + missing) / (m * (m - 3)), A, B)


def _permutation_moments(A: CentredMatrices, B: CentredMatrices) -> tuple[Array, Array]:
    """Return mean and variance of <A, B> over all permutations of the samples of B, each of shape (c,).

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
