"""The searches of a fit: on all samples, and in folds side by side, with their checkpoints and their progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from threading import Event
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context, get_config

from bahsic.data.columns import Columns
from bahsic.engine.dask_executor import executor_for
from bahsic.engine.executor import Executor, ThreadExecutor, fair_switching, thread_count
from bahsic.kernels import Kernel
from bahsic.selection.checkpoint import Folder
from bahsic.selection.crossfit import CrossFit, Fold
from bahsic.selection.problem import Problem, is_auto
from bahsic.selection.progress import Progress, track_progress
from bahsic.selection.rounds import Search
from bahsic.selection.splits import Split, trial_splits

Indices = NDArray[np.intp]
Result = TypeVar("Result")

_HELD_OUT = "bahsic-held-out.json"


class Interrupted(Exception):  # noqa: N818 - no error of its own: another search has failed
    """A search was stopped because another one beside it has failed or was interrupted."""


@dataclass(frozen=True, eq=False)
class Trained:
    """A search on the training part of a split, to be judged by the test part."""

    number: int  # of the split
    split: Split
    search: Search
    columns: Columns  # of the training samples, and of the test samples behind them
    folder: Folder | None  # of a checkpoint


@contextmanager
def fitting(
    estimator: Any, problem: Problem, splits: Sequence[Split], y: Any, folder: Folder | None, n_searches: int
) -> Iterator[Fitting]:
    """Open the executor and the progress of a fit with so many searches."""
    work = n_searches * sum(problem.search.sizes())
    with (
        executor_for(estimator.executor, problem.data.X, estimator.n_jobs, len(problem)) as executor,
        track_progress(estimator, work, problem.data.X, y, verbose=bool(estimator.verbose)) as progress,
    ):
        yield Fitting(problem, splits, executor, progress, folder)


class Fitting:
    """The searches of a fit. Folds run side by side in one thread each, on a cluster one after the other."""

    def __init__(
        self, problem: Problem, splits: Sequence[Split], executor: Executor, progress: Progress, folder: Folder | None
    ) -> None:
        self.problem, self.splits = problem, splits
        self._executor, self._progress, self._folder = executor, progress, folder
        self._n_threads = thread_count(problem.selector.n_jobs) if isinstance(executor, ThreadExecutor) else 1
        self._stop = Event()  # set when a search has failed
        self._judged: dict[Kernel, Search] = {}  # on all samples that are not held out

    def search(self, kernel: Kernel) -> Search:
        """Search on all samples that are not held out."""
        if kernel in self._judged:
            return self._judged[kernel]
        problem = self.problem.with_kernel(kernel)
        if not problem.n_held_out and len(problem.searched) == len(problem):
            return self._run(problem.in_blocks(), self._executor, self._folder, regressions=False)
        part, _ = problem.split(problem.searched, problem.searched[:0])
        return self._run(part, self._executor, self._inner(kernel, "fold-1"), regressions=False)

    def cross_fit(self) -> tuple[Kernel, CrossFit | None]:
        """Return the kernel whose searches predict held-out samples best, and these predictions if there are any."""
        problem, splits = self.problem, self.splits
        if not splits:
            return problem.kernel, None
        auto, n_kept = is_auto(problem.selector.n_features_to_select), problem.units.n_kept
        sizes = sorted({0, n_kept, max(1, n_kept), *problem.search.sizes(), *([] if auto else [problem.number])})
        predict = partial(_predicted_fold, sizes)
        best, known = problem.kernel, list[Fold]()
        if len(problem.kernels) > 1:
            trial = trial_splits(problem, splits)
            judged = {kernel: CrossFit(problem, self.folds(kernel, trial, predict)) for kernel in problem.kernels}
            losses = {kernel: fit.mean_loss(fit.best if auto else problem.number) for kernel, fit in judged.items()}
            best = min(losses, key=losses.__getitem__)
            known = list(judged[best].folds) if trial[0] is splits[0] else []
        return best, CrossFit(problem, [*known, *self.folds(best, splits, predict, len(known))])

    def folds(
        self,
        kernel: Kernel,
        splits: Sequence[Split],
        judge: Callable[[Trained], Result],
        first: int = 0,
        *,
        regressions: bool = True,
    ) -> list[Result]:
        """Search on the training part of each split, from ``first`` on, and judge the subsets."""
        problem = self.problem.with_kernel(kernel)
        problem.label_features  # noqa: B018 - computed once, before the threads ask for it

        def fold(number: int, executor: Executor) -> Result:
            is_final = problem.n_held_out > 0 and len(splits[number].train) == len(problem.searched)
            name = f"fold-{number + 1}" if is_final or not problem.n_held_out else "trial"
            folder, (part, columns) = self._inner(kernel, name), problem.split(*splits[number])
            search = self._run(part, executor, folder, regressions=regressions)
            if is_final:
                self._judged[kernel] = search
            return judge(Trained(number, splits[number], search, columns, folder))

        return self._side_by_side(fold, range(first, len(splits)))

    def needed(self, kernel: Kernel, judged: CrossFit, size: int, units: Indices) -> CrossFit:
        """Let each fold predict with what it needs of its best so many units.

        For held-out samples these are known: those that the search on all others needs.
        """
        problem, known = self.problem.with_kernel(kernel), self._judged.get(kernel)

        def fold(number: int, executor: Executor) -> Fold:
            before, (part, columns) = judged.folds[number], problem.split(*self.splits[number])
            search = known or Search(part, executor, regressions=True)
            best = units if known else search.needed(before.order, size)
            (values,) = search.predicted(columns, [best])
            return replace(before, order=best, predictions={**before.predictions, size: values})

        return CrossFit(self.problem, self._side_by_side(fold, range(len(self.splits))))

    def _side_by_side(self, function: Callable[[int, Executor], Result], numbers: range) -> list[Result]:
        """Apply a function to the numbers of folds, several at a time with a thread each; those left over use all."""
        n_threads = max(1, min(self._n_threads, len(numbers)))
        n_beside = len(numbers) - len(numbers) % n_threads if n_threads > 1 else 0
        config = get_config()  # of this thread

        def call(number: int) -> Result:
            if self._stop.is_set():
                raise Interrupted
            try:
                with config_context(**config):
                    return function(number, ThreadExecutor(1))
            except BaseException:
                self._stop.set()
                raise

        with fair_switching(), ThreadPoolExecutor(n_threads) as pool:
            futures = [pool.submit(call, number) for number in numbers[:n_beside]]
            try:
                errors = [future.exception() for future in futures]
            except BaseException:  # this thread was interrupted
                self._stop.set()
                pool.shutdown(cancel_futures=True)
                raise
        for error in errors:
            if error is not None and not isinstance(error, Interrupted):
                raise error
        beside = [future.result() for future in futures]
        return beside + [function(number, self._executor) for number in numbers[n_beside:]]

    def _inner(self, kernel: Kernel, name: str) -> Folder | None:
        """Return the folder of a part of the fit."""
        return None if self._folder is None else self._folder.inner(kernel_name(kernel), name)

    def _run(self, problem: Problem, executor: Executor, folder: Folder | None, *, regressions: bool) -> Search:
        search = Search(problem, executor, regressions=regressions)
        for step in search.run(folder):
            self._progress.advance(len(step.subset))
            if self._stop.is_set():
                raise Interrupted
        return search


def _predicted_fold(sizes: Sequence[int], trained: Trained) -> Fold:
    """Predict the test part of a split with subsets of these sizes, unless a checkpoint has the predictions."""
    folder, search = trained.folder, trained.search
    kept = {} if folder is None else folder.read(_HELD_OUT)
    if kept:
        return Fold.from_plain(kept["fold"])
    fold = Fold(trained.split.test, search.used_first, search.predictions(trained.columns, sizes))
    if folder is not None:
        folder.write(_HELD_OUT, fold=fold.as_plain())
    return fold


def kernel_name(kernel: Kernel) -> str:
    """Return the name of a kernel's type, as users write it."""
    return type(kernel).__name__.lower()
