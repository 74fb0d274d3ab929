"""How much faster than the straightforward numpy code: one exponential of an m x m matrix for each candidate.

The straightforward code keeps D and takes the candidate's squared differences off, in place. Whole
rounds are run, from the first to one of few features, and have to give the same features in the same
order; the time for all rounds follows from the least time per candidate, which depends on m alone. D
itself is not counted against it. It has one thread, as numpy has for everything but products.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from table import Row, row
from threadpoolctl import threadpool_limits
from timing import seconds

from bahsic import BAHSIC, hsic_weights
from bahsic.datasets import make_xor
from bahsic.kernels import label_kernel
from bahsic.selection.path import PathStep

Array = NDArray[np.float64]

_SIZES = [(2000, 1000, ">= 100")]
_QUICK = [(300, 60, "")]

# Rounds that are compared, and fits, of which the best counts.
_N_COMPARED = 5


def rows(*, quick: bool) -> list[Row]:
    """Speed-up over the straightforward code."""
    return [_row(m, d, bar) for m, d, bar in (_QUICK if quick else _SIZES)]


def _row(m: int, d: int, bar: str) -> Row:
    X, y, _ = make_xor(m, d, random_state=0)
    Z, W = (X - X.mean(axis=0)) / X.std(axis=0), hsic_weights(label_kernel(y).gram())
    selector = BAHSIC(2).fit(X, y)
    path, fits, candidate_times = selector.path_, [], []
    compared = _compared(path)
    for index in compared:
        fits.append(seconds(lambda: selector.fit(X, y)))
        candidate_times.append(_checked_round(Z, W, path[index:]))
    n_candidates = sum(step.n_features for step in path if step.n_features > 1)
    fit, slow = min(fits), min(candidate_times) * n_candidates
    n_run = sum(path[index].n_features for index in compared)
    return row(
        f"straightforward code / fit, m={m}, d={d}",
        slow / fit,
        bar,
        note=f"fit {fit:.3g} s, {slow:.3g} s extrapolated from {n_run} of {n_candidates} candidates, "
        f"same result in {len(fits)} whole rounds",
        m=m,
        d=d,
        fit_seconds=fit,
        naive_seconds_extrapolated=slow,
        candidates_run=n_run,
        candidates=n_candidates,
    )


def _compared(path: Sequence[PathStep]) -> list[int]:
    """Rounds whose numbers of features fall evenly on a logarithmic scale, down to a few features."""
    sizes = np.array([step.n_features for step in path])
    wanted = np.geomspace(sizes[0], 4, _N_COMPARED)
    return sorted({int(np.argmin(np.abs(sizes - size))) for size in wanted})


def _checked_round(Z: Array, W: Array, rest: Sequence[PathStep]) -> float:
    """Seconds per candidate of the first of the remaining rounds, which has to give the same features."""
    subset = np.sort([j for step in rest for j in step.features])
    D = squared_distances(Z[:, subset])
    scores: list[Array] = []
    with threadpool_limits(1, user_api="blas"):
        time = seconds(lambda: scores.append(leaving_scores(Z[:, subset], D, W)))
    found = subset[np.argsort(-scores[0], kind="stable")[: len(rest[0].features)]]
    if tuple(found) != rest[0].features:
        raise AssertionError(f"of {len(subset)} features, {found} leave here and {rest[0].features} in the fit")
    return time / len(subset)


def squared_distances(Z: Array) -> Array:
    """Squared distances between the rows of Z."""
    squares = (Z**2).sum(axis=1)
    return squares[:, None] + squares - 2 * Z @ Z.T


def leaving_scores(Z: Array, D: Array, W: Array) -> Array:
    """HSIC without each column of Z in turn, Gaussian kernel, gamma = 1 / (2 (n - 1)) for n columns."""
    gamma, scores, K = 1 / (2 * (Z.shape[1] - 1)), np.empty(Z.shape[1]), np.empty_like(W)
    for j, x in enumerate(np.ascontiguousarray(Z.T)):
        np.subtract.outer(x, x, out=K)
        np.square(K, out=K)
        np.subtract(K, D, out=K)
        K *= gamma
        np.exp(K, out=K)  # exp(-gamma (D - D_j))
        scores[j] = np.vdot(K, W)
    return scores
