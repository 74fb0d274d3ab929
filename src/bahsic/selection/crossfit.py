"""Cross-fitting: each sample is predicted, at every subset size, by a search that never saw it.

The splits say which samples choose the features and which judge them. For each, a whole search runs on the first, and
each subset on its path predicts the others. The losses choose the number of features and the kernel, and say how well
the selection predicts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import skew

from bahsic.arrays import Array, Indices, Mask
from bahsic.criteria.blocks import MOST_HELD_OUT, some_samples
from bahsic.criteria.prediction import CLEARLY, mean_error
from bahsic.kernels import LabelKernel
from bahsic.parameters import Given, Message, is_auto, is_count
from bahsic.report.schema import SOMETHING
from bahsic.selection.problem import Problem

# cv="auto": so many folds, and fewer from so many samples on. With blocks, held-out samples judge instead.
FOLDS, FEWER_FOLDS, MANY_SAMPLES = 5, 3, 1000

# Kernels are compared on the first folds that have so many samples together; with more than `MANY_SAMPLES` by a search
# on so many of those that choose the features, and so many of those that judge.
_COMPARED, _SEARCH, _JUDGE = 200, 700, 1000

_FEWEST = 4  # samples that can choose features
_SKEWED = 2.0  # skewness of numbers from which on their logarithms may be easier to predict
_ROUNDING = 1e-9  # means of losses that differ by less, relative to the greatest, are ties


class Split(NamedTuple):
    """Samples that choose the features, and samples that judge them, as positions in a problem."""

    train: Indices
    test: Indices


def problem_splits(
    cv: Any, problem: Problem, y: Any, groups: Any, n_samples: int, sample_weight: Any = None
) -> list[Split]:
    """Return the splits of the samples of a problem, which was made of some of the given number of samples."""
    auto = cv is None or is_auto(cv)
    is_odd = isinstance(cv, str | bytes | int | float) or not (hasattr(cv, "split") or isinstance(cv, Iterable))
    if is_odd and not auto and not is_count(cv, 2):
        accepted = "None, 'auto', an int of at least 2, a splitter of scikit-learn or an iterable of pairs of indices"
        raise ValueError(f"cv is {cv!r}; accepted: {accepted}")
    if len(problem) <= _FEWEST:
        raise ValueError(
            f"X has {len(problem)} samples; accepted: at least {_FEWEST + 1} where samples judge the selection, which "
            "they do with cv, or the number or the kernel 'auto'"
        )
    if problem.n_held_out:
        return [Split(problem.searched, np.arange(len(problem) - problem.n_held_out, len(problem)))]
    if auto:
        cv = FOLDS if len(problem) <= MANY_SAMPLES else FEWER_FOLDS
    if is_count(cv):
        splits = _stratified_folds(problem.labels, min(int(cv), len(problem)))
    else:
        splits = _given_splits(cv, problem, y, groups, n_samples, sample_weight)
    n_judging = None if problem.block_size is None else MOST_HELD_OUT
    splits = [Split(problem.first(train), test[:n_judging]) for train, test in splits]
    for train, test in splits:
        if len(train) < _FEWEST or not len(test):
            what = f" is {cv!r}, which gives {len(train)} training and {len(test)} test samples"
            raise ValueError(Message(Given("cv"), what, f"; accepted: at least {_FEWEST} and 1"))
        if len(np.intersect1d(train, test)):
            raise ValueError(f"cv is {cv!r}, which gives splits whose parts overlap; accepted: disjoint parts")
    return splits


def trial_splits(problem: Problem, splits: Sequence[Split]) -> Sequence[Split]:
    """Return the splits that compare kernels: the first folds, or some samples of the first if there are many."""
    if len(problem) > MANY_SAMPLES:
        train, test = splits[0]
        return [Split(train[some_samples(len(train), _SEARCH)], test[some_samples(len(test), _JUDGE)])]
    judged = np.cumsum([len(split.test) for split in splits])
    return splits[: 1 + int(np.searchsorted(judged, _COMPARED))]


def _stratified_folds(labels: LabelKernel, n_folds: int) -> list[Split]:
    """Return folds of nearly the same size and labels; always the same ones, whatever the names of classes."""
    m = len(labels)
    order = np.random.default_rng(0).permutation(m)
    if labels.name in ("binary", "multiclass", "delta", "regression"):
        _, first, values = np.unique(np.asarray(labels.values)[order], axis=0, return_index=True, return_inverse=True)
        places = values if labels.name == "regression" else first[values]
        order = order[np.argsort(places.ravel(), kind="stable")]
    tests = [np.sort(order[first::n_folds]) for first in range(n_folds)]
    return [Split(np.setdiff1d(np.arange(m), test, assume_unique=True), test) for test in tests]


def _given_splits(cv: Any, problem: Problem, y: Any, groups: Any, n_samples: int, sample_weight: Any) -> list[Split]:
    """Return the splits of a splitter or an iterable, as positions in a problem."""
    pairs = cv.split(np.zeros((n_samples, 1)), y, groups) if hasattr(cv, "split") else cv
    used = np.arange(n_samples) if sample_weight is None else np.flatnonzero(np.asarray(sample_weight))
    used = used if problem.data.order is None or sample_weight is not None else problem.data.order
    place = np.full(n_samples, -1)
    place[used] = np.arange(len(used))
    splits = []
    for pair in pairs:
        try:
            sides = [np.arange(n_samples)[np.asarray(side)] for side in pair]
            train, test = (np.sort(place[side][place[side] >= 0]) for side in sides)
        except (TypeError, ValueError, IndexError):
            raise ValueError(f"cv gives {pair!r}; accepted: pairs of indices of training and test samples") from None
        splits.append(Split(train, test))
    if not splits:
        raise ValueError(f"cv is {cv!r}, which gives no split; accepted: at least one")
    return splits


@dataclass(frozen=True, eq=False)
class Fold:
    """Outcome of one search, on samples that it never saw."""

    test: Indices  # the samples that judge
    order: Indices  # the units, the most relevant first
    predictions: dict[int, Array]  # label features of these samples, for each number of units


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
        self._losses: dict[int, Array] = {}  # squared error of each judged sample, the mean if there are several
        for size in self.sizes:
            total = np.zeros(len(Y))
            for fold in folds:
                np.add.at(total, fold.test, np.square(Y[fold.test] - fold.predictions[size]).sum(axis=1))
            self._losses[size] = total[judged] / times[judged]
        self.mean_losses = {size: float(np.average(loss, weights=self._weights)) for size, loss in self._losses.items()}
        self._slack = _ROUNDING * max(self.mean_losses.values())
        # The size of the least mean squared error, the smallest of equal ones.
        limit = min(self.mean_losses.values()) + self._slack
        self.best = min(size for size, mean in self.mean_losses.items() if mean <= limit)
        is_one_column, classes = Y.shape[1] == 1, problem.labels.name in ("binary", "multiclass", "delta")
        self.score_name = ("ROC AUC" if is_one_column else "accuracy") if classes else "R2"

    def smallest(self) -> int:
        """Return the smallest size whose mean loss is within one standard error of the least; 0 if it predicts nothing.

        The error is that of the least loss with several folds (Breiman's rule), whose searches may take different
        features; with a single split that of the difference, which is smaller.
        """
        least, means = self._losses[self.best], self.mean_losses
        for size in self.sizes:
            error = mean_error(least - (self._losses[size] if len(self.folds) == 1 else 0.0), self._weights)
            if means[size] <= means[self.best] + error + self._slack:
                break
        value, error, _ = self.measure(size)
        return size if value > CLEARLY * error else 0

    def measure(self, size: int) -> Measure:
        """Return the quality of a size."""
        total = self.mean_losses[0]
        if total <= 0:  # the labels don't vary
            return Measure(0.0, 0.0, None)
        value = 1 - self.mean_losses[size] / total
        error = mean_error(self._losses[size] - (1 - value) * self._losses[0], self._weights) / total
        return Measure(value, error, value if self.score_name == "R2" else self._score(size))

    def _score(self, size: int) -> float | None:
        """Return ROC AUC or accuracy, the mean over the folds that have it."""
        Y, scores, totals = self.problem.label_features, [], []
        shares = -Y.min(axis=0)  # of the classes, whose indicators are centred
        for fold in self.folds:
            own, predicted, w = Y[fold.test], fold.predictions[size], self._all_weights[fold.test]
            if self.score_name == "ROC AUC":
                score = _auc(own[:, 0] > 0, predicted[:, 0], w)
            else:
                score = float(np.average((predicted + shares).argmax(axis=1) == own.argmax(axis=1), weights=w))
            if score is not None:
                scores.append(score)
                totals.append(w.sum())
        return float(np.average(scores, weights=totals)) if scores else None


def reason(judged: CrossFit, chosen: int, n_needed: int, name: str = "features") -> str:
    """Return in words why a number of units was chosen, 0 if nothing predicts the labels, and how many are needed."""
    best, largest = judged.best, judged.sizes[-1]
    shown = {size: f"{round(judged.measure(size).predictability, 2) + 0.0:.2f}" for size in judged.sizes}  # no -0.00
    everything = f"{largest} {name[:-1] if largest == 1 else name}"
    if chosen == 0:
        best = best or min(filter(None, judged.sizes))
        value, error, _ = judged.measure(best)
        clearly, band = ("clearly ", f" +/- {error:.2f}") if value >= SOMETHING else ("", "")
        skewed = "; the target is positive and very skewed: its logarithm may be predictable"
        return (
            f"no subset of the {everything} {clearly}predicts the target: "
            f"held-out R2 {shown[best]}{band} at best{skewed if _is_skewed(judged.problem) else ''}"
        )
    others = [] if best == chosen else [f"{best} {name}: {shown[best]}"]
    others += [] if largest in (chosen, best) else [f"all {largest}: {shown[largest]}"]
    beside = f" ({', '.join(others)})" if others else ""
    verb = "is" if n_needed == 1 else "are"
    without = "" if n_needed >= chosen else f", after removing {chosen - n_needed} of {chosen} that added nothing"
    return f"{n_needed} of {everything} {verb} enough: held-out R2 {shown[chosen]}{beside}{without}"


def _is_skewed(problem: Problem) -> bool:
    """Whether the labels are positive numbers, much more skewed than their logarithms."""
    if problem.labels.name != "regression":
        return False
    y = np.asarray(problem.y, dtype=np.float64)
    if not 0 < y.min() < y.max():
        return False
    unit = y.max()  # cubes of large numbers overflow
    return bool(skew(y / unit, axis=None) > max(_SKEWED, 2 * abs(skew(np.log(y), axis=None))))


def _auc(second: Mask, scores: Array, w: Array) -> float | None:
    """Return the ROC AUC of the second class; None unless there are both."""
    if second.all() or not second.any():
        return None
    # `sklearn.metrics.roc_auc_score` takes 2 ms, mostly for checks, and a fit needs hundreds of scores.
    order = np.argsort(scores[~second])
    first, below = scores[~second][order], np.append(0, np.cumsum(w[~second][order]))
    lower, equal = (below[np.searchsorted(first, scores[second], side)] for side in ("left", "right"))
    return float((lower + equal) @ w[second] / (2 * w[second].sum() * below[-1]))
