"""What options cost: time of a fit with an option over that of a plain fit of the same shape."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from table import Row, row
from timing import best_times, seconds

from bahsic import BAHSIC, FOHSIC
from bahsic.datasets import make_xor

_SIZES = [(500, 200), (1000, 500)]
_QUICK = [(100, 30)]

# What each option may cost, times a plain fit.
_BARS = {"groups of 2": 5, "groups of 5": 5, "groups of 20": 5, "standard errors": 1.3}
_BARS |= {"FOHSIC(5)": 1, "Laplacian": 1.3, "half of the columns categories": 1.3, "a tenth missing": 1.3}
_BAR = 2


def rows(*, quick: bool) -> list[Row]:
    """Time of a fit with each option over that of a plain fit."""
    return [line for m, d in (_QUICK if quick else _SIZES) for line in _size_rows(m, d, quick=quick)]


def _size_rows(m: int, d: int, *, quick: bool) -> list[Row]:
    X, y, _ = make_xor(m, d, random_state=0)
    fits = _fits(X, y)
    times = best_times({name: _timed(fit) for name, fit in fits.items()}, repeats=1 if quick else 3)
    return [
        row(
            f"{name} / plain, m={m}, d={d}",
            time / times["plain"],
            "" if quick else f"<= {_BARS.get(name, _BAR)}",
            note=f"{time:.3g} s",
            m=m,
            d=d,
            seconds=time,
        )
        for name, time in times.items()
        if name != "plain"
    ]


def _timed(fit: Callable[[], Any]) -> Callable[[], float]:
    return lambda: seconds(fit)


def _fits(X: NDArray[np.float64], y: NDArray[np.int64]) -> dict[str, Callable[[], Any]]:
    rng = np.random.default_rng(0)
    m, d = X.shape
    codes = X.copy()
    codes[:, 1::2] = np.digitize(X[:, 1::2], [-1.0, -0.3, 0.3, 1.0])
    holes = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    both = np.where(rng.random(X.shape) < 0.1, np.nan, codes)
    odd = np.arange(d) % 2 == 1
    binary = (rng.random(X.shape) < 0.1).astype(float)
    weights = rng.integers(1, 4, m)
    far = np.where(rng.random(X.shape) < 0.003, 30 * X, X)
    outputs = np.column_stack([y, rng.integers(0, 3, m)])
    return {
        "plain": lambda: BAHSIC(2).fit(X, y),
        "half of the columns categories": lambda: BAHSIC(2, categorical_features=odd).fit(codes, y),
        "a tenth missing": lambda: BAHSIC(2, missing="neutral").fit(holes, y),
        "categories and missing": lambda: BAHSIC(2, categorical_features=odd, missing="neutral").fit(both, y),
        "0.3% outlying": lambda: BAHSIC(2).fit(far, y),
        "lognormal columns": lambda: BAHSIC(2).fit(np.exp(X), y),
        "sample weights": lambda: BAHSIC(2).fit(X, y, sample_weight=weights),
        "keep": lambda: BAHSIC(4, keep=[5, 6]).fit(X, y),
        "two outputs": lambda: BAHSIC(2).fit(X, outputs),
        "standard errors": lambda: BAHSIC(2, standard_errors=True).fit(X, y),
        "FOHSIC(5)": lambda: FOHSIC(5).fit(X, y),
        "Laplacian": lambda: BAHSIC(2, kernel="laplacian").fit(X, y),
        "sparse": lambda: BAHSIC(2).fit(sparse.csc_array(binary), y),
        **{f"groups of {size}": _grouped(X, y, size) for size in (2, 5, 20)},
    }


def _grouped(X: NDArray[np.float64], y: NDArray[np.int64], size: int) -> Callable[[], Any]:
    groups = np.arange(X.shape[1]) // size
    return lambda: BAHSIC(1, feature_groups=groups).fit(X, y)
