"""HSIC of data as users have them: numbers in any units, categories, missing entries; of all samples or of blocks."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bahsic.arrays import Indices
from bahsic.criteria.blocks import RULE_SAMPLES, Blocks, random_blocks
from bahsic.criteria.hsic import hsic_value
from bahsic.criteria.weights import Matrix, Statistic, Weights, label_weights
from bahsic.data.columns import Columns
from bahsic.data.prepared import Prepared, prepared
from bahsic.data.tables import as_array, is_frame
from bahsic.engine.scorer import kernel_values, resolved_on
from bahsic.kernels import Kernel, LabelKernel, Precomputed, kernel_from_name, label_kernel
from bahsic.kernels.base import takes_numbers
from bahsic.kernels.rows import FloatArray, as_weights, check_at_hand, check_same_length


def hsic(  # noqa: PLR0913 - the kernels, the estimate, and how a table is read
    x: Any,
    y: Any,
    kernel: Any = "gaussian",
    target_kernel: Any = "auto",
    statistic: Statistic = "unbiased",
    sample_weight: Any = None,
    *,
    standardize: bool = True,
    categorical_features: Any = "from_dtype",
    missing: str = "neutral",
    block_size: int | None = None,
    random_state: Any = None,
) -> float:
    """Estimate HSIC, the dependence between data x and labels y (def_hsic).

    Parameters
    ----------
    x : array-like of shape (m,) or (m, d), dataframe, series or sparse matrix
        Numbers, categories, or both; for other kernels strings, graphs or a matrix of kernel values.
    y : array-like of shape (m,) or (m, k), dataframe or series, or as x
        Classes or numbers; `bahsic.kernels.label_kernel` says which of them whole numbers are.
    kernel : str, Kernel or callable
        Kernel on x: a name, a kernel such as ``Gaussian("median")``, or a function ``f(X1, X2)``.
    target_kernel : str, Kernel or callable
        Kernel on y; "auto" chooses by the type of y, see `label_kernel`.
    statistic : {"unbiased", "biased"}
        `hsic_unbiased` or `hsic_biased`.
    sample_weight : array-like of shape (m,), optional
        How often each sample counts: the value is the HSIC of the data with each sample repeated that often.
    standardize : bool, default=True
        Whether to give numbers in x zero mean and unit variance first. Ignored for other samples, and for functions.
    categorical_features, missing
        Which columns of x are categories, and how to treat missing entries, as for `BAHSIC`.
    block_size : int, optional
        If given, the value is the mean over disjoint random blocks of that many samples, see `hsic_blocks`.
    random_state : int, RandomState, Generator or None
        For the blocks.

    Returns
    -------
    float
        Cost O(m^2 d) time, one m x m matrix of memory (two with gamma="optimise"); with blocks O(m B d) and B x B.

    Notes
    -----
    With the same options this is the HSIC that `BAHSIC` records in ``path_`` for a subset of the columns.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 50)
    >>> round(hsic(x, x**2), 4), round(hsic(x, x**2, kernel="linear"), 4)
    (0.0307, -0.0136)
    >>> round(hsic(1000 * x + 5, x**2), 4), round(hsic(x, x**2, standardize=False), 4)
    (0.0307, 0.0081)
    """
    labels = label_kernel(y, target_kernel, sample_weight)
    w = as_weights(sample_weight, len(labels))
    blocks = random_blocks(len(labels), block_size, random_state, statistic, weighted=w is not None)
    options = {"standardize": standardize, "categorical_features": categorical_features, "missing": missing}
    data = kernel_input(x, kernel_from_name(kernel), len(labels), w, **options)
    if data.samples is not None and w is not None:
        labels, w = labels.of_samples(data.samples), w[data.samples]
    if blocks is None:
        weights = label_weights(labels, statistic, w)
    labels.warn(unbiased=statistic == "unbiased", way_out="statistic='biased'", weighted=w is not None)
    if blocks is not None:
        return math.fsum(_block_values(data, labels, blocks)) / len(blocks)
    return hsic_value(data.matrix(data.resolved(weights)), weights)


def hsic_blocks(  # noqa: PLR0913 - as `hsic`
    x: Any,
    y: Any,
    kernel: Any = "gaussian",
    target_kernel: Any = "auto",
    *,
    block_size: int,
    standardize: bool = True,
    categorical_features: Any = "from_dtype",
    missing: str = "neutral",
    random_state: Any = None,
) -> NDArray[np.float64]:
    """Compute the unbiased HSIC of each of several disjoint random blocks of samples.

    The mean of these values is an unbiased estimate, at a cost that is linear in m. As blocks share no sample, its
    standard error is the standard deviation of the values over the root of their number. Every sample is in one block,
    of B or B + 1 samples. Means and variances of x, class counts and the median of labels are those of all samples; a
    rule for gamma other than "dimension" is evaluated on 4096 of them.

    Parameters
    ----------
    x, y, kernel, target_kernel, standardize, categorical_features, missing, random_state
        As for `hsic`.
    block_size : int
        B, at least 4.

    Returns
    -------
    ndarray of shape (max(1, m // B),)
        Cost O(m B d) time, B x B memory.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 1000)
    >>> values = hsic_blocks(x, x**2, block_size=100, random_state=0)
    >>> print(f"{values.mean():.4f}, standard error {values.std(ddof=1) / len(values) ** 0.5:.4f}")
    0.0333, standard error 0.0013
    """
    labels = label_kernel(y, target_kernel)
    blocks = random_blocks(len(labels), block_size, random_state)
    options = {"standardize": standardize, "categorical_features": categorical_features, "missing": missing}
    data = kernel_input(x, kernel_from_name(kernel), len(labels), **options)
    labels.warn()
    return _block_values(data, labels, blocks or Blocks(np.arange(len(labels)), (0,)))


def _block_values(data: KernelInput, labels: LabelKernel, blocks: Blocks) -> NDArray[np.float64]:
    """Return the unbiased HSIC of each block."""
    rule_samples = blocks.order[:RULE_SAMPLES] if len(blocks) > 1 else np.arange(len(labels))
    W = label_weights(labels.of_samples(rule_samples)) if data.kernel.needs_labels else None
    kernel = data.of_samples(rule_samples).resolved(W)
    parts = ((data.of_samples(samples), labels.of_samples(samples)) for samples in blocks.samples())
    return np.array([hsic_value(x.matrix(kernel), label_weights(y)) for x, y in parts])


@dataclass(frozen=True, eq=False)
class KernelInput:
    """Data x in the form that a kernel takes, see `kernel_input`; parameters of the kernel may be rules."""

    kernel: Kernel
    rows: Any = None  # what `Kernel.rows` accepts, the whole matrix where the kernel is Precomputed; or else:
    columns: Columns | None = None
    samples: Indices | None = None  # those that are left, if some with weight zero were left out
    features: Any = ()  # the columns that count; rows have no others

    def resolved(self, weights: Weights | None = None) -> Kernel:
        """Return the kernel with numbers in place of rules; ``weights`` is W of the labels, where rules need it."""
        W = weights.matrix() if weights is not None and self.kernel.needs_labels else None
        w = None if weights is None else weights.sample_weight
        if self.columns is None:
            return self.kernel.resolved(self.rows, W, w)
        kernel: Kernel = resolved_on(self.kernel, self.columns, self.features, W, w)
        return kernel

    def matrix(self, resolved: Kernel) -> Matrix:
        """Return the values of a kernel whose rules are resolved, up to what centring removes."""
        if self.columns is None:
            return Matrix(resolved.centrable(self.rows))
        return Matrix(kernel_values(self.columns, self.features, resolved))

    def of_samples(self, samples: Indices) -> KernelInput:
        """Return the data of some of the samples."""
        if self.columns is not None:
            return replace(self, columns=self.columns.of_samples(samples))
        chosen = np.ix_(samples, samples) if isinstance(self.kernel, Precomputed) else samples
        array = isinstance(self.rows, np.ndarray)
        return replace(self, rows=self.rows[chosen] if array else [self.rows[i] for i in samples])


def kernel_input(
    x: Any, kernel: Kernel, n_samples: int, weights: FloatArray | None = None, **options: Any
) -> KernelInput:
    """Check data x and bring them into the form that a kernel takes; constant columns take no part, unless all are."""
    if not takes_numbers(kernel):
        if sparse.issparse(x):
            raise TypeError(f"x is a sparse matrix, which kernel={kernel!r} does not take; accepted: x.toarray()")
        rows = kernel.rows(x, "x")
        check_same_length(x=len(rows), y=n_samples)
        return KernelInput(kernel, rows)
    data = as_prepared(x, kernel, **options).weighted(None).ordered(None)
    check_same_length(x=data.table.values.shape[0], y=n_samples)
    changed = data.standardize or data.table.categorical.any() or data.table.missing.any()
    if not changed and isinstance(data.table.values, np.ndarray):  # numbers as they are
        rows = kernel.rows(data.table.values, "x")
        varies = (rows != rows[0]).any(axis=0)
        return KernelInput(kernel, rows if varies.all() or not varies.any() else rows[:, varies])
    data = data.weighted(weights)
    samples = None if weights is None or weights.all() else np.flatnonzero(weights)
    return KernelInput(kernel, None, data.columns, samples, data.varying)


def as_prepared(x: Any, kernel: Kernel, argument: str = "x", **options: Any) -> Prepared:
    """Prepare data, of which an array or a series may have one dimension; identifiers count as the user chose them."""
    check_at_hand(x, argument)
    options |= {"identifiers": x.identifiers if isinstance(x, Prepared) else "use", "whole": True}
    if hasattr(x, "to_frame") and not is_frame(x):  # a series, whose type an array could lose
        x = x.to_frame()
    elif not (isinstance(x, Prepared) or sparse.issparse(x) or is_frame(x)):
        x = x if len(getattr(x, "shape", ())) == 2 else as_array(x, argument)
        if x.ndim not in (1, 2) or 0 in x.shape:
            raise ValueError(
                f"{argument} has shape {x.shape}; accepted: one or two dimensions, at least one sample and one feature"
            )
        x = x[:, None] if x.ndim == 1 else x
    return prepared(x, kernel, **options, argument=argument)
