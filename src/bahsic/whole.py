"""Writing files so that they appear whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp


def check_place(path: str | os.PathLike[str]) -> None:
    """Raise early the OSError that would prevent writing a file later.

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
def appearing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a draft path; if the block succeeds, the draft and files written beside it move to the folder of ``path``.

    Parameters
    ----------
    path : path-like
        The file to write. A link stays a link; a file that is replaced passes on its permissions.

    Yields
    ------
    Path
        The same name in a new folder, which is removed in any case.

    Raises
    ------
    OSError
        With the given path, not that of the draft.
    """
    check_place(path)
    target = Path(path).resolve()
    try:
        folder = Path(mkdtemp(dir=target.parent, prefix=".bahsic-"))
        try:
            yield folder / target.name
            for written in sorted(folder.iterdir()):
                _move(written, target.parent / written.name)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def _move(draft: Path, target: Path) -> None:
    if target.exists():
        shutil.copymode(target, draft)
    draft.replace(target)
