import tracemalloc
from fractions import Fraction
from functools import partial
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

import bahsic
import oracle
from bahsic import hsic_biased, hsic_bound, hsic_unbiased, hsic_variance, hsic_weights
from bahsic.kernels import Delta, Gaussian, InverseDistance, Laplacian, Linear, Polynomial
from pairwise import covering, pairwise

hsic = partial(bahsic.hsic, standardize=False)  # oracles take x as it is

ESTIMATES = {"unbiased": hsic_unbiased, "biased": hsic_biased}
BY_DEFINITION = {"unbiased": oracle.unbiased, "biased": oracle.biased}
statistics = pytest.mark.parametrize("statistic", ESTIMATES)


def symmetric(m, seed=0):
    """A matrix that must not be written to."""
    A = np.random.default_rng(seed).normal(size=(m, m))
    A = A + A.T
    A.flags.writeable = False
    return A


def fractions(matrix):
    return [[oracle.exact(float(value)) for value in row] for row in np.asarray(matrix)]


def value_by_definition(statistic, K, L):
    return float(BY_DEFINITION[statistic](K, L))


# Agreement with the definitions


@statistics
@pytest.mark.parametrize("m", [4, 5, 8])
def test_estimates_by_definition(statistic, m):
    K, L = symmetric(m), symmetric(m, seed=1)
    expected = value_by_definition(statistic, fractions(K), fractions(L))
    assert_allclose(ESTIMATES[statistic](K, L), expected, rtol=1e-12)
    single = ESTIMATES[statistic](K.astype(np.float32), L.astype(np.float32))
    assert_allclose(single, expected, rtol=1e-4)


@pytest.mark.parametrize("m", [4, 5, 7])
def test_variance_by_definition(m):
    K, L = symmetric(m), symmetric(m, seed=1)
    assert_allclose(hsic_variance(K, L), float(oracle.variance(fractions(K), fractions(L))), rtol=1e-12, atol=1e-13)
    K = np.outer(np.arange(m) ** 2, np.arange(m) ** 2)  # integers
    assert_allclose(hsic_variance(K, K), float(oracle.variance(fractions(K), fractions(K))), rtol=1e-13)


@statistics
def test_a_large_diagonal_is_ignored_or_used(statistic):
    K, L = symmetric(6), symmetric(6, seed=1)
    shifted = K + 1e9 * np.eye(6)
    expected = value_by_definition(statistic, fractions(shifted), fractions(L))
    assert_allclose(ESTIMATES[statistic](shifted, L), expected, rtol=1e-12)
    assert_array_equal(np.diag(hsic_weights(L)), 0)
    assert_allclose(hsic_weights(L + 1e12 * np.eye(6)), hsic_weights(L), rtol=1e-12)


@statistics
def test_float32_is_summed_in_float64(statistic):
    K = symmetric(300).astype(np.float32) + np.float32(1000)
    L = symmetric(300, seed=1).astype(np.float32)
    expected = ESTIMATES[statistic](K.astype(np.float64), L.astype(np.float64))
    assert_allclose(ESTIMATES[statistic](K, L), expected, rtol=1e-12)


def test_bound():
    for m in (2, 100):
        assert hsic_bound(m, 0.05) == pytest.approx(oracle.bound(m, 0.05), rel=1e-15)
    for m, delta, message in [(1, 0.5, "m is 1"), (5, 0.0, "delta is 0.0"), (5, 1.0, "delta is 1.0")]:
        with pytest.raises(ValueError, match=message):
            hsic_bound(m, delta)


# From data

RNG = np.random.default_rng(4)
X = RNG.normal(size=(8, 2))
TARGETS = {
    "binary": ["a", "b", "b", "a", "b", "a", "b", "b"],
    "multiclass": [2, 0, 1, 1, 0, 2, 2, 1],
    "regression": (X[:, 0] + 0.3 * RNG.normal(size=8)).tolist(),
}


def target_gram(name):
    y = TARGETS[name]
    if name == "binary":
        return oracle.gram(oracle.linear, oracle.binary_labels(y))
    if name == "multiclass":
        return oracle.gram(oracle.linear, oracle.multiclass_labels(y))
    rows = [[value] for value in y]
    return oracle.gram(oracle.gaussian, rows, gamma=oracle.median_gamma(rows))


def data_gram(kernel, X):
    rows = X.tolist()
    by_type = {
        Gaussian: oracle.gaussian,
        Laplacian: oracle.laplacian,
        InverseDistance: oracle.inverse_distance,
        Linear: oracle.linear,
        Polynomial: oracle.polynomial,
        Delta: oracle.delta,
    }
    parameters = kernel.get_params()
    power = 1 if isinstance(kernel, Laplacian) else 2
    rules = {"dimension": lambda: 1 / (2 * X.shape[1]), "median": lambda: oracle.median_gamma(rows, power)}
    if parameters.get("gamma") in rules:
        parameters["gamma"] = rules[parameters["gamma"]]()
    return oracle.gram(by_type[type(kernel)], rows, **parameters)


KERNELS = [
    *(
        kernel(gamma=gamma)
        for kernel in (Gaussian, Laplacian, InverseDistance)
        for gamma in (0.4, "dimension", "median")
    ),
    Linear(),
    Polynomial(3, 0.5),
]


@pairwise(kernel=KERNELS, target=TARGETS, statistic=ESTIMATES)
def test_hsic_by_definition(kernel, target, statistic):
    expected = value_by_definition(statistic, data_gram(kernel, X), target_gram(target))
    y = TARGETS[target]
    assert_allclose(hsic(X, y, kernel, statistic=statistic), expected, rtol=1e-12)
    single = X.astype(np.float32)
    expected = value_by_definition(statistic, data_gram(kernel, single.astype(float)), target_gram(target))
    assert_allclose(hsic(single, y, kernel, statistic=statistic), expected, rtol=1e-4)


@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_regression_on_labels_of_any_size(size):
    y = TARGETS["regression"]
    expected = value_by_definition("unbiased", data_gram(Gaussian(), X), target_gram("regression"))
    assert_allclose(hsic(X, np.array(y) * size), expected, rtol=1e-12)


@pairwise(
    kernel=[*KERNELS, Delta(), Gaussian("optimise"), Gaussian() + Linear()],
    value=[0.1, -3.7e6, 0.0],
    statistic=ESTIMATES,
)
def test_a_constant_x_gives_exactly_zero(kernel, statistic, value):
    x = np.full((7, 3), value)
    assert hsic(x, TARGETS["binary"][:7], kernel, statistic=statistic) == 0.0
    assert hsic(x, TARGETS["regression"][:7], kernel, statistic=statistic, sample_weight=[1, 2, 1, 0, 1, 1, 3]) == 0.0


def test_matrices_and_functions_as_kernels():
    K, L = symmetric(5), symmetric(5, seed=1)
    assert_allclose(hsic(K, L, "precomputed", "precomputed"), hsic_unbiased(K, L), rtol=1e-13)
    x, y = X[:, 0], X[:, 1]
    expected = hsic_unbiased(np.minimum.outer(x, x), np.outer(y, y))
    assert_allclose(hsic(x, y, np.minimum.outer, np.multiply.outer), expected, rtol=1e-12)


FOUR, TWICE, HUGE = [1.0, 2.0, 3.0, 4.0], [1, 2, 1, 2], np.array([1.0, 2.0, 3.0, 5.0]) * 1e90
BEYOND = "HSIC exceeds the range of float64; rescale"


@pytest.mark.parametrize(
    ("x", "y", "options", "message"),
    [
        ([1.0, np.nan, 3.0, 4.0], TWICE, {"missing": "error"}, "x contains NaN .* row 1, column 0"),
        ([1.0, np.inf, 3.0, 4.0], TWICE, {}, "x contains infinity: 1 entry, in row 1"),
        (np.ones((4, 2, 2)), TWICE, {}, r"x has shape \(4, 2, 2\); accepted: one or two dimensions"),
        ([1, 2, 3], [1, 2, 1], {}, "there are 3 samples; .* 4 for .*unbiased.* 2 for .*biased"),
        ([1], [[1.0]], {"target_kernel": "linear", "statistic": "biased"}, "there are 1 samples"),
        ([1, 2, 3, 4, 5], [1, 2, 1, 2, 1, 2], {}, "x has 5 samples, y has 6 samples"),
        ([1j, 2, 3, 4], TWICE, {}, "Complex data not supported"),
        (np.ones((4, 3)), TWICE, {"kernel": "precomputed"}, r"x has shape \(4, 3\); accepted: a square"),
        (FOUR, TWICE, {"kernel": "gausian"}, "kernel is 'gausian', did you mean 'gaussian'"),
        (FOUR, TWICE, {"statistic": "fair"}, "statistic is 'fair'; accepted: 'unbiased', 'biased'"),
        (FOUR, TWICE, {"sample_weight": [1, 1]}, r"sample_weight has shape \(2,\)"),
        (FOUR, TWICE, {"sample_weight": [0.25] * 4}, "sample_weight sums to 1 samples; accepted: at"),
        ([1e200, 2.0, 3.0, 4.0], TWICE, {"kernel": "linear"}, "exceed the range of float64"),
        (FOUR, np.array([1.0, -4.0, 3.0, 2.0]) * 3e153, {"target_kernel": "linear"}, BEYOND),
        (HUGE, HUGE[::-1], {"kernel": "linear", "target_kernel": "linear"}, BEYOND),
    ],
)
def test_bad_input(x, y, options, message):
    with pytest.raises(ValueError, match=message):
        hsic(x, y, **options)


@pytest.mark.parametrize(
    ("function", "matrices", "message"),
    [
        (hsic_unbiased, (np.eye(4), np.eye(5)), "K has 4 samples, L has 5 samples"),
        (hsic_biased, (np.eye(2), [[1.0, 0.0], [1.0, 1.0]]), "L is not symmetric"),
        (hsic_variance, (np.eye(3), np.eye(3)), "there are 3 samples"),
        (hsic_weights, ([[np.nan, 0.0], [0.0, 1.0]], "biased"), "L has 1 entries that are NaN"),
    ],
)
def test_bad_matrices(function, matrices, message):
    with pytest.raises(ValueError, match=message):
        function(*matrices)


# Invariances

sizes = st.integers(4, 9)
seeds = st.integers(0, 2**32 - 1)
either = st.sampled_from(["unbiased", "biased"])


def close(found, expected, scale=1.0):
    assert_allclose(found, expected, rtol=1e-11, atol=1e-11 * scale)


@given(m=sizes, seed=seeds, statistic=either, constant=st.floats(-1e3, 1e3), factor=st.floats(-1e3, 1e3))
def test_invariances(m, seed, statistic, constant, factor):
    rng = np.random.default_rng(seed)
    K, L, a, order = symmetric(m, seed), symmetric(m, seed + 1), rng.normal(size=m), rng.permutation(m)
    value = ESTIMATES[statistic](K, L)
    close(ESTIMATES[statistic](K[order][:, order], L[order][:, order]), value)
    close(ESTIMATES[statistic](L, K), value)
    close(hsic_variance(K, L), hsic_variance(L, K))
    W = hsic_weights(L, statistic)
    assert_array_equal(W, W.T)
    close(np.sum(K * W), value)
    assert hsic_variance(K, L) >= 0
    assert hsic_variance(np.ones((m, m)), K) == 0
    close(ESTIMATES[statistic](K + constant, L), value, scale=1e3)
    close(ESTIMATES[statistic](K + a[:, None] + a, L), value)
    close(ESTIMATES[statistic](factor * K, L), factor * value, scale=1e3)


@given(m=sizes, seed=seeds, statistic=either, data=st.data())
def test_weights_are_repetitions(m, seed, statistic, data):
    weights = data.draw(arrays(int, m, elements=st.integers(0, 4)).filter(lambda w: w.sum() >= 4))
    K, L = symmetric(m, seed), symmetric(m, seed + 1)
    index = np.repeat(np.arange(m), weights)
    W = hsic_weights(L, statistic, sample_weight=weights)
    assert_array_equal(W, W.T)
    close(np.sum(K * W), ESTIMATES[statistic](K[np.ix_(index, index)], L[np.ix_(index, index)]))


@pytest.mark.filterwarnings("ignore:y has the class .* once")
@settings(max_examples=30)
@given(
    weights=arrays(int, 8, elements=st.integers(0, 3)).filter(lambda w: w[:4].all()),
    statistic=either,
    target=st.sampled_from(sorted(TARGETS)),
    kernel=st.sampled_from([Gaussian("median"), Linear(), Laplacian()]),
)
def test_weighted_data_are_repeated_data(weights, statistic, target, kernel):
    y = TARGETS[target]
    expected = hsic(np.repeat(X, weights, axis=0), oracle.repeated(y, weights), kernel, statistic=statistic)
    close(hsic(X, y, kernel, statistic=statistic, sample_weight=weights), expected)


@statistics
def test_one_sample_that_counts_often_says_nothing(statistic):
    assert hsic([2.0], [3.0], "linear", "linear", statistic, sample_weight=[5]) == 0.0
    assert_array_equal(hsic_weights([[3.0]], statistic, sample_weight=[5]), [[0.0]])


# Memory


@pytest.mark.parametrize(
    "kernel", [Gaussian(), Gaussian("median"), Gaussian("optimise"), Laplacian(), InverseDistance(), Linear()], ids=repr
)
def test_memory_is_bounded_by_a_few_matrices(kernel):
    m = 1500
    x = np.random.default_rng(0).normal(size=(m, 10))
    tracemalloc.start()
    try:
        hsic(x, x[:, 0], kernel)
        matrices = tracemalloc.get_traced_memory()[1] / (8 * m**2)
    finally:
        tracemalloc.stop()
    assert 0.9 < matrices < 3


# Values that are known exactly, and the oracle against itself


DISTANCES = [[[abs(a - b) for b in values] for a in values] for values in ([1, 2, 3, 4, 5, 6], [1, 7, 5, 5, 6, 2])]


def test_distance_matrices_give_minus_eight_ninths():
    assert oracle.unbiased(*DISTANCES) == Fraction(-8, 9)
    assert_allclose(hsic_unbiased(*DISTANCES), -8 / 9, rtol=1e-14)
    K, L = np.array(DISTANCES)  # e_uhsic, with m = 6
    terms = int((K * L).sum()), Fraction(int(K.sum() * L.sum()), 5 * 4), Fraction(2 * int((K @ L).sum()), 4)
    assert (terms[0] + terms[1] - terms[2]) / (6 * 3) == Fraction(-8, 9)


POINTS = {(0, 0): Fraction(1, 2), (1, 1): Fraction(1, 3), (1, 0): Fraction(1, 6)}


def expectation(estimate):
    total = Fraction(0)
    for sample in product(POINTS, repeat=4):
        probability = Fraction(1)
        for point in sample:
            probability *= POINTS[point]
        K, L = (oracle.gram(oracle.delta, [[point[side]] for point in sample]) for side in (0, 1))
        total += probability * oracle.exact(estimate(K, L))
    return total


def test_the_unbiased_estimate_is_unbiased_and_the_biased_one_is_not():
    assert expectation(oracle.unbiased) == Fraction(1, 9)
    found = expectation(lambda K, L: hsic_unbiased(np.array(K, dtype=float), np.array(L, dtype=float)))
    assert_allclose(float(found), 1 / 9, rtol=1e-14)
    assert expectation(oracle.biased) != Fraction(1, 9)


@pytest.mark.parametrize("offset", [0, 1e6])
def test_linear_kernels_give_the_squared_covariance(offset):
    x, y = np.random.default_rng(0).normal(size=(2, 20))
    x, y = x + offset, x + y
    expected = np.cov(x, y)[0, 1] ** 2
    assert_allclose(hsic(x, y, "linear", "linear", statistic="biased"), expected, rtol=1e-9 if offset else 1e-12)


def test_biased_by_the_trace():
    K, L = np.array(DISTANCES, dtype=float)
    H = np.eye(6) - 1 / 6
    assert_allclose(hsic_biased(K, L), np.trace(K @ H @ L @ H) / 25, rtol=1e-13)
    assert_allclose(float(oracle.biased(*DISTANCES)), np.trace(K @ H @ L @ H) / 25, rtol=1e-13)


def test_few_combinations_have_all_pairs():
    rows = covering([4, 3, 2, 2])
    assert len(rows) == 12  # of 48
    for (i, m), (j, n) in combinations(enumerate([4, 3, 2, 2]), 2):
        assert {(row[i], row[j]) for row in rows} == set(product(range(m), range(n)))
