"""Progress of long fits: on stderr with the time left, and through scikit-learn's callbacks.

This is the only module that knows of the callbacks: scikit-learn offers them from 1.9 on, as
``selector.set_callbacks(ProgressBar())``.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from threading import Lock, Timer
from types import TracebackType
from typing import Any, Self, TextIO, TypeVar

from bahsic.selection.time_left import Work, estimate, in_words

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


Item = TypeVar("Item")


def reported(estimator: Any, rounds: Iterable[Item], n_rounds: int, X: Any, y: Any) -> Iterator[Item]:
    """The rounds of a fit, at most ``n_rounds``, each reported to the callbacks of the estimator as a task."""
    if not hasattr(estimator, "_init_callback_context"):
        yield from rounds
        return
    data = {"estimator": estimator, "X": X, "y": y}
    fit = estimator._init_callback_context(max_subtasks=n_rounds)  # noqa: SLF001 - scikit-learn's hook for authors
    fit.call_on_fit_task_begin(**data)
    iterator = iter(rounds)
    for _ in range(n_rounds):
        task = fit.subcontext(task_name="round")
        task.call_on_fit_task_begin(**data)
        item = next(iterator, None)
        task.call_on_fit_task_end(**data)
        if item is None:
            break
        yield item
    fit.call_on_fit_task_end(**data)


# Seconds before the first message, between lines, and between drawings of one line on a terminal.
_SILENT, _BETWEEN_LINES, _BETWEEN_DRAWINGS = 2.0, 5.0, 0.2


class Progress:
    """Messages about the rounds of a fit, with the time left: one line that is redrawn on a terminal, else lines.

    A context manager; a fit of less than two seconds says nothing, and the line on a terminal is erased in the end.

    Parameters
    ----------
    plan : sequence of Work
        All rounds, those of several searches one after the other.
    constant : float
        See `bahsic.selection.time_left.estimate`.
    silent : bool, default=False
        Whether to say nothing at all.
    clock : callable
        Seconds.
    """

    def __init__(
        self,
        plan: Sequence[Work],
        constant: float,
        *,
        silent: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._plan, self._constant, self._clock = plan, constant, clock
        self._seconds: list[float | None] = []
        self._stream: TextIO | None = None if silent else sys.stderr
        self._redraws = is_terminal(self._stream)
        self._start = self._round_start = clock()
        self._said_at = -math.inf
        self._lock, self._first = Lock(), Timer(_SILENT, self._say)

    def __enter__(self) -> Self:
        if self._stream is not None:
            self._first.daemon = True
            self._first.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._first.cancel()
        with self._lock:
            if self._redraws and self._said_at > -math.inf:
                self._write("\r\x1b[K")
            self._plan = ()  # a timer that has gone off already has nothing to say

    def watched(self, rounds: Iterable[Item], before: int = 0) -> Iterator[Item]:
        """The rounds of one search, each with a message when it is over; ``before`` were finished by an earlier fit."""
        self._seconds += [None] * before
        self._round_start = self._clock()
        for item in rounds:
            now = self._clock()
            self._seconds.append(now - self._round_start)
            self._round_start = now
            if self._stream is not None and now - self._start >= _SILENT:
                self._say()
            yield item

    def _say(self) -> None:
        with self._lock:
            now = self._clock()
            pause = _BETWEEN_DRAWINGS if self._redraws else _BETWEEN_LINES
            if self._plan and now - self._said_at >= pause:
                text = progress_words(self._plan, list(self._seconds), self._constant)
                self._write(f"\r{text}\x1b[K" if self._redraws else f"{text}\n")
                self._said_at = now

    def _write(self, text: str) -> None:
        if self._stream is not None:  # as in a program without a console
            self._stream.write(text)
            self._stream.flush()


def progress_words(plan: Sequence[Work], seconds: Sequence[float | None], constant: float) -> str:
    """The round that runs, the share of the work that is done, and the time left, where it can be told.

    Examples
    --------
    >>> progress_words([Work(40), Work(100), Work(50), Work(50)], [10.0, 10.0], 0.0)
    'round 3 of 4, 67% done, about 10 s left'
    """
    number = min(len(seconds) + 1, len(plan))
    found = estimate(plan, seconds, constant)
    left = "" if math.isinf(found.seconds_left) else f", about {in_words(found.seconds_left)} left"
    return f"round {number} of {len(plan)}, {found.share:.0%} done{left}"


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a line of the stream can be drawn again."""
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


__all__ = ["CallbackSupportMixin", "Progress", "is_terminal", "progress_words", "reported", "with_callbacks"]
