"""Threads: two give the same bits as one, and how much faster they are."""

from typing import Any

import numpy as np
from table import Row, row
from timing import best_times, seconds

from bahsic import BAHSIC, FOHSIC
from bahsic.datasets import make_xor

_SIZES = [(1000, 500), (2000, 1000)]
_QUICK = [(300, 60)]

# Kernels for which both selectors are compared, on data small enough for the slow ones.
_KERNELS = ["gaussian", "laplacian", "linear", "polynomial", "inverse_distance"]
_SMALL = (300, 12)


def rows(*, quick: bool) -> list[Row]:
    """Number of fits with identical bits, and the speed-up by the second thread."""
    sizes = _QUICK if quick else _SIZES
    cases = [(selector, kernel, *_SMALL) for selector in (BAHSIC, FOHSIC) for kernel in _KERNELS]
    cases += [(BAHSIC, "gaussian", m, d) for m, d in sizes]
    identical = sum(_identical(*case) for case in cases)
    what = "fits with the same bits for n_jobs=1 and n_jobs=2"
    return [row(what, identical, f"== {len(cases)}", note=f"of {len(cases)}"), *(_speed(*size) for size in sizes)]


def _identical(selector: Any, kernel: str, m: int, d: int) -> bool:
    X, y, _ = make_xor(m, d, random_state=0)
    one, two = (selector(2, kernel=kernel, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2))
    # Equality of the records compares every HSIC exactly.
    return one.path_ == two.path_ and np.array_equal(one.ranking_, two.ranking_)


def _speed(m: int, d: int) -> Row:
    X, y, _ = make_xor(m, d, random_state=0)
    tasks = {
        name: lambda n_jobs=n_jobs: seconds(lambda: BAHSIC(2, n_jobs=n_jobs).fit(X, y))
        for name, n_jobs in (("one", 1), ("two", 2))
    }
    best = best_times(tasks, repeats=3)
    note = f"{best['one']:.3g} s and {best['two']:.3g} s"
    return row(f"n_jobs=1 / n_jobs=2, m={m}, d={d}", best["one"] / best["two"], note=note, m=m, d=d)
