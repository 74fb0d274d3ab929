"""Ties, constants, units, workers and memory: what must not change the result of BAHSIC and FOHSIC."""

import math
from fractions import Fraction

import numpy as np
import pytest
import sklearn
from sklearn.base import clone

import oracle
from bahsic import BAHSIC, FOHSIC, FeatureSelector, hsic_variance
from bahsic.kernels import Gaussian, InverseDistance, Laplacian, Polynomial, label_kernel
from pairwise import pairwise
from selecting import SELECTORS, drawn, order, selectors_in_turn, standardised

# Ties, constants, scales


@SELECTORS
@pytest.mark.parametrize(
    ("constant", "named", "words"),
    [([2, 6], False, "2 of 20 .*: 2, 6$"), ([3], True, "1 of 20 .*: weight 3$"),
     (range(15), False, r"15 of 20 .*: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, \.\.\.$"), (range(20), False, "20 of 20 .*$")],
)  # fmt: skip
def test_constant_features_are_reported_once_and_selected_last(selector, constant, named, words):
    X, y = drawn(d=20)
    X[:, list(constant)] = 1e6
    if named:
        X = pytest.importorskip("pandas").DataFrame(X).add_prefix("weight ")
    with pytest.warns(UserWarning, match=words.replace(" .*:", " features are constant and are ignored:")) as caught:
        fitted = selector().fit(X, y)
    assert len(caught) == 1
    assert sorted(order(fitted)[20 - len(constant) :].tolist()) == list(constant)
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="constant") as caught:
        FeatureSelector(1).fit(X, y)
    assert {warning.filename for warning in caught} == {__file__}
    if len(constant) == 20:
        assert max(abs(step.hsic) for step in fitted.path_) < 1e-15


# How columns are changed, and how much the recorded values may differ.
CHANGES = {
    "powers of two": (lambda X: X * 2.0 ** np.array([0, 300, -300, 20, -7, 664, -664, 1]), 0.0),
    "huge and tiny": (lambda X: X * np.array([1.0, 1e200, 1e-200, 1e307, 1e-300, 1.0, 1e100, 3.0]), 1e-9),
    "offset": (lambda X: X + 1e6, 1e-7),
}


@pairwise(
    selector=[BAHSIC, FOHSIC],
    kernel=["gaussian", "laplacian", "linear", Polynomial(degree=2), "inverse_distance"],
    change=CHANGES,
)
def test_units_change_nothing(selector, kernel, change):
    X, y = drawn()
    changed, tolerance = CHANGES[change]
    expected, found = (selector(kernel=kernel).fit(Z, y) for Z in (X, changed(X)))
    assert np.array_equal(order(found), order(expected))
    assert [step.hsic for step in found.path_] == pytest.approx([s.hsic for s in expected.path_], rel=tolerance, abs=0)


@SELECTORS
def test_without_standardising_values_beyond_range_are_refused(selector):
    X, y = drawn()
    with pytest.raises(ValueError, match=r"X has values up to .*standardize=False"):
        selector(standardize=False).fit(X * 1e200, y)


# Workers and memory

KERNELS = {
    "gaussian": "gaussian",
    "gaussian, median": Gaussian("median"),
    "gaussian, steep": Gaussian(2.0),
    "laplacian": Laplacian(0.01),
    "polynomial": Polynomial(degree=2),
    "linear": "linear",
    "any": "inverse_distance",
}


@selectors_in_turn
@pytest.mark.parametrize("name", KERNELS)
def test_number_of_jobs_changes_not_one_bit(selector, name):
    rng = np.random.default_rng(1)
    X, y = drawn(300, 60, seed=1)
    X[:, 10], X[:, 20], X[:, 30] = X[:, 11], rng.integers(0, 2, 300), rng.standard_cauchy(300)
    number = None if name in ("gaussian", "linear") else 5  # of forward selection
    options = {"step": 0.3, "kernel": KERNELS[name], "standard_errors": True}
    fits = [selector(number, **options, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2, None)]
    for other in fits[1:]:
        assert np.array_equal(order(other), order(fits[0]))
        assert other.path_ == fits[0].path_


@pairwise(name=KERNELS, statistic=["unbiased", "biased"], selector=[BAHSIC, FOHSIC])
def test_little_working_memory_gives_the_same_order(name, statistic, selector):
    X, y = drawn(300, 20, seed=2)
    estimator = selector(4, step=0.3, kernel=KERNELS[name], statistic=statistic, n_jobs=1)
    expected = clone(estimator).fit(X, y)
    with sklearn.config_context(working_memory=0.5):
        found = clone(estimator).fit(X, y)
    assert np.array_equal(order(found), order(expected))
    assert [step.hsic for step in found.path_] == pytest.approx([step.hsic for step in expected.path_], rel=1e-9)


# Standard errors: those of the definition, from what a round has made already

LABELS = {
    "two classes": lambda X: (X[:, 0] * X[:, 1] > 0).astype(int),
    "numbers": lambda X: X[:, 0] + X[:, 1] ** 2,
    "many classes": lambda X: np.repeat(np.arange(len(X) // 2), 2).astype(str),
}


@pytest.mark.parametrize("weights", [[1, 1, 1, 1, 1, 1], [2, 1, 1, 1, 2]], ids=str)
def test_by_definition(weights):
    m = len(weights)
    X, y = np.array([[0.0, 1.0], [2.0, -1.0], [-1.0, 3.0], [1.0, 0.0], [3.0, 3.0], [-2.0, 1.0]])[:m], [0, 1, 1, 0, 1, 0]
    L = oracle.gram(oracle.linear, oracle.binary_labels(oracle.repeated(y[:m], weights)))
    K = oracle.gram(oracle.gaussian, oracle.repeated(X.tolist(), weights), gamma=Fraction(1, 16))
    expected = math.sqrt(oracle.variance(K, L))
    for statistic in ("unbiased", "biased"):  # the error is that of the unbiased estimate
        options = {"kernel": Gaussian(1 / 16), "standardize": False, "statistic": statistic, "standard_errors": True}
        for selector, place in ((BAHSIC, 0), (FOHSIC, -1)):
            path = selector(2, step=1, **options).fit(X, y[:m], sample_weight=weights).path_
            assert path[place].n_features == 2
            assert path[place].standard_error == pytest.approx(expected, rel=1e-10, abs=0)


@pairwise(
    kernel=[Gaussian(), Gaussian(1e-13), Laplacian(), Polynomial(2), InverseDistance()],
    labels=LABELS,
    statistic=["unbiased", "biased"],
    working_memory=[1024, 0.2],  # D and W are kept, or made anew
)
def test_values_are_those_of_hsic_variance(statistic, working_memory, labels, kernel):
    X, _ = drawn(m=150, d=5)
    y = LABELS[labels](X)
    with sklearn.config_context(working_memory=working_memory):
        fitted = BAHSIC(3, kernel=kernel, statistic=statistic, step=1, standard_errors=True).fit(X, y)
    Z, L = standardised(X), label_kernel(y).gram()
    for step in fitted.path_:
        subset = np.sort(order(fitted)[: step.n_features])
        own = kernel if step.parameter is None else kernel.with_gamma(step.parameter)
        variance = hsic_variance(own.centrable(Z[:, subset]), L)
        assert step.standard_error == pytest.approx(math.sqrt(variance), rel=1e-10, abs=0)


@SELECTORS
def test_asking_for_them_changes_nothing_else(selector):
    X, y = drawn(m=60, d=9)
    X[:, [2, 6]] = 1.0  # rounds in which constant features leave, and no score is looked for
    paths = []
    for wanted in (False, True):
        with pytest.warns(UserWarning, match="2 of 9 features are constant"):
            paths.append(selector(2, step=1, standard_errors=wanted).fit(X, y).path_)
    assert [(step.hsic, step.features) for step in paths[0]] == [(step.hsic, step.features) for step in paths[1]]


def test_samples_at_equal_distances_have_no_variance():
    fitted = BAHSIC(29, standardize=False, standard_errors=True).fit(np.eye(30), np.arange(30) % 3)
    assert fitted.path_[0].standard_error == pytest.approx(0, abs=1e-12)


def test_too_few_samples_for_a_standard_error():
    with pytest.raises(ValueError, match="there are 3 samples; accepted: at least 4 for statistic='unbiased'"):
        FOHSIC(1, statistic="biased", standard_errors=True).fit([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]], [0, 1, 1])
