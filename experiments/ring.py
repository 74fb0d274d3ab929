"""Published problems of Passemiers et al. (2024): the share of the relevant features among the first of a ranking.

A method ranks the features in the training part of each of six folds without shuffling, with its columns in random
order; the share of the p relevant features among the first p and 2p of the ranking is recorded. The published figures
are means over the numbers of features p, then the powers of two up to 2048: their digits are multiples of
1 / (6 p k) for these k numbers only. They were copied into expected/ring.csv from the tables of the authors' repository
Feature-Selection-Benchmark (Scientific Reports 2024, doi 10.1038/s41598-024-82583-5).
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bahsic.datasets import make_ring, make_ring_xor, make_ring_xor_sum, make_uniform_xor
from experiments.baselines import Problem
from experiments.frame import Cell, Experiment
from experiments.methods import names, selected_by_us, warmed_up
from experiments.rows import Row

#: Generator and number of relevant features of each problem.
PROBLEMS: dict[str, tuple[Callable[..., Any], int]] = {
    "ring": (make_ring, 2),
    "xor": (make_uniform_xor, 2),
    "ring+xor": (make_ring_xor, 4),
    "ring+xor+sum": (make_ring_xor_sum, 6),
}
SAMPLES = (1000, 500, 250)
FOLDS = 6
TIME_LIMIT = 300.0

#: Ours: backward with both criteria, and forward.
OURS = ("bahsic", "fohsic", *names("prediction", "variant"))
#: Measured again, to see that the protocol is the published one; mRMR by the F statistic as well as by bins.
THEIRS = ("forest", "relief", "mrmr", "mrmr_of_bins", "mutual_information")


def sizes(problem: str) -> list[int]:
    """The numbers of features of a problem: the relevant ones alone, and the powers of two above.

    Examples
    --------
    >>> sizes("ring+xor+sum")
    [6, 8, 16, 32, 64, 128, 256, 512, 1024, 2048]
    """
    p = PROBLEMS[problem][1]
    return [p, *(2**k for k in range(2, 12) if 2**k > p)]


def grid(quick: bool, results: Path) -> list[Cell]:
    """Problems, numbers of samples and features, methods and folds; many samples and few features first."""
    if quick:
        return _cells((250,), 8, ("bahsic", "prediction_laplacian", "forest", "mrmr_of_bins"), 1)
    cells = _cells(SAMPLES, max(sizes("ring")), (*OURS, *THEIRS), FOLDS)
    return sorted(cells, key=lambda cell: (-cell["n_samples"], cell["n_features"] > 256, cell["n_features"]))


def _cells(samples: tuple[int, ...], most: int, methods: tuple[str, ...], n_folds: int) -> list[Cell]:
    return [
        {"problem": problem, "n_samples": n, "n_features": d, "method": method, "fold": fold}
        for n in samples
        for problem in PROBLEMS
        for d in sizes(problem)
        if d <= most
        for method in methods
        for fold in range(n_folds)
    ]


def rows(cell: Cell, folder: Path | None) -> list[Row]:
    """Shares of the relevant features among the first p and 2p of a ranking, in percent."""
    from sklearn.model_selection import KFold

    make, p = PROBLEMS[cell["problem"]]
    n, d, fold = cell["n_samples"], cell["n_features"], cell["fold"]
    X, y, support = make(n, d, random_state=0)
    train, _ = list(KFold(FOLDS).split(X))[fold]
    # Methods that give many features the same score would else profit from the relevant ones being the first.
    columns = np.random.default_rng(fold).permutation(d)
    X, y, support = X[train][:, columns], y[train], support[columns]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    select = warmed_up(cell["method"], "binary").select
    backward = cell["method"] in (*names("prediction"), "bahsic", "bahsic_laplacian")
    start = time.process_time()
    # A backward search ranks all features; a forward one those that it is asked for.
    order = select(X, y, Problem("binary", p if backward else 2 * p, seed=fold))
    seconds = time.process_time() - start
    return [
        {
            "best_p": f"{100 * support[order[:p]].sum() / p:.1f}",
            "best_2p": f"{100 * support[order[: 2 * p]].sum() / p:.1f}",
            "seconds": f"{seconds:.3f}",
        }
    ]


def stopped(cell: Cell) -> list[Row]:
    """What is recorded where a ranking took longer than the limit."""
    return [{"best_p": "", "best_2p": "", "seconds": f"{TIME_LIMIT:.0f}"}]


def means(rows: list[Row], column: str = "best_p") -> dict[tuple[int, str, str, int], float]:
    """Mean share over the folds for each number of samples, problem, method and number of features."""
    found: dict[tuple[int, str, str, int], list[float]] = {}
    for row in rows:
        key = int(row["n_samples"]), row["problem"], row["method"], int(row["n_features"])
        found.setdefault(key, []).append(float(row[column] or 0))
    return {key: float(np.mean(values)) for key, values in found.items() if len(values) == FOLDS}


def averages(rows: list[Row], column: str = "best_p", most: int = 2048) -> dict[tuple[int, str, str], float]:
    """Mean share over all numbers of features up to a largest one, where each of them was measured."""
    found = means(rows, column)
    known = {key[:3] for key in found}
    wanted = {key: [(*key, d) for d in sizes(key[1]) if d <= most] for key in known}
    return {
        key: float(np.mean([found[one] for one in each])) for key, each in wanted.items() if found.keys() >= {*each}
    }


def _figure(rows: list[Row], folder: Path) -> list[Path]:
    from experiments.ring_figure import ring_figure

    return [ring_figure(rows, folder)]


EXPERIMENT = Experiment(
    name="ring",
    keys=("problem", "n_samples", "n_features", "method", "fold"),
    columns=("problem", "n_samples", "n_features", "method", "fold", "best_p", "best_2p", "seconds"),
    grid=grid,
    rows=rows,
    ours=selected_by_us,
    figure=_figure,
    repeats=("fold",),
    time_limit=TIME_LIMIT,
    stopped=stopped,
)
