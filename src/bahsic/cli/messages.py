"""What is said on stderr, the error that ends a command, and files that appear whole or not at all."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

from bahsic.cli.text import printable

WRONG_USAGE, BAD_DATA = 2, 3


class CommandError(Exception):
    """The end of a command: one line that says what to do, and the exit status."""

    def __init__(self, message: str, status: int = BAD_DATA) -> None:
        super().__init__(message)
        self.status = status


def say(message: str) -> None:
    """One line on stderr, safe for a terminal."""
    line = printable(" ".join(message.split()), sys.stderr.encoding)
    sys.stderr.write(f"bahsic: {line}\n")
    sys.stderr.flush()


@contextmanager
def appearing(path: Path) -> Iterator[Path]:
    """A place to write a file of that name, and others beside it, which move to its folder if nothing went wrong.

    Parameters
    ----------
    path : Path
        Where the file is to be.

    Yields
    ------
    Path
        The same name in a new folder. However the block ends, that folder is gone.
    """
    if not path.parent.is_dir():
        raise CommandError(f"{path}: there is no folder {path.parent}; make it first", WRONG_USAGE)
    if path.is_dir():
        raise CommandError(f"{path}: this is a folder; give a file name", WRONG_USAGE)
    folder = Path(mkdtemp(dir=path.parent, prefix=".bahsic-"))
    try:
        yield folder / path.name
        for written in sorted(folder.iterdir()):
            written.replace(path.parent / written.name)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
