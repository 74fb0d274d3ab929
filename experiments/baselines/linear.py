"""Selectors by the weights of linear models: SVM-RFE, the L0-norm SVM, L1 penalties."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.baselines import Array, Order, Problem, by_score

_ROUNDS = 100


def _squared_weights(X: Array, y: NDArray[Any], C: float) -> Array:
    """Squared weights of a linear support vector machine, summed over one-versus-rest machines for many classes."""
    from sklearn.svm import LinearSVC

    machine = LinearSVC(C=C, dual=X.shape[0] <= X.shape[1], max_iter=20_000, random_state=0)
    weights: Array = np.square(machine.fit(X, y).coef_).sum(axis=0)
    return weights


def svm_rfe(X: Array, y: NDArray[Any], problem: Problem) -> Order:
    """Recursive elimination by the weights of a linear SVM (Guyon et al., 2002), C = 1 and squared hinge loss.

    A tenth of the remaining features leaves in each round, as in BAHSIC; scikit-learn's RFE would remove a tenth of
    all features each time.
    """
    remaining = np.arange(X.shape[1])
    order: list[int] = []
    while len(remaining) > 1:
        ranked = remaining[by_score(_squared_weights(X[:, remaining], y, C=1.0))]
        keep = len(ranked) - max(1, len(ranked) // 10)
        order = [*ranked[keep:].tolist(), *order]
        remaining = np.sort(ranked[:keep])
    return np.array([*remaining.tolist(), *order], dtype=np.intp)


def l0_svm(X: Array, y: NDArray[Any], problem: Problem) -> Order:
    """The L0-norm SVM by multiplicative updates (Weston et al., 2003, l2-AROM), C = 100.

    Train a linear SVM on scaled features, multiply the scales by the absolute weights, and begin again: a descent on
    sum log|w_j|, the stand-in for the number of features. It ends where no more than the wanted number of features
    is left, or the scales stay. Scales are divided by the largest one, so that the machine stays in a sensible range
    of C; features below 1e-8 are gone.
    """
    scale = np.ones(X.shape[1])
    order: list[int] = []
    alive = np.arange(len(scale))
    for _ in range(_ROUNDS):
        change = np.sqrt(_squared_weights(X[:, alive] * scale[alive], y, C=100.0))
        change /= change.max()
        updated = scale[alive] * change / (scale[alive] * change).max()
        settled = np.abs(updated - scale[alive]).max() < 1e-3
        scale[alive] = updated
        survivors = updated > 1e-8
        order = [*alive[by_score(updated)][survivors.sum() :].tolist(), *order]
        alive = alive[survivors]
        if settled or len(alive) <= problem.number:
            break
    return np.array([*alive[by_score(scale[alive])].tolist(), *order], dtype=np.intp)


def l1(X: Array, y: NDArray[Any], problem: Problem) -> Order:
    """Features in the order in which they enter as an L1 penalty is relaxed: logistic regression, or the Lasso."""
    return _lasso(X, y) if problem.task == "regression" else _l1_logistic(X, y, problem)


def _lasso(X: Array, y: NDArray[Any]) -> Order:
    from sklearn.linear_model import lars_path

    coefficients = lars_path(X, y - y.mean(), method="lasso")[2]
    entry = np.where(coefficients.any(axis=1), (coefficients != 0).argmax(axis=1), coefficients.shape[1])
    return np.lexsort((-np.abs(coefficients[:, -1]), entry))


def _l1_logistic(X: Array, y: NDArray[Any], problem: Problem) -> Order:
    """Machines for ever larger C, one-versus-rest, until the wanted number of features has entered."""
    from importlib.metadata import version

    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.svm import l1_min_c
    from sklearn.utils.fixes import parse_version

    penalty = {"l1_ratio": 1} if parse_version(version("scikit-learn")) >= parse_version("1.8") else {"penalty": "l1"}
    machine = LogisticRegression(**penalty, solver="liblinear", max_iter=1000, random_state=0)
    order: list[int] = []
    for C in l1_min_c(X, y, loss="log") * np.geomspace(1.1, 1e4, 40):
        models = OneVsRestClassifier(machine.set_params(C=C)).fit(X, y).estimators_
        weights = np.abs([model.coef_[0] for model in models]).sum(axis=0)
        order += [j for j in by_score(weights).tolist() if weights[j] > 0 and j not in order]
        if len(order) >= problem.number:
            break
    return np.array(order, dtype=np.intp)
