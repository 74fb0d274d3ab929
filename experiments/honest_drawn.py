"""Drawn data of known truth: five problems, R2 on fresh samples."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.baselines import Array
from experiments.frame import Cell
from experiments.honest_variants import VARIANTS, select
from experiments.kernel_ridge import r2
from experiments.rows import Row

N_FRESH = 2000
N_RUNS = 6  # more can be added; the others stay what they are
SAMPLES = (50, 100, 200, 400)
NOISE = (8, 48, 198)  # features of noise

# In standard deviations. Of 0.5, 0.8 and 1 the one with which the rule before cross-fitting, by leave-one-out, reports
# 0.2 too much and has a fresh R2 near 0.18 over all problems, as in the study that set the bars.
_SHIFT = 0.8


class Drawn(NamedTuple):
    """Function of the features and a source of random numbers that gives the labels, and the number of true features.

    It may change the features.
    """

    labels: Callable[[Array, np.random.Generator], NDArray[Any]]
    n_true: int


def _nothing(X: Array, random: np.random.Generator) -> NDArray[Any]:
    return random.permutation(np.arange(len(X)) % 2)


def _weak(X: Array, random: np.random.Generator) -> NDArray[Any]:
    return X[:, 0] + 0.5 * X[:, 1] + 1.5 * random.standard_normal(len(X))


def _together(X: Array, random: np.random.Generator) -> NDArray[Any]:
    wrong = random.random(len(X)) < 0.1
    return ((X[:, 0] * X[:, 1] > 0) ^ wrong).astype(int)


def _shifted(X: Array, random: np.random.Generator) -> NDArray[Any]:
    y = random.permutation(np.arange(len(X)) % 2)
    X[:, :10] += _SHIFT * y[:, None]
    return y


def _additive(X: Array, random: np.random.Generator) -> NDArray[Any]:
    return np.sin(2 * X[:, 0]) + np.square(X[:, 1]) / 2 + X[:, 2] + random.standard_normal(len(X))


#: Labels that no feature tells of, a weak linear dependence on two, two that matter only together with a tenth of
#: the labels flipped, ten that are shifted between classes, and a sum of functions of three.
PROBLEMS = {
    "nothing": Drawn(_nothing, 0),
    "weak": Drawn(_weak, 2),
    "xor": Drawn(_together, 2),
    "shifted": Drawn(_shifted, 10),
    "additive": Drawn(_additive, 3),
}


def cells(quick: bool) -> list[Cell]:
    """Return problems, samples, features of noise, variants and draws, one draw of everything after the other."""
    samples, noise, n_runs = ((50,), (8,), 1) if quick else (SAMPLES, NOISE, N_RUNS)
    return [
        {"part": "drawn", "problem": problem, "n_samples": n, "n_noise": d, "variant": variant, "run": run}
        for run in range(n_runs)
        for variant in VARIANTS
        for n in samples
        for d in noise
        for problem in PROBLEMS
    ]


def draw(cell: Cell) -> tuple[Array, NDArray[Any]]:
    """Return the samples of a cell and fresh ones after them; every setting and every draw has a seed of its own."""
    problem, n, d = cell["problem"], cell["n_samples"], cell["n_noise"]
    random = np.random.default_rng([cell["run"], [*PROBLEMS].index(problem), n, d])
    X = random.standard_normal((n + N_FRESH, PROBLEMS[problem].n_true + d))
    y = PROBLEMS[problem].labels(X, random)
    return X, y


def rows(cell: Cell, folder: Path | None) -> list[Row]:
    """Select in the samples, and predict the fresh ones with the selected features."""
    (X, y), m = draw(cell), cell["n_samples"]
    found = select(cell["variant"], X[:m], y[:m])
    _, fresh = r2(X[:m, found.features], y[:m], X[m:, found.features], y[m:], found.kernel)
    n_found = np.count_nonzero(found.features < PROBLEMS[cell["problem"]].n_true)
    return [found.row | {"n_features": X.shape[1], "found": n_found, "fresh": f"{fresh:.4f}"}]
