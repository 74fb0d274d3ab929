"""How honest a selection is: the R2 that it reports against that of samples that took no part in it.

Three parts: drawn data with fresh samples (`experiments.honest_drawn`), real sets with outer folds
(`experiments.honest_real`), and tables of many rows with several seeds (`experiments.honest_large`).
"""

from pathlib import Path

from experiments import honest_drawn, honest_large, honest_real
from experiments.frame import Cell, Experiment
from experiments.rows import Row

TIME_LIMIT = 1200.0

_PARTS = {"drawn": honest_drawn, "real": honest_real, "large": honest_large}


def grid(quick: bool, results: Path) -> list[Cell]:
    """The cells of all parts."""
    return [cell for part in _PARTS.values() for cell in part.cells(quick)]


def rows(cell: Cell, folder: Path | None) -> list[Row]:
    """What was selected, the reported R2, and that of samples that took no part."""
    found: list[Row] = _PARTS[cell["part"]].rows(cell, folder)
    return found


def stopped(cell: Cell) -> list[Row]:
    """What is recorded where a selection took longer than the limit."""
    return [{"seconds": f"{TIME_LIMIT:.0f}"}]


_KEYS = ("part", "problem", "n_samples", "n_noise", "variant", "run")

EXPERIMENT = Experiment(
    name="honest",
    keys=_KEYS,
    columns=(
        *_KEYS,
        *("number", "n_features", "found", "kernel", "reported", "reported_error", "predicts", "fresh"),
        *("svm", "forest", "seconds", "features"),
    ),
    grid=grid,
    rows=rows,
    repeats=("run",),
    time_limit=TIME_LIMIT,
    stopped=stopped,
)
