"""Whether compiled loops run: numba has to work here, and the problem has to be large enough to repay it."""

from __future__ import annotations

import os
import warnings
from functools import cache
from importlib import import_module
from typing import Any

# Pairs of samples times features from which on loading the loops takes less time than they save.
_WORTH = 2e7

# The environment variable that says when they run: "auto", "always" whatever the size, or "0" for never.
VARIABLE = "BAHSIC_COMPILED"


def loops_for(n_pairs: int, n_features: int) -> Any:
    """Return the module `bahsic.engine.loops` for a search of some size, or None if numpy should do its work.

    Examples
    --------
    >>> loops_for(100**2, 100) is None
    True
    """
    is_large = n_pairs * n_features >= _WORTH or _wish() == "always"
    return loops() if is_large else None


def loops() -> Any:
    """Return the module `bahsic.engine.loops`, or None where compiled loops are not wanted or do not work."""
    return None if _wish() == "0" else _load()


def _wish() -> str:
    return os.environ.get(VARIABLE, "auto")


@cache
def _load() -> Any:
    try:
        return import_module("bahsic.engine.loops")
    except Exception as error:  # noqa: BLE001 - whatever numba objects to, numpy does the same
        warnings.warn(f"numba does not work here, so numpy does its part: {error}", RuntimeWarning, stacklevel=2)
        return None
