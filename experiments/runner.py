"""Runs the cells of a grid in processes of their own, and writes down what they return."""

import contextlib
import math
import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path

from tqdm import tqdm

from experiments.data import MissingDataError
from experiments.frame import Cell, Experiment
from experiments.rows import VERSION, Row, Rows

# One thread for each process: with several of them, more would only wait for each other.
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_SECONDS_BETWEEN_LINES = 2.0


@dataclass
class _Worker:
    """A process that computes one cell at a time."""

    process: SpawnProcess
    pipe: Connection
    cell: Cell | None = None

    @classmethod
    def started(cls, experiment: Experiment, folder: Path | None) -> "_Worker":
        context = multiprocessing.get_context("spawn")  # so that it reads the environment before it loads BLAS
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(theirs, experiment, folder), daemon=True)
        process.start()
        theirs.close()
        return cls(process, ours)

    def begin(self, cell: Cell) -> None:
        self.cell = cell
        self.pipe.send(cell)

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


def _work(pipe: Connection, experiment: Experiment, folder: Path | None) -> None:
    """Receive cells until there is none, send (rows, error) for each."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    tqdm.set_lock(threading.RLock())  # its own is a semaphore of the system, which a killed process leaves behind
    with contextlib.suppress(EOFError):
        while True:
            cell = pipe.recv()
            _limit_time(experiment.time_limit)
            try:
                pipe.send((experiment.rows(cell, folder), ""))
            except MissingDataError as error:
                pipe.send(([], f"{error}\n"))
            except Exception:  # noqa: BLE001 - one bad cell must not end the others; the parent reports it
                pipe.send(([], traceback.format_exc()))


def _limit_time(seconds: float | None) -> None:
    """Let the system end this process after so much processor time; time in which it is stopped doesn't count."""
    if seconds is None or sys.platform == "win32":  # Windows has no such limit
        return
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time() + seconds), hard))


@dataclass
class Run:
    """The cells of an experiment that have no rows yet.

    Parameters
    ----------
    experiment : Experiment
        What to run.
    store : Rows
        Where the rows go.
    cells : sequence of dict
        The grid; cells whose rows are in the store are left out.
    folder : Path or None
        Where the data are.
    renew : bool
        Whether to run those cells of our methods again whose rows were made by another version of the code.
    """

    experiment: Experiment
    store: Rows
    cells: Sequence[Cell]
    folder: Path | None = None
    renew: bool = False
    n_failed: int = 0
    _pending: list[Cell] = field(default_factory=list)
    _told: set[str] = field(default_factory=set)
    _n_done: int = 0
    _last_line: float = 0.0

    def finish(self, jobs: int) -> int:
        """Run all cells in so many processes; return the number of those that raised an error.

        Failed cells have no rows, so the next run tries them again.
        """
        self.store.recover()
        if self.renew:
            ours = [cell for cell in self.cells if self.experiment.ours(cell)]
            self.store.drop_outdated({self.store.key(cell): self.experiment.version(cell) for cell in ours})
        done = self.store.cells()
        self._pending = [cell for cell in self.cells if self.store.key(cell) not in done]
        self._n_done = len(self.cells) - len(self._pending)
        os.environ.update(_ONE_THREAD)
        workers: list[_Worker] = []
        try:
            workers.extend(self._started() for _ in range(min(jobs, len(self._pending))))
            while busy := [worker for worker in workers if worker.cell is not None]:
                for ready in wait([worker.pipe for worker in busy]):
                    self._receive(next(worker for worker in busy if worker.pipe is ready), workers)
        finally:
            for worker in workers:
                worker.stop()
        self._tell(last=True)
        return self.n_failed

    def _started(self) -> _Worker:
        worker = _Worker.started(self.experiment, self.folder)
        self._begin_next(worker)
        return worker

    def _begin_next(self, worker: _Worker) -> None:
        worker.cell = None
        if self._pending:
            worker.begin(self._pending.pop(0))

    def _receive(self, worker: _Worker, workers: list[_Worker]) -> None:
        cell = worker.cell
        if cell is None:
            return
        try:
            rows, error = worker.pipe.recv()
        except (EOFError, ConnectionResetError):
            worker.stop()
            self._lost(cell, worker.process.exitcode)
            workers.remove(worker)
            workers.append(self._started())
            return
        if error:
            self._fail(cell, error)
        else:
            self._write(cell, rows)
        self._begin_next(worker)

    def _lost(self, cell: Cell, code: int | None) -> None:
        """A process ended: because of the limit of time, or for a reason that has to be looked into."""
        if sys.platform == "win32" or code != -signal.SIGXCPU:
            self._fail(cell, f"its process ended with status {code}\n")
            return
        series = self.experiment.series(cell)
        late = [cell, *(other for other in self._pending if self.experiment.series(other) == series)]
        self._pending = [other for other in self._pending if self.experiment.series(other) != series]
        for other in late:
            self._write(other, self.experiment.stopped(other))

    def _write(self, cell: Cell, rows: Sequence[Row]) -> None:
        known = {name: cell[name] for name in self.experiment.keys} | {VERSION: self.experiment.version(cell)}
        self.store.append([known | row for row in rows])
        self._n_done += 1
        self._tell(cell)

    def _fail(self, cell: Cell, error: str) -> None:
        self.n_failed += 1
        if error in self._told:
            return
        self._told.add(error)
        print(f"{self.experiment.name} {_described(cell)} failed: {error}", end="", file=sys.stderr, flush=True)

    def _tell(self, cell: Cell | None = None, *, last: bool = False) -> None:
        now = time.monotonic()
        if not last and now - self._last_line < _SECONDS_BETWEEN_LINES:
            return
        self._last_line = now
        line = f"{self.experiment.name}: {self._n_done} of {len(self.cells)} cells {_described(cell or {})}"
        print(line.rstrip(), file=sys.stderr, flush=True)


def _described(cell: Cell) -> str:
    return " ".join(f"{name}={value}" for name, value in cell.items())
