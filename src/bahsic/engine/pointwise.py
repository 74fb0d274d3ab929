"""Scores for the Gaussian and the Laplacian kernel: one loop over the pairs of samples for all candidates of a round.

Candidates are scored by the compiled loop in float32; those whose order is undecided in float64, and by exponentials
of their own for each pair. Each way has a bound on its error, see ARCHITECTURE.md. Without compiled loops there is the
last one only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bahsic.arrays import EPS, Array, Indices, Mask
from bahsic.criteria.weights import Weights
from bahsic.data.columns import largest_contributions
from bahsic.data.sparse_rows import RARE, SparseRows
from bahsic.engine.compiled import functions, is_worthwhile, loops, work
from bahsic.engine.encoding import Encoded, encode
from bahsic.engine.executor import Placed, Sums, map_sum
from bahsic.engine.gram import KernelTiles, LinkedTiles, gamma_of, is_flat, link
from bahsic.engine.pairs import Pairs
from bahsic.engine.scorer import Intervals, Scorer, Stage
from bahsic.engine.tiles import add_differences
from bahsic.kernels.bandwidth import ScaledKernel
from bahsic.kernels.base import Kernel

_LARGEST = {True: 60.0, False: 80.0}  # gamma d_j whose exponential float32 holds, of a candidate that leaves or enters

# Largest gamma d_j for which a polynomial stands for the exponential. In float32 a longer one reaches farther.
_FLOAT32, _FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)
_REACH = {_FLOAT32: {"short": 0.35, "long": 1.5}, _FLOAT64: {"long": 0.35}}

# Rounding errors of a term and of its sum over the rows of a block, in units of the machine precision; see
# ARCHITECTURE.md. The last ones are of terms with an exponential, and of a score.
_TERM = {"short": 24.0, "long": 40.0}
_TINY = {_FLOAT32: 2.0**-126, _FLOAT64: 2.0**-1022}
_EXPONENTIAL, _SCORE = 32.0, 64.0

_N_COEFFICIENTS = {"short": 4, "long": 6}  # coefficients of the polynomials, as the loops expect them
_ENTRIES = 1 << 21  # entries of columns that are encoded at a time, where not all are kept
_USUAL_EXPONENT = 20  # largest binary exponent of data that are used unscaled; standardised data have small ones


class PointwiseScorer(Scorer):
    """Scores for k = exp(-gamma D) with D a sum of squared or absolute differences."""

    def _set_up(self) -> None:
        columns, plan = self.columns, self.plan
        self.power = self._kernel.power if isinstance(self._kernel, ScaledKernel) else 2
        self.compiled = is_worthwhile(0.0, plan.n_pairs, columns.n_features)
        self.work = 0.0
        self._unit, self._scaled = 1.0, columns
        exponent = int(np.frexp(columns.ranges.max())[1]) if self.power == 2 else 0
        if abs(exponent) > _USUAL_EXPONENT:  # squares would overflow or underflow
            self._scaled, self._unit = columns.in_unit(exponent), math.ldexp(1.0, exponent)
        self._last: tuple[Any, _SubsetSums] | None = None
        self.pairs = Pairs(self._scaled, self.power, self.W, self.executor, compiled=self.compiled)

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
    def is_rare(self) -> Mask:
        """Mask of the sparse columns of numbers with so few stored entries that these alone are worth a loop."""
        if not isinstance(self._scaled.data, SparseRows):
            return np.zeros(self.columns.n_features, dtype=bool)
        n_stored = np.diff(self._scaled.data.stored.indptr)
        return np.asarray(~self.columns.special & (n_stored <= RARE * self.columns.n_samples))

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
        self.pairs.weigh(self.W)

    def move(self, columns: Indices, kernel: Kernel) -> None:
        """Make some columns the current subset."""
        self._move(columns, self._gamma(kernel))

    def _move(self, columns: Indices, gamma: float) -> None:
        """Make some columns the current subset, with a D that is exact for ``gamma``, also if gamma D is tiny."""
        typical = float(self._typical[columns].sum())
        self.pairs.move(columns, max(gamma, 1 / typical if typical else 0.0))

    def _gamma(self, kernel: Kernel) -> float:
        """The gamma of a kernel, for the scaled data."""
        return gamma_of(kernel) * self._unit**2

    def kernel_tiles(self, columns: Indices, kernel: Any) -> KernelTiles:
        """Kernel values of all samples on some columns, less a constant."""
        if not np.array_equal(self.pairs.subset, columns):
            return super().kernel_tiles(columns, kernel)
        linked = link(self._scaled, columns, kernel.with_gamma(self._gamma(kernel)))
        return LinkedTiles(self.pairs, linked, self._centre(columns))

    def changed_tiles(self, columns: Indices, group: Indices, kernel: Any, *, leaving: bool) -> KernelTiles:
        """Kernel values on a subset after some columns have left it or entered it, less a constant."""
        pairs, gamma = self.pairs, self._gamma(kernel)
        scaled = kernel.with_gamma(gamma)
        after = np.setdiff1d(columns, group) if leaving else np.union1d(columns, group)
        wide = leaving and bool(pairs.too_wide(self.reach[group].sum(), gamma))
        known = pairs.is_kept and np.array_equal(pairs.subset, columns)
        if not known or wide or is_flat(self._scaled, after, scaled):
            return super().kernel_tiles(after, kernel)
        add = np.subtract if leaving else np.add
        centre = add(self._centre(columns), self._centre(group))
        return LinkedTiles(pairs, scaled.link, centre, pairs.contributions(group, gamma), add)

    def _centre(self, columns: Indices) -> float:
        """A typical value of D, whose kernel value is taken off."""
        return float(self._typical[columns].sum()) if self.power == 2 else 0.0

    def total(self, columns: Indices, kernel: Kernel) -> float:
        """Return <K, W> of a nonempty subset with a kernel."""
        sums = self._subset_sums(columns, self._gamma(kernel), None)
        return sums.score + float(self.W.diagonal.sum())  # as k(x, x) = 1

    def _round(
        self, columns: Indices, candidates: Indices, kernel: Kernel, own: Kernel | None, *, leaving: bool
    ) -> tuple[Sequence[Stage], float]:
        sums = self._subset_sums(columns, self._gamma(kernel), None if own is None else self._gamma(own))
        changes = _Changes(self, sums, self.units.each(candidates), 1.0 if leaving else -1.0)
        return changes.stages(), 0.0 if own is None else sums.own_score + float(self.W.diagonal.sum())

    def _subset_sums(self, columns: Indices, gamma: float, own_gamma: float | None) -> _SubsetSums:
        """Sum M over the pairs for a subset, unless the last round has done so.

        Its sums hold as long as `Pairs.version` is the same: it changes with D, with the bounds on the error of D and
        with W. A subset that is made the current one by others, as by a ridge regression, changes it too.
        """
        known = own_gamma is None and np.array_equal(self.pairs.subset, columns)
        if known and self._last is not None and self._last[0] == (gamma, self.pairs.version):
            return self._last[1]
        if not self.compiled and is_worthwhile(self.work):
            self.compiled = self.pairs.compiled = True
        self._move(columns, max(gamma, own_gamma or 0.0))
        pairs, form = self.pairs, functions(compiled=self.compiled).form
        gammas = [gamma] if own_gamma is None else [own_gamma, gamma]  # the last products are kept

        def tile_sums(index: int) -> Sums:
            tile, found = pairs.plan.tiles[index], []
            for one in gammas:
                across, down = np.zeros((2, tile.shape[0])), np.zeros((2, tile.shape[1]))
                form(pairs.products(index, one), across, down)
                found += [Placed(tile.rows.start, row) for row in across]
                found += [Placed(tile.cols.start, row) for row in down]
            return tuple(found)

        *own, across, sizes, down, more = map_sum(
            self.executor, tile_sums, range(len(self.plan.tiles)), self.columns.n_samples
        )
        own_score = float(own[0].sum()) if own else 0.0
        found = _SubsetSums(gamma, 2 * float(across.sum()), 2 * own_score, across + down, sizes + more)
        self._last = (gamma, self.pairs.version), found
        return found


@dataclass(frozen=True, eq=False)
class _SubsetSums:
    """Sums of M and of W exp(-own_gamma D) over the pairs, and of M and abs(M) over those of each sample."""

    gamma: float
    score: float
    own_score: float
    totals: Array
    sizes: Array


@dataclass(frozen=True, eq=False)
class _Changes:
    """The changes of a score by groups of columns; the sign is 1 if they leave, -1 if they enter."""

    scorer: PointwiseScorer
    subset: _SubsetSums
    groups: Sequence[Indices]
    sign: float

    @cached_property
    def _rounding(self) -> float:
        """Relative error of M, and of sums of it."""
        return self.scorer.pairs.rounding(self.subset.gamma) + self._adding

    @property
    def _adding(self) -> float:
        """Relative error of the sums over a tile, whose rows are blocks of columns, and over the tiles."""
        return EPS * (80 + self.scorer.columns.n_samples / 32)

    def stages(self) -> list[Stage]:
        """Return ways to the changes, each more exact than the one before."""
        if not self.scorer.compiled:
            return [self._exact]
        float32, float64 = (partial(self._looped, dtype) for dtype in (_FLOAT32, _FLOAT64))
        if not self.scorer.is_rare.any() or self.scorer.units.groups is not None:
            return [float32, float64, self._exact]
        return [self._stage(float32, self._stored), self._stage(float64), self._stage(self._exact)]

    def _stage(self, others: Stage, rare: Stage | None = None) -> Stage:
        """Return a stage in which sparse columns have a way of their own, or are known already."""
        features = np.concatenate(self.groups)
        in_range = self.sign < 0 or self.subset.gamma * self.scorer.reach[features] <= _LARGEST[True]
        are_rare = self.scorer.is_rare[features] & in_range

        def stage(positions: Indices) -> Intervals:
            values, radii = np.zeros(len(positions)), np.full(len(positions), np.inf)
            for mine, way in ((are_rare[positions], rare), (~are_rare[positions], others)):
                if way is not None and mine.any():
                    found = way(positions[mine])
                    values[mine], radii[mine] = found.values, found.radii
            return Intervals(values, radii)

        return stage

    def _stored(self, positions: Indices) -> Intervals:
        """Return changes by sparse columns, in time proportional to the squared numbers of their stored entries.

        Two entries that are not stored are equal. With e_a the change of M_ab where only a is stored, those of all
        pairs add up to the sum of e_a times the row sum of M, plus that of M_ab (E_ab - e_a - e_b) over stored pairs.
        """
        features = np.concatenate([self.groups[position] for position in positions])
        pairs, absolute = self.scorer.pairs, self.scorer.power == 1
        data: Any = pairs.columns.data
        stored, factor = data.stored, -self.subset.gamma if self.sign < 0 else self.subset.gamma
        t = stored.data - np.repeat(data.otherwise, np.diff(stored.indptr))
        changes = np.expm1(factor * (np.abs(t) if absolute else np.square(t)))

        def tile_sums(index: int) -> Sums:
            tile, sums = pairs.plan.tiles[index], np.zeros((2, len(features)))
            place = pairs.products(index, abs(factor)), tile.rows.start, tile.cols.start
            loops().stored_sums(place, stored, changes, features, factor, sums, absolute=absolute)
            return (sums,)

        values, sizes = map_sum(self.scorer.executor, tile_sums, range(len(pairs.plan.tiles)))[0]
        singly = sparse.csr_array((changes, stored.indices, stored.indptr), stored.shape)[features]
        added = abs(singly) @ self.subset.sizes  # what is added up for stored pairs, and subtracted again
        sizes += added
        grown = np.maximum(factor * self.scorer.reach[features], 0.0)  # of the error of an exponent
        n_terms = 2 * np.diff(singly.indptr) + self.scorer.columns.n_samples
        radii = self._rounding * sizes + EPS * (_EXPONENTIAL + 8 * (1 + grown) + n_terms) * (sizes + 2 * added)
        vanished = 4 * self.scorer.plan.n_pairs * _TINY[_FLOAT64] * np.exp(grown)
        return Intervals(2 * (values + singly @ self.subset.totals), 2 * radii + vanished)

    def _looped(self, dtype: np.dtype[Any], positions: Indices) -> Intervals:
        """Return changes by the compiled loop; nothing is known of those with too large exponents."""
        groups = [self.groups[position] for position in positions]
        features, starts = np.concatenate(groups), np.cumsum([0, *map(len, groups[:-1])])
        z = self.subset.gamma * np.add.reduceat(self.scorer.reach[features], starts)
        mixed = np.logical_or.reduceat(self.scorer.columns.special[features], starts)
        values, radii, left = np.zeros(len(groups)), np.full(len(groups), np.inf), np.ones(len(groups), dtype=bool)
        kinds = product((_REACH[dtype] | {"exponential": _LARGEST[self.sign > 0]}).items(), (False, True))
        for (change, reach), special in kinds:  # complete columns of numbers by themselves, which is quicker
            mine = left & (z <= reach) & (mixed == special)
            if mine.any():
                some = [groups[int(position)] for position in np.flatnonzero(mine)]
                values[mine], radii[mine] = self._by_loop(some, z[mine], dtype, change)
                left &= ~mine
        return Intervals(values, radii)

    def _by_loop(self, groups: Sequence[Indices], z: Array, dtype: np.dtype[Any], change: str) -> tuple[Array, Array]:
        scorer, scale = self.scorer, 1.0
        if dtype == _FLOAT32:  # weights of about one, whose products neither overflow nor underflow
            scale = math.ldexp(1.0, min(1000, -int(math.frexp(scorer.W.largest)[1])))
        z = self.sign * z
        if change == "exponential":  # the first coefficient is in the exponent, whose error is one of rounding
            coefficients, error = np.repeat(z[:, None], max(_N_COEFFICIENTS.values()), axis=1), np.zeros(len(z))
        else:
            coefficients, error = _polynomials(z, _N_COEFFICIENTS[change])
        sums, norms = np.zeros((2, len(z))), np.zeros(len(z))
        for some, part in scorer.encoded(groups, dtype):
            sums[:, some] = self._unit_sums(part, coefficients[some].astype(dtype), scale, change)
            norms[some] = part.norms(self.subset.sizes, absolute=scorer.power == 1)
        sums *= 2 / scale
        eps, grown = float(np.finfo(dtype).eps), np.exp(np.maximum(z, 0.0))
        added = np.array([len(group) for group in groups])  # contributions that are added up in a group
        vanished = 2 * scorer.plan.n_pairs * _TINY[dtype] / scale * grown
        size = 2 * np.abs(z) * norms
        if change == "exponential":
            spread = 1 + np.maximum(z, 0.0)  # of the error of an exponent, where it is positive
            radii = (self._rounding + eps * (_EXPONENTIAL + (3 + added) * spread)) * np.abs(sums[1]) + 2 * eps * size
            return sums[0], radii + vanished
        steepest = np.expm1(np.abs(z)) / np.where(z == 0, 1.0, np.abs(z))
        radii = (self._rounding + (_TERM[change] + added) * eps) * steepest + error
        return z * sums[0], radii * size + np.abs(z) * vanished

    def _unit_sums(self, part: Encoded, coefficients: NDArray[Any], scale: float, change: str) -> Array:
        """Sums of M times the changes by some units over all pairs a < b, times a scale."""
        pairs, gamma, absolute, tile_functions = self.scorer.pairs, self.subset.gamma, self.scorer.power == 1, loops()

        def tile_sums(index: int) -> Sums:
            tile, sums = pairs.plan.tiles[index], np.zeros((2, len(part.ends) - 1))
            place = pairs.products(index, gamma), tile.rows.start, tile.cols.start, scale
            tile_functions.unit_sums(place, part, coefficients, sums, absolute=absolute, change=change)
            return (sums,)

        return map_sum(self.scorer.executor, tile_sums, range(len(pairs.plan.tiles)))[0]

    def _exact(self, positions: Indices) -> Intervals:
        """Return changes by groups of columns, each by its own exponentials."""
        pairs, gamma, sign = self.scorer.pairs, self.subset.gamma, self.sign
        groups = [self.groups[position] for position in positions]
        self.scorer.work += work(self.scorer.plan.n_pairs, len(groups))
        reach, sizes = np.array([(self.scorer.reach[group].sum(), len(group)) for group in groups]).T
        tile_functions = functions(compiled=self.scorer.compiled)

        def change(index: int, T: Array) -> Any:
            return tile_functions.changed(pairs.totals(index), pairs.W(index), T, gamma, sign)

        values, magnitudes = self._tile_sums(groups, change)
        errors = pairs.change_errors(reach, sizes, gamma, entering=sign < 0) + self._rounding
        radii = (_SCORE * EPS + self._adding + errors) * magnitudes
        if sign > 0:  # D less what dominates it is inexact
            for k in map(int, np.flatnonzero(pairs.too_wide(reach, gamma))):
                values[k], radii[k] = self._without(np.setdiff1d(pairs.subset, groups[k]))
        return Intervals(values, radii)

    def _without(self, rest: Indices) -> tuple[float, float]:
        """The change from the subset to some of its columns as the difference of two scores, and its error."""
        pairs, gamma, tile_functions = self.scorer.pairs, self.subset.gamma, functions(compiled=self.scorer.compiled)

        def score(index: int, T: Array) -> Any:
            across = np.zeros((2, len(T)))
            tile_functions.weigh(T, pairs.W(index), gamma, T)
            tile_functions.form(T, across, np.zeros((2, T.shape[1])))
            return across.sum(axis=1)

        sums, magnitudes = self._tile_sums([rest], score)
        reach, size = float(self.scorer.reach[rest].sum()), np.array(len(rest))
        error = pairs.change_errors(np.array(reach), size, gamma, entering=True)
        own = (self._rounding + _SCORE * EPS) * float(self.subset.sizes.sum())
        return sums[0] - self.subset.score, (_SCORE * EPS + self._adding + float(error)) * magnitudes[0] + own

    def _tile_sums(self, groups: Sequence[Indices], term: Callable[[int, Array], Any]) -> Array:
        """Twice the sums over the tiles of two values for each group, given its contributions on a tile."""
        pairs, compiled = self.scorer.pairs, self.scorer.compiled

        def tile_sums(index: int) -> Sums:
            tile, sums = pairs.plan.tiles[index], np.zeros((2, len(groups)))
            T = pairs.scratch.take("panel", tile.shape)
            for position, group in enumerate(groups):
                T[:] = 0.0
                add_differences(pairs.columns, group, pairs.power, tile, T, compiled=compiled)
                sums[:, position] = term(index, T)
            return (sums,)

        return 2 * map_sum(self.scorer.executor, tile_sums, range(len(pairs.plan.tiles)))[0]


def _polynomials(z: Array, n: int) -> tuple[Array, Array]:
    """Coefficients of polynomials p(t) near expm1(z t) / (z t) for t in [0, 1], and bounds on their relative errors.

    They interpolate at n Chebyshev points; the n-th derivative is at most z^n exp(max(z, 0)) / (n + 1).
    """
    nodes = np.cos(np.pi * (np.arange(n) + 0.5) / n)
    t = np.multiply.outer(np.where(z == 0, 1e-300, z), (nodes + 1) / 2)
    series = np.expm1(t) / t @ np.polynomial.chebyshev.chebvander(nodes, n - 1) * (2 / n)
    series[:, 0] /= 2
    found = np.zeros((len(z), max(_N_COEFFICIENTS.values())))
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
