"""Standard errors on a path: those of the definition, from what a round has made already."""

import math
from fractions import Fraction

import numpy as np
import pytest
from sklearn import config_context

import oracle
from bahsic import BAHSIC, FOHSIC, hsic_variance
from bahsic.kernels import Gaussian, InverseDistance, Laplacian, Polynomial, label_kernel
from selecting import SELECTORS, drawn, standardised

STATISTICS = pytest.mark.parametrize("statistic", ["unbiased", "biased"])
MEMORY = pytest.mark.parametrize("working_memory", [1024, 0.2])  # D and W are kept, or made anew

LABELS = {
    "two classes": lambda X: (X[:, 0] * X[:, 1] > 0).astype(int),
    "numbers": lambda X: X[:, 0] + X[:, 1] ** 2,
    "many classes": lambda X: np.repeat(np.arange(len(X) // 2), 2).astype(str),
}


def subsets(fitted):
    backward = hasattr(fitted, "elimination_order_")
    order = fitted.elimination_order_[::-1] if backward else fitted.selection_order_
    return [np.sort(order[: step.n_features]) for step in fitted.path_]


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


@STATISTICS
@MEMORY
@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize(
    "kernel", [Gaussian(), Gaussian(1e-13), Laplacian(), Polynomial(2), InverseDistance()], ids=repr
)
def test_values_are_those_of_hsic_variance(statistic, working_memory, labels, kernel):
    X, _ = drawn(m=150, d=5)
    y = LABELS[labels](X)
    with config_context(working_memory=working_memory):
        fitted = BAHSIC(3, kernel=kernel, statistic=statistic, step=1, standard_errors=True).fit(X, y)
    Z, L = standardised(X), label_kernel(y).gram()
    for subset, step in zip(subsets(fitted), fitted.path_, strict=True):
        own = kernel if step.parameter is None else kernel.with_gamma(step.parameter)
        variance = hsic_variance(own.centrable(Z[:, subset]), L)
        assert step.standard_error == pytest.approx(math.sqrt(variance), rel=1e-10, abs=0)


@MEMORY
def test_bits_do_not_depend_on_the_number_of_threads(working_memory):
    X, y = drawn(m=200, d=6)
    with config_context(working_memory=working_memory):
        paths = [BAHSIC(2, step=1, standard_errors=True, n_jobs=n_jobs).fit(X, y).path_ for n_jobs in (1, 2, 3)]
    assert paths[0] == paths[1] == paths[2]


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
