"""Whether compiled loops run: numba has to work here, and the problem has to be large enough to repay it."""

from __future__ import annotations

import os
import warnings
from functools import cache
from importlib import import_module
from typing import Any

from bahsic.engine import reference

# Work from which on loading the loops takes less time than they save: pairs of samples, and what calling numpy costs in
# terms of these, for each candidate that is scored. A search scores each feature about ten times.
_WORTH, _CALL, _ROUNDS = 1e8, 15_000, 10

VARIABLE = "BAHSIC_COMPILED"  # of the environment: "auto", "always" whatever the size, or "0" for never


def work(n_pairs: int, n_scored: int) -> float:
    """Return the work of scoring so many candidates in numpy."""
    return float(n_scored * (n_pairs + _CALL))


def is_worthwhile(done: float, n_pairs: int = 0, n_features: int = 0) -> bool:
    """Return whether loops should run, after some work, for a search of some size."""
    expected = done + _ROUNDS * work(n_pairs, n_features)
    return (expected >= _WORTH or os.environ.get(VARIABLE, "auto") == "always") and loops() is not None


def loops() -> Any:
    """Return the module `bahsic.engine.loops`, or None where compiled loops are not wanted or do not work."""
    return None if os.environ.get(VARIABLE, "auto") == "0" else _load()


def functions(*, compiled: bool) -> Any:
    """Return what has the functions of one tile: the compiled loops, or the reference in numpy."""
    return (loops() if compiled else None) or reference


@cache
def _load() -> Any:
    try:
        return import_module("bahsic.engine.loops")
    except Exception as error:  # noqa: BLE001 - whatever numba objects to, numpy does the same
        warnings.warn(f"numba does not work here, so numpy is used instead: {error}", RuntimeWarning, stacklevel=2)
        return None
