"""Disjoint random blocks of samples, and the matrix W of the mean of HSIC over them, which is zero between blocks."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from bahsic.arrays import Indices
from bahsic.criteria.weights import CentredWeights, Weights, label_weights
from bahsic.kernels import LabelKernel
from bahsic.kernels.rows import FloatArray
from bahsic.parameters import check_parameter, is_count, random_source

# block_size="auto": up to so many samples all of them at once, beyond it random blocks of this size.
EXACT_SAMPLES, BLOCK_SIZE = 10_000, 500
# The same where there are regressions, which cost the cube of the samples.
EXACT_REGRESSION, REGRESSION_SIZE = 4000, 1000

MOST_REGRESSIONS = 5  # blocks with regressions
MOST_HELD_OUT, HELD_OUT_SHARE = 8000, 5  # samples in no block that judge: at most so many, at least one in so many
RULE_SAMPLES = 4096  # on which rules for gamma are evaluated when there are blocks: 8 million pairs


def some_samples(m: int, most: int) -> Indices:
    """Return at most so many of m samples, drawn with a fixed seed: evenly spaced ones could all be of one class."""
    return np.arange(m) if m <= most else np.sort(np.random.default_rng(0).choice(m, most, replace=False))


@dataclass(frozen=True, eq=False)
class Blocks:
    """A partition of the samples."""

    order: Indices  # the samples, block by block
    starts: tuple[int, ...]  # position in the order of the first sample of each block

    def __len__(self) -> int:
        return len(self.starts)

    def samples(self) -> Iterator[Indices]:
        """Return the samples of each block."""
        return iter(np.split(self.order, self.starts[1:]))

    def first(self, number: int) -> Blocks:
        """Return so many of the blocks, or all if there are no more."""
        return self if number >= len(self) else Blocks(self.order[: self.starts[number]], self.starts[:number])


def auto_block_size(m: int, *, regressions: bool = False) -> int | None:
    """Return the size of blocks for m samples where none is given; None for all at once."""
    most, size = (EXACT_REGRESSION, REGRESSION_SIZE) if regressions else (EXACT_SAMPLES, BLOCK_SIZE)
    return None if m <= most else size


def random_blocks(
    m: int, block_size: Any, random_state: Any = None, statistic: str = "unbiased", *, weighted: bool = False
) -> Blocks | None:
    """Partition m samples at random into blocks of B or B + 1; None if there is only one block."""
    if block_size is None:
        return None
    check_parameter("block_size", block_size, is_count(block_size, 4), "None or an int of at least 4")
    if statistic != "unbiased":
        raise ValueError(f"statistic is {statistic!r}; accepted with block_size: 'unbiased', whose mean is unbiased")
    if weighted:
        raise ValueError(f"sample_weight is given and block_size is {block_size!r}; accepted: one of them")
    if m // int(block_size) < 2:
        return None
    return consecutive_blocks(random_source(random_state).permutation(m), int(block_size))


def consecutive_blocks(order: Indices, block_size: int) -> Blocks:
    """Divide samples into blocks of B or B + 1 neighbours."""
    sizes = [len(part) for part in np.array_split(order, max(1, len(order) // block_size))]
    return Blocks(order, tuple(int(start) for start in np.cumsum([0, *sizes[:-1]])))


@dataclass(frozen=True, eq=False)
class BlockWeights(Weights):
    """W of the mean of HSIC over blocks of neighbouring samples: zero between blocks."""

    parts: tuple[CentredWeights, ...]  # W of each block by itself, divided by the number of blocks
    starts: tuple[int, ...]  # first sample of each block
    labels: LabelKernel  # of all samples

    sample_weight = None

    def __len__(self) -> int:
        return len(self.labels)

    def block(self, rows: slice, cols: slice) -> FloatArray:
        W = np.zeros((rows.stop - rows.start, cols.stop - cols.start))
        first = bisect_right(self.starts, min(rows.start, cols.start)) - 1
        end = bisect_left(self.starts, min(rows.stop, cols.stop))
        for start, part in zip(self.starts[first:end], self.parts[first:end], strict=True):
            r, c = (slice(max(side.start, start), min(side.stop, start + len(part))) for side in (rows, cols))
            if r.start < r.stop and c.start < c.stop:
                inside = part.block(_shifted(r, start), _shifted(c, start))
                W[_shifted(r, rows.start), _shifted(c, cols.start)] = inside
        return W

    def of_samples(self, samples: Indices) -> Weights:
        return label_weights(self.labels.of_samples(samples))


def _shifted(side: slice, start: int) -> slice:
    return slice(side.start - start, side.stop - start)


def block_weights(labels: LabelKernel, starts: Sequence[int], each: Any = map) -> BlockWeights:
    """Return W of the mean of the unbiased HSIC over the blocks that begin at ``starts``; see `label_weights`."""
    ends = pairwise([*starts, len(labels)])
    alone = list(each(label_weights, [labels.of_samples(np.arange(*block)) for block in ends]))
    parts = tuple(replace(part, scale=part.scale / len(alone)) for part in alone)
    return BlockWeights(parts, tuple(starts), labels)
