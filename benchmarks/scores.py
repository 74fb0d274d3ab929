"""Scores of single features: all at once against one after the other, and against scikit-learn's mutual information.

Those of mixed tables, and their redundancy, against the same for numbers alone.
"""

from collections.abc import Callable

import numpy as np
from sklearn.feature_selection import mutual_info_classif
from table import Row, row
from timing import best_times, seconds

from bahsic import hsic_scores, hsic_test, redundancy

_SIZES = [(60, 10_000), (1000, 1000)]
_QUICK = [(60, 200)]

# Sizes of mixed tables.
_TABLES = [(1500, 80), (32_000, 14)]
_QUICK_TABLES = [(100, 8)]

# Features that are tested one after the other, and by mutual information; the time is scaled to all.
_SOME = 50


def rows(*, quick: bool) -> list[Row]:
    """Time of the others over that of `hsic_scores`, for scores and p-values."""
    plain = [line for m, d in (_QUICK if quick else _SIZES) for line in _size_rows(m, d, quick=quick)]
    mixed = [line for m, d in (_QUICK_TABLES if quick else _TABLES) for line in _mixed_rows(m, d, quick=quick)]
    return plain + mixed


def _size_rows(m: int, d: int, *, quick: bool) -> list[Row]:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(m, d)), rng.integers(0, 2, m)
    some = X[:, :_SOME]
    tasks = {
        "all at once": lambda: seconds(lambda: hsic_scores(X, y)),
        "hsic_test one by one": lambda: seconds(lambda: [hsic_test(x, y, method="gamma") for x in some.T]),
        "mutual_info_classif": lambda: seconds(lambda: mutual_info_classif(some, y, random_state=0)),
    }
    times = best_times(tasks, repeats=3)
    own = times.pop("all at once")
    return [
        row(
            f"{name} / hsic_scores, m={m}, d={d}",
            time * d / _SOME / own,
            "" if quick else ">= 1",
            note=f"{own:.3g} s",
            m=m,
            d=d,
            seconds=own,
            other_seconds=time * d / _SOME,
        )
        for name, time in times.items()
    ]


def _mixed_rows(m: int, d: int, *, quick: bool) -> list[Row]:
    """Time for a table in which two of three columns are categories, and each second one has missing entries."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(m, d)), rng.integers(0, 2, m)
    codes = np.arange(d) % 3 > 0
    mixed = np.where(codes, np.floor(rng.random((m, d)) * np.linspace(2, 40, d)), X)
    mixed[:, ::2][rng.random((m, len(range(0, d, 2)))) < 0.1] = np.nan
    options = {"categorical_features": codes, "missing": "neutral"}
    tasks: dict[str, Callable[[], float]] = {
        "hsic_scores": lambda: seconds(lambda: hsic_scores(X, y)),
        "hsic_scores, mixed": lambda: seconds(lambda: hsic_scores(mixed, y, **options)),
        "redundancy": lambda: seconds(lambda: redundancy(X)),
        "redundancy, mixed": lambda: seconds(lambda: redundancy(mixed, **options)),
    }
    times = best_times(tasks, repeats=1 if quick else 2)
    return [
        row(
            f"{name}: mixed table / numbers, gaussian, m={m}, d={d}",
            times[f"{name}, mixed"] / times[name],
            "" if quick else "<= 3",
            note=f"{times[f'{name}, mixed']:.3g} s",
            m=m,
            d=d,
            seconds=times[f"{name}, mixed"],
            other_seconds=times[name],
        )
        for name in ("hsic_scores", "redundancy")
    ]
