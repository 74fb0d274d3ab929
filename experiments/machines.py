"""The features chosen for Table 1, judged by other machines than the stated one.

The paper says that the width is the median distance and that C is 100, but several of its errors can't be reached so.
These are all the settings that were tried in search of one that fits; the one that seemed to fit, C = 100/m, was then
applied to all of the paper's methods. It was chosen by looking at the paper's errors, so its agreement with them is no
independent evidence.
"""

from pathlib import Path

import numpy as np

from experiments import real
from experiments.data import load
from experiments.evaluation import C_OF_PAPER, error, fold, median_distance, splits
from experiments.frame import Cell, Experiment
from experiments.methods import names
from experiments.rows import VERSION, Row

MEAN_LOSS = "C=100/m"

#: C (None: 100/m), and the factor on 1 / (2 median^2) in the kernel (None: 1 / (2 d) instead, d being all features).
MACHINES: dict[str, tuple[float | None, float | None]] = {
    "gamma x 4": (C_OF_PAPER, 4.0),
    "gamma / 4": (C_OF_PAPER, 1 / 4),
    "gamma / 9": (C_OF_PAPER, 1 / 9),
    "gamma / 25": (C_OF_PAPER, 1 / 25),
    "gamma / 100": (C_OF_PAPER, 1 / 100),
    "gamma / 1000": (C_OF_PAPER, 1 / 1000),
    "C=10": (10.0, 1.0),
    "C=1": (1.0, 1.0),
    "C=0.1": (0.1, 1.0),
    MEAN_LOSS: (None, 1.0),
    "C=1, gamma / 9": (1.0, 1 / 9),
    "C=1, gamma 1/(2d)": (1.0, None),
}
TIME_LIMIT = 60.0


def grid(quick: bool, results: Path) -> list[Cell]:
    """The folds of the paper's methods that have been run, BAHSIC with every machine and the others with one."""
    kept = ("dataset", "method", "n_features", "fold", "features", VERSION)
    return [
        {name: row[name] for name in kept} | {"machine": machine}
        for row in real.EXPERIMENT.store(results).read()
        if row["method"] in names("paper", "numbers") and row["features"] != real.STOPPED
        if not quick or row["dataset"] == "wine"
        for machine in (MACHINES if row["method"] == "bahsic" else [MEAN_LOSS])
    ]


def rows(cell: Cell, folder: Path | None) -> list[Row]:
    """The error of the same features in the same fold."""
    data = load(cell["dataset"], folder)
    part = fold(data, *splits(data)[int(cell["fold"])])
    chosen = np.searchsorted(part.columns, [int(j) for j in cell["features"].split()])
    C, factor = MACHINES[cell["machine"]]
    C = C or C_OF_PAPER / len(part.y)
    factor = factor or median_distance(part.X[:, chosen]) ** 2 / part.X.shape[1]
    return [{"error": f"{error(part, chosen, data.task, C, factor):.4f}"}]


def judged_by(machine: str, rows: list[Row]) -> list[Row]:
    """The rows of one machine."""
    return [row for row in rows if row["machine"] == machine]


def stopped(cell: Cell) -> list[Row]:
    """What is recorded where a machine takes too long to train."""
    return [{"error": ""}]


EXPERIMENT = Experiment(
    name="machines",
    keys=("dataset", "method", "n_features", "fold", "machine"),
    columns=("dataset", "method", "n_features", "fold", "machine", "error"),
    grid=grid,
    rows=rows,
    repeats=("fold",),
    time_limit=TIME_LIMIT,
    stopped=stopped,
)
