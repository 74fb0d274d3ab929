"""Null distribution of HSIC: its values over permutations of the labels, and their gamma approximation."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bahsic.engine.executor import Executor, ThreadExecutor
from bahsic.inference.centred import (
    CentredMatrices,
    Permutations,
    chunk_size,
    diagonal_products,
    permutation_moments,
    permuted_products,
    products,
    unbiased,
    uncertainty,
)

Array = NDArray[np.float64]


def gamma_test(A: CentredMatrices, B: CentredMatrices) -> tuple[Array, Array]:
    """Biased estimates, and their p-values by a gamma distribution with their mean and variance over permutations."""
    m = A.diagonals.shape[1]
    observed, (mean, variance) = products(A, B), permutation_moments(A, B)
    # If permutations change only rounding errors, all values are as great as the observed one: p is 1. So it is where
    # no gamma distribution has the mean, which matrices of less than a few bits and indefinite ones may give.
    changes = (variance > 1e-14 * mean**2) & (mean > 0)
    scale = np.divide(variance, mean, out=np.ones_like(mean), where=changes)
    pvalues = special.gammaincc(np.where(changes, mean, 1.0) / scale, np.maximum(observed, 0) / scale)
    biased = np.ldexp(observed, A.exponent + B.exponent) / (m - 1) ** 2
    return biased, np.where(changes, pvalues, 1.0)


def permutation_test(
    A: CentredMatrices, B: CentredMatrices, permutations: Permutations, executor: Executor | None = None
) -> tuple[Array, Array]:
    """Unbiased estimates for all permutations but the first (n, c), and p-values of the estimates for the first (c,).

    The executor gets some permutations at a time; the division does not depend on the executor.
    """
    size = chunk_size(A, B)
    chunks = [permutations[start : start + size] for start in range(0, len(permutations), size)]
    values = np.concatenate((executor or ThreadExecutor(1)).map(lambda chunk: _estimates(A, B, chunk), chunks))
    # Values that differ by less than their error bounds count as equal.
    pvalues = np.mean(values >= values[0] - 2 * uncertainty(A, B), axis=0)
    return values[1:], pvalues


def _estimates(A: CentredMatrices, B: CentredMatrices, permutations: Permutations) -> Array:
    """Unbiased estimates for permuted labels, shape (number of permutations, number of features)."""
    return unbiased(A, B, permuted_products(A, B, permutations), diagonal_products(A, B, permutations))


def permutations_of(m: int, count: int, random: np.random.RandomState) -> Permutations:
    """The identity and ``count`` random permutations of m samples, or all permutations if these are no more."""
    if m < 13 and math.factorial(m) <= count + 1:
        return np.array(list(itertools.permutations(range(m))), dtype=np.int32)
    permutations = np.empty((count + 1, m), dtype=np.int32)
    permutations[0] = np.arange(m)
    for row in permutations[1:]:
        row[:] = random.permutation(m)
    return permutations
