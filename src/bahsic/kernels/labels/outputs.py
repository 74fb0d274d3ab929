"""Labels of one or several outputs: the type of each column of y, and its vectors and scale for a kernel."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.multiclass import type_of_target

from bahsic.kernels.base import Kernel
from bahsic.kernels.rows import Array, FloatArray, as_labels, row_blocks
from bahsic.kernels.vector import Gaussian, Linear


@dataclass(frozen=True, eq=False)
class Output:
    """One column of y.

    Attributes
    ----------
    name : hashable
        Its name in a dataframe, else its position.
    values : ndarray of shape (m,)
    is_number : bool
        Whether it holds numbers rather than classes.
    """

    name: Any
    values: Array
    is_number: bool

    def __str__(self) -> str:
        return f"column {self.name!r} of y"


def outputs(y: Any) -> list[Output]:
    """Columns of y, checked.

    Floats are numbers; integers, booleans, strings and categoricals are classes. If all columns are floats with
    integer values, they are classes, as for scikit-learn's `type_of_target`.

    Parameters
    ----------
    y : array-like of shape (m,) or (m, k), pandas or polars dataframe, pyarrow table

    Returns
    -------
    list of k Output

    Examples
    --------
    >>> [output.is_number for output in outputs([["a", 1.5], ["b", 2.0]])]
    [False, True]
    """
    found = []
    for name, column in named_columns(y):
        values = as_labels(np.asarray(column)[:, None], "y", [name])[:, 0]
        categorical = getattr(getattr(column, "dtype", None), "name", None) == "category"
        found.append(Output(name, values, is_number=values.dtype.kind == "f" and not categorical))
    if all(output.is_number and (output.values == np.floor(output.values)).all() for output in found):
        return [Output(output.name, output.values, is_number=False) for output in found]
    return found


def named_columns(y: Any) -> list[tuple[Any, Any]]:
    """Names and columns of a dataframe or structured array; the columns of an array have their numbers as names."""
    if isinstance(y, np.ndarray) and y.dtype.names:
        return [(name, y[name]) for name in y.dtype.names]
    if hasattr(y, "column_names"):  # pyarrow
        return [(name, y.column(i)) for i, name in enumerate(y.column_names)]
    if hasattr(y, "columns") and hasattr(y, "__len__"):  # a polars LazyFrame has no length, and no data yet
        return [(name, y.iloc[:, i] if hasattr(y, "iloc") else y[:, i]) for i, name in enumerate(y.columns)]
    return list(enumerate(as_labels(y, "y").T))


def target_type(labels: Array, argument: str) -> str:
    """Type of labels of shape (m,), by scikit-learn's `type_of_target`."""
    try:
        with warnings.catch_warnings():  # about many classes, which do no harm here
            warnings.simplefilter("ignore")
            return str(type_of_target(labels))
    except TypeError as error:
        raise _unsortable(argument, error) from None


def sorted_classes(labels: Array, argument: str) -> Array:
    """The different labels in sorted order."""
    try:
        return np.unique(labels)
    except TypeError as error:
        raise _unsortable(argument, error) from None


def class_vectors(labels: Array, classes: Array, weights: FloatArray, *, binary: bool) -> FloatArray:
    """Vectors whose inner products are the kernel "binary" (m, 1) or "multiclass" (m, classes), see `label_kernel`.

    Examples
    --------
    >>> class_vectors(np.array([0, 1, 1]), np.array([0, 1]), np.ones(3), binary=True).tolist()
    [[-1.0], [0.5], [0.5]]
    """
    members = labels[:, None] == classes
    sizes = weights @ members
    vectors: FloatArray
    if binary:
        vectors = np.where(members[:, 1:], 1 / sizes[1], -1 / sizes[0])
    else:
        vectors = np.where(members, 1 / sizes, 1 / (sizes - weights.sum()))
    return vectors


def balanced_class_vectors(output: Output, weights: FloatArray) -> tuple[FloatArray, Array]:
    """Vectors of one output, whose squared lengths sum to one, and its classes; zeros if there is only one class."""
    if output.values.dtype.kind in "mM" or target_type(output.values, str(output)) == "unknown":
        raise TypeError(
            f"{output} has dtype {output.values.dtype} (first value {output.values[0]!r}); accepted: classes or numbers"
        )
    classes = sorted_classes(output.values[weights > 0], str(output))
    if len(classes) == 1:
        return np.zeros((len(weights), 1)), classes
    vectors = class_vectors(output.values, classes, weights, binary=len(classes) == 2)
    return vectors / np.sqrt(weights @ np.square(vectors).sum(axis=1)), classes


def standardised(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Columns with weighted mean zero and variance one; constant columns become zero.

    Examples
    --------
    >>> standardised(np.array([[1.0, 7.0], [5.0, 7.0]]), np.array([1.0, 3.0])).round(4).tolist()
    [[-1.7321, 0.0], [0.5774, 0.0]]
    """
    present = weights > 0
    frequencies = weights[present] / weights.sum()
    highest, lowest = values[present].max(axis=0), values[present].min(axis=0)
    columns: FloatArray = np.where(present[:, None], values, lowest)  # samples of weight zero: any value in range
    columns = np.ldexp(columns, -np.frexp(np.maximum(highest, -lowest))[1])  # exact, and squares cannot overflow
    for _ in range(2):  # the second time removes the rounding error of a large mean
        columns = columns - frequencies @ columns[present]
    columns[:, highest == lowest] = 0.0
    deviations = np.sqrt(frequencies @ np.square(columns[present]))
    columns /= np.where(highest == lowest, 1.0, deviations)
    return columns


class OutputSum(Kernel):
    """k(y, y') = sum over numbers j of scales_j exp(-(y_j - y'_j)^2) + inner product of the other columns.

    Parameters
    ----------
    scales : tuple of float
        One for each column of numbers; these columns come first.

    Examples
    --------
    >>> OutputSum((2.0,))([[0.0, 1.0], [0.0, 3.0]])
    array([[ 3.,  5.],
           [ 5., 11.]])
    """

    def __init__(self, scales: tuple[float, ...]) -> None:
        self.scales = scales

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        X, Y = self.rows(X), None if Y is None else self.rows(Y, "Y")
        n = len(self.scales)
        K = np.zeros((len(X), len(X if Y is None else Y)))
        if X.shape[1] > n:
            K += Linear()(X[:, n:], None if Y is None else Y[:, n:])
        for j, scale in enumerate(self.scales):
            K += scale * Gaussian(1.0)(X[:, [j]], None if Y is None else Y[:, [j]])
        return K


def balancing_scale(values: FloatArray, weights: FloatArray) -> float:
    """Factor that makes the trace of the centred matrix of exp(-(y - y')^2) one; zero if all values (m, 1) agree."""
    kernel, m = Gaussian(1.0), len(values)
    # tr(HK) = sum of w_i w_j (1 - K_ij) / sum(w), without the cancellation
    trace = sum(float(weights[rows] @ (1 - kernel(values[rows], values)) @ weights) for rows in row_blocks(m))
    return float(weights.sum()) / trace if trace > 0 else 0.0


def _unsortable(argument: str, error: TypeError) -> ValueError:
    return ValueError(f"{argument} has labels that cannot be sorted ({error}); accepted: labels of one type")
