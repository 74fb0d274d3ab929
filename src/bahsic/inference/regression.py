"""Kernel ridge regression on matrices of squared distances, with a Gaussian kernel whose width and ridge are chosen.

The matrices are scaled: exp(-D) is the kernel of gamma = 1/(2 d), and exp(-width D) is one of its powers.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.linalg import lapack

from bahsic.inference.parts import evenly_spaced

Array = NDArray[np.float64]

# Ridges and factors of gamma that are tried; a factor of gamma is a power of the kernel. The ridges go far down,
# because predictions are regressed too, and these have no noise.
_RIDGES = tuple(10.0 ** np.arange(1.0, -8.1, -0.5))
_WIDTHS = (0.25, 1.0, 4.0)
CHOICES = tuple(product(_WIDTHS, _RIDGES))

# Samples that choose the width and the ridge.
_TUNING_SAMPLES = 150


def scaled(D: Array, n_features: int) -> Array:
    """Return D, squared distances on so many features, such that exp(-D) is the kernel of gamma = 1/(2 d)."""
    return D / (2 * max(n_features, 1))


def kernel(D: Array, width: float) -> Array:
    """Return the kernel of scaled squared distances."""
    K = -width * D
    return np.asarray(np.exp(K, out=K))


class Tuning:
    """Leave-one-out errors of kernel ridge regression for all powers of the kernel and all ridges.

    Parameters
    ----------
    D : ndarray of shape (n, n)
        Of many samples, some are used.
    """

    def __init__(self, D: Array) -> None:
        self._some = evenly_spaced(np.arange(len(D)), _TUNING_SAMPLES)
        D = D[np.ix_(self._some, self._some)]
        self._spectra = [np.linalg.eigh(_centred(kernel(D, width))) for width in _WIDTHS]

    def errors(self, Y: Array) -> Array:
        """Return the sum of squared errors of each output, for all choices."""
        n, found = len(self._some), []
        Y = Y[self._some] - Y[self._some].mean(axis=0)
        for values, vectors in self._spectra:
            shrinkage = 1 / (1 + np.maximum(values, 0.0) / (n * np.array(_RIDGES)[:, None]))
            diagonals, coordinates = shrinkage @ np.square(vectors).T - 1 / n, vectors.T @ Y
            for shrunk, diagonal in zip(shrinkage, diagonals, strict=True):
                residuals = vectors @ (shrunk[:, None] * coordinates) / diagonal[:, None]
                found.append(np.square(residuals).sum(axis=0))
        return np.array(found)

    def best(self, Y: Array) -> tuple[float, float]:
        """Return the power of the kernel and the ridge whose error, summed over outputs, is least."""
        return CHOICES[int(self.errors(Y).sum(axis=1).argmin())]


def residual_operator(D: Array, width: float, ridge: float) -> Array:
    r"""Return the matrix that takes labels to their leave-one-out residuals of kernel ridge regression with intercept.

    With :math:`A = (HKH + \lambda I)^{-1}`, :math:`\lambda = n \varepsilon`, row i is
    :math:`\lambda (AH)_i / (\lambda A_{ii} - 1/n)`.
    """
    n = len(D)
    factor, _ = lapack.dpotrf(_regularised(kernel(D, width), ridge).T, overwrite_a=1)
    half, _ = lapack.dpotri(factor, overwrite_c=1)  # the upper triangle
    A = np.where(np.tri(n, dtype=bool), half.T, half)
    A *= n * ridge
    A -= 1 / n
    A /= np.diag(A)[:, None].copy()
    return np.asarray(A)


def fitted(D: Array, Y: Array, width: float, ridge: float) -> Array:
    """Return the predictions of kernel ridge regression for all samples; the first ones, as many as Y has, fit it."""
    K = kernel(D[:, : len(Y)], width)
    a, intercept = coefficients(K[: len(Y)], Y, ridge)
    return np.asarray(K @ a + intercept)


def coefficients(K: Array, Y: Array, ridge: float) -> tuple[Array, Array]:
    """Return the coefficients and the intercepts of kernel ridge regression; the former add up to zero."""
    mean = Y.mean(axis=0)
    factor = linalg.cho_factor(_regularised(K, ridge), check_finite=False)
    a = linalg.cho_solve(factor, Y - mean, check_finite=False)
    return np.asarray(a), np.asarray(mean - K.mean(axis=0) @ a)


def _regularised(K: Array, ridge: float) -> Array:
    A = _centred(K)
    A[np.diag_indices(len(A))] += len(A) * ridge
    return A


def _centred(K: Array) -> Array:
    means = K.mean(axis=0)
    A = np.add.outer(means - means.mean(), means)
    return np.asarray(np.subtract(K, A, out=A))
