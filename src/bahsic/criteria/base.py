"""The base class of criteria that users write, for ``criterion=`` of the selectors."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from bahsic.arrays import Array, Indices


class Criterion(BaseEstimator, ABC):
    """Base class of your own criteria: the quality of a subset of features, which a selector maximises.

    Write `fit` and `score`. Override `leaving` and `entering` if all candidates of a round can be compared faster than
    by one call of `score` each. Parameters are those of the constructor, as for every estimator of scikit-learn:
    selectors fit a clone for each search, and checkpoints compare the parameters.

    See Also
    --------
    bahsic.BAHSIC : Takes an object of such a class as its ``criterion``.

    Examples
    --------
    >>> class Correlation(Criterion):
    ...     def fit(self, X, Y, sample_weight=None):
    ...         self.squares_ = np.square(X.T @ Y).sum(axis=1)
    ...         return self
    ...
    ...     def score(self, columns):
    ...         return self.squares_[columns].sum()
    >>> from bahsic import BAHSIC
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> BAHSIC(1, criterion=Correlation()).fit(X, X[:, 2]).get_support(indices=True)
    array([2])
    """

    @abstractmethod
    def fit(self, X: Array, Y: Array, sample_weight: Array | None = None) -> Self:
        """Prepare for a search on the given data.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            The columns, standardised unless the selector has ``standardize=False``; missing entries are the mean, 0.
        Y : ndarray of shape (n_samples, n_outputs)
            The target, centred: an indicator column for each class (one column for two classes), standardised numbers,
            or for any other target kernel columns whose inner products are its centred values.
        sample_weight : ndarray of shape (n_samples,), optional
            How often each sample counts.

        Returns
        -------
        self
        """

    @abstractmethod
    def score(self, columns: Indices) -> float:
        """Return the quality of a subset, a finite number; greater is better.

        Parameters
        ----------
        columns : ndarray of int
            The columns of the subset, at least one, in increasing order.
        """

    def leaving(self, columns: Indices, candidates: Sequence[Indices], count: int) -> Sequence[int] | Indices:
        """Return the positions of the candidates that leave a subset next, the least relevant one first.

        Parameters
        ----------
        columns : ndarray of int
            The columns of the subset.
        candidates : sequence of ndarray of int
            The columns of each candidate: one column, or those of a group.
        count : int
            Number of candidates to return.
        """
        return _best([checked_score(self, np.setdiff1d(columns, each)) for each in candidates], count)

    def entering(self, columns: Indices, candidates: Sequence[Indices], count: int) -> Sequence[int] | Indices:
        """Return the positions of the candidates that enter a subset next, the most relevant one first."""
        return _best([checked_score(self, np.union1d(columns, each)) for each in candidates], count)


def checked_score(criterion: Criterion, columns: Indices) -> float:
    """Return the score of a subset; raise unless it is a finite number."""
    score: Any = criterion.score(columns)
    if isinstance(score, Real) and math.isfinite(score):
        return float(score)
    raise ValueError(
        f"criterion is {criterion!r}, whose score of {len(columns)} columns is {score!r}; accepted: a finite number"
    )


def _best(scores: Sequence[float], count: int) -> Indices:
    return np.argsort(-np.array(scores), kind="stable")[:count]
