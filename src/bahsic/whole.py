"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp


def check_place(path: str | os.PathLike[str]) -> None:
    """Raise now the OSError that would keep a file from being written in the end."""
    place = Path(path)
    if place.is_dir():
        raise IsADirectoryError(21, "this is a folder; give a file name", str(path))
    if not place.parent.is_dir():
        raise FileNotFoundError(2, "there is no such folder; make it first", str(path))
    target = _resolved(place)
    if _is_special(target):
        if not os.access(target, os.W_OK):
            raise PermissionError(13, "not a regular file and cannot be written to; choose another one", str(path))
    elif not os.access(target.parent, os.W_OK):
        raise PermissionError(13, "the folder cannot be written to; choose another one", str(path))


@contextmanager
def appearing(path: str | os.PathLike[str], *, durable: bool = False) -> Iterator[Path]:
    """Yield a path in a new folder to write a file to, which moves to its place if nothing went wrong.

    A link stays one, and a file that is replaced hands on its permissions. The content for a device or a pipe is
    written into it once it is complete. ``durable`` waits for the disk, so that after a power failure either the old
    file or the new one is there. However the block ends, the new folder is gone; errors name the given path.
    """
    check_place(path)
    target = _resolved(Path(path))
    special = _is_special(target)
    try:
        folder = Path(mkdtemp(dir=None if special else target.parent, prefix=".bahsic-"))
        draft = folder / target.name
        try:
            yield draft
            if special:
                with draft.open("rb") as content, target.open("wb", buffering=0) as sink:
                    shutil.copyfileobj(content, sink)
            else:
                _move(draft, target, durable=durable)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def _resolved(path: Path) -> Path:
    """Return the place that a path leads to; a loop of links raises the system's own error."""
    try:
        return path.resolve()
    except RuntimeError:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from None


def _is_special(path: Path) -> bool:
    """Whether there is a device, a pipe or anything else that is neither a file nor a folder."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _move(draft: Path, target: Path, *, durable: bool) -> None:
    if durable:
        _sync(draft, os.O_RDWR)
    if target.exists():
        shutil.copymode(target, draft)
    draft.replace(target)
    if durable and os.name == "posix":  # elsewhere a folder can't be opened
        _sync(target.parent, os.O_RDONLY)


def _sync(path: Path, access: int) -> None:
    descriptor = os.open(path, access)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
