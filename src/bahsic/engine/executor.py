"""Ordered map over tiles: the only place that knows how work is spread over workers."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache, reduce
from typing import Protocol, TypeVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")
Sums = tuple[NDArray[np.float64], ...]


_SWITCH_INTERVAL = 5e-4  # seconds
_WORTH_THREADS = 1000  # samples


class Executor(Protocol):
    """Applies a function to items and returns the results in the order of the items."""

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """Results in the order of the items."""


@cache
def blas_controller() -> ThreadpoolController:
    """The BLAS libraries of this process; looking for them takes milliseconds, so it is done once."""
    return ThreadpoolController()


def thread_count(n_jobs: int | None) -> int:
    """Number of threads meant by ``n_jobs``; None means as many as BLAS would use by itself.

    Examples
    --------
    >>> thread_count(2)
    2
    """
    if n_jobs is not None:
        return int(effective_n_jobs(n_jobs))
    info = blas_controller().select(user_api="blas").info()
    return max((int(library["num_threads"]) for library in info), default=1)


class ThreadExecutor:
    """Threads over items, the calling thread among them.

    Each thread calls a single-threaded BLAS, and what it computes for an item depends on that item
    alone: results don't depend on the number of threads.
    """

    def __init__(self, n_threads: int, pool: ThreadPoolExecutor | None = None) -> None:
        self.n_threads = n_threads
        self._pool = pool

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """Results in the order of the items."""
        waiting = deque(enumerate(items))
        results: dict[int, Result] = {}

        def work() -> None:
            while (task := _next(waiting)) is not None:
                index, item = task
                try:
                    results[index] = function(item)
                except BaseException:
                    waiting.clear()  # nobody wants the rest
                    raise

        n_helpers = min(self.n_threads, len(waiting)) - 1
        helpers = [self._pool.submit(work) for _ in range(n_helpers)] if self._pool else []
        try:
            work()
        finally:
            wait(helpers)
        for helper in helpers:
            helper.result()
        return [results[index] for index in range(len(results))]


def _next(waiting: deque[tuple[int, Item]]) -> tuple[int, Item] | None:
    """The next one, or None; asking first would leave time for another thread to take the last one."""
    try:
        return waiting.popleft()
    except IndexError:
        return None


@contextmanager
def threads(n_jobs: int | None, n_samples: int | None = None) -> Iterator[ThreadExecutor]:
    """An executor for the length of a ``with`` block, BLAS held to one thread in each worker.

    With ``n_jobs=None`` few samples get one thread: their tiles are done before a second one wakes up.
    """
    few = n_jobs is None and n_samples is not None and n_samples < _WORTH_THREADS
    n_threads = 1 if few else thread_count(n_jobs)
    with blas_controller().limit(limits=1, user_api="blas"):
        if n_threads == 1:
            yield ThreadExecutor(1)
            return
        with _fair_switching(), ThreadPoolExecutor(n_threads - 1) as pool:
            yield ThreadExecutor(n_threads, pool)


@contextmanager
def _fair_switching() -> Iterator[None]:
    """Let threads change often: array operations of some 50 us would keep the others waiting for 5 ms."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, _SWITCH_INTERVAL))
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def map_sum(executor: Executor, function: Callable[[Item], Sums], items: Iterable[Item]) -> Sums:
    """Sum of the arrays that ``function`` returns for each item, added in the order of the items."""

    def added(total: Sums, part: Sums) -> Sums:
        return tuple(left + right for left, right in zip(total, part, strict=True))

    return reduce(added, executor.map(function, items))
