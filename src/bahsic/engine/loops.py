"""Whether compiled inner loops run: numba must be installed, and the environment must not refuse them."""

from __future__ import annotations

import os
import warnings
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

# Pairs of samples times features from which on loading the loops takes less time than they save.
_WORTH = 10**8

VARIABLE = "BAHSIC_COMPILED"


def wanted() -> bool:
    """Whether numba is installed and the environment variable ``BAHSIC_COMPILED`` is not 0."""
    return os.environ.get(VARIABLE, "1") != "0" and find_spec("numba") is not None


def worthwhile(n_pairs: int, n_features: int) -> bool:
    """Whether a search with so many pairs of samples and features should use compiled loops.

    Examples
    --------
    >>> worthwhile(100**2, 100)
    False
    """
    return n_pairs * n_features >= _WORTH and wanted() and _loaded() is not None


def loops(*, compiled: bool) -> Any:
    """The module `bahsic.engine.compiled`; None if it is not asked for or does not work in this process."""
    return _loaded() if compiled and wanted() else None


@cache
def _loaded() -> Any:
    try:
        return import_module("bahsic.engine.compiled")
    except Exception as error:  # noqa: BLE001 - whatever numba objects to, numpy does the same
        warnings.warn(f"numba does not work here, so numpy does its part: {error}", RuntimeWarning, stacklevel=2)
        return None
