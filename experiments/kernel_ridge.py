"""Kernel ridge regression in plain numpy: R2 of samples left out, and of samples that it has never seen."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.baselines import Array

#: The penalty is one of these times the number of samples.
RIDGES = 10.0 ** -np.arange(1, 4.5, 0.5)


def r2(X: Array, y: NDArray[Any], X_new: Array, y_new: NDArray[Any], kernel: str = "gaussian") -> tuple[float, float]:
    """Return R2 of the samples, each left out, and of new ones; the ridge is the best one for the former.

    Columns are standardised by the samples. Labels that are no floats are classes, which are predicted as indicators.
    New samples are compared with the mean of the others, as samples left out are.

    Parameters
    ----------
    X, X_new : ndarray of shape (m, k) and (n, k)
    y, y_new : ndarray of shape (m,) and (n,)
    kernel : {"gaussian", "laplacian", "linear"}
        The former two with gamma = 1/(2 k).

    Examples
    --------
    >>> x = np.linspace(-2, 2, 80)[:, None]
    >>> left_out, new = r2(x[::2], x[::2, 0] ** 2, x[1::2], x[1::2, 0] ** 2)
    >>> round(left_out, 2), round(new, 2)
    (1.0, 1.0)
    """
    m = len(y)
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    X, X_new = ((part - mean) / np.where(deviation > 0, deviation, 1) for part in (X, X_new))
    Y, Y_new = _targets(y, y_new)
    Y, Y_new = Y - Y.mean(axis=0), Y_new - Y.mean(axis=0)
    K = kernel_values(X, X, kernel)
    shift = K.mean(axis=0)
    values, vectors = np.linalg.eigh(K - shift - shift[:, None] + shift.mean())
    rotated = vectors.T @ Y
    errors = []
    for ridge in m * RIDGES:
        inverse = 1 / (values + ridge)
        own = np.square(vectors) @ inverse - 1 / (m * ridge)
        errors.append(np.square(vectors @ (inverse[:, None] * rotated) / own[:, None]).sum())
    best = int(np.argmin(errors))
    coefficients = vectors @ (rotated / (values + m * RIDGES[best])[:, None])
    K_new = kernel_values(X_new, X, kernel)
    wrong = Y_new - (K_new - K_new.mean(axis=1, keepdims=True) - shift + shift.mean()) @ coefficients
    of_mean = np.square(Y * m / (m - 1)).sum()
    return 1 - float(errors[best] / of_mean), 1 - float(np.square(wrong).sum() / np.square(Y_new).sum())


def kernel_values(X: Array, X_other: Array, kernel: str) -> Array:
    """Return the kernel values of the rows of X and of others."""
    from scipy.spatial.distance import cdist

    if kernel == "linear":
        return np.asarray(X @ X_other.T)
    metric = {"gaussian": "sqeuclidean", "laplacian": "cityblock"}[kernel]
    return np.asarray(np.exp(-cdist(X, X_other, metric) / (2 * X.shape[1])))


def _targets(y: NDArray[Any], y_new: NDArray[Any]) -> tuple[Array, Array]:
    """Return numbers as a column, and classes as a column for each."""
    if y.dtype.kind == "f":
        return y[:, None], y_new[:, None]
    classes = np.unique(y)
    return (y[:, None] == classes).astype(float), (y_new[:, None] == classes).astype(float)
