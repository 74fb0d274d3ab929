"""Labels of one or several outputs: the type of each column of y, and its vectors and scale for a kernel."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target

from bahsic.kernels.base import Kernel
from bahsic.kernels.rows import Array, FloatArray, as_labels, as_weights, row_blocks
from bahsic.kernels.vector import Gaussian, Linear
from bahsic.names import first_few
from bahsic.parameters import Given, Message

# Whole numbers with at most so many different values are classes, and so many of these may be rare.
MOST_CLASSES = 20
_RARE_CLASSES = 5
_SURELY_CLASSES, _SURELY_NUMBERS = 10, 100  # different values, between which the choice is not obvious
_MOST_INDICATORS = 2 * 10**8  # of classes, one for each sample and class

# Types of pandas, polars and pyarrow whose columns are always classes.
_CATEGORICAL_TYPE = re.compile(r"categor|enum|dictionary|bool", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Output:
    """One column of y."""

    name: Any
    values: Array
    is_number: bool
    doubt: str | None = None

    @property
    def subject(self) -> Message:
        """The column, as messages call it."""
        return Message(f"column {self.name!r} of ", Given("y"))

    @property
    def is_constant(self) -> bool:
        """Whether it is a number that does not vary."""
        return self.values.dtype.kind in "fiu" and bool((self.values == self.values[0]).all())


class OutputNames(str):  # noqa: SLOT000 - it carries the choice
    """The name "multioutput" with the choice for each column, so that it stays the same for some of the samples."""

    numbers: tuple[bool, ...] = ()

    @classmethod
    def of(cls, numbers: Iterable[bool]) -> OutputNames:
        """Return the name for these columns."""
        name = cls("multioutput")
        name.numbers = tuple(numbers)
        return name


def outputs(y: Any, sample_weight: Any = None, numbers: Sequence[bool] | None = None) -> list[Output]:
    """Return the checked columns of y as numbers or classes; for whole numbers see `_judged`."""
    columns = [
        (name, as_labels(np.asarray(column)[:, None], "y", [name])[:, 0], _is_categorical(column))
        for name, column in _named_columns(y)
    ]
    if numbers is not None and len(numbers) == len(columns):
        return [Output(name, values, known) for (name, values, _), known in zip(columns, numbers, strict=True)]
    weights = as_weights(sample_weight, len(columns[0][1])) if columns else None
    return [_judged(name, values, weights, categorical=categorical) for name, values, categorical in columns]


def _judged(name: Any, values: Array, weights: FloatArray | None, *, categorical: bool) -> Output:
    """Return a column with the choice between numbers and classes, see `label_kernel`, and a doubt about it."""
    if categorical or values.dtype.kind not in "fiu":
        return Output(name, values, is_number=False)
    counts = np.ones(len(values)) if weights is None else weights
    present = counts > 0
    if not (values[present] == np.floor(values[present])).all():
        return Output(name, values, is_number=True)
    different, which = np.unique(values[present], return_inverse=True)
    n, n_once = len(different), int(np.count_nonzero(np.bincount(which, counts[present]) <= 1))
    mostly_once, gaps = 2 * n_once > n, float(different[-1]) - float(different[0]) + 1 > n
    classes = n <= MOST_CLASSES and not (mostly_once and n > _RARE_CLASSES) and not (n_once == n > 2)
    unsure = n > _SURELY_CLASSES and gaps if classes else n <= _SURELY_NUMBERS and not mostly_once
    doubt = f"has {n} different whole numbers and is treated as {'classes' if classes else 'numbers'}"
    return Output(name, values, is_number=not classes, doubt=doubt if unsure else None)


def _is_categorical(column: Any) -> bool:
    """Return whether a column of a dataframe, or a series, is of a type for categories."""
    kind = getattr(column, "dtype", getattr(column, "type", None))
    return kind is not None and bool(_CATEGORICAL_TYPE.match(str(kind)))


def _named_columns(y: Any) -> list[tuple[Any, Any]]:
    """Return names and columns of a dataframe or structured array; those of an array are named by their numbers."""
    if isinstance(y, np.ndarray) and y.dtype.names:
        return [(name, y[name]) for name in y.dtype.names]
    if hasattr(y, "column_names"):  # pyarrow
        return [(name, y.column(i)) for i, name in enumerate(y.column_names)]
    if hasattr(y, "columns") and hasattr(y, "__len__"):  # a polars LazyFrame has no length, and no data yet
        return [(name, y.iloc[:, i] if hasattr(y, "iloc") else y[:, i]) for i, name in enumerate(y.columns)]
    if _is_categorical(y) and not isinstance(y, np.ndarray):  # a series, whose type an array would lose
        return [(0, y)]
    return list(enumerate(as_labels(y, "y").T))


def target_type(labels: Array, argument: str) -> str:
    """Return the type of labels of shape (m,), by scikit-learn's `type_of_target`."""
    sorted_classes(labels, argument)  # raises where they cannot be sorted
    with warnings.catch_warnings():  # about many classes, which do no harm here
        warnings.simplefilter("ignore")
        return str(type_of_target(labels))


def sorted_classes(labels: Array, argument: str) -> Array:
    """Return the different labels in sorted order."""
    try:
        return np.unique(labels)
    except TypeError as error:
        what = f"{argument} has labels that cannot be sorted ({error})"
        raise ValueError(f"{what}; accepted: labels of one type") from None


def class_vectors(labels: Array, classes: Array, weights: FloatArray, *, binary: bool) -> FloatArray:
    """Return vectors whose inner products are the kernel "binary" (m, 1) or "multiclass" (m, classes)."""
    if len(labels) * len(classes) > _MOST_INDICATORS:
        what = f" has {len(classes)} classes in {len(labels)} samples, too many for a column each; accepted: fewer, "
        other_kernels = Given("target_kernel", "delta"), " or, of numbers, ", Given("target_kernel", "regression")
        raise ValueError(Message(Given("y"), what, *other_kernels))
    members = labels[:, None] == classes
    sizes = weights @ members
    if binary:
        return np.asarray(np.where(members[:, 1:], 1 / sizes[1], -1 / sizes[0]))
    return np.asarray(np.where(members, 1 / sizes, 1 / (sizes - weights.sum())))


WHATEVER = "whatever the data"  # in the warning about two classes one of which occurs once


def rare_classes(subject: Message, classes: Sequence[Any], sizes: NDArray[Any]) -> Message | None:
    """Return a warning about classes of a single sample, with a remedy; None if there are none, or no others."""
    # A class adds to the unbiased HSIC by the pairs of its samples alone. Beside a single class, one of a single sample
    # leaves nothing: kernel values of different samples are f_i + f_j.
    once = [repr(label) for label, size in zip(classes, sizes, strict=True) if size == 1]
    if not once or len(once) == len(classes):
        return None
    if len(classes) == 2:
        nothing = "the unbiased HSIC is zero" if subject == "y" else "it adds nothing to the unbiased HSIC"
        what = f"the class {once[0]} once and one other class, so {nothing} {WHATEVER}; add samples of that class"
    elif len(once) == 1:
        what = f"the class {once[0]} once, which adds nothing to the unbiased HSIC; remove its sample or merge it "
        what += "with another"
    else:
        what = f"{len(once)} classes once ({first_few(once, 3)}), which add nothing to the unbiased HSIC; remove their "
        what += "samples or merge them with others"
    return Message(*subject.parts, f" has {what}")


def balanced_class_vectors(output: Output, weights: FloatArray) -> tuple[FloatArray, Array]:
    """Return vectors of an output, whose squared lengths sum to one, and its classes; zeros if there is only one."""
    values, subject = output.values, output.subject
    if values.dtype.kind in "mM" or target_type(values, subject) == "unknown":
        raise TypeError(f"{subject} has dtype {values.dtype} (first value {values[0]!r}); accepted: classes or numbers")
    classes = sorted_classes(values[weights > 0], subject)
    if len(classes) == 1:
        return np.zeros((len(weights), 1)), classes
    vectors = class_vectors(values, classes, weights, binary=len(classes) == 2)
    return vectors / np.sqrt(weights @ np.square(vectors).sum(axis=1)), classes


def standardised(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return columns with weighted mean zero and variance one; constant columns become zero."""
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
    """k(y, y') = sum over numbers j of scales_j exp(-(y_j - y'_j)^2) + inner product of the other columns."""

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
    """Return the factor that makes the trace of the centred exp(-(y - y')^2) one; zero if all y (m, 1) agree."""
    kernel, m = Gaussian(1.0), len(values)
    # tr(HK) = sum of w_i w_j (1 - K_ij) / sum(w), without the cancellation
    trace = sum(float(weights[rows] @ (1 - kernel(values[rows], values)) @ weights) for rows in row_blocks(m))
    return float(weights.sum()) / trace if trace > 0 else 0.0
