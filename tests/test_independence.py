"""Tests of independence, intervals and single-feature scores: exact p-values, level, power, coverage."""

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.feature_selection import SelectFdr, SelectFwe, SelectKBest

import oracle
from bahsic import hsic, hsic_biased, hsic_bound, hsic_interval, hsic_scores, hsic_test, hsic_variance
from bahsic.kernels import Gaussian, InverseDistance, Laplacian, Linear, Polynomial, Spectrum, label_kernel


def dependent(m=60, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=m)
    return x, np.sin(2 * x) + 0.5 * rng.normal(size=m)


def permuted_values(x, y, random_state, count=999, **kernels):
    """The statistic of labels permuted one after the other, by the definition of the test."""
    generator = np.random.RandomState(random_state)
    return np.array([hsic(x, y[generator.permutation(len(y))], **kernels) for _ in range(count)])


# Exact p-values


def integer_kernel(m, seed):
    values = np.random.default_rng(seed).integers(-2, 3, size=(m, m))
    return values + values.T


@pytest.mark.parametrize(("m", "seed"), [(4, 0), (4, 1), (5, 0), (5, 1)])
def test_p_values_are_exact_where_all_permutations_can_be_taken(m, seed):
    K, L = integer_kernel(m, seed), integer_kernel(m, seed + 100)
    rational = [[[Fraction(int(value)) for value in row] for row in matrix] for matrix in (K, L)]
    observed = oracle.unbiased(*rational)
    null = [
        oracle.unbiased(rational[0], [[rational[1][i][j] for j in order] for i in order])
        for order in permutations(range(m))
    ]
    exact = Fraction(sum(value >= observed for value in null), len(null))
    found = hsic_test(K, L, kernel="precomputed", target_kernel="precomputed", n_permutations=math.factorial(m) - 1)
    assert found.pvalue == float(exact)
    assert found.statistic == pytest.approx(float(observed), abs=1e-14)
    assert_allclose(np.sort(found.null_sample), np.sort([float(value) for value in null[1:]]), atol=1e-14)


def test_all_permutations_of_few_samples_are_taken():
    x, y = dependent(6)
    assert len(hsic_test(x, y).null_sample) == 719
    assert hsic_test(x, y, random_state=0).pvalue == hsic_test(x, y, random_state=1).pvalue
    assert len(hsic_test(x, y, n_permutations=718).null_sample) == 718
    # Two and two samples: 8 of the 24 permutations leave the classes as they are or exchange them.
    assert hsic_test([0.0, 0.1, 5.0, 5.1], [0, 0, 1, 1]).pvalue == 8 / 24


# The permutation test

FORMS = {
    "low rank and low rank": (1, 1, {}),
    "full rank and classes": (40, "classes", {}),
    "full rank and low rank": (40, 1, {}),
    "low rank and full rank": (1, 40, {"target_kernel": Gaussian(0.01)}),
    "full rank and full rank": (40, 40, {"kernel": "laplacian", "target_kernel": "laplacian"}),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_null_sample_is_that_of_permuted_labels(form):
    d, k, kernels = FORMS[form]
    rng = np.random.default_rng(0)
    x = rng.normal(size=(150, d))
    y = rng.integers(0, 3, 150) if k == "classes" else rng.normal(size=(150, k))
    one, two = (hsic_test(x, y, random_state=5, n_permutations=30, n_jobs=n_jobs, **kernels) for n_jobs in (1, 2))
    expected = permuted_values(x, y, 5, count=30, **kernels)
    assert_allclose(one.null_sample, expected, atol=1e-9 * np.std(expected))
    assert one.statistic == hsic(x, y, **kernels)
    assert one.pvalue == (1 + np.sum(expected >= one.statistic)) / 31
    assert_array_equal(one.null_sample, two.null_sample)


def test_the_result_is_frozen_and_its_kernels_can_be_used_again():
    x, y = dependent()
    found = hsic_test(x, y, random_state=0)
    assert not np.array_equal(found.null_sample, hsic_test(x, y, random_state=1).null_sample)
    for seed in (np.random.RandomState(0), np.random.default_rng(0)):  # which go on
        first, second = (hsic_test(x, y, random_state=seed).null_sample for _ in range(2))
        assert not np.array_equal(first, second)
    again = hsic_test(x, y, kernel=found.kernel, target_kernel=found.target_kernel, random_state=0)
    assert again.statistic == found.statistic
    assert_array_equal(again.null_sample, found.null_sample)
    assert (found.method, found.kernel) == ("permutation", Gaussian(0.5))
    assert hsic_test(x, y > 0).target_kernel == "binary"
    assert "null_sample" not in repr(found)


# The approximations


def test_gamma_has_the_moments_of_the_permutations():
    x, y = dependent(6)
    K, L = Gaussian(0.5)(x), label_kernel(y).gram()
    null = [hsic_biased(K, L[np.ix_(order, order)]) for order in permutations(range(6))]
    mean, variance = np.mean(null), np.var(null)
    found = hsic_test(x, y, method="gamma", standardize=False)
    assert found.statistic == pytest.approx(hsic_biased(K, L))
    expected = stats.gamma.sf(found.statistic, mean**2 / variance, scale=variance / mean)
    assert found.pvalue == pytest.approx(expected, rel=1e-9)
    assert found.null_sample is None


def test_normal_is_the_estimate_over_its_standard_deviation():
    x, y = dependent(100)
    K, L = Gaussian(0.5)(x), label_kernel(y).gram()
    found = hsic_test(x, y, method="normal", standardize=False)
    estimate = hsic(x, y, standardize=False)
    assert found.statistic == estimate
    assert found.pvalue == pytest.approx(stats.norm.sf(estimate / math.sqrt(hsic_variance(K, L))))


@pytest.mark.parametrize("method", ["permutation", "gamma"])
def test_constant_data_are_no_evidence(method):
    y = np.arange(20.0)
    assert hsic_test(np.ones(20), y, method=method).pvalue == 1.0
    # All samples are equally far from each other: no permutation changes anything.
    assert hsic_test(np.eye(20), y, method=method, kernel=Gaussian(1.0)).pvalue == 1.0


@pytest.mark.parametrize("method", ["permutation", "gamma", "normal"])
def test_the_scale_of_the_data_changes_nothing(method):
    x, y = dependent(40)
    linear = {"kernel": "linear", "target_kernel": "linear", "random_state": 0, "standardize": False}
    expected = hsic_test(x, y, method=method, **linear)
    for scale in (1e-60, 1e-3, 1e70) if method == "normal" else (1e-90, 1e-3, 1e70):  # the variance is a fourth power
        found = hsic_test(scale * x, y, method=method, **linear)
        assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
        if method == "permutation":
            assert_allclose(found.null_sample / scale**2, expected.null_sample, rtol=1e-7)


# Level


@pytest.mark.parametrize(
    ("method", "m", "labels"),
    [
        ("permutation", 50, "continuous"),
        ("gamma", 50, "classes"),
        ("gamma", 200, "continuous"),
    ],
)
def test_the_level_is_kept(method, m, labels):
    rng = np.random.default_rng(42)
    n_rejections = 0
    for _ in range(250):
        y = rng.permutation(np.arange(m) % 2) if labels == "classes" else rng.exponential(size=m)
        found = hsic_test(rng.normal(size=m), y, method=method, n_permutations=99, random_state=rng)
        n_rejections += found.pvalue <= 0.05
    low, high = stats.binom.ppf([0.0005, 0.9995], 250, 0.05)
    assert low <= n_rejections <= high


# Intervals


@pytest.mark.parametrize("method", ["normal", "bound"])
def test_intervals_of_any_level_are_finite_and_grow_with_it(method):
    x = np.linspace(-1, 1, 30)
    levels = [1e-12, 0.5, 0.95, 1 - 1e-9, 1 - 1e-15, np.nextafter(1, 0)]
    found = [hsic_interval(x, x**2, float(level), method) for level in levels]
    widths = [high - low for low, high in found]
    assert np.isfinite(widths).all()
    assert np.all(np.diff(widths) > 0)
    if method == "normal":  # the quantile of the greatest float below 1
        assert_allclose(widths[-1] / widths[2], 8.292361 / 1.959964, rtol=1e-6)


@pytest.mark.parametrize(
    ("kernel", "target_kernel", "factor"),
    [
        ("gaussian", "regression", 1.0),
        (Laplacian(1.0), "delta", 1.0),
        (InverseDistance(offset=0.5, gamma=1.0), Gaussian(1.0), 2.0),
        (Gaussian(1.0) + Gaussian(2.0), Gaussian(1.0) * InverseDistance(offset=0.25, gamma=1.0), 8.0),
        (lambda X, Y: np.equal.outer(X, Y) / 2, "regression", 1.0),
    ],
    ids=["gaussian", "laplacian", "inverse distance", "sums and products", "callable"],
)
def test_the_distribution_free_interval(kernel, target_kernel, factor):
    x, y = dependent(40)
    x, y = x.round(), y.round()
    low, high = hsic_interval(x, y, 0.9, "bound", kernel=kernel, target_kernel=target_kernel)
    estimate = hsic(x, y, kernel=kernel, target_kernel=target_kernel)
    assert (low + high) / 2 == pytest.approx(estimate)
    assert (high - low) / 2 == pytest.approx(factor * hsic_bound(40, 0.1))


def test_the_range_of_classes_and_of_strings():
    x, _ = dependent(40)
    y = np.repeat([0, 1], [10, 30])  # values 1/100, -1/300 and 1/900
    low, high = hsic_interval(x, y, method="bound")
    assert (high - low) / 2 == pytest.approx((1 / 100 + 1 / 300) * hsic_bound(40, 0.05))
    words = ["abab", "abba", "baba", "bbaa", "aabb", "abaa", "bbbb", "aaaa"]
    low, high = hsic_interval(x[:8], words, method="bound", target_kernel=Spectrum(2, normalize=True))
    assert (high - low) / 2 == pytest.approx(hsic_bound(8, 0.05))
    with pytest.raises(ValueError, match=r"target_kernel is .* not known to be bounded"):
        hsic_interval(x[:8], words, method="bound", target_kernel=Spectrum(2))
    for kernel in (Linear(), Polynomial(), Linear() + Gaussian(1.0), lambda X, Y: 2 * np.equal.outer(X, Y)):
        with pytest.raises(ValueError, match=r"kernel is .* not known to be bounded"):
            hsic_interval(x.round(), y, method="bound", kernel=kernel)


# Scores of single features

KERNELS = ["gaussian", Gaussian("median"), Gaussian(3.0), Gaussian(1e-9), Laplacian(0.7), Linear(), Polynomial(3)]


def table(m=50, seed=0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(5, 3, size=(m, 3)), rng.integers(0, 2, m), np.full(m, 7.0), rng.standard_t(1, m)])
    return X, X[:, 0] ** 2 + rng.normal(size=m), (X - X.mean(0)) / np.where(np.ptp(X, axis=0) > 0, X.std(0), 1)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("labels", ["numbers", "classes", "two columns"])
def test_scores_are_those_of_each_feature_alone(kernel, labels):
    X, y, standardised = table()
    y = {"numbers": y, "classes": np.digitize(y, [10, 40]), "two columns": np.column_stack([y, y[::-1]])}[labels]
    scores, pvalues = hsic_scores(X, y, kernel=kernel)
    tests = [hsic_test(column, y, kernel=kernel, method="gamma") for column in standardised.T]
    expected = [hsic(column, y, kernel=kernel) for column in standardised.T]
    assert_allclose(scores, expected, rtol=1e-9, atol=1e-11 * np.abs(expected).max())
    assert_allclose(pvalues, [test.pvalue for test in tests], rtol=1e-8)
    assert scores[4] == 0
    assert pvalues[4] == 1
    scores, _ = hsic_scores(X[:, :4], y, kernel=kernel, standardize=False)
    expected = [hsic(column, y, kernel=kernel, standardize=False) for column in X[:, :4].T]
    assert_allclose(scores, expected, rtol=1e-7, atol=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize("method", ["gamma", "permutation"])
def test_scores_do_not_depend_on_threads(method):
    X, y = np.random.default_rng(0).normal(size=(1100, 40)), np.arange(1100) % 3
    results = [hsic_scores(X, y, method=method, n_permutations=20, random_state=0, n_jobs=n) for n in (1, 2)]
    for one, two in zip(*results, strict=True):
        assert_array_equal(one, two)


def test_a_score_function_for_scikit_learn():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 30)), np.repeat(["a", "b"], 100)
    X[100:, :3] *= 2.5  # the classes differ in variance only, which F and t tests don't see
    expected = [True] * 3 + [False] * 27
    for selector in (SelectKBest(hsic_scores, k=3), SelectFdr(hsic_scores), SelectFwe(hsic_scores)):
        assert selector.fit(X, y).get_support().tolist() == expected
    assert_array_equal(selector.scores_, hsic_scores(X, y)[0])


# Errors


def huge(X, Y):
    return 1e200 * np.multiply.outer(X, Y)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "exact"}, "method is 'exact'; accepted: 'permutation', 'gamma', 'normal'"),
        ({"n_permutations": 0}, "n_permutations is 0; accepted: an int of at least 1"),
        ({"kernel": Gaussian("optimise")}, "fits gamma to the labels"),
        ({"kernel": lambda X, Y: np.full((len(X), len(Y)), np.nan)}, "value of the kernel function .* NaN"),
        ({"kernel": huge, "target_kernel": huge}, "too large"),
        ({"random_state": "now"}, "random_state is 'now'; accepted: an int"),
    ],
)
def test_errors_name_the_argument(arguments, message):
    x, y = dependent(20)
    for method in ("permutation", "gamma", "normal"):
        if "random_state" not in arguments or method == "permutation":
            with pytest.raises(ValueError, match=message):
                hsic_test(x, y, **{"method": method, **arguments})


FOUR = np.arange(4.0)


@pytest.mark.parametrize(
    ("function", "x", "y", "options", "message"),
    [
        (hsic_test, FOUR, FOUR, {"n_jobs": 0}, "n_jobs is 0; accepted: None or an int other than 0"),
        (hsic_test, FOUR[:3], FOUR[:3], {}, "there are 3 samples; accepted: at least 4"),
        (hsic_test, FOUR, np.arange(5.0), {}, "x has 4 samples, y has 5 samples"),
        (hsic_scores, FOUR[:, None], np.arange(5.0), {}, "X has 4 samples, y has 5 samples"),
        (hsic_scores, [[1], [2], [math.nan], [4]], FOUR, {"missing": "error"}, "X contains NaN or null: 1 entry, in"),
        (hsic_scores, FOUR[:, None], 1e200 * FOUR, {"target_kernel": "linear"}, "kernel values exceed the range of"),
        (hsic_test, np.ones(20), np.arange(20.0), {"method": "normal"}, "variance of HSIC is"),
        (hsic_interval, np.repeat([0.0, 1.0], 10), np.repeat([0.0, 1.0], 10), {}, "variance of HSIC is"),
        (hsic_interval, FOUR, FOUR, {"level": 95}, r"level is 95; accepted: a float between 0 and 1"),
    ],
)
def test_other_errors(function, x, y, options, message):
    with pytest.raises(ValueError, match=message):
        function(x, y, **options)
