"""How time and memory of a fit grow: exponents of samples and features, and what classes, levels and holes cost.

Each fit runs in a process of its own, ``growth.py OPTIONS`` with a JSON object, which prints seconds and peak memory.
Along an axis the exponent is fitted to the times; the operations of an exact fit grow like m^2 d, with blocks like
m d, and for the criterion prediction with m^3 for each round. At small sizes the overhead of each round hides part of
that, so the exponents are bounded from above only, with a tenth of slack for caches.
"""

import json
import subprocess
import sys
import warnings
from typing import Any, NamedTuple

import numpy as np
from csv_memory import peak_bytes
from table import Row, row
from timing import seconds

from bahsic import BAHSIC, FOHSIC
from bahsic.datasets import make_xor

_REPEATS, _SLOW = 2, 10.0  # seconds


class _Axis(NamedTuple):
    """Fits that differ in one size.

    Attributes
    ----------
    what : str
    name : str
        The option that grows.
    sizes : tuple
    options : dict
        The other options of `fitted`.
    bar : str
        For the exponent, or for the last time over the first.
    exponent : bool
        Whether the value is an exponent, or the last time over the first.
    """

    what: str
    name: str
    sizes: tuple[float, ...]
    options: dict[str, Any]
    bar: str
    exponent: bool = True


_AXES = [
    _Axis("exponent of m, exact, d=500", "m", (500, 1000, 2000, 4000), {"d": 500}, "<= 2.2"),
    _Axis("exponent of m, blocks, d=10", "m", (16_000, 64_000, 250_000, 1_000_000), {"d": 10}, "<= 1.1"),
    _Axis("exponent of d, m=1000", "d", (250, 500, 1000, 2000), {"m": 1000}, "<= 1.1"),
    _Axis("exponent of d, m=100", "d", (1000, 10_000, 100_000), {"m": 100}, "<= 1.1"),
    _Axis("exponent of d, m=1000, few features", "d", (10, 50, 250), {"m": 1000}, "<= 1.1"),
    _Axis("exponent of d, FOHSIC(5), m=100", "d", (1000, 10_000, 100_000), {"m": 100, "forward": True}, "<= 1.1"),
    _Axis("prediction: exponent of m, d=50", "m", (500, 1000, 2000), {"d": 50, "criterion": "prediction"}, "<= 3.2"),
    _Axis(
        "prediction: exponent of m, blocks, d=10",
        "m",
        (16_000, 64_000, 250_000),
        {"d": 10, "criterion": "prediction"},
        "<= 1.1",
    ),
    _Axis("prediction: exponent of d, m=500", "d", (100, 500, 2500), {"m": 500, "criterion": "prediction"}, "<= 1.1"),
    _Axis("1000 classes / 2", "classes", (2, 10, 100, 1000), {"m": 3000, "d": 100}, "", exponent=False),
    _Axis("1000 levels / 2, half of the columns", "levels", (2, 10, 40, 100, 1000), {"m": 2000, "d": 50}, "", False),
    _Axis("60% missing / none", "missing", (0.0, 0.1, 0.3, 0.6), {"m": 1000, "d": 200}, "<= 2", False),
]
_QUICK = [_Axis("exponent of m", "m", (100, 200), {"d": 30}, "")]


def rows(*, quick: bool) -> list[Row]:
    """An exponent, or a ratio of times, along each axis."""
    return [_row(axis, 1 if quick else _REPEATS) for axis in (_QUICK if quick else _AXES)]


def _row(axis: _Axis, repeats: int) -> Row:
    found = [_best({axis.name: size, **axis.options}, repeats) for size in axis.sizes]
    times, peaks = ([one[name] for one in found] for name in ("seconds", "peak"))
    value = float(np.polyfit(np.log(axis.sizes), np.log(times), 1)[0]) if axis.exponent else times[-1] / times[0]
    measured = ", ".join(
        f"{size:g}: {time:.3g} s, {peak:.0f} MiB" for size, time, peak in zip(axis.sizes, times, peaks, strict=True)
    )
    return row(axis.what, value, axis.bar, note=measured)


def _best(options: dict[str, Any], repeats: int) -> dict[str, float]:
    """The quickest of some fits; a slow one is not repeated."""
    found = [_in_a_process(options)]
    while len(found) < repeats and found[-1]["seconds"] < _SLOW:
        found.append(_in_a_process(options))
    return min(found, key=lambda one: one["seconds"])


def _in_a_process(options: dict[str, Any]) -> dict[str, float]:
    words = [sys.executable, __file__, json.dumps(options)]
    found: dict[str, float] = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
    return found


def fitted(options: dict[str, Any]) -> dict[str, float]:
    """Seconds of a fit, and the peak memory of this process in MiB."""
    m, d, criterion = int(options["m"]), int(options["d"]), options.get("criterion", "hsic")
    X, y, _ = make_xor(m, d, random_state=0)
    rng, categories = np.random.default_rng(0), None
    if "classes" in options:
        y = np.arange(m) % int(options["classes"])
        X[:, 0] += 4 * y / y.max()
    if "levels" in options:
        X[:, ::2] = rng.integers(0, int(options["levels"]), X[:, ::2].shape)
        categories = list(range(0, d, 2))
    if options.get("missing"):
        X[rng.random(X.shape) < options["missing"]] = np.nan
    count = min(10, d // 2)
    selector = BAHSIC(count, criterion=criterion, categorical_features=categories)
    if options.get("forward"):
        selector = FOHSIC(5, criterion=criterion)
    BAHSIC(2).fit(rng.standard_normal((20, 5)), np.arange(20) % 2)  # the first fit of a process loads what it needs
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        time = seconds(lambda: selector.fit(X, y))
    return {"seconds": time, "peak": peak_bytes() / 2**20}


if __name__ == "__main__":
    print(json.dumps(fitted(json.loads(sys.argv[1]))))
