"""Cross-fitting: each sample is predicted, at every subset size, by a search that never saw it.

For each fold, a whole search runs on the other folds, and each subset on its path predicts the fold. The losses choose
the number of features and the kernel, and say how well the selection predicts.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import skew

from bahsic.criteria.prediction import CLEARLY, mean_error
from bahsic.report.schema import SOMETHING
from bahsic.selection.problem import Problem

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Skewness of numbers from which on their logarithms may be easier to predict.
_SKEWED = 2.0

# Means of losses that differ by less, relative to the greatest, are ties.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Fold:
    """Outcome of one search, on samples that it never saw."""

    test: Indices  # the samples that judge
    order: Indices  # the units, the most relevant first
    predictions: dict[int, Array]  # label features of these samples, for each number of units

    def as_plain(self) -> dict[str, Any]:
        """Return the outcome as plain data."""
        values = [[size, b64encode(array.tobytes()).decode("ascii")] for size, array in self.predictions.items()]
        return {"test": self.test.tolist(), "order": self.order.tolist(), "predictions": values}

    @staticmethod
    def from_plain(plain: dict[str, Any]) -> Fold:
        """Return the outcome that plain data stand for."""
        test, order = (np.array(plain[name], dtype=np.intp) for name in ("test", "order"))
        values = {size: np.frombuffer(b64decode(text)) for size, text in plain["predictions"]}
        return Fold(test, order, {size: array.reshape(len(test), -1) for size, array in values.items()})


class Measure(NamedTuple):
    """Quality of a subset size on held-out samples: R^2 with its standard error, and the score that people know."""

    predictability: float
    error: float
    score: float | None


class CrossFit:
    """Held-out predictions of all folds with one kernel."""

    def __init__(self, problem: Problem, folds: Sequence[Fold]) -> None:
        self.problem, self.folds = problem, folds
        self.sizes = sorted(folds[0].predictions)
        Y, w = problem.label_features, problem.data.weights
        times = np.bincount(np.concatenate([fold.test for fold in folds]), minlength=len(Y))
        judged = np.flatnonzero(times)
        self.n_judged, self._all_weights = len(judged), np.ones(len(Y)) if w is None else np.asarray(w, np.float64)
        self._weights = self._all_weights[judged]
        self.losses: dict[int, Array] = {}  # squared error of each judged sample, the mean if there are several
        for size in self.sizes:
            total = np.zeros(len(Y))
            for fold in folds:
                np.add.at(total, fold.test, np.square(Y[fold.test] - fold.predictions[size]).sum(axis=1))
            self.losses[size] = total[judged] / times[judged]

    @property
    def score_name(self) -> str:
        """The measure that people know."""
        if self.problem.labels.name not in ("binary", "multiclass", "delta"):
            return "R2"
        return "ROC AUC" if self.problem.label_features.shape[1] == 1 else "accuracy"

    def mean_loss(self, size: int) -> float:
        """Return the mean squared error at a size."""
        return float(np.average(self.losses[size], weights=self._weights))

    @property
    def best(self) -> int:
        """The size of the least mean squared error, the smallest of equal ones."""
        means = {size: self.mean_loss(size) for size in self.sizes}
        limit = min(means.values()) + _ROUNDING * max(means.values())
        return min(size for size in self.sizes if means[size] <= limit)

    def smallest(self) -> int:
        """Return the smallest size whose mean loss is within one standard error of the least.

        Of the least one with several folds (Breiman's rule), whose searches may take different features. With a single
        split of the difference, which is smaller. The size is 0 unless it predicts better than the mean by a one-sided
        test at 5%.
        """
        best, slack = self.best, _ROUNDING * max(map(self.mean_loss, self.sizes))

        def is_as_good(size: int) -> bool:
            own = self.losses[size] if len(self.folds) == 1 else 0.0
            error = mean_error(self.losses[best] - own, self._weights)
            return self.mean_loss(size) <= self.mean_loss(best) + error + slack

        smallest = min(filter(is_as_good, self.sizes))
        value, error, _ = self.measure(smallest)
        return smallest if value > CLEARLY * error else 0

    def measure(self, size: int) -> Measure:
        """Return the quality of a size."""
        total, loss = self.mean_loss(0), self.losses[size]
        if total <= 0:  # the labels don't vary
            return Measure(0.0, 0.0, None)
        value = 1 - self.mean_loss(size) / total
        error = mean_error(loss - (1 - value) * self.losses[0], self._weights) / total
        return Measure(value, error, self._score(size, value))

    def _score(self, size: int, predictability: float) -> float | None:
        if self.score_name == "R2":
            return predictability
        function = _auc if self.score_name == "ROC AUC" else _accuracy
        values, totals = [], []
        for fold in self.folds:
            w = self._all_weights[fold.test]
            value = function(self.problem.label_features, fold.test, fold.predictions[size], w)
            if value is not None:
                values.append(value)
                totals.append(w.sum())
        return float(np.average(values, weights=totals)) if values else None

    def frequencies(self, size: int, n_units: int) -> Array:
        """Return the share of the folds in which each unit is among the best so many."""
        counts = np.zeros(n_units)
        for fold in self.folds:
            counts[fold.order[:size]] += 1
        return counts / len(self.folds)


def reason(judged: CrossFit, chosen: int, n_needed: int, name: str = "features") -> str:
    """Return why a number of units was chosen, in words; zero where nothing predicts the labels.

    So many of them are needed; the others add nothing.
    """
    best, largest = judged.best, judged.sizes[-1]
    if chosen == 0:
        best = best or min(filter(None, judged.sizes))
        value, error, _ = judged.measure(best)
        clearly, band = ("clearly ", f" +/- {error:.2f}") if value >= SOMETHING else ("", "")
        skewed = "; the target is positive and very skewed: its logarithm may be predictable"
        return (
            f"no subset of the {_counted(largest, name)} {clearly}predicts the target: "
            f"held-out R2 {_shown(judged, best)}{band} at best{skewed if _is_skewed(judged.problem) else ''}"
        )
    others = [] if best == chosen else [f"{best}: {_shown(judged, best)}"]
    others += [] if largest in (chosen, best) else [f"all {largest}: {_shown(judged, largest)}"]
    beside = f" ({', '.join(others)})" if others else ""
    predict = "predicts" if n_needed == 1 else "predict"
    without = "" if n_needed >= chosen else f", after removing {chosen - n_needed} of {chosen} that added nothing"
    return (
        f"{n_needed} of {_counted(largest, name)} {predict} as well as any: held-out R2 {_shown(judged, chosen)}"
        f"{beside}{without}"
    )


def _counted(n: int, name: str) -> str:
    return f"{n} {name[:-1] if n == 1 else name}"


def _shown(judged: CrossFit, size: int) -> str:
    return f"{round(judged.measure(size).predictability, 2) + 0.0:.2f}"  # no -0.00


def _is_skewed(problem: Problem) -> bool:
    """Whether the labels are positive numbers, much more skewed than their logarithms."""
    if problem.labels.name != "regression":
        return False
    y = np.asarray(problem.y, dtype=np.float64)
    return bool(0 < y.min() < y.max() and skew(y, axis=None) > max(_SKEWED, 2 * abs(skew(np.log(y), axis=None))))


def _auc(Y: Array, samples: Indices, predictions: Array, w: Array) -> float | None:
    """Return the ROC AUC of the second class; None unless there are both.

    `sklearn.metrics.roc_auc_score` takes 2 ms, mostly for checks, and a fit needs hundreds of scores.
    """
    second, scores = Y[samples, 0] > 0, predictions[:, 0]
    if second.all() or not second.any():
        return None
    order = np.argsort(scores[~second])
    first, below = scores[~second][order], np.append(0, np.cumsum(w[~second][order]))
    lower, equal = (below[np.searchsorted(first, scores[second], side)] for side in ("left", "right"))
    return float((lower + equal) @ w[second] / (2 * w[second].sum() * below[-1]))


def _accuracy(Y: Array, samples: Indices, predictions: Array, w: Array) -> float | None:
    """Return the share of the samples whose class has the greatest prediction."""
    shares = -Y.min(axis=0)  # centred indicators
    hits = (predictions + shares).argmax(axis=1) == Y[samples].argmax(axis=1)
    return float(np.average(hits, weights=w))
