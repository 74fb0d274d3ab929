"""The other selectors find what is known to be there, and are what their definitions say."""

import numpy as np
import pytest
from experiments.baselines import Problem
from experiments.baselines.linear import l0_svm
from experiments.baselines.radius_margin import radius_margin
from experiments.baselines.relief import relieff, rrelieff
from experiments.baselines.single import pearson
from experiments.methods import METHODS, names

from bahsic.datasets import make_xor

LIBRARIES = {"hsic_lasso": "pyHSICLasso", "boosting_shap": "shap"} | {n: n for n in ("mrmr", "boruta", "fastcan")}
LONG = {"boruta": ["regression"], "boosting_permutation": ["binary"], "boosting_shap": ["binary"]}  # once is enough
CASES = [(name, task) for name in names("paper", "today", "option") for task in LONG.get(name, METHODS[name].tasks)]


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


@pytest.fixture(scope="module")
def linear():
    """150 samples of 12 features; the label is the sign of 1.5 x3 - 2 x7 + 1.8 x10, nearly."""
    random = np.random.default_rng(0)
    X = standardised(random.standard_normal((150, 12)))
    score = 1.5 * X[:, 3] - 2 * X[:, 7] + 1.8 * X[:, 10]
    return X, score, (score + 0.3 * random.standard_normal(150) > 0).astype(int)


@pytest.mark.parametrize(("name", "task"), CASES)
def test_three_of_twelve_features_matter(name, task, linear):
    if name in LIBRARIES:
        pytest.importorskip(LIBRARIES[name])
    X, score, classes = linear
    y = {"binary": classes, "multiclass": X[:, [3, 7, 10]].argmax(axis=1), "regression": score}[task]
    order = METHODS[name].select(X, y, Problem(task, 3))
    assert sorted(order[:3].tolist()) == [3, 7, 10]


@pytest.mark.parametrize("name", ["bahsic", "relief", "r2w2"])
def test_xor_is_found_by_methods_that_look_at_features_together(name):
    X, y, _ = make_xor(120, 10, random_state=0)
    X = standardised(X)[:, ::-1]  # so that features in their first order are wrong
    assert sorted(METHODS[name].select(X, y, Problem("binary", 2))[:2].tolist()) == [8, 9]


def test_pearson_takes_the_class_that_correlates_most():
    # |r| is 0.87, 0, 0.87 for feature 0 and the three classes, 0.35, 0.35, 0.71 for feature 1.
    y = np.repeat([0, 1, 2], 20)
    X = np.column_stack([y - 1.0, (y == 2) + np.sqrt(2 / 9) * np.tile([-1.0, 1.0], 30)])
    assert pearson(standardised(X), y, Problem("multiclass")).tolist() == [0, 1]


def relieff_by_definition(X, y, k):
    X = X / (X.max(axis=0) - X.min(axis=0))
    classes, m = sorted(set(y)), len(y)
    scores = np.zeros(X.shape[1])
    for i in range(m):
        for c in classes:
            others = [j for j in range(m) if j != i and y[j] == c]
            nearest = sorted(others, key=lambda j: np.abs(X[i] - X[j]).sum())[:k]
            share = np.mean(y == c) / (1 - np.mean(y == y[i]))
            sign = -1 if c == y[i] else share
            scores += sign * np.mean([np.abs(X[i] - X[j]) for j in nearest], axis=0) / m
    return scores


def test_relieff_by_its_definition():
    random = np.random.default_rng(1)
    X, y = random.standard_normal((25, 4)), np.repeat([0, 1, 2], [5, 8, 12])
    assert relieff(X, y, 3) == pytest.approx(relieff_by_definition(X, y, 3))
    assert relieff(X, y, 6) == pytest.approx(relieff_by_definition(X, y, 6))  # more than class 0 has


def test_rrelieff_by_its_definition():
    random = np.random.default_rng(2)
    X, y = random.standard_normal((20, 3)), random.standard_normal(20)
    scaled, labels = X / np.ptp(X, axis=0), y / np.ptp(y)
    label, feature, both = 0.0, np.zeros(3), np.zeros(3)
    for i in range(20):
        nearest = sorted((j for j in range(20) if j != i), key=lambda j: np.abs(scaled[i] - scaled[j]).sum())[:4]
        for j in nearest:
            label += abs(labels[i] - labels[j]) / 4
            feature += np.abs(scaled[i] - scaled[j]) / 4
            both += abs(labels[i] - labels[j]) * np.abs(scaled[i] - scaled[j]) / 4
    assert rrelieff(X, y, 4) == pytest.approx(both / label - (feature - both) / (20 - label))


def test_l0_svm_gathers_the_weight_of_copies_in_one():
    # y is the sign of 2 a + b, with eight near copies of a before b: a penalty on |w|^2 would put b first.
    random = np.random.default_rng(0)
    a, b = random.standard_normal((2, 200))
    copies = a[:, None] + 0.1 * random.standard_normal((200, 8))
    order = l0_svm(standardised(np.column_stack([copies, b])), (2 * a + b > 0).astype(int), Problem("binary", 2))
    assert order[0] < 8
    assert order[1] == 8


def test_gradient_of_the_radius_margin_bound():
    X, y, _ = make_xor(60, 5, random_state=0)
    X, signs = standardised(X), np.where(y == 1, 1.0, -1.0)
    scale, step = np.array([0.6, 1.3, 0.9, 1.1, 0.7]), 1e-4
    numeric = [
        (radius_margin(X, signs, scale + e).value - radius_margin(X, signs, scale - e).value) / (2 * step)
        for e in step * np.eye(5)
    ]
    assert radius_margin(X, signs, scale).gradient == pytest.approx(numeric, rel=1e-2, abs=0.05)


def test_radius_and_margin_of_two_points():
    # Two points of different class with k = exp(-1/2): R^2 = (1 + 1/C - k) / 2 and |w|^2 = 2 / (1 + 1/C - k).
    X = np.array([[0.0], [1.0]])
    assert radius_margin(X, np.array([1.0, -1.0]), np.ones(1)).value == pytest.approx(1.0, rel=1e-3)


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_mrmr_is_that_of_the_library(task, linear):
    library = pytest.importorskip("mrmr")
    pandas = pytest.importorskip("pandas")
    X, score, _ = linear
    y = score if task == "regression" else np.digitize(score, [0.0] if task == "binary" else [-1.0, 1.0])
    select = library.mrmr_regression if task == "regression" else library.mrmr_classif
    expected = select(pandas.DataFrame(X), pandas.Series(y), 12, n_jobs=1, show_progress=False)
    assert METHODS["mrmr"].select(X, y, Problem(task, 12)).tolist() == expected
