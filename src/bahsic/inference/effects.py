"""Effects of single features on the prediction: partial dependence of kernel ridge regression."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bahsic.data.columns import Columns
from bahsic.engine.scorer import totals
from bahsic.inference.parts import evenly_spaced
from bahsic.inference.regression import Tuning, coefficients, kernel, scaled

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Samples that are used, and regressions, each without some of them.
_SAMPLES, _FOLDS = 300, 5


def effects(columns: Columns, Y: Array, selected: Indices, places: Sequence[tuple[int, Indices]]) -> list[Array]:
    r"""Return the mean prediction if a feature had certain values in all samples.

    With :math:`D_{ab}` the squared distance of two samples on the selected features and :math:`d_{ab}` that on one of
    them, the kernel of sample a with the value that sample s has, and sample b, is that of
    :math:`D_{ab} - d_{ab} + d_{sb}`: categories and missing entries need nothing else.

    Parameters
    ----------
    columns : Columns
        For a Gaussian kernel.
    Y : ndarray of shape (m, c)
        What is predicted.
    selected : ndarray of int
        The features of the regression.
    places : sequence of (int, ndarray of int)
        Features, and samples that have the values that are wanted.

    Returns
    -------
    list of ndarray of shape (n_values, c, n_folds)
        For each feature, by regressions that each leave out a fifth of the samples.
    """
    samples = evenly_spaced(np.arange(len(Y)), _SAMPLES)
    n, fold = len(samples), np.arange(len(samples)) % _FOLDS
    some, Y = columns.of_samples(samples), Y[samples]
    D = totals(some, selected, 2)
    width, ridge = Tuning(scaled(D, len(selected))).best(Y)
    K = kernel(scaled(D, len(selected)), width)
    weights, intercepts = np.zeros((n, Y.shape[1], _FOLDS)), np.empty((Y.shape[1], _FOLDS))
    for k in range(_FOLDS):
        own = np.flatnonzero(fold != k)
        weights[own, :, k], intercepts[:, k] = coefficients(K[np.ix_(own, own)], Y[own], ridge)
    found = []
    for feature, values in places:
        both = columns.of_samples(np.concatenate([samples, values]))
        d = totals(both, np.array([feature]), 2)
        rest = np.maximum(D - d[:n, :n], 0.0)
        kernels = [kernel(scaled(rest + row, len(selected)), width) for row in d[n:, :n]]
        means = np.array([K.mean(axis=0) for K in kernels])
        found.append(np.einsum("sb,bck->sck", means, weights) + intercepts)
    return found
