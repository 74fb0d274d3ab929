"""How far from the roof: the time of a fit over that of one plain product ``M @ X_S`` per round.

The roof is what remains if everything but one product a round were free. Both sides use the same number of threads. Of
five repeats the least time counts: of the fit as a whole, and of the roof for each of its products, which can only make
the ratio greater.
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext

import numpy as np
from numpy.typing import NDArray
from table import Row, row
from threadpoolctl import threadpool_limits
from timing import best_times, seconds

from bahsic import BAHSIC
from bahsic.datasets import make_xor

# Samples, features, bars.
_SIZES = [(2000, 1000, "<= 2.2"), (1000, 500, "<= 4")]
_QUICK = [(300, 60, "")]

# The n_jobs of the fit, and of the products.
_THREADS = {"all threads": None, "one thread": 1}


def rows(*, quick: bool) -> list[Row]:
    """Fit over roof, with all threads and with one."""
    return [line for size in (_QUICK if quick else _SIZES) for line in _size_rows(*size)]


def _size_rows(m: int, d: int, bar: str) -> list[Row]:
    X, y, _ = make_xor(m, d, random_state=0)
    sizes = [step.n_features for step in BAHSIC(2).fit(X, y).path_]
    M = np.random.default_rng(0).normal(size=(m, m))
    tasks: dict[str, Callable[[], float | list[float]]] = {}
    for threads, n_jobs in _THREADS.items():
        selector = BAHSIC(2, n_jobs=n_jobs)
        tasks[f"fit, {threads}"] = lambda selector=selector: seconds(lambda: selector.fit(X, y))
        tasks[f"roof, {threads}"] = lambda n_jobs=n_jobs: product_times(M, X, sizes, n_jobs)
    best = best_times(tasks, repeats=5)
    # A product on several threads waits for the last of them, so another program's load shows here.
    busy = "; busy machine, run again" if best["roof, all threads"] > best["roof, one thread"] else ""
    return [
        row(
            f"fit / roof, m={m}, d={d}, {threads}",
            best[f"fit, {threads}"] / best[f"roof, {threads}"],
            bar if n_jobs is None else "",
            note=f"fit {best[f'fit, {threads}']:.3g} s, roof {best[f'roof, {threads}']:.3g} s, "
            f"{len(sizes)} rounds{busy}",
            m=m,
            d=d,
            threads=threads,
            fit_seconds=best[f"fit, {threads}"],
            roof_seconds=best[f"roof, {threads}"],
        )
        for threads, n_jobs in _THREADS.items()
    ]


def product_times(
    M: NDArray[np.float64], X: NDArray[np.float64], sizes: Sequence[int], n_jobs: int | None
) -> list[float]:
    """Times of the products of M with the first so many columns of X, made contiguous beforehand."""
    with nullcontext() if n_jobs is None else threadpool_limits(n_jobs, user_api="blas"):
        return [_product_time(M, np.ascontiguousarray(X[:, :size])) for size in sizes]


def _product_time(M: NDArray[np.float64], X_S: NDArray[np.float64]) -> float:
    return seconds(lambda: M @ X_S)
