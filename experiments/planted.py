"""Problems with known relevant features, set by others: the share of them among the first of a ranking."""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from experiments.baselines import Problem, Task
from experiments.frame import Cell, Experiment
from experiments.methods import selected_by_us, warmed_up
from experiments.planted_problems import Drawn, dag, epistasis, pairs, parity, wide
from experiments.rows import Row

TIME_LIMIT = 600.0


class Planted(NamedTuple):
    """A generator of data, what its labels are, and how often it is drawn."""

    draw: Callable[[np.random.Generator], Drawn]
    title: str
    task: Task = "binary"
    n_draws: int = 10


def _genes() -> dict[str, Planted]:
    found = {}
    for order, heritabilities, sizes in ((2, (0.05, 0.1, 0.2), (20, 100, 1000)), (3, (0.2,), (20, 100))):
        for d in sizes:
            for h in heritabilities:
                title = f"{order} genes of {d}, heritability {h:g}"
                found[f"epistasis-{order}-{h:g}-{d}"] = Planted(partial(_epistasis, order, h, d), title)
            found[f"parity-{order}-{d}"] = Planted(partial(_parity, order, d), f"XOR of {order} genes of {d}")
    return found


def _epistasis(order: int, heritability: float, d: int, random: np.random.Generator) -> Drawn:
    return epistasis(random, order, heritability, d)


def _parity(order: int, d: int, random: np.random.Generator) -> Drawn:
    return parity(random, order, d)


PROBLEMS: dict[str, Planted] = {
    **_genes(),
    "pairs": Planted(pairs, "10 products of 2 features of 50", "regression", 5),
    "wide": Planted(wide, "40 linear effects of 500 features", "regression"),
    "dag": Planted(dag, "causal graph, 2,000 features", n_draws=20),
}

OURS = ("bahsic", "prediction", "prediction_laplacian", "prediction_kernel")
THEIRS = ("fastcan", "mrmr", "mutual_information", "forest", "relief", "boosting_shap", "boosting_permutation", "cfi")


def grid(quick: bool, results: Path) -> list[Cell]:
    """All problems, draws and methods; the first draws of all first."""
    if quick:
        return _cells(("parity-2-20",), 1, ("prediction", "mrmr"))
    return sorted(_cells(tuple(PROBLEMS), 20, (*OURS, *THEIRS)), key=lambda cell: int(cell["draw"]))


def _cells(problems: tuple[str, ...], most: int, methods: tuple[str, ...]) -> list[Cell]:
    return [
        {"problem": problem, "draw": draw, "method": method}
        for problem in problems
        for draw in range(min(most, PROBLEMS[problem].n_draws))
        for method in methods
    ]


def rows(cell: Cell, folder: Path | None) -> list[Row]:
    """Shares of the p relevant features among the first p and 2p of a ranking, in percent."""
    planted = PROBLEMS[cell["problem"]]
    random = np.random.default_rng([cell["draw"], *cell["problem"].encode()])
    X, y, relevant = planted.draw(random)
    columns = random.permutation(X.shape[1])  # methods that give many features the same score name the first ones
    X, relevant, p = X[:, columns], relevant[columns], int(relevant.sum())
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = y if planted.task == "regression" else y.astype(int)
    select = warmed_up(cell["method"], planted.task).select
    start = time.process_time()
    order = select(X, y, Problem(planted.task, 2 * p, seed=cell["draw"]))
    seconds = time.process_time() - start
    best, best_2p = (f"{100 * relevant[order[:n]].sum() / p:.1f}" for n in (p, 2 * p))
    return [{"p": p, "best_p": best, "best_2p": best_2p, "seconds": f"{seconds:.3f}"}]


def stopped(cell: Cell) -> list[Row]:
    """What is recorded where a ranking took longer than the limit."""
    return [{"p": "", "best_p": "", "best_2p": "", "seconds": f"{TIME_LIMIT:.0f}"}]


EXPERIMENT = Experiment(
    name="planted",
    keys=("problem", "draw", "method"),
    columns=("problem", "draw", "method", "p", "best_p", "best_2p", "seconds"),
    grid=grid,
    rows=rows,
    ours=selected_by_us,
    repeats=("draw",),
    time_limit=TIME_LIMIT,
    stopped=stopped,
)
