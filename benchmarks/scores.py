"""Scores of single features: all at once against one after the other, and against scikit-learn's mutual information."""

import numpy as np
from sklearn.feature_selection import mutual_info_classif
from table import Row, row
from timing import best_times, seconds

from bahsic import hsic_scores, hsic_test

_SIZES = [(60, 10_000), (1000, 1000)]
_QUICK = [(60, 200)]

# Features that are tested one after the other, and by mutual information; the time is scaled to all.
_SOME = 50


def rows(*, quick: bool) -> list[Row]:
    """Time of the others over that of `hsic_scores`, for scores and p-values."""
    return [line for m, d in (_QUICK if quick else _SIZES) for line in _size_rows(m, d, quick=quick)]


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
