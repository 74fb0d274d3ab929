"""One fit in a process of its own, for `scale`: time, peak memory and result as a line of JSON.

``scale_task.py file y.npy options`` fits `BAHSIC` with the options, a JSON object, to the columns in a ``.npy`` file;
``in_memory`` reads the file first, ``n_samples`` takes the first so many, ``working_memory`` is in MiB.
"""

import json
import sys
import threading
import time
from pathlib import Path
from typing import Any, Self

import numpy as np
import psutil
from sklearn import config_context

from bahsic import BAHSIC


def fitted(path: str, labels: str, options: dict[str, Any]) -> dict[str, Any]:
    """What a fit took, and what it found."""
    X, y = np.load(path, mmap_mode="r"), np.load(labels)
    n = options.pop("n_samples", len(y))
    X = np.array(X[:n]) if options.pop("in_memory", False) else X[:n]
    with config_context(working_memory=options.pop("working_memory", 1024)), _Peak() as peak:
        start = time.perf_counter()
        selector = BAHSIC(2, **options).fit(X, y[:n])
        seconds = time.perf_counter() - start
    return {
        "seconds": seconds,
        "peak_bytes": peak.most,
        "own_bytes": peak.own,
        "selected": np.flatnonzero(selector.support_).tolist(),
        "order": selector.elimination_order_.tolist(),
        "path": [step.hsic.hex() for step in selector.path_],
    }


class _Peak:
    """The most that the process occupies: with the pages of files that it has read, and without them."""

    def __enter__(self) -> Self:
        self.most = self.own = 0
        self._done = threading.Event()
        self._watcher = threading.Thread(target=self._watch)
        self._watcher.start()
        return self

    def _watch(self) -> None:
        process = psutil.Process()
        while not self._done.wait(0.01):
            memory = process.memory_info()
            self.most = max(self.most, memory.rss)
            self.own = max(self.own, memory.rss - getattr(memory, "shared", 0))

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._watcher.join()


if __name__ == "__main__":
    print(json.dumps(fitted(*map(str, map(Path, sys.argv[1:3])), json.loads(sys.argv[3]))))
