"""An estimator as the judge of the folds: its data and metadata, and its scores with the nested subsets of a search."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params

from bahsic.arrays import Array, Indices, Mask
from bahsic.data.tables import as_table
from bahsic.selection.fitting import Trained

_SCORES = "bahsic-scores.json"
_ROUTING = "sklearn.set_config(enable_metadata_routing=True)"
_ROUNDING = 1e-12  # relative; means of the same scores in another order are ties

# Transformer of numbers, or of columns of a pandas DataFrame, for an estimator that takes complete numbers only.
_FILLED = "SimpleImputer()"
_ENCODED = (
    "make_column_transformer((OneHotEncoder(handle_unknown='ignore'), make_column_selector(dtype_exclude='number')), "
    "(SimpleImputer(), make_column_selector(dtype_include='number')))"
)


@dataclass(frozen=True)
class ScoredFold:
    """Array of the nested subsets of one fold, sizes increasing, and the rank of each column's unit."""

    sizes: list[int]
    scores: Array
    rank: Indices


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples, the estimator and the scorer that judge by them, and what goes with them to each of these."""

    estimator: Any
    scorer: Any
    X: Any  # as the estimator gets the features
    y: NDArray[Any]
    names: Iterable[Any]  # of the features
    fit_params: Mapping[str, Any]
    score_params: Mapping[str, Any]

    def fitted(self, support: Mask) -> Any:
        """Fit a clone of the estimator to some of the columns."""
        with self._explained(support) as columns:
            return clone(self.estimator).fit(columns, self.y, **self.fit_params)

    def score(self, estimator: Any, support: Mask) -> float:
        """Score an estimator that was fitted to these columns."""
        with self._explained(support) as columns:
            score = self.scorer(estimator, columns, self.y, **self.score_params)
        if isinstance(score, Real) and math.isfinite(score):
            return float(score)
        raise ValueError(
            f"scoring by {self.scorer!r} gives {score!r} for {estimator!r} with {support.sum()} features; "
            "accepted: a finite number for every subset and split"
        )

    @contextmanager
    def _explained(self, support: Mask) -> Iterator[Any]:
        """Yield some columns; where the estimator fails and these are not all numbers, the error says what to do."""
        columns = _safe_indexing(self.X, support, axis=1)
        try:
            yield columns
        except (TypeError, ValueError) as error:
            try:
                labels = [name for name, chosen in zip(self.names, support, strict=True) if chosen]
                as_table(columns, argument="its part of X", labels=labels)
            except (TypeError, ValueError) as cause:
                said, where = str(error).partition("\n")[0].rstrip("."), str(cause).partition(";")[0]
                numbers = isinstance(cause, ValueError) and isinstance(columns, np.ndarray)
                container = "" if numbers or hasattr(columns, "iloc") else " and X as a pandas DataFrame"
                remedy = f"make_pipeline({_FILLED if numbers else _ENCODED}, estimator){container}"
                raise ValueError(
                    f"estimator is of type {type(self.estimator).__name__}, which fails ({said}) where {where}; "
                    f"accepted: one that can take it, such as {remedy}"
                ) from error
            raise

    def of_rows(self, rows: Indices) -> Samples:
        """Return some of the samples."""
        X, y = _safe_indexing(self.X, rows), _safe_indexing(self.y, rows)
        params = (_check_method_params(self.y, params, rows) for params in (self.fit_params, self.score_params))
        return Samples(self.estimator, self.scorer, X, y, self.names, *params)


def judged(samples: Samples, pairs: Sequence[tuple[Indices, Indices]], smallest: int, trained: Trained) -> ScoredFold:
    """Return the scores of all subsets of a search; what a checkpoint keeps is not computed again."""
    train, test = (samples.of_rows(rows) for rows in pairs[trained.number])
    search, folder = trained.search, trained.folder
    kept: dict[int, float] = {} if folder is None else dict(folder.read(_SCORES).get("scores", []))
    places = np.full(len(search.units), trained.columns.n_features)
    places[search.used_first] = np.arange(1, len(search.used_first) + 1)
    rank = places[search.units.of_columns]
    sizes = sorted({smallest, *(max(len(step.subset), smallest) for step in search.rounds)})
    for size in sizes:
        if size not in kept:
            kept[size] = test.score(train.fitted(rank <= size), rank <= size)
            if folder is not None:
                folder.write(_SCORES, scores=sorted(kept.items()))
    return ScoredFold(sizes, np.array([kept[size] for size in sizes]), rank)


def chosen_size(scores: Array, *, one_standard_error: bool) -> int:
    """Return the position of the size to choose, given scores of shape (n_splits, n_sizes), sizes increasing."""
    mean = scores.mean(axis=0)
    rounding = _ROUNDING * np.abs(scores[:, np.argmax(mean)]).max()
    best = int(np.argmax(mean >= mean.max() - rounding))
    if not one_standard_error:
        return best
    error = scores[:, best].std(ddof=1) / math.sqrt(len(scores))
    return int(np.argmax(mean >= mean[best] - error - rounding))


def cv_results(folds: Sequence[ScoredFold], scores: Array) -> dict[str, NDArray[Any]]:
    """Return the contents of `BAHSICCV.cv_results_`."""
    sizes = np.array(folds[0].sizes)
    results = {"n_features": sizes, "mean_test_score": scores.mean(axis=0), "std_test_score": scores.std(axis=0)}
    for i, fold in enumerate(folds):
        results[f"split{i}_test_score"] = fold.scores
        results[f"split{i}_ranking"] = np.maximum(fold.rank + 1 - sizes[:, None], 1)
        results[f"split{i}_support"] = fold.rank <= sizes[:, None]
    return results


def unrouted(caller: str, metadata: dict[str, Any], estimator: Any, scoring: Any) -> dict[str, Any]:
    """Return the metadata of `fit` or `score` for each receiver where scikit-learn's routing is off."""
    accepted = ("groups", "sample_weight") if caller == "fit" else ("sample_weight",)
    unknown = sorted(set(metadata) - set(accepted))
    if unknown:
        raise ValueError(
            f"{caller} got {', '.join(unknown)}; accepted: {', '.join(accepted)}, other metadata only with {_ROUTING}"
        )
    groups, weights = ({name: metadata[name]} if name in metadata else {} for name in ("groups", "sample_weight"))
    if weights:
        used = {"the scorer": estimator.score if scoring is None else check_scoring(estimator, scoring)}
        if caller == "fit":
            used = {f"the fit of the estimator, a {type(estimator).__name__},": estimator.fit} | used
        for name, function in used.items():
            if "sample_weight" not in inspect.signature(function).parameters:
                other = f"one that does, or with {_ROUTING} requests of those that use it"
                raise ValueError(f"sample_weight is given, and {name} takes none; accepted: {other}")
    return {"estimator": {"fit": weights}, "splitter": {"split": groups}, "scorer": {"score": weights}}
