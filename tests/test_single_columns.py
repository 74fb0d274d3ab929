"""Scores and redundancy of single columns of all kinds, against matrices by the definition."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mixed_oracle
from bahsic import hsic, hsic_scores, hsic_test, redundancy
from bahsic.kernels import Gaussian, Laplacian
from pairwise import pairwise


def holes(x, share=0.3, seed=9):
    missing = np.random.default_rng(seed).random(len(x)) < share
    missing[:2] = False, True
    return np.where(missing, np.nan, x)


def odd_columns(m, seed=0):
    """Columns of all kinds, and which of them are categories."""
    rng = np.random.default_rng(seed)
    numbers = {
        "normal": rng.normal(size=m),
        "few values": rng.integers(-2, 3, m).astype(float),
        "two values": (np.arange(m) % 3 == 0).astype(float),
        "outliers": np.where(np.arange(m) % 13 == 5, 1e3 * rng.standard_cauchy(m), rng.normal(size=m)),
        "rare value": np.where(np.arange(m) == m - 1, 30.0, 0.0),
        "large": 1e5 + rng.normal(size=m),
    }
    codes = {f"{k} categories": rng.integers(0, k, m).astype(float) for k in (2, 7, 100)}
    codes["rare category"] = (np.arange(m) == m - 1) * 3.0
    codes["all different"] = np.arange(m, dtype=float)
    X = [*numbers.values(), *codes.values()]
    X += [holes(x) for x in X]
    categorical = np.tile(np.repeat([False, True], [len(numbers), len(codes)]), 2)
    return np.column_stack(X), np.flatnonzero(categorical)


def totals(X, categorical, **options):
    """D of each column."""
    flags = np.isin(np.arange(X.shape[1]), categorical)
    return mixed_oracle.totals(mixed_oracle.as_columns(X), flags, **{"power": 2, **options})


def centred(D, gamma):
    """Centred kernel matrix; it is accurate also where all kernel values are near one."""
    A = np.expm1(-gamma * D.astype(np.longdouble))
    A -= A.mean(axis=1, keepdims=True)
    return A - A.mean(axis=0)


def alignment(A, B):
    """Normalised inner product of two centred matrices."""
    return float((A * B).sum() / np.sqrt((A * A).sum() * (B * B).sum()))


def labels(kind, x):
    numbers = np.nan_to_num(x) + np.random.default_rng(4).normal(size=len(x))
    return {"numbers": numbers, "classes": np.digitize(numbers, [-0.5, 0.5])}[kind]


@pairwise(
    m=[7, 61],
    kernel=[Gaussian(0.5), Gaussian(1e-9), Gaussian(40.0), Laplacian(0.5)],
    missing=["neutral", "indicator"],
)
def test_scores_and_redundancy_are_those_of_the_kernel_matrices(m, kernel, missing):
    X, categorical = odd_columns(m)
    options = {"kernel": kernel, "categorical_features": categorical, "missing": missing}
    gamma = kernel.gamma
    # Centred already, and as large as before: so that digits are not lost to the ones of exp(-gamma D).
    D = totals(X, categorical, power=kernel.power, together=missing == "indicator")
    A = [centred(one, gamma) for one in D]
    expected = np.array([[alignment(one, two) for two in A] for one in A])
    assert_allclose(redundancy(X, **options), expected, rtol=1e-10, atol=1e-12)
    for y in (labels("numbers", X[:, 0]), labels("classes", X[:, 0])):
        scores, pvalues = hsic_scores(X, y, **options)
        matrices = [K.astype(float) for K in A]
        expected = [hsic(K, y, kernel="precomputed") for K in matrices]
        assert_allclose(scores, expected, rtol=1e-9, atol=1e-11 * gamma)
        tests = [hsic_test(K, y, kernel="precomputed", method="gamma") for K in matrices]
        assert_allclose(pvalues, [test.pvalue for test in tests], rtol=1e-7)


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
@pytest.mark.parametrize("kind", ["numbers", "classes"])
@pytest.mark.parametrize("m", [6, 50])
def test_permutation_p_values(m, kind, kernel):
    X, categorical = odd_columns(m)
    y = labels(kind, X[:, 0])
    options = {"method": "permutation", "n_permutations": 199, "random_state": 3}
    _, pvalues = hsic_scores(X, y, kernel=kernel, categorical_features=categorical, **options)
    D = totals(X, categorical, power=2 if kernel == "gaussian" else 1)
    tests = [hsic_test(np.exp(-one / 2), y, kernel="precomputed", **options) for one in D]
    assert_array_equal(pvalues, [test.pvalue for test in tests])
    assert len(np.unique(pvalues)) > 4


@pytest.mark.parametrize("method", ["gamma", "permutation"])
@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
def test_labels_whose_kernel_matrix_has_full_rank(kernel, method):
    m = 40
    X, categorical = odd_columns(m)
    L = np.exp(-np.square(np.subtract.outer(*[np.arange(m) % 37 * 50.0] * 2)))
    options = {"target_kernel": "precomputed", "method": method, "n_permutations": 99, "random_state": 1}
    scores, pvalues = hsic_scores(X, L, kernel=kernel, categorical_features=categorical, **options)
    for j, D in enumerate(totals(X, categorical, power=2 if kernel == "gaussian" else 1)):
        alone = hsic_test(np.exp(-D / 2), L, kernel="precomputed", **options)
        assert pvalues[j] == pytest.approx(alone.pvalue, rel=1e-8)
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("kernel", [Gaussian("median"), Laplacian("median")], ids=str)
def test_the_median_rule_is_that_of_the_pairs(kernel):
    X, categorical = odd_columns(25)
    y = labels("numbers", X[:, 0])
    scores, _ = hsic_scores(X, y, kernel=kernel, categorical_features=categorical)
    for j, D in enumerate(totals(X, categorical, power=kernel.power)):
        distances = D[np.triu_indices(25, 1)] ** (1 / kernel.power)
        median = np.median(distances) or np.median(distances[distances > 0])
        K = np.exp(-D / (2 * median**kernel.power))
        assert scores[j] == pytest.approx(hsic(K, y, kernel="precomputed"), rel=1e-9, abs=1e-14)


def test_a_function_as_rule_takes_complete_numbers_only():
    X, categorical = odd_columns(25)
    with pytest.raises(ValueError, match="accepted where only distances are known"):
        hsic_scores(X, np.arange(25.0), kernel=Gaussian(np.ptp), categorical_features=categorical)


def test_narrow_kernels_have_matrices():
    """A column whose values are all far apart, beside others that are not."""
    m = 300
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [np.arange(m), rng.normal(size=m), rng.integers(0, 4, m), holes(rng.normal(size=m)), rng.random(m)]
    )
    options = {"kernel": Gaussian(5.0), "standardize": False, "categorical_features": [2]}
    y = X[:, 1] + rng.normal(size=m)
    scores, pvalues = hsic_scores(X, y, **options)
    table = redundancy(X, **options)
    D = totals(X, [2], standardize=False)
    A = [centred(one, 5.0).astype(float) for one in D]
    assert_allclose(scores, [hsic(K, y, kernel="precomputed") for K in A], rtol=1e-9, atol=1e-14)
    expected = [hsic_test(K, y, kernel="precomputed", method="gamma").pvalue for K in A]
    assert_allclose(pvalues, expected, rtol=1e-8)
    assert_allclose(table, [[alignment(one, two) for two in A] for one in A], rtol=1e-10)


@pytest.mark.parametrize(
    ("function", "kernel"),
    [(hsic_scores, "laplacian"), (redundancy, "linear"), (redundancy, Gaussian(1e9))],
    ids=["scores", "linear", "narrow"],
)
def test_matrices_of_too_many_samples_are_refused(function, kernel):
    X = np.random.default_rng(0).normal(size=(32_001, 1))
    message = r"X has 32001 samples and the kernel on single features is .*; accepted for more than 32000 samples"
    with pytest.raises(ValueError, match=message):
        function(X, *([X[:, 0]] if function is hsic_scores else []), kernel=kernel)


def test_rare_categories_in_very_many_samples():
    m = 10**6
    first = np.arange(m)
    X = np.column_stack([(first < 2), (first > 0) & (first < 3), first == 0]).astype(float)
    found = redundancy(X, categorical_features=[0, 1, 2])
    # HKH is a multiple of uu', where u marks the rare category, less its mean.
    sizes, common = np.array([2, 2, 1]), np.array([[2, 1, 1], [1, 2, 0], [1, 0, 1]])
    products = common - np.multiply.outer(sizes, sizes) / m
    norms = np.diag(products)
    assert_allclose(found, np.square(products) / np.multiply.outer(norms, norms), rtol=1e-9, atol=1e-15)


def test_p_values_of_a_rare_category_in_very_many_samples():
    m = 10**6
    y = np.random.default_rng(0).normal(size=m)
    x = (np.arange(m) == 3).astype(float)
    y[3] = 6.0
    score, pvalue = hsic_scores(x[:, None], y, categorical_features=[0], target_kernel="linear")
    v = (y - y.mean()) / y.std()
    # With K = 2 (1 - e) uu' and L = vv', <K, L> is the square of v at the rare sample; v has variance one.
    e = math.exp(-2 / (2 * (1 / m) * (1 - 1 / m)) / 2)
    a, b = 2 * (1 - e) * np.square(x - 1 / m), np.square(v)
    product = 2 * (1 - e) * v[3] ** 2
    expected = (product - m / (m - 2) * (a @ b) + a.sum() * b.sum() / ((m - 1) * (m - 2))) / (m * (m - 3))
    assert score[0] == pytest.approx(expected, rel=1e-6)
    assert 0 < pvalue[0] < 1


def test_groups_of_features_make_no_difference():
    X = np.random.default_rng(0).normal(size=(1500, 10))  # seven matrices of 1500 x 1500 are in memory at a time
    X[:, 9] = X[:, 0] ** 2
    order = np.array([9, 4, 0, 1, 2, 3, 5, 6, 7, 8])
    table = redundancy(X, kernel="laplacian")
    assert_allclose(redundancy(X, order, kernel="laplacian"), table[np.ix_(order, order)], rtol=1e-9, atol=1e-13)
    assert table[0, 9] > 0.1


@pytest.mark.parametrize("missing", ["neutral", "indicator"])
def test_tiny_numbers_without_standardising(missing):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) * [1, 1, 1e5]
    X[:, 1] = X[:, 0] ** 2 + holes(X[:, 1])
    options = {"standardize": False, "missing": missing}
    small, tiny = 1e-9 * X, 1e-120 * X
    assert_allclose(redundancy(tiny, **options), redundancy(small, **options), rtol=1e-6)
    pvalues = [hsic_scores(Z, X[:, 0] > 0, **options)[1] for Z in (tiny, small)]
    assert_allclose(*pvalues, rtol=1e-6)
