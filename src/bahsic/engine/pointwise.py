r"""Scores for the Gaussian and the Laplacian kernel: one loop over the pairs of samples for all candidates of a round.

With :math:`M = W \exp(-\gamma D)` and the contribution :math:`d_j` of a candidate, the score changes by the sum over
the pairs of :math:`M (e^{\pm\gamma d_j} - 1)`: plus if the candidate leaves, minus if it enters. There are three ways
to this sum, each with a bound on its error:

=================  ==================================================================================
the loop, float32  a polynomial for the exponential where gamma d_j is small, else the exponential itself
the loop, float64  the same with a longer polynomial
`_Round._exact`    the difference of two scores, each by its own exponentials
=================  ==================================================================================

A candidate that one way leaves undecided goes to the next. Without compiled loops there is the last one only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bahsic.criteria.weights import Weights
from bahsic.data.columns import Columns
from bahsic.engine import reference
from bahsic.engine.compiled import is_worthwhile, loops, work
from bahsic.engine.diagonal import on_diagonal
from bahsic.engine.encoding import Encoded, encode, largest_contributions
from bahsic.engine.executor import Executor, Placed, Sums, map_sum
from bahsic.engine.gram import ChangedTiles, KernelTiles, LinkedTiles, can_change, gamma_of
from bahsic.engine.intervals import Intervals, Stage
from bahsic.engine.pairs import Pairs, WeightTiles
from bahsic.engine.plan import Plan
from bahsic.engine.scorer import Scorer
from bahsic.engine.tiles import add_differences
from bahsic.engine.units import Units
from bahsic.kernels.bandwidth import ScaledKernel
from bahsic.kernels.base import Kernel

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

_EPS = float(np.finfo(np.float64).eps)

# Largest gamma d_j for which a polynomial stands for the exponential, and for which float32 holds the exponential.
_SMALL, _LARGEST = 0.35, {True: 60.0, False: 80.0}

# Rounding errors of a term and of its sum over the rows of a block, in units of the machine precision; see
# ARCHITECTURE.md. The last ones are of terms with an exponential, and of a score.
_TERM = {np.dtype(np.float32): 48.0, np.dtype(np.float64): 96.0}
_TINY = {np.dtype(np.float32): 2.0**-126, np.dtype(np.float64): 2.0**-1022}
_EXPONENTIAL, _SCORE = 32.0, 64.0

# Coefficients of the polynomials in float32 and in float64, as the loops expect them.
SHORT, LONG = 4, 6

# Entries of columns that are encoded at a time, where not all are kept.
_ENTRIES = 1 << 21

# Largest binary exponent of data that are used unscaled; standardised data have small ones.
_USUAL_EXPONENT = 20


class PointwiseScorer(Scorer):
    """Scores for k = exp(-gamma D) with D a sum of squared or absolute differences."""

    def __init__(
        self,
        columns: Columns,
        kernel: Kernel,
        weights: Weights,
        executor: Executor,
        plan: Plan,
        units: Units | None = None,
    ) -> None:
        super().__init__(columns, kernel, weights, executor, plan, units)
        self.power = kernel.power if isinstance(kernel, ScaledKernel) else 2
        self.compiled = is_worthwhile(0.0, plan.n_pairs, columns.n_features)
        self.work = 0.0
        self._unit, self._scaled = 1.0, columns
        if self.power == 2:
            self._scaled, self._unit = _in_range(columns)
        self._last: tuple[Any, _Round] | None = None
        self.pairs = Pairs(self._scaled, self.power, weights, plan, executor, compiled=self.compiled)

    @cached_property
    def _on_diagonal(self) -> float:
        return on_diagonal(self._weights)

    @cached_property
    def largest_weight(self) -> float:
        return float(max(np.abs(self.pairs.weights(i)).max() for i in range(len(self.plan.tiles))))

    @cached_property
    def reach(self) -> Array:
        """Largest possible contribution of each column."""
        return largest_contributions(self._scaled, np.arange(self._scaled.n_features), self.power)

    @cached_property
    def _typical(self) -> Array:
        typical = self._scaled.typical
        return typical if self.power == 2 else np.sqrt(typical)

    @cached_property
    def _unit_reach(self) -> Array:
        """Largest possible contribution of the unit of each column."""
        found = self.reach.copy()
        for group in self.units.groups or ():
            found[group] = self.reach[group].sum()
        return found

    @cached_property
    def _single(self) -> Encoded | None:
        """All columns in float32 in units of the reach of their unit, if they are few enough to be kept."""
        if not isinstance(self._scaled.data, np.ndarray) or self._scaled.data.size * 4 > self.plan.budget / 8:
            return None
        everything = np.arange(self._scaled.n_features)
        return encode(self._scaled, everything, self.power, np.float32, self._unit_reach)

    def encoded(self, groups: Sequence[Indices], dtype: Any) -> Iterator[tuple[slice, Encoded]]:
        """Yield ranges of some units with their columns in units of their reach, as many as fit into memory."""
        kept = self._single if dtype == np.float32 else None
        sizes = np.array([len(group) for group in groups])
        n_entries = np.cumsum(sizes) * self.columns.n_samples
        limits = np.arange(_ENTRIES, n_entries[-1] if kept is None else 0, _ENTRIES)
        cuts = np.unique(np.concatenate([[0], np.searchsorted(n_entries, limits), [len(groups)]]))
        for some in (slice(int(a), int(b)) for a, b in pairwise(cuts)):
            features, ends = np.concatenate(list(groups[some])), np.append(0, np.cumsum(sizes[some]))
            if kept is None:
                part = encode(self._scaled, features, self.power, dtype, self._unit_reach[features])
                yield some, replace(part, ends=ends)
            else:
                yield some, kept.chosen(features, ends)

    def weigh(self, weights: Weights) -> None:
        """Replace W."""
        super().weigh(weights)
        self.pairs.weigh(weights)

    def _kept_weights(self) -> WeightTiles:
        return self.pairs.weights

    def move(self, columns: Indices, kernel: Kernel) -> None:
        """Make some columns the current subset."""
        self._move(columns, self._gamma(kernel))

    def _move(self, columns: Indices, gamma: float) -> None:
        """Make some columns the current subset, with a D that is exact for ``gamma``, also if gamma D is tiny."""
        typical = float(self._typical[columns].sum())
        self.pairs.move(columns, max(gamma, 1 / typical if typical else 0.0))

    def _gamma(self, kernel: Kernel) -> float:
        """The gamma of a kernel, for data in the unit of `_in_range`."""
        return gamma_of(kernel) * self._unit**2

    def kernel_tiles(self, columns: Indices, kernel: Kernel) -> KernelTiles:
        """Kernel values of all samples on some columns, less a constant."""
        if not isinstance(kernel, ScaledKernel) or not np.array_equal(self.pairs.subset, columns):
            return super().kernel_tiles(columns, kernel)
        return LinkedTiles(self.pairs, kernel.with_gamma(self._gamma(kernel)), self._centre(columns))

    def changed_tiles(self, columns: Indices, group: Indices, kernel: Kernel, *, leaving: bool) -> KernelTiles:
        """Kernel values on a subset after some columns have left it or entered it, less a constant."""
        pairs, linked = self.pairs, kernel.with_gamma(self._gamma(kernel))
        if not can_change(pairs, columns, group, linked, leaving=leaving):
            return super().changed_tiles(columns, group, kernel, leaving=leaving)
        sign = -1 if leaving else 1
        centre = self._centre(columns) + sign * self._centre(group)
        return ChangedTiles(pairs, linked, centre, pairs.contributions(group, gamma_of(linked)), sign)

    def _centre(self, columns: Indices) -> float:
        """A typical value of D, whose kernel value is taken off."""
        return float(self._typical[columns].sum()) if self.power == 2 else 0.0

    def _score(self, columns: Indices, kernel: Kernel) -> float:
        return self._formed(columns, self._gamma(kernel), None, leaving=True).score + self._on_diagonal

    def _round(
        self, columns: Indices, candidates: Indices, kernel: Kernel, own: Kernel | None, *, leaving: bool
    ) -> tuple[Sequence[Stage], float]:
        own_gamma = None if own is None else self._gamma(own)
        found = self._formed(columns, self._gamma(kernel), own_gamma, leaving=leaving)
        groups = self.units.each(candidates)
        return found.stages(groups), 0.0 if own is None else found.own_score + self._on_diagonal

    def _formed(self, columns: Indices, gamma: float, own_gamma: float | None, *, leaving: bool) -> _Round:
        """The sums of M for a subset, which the last round may have found already."""
        key, last = (columns.tobytes(), gamma, leaving), self._last
        here = own_gamma is None and np.array_equal(self.pairs.subset, columns)
        if here and last is not None and last[0] == key and last[1].weights is self._weights:
            return last[1]
        if not self.compiled and is_worthwhile(self.work):
            self.compiled = self.pairs.compiled = True
        self._move(columns, max(gamma, own_gamma or 0.0))
        found = _Round.form(self, self._weights, gamma, own_gamma, leaving=leaving)
        self._last = key, found
        return found


@dataclass(frozen=True, eq=False)
class _Round:
    """The changes of one round.

    Attributes
    ----------
    scorer : PointwiseScorer
    weights : Weights
        Those of the scorer.
    gamma : float
    leaving : bool
    score, own_score : float
        Sums of M over the pairs, and of W exp(-own_gamma D).
    sizes : ndarray of shape (n_samples,)
        Sum of abs(M) over the pairs of each sample.
    """

    scorer: PointwiseScorer
    weights: Weights
    gamma: float
    leaving: bool
    score: float
    own_score: float
    sizes: Array

    @staticmethod
    def form(
        scorer: PointwiseScorer, weights: Weights, gamma: float, own_gamma: float | None, *, leaving: bool
    ) -> _Round:
        """Sum M over the pairs."""
        pairs, compiled, own = scorer.pairs, scorer.compiled, -1.0 if own_gamma is None else own_gamma

        def tile_sums(index: int) -> Sums:
            tile, D, W = pairs.plan.tiles[index], pairs.totals(index), pairs.weights(index)
            across, down = np.zeros(D.shape[0]), np.zeros(D.shape[1])
            sums = _functions(compiled=compiled).form(D, W, gamma, own, across, down)
            return np.array(sums), Placed(tile.start, across), Placed(tile.first, down)

        m, tiles = scorer.columns.n_samples, range(len(pairs.plan.tiles))
        (score, own_score), across, down = map_sum(scorer.executor, tile_sums, tiles, m)
        return _Round(scorer, weights, gamma, leaving, 2 * score, 2 * own_score, across + down)

    @property
    def _sign(self) -> float:
        return 1.0 if self.leaving else -1.0

    @cached_property
    def _rounding(self) -> float:
        """Relative error of M, and of sums of it."""
        return self.scorer.pairs.rounding(self.gamma) + self._adding

    @property
    def _adding(self) -> float:
        """Relative error of the sums over a tile, whose rows are blocks of columns, and over the tiles."""
        return _EPS * (80 + self.scorer.columns.n_samples / 32)

    def stages(self, groups: Sequence[Indices]) -> list[Stage]:
        """Ways to the changes by groups of columns, each more exact than the one before."""

        def exact(positions: Indices) -> Intervals:
            return self._exact([groups[position] for position in positions])

        if not self.scorer.compiled:
            return [exact]

        def looped(dtype: Any) -> Stage:
            return lambda positions: self._looped([groups[position] for position in positions], np.dtype(dtype))

        return [looped(np.float32), looped(np.float64), exact]

    def _looped(self, groups: Sequence[Indices], dtype: np.dtype[Any]) -> Intervals:
        """Changes by groups of columns by the compiled loop; nothing is known of those with too large exponents."""
        z = self.gamma * np.array([self.scorer.reach[group].sum() for group in groups])
        values, radii = np.zeros(len(groups)), np.full(len(groups), np.inf)
        kinds = ((z <= _SMALL, False), ((z > _SMALL) & (z <= _LARGEST[self.leaving]), True))
        for mine, exponential in kinds:
            if mine.any():
                some = [groups[int(position)] for position in np.flatnonzero(mine)]
                values[mine], radii[mine] = self._sums(some, z[mine], dtype, exponential=exponential)
        return Intervals(values, radii)

    def _sums(
        self, groups: Sequence[Indices], z: Array, dtype: np.dtype[Any], *, exponential: bool
    ) -> tuple[Array, Array]:
        scorer, scale = self.scorer, 1.0
        if dtype == np.float32:  # weights of about one, whose products neither overflow nor underflow
            scale = math.ldexp(1.0, min(1000, -int(math.frexp(scorer.largest_weight)[1])))
        z = self._sign * z
        coefficients, error = _exponents(z) if exponential else _polynomials(z, dtype)
        sums, norms = np.zeros((2, len(z))), np.zeros(len(z))
        for some, part in scorer.encoded(groups, dtype):
            sums[:, some] = self._unit_sums(part, coefficients[some].astype(dtype), scale, exponential=exponential)
            norms[some] = part.norms(self.sizes, absolute=scorer.power == 1)
        sums *= 2 / scale
        eps, grown = float(np.finfo(dtype).eps), np.exp(np.maximum(z, 0.0))
        added = np.array([len(group) for group in groups])  # contributions that are added up in a group
        vanished = 2 * self.n_pairs * _TINY[dtype] / scale
        size = 2 * np.abs(z) * norms
        if exponential:
            spread = 1 + np.maximum(z, 0.0)  # of the error of an exponent, where it is positive
            radii = (self._rounding + eps * (_EXPONENTIAL + (3 + added) * spread)) * np.abs(sums[1]) + 2 * eps * size
            return sums[0], radii + vanished * grown
        size *= grown
        return z * sums[0], (self._rounding + (_TERM[dtype] / 2 + added) * eps + error) * size + np.abs(
            z
        ) * vanished * grown

    @property
    def n_pairs(self) -> int:
        """Number of pairs of samples."""
        return self.scorer.plan.n_pairs

    def _unit_sums(self, part: Encoded, coefficients: NDArray[Any], scale: float, *, exponential: bool) -> Array:
        """Sums of M times the changes by some units over all pairs a < b, times a scale."""
        pairs, gamma, kind = self.scorer.pairs, self.gamma, (self.scorer.power == 1, exponential)

        def tile_sums(index: int) -> Sums:
            tile, sums = pairs.plan.tiles[index], np.zeros((2, len(part.ends) - 1))
            place = pairs.totals(index), pairs.weights(index), tile.start, tile.first
            loops().unit_sums(place, (gamma, scale), part, coefficients, sums, kind=kind)
            return (sums,)

        return map_sum(self.scorer.executor, tile_sums, range(len(pairs.plan.tiles)))[0]

    def _exact(self, groups: Sequence[Indices]) -> Intervals:
        """Changes by groups of columns as differences of two scores."""
        pairs, gamma, values, radii = self.scorer.pairs, self.gamma, *np.zeros((2, len(groups)))
        self.scorer.work += work(self.n_pairs, len(groups))
        largest, sizes = self._extents(groups)
        dominant = self.leaving & pairs.too_wide(largest, gamma)
        if (~dominant).any():
            near, entering = ~dominant, not self.leaving
            errors = pairs.change_errors(largest[near], sizes[near], gamma, entering=entering) + self._rounding
            changed = [group for group, wide in zip(groups, dominant, strict=True) if not wide]
            values[near], radii[near] = self._scores(changed, errors, anew=False)
        if dominant.any():  # D less their contributions would be inexact
            rest = [np.setdiff1d(pairs.subset, group) for group, wide in zip(groups, dominant, strict=True) if wide]
            largest, sizes = self._extents(rest)
            errors = pairs.change_errors(largest, sizes, gamma, entering=True)
            values[dominant], radii[dominant] = self._scores(rest, errors, anew=True)
        own = (self._rounding + _SCORE * _EPS) * float(self.sizes.sum())
        return Intervals(values - self.score, radii + own)

    def _extents(self, groups: Sequence[Indices]) -> Array:
        """Largest contributions of groups of columns, and the numbers of their columns."""
        return np.array([(self.scorer.reach[group].sum(), len(group)) for group in groups]).T

    def _scores(self, groups: Sequence[Indices], errors: Array, *, anew: bool) -> tuple[Array, Array]:
        """Scores after each group has left or entered, or ``anew`` those of the groups themselves."""
        pairs, gamma, compiled = self.scorer.pairs, self.gamma, self.scorer.compiled
        power, functions = pairs.power, _functions(compiled=compiled)
        a = -gamma if anew or not self.leaving else gamma

        def tile_scores(index: int) -> Sums:
            tile, D, W = pairs.plan.tiles[index], pairs.totals(index), pairs.weights(index)
            D, T = np.zeros_like(D) if anew else D, pairs.scratch.take("panel", tile.shape)
            sums = np.zeros((2, len(groups)))
            for position, group in enumerate(groups):
                T[:] = 0.0
                add_differences(pairs.columns, group, power, tile, T, compiled=compiled)
                sums[:, position] = functions.changed(D, W, T, gamma, a)
            return (sums,)

        sums, sizes = 2 * map_sum(self.scorer.executor, tile_scores, range(len(pairs.plan.tiles)))[0]
        return sums, (_SCORE * _EPS + self._adding + errors) * sizes


def _functions(*, compiled: bool) -> Any:
    """The functions of one tile: compiled, or in numpy."""
    return (loops() if compiled else None) or reference


def _exponents(z: Array) -> tuple[Array, float]:
    """Coefficients of the loop for exponentials; their error is one of rounding."""
    return np.repeat(z[:, None], LONG, axis=1), 0.0


def _polynomials(z: Array, dtype: np.dtype[Any]) -> tuple[Array, Array]:
    """Coefficients of polynomials p(t) near expm1(z t) / (z t) for t in [0, 1], and bounds on their relative errors.

    They interpolate at n Chebyshev points; the n-th derivative is at most z^n exp(max(z, 0)) / (n + 1).
    """
    n = SHORT if dtype == np.float32 else LONG
    nodes = np.cos(np.pi * (np.arange(n) + 0.5) / n)
    t = np.multiply.outer(np.where(z == 0, 1e-300, z), (nodes + 1) / 2)
    series = np.expm1(t) / t @ np.polynomial.chebyshev.chebvander(nodes, n - 1) * (2 / n)
    series[:, 0] /= 2
    found = np.zeros((len(z), LONG))
    found[:, :n] = series @ _powers(n)
    error = np.abs(z) ** n * np.exp(np.maximum(z, 0.0)) / ((n + 1) * math.factorial(n) * 2.0 ** (2 * n - 1))
    return found, error


@cache
def _powers(n: int) -> Array:
    """The first n Chebyshev polynomials of 2t - 1 as rows of coefficients of powers of t."""
    found = np.zeros((n, n))
    for k in range(n):
        basis = np.polynomial.chebyshev.Chebyshev.basis(k, domain=[0, 1])
        found[k, : k + 1] = basis.convert(kind=np.polynomial.Polynomial).coef
    return found


def _in_range(columns: Columns) -> tuple[Columns, float]:
    """Data in a unit in which their powers neither overflow nor underflow, and that unit."""
    exponent = int(np.frexp(columns.ranges.max())[1])
    if abs(exponent) <= _USUAL_EXPONENT:
        return columns, 1.0
    return columns.in_unit(exponent), math.ldexp(1.0, exponent)
