"""Base class of kernels, pointwise kernels, and kernels made of others, of functions and of precomputed matrices."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from bahsic.kernels.rows import Array, FloatArray, as_gram, as_rows
from bahsic.parameters import check_parameter


class Kernel(BaseEstimator):
    """Base class of kernels: a function k(x, x') of two samples, evaluated on two sets of rows at once.

    Parameters follow scikit-learn: `clone`, `get_params` and a grid over `kernel__gamma` work.
    Kernels with the same parameters are equal; ``a + b`` and ``a * b`` are kernels.

    Examples
    --------
    To write a kernel, derive from this class and return the values of all pairs; this one counts equal characters.

    >>> class EqualCharacters(Kernel):
    ...     def rows(self, X, argument="X"):
    ...         return list(X)
    ...
    ...     def __call__(self, X, Y=None):
    ...         pairs = [[sum(map(str.__eq__, s, t)) for t in (X if Y is None else Y)] for s in X]
    ...         return np.array(pairs, dtype=float)
    >>> EqualCharacters()(["abc", "abd"])
    array([[3., 2.],
           [2., 3.]])
    """

    needs_labels = False  # whether `resolved` needs W

    @abstractmethod
    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        """Return kernel values of all pairs of rows.

        Parameters
        ----------
        X : m samples
        Y : n samples, or None for X itself

        Returns
        -------
        ndarray of shape (m, n)
            float32 if all inputs are float32, else float64; exactly symmetric if Y is None.
        """

    def rows(self, X: Any, argument: str = "X") -> Any:
        """X, checked and in the form that this kernel takes: something with a length and slices."""
        return as_rows(X, argument)

    def _rows_of_both(self, X: Any, Y: Any) -> tuple[Array, Array]:
        """Return two sets of rows with the same number of features."""
        X, Y = self.rows(X), self.rows(Y, "Y")
        if X.shape[1] != Y.shape[1]:
            raise ValueError(f"X has {X.shape[1]} features, Y has {Y.shape[1]}; accepted: the same number in both")
        return X, Y

    def resolved(self, X: Any, W: FloatArray | None = None, sample_weight: Any = None) -> Self:
        """Return the kernel with checked parameters, and numbers in place of rules.

        Parameters
        ----------
        X : m samples
            Data on which the rules are evaluated.
        W : ndarray of shape (m, m), optional
            ``HSIC = sum(K * W)``, which the rule "optimise" maximises.
        sample_weight : array-like of shape (m,), optional
        """
        return self

    def centrable(self, X: Any) -> FloatArray:
        """Return a matrix that equals ``self(X)`` once both are centred, with fewer rounding errors.

        HSIC ignores constants, and terms that depend on one sample only. A kernel whose values are nearly equal, or
        have a large common part, leaves that part out here.
        """
        return self(X)

    @property
    def value_range(self) -> tuple[float, float] | None:
        """Least and greatest value that the kernel can take, or None if they are not known."""
        return None

    def __add__(self, other: Kernel) -> Sum:
        return Sum(self, other)

    def __mul__(self, other: Kernel) -> Product:
        return Product(self, other)

    def __repr__(self) -> str:
        parameters = self.get_params(deep=False).items()
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in parameters)})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.get_params(deep=False) == other.get_params(deep=False)

    def __hash__(self) -> int:
        return hash((type(self), *self.get_params(deep=False).items()))


def takes_numbers(kernel: Kernel) -> bool:
    """Return whether samples of the kernel are rows of numbers, not strings, graphs, labels or anything else."""
    if isinstance(kernel, _Combination):
        return takes_numbers(kernel.first) and takes_numbers(kernel.second)
    return type(kernel).rows is Kernel.rows


class PointwiseKernel(Kernel):
    """Base class of kernels k(x, x') = link(sum over features j of contribution(x_j, x'_j)).

    Define `contribution` and `link`, and `total` if there is a faster way to sum over features.

    Examples
    --------
    >>> class Cauchy(PointwiseKernel):
    ...     def contribution(self, x, y):
    ...         return np.subtract.outer(x, y) ** 2
    ...
    ...     def link(self, D, out=None):
    ...         return np.divide(1.0, 1.0 + D, out=out)
    >>> Cauchy()([0.0, 1.0])
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    @abstractmethod
    def contribution(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return contributions of one feature: arrays of shapes (m,) and (n,) give an array of shape (m, n)."""

    def total(self, X: FloatArray, Y: FloatArray | None = None) -> FloatArray:
        """Return the sum of the contributions of all features, shape (m, n), a new array."""
        Y = X if Y is None else Y
        D = np.zeros((len(X), len(Y)), dtype=X.dtype)
        for x, y in zip(X.T, Y.T, strict=True):
            D += self.contribution(x, y)
        return D

    @abstractmethod
    def link(self, D: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """Return kernel values of totals D, elementwise; `out` may be D itself."""

    def deviation(self, D: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """Difference link(D) - link(0), to full relative accuracy where abs(D) is at most `flat_below`."""
        raise NotImplementedError

    @property
    def flat_below(self) -> float:
        """Largest abs(D) for which link(D) is nearly constant, so that `deviation` keeps more digits than `link`."""
        return 0.0

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        X, Y = self._pair(X, Y)
        kernel = self.resolved(X)
        D = kernel.total(X, Y)
        return kernel.link(D, out=D)

    def centrable(self, X: Any) -> FloatArray:
        X = self.rows(X)
        kernel = self.resolved(X)
        D = kernel.total(X)
        flat = max(float(D.max()), -float(D.min())) <= kernel.flat_below
        return kernel.deviation(D, out=D) if flat else kernel.link(D, out=D)

    def _pair(self, X: Any, Y: Any) -> tuple[FloatArray, FloatArray | None]:
        if Y is None:
            return self.rows(X), None
        X, Y = self._rows_of_both(X, Y)
        dtype = np.result_type(X, Y)
        return X.astype(dtype, copy=False), Y.astype(dtype, copy=False)


class _Combination(Kernel):
    """Two kernels on the same samples, combined elementwise."""

    _combine: ClassVar[np.ufunc]

    def __init__(self, first: Kernel, second: Kernel) -> None:
        self.first = first
        self.second = second

    def rows(self, X: Any, argument: str = "X") -> Any:
        for name, part in (("first", self.first), ("second", self.second)):
            check_parameter(name, part, isinstance(part, Kernel), "a kernel")
        self.second.rows(X, argument)
        return self.first.rows(X, argument)

    def resolved(self, X: Any, W: FloatArray | None = None, sample_weight: Any = None) -> Self:
        # W is not passed on: the best gamma of one part would depend on the other.
        X = self.rows(X)
        return type(self)(*(part.resolved(X, None, sample_weight) for part in (self.first, self.second)))

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        X, Y = self.rows(X), None if Y is None else self.rows(Y, "Y")
        return np.asarray(self._combine(self.first(X, Y), self.second(X, Y)))

    @property
    def value_range(self) -> tuple[float, float] | None:
        first, second = self.first.value_range, self.second.value_range
        if first is None or second is None:
            return None
        corners = [float(self._combine(a, b)) for a in first for b in second]
        return min(corners), max(corners)


class Sum(_Combination):
    """Sum of two kernels, k(x, x') = first(x, x') + second(x, x').

    Parameters
    ----------
    first, second : Kernel

    Examples
    --------
    >>> from bahsic.kernels import Delta, Linear
    >>> (Linear() + Delta())([1.0, 2.0])
    array([[2., 2.],
           [2., 5.]])
    """

    _combine = np.add


class Product(_Combination):
    """Product of two kernels, k(x, x') = first(x, x') * second(x, x').

    Parameters
    ----------
    first, second : Kernel

    Examples
    --------
    >>> from bahsic.kernels import Delta, Linear
    >>> (Linear() * Delta())([1.0, 2.0])
    array([[1., 0.],
           [0., 4.]])
    """

    _combine = np.multiply


class Precomputed(Kernel):
    """Precomputed kernel: the data are the matrix of kernel values, k(i, j) = K[i, j].

    Examples
    --------
    >>> Precomputed()([[1.0, 0.5], [0.5, 1.0]])
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    def rows(self, X: Any, argument: str = "X") -> FloatArray:
        return as_gram(X, argument)

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        if Y is not None:
            raise TypeError(
                "Y is given to Precomputed; accepted: X alone; take blocks of X by indexing, X[rows][:, columns]"
            )
        return self.rows(X)


class Function(Kernel):
    """Kernel from a function of two sets of samples.

    Parameters
    ----------
    function : callable
        ``function(X, Y)`` returns the kernel values of all pairs, shape (len(X), len(Y)).

    Examples
    --------
    >>> Function(np.minimum.outer)(np.array([1.0, 2.0]))
    array([[1., 1.],
           [1., 2.]])
    """

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self.function = function

    def rows(self, X: Any, argument: str = "X") -> Any:
        try:
            array = np.asarray(X)
        except ValueError:  # samples of different lengths
            return X
        return X if array.dtype.kind == "O" and not hasattr(X, "__array__") else array

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        X = self.rows(X)
        Y = X if Y is None else self.rows(Y)
        block = as_rows(self.function(X, Y), "the value of the kernel function")
        if block.shape != (len(X), len(Y)):
            raise ValueError(f"the kernel function returned shape {block.shape}; accepted: {(len(X), len(Y))}")
        return block
