"""Choice of the kernel on the labels: the paper's BIN, MUL and REG, several outputs, survival, or any other kernel."""

from __future__ import annotations

import inspect
import warnings
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from bahsic.kernels.bandwidth import median_gamma
from bahsic.kernels.base import Function, Kernel, Precomputed
from bahsic.kernels.labels.outputs import (
    WHATEVER,
    Output,
    OutputNames,
    OutputSum,
    balanced_class_vectors,
    balancing_scale,
    class_vectors,
    outputs,
    rare_classes,
    sorted_classes,
    standardised,
    target_type,
)
from bahsic.kernels.labels.survival import survival_hint, survival_vectors
from bahsic.kernels.rows import (
    FloatArray,
    as_float,
    as_labels,
    as_rows,
    as_weights,
    frequencies,
    scaled_by_power_of_two,
    whole,
)
from bahsic.kernels.structured import CountKernel
from bahsic.kernels.vector import Delta, Gaussian, Linear, kernel_from_name, known_name
from bahsic.parameters import Given, Message, is_auto

_CLASS_TYPES = ("binary", "multiclass", "continuous")  # the last for categories that are numbers with fractions
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
    doubt : str or None
        A warning if it is not obvious how "auto" treated y (whole numbers, or survival times), and how to change that.
    rare : str or None
        A warning about classes of a single sample.

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
    classes: NDArray[Any] | list[NDArray[Any]] | None = None
    doubt: str | None = None
    rare: str | None = None

    def __len__(self) -> int:
        return len(self.values)

    @property
    def vectors(self) -> FloatArray | None:
        """Vectors of shape (m, k) whose inner products are the kernel values, or None."""
        return self.values if type(self.kernel) is Linear else None  # a subclass may have its own call

    def warn(self, *, unbiased: bool = True, way_out: str | None = None, weighted: bool = False) -> None:
        """Warn of a choice that is not obvious, of labels without information and of classes of a single sample.

        Such classes matter to the unbiased HSIC alone; ``way_out`` may name an option that helps.
        """
        self.warn_of_choice()
        idle = self._idle(weighted=weighted)
        if idle is not None:
            _warn(idle + ", so that no feature can depend on it")
        elif unbiased and self.rare is not None:
            # A class of one sample enters the biased estimate by its diagonal alone: no help if there are others.
            helps = way_out is not None and WHATEVER in self.rare
            _warn(self.rare + (f", or use {way_out}" if helps else ""))

    def warn_of_choice(self) -> None:
        """Warn where it is not obvious whether y are classes or numbers."""
        _warn(self.doubt)

    def _idle(self, *, weighted: bool) -> Message | None:
        """Return why no feature can depend on the labels: all are equal, or all of different classes."""
        if isinstance(self.kernel, Precomputed) or not isinstance(self.values, np.ndarray):
            return None
        if len(self) > 1 and bool((self.values == self.values[0]).all()):
            return Message(Given("y"), " does not vary")
        if weighted or self.name not in ("multiclass", "delta"):
            return None
        n_classes = len(np.unique(self.values) if self.classes is None else self.classes)
        if n_classes < len(self):
            return None
        what = f" has {n_classes} classes, another one for each sample (numbers need "
        return Message(Given("y"), what, Given("target_kernel", "regression"), ")")

    def block(self, rows: slice, cols: slice) -> FloatArray:
        """Return kernel values of two ranges of samples, float64."""
        if isinstance(self.kernel, Precomputed):
            return np.asarray(self.values[rows, cols], dtype=np.float64)
        return self.kernel(self.values[rows], self.values[cols]).astype(np.float64, copy=False)

    def of_samples(self, samples: NDArray[np.intp]) -> LabelKernel:
        """Return the same kernel on the labels of some samples."""
        return replace(self, values=labels_of(self.values, samples, self.kernel))

    def gram(self) -> FloatArray:
        """Return the whole matrix of kernel values, float64."""
        return whole(self)


def label_kernel(y: Any, target_kernel: Any = "auto", sample_weight: Any = None) -> LabelKernel:
    r"""Return the kernel on the labels y for a name, a kernel or a function.

    - "binary" (BIN): :math:`l = \rho(y) \rho(y')`, where rho is ``-1/m_-`` for the first class in sorted order and
      ``1/m_+`` for the second;
    - "multiclass" (MUL, equation mc): inner products of rows of Y, where column c is 1/m_c for the members of class c
      and 1/(m_c - m) for the others;
    - "regression" (REG): Gaussian with the median distance; several columns are standardised first, so that units do
      not matter;
    - "multioutput": the sum over the columns of y of the column's own kernel, one of these three, scaled so that the
      trace of its centred matrix is one and each output has the same weight. HSIC is then the sum of the HSIC with each
      output. A column that does not vary adds nothing;
    - "survival": y holds the event (booleans, or 0 and 1) and the time of each subject; Gaussian with the median
      distance of expected survival curves, see `survival_vectors`;
    - "delta": 1 for equal labels, else 0;
    - "precomputed": y is the m x m matrix of kernel values;
    - the name of a kernel on vectors, a `Kernel`, or a function ``f(Y1, Y2)`` that returns a block;
    - "auto": one of the first three by the type of y. Strings, booleans and categoricals are classes, numbers with
      fractions are numbers. Whole numbers, integers or floats, are classes if there are at most 20 different ones,
      unless these hardly repeat (all of three or more, or most of six or more, occur once); else numbers. For several
      columns "regression" if all hold numbers, else "multioutput", with a warning if they look like times and events.
      "survival" for a structured array.

    Parameters
    ----------
    y : array-like of shape (m,) or (m, k), dataframe, structured array (event, time), or samples of a structured kernel
    target_kernel : str, Kernel or callable
    sample_weight : array-like of shape (m,), optional
        How often each sample counts: class counts m_c, medians and means are those of the repeated samples.

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
    >>> ratings, prices = np.arange(40) % 5 + 1, 1000 * np.arange(40)
    >>> label_kernel(ratings).name, label_kernel(prices).name
    ('multiclass', 'regression')
    """
    if not isinstance(target_kernel, str):
        return _from_kernel(y, kernel_from_name(target_kernel, "target_kernel"), sample_weight)
    name, doubt = known_name(target_kernel, _NAMES, "target_kernel"), None
    if name == "auto":
        name, doubt = _chosen(y, sample_weight)
    if name in ("binary", "multiclass"):
        labels = _from_classes(y, name, sample_weight)
    elif name == "regression":
        labels = _from_numbers(y, sample_weight)
    elif name == "multioutput":
        known = name.numbers if isinstance(name, OutputNames) else None
        labels = _from_outputs(outputs(y, sample_weight, known), sample_weight)
    elif name == "survival":
        vectors = survival_vectors(y, sample_weight)
        labels = LabelKernel(name, Gaussian("median").resolved(vectors, sample_weight=sample_weight), vectors)
    else:
        labels = _from_kernel(y, kernel_from_name(name), sample_weight)
    return replace(labels, doubt=doubt)


def chosen_name(y: Any, target_kernel: Any, *, warn: bool = False) -> Any:
    """Return the name that "auto" means for all labels, to be used for some of them too; other kernels as they are."""
    if not is_auto(target_kernel):
        return target_kernel
    name, doubt = _chosen(y, None)
    if warn:
        _warn(doubt)
    return name


def _chosen(y: Any, sample_weight: Any) -> tuple[str, str | None]:
    """Return the name of the kernel that "auto" chooses for y, and what is not obvious about it."""
    if isinstance(y, np.ndarray) and y.dtype.names:
        return "survival", None
    columns = outputs(y, sample_weight)
    if len(columns) > 1:
        varied = [column for column in columns if not column.is_constant] or columns
        if all(column.is_number for column in varied):
            return "regression", _doubt_of(columns)
        doubt = survival_hint(columns) or _doubt_of(columns)
        return OutputNames.of(column.is_number for column in columns), doubt
    (column,) = columns
    if column.is_number:
        return "regression", _doubt_of(columns)
    first = column.values[0]
    if column.values.dtype.kind in "mM" or isinstance(first, date | timedelta):
        what = f" has dates or times (first value {first!s}); accepted: classes or numbers, such as days"
        raise ValueError(Message(Given("y"), what))
    kind = target_type(column.values, "y")
    if kind not in _CLASS_TYPES:
        raise ValueError(
            f"y is of type {kind!r} (scikit-learn's type_of_target), for which target_kernel='auto' has no choice; "
            f"accepted: target_kernel one of {', '.join(map(repr, _NAMES[1:]))}, a kernel object or a function"
        )
    weights = frequencies(sample_weight, len(column.values))
    n_classes = len(sorted_classes(column.values[weights > 0], "y"))
    return "binary" if n_classes <= 2 else "multiclass", _doubt_of(columns)


def _doubt_of(columns: list[Output]) -> Message | None:
    """Return the doubt about the first column that has one, how many more have one, and how to get the other kind."""
    doubtful, alone = [column for column in columns if column.doubt is not None], len(columns) == 1
    if not doubtful:
        return None
    first, more = doubtful[0], f" (and {len(doubtful) - 1} more)" if len(doubtful) > 1 else ""
    said = *((Given("y"),) if alone else first.subject.parts), f" {first.doubt}{more}; "
    if not first.is_number:
        way_out = Given("target_kernel", "regression")
        return Message(*said, way_out, f" treats {'them' if alone else 'all columns'} as numbers")
    if alone:
        return Message(*said, Given("target_kernel", "multiclass"), " treats them as classes")
    return Message(*said, "as strings they are classes")


def _from_classes(y: Any, name: str, sample_weight: Any) -> LabelKernel:
    labels = as_labels(y, "y")
    if labels.shape[1] != 1:
        raise ValueError(
            f"y has shape {labels.shape}; accepted for target_kernel={name!r}: one label for each sample, "
            "for several target_kernel='multioutput'"
        )
    weights = frequencies(sample_weight, len(labels))
    classes = sorted_classes(labels[weights > 0, 0], "y")
    if len(classes) == 1:
        raise ValueError(Message(Given("y"), f" has one class only ({classes.tolist()[0]!r}); at least two are needed"))
    if name == "binary" and len(classes) != 2:
        needed = Given("target_kernel", "binary")
        raise ValueError(Message(Given("y"), f" has {len(classes)} classes; accepted for ", needed, ": two"))
    vectors = class_vectors(labels[:, 0], classes, weights, binary=name == "binary")
    rare = rare_classes(Message(Given("y")), classes.tolist(), _sizes(labels[:, 0], weights))
    return LabelKernel(name, Linear(), vectors, classes, rare=rare)


def _sizes(labels: NDArray[Any], weights: FloatArray) -> NDArray[Any]:
    """Return the number of samples of each class, in sorted order."""
    present = weights > 0
    return np.bincount(np.unique(labels[present], return_inverse=True)[1], weights[present])


def _from_numbers(y: Any, sample_weight: Any) -> LabelKernel:
    values: FloatArray = as_rows(y, "y").astype(np.float64)
    if np.asarray(y).dtype.kind in "iu":
        values = as_float(np.asarray(y).reshape(values.shape))
    peak = float(max(values.max(), -values.min()))
    if values.shape[1] > 1:
        values = standardised(values, frequencies(sample_weight, len(values)))
    elif peak and not 1e-100 < peak < 1e100:  # the rule "median" undoes the scaling
        values = scaled_by_power_of_two(values)[0]
    return LabelKernel("regression", Gaussian("median").resolved(values, sample_weight=sample_weight), values)


def _from_outputs(columns: list[Output], sample_weight: Any) -> LabelKernel:
    """Return the kernel on several outputs; its values are columns of numbers, then the vectors of the classes."""
    weights = frequencies(sample_weight, len(columns[0].values))
    numbers = []
    for column in columns:
        if column.is_number:  # scaled so that exp(-(y - y')^2) is the kernel "regression"
            values = standardised(as_float(column.values[:, None]).astype(np.float64), weights)
            numbers.append(values * np.sqrt(median_gamma(Gaussian("median"), values, weights)))
    classes = [balanced_class_vectors(column, weights) for column in columns if not column.is_number]
    scales = tuple(balancing_scale(values, weights) for values in numbers)
    values = np.column_stack([*numbers, *(vectors for vectors, _ in classes)])
    if not any(scales) and not values[:, len(scales) :].any():
        what = " has no column that varies; accepted: at least one with two different labels"
        raise ValueError(Message(Given("y"), what))
    name, rare = OutputNames.of(column.is_number for column in columns), None
    for column, (_, known) in zip((c for c in columns if not c.is_number), classes, strict=True):
        rare = rare or rare_classes(column.subject, known.tolist(), _sizes(column.values, weights))
    if scales:
        return LabelKernel(name, OutputSum(scales), values, rare=rare)
    return LabelKernel(name, Linear(), values, [known for _, known in classes], rare=rare)


def _from_kernel(y: Any, kernel: Kernel, sample_weight: Any) -> LabelKernel:
    values = kernel.rows(y, "y")
    kernel = kernel.resolved(values, None, as_weights(sample_weight, len(values)))
    if isinstance(kernel, Delta):
        codes = kernel.codes(values)[0]
        first = np.unique(codes, return_index=True)[1]
        shown = [row[0] if len(row) == 1 else row for row in values[first].tolist()]
        counts = np.bincount(codes, frequencies(sample_weight, len(codes)))
        rare = rare_classes(Message(Given("y")), [shown[i] for i in np.flatnonzero(counts)], counts[counts > 0])
        return LabelKernel("delta", kernel, codes[:, None].astype(np.float64), rare=rare)
    if isinstance(kernel, Precomputed):
        return LabelKernel("precomputed", kernel, values)
    if isinstance(kernel, CountKernel):  # blocks share the counts, so all kernel values are made at once
        return LabelKernel(repr(kernel), Precomputed(), kernel(values))
    name = getattr(kernel.function, "__name__", repr(kernel)) if isinstance(kernel, Function) else repr(kernel)
    return LabelKernel(name, kernel, values)


def _warn(message: str | None) -> None:
    """Warn the first caller outside of this package and of scikit-learn, if there is something to say."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").startswith(("bahsic.", "sklearn.")):
        frame, level = frame.f_back, level + 1
    if message is not None:
        warnings.warn(message, UserWarning, stacklevel=level)


def labels_of(y: Any, samples: NDArray[np.intp], target_kernel: Any) -> Any:
    """Return the labels of some samples; of a matrix of kernel values, their rows and columns."""
    if target_kernel == "precomputed" or isinstance(target_kernel, Precomputed):
        return as_rows(y, "y")[np.ix_(samples, samples)]
    return _safe_indexing(y, samples)
