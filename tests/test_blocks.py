"""The mean of HSIC over blocks: unbiased, the same engine, its standard error from the spread of the blocks."""

import tracemalloc
import warnings
from fractions import Fraction

import numpy as np
import pytest
from sklearn import config_context

import brute_force
import oracle
import prediction_oracle
from bahsic import BAHSIC, FOHSIC, hsic, hsic_blocks, hsic_unbiased, predictability
from bahsic.kernels import Gaussian, InverseDistance, Laplacian, Linear, Polynomial, Spectrum, label_kernel
from pairwise import pairwise
from selecting import SELECTORS, drawn, order, same_fit, standardised
from test_stored import mapped


@pytest.mark.parametrize("m", [8, 9, 11, 14])
def test_values_by_loops_over_the_blocks(m):
    rng = np.random.default_rng(m)
    x, y = rng.normal(size=(m, 2)), list(rng.permutation(np.resize([0, 1], m)))
    blocks = prediction_oracle.random_blocks(m, 4, 3)
    labels = oracle.binary_labels(y)  # class counts are those of all samples
    expected = []
    for samples in blocks:
        K = oracle.gram(oracle.gaussian, [x[i] for i in samples], gamma=Fraction(1, 4))
        L = oracle.gram(oracle.linear, [labels[i] for i in samples])
        expected.append(float(oracle.unbiased(K, L)))
    found = hsic_blocks(x, y, block_size=4, standardize=False, random_state=3)
    assert np.allclose(found, expected, rtol=1e-12, atol=1e-15)
    assert hsic(x, y, block_size=4, standardize=False, random_state=3) == pytest.approx(np.mean(expected), rel=1e-12)


KERNELS = [Gaussian(), Laplacian(), Linear(), Polynomial(2), InverseDistance()]


@pairwise(selector=[BAHSIC, FOHSIC], kernel=KERNELS, working_memory=[1024, 0.05])
def test_scores_on_the_path_are_those_of_the_blocks(selector, kernel, working_memory):
    X, y = drawn(m=50, d=5)
    with config_context(working_memory=working_memory):
        fitted = selector(2, kernel=kernel, block_size=12, random_state=5, step=1, standard_errors=True).fit(X, y)
    Z, _ = brute_force.standardised(X)
    for step in fitted.path_:
        subset = order(fitted)[: step.n_features]
        own = kernel if step.parameter is None else kernel.with_gamma(step.parameter)
        values = hsic_blocks(Z[:, np.sort(subset)], y, own, block_size=12, random_state=5)
        assert step.hsic == pytest.approx(values.mean(), rel=1e-9, abs=1e-15)
        assert step.standard_error == pytest.approx(values.std(ddof=1) / 2, rel=1e-7, abs=1e-15)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_features_leave_as_the_definition_says(kernel):
    X, y = drawn(m=40, d=6, seed=1)
    fitted = BAHSIC(1, kernel=kernel, block_size=10, random_state=0, step=1).fit(X, y)
    Z, _ = brute_force.standardised(X)
    left = list(range(6))
    for feature in fitted.elimination_order_[:-1]:
        own = kernel if "gamma" not in kernel.get_params() else kernel.with_gamma(1 / (2 * (len(left) - 1)))
        scores = {j: hsic(Z[:, [i for i in left if i != j]], y, own, block_size=10, random_state=0) for j in left}
        assert scores[feature] >= max(scores.values()) - 1e-12 * max(map(abs, scores.values()))
        left.remove(feature)


@SELECTORS
@pytest.mark.parametrize("block_size", [21, 40, 41, 10**6])
def test_one_block_is_the_exact_statistic(selector, block_size):
    X, y = drawn()
    exact = selector(2, standard_errors=True).fit(X, y)
    assert same_fit(selector(2, block_size=block_size, standard_errors=True).fit(X, y), exact)
    assert hsic(X, y, block_size=block_size) == hsic(X, y)
    assert hsic_blocks(X, y, block_size=block_size)[0] == pytest.approx(hsic(X, y), rel=1e-14)


@SELECTORS
def test_bits_do_not_depend_on_the_number_of_threads(selector):
    X, y = drawn(m=60)
    fits = [selector(2, block_size=15, random_state=0, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2)]
    assert same_fit(*fits)
    assert not same_fit(fits[0], selector(2, block_size=15, random_state=1).fit(X, y))


@pytest.mark.parametrize("rule", ["median", "optimise", lambda X: 0.1 + len(X) / 10_000])
def test_rules_are_evaluated_on_some_samples(rule, monkeypatch):
    X, y = drawn(m=120, d=5)
    monkeypatch.setattr("bahsic.engine.scorer.RULE_SAMPLES", 60)
    some = BAHSIC(2, kernel=Gaussian(rule), block_size=30, random_state=0).fit(X, y).path_[0].parameter
    whole = BAHSIC(2, kernel=Gaussian(rule)).fit(X, y).path_[0].parameter
    assert some != whole
    assert some == pytest.approx(whole, rel={"median": 0.1, "optimise": 0.6}.get(rule, 0.1))
    if callable(rule):
        assert some == pytest.approx(0.106, rel=1e-12)


def test_structured_and_precomputed_data():
    x = ["abab", "abba", "baba", "bbbb", "aaaa", "abcc", "ccba", "cabc"]
    y = [0, 1, 0, 1, 0, 1, 1, 0]
    values = hsic_blocks(x, y, Spectrum(2), block_size=4, random_state=0)
    K = Spectrum(2)(x)
    assert np.allclose(hsic_blocks(K, y, "precomputed", block_size=4, random_state=0), values, rtol=1e-12)
    labels = label_kernel(y)
    for value, samples in zip(values, prediction_oracle.random_blocks(8, 4, 0), strict=True):
        part = K[np.ix_(samples, samples)]
        assert value == pytest.approx(hsic_unbiased(part, labels.of_samples(samples).gram()), rel=1e-12)


@pytest.mark.parametrize("given", [3, 2.5, "many", True, -1])
@pytest.mark.parametrize(
    "call", [lambda X, y, B: BAHSIC(2, block_size=B).fit(X, y), lambda X, y, B: hsic(X, y, block_size=B)]
)
def test_bad_block_sizes(call, given):
    X, y = drawn()
    with pytest.raises(ValueError, match=r"block_size is .*; accepted: ('auto', )?None or an int of at least 4"):
        call(X, y, given)


def test_what_does_not_go_with_blocks():
    X, y = drawn()
    with pytest.raises(ValueError, match="statistic is 'biased'; accepted with block_size"):
        FOHSIC(2, block_size=10, statistic="biased").fit(X, y)
    with pytest.raises(ValueError, match="sample_weight is given and block_size is 10; accepted: one of them"):
        BAHSIC(2, block_size=10).fit(X, y, sample_weight=np.ones(40))
    with pytest.raises(ValueError, match="sample_weight is given"):
        hsic(X, y, sample_weight=np.ones(40), block_size=10)
    with pytest.raises(ValueError, match="random_state is 'now'; accepted: an int"):
        hsic(X, y, block_size=10, random_state="now")


# block_size="auto"


@pytest.fixture
def small_auto(monkeypatch):
    """ "auto" takes blocks of 20 beyond 100 samples."""
    for name, value in {"EXACT_SAMPLES": 100, "EXACT_REGRESSION": 100, "BLOCK_SIZE": 20, "REGRESSION_SIZE": 20}.items():
        monkeypatch.setattr(f"bahsic.criteria.blocks.{name}", value)
    for user in ("selection.problem", "inference.predictability"):
        monkeypatch.setattr(f"bahsic.{user}.MOST_REGRESSIONS", 5)


RULES = [
    {},
    {"criterion": "prediction"},
    {"n_features_to_select": "auto"},
    {"n_features_to_select": "auto", "criterion": "prediction", "kernel": "auto"},
    {"kernel": Gaussian("median"), "standard_errors": True},
]


def test_auto_is_exact_up_to_ten_thousand_samples_and_blocks_beyond():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10_001, 2)), np.resize([0, 1], 10_001)
    assert BAHSIC(1).fit(X, y).block_size_ == 500


@SELECTORS
@pytest.mark.parametrize("options", RULES)
def test_auto_is_the_block_size_that_it_says(selector, options, small_auto, tmp_path):
    X, y = drawn(101, 6)
    options = {"n_features_to_select": 2, **options}
    found = selector(**options).fit(X, y)
    assert found.block_size_ == 20
    given = selector(**options, block_size=20, random_state=0).fit(X, y)  # no seed is the seed 0
    assert given.block_size_ == 20
    assert same_fit(found, given)
    assert same_fit(selector(**options).fit(mapped(X, tmp_path), y), given)
    assert found.path_ != selector(**options, random_state=1).fit(X, y).path_


@SELECTORS
def test_auto_is_exact_for_few_samples_and_none_for_many(selector, small_auto):
    X, y = drawn(101, 6)
    few, exact = selector(2).fit(X[:100], y[:100]), selector(2, block_size=None)
    assert few.block_size_ is None
    assert same_fit(few, exact.fit(X[:100], y[:100]))
    assert exact.fit(X, y).block_size_ is None
    assert exact.path_[0].hsic != selector(2).fit(X, y).path_[0].hsic


def test_regressions_of_auto_use_some_of_the_blocks(small_auto, monkeypatch):
    X, y = drawn(141, 6)
    unused = np.random.RandomState(0).permutation(141)[101:]
    other = y.copy()
    other[unused] = y[unused[::-1]]
    for options, same in ((RULES[1], True), ({**RULES[1], "block_size": 20}, False), ({}, False)):
        one, two = (BAHSIC(1, random_state=0, **options).fit(X, labels) for labels in (y, other))
        assert same_fit(one, two) == same
    monkeypatch.setattr("bahsic.criteria.blocks.EXACT_SAMPLES", 141)
    assert [BAHSIC(**options).fit(X, y).block_size_ for options in RULES[:3]] == [None, 20, 20]


@pytest.mark.parametrize(
    ("options", "weights", "word"),
    [({}, np.arange(120) % 3, "sample_weight"), ({"statistic": "biased"}, None, "the biased statistic")],
)
def test_auto_without_blocks_is_exact_with_a_warning(options, weights, word, small_auto):
    X, y = drawn(180, 6)
    X, y = X[: 120 if weights is not None else 180], y[: 120 if weights is not None else 180]
    weights = None if weights is None else weights + 1.0
    with pytest.warns(UserWarning, match=rf"samples and {word}, with which there are no blocks.*block_size=None"):
        found = BAHSIC(1, **options).fit(X, y, sample_weight=weights)
    assert found.block_size_ is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert same_fit(found, BAHSIC(1, block_size=None, **options).fit(X, y, sample_weight=weights))


def test_prediction_needs_the_memory_of_blocks():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6000, 3)), np.resize([0, 1], 6000)
    selector = BAHSIC(1, criterion="prediction", ridge=0.01, block_size=100, random_state=0, n_jobs=1)
    tracemalloc.start()
    selector.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 6000**2 / 3  # of all pairs


@pytest.mark.parametrize("kernel", [Gaussian(0.1), Laplacian(0.1)])
def test_predictability_over_blocks_is_that_of_each(kernel, small_auto):
    X, y = drawn(101, 6)
    Z, Y = standardised(X), prediction_oracle.indicators(y)
    parts = prediction_oracle.random_blocks(101, 20, 0)
    losses = [prediction_oracle.left_out_losses(kernel(Z[part]), Y[part], 0.01) for part in parts]
    losses, baseline = np.concatenate(losses, axis=1).sum(axis=1)
    found = predictability(X, y, ridge=0.01, kernel=kernel)
    assert found == pytest.approx(1 - losses / baseline, rel=1e-9)
    assert found == predictability(X, y, ridge=0.01, kernel=kernel, block_size=20, random_state=0)
    assert abs(found - predictability(X, y, ridge=0.01, kernel=kernel, block_size=None)) > 1e-3
