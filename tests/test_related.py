from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import bahsic
import oracle
from bahsic import hsic_unbiased
from bahsic.kernels import Gaussian, Laplacian
from bahsic.related import cka, kta, mean_difference, mmd, pearson_criterion

hsic = partial(bahsic.hsic, standardize=False)  # oracles take x as it is

RNG = np.random.default_rng(7)
X = RNG.normal(size=(9, 3)) + np.array([0.0, 1.0, -2.0])
Y = ["no", "yes", "yes", "no", "yes", "yes", "no", "yes", "yes"]
NUMBERS = X[:, 0] ** 2 + 0.1 * RNG.normal(size=9)
GAMMA = 0.25

statistics = pytest.mark.parametrize("statistic", ["unbiased", "biased"])


def exact_gram(rows, kernel=oracle.gaussian, **parameters):
    return oracle.gram(kernel, np.asarray(rows, dtype=float).reshape(len(rows), -1).tolist(), **parameters)


def mean(values):
    values = list(values)
    return sum(values, Fraction(0)) / len(values)


def mmd_by_definition(K, y, statistic):
    """Mean of k within each class, less twice that between them; unbiased without a sample's pair with itself."""
    first, second = ([i for i, label in enumerate(y) if label == c] for c in sorted(set(y)))
    within = [mean(K[i][j] for i in c for j in c if statistic == "biased" or i != j) for c in (first, second)]
    return sum(within) - 2 * mean(K[i][j] for i in first for j in second)


# MMD


@statistics
def test_mmd_by_definition(statistic):
    laplacian, linear = exact_gram(X, oracle.laplacian, gamma=GAMMA), exact_gram(X, oracle.linear)
    for kernel, K in [(Gaussian(GAMMA), exact_gram(X, gamma=GAMMA)), (Laplacian(GAMMA), laplacian), ("linear", linear)]:
        expected = float(mmd_by_definition(K, Y, statistic))
        assert_allclose(mmd(X, Y, kernel, statistic), expected, rtol=1e-13)


@statistics
def test_mmd_keeps_its_digits_where_kernel_values_are_nearly_equal(statistic):
    x = np.array([1, 4, 2, 7, 3, 8, 5, 9.0]) * 1e-7
    y = [0, 1, 0, 1, 0, 1, 1, 0]
    expected = mmd_by_definition(exact_gram(x, gamma=0.5), y, statistic)
    assert_allclose(mmd(x, y, Gaussian(0.5), statistic), float(expected), rtol=1e-10)


@pytest.mark.parametrize("m", [20, 200])
def test_theorem_on_mmd_and_kta(m):
    rng = np.random.default_rng(m)
    y = np.where(np.arange(m) % 2, 1, -1)
    x = rng.normal(size=m) * np.where(y > 0, 1.0, 1.5) + 0.7 * (y > 0)
    gap = abs(hsic(x, y, target_kernel="binary") - mmd(x, y, statistic="biased") / (m - 1) ** 2)
    assert (m - 1) ** 2 * gap <= 4 / m
    kta_gap = abs(
        hsic(x, y, target_kernel="linear") - kta(x, y, target_kernel="linear", normalized=False) / (m - 1) ** 2
    )
    assert kta_gap <= 2 / m
    assert kta(x, y, normalized=False) == pytest.approx(mmd(x, y, statistic="biased"), rel=1e-12)


# KTA


def trace(A, B):
    return sum(a * b for row, other in zip(A, B, strict=True) for a, b in zip(row, other, strict=True))


@pytest.mark.parametrize(("target_kernel", "y"), [("binary", Y), ("linear", NUMBERS)])
def test_kta_by_definition(target_kernel, y):
    values = oracle.binary_labels(Y) if target_kernel == "binary" else NUMBERS[:, None].tolist()
    K, L = exact_gram(X, gamma=GAMMA), oracle.gram(oracle.linear, values)
    expected = float(trace(K, L))
    assert_allclose(kta(X, y, Gaussian(GAMMA), target_kernel, normalized=False), expected, rtol=1e-13)
    norms = float(oracle.root(trace(K, K)) * oracle.root(trace(L, L)))
    assert_allclose(kta(X, y, Gaussian(GAMMA), target_kernel), expected / norms, rtol=1e-13)


def test_kta_of_float32_is_summed_in_float64():
    x = np.random.default_rng(0).normal(size=300).astype(np.float32)
    K = Gaussian(GAMMA)(x)
    one, other = (kta(G, x, "precomputed", Gaussian(GAMMA)) for G in (K, K.astype(np.float64)))
    assert one == pytest.approx(other, rel=1e-12)


def test_kta_of_a_kernel_with_itself_and_at_any_scale():
    for seed in range(20):  # without care about one in four exceeds 1
        K = Gaussian(GAMMA)(np.random.default_rng(seed).normal(size=(9, 2)))
        assert 1 - 1e-15 <= kta(K, K, "precomputed", "precomputed") <= 1
        assert -1 <= kta(K, -K, "precomputed", "precomputed") <= -1 + 1e-15
    value = kta(X, NUMBERS, "linear", "linear")
    for scale in (1e-120, 1e120):
        assert kta(scale * X, scale * NUMBERS, "linear", "linear") == pytest.approx(value, rel=1e-12)


# CKA


@statistics
def test_cka_by_definition(statistic):
    value = {"unbiased": oracle.unbiased, "biased": oracle.biased}[statistic]
    K, L = exact_gram(X, gamma=GAMMA), exact_gram(NUMBERS, gamma=2.0)
    expected = value(K, L) / oracle.root(value(K, K) * value(L, L))
    assert_allclose(cka(X, NUMBERS, Gaussian(GAMMA), Gaussian(2.0), statistic), float(expected), rtol=1e-12)


@statistics
def test_cka_is_the_same_for_any_scale_offset_and_rotation(statistic):
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    value = cka(X, NUMBERS, "linear", "linear", statistic)
    for x, y in [(X @ Q, -NUMBERS), (1e-70 * X, 1e70 * NUMBERS), (X + 1e5, NUMBERS - 1e6)]:
        assert cka(x, y, "linear", "linear", statistic) == pytest.approx(value, rel=1e-8)
    assert cka(X, 2 * X @ Q + 1, "linear", "linear", statistic) == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("m", [5, 8, 12])
def test_debiased_cka_is_a_cosine(m):
    for A in np.random.default_rng(m).normal(size=(20, 2, m, m)):
        K, L = A + A.transpose(0, 2, 1)  # not definite: even then HSIC(K, K) is a sum of squares
        assert hsic_unbiased(K, K) > 0
        assert abs(cka(K, L, "precomputed", "precomputed", "unbiased")) <= 1


def test_unbiased_cka_sees_tiny_entries_beside_a_large_diagonal():
    K = np.eye(9) + 1e-20 * (Gaussian(GAMMA)(X) - np.eye(9))
    expected = cka(X, NUMBERS, Gaussian(GAMMA), statistic="unbiased")
    assert cka(K, NUMBERS, "precomputed", statistic="unbiased") == pytest.approx(expected, rel=1e-12)
    assert_array_equal(np.diag(K), 1)


@pytest.mark.parametrize(
    ("function", "y"), [(cka, NUMBERS), (kta, NUMBERS), (mmd, Y), (partial(mmd, statistic="biased"), Y)]
)
def test_gamma_of_the_greatest_hsic(function, y):
    gammas = [Gaussian("median").resolved(X).gamma * 2.0**k for k in range(-8, 9)]
    statistic = "unbiased" if function is mmd else "biased"
    best = max(gammas, key=lambda gamma: hsic(X, y, Gaussian(gamma), statistic=statistic))
    assert function(X, y, Gaussian("optimise")) == pytest.approx(function(X, y, Gaussian(best)), rel=1e-12)


@statistics
@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "linear", "polynomial", "delta", "inverse_distance"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cka_of_constant_data_is_refused(statistic, kernel, dtype):
    constant = np.tile(np.linspace(0.1, 7, 40).astype(dtype), (9, 1))
    with pytest.raises(ValueError, match="x is constant"):
        cka(constant, NUMBERS, kernel, statistic=statistic)
    with pytest.raises(ValueError, match="y is constant"):
        cka(X, constant, target_kernel=kernel, statistic=statistic)


# Pearson's correlation


def correlation_by_definition(x, y):
    x, y = ([oracle.exact(float(value)) for value in values] for values in (x, y))
    x, y = ([value - mean(values) for value in values] for values in (x, y))
    products = [sum(a * b for a, b in zip(u, v, strict=True)) for u, v in ((x, y), (x, x), (y, y))]
    return float(products[0] / oracle.root(products[1] * products[2]))


def test_pearson_criterion_by_definition():
    expected = [correlation_by_definition(x, NUMBERS) for x in X.T]
    assert_allclose(pearson_criterion(X, NUMBERS), expected, rtol=1e-13)
    three = [0, 1, 2, 2, 1, 0, 1, 1, 2]
    assert_allclose(pearson_criterion(X, three), [correlation_by_definition(x, three) for x in X.T], rtol=1e-13)
    coded = [1 if label == "yes" else -1 for label in Y]
    expected = [correlation_by_definition(x, coded) for x in X.T]
    second = np.array(Y) == "yes"
    for y in (Y, coded, second, second.astype(np.uint8), second.tolist(), np.array(Y)[:, None]):
        assert_allclose(pearson_criterion(X, y), expected, rtol=1e-13)


def test_pearson_criterion_of_constant_and_perfect_features():
    for m in range(3, 30):
        constants = np.tile(np.linspace(0.1, 1, 20), (m, 1))  # many differ from the computed mean of their copies
        assert_array_equal(pearson_criterion(constants, np.sin(np.arange(m))), 0)
    perfect = pearson_criterion(np.column_stack([NUMBERS, 3 - 2 * NUMBERS]), NUMBERS)
    assert_allclose(perfect, [1, -1], rtol=1e-15)
    assert np.abs(perfect).max() <= 1


def test_pearson_criterion_at_any_scale_and_offset():
    small = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5.0])
    scaled = np.column_stack([small, 1e308 / 9 * small, 1e-300 * small, 5e-324 * small, 2**40 + small])
    expected = correlation_by_definition(small, NUMBERS)
    assert_allclose(pearson_criterion(scaled, NUMBERS), expected, rtol=1e-12)
    expected = correlation_by_definition(small, small**2)
    assert_allclose(pearson_criterion(small, 2.0**30 + small**2), expected, rtol=1e-12)
    near = np.where(small > 3, 1.0, np.nextafter(1.0, 2.0))
    assert_allclose(pearson_criterion(near, small), -correlation_by_definition(small > 3, small), rtol=1e-12)


# The difference of the means


def test_mean_difference_by_definition():
    second = np.array(Y) == "yes"
    expected = [float(mean(map(oracle.exact, x[second])) - mean(map(oracle.exact, x[~second]))) for x in X.T]
    assert_allclose(mean_difference(X, Y), expected, rtol=1e-13)
    assert_allclose(mean_difference(X + 2.0**20, Y), expected, rtol=1e-8)
    assert_array_equal(mean_difference(np.full((9, 2), 0.1), Y), 0)


def test_values_at_the_limits():
    assert_allclose(mean_difference(np.column_stack([BIG, 1e-300 * np.arange(4)]), [0, 0, 1, 1]), [1.6e308, 2e-300])
    assert mmd(np.arange(5.0), [0, 1, 1, 1, 1], "linear", "biased") == pytest.approx(2.5**2)
    assert kta(np.zeros(9), NUMBERS, "linear", "linear", normalized=False) == 0
    assert 0 < cka(X, SINGLE) < 1
    for labels in ([s == "yes" for s in Y], [1.25 if s == "yes" else -3.5 for s in Y]):
        assert_allclose(mmd(X, labels), mmd(X, Y), rtol=1e-13)
        assert_allclose(mean_difference(X, labels), mean_difference(X, Y), rtol=1e-13)


BIG, SIGNS, SINGLE = np.array([-1, -1, 1, 1]) * 8e307, np.array([1, 1, 1, -1, -1]), [0] * 8 + [1]
SHIFT = np.sin(np.arange(9.0))
BEYOND = "exceeds the range of float64"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: mmd(np.arange(5.0), [0, 1, 1, 1, 1]),
            r"classes of 1 and 4 samples; accepted for 'unbiased': at least 2",
        ),
        (lambda: mmd(X, Y, statistic="best"), "statistic is 'best'; accepted"),
        (lambda: mmd(5e307 * np.outer(SIGNS, SIGNS), SIGNS, "precomputed", "biased"), BEYOND),
        (lambda: mmd(X, [0] * 9), "one class only"),
        (lambda: mmd(X, range(9)), "9 classes"),
        (lambda: mean_difference(X, [0] * 9), "one class only"),
        (lambda: mean_difference(X, range(9)), "9 classes"),
        (lambda: mean_difference(2 * BIG, [0, 0, 1, 1]), BEYOND),
        (lambda: kta(np.zeros(9), NUMBERS, "linear", "linear"), "all kernel values of x are 0"),
        (lambda: kta(NUMBERS, np.zeros(9), "linear", "linear"), "all kernel values of y are 0"),
        (lambda: kta(1e80 * X, 1e80 * NUMBERS, "linear", "linear", normalized=False), BEYOND),
        (lambda: cka(X, NUMBERS, statistic="debiased"), "statistic is 'debiased'; accepted: 'unbiased', 'biased'"),
        (lambda: cka(X[:3], NUMBERS[:3], statistic="unbiased"), "3 samples; accepted: at least 4 for .*'unbiased'"),
        (lambda: cka(np.add.outer(SHIFT, SHIFT), NUMBERS, "precomputed"), "of x with itself is 0 for .*'biased'"),
        (lambda: cka(X, SINGLE, statistic="unbiased"), "HSIC of y with itself is 0 for statistic='unbiased'"),
        (
            lambda: cka(X, range(9), target_kernel="delta", statistic="unbiased"),
            "accepted: .* at least two of each class",
        ),
        (lambda: pearson_criterion(X, [2.5] * 9), "y is constant"),
        (lambda: pearson_criterion(X, ["a"] * 9), "one class only"),
        (lambda: pearson_criterion(X, list("abcabcabc")), "3 classes"),
        (lambda: pearson_criterion(X, X), r"y has shape \(9, 3\); accepted: one label for each sample"),
        (lambda: pearson_criterion(X, [np.nan] * 9), "y has 9 entries that are NaN"),
    ],
)
def test_what_has_no_value_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("function", [mmd, kta, cka, pearson_criterion, mean_difference])
def test_order_in_memory_changes_no_bit_and_lengths_must_agree(function):
    assert_array_equal(function(np.asfortranarray(X), Y), function(np.ascontiguousarray(X), Y))
    with pytest.raises(ValueError, match=r"(x|X) has 9 samples, y has 8 samples"):
        function(X, Y[:8])
