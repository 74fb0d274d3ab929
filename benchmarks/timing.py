"""Timing on a machine that others use too: what is compared is measured in turn, and the best times count.

A disturbance only ever makes a measurement longer, so the minimum over some repeats is the most
stable estimate; and as it may last, the tasks alternate instead of being repeated one after the other.
"""

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any


def seconds(task: Callable[[], Any]) -> float:
    """Time that a call takes."""
    start = perf_counter()
    task()
    return perf_counter() - start


def best_times(tasks: Mapping[str, Callable[[], float]], repeats: int) -> dict[str, float]:
    """Least time of each task over some repeats, in each of which all tasks have their turn.

    Parameters
    ----------
    tasks : mapping of str to callable
        Each returns its time in seconds, so that it can leave preparations out.
    repeats : int
        How many times each is called.

    Returns
    -------
    dict
        Seconds of each task.
    """
    rounds = [{name: task() for name, task in tasks.items()} for _ in range(repeats)]
    return {name: min(measured[name] for measured in rounds) for name in tasks}
