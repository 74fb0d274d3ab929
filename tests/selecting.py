"""What the tests of the selectors share: data with a known answer, and how to compare two fits."""

import json
from dataclasses import asdict
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer

from bahsic import BAHSIC, BAHSICCV, FOHSIC

ROUNDS = "bahsic-checkpoint.json"

SELECTORS = pytest.mark.parametrize("selector", [BAHSIC, FOHSIC])


class StoppedError(Exception):
    """A fit was stopped by `watch_rounds`."""


def watch_rounds(monkeypatch, stops=()):
    """Return a list that grows by the number of rounds in each file of rounds that a checkpoint writes.

    The fit stops when the list has one of the given lengths.
    """
    replace, written = Path.replace, []

    def watched(self, target):
        moved = replace(self, target)
        if self.name == ROUNDS:
            written.append(len(json.loads(Path(target).read_text())["content"]["rounds"]))
            if len(written) in stops:
                raise StoppedError
        return moved

    monkeypatch.setattr(Path, "replace", watched)
    return written


def selectors_in_turn(test):
    """Give the cases of a parametrised test BAHSIC and FOHSIC by turns: for checks and code that the two share."""
    [mark] = [mark for mark in test.pytestmark if mark.name == "parametrize"]
    test.pytestmark.remove(mark)
    names, cases = mark.args
    single = isinstance(names, str)
    turns = zip(cycle([BAHSIC, FOHSIC]), cases)
    given = [(selector, *((case,) if single else case)) for selector, case in turns]
    return pytest.mark.parametrize(("selector", *((names,) if single else names)), given, **mark.kwargs)(test)


def drawn(m=40, d=8, seed=0):
    """Two relevant features, 1 and 4, among noise; two classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    y = (X[:, 1] + 0.7 * X[:, 4] + 0.3 * rng.normal(size=m) > 0).astype(int)
    return X, y


def order(fitted):
    """All features, the most relevant first."""
    return fitted.elimination_order_[::-1] if isinstance(fitted, BAHSIC) else fitted.selection_order_


def same_fit(one, other):
    return np.array_equal(order(one), order(other)) and one.path_ == other.path_


def assert_same_selection(one, other):
    """The same choices; numbers may differ by rounding, as where D was made in other steps."""
    assert order(one).tolist() == order(other).tolist()
    assert (one.support_.tolist(), one.kernel_) == (other.support_.tolist(), other.kernel_)
    assert one.ranking_.tolist() == other.ranking_.tolist()
    assert len(one.path_) == len(other.path_)
    for found, expected in zip(map(asdict, one.path_), map(asdict, other.path_), strict=True):
        numbers = [name for name, value in expected.items() if isinstance(value, float)]
        assert [found.pop(name) for name in numbers] == pytest.approx(
            [expected.pop(name) for name in numbers], rel=1e-8, abs=1e-9, nan_ok=True
        )
        assert found == expected
    np.testing.assert_allclose(one.scores_, other.scores_, rtol=1e-8, atol=1e-9)


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def quick_search(estimator=None, **changes):
    """A search by cross-validation that takes little time."""
    parameters = {"cv": 2, "step": 0.5, "kernel": "linear", **changes}
    return BAHSICCV(LogisticRegression() if estimator is None else estimator, **parameters)


def scores_by_hand(X, y, estimator, splits, scoring, parameters, *, sizes, ranking=None, fits=None, scores=None):
    """Scores of shape (n_splits, n_sizes): BAHSIC on the training part alone, the estimator on its best features."""
    rows = []
    for train, test in splits:

        def weighted(weights, part):
            return {} if weights is None else {"sample_weight": weights[part]}

        ranker = BAHSIC(**parameters).fit(X[train], y[train], **weighted(ranking, train))
        row = []
        for size in sizes:
            columns = np.sort(ranker.elimination_order_[-size:])
            fitted = clone(estimator).fit(X[train][:, columns], y[train], **weighted(fits, train))
            row.append(get_scorer(scoring)(fitted, X[test][:, columns], y[test], **weighted(scores, test)))
        rows.append(row)
    return np.array(rows)
