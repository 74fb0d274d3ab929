"""A wide sparse table: memory beside the stored entries, against the dense table."""

import tracemalloc
import warnings

import numpy as np
from scipy import sparse
from table import Row, row
from timing import seconds

from bahsic import BAHSIC

_SIZE = (350, 100_000)
_QUICK = (350, 5000)
_MEBIBYTE = 2**20


def rows(*, quick: bool) -> list[Row]:
    """Peak of the allocations of a fit less the stored entries, in MiB."""
    m, d = _QUICK if quick else _SIZE
    rng = np.random.default_rng(0)
    X = sparse.random_array((m, d), density=0.01, format="csc", rng=rng, data_sampler=_ones)
    y = rng.integers(0, 2, m)
    time, peak = _measured(X, y)
    stored = X.data.nbytes + X.indices.nbytes
    note = f"{time:.3g} s; stored {stored / _MEBIBYTE:.3g} MiB, dense {8 * m * d / _MEBIBYTE:.4g} MiB"
    # Copies of what is stored and some numbers for each feature; and one block of dense columns.
    beside = (peak - 8 * stored) / _MEBIBYTE
    what = f"peak less 8 times the stored entries, MiB, m={m}, d={d}"
    return [row(what, beside, "<= 64", note=note, m=m, d=d, seconds=time, stored_bytes=stored, peak_bytes=peak)]


def _ones(size: int) -> np.ndarray:
    return np.ones(size)


def _measured(X: sparse.csc_array, y: np.ndarray) -> tuple[float, int]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".* features are constant")
        time = seconds(lambda: BAHSIC(10).fit(X, y))
        tracemalloc.start()
        BAHSIC(10).fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return time, peak
