"""A bar on the terminal while a selector works, by scikit-learn's callbacks."""

from __future__ import annotations

import os
import shutil
import sys
from typing import Any

from bahsic.cli.text import has_blocks

_WIDTH = 30
_BESIDE = 40  # columns for the words beside the bar


class ProgressBar:
    """A callback of scikit-learn that draws one line on stderr and takes it away in the end."""

    def __init__(self) -> None:
        self._done, self._rounds = 0, 1

    def setup(self, estimator: Any, context: Any) -> None:
        self._done, self._rounds = 0, context.max_subtasks or 1
        self._draw()

    def teardown(self, estimator: Any, context: Any) -> None:
        clear_line()

    def on_fit_task_begin(self, estimator: Any, context: Any, **data: Any) -> None:
        """Wait: a round shows when it is over."""

    def on_fit_task_end(self, estimator: Any, context: Any, **data: Any) -> None:
        if context.task_name == "round":
            self._done += 1
            self._draw()

    def _draw(self) -> None:
        full, empty = ("█", "░") if has_blocks(sys.stderr.encoding) else ("#", ".")
        width = max(0, min(_WIDTH, shutil.get_terminal_size().columns - _BESIDE))
        length = width * self._done // self._rounds
        bar = full * length + empty * (width - length)
        sys.stderr.write(f"\rselecting {bar} round {self._done} of {self._rounds}")
        sys.stderr.flush()


def clear_line() -> None:
    """Take the bar away."""
    sys.stderr.write("\r\x1b[K")
    sys.stderr.flush()


def with_progress(selector: Any, *, quiet: bool) -> Any:
    """The selector, with a bar where stderr is a terminal and the release of scikit-learn has callbacks."""
    clears = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    if not quiet and clears and hasattr(selector, "set_callbacks"):
        selector.set_callbacks(ProgressBar())
    return selector
