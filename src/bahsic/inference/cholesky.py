"""Factors of kernel matrices of low numerical rank: a few vectors whose outer products add up to the matrix."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Trace of the error, relative to that of the matrix: just above the rounding errors.
_TOLERANCE = 1e-13


def pivoted_cholesky(diagonals: Array, rows: Callable[[Indices], Array], max_rank: int) -> tuple[Array, Array]:
    """Compute pivoted Cholesky factors of several matrices of the same size at once.

    Each step takes the row with the largest remaining diagonal entry of each matrix, until little is left of all
    diagonals.

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
    errors : ndarray of shape (c,)
        Traces of the errors; for a positive semi-definite matrix a bound on the norm of the error.

    Examples
    --------
    >>> A = np.array([[4.0, 2.0], [2.0, 1.0]])
    >>> pivoted_cholesky(np.array([[4.0, 1.0]]), lambda pivots: A[pivots], 2)
    (array([[[2., 1.]]]), array([0.]))
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
