"""Gene expression: errors with 5, 10 and 50 genes, and with the number that an inner cross-validation chooses."""

import time
from pathlib import Path

import numpy as np

from experiments.baselines import Order, Problem
from experiments.data import Data, load
from experiments.evaluation import Fold, error, fold, splits
from experiments.frame import Cell, Experiment
from experiments.methods import METHODS, Method, names, selected_by_us, warmed_up
from experiments.real import STOPPED
from experiments.rows import Row

NUMBERS = (5, 10, 50)
NESTED = "nested"
#: Numbers of genes that other judges see as well, see `experiments.judges`.
JUDGED = ("5", "10")
INNER_FOLDS = 5
TIME_LIMIT = 300.0  # for all selections of a cell, on all samples and in five inner folds

#: Number of outer folds: ten, but lymphoma has a class of nine samples.
FOLDS = {"colon": 10, "leukemia": 10, "lymphoma": 9}

#: Both criteria with the linear kernel, and prediction with the Gaussian one, beside the paper's methods.
OURS = ("bahsic_linear", "prediction", "prediction_linear")


def grid(quick: bool, results: Path) -> list[Cell]:
    """All sets and methods that give an order of the features, the cheap ones first."""
    if quick:
        return [{"dataset": "colon", "method": method, "fold": 0} for method in ("bahsic", "pearson")]
    slow = ("boruta", "mutual_information", "fohsic", "mrmr")
    # A set without order, and thousands of features permuted one by one.
    chosen = [name for name in names("paper", "today") if name not in ("sequential", "boosting_permutation")]
    methods = [*chosen, *OURS]
    cells = [
        {"dataset": dataset, "method": method, "fold": number}
        for method in methods
        for dataset, n_folds in FOLDS.items()
        if dataset != "lymphoma" or "multiclass" in METHODS[method].tasks
        for number in range(n_folds)
    ]
    return sorted(cells, key=lambda cell: cell["method"] in slow)


def rows(cell: Cell, folder: Path | None) -> list[Row]:
    """Errors in the test part of one outer fold; everything is chosen in the training part."""
    data = load(cell["dataset"], folder)
    train, test = splits(data, FOLDS[cell["dataset"]])[cell["fold"]]
    part, method = fold(data, train, test), warmed_up(cell["method"], data.task)
    start = time.process_time()
    choices = _choices(part, method, data, cell["fold"])
    seconds = time.process_time() - start
    best = best_number(Data(data.X[train], data.y[train], data.task), method, cell["fold"])
    numbers = {**{str(n): n for n in NUMBERS}, NESTED: best}
    return [
        {
            "n_features": name,
            "error": f"{error(part, choices[n], data.task):.4f}",
            "seconds": f"{seconds if name != NESTED else time.process_time() - start:.3f}",
            "features": " ".join(map(str, part.columns[choices[n]])),
        }
        for name, n in numbers.items()
    ]


def _choices(part: Fold, method: Method, data: Data, seed: int) -> dict[int, Order]:
    """The features chosen for each number."""

    def selected(number: int) -> Order:
        return method.select(part.X, part.y, Problem(data.task, number, seed=seed))

    if method.by_number:
        return {n: selected(n)[:n] for n in NUMBERS}
    order = selected(max(NUMBERS))
    return {n: order[:n] for n in NUMBERS}


def best_number(data: Data, method: Method, seed: int) -> int:
    """The number of features with the least error in an inner cross-validation, the smallest of equal ones."""
    errors = np.zeros(len(NUMBERS))
    for train, test in splits(data, INNER_FOLDS):
        part = fold(data, train, test)
        choices = _choices(part, method, data, seed)
        errors += [len(test) * error(part, choices[n], data.task) for n in NUMBERS]
    return NUMBERS[int(np.argmin(np.round(errors, 6)))]


def judged_rows(rows: list[Row]) -> list[Row]:
    """Return the rows whose features other judges see as well."""
    return [row for row in rows if row["n_features"] in JUDGED and row["features"] != STOPPED]


def stopped(cell: Cell) -> list[Row]:
    """What is recorded where a cell took longer than the limit."""
    row = {"error": "", "seconds": f"{TIME_LIMIT:.0f}", "features": STOPPED}
    return [{"n_features": number, **row} for number in (*NUMBERS, NESTED)]


EXPERIMENT = Experiment(
    name="genes",
    keys=("dataset", "method", "fold"),
    columns=("dataset", "method", "n_features", "fold", "error", "seconds", "features"),
    grid=grid,
    rows=rows,
    ours=selected_by_us,
    repeats=("fold",),
    time_limit=TIME_LIMIT,
    stopped=stopped,
)
