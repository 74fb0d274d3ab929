"""Ordered map over tiles: the only place that knows how work is spread over workers."""

from __future__ import annotations

import math
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple, TypeVar

import numpy as np
from joblib import effective_n_jobs, parallel_config
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from bahsic.parameters import check_jobs

Item = TypeVar("Item")
Result = TypeVar("Result")


class Placed(NamedTuple):
    """A part of a vector over all samples, from sample ``start`` on."""

    start: int
    values: NDArray[Any]


Sums = tuple[NDArray[np.float64] | Placed, ...]

_SWITCH_INTERVAL = 5e-4  # seconds
_WORTH_THREADS = 1000  # samples


@cache
def blas_controller() -> ThreadpoolController:
    """The BLAS libraries of this process; looking for them takes milliseconds, so it is done once."""
    return ThreadpoolController()


def thread_count(n_jobs: int | None) -> int:
    """Return the number of threads meant by ``n_jobs``; None means as many as BLAS would use by itself."""
    if n_jobs is not None:
        check_jobs(n_jobs)
        with parallel_config(backend="threading"):  # allowed also in processes that may not start others
            return int(effective_n_jobs(n_jobs))
    info = blas_controller().select(user_api="blas").info()
    return max((int(library["num_threads"]) for library in info), default=1)


class Executor:
    """Threads over items, the calling one among them.

    Each calls a single-threaded BLAS, so that results don't depend on their number.
    """

    is_local = True  # whether `stream` works in this process

    def __init__(self, n_threads: int = 1, pool: ThreadPoolExecutor | None = None) -> None:
        self.n_threads, self.pool = n_threads, pool

    def stream(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterable[Result]:
        """Return the results in the order of the items; the function may run in any process."""
        return self.map(function, items)

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """Do so in this process, where the function may write into shared arrays; no item is begun after an error."""
        todo = list(items)
        if self.pool is None or len(todo) < 2:
            return [function(item) for item in todo]
        results: list[Any] = [None] * len(todo)
        left = deque(range(len(todo)))

        def work() -> None:
            while True:
                try:
                    position = left.popleft()
                except IndexError:  # another thread has taken the last one
                    return
                try:
                    results[position] = function(todo[position])
                except BaseException:
                    left.clear()
                    raise

        helpers = [self.pool.submit(work) for _ in range(min(self.n_threads, len(todo)) - 1)]
        try:
            work()
        finally:
            begun = [helper for helper in helpers if not helper.cancel()]
            wait(begun)
        for helper in begun:
            helper.result()  # raises its error
        return results


@contextmanager
def threads(n_jobs: int | None, n_samples: int | None = None) -> Iterator[Executor]:
    """An executor for the length of a ``with`` block, BLAS held to one thread in each worker."""
    # The tiles of few samples are done before a second thread wakes up.
    are_few = n_jobs is None and n_samples is not None and n_samples < _WORTH_THREADS
    n_threads = 1 if are_few else thread_count(n_jobs)
    with blas_controller().limit(limits=1, user_api="blas"):
        if n_threads == 1:
            yield Executor()
            return
        with fair_switching(), ThreadPoolExecutor(n_threads - 1) as pool:
            yield Executor(n_threads, pool)


@contextmanager
def fair_switching() -> Iterator[None]:
    """Switch threads every 0.5 ms instead of 5: array operations take about 50 us, and other threads would wait."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, _SWITCH_INTERVAL))
    try:
        yield
    finally:
        sys.setswitchinterval(before)


class Scratch(threading.local):
    """Named buffers of the calling thread, each valid until that thread takes the same name again.

    First touching fresh memory costs ten times more than the arithmetic on it, so all passes share the names.
    """

    def __init__(self) -> None:
        self._buffers: dict[str, NDArray[np.uint8]] = {}

    def take(self, name: str, shape: tuple[int, ...], dtype: Any = np.float64) -> NDArray[Any]:
        """Return an array of undefined content."""
        size = math.prod(shape) * np.dtype(dtype).itemsize
        buffer = self._buffers.get(name)
        if buffer is None or len(buffer) < size:
            buffer = self._buffers[name] = np.empty(size, dtype=np.uint8)
        return np.ndarray(shape, dtype, buffer)


def map_sum(
    executor: Executor, function: Callable[[Item], Sums], items: Iterable[Item], n_samples: int = 0
) -> tuple[NDArray[Any], ...]:
    """Add up the arrays that ``function`` returns for each item, in the order of the items, each in its place."""
    totals: list[NDArray[Any]] = []
    for part in executor.stream(function, items):
        if not totals:
            totals = [np.zeros(n_samples if isinstance(one, Placed) else one.shape) for one in part]
        for total, one in zip(totals, part, strict=True):
            if isinstance(one, Placed):
                total[one.start : one.start + len(one.values)] += one.values
            else:
                total[...] += one
    return tuple(totals)
