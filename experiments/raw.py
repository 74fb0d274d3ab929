"""Tables as they are found: error of gradient boosting with the selected columns, and with all of them."""

import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.baselines import Task
from experiments.baselines.recent import library
from experiments.data import MissingDataError
from experiments.frame import Cell, Experiment
from experiments.raw_methods import METHODS, OURS
from experiments.rows import Row

FOLDS = 5
TIME_LIMIT = 600.0
STOPPED = "stopped"

#: Target of each file of raw data.
TARGETS = {"titanic": "Survived", "adult": "class", "wisconsin": "diagnosis"}
#: Sets that scikit-learn ships, and what their labels are.
BUNDLED: dict[str, Task] = {
    "breast_cancer": "binary",
    "wine": "multiclass",
    "diabetes": "regression",
    "digits": "multiclass",
}
DATASETS = (*TARGETS, *BUNDLED)

# Of larger tables so many rows are drawn: forests that are grown a hundred times take long.
_MOST_ROWS = 5000


class Table(NamedTuple):
    """A data frame without columns that look like identifiers, its labels, and what they are."""

    X: Any
    y: NDArray[Any]
    task: Task


def grid(quick: bool, results: Path) -> list[Cell]:
    """All sets, methods and folds, the quick methods first."""
    datasets, methods, n_folds = (
        (("wine",), ("all", "bahsic", "from_model"), 1) if quick else (DATASETS, METHODS, FOLDS)
    )
    return [
        {"dataset": dataset, "method": method, "fold": fold}
        for method in methods
        for dataset in datasets
        for fold in range(n_folds)
    ]


def load(name: str, folder: Path | None, most_rows: int | None = _MOST_ROWS) -> Table:
    """The set of this name as a data frame: numbers, and other columns as categories; so many rows of a raw file."""
    with library():
        import pandas as pd
    if name in BUNDLED:
        return bundled(name, BUNDLED[name])
    path = (folder or Path()) / "raw" / f"{name}.csv"
    if not path.exists():
        raise MissingDataError(f"data set is {name!r}; accepted: one with a file {path.name} in raw/ of the data sets")
    from bahsic.files import read_data

    data = read_data(path, TARGETS[name])
    rows = np.sort(np.random.default_rng(0).permutation(len(data.y))[:most_rows])
    X = data.X.iloc[rows].reset_index(drop=True)
    columns = {c: X[c] if X[c].dtype.kind in "fiub" else X[c].astype("category") for c in X}
    X = pd.DataFrame({c: x for c, x in columns.items() if not _names_samples(x)})
    return Table(X, np.unique(data.y[rows], return_inverse=True)[1], "binary")


def bundled(name: str, task: Task) -> Table:
    """Return a set that scikit-learn ships, without constant columns."""
    from sklearn import datasets

    found = getattr(datasets, f"load_{name}")(as_frame=True)
    return Table(found.data.loc[:, found.data.nunique() > 1], found.target.to_numpy(), task)


def _names_samples(column: Any) -> bool:
    """Whether a column is an identifier or free text, which users leave out.

    Text that is different in most rows, or whole numbers that are different in all of them.
    """
    present = column.dropna()
    if column.dtype.kind in "fiub":
        return bool((present % 1 == 0).all() and present.nunique() == len(present))
    return bool(present.nunique() > len(present) / 2)


def rows(cell: Cell, folder: Path | None) -> list[Row]:
    """Select in the training part of one fold, and measure the error of gradient boosting in the test part."""
    table = load(cell["dataset"], folder)
    train, test = splits(table)[cell["fold"]]
    start = time.process_time()
    chosen = METHODS[cell["method"]].select(table.X.iloc[train], table.y[train], table.task, cell["fold"])
    seconds = time.process_time() - start
    return [
        {
            "error": f"{error(table, chosen, train, test):.4f}",
            "n_features": int(chosen.sum()),
            "n_all": len(chosen),
            "seconds": f"{seconds:.3f}",
        }
    ]


def splits(table: Table) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return the rows for training and for testing, in five random folds."""
    from sklearn.model_selection import KFold, StratifiedKFold

    kind = KFold if table.task == "regression" else StratifiedKFold
    return list(kind(FOLDS, shuffle=True, random_state=0).split(table.X, table.y))


def error(table: Table, chosen: NDArray[np.bool_], train: NDArray[np.intp], test: NDArray[np.intp]) -> float:
    """Error of gradient boosting in percent, of numbers 1 - r^2; that of the mean where nothing was chosen."""
    from sklearn.dummy import DummyClassifier, DummyRegressor
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from threadpoolctl import threadpool_limits

    regression, options = table.task == "regression", {"categorical_features": "from_dtype", "random_state": 0}
    if not chosen.any():
        model = DummyRegressor() if regression else DummyClassifier()
    else:
        model = (HistGradientBoostingRegressor if regression else HistGradientBoostingClassifier)(**options)
    X = table.X.loc[:, chosen] if chosen.any() else table.X
    with threadpool_limits(1):
        return 100 * (1 - float(model.fit(X.iloc[train], table.y[train]).score(X.iloc[test], table.y[test])))


def _selected_by_us(cell: Cell) -> bool:
    return cell["method"] in OURS


def stopped(cell: Cell) -> list[Row]:
    """What is recorded where a selection took longer than the limit."""
    return [{"error": "", "n_features": STOPPED, "n_all": "", "seconds": f"{TIME_LIMIT:.0f}"}]


EXPERIMENT = Experiment(
    name="raw",
    keys=("dataset", "method", "fold"),
    columns=("dataset", "method", "fold", "error", "n_features", "n_all", "seconds"),
    grid=grid,
    rows=rows,
    ours=_selected_by_us,
    repeats=("fold",),
    time_limit=TIME_LIMIT,
    stopped=stopped,
)
