"""The measure of dependence: estimates, their variance and bound, and the matrix W that makes them linear in K."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from bahsic.kernels import Kernel, kernel_from_name, label_kernel
from bahsic.kernels.rows import Array, FloatArray, as_gram, as_weights, check_same_length, row_blocks

Statistic = Literal["unbiased", "biased"]

_FEWEST_SAMPLES = {"unbiased": 4, "biased": 2}


class Gram(Protocol):
    """An m x m symmetric matrix that is read by blocks."""

    def __len__(self) -> int: ...
    def block(self, rows: slice, cols: slice) -> FloatArray: ...


@dataclass(frozen=True, eq=False)
class Matrix:
    """A matrix at hand, read by blocks."""

    values: FloatArray

    def __len__(self) -> int:
        return len(self.values)

    def block(self, rows: slice, cols: slice) -> FloatArray:
        return self.values[rows, cols]


@dataclass(frozen=True, eq=False)
class Centred:
    """G_ij - reference - shift_i - shift_j: doubly centred (biased), or U-centred (unbiased) off the diagonal."""

    gram: Gram
    reference: float  # a typical entry, taken off first so that constants cancel exactly
    shift: FloatArray

    def block(self, rows: slice, cols: slice) -> FloatArray:
        G = np.subtract(self.gram.block(rows, cols), self.reference, dtype=np.float64)
        G -= self.shift[rows, None] + self.shift[cols]
        return G


@dataclass(frozen=True, eq=False)
class Weights:
    r"""The matrix W with ``HSIC = sum(K * W)`` for every symmetric K, by blocks; made by `label_weights`.

    With frequencies w, m = sum(w), and the centred :math:`\tilde L` of `hsic_weights`:
    unbiased (e_uhsic) :math:`W_{ij} = (w_i w_j - \delta_{ij} w_i) \tilde L_{ij} / (m (m - 3))`,
    biased :math:`W_{ij} = w_i w_j \tilde L_{ij} / (m - 1)^2`.
    """

    centred: Centred
    statistic: Statistic
    sample_weight: FloatArray | None
    scale: float

    def __len__(self) -> int:
        return len(self.centred.gram)

    def block(self, rows: slice, cols: slice) -> FloatArray:
        """Rows and columns of W, a new float64 array; slices have a start and a stop."""
        W = self.centred.block(rows, cols)
        W *= self.scale
        w, on_diagonal, samples = self.sample_weight, *_diagonal(rows, cols)
        diagonal = W[on_diagonal]
        if w is not None:
            W *= np.multiply.outer(w[rows], w[cols])
        if self.statistic == "unbiased":  # a sample makes no pair with itself, but w - 1 with its copies
            W[on_diagonal] = 0.0 if w is None else diagonal * (w[samples] * (w[samples] - 1))
        return W

    def factors(self) -> tuple[FloatArray, FloatArray] | None:
        """Q and B with ``W = Q B Q'`` off the diagonal, where the label kernel is an inner product; else None."""
        values = getattr(self.centred.gram, "vectors", None)
        if values is None:
            return None
        shift = self.centred.shift
        Q = np.column_stack([values, np.ones(len(shift)), shift])
        B = self.scale * np.diag([1.0] * (Q.shape[1] - 2) + [-self.centred.reference, 0.0])
        B[-1, -2] = B[-2, -1] = -self.scale
        return (Q if self.sample_weight is None else Q * self.sample_weight[:, None]), B

    def matrix(self) -> FloatArray:
        """The whole of W, shape (m, m)."""
        m = len(self)
        W = np.empty((m, m))
        for rows in row_blocks(m):
            W[rows] = self.block(rows, slice(0, m))
        return W


def label_weights(labels: Gram, statistic: Statistic = "unbiased", sample_weight: Any = None) -> Weights:
    """W of labels whose kernel is evaluated by blocks, see `hsic_weights`.

    Parameters
    ----------
    labels : LabelKernel, or anything with a length m and ``block(rows, cols)``
    statistic : {"unbiased", "biased"}
    sample_weight : array-like of shape (m,), optional
        How many times each sample counts.

    Returns
    -------
    Weights
        Cost O(m^2) time, O(m) memory: the row sums of L are all that is kept.

    Examples
    --------
    >>> W = label_weights(label_kernel([0, 0, 1, 1]))
    >>> W.block(slice(0, 2), slice(0, 4)).round(6)
    array([[ 0.      ,  0.083333, -0.041667, -0.041667],
           [ 0.083333,  0.      , -0.041667, -0.041667]])
    """
    w = as_weights(sample_weight, len(labels))
    m = float(len(labels) if w is None else w.sum())
    _check_statistic(statistic, m, weighted=w is not None)
    scale = 1 / (m * (m - 3)) if statistic == "unbiased" else 1 / (m - 1) ** 2
    return Weights(centred(labels, statistic, w), statistic, w, scale)


def hsic_weights(L: Any, statistic: Statistic = "unbiased", sample_weight: Any = None) -> FloatArray:
    r"""The matrix W with ``HSIC = sum(K * W)`` for every symmetric K.

    Unbiased (e_uhsic), off the diagonal, with l = L1 and s = 1'L1 for L with zero diagonal:
    :math:`W_{ab} = [L_{ab} + s / ((m-1)(m-2)) - (l_a + l_b) / (m-2)] / (m (m-3))`. Biased: HLH / (m - 1)^2.

    Parameters
    ----------
    L : array-like of shape (m, m)
        Kernel values of the labels; the unbiased statistic ignores the diagonal.
    statistic : {"unbiased", "biased"}
    sample_weight : array-like of shape (m,), optional
        How many times each sample counts; then the diagonal of W may differ from zero, for pairs of copies.

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
    r"""Unbiased estimate of HSIC.

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
    return _value(*_matrices(K, L), "unbiased")


def hsic_biased(K: Any, L: Any) -> float:
    """Biased estimate of HSIC, never negative: tr(KHLH) / (m - 1)^2 with H = I - 11'/m.

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
    return _value(*_matrices(K, L), "biased")


def hsic_variance(K: Any, L: Any) -> float:
    r"""Variance of the unbiased estimate, as its asymptotic normal distribution has it.

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
    On four samples h is the unbiased estimate, which ignores terms that depend on one sample, so K
    and L may be replaced by their U-centred versions. The rows of those sum to zero. Let
    :math:`p_i = \sum_j \tilde K_{ij} \tilde L_{ij}` and :math:`P = \sum_i p_i`. The quadruples
    (s, t, u, v) of u_kernel have i in each place equally often, and sums over the other, distinct
    indices are

    - of :math:`\tilde K_{st} \tilde L_{st}`: over pairs, :math:`p_i` if i is s or t, else
      :math:`P - 2 p_i`;
    - of :math:`\tilde K_{st} \tilde L_{su}`: over triples, :math:`-p_i` if i is s, t or u, else
      :math:`3 p_i - P`;
    - of :math:`\tilde K_{st} \tilde L_{uv}`: :math:`2 p_i`.

    Divided by their numbers of terms these add up to
    :math:`h_i = [(m - 2) p_i + P] / (2 (m - 1) (m - 3))`, whose mean is HSIC = P / (m (m - 3)), so
    that :math:`R - \mathrm{HSIC}^2` is the variance of :math:`h_i` over i.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 2.0, 3.0, 5.0])
    >>> round(hsic_variance(np.outer(x, x), np.outer(x, x)), 6)
    8.14
    """
    return estimate_and_variance(*_matrices(K, L))[1]


def hsic_bound(m: int, delta: float) -> float:
    r"""How far the unbiased estimate is from HSIC at most, with probability 1 - delta.

    :math:`8 \sqrt{\log(2 / \delta) / m}` (theorem concentration), for kernels with values in [0, 1].

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
    if not m > 1:
        raise ValueError(f"m is {m!r}; accepted: at least 2 samples")
    if not 0 < delta < 1:
        raise ValueError(f"delta is {delta!r}; accepted: a probability between 0 and 1")
    return 8 * math.sqrt(math.log(2 / delta) / m)


def hsic(
    x: Any,
    y: Any,
    kernel: Any = "gaussian",
    target_kernel: Any = "auto",
    statistic: Statistic = "unbiased",
    sample_weight: Any = None,
) -> float:
    """Dependence between data x and labels y: an estimate of HSIC (def_hsic).

    Parameters
    ----------
    x : array-like of shape (m,) or (m, d), dataframe, list of strings or graphs, or matrix of kernel values
        Used as it is: features of different units want standardising first.
    y : array-like of shape (m,) or (m, k), or as x
    kernel : str, Kernel or callable
        On x: a name, a kernel such as ``Gaussian("median")``, or a function ``f(X1, X2)``; see `kernel_from_name`.
    target_kernel : str, Kernel or callable
        On y: "auto" chooses by the type of y, see `label_kernel`.
    statistic : {"unbiased", "biased"}
        `hsic_unbiased` or `hsic_biased`.
    sample_weight : array-like of shape (m,), optional
        How many times each sample counts; the value is that of the repeated sample.

    Returns
    -------
    float
        Cost O(m^2 d) time, one m x m matrix of memory (two with gamma="optimise").

    Examples
    --------
    >>> x = np.linspace(-1, 1, 50)
    >>> round(hsic(x, x**2), 4), round(hsic(x, x**2, kernel="linear"), 4)
    (0.0081, -0.0047)
    """
    labels = label_kernel(y, target_kernel, sample_weight)
    weights = label_weights(labels, statistic, sample_weight)
    _, K = data_kernel(x, kernel, weights)
    return _value(K, labels, statistic, weights)


def data_kernel(x: Any, kernel: Any, weights: Weights) -> tuple[Kernel, Matrix]:
    """The kernel on data x with numbers for rules, and its values, centrable; see `hsic` for the arguments."""
    kernel = kernel_from_name(kernel)
    X = kernel.rows(x, "x")
    check_same_length(x=len(X), y=len(weights))
    W = weights.matrix() if kernel.needs_labels else None
    resolved = kernel.resolved(X, W, weights.sample_weight)
    return resolved, Matrix(resolved.centrable(X))


def estimate_and_variance(K: Gram, L: Gram, sample_weight: Any = None) -> tuple[float, float]:
    """`hsic_unbiased` and `hsic_variance` in one pass; with weights, those of the repeated sample."""
    weights = label_weights(L, "unbiased", sample_weight)
    products = _row_products(K, L, "unbiased", weights)
    w = np.ones(len(products)) if weights.sample_weight is None else weights.sample_weight
    m = float(w.sum())
    # Each copy of a sample has its share; less a constant, and with the factor 1 / (m (m - 3)) of W.
    h = m * (m - 2) / (2 * (m - 1)) * products / w
    return math.fsum(products), 16 / m * float(np.average(np.square(h - np.average(h, weights=w)), weights=w))


@contextmanager
def _overflow_reported() -> Iterator[None]:
    try:
        with np.errstate(over="raise", invalid="raise"):
            yield
    except FloatingPointError:
        raise ValueError("kernel values are too large: HSIC exceeds the range of float64; rescale x or y") from None


def _matrices(K: Any, L: Any) -> tuple[Matrix, Matrix]:
    K, L = as_gram(K, "K"), as_gram(L, "L")
    check_same_length(K=len(K), L=len(L))
    return Matrix(K), Matrix(L)


def _value(K: Gram, L: Gram, statistic: Statistic, weights: Weights | None = None) -> float:
    return math.fsum(_row_products(K, L, statistic, weights))


@_overflow_reported()
def _row_products(K: Gram, L: Gram, statistic: Statistic, weights: Weights | None = None) -> FloatArray:
    """Sums over j of centred K_ij times W_ij: centring K too changes no sum over i, and keeps more digits."""
    m = len(L)
    weights = weights or label_weights(L, statistic)
    centred_K = centred(K, statistic, weights.sample_weight)
    p = np.empty(m)
    for rows in row_blocks(m):
        products = centred_K.block(rows, slice(0, m))
        products *= weights.block(rows, slice(0, m))
        p[rows] = products.sum(axis=1)
    return p


@_overflow_reported()
def centred(gram: Gram, statistic: Statistic, w: FloatArray | None = None) -> Centred:
    """A matrix with its row means taken off, see `Centred`; w are frequencies of the samples."""
    m = len(gram)
    ones_or_w = np.ones(m) if w is None else w
    reference = _typical_entry(gram)
    sums = np.concatenate([_row_sums(gram, reference, rows, statistic, ones_or_w) for rows in row_blocks(m)])
    n, total = float(ones_or_w.sum()), float(ones_or_w @ sums)
    if statistic == "unbiased":
        return Centred(gram, reference, sums / (n - 2) - total / (2 * (n - 1) * (n - 2)))
    return Centred(gram, reference, sums / n - total / (2 * n**2))


def _typical_entry(gram: Gram) -> float:
    """Mean of the first row without its diagonal, exact where that is constant."""
    entries = gram.block(slice(0, 1), slice(1, len(gram)))
    return float(np.clip(entries.mean(dtype=np.float64), entries.min(), entries.max()))


def _row_sums(gram: Gram, reference: float, rows: slice, statistic: Statistic, w: FloatArray) -> FloatArray:
    """Sums over j of w_j G_ij; unbiased, over the other samples: w_i - 1 copies of sample i remain."""
    everything = slice(0, len(gram))
    G = np.subtract(gram.block(rows, everything), reference, dtype=np.float64)
    if statistic == "unbiased":
        on_diagonal, samples = _diagonal(rows, everything)
        diagonal = G[on_diagonal]
        G[on_diagonal] = 0.0  # rather than subtracting it from the sum, of which it may be the largest part
        return G @ w + (w[samples] - 1) * diagonal
    return G @ w


def _diagonal(rows: slice, cols: slice) -> tuple[tuple[Array, Array], Array]:
    """Where the diagonal of the whole matrix lies in a block, and of which samples."""
    samples = np.arange(max(rows.start, cols.start), min(rows.stop, cols.stop))
    return (samples - rows.start, samples - cols.start), samples


def _check_statistic(statistic: str, m: float, *, weighted: bool) -> None:
    if statistic not in _FEWEST_SAMPLES:
        raise ValueError(f"statistic is {statistic!r}; accepted: 'unbiased', 'biased'")
    if m < _FEWEST_SAMPLES[statistic]:
        found = f"sample_weight sums to {m:g} samples" if weighted else f"there are {m:g} samples"
        raise ValueError(f"{found}; accepted: at least 4 for statistic='unbiased', at least 2 for statistic='biased'")
