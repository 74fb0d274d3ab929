"""Time of fits by this checkout over that by another one, such as a work tree of the version before.

``BASELINE=../before make bench ARGS=versions`` measures; the folder needs no environment of its own. Each version has
a process, which stays alive; the two take turns, and the least time of each counts.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import numpy as np
from table import Row, row
from timing import best_times, seconds

_HERE = Path(__file__).resolve().parents[1]
_REPEATS = 3

# Cases and the largest ratio that they may have.
_BARS = {
    "numbers, 1000 x 500": 1.2,
    "numbers, 2000 x 1000": 1.2,
    "Laplacian, 1000 x 500": 0.9,
    "half categories, 3000 x 80": 0.9,
    "half categories, 1000 x 80": 0.6,
    "a tenth missing, 2000 x 200": 1.0,
    "numbers, 100 x 20000": 1.2,
    "sparse, 350 x 100000": 1.2,
    "blocks, 30000 x 50": 1.2,
    "FOHSIC(5), 1000 x 500": 1.2,
    "FOHSIC(5), 100 x 10000": 1.2,
    "500 classes, 2000 x 100": 1.2,
    "prediction, 1000 x 500": 1.0,
    "prediction, 2000 x 1000": 1.0,
    "auto, 200 x 30": 1.0,
}
_QUICK = ("half categories, 1000 x 80", "auto, 200 x 30")


def rows(*, quick: bool) -> list[Row]:
    """Return a ratio for each case, or nothing if no other version is given."""
    before = os.environ.get("BASELINE")
    if before is None:
        print("versions: no BASELINE, the folder of another version")
        return []
    return [_ratio(case, Path(before)) for case in (_QUICK if quick else _BARS)]


def _ratio(case: str, before: Path) -> Row:
    with _Version(_HERE, case) as now, _Version(before, case) as then:
        best = best_times({"now": now.time, "before": then.time}, _REPEATS)
    note = f"{best['now']:.3g} s, before {best['before']:.3g} s"
    print(f"{case}: {note}", flush=True)
    columns = {"case": case, "seconds": best["now"], "seconds_before": best["before"]}
    return row(f"{case}: time / before", best["now"] / best["before"], f"<= {_BARS[case]}", note=note, **columns)


class _Version:
    """A process that fits a case by the package of a checkout whenever it is asked, and says how long it took."""

    def __init__(self, checkout: Path, case: str) -> None:
        environment = os.environ | {"PYTHONPATH": str(checkout.resolve() / "src")}
        command = [sys.executable, "-W", "ignore", __file__, case]
        self._process = subprocess.Popen(
            command, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def __enter__(self) -> Self:
        self.time()  # compiles
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def time(self) -> float:
        """Return the seconds of one fit."""
        asked, told = self._process.stdin, self._process.stdout
        assert asked is not None
        assert told is not None
        asked.write("fit\n")
        asked.flush()
        return float(told.readline())


def _fit(case: str) -> Callable[[], Any]:
    """Return the fit of a case."""
    from bahsic import BAHSIC, FOHSIC

    name, _, size = case.partition(", ")
    m, d = map(int, size.split(" x "))
    X, y = _data(name, m, d)
    selectors = {
        "FOHSIC(5)": lambda: FOHSIC(5),
        "Laplacian": lambda: BAHSIC(2, kernel="laplacian"),
        "prediction": lambda: BAHSIC(2, criterion="prediction"),
        "auto": lambda: BAHSIC("auto", criterion="prediction"),
        "blocks": lambda: BAHSIC(2, block_size=1000),
    }
    return lambda: selectors.get(name, lambda: BAHSIC(2))().fit(X, y)


def _data(name: str, m: int, d: int) -> tuple[Any, np.ndarray]:
    import pandas as pd
    from scipy import sparse

    from bahsic.datasets import make_xor

    rng = np.random.default_rng(0)
    if name == "sparse":
        X = sparse.random_array((m, d), density=0.01, format="csc", rng=rng, data_sampler=_ones)
        return X, rng.integers(0, 2, m)
    X, y, _ = make_xor(m, d, random_state=0)
    if name == "a tenth missing":
        X[rng.random(X.shape) < 0.1] = np.nan
    if name == "500 classes":
        y = rng.integers(0, 500, m)
    if name == "half categories":
        frame = pd.DataFrame(X).rename(columns=str)
        for column in frame.columns[1::2]:
            frame[column] = pd.Categorical(rng.integers(0, 12, m))
        return frame, y
    return X, y


def _ones(size: int) -> np.ndarray:
    return np.ones(size)


if __name__ == "__main__":
    task = _fit(sys.argv[1])
    for _ in sys.stdin:
        print(seconds(task), flush=True)
