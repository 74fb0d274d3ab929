"""The features chosen for Table 1, and 5 and 10 genes, judged by a random forest and by nearest neighbours.

The paper's judge, a support vector machine, has its errors in the rows of `experiments.real` and `experiments.genes`;
it is called "svm" here.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from experiments import genes, real
from experiments.baselines import Order, Task
from experiments.data import load
from experiments.evaluation import FOLDS, Fold, error_of, fold, splits
from experiments.frame import Cell, Experiment
from experiments.methods import METHODS
from experiments.rows import VERSION, Row

SVM, FOREST, NEIGHBOURS = "svm", "forest", "5-nn"
JUDGES = (SVM, FOREST, NEIGHBOURS)
TIME_LIMIT = 120.0

#: Methods that give five features, and references to compare these with.
JUDGED = ("paper", "today", "option", "prediction", "auto", "reference")


def _forest(task: Task, seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind = RandomForestRegressor if task == "regression" else RandomForestClassifier
    return kind(200, random_state=seed, n_jobs=1)


def _neighbours(task: Task, seed: int) -> Any:
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

    return KNeighborsRegressor(5) if task == "regression" else KNeighborsClassifier(5)


#: The judges that are trained here, as functions of the task and of a seed.
TRAINED: dict[str, Callable[[Task, int], Any]] = {FOREST: _forest, NEIGHBOURS: _neighbours}


def grid(quick: bool, results: Path) -> list[Cell]:
    """The folds of the paper's sets that have been run, once for each judge, the small sets first."""
    kept = ("dataset", "method", "n_features", "fold", "features", VERSION)
    table = [
        row
        for row in real.EXPERIMENT.store(results).read()
        if row["dataset"] in real.SIZES and METHODS[row["method"]].kind in JUDGED and row["features"] != real.STOPPED
        if not quick or (row["dataset"], row["fold"]) == ("wine", "0")
    ]
    few = [] if quick else genes.judged_rows(genes.EXPERIMENT.store(results).read())
    cells = [{name: row[name] for name in kept} | {"judge": judge} for row in (*table, *few) for judge in TRAINED]
    return sorted(cells, key=_cost)


def _cost(cell: Cell) -> int:
    n_samples, n_features = real.SIZES.get(cell["dataset"], (0, 0))
    return n_samples * n_features if cell["features"] == "all" else n_samples


def rows(cell: Cell, folder: Path | None) -> list[Row]:
    """The error of the same features in the same fold."""
    data = load(cell["dataset"], folder)
    part = fold(data, *splits(data, genes.FOLDS.get(cell["dataset"], FOLDS))[int(cell["fold"])])
    machine = TRAINED[cell["judge"]](data.task, int(cell["fold"]))
    return [{"error": f"{error_of(machine, part, _chosen(part, cell['features']), data.task):.4f}"}]


def _chosen(part: Fold, features: str) -> Order:
    """The columns of a fold that a row of `experiments.real` names."""
    if features == "all":
        return np.arange(len(part.columns))
    return np.searchsorted(part.columns, [int(j) for j in features.split()])


def judged(judge: str, table: list[Row], rows: list[Row]) -> list[Row]:
    """The rows of one judge on the paper's sets, given those of `experiments.real` and of this experiment.

    A selection that was stopped has no error by any judge.
    """
    of_paper = [row for row in table if row["dataset"] in real.SIZES]
    if judge == SVM:
        return of_paper
    late = [row for row in of_paper if row["features"] == real.STOPPED]
    return [row for row in rows if row["judge"] == judge and row["dataset"] in real.SIZES] + late


def stopped(cell: Cell) -> list[Row]:
    """Rows of a cell whose judge took too long to train."""
    return [{"error": ""}]


def _figure(rows: list[Row], folder: Path) -> list[Path]:
    from experiments.judges_table import by_judge
    from experiments.ranks_figure import ranks_figure

    return [ranks_figure(by_judge(real.EXPERIMENT.store().read(), rows), folder)]


EXPERIMENT = Experiment(
    name="judges",
    keys=("dataset", "method", "n_features", "fold", "judge"),
    columns=("dataset", "method", "n_features", "fold", "judge", "error"),
    grid=grid,
    rows=rows,
    figure=_figure,
    repeats=("fold",),
    time_limit=TIME_LIMIT,
    stopped=stopped,
)
