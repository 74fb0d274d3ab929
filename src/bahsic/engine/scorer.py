"""Scores of a subset, and of the subsets after one feature leaves or enters, with error bounds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from bahsic.arrays import EPS, Array, Indices
from bahsic.criteria.blocks import RULE_SAMPLES, BlockWeights, some_samples
from bahsic.criteria.prediction import RidgeFit
from bahsic.criteria.weights import Matrix, Weights
from bahsic.data.columns import Columns, copies
from bahsic.data.sources import StoredRows
from bahsic.engine.executor import Executor, Sums, map_sum
from bahsic.engine.gram import GramTiles, KernelBlocks, KernelTiles, block_variance, distances, tiled_variance
from bahsic.engine.pairs import WeightTiles
from bahsic.engine.plan import Plan
from bahsic.engine.tiles import Differences
from bahsic.engine.units import Units
from bahsic.kernels.bandwidth import ScaledKernel
from bahsic.kernels.base import Kernel
from bahsic.parameters import is_number

NO_UNITS: Indices = np.empty(0, dtype=np.intp)


@dataclass(frozen=True)
class Intervals:
    """Values known to within radii, which are infinite where nothing is known."""

    values: Array
    radii: Array


Stage = Callable[[Indices], Intervals]


def leading(stages: Sequence[Stage], representatives: Indices, count: int) -> tuple[Indices, Intervals]:
    """Positions of the ``count`` greatest scores, greatest first, ties to the lowest position.

    Each stage takes the positions that the one before left undecided and returns their scores with tighter bounds.
    Intervals that still overlap after the last stage are ties. Of the positions with the same column only the first
    one, their representative, is evaluated. All scores are returned too, as far as they were refined.
    """
    values = np.zeros(len(representatives))
    radii = np.full(len(representatives), np.inf)
    undecided = np.flatnonzero(representatives == np.arange(len(representatives)))
    for stage in stages:
        found = stage(undecided)
        if np.isnan(found.values).any():
            raise ValueError(
                "scores of features exceed the range of float64; accepted: data of moderate size, so rescale X"
            )
        better = found.radii < radii[undecided]
        values[undecided[better]] = found.values[better]
        radii[undecided[better]] = found.radii[better]
        scores = Intervals(values[representatives], radii[representatives])
        order, groups = overlap_groups(scores, count)
        members = np.bincount(groups)
        labels, starts = representatives[order], np.flatnonzero(np.diff(groups, prepend=-1))
        distinct = np.minimum.reduceat(labels, starts) < np.maximum.reduceat(labels, starts)  # whether labels differ
        undecided = np.unique(labels[(members > 1)[groups] & distinct[groups]])
        if not len(undecided):
            break
    order = order[np.lexsort((order, groups))]
    return order[:count], scores


def overlap_groups(scores: Intervals, count: int) -> tuple[Indices, Indices]:
    """Positions that may be among the ``count`` greatest, sorted, and their groups, whose intervals don't overlap."""
    lower, upper = scores.values - scores.radii, scores.values + scores.radii
    threshold = np.partition(lower, len(lower) - count)[len(lower) - count]
    candidates = np.flatnonzero(upper >= threshold)
    order = candidates[np.argsort(-scores.values[candidates], kind="stable")]
    least_above = np.minimum.accumulate(lower[order])[:-1]
    greatest_below = np.maximum.accumulate(upper[order][::-1])[::-1][1:]
    groups = np.concatenate([[0], np.cumsum(least_above > greatest_below)])
    return order, groups


@dataclass(frozen=True, eq=False)
class Round:
    """One round of a search; checkpoints keep neither the kernel nor the fit."""

    subset: Indices  # the units before the round (backward) or after it (forward), in increasing order
    changed: Indices  # the units that leave or enter, by the score after the change, greatest first
    score: float  # of the subset, with the kernel for its own size
    kernel: Kernel | None = None  # that kernel; None for the empty subset
    fit: RidgeFit | None = None  # the ridge regression on the subset, if there is one
    following: Indices = field(default_factory=lambda: NO_UNITS)  # that enter next, if a forward search knows them
    parameter: float | None = None  # gamma of the kernel
    ridge: float | None = None
    standard_error: float | None = None  # of the score

    def __post_init__(self) -> None:
        if self.kernel is not None:
            vars(self)["parameter"] = getattr(self.kernel, "gamma", None)
        if self.fit is not None:
            vars(self)["ridge"] = self.fit.ridge

    def as_plain(self) -> dict[str, Any]:
        """Return the decisions of the round as plain data."""
        units = {name: getattr(self, name).tolist() for name in ("subset", "changed", "following")}
        return units | {name: getattr(self, name) for name in ("score", "parameter", "ridge", "standard_error")}

    @staticmethod
    def from_plain(found: dict[str, Any]) -> Round:
        """Return the round that plain data stand for."""
        units = {name: np.array(found[name], dtype=np.intp) for name in ("subset", "changed", "following")}
        return Round(**{**found, **units})


class Ranking(ABC):
    """Base class of scorers: the score of a subset, and the candidates that leave or enter it next."""

    @abstractmethod
    def score(self, subset: Indices) -> Round:
        """Score a subset without a change."""

    @abstractmethod
    def _ranked(self, subset: Indices, candidates: Indices, count: int, *, leaving: bool) -> Round:
        """Return the round in which the best ``count`` candidates, at least one, leave or enter."""

    def leaving(self, subset: Indices, candidates: Indices, count: int) -> Round:
        """Find the ``count`` candidates of the subset whose removal leaves the score highest."""
        if len(subset) == 1 or count == 0:
            return replace(self.score(subset), changed=candidates[:count])
        return self._ranked(subset, candidates, count, leaving=True)

    def entering(self, subset: Indices, candidates: Indices, count: int) -> Round:
        """Find the ``count`` candidates whose addition to the subset makes the score highest."""
        return self._ranked(subset, candidates, count, leaving=False) if count else self.score(subset)


class Scorer(Ranking):
    """Scores <link(D_S), W> of subsets S of units, for one W and one kernel, whose rules each round evaluates anew."""

    def __init__(
        self,
        columns: Columns,
        kernel: Kernel,
        weights: Weights,
        executor: Executor,
        plan: Plan,
        units: Units | None = None,
    ) -> None:
        self.columns, self.executor, self.plan = columns, executor, plan
        self.units = Units.plain(columns.n_features) if units is None else units
        parameters = kernel.get_params(deep=True)
        gammas = ((name, value) for name, value in parameters.items() if name.rpartition("__")[2] == "gamma")
        self._rules = {name: value for name, value in gammas if not is_number(value)}
        self._kernel = kernel if self._rules else kernel.resolved(np.zeros((2, 1)))
        self.weights = weights  # for rules, which keep it when another W is set
        self.W = WeightTiles(weights, plan, keep=plan.keep)
        piecewise = isinstance(weights, BlockWeights) or isinstance(columns.data, StoredRows)
        few = piecewise and columns.n_samples > RULE_SAMPLES  # samples on which rules for gamma are evaluated
        self._some = some_samples(columns.n_samples, RULE_SAMPLES) if few else None
        self._set_up()

    def _set_up(self) -> None:
        """Set what a scorer has of its own."""

    @cached_property
    def representatives(self) -> Indices:
        """For each unit the first one with the same columns, or with copies of them."""
        return self.units.representatives(copies(self.columns))

    def kernel(self, reference: Indices, size: float) -> Kernel:
        """The kernel for subsets of ``size`` columns, by its rule on the columns ``reference``.

        On average every column contributes the same to D, so the gamma of a rule on the reference is multiplied by the
        number of its columns over ``size``: 1/(2 size) for "dimension" (step 3 of the paper's algorithm).
        """
        if not self._rules:
            return self._kernel
        if set(self._rules.values()) == {"dimension"}:
            return _with_gammas(self._kernel, dict.fromkeys(self._rules, 1 / (2 * size)))
        resolved = self._resolved(reference)
        found = resolved.get_params(deep=True)
        return _with_gammas(resolved, {name: found[name] * len(reference) / size for name in self._rules})

    def _resolved(self, reference: Indices) -> Kernel:
        columns, weights = self.columns, self.weights
        if self._some is not None:
            columns, weights = columns.of_samples(self._some), weights.of_samples(self._some)
        W = weights.matrix() if self._kernel.needs_labels else None
        resolved: Kernel = resolved_on(self._kernel, columns, reference, W, weights.sample_weight)
        return resolved

    def variance(self, subset: Indices, kernel: Kernel) -> float:
        """Variance of the unbiased score of a subset: by its spread over blocks if there are some, else varHSIC."""
        K, W = self.kernel_tiles(self.units.columns(subset), kernel), self._unbiased
        if isinstance(self.weights, BlockWeights):
            return block_variance(K, W, self.weights.starts, self.executor)
        return tiled_variance(K, W, self.executor)

    def kernel_tiles(self, columns: Indices, kernel: Kernel) -> KernelTiles:
        """Kernel values of all samples on some columns, less a constant."""
        whole = self.plan.keep and not isinstance(self.weights, BlockWeights)
        if whole and not isinstance(kernel, ScaledKernel):  # whose digits are kept best with all samples together
            return GramTiles(Matrix(kernel_values(self.columns, columns, kernel)), self.plan)
        return GramTiles(KernelBlocks(self.columns, columns, kernel, self.plan.budget / 4), self.plan)

    def changed_tiles(self, columns: Indices, group: Indices, kernel: Kernel, *, leaving: bool) -> KernelTiles:
        """Kernel values on a subset after some columns have left it or entered it, less a constant."""
        return self.kernel_tiles(np.setdiff1d(columns, group) if leaving else np.union1d(columns, group), kernel)

    @cached_property
    def _unbiased(self) -> WeightTiles:
        """W of the unbiased estimate; its tiles are those that the search has, if it is the same."""
        weights = self.weights.unbiased(self.executor.stream)
        return self.W if self.W.weights is weights else WeightTiles(weights, self.plan, keep=False)

    def move(self, columns: Indices, kernel: Kernel) -> None:
        """Make some columns the current subset, so that `kernel_tiles` of it is quick."""

    def weigh(self, weights: Weights) -> None:
        """Replace W; rules for gamma keep the one that the scorer was made with."""
        self.W = WeightTiles(weights, self.plan, keep=self.plan.keep)

    def score(self, subset: Indices) -> Round:
        """Score a subset without a change, with the kernel for its own size."""
        if not len(subset):
            return Round(subset, subset, 0.0)
        columns = self.units.columns(subset)
        kernel = self.kernel(columns, len(columns))
        return Round(subset, subset[:0], self.total(columns, kernel), kernel)

    def _ranked(self, subset: Indices, candidates: Indices, count: int, *, leaving: bool) -> Round:
        columns, kernel = self.units.columns(subset), self.changed_kernel(subset, candidates, leaving=leaving)
        own = self.kernel(columns, len(columns)) if len(columns) else None
        stages, score = self._round(columns, candidates, kernel, own, leaving=leaving)
        return Round(subset, self.best(stages, candidates, count), score, own)

    def changed_kernel(self, subset: Indices, candidates: Indices, *, leaving: bool) -> Kernel:
        """The kernel for a subset without or with one more unit: of one column, or with groups of their mean size."""
        columns, others = self.units.columns(subset), self.units.columns(candidates)
        if leaving and self.units.groups is None:
            return self.kernel(columns, len(columns) - 1)
        if leaving:
            return self.kernel(columns, len(columns) * (1 - 1 / len(subset)))
        return self.kernel(np.sort(np.concatenate([columns, others])), len(columns) + len(others) / len(candidates))

    def leading(self, columns: Indices, candidates: Indices, kernel: Kernel, count: int, *, leaving: bool) -> Indices:
        """Return the ``count`` candidates whose change of <K, W> is the greatest, in order."""
        return self.best(self._round(columns, candidates, kernel, None, leaving=leaving)[0], candidates, count)

    def changes(self, columns: Indices, candidates: Indices, kernel: Kernel, *, leaving: bool) -> Intervals:
        """Return the changes of <K, W> by all candidates, by the quickest stage that knows them."""
        stages, _ = self._round(columns, candidates, kernel, None, leaving=leaving)
        found = stages[0](np.arange(len(candidates)))
        unknown = np.flatnonzero(np.isinf(found.radii))
        if len(unknown):
            more = stages[-1](unknown)
            found.values[unknown], found.radii[unknown] = more.values, more.radii
        return found

    def best(self, stages: Sequence[Stage], candidates: Indices, count: int) -> Indices:
        """Return the ``count`` candidates of the greatest values, in order; copies are evaluated once, as the first."""
        _, first, inverse = np.unique(self.representatives[candidates], return_index=True, return_inverse=True)
        return candidates[leading(stages, first[inverse], count)[0]]

    @abstractmethod
    def total(self, columns: Indices, kernel: Kernel) -> float:
        """Return <K, W> of a nonempty subset with a kernel."""

    @abstractmethod
    def _round(
        self, columns: Indices, candidates: Indices, kernel: Kernel, own: Kernel | None, *, leaving: bool
    ) -> tuple[Sequence[Stage], float]:
        """Stages for the score changes by the candidates with ``kernel``, and the score of the subset with ``own``."""


class GenericScorer(Scorer):
    """Scores for any kernel, by its whole matrix for each candidate: slow, but always right."""

    def _products(self, columns: Indices, kernel: Kernel) -> tuple[float, float]:
        """Return the score of a subset, and the sum of the magnitudes of its terms."""
        if self.plan.keep:
            M = kernel(np.ascontiguousarray(self.columns.rows(columns).T)) * self.W.matrix
            return float(M.sum()), float(np.abs(M).sum())
        tiles, weights = self.plan.tiles, self.W.weights
        K = KernelBlocks(self.columns, columns, kernel, self.plan.budget / 4)

        def products(index: int) -> Sums:
            tile = tiles[index]
            M = K.block(tile.rows, tile.cols) * weights.block(tile.rows, tile.cols)
            if tile.on_diagonal:  # pairs below the diagonal repeat those above it, and the sum is doubled
                square = M[:, : len(M)]
                M[:, : len(M)] = np.triu(square, 1) + np.diag(np.diagonal(square)) / 2
            return (2 * np.array([M.sum(), np.abs(M).sum()]),)

        score, size = map_sum(self.executor, products, range(len(tiles)))[0]
        return float(score), float(size)

    def total(self, columns: Indices, kernel: Kernel) -> float:
        """Return <K, W> of a subset with a kernel."""
        return self._products(columns, kernel)[0]

    def changes(self, columns: Indices, candidates: Indices, kernel: Kernel, *, leaving: bool) -> Intervals:
        """Return the changes of <K, W> by all candidates."""
        found = super().changes(columns, candidates, kernel, leaving=leaving)
        return Intervals(found.values - (self.total(columns, kernel) if len(columns) else 0.0), found.radii)

    def _round(
        self, columns: Indices, candidates: Indices, kernel: Kernel, own: Kernel | None, *, leaving: bool
    ) -> tuple[Sequence[Stage], float]:
        """Stages for the scores themselves, whose order is that of their changes."""
        changed, groups = np.setdiff1d if leaving else np.union1d, self.units.each(candidates)

        def scores(positions: Indices) -> Intervals:
            found = [self._products(changed(columns, groups[position]), kernel) for position in positions]
            values, sizes = np.array(found).T
            return Intervals(values, EPS * (256 + 4 * len(columns)) * sizes)

        return [scores], 0.0 if own is None else self.total(columns, own)


def _with_gammas(kernel: Kernel, gammas: dict[str, float]) -> Kernel:
    if isinstance(kernel, ScaledKernel):  # the usual case, in every round: no need to look into the kernel
        return kernel.with_gamma(gammas["gamma"])
    changed: Kernel = clone(kernel).set_params(**gammas)
    return changed


def totals(columns: Columns, features: Indices, power: int) -> Array:
    """Return D of some columns for all pairs of samples: squared (power 2) or absolute differences."""
    everyone, typical = slice(0, columns.n_samples), float(columns.typical[features].sum())
    return distances(Differences(columns, features, power, scale=1 / typical if typical else 0.0), everyone, everyone)


def kernel_values(
    columns: Columns, features: Indices, kernel: Kernel, sample_weight: NDArray[Any] | None = None
) -> Array:
    """Kernel matrix of all samples on some columns, up to a constant that centring removes; rules use these columns."""
    if _by_totals(columns, features, kernel):
        D = totals(columns, features, kernel.power)
        return np.asarray(resolved_on(kernel, columns, features, None, sample_weight).link(D, out=D))
    X = np.ascontiguousarray(columns.rows(features).T)
    return np.asarray(kernel.resolved(X, None, sample_weight).centrable(X))


def _by_totals(columns: Columns, features: Indices, kernel: Kernel) -> bool:
    """Whether to make D column by column: for categories, missing entries or many columns that are not an array."""
    special = bool(columns.special[features].any())
    if special and not isinstance(kernel, ScaledKernel):
        raise TypeError(f"kernel is {kernel!r}; accepted with categories or missing values: Gaussian, Laplacian")
    wide = not isinstance(columns.data, np.ndarray) and len(features) > columns.n_samples
    return special or (wide and isinstance(kernel, ScaledKernel) and not callable(kernel.gamma))


def resolved_on(
    kernel: Kernel,
    columns: Columns,
    features: Indices,
    W: NDArray[np.floating[Any]] | None = None,
    sample_weight: NDArray[Any] | None = None,
) -> Any:
    """The kernel with numbers in place of rules, which are evaluated on some columns."""
    if not _by_totals(columns, features, kernel) or not isinstance(kernel, ScaledKernel):
        return kernel.resolved(columns.rows(features).T, W, sample_weight)
    if kernel.gamma == "dimension":
        return kernel.with_gamma(1 / (2 * len(features)))
    return kernel.resolved_on_totals(totals(columns, features, kernel.power), W, sample_weight)
