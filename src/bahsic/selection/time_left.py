"""Estimate of the time that the remaining rounds of a search take, from that of the finished ones."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

# Measured, in units of the cost of a candidate: the kernel matrix of a round and what follows from it, and a
# regression for each sample that it has. In parts of a regression: that of a candidate, which needs fewer numbers.
_MATRIX, _REGRESSION, _FIT = 150, 1.0, 0.45

# The first round of a search also makes what the others use again: it takes about so many times as long.
_FIRST = 2.5

# Factors by which these costs may differ on another machine or with other data.
_RATIOS = tuple(2.0**power for power in range(-6, 5))
_FIT_RATIOS = (1 / 2, 1.0, 2.0)
_PENALTY = 0.0005  # of a factor e, as a squared relative error of the times


@dataclass(frozen=True)
class Work:
    """Amount of work in a round.

    Attributes
    ----------
    candidates : int
        Features that may leave or enter.
    fits : int
        Candidates that have regressions of their own.
    search : int
        Number of the search that the round belongs to; each has a speed of its own.
    """

    candidates: int
    fits: int = 0
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

    The time of a round is taken to be s (n + c (1 + k f)): n is the number of candidates, c the constant part, f the
    number of candidates with regressions of their own. c and k are those that fit the finished rounds best, the speed s
    is that of the finished rounds of the same search, or of the last one that has begun. First rounds, which take
    longer, are left out as soon as there are others.

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
    >>> rounds = [Work(40), Work(100), Work(50), Work(50)]
    >>> estimate(rounds, [1.0, 1.0, 0.5], 0.0)
    Estimate(share=0.8333333333333334, seconds_left=0.5)
    """
    timed = _timed(plan, seconds)
    guesses = [(_costs(plan, constant * ratio, _FIT * more), (ratio, more)) for ratio, more in _guesses(timed)]
    costs = min(guesses, key=lambda guess: _misfit(plan, timed, *guess))[0]
    speeds = _speeds(plan, timed, costs)
    times = [cost * speeds.get(work.search, _last(speeds)) for work, cost in zip(plan, costs, strict=True)]
    left = sum(times[len(seconds) :])
    total = left + sum(known if known is not None else time for known, time in zip(seconds, times, strict=False))
    return Estimate(1 - left / total if total else 1.0, left if timed or not left else math.inf)


def _timed(plan: Sequence[Work], seconds: Sequence[float | None]) -> list[tuple[int, float]]:
    """Finished rounds and their times, without the first one of a search that has others."""
    found: dict[int, list[tuple[int, float]]] = {}
    for at, second in enumerate(seconds):
        if second is not None and second > 0:
            found.setdefault(plan[at].search, []).append((at, second))
    return [one for rounds in found.values() for one in rounds[_is_first(plan, rounds[0][0]) and len(rounds) > 1 :]]


def _is_first(plan: Sequence[Work], at: int) -> bool:
    return at == 0 or plan[at - 1].search != plan[at].search


def _guesses(timed: Sequence[object]) -> Iterator[tuple[float, float]]:
    return product(_RATIOS, _FIT_RATIOS) if timed else iter([(1.0, 1.0)])


def _costs(plan: Sequence[Work], constant: float, fit: float) -> list[float]:
    return [
        (work.candidates + constant * (1 + fit * work.fits)) * (_FIRST if _is_first(plan, at) else 1)
        for at, work in enumerate(plan)
    ]


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
