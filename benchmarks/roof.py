"""How far from the roof: the time of a fit over that of one plain product ``M @ X_S`` per round.

The roof is what remains if everything but one product a round were free. Both sides use the same number of threads;
the fit with compiled loops (the extra ``fast``) and without. Of five repeats the least time counts: of the fit as a
whole, and of the roof for each of its products, which can only make the ratio greater.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext

import numpy as np
from numpy.typing import NDArray
from table import Row, row
from threadpoolctl import threadpool_limits
from timing import best_times, seconds

from bahsic import BAHSIC
from bahsic.datasets import make_xor

# Samples, features, bars with compiled loops and without.
_SIZES = [(2000, 1000, ("<= 2", "<= 2.5")), (1000, 500, ("<= 3", "<= 4.5"))]
_QUICK = [(300, 60, ("", ""))]

_LOOPS = ("compiled loops", "numpy alone")

# The n_jobs of the fit, and of the products.
_THREADS = {"all threads": None, "one thread": 1}


def rows(*, quick: bool) -> list[Row]:
    """Fit over roof, with all threads and with one."""
    return [line for size in (_QUICK if quick else _SIZES) for line in _size_rows(*size)]


def _size_rows(m: int, d: int, bars: tuple[str, str]) -> list[Row]:
    X, y, _ = make_xor(m, d, random_state=0)
    sizes = [step.n_features for step in BAHSIC(2).fit(X, y).path_]
    M = np.random.default_rng(0).normal(size=(m, m))
    tasks: dict[str, Callable[[], float | list[float]]] = {}
    for threads, n_jobs in _THREADS.items():
        selector = BAHSIC(2, n_jobs=n_jobs)
        for loops in _LOOPS:
            tasks[f"fit, {threads}, {loops}"] = lambda selector=selector, loops=loops: _fit_time(selector, X, y, loops)
        tasks[f"roof, {threads}"] = lambda n_jobs=n_jobs: product_times(M, X, sizes, n_jobs)
    best = best_times(tasks, repeats=5)
    # A product on several threads waits for the last of them, so another program's load shows here.
    busy = "; busy machine, run again" if best["roof, all threads"] > best["roof, one thread"] else ""
    return [
        row(
            f"fit / roof, m={m}, d={d}, {threads}, {loops}",
            best[f"fit, {threads}, {loops}"] / best[f"roof, {threads}"],
            bar if n_jobs is None else "",
            note=f"fit {best[f'fit, {threads}, {loops}']:.3g} s, roof {best[f'roof, {threads}']:.3g} s, "
            f"{len(sizes)} rounds{busy}",
            m=m,
            d=d,
            threads=threads,
            fit_seconds=best[f"fit, {threads}, {loops}"],
            roof_seconds=best[f"roof, {threads}"],
        )
        for threads, n_jobs in _THREADS.items()
        for loops, bar in zip(_LOOPS, bars, strict=True)
    ]


def _fit_time(selector: BAHSIC, X: NDArray[np.float64], y: NDArray[np.int64], loops: str) -> float:
    with compiled(on=loops == _LOOPS[0]):
        return seconds(lambda: selector.fit(X, y))


@contextmanager
def compiled(*, on: bool) -> Iterator[None]:
    """Switch compiled loops on or off for the length of a ``with`` block."""
    before = os.environ.get("BAHSIC_COMPILED")
    os.environ["BAHSIC_COMPILED"] = "1" if on else "0"
    try:
        yield
    finally:
        os.environ.pop("BAHSIC_COMPILED")
        if before is not None:
            os.environ["BAHSIC_COMPILED"] = before


def product_times(
    M: NDArray[np.float64], X: NDArray[np.float64], sizes: Sequence[int], n_jobs: int | None
) -> list[float]:
    """Times of the products of M with the first so many columns of X, made contiguous beforehand."""
    with nullcontext() if n_jobs is None else threadpool_limits(n_jobs, user_api="blas"):
        return [_product_time(M, np.ascontiguousarray(X[:, :size])) for size in sizes]


def _product_time(M: NDArray[np.float64], X_S: NDArray[np.float64]) -> float:
    return seconds(lambda: M @ X_S)
