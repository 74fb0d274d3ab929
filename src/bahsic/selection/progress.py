"""Progress of long fits: on stderr with the time left, and through scikit-learn's callbacks.

This is the only module that knows of the callbacks: scikit-learn offers them from 1.9 on, as
``selector.set_callbacks(ProgressBar())``.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import wraps
from threading import Lock
from typing import Any, TextIO

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn < 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(method: Any) -> Any:
        """Call the method, from a frame of its own as scikit-learn does: warnings count the frames."""

        @wraps(method)
        def called(estimator: Any, *arguments: Any, **named: Any) -> Any:
            return method(estimator, *arguments, **named)

        return called


# Seconds before the first message, between lines, and between drawings of one line on a terminal.
_SILENT, _BETWEEN_LINES, _BETWEEN_DRAWINGS = 2.0, 5.0, 0.2

# Share of the work that is told at most: the end of a fit is told by its result.
_NEARLY_ALL = 0.99

# Tasks that callbacks are told of: enough for a bar that moves evenly.
_TASKS = 100


class Progress:
    """Share of the work of a fit that is done, with the time left: one line that is redrawn on a terminal, else lines.

    A fit of less than two seconds says nothing. Neither the share falls nor the time left rises. Several threads may
    advance it.

    Parameters
    ----------
    total : float
        Amount of work.
    stream : file, optional
        Where to write; None writes nothing.
    task : callable, optional
        Called `_TASKS` times, whenever as much more of the work is done.
    clock : callable
        Seconds.
    """

    def __init__(
        self,
        total: float,
        stream: TextIO | None = None,
        task: Callable[[], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._total, self._done, self._tasks = max(total, 1), 0.0, 0
        self._stream, self._task, self._clock = stream, task, clock
        self._redraws = is_terminal(stream)
        self._start, self._said_at, self._lock = clock(), -math.inf, Lock()
        self._left, self._said = math.inf, ""

    def advance(self, amount: float) -> None:
        """Add to the work that is done."""
        with self._lock:
            self._done += amount
            share = min(1.0, self._done / self._total)
            while self._task is not None and self._tasks < int(_TASKS * share):
                self._tasks += 1
                self._task()
            self._say(share)

    def close(self) -> None:
        """Erase the line on a terminal."""
        if self._redraws and self._said_at > -math.inf:
            self._write("\r\x1b[K")

    def _say(self, share: float) -> None:
        now, pause = self._clock(), _BETWEEN_DRAWINGS if self._redraws else _BETWEEN_LINES
        if self._stream is None or now - self._start < _SILENT or now - self._said_at < pause:
            return
        share = min(share, _NEARLY_ALL)  # what follows the last search takes time as well
        self._left = min(self._left, (now - self._start) * (1 / share - 1)) if share > 0 else self._left
        text = progress_words(share, self._left)
        if text != self._said:
            self._write(f"\r{text}\x1b[K" if self._redraws else f"{text}\n")
        self._said, self._said_at = text, now

    def _write(self, text: str) -> None:
        if self._stream is not None:
            self._stream.write(text)
            self._stream.flush()


@contextmanager
def reported(estimator: Any, total: float, X: Any, y: Any, *, verbose: bool) -> Iterator[Progress]:
    """Progress of a fit, on stderr if it is verbose, and to the callbacks of the estimator, if there are any."""
    if not hasattr(estimator, "_init_callback_context"):
        with closing(Progress(total, sys.stderr if verbose else None)) as progress:
            yield progress
        return
    data = {"estimator": estimator, "X": X, "y": y}
    fit = estimator._init_callback_context(max_subtasks=_TASKS)  # noqa: SLF001 - scikit-learn's hook for authors
    fit.call_on_fit_task_begin(**data)

    def task() -> None:
        one = fit.subcontext(task_name="part")
        one.call_on_fit_task_begin(**data)
        one.call_on_fit_task_end(**data)

    with closing(Progress(total, sys.stderr if verbose else None, task)) as progress:
        yield progress
    fit.call_on_fit_task_end(**data)


def progress_words(share: float, seconds: float) -> str:
    """Return the share of the work that is done, and the seconds left.

    Examples
    --------
    >>> progress_words(0.75, 10.0)
    '75% done, about 10 s left'
    """
    return f"{share:.0%} done" + (f", about {in_words(seconds)} left" if math.isfinite(seconds) else "")


def in_words(seconds: float) -> str:
    """Return a time in round numbers.

    Examples
    --------
    >>> [in_words(seconds) for seconds in (0.2, 7.4, 23, 88, 150, 5000, 9000)]
    ['1 s', '7 s', '25 s', '90 s', '3 min', '83 min', '2.5 h']
    """
    if seconds < 10:
        return f"{max(1, round(seconds))} s"
    if seconds <= 92:
        return f"{5 * round(seconds / 5)} s"
    if seconds < 90 * 60:
        return f"{math.ceil(seconds / 60)} min" if seconds < 600 else f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a line of the stream can be drawn again."""
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


__all__ = ["CallbackSupportMixin", "Progress", "is_terminal", "progress_words", "reported", "with_callbacks"]
