"""Ordered map over tiles: the only place that knows how work is spread over workers."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

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
_WINDOW = 4  # results that may wait for their turn, for each worker


class Executor(Protocol):
    """Applies a function to items and returns the results in the order of the items."""

    @property
    def is_local(self) -> bool:
        """Whether `stream` works in this process."""

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """Results in the order of the items; the function runs in this process and may write into shared arrays."""

    def stream(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield the results in the order of the items, few in memory at a time; the function may run in any process."""


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
        check_jobs(n_jobs)
        with parallel_config(backend="threading"):  # allowed also in processes that may not start others
            return int(effective_n_jobs(n_jobs))
    info = blas_controller().select(user_api="blas").info()
    return max((int(library["num_threads"]) for library in info), default=1)


class _Shared(Generic[Item, Result]):
    """Items that several threads take one after the other, and results that wait for their turn.

    Items are taken at most ``ahead`` beyond the results that were asked for.
    """

    def __init__(self, function: Callable[[Item], Result], items: Sequence[Item], ahead: int) -> None:
        self._function, self._items, self._ahead = function, items, ahead
        self._changed = threading.Condition()
        self._done: dict[int, tuple[Any, BaseException | None]] = {}
        self._taken = self._returned = 0

    def work(self) -> None:
        """Work on items until none is left."""
        while (position := self._take(wait=True)) is not None:
            self._do(position, BaseException)

    def results(self) -> Iterator[Result]:
        """Yield the results in the order of the items; the calling thread works too."""
        for turn in range(len(self._items)):
            while turn not in self._done and (position := self._take(wait=False)) is not None:
                self._do(position, Exception)  # an interrupt does not wait for its turn
            with self._changed:
                while turn not in self._done:
                    self._changed.wait()
                result, error = self._done.pop(turn)
                self._returned = turn + 1
                self._changed.notify_all()
            if error is not None:
                try:
                    raise error
                finally:
                    del error  # its traceback refers to this frame
            yield result

    def close(self) -> None:
        """Leave the items that no thread has taken."""
        with self._changed:
            self._taken = len(self._items)
            self._changed.notify_all()

    def _take(self, *, wait: bool) -> int | None:
        """Position of an item for the calling thread; None if none is left, or none may be taken yet."""
        with self._changed:
            while wait and self._returned + self._ahead <= self._taken < len(self._items):
                self._changed.wait()
            position = self._taken
            if position >= min(len(self._items), self._returned + self._ahead):
                return None
            self._taken += 1
            return position

    def _do(self, position: int, kept: type[BaseException]) -> None:
        try:
            outcome: tuple[Any, BaseException | None] = self._function(self._items[position]), None
        except kept as error:
            outcome = None, error
        with self._changed:
            self._done[position] = outcome
            self._changed.notify_all()


class ThreadExecutor:
    """Threads over items, the calling one among them.

    Each thread calls a single-threaded BLAS, and the result for an item depends on that item alone:
    results don't depend on the number of threads.
    """

    is_local = True

    def __init__(self, n_threads: int, pool: ThreadPoolExecutor | None = None) -> None:
        self.n_threads = n_threads
        self._pool = pool

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """Results in the order of the items."""
        return list(self.stream(function, items))

    def stream(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Results in the order of the items, at most a few for each thread in memory."""
        waiting = list(items)
        if self._pool is None or len(waiting) < 2:
            yield from map(function, waiting)
            return
        shared = _Shared(function, waiting, _WINDOW * self.n_threads)
        helpers = [self._pool.submit(shared.work) for _ in range(min(self.n_threads, len(waiting)) - 1)]
        try:
            yield from shared.results()
        finally:  # done, an error, or nobody wants the rest
            shared.close()
            wait([helper for helper in helpers if not helper.cancel()])


@contextmanager
def threads(n_jobs: int | None, n_samples: int | None = None) -> Iterator[ThreadExecutor]:
    """An executor for the length of a ``with`` block, BLAS held to one thread in each worker.

    With ``n_jobs=None`` few samples get one thread: their tiles are done before a second one wakes up.
    """
    n_threads = 1 if _are_few(n_jobs, n_samples) else thread_count(n_jobs)
    with blas_controller().limit(limits=1, user_api="blas"):
        if n_threads == 1:
            yield ThreadExecutor(1)
            return
        with fair_switching(), ThreadPoolExecutor(n_threads - 1) as pool:
            yield ThreadExecutor(n_threads, pool)


def _are_few(n_jobs: int | None, n_samples: int | None) -> bool:
    return n_jobs is None and n_samples is not None and n_samples < _WORTH_THREADS


@contextmanager
def fair_switching() -> Iterator[None]:
    """Switch threads every 0.5 ms instead of 5: array operations take about 50 us, and other threads would wait."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, _SWITCH_INTERVAL))
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def map_sum(
    executor: Executor, function: Callable[[Item], Sums], items: Iterable[Item], n_samples: int = 0
) -> tuple[NDArray[Any], ...]:
    """Sum of the arrays that ``function`` returns for each item, added in the order of the items.

    A `Placed` array is added to its part of a vector over all ``n_samples`` samples.
    """
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
