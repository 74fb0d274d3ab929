"""Tiles as tasks on a Dask cluster: the only module that imports dask, and only when a cluster is used."""

from __future__ import annotations

import io
import os
import pickle
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from itertools import islice
from threading import Lock
from typing import Any, TypeVar
from uuid import uuid4

from bahsic.criteria.blocks import BlockWeights
from bahsic.criteria.weights import CentredWeights
from bahsic.data.columns import Columns
from bahsic.data.sources import is_dask_array
from bahsic.engine.executor import Executor, ThreadExecutor, blas_controller, threads

Item = TypeVar("Item")
Result = TypeVar("Result")

# Objects that stay the same from pass to pass, and are sent once.
_LASTING = (Columns, CentredWeights, BlockWeights)

# Tasks for each thread of the cluster: in one pass, and in flight at a time.
_TASKS, _IN_FLIGHT = 8, 3

# Attempts at the same tiles when workers are lost, and the seconds to wait for a new worker.
_ATTEMPTS = 5
_PATIENCE = 120

# Seconds for sending an object the first time; four times as many in each further attempt.
_SENDING = 20

_INSTALL = "executor needs dask and distributed, which are not installed: pip install 'bahsic[dask]'"


@contextmanager
def executor_for(executor: Any, X: Any, n_jobs: int | None, n_samples: int) -> Iterator[Executor]:
    """Threads of this process, or a cluster: of the given client, or of the current client if X is a dask array."""
    with threads(n_jobs, n_samples) as local, _client(executor, X) as client:
        yield local if client is None else DaskExecutor(client, local)


@contextmanager
def _client(executor: Any, X: Any) -> Iterator[Any]:
    if isinstance(executor, str):
        with _connected(executor) as client:
            yield client
    elif executor is None:
        yield _client_at_hand() if is_dask_array(X) else None
    elif hasattr(executor, "submit") and hasattr(executor, "scatter"):
        yield executor
    else:
        raise TypeError(
            f"executor is {executor!r}; accepted: None, a dask.distributed.Client or the address of a scheduler"
        )


def _connected(address: str) -> Any:
    distributed = _distributed()
    try:
        distributed.comm.resolve_address(address)  # else a client with a wrong address takes a minute to delete
        return distributed.Client(address, set_as_default=False)
    except (ValueError, OSError) as error:  # not an address, or no scheduler there
        raise ValueError(
            f"executor is {address!r} ({error}); accepted: a client, or the address of a scheduler such as 'tcp://host:8786'"
        ) from error


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise ImportError(_INSTALL) from error
    return distributed


def _client_at_hand() -> Any:
    """The current dask client, or None."""
    if "distributed" not in sys.modules:
        return None
    try:
        return _distributed().get_client()
    except ValueError:
        return None


def client_address(executor: Any) -> Any:
    """Address of the scheduler of a client; anything else is returned as it is."""
    return executor.scheduler.address if hasattr(executor, "scheduler") else executor


class DaskExecutor:
    """Runs tasks of several tiles each on a cluster and returns the results in the order of the tiles.

    A task calls the same function of a tile as a thread would; the function is sent once for each pass. The data are
    sent once for a search, or read by the tasks if X is a file, a zarr array or a dask array.

    Parameters
    ----------
    client : dask.distributed.Client
    local : ThreadExecutor
        Threads for the work that stays in this process.
    """

    is_local = False

    def __init__(self, client: Any, local: ThreadExecutor) -> None:
        self._client, self._local = client, local
        self._lasting: dict[int, tuple[Any, Any]] = {}

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """Results in the order of the items, by the threads of this process."""
        return self._local.map(function, items)

    def stream(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Results in the order of the items, by the cluster; few tasks are in flight at a time."""
        n_threads = max(1, sum(self._client.nthreads().values()))
        waiting = list(items)
        size = max(1, len(waiting) // (_TASKS * n_threads))
        batches = iter([waiting[start : start + size] for start in range(0, len(waiting), size)])
        cargo = _Pass(self, function)
        flying = deque(cargo.task(batch) for batch in islice(batches, _IN_FLIGHT * n_threads))
        try:
            while flying:
                results = flying.popleft().results()
                flying.extend(cargo.task(batch) for batch in islice(batches, 1))
                yield from results
        finally:
            for task in flying:
                task.cancel()

    def packed(self, function: Any) -> tuple[bytes, dict[int, Any]]:
        """A function as bytes, and the futures of the lasting objects that it refers to."""
        file = io.BytesIO()
        pickler = _pickler()(file)
        pickler.dump(function)
        return file.getvalue(), {key: self._future(thing) for key, thing in pickler.lasting.items()}

    def _future(self, thing: Any) -> Any:
        known = self._lasting.get(id(thing))
        if known is None or known[1].status != "finished":
            known = self._lasting[id(thing)] = (thing, self.scattered(thing, everywhere=True))
        return known[1]

    def scattered(self, thing: Any, *, everywhere: bool = False) -> Any:
        """Send an object to one worker or to all, again if it is lost meanwhile; returns its future."""
        # distributed's CommClosedError is an OSError, and so is TimeoutError.
        lost: tuple[type[BaseException], ...] = OSError, *_losses()
        losses = 0
        while True:
            self._client.wait_for_workers(1, timeout=_PATIENCE)
            send = partial(self._client.scatter, [thing], hash=False, asynchronous=True)
            wait = _SENDING * 4**losses  # limited, as a worker that is killed while it receives may never be noticed
            try:
                future = self._client.sync(send, callback_timeout=wait)[0]
                return self._spread(future, wait) if everywhere else future
            except lost:
                losses += 1
                if losses == _ATTEMPTS:
                    raise
            time.sleep(losses)  # the scheduler has to notice first

    def _spread(self, future: Any, wait: float) -> Any:
        """Have every worker fetch an object from the others; returns its future.

        By a task for each: distributed's broadcast tries for ever if a worker is killed meanwhile, and all later
        broadcasts wait for it.
        """
        fetch = partial(self._client.submit, _fetched, future, pure=False, allow_other_workers=True)
        for fetched in [fetch(workers=[address]) for address in self._client.nthreads()]:
            fetched.result(timeout=wait)
        return future

    def submit(self, *arguments: Any) -> Any:
        """Submit a task; returns the future of its results."""
        return self._client.submit(_results, *arguments, os.getpid(), pure=False, retries=_ATTEMPTS)


class _Pass:
    """A function on the cluster, sent again if the workers that held it are lost."""

    def __init__(self, executor: DaskExecutor, function: Any) -> None:
        self.executor, self._function = executor, function
        self.version = 0
        self.send()

    def send(self) -> None:
        """Send the function and what it refers to."""
        packed, self._lasting = self.executor.packed(self._function)
        self._payload = self.executor.scattered((uuid4().hex, packed))
        self.version += 1

    def task(self, batch: list[Any]) -> _Task:
        """Submit some items as a task."""
        return _Task(self, batch)

    def submit(self, batch: list[Any]) -> Any:
        """Submit some items; returns the future of their results."""
        return self.executor.submit(self._payload, self._lasting, batch)


class _Task:
    """Items submitted to the cluster, submitted again if their worker is lost."""

    def __init__(self, cargo: _Pass, batch: list[Any]) -> None:
        self._cargo, self._batch = cargo, batch
        self._submit()

    def _submit(self) -> None:
        self._version = self._cargo.version
        self._future = self._cargo.submit(self._batch)

    def results(self) -> list[Any]:
        """Wait for the results."""
        lost = _losses()
        for _ in range(_ATTEMPTS):
            try:
                return list(self._future.result())
            except lost:
                if self._version == self._cargo.version:  # else another task has sent everything again
                    self._cargo.send()
                self._submit()
        return list(self._future.result())

    def cancel(self) -> None:
        """Cancel the task; its results are not needed."""
        self._future.cancel()


@cache
def _losses() -> tuple[type[BaseException], ...]:
    """Exceptions that a future raises when its worker or its data are lost."""
    from concurrent.futures import CancelledError

    return CancelledError, _distributed().KilledWorker


@cache
def _pickler() -> Any:
    """Pickler that leaves lasting objects out and lists them in ``lasting``."""
    import cloudpickle

    class Pickler(cloudpickle.CloudPickler):
        def __init__(self, file: Any) -> None:
            super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
            self.lasting: dict[int, Any] = {}

        def persistent_id(self, thing: Any) -> int | None:
            if type(thing) not in _LASTING:
                return None
            self.lasting[id(thing)] = thing
            return id(thing)

    return Pickler


class _Unpickler(pickle.Unpickler):
    def __init__(self, content: bytes, lasting: dict[int, Any]) -> None:
        super().__init__(io.BytesIO(content))
        self._lasting = lasting

    def persistent_load(self, key: int) -> Any:
        return self._lasting[key]


# The function that a worker has unpickled last, since it is used for many tiles.
_unpacked: dict[str, Any] = {}
_lock = Lock()


def _fetched(thing: Any) -> None:
    """Task that needs an object, so that its worker fetches it."""


def _results(payload: tuple[str, bytes], lasting: dict[int, Any], items: list[Any], origin: int) -> list[Any]:
    """Task that runs on a worker: the function's results for some tiles."""
    if os.getpid() != origin:
        _one_blas_thread()
    token, content = payload
    with _lock:
        if token not in _unpacked:
            _unpacked.clear()  # it may be large
            _unpacked[token] = _Unpickler(content, lasting).load()
        function = _unpacked[token]
    return [function(item) for item in items]


@cache
def _one_blas_thread() -> Any:
    """Limit BLAS to one thread in this process from now on, as `bahsic.engine.executor.threads` does."""
    return blas_controller().limit(limits=1, user_api="blas")
