"""Progress of long fits: a tqdm bar on stderr, and scikit-learn's callbacks.

This is the only module that knows of the callbacks: scikit-learn offers them from 1.9 on, as
``selector.set_callbacks(ProgressBar())``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from threading import Lock
from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn < 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(method: Any) -> Any:
        """Call the method, from a frame of its own as scikit-learn does: warnings count the frames."""

        @wraps(method)
        def call(estimator: Any, *arguments: Any, **named: Any) -> Any:
            return method(estimator, *arguments, **named)

        return call


# Seconds before a bar appears.
_DELAY = 2.0

# Tasks reported to callbacks: enough for a bar that moves evenly.
_TASKS = 100


class Progress:
    """Work of a fit that is done. Several threads may advance it.

    Parameters
    ----------
    total : float
        Amount of work.
    bar : tqdm, optional
    task : callable, optional
        Called `_TASKS` times, at equal amounts of work.
    """

    def __init__(self, total: float, bar: Any = None, task: Callable[[], None] | None = None) -> None:
        self._total, self._done, self._bar = max(total, 1), 0.0, bar
        self._task, self._n_tasks, self._lock = task, 0, Lock()

    def advance(self, amount: float) -> None:
        """Add to the work that is done."""
        with self._lock:
            self._done += amount
            if self._bar is not None:
                self._bar.update(amount)
            n_due = int(_TASKS * min(1.0, self._done / self._total))
            while self._task is not None and self._n_tasks < n_due:
                self._n_tasks += 1
                self._task()


@contextmanager
def track_progress(estimator: Any, total: float, X: Any, y: Any, *, verbose: bool) -> Iterator[Progress]:
    """Show the progress of a fit on stderr if it is verbose, and report it to the callbacks of the estimator."""
    with _bar(total, verbose=verbose) as bar:
        if not hasattr(estimator, "_init_callback_context"):
            yield Progress(total, bar)
            return
        data = {"estimator": estimator, "X": X, "y": y}
        fit = estimator._init_callback_context(max_subtasks=_TASKS)  # noqa: SLF001 - scikit-learn's hook for authors
        fit.call_on_fit_task_begin(**data)

        def task() -> None:
            part = fit.subcontext(task_name="part")
            part.call_on_fit_task_begin(**data)
            part.call_on_fit_task_end(**data)

        yield Progress(total, bar, task)
        fit.call_on_fit_task_end(**data)


@contextmanager
def _bar(total: float, *, verbose: bool) -> Iterator[Any]:
    """Open a bar that appears after some seconds and is erased at the end; None if nobody is to see it."""
    if not verbose or sys.stderr is None:  # closed by the process that started this one
        yield None
        return
    from tqdm import tqdm

    layout = "selecting features {percentage:3.0f}%|{bar:24}| {remaining} left"
    with tqdm(total=total, bar_format=layout, delay=_DELAY, leave=False, file=sys.stderr, dynamic_ncols=True) as bar:
        yield bar


__all__ = ["CallbackSupportMixin", "Progress", "track_progress", "with_callbacks"]
