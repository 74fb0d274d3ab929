"""How the time of a fit grows with the samples and with the features: fitted exponents of m and d.

The operations grow like m^2 d; at small sizes the overhead of each round hides part of that, so the
exponents are bounded from above only, with a tenth of slack for caches.
"""

from collections.abc import Callable, Sequence

import numpy as np
from table import Row, row
from timing import best_times, seconds

from bahsic import BAHSIC
from bahsic.datasets import make_xor

_SAMPLES, _FEATURES = [500, 1000, 2000, 4000], [250, 500, 1000, 2000]
_QUICK_SAMPLES, _QUICK_FEATURES = [100, 200, 400], [30, 60, 120]


def rows(*, quick: bool) -> list[Row]:
    """Exponents of m and of d."""
    samples, features = (_QUICK_SAMPLES, _QUICK_FEATURES) if quick else (_SAMPLES, _FEATURES)
    d, m = features[1], samples[1]
    bars = ("", "") if quick else ("<= 2.2", "<= 1.1")
    return [
        _row(f"exponent of m, d={d}", samples, [(size, d) for size in samples], bars[0]),
        _row(f"exponent of d, m={m}", features, [(m, size) for size in features], bars[1]),
    ]


def _row(what: str, axis: Sequence[int], sizes: Sequence[tuple[int, int]], bar: str) -> Row:
    best = best_times({str(size): _fit_task(*size) for size in sizes}, repeats=3)
    times = list(best.values())
    exponent = float(np.polyfit(np.log(axis), np.log(times), 1)[0])
    measured = ", ".join(f"{size}: {time:.3g} s" for size, time in zip(axis, times, strict=True))
    return row(what, exponent, bar, note=measured)


def _fit_task(m: int, d: int) -> Callable[[], float]:
    X, y, _ = make_xor(m, d, random_state=0)
    return lambda: seconds(lambda: BAHSIC(2).fit(X, y))
