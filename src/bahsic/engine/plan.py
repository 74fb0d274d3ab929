"""The tile plan: which pairs of samples are worked on together, and what is kept in memory.

The plan depends on the number of samples and on the memory budget alone, never on the number of
workers, so that every executor adds up the same numbers in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass

from sklearn import get_config

# High enough for the matrix products to run at full speed, low enough for a panel of a few thousand
# samples to stay in the cache and for the wasted lower triangle of the diagonal blocks to be small.
PANEL_HEIGHT = 128

BYTES = 8

# Panels that the workers hold at a time: some ten each, for four workers.
_PANELS = 40


@dataclass(frozen=True)
class Tile:
    """A panel of the upper triangle: rows ``start:stop`` against the samples ``start:n_samples``."""

    start: int
    stop: int
    n_samples: int

    @property
    def rows(self) -> slice:
        """Samples that index the rows of the panel."""
        return slice(self.start, self.stop)

    @property
    def cols(self) -> slice:
        """Samples that index the columns of the panel; the first of them are the rows."""
        return slice(self.start, self.n_samples)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns of the panel."""
        return self.stop - self.start, self.n_samples - self.start


@dataclass(frozen=True)
class Plan:
    """Tiles of the upper triangle, and whether matrices over all of them are kept.

    Attributes
    ----------
    tiles : tuple of Tile
        The panels, from the top.
    keep : bool
        Whether D, W and M stay in memory between the rounds (three half matrices); otherwise every
        pass recomputes its panel from the rows.
    budget : int
        Bytes that may be spent on the columns of one pass.
    """

    tiles: tuple[Tile, ...]
    keep: bool
    budget: int


def tile_plan(n_samples: int, working_memory: float | None = None) -> Plan:
    """Tiles for ``n_samples`` samples within a budget in MiB (scikit-learn's ``working_memory``).

    Examples
    --------
    >>> plan = tile_plan(300)
    >>> [(tile.start, tile.shape) for tile in plan.tiles]
    [(0, (128, 300)), (128, (128, 172)), (256, (44, 44))]
    >>> plan.keep
    True
    """
    mebibytes = get_config()["working_memory"] if working_memory is None else working_memory
    budget = int(mebibytes * 2**20)
    kept = int(1.75 * BYTES * n_samples**2)  # D, W, M in float64 and M in float32, half of each
    height = min(PANEL_HEIGHT, max(1, budget // (_PANELS * BYTES * n_samples)))
    tiles = tuple(Tile(start, min(start + height, n_samples), n_samples) for start in range(0, n_samples, height))
    return Plan(tiles, keep=kept <= budget, budget=budget)
