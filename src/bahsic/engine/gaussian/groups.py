"""Score changes by groups of columns in a round with the Gaussian kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from math import comb

import numpy as np
from numpy.typing import NDArray

from bahsic.engine.executor import Executor
from bahsic.engine.gaussian.bounds import Matrices
from bahsic.engine.gaussian.families import Family
from bahsic.engine.gaussian.series import Grouped, group_norms, series_tails
from bahsic.engine.gaussian.setting import GaussianSetting
from bahsic.engine.intervals import Intervals, Stage
from bahsic.engine.pairs import Pairs
from bahsic.engine.units import (
    MAX_TERMS,
    QUICK_ERROR,
    QUICK_LARGEST,
    SHORT,
    batches,
    exponential,
    quick_changes,
    scores_anew,
    scores_by_pairs,
)

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

_EPS = float(np.finfo(np.float64).eps)
_EPS32 = float(np.finfo(np.float32).eps)
_TINY = float(np.finfo(np.float32).tiny)

# Largest tail of the series, relative to the whole and to the spread of the scores.
_TAIL = 0.01

# Longest series for a group of columns: order, terms (more would cost about as much as `quick`), and exponent.
_MAX_ORDER = 8
_MAX_SERIES_TERMS = 64
_MAX_SERIES_EXPONENT = 2.0

# Entries of the functions that enter one product.
_SERIES_ENTRIES = 1 << 22


class GroupChanges:
    """Score changes by groups: products if a group's exponential series is short, else a pass over all pairs."""

    _setting: GaussianSetting
    _pairs: Pairs
    _executor: Executor
    _matrices: Matrices
    gamma: float
    a: float
    score: float
    spread: float

    def _evaluated(self, families: Sequence[Family], n: int) -> tuple[Array, Array]:
        """Score changes by n columns or groups, and their error bounds, from the families that hold them."""
        raise NotImplementedError

    def _group_stages(self, groups: list[Indices], *, cheap: bool) -> tuple[Stage, ...]:
        """Stages for the score changes by groups, given their positions; bounds tighten from stage to stage."""

        def first(positions: Indices) -> Intervals:
            return self._expanded_or_quick([groups[position] for position in positions])

        def last(positions: Indices) -> Intervals:
            return self.by_pairs([groups[position] for position in positions])

        return (last,) if cheap else (first, last)

    def _expanded_or_quick(self, groups: list[Indices]) -> Intervals:
        """Score changes by groups: products if the series is short, else float32 for each pair of samples."""
        values, radii = np.zeros(len(groups)), np.full(len(groups), np.inf)
        for family in self._group_families(groups, _TAIL * self.spread):
            found = self._evaluated([family], len(groups))
            values[family.members], radii[family.members] = (part[family.members] for part in found)
        known = np.isfinite(radii)
        bound = 2 * self.gamma * float(self._matrices.magnitudes.sum())
        if np.count_nonzero(known) > 3 and bound > 0:
            self.spread = float(np.std(values[known])) / bound
        others = np.flatnonzero(~known)
        for part in batches([groups[position] for position in others], self._matrices.n_samples) if len(others) else []:
            some = others[part]
            quick = self.quick([groups[position] for position in some])
            values[some], radii[some] = quick.values, quick.radii
        return Intervals(values, radii)

    def _group_families(self, groups: list[Indices], tail: float) -> Iterator[Family]:
        """Families of groups of equal size, of complete columns of numbers, whose series is short."""
        data = self._pairs.columns
        sizes = np.array([0 if data.special[group].any() else len(group) for group in groups])
        for size in np.unique(sizes[sizes > 0]):
            members = np.flatnonzero(sizes == size)
            columns = np.array([groups[position] for position in members])
            order = self._series_order(columns, tail)
            if order is None:
                continue
            height = max(1, _SERIES_ENTRIES // (comb(int(size) + order, order) * data.n_samples))
            for start in range(0, len(members), height):
                part = slice(start, start + height)
                yield Grouped(members[part], data, columns[part], order, self.a, double=False)

    def _series_order(self, columns: NDArray[np.intp], tail: float) -> int | None:
        """Order after which the tail of the series is small for most groups, or None if the series is too long."""
        some = columns[:: max(1, len(columns) // 8)]
        norms = np.array([np.square(self._pairs.columns.rows(group)).sum(axis=0) for group in some])
        bound = 2 * self.gamma * float(self._matrices.magnitudes.sum())
        if not abs(self.a) * float(group_norms(self._setting.ranges, columns).max()) <= _MAX_SERIES_EXPONENT:
            return None
        for order in range(1, _MAX_ORDER):
            if comb(columns.shape[1] + order, order) > _MAX_SERIES_TERMS:
                return None
            if np.median(series_tails(norms, self.a, order, self._matrices)) <= tail * bound:
                return order
        return None

    def by_pairs(self, groups: Sequence[Indices]) -> Intervals:
        """Score changes by groups of columns, by an exponential for each pair of samples."""
        return self._each(self._by_pairs, groups)

    def _each(self, make: Callable[[Sequence[Indices]], Intervals], groups: Sequence[Indices]) -> Intervals:
        """Score changes by groups, of those that dominate D by a D that is made anew without them."""
        values, radii = np.zeros((2, len(groups)))
        dominant = np.array([self.a > 0 and self._pairs.too_wide(group, self.gamma) for group in groups], dtype=bool)
        for mine, method in ((~dominant, make), (dominant, self._anew)):
            if mine.any():
                found = method([group for group, one in zip(groups, mine, strict=True) if one])
                values[mine], radii[mine] = found.values, found.radii
        return Intervals(values, radii)

    def _anew(self, groups: Sequence[Indices]) -> Intervals:
        """Score changes by groups that leave, by D of the other columns made anew."""
        pairs, matrices = self._pairs, self._matrices
        subsets = [np.setdiff1d(pairs.subset, group) for group in groups]
        scores, sizes = (
            2 * sums for sums in scores_anew(pairs, self._executor, subsets, self.gamma, exponential(self.gamma))
        )
        relative = _EPS * (matrices.n_samples + 64) + np.array([pairs.rounding(self.gamma, rest) for rest in subsets])
        return Intervals(scores - self.score, relative * sizes + matrices.floor * matrices.total)

    def _by_pairs(self, groups: Sequence[Indices]) -> Intervals:
        # The empty group changes nothing: its score is the one that the others are compared with.
        everyone = [*groups, np.empty(0, dtype=np.intp)]
        sign = -np.sign(self.a)
        found = scores_by_pairs(self._pairs, self._executor, everyone, sign, exponential(self.gamma), self.gamma)
        scores, sizes = (2 * sums for sums in found)
        return Intervals(scores[:-1] - scores[-1], self._relative(groups) * (sizes[:-1] + sizes[-1]))

    def _relative(self, groups: Sequence[Indices]) -> Array:
        """Relative rounding errors of the kernel values after each group has left or entered."""
        changed = [self._pairs.change_error(group, self.gamma, entering=self.a < 0) for group in groups]
        return self._matrices.floor + np.array(changed)

    def quick(self, groups: list[Indices]) -> Intervals:
        """Score changes by groups of columns in float32; the radius is infinite if exponents are too large for that."""
        values, radii = np.zeros(len(groups)), np.full(len(groups), np.inf)
        largest = np.array([abs(self.a) * float(self._setting.reach[group].sum()) for group in groups])
        held = np.flatnonzero(largest <= QUICK_LARGEST)
        if not len(held):
            return Intervals(values, radii)
        chosen, bound = [groups[position] for position in held], float(largest[held].max())
        values[held] = 2 * quick_changes(self._pairs, self._executor, chosen, self.a, self.gamma, bound)
        # Sums of abs(M a D_G), from D_G <= 2 (norm + norm').
        sizes = np.array([4 * abs(self.a) * float(self._weighted_norms[group].sum()) for group in chosen])
        lengths = np.array([len(group) for group in chosen])
        # Errors of the polynomial, of M and its sums, of D_G, and of entries too small for float32.
        relative = QUICK_ERROR + _EPS32 / 2 * (SHORT + 2 * MAX_TERMS) + _EPS32 * (lengths + 8)
        tiny = self._matrices.n_samples**2 * _TINY
        radii[held] = np.exp(bound) * (relative * sizes + tiny)
        return Intervals(values, radii)

    @cached_property
    def _weighted_norms(self) -> Array:
        """For each column x, a bound on the sum over all pairs (a, b) of abs(M_ab) x_a^2."""
        data, matrices = self._pairs.columns, self._matrices
        magnitudes = matrices.magnitudes + matrices.kappa * matrices.low_rank.norm
        bounds = np.where(data.special, self._setting.reach * magnitudes.sum(), 0.0)
        for block in data.blocks():
            plain = ~data.special[block]
            bounds[block][plain] = (np.square(data.rows(block)) @ magnitudes)[plain]
        return bounds
