"""Messages on stderr, and the error that ends a command."""

from __future__ import annotations

import errno
import sys
from contextlib import suppress
from pathlib import Path

from bahsic.names import for_terminal

WRONG_USAGE, BAD_DATA = 2, 3


class CommandError(Exception):
    """An error that ends a command: one line that says what to do, and the exit status."""

    def __init__(self, message: str, status: int = BAD_DATA) -> None:
        super().__init__(message)
        self.status = status


def say(message: str) -> None:
    """Write one line to stderr, safe for a terminal; nothing where stderr is closed."""
    if sys.stderr is None:  # closed by the process that started this one
        return
    line = for_terminal(" ".join(message.split()), sys.stderr.encoding)
    with suppress(OSError, ValueError):  # closed, or a full disk: no reason to fail
        sys.stderr.write(f"bahsic: {line}\n")
        sys.stderr.flush()


def text_of(path: str | Path, limit: int = 2**28) -> str:
    """Return the text of a file in UTF-8, of a device up to so many bytes: one such as /dev/zero has no end."""
    is_file = Path(path).is_file()
    with Path(path).open("rb") as file:
        content = file.read(-1 if is_file else limit + 1)
    if len(content) > limit and not is_file:
        raise OSError(errno.EFBIG, f"no regular file, with more than {limit} bytes", str(path))
    return content.decode("utf-8-sig")
