"""Ordered map over tiles: the only place that knows how work is spread over workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, reduce
from typing import Any, Protocol, TypeVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")
Sums = tuple[NDArray[np.float64], ...]


class Executor(Protocol):
    """Applies a function to items and returns the results in the order of the items."""

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
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
    """Threads over tiles. Each calls a single-threaded BLAS: the sums don't depend on their number."""

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self._pool: ThreadPoolExecutor | None = None

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Results in the order of the items."""
        if self._pool is None:
            return map(function, items)
        return self._pool.map(function, items)


@contextmanager
def threads(n_jobs: int | None) -> Iterator[ThreadExecutor]:
    """An executor for the length of a ``with`` block, BLAS held to one thread in each worker."""
    executor = ThreadExecutor(thread_count(n_jobs))
    with blas_controller().limit(limits=1, user_api="blas"):
        if executor.n_threads == 1:
            yield executor
            return
        with ThreadPoolExecutor(executor.n_threads) as pool:
            executor._pool = pool
            yield executor


def map_sum(executor: Executor, function: Callable[[Item], Sums], items: Iterable[Item]) -> Sums:
    """Sum of the arrays that ``function`` returns for each item, added in the order of the items."""

    def added(total: Sums, part: Sums) -> Sums:
        return tuple(left + right for left, right in zip(total, part, strict=True))

    results: Iterator[Any] = executor.map(function, items)
    return reduce(added, results)
