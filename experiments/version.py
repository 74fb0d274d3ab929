"""Version of the code that makes a row."""

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import bahsic

#: Version in rows that were made before rows had one.
BEFORE = "before"

#: Parts of the package that decide which features are selected.
DECIDING = ("criteria", "data", "engine", "kernels", "selection")


@lru_cache
def version(*, ours: bool) -> str:
    """Version of the package, for our own methods followed by a fingerprint of the code that decides.

    Examples
    --------
    >>> version(ours=False) == bahsic.__version__
    True
    >>> len(version(ours=True)) - len(bahsic.__version__)
    9
    """
    if not ours:
        return bahsic.__version__
    root = Path(bahsic.__file__).parent
    return f"{bahsic.__version__}+{fingerprint(root / part for part in DECIDING)}"


def fingerprint(folders: Iterable[Path]) -> str:
    """Eight hexadecimal digits of a hash over the Python files of these folders, their names and texts."""
    found = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            found.update(f"{path.relative_to(folder.parent).as_posix()}\n".encode())
            found.update(path.read_text(encoding="utf-8").encode())
    return found.hexdigest()[:8]
