"""The gamma of a kernel on a single column of categories or with missing entries, by counting pairs of samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bahsic.kernels.bandwidth import ScaledKernel

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ColumnKind:
    """Constants of one column, as in `bahsic.data.columns.Columns`.

    Attributes
    ----------
    different : float
        Contribution of two different categories to the distance; zero for numbers.
    neutral : float
        Contribution of two missing entries; of one missing entry and an observed one, half of this comes from the
        missing one.
    centre : float
        The number at which missing numbers stand.
    together : bool
        Whether all missing entries are the same; else each one is different from all others.
    """

    different: float = 0.0
    neutral: float = 0.0
    centre: float = 0.0
    together: bool = False


def gamma_of_column(x: Array, kernel: ScaledKernel, kind: ColumnKind, weights: Array | None = None) -> float:
    """The number in place of a rule for gamma, evaluated on one column x (m,) of the given kind.

    Cost O(m log m) for the rule "median".

    Examples
    --------
    >>> from bahsic.kernels import Gaussian
    >>> gamma_of_column(np.array([0.0, 1.0, 2.0]), Gaussian("median"), ColumnKind(different=4.0))
    0.125
    """
    if not isinstance(kernel.gamma, str) or kernel.gamma == "optimise":
        return float(kernel.resolved_on_totals(np.zeros((2, 2))).gamma)  # type: ignore[arg-type]  # a number, or raises
    if kernel.gamma == "dimension":
        return 0.5
    w = np.ones(len(x)) if weights is None else weights
    median = _median_distance(x, kernel.power, kind, w)
    return 1 / (2 * median**kernel.power) if median else 1.0


def weighted_median(values: Array, weights: Array) -> float:
    """Median of values that are repeated as often as their weights say.

    Examples
    --------
    >>> weighted_median(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0]))
    2.0
    """
    order = np.argsort(values)
    cumulative = np.cumsum(weights[order])
    middle = [int(np.searchsorted(cumulative, cumulative[-1] / 2, side)) for side in ("left", "right")]
    return float(values[order[middle]].mean())


def _median_distance(x: Array, power: int, kind: ColumnKind, w: Array) -> float:
    """Median over the pairs of samples of the distance, whose power is D; of those not zero if it is zero."""
    missing = np.isnan(x)
    observed, absent = (x[~missing], w[~missing]), w[missing]
    total = w.sum() * (w.sum() - 1) / 2
    between, inside = _to_missing(observed, kind, power), _between_missing(absent, kind, power)
    within = _within_categories(*observed, kind, power) if kind.different else _within_numbers(*observed)

    def count(distance: float) -> float:
        return within(distance) + float(absent.sum()) * between(distance) + inside(distance)

    zero = count(0.0)
    if zero >= total:
        return 0.0
    half = total / 2
    if zero > half:
        half = (total + zero) / 2
    return (_least(lambda t: count(t) >= half) + _least(lambda t: count(t) > half)) / 2


def _within_categories(x: Array, w: Array, kind: ColumnKind, power: int) -> Callable[[float], float]:
    """Number of pairs of observed samples up to a distance."""
    sizes = np.bincount(x.astype(np.intp), w)
    same, every = float((sizes * (sizes - 1)).sum() / 2), float(w.sum() * (w.sum() - 1) / 2)
    apart = kind.different ** (1 / power)
    return lambda distance: every if distance >= apart else same


def _within_numbers(x: Array, w: Array) -> Callable[[float], float]:
    order = np.argsort(x)
    x, w = x[order], w[order]
    below = np.append(0.0, np.cumsum(w))
    copies = float((w * (w - 1)).sum() / 2)
    return lambda distance: copies + float(w @ (below[np.searchsorted(x, x + distance, "right")] - below[1:]))


def _to_missing(observed: tuple[Array, Array], kind: ColumnKind, power: int) -> Callable[[float], float]:
    """Number of observed samples up to a distance from a missing one."""
    x, w = observed
    total = np.full(len(x), kind.different / 2) if kind.different else np.abs(x - kind.centre) ** power
    total += kind.different / 2 if kind.different and kind.together else kind.neutral / 2
    total **= 1 / power
    return lambda distance: float(w[total <= distance].sum())


def _between_missing(w: Array, kind: ColumnKind, power: int) -> Callable[[float], float]:
    """Number of pairs of missing samples up to a distance."""
    every, copies = float(w.sum() * (w.sum() - 1) / 2), float((w * (w - 1)).sum() / 2)
    apart = 0.0 if kind.together else kind.neutral ** (1 / power)
    return lambda distance: every if distance >= apart else copies


def _least(reached: Callable[[float], bool]) -> float:
    """Least float64 >= 0 that a condition holds for, if it holds for all greater ones too."""
    low, high = 0, int(np.float64(np.finfo(float).max).view(np.int64))  # floats >= 0 are in the order of their bits
    while low < high:
        bits = (low + high) // 2
        low, high = (low, bits) if reached(float(np.int64(bits).view(np.float64))) else (bits + 1, high)
    return float(np.int64(low).view(np.float64))
