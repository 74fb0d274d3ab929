"""Factors of kernel matrices of low numerical rank: a few vectors whose outer products add up to the matrix."""

from __future__ import annotations

import math
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


def gaussian_factors(XT: Array, gammas: Array, max_rank: int | None = None) -> tuple[Array, Array]:
    """Factors of the kernel matrices exp(-gamma (x - x')^2) of single features, see `pivoted_factors`.

    Parameters
    ----------
    XT : ndarray of shape (c, m)
        A feature in each row.
    gammas : ndarray of shape (c,)
    max_rank : int, optional
        By default m.

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

    return pivoted_factors(np.ones(XT.shape), rows, min(max_rank or XT.shape[1], XT.shape[1]))


def power_factors(x: Array, gamma: float) -> Array:
    r"""Factors of exp(-gamma (x - x')^2) for a short range of numbers, the first of them less one.

    With z = x - c for the middle c of the range, the kernel is
    :math:`e^{-\gamma z^2} e^{-\gamma z'^2} \sum_k (2 \gamma z z')^k / k!`: the factors are
    :math:`e^{-\gamma z^2} (\sqrt{2 \gamma} z)^k / \sqrt{k!}`. Each is accurate relative to its own size, and so is
    their sum after centring, however near one all kernel values are.

    Parameters
    ----------
    x : ndarray of shape (m,)
    gamma : float

    Returns
    -------
    ndarray of shape (rank, m)
        The rank is about 20 for a range of two widths, and falls with it.

    Examples
    --------
    >>> F = power_factors(np.array([0.0, 1.0]), 0.01)
    >>> F[0] += 1
    >>> (F.T @ F).round(6)
    array([[1.     , 0.99005],
           [0.99005, 1.     ]])
    """
    z = math.sqrt(2 * gamma) * (x - (x.min() + x.max()) / 2)
    factors, damping = [np.expm1(-np.square(z) / 2)], np.exp(-np.square(z) / 2)
    power, largest = damping, float(np.abs(z).max())
    size = 1.0
    # Centring leaves the second factor, as large as z, at its full size.
    while size**2 > 1e-18 * min(1.0, largest**2) and size > 0:
        power = power * z / math.sqrt(len(factors))
        size *= largest / math.sqrt(len(factors))
        factors.append(power)
    return np.array(factors)
