"""One fold of a cross-validated selection: a ranking, its nested subsets, and the scores of an estimator."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from bahsic.data.roles import ColumnRole
from bahsic.data.tables import as_table
from bahsic.selection.checkpoint import CheckpointError
from bahsic.selection.kept_folds import KeptScores
from bahsic.selection.problem import Problem
from bahsic.selection.selectors import BAHSIC

Scores = NDArray[np.float64]
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]
Split = tuple[Indices, Indices]

_ROUNDING = 1e-12  # relative; means of the same scores in another order are ties

# Transformer of numbers, or of columns of a pandas DataFrame, for an estimator that takes complete numbers only.
_FILLED = "SimpleImputer()"
_ENCODED = (
    "make_column_transformer((OneHotEncoder(handle_unknown='ignore'), make_column_selector(dtype_exclude='number')), "
    "(SimpleImputer(), make_column_selector(dtype_include='number')))"
)


class FoldRanker(BAHSIC):
    """A selector for the ranking of a fold: it neither reports anything nor computes scores of features."""

    def _report_labels(self, problem: Problem) -> None:
        pass

    def _report_idle(self, roles: Sequence[ColumnRole]) -> None:
        pass

    def _scores(self, *_: Any) -> Scores:
        return np.zeros(self.n_features_in_)


@dataclass(frozen=True)
class Fold:
    """Scores of the nested subsets of one fold, sizes increasing, and the ranks that they come from."""

    sizes: list[int]
    scores: Scores
    rank: Indices


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples with what goes with them to the fit of an estimator and to the scorer.

    Attributes
    ----------
    table : array or dataframe of shape (m, d)
        The features as the ranking gets them.
    X : array or dataframe of shape (m, d)
        The same as the estimator gets them.
    y : ndarray of shape (m,) or (m, k)
    weights : ndarray of shape (m,), or None
        How often each sample counts in the ranking.
    fit_params, score_params : mapping
        Metadata for the fit of the estimator and for the scorer.
    """

    table: Any
    X: Any
    y: NDArray[Any]
    weights: NDArray[Any] | None
    fit_params: Mapping[str, Any]
    score_params: Mapping[str, Any]

    def ranked(self, ranker: BAHSIC) -> BAHSIC:
        """The ranker, fitted."""
        try:
            return ranker.fit(self.table, self.y, self.weights)  # type: ignore[no-any-return]
        except CheckpointError:
            raise
        except ValueError as error:  # not of the parameters, which were accepted with all data
            raise ValueError(f"cv gives a training part of {len(self.y)} samples without a ranking: {error}") from error

    def fitted(self, estimator: Any, support: Mask) -> Any:
        """A clone of the estimator, fitted to some of the columns."""
        with self._explained(estimator, support) as columns:
            return clone(estimator).fit(columns, self.y, **self.fit_params)

    def score(self, estimator: Any, scorer: Any, support: Mask) -> float:
        """Score of an estimator that was fitted to these columns."""
        with self._explained(estimator, support) as columns:
            score = scorer(estimator, columns, self.y, **self.score_params)
        if isinstance(score, Real) and math.isfinite(score):
            return float(score)
        raise ValueError(
            f"scoring by {scorer!r} gives {score!r} for {estimator!r} with {support.sum()} features; "
            "accepted: a finite number for every subset and split"
        )

    @contextmanager
    def _explained(self, estimator: Any, support: Mask) -> Iterator[Any]:
        """Some columns; where an estimator fails and these are not all numbers, the error says what to do."""
        columns = _safe_indexing(self.X, support, axis=1)
        try:
            yield columns
        except (TypeError, ValueError) as error:
            try:
                as_table(columns, argument="its part of X", labels=self._labels(support))
            except (TypeError, ValueError) as found:
                said, where = str(error).partition("\n")[0].rstrip("."), str(found).partition(";")[0]
                numbers = isinstance(found, ValueError) and isinstance(columns, np.ndarray)
                container = "" if numbers or hasattr(columns, "iloc") else " and X as a pandas DataFrame"
                raise ValueError(
                    f"estimator is of type {type(estimator).__name__}, which fails ({said}) where {where}; accepted: "
                    f"one that can take it, such as make_pipeline({_FILLED if numbers else _ENCODED}, estimator)"
                    f"{container}"
                ) from error
            raise

    def _labels(self, support: Mask) -> list[Any]:
        names = getattr(self.table, "column_names", getattr(self.table, "columns", range(len(support))))
        return [name for name, chosen in zip(names, support, strict=True) if chosen]

    def of_rows(self, rows: Indices) -> Samples:
        """Some of the samples."""
        table, y = _safe_indexing(self.table, rows), _safe_indexing(self.y, rows)
        X = table if self.X is self.table else _safe_indexing(self.X, rows)
        weights = None if self.weights is None else self.weights[rows]
        params = (_rows_of(params, rows, len(self.y)) for params in (self.fit_params, self.score_params))
        return Samples(table, X, y, weights, *params)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Evaluation of nested subsets in a fold: a ranking on its training part, a score on its test part for each size.

    Attributes
    ----------
    ranker : BAHSIC
    estimator : estimator
    scorer : callable
    unit_of : ndarray of int of shape (d,)
        The unit of each column, that is, its group or itself.
    smallest : int
        Number of units of the smallest subset.
    """

    ranker: BAHSIC
    estimator: Any
    scorer: Any
    unit_of: Indices
    smallest: int

    def fold(self, samples: Samples, split: Split, kept: KeptScores | None = None) -> Fold:
        """Rank the columns on the training part, score the subsets on the test part; what is kept is not done again."""
        train, test = (samples.of_rows(rows) for rows in split)
        ranker = clone(self.ranker) if kept is None else clone(self.ranker).set_params(checkpoint=kept.folder)
        ranker = train.ranked(ranker)
        rank = ranks(ranker, self.unit_of)
        leaving = (ranker.elimination_order_[-step.n_features] for step in ranker.path_)  # first in each round
        sizes = sorted({max(size, self.smallest) for size in (self.smallest, *map(int, rank[list(leaving)]))})

        def score(size: int) -> float:
            return test.score(train.fitted(self.estimator, rank <= size), self.scorer, rank <= size)

        scores = [score(size) if kept is None else kept.score(size, partial(score, size)) for size in sizes]
        return Fold(sizes, np.array(scores), rank)


def _rows_of(params: Mapping[str, Any], rows: Indices, n_samples: int) -> dict[str, Any]:
    """The parameters, those with an entry for each sample cut to the rows."""
    return {
        name: np.asarray(value)[rows] if np.ndim(value) and len(value) == n_samples else value
        for name, value in params.items()
    }


def ranks(selector: BAHSIC, unit_of: Indices) -> Indices:
    """The rank of each column's unit: 1, 2, ... for those that are kept, then for the others, the best one first.

    Examples
    --------
    >>> from bahsic.datasets import make_xor
    >>> X, y, _ = make_xor(n_samples=80, n_features=6, random_state=0)
    >>> selector = BAHSIC(feature_groups=["a", "b", "a", "b", "c", "c"], keep=[4]).fit(X, y)
    >>> selector.group_order_
    array(['c', 'b', 'a'], dtype=object)
    >>> ranks(selector, np.array([0, 1, 0, 1, 2, 2]))
    array([3, 2, 3, 2, 1, 1])
    """
    best_first = list(dict.fromkeys(unit_of[selector.elimination_order_[::-1]].tolist()))
    rank = np.empty(len(best_first), dtype=np.intp)
    rank[best_first] = np.arange(1, len(best_first) + 1)
    return rank[unit_of]


def chosen_size(scores: Scores, *, one_standard_error: bool) -> int:
    """Position of the size to choose, given scores of shape (n_splits, n_sizes), sizes increasing.

    Examples
    --------
    >>> scores = np.array([[0.5, 0.8, 0.9, 0.9], [0.7, 0.7, 0.7, 0.7]])
    >>> chosen_size(scores, one_standard_error=False), chosen_size(scores, one_standard_error=True)
    (2, 1)
    """
    mean = scores.mean(axis=0)
    rounding = _ROUNDING * np.abs(scores[:, np.argmax(mean)]).max()
    best = int(np.argmax(mean >= mean.max() - rounding))
    if not one_standard_error:
        return best
    error = scores[:, best].std(ddof=1) / math.sqrt(len(scores))
    return int(np.argmax(mean >= mean[best] - error - rounding))


def cv_results(folds: list[Fold], scores: Scores) -> dict[str, NDArray[Any]]:
    """Contents of `BAHSICCV.cv_results_`."""
    sizes = np.array(folds[0].sizes)
    results = {"n_features": sizes, "mean_test_score": scores.mean(axis=0), "std_test_score": scores.std(axis=0)}
    for i, fold in enumerate(folds):
        results[f"split{i}_test_score"] = fold.scores
        results[f"split{i}_ranking"] = np.maximum(fold.rank + 1 - sizes[:, None], 1)
        results[f"split{i}_support"] = fold.rank <= sizes[:, None]
    return results
