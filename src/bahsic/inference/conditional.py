r"""Test whether a feature helps to predict the labels beyond other features: the projected covariance measure.

The samples are split in two halves. The first learns a direction: f = g - m, where g predicts the labels from all
features and m predicts g from all but one. On the second half, f is correlated with the labels after both have been
regressed on all but that one. If it adds nothing, the residuals are uncorrelated, however the features depend on each
other. All regressions are kernel ridge regressions with a Gaussian kernel.

The residuals are leave-one-out residuals, :math:`r = D y` and :math:`s = E f` with matrices D and E that depend on
the features alone. Their products are summed, and the summands depend on each other through D and E: for independent
noise the variance of :math:`r's = y'D'Ef` is :math:`\|D'E\|^2`, where that of independent summands would be
:math:`\sum_i \|d_i\|^2 \|e_i\|^2`. The variance that the squared products estimate is multiplied by this ratio.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from bahsic.arrays import Array, Indices
from bahsic.criteria.blocks import some_samples
from bahsic.criteria.prediction import label_features
from bahsic.data.column_choice import column_mask
from bahsic.data.columns import Columns
from bahsic.data.prepared import Prepared, prepared
from bahsic.engine.scorer import totals
from bahsic.inference.dependence import as_table_like
from bahsic.inference.parts import (
    Samples,
    Split,
    combined_pvalues,
    parallel_map,
    random_splits,
    resolved_target_kernel,
)
from bahsic.inference.regression import CHOICES, Tuning, fitted, residual_operator, scaled
from bahsic.kernels import Gaussian, label_kernel
from bahsic.parameters import check_count, check_jobs, random_source

# The ridge of the residuals is that of the least error, divided by this: what a regression smooths away would be
# left for a near-copy to explain.
_UNDERSMOOTHING = 10.0

# Samples that learn the direction, and samples of one regression of the test. With more there are several
# regressions, up to a number.
_LEARNING_SAMPLES, _TEST_SAMPLES, _MAX_REGRESSIONS = 500, 500, 4


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
    >>> import numpy as np
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
    target_kernel : str, Kernel or callable, default="auto"
        Kernel on y, whose features are predicted; see `bahsic.kernels.label_kernel`.
    categorical_features, missing
        As for `BAHSIC`.
    n_splits : int, default=20
        Random splits of the samples, whose p-values are combined as in `selection_test`. With one split the p-value
        depends on the split, but is not doubled.
    test_size : float, default=0.5
        Fraction of the samples to test with. The others learn what shape the effect has.
    random_state : int, RandomState, Generator or None, default=None
    n_jobs : int or None, default=None
        Number of threads, as for `selection_frequencies`; the result does not depend on it.

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
    options: Any = {"categorical_features": categorical_features, "missing": missing, "identifiers": "use"}
    data = prepared(as_table_like(X), Gaussian(), **options, whole=True)
    d = len(data.constant)
    tested = column_mask(feature, d, data.table.names, "feature")
    known = ~tested if given is None else column_mask(given, d, data.table.names, "given")
    if not tested.any():
        raise ValueError("feature has no column; accepted: one or more")
    if (tested & known).any():
        both = np.flatnonzero(tested & known)[0]
        name = int(both) if data.table.names is None else str(data.table.names[both])
        raise ValueError(f"feature and given both have column {name!r}; accepted: different ones")
    samples = Samples(data.X, y, resolved_target_kernel(None, y, target_kernel))
    Y = label_features(label_kernel(y, samples.target_kernel))
    splits = random_splits(samples, n_splits, test_size, random_source(random_state))
    units = [np.flatnonzero(tested), np.flatnonzero(known)]

    def split_pvalue(split: Split) -> float:
        return float(needed_pvalues(data, Y, split.learning, split.test, units, 1)[0])

    pvalues = np.array(parallel_map(split_pvalue, splits, n_jobs, len(samples)))
    return ConditionalTest(min(1.0, float(combined_pvalues(pvalues))), pvalues)


def needed_pvalues(
    data: Prepared, Y: Array, learning: Indices, test: Indices, units: Sequence[Indices], n_tested: int | None = None
) -> Array:
    """Return for each of the first units the p-value that it adds nothing to the others in predicting the labels.

    Units are sets of columns, of data for a Gaussian kernel. Of many samples, some are used.
    """
    learning = learning[some_samples(len(learning), _LEARNING_SAMPLES)]
    test = test[some_samples(len(test), _TEST_SAMPLES * _MAX_REGRESSIONS)]
    n_parts = -(-len(test) // _TEST_SAMPLES)
    units = [unit[~data.constant[unit]] for unit in units]
    sums = np.zeros((len(units[:n_tested]), 2))
    for part in range(n_parts):
        samples = np.concatenate([learning, test[part::n_parts]])
        sums += _sums_and_variances(data.columns.of_samples(samples), Y[samples], len(learning), units, n_tested)
    return np.array([float(stats.norm.sf(r / np.sqrt(v))) if v > 0 else 1.0 for r, v in sums])


def _sums_and_variances(
    columns: Columns, Y: Array, n: int, units: Sequence[Indices], n_tested: int | None
) -> list[tuple[float, float]]:
    """Return for each unit the sum of the products of residuals and its variance; the first n samples learn."""
    features = np.concatenate(units)
    D = totals(columns, features, 2)
    scaled_D, prediction = scaled(D, len(features)), np.empty_like(Y)
    # Each output has a ridge of its own: a direction that leads nowhere is short, and counts for little.
    choices = Tuning(scaled_D[:n, :n]).errors(Y[:n]).argmin(axis=0)
    for choice in np.unique(choices):
        outputs = choices == choice
        prediction[:, outputs] = fitted(scaled_D, Y[:n, outputs], *CHOICES[choice])
    results = []
    for unit in units[:n_tested]:
        if not len(unit):  # nothing varies
            results.append((0.0, 0.0))
            continue
        rest = np.maximum(D - totals(columns, unit, 2), 0.0)
        rest = scaled(rest, len(features) - len(unit))
        # One tuning serves m too: predictions are known for the test samples, without their labels.
        tuning = Tuning(rest[n:, n:])
        f = prediction[n:] - fitted(rest, prediction[:n], *tuning.best(prediction[n:]))[n:]
        results.append(product_of_residuals(rest[n:, n:], Y[n:], f, tuning))
    return results


def product_of_residuals(D: Array, Y: Array, f: Array, tuning: Tuning) -> tuple[float, float]:
    """Return the inner product of the leave-one-out residuals of Y and f, and its variance if they are independent."""
    (width, ridge), (f_width, f_ridge) = tuning.best(Y), tuning.best(f)
    of_Y = residual_operator(D, width, ridge / _UNDERSMOOTHING)
    of_f = residual_operator(D, f_width, f_ridge / _UNDERSMOOTHING)
    products = np.einsum("ij,ij->i", of_Y @ Y, of_f @ f)
    independent = np.einsum("ij,ij->i", of_Y, of_Y) @ np.einsum("ij,ij->i", of_f, of_f)
    dependent = np.linalg.norm(of_Y.T.astype(np.float32) @ of_f.astype(np.float32)) ** 2
    return float(products.sum()), float(np.square(products).sum() * dependent / independent)
