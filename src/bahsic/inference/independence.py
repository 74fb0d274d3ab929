"""Tests of independence, and confidence intervals of HSIC."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from bahsic.arrays import Array
from bahsic.criteria.hsic import estimate_and_variance, hsic_bound
from bahsic.criteria.weights import Matrix, label_weights
from bahsic.engine import threads
from bahsic.inference import centred
from bahsic.inference.dependence import kernel_input
from bahsic.kernels import Function, Kernel, LabelKernel, Precomputed, kernel_from_name, label_kernel
from bahsic.parameters import check_choice, check_count, check_parameter, random_source


@dataclass(frozen=True, eq=False)
class HypothesisTest:
    """Result of a test of independence.

    Attributes
    ----------
    statistic : float
        Estimate of HSIC: biased for the method "gamma", unbiased otherwise.
    pvalue : float
        Probability of a statistic at least as large if data and labels are independent.
    method : str
        "permutation", "gamma" or "normal".
    null_sample : ndarray of shape (n,) or None
        The statistic of each permutation; None for other methods.
    kernel : Kernel
        Kernel on the data, with numbers in place of rules.
    target_kernel : str or Kernel
        Kernel on the labels, with numbers in place of rules, or its name.

    Examples
    --------
    >>> result = hsic_test([1.0, 2.0, 3.0, 4.0], [1.5, 2.0, 3.0, 4.5])
    >>> result.method, len(result.null_sample), result.kernel
    ('permutation', 23, Gaussian(gamma=0.5))
    """

    statistic: float
    pvalue: float
    method: str
    null_sample: Array | None = field(repr=False)
    kernel: Kernel
    target_kernel: str | Kernel


class ConfidenceInterval(NamedTuple):
    """Limits of a confidence interval."""

    low: float
    high: float


def hsic_test(  # noqa: PLR0913 - the kernels, how a table is read, and the p-value
    x: Any,
    y: Any,
    *,
    method: str = "permutation",
    kernel: Any = "gaussian",
    target_kernel: Any = "auto",
    standardize: bool = True,
    categorical_features: Any = "from_dtype",
    missing: str = "neutral",
    n_permutations: int = 999,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> HypothesisTest:
    """Test whether data x and labels y are independent.

    - ``"permutation"`` compares the unbiased estimate with its values for randomly permuted labels:
      p = (1 + number of these >= the observed one) / (1 + number of permutations). The level is exact for any
      distribution and number of samples. If no more than ``n_permutations`` others exist (up to 6 samples with 999),
      each permutation is used once. Values that differ only by rounding count as equal to the observed one.
    - ``"gamma"`` compares the biased estimate with a gamma distribution of the exact mean and variance over all
      permutations (Kazi-Aoual et al. 1995). Its shape is an approximation, for small p-values without permutations.
    - ``"normal"`` compares the unbiased estimate over its standard deviation (varHSIC) with the standard normal
      distribution. **It is not a test**: for independent data the limit is not normal, and the level is not kept. Use
      it to say by how many standard errors a dependence differs from zero.

    Parameters
    ----------
    x, y, kernel, target_kernel, standardize, categorical_features, missing
        As for `hsic`, of at least 4 samples; if features were selected with these, use `selection_test`. The rule
        "optimise" of a kernel on x depends on the labels and is refused.
    method : {"permutation", "gamma", "normal"}
    n_permutations : int
    random_state : int, RandomState, Generator or None
        Seed or generator used to draw the permutations.
    n_jobs : int or None
        Number of threads, see `BAHSIC`; the result does not depend on it.

    Returns
    -------
    HypothesisTest
        Cost O(m^2 d) time and two m x m matrices of memory. Each permutation takes m p r operations for kernel matrices
        of numerical ranks p and r, m^2 r if only one of them has low rank, and m^2 otherwise.

    Examples
    --------
    >>> x = np.linspace(-2, 2, 50)
    >>> hsic_test(x, x**2, random_state=0).pvalue
    0.001
    >>> hsic_test(x, np.tile([0, 1], 25), method="gamma")  # doctest: +ELLIPSIS
    HypothesisTest(statistic=..., pvalue=..., method='gamma', kernel=Gaussian(gamma=0.5), target_kernel='binary')
    """
    check_choice("method", method, ("permutation", "gamma", "normal"))
    check_count("n_permutations", n_permutations)
    options = {"standardize": standardize, "categorical_features": categorical_features, "missing": missing}
    labels, resolved, K, estimate, variance = _estimated(x, y, kernel, target_kernel, options)
    labels.warn(unbiased=method != "gamma", way_out="method='gamma'")
    null_sample = None
    if method == "normal":
        _check_variance(estimate, variance)
        pvalue = float(special.ndtr(-estimate / math.sqrt(variance)))
    else:
        A, B = centred.from_matrices([K]), centred_labels(labels)
        if method == "gamma":
            estimate, pvalue = (float(values[0]) for values in centred.gamma_test(A, B))
        else:
            permutations = centred.draw_permutations(len(labels), n_permutations, random_source(random_state))
            with threads(n_jobs, len(labels)) as executor:
                values, pvalues = centred.permutation_test(*centred.cheapest_forms(A, B), permutations, executor)
            null_sample, pvalue = values[1:, 0], float(pvalues[0])
    return HypothesisTest(estimate, pvalue, method, null_sample, resolved, _used_target_kernel(labels))


def hsic_interval(  # noqa: PLR0913 - as `hsic_test`
    x: Any,
    y: Any,
    level: float = 0.95,
    method: str = "normal",
    *,
    kernel: Any = "gaussian",
    target_kernel: Any = "auto",
    standardize: bool = True,
    categorical_features: Any = "from_dtype",
    missing: str = "neutral",
) -> ConfidenceInterval:
    r"""Compute a confidence interval of HSIC around its unbiased estimate.

    - ``"normal"``: :math:`\mathrm{HSIC} \pm z \sigma` with the standard deviation of equation varHSIC. It covers the
      true value with about the probability ``level`` for dependent x and y and a few hundred samples. Do not rely on
      it near independence, where the distribution is not normal.
    - ``"bound"``: :math:`\mathrm{HSIC} \pm 8 \sqrt{\log(2 / \delta) / m}`, delta = 1 - level (theorem
      concentration). It is valid for any distribution and number of samples, and therefore wide. It needs bounded
      kernels, and treats them as fixed even if rules, standardising or class sizes depend on the sample.

    The limits are not cut off at zero, although HSIC itself is never negative.

    Parameters
    ----------
    x, y, kernel, target_kernel, standardize, categorical_features, missing
        As for `hsic_test`.
    level : float
        Between 0 and 1.
    method : {"normal", "bound"}

    Returns
    -------
    ConfidenceInterval
        A pair ``(low, high)``. Cost as for `hsic`.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 50)
    >>> low, high = hsic_interval(x, x**2)
    >>> round(low, 4), round(high, 4)
    (0.019, 0.0425)
    """
    check_parameter("level", level, isinstance(level, float) and 0 < level < 1, "a float between 0 and 1")
    check_choice("method", method, ("normal", "bound"))
    options = {"standardize": standardize, "categorical_features": categorical_features, "missing": missing}
    labels, resolved, K, estimate, variance = _estimated(x, y, kernel, target_kernel, options)
    labels.warn()
    if method == "normal":
        _check_variance(estimate, variance)
        radius = -float(special.ndtri((1 - level) / 2)) * math.sqrt(variance)  # 1 + level would lose digits
    else:
        if labels.classes is None:
            label_range = _range("target_kernel", labels.kernel, labels.gram)
        else:
            vectors = np.unique(labels.values, axis=0)
            label_range = float(np.ptp(vectors @ vectors.T))
        ranges = _range("kernel", resolved, lambda: K.values) * label_range
        radius = ranges * hsic_bound(len(labels), 1 - level)
    return ConfidenceInterval(estimate - radius, estimate + radius)


def _estimated(
    x: Any, y: Any, kernel: Any, target_kernel: Any, options: dict[str, Any]
) -> tuple[LabelKernel, Kernel, Matrix, float, float]:
    """Return labels, kernel and kernel matrix of the data, the unbiased estimate of HSIC, and its variance."""
    labels = label_kernel(y, target_kernel)
    weights = label_weights(labels)
    data = kernel_input(x, without_labels(kernel), len(labels), **options)
    resolved = data.resolved(weights)
    K = data.matrix(resolved)
    return labels, resolved, K, *estimate_and_variance(K, weights)


def centred_labels(labels: LabelKernel) -> centred.CentredMatrices:
    """Return the centred kernel matrix of labels, as factors where they are vectors."""
    if labels.vectors is None:
        return centred.from_matrices([labels])
    factors = np.array((labels.vectors - labels.vectors.mean(axis=0)).T, dtype=np.float64)
    return centred.from_factors(factors, [len(factors)])


def _used_target_kernel(labels: LabelKernel) -> str | Kernel:
    """Return the label kernel for another call: its name if labels were encoded for it, else the kernel itself."""
    encoded = labels.name in ("multioutput", "survival") or isinstance(labels.kernel, Precomputed)
    several = labels.name == "regression" and labels.values.shape[1] > 1
    return labels.name if encoded or several or labels.vectors is not None else labels.kernel


def _range(argument: str, kernel: Kernel, values: Callable[[], Any]) -> float:
    """Return the greatest minus the least value of a kernel."""
    if kernel.value_range is not None:
        low, high = kernel.value_range
        return high - low
    if isinstance(kernel, Precomputed | Function):  # of a user's matrix or function only the observed values are known
        observed = values()
        if observed.min() >= 0 and observed.max() <= 1 + 1e-9:
            return 1.0
    raise ValueError(
        f"{argument} is {kernel!r}, whose values are not known to be bounded; accepted for method='bound': "
        "a bounded kernel such as Gaussian, or kernel values between 0 and 1"
    )


def without_labels(kernel: Any) -> Kernel:
    """Return a kernel by its name or as it is; raise if it is fitted to the labels."""
    named: Kernel = kernel_from_name(kernel)
    if named.needs_labels:
        raise ValueError(
            f"kernel is {named!r}, which fits gamma to the labels; accepted: a rule or a number that does not, "
            "because p-values and intervals would be too optimistic"
        )
    return named


def _check_variance(estimate: float, variance: float) -> None:
    """Raise if the variance is infinite, or zero up to rounding, as for constant data or two balanced equal classes."""
    if math.sqrt(variance) <= 1e-12 * abs(estimate) or math.isinf(variance):
        raise ValueError(
            f"the estimated variance of HSIC is {variance:.3g} (HSIC {estimate:.3g}), so that method='normal' says "
            "nothing; accepted: another method, or data that vary"
        )
