"""Kernels on vectors, and their names."""

from __future__ import annotations

import difflib
import inspect
import math
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from scipy.spatial.distance import cdist

from bahsic.kernels.bandwidth import Gamma, ScaledKernel
from bahsic.kernels.base import Function, Kernel, PointwiseKernel, Precomputed
from bahsic.kernels.rows import Array, FloatArray, as_labels, check_range, inner_products, row_blocks, squared_distances
from bahsic.parameters import check_parameter, check_positive, is_count, is_number


class _Exponential(ScaledKernel):
    """k(x, x') = exp(-gamma D)."""

    value_range = (0.0, 1.0)

    def __init__(self, gamma: Gamma = "dimension") -> None:
        self.gamma = gamma

    def link(self, D: FloatArray, out: FloatArray | None = None) -> FloatArray:
        out = np.multiply(D, -_within(self.gamma, D), out=out)
        return np.exp(out, out=out)

    def deviation(self, D: FloatArray, out: FloatArray | None = None) -> FloatArray:
        out = np.multiply(D, -_within(self.gamma, D), out=out)
        return np.expm1(out, out=out)

    def doubled_links(self, D: FloatArray, count: int) -> Iterator[FloatArray]:
        values = self.link(D)
        yield values
        for _ in range(count - 1):  # exp(-2 t) is the square of exp(-t), and a square costs a tenth of an exponential
            yield np.square(values, out=values)

    @property
    def flat_below(self) -> float:
        return 0.5 / float(self.gamma)  # type: ignore[arg-type]


class Gaussian(_Exponential):
    """Gaussian kernel, k(x, x') = exp(-gamma ||x - x'||^2).

    Parameters
    ----------
    gamma : float, {"dimension", "median", "optimise"} or callable
        A positive number or a rule, see `ScaledKernel`; the default is 1 / (2 d) for d features.

    Examples
    --------
    >>> Gaussian(gamma=1.0)([0.0, 1.0]).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    def total(self, X: FloatArray, Y: FloatArray | None = None) -> FloatArray:
        return squared_distances(X, Y, float(self.gamma))  # type: ignore[arg-type]


class Laplacian(_Exponential):
    """Laplacian kernel, k(x, x') = exp(-gamma ||x - x'||_1).

    Parameters
    ----------
    gamma : float, {"dimension", "median", "optimise"} or callable
        As for `Gaussian`; the rule "median" is 1 / (2 median) of the L1 distances.

    Examples
    --------
    >>> Laplacian(gamma=1.0)([0.0, 2.0]).round(4)
    array([[1.    , 0.1353],
           [0.1353, 1.    ]])
    """

    power: ClassVar[int] = 1

    def total(self, X: FloatArray, Y: FloatArray | None = None) -> FloatArray:
        with np.errstate(over="ignore"):  # a distance beyond float32 is infinite there
            return np.asarray(cdist(X, X if Y is None else Y, "cityblock"), dtype=X.dtype)


class InverseDistance(ScaledKernel):
    """Inverse distance kernel, k(x, x') = 1 / (offset + sqrt(gamma) ||x - x'||).

    Parameters
    ----------
    offset : float
        Positive; 1 / offset is the value at distance zero.
    gamma : float, {"dimension", "median", "optimise"} or callable
        As for `Gaussian`.

    Examples
    --------
    >>> InverseDistance(gamma=1.0)([0.0, 1.0])
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    def __init__(self, offset: float = 1.0, gamma: Gamma = "dimension") -> None:
        self.offset = offset
        self.gamma = gamma

    def total(self, X: FloatArray, Y: FloatArray | None = None) -> FloatArray:
        # Direct differences: the root would turn a rounding error of 1e-16 next to zero into 1e-8.
        return squared_distances(X, Y)

    def link(self, D: FloatArray, out: FloatArray | None = None) -> FloatArray:
        out = self._scaled_distance(D, out)
        out += float(self.offset)
        return np.reciprocal(out, out=out)

    def deviation(self, D: FloatArray, out: FloatArray | None = None) -> FloatArray:
        out = self._scaled_distance(D, out)  # 1 / (o + r) - 1 / o = -r / (o (o + r))
        for rows in row_blocks(len(out)):
            out[rows] /= -self.offset * (self.offset + out[rows])
        return out

    @property
    def flat_below(self) -> float:
        return (self.offset / 2) ** 2 / float(self.gamma)  # type: ignore[arg-type]

    @property
    def value_range(self) -> tuple[float, float]:
        return 0.0, 1 / self.offset

    def check(self) -> None:
        check_positive("offset", self.offset)
        super().check()

    def _scaled_distance(self, D: FloatArray, out: FloatArray | None) -> FloatArray:
        out = np.sqrt(D, out=out)
        out *= math.sqrt(_within(self.gamma, D))
        return out


class _InnerProduct(PointwiseKernel):
    """A function of <x, x'>."""

    def contribution(self, x: FloatArray, y: FloatArray) -> FloatArray:
        return np.multiply.outer(x, y)

    def total(self, X: FloatArray, Y: FloatArray | None = None) -> FloatArray:
        return inner_products(X, Y)


class Linear(_InnerProduct):
    """Linear kernel, k(x, x') = <x, x'>.

    Examples
    --------
    >>> Linear()([1.0, 2.0])
    array([[1., 2.],
           [2., 4.]])
    """

    def link(self, D: FloatArray, out: FloatArray | None = None) -> FloatArray:
        return np.positive(D, out=out)

    def centrable(self, X: Any) -> FloatArray:
        X = self.rows(X)
        return self.total(X - (X / len(X)).sum(axis=0))  # without overflow of the sums


class Polynomial(_InnerProduct):
    """Polynomial kernel, k(x, x') = (<x, x'> + coef0)^degree.

    Parameters
    ----------
    degree : int
        At least 1.
    coef0 : float
        Not negative.

    Notes
    -----
    Unlike with the other kernels here, HSIC with this kernel depends on the origin: features with a large common offset
    make all its values nearly equal, and HSIC loses the digits that they share. Standardise such features first.

    Examples
    --------
    >>> Polynomial(degree=2)([1.0, 2.0])
    array([[ 4.,  9.],
           [ 9., 25.]])
    """

    def __init__(self, degree: int = 2, coef0: float = 1.0) -> None:
        self.degree = degree
        self.coef0 = coef0

    def link(self, D: FloatArray, out: FloatArray | None = None) -> FloatArray:
        with np.errstate(over="ignore"):  # reported by check_range
            out = np.add(D, float(self.coef0), out=out)
            return check_range(np.power(out, int(self.degree), out=out))

    def deviation(self, D: FloatArray, out: FloatArray | None = None) -> FloatArray:
        out = np.divide(D, float(self.coef0), out=out)
        out = np.multiply(np.log1p(out, out=out), int(self.degree), out=out)
        return np.multiply(np.expm1(out, out=out), float(self.coef0) ** int(self.degree), out=out)

    @property
    def flat_below(self) -> float:
        return 0.5 * self.coef0 / self.degree if self.coef0 else -1.0

    def resolved(self, X: Any, W: FloatArray | None = None, sample_weight: Any = None) -> Self:
        degree, coef0 = self.degree, self.coef0
        check_parameter("degree", degree, is_count(degree), "a positive integer")
        check_parameter("coef0", coef0, is_number(coef0) and coef0 >= 0, "a finite number, not negative")
        return self


class Delta(Kernel):
    """Delta kernel, k(x, x') = 1 if x = x' (in all features), else 0; for labels of any type.

    Examples
    --------
    >>> Delta()(["a", "b", "a"])
    array([[1., 0., 1.],
           [0., 1., 0.],
           [1., 0., 1.]])
    """

    value_range = (0.0, 1.0)

    def rows(self, X: Any, argument: str = "X") -> Array:
        return as_labels(X, argument)

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        X, Y = self._rows_of_both(X, X if Y is None else Y)
        x_codes, y_codes = self.codes(X, Y)
        dtype = np.float32 if X.dtype == Y.dtype == np.float32 else np.float64
        return np.equal.outer(x_codes, y_codes).astype(dtype)

    def codes(self, *sets: Array) -> list[Array]:
        """Return codes of the rows of several sets: equal rows get the same integer."""
        known: dict[tuple[Any, ...], int] = {}
        return [np.array([known.setdefault(tuple(row), len(known)) for row in rows.tolist()]) for rows in sets]


_BY_NAME: dict[str, type[Kernel]] = {
    "gaussian": Gaussian,
    "laplacian": Laplacian,
    "linear": Linear,
    "polynomial": Polynomial,
    "inverse_distance": InverseDistance,
    "delta": Delta,
    "precomputed": Precomputed,
}
_ELSEWHERE = {"rbf": "gaussian", "poly": "polynomial"}  # scikit-learn's names


def kernel_from_name(kernel: Any, argument: str = "kernel") -> Kernel:
    """Return the kernel for a name or a function; a kernel is returned unchanged.

    Parameters
    ----------
    kernel : str, Kernel or callable
        A name gives the kernel with its default parameters; a function ``f(X, Y)`` returns a block of kernel values.
    argument : str
        Name of the argument in error messages.

    Returns
    -------
    Kernel

    Examples
    --------
    >>> kernel_from_name("gaussian")
    Gaussian(gamma='dimension')
    >>> kernel_from_name("gausian")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: kernel is 'gausian', did you mean 'gaussian'?; accepted: 'gaussian', 'laplacian', ...
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str):
        return _BY_NAME[known_name(kernel, tuple(_BY_NAME), argument)]()
    if callable(kernel) and not inspect.isclass(kernel):
        return Function(kernel)
    hint = f", a class; call it: {kernel.__name__}()" if inspect.isclass(kernel) else ""
    raise TypeError(
        f"{argument} is {kernel!r}{hint}; accepted: a name, a kernel such as Gaussian(), or a function f(X, Y)"
    )


def kernel_on_features(kernel: Any, which: str) -> Kernel:
    """Like `kernel_from_name`, but refuse a precomputed matrix; ``which`` describes the features in the message."""
    chosen = kernel_from_name(kernel)
    check_parameter("kernel", "precomputed", not isinstance(chosen, Precomputed), f"a kernel on {which}")
    return chosen


def known_name(name: str, names: tuple[str, ...], argument: str) -> str:
    """Return the name, or raise a ValueError that lists the known names and suggests the nearest."""
    if name in names:
        return name
    near = [_ELSEWHERE[name]] if _ELSEWHERE.get(name) in names else difflib.get_close_matches(name, names, n=1)
    hint = f", did you mean {near[0]!r}?" if near else ""
    raise ValueError(
        f"{argument} is {name!r}{hint}; accepted: {', '.join(map(repr, names))}, a kernel object or a function"
    )


def _within(gamma: Any, D: FloatArray) -> float:
    """Return gamma within the range of D's dtype: 0 times an infinite distance, or infinity times 0, would be NaN."""
    limits = np.finfo(D.dtype)
    return min(max(float(gamma), float(limits.tiny)), float(limits.max))
