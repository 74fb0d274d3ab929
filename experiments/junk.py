"""How clean a selection is: copies, noise and useless columns in it, its worth for another model, its stability."""

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments import junk_forest, junk_tables, raw
from experiments.frame import Cell, Experiment
from experiments.raw import Table
from experiments.rows import Row

TIME_LIMIT = 1200.0

N_NOISE = 50
LEVELS = (30, 150)
LEVELS_REAL = 25
FOLDS = N_SUBSAMPLES = 5
_SHARE = 0.8
_MOST_ROWS = 2000  # of adult, but for the parts that compare models

WITH_CATEGORIES = ("titanic", "adult", "wisconsin", "housing")
WITH_NOISE = (*WITH_CATEGORIES, "breast_cancer", "diabetes")
COMPARED = ("titanic", "adult", "wisconsin", "breast_cancer", "diabetes", "wine", "digits", "iris")
JUDGED = (*junk_tables.small_sets(1000, 300), *(f"raw {name}" for name in raw.DATASETS))

_SEPARATOR = "; "


class Part(NamedTuple):
    """A part of the experiment: its tables, what is added to each, how many runs, and how to make a row."""

    problems: tuple[str, ...]
    added: tuple[str, ...]
    n_runs: int
    row: Callable[[Cell, Path | None], Row]
    quick: tuple[str, ...]


class Selection(NamedTuple):
    """Names of the selected columns, their worth, and what a row says of the selection."""

    features: list[str]
    worth: NDArray[np.float64]
    row: Row


def select(X: Any, y: NDArray[Any], seed: int) -> Selection:
    """Select columns with the defaults of the command; none where nothing predicts the target."""
    from bahsic import FeatureSelector

    start = time.process_time()
    selector = FeatureSelector(n_jobs=1, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that nothing predicts, or of columns that are left out
        selector.fit(X, y)
    chosen = np.flatnonzero(selector.support_ & selector.predicts_)
    features = [str(name) for name in X.columns[chosen]]
    row: Row = {
        "number": len(features),
        "n_features": X.shape[1],
        "reported": f"{selector.predictability_:.4f}",
        "predicts": "yes" if selector.predicts_ else "no",
        "kernel": selector.kernel_,
        "seconds": f"{time.process_time() - start:.3f}",
        "features": _SEPARATOR.join(features),
    }
    return Selection(features, np.asarray(selector.scores_)[chosen], row)


def names_in(text: str) -> set[str]:
    """Return the column names that a row lists.

    Examples
    --------
    >>> sorted(names_in("Age; Pclass"))
    ['Age', 'Pclass']
    """
    return set(text.split(_SEPARATOR)) if text else set()


def _copies(cell: Cell, folder: Path | None) -> Row:
    """Count the columns that are selected together with their copy, and those selected at all."""
    random = np.random.default_rng(cell["run"])
    table = junk_tables.subsample(junk_tables.load(cell["problem"], folder), _SHARE, random)
    copies = junk_tables.copies(table.X, junk_tables.COPIED[cell["problem"]], random)
    columns = {name: values for name, (_, values) in copies.items()}
    table = junk_tables.with_columns(table, columns | junk_tables.noise(len(table.y), N_NOISE, random), random)
    found = select(table.X, table.y, cell["run"])
    n_selected = [(copy in found.features) + (copies[copy][0] in found.features) for copy in copies]
    return found.row | {"junk": n_selected.count(2), "found": sum(n > 0 for n in n_selected)}


def _categories(cell: Cell, folder: Path | None) -> Row:
    """Note whether a random category is selected, or one that the target depends on."""
    random = np.random.default_rng(cell["run"])
    table = junk_tables.load(cell["problem"], folder, _MOST_ROWS)
    n_levels, _, is_real = cell["added"].partition(" ")
    if is_real:
        table, values = junk_tables.real_category(table, int(n_levels), random)
    else:
        values = junk_tables.category(random.integers(0, int(n_levels), len(table.y)))
    table = junk_tables.with_columns(table, {"category": values}, random)
    found = select(table.X, table.y, cell["run"])
    return found.row | {"found" if is_real else "junk": int("category" in found.features)}


def _noise(cell: Cell, folder: Path | None) -> Row:
    """Count the selected columns of noise."""
    random = np.random.default_rng(cell["run"])
    table = junk_tables.load(cell["problem"], folder, _MOST_ROWS)
    columns = junk_tables.noise(len(table.y), N_NOISE, random)
    table = junk_tables.with_columns(table, columns, random)
    found = select(table.X, table.y, cell["run"])
    return found.row | {"junk": len(columns.keys() & set(found.features))}


def _worth(cell: Cell, folder: Path | None) -> Row:
    """Count the selected features without which the predictability would be no lower."""
    name = cell["problem"].removeprefix("raw ")
    load = junk_tables.paper_set if name == cell["problem"] else junk_tables.load
    table = load(name, folder)
    found = select(table.X, table.y, cell["run"])
    return found.row | {"junk": int((found.worth <= 0).sum())}


def _boosting(cell: Cell, folder: Path | None) -> Row:
    """Select in the training part of a fold, and measure the error of gradient boosting in the test part."""
    table = junk_tables.load(cell["problem"], folder)
    train, test = raw.splits(table)[cell["run"]]
    X, y = table.X.iloc[train], table.y[train]
    found = select(X, y, cell["run"])
    other = junk_forest.by_permutation(X, y, table.task, len(found.features), cell["run"])
    sets = {"error": found.features, "error_all": list(X.columns), "error_permutation": other}
    errors = {name: f"{boosted_error(table, columns, train, test):.4f}" for name, columns in sets.items()}
    return found.row | errors | {"others": _SEPARATOR.join(other)}


def boosted_error(table: Table, columns: list[str], train: NDArray[np.intp], test: NDArray[np.intp]) -> float:
    """Return the error of gradient boosting in points: 100 (1 - balanced accuracy), of numbers 100 (1 - R2)."""
    from sklearn.dummy import DummyClassifier, DummyRegressor
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.metrics import balanced_accuracy_score, r2_score
    from threadpoolctl import threadpool_limits

    regression, options = table.task == "regression", {"categorical_features": "from_dtype", "random_state": 0}
    if not columns:
        model = DummyRegressor() if regression else DummyClassifier()
    else:
        model = (HistGradientBoostingRegressor if regression else HistGradientBoostingClassifier)(**options)
    X, score = table.X[columns] if columns else table.X, r2_score if regression else balanced_accuracy_score
    with threadpool_limits(1):
        predicted = model.fit(X.iloc[train], table.y[train]).predict(X.iloc[test])
    return 100 * (1 - float(score(table.y[test], predicted)))


def _stability(cell: Cell, folder: Path | None) -> Row:
    """Select in a random subsample, beside the same number of columns by the importances of a forest."""
    table = junk_tables.load(cell["problem"], folder)
    table = junk_tables.subsample(table, _SHARE, np.random.default_rng(cell["run"]))
    found = select(table.X, table.y, cell["run"])
    other = junk_forest.by_importance(table.X, table.y, table.task, len(found.features), cell["run"])
    return found.row | {"others": _SEPARATOR.join(other)}


REAL = f"{LEVELS_REAL} real"

PARTS = {
    "copies": Part(tuple(junk_tables.COPIED), ("copies",), 25, _copies, (junk_tables.DRAWN,)),
    "categories": Part(WITH_CATEGORIES, (*map(str, LEVELS), REAL), 10, _categories, ("diabetes",)),
    "noise": Part(WITH_NOISE, (str(N_NOISE),), 5, _noise, ("diabetes",)),
    "worth": Part(JUDGED, ("",), 1, _worth, ("raw wine",)),
    "boosting": Part(COMPARED, ("",), FOLDS, _boosting, ("iris",)),
    "stability": Part(COMPARED, ("",), N_SUBSAMPLES, _stability, ("iris",)),
}


def grid(quick: bool, results: Path) -> list[Cell]:
    """Return the cells of all parts."""
    return [
        {"part": name, "problem": problem, "added": added, "run": run}
        for name, part in PARTS.items()
        for run in range(min(2, part.n_runs) if quick else part.n_runs)
        for problem in (part.quick if quick else part.problems)
        for added in part.added
    ]


def rows(cell: Cell, folder: Path | None) -> list[Row]:
    """Return the row of one selection."""
    return [PARTS[cell["part"]].row(cell, folder)]


def stopped(cell: Cell) -> list[Row]:
    """Return what is recorded where a selection took longer than the limit."""
    return [{"seconds": f"{TIME_LIMIT:.0f}"}]


_KEYS = ("part", "problem", "added", "run")

EXPERIMENT = Experiment(
    name="junk",
    keys=_KEYS,
    columns=(
        *_KEYS,
        *("number", "n_features", "junk", "found", "error", "error_all", "error_permutation"),
        *("reported", "predicts", "kernel", "seconds", "features", "others"),
    ),
    grid=grid,
    rows=rows,
    repeats=("run",),
    time_limit=TIME_LIMIT,
    stopped=stopped,
)
