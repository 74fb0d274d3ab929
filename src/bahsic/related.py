"""Relatives of HSIC: MMD, kernel target alignment, CKA, Pearson's correlation, the difference of class means."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bahsic.criteria.hsic import hsic_of_rows, resolved_rows
from bahsic.criteria.weights import Statistic
from bahsic.data.standard import Standardisation, standardised
from bahsic.kernels import label_kernel
from bahsic.kernels.rows import FloatArray, as_labels, as_rows, check_same_length, scaled_by_power_of_two


def mmd(x: Any, y: Any, kernel: Any = "gaussian", statistic: Statistic = "unbiased") -> float:
    r"""Compute the squared maximum mean discrepancy between the samples of two classes.

    Biased: :math:`\frac{1}{m_+^2} \sum_{++} k + \frac{1}{m_-^2} \sum_{--} k - \frac{2}{m_+ m_-} \sum_{+-} k
    = \mathrm{tr} KL` with the label kernel :math:`l = \rho(y) \rho(y')`, :math:`\rho = 1/m_+` and :math:`-1/m_-`
    (se:connection, th:mmdkta). Unbiased: pairs of a sample with itself are left out, and
    :math:`m_\pm (m_\pm - 1)` divides in place of :math:`m_\pm^2`.

    Parameters
    ----------
    x : array-like of shape (m,) or (m, d), or whatever the kernel takes
    y : array-like of shape (m,)
        Two classes of any type; statistic="unbiased" needs two samples of each.
    kernel : str, Kernel or callable
        On x, see `kernel_from_name`; rules for its parameter use the samples of both classes.
    statistic : {"unbiased", "biased"}

    Returns
    -------
    float
        The unbiased estimate may be negative. Cost O(m^2 d) time, one m x m matrix of memory.

    Notes
    -----
    Both are HSIC with target_kernel="binary" up to a factor, and are computed by it: biased MMD = (m - 1)^2 biased
    HSIC, since L1 = 0 makes tr KHLH = tr KL (appendix, where the sign of :math:`\rho(-1)` is missing), and unbiased
    MMD = :math:`\frac{m_+ m_- (m-1) (m-2) (m-3)}{m (m_+ - 1) (m_- - 1)}` unbiased HSIC, since the U-centred L of two
    classes is one matrix up to a factor. So for bounded k, and classes of which neither vanishes with growing m,
    :math:`|(m-1)^2 \mathrm{HSIC} - \mathrm{MMD}| = O(m^{-1})` for the unbiased HSIC and the biased MMD, which is
    stronger than theorem mmdkta.

    Examples
    --------
    >>> x, y = [0.0, 2.0, 3.0, 5.0], ["a", "a", "b", "b"]
    >>> round(mmd(x, y, kernel="linear", statistic="biased"), 12)  # the squared difference of the means 1 and 4
    9.0
    >>> round(mmd(x, y, kernel="linear"), 12)
    7.0
    """
    labels = label_kernel(y, "binary")
    value, m = hsic_of_rows(x, y, kernel, "binary", statistic), len(labels)
    if statistic == "biased":
        return _in_range((m - 1) ** 2 * value)
    n_first, n_second = (int(np.count_nonzero(labels.values * sign > 0)) for sign in (-1, 1))
    if min(n_first, n_second) < 2:
        raise ValueError(f"y has classes of {n_first} and {n_second} samples; accepted for 'unbiased': at least 2 each")
    factor = n_first * n_second * (m - 1) * (m - 2) * (m - 3) / (m * (n_first - 1) * (n_second - 1))
    return _in_range(factor * value)


def kta(x: Any, y: Any, kernel: Any = "gaussian", target_kernel: Any = "auto", normalized: bool = True) -> float:
    r"""Compute the kernel target alignment :math:`\mathrm{tr} KL / (\|K\| \|L\|)`, or tr KL (se:connection).

    Nothing is centred: `cka` is the alignment of the centred matrices.

    Parameters
    ----------
    x : array-like of shape (m,) or (m, d), or whatever the kernel takes
    y : array-like of shape (m,) or (m, k), or whatever the kernel takes
    kernel, target_kernel : str, Kernel or callable
        On x and y, see `kernel_from_name` and `label_kernel`; gamma="optimise" maximises biased HSIC.
    normalized : bool
        Whether to divide by the Frobenius norms; then the value is between -1 and 1, and not negative for
        positive definite kernels.

    Returns
    -------
    float
        Cost O(m^2 d) time, two m x m matrices of memory.

    Notes
    -----
    If L1 = 0, tr KL = (m - 1)^2 biased HSIC. This holds for target_kernel="binary", where tr KL is the biased `mmd`
    (which keeps more digits if K is nearly constant), for "multiclass", and for labels 1 and -1 with a linear
    kernel if the classes are of equal size. Theorem mmdkta, :math:`|\mathrm{HSIC} - (m-1)^{-2} \mathrm{KTA}| =
    O(m^{-1})`, holds for tr KL and the unbiased HSIC in these cases, but not for 1 and -1 in classes of unequal size.

    Examples
    --------
    >>> x, y = [-2.0, -1.0, 1.0, 2.0], [-1, -1, 1, 1]
    >>> round(kta(x, y, "linear", "linear", normalized=False), 12), round(kta(x, y, "linear", "linear"), 12)
    (36.0, 0.9)
    """
    kernel, X, labels = resolved_rows(x, y, kernel, target_kernel, "biased")
    K, L = kernel(X).astype(np.float64, copy=False), labels.gram()
    if not normalized:
        return _inner_product(K, L)
    K, L = scaled_by_power_of_two(K)[0], scaled_by_power_of_two(L)[0]  # squares stay in range, the ratio is the same
    norms = [math.sqrt(_inner_product(G, G)) for G in (K, L)]
    for name, norm in zip(("x", "y"), norms, strict=True):
        if norm == 0:
            raise ValueError(f"all kernel values of {name} are 0, of which the alignment is undefined")
    return float(np.clip(_inner_product(K, L) / math.prod(norms), -1.0, 1.0))


def cka(
    x: Any, y: Any, kernel: Any = "gaussian", target_kernel: Any = "auto", statistic: Statistic = "biased"
) -> float:
    r"""Compute centred kernel alignment, HSIC(K, L) divided by the root of HSIC(K, K) HSIC(L, L).

    With the biased HSIC it is `kta` of the centred matrices HKH and HLH. With the unbiased HSIC it is also called
    debiased CKA, and is near 0 for independent x and y however many features there are.

    Parameters
    ----------
    x, y, kernel, target_kernel
        As for `kta`; gamma="optimise" maximises HSIC(K, L).
    statistic : {"biased", "unbiased"}

    Returns
    -------
    float
        Between -1 and 1; with the biased HSIC and positive definite kernels not negative. With the biased HSIC and
        linear kernels, of one feature and numbers y, it is the square of `pearson_criterion`. Cost O(m^2 d) time, a few
        m x m matrices of memory.

    Notes
    -----
    HSIC(K, K) is a sum of squares of centred entries. If it is zero, a ValueError is raised: for constant data and,
    unbiased, for two classes of which one has a single sample, or distinct labels with the delta kernel.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 50)
    >>> round(cka(x, 3 * x + 1, "linear", "linear"), 12), round(cka(x, x**2), 4)
    (1.0, 0.1603)
    """
    kernel, X, labels = resolved_rows(x, y, kernel, target_kernel, statistic)
    _check_varied(x=X, y=labels.values)
    K = _of_unit_size(kernel.centrable(X), statistic)
    L = _of_unit_size(labels.kernel.centrable(labels.values), statistic)
    norms = _centred_norm("x", K, statistic) * _centred_norm("y", L, statistic)
    return float(np.clip(hsic_of_rows(K, L, "precomputed", "precomputed", statistic) / norms, -1.0, 1.0))


def pearson_criterion(X: Any, y: Any) -> FloatArray:
    r"""Compute the correlation of each feature with y, :math:`r_j = \mathrm{cov}(x_j, y) / (\sigma_j \sigma_y)`.

    Its square is biased HSIC with linear kernels of the feature and the labels, both divided by their standard
    deviations (m - 1 in the denominator), and so `cka` of the two with linear kernels.

    Parameters
    ----------
    X : array-like of shape (m, d)
    y : array-like of shape (m,)
        Numbers, or two classes of another type, of which the first in sorted order counts as -1 and the second as 1.
        Any two numbers for two classes give the same value.

    Returns
    -------
    ndarray of shape (d,)
        Between -1 and 1, and 0 for constant features. Cost O(m d).

    Examples
    --------
    >>> pearson_criterion([[1, 5, 2], [2, 5, 0], [3, 5, 1]], [2.0, 4.0, 6.0]).round(12)
    array([ 1. ,  0. , -0.5])
    """
    labels = as_labels(y, "y")
    if labels.shape[1] != 1:
        raise ValueError(f"y has shape {labels.shape}; accepted: one label for each sample")
    numbers = labels if labels.dtype.kind in "fiub" else label_kernel(y, "binary").values
    columns, target = _standardised(as_rows(X, "X"))[0], _standardised(numbers)[0]
    check_same_length(X=columns.shape[1], y=target.shape[1])
    _check_varied(y=target.T)
    return np.asarray(np.clip(columns @ target[0] / target.shape[1], -1.0, 1.0))


def mean_difference(X: Any, y: Any) -> FloatArray:
    r"""Compute the difference of the class means of each feature, :math:`\sum_i \rho(y_i) x_{ij}`.

    Its square is (m - 1)^2 biased HSIC of the feature with a linear kernel and target_kernel="binary". The sum
    of the squares is the biased `mmd` of all features with the linear kernel.

    Parameters
    ----------
    X, y
        As for `pearson_criterion`; two classes of any type, first and second in sorted order.

    Returns
    -------
    ndarray of shape (d,)
        Cost O(m d).

    Examples
    --------
    >>> mean_difference([[0, 1], [2, 1], [3, 1], [5, 1]], ["a", "a", "b", "b"])
    array([3., 0.])
    """
    columns, (exponents, *_, deviations) = _standardised(as_rows(X, "X"))
    deviations = np.where(np.isinf(deviations), 0.0, deviations)  # of constant columns
    rho = label_kernel(y, "binary").values[:, 0]
    check_same_length(X=columns.shape[1], y=len(rho))
    with np.errstate(over="ignore"):  # reported in the next line
        differences: FloatArray = np.ldexp(columns @ rho * deviations, exponents.astype(np.int32))
    _in_range(float(np.abs(differences).max()))
    return differences


def _standardised(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the columns of X as rows of mean 0 and variance 1, constant ones as 0, and what they were."""
    XT = np.array(X.T, dtype=np.float64, order="C")
    return XT, standardised(XT, Standardisation())[0]


def _of_unit_size(G: FloatArray, statistic: Statistic) -> FloatArray:
    """Scale G so that its largest entry that counts is between 1/2 and 1, so that squares do not overflow."""
    G = G.copy()
    if statistic == "unbiased":  # ignores the diagonal, which may have the only large entries
        np.fill_diagonal(G, 0.0)
    return scaled_by_power_of_two(G)[0]


def _centred_norm(name: str, G: FloatArray, statistic: Statistic) -> float:
    """Root of HSIC(G, G); raises if that is within the rounding errors of entries of about 1."""
    value = hsic_of_rows(G, G, "precomputed", "precomputed", statistic)
    if value <= (8 * float(np.finfo(G.dtype).eps)) ** 2:
        raise ValueError(
            f"HSIC of {name} with itself is 0 for statistic={statistic!r}: nothing is left of its kernel values once "
            "they are centred; accepted: samples that differ, and for 'unbiased' at least two of each class"
        )
    return math.sqrt(value)


def _check_varied(**samples: Any) -> None:
    """Raise if all rows are equal: kernel values would differ by rounding errors only, which a ratio amplifies."""
    for name, rows in samples.items():
        if isinstance(rows, np.ndarray) and bool((rows == rows[:1]).all()):
            raise ValueError(f"{name} is constant; accepted: at least two different samples")


def _inner_product(K: FloatArray, L: FloatArray) -> float:
    with np.errstate(over="ignore", invalid="ignore"):  # reported by _in_range
        return _in_range(float(np.vecdot(K, L).sum()))


def _in_range(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError("the value exceeds the range of float64; accepted: data of moderate size, so rescale x or y")
    return value
