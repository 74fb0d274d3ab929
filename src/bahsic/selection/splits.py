"""Splits of the samples into those that choose the features and those that judge them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bahsic.criteria.blocks import MOST_HELD_OUT
from bahsic.kernels import LabelKernel
from bahsic.parameters import Given, Message, is_count
from bahsic.selection.problem import Problem, is_auto

Indices = NDArray[np.intp]

# cv="auto": so many folds, and fewer from so many samples on. With blocks, held-out samples judge instead.
FOLDS, FEWER_FOLDS, MANY_SAMPLES = 5, 3, 1000

# Kernels are compared on the first folds that have so many samples together. With held-out samples, the first of these
# so many search and so many judge instead.
_COMPARED, _SEARCH, _JUDGE = 200, 700, 1000

# Fewest samples that can choose features.
_FEWEST = 4

_ACCEPTED = "None, 'auto', an int of at least 2, a splitter of scikit-learn or an iterable of pairs of indices"


class Split(NamedTuple):
    """Samples that choose the features, and samples that judge them, as positions in a problem."""

    train: Indices
    test: Indices


def problem_splits(
    cv: Any, problem: Problem, y: Any, groups: Any, n_samples: int, sample_weight: Any = None
) -> list[Split]:
    """Return the splits of the samples of a problem, given those samples that it was made of.

    "auto" and None are `FOLDS` folds of up to `MANY_SAMPLES` samples, `FEWER_FOLDS` beyond, or the held-out samples
    where there are blocks.
    """
    check_cv(cv)
    if len(problem) <= _FEWEST:
        raise ValueError(
            f"X has {len(problem)} samples; accepted: at least {_FEWEST + 1} where samples judge the selection, which "
            "they do with cv, or the number or the kernel 'auto'"
        )
    if problem.n_held_out:
        return [Split(problem.searched, np.arange(len(problem) - problem.n_held_out, len(problem)))]
    if cv is None or is_auto(cv):
        cv = FOLDS if len(problem) <= MANY_SAMPLES else FEWER_FOLDS
    if is_count(cv):
        splits = stratified_folds(problem.labels, min(int(cv), len(problem)))
    else:
        splits = _given(cv, problem, y, groups, n_samples, sample_weight)
    n_judging = None if problem.block_size is None else MOST_HELD_OUT
    return [_checked(cv, Split(problem.first(train), test[:n_judging])) for train, test in splits]


def trial_splits(problem: Problem, splits: Sequence[Split]) -> Sequence[Split]:
    """Return the splits that compare kernels: the first folds, or some of the samples where others are held out."""
    if problem.n_held_out:
        return [Split(splits[0].train[:_SEARCH], splits[0].test[:_JUDGE])]
    judged = np.cumsum([len(split.test) for split in splits])
    return splits[: 1 + int(np.searchsorted(judged, _COMPARED))]


def check_cv(cv: Any) -> None:
    """Raise unless ``cv`` can give splits."""
    if cv is None or is_auto(cv) or is_count(cv, 2):
        return
    if isinstance(cv, str | bytes | int | float) or not (hasattr(cv, "split") or isinstance(cv, Iterable)):
        raise ValueError(f"cv is {cv!r}; accepted: {_ACCEPTED}")


def stratified_folds(labels: LabelKernel, n_folds: int) -> list[Split]:
    """Return folds of nearly the same size, with much the same labels where these can be sorted; always the same ones.

    Names of classes make no difference.

    Examples
    --------
    >>> from bahsic.kernels import label_kernel
    >>> y = np.array(["a", "b"] * 6)
    >>> [np.sort(y[fold.test]).tolist() for fold in stratified_folds(label_kernel(y), 3)]
    [['a', 'a', 'b', 'b'], ['a', 'a', 'b', 'b'], ['a', 'a', 'b', 'b']]
    """
    m = len(labels)
    order = np.random.default_rng(0).permutation(m)
    if labels.name in ("binary", "multiclass", "delta", "regression"):
        _, first, values = np.unique(np.asarray(labels.values)[order], axis=0, return_index=True, return_inverse=True)
        places = values if labels.name == "regression" else first[values]
        order = order[np.argsort(places.ravel(), kind="stable")]
    tests = [np.sort(order[first::n_folds]) for first in range(n_folds)]
    return [Split(np.setdiff1d(np.arange(m), test, assume_unique=True), test) for test in tests]


def _given(cv: Any, problem: Problem, y: Any, groups: Any, n_samples: int, sample_weight: Any) -> list[Split]:
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


def _checked(cv: Any, split: Split) -> Split:
    if len(split.train) < _FEWEST or not len(split.test):
        what = f" is {cv!r}, which gives {len(split.train)} training and {len(split.test)} test samples"
        raise ValueError(Message(Given("cv"), what, f"; accepted: at least {_FEWEST} and 1"))
    if len(np.intersect1d(split.train, split.test)):
        raise ValueError(f"cv is {cv!r}, which gives splits whose parts overlap; accepted: disjoint parts")
    return split
