"""Messages on stderr, and the error that ends a command."""

from __future__ import annotations

import sys

from bahsic.names import for_terminal

WRONG_USAGE, BAD_DATA = 2, 3


class CommandError(Exception):
    """The end of a command: one line that says what to do, and the exit status."""

    def __init__(self, message: str, status: int = BAD_DATA) -> None:
        super().__init__(message)
        self.status = status


def say(message: str) -> None:
    """One line on stderr, safe for a terminal."""
    line = for_terminal(" ".join(message.split()), sys.stderr.encoding)
    sys.stderr.write(f"bahsic: {line}\n")
    sys.stderr.flush()
