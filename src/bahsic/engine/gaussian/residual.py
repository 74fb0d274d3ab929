"""Residual matrix R = W * (exp(-gamma D) - kappa), tile by tile, and its row sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bahsic.engine.executor import Placed, Sums
from bahsic.engine.loops import loops
from bahsic.engine.pairs import Pairs
from bahsic.engine.tiles import row_sums, strips

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Rest:
    """Residual matrix R, tile by tile: kept from pass to pass if the plan says so, else made anew.

    Attributes
    ----------
    pairs : Pairs
    gamma, kappa : float
    kept : dict
        Memory for R on each tile in each precision, used again from round to round.
    compiled : bool
        Whether compiled loops make R.
    """

    pairs: Pairs
    gamma: float
    kappa: float
    kept: dict[tuple[int, str], NDArray[Any]]
    compiled: bool = False

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the kept tiles."""
        return Rest, (self.pairs, self.gamma, self.kappa, {}, self.compiled)

    def room(self, index: int, dtype: Any) -> NDArray[Any]:
        """Memory for R on one tile: kept from round to round, or valid until the next call."""
        tile, name = self.pairs.plan.tiles[index], np.dtype(dtype).char
        if not self.pairs.plan.keep:
            return self.pairs.scratch.take(name, tile.shape, dtype)
        if (index, name) not in self.kept:
            self.kept[index, name] = np.empty(tile.shape, dtype)
        return self.kept[index, name]

    def panel(self, index: int, dtype: Any) -> NDArray[Any]:
        """R on one tile, made anew where it is not kept."""
        name = np.dtype(dtype).char
        if self.pairs.plan.keep and (index, name) in self.kept:
            return self.kept[index, name]
        tile, take = self.pairs.plan.tiles[index], self.pairs.scratch.take
        D, W = self.pairs.totals(index), self.pairs.weights(index)
        R = take(name, tile.shape, dtype)
        for rows in strips(tile.shape):
            R[rows] = self.fill(take("first", D[rows].shape), D[rows], W[rows])
        return R

    def fill(self, R: Array, D: Array, W: Array) -> Array:
        """Fill R, given D and W, without other memory."""
        np.multiply(D, -self.gamma, out=R)
        np.exp(R, out=R)
        R -= self.kappa
        R *= W
        return R


@dataclass(frozen=True, eq=False)
class Form:
    """First pass of a round: makes R on a tile, its row sums, and the tile's part of the score of the current subset.

    Attributes
    ----------
    rest : Rest
    own_gamma : float or None
        The gamma with which the current subset itself is scored, or None.
    """

    rest: Rest
    own_gamma: float | None

    def __call__(self, index: int) -> Sums:
        """Row sums of R (rows, columns of the tile), of abs(R) (rows, columns), and half of the score."""
        rest, pairs = self.rest, self.rest.pairs
        tile, take = pairs.plan.tiles[index], pairs.scratch.take
        D, W = pairs.totals(index), pairs.weights(index)
        R, R32 = rest.room(index, np.float64), rest.room(index, np.float32)
        compiled = loops(compiled=rest.compiled)
        if compiled is not None:
            own_gamma = -1.0 if self.own_gamma is None else self.own_gamma
            left, right = np.zeros((2, tile.shape[0])), np.zeros((2, tile.shape[1]))
            W = np.require(W, requirements=["C", "W"])
            score = compiled.form(D, W, rest.gamma, rest.kappa, own_gamma, R, R32, left, right)
            sums, sizes = ((Placed(tile.start, left[i]), Placed(tile.first, right[i])) for i in range(2))
            return *sums, *sizes, np.array(score)
        magnitudes = take("magnitudes", tile.shape, np.float32)
        across, down, own = np.zeros(tile.shape[0]), np.zeros(tile.shape[1]), 0.0
        for rows in strips(tile.shape):
            part = rest.fill(R[rows], D[rows], W[rows])
            R32[rows] = part
            np.abs(R32[rows], out=magnitudes[rows])
            across[rows] = part @ np.ones(tile.shape[1])
            down += np.ones(len(part)) @ part
            if self.own_gamma is not None:
                K = np.multiply(D[rows], -self.own_gamma, out=take("first", part.shape))
                own += float(np.vdot(np.exp(K, out=K), W[rows]))
        return Placed(tile.start, across), Placed(tile.first, down), *row_sums(magnitudes, tile), np.array(own)
