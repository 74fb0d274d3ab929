"""Kernels on labels: the paper's BIN, MUL and REG, any other kernel, and the choice among them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.multiclass import type_of_target

from bahsic.kernels.base import Function, Kernel, Precomputed
from bahsic.kernels.rows import Array, FloatArray, as_labels, as_rows, as_weights, row_blocks, scaled_by_power_of_two
from bahsic.kernels.structured import CountKernel
from bahsic.kernels.vector import Delta, Gaussian, Linear, kernel_from_name, known_name

_BY_TYPE = {
    "binary": "binary",
    "multiclass": "multiclass",
    "continuous": "regression",
    "continuous-multioutput": "regression",
}
_NAMES = (
    *("auto", "binary", "multiclass", "regression", "delta", "precomputed"),
    *("gaussian", "laplacian", "linear", "polynomial", "inverse_distance"),
)


@dataclass(frozen=True, eq=False)
class LabelKernel:
    """A kernel on labels with the labels that it is evaluated on: l(y_i, y_j) by blocks.

    Attributes
    ----------
    name : str
        "binary", "multiclass", "regression", "delta", "precomputed", or what the kernel is called.
    kernel : Kernel
        Its parameters are numbers.
    values : sequence of m rows
        The encoded labels; the whole m x m matrix where `kernel` is Precomputed.
    classes : ndarray or None
        The classes in sorted order, if the labels are classes.
    """

    name: str
    kernel: Kernel
    values: Any
    classes: Array | None = None

    def __len__(self) -> int:
        return len(self.values)

    @property
    def vectors(self) -> FloatArray | None:
        """Vectors, shape (m, k), of which the kernel is the inner product, or None."""
        return self.values if isinstance(self.kernel, Linear) else None

    def block(self, rows: slice, cols: slice) -> FloatArray:
        """Kernel values of two ranges of samples, float64."""
        if isinstance(self.kernel, Precomputed):
            return np.asarray(self.values[rows, cols], dtype=np.float64)
        return self.kernel(self.values[rows], self.values[cols]).astype(np.float64, copy=False)

    def gram(self) -> FloatArray:
        """The whole matrix of kernel values, float64."""
        m = len(self)
        L = np.empty((m, m))
        for rows in row_blocks(m):
            L[rows] = self.block(rows, slice(0, m))
        return L


def label_kernel(y: Any, target_kernel: Any = "auto", sample_weight: Any = None) -> LabelKernel:
    r"""The kernel on labels that a name, a kernel or a function stands for, ready for the labels y.

    - "binary" (BIN): :math:`l = \rho(y) \rho(y')`, where rho is -1/m_- for the first class in sorted order and
      1/m_+ for the second;
    - "multiclass" (MUL, equation mc): inner products of rows of Y, where column c is 1/m_c for the members of class c
      and 1/(m_c - m) for the others;
    - "regression" (REG): Gaussian with the median distance;
    - "delta": 1 for equal labels, else 0;
    - "precomputed": y is the m x m matrix of kernel values;
    - the name of a kernel on vectors, a `Kernel`, or a function ``f(Y1, Y2)`` that returns a block;
    - "auto": one of the first three by the type of y, the way of scikit-learn's `type_of_target`.

    Parameters
    ----------
    y : array-like of shape (m,) or (m, k), or samples of a structured kernel
    target_kernel : str, Kernel or callable
    sample_weight : array-like of shape (m,), optional
        Frequencies: class counts m_c and the median are those of the repeated sample.

    Returns
    -------
    LabelKernel

    Examples
    --------
    >>> labels = label_kernel(["no", "yes", "yes"])
    >>> labels.name, labels.values.tolist()
    ('binary', [[-1.0], [0.5], [0.5]])
    """
    if not isinstance(target_kernel, str):
        return _from_kernel(y, kernel_from_name(target_kernel, "target_kernel"), sample_weight)
    name = known_name(target_kernel, _NAMES, "target_kernel")
    name = _kind(y) if name == "auto" else name
    if name in ("binary", "multiclass"):
        return _from_classes(y, name, sample_weight)
    if name == "regression":
        return _from_numbers(y, sample_weight)
    return _from_kernel(y, kernel_from_name(name), sample_weight)


def _kind(y: Any) -> str:
    """The name that "auto" stands for."""
    labels = as_labels(y, "y")
    with warnings.catch_warnings():  # scikit-learn warns of many classes, which are as good as few here
        warnings.simplefilter("ignore")
        kind = type_of_target(labels[:, 0] if labels.shape[1] == 1 else labels)
    if kind not in _BY_TYPE:
        raise ValueError(
            f"y is of type {kind!r} (scikit-learn's type_of_target), for which target_kernel='auto' has no choice; "
            f"accepted: target_kernel one of {', '.join(map(repr, _NAMES[1:]))}, a kernel object or a function"
        )
    return _BY_TYPE[kind]


def _from_classes(y: Any, name: str, sample_weight: Any) -> LabelKernel:
    labels = as_labels(y, "y")
    if labels.shape[1] != 1:
        raise ValueError(f"y has shape {labels.shape}; accepted for target_kernel={name!r}: one label for each sample")
    frequencies = as_weights(sample_weight, len(labels))
    weights = np.ones(len(labels)) if frequencies is None else frequencies
    classes = _classes(labels[weights > 0, 0], name)
    members = labels == classes
    sizes = weights @ members
    if name == "binary":
        values = np.where(members[:, 1:], 1 / sizes[1], -1 / sizes[0])
    else:
        values = np.where(members, 1 / sizes, 1 / (sizes - weights.sum()))
    return LabelKernel(name, Linear(), values, classes)


def _classes(labels: Array, name: str) -> Array:
    try:
        classes = np.unique(labels)
    except TypeError as error:
        raise ValueError(f"y has labels that cannot be sorted ({error}); accepted: labels of one type") from None
    if len(classes) == 1:
        raise ValueError(f"y has one class only ({classes.tolist()[0]!r}); at least two are needed")
    if name == "binary" and len(classes) != 2:
        raise ValueError(f"y has {len(classes)} classes; accepted for target_kernel='binary': two")
    return classes


def _from_numbers(y: Any, sample_weight: Any) -> LabelKernel:
    values: FloatArray = as_rows(y, "y").astype(np.float64)
    peak = float(max(values.max(), -values.min()))
    if peak and not 1e-100 < peak < 1e100:  # the median takes the scale out again, unless its square is out of range
        values = scaled_by_power_of_two(values)[0]
    return LabelKernel("regression", Gaussian("median").resolved(values, sample_weight=sample_weight), values)


def _from_kernel(y: Any, kernel: Kernel, sample_weight: Any) -> LabelKernel:
    values = kernel.rows(y, "y")
    kernel = kernel.resolved(values, None, as_weights(sample_weight, len(values)))
    if isinstance(kernel, Delta):
        return LabelKernel("delta", kernel, kernel.codes(values)[0][:, None].astype(np.float64))
    if isinstance(kernel, Precomputed):
        return LabelKernel("precomputed", kernel, values)
    if isinstance(kernel, CountKernel):  # counts are shared by all blocks, so these are made at once
        return LabelKernel(repr(kernel), Precomputed(), kernel(values))
    name = getattr(kernel.function, "__name__", repr(kernel)) if isinstance(kernel, Function) else repr(kernel)
    return LabelKernel(name, kernel, values)
