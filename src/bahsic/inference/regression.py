"""Kernel ridge regression on matrices of squared distances, for conditional tests and partial dependence.

The matrices are scaled: exp(-D) is the kernel of gamma = 1/(2 d), and exp(-width D) is one of its powers.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from bahsic.arrays import Array, Indices
from bahsic.criteria.blocks import some_samples
from bahsic.data.columns import Columns
from bahsic.engine.scorer import totals

# Ridges and factors of gamma that are tried; a factor of gamma is a power of the kernel. The ridges go far down,
# because predictions are regressed too, and these have no noise.
_RIDGES = tuple(10.0 ** np.arange(1.0, -8.1, -0.5))
_WIDTHS = (0.25, 1.0, 4.0)
CHOICES = tuple(product(_WIDTHS, _RIDGES))

# Samples that choose the width and the ridge.
_TUNING_SAMPLES = 150

# Samples of the regressions for partial dependence, and their number, each without some of the samples.
_EFFECT_SAMPLES, _FOLDS = 300, 5


def scaled(D: Array, n_features: int) -> Array:
    """Return D, squared distances on so many features, such that exp(-D) is the kernel of gamma = 1/(2 d)."""
    return D / (2 * max(n_features, 1))


def kernel(D: Array, width: float) -> Array:
    """Return the kernel of scaled squared distances."""
    K = -width * D
    return np.asarray(np.exp(K, out=K))


class Tuning:
    """Leave-one-out errors of kernel ridge regression on some samples, for all powers of the kernel and ridges."""

    def __init__(self, D: Array) -> None:
        self._samples = some_samples(len(D), _TUNING_SAMPLES)
        D = D[np.ix_(self._samples, self._samples)]
        self._spectra = [np.linalg.eigh(_centred(kernel(D, width))) for width in _WIDTHS]

    def errors(self, Y: Array) -> Array:
        """Return the sum of squared errors of each output, for all choices."""
        Y, n, errors = Y[self._samples], len(self._samples), []
        Y = Y - Y.mean(axis=0)
        for values, vectors in self._spectra:
            shrinkage = 1 / (1 + np.maximum(values, 0.0) / (n * np.array(_RIDGES)[:, None]))
            diagonals, coordinates = shrinkage @ np.square(vectors).T - 1 / n, vectors.T @ Y
            for shrunk, diagonal in zip(shrinkage, diagonals, strict=True):
                residuals = vectors @ (shrunk[:, None] * coordinates) / diagonal[:, None]
                errors.append(np.square(residuals).sum(axis=0))
        return np.array(errors)

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


def effects(columns: Columns, Y: Array, selected: Indices, places: Sequence[tuple[int, Indices]]) -> list[Array]:
    r"""Return the mean prediction of Y by the selected features if one of them had certain values in all samples.

    ``columns`` are for a Gaussian kernel, ``places`` features and samples that have the values in question. For Y of
    shape (m, c) the results have the shape (n_values, c, n_folds): each regression leaves out a fifth of the samples.

    With :math:`D_{ab}` the squared distance of two samples on the selected features and :math:`d_{ab}` that on one of
    them, the kernel of sample a with the value that sample s has, and sample b, is that of
    :math:`D_{ab} - d_{ab} + d_{sb}`: categories and missing entries need nothing else.
    """
    samples = some_samples(len(Y), _EFFECT_SAMPLES)
    n, fold, Y = len(samples), np.arange(len(samples)) % _FOLDS, Y[samples]
    D = totals(columns.of_samples(samples), selected, 2)
    scaled_D = scaled(D, len(selected))
    width, ridge = Tuning(scaled_D).best(Y)
    K = kernel(scaled_D, width)
    weights, intercepts = np.zeros((n, Y.shape[1], _FOLDS)), np.empty((Y.shape[1], _FOLDS))
    for k in range(_FOLDS):
        own = np.flatnonzero(fold != k)
        weights[own, :, k], intercepts[:, k] = coefficients(K[np.ix_(own, own)], Y[own], ridge)
    results = []
    for feature, values in places:
        d = totals(columns.of_samples(np.concatenate([samples, values])), np.array([feature]), 2)
        rest = np.maximum(D - d[:n, :n], 0.0)
        means = np.array([kernel(scaled(rest + row, len(selected)), width).mean(axis=0) for row in d[n:, :n]])
        results.append(np.einsum("sb,bck->sck", means, weights) + intercepts)
    return results
