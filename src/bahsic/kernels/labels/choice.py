"""Choice of the kernel on the labels: the paper's BIN, MUL and REG, several outputs, survival, or any other kernel."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bahsic.kernels.bandwidth import median_gamma
from bahsic.kernels.base import Function, Kernel, Precomputed
from bahsic.kernels.labels.outputs import (
    Output,
    OutputSum,
    balanced_class_vectors,
    balancing_scale,
    class_vectors,
    outputs,
    sorted_classes,
    standardised,
    target_type,
)
from bahsic.kernels.labels.survival import survival_vectors
from bahsic.kernels.rows import Array, FloatArray, as_labels, as_rows, as_weights, row_blocks, scaled_by_power_of_two
from bahsic.kernels.structured import CountKernel
from bahsic.kernels.vector import Delta, Gaussian, Linear, kernel_from_name, known_name

_BY_TYPE = {"binary": "binary", "multiclass": "multiclass", "continuous": "regression"}
_NAMES = (
    *("auto", "binary", "multiclass", "regression", "multioutput", "survival", "delta", "precomputed"),
    *("gaussian", "laplacian", "linear", "polynomial", "inverse_distance"),
)


@dataclass(frozen=True, eq=False)
class LabelKernel:
    """A kernel on labels together with the labels: kernel values l(y_i, y_j) by blocks.

    Attributes
    ----------
    name : str
        "binary", "multiclass", "regression", "multioutput", "survival", "delta", "precomputed", or the name of any
        other kernel.
    kernel : Kernel
        With numbers, not rules, as parameters.
    values : sequence of m rows
        The encoded labels; the whole m x m matrix where `kernel` is Precomputed.
    classes : ndarray, list of ndarray or None
        The classes in sorted order, if the labels are classes; for several outputs a list of these.

    Examples
    --------
    >>> labels = label_kernel(["a", "b", "b"])
    >>> labels.name, labels.classes.tolist()
    ('binary', ['a', 'b'])
    >>> labels.gram()
    array([[ 1.  , -0.5 , -0.5 ],
           [-0.5 ,  0.25,  0.25],
           [-0.5 ,  0.25,  0.25]])
    """

    name: str
    kernel: Kernel
    values: Any
    classes: Array | list[Array] | None = None

    def __len__(self) -> int:
        return len(self.values)

    @property
    def vectors(self) -> FloatArray | None:
        """Vectors of shape (m, k) whose inner products are the kernel values, or None."""
        return self.values if isinstance(self.kernel, Linear) else None

    def warn_if_idle(self) -> None:
        """Warn of labels that no feature can depend on: all equal, or all of different classes."""
        why = self._idle()
        if why is not None:
            warnings.warn(f"{why}, so that no feature can depend on it", UserWarning, stacklevel=4)

    def _idle(self) -> str | None:
        if isinstance(self.kernel, Precomputed) or not isinstance(self.values, np.ndarray):
            return None
        if bool((self.values == self.values[0]).all()):
            return "y does not vary"
        if self.name not in ("multiclass", "delta"):
            return None
        n_classes = len(np.unique(self.values) if self.classes is None else self.classes)
        if n_classes < len(self):
            return None
        return f"y has {n_classes} classes, another one for each sample (numbers need target_kernel='regression')"

    def block(self, rows: slice, cols: slice) -> FloatArray:
        """Kernel values of two ranges of samples, float64."""
        if isinstance(self.kernel, Precomputed):
            return np.asarray(self.values[rows, cols], dtype=np.float64)
        return self.kernel.on_checked(self.values[rows], self.values[cols]).astype(np.float64, copy=False)

    def of_samples(self, samples: NDArray[np.intp]) -> LabelKernel:
        """The same kernel on the labels of some samples."""
        chosen = np.ix_(samples, samples) if isinstance(self.kernel, Precomputed) else samples
        values = self.values[chosen] if isinstance(self.values, np.ndarray) else [self.values[i] for i in samples]
        return replace(self, values=values)

    def gram(self) -> FloatArray:
        """The whole matrix of kernel values, float64."""
        m = len(self)
        L = np.empty((m, m))
        for rows in row_blocks(m):
            L[rows] = self.block(rows, slice(0, m))
        return L


def label_kernel(y: Any, target_kernel: Any = "auto", sample_weight: Any = None) -> LabelKernel:
    r"""Make the kernel on the labels y from a name, a kernel or a function.

    - "binary" (BIN): :math:`l = \rho(y) \rho(y')`, where rho is ``-1/m_-`` for the first class in sorted order and
      ``1/m_+`` for the second;
    - "multiclass" (MUL, equation mc): inner products of rows of Y, where column c is 1/m_c for the members of class c
      and 1/(m_c - m) for the others;
    - "regression" (REG): Gaussian with the median distance; several columns are standardised first, so that units do
      not matter;
    - "multioutput": the sum over the columns of y of the column's own kernel, one of these three, scaled so that the
      trace of its centred matrix is one and each output has the same weight. HSIC is then the sum of the HSIC with each
      output. A column that does not vary adds nothing;
    - "survival": y holds the event (boolean) and the time of each subject; Gaussian with the median distance of
      expected survival curves, see `survival_vectors`;
    - "delta": 1 for equal labels, else 0;
    - "precomputed": y is the m x m matrix of kernel values;
    - the name of a kernel on vectors, a `Kernel`, or a function ``f(Y1, Y2)`` that returns a block;
    - "auto": one of the first three by the type of y, as scikit-learn's `type_of_target` sees it. For several columns
      "regression" if all are numbers, else "multioutput": floats are numbers; integers, booleans, strings and
      categoricals are classes, and so are floats if all columns are floats with integer values. "survival" for a
      structured array.

    Parameters
    ----------
    y : array-like of shape (m,) or (m, k), dataframe, structured array (event, time), or samples of a structured kernel
    target_kernel : str, Kernel or callable
    sample_weight : array-like of shape (m,), optional
        Frequencies: class counts m_c, medians and means are those of the data with each sample repeated that often.

    Returns
    -------
    LabelKernel

    Examples
    --------
    >>> labels = label_kernel(["no", "yes", "yes"])
    >>> labels.name, labels.values.tolist()
    ('binary', [[-1.0], [0.5], [0.5]])
    >>> label_kernel([["a", 1.5], ["b", 2.0], ["b", 4.0]]).name
    'multioutput'
    """
    if not isinstance(target_kernel, str):
        return _from_kernel(y, kernel_from_name(target_kernel, "target_kernel"), sample_weight)
    name = known_name(target_kernel, _NAMES, "target_kernel")
    name = _kind(y) if name == "auto" else name
    if name in ("binary", "multiclass"):
        return _from_classes(y, name, sample_weight)
    if name == "regression":
        return _from_numbers(y, sample_weight)
    if name == "multioutput":
        return _from_outputs(outputs(y), sample_weight)
    if name == "survival":
        vectors = survival_vectors(y, sample_weight)
        return LabelKernel(name, Gaussian("median").resolved(vectors, sample_weight=sample_weight), vectors)
    return _from_kernel(y, kernel_from_name(name), sample_weight)


def _kind(y: Any) -> str:
    """Name of the kernel that "auto" chooses for y."""
    if isinstance(y, np.ndarray) and y.dtype.names:
        return "survival"
    columns = outputs(y)
    if len(columns) > 1:
        return "regression" if all(column.is_number for column in columns) else "multioutput"
    kind = target_type(columns[0].values, "y")
    if kind not in _BY_TYPE:
        raise ValueError(
            f"y is of type {kind!r} (scikit-learn's type_of_target), for which target_kernel='auto' has no choice; "
            f"accepted: target_kernel one of {', '.join(map(repr, _NAMES[1:]))}, a kernel object or a function"
        )
    return _BY_TYPE[kind]


def _from_classes(y: Any, name: str, sample_weight: Any) -> LabelKernel:
    labels = as_labels(y, "y")
    if labels.shape[1] != 1:
        raise ValueError(
            f"y has shape {labels.shape}; accepted for target_kernel={name!r}: one label for each sample, "
            "for several target_kernel='multioutput'"
        )
    weights = _frequencies(sample_weight, len(labels))
    classes = sorted_classes(labels[weights > 0, 0], "y")
    if len(classes) == 1:
        raise ValueError(f"y has one class only ({classes.tolist()[0]!r}); at least two are needed")
    if name == "binary" and len(classes) != 2:
        raise ValueError(f"y has {len(classes)} classes; accepted for target_kernel='binary': two")
    vectors = class_vectors(labels[:, 0], classes, weights, binary=name == "binary")
    return LabelKernel(name, Linear(), vectors, classes)


def _from_numbers(y: Any, sample_weight: Any) -> LabelKernel:
    values: FloatArray = as_rows(y, "y").astype(np.float64)
    peak = float(max(values.max(), -values.min()))
    if values.shape[1] > 1:
        values = standardised(values, _frequencies(sample_weight, len(values)))
    elif peak and not 1e-100 < peak < 1e100:  # the rule "median" undoes the scaling
        values = scaled_by_power_of_two(values)[0]
    return LabelKernel("regression", Gaussian("median").resolved(values, sample_weight=sample_weight), values)


def _from_outputs(columns: list[Output], sample_weight: Any) -> LabelKernel:
    """Kernel on several outputs; its values are columns of numbers, followed by the vectors of the classes."""
    weights = _frequencies(sample_weight, len(columns[0].values))
    numbers = [_scaled_numbers(column, weights) for column in columns if column.is_number]
    classes = [balanced_class_vectors(column, weights) for column in columns if not column.is_number]
    scales = tuple(balancing_scale(values, weights) for values in numbers)
    values = np.column_stack([*numbers, *(vectors for vectors, _ in classes)])
    if not any(scales) and not values[:, len(scales) :].any():
        raise ValueError("y has no column that varies; accepted: at least one with two different labels")
    if scales:
        return LabelKernel("multioutput", OutputSum(scales), values)
    return LabelKernel("multioutput", Linear(), values, [found for _, found in classes])


def _scaled_numbers(column: Output, weights: FloatArray) -> FloatArray:
    """Numbers, scaled so that exp(-(y - y')^2) is the kernel "regression", shape (m, 1)."""
    values = standardised(column.values[:, None].astype(np.float64), weights)
    values *= np.sqrt(median_gamma(Gaussian("median"), values, weights))
    return values


def _frequencies(sample_weight: Any, m: int) -> FloatArray:
    weights = as_weights(sample_weight, m)
    return np.ones(m) if weights is None else weights


def _from_kernel(y: Any, kernel: Kernel, sample_weight: Any) -> LabelKernel:
    values = kernel.rows(y, "y")
    kernel = kernel.resolved(values, None, as_weights(sample_weight, len(values)))
    if isinstance(kernel, Delta):
        return LabelKernel("delta", kernel, kernel.codes(values)[0][:, None].astype(np.float64))
    if isinstance(kernel, Precomputed):
        return LabelKernel("precomputed", kernel, values)
    if isinstance(kernel, CountKernel):  # blocks share the counts, so all kernel values are made at once
        return LabelKernel(repr(kernel), Precomputed(), kernel(values))
    name = getattr(kernel.function, "__name__", repr(kernel)) if isinstance(kernel, Function) else repr(kernel)
    return LabelKernel(name, kernel, values)
