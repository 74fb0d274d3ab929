"""Scores of one feature at a time, Pearson's correlation and mutual information, and of pairs of features."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.baselines import Array, Order, Problem, by_score, indicators

# A column with so few values is taken as discrete when mutual information is estimated.
_MOST_LEVELS = 10


def correlations(X: Array, Y: Array) -> Array:
    """Pearson's correlation of each column of X with each column of Y, zero where one is constant.

    Examples
    --------
    >>> correlations(np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]), np.array([[2.0], [4.0], [6.0]])).ravel()
    array([1., 0.])
    """
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    lengths = np.outer(np.linalg.norm(X, axis=0), np.linalg.norm(Y, axis=0))
    return np.divide(X.T @ Y, lengths, out=np.zeros_like(lengths), where=lengths > 0)


def pearson(X: Array, y: NDArray[Any], problem: Problem) -> Order:
    """The largest |r| with the indicator of a class against the rest, or |r| with numbers."""
    return by_score(np.abs(correlations(X, indicators(y, problem.task))).max(axis=1))


def pearson_of_numbers(X: Array, y: NDArray[Any], problem: Problem) -> Order:
    """|r| with the labels, classes being taken as the numbers that name them."""
    return by_score(np.abs(correlations(X, indicators(y, "regression")))[:, 0])


def mutual_information(X: Array, y: NDArray[Any], problem: Problem) -> Order:
    """Mutual information with the labels as scikit-learn estimates it, by three nearest neighbours.

    The paper cites Zaffalon and Hutter (2002), who work on discrete features, and does not say how it made
    its features discrete. Columns of at most ten values are counted instead.
    """
    from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

    estimate = mutual_info_regression if problem.task == "regression" else mutual_info_classif
    discrete = np.array([len(np.unique(column)) <= _MOST_LEVELS for column in X.T])
    # Columns that are counted have to hold codes of values, not standardised numbers.
    coded = X.copy()
    for j in np.flatnonzero(discrete):
        coded[:, j] = np.unique(X[:, j], return_inverse=True)[1]
    return by_score(estimate(coded, y, discrete_features=discrete, random_state=problem.seed))


_BINS = 10


def mrmr_of_bins(X: Array, y: NDArray[Any], problem: Problem) -> Order:
    """Minimum redundancy, maximum relevance (Peng et al., 2005): mutual information of ten bins, the difference form.

    The feature with the largest information on the classes less the mean information on the features chosen before
    comes next. Bins of a column hold equally many samples.
    """
    bins = (np.argsort(np.argsort(X, axis=0), axis=0) * _BINS) // len(X)
    relevance = information(bins, np.unique(y, return_inverse=True)[1])
    redundancy = np.zeros(X.shape[1])
    order: list[int] = []
    while len(order) < min(problem.number, X.shape[1]):
        gains = relevance - redundancy / max(1, len(order))
        gains[order] = -np.inf
        order.append(int(np.argmax(gains)))
        redundancy += information(bins, bins[:, order[-1]])
    return np.array(order, dtype=np.intp)


def information(bins: NDArray[np.intp], other: NDArray[np.intp]) -> Array:
    """Mutual information of each column with another one, in nats, from counts."""
    m, width = len(bins), int(other.max()) + 1
    codes = bins * width + other[:, None] + np.arange(bins.shape[1]) * _BINS * width
    joint = np.bincount(codes.ravel(), minlength=bins.shape[1] * _BINS * width).reshape(-1, _BINS, width) / m
    product = joint.sum(axis=2, keepdims=True) * joint.sum(axis=1, keepdims=True)
    ratio = np.divide(joint, product, out=np.ones_like(joint), where=joint > 0)
    return np.asarray((joint * np.log(ratio)).sum(axis=(1, 2)))
