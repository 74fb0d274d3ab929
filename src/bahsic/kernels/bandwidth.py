"""The scale gamma of a kernel: a number, or a rule that is evaluated on the data."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np

from bahsic.kernels.base import PointwiseKernel
from bahsic.kernels.rows import FloatArray, as_weights, row_blocks, scaled_by_power_of_two
from bahsic.parameters import check_parameter, check_positive, is_number

Gamma = float | str | Callable[[FloatArray], float]

_RULES = ("dimension", "median", "optimise")
_ACCEPTED = "a positive finite number, 'dimension', 'median', 'optimise' or a function of the data"

# Most pairs of samples whose median distance is exact (1 GiB), and the number of samples used beyond that.
MAX_PAIRS = 2**27
DRAWN_SAMPLES = 4096
_DRAWN_PAIRS = 2**14  # pairs with weights that are drawn to tell where about their median is
_POWERS = range(-8, 9)  # of two: the rule "optimise" tries the median's gamma times these


class ScaledKernel(PointwiseKernel):
    r"""A function of gamma times a distance; `gamma` is a number or a rule.

    Rules, with d features and the median taken over the pairs i < j:

    - ``"dimension"``: 1 / (2 d);
    - ``"median"``: 1 / (2 median(r)^p) with the total D = r^p of this kernel, that is the squared Euclidean (p = 2) or
      the L1 distance (p = 1). If the median is zero, the median of the non-zero distances; if all are zero, gamma is 1.
      Of more than 16,384 samples, 4096 are drawn with a fixed seed; of a single feature they are quantiles;
    - ``"optimise"``: the gamma of ``"median"`` times one of 2^-8, ..., 2^8, whichever gives the greatest HSIC;
    - a function that maps the rows X to a positive number.
    """

    power: ClassVar[int] = 2  # D is this power of a distance
    gamma: Gamma

    @property
    def needs_labels(self) -> bool:  # type: ignore[override]
        return isinstance(self.gamma, str) and self.gamma == "optimise"

    def contribution(self, x: FloatArray, y: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):  # such a distance rounds to infinity
            difference = np.subtract.outer(x, y)
            return (np.square if self.power == 2 else np.abs)(difference, out=difference)

    def with_gamma(self, gamma: float) -> Self:
        """Return the same kernel with another gamma."""
        changed = copy(self)
        changed.gamma = gamma
        return changed

    def resolved(self, X: Any, W: FloatArray | None = None, sample_weight: Any = None) -> Self:
        self.check()
        if is_number(self.gamma):
            return self
        X = self.rows(X)
        weights = as_weights(sample_weight, len(X))
        if callable(self.gamma):
            value = self.gamma(X if weights is None else X[weights > 0])
            check_positive("the value of the gamma rule", value)
            return self.with_gamma(float(value))
        if self.gamma == "dimension":
            return self.with_gamma(1 / (2 * int(X.shape[1])))
        kernel = self.with_gamma(median_gamma(self, X, weights))
        if self.gamma == "median":
            return kernel
        if W is None:
            raise ValueError(
                "gamma is 'optimise', which needs labels: use it in hsic or a selector, for a kernel on the data that "
                "is not part of a sum or product; otherwise 'dimension', 'median' or a number"
            )
        return kernel.optimal(kernel.multiplied(_POWERS[-1]).total(X), W)

    def resolved_on_totals(self, D: FloatArray, W: FloatArray | None = None, sample_weight: Any = None) -> Self:
        """Return the kernel with a number in place of its rule, given the totals D of all pairs of samples (m, m)."""
        self.check()
        if is_number(self.gamma):
            return self
        if callable(self.gamma) or self.gamma == "dimension":
            raise ValueError(f"gamma is {self.gamma!r}; accepted where only distances are known: 'median', 'optimise'")
        weights = as_weights(sample_weight, len(D))
        distances = _upper(len(D), lambda rows: D[rows, rows.start :] ** (1 / self.power))
        median = _median_of(distances, weights) or _median_of(distances, weights, nonzero=True)
        kernel = self.with_gamma(1 / (2 * median**self.power) if median else 1.0)
        return kernel if W is None else kernel.optimal(D, W)

    def doubled_links(self, D: FloatArray, count: int) -> Iterator[FloatArray]:
        """Yield the kernel values of totals D for gamma, 2 gamma, 4 gamma, ...; each is valid until the next."""
        for power in range(count):
            yield self.multiplied(power).link(D)

    def multiplied(self, power: int) -> Self:
        """Return the kernel for gamma times a power of two."""
        return self.with_gamma(float(self.gamma) * 2.0**power)  # type: ignore[arg-type]

    def optimal(self, D: FloatArray, W: FloatArray) -> Self:
        """Return the kernel with the greatest HSIC = sum(K * W) on the grid around gamma, the smallest of equals."""
        first = self.multiplied(_POWERS[0])
        parts = [
            [float(np.vdot(values, W[rows])) for values in first.doubled_links(D[rows], len(_POWERS))]
            for rows in row_blocks(len(D))
        ]
        return first.multiplied(int(np.argmax([math.fsum(scores) for scores in zip(*parts, strict=True)])))

    def check(self) -> None:
        """Raise unless gamma is a positive number, the name of a rule or a function."""
        gamma = self.gamma
        valid = gamma in _RULES if isinstance(gamma, str) else callable(gamma) or (is_number(gamma) and gamma > 0)
        check_parameter("gamma", gamma, valid, _ACCEPTED)

    def _pair(self, X: Any, Y: Any) -> tuple[FloatArray, FloatArray | None]:
        if Y is not None and not is_number(self.gamma) and self.gamma != "dimension":
            self.check()
            raise ValueError(
                f"gamma is {self.gamma!r}, a rule on one set of samples, and Y is given; call resolved(X) first"
            )
        return super()._pair(X, Y)


def median_gamma(kernel: ScaledKernel, X: FloatArray, weights: FloatArray | None = None) -> float:
    """Return gamma by the rule "median", 1 / (2 median(r)^p) over the pairs i < j; with weights of repeated rows."""
    scaled, exponent = scaled_by_power_of_two(X.astype(np.float64))
    median = _median_distance(kernel, scaled, weights)
    if median == 0:
        return 1.0
    with np.errstate(over="ignore"):  # reported in the next lines
        gamma = float(np.ldexp(1 / (2 * median**kernel.power), -kernel.power * exponent))
    accepted = f"a normal number; X has a median distance of {median:.3g} * 2**{exponent}, so rescale X"
    check_parameter("gamma", gamma, sys.float_info.min <= gamma < math.inf, accepted)
    return gamma


def _median_distance(kernel: ScaledKernel, X: FloatArray, weights: FloatArray | None) -> float:
    """Return the median of the distances r of all pairs, or of the non-zero distances if it is zero."""
    m = len(X)
    if m * (m - 1) // 2 > MAX_PAIRS:
        drawn = np.random.default_rng(0).choice(m, DRAWN_SAMPLES, replace=False)
        if X.shape[1] == 1 and weights is None:
            drawn = np.argsort(X[:, 0])[np.linspace(0, m - 1, DRAWN_SAMPLES).astype(np.intp)]
        X, weights = X[drawn], None if weights is None else weights[drawn]
    spread = 2 * float(X.var(axis=0).sum())  # the mean squared distance, which rounding errors are compared with
    median = _median_of(_pair_distances(kernel.with_gamma(1 / spread if spread else math.inf), X), weights)
    if median**2 > 1e-6 * spread:
        return median
    distances = _pair_distances(kernel.with_gamma(math.inf), X)  # by direct differences: equal rows get distance zero
    median = _median_of(distances, weights)
    return median or _median_of(distances, weights, nonzero=True)


def _pair_distances(kernel: ScaledKernel, X: FloatArray) -> FloatArray:
    """Return the distances of the pairs i < j, row by row."""
    totals = _upper(len(X), lambda rows: kernel.total(X[rows], X[rows.start :]))
    return np.sqrt(totals, out=totals) if kernel.power == 2 else totals


def _upper(m: int, block: Callable[[slice], FloatArray]) -> FloatArray:
    """Return what is above the diagonal of an m x m matrix; ``block(rows)`` gives its rows from the diagonal on."""
    entries = np.empty(m * (m - 1) // 2)
    filled = 0
    for rows in row_blocks(m):
        part = block(rows)
        above = part[np.triu(np.ones(part.shape, dtype=bool), k=1)]
        entries[filled : filled + len(above)] = above
        filled += len(above)
    return entries


def _median_of(distances: FloatArray, weights: FloatArray | None, *, nonzero: bool = False) -> float:
    if weights is None:
        values = distances[distances > 0] if nonzero else distances
        return float(np.median(values)) if len(values) else 0.0
    counts = _upper(len(weights), lambda rows: np.multiply.outer(weights[rows], weights[rows.start :]))
    copies = np.maximum(weights * (weights - 1) / 2, 0).sum()  # pairs of copies of one sample, at distance zero
    values, counts = np.append(distances, 0.0), np.append(counts, copies)
    kept = (counts > 0) & ((values > 0) | (not nonzero))
    return _weighted_median(values[kept], counts[kept])


def _weighted_median(values: FloatArray, counts: FloatArray) -> float:
    """Return the median of values that occur ``counts`` times; of an even number the mean of the two middle ones."""
    if not len(values):
        return 0.0
    half, below = counts.sum() / 2, 0.0
    if len(values) > _DRAWN_PAIRS:  # sort only the values between two quantiles of some, if the median is there
        drawn = np.random.default_rng(0).integers(len(values), size=_DRAWN_PAIRS)
        low, high = np.quantile(values[drawn], (0.48, 0.52), weights=counts[drawn], method="inverted_cdf")
        smaller, inside = counts[values < low].sum(), (values >= low) & (values <= high)
        if smaller < half < smaller + counts[inside].sum():
            values, counts, below = values[inside], counts[inside], smaller
    order = np.argsort(values)
    cumulative = below + np.cumsum(counts[order])
    middle = [min(int(np.searchsorted(cumulative, half, side)), len(order) - 1) for side in ("left", "right")]
    return float(values[order[middle]].mean())
