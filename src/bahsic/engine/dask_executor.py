"""Tiles as tasks on a Dask cluster: the only module that imports dask, and only when a cluster is used."""

from __future__ import annotations

import io
import os
import pickle
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
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
from bahsic.engine.executor import Executor, blas_controller, threads

Item = TypeVar("Item")
Result = TypeVar("Result")

_LASTING = (Columns, CentredWeights, BlockWeights)  # objects that stay the same from pass to pass, and are sent once
_TASKS, _IN_FLIGHT = 8, 3  # tasks for each thread of the cluster: in one pass, and in flight at a time
_ATTEMPTS = 5  # at the same tiles when workers are lost
_PATIENCE = 120  # seconds to wait for a new worker
_SENDING = 20  # seconds for sending an object the first time; four times as many in each further attempt


@contextmanager
def executor_for(executor: Any, X: Any, n_jobs: int | None, n_samples: int) -> Iterator[Executor]:
    """Threads of this process, or a cluster: of the given client, or of the current client if X is a dask array."""
    with threads(n_jobs, n_samples) as local:
        if isinstance(executor, str):
            with _connected(executor) as client:
                yield DaskExecutor(client, local)
            return
        client = _client_at_hand() if executor is None and is_dask_array(X) else executor
        if client is not None and not (hasattr(client, "submit") and hasattr(client, "scatter")):
            raise TypeError(
                f"executor is {executor!r}; accepted: None, a dask.distributed.Client or the address of a scheduler"
            )
        yield local if client is None else DaskExecutor(client, local)


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
        message = "executor needs dask and distributed, which are not installed: pip install 'bahsic[dask]'"
        raise ImportError(message) from error
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


class DaskExecutor(Executor):
    """Runs tasks of several tiles each on a cluster and returns the results in the order of the tiles.

    The function is sent once for each pass, and the data once for a search, unless X is a file, a zarr array or a dask
    array, which the tasks read. What stays in this process is done by local threads.
    """

    is_local = False

    def __init__(self, client: Any, local: Executor) -> None:
        super().__init__(local.n_threads, local.pool)
        self._client = client
        self._lasting: dict[int, tuple[Any, Any]] = {}

    def stream(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield the results in order, few tasks in flight at a time; function and tasks are sent again if lost."""
        n_threads = max(1, sum(self._client.nthreads().values()))
        waiting, lost = list(items), _losses()
        size = max(1, len(waiting) // (_TASKS * n_threads))
        batches = iter([waiting[start : start + size] for start in range(0, len(waiting), size)])
        sent, losses = self._sent(function), 0
        flying = deque((batch, sent, self.submit(sent, batch)) for batch in islice(batches, _IN_FLIGHT * n_threads))
        try:
            while flying:
                batch, held, future = flying.popleft()
                try:
                    results = future.result()
                except lost:
                    losses += 1
                    if losses > _ATTEMPTS:
                        raise
                    sent = self._sent(function) if held is sent else sent  # else it has been sent again already
                    flying.appendleft((batch, sent, self.submit(sent, batch)))
                    continue
                losses = 0
                flying.extend((batch, sent, self.submit(sent, batch)) for batch in islice(batches, 1))
                yield from results
        finally:
            for _, _, future in flying:
                future.cancel()

    def submit(self, sent: tuple[Any, dict[int, Any]], batch: list[Any]) -> Any:
        """Submit a task that applies a function that has been sent to some items; returns the future of the results."""
        return self._client.submit(_results, *sent, batch, os.getpid(), pure=False, retries=_ATTEMPTS)

    def _sent(self, function: Any) -> tuple[Any, dict[int, Any]]:
        """Send a function; returns its future, and those of the lasting objects that it refers to."""
        file = io.BytesIO()
        pickler = _pickler()(file)
        pickler.dump(function)
        lasting = {key: self._future(thing) for key, thing in pickler.lasting.items()}
        return self.scattered((uuid4().hex, file.getvalue())), lasting

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
        """Have every worker fetch an object from the others; returns its future."""
        # By tasks: distributed's broadcast, and all later ones, never end if a worker is killed meanwhile.
        fetch = partial(self._client.submit, _fetched, future, pure=False, allow_other_workers=True)
        for fetched in [fetch(workers=[address]) for address in self._client.nthreads()]:
            fetched.result(timeout=wait)
        return future


@cache
def _losses() -> tuple[type[BaseException], ...]:
    """Exceptions that a future raises when its worker or its data are lost."""
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
