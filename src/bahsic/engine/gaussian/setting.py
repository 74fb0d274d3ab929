"""Data that all rounds of one search with the Gaussian kernel share."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bahsic.data.levels import Levels
from bahsic.engine.executor import Executor
from bahsic.engine.gaussian.moments import LowRank, RoundMoments, SearchMoments
from bahsic.engine.pairs import Pairs

Array = NDArray[np.float64]


@dataclass(frozen=True)
class GaussianSetting:
    """Data that all rounds of one search share.

    Attributes
    ----------
    pairs : Pairs
        D of the current subset, and W.
    executor : Executor
    ranges : ndarray of shape (n_features,)
        Largest magnitude of each feature.
    levels : tuple of Levels
        The features of few values.
    low_rank : LowRank
        The factors of W; without columns if W is not of low rank.
    moments : SearchMoments or RoundMoments
        Power sums of the features.
    kept : dict
        Memory for R on each tile in each precision, used again from round to round.
    compiled : bool
        Whether compiled loops are used.
    """

    pairs: Pairs
    executor: Executor
    ranges: Array
    levels: tuple[Levels, ...]
    low_rank: LowRank
    moments: SearchMoments | RoundMoments
    kept: dict[tuple[int, str], NDArray[Any]] = field(default_factory=dict)
    compiled: bool = False

    @cached_property
    def reach(self) -> Array:
        """Largest possible contribution of each column to a squared distance."""
        data = self.pairs.columns
        numbers = np.where(
            data.missing, np.maximum(4 * self.ranges**2, self.ranges**2 + data.neutral), 4 * self.ranges**2
        )
        return np.asarray(np.where(data.different > 0, np.maximum(data.different, data.neutral), numbers))
