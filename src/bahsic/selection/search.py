"""Backward elimination and forward selection: which features leave or enter, round by round.

The search knows neither kernels nor scikit-learn: it asks a scorer which features are next.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.intp]


class Ranked(Protocol):
    """Answer of a scorer: the next features in order, and the score before they change."""

    @property
    def features(self) -> Indices: ...
    @property
    def score(self) -> float: ...
    @property
    def kernel(self) -> Any: ...
    @property
    def fit(self) -> Any: ...


class Scorer(Protocol):
    """Scores of subsets of features; see `bahsic.engine.scorer.Scorer`."""

    def leaving(self, subset: Indices, candidates: Indices, count: int) -> Ranked: ...
    def entering(self, subset: Indices, candidates: Indices, count: int) -> Ranked: ...
    def score(self, subset: Indices) -> Ranked: ...


@dataclass(frozen=True)
class Step:
    """One round.

    Attributes
    ----------
    subset : ndarray of int
        The features before the round (backward) or after it (forward), in increasing order.
    score : float
        The score of that subset with the kernel for its own size.
    kernel : object
        The kernel of ``score``.
    changed : ndarray of int
        The features that left or entered, in order.
    following : ndarray of int
        The features that enter next, which a forward search knows already.
    fit : object or None
        The regression on the subset, if the scorer makes one.
    """

    subset: Indices
    score: float
    kernel: Any
    changed: Indices
    following: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    fit: Any = None

    @staticmethod
    def of(subset: Indices, ranked: Ranked, changed: Indices, following: Indices | None = None) -> Step:
        """A round with the score, kernel and fit of a scorer's answer."""
        next_ones = subset[:0] if following is None else following
        return Step(subset, ranked.score, ranked.kernel, changed, next_ones, ranked.fit)


def round_size(step: float, remaining: int) -> int:
    """Number of features that change in a round: an int is a count, a float a fraction of the remaining ones.

    Examples
    --------
    >>> round_size(0.1, 25), round_size(0.1, 5), round_size(3, 2)
    (2, 1, 2)
    """
    count = int(step) if isinstance(step, Integral) else math.floor(step * remaining)
    return min(remaining, max(1, count))


def backward(
    scorer: Scorer,
    constant: NDArray[np.bool_],
    step: float,
    kept: NDArray[np.bool_] | None = None,
    after: Step | None = None,
    left_out: NDArray[np.bool_] | None = None,
) -> Iterator[Step]:
    """Eliminate all features, the least relevant ones first (the paper's algorithm BAHSIC).

    Parameters
    ----------
    scorer : Scorer
    constant : ndarray of bool of shape (n_features,)
        Features that say nothing: they leave before any other.
    step : float or int
        See `round_size`.
    kept : ndarray of bool of shape (n_features,), optional
        Features that never leave.
    after : Step, optional
        Go on after this round of an earlier search; the scorer is in the state that it had then.
    left_out : ndarray of bool of shape (n_features,), optional
        Features that take no part.

    Yields
    ------
    Step
        Until no feature is left that may leave; one without a change where none may from the beginning.
    """
    stay = np.zeros(len(constant), dtype=bool) if kept is None else kept
    subset = _taking_part(len(constant), left_out)
    if after is not None:
        subset = np.setdiff1d(after.subset, after.changed, assume_unique=True)
    elif stay[subset].all():
        yield Step.of(subset, scorer.score(subset), subset[:0])
    while not stay[subset].all():
        free = subset[~stay[subset]]
        count = round_size(step, len(free))
        idle = free[constant[free]][:count]
        ranked = scorer.leaving(subset, free[~constant[free]], count - len(idle))
        leaving = np.concatenate([idle, ranked.features])
        yield Step.of(subset, ranked, leaving)
        subset = np.setdiff1d(subset, leaving, assume_unique=True)


def forward(
    scorer: Scorer,
    constant: NDArray[np.bool_],
    step: float,
    n_features: int,
    kept: NDArray[np.bool_] | None = None,
    after: Step | None = None,
    left_out: NDArray[np.bool_] | None = None,
) -> Iterator[Step]:
    """Select features, the most relevant ones first.

    Parameters
    ----------
    scorer : Scorer
    constant : ndarray of bool of shape (n_features,)
        Features that say nothing: they enter after all others.
    step : float or int
        See `round_size`.
    n_features : int
        Number of features that are wanted.
    kept : ndarray of bool of shape (n_features,), optional
        Features that are there from the beginning.
    after : Step, optional
        As for `backward`; not the last round.
    left_out : ndarray of bool of shape (n_features,), optional
        As for `backward`.

    Yields
    ------
    Step
        Until there are that many features.
    """
    subset = np.empty(0, dtype=np.intp) if kept is None else np.flatnonzero(kept)
    entering = subset[:0]
    if after is not None:
        subset, entering = np.union1d(after.subset, after.following), after.following
    while len(subset) < n_features:
        outside = np.setdiff1d(_taking_part(len(constant), left_out), subset, assume_unique=True)
        count = min(round_size(step, len(outside)), n_features - len(subset))
        candidates, idle = outside[~constant[outside]], outside[constant[outside]]
        wanted = min(count, len(candidates))
        ranked = scorer.entering(subset, candidates, wanted)
        following = np.concatenate([ranked.features, idle[: count - wanted]])
        if len(entering):
            yield Step.of(subset, ranked, entering, following)
        entering = following
        subset = np.union1d(subset, entering)
    yield Step.of(subset, scorer.score(subset), entering)


def _taking_part(n_features: int, left_out: NDArray[np.bool_] | None) -> Indices:
    return np.arange(n_features) if left_out is None else np.flatnonzero(~left_out)
