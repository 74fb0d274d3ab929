"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp


def check_place(path: str | os.PathLike[str]) -> None:
    """Raise now the OSError that would keep a file from being written in the end.

    Parameters
    ----------
    path : path-like

    Examples
    --------
    >>> check_place("no/such/folder/report.html")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] there is no such folder; make it first: 'no/such/folder/report.html'
    """
    place = Path(path)
    if place.is_dir():
        raise IsADirectoryError(21, "this is a folder; give a file name", str(path))
    if not place.parent.is_dir():
        raise FileNotFoundError(2, "there is no such folder; make it first", str(path))
    if not os.access(place.resolve().parent, os.W_OK):
        raise PermissionError(13, "the folder cannot be written to; choose another one", str(path))


@contextmanager
def appearing(path: str | os.PathLike[str], *, durable: bool = False) -> Iterator[Path]:
    """A place to write a file of that name, and others beside it, which move to its folder if nothing went wrong.

    Parameters
    ----------
    path : path-like
        Where the file is to be. A link stays one, and a file that is replaced hands on its permissions.
    durable : bool, default=False
        Whether to wait for the disk, so that after a power failure, too, either the old file or the new one is there.

    Yields
    ------
    Path
        The same name in a new folder, which no other process has. However the block ends, that folder is gone.

    Raises
    ------
    OSError
        With the given path, whichever draft could not be written.
    """
    check_place(path)
    target = Path(path).resolve()
    try:
        folder = Path(mkdtemp(dir=target.parent, prefix=".bahsic-"))
        try:
            yield folder / target.name
            for written in sorted(folder.iterdir()):
                if durable:
                    _sync(written, os.O_RDWR)
                _move(written, target.parent / written.name)
            if durable and os.name == "posix":  # elsewhere a folder can't be opened
                _sync(target.parent, os.O_RDONLY)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def _move(draft: Path, target: Path) -> None:
    if target.exists():
        shutil.copymode(target, draft)
    draft.replace(target)


def _sync(path: Path, access: int) -> None:
    descriptor = os.open(path, access)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
