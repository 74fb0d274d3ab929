"""Distances and inner products of rows, accurate enough for kernel values to be exact to rounding."""

from __future__ import annotations

import math

import numpy as np
from scipy.spatial.distance import cdist

from bahsic.kernels.rows import FloatArray, column_means, row_blocks

_TOLERANCE = {np.dtype(np.float64): 1e-14, np.dtype(np.float32): 1e-6}  # of a kernel value
_FEW_FEATURES = 8  # up to here direct differences are as fast as a matrix product


def squared_distances(X: FloatArray, Y: FloatArray | None = None, gamma: float = math.inf) -> FloatArray:
    """Return squared Euclidean distances of all pairs of rows, exactly symmetric with zero diagonal if Y is None.

    By a matrix product on centred rows if its rounding error cannot change ``exp(-gamma D)``, else by differences.
    """
    other = X if Y is None else Y
    centre = column_means(X)
    with np.errstate(over="ignore"):  # an infinite norm rules out the matrix product
        centred = (np.subtract(Z, centre, dtype=np.float64) for Z in (X, other))
        reach = max(float(np.vecdot(Z, Z).max()) for Z in centred)
    for dtype in (X.dtype, np.dtype(np.float64)):
        rounding = 8 * float(np.finfo(dtype).eps) * gamma * reach if reach else 0.0
        in_range = 8 * reach < float(np.finfo(dtype).max)
        if X.shape[1] > _FEW_FEATURES and in_range and rounding <= _TOLERANCE[X.dtype]:
            return _rounded(_by_product(X, Y, centre, dtype), X.dtype)
    return _rounded(cdist(X, other, "sqeuclidean"), X.dtype)


def absolute_distances(X: FloatArray, Y: FloatArray | None = None) -> FloatArray:
    """Return L1 distances, sums over features of |x_j - y_j|, of all pairs of rows."""
    return _rounded(cdist(X, X if Y is None else Y, "cityblock"), X.dtype)


def inner_products(X: FloatArray, Y: FloatArray | None = None) -> FloatArray:
    """Return inner products of all pairs of rows."""
    with np.errstate(over="ignore", invalid="ignore"):  # reported by check_range, with what to do about it
        product = X @ (X if Y is None else Y).T
    return check_range(product)


def check_range(K: FloatArray) -> FloatArray:
    """Return K, or raise a ValueError if kernel values have overflowed."""
    if not (math.isfinite(K.min()) and math.isfinite(K.max())):
        raise ValueError(f"kernel values exceed the range of {K.dtype}; accepted: data of moderate size, so rescale it")
    return K


def _by_product(X: FloatArray, Y: FloatArray | None, centre: FloatArray, dtype: np.dtype[np.floating]) -> FloatArray:
    X = np.subtract(X, centre, dtype=dtype)
    Z = X if Y is None else np.subtract(Y, centre, dtype=dtype)
    x_norms, z_norms = (np.vecdot(rows, rows) for rows in (X, Z))
    D = X @ Z.T
    for rows in row_blocks(max(D.shape)):
        D[rows] *= -2
        D[rows] += x_norms[rows, None] + z_norms  # adding the two norms first makes the result symmetric
    np.maximum(D, 0, out=D)
    if Y is None:
        np.fill_diagonal(D, 0)
    return D


def _rounded(D: FloatArray, dtype: np.dtype[np.floating]) -> FloatArray:
    with np.errstate(over="ignore"):  # a distance beyond float32 is infinite there
        return D.astype(dtype, copy=False)
