"""Estimates of HSIC, the measure of dependence, with their variance and a bound on their error."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bahsic.criteria.weights import CentredWeights, Gram, Matrix, Statistic, centred, label_weights, overflow_reported
from bahsic.kernels import Kernel, LabelKernel, kernel_from_name, label_kernel
from bahsic.kernels.rows import FloatArray, as_gram, check_same_length, row_blocks
from bahsic.parameters import check_parameter


def hsic_weights(L: Any, statistic: Statistic = "unbiased", sample_weight: Any = None) -> FloatArray:
    r"""Return the matrix W with ``HSIC = sum(K * W)`` for every symmetric K.

    Unbiased (e_uhsic), off the diagonal, with l = L1 and s = 1'L1 for L with zero diagonal:
    :math:`W_{ab} = [L_{ab} + s / ((m-1)(m-2)) - (l_a + l_b) / (m-2)] / (m (m-3))`. Biased: HLH / (m - 1)^2.

    Parameters
    ----------
    L : array-like of shape (m, m)
        Kernel values of the labels; the unbiased statistic ignores the diagonal.
    statistic : {"unbiased", "biased"}
    sample_weight : array-like of shape (m,), optional
        How often each sample counts; the diagonal of W may then differ from zero, for pairs of copies.

    Returns
    -------
    float64 ndarray of shape (m, m), symmetric
        Cost O(m^2).

    Examples
    --------
    >>> hsic_weights([[1.0, -1.0], [-1.0, 1.0]], statistic="biased")
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    return label_weights(Matrix(as_gram(L, "L")), statistic, sample_weight).matrix()


def hsic_unbiased(K: Any, L: Any) -> float:
    r"""Compute the unbiased estimate of HSIC.

    :math:`[\mathrm{tr}(KL) + \frac{1'K1\,1'L1}{(m-1)(m-2)} - \frac{2}{m-2} 1'KL1] / (m (m-3))`, diagonals set to zero
    (e_uhsic); computed as the sum of products of U-centred entries, which does not cancel.

    Parameters
    ----------
    K, L : array-like of shape (m, m), m >= 4
        Kernel values; the diagonals are ignored.

    Returns
    -------
    float
        Cost O(m^2) time, O(m) memory.

    Examples
    --------
    >>> x, y = np.arange(6), np.array([1, 7, 5, 5, 6, 2])
    >>> round(hsic_unbiased(abs(x[:, None] - x), abs(y[:, None] - y)), 12)  # -8/9
    -0.888888888889
    """
    return hsic_value(*_matrix_and_weights(K, L, "unbiased"))


def hsic_biased(K: Any, L: Any) -> float:
    """Return the biased estimate of HSIC: tr(KHLH) / (m - 1)^2 with H = I - 11'/m.

    The bias is of the order 1 / m. The estimate is never negative for the positive semi-definite K and L of kernels.

    Parameters
    ----------
    K, L : array-like of shape (m, m), m >= 2
        Kernel values.

    Returns
    -------
    float
        Cost O(m^2) time, O(m) memory.

    Examples
    --------
    >>> hsic_biased([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]])
    1.0
    """
    return hsic_value(*_matrix_and_weights(K, L, "biased"))


def hsic_variance(K: Any, L: Any) -> float:
    r"""Compute the variance of the unbiased estimate from its asymptotic normal distribution.

    :math:`\sigma^2 = \frac{16}{m} (R - \mathrm{HSIC}^2)`, R the mean over i of :math:`h_i^2` (varHSIC), where
    :math:`h_i` is the mean of h(i, j, q, r) over triples (j, q, r) without i.

    Parameters
    ----------
    K, L : array-like of shape (m, m), m >= 4
        Kernel values; the diagonals are ignored.

    Returns
    -------
    float
        Not negative. Cost O(m^2) time, O(m) memory.

    Notes
    -----
    On four samples h is the unbiased estimate, which ignores terms that depend on one sample, so K and L may be
    replaced by their U-centred versions. The rows of those sum to zero. Let
    :math:`p_i = \sum_j \tilde K_{ij} \tilde L_{ij}` and :math:`P = \sum_i p_i`. The quadruples (s, t, u, v) of u_kernel
    have i in each place equally often, and sums over the other, distinct indices are

    - of :math:`\tilde K_{st} \tilde L_{st}`: over pairs, :math:`p_i` if i is s or t, else :math:`P - 2 p_i`;
    - of :math:`\tilde K_{st} \tilde L_{su}`: over triples, :math:`-p_i` if i is s, t or u, else :math:`3 p_i - P`;
    - of :math:`\tilde K_{st} \tilde L_{uv}`: :math:`2 p_i`.

    Divided by their numbers of terms these add up to :math:`h_i = [(m - 2) p_i + P] / (2 (m - 1) (m - 3))`, whose mean
    is HSIC = P / (m (m - 3)), so that :math:`R - \mathrm{HSIC}^2` is the variance of :math:`h_i` over i.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 2.0, 3.0, 5.0])
    >>> round(hsic_variance(np.outer(x, x), np.outer(x, x)), 6)
    8.14
    """
    return estimate_and_variance(*_matrix_and_weights(K, L, "unbiased"))[1]


def hsic_bound(m: int, delta: float) -> float:
    r"""Compute a bound on the error of the unbiased estimate that holds with probability 1 - delta.

    :math:`8 \sqrt{\log(2 / \delta) / m}` (theorem concentration), for kernels with values in [0, 1] and features that
    were not chosen with these samples.

    Parameters
    ----------
    m : int
        Number of samples, at least 2.
    delta : float
        Between 0 and 1.

    Returns
    -------
    float

    Examples
    --------
    >>> round(hsic_bound(1000, 0.05), 4)
    0.4859
    """
    check_parameter("m", m, m > 1, "at least 2 samples")
    check_parameter("delta", delta, 0 < delta < 1, "a probability between 0 and 1")
    return 8 * math.sqrt(math.log(2 / delta) / m)


def resolved_rows(
    x: Any, y: Any, kernel: Any, target_kernel: Any, statistic: Statistic
) -> tuple[Kernel, Any, LabelKernel]:
    """Return the kernel on x with numbers in place of rules, the checked x, and the labels with their kernel."""
    kernel, labels = kernel_from_name(kernel), label_kernel(y, target_kernel)
    X = kernel.rows(x, "x")
    check_same_length(x=len(X), y=len(labels))
    labels.warn_of_choice()
    W = label_weights(labels, statistic).matrix() if kernel.needs_labels else None
    return kernel.resolved(X, W), X, labels


def hsic_of_rows(x: Any, y: Any, kernel: Any, target_kernel: Any, statistic: Statistic) -> float:
    """Compute HSIC of data x as they are, neither read as a table nor standardised; else as `bahsic.hsic`."""
    resolved, X, labels = resolved_rows(x, y, kernel, target_kernel, statistic)
    return hsic_value(Matrix(resolved.centrable(X)), label_weights(labels, statistic))


def estimate_and_variance(K: Gram, weights: CentredWeights) -> tuple[float, float]:
    """Compute `hsic_unbiased` and `hsic_variance` in one pass; ``weights`` is W."""
    products = _row_products(K, weights)
    return math.fsum(products), variance_of_products(products, weights.sample_weight)


def variance_of_products(products: FloatArray, sample_weight: FloatArray | None = None) -> float:
    """Compute `hsic_variance` from the sums over j of U-centred K_ij times W_ij, for each i."""
    w = np.ones(len(products)) if sample_weight is None else sample_weight
    m = float(w.sum())
    # h_i of each copy of a sample, up to a constant; products have the factor 1 / (m (m - 3)) of W already.
    h = m * (m - 2) / (2 * (m - 1)) * products / w
    with np.errstate(over="ignore"):  # the square of a value beyond 1e154 is infinite, which those who need it refuse
        return 16 / m * float(np.average(np.square(h - np.average(h, weights=w)), weights=w))


def _matrix_and_weights(K: Any, L: Any, statistic: Statistic) -> tuple[Matrix, CentredWeights]:
    K, L = as_gram(K, "K"), as_gram(L, "L")
    check_same_length(K=len(K), L=len(L))
    return Matrix(K), label_weights(Matrix(L), statistic)


def hsic_value(K: Gram, weights: CentredWeights) -> float:
    """Compute `hsic_unbiased` or `hsic_biased` of a matrix that is read by blocks; ``weights`` is W."""
    return math.fsum(_row_products(K, weights))


@overflow_reported()
def _row_products(K: Gram, weights: CentredWeights) -> FloatArray:
    """Sum centred K_ij times W_ij over j; centring K too keeps more digits and leaves the total the same."""
    m, centred_K = len(weights), centred(K, weights.statistic, weights.sample_weight)
    p = np.empty(m)
    for rows in row_blocks(m):
        products = centred_K.block(rows, slice(0, m))
        products *= weights.block(rows, slice(0, m))
        p[rows] = products.sum(axis=1)
    return p
