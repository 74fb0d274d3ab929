"""Exactness: the order against brute force, scores and certified intervals against extended precision."""

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from table import Row, row

from bahsic import BAHSIC, FOHSIC
from bahsic.criteria.weights import Weights, label_weights
from bahsic.data.standard import Standardisation, prepared_columns
from bahsic.datasets import make_xor
from bahsic.engine import scorer_for, threads
from bahsic.kernels import Gaussian, label_kernel

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
import brute_force
import test_search_brute_force as cases

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Both engines for all cases, however small, and the environment variable that chooses them.
_ENGINES = {"reference": "0", "compiled loops": "always"}


def rows(*, quick: bool) -> list[Row]:
    """Cases with the order of brute force, accuracy of the scores, intervals that miss the truth."""
    n_cases = 30 if quick else cases.N_CASES
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*features are constant")
        orders = [_order_row(*one, n_cases) for one in product((BAHSIC, FOHSIC), _ENGINES)]
    with _engine("compiled loops"):
        return [*orders, *_score_rows(n_cases)]


@contextmanager
def _engine(name: str) -> Iterator[None]:
    """Choose the engine for the length of a ``with`` block."""
    os.environ["BAHSIC_COMPILED"] = _ENGINES[name]
    try:
        yield
    finally:
        del os.environ["BAHSIC_COMPILED"]


def _order_row(selector: Any, engine: str, n_cases: int) -> Row:
    with _engine(engine):
        equal = sum(_same_order(selector, seed) for seed in range(n_cases))
    what = f"{selector.__name__}, {engine}: random cases with the order of brute force"
    return row(what, equal, f"== {n_cases}", note=f"of {n_cases}")


def _same_order(selector: Any, seed: int) -> bool:
    X, y, L, target, name, statistic, step = cases.random_case(seed)
    kernel, definition = cases.KERNELS[name]
    fitted = selector(X.shape[1], step=step, kernel=kernel, target_kernel=target, statistic=statistic).fit(X, y)
    Z, constant = brute_force.standardised(X)
    try:
        brute_force.check_path(fitted, Z, L, constant, definition, statistic, step, leaving=selector is BAHSIC)
    except AssertionError:
        return False
    return True


@dataclass(frozen=True)
class Round:
    """A round with the Gaussian kernel: what changes, and by how much according to each stage."""

    XT: Array
    W: Array
    subset: Indices
    candidates: Indices
    gamma: float
    leaving: bool
    stages: list[tuple[Array, Array]]  # values and radii

    def truth(self) -> NDArray[np.longdouble]:
        """The changes by definition, in extended precision."""
        X = self.XT.astype(np.longdouble)
        D = sum((_squared_differences(X[j]) for j in self.subset), np.zeros(self.W.shape, np.longdouble))
        sign = -1 if self.leaving else 1
        K = np.exp(-self.gamma * D)
        changes = [K * np.expm1(-sign * self.gamma * _squared_differences(X[j])) for j in self.candidates]
        return np.array([(change * self.W).sum() for change in changes])


def _squared_differences(x: NDArray[np.longdouble]) -> NDArray[np.longdouble]:
    return np.subtract.outer(x, x) ** 2


def _score_rows(n_cases: int) -> list[Row]:
    n_intervals, n_missed, worst = 0, 0, 0.0
    for found in chain(*map(_random_rounds, range(n_cases)), _xor_rounds()):
        truth = found.truth()
        errors = np.array([np.abs(values - truth) for values, _ in found.stages])
        radii = np.array([radii for _, radii in found.stages])
        n_intervals += int(np.isfinite(radii).sum())
        n_missed += int((errors > radii).sum())
        worst = max(worst, _relative_error(errors, radii, truth))
    return [
        row("largest error of a refined score, relative to the spread", worst, "<= 1e-9"),
        row("certified intervals without the true change", n_missed, "== 0", note=f"of {n_intervals}"),
    ]


def _relative_error(errors: Array, radii: Array, truth: NDArray[np.longdouble]) -> float:
    """Greatest error of the most certain values over the spread of the changes; 0 where all are equal."""
    refined = errors[np.argmin(radii, axis=0), np.arange(len(truth))]
    spread = np.ptp(truth)
    return float(refined.max() / spread) if spread > 0 else 0.0


def _random_rounds(seed: int) -> Iterator[Round]:
    """Features that leave and enter a random subset of a random case."""
    X, y, _, target, _, statistic, _ = cases.random_case(seed)
    rng = np.random.default_rng(seed)
    XT, constant = prepared_columns(X, Gaussian(), Standardisation())
    weights = label_weights(label_kernel(y, target), statistic)
    useful = np.flatnonzero(~constant)
    inside = np.sort(rng.permutation(useful)[: 1 + len(useful) // 2])
    outside = np.setdiff1d(useful, inside)
    for candidates in (inside, outside):
        if len(candidates) > 1:
            gamma = float(10 ** rng.uniform(-1.5, 1.5) / (2 * len(inside)))
            yield _round(XT, weights, inside, candidates, gamma)


def _xor_rounds() -> Iterator[Round]:
    """Rounds of an elimination with many features left, some, and few."""
    X, y, _ = make_xor(300, 100, random_state=0)
    XT, _ = prepared_columns(X, Gaussian(), Standardisation())
    weights = label_weights(label_kernel(y))
    for n in (100, 30, 10, 3):
        yield _round(XT, weights, np.arange(n), np.arange(n), 1 / (2 * (n - 1)))


def _round(XT: Array, weights: Weights, subset: Indices, candidates: Indices, gamma: float) -> Round:
    """A round with all candidates in all stages, also those that a fit would not need."""
    leaving, kernel = bool(np.isin(candidates, subset).all()), Gaussian(gamma)
    with threads(1) as executor:
        scorer = scorer_for(XT, kernel, weights, executor)
        stages, _ = scorer._round(subset, candidates, kernel, None, leaving=leaving)  # noqa: SLF001 (the stages are internal)
        found = [stage(np.arange(len(candidates))) for stage in stages]
    intervals = [(stage.values, stage.radii) for stage in found]
    return Round(XT, weights.matrix(), subset, candidates, gamma, leaving, intervals)
