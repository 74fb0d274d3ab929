"""All searches of a fit: with each kernel, then on each half of the samples where these are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np

from bahsic.engine.plan import Plan, tile_plan
from bahsic.kernels.base import Kernel
from bahsic.selection.halves import Half, halves, most_trusted
from bahsic.selection.problem import Problem
from bahsic.selection.rounds import Search

# Samples on which a kernel is chosen, if there are more and they don't count several times; fewer for few columns.
TRIAL_SAMPLES, FEWER, FEW_COLUMNS = 1000, 700, 350


class Searches:
    """The searches of a fit, in the order in which they run.

    With several kernels the one that predicts best is chosen: by searches on all samples, or on `TRIAL_SAMPLES` of
    them where there are more, of which the best is then made on all.

    Parameters
    ----------
    problem : Problem
        With all kernels that are to be tried.
    plan : Plan
        The tiles of all samples.
    made : callable
        Makes the search for a problem with one kernel, its tiles, and the folders in which a checkpoint keeps it.
    quality : callable
        Says how good a finished search is.
    halved : bool
        Whether to search on halves of the samples too, with the best kernel.
    """

    def __init__(
        self,
        problem: Problem,
        plan: Plan,
        made: Callable[[Problem, Plan, tuple[str, ...]], Search],
        quality: Callable[[Search], float],
        *,
        halved: bool,
    ) -> None:
        self._plan, self._made, self._quality, self._halved = plan, made, quality, halved
        self._problems = problem.by_kernel()
        self._several = len(self._problems) > 1
        parts = [_some_samples(one) if self._several else None for one in self._problems]
        self._partly = parts[0] is not None
        self._tried = [self._trial(one, part) for one, part in zip(self._problems, parts, strict=True)]

    def __len__(self) -> int:
        return len(self._tried) + int(self._partly) + (2 if self._halved else 0)

    def __iter__(self) -> Iterator[Search]:
        """The searches; what depends on the best kernel is made when all kernels have been tried."""
        yield from self._tried
        if self._partly:
            yield self.best
        if self._halved:
            yield from (half.search for half in self._halves)

    @property
    def first(self) -> Search:
        """The first search."""
        return self._tried[0]

    def rounds_left(self, n_rounds: int) -> int:
        """Rounds that are still to be made, if each search has so many; at most, as more may be kept."""
        return len(self) * n_rounds - sum(len(search.path) for search in self._tried)

    @cached_property
    def best(self) -> Search:
        """The search on all samples with the best kernel."""
        at = max(range(len(self._tried)), key=lambda at: self._quality(self._tried[at])) if self._several else 0
        problem = self._problems[at]
        return self._made(problem, self._plan, self._folders(problem)) if self._partly else self._tried[at]

    @property
    def most(self) -> int:
        """Greatest number of units that "auto" takes."""
        return most_trusted(self._halves, self.best.most) if self._halved else self.best.most

    @cached_property
    def _halves(self) -> list[Half]:
        folders = self._folders(self.best.problem)

        def search_on(part: Problem, number: int) -> Search:
            return self._made(part, tile_plan(len(part.labels)), (*folders, f"half-{number + 1}"))

        return halves(self.best.problem, search_on)

    def _trial(self, problem: Problem, part: Problem | None) -> Search:
        if part is None:
            return self._made(problem, self._plan, self._folders(problem))
        tiles = tile_plan(len(part.labels))
        return self._made(part, tiles, (*self._folders(problem), "trial"))

    def _folders(self, problem: Problem) -> tuple[str, ...]:
        return (kernel_name(problem.kernel),) if self._several else ()


def _some_samples(problem: Problem) -> Problem | None:
    """The problem on which a kernel is tried: some samples at random, as one block; None for all samples."""
    m, n = len(problem.labels), TRIAL_SAMPLES
    if m <= n or problem.weights is not None:
        return None
    if problem.data.columns.n_features <= FEW_COLUMNS:
        n = min(n, FEWER)
    return problem.of_samples(np.sort(np.random.default_rng(0).permutation(m)[:n]))


def kernel_name(kernel: Kernel) -> str:
    """The name of a kernel's type, as users write it."""
    return type(kernel).__name__.lower()
