"""The tile plan: how the pairs of samples are divided into tiles, and whether matrices over them stay in memory.

The plan never depends on the number of workers, so that every executor adds up the same numbers in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, isqrt, prod

from sklearn import get_config

# Enough for matrix products to run at full speed; panels stay in the cache, and diagonal tiles waste little.
PANEL_HEIGHT = 128

# Most rows of the tiles of several blocks, or of few samples: fewer tiles are quicker there, though half of a diagonal
# tile is wasted.
_ROWS = 256

BYTES = 8
AT_HAND = 1 << 25  # most bytes of columns kept from tile to tile where D is kept: making columns again is cheap there
_STRIP = 1 << 17  # entries that elementwise passes work on at a time, so that they stay in the cache
_PANELS = 40  # panels that the workers hold at a time: some ten each, for four workers


@dataclass(frozen=True)
class Tile:
    """A range of samples against another one, which begins with the same ones on the diagonal, and else comes later."""

    rows: slice
    cols: slice

    @property
    def on_diagonal(self) -> bool:
        """Whether the first columns are the samples of the rows."""
        return bool(self.cols.start == self.rows.start)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns of the tile."""
        return self.rows.stop - self.rows.start, self.cols.stop - self.cols.start


@dataclass(frozen=True)
class Plan:
    """Tiles of the upper triangle, and whether matrices over all of them are kept."""

    tiles: tuple[Tile, ...]  # block by block, from the top, and from the diagonal to the right
    keep: bool  # whether D, W and M stay in memory between the rounds; otherwise every pass makes them anew
    budget: int  # bytes that may be spent on the columns of one pass
    n_pairs: int  # of samples, on all tiles


def strips(shape: tuple[int, int]) -> Iterator[slice]:
    """Return ranges of rows that split a tile into pieces that stay in the cache."""
    height = max(1, _STRIP // shape[1])
    return (slice(start, min(start + height, shape[0])) for start in range(0, shape[0], height))


def tile_plan(n_samples: int, working_memory: float | None = None, starts: Sequence[int] = (0,)) -> Plan:
    """Tiles within a budget in MiB (scikit-learn's ``working_memory``); none has pairs of different blocks.

    If tiles over all columns are too large, a pass reads the rows of X once for each tile in a row.
    """
    mebibytes = get_config()["working_memory"] if working_memory is None else working_memory
    budget = int(mebibytes * 2**20)
    blocks = list(pairwise([*starts, n_samples]))
    longest, entries = max(end - start for start, end in blocks), max(1, budget // (_PANELS * BYTES))
    few_rows = len(blocks) > 1 or longest <= _ROWS
    height, width = ceil(longest / ceil(longest / _ROWS)) if few_rows else PANEL_HEIGHT, longest
    if height * width > entries:
        height = max(1, isqrt(entries // 4))  # four times as wide as high: fewer columns waste less on the diagonal
        width = entries // height
    tiles = tuple(
        Tile(slice(top, min(top + height, end)), slice(first, min(first + width, end)))
        for start, end in blocks
        for top in range(start, end, height)
        for first in range(top, end, width)
    )
    n_pairs = sum(prod(tile.shape) for tile in tiles)
    return Plan(tiles, keep=3 * BYTES * n_pairs <= budget, budget=budget, n_pairs=n_pairs)  # of D, W and M
