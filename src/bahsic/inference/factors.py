"""Factors of kernel matrices of low numerical rank: a few vectors whose outer products add up to the matrix."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Largest remaining diagonal, relative to its largest entry at first: just above the rounding errors.
_TOLERANCE = 1e-13

# Least deviation and largest range of features, in units of the Gaussian's width: if all kernel values are nearly one,
# factors keep too few digits of their differences; if samples are far apart, there are too many factors.
_FLAT, _LONG = 1e-2, 64.0


def pivoted_factors(diagonals: Array, rows: Callable[[Indices], Array], max_rank: int) -> tuple[Array, Array]:
    """Cholesky factors with pivoting of several matrices of the same size at once.

    In each step the row with the largest remaining diagonal entry of each matrix is taken, until all diagonals are
    exhausted.

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
        Trace of the error; for a positive semi-definite matrix a bound on the norms of the error.

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
    """Mask of the features, the rows of XT, for whose Gaussian kernel matrices `gaussian_factors` is accurate."""
    width = np.sqrt(gammas)
    found: NDArray[np.bool_] = (width * XT.std(axis=1) > _FLAT) & (width * np.ptp(XT, axis=1) < _LONG)
    return found


def gaussian_factors(XT: Array, gammas: Array) -> tuple[Array, Array]:
    """Factors of the kernel matrices exp(-gamma (x - x')^2) of single features, see `pivoted_factors`.

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
