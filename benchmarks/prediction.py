"""The criterion "prediction": its time over that of "hsic", of the number "auto" over a fixed one, and its formula."""

import numpy as np
from numpy.typing import NDArray
from table import Row, row
from timing import best_times, seconds

from bahsic import BAHSIC, predictability
from bahsic.datasets import make_xor

# Samples, features, and what prediction may cost, times HSIC.
_SIZES = [(1000, 500, 2.5), (2000, 1000, 2.2), (5000, 100, 4)]
_QUICK = [(100, 30, 3)]

# Samples, features, and what the number "auto" may cost, times a fixed number.
_AUTO = [(500, 100, 4), (1000, 500, 3.5), (2000, 1000, 2.5)]


def rows(*, quick: bool) -> list[Row]:
    """Ratios of times, and the largest error of the predictability."""
    found = [_ratio(*size, quick=quick) for size in (_QUICK if quick else _SIZES)]
    found += [_auto_ratio(*size, quick=quick) for size in (_QUICK if quick else _AUTO)]
    largest = max(_error(seed) for seed in range(3 if quick else 20))
    return [*found, row("predictability against leaving out by hand, 20 draws", largest, "<= 1e-10")]


def _ratio(m: int, d: int, bar: float, *, quick: bool) -> Row:
    X, y, _ = make_xor(m, d, random_state=0)
    times = best_times(
        {
            name: lambda name=name: seconds(lambda: BAHSIC(10, criterion=name).fit(X, y))
            for name in ("hsic", "prediction")
        },
        repeats=1 if quick or m > 2000 else 3,
    )
    ratio = times["prediction"] / times["hsic"]
    note = f"{times['prediction']:.3g} s"
    what = f"prediction / hsic, m={m}, d={d}, step 0.1"
    return row(what, ratio, "" if quick else f"<= {bar}", note=note, m=m, d=d, seconds=times["prediction"])


def _auto_ratio(m: int, d: int, bar: float, *, quick: bool) -> Row:
    X, y, _ = make_xor(m, d, random_state=0)
    numbers: dict[str, int | str] = {"fixed": 10, "auto": "auto"}
    times = best_times(
        {
            name: lambda number=number: seconds(lambda: BAHSIC(number, criterion="prediction").fit(X, y))
            for name, number in numbers.items()
        },
        repeats=1 if quick else 3,
    )
    what = f'prediction: number "auto" / fixed, m={m}, d={d}'
    note = f"{times['auto']:.3g} s"
    bound = "" if quick else f"<= {bar}"
    return row(what, times["auto"] / times["fixed"], bound, note=note, m=m, d=d, seconds=times["auto"])


def _error(seed: int) -> float:
    rng = np.random.default_rng(seed)
    m, d, ridge = int(rng.integers(8, 31)), int(rng.integers(1, 5)), float(rng.choice([1e-1, 1e-2, 1e-3]))
    X = rng.standard_normal((m, d))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = X[:, 0] + rng.standard_normal(m)
    return abs(predictability(X, y, ridge=ridge) - _by_hand(X, y, ridge))


def _by_hand(X: NDArray[np.float64], y: NDArray[np.float64], ridge: float) -> float:
    m, d = X.shape
    K = np.exp(-np.square(X[:, None] - X).sum(axis=2) / (2 * d))
    losses = np.empty(m)
    for i in range(m):
        rest = np.delete(np.arange(m), i)
        system = np.ones((m, m))
        system[:-1, :-1] = K[np.ix_(rest, rest)] + m * ridge * np.eye(m - 1)
        system[-1, -1] = 0.0
        *alpha, intercept = np.linalg.solve(system, [*y[rest], 0.0])
        losses[i] = (y[i] - K[i, rest] @ alpha - intercept) ** 2
    means = (y.sum() - y) / (m - 1)
    return float(1 - losses.sum() / np.square(y - means).sum())
