"""Backward elimination and forward selection: which units leave or enter, round by round.

A search knows neither kernels nor scikit-learn: it asks a scorer which units are next.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bahsic.engine.scorer import NO_UNITS, Round
from bahsic.engine.units import Units

Indices = NDArray[np.intp]


class Scorer(Protocol):
    """Scores of subsets; see `bahsic.engine.scorer.Scorer`."""

    def leaving(self, subset: Indices, candidates: Indices, count: int) -> Round: ...
    def entering(self, subset: Indices, candidates: Indices, count: int) -> Round: ...
    def score(self, subset: Indices) -> Round: ...


def round_size(step: float, remaining: int) -> int:
    """Return the number of units that change in a round: an int is a count, a float a fraction of the remaining ones.

    Examples
    --------
    >>> round_size(0.1, 25), round_size(0.1, 5), round_size(3, 2)
    (2, 1, 2)
    """
    count = int(step) if isinstance(step, Integral) else math.floor(step * remaining)
    return min(remaining, max(1, count))


@dataclass(frozen=True, eq=False)
class Backward:
    """Elimination of all units, the least relevant ones first (the paper's algorithm BAHSIC)."""

    units: Units  # kept ones never leave, those left out take no part
    step: float  # see `round_size`

    def rounds(self, scorer: Scorer, after: Round | None = None) -> Iterator[Round]:
        """Yield rounds until no unit is left that may leave; one without a change where none may from the beginning.

        After a given round of an earlier search, the scorer is in the state that it had then.
        """
        kept, subset = self.units.kept, np.flatnonzero(~self.units.left_out)
        if after is not None:
            subset = np.setdiff1d(after.subset, after.changed, assume_unique=True)
        elif kept[subset].all():
            yield scorer.score(subset)
        while not kept[subset].all():
            free = subset[~kept[subset]]
            answer = scorer.leaving(subset, free, round_size(self.step, len(free)))
            yield answer
            subset = np.setdiff1d(subset, answer.changed, assume_unique=True)

    def sizes(self) -> list[int]:
        """Return the number of units in the subset of each round."""
        kept, sizes = self.units.n_kept, []
        free = self.units.n_used - kept
        while free:
            sizes.append(free + kept)
            free -= round_size(self.step, free)
        return sizes or [kept]

    def order(self, rounds: Sequence[Round], scorer: Scorer | None = None) -> Indices:
        """Return all units, the most relevant first."""
        leaving = [unit for step in rounds for unit in step.changed]
        parts = [*np.flatnonzero(self.units.left_out)[::-1], *leaving, *np.flatnonzero(self.units.kept)]
        return np.array(parts, dtype=np.intp)[::-1]


@dataclass(frozen=True, eq=False)
class Forward:
    """Selection of units, the most relevant ones first."""

    units: Units  # kept ones are there from the beginning, those left out take no part
    step: float  # see `round_size`
    number: int  # of units at which the search ends

    def rounds(self, scorer: Scorer, after: Round | None = None) -> Iterator[Round]:
        """Yield rounds until there are enough units.

        After a given round of an earlier search, not the last one, the scorer is in the state that it had then.
        """
        subset, entering = np.flatnonzero(self.units.kept), NO_UNITS
        if after is not None:
            subset, entering = np.union1d(after.subset, after.following), after.following
        while len(subset) < self.number:
            outside = np.setdiff1d(np.flatnonzero(~self.units.left_out), subset, assume_unique=True)
            count = min(round_size(self.step, len(outside)), self.number - len(subset))
            answer = scorer.entering(subset, outside, count)
            if len(entering):
                yield replace(answer, changed=entering, following=answer.changed)
            entering = answer.changed
            subset = np.union1d(subset, entering)
        yield replace(scorer.score(subset), changed=entering)

    def sizes(self) -> list[int]:
        """Return the number of units in the subset of each round."""
        n_used, selected, sizes = self.units.n_used, self.units.n_kept, []
        while selected < self.number:
            selected += min(round_size(self.step, n_used - selected), self.number - selected)
            sizes.append(selected)
        return sizes or [selected]

    def order(self, rounds: Sequence[Round], scorer: Scorer | None = None) -> Indices:
        """Return all units, the most relevant first; those that did not enter by what each would add, with a scorer."""
        entering = [unit for step in rounds for unit in step.changed]
        chosen = np.array([*np.flatnonzero(self.units.kept), *entering], dtype=np.intp)
        outside = np.setdiff1d(np.flatnonzero(~self.units.left_out), chosen, assume_unique=True)
        if scorer is not None and len(outside):
            outside = scorer.entering(np.sort(chosen), outside, len(outside)).changed
        return np.concatenate([chosen, outside, np.flatnonzero(self.units.left_out)])
