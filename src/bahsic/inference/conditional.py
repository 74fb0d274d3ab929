r"""Test whether a feature helps to predict the labels beyond other features; its regressions; partial dependence.

The samples are split in two halves. The first learns a direction: f = g - m, where g predicts the labels from all
features and m predicts g from all but one. On the second half, f is correlated with the labels after both have been
regressed on all but that one. If it adds nothing, the residuals are uncorrelated, however the features depend on each
other. All regressions are kernel ridge regressions on matrices of scaled squared distances D: exp(-D) is the Gaussian
kernel of gamma = 1/(2 d), and exp(-width D) is one of its powers. ARCHITECTURE.md says how the level is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, stats
from scipy.linalg import lapack

from bahsic.arrays import Array, Indices
from bahsic.criteria.blocks import some_samples
from bahsic.criteria.prediction import label_features
from bahsic.data.column_choice import column_mask
from bahsic.data.columns import Columns
from bahsic.data.prepared import Prepared
from bahsic.engine.scorer import totals
from bahsic.inference import parts
from bahsic.inference.dependence import as_prepared
from bahsic.kernels import Gaussian, label_kernel
from bahsic.parameters import check_count, check_jobs, random_source

# What the ridge of least error is divided by for residuals: a near-copy would explain what a regression smooths away.
_UNDERSMOOTHING = 10.0
# Samples that learn the direction, and samples of one regression of the test; with more there are several regressions.
_LEARNING_SAMPLES, _TEST_SAMPLES, _MAX_REGRESSIONS = 500, 500, 4
# Ridges and factors of gamma that are tried; a factor of gamma is a power of the kernel. The ridges go far down,
# because predictions are regressed too, and these have no noise.
_RIDGES = tuple(10.0 ** np.arange(1.0, -8.1, -0.5))
_WIDTHS = (0.25, 1.0, 4.0)
_CHOICES = tuple(product(_WIDTHS, _RIDGES))
_TUNING_SAMPLES = 150  # that choose the width and the ridge
_EFFECT_SAMPLES, _FOLDS = 300, 5  # of the regressions for partial dependence, each without some of the samples


class ConditionalTest(NamedTuple):
    """Result of `conditional_test`.

    Attributes
    ----------
    pvalue : float
        P-value of the hypothesis that the feature adds nothing to the given ones in predicting the labels.
    split_pvalues : ndarray of shape (n_splits,)
        P-values of the single splits, which `pvalue` combines.

    Examples
    --------
    >>> ConditionalTest(0.03, np.array([0.015, 0.2])).pvalue
    0.03
    """

    pvalue: float
    split_pvalues: Array


def conditional_test(  # noqa: PLR0913 - the question, how a table is read, and the splits
    X: Any,
    y: Any,
    feature: Any,
    given: Any = None,
    *,
    target_kernel: Any = "auto",
    categorical_features: Any = "from_dtype",
    missing: str = "neutral",
    n_splits: int = 20,
    test_size: float = 0.5,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConditionalTest:
    r"""Test whether a feature helps to predict the labels beyond other features: the projected covariance measure.

    Null hypothesis: :math:`E[y \mid x, z] = E[y \mid z]`, where x is the feature and z are the given ones. The test
    detects effects of any shape, including interactions of x with z. It does not matter how x depends on z, as long as
    kernel ridge regression can learn y and x's contribution from z.

    Parameters
    ----------
    X : array-like, sparse matrix or dataframe of shape (m, d)
    y : array-like of shape (m,) or (m, k)
        Classes, numbers, several outputs, or whatever ``target_kernel`` takes. Weights of samples are not supported.
    feature : int or str, or list of them
        The column to test, or the columns to test as one.
    given : int or str, or list of them, default=None
        The columns whose information is already available; none for an empty list. None means all others.
    target_kernel, categorical_features, missing
        As for `BAHSIC`; the features of the kernel on y are predicted.
    n_splits : int, default=20
        Random splits of the samples, whose p-values are combined as in `selection_test`; that of one is not doubled.
    test_size : float, default=0.5
        Fraction of the samples to test with. The others learn what shape the effect has.
    random_state, n_jobs
        As for `selection_frequencies`.

    Returns
    -------
    ConditionalTest
        ``pvalue`` and ``split_pvalues``. Of many samples, 500 learn and 2000 test in each split.

    See Also
    --------
    selection_test : The same for all features that a selector chooses.

    References
    ----------
    Lundborg, Kim, Shah, Samworth: The projected covariance measure for assumption-lean variable significance testing.
    Annals of Statistics 52, 2024.

    Examples
    --------
    >>> from bahsic.datasets import make_xor
    >>> X, y, _ = make_xor(n_samples=160, n_features=4, random_state=0)
    >>> conditional_test(X, y, feature=0, given=1, random_state=0).pvalue < 0.01
    True
    >>> conditional_test(X, y, feature=0, given=[2, 3], random_state=0).pvalue > 0.05
    True
    """
    check_count("n_splits", n_splits)
    check_jobs(n_jobs)
    data = as_prepared(X, Gaussian(), "X", categorical_features=categorical_features, missing=missing)
    d = len(data.constant)
    tested = column_mask(feature, d, data.table.names, "feature")
    known = ~tested if given is None else column_mask(given, d, data.table.names, "given")
    if not tested.any():
        raise ValueError("feature has no column; accepted: one or more")
    if (tested & known).any():
        both = np.flatnonzero(tested & known)[0]
        name = int(both) if data.table.names is None else str(data.table.names[both])
        raise ValueError(f"feature and given both have column {name!r}; accepted: different ones")
    samples = parts.Samples(data.X, y, parts.resolved_target_kernel(None, y, target_kernel))
    Y = label_features(label_kernel(y, samples.target_kernel))
    splits = parts.random_splits(samples, n_splits, test_size, random_source(random_state))
    units = [np.flatnonzero(tested), np.flatnonzero(known)]

    def split_pvalue(split: parts.Split) -> float:
        return float(needed_pvalues(data, Y, split.learning, split.test, units, 1)[0])

    pvalues = np.array(parts.parallel_map(split_pvalue, splits, n_jobs, len(samples)))
    return ConditionalTest(min(1.0, float(parts.combined_pvalues(pvalues))), pvalues)


def needed_pvalues(
    data: Prepared, Y: Array, learning: Indices, test: Indices, units: Sequence[Indices], n_tested: int | None = None
) -> Array:
    """Return for each of the first sets of columns the p-value that it adds nothing to the others, on some samples."""
    learning = learning[some_samples(len(learning), _LEARNING_SAMPLES)]
    test = test[some_samples(len(test), _TEST_SAMPLES * _MAX_REGRESSIONS)]
    n_parts = -(-len(test) // _TEST_SAMPLES)
    units = [unit[~data.constant[unit]] for unit in units]
    sums = np.zeros((len(units[:n_tested]), 2))
    for part in range(n_parts):
        samples = np.concatenate([learning, test[part::n_parts]])
        sums += _sums_and_variances(data.columns.of_samples(samples), Y[samples], len(learning), units, n_tested)
    return np.array([float(stats.norm.sf(r / np.sqrt(v))) if v > 0 else 1.0 for r, v in sums])


def _sums_and_variances(columns: Columns, Y: Array, n: int, units: Sequence[Indices], n_tested: int | None) -> Array:
    """Return for each unit the sum of the products of residuals and its variance; the first n samples learn."""
    features = np.concatenate(units)
    D = totals(columns, features, 2)
    scaled_D, prediction = _scaled(D, len(features)), np.empty_like(Y)
    # Each output has a ridge of its own: a direction that leads nowhere is short, and counts for little.
    choices = _Tuning(scaled_D[:n, :n]).errors(Y[:n]).argmin(axis=0)
    for choice in np.unique(choices):
        outputs = choices == choice
        prediction[:, outputs] = _fitted(scaled_D, Y[:n, outputs], *_CHOICES[choice])
    results = np.zeros((len(units[:n_tested]), 2))
    for result, unit in zip(results, units, strict=False):
        if not len(unit):  # nothing varies
            continue
        rest = _scaled(np.maximum(D - totals(columns, unit, 2), 0.0), len(features) - len(unit))
        # One tuning serves m too: predictions are known for the test samples, without their labels.
        tuning = _Tuning(rest[n:, n:])
        f = prediction[n:] - _fitted(rest, prediction[:n], *tuning.best(prediction[n:]))[n:]
        own, (width, ridge), (f_width, f_ridge) = rest[n:, n:], tuning.best(Y[n:]), tuning.best(f)
        of_Y = _residual_operator(own, width, ridge / _UNDERSMOOTHING)
        of_f = _residual_operator(own, f_width, f_ridge / _UNDERSMOOTHING)
        # The products depend on each other: their sum has the variance that their squares estimate, times a ratio.
        products = np.vecdot(of_Y @ Y[n:], of_f @ f)
        independent = np.vecdot(of_Y, of_Y) @ np.vecdot(of_f, of_f)
        dependent = np.linalg.norm(of_Y.T.astype(np.float32) @ of_f.astype(np.float32)) ** 2
        result[:] = products.sum(), np.square(products).sum() * dependent / independent
    return results


def _scaled(D: Array, n_features: int) -> Array:
    """Return D, squared distances on so many features, such that exp(-D) is the kernel of gamma = 1/(2 d)."""
    return D / (2 * max(n_features, 1))


class _Tuning:
    """Leave-one-out errors of kernel ridge regression on some samples, for all powers of the kernel and ridges."""

    def __init__(self, D: Array) -> None:
        self._samples = some_samples(len(D), _TUNING_SAMPLES)
        D = D[np.ix_(self._samples, self._samples)]
        self._spectra = [np.linalg.eigh(_centred(np.exp(-width * D))) for width in _WIDTHS]

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
        return _CHOICES[int(self.errors(Y).sum(axis=1).argmin())]


def _residual_operator(D: Array, width: float, ridge: float) -> Array:
    r"""Return the matrix that takes labels to their leave-one-out residuals of kernel ridge regression with intercept.

    With :math:`A = (HKH + \lambda I)^{-1}`, :math:`\lambda = n \varepsilon`, row i is
    :math:`\lambda (AH)_i / (\lambda A_{ii} - 1/n)`.
    """
    n = len(D)
    factor, _ = lapack.dpotrf((_centred(np.exp(-width * D)) + n * ridge * np.eye(n)).T, overwrite_a=1)
    half, _ = lapack.dpotri(factor, overwrite_c=1)  # the upper triangle
    A = np.where(np.tri(n, dtype=bool), half.T, half)
    A = n * ridge * A - 1 / n
    return np.asarray(A / np.diag(A)[:, None])


def _fitted(D: Array, Y: Array, width: float, ridge: float) -> Array:
    """Return the predictions of kernel ridge regression for all samples; the first ones, as many as Y has, fit it."""
    K = np.exp(-width * D[:, : len(Y)])
    a, intercept = _coefficients(K[: len(Y)], Y, ridge)
    return np.asarray(K @ a + intercept)


def _coefficients(K: Array, Y: Array, ridge: float) -> tuple[Array, Array]:
    """Return the coefficients and the intercepts of kernel ridge regression; the former add up to zero."""
    mean, n = Y.mean(axis=0), len(K)
    factor = linalg.cho_factor(_centred(K) + n * ridge * np.eye(n), check_finite=False)
    a = linalg.cho_solve(factor, Y - mean, check_finite=False)
    return np.asarray(a), np.asarray(mean - K.mean(axis=0) @ a)


def _centred(K: Array) -> Array:
    means = K.mean(axis=0)
    return np.asarray(K - np.add.outer(means - means.mean(), means))


def effects(columns: Columns, Y: Array, selected: Indices, places: Sequence[tuple[int, Indices]]) -> list[Array]:
    """Return the mean prediction of Y by the selected features if one of them had certain values in all samples.

    ``columns`` are for a Gaussian kernel, ``places`` features and samples that have the values in question. For Y of
    shape (m, c) the results have the shape (n_values, c, n_folds): each regression leaves out a fifth of the samples.
    """
    samples = some_samples(len(Y), _EFFECT_SAMPLES)
    n, fold, Y = len(samples), np.arange(len(samples)) % _FOLDS, Y[samples]
    D = totals(columns.of_samples(samples), selected, 2)
    scaled_D = _scaled(D, len(selected))
    width, ridge = _Tuning(scaled_D).best(Y)
    K = np.exp(-width * scaled_D)
    weights, intercepts = np.zeros((n, Y.shape[1], _FOLDS)), np.empty((Y.shape[1], _FOLDS))
    for k in range(_FOLDS):
        own = np.flatnonzero(fold != k)
        weights[own, :, k], intercepts[:, k] = _coefficients(K[np.ix_(own, own)], Y[own], ridge)
    results = []
    for feature, values in places:
        d = totals(columns.of_samples(np.concatenate([samples, values])), np.array([feature]), 2)
        rest = np.maximum(D - d[:n, :n], 0.0)  # sample a with the value of s, and sample b: D_ab - d_ab + d_sb
        means = np.array([np.exp(-width * _scaled(rest + row, len(selected))).mean(axis=0) for row in d[n:, :n]])
        results.append(np.einsum("sb,bck->sck", means, weights) + intercepts)
    return results
