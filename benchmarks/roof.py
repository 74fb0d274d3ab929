"""How far from the roof: the time of a fit over that of one plain product ``M @ X_S`` per round.

The roof is what remains if everything but one product a round were free. Both sides use the same
number of threads.
"""

from collections.abc import Sequence
from contextlib import nullcontext

import numpy as np
from numpy.typing import NDArray
from table import Row, row
from threadpoolctl import threadpool_limits
from timing import best_times, seconds

from bahsic import BAHSIC
from bahsic.datasets import make_xor

# Samples, features, bar.
_SIZES = [(2000, 1000, "<= 2"), (1000, 500, "<= 3")]
_QUICK = [(300, 60, "")]


def rows(*, quick: bool) -> list[Row]:
    """Fit over roof, with all threads and with one."""
    return [
        _row(m, d, n_jobs, bar if n_jobs is None else "")
        for m, d, bar in (_QUICK if quick else _SIZES)
        for n_jobs in (None, 1)
    ]


def _row(m: int, d: int, n_jobs: int | None, bar: str) -> Row:
    X, y, _ = make_xor(m, d, random_state=0)
    selector = BAHSIC(2, n_jobs=n_jobs).fit(X, y)
    sizes = [step.n_features for step in selector.path_]
    M = np.random.default_rng(0).normal(size=(m, m))
    tasks = {
        "fit": lambda: seconds(lambda: selector.fit(X, y)),
        "roof": lambda: product_seconds(M, X, sizes, n_jobs),
    }
    best = best_times(tasks, repeats=5)
    threads = "all threads" if n_jobs is None else "one thread"
    return row(
        f"fit / roof, m={m}, d={d}, {threads}",
        best["fit"] / best["roof"],
        bar,
        note=f"fit {best['fit']:.3g} s, roof {best['roof']:.3g} s, {len(sizes)} rounds",
        m=m,
        d=d,
        n_jobs="" if n_jobs is None else n_jobs,
        fit_seconds=best["fit"],
        roof_seconds=best["roof"],
    )


def product_seconds(M: NDArray[np.float64], X: NDArray[np.float64], sizes: Sequence[int], n_jobs: int | None) -> float:
    """Summed time of the products of M with the first so many columns of X, made contiguous beforehand."""
    total = 0.0
    with nullcontext() if n_jobs is None else threadpool_limits(n_jobs, user_api="blas"):
        for size in sizes:
            X_S = np.ascontiguousarray(X[:, :size])
            total += seconds(lambda X_S=X_S: M @ X_S)
    return total
