"""Pairs of samples in a search: D of the current subset and W, tile by tile."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bahsic.criteria.weights import Weights
from bahsic.data.columns import Columns
from bahsic.engine.executor import Executor
from bahsic.engine.plan import AT_HAND, Plan, Tile
from bahsic.engine.scratch import Scratch
from bahsic.engine.tiles import Kind, upper

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Change = tuple[bool, Indices, float]  # whether the features entered, which, and the scale of D

_EPS = float(np.finfo(np.float64).eps)

# Largest error of scale * D: where updates could have left more, D is made anew.
_WORN = 4e-10

# Relative rounding errors of contributions made of differences, in units of the machine precision.
_RELATIVE = 4.0

# Exponents beyond which an exponential is zero.
_UNDERFLOW = 750.0


class WeightTiles:
    """W on the tiles of a plan, its pairs a < b only.

    Parameters
    ----------
    weights : Weights
        The matrix W.
    plan : Plan
    keep : bool
        Whether tiles are kept in memory or made anew at each call.
    """

    def __init__(self, weights: Weights, plan: Plan, *, keep: bool) -> None:
        self.weights, self.plan = weights, plan
        self._kept: dict[int, Array] | None = {} if keep else None

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process no tile is there yet."""
        return partial(WeightTiles, keep=self._kept is not None), (self.weights, self.plan)

    def __call__(self, index: int) -> Array:
        """W on one tile, to be read only."""
        if self._kept is not None and index in self._kept:
            return self._kept[index]
        tile = self.plan.tiles[index]
        W = upper(np.asarray(self.weights.block(tile.rows, tile.cols), dtype=np.float64), tile)
        if self._kept is not None:
            self._kept[index] = W
        return W


class Pairs:
    """Totals D = sum of the contributions of a subset of features, and W, over the tiles of a plan.

    Parameters
    ----------
    columns : Columns
        The data.
    kind : Kind
        What D adds up.
    weights : Weights
        The matrix W.
    plan : Plan
        Tiles, and whether D and W are kept in memory or recomputed at each call.

    Attributes
    ----------
    weights : WeightTiles
        W on one tile, its pairs a < b only: ``weights(index)``.
    """

    def __init__(
        self,
        columns: Columns,
        kind: Kind,
        weights: Weights,
        plan: Plan,
    ) -> None:
        self.columns = columns
        self.plan = plan
        self.subset: Indices = np.empty(0, dtype=np.intp)
        self._kind = kind
        self.weights = WeightTiles(weights, plan, keep=plan.keep)
        self._history: list[Change] = []
        self._rebuilt_size = 0
        self._lost = 0.0
        self._forget()

    def _forget(self) -> None:
        """No tile of D has been made."""
        n_tiles = len(self.plan.tiles)
        self.scratch = Scratch()
        self._D: list[Array | None] = [None] * n_tiles
        self._followed = [0] * n_tiles  # how much of the history each tile of D has been through
        self._parts: dict[int, Any] = {}
        self._settled = 0

    def __getstate__(self) -> dict[str, Any]:
        """State for another process, which makes identical tiles from it: the history instead of D."""
        gone = {"scratch", "_D", "_followed", "_parts", "_settled"}
        return {name: value for name, value in vars(self).items() if name not in gone}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._forget()
        self._prepare()

    def move(self, subset: Indices, scale: float = 0.0) -> None:
        """Make ``subset`` the current one; each tile of D is updated when it is next used.

        The contributions of the features that left or entered are subtracted or added. Each subtraction leaves a
        rounding error relative to the larger D before it, so D is rebuilt once the subset has shrunk to a quarter of
        its size at the last build, or once the errors, as in a dominating column that left, could be more than
        `_WORN` of 1 / ``scale``.
        """
        left, entered = _without(self.subset, subset), _without(subset, self.subset)
        changes = [change for change in ((False, left, scale), (True, entered, scale)) if len(change[1])]
        lost = self._lost + sum(self._loss(*change) for change in changes)
        worn = len(left) > 0 and 4 * len(subset) <= self._rebuilt_size
        cheap = len(changes) > 0 and len(left) + len(entered) >= len(subset)
        inexact = _EPS * scale * lost > _WORN and self._improvable(changes, scale)
        if worn or cheap or inexact or (changes and not self.plan.keep):
            self._restart(len(subset))
            changes = [(True, subset, scale)] if len(subset) else []
            lost = sum(self._loss(*change) for change in changes)
        self._history += changes
        self.subset, self._lost = subset, lost
        self._prepare()

    def _improvable(self, changes: list[Change], scale: float) -> bool:
        """Whether D would be more exact if it were made anew, after some changes."""
        history = self._history + changes
        return len(history) > 1 or any(known < scale for _, _, known in history)

    def _loss(self, entered: bool, features: Indices, scale: float) -> float:
        """Bound on the error, in units of the machine precision, that a change leaves in D."""
        found = self._kind.rounding(self.columns, features, scale)
        return found.absolute + (0.0 if entered else _RELATIVE * found.largest)

    @staticmethod
    def change_errors(largest: Array, scale: float, *, entering: bool) -> Array:
        """Return bounds on the relative errors of exp(-scale * D) after contributions up to ``largest`` leave or enter.

        They are made of differences.
        """
        lost = 0.0 if entering else scale * largest
        return np.asarray(_EPS * _RELATIVE * (lost + np.minimum(scale * largest, _UNDERFLOW)))

    def too_wide(self, largest: Array, scale: float) -> NDArray[np.bool_]:
        """Return whether D less contributions up to ``largest`` would not be exact enough."""
        return np.asarray(_EPS * scale * (self._lost + _RELATIVE * largest) > _WORN)

    def _restart(self, size: int) -> None:
        self._history, self._rebuilt_size = [], size
        self._followed = [0] * len(self._followed)
        self._parts, self._settled = {}, 0

    def rounding(self, scale: float, features: Indices | None = None) -> float:
        """Bound on the relative error of exp(-scale * D) where it does not underflow, but for that of exp itself.

        For D as it has been updated, or for that of some features made anew.
        """
        if features is None:
            made_for = max((known for _, _, known in self._history), default=scale)
            lost, largest = self._lost, self._kind.rounding(self.columns, self.subset, made_for).largest
        else:
            found = self._kind.rounding(self.columns, features, scale)
            lost, largest = found.absolute, found.largest
        return _EPS * (scale * lost + _RELATIVE * min(scale * largest, _UNDERFLOW))

    def _prepare(self) -> None:
        """Make the contributions that the tiles of D still have to add or subtract."""
        most = min(self.plan.budget / 4, AT_HAND if self.plan.keep else math.inf)
        for position in range(self._settled, len(self._history)):
            if position not in self._parts:
                _, features, scale = self._history[position]
                self._parts[position] = self.contributions(features, most=most, scale=scale)

    def contributions(self, features: Indices, most: float = math.inf, scale: float = 0.0) -> Any:
        """Return the contributions of some columns to D, with up to ``most`` bytes of the columns kept in memory."""
        return self._kind.contributions(self.columns, features, most, scale)

    def totals(self, index: int) -> Array:
        """D of the current subset on one tile; read-only."""
        tile, D = self.plan.tiles[index], self._D[index]
        if D is None:
            # Kept matrices have memory of their own; others are valid until the next call.
            D = np.empty(tile.shape) if self.plan.keep else self.scratch.take("totals", tile.shape)
        if not self._history:
            D[:] = 0.0
        for position in range(self._followed[index], len(self._history)):
            self._follow(position, tile, D)
        if self.plan.keep:
            self._D[index], self._followed[index] = D, len(self._history)
        return D

    def _follow(self, position: int, tile: Tile, D: Array) -> None:
        if position == 0:
            self._parts[0].panel(tile, out=D)
            return
        change = self._parts[position].panel(tile, out=self.scratch.take("first", tile.shape))
        (np.add if self._history[position][0] else np.subtract)(D, change, out=D)

    def follow(self, executor: Executor) -> None:
        """Update D on all tiles, so that several threads may read one tile; nothing to do where D is not kept."""
        if self.plan.keep:
            executor.map(self.totals, range(len(self.plan.tiles)))
            self.settle()

    def settle(self) -> None:
        """Free the contributions of the last move; every tile must have been updated since."""
        if self.plan.keep:
            self._parts, self._settled = {}, len(self._history)

    def weigh(self, weights: Weights) -> None:
        """Replace W."""
        self.weights = WeightTiles(weights, self.plan, keep=self.plan.keep)


def _without(features: Indices, others: Indices) -> Indices:
    """Features that are not among others; both increase. `numpy.setdiff1d` takes several times as long.

    Examples
    --------
    >>> _without(np.array([1, 3, 4, 9]), np.array([3, 5, 9]))
    array([1, 4])
    """
    if not len(others):
        return features
    places = np.searchsorted(others, features)
    return np.asarray(features[others[np.minimum(places, len(others) - 1)] != features])
