"""Peak memory of a fit: what numpy allocates, and what the process occupies, each in a fresh process.

Run as a program, it measures one fit: ``memory.py m d working_memory way``, with 0 for the default
working memory and "allocated" or "resident" for the way.
"""

import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Callable

import psutil
from sklearn import config_context, get_config
from table import Row, row

from bahsic import BAHSIC
from bahsic.datasets import make_xor
from bahsic.engine.compiled import loops

# Samples, features, and working memory in MiB with 0 for the default.
_SIZES = [(2000, 1000, 0), (2000, 1000, 32), (2000, 1000, 8), (4000, 200, 0), (4000, 200, 64)]
_QUICK = [(600, 100, 0), (600, 100, 4)]


def rows(*, quick: bool) -> list[Row]:
    """Peak over what is allowed, which is 3 copies of X, and 3 m x m matrices or the working memory."""
    return [
        _row(*size, way, "" if quick else "<= 1")
        for size in (_QUICK if quick else _SIZES)
        for way in ("allocated", "resident")
    ]


def _row(m: int, d: int, working_memory: int, way: str, bar: str) -> Row:
    command = [sys.executable, __file__, str(m), str(d), str(working_memory), way]
    peak = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    matrix, copy, low = 8 * m * m, 8 * m * d, working_memory * 2**20
    allowed = (low or 3 * matrix) + 3 * copy
    budget = f"{working_memory} MiB" if low else "3 m x m"
    return row(
        f"{way} / allowed, m={m}, d={d}, {f'working_memory={working_memory}' if low else 'default'}",
        peak / allowed,
        bar,
        note=f"{peak / 2**20:.0f} MiB; allowed {budget} + 3 X = {allowed / 2**20:.0f} MiB; "
        f"without 3 X it is {(peak - 3 * copy) / matrix:.2f} m x m",
        m=m,
        d=d,
        working_memory=working_memory or get_config()["working_memory"],
        peak_bytes=peak,
        allowed_bytes=allowed,
    )


def peak_bytes(m: int, d: int, working_memory: int, way: str) -> int:
    """Peak of one fit in this process, beyond what was there with X."""
    warm_up_X, warm_up_y, _ = make_xor(40, 20, random_state=0)
    BAHSIC(2).fit(warm_up_X, warm_up_y)  # libraries and their buffers are not counted
    loops()
    X, y, _ = make_xor(m, d, random_state=0)
    with config_context(**({"working_memory": working_memory} if working_memory else {})):
        return _WAYS[way](lambda: BAHSIC(2).fit(X, y))


def _allocated(task: Callable[[], object]) -> int:
    """What Python and numpy allocate."""
    tracemalloc.start()
    task()
    return tracemalloc.get_traced_memory()[1]


def _resident(task: Callable[[], object]) -> int:
    """What the process occupies, by a thread that looks every millisecond."""
    process, done = psutil.Process(), threading.Event()
    before = peak = process.memory_info().rss

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.001):
            peak = max(peak, process.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    task()
    done.set()
    watcher.join()
    return peak - before


_WAYS = {"allocated": _allocated, "resident": _resident}


if __name__ == "__main__":
    m, d, working_memory = map(int, sys.argv[1:4])
    print(peak_bytes(m, d, working_memory, sys.argv[4]))
