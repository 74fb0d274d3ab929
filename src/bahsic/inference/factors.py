"""Kernel matrices of low numerical rank: a few vectors whose outer products add up to the matrix."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# What may be left of the diagonal, relative to its largest entry: just above the rounding errors.
_TOLERANCE = 1e-13

# Deviations and ranges of features in units of the Gaussian: where all kernel values are nearly one, factors keep too
# few digits of what differs; where samples are far from each other, there are too many of them.
_FLAT, _LONG = 1e-2, 64.0


def pivoted_factors(diagonals: Array, rows: Callable[[Indices], Array], max_rank: int) -> tuple[Array, Array]:
    """Cholesky factors with pivoting of several matrices of the same size at once.

    A row of each matrix is taken where the most is left of its diagonal, until nothing is left of any.

    Parameters
    ----------
    diagonals : ndarray of shape (c, m)
        The diagonals of the matrices; overwritten.
    rows : callable
        ``rows(pivots)`` returns row ``pivots[i]`` of matrix i for all i, shape (c, m), a new array.
    max_rank : int

    Returns
    -------
    factors : ndarray of shape (c, rank, m)
        Matrix i is about ``factors[i].T @ factors[i]``.
    left : ndarray of shape (c,)
        The trace of what is missing; for a positive semi-definite matrix a bound of its norms.

    Examples
    --------
    >>> A = np.array([[4.0, 2.0], [2.0, 1.0]])
    >>> pivoted_factors(np.array([[4.0, 1.0]]), lambda pivots: A[pivots], 2)
    (array([[[2., 1.]]]), array([0.]))
    """
    c, m = diagonals.shape
    each = np.arange(c)
    enough = _TOLERANCE * diagonals.max(axis=1)
    factors = np.empty((c, min(16, max_rank), m))
    rank = 0
    while rank < max_rank:
        pivots = diagonals.argmax(axis=1)
        largest = diagonals[each, pivots]
        if (largest <= enough).all():
            break
        if rank == factors.shape[1]:
            factors = np.concatenate([factors, np.empty((c, min(rank, max_rank - rank), m))], axis=1)
        known, new = factors[:, :rank], factors[:, rank]
        new[:] = rows(pivots)
        new -= np.matmul(known[each, :, pivots][:, None], known)[:, 0]
        with np.errstate(divide="ignore"):
            new *= np.where(largest > enough, 1 / np.sqrt(np.maximum(largest, 0)), 0.0)[:, None]
        diagonals -= np.square(new)
        diagonals[each, pivots] = 0.0
        rank += 1
    return factors[:, :rank], np.maximum(diagonals, 0).sum(axis=1)


def have_factors(XT: Array, gammas: Array) -> NDArray[np.bool_]:
    """Which features, the rows of XT, have Gaussian kernel matrices that `gaussian_factors` gives well."""
    width = np.sqrt(gammas)
    found: NDArray[np.bool_] = (width * XT.std(axis=1) > _FLAT) & (width * np.ptp(XT, axis=1) < _LONG)
    return found


def gaussian_factors(XT: Array, gammas: Array) -> tuple[Array, Array]:
    """Factors of exp(-gamma (x - x')^2) of single features, see `pivoted_factors`.

    Parameters
    ----------
    XT : ndarray of shape (c, m)
        A feature in each row.
    gammas : ndarray of shape (c,)

    Returns
    -------
    (ndarray of shape (c, rank, m), ndarray of shape (c,))
        The rank is about 20 for standardised features; cost O(m rank^2) for each.
    """
    each = np.arange(len(XT))

    def rows(pivots: Indices) -> Array:
        values = XT - XT[each, pivots][:, None]
        np.square(values, out=values)
        values *= -gammas[:, None]
        return np.exp(values, out=values)

    return pivoted_factors(np.ones(XT.shape), rows, XT.shape[1])
