"""State of a search over the pairs of samples: D of the current subset and W, tile by tile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bahsic.engine.columns import Columns
from bahsic.engine.plan import Plan, Tile
from bahsic.engine.scratch import Scratch
from bahsic.engine.tile import upper
from bahsic.hsic import Weights

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


class Contributions(Protocol):
    """Sum of the pointwise contributions of some features, a tile at a time."""

    def panel(self, tile: Tile, out: NDArray[Any]) -> NDArray[Any]:
        """The sum on a tile, in ``out``."""


class Pairs:
    """Totals D = sum of the contributions of a subset of features, and W, over the tiles of a plan.

    Parameters
    ----------
    columns : Columns
        The data.
    contributions : callable
        ``contributions(columns, features, dtype)`` makes the `Contributions` of some features.
    weights : Weights
        The matrix W.
    plan : Plan
        Tiles, and whether D and W are kept in memory or recomputed at each call.
    """

    def __init__(
        self,
        columns: Columns,
        contributions: Callable[[Columns, Indices, Any], Contributions],
        weights: Weights,
        plan: Plan,
    ) -> None:
        self.columns = columns
        self.plan = plan
        self.scratch = Scratch()
        self.subset: Indices = np.empty(0, dtype=np.intp)
        self._make_contributions = contributions
        self._weights = weights
        self._D: list[Array | None] = [None] * len(plan.tiles)
        self._W: list[Array | None] = [None] * len(plan.tiles)
        self._changes: list[tuple[np.ufunc, Contributions]] = []
        self._rebuild = True
        self._rebuilt_size = 0

    def move(self, subset: Indices) -> None:
        """Make ``subset`` the current one; each tile of D follows when it is next asked for.

        D is changed by the features that left or entered. It is rebuilt where the subset has become
        a quarter of what it was built for: each subtraction leaves a rounding error behind that is of
        the size of the larger D.
        """
        left = np.setdiff1d(self.subset, subset, assume_unique=True)
        entered = np.setdiff1d(subset, self.subset, assume_unique=True)
        worn = len(left) > 0 and 4 * len(subset) <= self._rebuilt_size
        cheap = len(left) + len(entered) >= len(subset)
        self._rebuild = worn or cheap or not self.plan.keep
        if self._rebuild:
            self._rebuilt_size = len(subset)
            left, entered = left[:0], subset
        self.subset = subset
        self._changes = [
            (ufunc, self.contributions(changed))
            for ufunc, changed in ((np.subtract, left), (np.add, entered))
            if len(changed)
        ]

    def contributions(self, features: Indices, dtype: Any = np.float64) -> Contributions:
        """What some columns contribute to D."""
        return self._make_contributions(self.columns, features, dtype)

    def totals(self, index: int) -> Array:
        """D of the current subset on one tile, to be read only."""
        tile, D = self.plan.tiles[index], self._D[index]
        if D is None:
            # Kept matrices have memory of their own; others are valid until the next call.
            D = np.empty(tile.shape) if self.plan.keep else self.scratch.take("totals", tile.shape)
        if self._rebuild:
            return self._rebuilt(index, tile, D)
        for ufunc, contributions in self._changes:
            change = contributions.panel(tile, out=self.scratch.take("first", tile.shape))
            ufunc(D, change, out=D)
        return D

    def _rebuilt(self, index: int, tile: Tile, D: Array) -> Array:
        for _, contributions in self._changes:
            contributions.panel(tile, out=D)
        if not self._changes:  # the empty subset
            D[:] = 0.0
        if self.plan.keep:
            self._D[index] = D
        return D

    def settle(self) -> None:
        """Every tile has been asked for since the last move: let go of what its update needed."""
        if self.plan.keep:
            self._changes, self._rebuild = [], False

    def weights(self, index: int) -> Array:
        """W on one tile, its pairs a < b only; to be read only."""
        W = self._W[index]
        if W is None:
            tile = self.plan.tiles[index]
            W = upper(np.asarray(self._weights.block(tile.rows, tile.cols), dtype=np.float64), tile)
            if self.plan.keep:
                self._W[index] = W
        return W
