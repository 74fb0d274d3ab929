"""What pairs of features are worth together, and how predictions depend on single features: against definitions."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from bahsic import BAHSIC, BAHSICCV, FeatureSelector, interactions, predictability
from reporting import named, result_of
from test_conditional import chosen, ridge_regression

RIDGES = [10 ** -(1 + i / 2) for i in range(7)]


def xor(seed, n=200, d=6):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d))
    return X, ((X[:, 0] * X[:, 1] > 0) ^ (random.random(n) < 0.1)).astype(int)


def test_values_are_those_of_the_definition():
    X, y = xor(0, n=80)
    selector = BAHSIC(4, criterion="prediction").fit(X, y)
    S = selector.get_support(indices=True)
    ridge = max(RIDGES, key=lambda one: predictability(X[:, S], y, ridge=one))

    def r2(*without):
        rest = [j for j in S if j not in without]
        return max(0.0, predictability(X[:, rest], y, ridge=ridge))

    expected = {(i, j): r2() - r2(i) - r2(j) + r2(i, j) for i, j in combinations(S, 2)}
    found = interactions(selector, X, y)
    assert len(found) == 6
    assert [pair.together for pair in found] == sorted((pair.together for pair in found), reverse=True)
    for pair in found:
        assert pair.together == pytest.approx(expected[pair.first, pair.second], abs=1e-6)


def test_two_that_can_replace_each_other_come_last():
    pd = pytest.importorskip("pandas", reason="names come with a dataframe")
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.standard_normal((200, 3)), columns=["age", "weight", "noise"])
    X["years"] = X["age"] + 0.1 * random.standard_normal(200)
    y = X["age"] + X["weight"] + 0.3 * random.standard_normal(200)
    selector = BAHSIC(3, criterion="prediction", keep=["age", "years", "weight"]).fit(X, y)
    last = interactions(selector, X, y)[-1]
    assert {last.first, last.second} == {"age", "years"}
    assert last.together < -0.1


def test_a_selector_that_knows_its_data_and_one_that_does_not():
    X, y = xor(0)
    known = interactions(FeatureSelector(2, kernel="gaussian").fit(X, y))
    assert [pair[:2] for pair in known] == [(0, 1)]
    with pytest.raises(ValueError, match="X is None; accepted: the X and y of fit"):
        interactions(BAHSIC(2).fit(X, y))
    assert interactions(BAHSIC(1).fit(X, y), X, y) == []
    judged = BAHSICCV(KNeighborsClassifier(), cv=2).fit(X, y)
    with pytest.raises(TypeError, match="selector is BAHSICCV; accepted: its selector_"):
        interactions(judged, X, y)


def test_groups_are_pairs_of_groups():
    X, y = xor(0)
    groups = ["left", "right", "other", "left", "other", "rest"]
    selector = BAHSIC(3, criterion="prediction", feature_groups=groups).fit(X, y)
    best = interactions(selector, X, y)[0]
    assert {best.first, best.second} == {"left", "right"}


def test_only_the_best_features_are_paired():
    X, y = xor(0)
    selector = BAHSIC(5, criterion="prediction").fit(X, y)
    (pair,) = interactions(selector, X, y, n_features=2)
    assert (pair.first, pair.second) == (0, 1)
    with pytest.raises(ValueError, match="n_features is 0"):
        interactions(selector, X, y, n_features=0)


def test_effects_are_mean_predictions_with_one_value_everywhere():
    random = np.random.default_rng(0)
    X = random.standard_normal((40, 3))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    Y = (X[:, [0]] * X[:, [1]]) + 0.1 * random.standard_normal((40, 1))
    columns = {**named(X), "y": Y[:, 0]}
    views = result_of(columns, "y", "-k", 2, "--keep", "x1,x2", "--criterion", "hsic", "--kernel", "gaussian")["views"]
    (effect,) = (view["effect"] for view in views if view["feature"] == "x2")
    width, ridge = chosen(X, Y, [0, 1])
    changed, expected = X.copy(), []
    for value in effect["at"]:
        changed[:, 1] = min(X[:, 1], key=lambda x: abs(x - value))
        folds = [np.flatnonzero(np.arange(40) % 5 != k) for k in range(5)]
        means = [ridge_regression(X[f], Y[f], changed, [0, 1], width, ridge, len(f)).mean() for f in folds]
        expected.append((np.mean(means), min(means), max(means)))
    assert len(expected) > 10
    found = np.column_stack([effect["mean"], effect["low"], effect["high"]])
    np.testing.assert_allclose(found, expected, rtol=6e-5)  # of five digits


def test_effects_of_categories():
    random = np.random.default_rng(0)
    arm, x = random.choice(["a", "b", "c"], 200), random.standard_normal(200)
    y = np.where(arm == "b", 2.0, 0.0) + 0.1 * random.standard_normal(200)
    result = result_of({"arm": arm, "x": x, "y": y}, "y", "-k", 2, "--criterion", "hsic", "--kernel", "gaussian")
    (effect,) = (view["effect"] for view in result["views"] if view["feature"] == "arm")
    assert effect["at"] == ["a", "b", "c"]
    np.testing.assert_allclose(effect["mean"], [0, 2, 0], atol=0.15)
