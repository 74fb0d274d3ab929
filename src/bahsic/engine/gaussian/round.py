"""One round of a search with the Gaussian kernel: the score change by each candidate, with an error bound.

Notation of ARCHITECTURE.md: ``M = W * exp(-gamma D)``, ``a = gamma`` where features leave and
``-gamma`` where they enter; the change by feature j is ``sum M_ab (exp(a (x_aj - x_bj)^2) - 1)``.

Where W is of low rank (class labels), most of M is kappa W with the constant
``kappa = exp(-gamma mean D)``, and quadratic forms of W cost next to nothing. Products are then made
only with the residual ``R = W * (K - kappa)``; the errors of float32 and of the terms that are left out
shrink by the ratio of R to M.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bahsic.engine.executor import Sums, map_sum
from bahsic.engine.gaussian.bounds import Known, Matrices
from bahsic.engine.gaussian.by_pairs import ColumnChanges
from bahsic.engine.gaussian.entering import Entering, combinations
from bahsic.engine.gaussian.expansion import expansion
from bahsic.engine.gaussian.families import Discrete, Family, Incomplete, Polynomial, Smooth
from bahsic.engine.gaussian.outliers import Outliers
from bahsic.engine.gaussian.residual import Form, Rest
from bahsic.engine.gaussian.setting import GaussianSetting
from bahsic.engine.intervals import Intervals, Stage
from bahsic.engine.plan import PANEL_HEIGHT
from bahsic.engine.tiles import INNER, quadratic_forms
from bahsic.engine.units import Units

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

_EPS = float(np.finfo(np.float64).eps)
_TINY = float(np.finfo(np.float32).tiny)

# Elements of the arrays of one task: enough to make the cost of calls small, few enough for the cache.
_CHUNK = 1 << 19
_SMALL = 1 << 18  # least number of elements at a time: with fewer, calls would cost most of the time

# Largest exponent a (range)^2 for which columns of few values are expanded; see MAX_EXPONENT.
_MAX_LEVEL_EXPONENT = 30.0

# Largest tail of the terms in each stage, relative to all: in float32 (times the spread of the scores),
# in float64 (times the spread over the number of features), and in the last expansion.
_TAILS = (0.05, 0.01, 1e-12)

# The same in float32 where only the few greatest scores are wanted, which lie far from most others.
_FIRST_TAIL = 0.5

# Memory for the columns of one pass, beside the data: at least so much, and for many samples so much for each, since
# every pass reads R.
_BLOCK_BYTES, _BYTES_EACH = 1 << 24, 1 << 10

# With fewer features a call costs more than the products that it could save.
_FEW = 30
_VERY_FEW = 24
_CHEAP = 10**7  # features times pairs of samples

# Factors of W up to which a compiled loop makes the sums with them; BLAS is quicker with more.
_FEW_FACTORS = 16

_DTYPES = (np.float64, np.float32)

# Relative rounding errors of the products in these precisions.
_ROUNDING = np.array([(INNER + PANEL_HEIGHT + 8) * float(np.finfo(dtype).eps) / 2 for dtype in _DTYPES])

# Largest error of the polynomials at any pair of samples, relative to the tail.
_REMAINDER = 5e-4


class GaussianRound(ColumnChanges):
    """One round of a search: score changes by each candidate that may leave or enter.

    Parameters
    ----------
    setting : GaussianSetting
        Its pairs must have been moved to the current subset.
    gamma : float
        The kernel parameter of the round.
    own_gamma : float or None
        The gamma with which the current subset itself is scored as ``own_score``, or None.
    leaving : bool
        Whether features leave or enter.
    centre : float
        A typical value of D.
    spread : float
        Standard deviation of the score changes in the last round, relative to the bound on them: a guess
        that only decides how many terms are tried first.

    Attributes
    ----------
    own_score : float
        Score of the current subset with ``own_gamma``, without its diagonal part.
    score : float
        Score of the current subset with ``gamma``, without its diagonal part.
    total : float
        Bound on the sum of the magnitudes of its terms.
    spread : float
        Like the parameter ``spread``, for this round.
    few_wanted : bool
        Whether only very few of the candidates have to be told from the others; decides how many terms are tried first.
    """

    def __init__(
        self,
        setting: GaussianSetting,
        gamma: float,
        own_gamma: float | None,
        leaving: bool,
        centre: float,
        spread: float,
    ) -> None:
        self._pairs, self._executor, self._setting = setting.pairs, setting.executor, setting
        self._tiles = setting.pairs.plan.tiles
        self.gamma = gamma
        self.a = gamma if leaving else -gamma
        self._kappa = float(np.exp(-gamma * centre)) if setting.low_rank.Q.shape[1] else 0.0
        self._is_flat = self._kappa == 1 and not len(setting.pairs.subset)  # K is one everywhere, and R zero
        self.spread, self.few_wanted = spread, False
        self._rest = Rest(setting.pairs, gamma, self._kappa, setting.kept, setting.compiled)
        form = Form(self._rest, own_gamma)
        n_samples = setting.pairs.columns.n_samples
        found = map_sum(self._executor, form, range(len(self._tiles)), n_samples)
        sums, magnitudes, own = found[0] + found[1], found[2] + found[3], found[4]
        self._pairs.settle()
        sums += self._kappa * setting.low_rank.sums
        # The magnitudes were summed in float32, where small ones may have underflowed.
        magnitudes = 1.001 * magnitudes + len(magnitudes) * _TINY
        # Rounding errors of sums over the samples, and of D.
        floor = _EPS * (len(sums) + 64) + setting.pairs.rounding(gamma)
        self._matrices = Matrices(sums, magnitudes, self._kappa, setting.low_rank, floor)
        self.score, self.total = float(sums.sum()), self._matrices.total
        self.own_score = 2 * float(own)
        self._outliers = Outliers(setting.pairs, setting.ranges, self._executor, gamma, self.a, floor, self._allowed)

    def stages(self, units: Units, candidates: Indices) -> tuple[Stage, ...]:
        """Stages for the score changes by candidates, given their positions; bounds tighten from stage to stage."""
        if units.are_columns:
            return self._column_stages(candidates)
        single = units.single(candidates)
        groups = units.each(candidates)
        places = np.cumsum(single) - 1
        column_stages = self._column_stages(np.array([group[0] for group in groups], dtype=np.intp)[single])
        several = [group for group, one in zip(groups, single, strict=True) if not one]
        cheap = len(several) * self._matrices.n_samples**2 < _CHEAP
        group_stages = self._group_stages(several, cheap=cheap)

        def stage(number: int, positions: Indices) -> Intervals:
            values, radii = np.zeros(len(positions)), np.full(len(positions), np.inf)
            alone = single[positions]
            kinds = ((alone, column_stages, places), (~alone, group_stages, np.arange(len(groups)) - places - 1))
            for mine, stages, place in kinds:
                if mine.any() and number < len(stages):
                    found = stages[number](place[positions[mine]])
                    values[mine], radii[mine] = found.values, found.radii
            return Intervals(values, radii)

        return tuple(partial(stage, number) for number in range(max(len(column_stages), len(group_stages))))

    def _column_stages(self, features: Indices) -> tuple[Stage, ...]:
        few, cheap = len(features) < _FEW, len(features) * self._matrices.n_samples**2 < _CHEAP
        # Where nothing is kept, another pass makes D and R anew, which costs more than long expansions of few features.
        cheap |= not self._pairs.plan.keep and len(features) <= _VERY_FEW

        def completed(found: Intervals, positions: Indices) -> Intervals:
            """Features without an expansion evaluated at once: an unbounded interval would leave all undecided."""
            unknown = np.flatnonzero(np.isinf(found.radii))
            if len(unknown):
                more = self.direct(features[positions[unknown]])
                found.values[unknown], found.radii[unknown] = more.values, more.radii
            return found

        def first(positions: Indices) -> Intervals:
            # With few features products cost less than calls, so more terms are worthwhile.
            tail = (_FIRST_TAIL if self.few_wanted else _TAILS[0]) * self.spread * min(1.0, len(features) / 200)
            found = self.expanded(features[positions], tail, np.inf)
            bound = 2 * self.gamma * float(self._matrices.magnitudes.sum())
            known = found.values[np.isfinite(found.radii)]
            spread = float(np.std(known)) if len(known) > 3 else math.inf
            if 0 < spread <= bound:  # else, as where nothing is selected yet, it tells nothing of the next round
                self.spread = spread / bound
            return completed(found, positions)

        def second(positions: Indices) -> Intervals:
            tail = _TAILS[1] * self.spread / len(features)
            return self.expanded(features[positions], tail, 4 * tail)

        def third(positions: Indices) -> Intervals:
            found = self.expanded(features[positions], _TAILS[2], _TAILS[2])
            return completed(found, positions) if cheap else found

        def last(positions: Indices) -> Intervals:
            return self.direct(features[positions])

        if cheap:
            return (third, last)
        return (first, third, last) if few else (first, second, third, last)

    def exact(self, units: Units, best: Indices) -> Intervals:
        """Score changes by some units to full accuracy."""
        groups = units.each(best)
        if not units.single(best).all():
            return self.by_pairs(groups)
        features = np.concatenate(groups)
        found = self.expanded(features, _TAILS[2], _TAILS[2])
        return found if np.isfinite(found.radii).all() else self.direct(features)

    def expanded(self, features: Indices, tail: float, rounding: float) -> Intervals:
        """Score changes by the expansion.

        Leading terms are taken until the others sum to at most ``tail``, relative to all terms. A term whose
        product in float32 could be wrong by more than ``rounding``, relative to all terms, is made in
        float64. The radius is infinite for features whose expansion would be long or unsafe.
        """
        families = list(self._families(features, tail, rounding))
        n_parts = math.ceil(self._bytes(families) / self._allowed)
        if n_parts <= 1:
            return Intervals(*self._evaluated(families, len(features)))
        parts = [
            self._evaluated(list(self._families(part, tail, rounding)), len(part))
            for part in np.array_split(features, n_parts)
            if len(part)
        ]
        return Intervals(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))

    @property
    def _allowed(self) -> int:
        """Bytes for the columns of one pass: part of the budget, or half of a small X."""
        plan, data = self._pairs.plan, self._pairs.columns.data
        enough = max(_BLOCK_BYTES, _BYTES_EACH * self._matrices.n_samples)
        # Where nothing is kept, every pass makes D and R anew, so few large passes are best.
        share = min(plan.budget // 8, enough) if plan.keep else plan.budget // 2
        return max(1, share, min(data.nbytes // 2, _BLOCK_BYTES))

    def _bytes(self, families: Sequence[Family]) -> int:
        """Bytes of the columns of families, in float64 and float32."""
        each = sum(len(family.members) * 4 * (family.n_leading + family.n_double) for family in families)
        return each * self._matrices.n_samples

    def _evaluated(self, families: Sequence[Family], n: int) -> tuple[Array, Array]:
        """Score changes by n columns or groups, and their error bounds, from the families that hold them."""
        values, radii = np.zeros(n), np.full(n, np.inf)
        # Numbers of columns in float64 and float32.
        counts = np.array(
            [(f.n_double, f.n_leading - f.n_double) * np.array(len(f.members)) for f in families],
            dtype=np.intp,
        ).reshape(-1, 2)
        ends = np.cumsum(counts, axis=0)
        columns = self._columns(*counts.sum(axis=0).tolist())
        blocks = [
            [column[end[i] - count[i] : end[i]] for i, column in enumerate(columns)]
            for end, count in zip(ends, counts, strict=True)
        ]
        found = [self._evaluate(*pair) for pair in zip(families, blocks, strict=True)]
        forms = [self._forms(column) for column in columns]
        total = self._matrices.total
        # Bound on the entries of R that underflow in float32.
        vanished = self._matrices.n_samples**2 * _TINY if len(columns[1]) else 0.0
        for family, known, end, count in zip(families, found, ends, counts, strict=True):
            form = np.concatenate([forms[i][end[i] - count[i] : end[i]] for i in range(2)])
            form = form.reshape(family.n_leading, len(family.members))
            values[family.members] = known.value + (known.eigenvalues * form).sum(axis=0)
            unit = np.repeat(_ROUNDING, [family.n_double, family.n_leading - family.n_double])
            radii[family.members] = (
                known.dropped + known.error + unit @ known.sizes + family.remainder * total + family.size * vanished
            )
        return values, radii

    def _columns(self, n_double: int, n_single: int) -> list[NDArray[Any]]:
        """Buffers for the given numbers of columns in float64 and in float32, one after the other."""
        m = self._matrices.n_samples
        memory = self._pairs.scratch.take("columns", ((8 * n_double + 4 * n_single) * m,), np.uint8)
        parts = np.split(memory, [8 * n_double * m])
        return [part.view(dtype).reshape(-1, m) for part, dtype in zip(parts, _DTYPES, strict=True)]

    def _forms(self, columns: NDArray[Any]) -> Array:
        """Quadratic forms phi' R phi for every row phi of ``columns``."""
        if not len(columns):
            return np.zeros(0)

        rest, pairs = self._rest, self._pairs

        def tile_forms(index: int) -> Sums:
            R = rest.panel(index, columns.dtype.type)
            return (quadratic_forms(columns, R, pairs.plan.tiles[index], pairs.scratch),)

        return map_sum(self._executor, tile_forms, range(len(self._tiles)))[0]

    def _evaluate(self, family: Family, blocks: list[NDArray[Any]]) -> Known:
        """Fill the leading functions of a family into the rows of its blocks, those in float64 first."""
        n_samples, n = self._matrices.n_samples, len(family.members)
        functions = [array for block in blocks for array in block.reshape(-1, n, n_samples)]
        large = max(n_samples**2, self._pairs.columns.n_features * n_samples // 8) // 2
        chunk = min(_CHUNK, max(large, _SMALL), self._pairs.plan.budget // 64)
        height = max(1, chunk // (family.width * n_samples))
        parts = [slice(start, min(start + height, n)) for start in range(0, n, height)]

        def evaluate(part: slice) -> tuple[Array, ...]:
            some = [array[part] for array in functions]
            return family.evaluate(part, some, self._matrices, self._pairs.scratch)

        found = zip(*self._executor.map(evaluate, parts), strict=True)
        return family.known(tuple(np.concatenate(arrays, axis=-1) for arrays in found), self._matrices)

    def _families(self, features: Indices, tail: float, rounding: float) -> Iterator[Family]:
        """Divide the features into families; features without a safe expansion are in none."""
        data = self._pairs.columns
        continuous = data.different[features] == 0
        for levels in self._setting.levels:
            rows = np.searchsorted(levels.columns, features) % len(levels.columns)
            mine = levels.columns[rows] == features
            continuous &= ~mine
            mine &= self.a * levels.tables.max(axis=(1, 2))[rows] <= _MAX_LEVEL_EXPONENT
            if mine.any():
                yield Discrete(np.flatnonzero(mine), data, levels, rows[mine], self.a, np.isfinite(rounding))
        continuous &= self._setting.ranges[features] > 0  # else all zero or missing, in some of the samples
        limits = np.zeros(len(features))
        first_look = self._is_first_look(rounding)
        limits[continuous] = self._outliers.limits(features[continuous], first_look=first_look)
        for limit in np.unique(limits[limits > 0]):
            for incomplete in (False, True):
                positions = np.flatnonzero((limits == limit) & (data.missing[features] == incomplete))
                yield from self._smooth_families(features, positions, tail, rounding, limit)

    def _is_first_look(self, rounding: float) -> bool:
        """Whether few of the features that may enter are wanted; `Entering` is quicker then."""
        return self.a < 0 and self.few_wanted and bool(np.isinf(rounding))

    def _smooth_families(
        self, features: Indices, positions: Indices, tail: float, rounding: float, limit: float
    ) -> Iterator[Family]:
        """Divide columns of many values into families of similar range; entries beyond a limit are left out."""
        data, ranges = self._pairs.columns, np.minimum(self._setting.ranges[features], limit)
        positions = positions[np.argsort(-ranges[positions], kind="stable")]
        while len(positions):
            radius = float(ranges[positions[0]])
            near = ranges[positions] >= radius / 2
            if np.count_nonzero(~near) < max(8, len(features) // 8):  # too few for a family of their own
                near[:] = True
            terms = expansion(self.a, radius, _REMAINDER * tail / max(radius, 1.0) ** 2)
            needed = 0 if self._is_flat else int(np.argmax(terms.tails <= tail * terms.tails[0]))
            n_leading = max(1, needed)
            members = np.sort(positions[near])
            inexact = _ROUNDING[1] * np.abs(terms.eigenvalues) > rounding * terms.tails[0]
            n_double = min(n_leading, int(np.count_nonzero(inexact)))
            if n_double and len(features) < 2 * _FEW:  # reading R twice would cost more
                n_double = n_leading
            chosen = features[members]
            compiled = self._setting.compiled and self._setting.low_rank.Q.shape[1] <= _FEW_FACTORS
            far: dict[str, Any] = {}
            if limit < math.inf:
                far = {"limit": limit, "beyond": self._outliers.beyond(chosen, limit)}
            if data.missing[chosen[0]]:
                n_double = 0 if np.isinf(rounding) else n_double + 2
                yield Incomplete(members, data, chosen, terms, n_leading + 2, n_double, self.a, compiled, **far)
            elif not far and terms.degree <= self._setting.moments.degree:
                shared = self._setting.moments, self._setting.compiled
                yield Polynomial(members, data, chosen, terms, n_leading, n_double, *shared)
            elif not far and self._is_first_look(rounding):
                found = combinations(self.a, radius, tail)
                yield Entering(members, data, chosen, self.a, found, 0 if self._is_flat else len(found))
            else:
                yield Smooth(members, data, chosen, terms, n_leading, n_double, compiled, **far)
            positions = positions[~near]
