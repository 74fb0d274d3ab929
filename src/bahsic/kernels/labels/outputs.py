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
from bahsic.parameters import Given, Message

# Whole numbers with at most so many different values are classes, and so many of these may be rare.
MOST_CLASSES = 20
_RARE_CLASSES = 5

# Entries of the indicators of classes, one for each sample and class.
_MOST_INDICATORS = 2 * 10**8

# Between these numbers of different values the choice is not obvious.
_SURELY_CLASSES, _SURELY_NUMBERS = 10, 100

# Types of pandas, polars and pyarrow whose columns are always classes.
_CATEGORICAL_TYPE = re.compile(r"categor|enum|dictionary|bool", re.IGNORECASE)


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
    doubt : str or None
        Where the other of the two would do as well: what was found and chosen, in words.
    """

    name: Any
    values: Array
    is_number: bool
    doubt: str | None = None

    def __str__(self) -> str:
        return f"column {self.name!r} of y"

    @property
    def subject(self) -> tuple[str | Given, ...]:
        """The column in a message."""
        return f"column {self.name!r} of ", Given("y")

    @property
    def is_constant(self) -> bool:
        """Whether it is a number that does not vary."""
        return self.values.dtype.kind in "fiu" and bool((self.values == self.values[0]).all())


class OutputNames(str):  # noqa: SLOT000 - it carries the choice
    """The name "multioutput" with the choice for each column, so that it stays the same for some of the samples.

    Attributes
    ----------
    numbers : tuple of bool
        Whether each column of y holds numbers rather than classes.

    Examples
    --------
    >>> OutputNames.of([True, False]) == "multioutput", OutputNames.of([True, False]).numbers
    (True, (True, False))
    """

    numbers: tuple[bool, ...] = ()

    @classmethod
    def of(cls, numbers: Iterable[bool]) -> OutputNames:
        """The name for these columns."""
        name = cls("multioutput")
        name.numbers = tuple(numbers)
        return name


def outputs(y: Any, sample_weight: Any = None, numbers: Sequence[bool] | None = None) -> list[Output]:
    """Columns of y, checked.

    Strings, booleans and categoricals are classes, numbers with fractions are numbers, and whole numbers, of any type,
    are either, see `are_classes`.

    Parameters
    ----------
    y : array-like of shape (m,) or (m, k), pandas or polars dataframe or series, pyarrow table or array
    sample_weight : array-like of shape (m,), optional
        Number of times that each sample counts.
    numbers : sequence of k bool, optional
        Whether each column holds numbers, if that is known.

    Returns
    -------
    list of k Output

    Examples
    --------
    >>> [output.is_number for output in outputs([["a", 1.5], ["b", 2.0]])]
    [False, True]
    """
    columns = [
        (name, as_labels(np.asarray(column)[:, None], "y", [name])[:, 0], _is_categorical(column))
        for name, column in named_columns(y)
    ]
    if numbers is not None and len(numbers) == len(columns):
        return [Output(name, values, known) for (name, values, _), known in zip(columns, numbers, strict=True)]
    weights = as_weights(sample_weight, len(columns[0][1])) if columns else None
    return [_judged(name, values, weights, categorical=categorical) for name, values, categorical in columns]


def _judged(name: Any, values: Array, weights: FloatArray | None, *, categorical: bool) -> Output:
    """A column with the choice between numbers and classes."""
    if categorical or values.dtype.kind not in "fiu":
        return Output(name, values, is_number=False)
    counts = np.ones(len(values)) if weights is None else weights
    present = counts > 0
    if not (values[present] == np.floor(values[present])).all():
        return Output(name, values, is_number=True)
    different, which = np.unique(values[present], return_inverse=True)
    sizes = np.bincount(which, counts[present])
    classes = are_classes(sizes)
    return Output(name, values, is_number=not classes, doubt=_doubt(different, sizes, classes=classes))


def are_classes(sizes: NDArray[Any]) -> bool:
    """Whether whole numbers are classes, given how often each different one occurs.

    They are classes if there are at most 20 different ones, unless most of more than five, or all of more than two,
    occur only once.

    Examples
    --------
    >>> are_classes(np.array([30, 50, 20])), are_classes(np.full(21, 10)), are_classes(np.ones(15))
    (True, False, False)
    """
    n, n_once = len(sizes), int(np.count_nonzero(sizes <= 1))
    mostly_once = (n > _RARE_CLASSES and 2 * n_once > n) or (n > 2 and n_once == n)
    return n <= MOST_CLASSES and not mostly_once


def _doubt(different: Array, sizes: NDArray[Any], *, classes: bool) -> str | None:
    """Warning where whole numbers might as well be codes as counts, or None."""
    n = len(different)
    taken = f"has {n} different whole numbers and is taken for"
    if classes:
        gaps = float(different[-1]) - float(different[0]) + 1 > n
        return f"{taken} classes" if n > _SURELY_CLASSES and gaps else None
    mostly_once = 2 * int(np.count_nonzero(sizes <= 1)) > n
    return f"{taken} numbers" if n <= _SURELY_NUMBERS and not mostly_once else None


def _is_categorical(column: Any) -> bool:
    """Whether a column of a dataframe, or a series, is of a type for categories."""
    kind = getattr(column, "dtype", getattr(column, "type", None))
    return kind is not None and bool(_CATEGORICAL_TYPE.match(str(kind)))


def named_columns(y: Any) -> list[tuple[Any, Any]]:
    """Names and columns of a dataframe or structured array; the columns of an array have their numbers as names."""
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
    if len(labels) * len(classes) > _MOST_INDICATORS:
        what = f" has {len(classes)} classes in {len(labels)} samples, too many for a column each"
        ways = (
            "; accepted: fewer, ",
            Given("target_kernel", "delta"),
            " or, of numbers, ",
            Given("target_kernel", "regression"),
        )
        raise ValueError(Message(Given("y"), what, *ways))
    members = labels[:, None] == classes
    sizes = weights @ members
    vectors: FloatArray
    if binary:
        vectors = np.where(members[:, 1:], 1 / sizes[1], -1 / sizes[0])
    else:
        vectors = np.where(members, 1 / sizes, 1 / (sizes - weights.sum()))
    return vectors


# In the warning about two classes one of which occurs once.
WHATEVER = "whatever the data"


def rare_classes(subject: tuple[str | Given, ...], classes: Sequence[Any], sizes: NDArray[Any]) -> Message | None:
    r"""Warning about classes of a single sample, with a remedy; None if there are none, or no others.

    A class adds to the unbiased HSIC by the pairs of its samples alone. Without such a pair the kernel value of any two
    different samples is f_i + f_j for some numbers f, for the class itself (kernels "multiclass" and "delta" are sums
    over the classes) or, of two classes, for all: U-centring leaves nothing.

    Examples
    --------
    >>> rare_classes(("y",), ["a", "b", "c"], np.array([1, 5, 4]))  # doctest: +ELLIPSIS
    "y has the class 'a' once, which adds nothing to the unbiased HSIC; leave its sample out or join it with another"
    """
    once = [repr(label) for label, size in zip(classes, sizes, strict=True) if size == 1]
    if not once or len(once) == len(classes):
        return None
    if len(classes) == 2:
        nothing = "the unbiased HSIC is zero" if len(subject) == 1 else "it adds nothing to the unbiased HSIC"
        return Message(
            *subject,
            f" has the class {once[0]} once and one other, so that {nothing} {WHATEVER}; add samples of that class",
        )
    if len(once) == 1:
        remedy = "leave its sample out or join it with another"
        return Message(*subject, f" has the class {once[0]} once, which adds nothing to the unbiased HSIC; {remedy}")
    shown = ", ".join(once[:3]) + (", ..." if len(once) > 3 else "")
    remedy = "leave their samples out or join them with others"
    return Message(
        *subject, f" has {len(once)} classes once ({shown}), which add nothing to the unbiased HSIC; {remedy}"
    )


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
