"""Resampling: the stability of a selection, and p-values from samples that were not used to select."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import stats
from sklearn.base import clone

from bahsic.arrays import Array, Indices, Mask
from bahsic.criteria.prediction import label_features
from bahsic.data.column_choice import group_of_columns
from bahsic.data.prepared import prepared
from bahsic.data.tables import is_frame
from bahsic.engine.executor import Executor
from bahsic.engine.scorer import kernel_values
from bahsic.inference import parts
from bahsic.inference.centred import draw_permutations
from bahsic.inference.conditional import needed_pvalues
from bahsic.inference.independence import hsic_test, without_labels
from bahsic.inference.scores import scores_of_columns
from bahsic.kernels import Gaussian, label_kernel
from bahsic.parameters import check_choice, check_count, check_jobs, check_parameter, random_source


@dataclass(frozen=True, eq=False)
class SelectionTest:
    """P-values of a selection from samples that were not used to select, the result of `selection_test`.

    Attributes
    ----------
    pvalue : float
        P-value of the hypothesis that the selected features, taken together, are independent of the labels.
    feature_pvalues : ndarray of shape (n_features,)
        P-value of the hypothesis that a feature adds nothing to the other selected features in predicting the labels,
        or with ``feature_test="marginal"`` that it alone is independent of them. Adjusted for the number of features;
        1 for features that are rarely selected.
    frequencies : ndarray of shape (n_features,)
        Fraction of the splits in which each feature was selected.
    split_pvalues : ndarray of shape (n_splits,)
        P-values of the single splits, which `pvalue` combines.
    expected_false : ndarray of shape (n_features,)
        `feature_pvalues` before they are cut off at 1. On average, at most so many false features have a value this
        small. Infinite for features that are rarely selected.

    Examples
    --------
    >>> expected = np.array([0.01, np.inf, 0.02])
    >>> result = SelectionTest(0.01, np.minimum(expected, 1.0), np.array([1.0, 0.3, 0.9]), np.array([0.005]), expected)
    >>> result.discoveries(fdr=0.1)
    array([0, 2])
    """

    pvalue: float
    feature_pvalues: Array
    frequencies: Array
    split_pvalues: Array
    expected_false: Array

    def discoveries(self, fdr: float = 0.1) -> Indices:
        r"""Select features with a false discovery rate of at most ``fdr``.

        Parameters
        ----------
        fdr : float, default=0.1

        Returns
        -------
        ndarray of int
            The features with the h smallest `expected_false` :math:`e_j`, in increasing order, where h is the greatest
            number with :math:`e_{(h)} \le h \, \mathrm{fdr} / \sum_{i \le d} 1/i`.

        References
        ----------
        Benjamini, Yekutieli: The control of the false discovery rate in multiple testing under dependency. Annals of
        Statistics 29, 2001.
        """
        parts.check_fraction("fdr", fdr)
        mean_pvalues = np.minimum(self.expected_false / len(self.expected_false), 1.0)
        return np.flatnonzero(stats.false_discovery_control(mean_pvalues, method="by") <= fdr)


def selection_frequencies(
    selector: Any,
    X: Any,
    y: Any,
    n_resamples: int = 100,
    *,
    subsample: float = 0.5,
    stratify: bool = True,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Array:
    """Compute how often each feature is selected on random subsamples (stability selection).

    Parameters
    ----------
    selector : estimator
        Any scikit-learn selector (with `get_support`); a clone is fitted to each subsample.
    X : array-like or dataframe of shape (m, d)
    y : array-like of shape (m,) or (m, k), or None
        Whatever the selector takes.
    n_resamples : int, default=100
        Number of subsamples.
    subsample : float, default=0.5
        Size of a subsample as a fraction of the samples, which are drawn without replacement.
    stratify : bool, default=True
        Whether to draw that fraction of each class, if the labels are classes for the selector or `label_kernel`.
    random_state : int, RandomState, Generator or None, default=None
        Seed or generator used to draw the subsamples.
    n_jobs : int or None, default=None
        Number of threads, see `BAHSIC`; the result does not depend on it.

    Returns
    -------
    ndarray of shape (d,)
        Fractions of the subsamples. Costs `n_resamples` fits; their warnings are not shown.

    References
    ----------
    Meinshausen, Buehlmann: Stability selection. Journal of the Royal Statistical Society B 72, 2010.

    Examples
    --------
    >>> from bahsic import BAHSIC
    >>> from bahsic.datasets import make_xor
    >>> X, y, support = make_xor(n_samples=160, n_features=6, random_state=0)
    >>> selection_frequencies(BAHSIC(2), X, y, n_resamples=20, random_state=0)
    array([1., 1., 0., 0., 0., 0.])
    """
    _check_selector(selector)
    check_count("n_resamples", n_resamples)
    parts.check_fraction("subsample", subsample)
    check_jobs(n_jobs)
    target_kernel = getattr(selector, "target_kernel", "auto")
    if y is not None:
        target_kernel = parts.resolved_target_kernel(selector, y, target_kernel)
    samples = parts.Samples(X, y, target_kernel)
    selector = _fixed_selector(selector, X, target_kernel)
    strata = samples.strata("stratify=False") if stratify else [np.arange(len(samples))]
    random = random_source(random_state)
    drawn = [parts.draw_part(random, strata, subsample) for _ in range(n_resamples)]
    if len(drawn[0]) < parts.MIN_SAMPLES:
        few = f"{len(drawn[0])} of {len(samples)} samples"
        raise ValueError(f"subsample is {subsample!r}, {few}; accepted: at least {parts.MIN_SAMPLES}")
    supports = parts.parallel_map(lambda part: _support(selector, *samples.part(part)), drawn, n_jobs, len(samples))
    return np.asarray(np.mean(supports, axis=0, dtype=np.float64))


def selection_test(  # noqa: PLR0913 - the splits, the test on them, and how to run it
    selector: Any,
    X: Any,
    y: Any,
    *,
    n_splits: int = 20,
    test_size: float = 0.5,
    feature_test: Literal["conditional", "marginal"] = "conditional",
    method: Literal["permutation", "gamma"] = "permutation",
    n_permutations: int = 999,
    kernel: Any = None,
    target_kernel: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> SelectionTest:
    r"""Test a selection: select on one part of the samples, and test on the other.

    A test on the samples that were used to select finds dependence in pure noise. Here each of n random splits
    (stratified if y are classes) gives one valid p-value. With the sorted ones and k = n/2, rounded up,
    :math:`\min(1, \frac{n}{k} p_{(k)})` is a valid p-value however they depend on each other. The null hypotheses are:

    - ``pvalue``: in no split do the selected features, taken together, depend on the labels.
    - ``feature_pvalues``: a feature does not help to predict y beyond the other features that were selected with it
      (``feature_test="conditional"``, see `conditional_test`), or it is independent of y by itself (``"marginal"``).
      In each split the p-value of a selected feature is multiplied by the number of selected features; other features
      have 1. This controls the family-wise error over the hypotheses that hold in every split.

    The conditional test detects features that matter only in combination, as in XOR. Of two selected near-duplicates,
    it calls neither needed. A small `pvalue` says that the selector finds dependence, not that each feature matters.

    Parameters
    ----------
    selector, X, y
        As for `selection_frequencies`; X may also be what ``bahsic.data.prepared.prepared`` made of it.
    n_splits : int, default=20
    test_size : float, default=0.5
        Fraction of the samples to test with; the selector gets the others.
    feature_test : {"conditional", "marginal"}, default="conditional"
        The hypothesis of `feature_pvalues`. The conditional test tests the columns of a group of the selector together.
    method : {"permutation", "gamma"}, default="permutation"
        Test of independence, see `hsic_test`: "permutation" is exact, "gamma" is faster and approximate.
    n_permutations : int, default=999
        No p-value is below 1/(1 + n_permutations).
    kernel, target_kernel : str, Kernel or callable, or None
        Kernels of the tests of independence; None means those of the selector, or "gaussian" and "auto" if it has
        none. The conditional test uses Gaussian kernels of several widths on the features.
    random_state, n_jobs
        As for `selection_frequencies`; splits and permutations are drawn.

    Returns
    -------
    SelectionTest
        Costs `n_splits` fits and tests. Warnings of the fits are not shown.

    Notes
    -----
    Unless the selector has ``standardize=False``, each column is standardised for the test by its mean and standard
    deviation in all samples. This does not involve the labels, so the p-values stay valid.

    References
    ----------
    Rueschendorf: Random variables with maximum sums. Advances in Applied Probability 14, 1982.
    Meinshausen, Meier, Buehlmann: p-values for high-dimensional regression. JASA 104, 2009.
    Vovk, Wang: Combining p-values via averaging. Biometrika 107, 2020.

    Examples
    --------
    >>> from bahsic import BAHSIC
    >>> from bahsic.datasets import make_xor
    >>> X, y, support = make_xor(n_samples=160, n_features=6, random_state=0)
    >>> result = selection_test(BAHSIC(2), X, y, n_splits=5, random_state=0)
    >>> result.feature_pvalues < 0.05
    array([ True,  True, False, False, False, False])
    """
    _check_selector(selector)
    check_count("n_splits", n_splits)
    check_jobs(n_jobs)
    check_choice("feature_test", feature_test, ("conditional", "marginal"))
    valid = method in ("permutation", "gamma")
    check_parameter("method", method, valid, "'permutation', 'gamma', which hold under independence")
    kernel = getattr(selector, "kernel", "gaussian") if kernel is None else kernel
    kernel = "gaussian" if isinstance(kernel, str) and kernel == "auto" else kernel  # not one that the samples choose
    own = parts.resolved_target_kernel(selector, y, getattr(selector, "target_kernel", "auto"))
    target_kernel = own if target_kernel is None else parts.resolved_target_kernel(None, y, target_kernel)
    data = parts.selector_data(selector, X, kernel)
    samples = parts.Samples(data.X, y, target_kernel)
    splits = parts.random_splits(samples, n_splits, test_size, random_source(random_state))
    selector, kernel = _fixed_selector(selector, data.X, own), without_labels(kernel)
    if feature_test == "conditional":
        groups, _ = group_of_columns(getattr(selector, "feature_groups", None), len(data.constant), data.table.names)
        Y = label_features(label_kernel(y, target_kernel))

    def split_result(split: parts.Split) -> tuple[Mask, float, Array]:
        """Select on one part and test on the other: return support, p-value and p-values times their number."""
        support = _support(selector, *samples.part(split.learning))
        expected = np.full(len(support), np.inf)
        if not support.any():  # without a selected feature there is nothing to test
            return support, 1.0, expected
        selected, columns = np.flatnonzero(support), data.columns.of_samples(split.test)
        labels = samples.labels(split.test)
        if feature_test == "conditional":
            numbers, unit_of = np.unique(groups[selected], return_inverse=True)
            units = [selected[unit_of == unit] for unit in range(len(numbers))]
            pvalues = needed_pvalues(data.for_kernel(Gaussian()), Y, split.learning, split.test, units)
            expected[selected] = len(units) * pvalues[unit_of]
        else:
            permutations = None
            if method == "permutation":
                permutations = draw_permutations(len(split.test), n_permutations, random_source(split.seed))
            of_labels, serial = label_kernel(labels, target_kernel), Executor()
            _, pvalues = scores_of_columns(columns, selected, kernel, of_labels, permutations, serial)
            expected[selected] = len(selected) * pvalues
        rows = columns.rows(selected)
        varies = (rows != rows[:, :1]).any(axis=1)
        K = kernel_values(columns, selected[varies] if varies.any() else selected, kernel)
        options: Any = {"method": method, "n_permutations": n_permutations, "random_state": split.seed, "n_jobs": 1}
        joint_test = hsic_test(K, labels, kernel="precomputed", target_kernel=target_kernel, **options)
        return support, joint_test.pvalue, expected

    results = parts.parallel_map(split_result, splits, n_jobs, len(samples))
    supports, joint, expected = (np.array(values) for values in zip(*results, strict=True))
    pvalue, expected_false = min(1.0, float(parts.combined_pvalues(joint))), parts.combined_pvalues(expected)
    return SelectionTest(pvalue, np.minimum(1.0, expected_false), np.mean(supports, axis=0), joint, expected_false)


def _fixed_selector(selector: Any, X: Any, target_kernel: Any) -> Any:
    """Return a clone that prints nothing, with those options fixed that all samples decide, not parts of them."""
    options = selector.get_params(deep=False)
    changes: dict[str, Any] = {}
    if "verbose" in options:  # many fits at the same time would write into each other's lines
        changes["verbose"] = 0
    if str(options.get("target_kernel")) == "auto":
        changes["target_kernel"] = target_kernel
    if str(options.get("identifiers")) == "drop" and is_frame(X):
        reading = {name: options[name] for name in ("categorical_features", "missing")}
        changes["identifiers"] = prepared(X, Gaussian(), **reading, used=options["keep"]).table.left_out
    return clone(selector).set_params(**changes)


def _support(selector: Any, X: Any, y: Any) -> Mask:
    return np.asarray(clone(selector).fit(X, y).get_support())


def _check_selector(selector: Any) -> None:
    if isinstance(selector, type) or not hasattr(selector, "get_support"):
        raise TypeError(f"selector is {selector!r}; accepted: an estimator with get_support, such as BAHSIC()")
