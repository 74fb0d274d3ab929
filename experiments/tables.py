"""Mixed tables of Python packages: gradient boosting with the features of each selector, as many as bahsic takes.

In the training part of each fold `FeatureSelector` chooses how many features there are. Every other method names as
many; the score is that of gradient boosting in the test part.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.baselines import Order, Problem, by_score
from experiments.baselines.boosting import fastcan
from experiments.baselines.recent import boruta, forest, mrmr
from experiments.frame import Cell, Experiment
from experiments.raw import Table, splits
from experiments.raw_methods import encoded
from experiments.rows import Row
from experiments.table_sources import SOURCES, load

OURS = "selector"
FOLDS = 5

# Rows of a table that forests are grown on, a hundred times, by those who use them.
_MOST_GROWN = 10_000


def grid(quick: bool, results: Path) -> list[Cell]:
    """All tables and folds, the small tables first."""
    tables, n_folds = (("penguins",), 1) if quick else (tuple(SOURCES), FOLDS)
    return [{"table": table, "fold": fold} for table in tables for fold in range(n_folds)]


def rows(cell: Cell, folder: Path | None) -> list[Row]:
    """The score, the features and the time of each method in one fold."""
    table = load(cell["table"])
    train, test = splits(table)[cell["fold"]]
    part = Table(table.X.iloc[train].reset_index(drop=True), table.y[train], table.task)
    start = time.process_time()
    ours = _ours(part)
    taken = {OURS: (ours, time.process_time() - start)}
    for name, (order, _) in METHODS.items():
        start = time.process_time()
        found = order(part, Problem(table.task, len(ours), seed=cell["fold"]))[: len(ours)]
        taken[name] = np.sort(found), time.process_time() - start
    taken["all"] = np.arange(table.X.shape[1]), 0.0
    return [
        {
            "method": name,
            "score": f"{score(table, chosen, train, test):.4f}",
            "n_features": len(chosen),
            "features": " ".join(map(str, chosen)),
            "seconds": f"{seconds:.3f}",
        }
        for name, (chosen, seconds) in taken.items()
    ]


def score(table: Table, chosen: NDArray[Any], train: NDArray[np.intp], test: NDArray[np.intp]) -> float:
    """Area under the ROC curve (one against the rest), or R2 of numbers, of gradient boosting in the test part."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.metrics import r2_score, roc_auc_score
    from threadpoolctl import threadpool_limits

    X, y = table.X.iloc[:, chosen], table.y
    with threadpool_limits(1):
        if table.task == "regression":
            model = HistGradientBoostingRegressor(random_state=0).fit(X.iloc[train], y[train])
            return float(r2_score(y[test], model.predict(X.iloc[test])))
        model = HistGradientBoostingClassifier(random_state=0).fit(X.iloc[train], y[train])
        shares = model.predict_proba(X.iloc[test])
    return float(roc_auc_score(y[test], shares[:, 1] if table.task == "binary" else shares, multi_class="ovr"))


def _ours(table: Table) -> Order:
    import warnings

    from bahsic import FeatureSelector

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of columns that are ignored, and of targets that are hard
        return np.flatnonzero(FeatureSelector(n_jobs=1).fit(table.X, table.y).get_support())


def _of_columns(select: Callable[..., Order], most: int | None = None) -> Callable[[Table, Problem], Order]:
    """A selector of numbers: a column stands where the first of its indicators stands."""

    def order(table: Table, problem: Problem) -> Order:
        part = np.random.default_rng(problem.seed).permutation(len(table.y))[:most]
        X, origins = encoded(table.X.iloc[part])
        varied = X.std(axis=0) > 0
        X, origins = X[:, varied], origins[varied]
        unit, n = (X - X.mean(axis=0)) / X.std(axis=0), problem.number
        columns: dict[int, None] = {}
        while len(columns) < problem.number and n <= 2 * len(origins):
            found = select(unit, table.y[part], Problem(problem.task, n, problem.seed))
            columns, n = dict.fromkeys(origins[found]), 2 * n
        return np.array(list(columns), dtype=np.intp)

    return order


def _rfe(X: NDArray[Any], y: NDArray[Any], problem: Problem) -> Order:
    """Recursive elimination by a random forest, a tenth at a time."""
    from sklearn.feature_selection import RFE

    from experiments.raw_methods import forest_of

    return np.argsort(RFE(forest_of(problem.task, problem.seed), n_features_to_select=1, step=0.1).fit(X, y).ranking_)


def _permutation(table: Table, problem: Problem) -> Order:
    """Permutation importance of gradient boosting on the table as it is, in a third of the rows."""
    from experiments.raw_methods import importance

    return by_score(importance(table.X, table.y, table.task, problem.seed).importances_mean)


#: The others: a selector that orders columns, and what tables call it.
METHODS: dict[str, tuple[Callable[[Table, Problem], Order], str]] = {
    "permutation": (_permutation, "permutation importance"),
    "forest": (_of_columns(forest, _MOST_GROWN), "forest importance"),
    "rfe": (_of_columns(_rfe, _MOST_GROWN), "RFE, forest"),
    "boruta": (_of_columns(boruta, _MOST_GROWN), "Boruta"),
    "mrmr": (_of_columns(mrmr), "mRMR"),
    "fastcan": (_of_columns(fastcan), "fastcan"),
}

EXPERIMENT = Experiment(
    name="tables",
    keys=("table", "fold"),
    columns=("table", "fold", "method", "score", "n_features", "features", "seconds"),
    grid=grid,
    rows=rows,
)
