"""Errors of machines that see the chosen features alone: the measure of a selection."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.baselines import Array, Order, Task
from experiments.data import Data

Rows = NDArray[np.intp]

FOLDS = 10
C_OF_PAPER = 100.0


class Fold(NamedTuple):
    """A training and a test part, with standardised columns; those that are constant in training are left out."""

    X: Array
    y: NDArray[Any]
    X_test: Array
    y_test: NDArray[Any]
    columns: Order


def splits(data: Data, n_folds: int = FOLDS) -> list[tuple[Rows, Rows]]:
    """Rows for training and for testing, in random folds with the classes in equal shares."""
    from sklearn.model_selection import KFold, StratifiedKFold

    kind = KFold if data.task == "regression" else StratifiedKFold
    return list(kind(n_folds, shuffle=True, random_state=0).split(data.X, data.y))


def fold(data: Data, train: Rows, test: Rows) -> Fold:
    """One split of the data, standardised by its training part alone."""
    X = data.X[train]
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    # Rounding leaves a little of a constant column.
    columns = np.flatnonzero(deviation > 1e-12 * np.maximum(np.abs(mean), 1e-300))
    mean, deviation = mean[columns], deviation[columns]
    X_test = (data.X[np.ix_(test, columns)] - mean) / deviation
    return Fold((X[:, columns] - mean) / deviation, data.y[train], X_test, data.y[test], columns)


def error(part: Fold, chosen: Order, task: Task, C: float = C_OF_PAPER, factor: float = 1.0) -> float:
    """Error in percent in the test part of a support vector machine that was trained on the chosen columns.

    The Gaussian kernel is exp(-factor |x - x'|^2 / (2 s^2)) with s the median distance of the training samples; for
    numbers epsilon is 0.1 in units of the standard deviation of y.
    """
    from sklearn.svm import SVC, SVR

    gamma = factor / (2 * median_distance(part.X[:, chosen]) ** 2)
    machine = SVR(C=C, gamma=gamma, epsilon=0.1) if task == "regression" else SVC(C=C, gamma=gamma)
    return error_of(machine, part, chosen, task)


def error_of(machine: Any, part: Fold, chosen: Order, task: Task) -> float:
    """Error in percent in the test part of any machine of scikit-learn's, trained on the chosen columns.

    For classes it is the rate of errors, for numbers 1 - r^2, the squared error over the variance of the test labels.
    """
    X, X_test = part.X[:, chosen], part.X_test[:, chosen]
    if task != "regression":
        return 100 * float(np.mean(machine.fit(X, part.y).predict(X_test) != part.y_test))
    mean, deviation = part.y.mean(), part.y.std()
    predicted = mean + deviation * machine.fit(X, (part.y - mean) / deviation).predict(X_test)
    return 100 * float(np.square(part.y_test - predicted).mean() / part.y_test.var())


def median_distance(X: Array) -> float:
    """Median of the distances between two samples, of those that are not zero where most are.

    Examples
    --------
    >>> median_distance(np.array([[0.0], [1.0], [3.0]]))
    2.0
    """
    from scipy.spatial.distance import pdist

    distances = pdist(X)
    return float(np.median(distances) or np.median(distances[distances > 0]))
