"""The paper's figure of artificial data: ranks of the two relevant features as samples become more."""

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bahsic.datasets import make_multiclass, make_nonlinear_regression, make_xor
from experiments.baselines import Problem, Task
from experiments.frame import Cell, Experiment
from experiments.markdown import markdown
from experiments.methods import METHODS, names, selected_by_us, warmed_up
from experiments.rows import Row

N_FEATURES = 22
SIZES = range(40, 401, 40)
SIZES_OF_TABLE = (40, 80, 120, 200, 400)
N_RUNS, N_RUNS_OF_PAPER = 100, 10

PROBLEMS: dict[str, tuple[Callable[..., Any], Task]] = {
    "xor": (make_xor, "binary"),
    "multiclass": (make_multiclass, "multiclass"),
    "regression": (make_nonlinear_regression, "regression"),
}
#: In the paper's figure; RELIEF only for two classes there.
SHOWN = ("bahsic", "fohsic", "pearson", "mutual_information", "relief", *names("numbers"))
#: In use today, tried at fewer sizes with fewer draws; sequential selection gives a set without order.
TODAY = tuple(name for name in names("today") if name != "sequential")


def grid(quick: bool, results: Path) -> list[Cell]:
    """Problems, sizes, draws and methods; the draws of the paper's figure first."""
    if quick:
        return _cells(1, (40, 80), SHOWN)
    return _cells(N_RUNS, SIZES, SHOWN) + _cells(N_RUNS_OF_PAPER, SIZES_OF_TABLE, TODAY)


def _cells(n_runs: int, sizes: Iterable[int], methods: tuple[str, ...]) -> list[Cell]:
    return [
        {"problem": problem, "m": m, "run": run, "method": method}
        for run in range(n_runs)
        for m in sizes
        for problem, (_, task) in PROBLEMS.items()
        for method in methods
        if task in METHODS[method].tasks
    ]


def rows(cell: Cell, folder: Path | None) -> list[Row]:
    """Median rank of the two relevant features of one draw: 1.5 where they come first."""
    make, task = PROBLEMS[cell["problem"]]
    X, y, support = make(cell["m"], N_FEATURES, random_state=cell["run"])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    # Methods that give many features the same score would else profit from the relevant ones being the first.
    columns = np.random.default_rng(cell["run"]).permutation(N_FEATURES)
    X, support = X[:, columns], support[columns]
    select = warmed_up(cell["method"], task).select
    start = time.process_time()
    order = select(X, y, Problem(task, N_FEATURES, seed=cell["run"]))
    seconds = time.process_time() - start
    return [{"rank_median": float(np.median(ranks(order, N_FEATURES)[support])), "seconds": f"{seconds:.4f}"}]


def ranks(order: Any, n_features: int) -> Any:
    """Rank of each feature, 1 for the first in the order; those that are not in it share the mean of what is left.

    Examples
    --------
    >>> ranks([2, 0, 1], 3)
    array([2., 3., 1.])
    >>> ranks([2], 3)
    array([2.5, 2.5, 1. ])
    """
    found = np.full(n_features, (len(order) + 1 + n_features) / 2)
    found[np.asarray(order)] = np.arange(1, len(order) + 1)
    return found


def means(rows: list[Row], n_runs: int) -> dict[tuple[str, str, int], float]:
    """Mean over the first runs of the median rank, for each problem, method and size."""
    collected: dict[tuple[str, str, int], list[float]] = {}
    for row in rows:
        if int(row["run"]) < n_runs:
            key = (row["problem"], row["method"], int(row["m"]))
            collected.setdefault(key, []).append(float(row["rank_median"]))
    return {key: float(np.mean(values)) for key, values in collected.items()}


def table(rows: list[Row], n_runs: int, sizes: Sequence[int], methods: Sequence[str] = SHOWN) -> str:
    """Mean ranks as a table of Markdown: a line for each problem and method, a column for each size."""
    found = means(rows, n_runs)
    lines = [
        [problem, METHODS[method].title, *(f"{found[problem, method, m]:.1f}" for m in sizes)]
        for problem in PROBLEMS
        for method in methods
        if all((problem, method, m) in found for m in sizes)
    ]
    return markdown(["problem", "method", *(f"m = {m}" for m in sizes)], lines)


def _figure(rows: list[Row], folder: Path) -> list[Path]:
    from experiments.figures import artificial_figure

    return [artificial_figure(rows, folder, n_runs) for n_runs in (N_RUNS_OF_PAPER, N_RUNS)]


EXPERIMENT = Experiment(
    name="artificial",
    keys=("problem", "m", "run", "method"),
    columns=("problem", "m", "run", "method", "rank_median", "seconds"),
    grid=grid,
    rows=rows,
    ours=selected_by_us,
    figure=_figure,
)
