"""The searches of a fit: on all samples, and in folds side by side, with their checkpoints and their progress.

Progress is shown by a tqdm bar on stderr, and by scikit-learn's callbacks (1.9 or newer), as in
``selector.set_callbacks(ProgressBar())``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, CancelledError, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from threading import Event, Lock
from typing import Any, TypeVar

import numpy as np
from sklearn import config_context, get_config

from bahsic.arrays import Indices
from bahsic.data.columns import Columns
from bahsic.data.sources import is_dask_array
from bahsic.engine.dask_executor import executor_for
from bahsic.engine.executor import Executor, fair_switching, thread_count, threads
from bahsic.kernels import Kernel
from bahsic.parameters import is_auto
from bahsic.selection.checkpoint import Folder
from bahsic.selection.crossfit import CrossFit, Fold, Split, trial_splits
from bahsic.selection.problem import Problem
from bahsic.selection.search import Search, direction

Result = TypeVar("Result")

_HELD_OUT = "bahsic-held-out.json"
_DELAY = 2.0  # seconds before a bar appears
_TASKS = 100  # reported to callbacks: enough for a bar that moves evenly


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
    X, client, n_jobs, m = problem.data.X, estimator.executor, estimator.n_jobs, len(problem)
    is_local = client is None and not is_dask_array(X)
    n_threads = thread_count(n_jobs) if is_local else 1  # before BLAS is held to one thread
    with (
        threads(n_jobs, m) if is_local else executor_for(client, X, n_jobs, m) as executor,
        _progress(estimator, n_searches * sum(direction(problem).sizes()), X, y) as advance,
    ):
        yield Fitting(problem, splits, executor, advance, folder, n_threads)


@contextmanager
def _progress(estimator: Any, total: float, X: Any, y: Any) -> Iterator[Callable[[float], object]]:
    """Yield a function that adds to the work that is done, and shows it; several threads may call it."""
    from tqdm import tqdm

    data, done, n_tasks, lock = {"estimator": estimator, "X": X, "y": y}, 0.0, 0, Lock()
    fit: Any = None
    if hasattr(estimator, "_init_callback_context"):
        fit = estimator._init_callback_context(max_subtasks=_TASKS)  # noqa: SLF001 - scikit-learn's hook for authors
        fit.call_on_fit_task_begin(**data)

    def advance(amount: float) -> None:
        nonlocal done, n_tasks
        with lock:
            done += amount
            bar.update(amount)
            while fit is not None and n_tasks < int(_TASKS * min(1.0, done / max(total, 1))):
                n_tasks += 1
                part = fit.subcontext(task_name="part")
                part.call_on_fit_task_begin(**data)
                part.call_on_fit_task_end(**data)

    silent = not estimator.verbose or sys.stderr is None  # None if the process that started this one has closed it
    layout = "selecting features {percentage:3.0f}%|{bar:24}| {remaining} left"
    options = {"delay": _DELAY, "leave": False, "file": sys.stderr, "dynamic_ncols": True}
    with tqdm(total=total, bar_format=layout, disable=silent, **options) as bar:
        yield advance
    if fit is not None:
        fit.call_on_fit_task_end(**data)


@dataclass(frozen=True, eq=False)
class Fitting:
    """The searches of a fit. Folds run side by side in one thread each, on a cluster one after the other."""

    problem: Problem
    splits: Sequence[Split]
    executor: Executor
    advance: Callable[[float], object]  # reports work that is done
    folder: Folder | None
    n_threads: int  # that share the folds
    _stop: Event = field(default_factory=Event)  # set when a search has failed
    _judged: dict[str, Search] = field(default_factory=dict)  # by the kernel's name, on all that are not held out

    def search(self, kernel: Kernel) -> Search:
        """Search on all samples that are not held out."""
        if kernel_name(kernel) in self._judged:
            return self._judged[kernel_name(kernel)]
        problem = self.problem.with_kernel(kernel)
        if not problem.n_held_out and len(problem.searched) == len(problem):
            return self._run(problem.in_blocks(), self.executor, self.folder, regressions=False)
        part, _ = problem.split(problem.searched, problem.searched[:0])
        folder = self.folder and self.folder.inner(kernel_name(kernel), "fold-1")
        return self._run(part, self.executor, folder, regressions=False)

    def cross_fit(self) -> tuple[Kernel, CrossFit | None]:
        """Return the kernel whose searches predict held-out samples best, and these predictions if there are any."""
        problem, splits = self.problem, self.splits
        if not splits:
            return problem.kernel, None
        auto, n_kept = is_auto(problem.selector.n_features_to_select), problem.units.n_kept
        sizes = {0, n_kept, max(1, n_kept), *direction(problem).sizes(), *([] if auto else [problem.number])}
        predict = partial(_predicted_fold, sorted(sizes), is_path=problem.n_held_out > 0)
        best, known = problem.kernel, list[Fold]()
        if len(problem.kernels) > 1:
            trial = trial_splits(problem, splits)
            judged = [CrossFit(problem, folds) for folds in self.folds(problem.kernels, trial, predict)]
            at = int(np.argmin([fit.mean_losses[fit.best if auto else problem.number] for fit in judged]))
            best, known = problem.kernels[at], list(judged[at].folds) if trial[0] is splits[0] else []
        (folds,) = self.folds([best], splits, predict, len(known))
        return best, CrossFit(problem, [*known, *folds])

    def folds(
        self,
        kernels: Sequence[Kernel],
        splits: Sequence[Split],
        judge: Callable[[Trained], Result],
        first: int = 0,
        *,
        regressions: bool = True,
    ) -> list[list[Result]]:
        """Search with each kernel on the training part of each split, from ``first`` on, and judge the subsets."""
        self.problem.label_features  # noqa: B018 - computed once, before the threads ask for it
        problems = [self.problem.with_kernel(kernel) for kernel in kernels]

        def fold(problem: Problem, number: int, executor: Executor) -> Result:
            split, kernel = splits[number], kernel_name(problem.kernel)
            is_final = problem.n_held_out > 0 and split is self.splits[number]
            name = f"fold-{number + 1}" if split is self.splits[number] else "trial"
            folder = self.folder and self.folder.inner(kernel, name)
            part, columns = problem.split(*split)
            search = self._run(part, executor, folder, regressions=regressions)
            if is_final:
                self._judged[kernel] = search
            return judge(Trained(number, split, search, columns, folder))

        numbers = range(first, len(splits))
        results = iter(self._side_by_side(fold, list(product(problems, numbers))))
        return [[next(results) for _ in numbers] for _ in problems]

    def needed(self, kernel: Kernel, judged: CrossFit, size: int, units: Indices) -> CrossFit:
        """Let each fold predict with what it needs of its best so many units; held-out samples with the given ones."""
        problem, known = self.problem.with_kernel(kernel), self._judged.get(kernel_name(kernel))

        def fold(_: Problem, number: int, executor: Executor) -> Fold:
            before, (part, columns) = judged.folds[number], problem.split(*self.splits[number])
            search = known or Search(part, executor, regressions=True)
            best = units if known else search.needed(before.order, size)
            (values,) = search.predicted(columns, [best])
            return replace(before, order=best, predictions={**before.predictions, size: values})

        return CrossFit(self.problem, self._side_by_side(fold, [(problem, at) for at in range(len(self.splits))]))

    def _side_by_side(
        self, function: Callable[[Problem, int, Executor], Result], folds: Sequence[tuple[Problem, int]]
    ) -> list[Result]:
        """Apply a function to folds by their numbers, several at a time with a thread each; those left over use all."""
        n_threads = max(1, min(self.n_threads, len(folds)))
        n_beside = len(folds) - len(folds) % n_threads if n_threads > 1 else 0
        config = get_config()  # of this thread

        def call(fold: tuple[Problem, int]) -> Result:
            with config_context(**config):
                return function(*fold, Executor())

        with fair_switching(), ThreadPoolExecutor(n_threads) as pool:
            futures = [pool.submit(call, fold) for fold in folds[:n_beside]]
            try:
                for future in wait(futures, return_when=FIRST_EXCEPTION).done:
                    future.result()
            except BaseException:  # a fold has failed, or this thread was interrupted
                self._stop.set()
                pool.shutdown(cancel_futures=True)
                raise
        beside = [future.result() for future in futures]
        return beside + [function(*fold, self.executor) for fold in folds[n_beside:]]

    def _run(self, problem: Problem, executor: Executor, folder: Folder | None, *, regressions: bool) -> Search:
        search = Search(problem, executor, regressions=regressions)
        for step in search.run(folder):
            self.advance(len(step.subset))
            if self._stop.is_set():  # as another search has failed
                raise CancelledError
        return search


def _predicted_fold(sizes: Sequence[int], trained: Trained, *, is_path: bool = False) -> Fold:
    """Predict the test part of a split with subsets of these sizes, and of all rounds if the search gives the path."""
    folder, search = trained.folder, trained.search
    kept = {} if folder is None else folder.read(_HELD_OUT)
    if kept:
        predictions = {size: np.array(values) for size, values in kept["predictions"]}
    else:
        if is_path:  # other columns may be uninformative in its samples
            sizes = sorted({*sizes, *(len(step.subset) for step in search.rounds)})
        predictions = search.predictions(trained.columns, sizes)
        if folder is not None:
            folder.write(_HELD_OUT, predictions=[[size, array.tolist()] for size, array in predictions.items()])
    return Fold(trained.split.test, search.used_first, predictions)


def kernel_name(kernel: Kernel) -> str:
    """Return the name of a kernel's type, as users write it."""
    return type(kernel).__name__.lower()
