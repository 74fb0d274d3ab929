"""Estimate of the time that the remaining rounds of a search take, from that of the finished ones."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

# A round costs its candidates, and besides as much as this many of them: the kernel matrix and what follows from it.
_MATRIX = 50
# A regression costs as much as this part of the samples of a block has candidates.
_REGRESSION = 0.25
# Further regressions of a round that judges candidates by their own fits.
_MORE_FITS = 4.0

# Factors by which these costs may differ from the above on another machine or with other data.
_RATIOS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0, 2.0, 4.0, 8.0, 16.0)
_FIT_RATIOS = (1 / 4, 1 / 2, 1.0, 2.0)
_PENALTY = 0.005  # of a factor e, as a squared relative error of the times


@dataclass(frozen=True)
class Work:
    """What a round has to do.

    Attributes
    ----------
    candidates : int
        Features that may leave or enter.
    fits : bool
        Whether candidates have regressions of their own.
    search : int
        Number of the search that the round belongs to; each has a speed of its own.
    """

    candidates: int
    fits: bool = False
    search: int = 0


@dataclass(frozen=True)
class Estimate:
    """Share of the work that is done, between 0 and 1, and seconds that are left."""

    share: float
    seconds_left: float


def round_constant(samples: int, *, regression: bool) -> float:
    """Cost of a round but for its candidates, in candidates, for so many samples that are taken at once."""
    return _MATRIX + (_REGRESSION * samples if regression else 0)


def estimate(plan: Sequence[Work], seconds: Sequence[float | None], constant: float) -> Estimate:
    """Share of the work that is done, and the time that is left.

    The time of a round is taken to be s (n + c f): n is the number of candidates, c the constant part, f is 1, or more
    where candidates have regressions of their own. c and f are those that fit the finished rounds best, the speed s is
    that of the finished rounds of the same search, or of the last one that has begun.

    Parameters
    ----------
    plan : sequence of Work
        All rounds.
    seconds : sequence of float or None
        Times of the finished rounds, the first ones of the plan; None for rounds that an earlier fit has finished.
    constant : float
        First guess of c, see `round_constant`.

    Returns
    -------
    Estimate
        The time left is infinite before the first round is timed.

    Examples
    --------
    >>> rounds = [Work(100), Work(50), Work(25), Work(25)]
    >>> estimate(rounds, [1.0, 0.5], 0.0)
    Estimate(share=0.75, seconds_left=0.5)
    """
    timed = [(at, second) for at, second in enumerate(seconds) if second is not None and second > 0]
    guesses = [(_costs(plan, constant * ratio, _MORE_FITS * more), (ratio, more)) for ratio, more in _guesses(timed)]
    costs = min(guesses, key=lambda guess: _misfit(plan, timed, *guess))[0]
    speeds = _speeds(plan, timed, costs)
    times = [cost * speeds.get(work.search, _last(speeds)) for work, cost in zip(plan, costs, strict=True)]
    left, total = sum(times[len(seconds) :]), sum(times)
    return Estimate(1 - left / total if total else 1.0, left if timed or not left else math.inf)


def _guesses(timed: Sequence[object]) -> Iterator[tuple[float, float]]:
    return product(_RATIOS, _FIT_RATIOS) if timed else iter([(1.0, 1.0)])


def _costs(plan: Sequence[Work], constant: float, more_fits: float) -> list[float]:
    return [work.candidates + constant * (1 + more_fits * work.fits) for work in plan]


def _speeds(plan: Sequence[Work], timed: Sequence[tuple[int, float]], costs: Sequence[float]) -> dict[int, float]:
    """Seconds for a unit of cost in each search that has begun."""
    sums: dict[int, list[float]] = {}
    for at, second in timed:
        known = sums.setdefault(plan[at].search, [0.0, 0.0])
        known[0] += second
        known[1] += costs[at]
    return {search: second / cost if cost else 0.0 for search, (second, cost) in sums.items()}


def _last(speeds: dict[int, float]) -> float:
    return speeds[max(speeds)] if speeds else 1.0


def _misfit(
    plan: Sequence[Work], timed: Sequence[tuple[int, float]], costs: Sequence[float], ratios: tuple[float, float]
) -> float:
    """Mean squared relative error of the times, long rounds first, and what speaks against unusual ratios."""
    speeds, total = _speeds(plan, timed, costs), sum(second for _, second in timed) or 1.0
    error = sum(
        second * math.log(second / (costs[at] * speeds[plan[at].search])) ** 2
        for at, second in timed
        if costs[at] * speeds[plan[at].search] > 0
    )
    return error / total + _PENALTY * sum(math.log(ratio) ** 2 for ratio in ratios)


def in_words(seconds: float) -> str:
    """A time in round numbers.

    Examples
    --------
    >>> [in_words(seconds) for seconds in (0.2, 7.4, 23, 88, 150, 5000, 9000)]
    ['1 s', '7 s', '25 s', '90 s', '3 min', '83 min', '2.5 h']
    """
    if seconds < 10:
        return f"{max(1, round(seconds))} s"
    if seconds <= 92:
        return f"{5 * round(seconds / 5)} s"
    if seconds < 90 * 60:
        return f"{math.ceil(seconds / 60)} min" if seconds < 600 else f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"
