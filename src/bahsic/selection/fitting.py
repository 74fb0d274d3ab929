"""The searches of a fit: on all samples, and in folds side by side, with their checkpoints and their progress."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context, get_config

from bahsic.data.columns import Columns
from bahsic.engine.executor import Executor, ThreadExecutor, fair_switching
from bahsic.kernels import Kernel
from bahsic.selection.checkpoint import Checkpoint, KeptFile
from bahsic.selection.crossfit import CrossFit, Fold
from bahsic.selection.problem import Problem
from bahsic.selection.progress import Progress
from bahsic.selection.rounds import Search, Task
from bahsic.selection.splits import Split

Indices = NDArray[np.intp]
Item = TypeVar("Item")
Result = TypeVar("Result")

_HELD_OUT = "bahsic-held-out.json"


@dataclass(frozen=True)
class Folder:
    """Folder of a checkpoint, with the fingerprint of the fit that it belongs to."""

    path: Path
    fingerprint: Mapping[str, str]

    def inner(self, *names: str) -> Folder:
        """Return a folder inside, for a part of the fit."""
        part = {"part": "/".join(names)} if names else {}
        return Folder(self.path.joinpath(*names), {**self.fingerprint, **part})

    def rounds(self) -> Checkpoint:
        """Return the rounds that are kept in the folder."""
        return Checkpoint(self.path, self.fingerprint)

    def file(self, name: str) -> KeptFile:
        """Return a file of the folder."""
        return KeptFile(self.path, name, self.fingerprint)


Judge = Callable[[int, Search, Columns, "Folder | None"], Result]


class Interrupted(Exception):  # noqa: N818 - no error of its own: another search has failed
    """A search was stopped because another one beside it has failed or was interrupted."""


@dataclass(eq=False)
class Fitting:
    """The searches of a fit.

    Attributes
    ----------
    problem : Problem
    task : Task
    executor : Executor
        Works on the tiles of the search on all samples.
    n_threads : int
        Number of folds at a time, each in one thread. Folds that are left over, and all of them on a cluster, run one
        after the other.
    progress : Progress
    folder : Folder or None
        Where to keep finished rounds and folds.
    regressions : bool
        Whether subsets predict held-out samples by regressions of their own.
    """

    problem: Problem
    task: Task
    executor: Executor
    n_threads: int
    progress: Progress
    folder: Folder | None
    regressions: bool = True
    _judged: dict[str, Search] = field(default_factory=dict, init=False)  # by held-out samples

    def search(self, kernel: Kernel) -> Search:
        """Search on all samples that are not held out."""
        problem, name = self.problem.with_kernel(kernel), kernel_name(kernel)
        if name in self._judged:
            return self._judged[name]
        if not problem.n_held_out and len(problem.searched) == len(problem):
            return self._searched(problem.in_blocks(), self.executor, self.folder, regressions=False)
        part, _ = problem.split(problem.searched, problem.searched[:0])
        return self._searched(part, self.executor, self._inner(name, "fold-1"), regressions=False)

    def cross_fit(
        self, kernel: Kernel, splits: Sequence[Split], sizes: Sequence[int], known: Sequence[Fold] = ()
    ) -> CrossFit:
        """Search on the training part of each split, and predict its test part with subsets of these sizes.

        The outcome of the first splits may be known.
        """

        def judge(number: int, search: Search, columns: Columns, folder: Folder | None) -> Fold:
            file = None if folder is None else folder.file(_HELD_OUT)
            if file is not None and file.found:
                return Fold.from_plain(file.found["fold"])
            found = Fold(splits[number].test, search.used_first, search.predictions(columns, sizes))
            if file is not None:
                file.replace(fold=found.as_plain())
            return found

        return CrossFit(self.problem, [*known, *self.folds(kernel, splits, judge, len(known))])

    def needed(self, kernel: Kernel, splits: Sequence[Split], judged: CrossFit, size: int, found: Indices) -> CrossFit:
        """Let each fold predict with what it needs of its best so many units.

        For held-out samples these are known: those that the search on all others needs.
        """
        problem, known = self.problem.with_kernel(kernel), self._judged.get(kernel_name(kernel))
        n_threads = self._n_beside(len(splits))

        def fold(number: int, _stop: Event) -> Fold:
            before = judged.folds[number]
            part, columns = problem.split(*splits[number])
            executor = ThreadExecutor(1) if n_threads > 1 else self.executor
            search = known or Search(part, self.task, executor, regressions=True)
            units = found if known else search.needed(before.order, size)
            return Fold(before.test, units, {**before.predictions, size: search.predicted(columns, [units])[0]})

        return CrossFit(self.problem, side_by_side(fold, range(len(splits)), n_threads))

    def folds(self, kernel: Kernel, splits: Sequence[Split], judge: Judge[Result], first: int = 0) -> list[Result]:
        """Search on the training part of each split, from the first on, and let a judge say how good its subsets are.

        The judge gets the number of the split, the search, the columns of its samples and of those that judge, and the
        folder of the fold in a checkpoint.
        """
        problem = self.problem.with_kernel(kernel)
        n_folds = len(splits) - first
        n_threads = self._n_beside(n_folds)
        n_beside = n_folds - n_folds % n_threads if n_threads > 1 else 0
        problem.label_features  # noqa: B018 - made once, before the threads ask for it

        def fold(number: int, stop: Event) -> Result:
            name = kernel_name(kernel)
            whole = len(splits[number].train) == len(problem.searched)
            folder = self._inner(name, f"fold-{number + 1}" if whole or not problem.n_held_out else "trial")
            part, columns = problem.split(*splits[number])
            executor = ThreadExecutor(1) if number < first + n_beside else self.executor
            search = self._searched(part, executor, folder, regressions=self.regressions, stop=stop)
            if whole and problem.n_held_out:
                self._judged[name] = search
            return judge(number, search, columns, folder)

        found = side_by_side(fold, range(first, first + n_beside), n_threads)
        return found + [fold(number, Event()) for number in range(first + n_beside, len(splits))]

    def _n_beside(self, n_folds: int) -> int:
        """Return how many of some folds run side by side."""
        return max(1, min(self.n_threads, n_folds)) if isinstance(self.executor, ThreadExecutor) else 1

    def _inner(self, *names: str) -> Folder | None:
        """Return the folder of a part of the fit."""
        return None if self.folder is None else self.folder.inner(*names)

    def _searched(
        self,
        problem: Problem,
        executor: Executor,
        folder: Folder | None,
        *,
        regressions: bool,
        stop: Event | None = None,
    ) -> Search:
        search = Search(problem, self.task, executor, regressions=regressions)
        if folder is not None:
            search.resume(folder.rounds())
        self.progress.advance(sum(len(one.subset) for one in search.rounds))
        for found in search.run():
            self.progress.advance(len(found.subset))
            if stop is not None and stop.is_set():
                raise Interrupted
        return search


def kernel_name(kernel: Kernel) -> str:
    """Return the name of a kernel's type, as users write it."""
    return type(kernel).__name__.lower()


def side_by_side(function: Callable[[Item, Event], Result], items: Sequence[Item], n_threads: int) -> list[Result]:
    """Apply a function to items in several threads; if one fails, the others are asked to stop by an event."""
    stop = Event()
    if n_threads == 1:
        return [function(item, stop) for item in items]
    config = get_config()  # of this thread
    with fair_switching(), ThreadPoolExecutor(n_threads) as pool:
        futures = [pool.submit(_stopping, function, item, stop, config) for item in items]
        try:
            errors = [future.exception() for future in futures]
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise
    for error in errors:
        if error is not None and not isinstance(error, Interrupted):
            raise error
    return [future.result() for future in futures]


def _stopping(function: Callable[[Item, Event], Result], item: Item, stop: Event, config: Mapping[str, Any]) -> Result:
    if stop.is_set():
        raise Interrupted
    try:
        with config_context(**config):
            return function(item, stop)
    except BaseException:
        stop.set()
        raise
