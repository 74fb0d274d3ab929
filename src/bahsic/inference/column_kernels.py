r"""Kernel matrices of single columns in short forms, so that no m x m matrix is needed.

- **Categories**: :math:`e + (1 - e) \sum_k 1_k 1_k'` with :math:`e = \exp(-\gamma d)` for two different categories and
  :math:`1_k` the samples of category k, see `Groups`. Centring removes the constant.
- **Numbers**: for the Gaussian kernel :math:`F'F` with a few factors, made on the distinct values; for the Laplacian
  kernel one factor and a `Chain`.
- **A missing number** stands at the centre of its column, a length further on an axis of its own, which contributes c
  to D. So row and column of the kernel are those of a sample at the centre times :math:`s = \exp(-\gamma c)`, and the
  diagonal, which stays 1, is :math:`1 - s^2` more than that: a group of one sample. Where all missing entries of a
  column count as the same, they share the axis and the group. Missing categories have such axes as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bahsic.data.columns import Columns
from bahsic.inference.chains import Chain
from bahsic.inference.column_gamma import ColumnKind, gamma_of_column, weighted_median
from bahsic.inference.factors import gaussian_factors, power_factors
from bahsic.inference.groups import Groups
from bahsic.kernels import Gaussian, Kernel, Laplacian

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Part = Groups | Chain

# Largest range of a column, in units of the Gaussian's width, for which factors are powers of x. These are accurate
# also where all kernel values are near one, but for long ranges more of them are needed than Cholesky factors.
_SHORT = 2.0

# Most entries of the factors of one column, of which there may be 64 at least; and their largest error for one sample.
_MOST_ENTRIES = 2**26
_LARGEST_ERROR = 1e-12

# Entries of the vectors that are made at a time.
_VECTOR_ENTRIES = 2**22


@dataclass(frozen=True, eq=False)
class ColumnKernel:
    """A kernel matrix on m samples, up to a constant in each row and column, which centring removes.

    Attributes
    ----------
    factors : ndarray of shape (rank, m)
        The sum of their outer products is one part of the matrix.
    parts : tuple of Groups and Chain
        The other parts.
    left : float
        Bound on the Frobenius norm of the error of the factors.
    """

    factors: Array
    parts: tuple[Part, ...] = ()
    left: float = 0.0


def column_kernel(
    x: Array, gamma: float, power: int, kind: ColumnKind | None = None, weights: Array | None = None
) -> ColumnKernel | None:
    """Short form of the matrix exp(-gamma |x - x'|^p) of a single column, or None if there is none.

    Parameters
    ----------
    x : ndarray of shape (m,)
        Numbers, or codes of categories; NaN where an entry is missing.
    gamma : float
    power : {1, 2}
        Of the differences: 2 for a Gaussian kernel, 1 for a Laplacian one.
    kind : ColumnKind, optional
        By default the column holds complete numbers.
    weights : ndarray of shape (m,), optional
        Frequencies of the samples.

    Returns
    -------
    ColumnKernel or None
        Cost O(m log m + m r^2) for rank r.

    Examples
    --------
    >>> found = column_kernel(np.array([0.0, 1.0, 1.0]), 0.5, 2, ColumnKind(different=2.0))
    >>> found.factors.shape, found.parts[0].matrix().round(3)
    ((0, 3), array([[0.632, 0.   , 0.   ],
           [0.   , 0.632, 0.632],
           [0.   , 0.632, 0.632]]))
    """
    kind = ColumnKind() if kind is None else kind
    w = np.ones(len(x)) if weights is None else weights
    if kind.different > 0:
        return _of_categories(x, gamma, kind, w)
    missing = np.isnan(x)
    if kind.neutral == 0 and np.nanmin(x) == np.nanmax(x):
        return ColumnKernel(np.empty((0, len(x))))
    filled = np.where(missing, kind.centre, x)
    found = _of_differences(filled, gamma, kind, w) if power == 1 else _of_squares(filled, gamma, w)
    if found is None or kind.neutral == 0 or not missing.any():
        return None if found is None else found.kernel
    # At missing samples a factor f is s times that of the centre; stored is f - constant.
    F, shrink = found.kernel.factors, -gamma * kind.neutral / 2
    F[:, missing] = F[:, missing] * math.exp(shrink) + found.constants[:, None] * math.expm1(shrink)
    return replace(found.kernel, parts=(*found.kernel.parts, _own_axes(missing, gamma, kind, w)))


def kernel_of_column(
    columns: Columns, feature: int, kernel: Kernel, weights: Array | None = None, *, together: bool = False
) -> ColumnKernel | None:
    """Short form of the kernel matrix of one of several columns, or None if there is none.

    Parameters
    ----------
    columns : Columns
    feature : int
    kernel : Kernel
        Only those of type Gaussian and Laplacian have short forms; a rule for gamma is evaluated on the column.
    weights : ndarray of shape (m,), optional
        Frequencies of the samples.
    together : bool
        See `ColumnKind`.
    """
    if not isinstance(kernel, Gaussian | Laplacian) or type(kernel) not in (Gaussian, Laplacian):
        return None
    x = columns.rows(np.array([feature]))[0]
    different, neutral = float(columns.different[feature]), float(columns.neutral[feature])
    kind = ColumnKind(different, neutral, 0.0 if different else _centre(x, kernel.power, weights), together)
    if not columns.special[feature]:
        gamma = float(kernel.resolved(x[:, None], None, weights).gamma)  # type: ignore[arg-type]
    else:
        gamma = gamma_of_column(x, kernel, kind, weights)
    return column_kernel(x, gamma, kernel.power, kind, weights)


def _centre(x: Array, power: int, weights: Array | None) -> float:
    """Mean of the observed numbers for squared differences, their median for absolute ones."""
    seen = ~np.isnan(x)
    w = np.ones(np.count_nonzero(seen)) if weights is None else weights[seen]
    return float(np.average(x[seen], weights=w)) if power == 2 else weighted_median(x[seen], w)


def _of_categories(x: Array, gamma: float, kind: ColumnKind, w: Array) -> ColumnKernel:
    missing = np.isnan(x)
    apart = missing & (not kind.together)
    codes = np.unique(x[~apart], return_inverse=True)[1]
    groups = np.empty(len(x), dtype=np.intp)
    groups[~apart], first = codes, int(codes.max(initial=-1)) + 1
    groups[apart] = first + np.arange(np.count_nonzero(apart))
    excess = np.full(first + np.count_nonzero(apart), -math.expm1(-gamma * kind.different))
    excess[first:] = -math.expm1(-gamma * kind.neutral)
    # exp(-gamma neutral / 2) - exp(-gamma different / 2) at missing samples, without overflow
    low, high = sorted((kind.neutral, kind.different))
    step = math.exp(-gamma * low / 2) * math.expm1(-gamma * (high - low) / 2)
    factors = step * apart[None].astype(np.float64) if apart.any() and step else np.empty((0, len(x)))
    return ColumnKernel(factors, (Groups.of(groups, excess, w),))


@dataclass(frozen=True, eq=False)
class _Numbers:
    """Kernel of numbers, and the constants that its factors are reduced by."""

    kernel: ColumnKernel
    constants: Array


def _of_differences(x: Array, gamma: float, kind: ColumnKind, w: Array) -> _Numbers:
    factor = np.expm1(-gamma * np.abs(x - kind.centre))
    return _Numbers(ColumnKernel(factor[None], (Chain.of(x, kind.centre, gamma, w),)), np.ones(1))


def _of_squares(x: Array, gamma: float, w: Array) -> _Numbers | None:
    values, codes = np.unique(x, return_inverse=True)
    if math.sqrt(gamma) * (values[-1] - values[0]) <= _SHORT:
        factors = power_factors(values, gamma)
        return _Numbers(ColumnKernel(factors[:, codes]), np.eye(len(factors))[0])
    most = max(64, _MOST_ENTRIES // len(x))
    factors = gaussian_factors(values[None], np.array([gamma]), most)[0][0]
    errors = np.maximum(1 - np.square(factors).sum(axis=0), 0.0)
    if errors.max() > _LARGEST_ERROR:
        return None
    left = float(errors @ np.bincount(codes, w))
    return _Numbers(ColumnKernel(factors[:, codes], left=left), np.zeros(len(factors)))


def _own_axes(missing: NDArray[np.bool_], gamma: float, kind: ColumnKind, w: Array) -> Groups:
    """Excess of the diagonal over s^2: a group for each missing sample, or one for all."""
    apart = np.count_nonzero(missing) if not kind.together else 1
    codes = np.zeros(len(missing), dtype=np.intp)
    codes[missing] = 1 if kind.together else np.arange(1, apart + 1)
    excess = np.full(apart + 1, -math.expm1(-gamma * kind.neutral))
    excess[0] = 0.0
    return Groups.of(codes, excess, w)


def centred_column(kernel: ColumnKernel, weights: Array) -> tuple[ColumnKernel, float, int]:
    """Centre a kernel of one column, and scale it by a power of two.

    Returns
    -------
    kernel : ColumnKernel
        Its factors are centred and times the roots of the weights; its parts are changed in scale only.
    square : float
        Sum of the squared entries of the centred matrix, each as often as the weights say.
    exponent : int
        The matrix is that of ``kernel`` times 2**exponent, so that squares neither overflow nor underflow.
    """
    largest = max(float(np.square(kernel.factors).max(initial=0.0)), *(part.largest for part in kernel.parts), 0.0)
    half = math.frexp(largest)[1] // 2
    F = np.ldexp(kernel.factors, -half)
    F -= (F @ (weights / weights.sum()))[:, None]
    F *= np.sqrt(weights)
    parts = tuple(part.scaled(-2 * half) for part in kernel.parts)
    square = float(np.square(F @ F.T).sum())
    for position, part in enumerate(parts):
        square += part.square() + 2 * float(part.forms(F * np.sqrt(weights)).sum())
        square += 2 * sum(part_product(part, other) for other in parts[:position])
    return ColumnKernel(F, parts, math.ldexp(kernel.left, -2 * half)), square, 2 * half


def part_product(one: Part, other: Part) -> float:
    """Inner product of two centred matrices on the same samples, with weights."""
    if isinstance(one, Groups):
        return one.product(other) if isinstance(other, Groups) else _within_groups(other, one)
    return _within_groups(one, other) if isinstance(other, Groups) else one.product(other)


def _within_groups(chain: Chain, groups: Groups) -> float:
    """Sum over the groups of their constant times the sum of a centred matrix within the group."""
    counts = np.diff(groups.starts, append=len(groups.order))
    single, w = counts == 1, groups.weights
    alone = groups.order[groups.starts[single]]
    found = float(groups.excess[single] * np.square(w[alone]) @ chain.diagonal()[alone])
    several = np.flatnonzero(~single)
    height = max(1, _VECTOR_ENTRIES // len(w))
    for start in range(0, len(several), height):
        some = several[start : start + height]
        marks = (groups.labels == some[:, None]) - (groups.sizes[some] / w.sum())[:, None]
        found += float(groups.excess[some] @ chain.forms(marks * w))
    return found
