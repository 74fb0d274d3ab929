"""The rounds of a search, by a criterion that knows the answers."""

import warnings

import numpy as np
import pytest

from bahsic import BAHSIC, FOHSIC
from bahsic.criteria import Criterion

RELEVANCE = np.array([3.0, 0.0, 5.0, 1.0, 4.0, 2.0])


class KnownOrder(Criterion):
    """Scores a subset by the sum of fixed relevances, and notes which candidates it is asked about."""

    asked = ()

    def fit(self, X, Y, sample_weight=None):
        KnownOrder.asked = []
        return self

    def score(self, columns):
        return float(RELEVANCE[columns].sum())

    def leaving(self, columns, candidates, count):
        KnownOrder.asked.append((columns.tolist(), np.concatenate(candidates).tolist(), count))
        return super().leaving(columns, candidates, count)

    def entering(self, columns, candidates, count):
        KnownOrder.asked.append((columns.tolist(), np.concatenate(candidates).tolist(), count))
        return super().entering(columns, candidates, count)


def fitted(selector, number=None, constant=(), **options):
    X = np.random.default_rng(0).normal(size=(20, 6))
    X[:, list(constant)] = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return selector(number, criterion=KnownOrder(), **options).fit(X, np.resize([0, 1], 20))


def changes(selector, *arguments, **options):
    return [step.features for step in fitted(selector, *arguments, **options).path_]


@pytest.mark.parametrize(
    ("selector", "number", "step", "expected"),
    [
        (BAHSIC, None, 1, [(1,), (3,), (5,), (0,), (4,), (2,)]),
        (BAHSIC, None, 0.5, [(1, 3, 5), (0,), (4,), (2,)]),
        (BAHSIC, None, 0.99, [(1, 3, 5, 0, 4), (2,)]),
        (BAHSIC, None, np.float32(0.5), [(1, 3, 5), (0,), (4,), (2,)]),
        (BAHSIC, None, 4, [(1, 3, 5, 0), (4, 2)]),
        (BAHSIC, None, 9, [(1, 3, 5, 0, 4, 2)]),
        (BAHSIC, None, np.int64(3), [(1, 3, 5), (0, 4, 2)]),
        (BAHSIC, None, 0.1, [(1,), (3,), (5,), (0,), (4,), (2,)]),
        (FOHSIC, 5, 4, [(2, 4, 0, 5), (3,)]),  # it stops in the middle of a round
        (FOHSIC, 6, 0.5, [(2, 4, 0), (5,), (3,), (1,)]),
    ],
)
def test_rounds_of_several_features(selector, number, step, expected):
    assert changes(selector, number, step=step) == expected


# Features that are constant, and features that are kept


def test_constant_features_take_no_part():
    assert changes(BAHSIC, constant=[2, 4], step=3) == [(1, 3, 5), (0,)]
    assert KnownOrder.asked[0] == ([0, 1, 3, 5], [0, 1, 3, 5], 3)
    assert changes(FOHSIC, constant=[2, 4], step=3) == [(0, 5, 3), (1,)]
    assert changes(BAHSIC, constant=[2, 4], keep=[2, 4], step=1) == [(1,), (3,), (5,), (0,)]


def test_nothing_but_constant_features():
    everything = range(6)
    assert changes(BAHSIC, constant=everything, step=3) == [(1, 3, 5), (0, 4, 2)]
    assert changes(FOHSIC, 2, constant=everything, step=1) == [(2,), (4,)]


def test_kept_features_stay_and_alone_they_are_one_round_without_a_change():
    assert changes(BAHSIC, step=1, keep=[1, 4]) == [(3,), (5,), (0,), (2,)]
    (only,) = fitted(BAHSIC, step=1, keep=range(6)).path_
    assert (only.n_features, only.features, only.value) == (6, (), RELEVANCE.sum())
