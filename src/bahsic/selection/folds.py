"""An estimator as the judge of the folds: its scores with the nested subsets of a search."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from bahsic.data.columns import Columns
from bahsic.data.tables import as_table
from bahsic.selection.fitting import Folder
from bahsic.selection.rounds import Search

Scores = NDArray[np.float64]
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]

_SCORES = "bahsic-scores.json"

_ROUNDING = 1e-12  # relative; means of the same scores in another order are ties

# Transformer of numbers, or of columns of a pandas DataFrame, for an estimator that takes complete numbers only.
_FILLED = "SimpleImputer()"
_ENCODED = (
    "make_column_transformer((OneHotEncoder(handle_unknown='ignore'), make_column_selector(dtype_exclude='number')), "
    "(SimpleImputer(), make_column_selector(dtype_include='number')))"
)


@dataclass(frozen=True)
class ScoredFold:
    """Scores of the nested subsets of one fold, sizes increasing, and the rank of each column's unit."""

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
class EstimatorJudge:
    """Scores of an estimator, fitted to the training part of each split with nested subsets, on its test part.

    Attributes
    ----------
    samples : Samples
    pairs : sequence of pairs of ndarrays of int
        Rows of the training and of the test part of each split.
    estimator : estimator
    scorer : callable
    smallest : int
        Number of units of the smallest subset.
    """

    samples: Samples
    pairs: Sequence[tuple[Indices, Indices]]
    estimator: Any
    scorer: Any
    smallest: int

    def __call__(self, number: int, search: Search, columns: Columns, folder: Folder | None) -> ScoredFold:
        """Return the scores of all subsets of a search; what the folder keeps is not done again."""
        train, test = (self.samples.of_rows(rows) for rows in self.pairs[number])
        file = None if folder is None else folder.file(_SCORES)
        kept: dict[int, float] = {} if file is None else dict(file.found.get("scores", []))
        rank = np.full(columns.n_features, columns.n_features)
        for place, unit in enumerate(search.units.each(search.used_first), start=1):
            rank[unit] = place
        sizes = sorted({self.smallest, *(max(len(one.subset), self.smallest) for one in search.rounds)})
        for size in (one for one in sizes if one not in kept):
            kept[size] = test.score(train.fitted(self.estimator, rank <= size), self.scorer, rank <= size)
            if file is not None:
                file.replace(scores=sorted(kept.items()))
        return ScoredFold(sizes, np.array([kept[size] for size in sizes]), rank)


def _rows_of(params: Mapping[str, Any], rows: Indices, n_samples: int) -> dict[str, Any]:
    """The parameters, those with an entry for each sample cut to the rows."""
    return {
        name: np.asarray(value)[rows] if np.ndim(value) and len(value) == n_samples else value
        for name, value in params.items()
    }


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


def cv_results(folds: Sequence[ScoredFold], scores: Scores) -> dict[str, NDArray[Any]]:
    """Contents of `BAHSICCV.cv_results_`."""
    sizes = np.array(folds[0].sizes)
    results = {"n_features": sizes, "mean_test_score": scores.mean(axis=0), "std_test_score": scores.std(axis=0)}
    for i, fold in enumerate(folds):
        results[f"split{i}_test_score"] = fold.scores
        results[f"split{i}_ranking"] = np.maximum(fold.rank + 1 - sizes[:, None], 1)
        results[f"split{i}_support"] = fold.rank <= sizes[:, None]
    return results
