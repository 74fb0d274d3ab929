"""RELIEF with several neighbours and classes (ReliefF) and for regression (RReliefF).

skrebate is not used: it takes a target of more than ten values as a number unless told, takes columns of few values as
categories and then changes how it compares the others, and its score for numbers isn't that of RReliefF.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from experiments.baselines import Array, Order, Problem, by_score

NEIGHBOURS = 10


def relief(X: Array, y: NDArray[Any], problem: Problem) -> Order:
    """ReliefF for classes, RReliefF for numbers, with ten neighbours."""
    scores = rrelieff(X, y, NEIGHBOURS) if problem.task == "regression" else relieff(X, y, NEIGHBOURS)
    return by_score(scores)


def relieff(X: Array, y: NDArray[Any], k: int) -> Array:
    """Scores of Kononenko's ReliefF (1994) over all samples; RELIEF (Kira and Rendell, 1992) is k = 1, two classes.

    Each sample adds the mean difference to its k nearest samples of each other class, weighted by how frequent the
    class is among the others, less that to the k nearest ones of its own. Differences are divided by the range
    of their feature; distances are their sums.
    """
    X = X / np.ptp(X, axis=0)
    classes, labels, counts = np.unique(y, return_inverse=True, return_counts=True)
    frequencies = counts / len(y)
    total = np.zeros(X.shape[1])
    for own in range(len(classes)):
        rows = np.flatnonzero(labels == own)
        for other in range(len(classes)):
            weight = -1.0 if own == other else frequencies[other] / (1 - frequencies[own])
            total += weight * _differences(X, rows, np.flatnonzero(labels == other), k)
    return total / len(y)


def _differences(X: Array, rows: NDArray[np.intp], others: NDArray[np.intp], k: int) -> Array:
    """Sum over the rows of the mean difference to the k nearest of the others, for each feature."""
    distances = cdist(X[rows], X[others], "cityblock")
    distances[rows[:, None] == others] = np.inf
    k = min(k, len(others) - bool(np.isin(rows, others).any()))
    total = np.zeros(X.shape[1])
    if k:
        nearest = others[np.argsort(distances, axis=1, kind="stable")[:, :k]]
        for row, neighbours in zip(rows, nearest, strict=True):
            total += np.abs(X[neighbours] - X[row]).mean(axis=0)
    return total


def rrelieff(X: Array, y: NDArray[Any], k: int) -> Array:
    """Scores of RReliefF (Robnik-Sikonja and Kononenko, 1997) over all samples, the k neighbours counting alike.

    With the probabilities that neighbours differ in y, in the feature, and in both,
    W = P(both) / P(y) - (P(feature) - P(both)) / (1 - P(y)).
    """
    X, y = X / np.ptp(X, axis=0), np.asarray(y, dtype=float) / np.ptp(y)
    distances = cdist(X, X, "cityblock")
    np.fill_diagonal(distances, np.inf)
    nearest = np.argsort(distances, axis=1, kind="stable")[:, : min(k, len(X) - 1)]
    in_label, in_feature, in_both = 0.0, np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for row, neighbours in enumerate(nearest):
        labels, features = np.abs(y[neighbours] - y[row]), np.abs(X[neighbours] - X[row])
        in_label += labels.mean()
        in_feature += features.mean(axis=0)
        in_both += (labels[:, None] * features).mean(axis=0)
    return in_both / in_label - (in_feature - in_both) / (len(X) - in_label)
