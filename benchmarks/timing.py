"""Timing on a machine that others use too: what is compared is measured in turn, and the best times count.

A disturbance only ever makes a measurement longer, so the minimum over some repeats is the most
stable estimate; and as it may last, the tasks alternate instead of being repeated one after the other.
"""

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

import numpy as np


def seconds(task: Callable[[], Any]) -> float:
    """Time that a call takes."""
    start = perf_counter()
    task()
    return perf_counter() - start


def best_times(tasks: Mapping[str, Callable[[], float | list[float]]], repeats: int) -> dict[str, float]:
    """Least time of each task over some repeats, in each of which all tasks have their turn.

    Parameters
    ----------
    tasks : mapping of str to callable
        Each returns its time in seconds, so that it can leave preparations out; or the times of its
        parts, and then the least time of each part counts.
    repeats : int
        How many times each is called.

    Returns
    -------
    dict
        Seconds of each task, summed over the parts.

    Examples
    --------
    >>> best_times({"whole": lambda: 2.0, "parts": lambda: [1.0, 2.0]}, repeats=2)
    {'whole': 2.0, 'parts': 3.0}
    """
    rounds = [{name: task() for name, task in tasks.items()} for _ in range(repeats)]
    return {name: float(np.min([measured[name] for measured in rounds], axis=0).sum()) for name in tasks}
