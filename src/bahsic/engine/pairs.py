"""Pairs of samples in a search: D of the current subset and W, tile by tile."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bahsic.criteria.weights import Weights
from bahsic.data.columns import Columns
from bahsic.engine.plan import AT_HAND, Plan, Tile
from bahsic.engine.scratch import Scratch
from bahsic.engine.tiles import upper

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Change = tuple[bool, Indices]  # whether the features entered, and which


class Contributions(Protocol):
    """Sum over some features of their contributions to D, a tile at a time."""

    def panel(self, tile: Tile, out: NDArray[Any]) -> NDArray[Any]:
        """Write the sum on a tile into ``out``."""


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
    contributions : callable
        ``contributions(columns, features, dtype, most)`` makes the `Contributions` of some features.
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
        contributions: Callable[[Columns, Indices, Any, float], Contributions],
        weights: Weights,
        plan: Plan,
    ) -> None:
        self.columns = columns
        self.plan = plan
        self.subset: Indices = np.empty(0, dtype=np.intp)
        self._make_contributions = contributions
        self.weights = WeightTiles(weights, plan, keep=plan.keep)
        self._history: list[Change] = []
        self._rebuilt_size = 0
        self._forget()

    def _forget(self) -> None:
        """No tile of D has been made."""
        n_tiles = len(self.plan.tiles)
        self.scratch = Scratch()
        self._D: list[Array | None] = [None] * n_tiles
        self._followed = [0] * n_tiles  # how much of the history each tile of D has been through
        self._parts: dict[int, Contributions] = {}
        self._settled = 0

    def __getstate__(self) -> dict[str, Any]:
        """State for another process, which makes identical tiles from it: the history instead of D."""
        gone = {"scratch", "_D", "_followed", "_parts", "_settled"}
        return {name: value for name, value in vars(self).items() if name not in gone}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._forget()
        self._prepare()

    def state(self) -> dict[str, Any]:
        """History of changes as plain data; after `restore` the tiles are identical to the last bit."""
        history = [[entered, features.tolist()] for entered, features in self._history]
        return {"history": history, "size": self._rebuilt_size} if self.plan.keep else {}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore the `state` of another search."""
        if not state:
            return
        self._history = [(bool(entered), np.array(features, dtype=np.intp)) for entered, features in state["history"]]
        self._rebuilt_size = int(state["size"])
        self.subset = np.empty(0, dtype=np.intp)
        for entered, features in self._history:
            change = np.union1d if entered else np.setdiff1d
            self.subset = change(self.subset, features)

    def move(self, subset: Indices) -> None:
        """Make ``subset`` the current one; each tile of D is updated when it is next used.

        The contributions of the features that left or entered are subtracted or added. D is rebuilt once
        the subset has shrunk to a quarter of its size at the last build, since each subtraction leaves a
        rounding error relative to the larger D before it.
        """
        left = np.setdiff1d(self.subset, subset, assume_unique=True)
        entered = np.setdiff1d(subset, self.subset, assume_unique=True)
        if len(left) or len(entered):
            worn = len(left) > 0 and 4 * len(subset) <= self._rebuilt_size
            cheap = len(left) + len(entered) >= len(subset)
            if worn or cheap or not self.plan.keep:
                self._restart(len(subset))
                left, entered = left[:0], subset
            self._history += [change for change in ((False, left), (True, entered)) if len(change[1])]
            self.subset = subset
        self._prepare()

    def _restart(self, size: int) -> None:
        self._history, self._rebuilt_size = [], size
        self._followed = [0] * len(self._followed)
        self._parts, self._settled = {}, 0

    def _prepare(self) -> None:
        """Make the contributions that the tiles of D still have to add or subtract."""
        most = min(self.plan.budget / 4, AT_HAND if self.plan.keep else math.inf)
        for position in range(self._settled, len(self._history)):
            if position not in self._parts:
                self._parts[position] = self.contributions(self._history[position][1], most=most)

    def contributions(self, features: Indices, dtype: Any = np.float64, most: float = math.inf) -> Contributions:
        """Contributions of some columns to D, with up to ``most`` bytes of the columns kept in memory."""
        return self._make_contributions(self.columns, features, dtype, most)

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

    def settle(self) -> None:
        """Free the contributions of the last move; every tile must have been updated since."""
        if self.plan.keep:
            self._parts, self._settled = {}, len(self._history)

    def weigh(self, weights: Weights) -> None:
        """Replace W."""
        self.weights = WeightTiles(weights, self.plan, keep=self.plan.keep)
