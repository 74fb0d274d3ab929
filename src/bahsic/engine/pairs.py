"""Pairs of samples in a search: D of the current subset and W, tile by tile."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from bahsic.arrays import EPS, Array, Indices, Mask
from bahsic.criteria.weights import Weights
from bahsic.data.columns import Columns
from bahsic.engine.compiled import functions
from bahsic.engine.executor import Executor, Scratch
from bahsic.engine.plan import AT_HAND, Plan, Tile
from bahsic.engine.tiles import Differences, rounding_errors, upper

_WORN = 4e-10  # largest error of scale * D: where updates could have left more, D is recomputed

# Relative rounding errors of a contribution made of differences, and of adding one more, in units of the precision.
_RELATIVE, _ADDING = 4.0, 0.5
_UNDERFLOW = 750.0  # exponents beyond which an exponential is zero


class WeightTiles:
    """W on the tiles of a plan, its pairs a < b only; tiles are kept in memory, or recomputed at each call."""

    def __init__(self, weights: Weights, plan: Plan, *, keep: bool) -> None:
        self.weights, self.plan, self._keep = weights, plan, keep
        self._kept: dict[int, Array] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process no tile is there yet."""
        return partial(WeightTiles, keep=self._keep), (self.weights, self.plan)

    def __call__(self, index: int) -> Array:
        """W on one tile, to be read only."""
        W = self._kept.get(index)
        if W is None:
            tile = self.plan.tiles[index]
            W = upper(np.asarray(self.weights.block(tile.rows, tile.cols), dtype=np.float64), tile)
            if self._keep:
                self._kept[index] = W
        return W

    @cached_property
    def diagonal(self) -> Array:
        """The diagonal of W: pairs of a sample with itself, or with copies of it."""
        return np.asarray(self.weights.diagonal(), dtype=np.float64)

    @cached_property
    def matrix(self) -> Array:
        """The whole of W."""
        return np.asarray(self.weights.matrix(), dtype=np.float64)

    @cached_property
    def largest(self) -> float:
        """Largest magnitude of a pair a < b."""
        return float(max(np.abs(self(index)).max() for index in range(len(self.plan.tiles))))


class Pairs:
    """The distances D of a subset of columns, and W, on the tiles of a plan.

    Where memory allows, D is kept on the tiles and follows the subset; otherwise it is made at each call.
    Differences are absolute (power 1) or squared (power 2).
    """

    def __init__(self, columns: Columns, power: int, W: WeightTiles, executor: Executor, *, compiled: bool) -> None:
        self.columns, self.power, self.W, self.plan, self.compiled = columns, power, W, W.plan, compiled
        self.subset: Indices = np.empty(0, dtype=np.intp)
        self._executor: Executor | None = executor
        self.is_kept = self.plan.keep and executor.is_local
        self._forget()
        self.version = 0  # another one after each change of D, of the bounds on its error, or of W
        self._size_when_made, self._n_added, self._lost, self._scale = 0, 0, 0.0, 0.0

    def _forget(self) -> None:
        self.scratch = Scratch()
        self._D: dict[int, Array] = {}
        self._M: dict[int, tuple[tuple[float, int], Array]] = {}
        self._whole: Differences | None = None

    def __getstate__(self) -> dict[str, Any]:
        """State for another process, which makes D by itself."""
        gone = {"scratch", "_D", "_M", "_whole", "_executor"}
        return {name: value for name, value in vars(self).items() if name not in gone} | {"is_kept": False}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._executor = None
        self._forget()

    def move(self, subset: Indices, scale: float = 0.0) -> None:
        """Make ``subset`` the current one, with a D whose errors are small relative to 1 / ``scale``.

        The contributions of the columns that left or entered are subtracted or added. Each subtraction leaves a
        rounding error relative to the larger D before it, so D is recomputed once the subset has shrunk to a quarter,
        or once the errors, as those of a dominating column that left, could exceed `_WORN` of 1 / ``scale``.
        """
        left = np.setdiff1d(self.subset, subset, assume_unique=True)
        entered = np.setdiff1d(subset, self.subset, assume_unique=True)
        self.subset = subset
        if self._executor is None or not (len(left) or len(entered) or scale > self._scale):
            return
        self.version += 1
        lost = self._lost + self._loss(False, left, scale) + self._loss(True, entered, scale)
        worn = len(left) > 0 and 4 * len(subset) <= self._size_when_made
        inexact = EPS * scale * lost > _WORN
        if not self.is_kept or worn or inexact or len(left) + len(entered) >= len(subset):
            self._size_when_made = self._n_added = len(subset)
            self._scale, self._lost, self._whole = scale, self._loss(True, subset, scale), None
            if self.is_kept:
                self._executor.map(self._keep, range(len(self.plan.tiles)))
                self._whole = None
            return
        self._lost, self._scale = lost, max(scale, self._scale)
        self._n_added += len(left) + len(entered)
        both = (np.subtract, left), (np.add, entered)
        changes = [(operation, self.contributions(some, scale)) for operation, some in both if len(some)]
        if changes:
            self._executor.map(partial(self._change, changes), range(len(self.plan.tiles)))

    def _keep(self, index: int) -> None:
        tile = self.plan.tiles[index]
        D = self._D.get(index)
        self._D[index] = self._made(tile, np.empty(tile.shape) if D is None else D)

    def _made(self, tile: Tile, out: Array) -> Array:
        """Return D on a tile, made of the columns themselves."""
        whole = self._whole
        if whole is None:
            whole = self._whole = self.contributions(self.subset, self._scale)
        return whole.panel(tile, out)

    def _change(self, changes: Sequence[tuple[np.ufunc, Differences]], index: int) -> None:
        tile, D = self.plan.tiles[index], self._D[index]
        for operation, change in changes:
            operation(D, change.panel(tile, self.scratch.take("first", tile.shape)), out=D)

    def totals(self, index: int) -> Array:
        """D on one tile, to be read only."""
        if self.is_kept and index in self._D:
            return self._D[index]
        tile = self.plan.tiles[index]
        return self._made(tile, self.scratch.take("totals", tile.shape))

    def products(self, index: int, gamma: float) -> Array:
        """W exp(-gamma D) on one tile, to be read only; the last ones are kept where D is."""
        key, (of, M) = (gamma, self.version), self._M.get(index, (None, None))
        if M is None or of != key:
            shape = self.plan.tiles[index].shape
            if M is None:
                M = np.empty(shape) if self.is_kept else self.scratch.take("products", shape)
            functions(compiled=self.compiled).weigh(self.totals(index), self.W(index), gamma, M)
            if self.is_kept:
                self._M[index] = key, M
        return M

    def contributions(self, features: Indices, scale: float) -> Differences:
        """Return contributions of some columns to D."""
        most = min(self.plan.budget / 4, AT_HAND if self.is_kept else math.inf)
        return Differences(self.columns, features, self.power, most, scale, compiled=self.compiled)

    def _loss(self, entered: bool, features: Indices, scale: float) -> float:
        """Bound on the error, in units of the machine precision, that a change leaves in D."""
        if not len(features):
            return 0.0
        absolute, largest = rounding_errors(self.columns, features, self.power, scale)
        relative = 0.0 if entered else _sum_error(self._n_added) + _sum_error(len(features))
        return float(absolute + relative * largest)

    def change_errors(self, largest: Array, n_features: Array, scale: float, *, entering: bool) -> Array:
        """Return bounds on the relative errors of the change of exp(-scale * D) by sums of differences."""
        own = _sum_error(n_features)
        lost = 0.0 if entering else (_sum_error(self._n_added) + own) * scale * largest
        return np.asarray(EPS * (lost + own * (1 + np.minimum(scale * largest, _UNDERFLOW))))

    def too_wide(self, largest: Array, scale: float) -> Mask:
        """Return whether D less contributions up to ``largest`` would not be exact enough."""
        return np.asarray(EPS * scale * (self._lost + _sum_error(self._n_added) * largest) > _WORN)

    def rounding(self, scale: float) -> float:
        """Return a bound on the relative error of exp(-scale * D) where it does not underflow, but for that of exp."""
        if not len(self.subset):
            return 0.0
        _, largest = rounding_errors(self.columns, self.subset, self.power, self._scale)
        return float(EPS * (scale * self._lost + _sum_error(self._n_added) * min(scale * largest, _UNDERFLOW)))

    def weigh(self, W: WeightTiles) -> None:
        """Replace W."""
        self.W = W
        self.version += 1


def _sum_error(n_features: Any) -> Any:
    """Bound on the relative error of the sum of the contributions of features, added one after the other."""
    return _RELATIVE + _ADDING * n_features
