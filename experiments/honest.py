"""How honest leave-one-out is: the R2 that a path promises against that on fresh samples.

Data are drawn, features are selected with the number "auto", and the same kernel ridge regression on the selected
features predicts fresh samples. The same samples chose the features and their number, so the promise is too high.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.baselines import Array
from experiments.frame import Cell, Experiment
from experiments.rows import Row

N_FRESH = 2000
N_RUNS = 10
SAMPLES = (50, 100, 200, 400)
NOISE = (0, 8, 48, 198)  # features of noise beside the two that may matter
CRITERIA = ("hsic", "prediction")


def _nothing(X: Array, random: np.random.Generator) -> NDArray[Any]:
    return random.permutation(np.arange(len(X)) % 2)


def _weak(X: Array, random: np.random.Generator) -> NDArray[Any]:
    return X[:, 0] + 0.5 * X[:, 1] + 1.5 * random.standard_normal(len(X))


def _together(X: Array, random: np.random.Generator) -> NDArray[Any]:
    wrong = random.random(len(X)) < 0.1
    return ((X[:, 0] * X[:, 1] > 0) ^ wrong).astype(int)


#: Labels that no feature tells of, a weak linear dependence on two, and two that matter together.
PROBLEMS: dict[str, Callable[[Array, np.random.Generator], NDArray[Any]]] = {
    "nothing": _nothing,
    "weak": _weak,
    "xor": _together,
}


def grid(quick: bool, results: Path) -> list[Cell]:
    """Problems, samples, features of noise, criteria and draws, the small ones first."""
    samples, noise, n_runs = ((50,), (8,), 1) if quick else (SAMPLES, NOISE, N_RUNS)
    cells = [
        {"problem": problem, "n_samples": n, "n_noise": d, "criterion": criterion, "run": run}
        for problem in PROBLEMS
        for n in samples
        for d in noise
        for criterion in CRITERIA
        for run in range(n_runs)
    ]
    return sorted(cells, key=lambda cell: cell["n_samples"] * (cell["n_noise"] + 50))


def rows(cell: Cell, folder: Path | None) -> list[Row]:
    """Number of features that "auto" takes, the promised R2 and that on fresh samples; the same for all features."""
    from bahsic import BAHSIC

    random = np.random.default_rng(cell["run"])
    X = random.standard_normal((cell["n_samples"] + N_FRESH, cell["n_noise"] + 2))
    y = PROBLEMS[cell["problem"]](X, random)
    m = cell["n_samples"]
    start = time.process_time()
    selector = BAHSIC("auto", criterion=cell["criterion"], n_jobs=1).fit(X[:m], y[:m])
    seconds = time.process_time() - start
    order = selector.elimination_order_[::-1]
    steps = {step.n_features: step for step in selector.path_}
    fresh = {n: fresh_r2(X[:, order[:n]], y, m, step.parameter, step.ridge) for n, step in steps.items()}
    number, best = selector.n_features_, max(fresh, key=lambda n: fresh[n])
    return [
        {
            "number": number,
            "promised": f"{steps[number].predictability:.4f}",
            "fresh": f"{fresh[number]:.4f}",
            "best_number": best,
            "best_fresh": f"{fresh[best]:.4f}",
            "promised_of_all": f"{steps[X.shape[1]].predictability:.4f}",
            "fresh_of_all": f"{fresh[X.shape[1]]:.4f}",
            "found": int(np.isin([0, 1], order[:number]).sum()),
            "seconds": f"{seconds:.3f}",
        }
    ]


def fresh_r2(X: Array, y: NDArray[Any], m: int, gamma: float, ridge: float) -> float:
    """R2 on the samples after the first m of the kernel ridge regression that was trained on these.

    The columns are standardised by the first m samples; the error of predicting their mean is the comparison.
    """
    from scipy.spatial.distance import cdist

    X = (X - X[:m].mean(axis=0)) / X[:m].std(axis=0)
    K = np.exp(-gamma * cdist(X, X[:m], "sqeuclidean"))
    shift = K[:m].mean(axis=0)
    K = K - shift - K.mean(axis=1, keepdims=True) + shift.mean()
    mean = y[:m].mean()
    weights = np.linalg.solve(K[:m] + m * ridge * np.eye(m), y[:m] - mean)
    errors = y[m:] - mean - K[m:] @ weights
    return 1 - float(np.square(errors).sum() / np.square(y[m:] - mean).sum())


def _table(rows: list[Row]) -> str:
    from experiments.honest_table import table

    return table(rows)


EXPERIMENT = Experiment(
    name="honest",
    keys=("problem", "n_samples", "n_noise", "criterion", "run"),
    columns=(
        *("problem", "n_samples", "n_noise", "criterion", "run"),
        *("number", "promised", "fresh", "best_number", "best_fresh", "promised_of_all", "fresh_of_all", "found"),
        "seconds",
    ),
    grid=grid,
    rows=rows,
    table=_table,
    repeats=("run",),
)
