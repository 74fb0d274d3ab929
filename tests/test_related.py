from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import bahsic
import oracle
from bahsic import hsic_unbiased
from bahsic.kernels import Gaussian, Laplacian, label_kernel
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


def two_classes(m, share, seed):
    """Samples of one feature, with another mean and spread in the second class."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(m) < round(share * m), 1, -1)
    return rng.normal(size=m) * np.where(y > 0, 1.0, 1.5) + 0.7 * (y > 0), y


# MMD


@statistics
def test_mmd_by_definition(statistic):
    laplacian, linear = exact_gram(X, oracle.laplacian, gamma=GAMMA), exact_gram(X, oracle.linear)
    for kernel, K in [(Gaussian(GAMMA), exact_gram(X, gamma=GAMMA)), (Laplacian(GAMMA), laplacian), ("linear", linear)]:
        expected = float(mmd_by_definition(K, Y, statistic))
        assert_allclose(mmd(X, Y, kernel, statistic), expected, rtol=1e-13)


def test_unbiased_mmd_is_the_mean_over_all_samples_of_two_finite_populations():
    # k is a table on three values; pairs of draws from P and from Q, with their probabilities.
    k = np.array([[3.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 4.0]])
    P, Q = np.array([0.5, 0.25, 0.25]), np.array([0.125, 0.625, 0.25])
    total = 0.0
    for draw in np.ndindex(3, 3, 3, 3):
        value = mmd(k[np.ix_(draw, draw)], [0, 0, 1, 1], "precomputed")
        total += P[draw[0]] * P[draw[1]] * Q[draw[2]] * Q[draw[3]] * value
    assert total == pytest.approx((P - Q) @ k @ (P - Q), rel=1e-12)


@statistics
def test_mmd_keeps_its_digits_where_kernel_values_are_nearly_equal(statistic):
    x = np.array([1, 4, 2, 7, 3, 8, 5, 9.0]) * 1e-7
    y = [0, 1, 0, 1, 0, 1, 1, 0]
    expected = mmd_by_definition(exact_gram(x, gamma=0.5), y, statistic)
    assert_allclose(mmd(x, y, Gaussian(0.5), statistic), float(expected), rtol=1e-10)


def test_mmd_refuses_what_it_cannot_estimate():
    with pytest.raises(ValueError, match=r"classes of 1 and 4 samples; accepted for 'unbiased': at least 2 each"):
        mmd(np.arange(5.0), [0, 1, 1, 1, 1])
    assert mmd(np.arange(5.0), [0, 1, 1, 1, 1], "linear", "biased") == pytest.approx(2.5**2)
    with pytest.raises(ValueError, match="statistic is 'best'; accepted"):
        mmd(X, Y, statistic="best")
    signs = np.array([1, 1, 1, -1, -1])
    with pytest.raises(ValueError, match="the value exceeds the range of float64"):
        mmd(5e307 * np.outer(signs, signs), signs, "precomputed", "biased")


@pytest.mark.parametrize("function", [mmd, mean_difference])
def test_two_classes_of_any_type_are_accepted_and_no_others(function):
    for labels in ([s == "yes" for s in Y], [1.25 if s == "yes" else -3.5 for s in Y]):
        assert_allclose(function(X, labels), function(X, Y), rtol=1e-13)
    for y, message in [([0] * 9, "one class only"), (range(9), "9 classes")]:
        with pytest.raises(ValueError, match=message):
            function(X, y)


# The theorem on MMD and KTA

SIZES = np.array([50, 100, 200, 400, 800, 1600])


def gaps_to(related, target_kernel, share):
    """|HSIC - (m-1)^-2 related(x, y)|, unbiased HSIC, for each of four draws and each m, and its power of m."""
    gaps = np.empty((4, len(SIZES)))
    for (draw, column), _ in np.ndenumerate(gaps):
        x, y = two_classes(SIZES[column], share, seed=(draw, SIZES[column]))
        gaps[draw, column] = abs(hsic(x, y, target_kernel=target_kernel) - related(x, y) / (SIZES[column] - 1) ** 2)
    return gaps, np.polyfit(np.log(SIZES), np.log(gaps.mean(axis=0)), 1)[0]


@pytest.mark.parametrize("share", [0.5, 0.26])
def test_theorem_on_mmd_over_growing_m(share):
    gaps, power = gaps_to(partial(mmd, statistic="biased"), "binary", share)
    assert (gaps <= 1 / SIZES).all()  # the theorem as it stands
    assert ((SIZES - 1) ** 2 * gaps <= 4 / SIZES).all()  # |(m-1)^2 HSIC - MMD|, the stronger statement
    assert power == pytest.approx(-3, abs=0.1)


def test_theorem_on_kta_over_growing_m_with_classes_of_equal_size():
    gaps, power = gaps_to(partial(kta, target_kernel="linear", normalized=False), "linear", 0.5)
    assert (gaps <= 2 / SIZES).all()
    assert power == pytest.approx(-1, abs=0.1)


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


def test_kta_is_hsic_where_the_label_kernel_is_centred():
    three = [0, 1, 2, 2, 1, 0, 1, 1, 2]
    assert kta(X, Y, normalized=False) == pytest.approx(mmd(X, Y, statistic="biased"), rel=1e-12)
    for y, name in [(Y, "binary"), (three, "multiclass")]:
        assert kta(X, y, normalized=False) == pytest.approx(64 * hsic(X, y, "gaussian", name, "biased"), rel=1e-12)
    y = np.where(np.arange(8) % 2, 1.0, -1.0)
    scaled = 49 * hsic(X[:8], y, "gaussian", "linear", "biased")
    assert kta(X[:8], y, target_kernel="linear", normalized=False) == pytest.approx(scaled, rel=1e-12)


def test_kta_of_a_kernel_with_itself_and_at_any_scale():
    for seed in range(20):  # without care about one in four exceeds 1
        K = Gaussian(GAMMA)(np.random.default_rng(seed).normal(size=(9, 2)))
        assert 1 - 1e-15 <= kta(K, K, "precomputed", "precomputed") <= 1
        assert -1 <= kta(K, -K, "precomputed", "precomputed") <= -1 + 1e-15
    value = kta(X, NUMBERS, "linear", "linear")
    for scale in (1e-120, 1e120):
        assert kta(scale * X, scale * NUMBERS, "linear", "linear") == pytest.approx(value, rel=1e-12)


def test_kta_refuses_what_has_no_value():
    for x, y, name in [(np.zeros(9), NUMBERS, "x"), (NUMBERS, np.zeros(9), "y")]:
        with pytest.raises(ValueError, match=f"all kernel values of {name} are 0"):
            kta(x, y, "linear", "linear")
        assert kta(x, y, "linear", "linear", normalized=False) == 0
    with pytest.raises(ValueError, match="exceeds the range of float64"):
        kta(1e80 * X, 1e80 * NUMBERS, "linear", "linear", normalized=False)


# CKA


@statistics
def test_cka_by_definition(statistic):
    value = {"unbiased": oracle.unbiased, "biased": oracle.biased}[statistic]
    K, L = exact_gram(X, gamma=GAMMA), exact_gram(NUMBERS, gamma=2.0)
    expected = value(K, L) / oracle.root(value(K, K) * value(L, L))
    assert_allclose(cka(X, NUMBERS, Gaussian(GAMMA), Gaussian(2.0), statistic), float(expected), rtol=1e-12)


def test_cka_is_kta_of_the_centred_matrices():
    H = np.eye(9) - 1 / 9
    K, L = (H @ G @ H for G in (Gaussian(GAMMA)(X), label_kernel(NUMBERS).gram()))
    assert cka(X, NUMBERS, Gaussian(GAMMA)) == pytest.approx(kta(K, L, "precomputed", "precomputed"), rel=1e-12)


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


def test_debiased_cka_of_independent_data_is_near_zero_in_many_dimensions():
    rng = np.random.default_rng(1)
    draws = [(rng.normal(size=(30, 500)), rng.normal(size=(30, 500))) for _ in range(20)]
    assert min(cka(x, y, "linear", "linear") for x, y in draws) > 0.8
    assert abs(np.mean([cka(x, y, "linear", "linear", "unbiased") for x, y in draws])) < 0.02


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


def test_cka_of_nothing_but_row_and_column_terms_is_refused():
    shift = np.sin(np.arange(9.0))
    with pytest.raises(ValueError, match="HSIC of x with itself is 0 for statistic='biased'"):
        cka(np.add.outer(shift, shift), NUMBERS, "precomputed")
    single = [0] * 8 + [1]
    with pytest.raises(ValueError, match="HSIC of y with itself is 0 for statistic='unbiased'"):
        cka(X, single, statistic="unbiased")
    with pytest.raises(ValueError, match=r"accepted: .* at least two of each class"):
        cka(X, range(9), target_kernel="delta", statistic="unbiased")
    assert 0 < cka(X, single) < 1


def test_cka_refuses_bad_arguments():
    with pytest.raises(ValueError, match="statistic is 'debiased'; accepted: 'unbiased', 'biased'"):
        cka(X, NUMBERS, statistic="debiased")
    with pytest.raises(ValueError, match="3 samples; accepted: at least 4 for statistic='unbiased'"):
        cka(X[:3], NUMBERS[:3], statistic="unbiased")


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


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([2.5] * 9, "y is constant"),
        (["a"] * 9, "one class only"),
        (list("abcabcabc"), "3 classes"),
        (X, r"y has shape \(9, 3\); accepted: one label for each sample"),
        ([np.nan] * 9, "y has 9 entries that are NaN"),
    ],
)
def test_pearson_criterion_refuses_bad_labels(y, message):
    with pytest.raises(ValueError, match=message):
        pearson_criterion(X, y)


# The difference of the means


def test_mean_difference_by_definition():
    second = np.array(Y) == "yes"
    expected = [float(mean(map(oracle.exact, x[second])) - mean(map(oracle.exact, x[~second]))) for x in X.T]
    assert_allclose(mean_difference(X, Y), expected, rtol=1e-13)
    assert_allclose(mean_difference(X + 2.0**20, Y), expected, rtol=1e-8)
    assert_array_equal(mean_difference(np.full((9, 2), 0.1), Y), 0)


def test_mean_difference_is_hsic_and_mmd_with_the_linear_kernel():
    squares = mean_difference(X, Y) ** 2
    assert_allclose([64 * hsic(x, Y, "linear", "binary", "biased") for x in X.T], squares, rtol=1e-12)
    assert_allclose([mmd(x, Y, "linear", "biased") for x in X.T], squares, rtol=1e-12)
    assert mmd(X, Y, "linear", "biased") == pytest.approx(squares.sum(), rel=1e-12)


def test_mean_difference_at_the_limits_of_float64():
    big = np.array([-1, -1, 1, 1]) * 8e307
    y = [0, 0, 1, 1]
    assert_allclose(mean_difference(np.column_stack([big, 1e-300 * np.arange(4)]), y), [1.6e308, 2e-300], rtol=1e-14)
    with pytest.raises(ValueError, match="exceeds the range of float64"):
        mean_difference(2 * big, y)


@pytest.mark.parametrize("function", [mmd, kta, cka, pearson_criterion, mean_difference])
def test_order_in_memory_changes_no_bit_and_lengths_must_agree(function):
    assert_array_equal(function(np.asfortranarray(X), Y), function(np.ascontiguousarray(X), Y))
    with pytest.raises(ValueError, match=r"(x|X) has 9 samples, y has 8 samples"):
        function(X, Y[:8])
