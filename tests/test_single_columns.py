"""Scores and redundancy of single columns of all kinds, against matrices by the definition."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import mixed_oracle
from bahsic import hsic, hsic_scores, hsic_test, redundancy
from bahsic.kernels import Delta, Gaussian, Laplacian, Linear
from bahsic.related import cka
from pairwise import pairwise
from selecting import standardised


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
    m=[7, 61], kernel=[Gaussian(0.5), Gaussian(1e-9), Gaussian(40.0), Laplacian(0.5)], missing=["neutral", "indicator"]
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


# Redundancy, against the alignment of each pair


def table(m=60, seed=0):
    """Different kinds of columns: normal, skewed, a near copy, a function, of few values, heavy-tailed."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, m))
    columns = [x, np.exp(z), 3 - 2 * x + 1e-3 * z, x**2, rng.integers(0, 3, m), rng.standard_cauchy(m), 1e4 + z]
    return np.column_stack(columns)


def by_pairs(X, kernel):
    d = X.shape[1]
    return np.array([[cka(X[:, i], X[:, j], kernel, kernel) for j in range(d)] for i in range(d)])


def smaller(a, b):
    return np.minimum.outer(np.ravel(a), np.ravel(b))


KERNELS = [Gaussian(), Gaussian("median"), Gaussian(3.0), Laplacian("median"), Linear(), Delta()]


@pytest.mark.parametrize(
    "kernel", ["gaussian", smaller, *KERNELS], ids=lambda kernel: getattr(kernel, "__name__", str(kernel))
)
def test_each_pair_is_its_alignment(kernel):
    X = table()
    found = redundancy(X, kernel=kernel)
    assert_allclose(found, by_pairs(standardised(X), kernel), rtol=1e-8, atol=1e-11)
    assert_array_equal(found, found.T)
    assert_array_equal(np.diag(found), 1)
    assert found.min() >= 0
    assert found.max() <= 1


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_a_full_factorial_design_is_independent_and_copies_are_alike(kernel):
    design = np.array([(a, b) for a in np.sqrt(np.arange(5)) for b in np.exp(np.arange(7))])
    assert_array_equal(redundancy(design, kernel=kernel), np.eye(2))
    found = redundancy(np.outer(np.random.default_rng(2).normal(size=40), np.arange(1, 12)), kernel=kernel)
    assert_allclose(found, 1, rtol=1e-13)
    assert found.max() <= 1


def test_constant_features():
    X = table()
    X[:, [1, 3]] = [5.0, 0.1]
    found = redundancy(X)
    assert_array_equal(found[[1, 3]], np.eye(7)[[1, 3]])
    assert_allclose(found[np.ix_([0, 2, 4], [0, 2, 4])], redundancy(X[:, [0, 2, 4]]), rtol=1e-12)
    assert_array_equal(redundancy(np.ones((5, 3))), np.eye(3))


def test_which_features():
    X = table()
    whole, chosen = redundancy(X), [4, 0, 2]
    expected = whole[np.ix_(chosen, chosen)]
    mask = np.isin(np.arange(7), chosen)
    for matrix in (X, X.tolist(), sparse.csr_array(X), sparse.coo_matrix(X)):
        assert_allclose(redundancy(matrix, chosen), expected, rtol=1e-12)
        assert_allclose(redundancy(matrix, mask), whole[np.ix_(mask, mask)], rtol=1e-12)
        assert_allclose(redundancy(matrix), whole, rtol=1e-12)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_names(library):
    frames = pytest.importorskip(library)
    X = table()
    X[:, 5] = np.arange(60) % 3
    data = dict(zip("abcdefg", X.T, strict=True))
    frame = frames.table(data) if library == "pyarrow" else frames.DataFrame(data)
    for features in (["e", "a", "c"], [4, 0, 2]):
        assert_allclose(redundancy(frame, features), redundancy(X, [4, 0, 2]), rtol=1e-12)
    assert redundancy(frame, "e") == [[1.0]]
    with pytest.raises(ValueError, match=r"features has 'z', which is not a column; accepted: .*'a', 'b'"):
        redundancy(frame, ["a", "z"])
    whole = redundancy(frame, categorical_features=["f"])
    assert_allclose(redundancy(frame), redundancy(X), rtol=1e-12)
    assert not np.allclose(whole, redundancy(X))
    positions = [3, 5, 0]
    for town in ("f", ["f"], [5], np.arange(7) == 5):
        found = redundancy(frame, positions, categorical_features=town)
        assert_allclose(found, whole[np.ix_(positions, positions)], rtol=1e-12)


HOLE = np.where(np.arange(420).reshape(60, 7) == 26, np.nan, table())  # row 3, column 5


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (table(), {"features": [0, 7]}, "features has 7, which is not a column; accepted: .* columns among 0, 1"),
        (table(), {"features": []}, r"features is \[\]; accepted: one or more"),
        (table(), {"features": [True, False]}, "features is a mask of 2 columns; accepted: a mask of 7"),
        (HOLE, {"features": [4, 5], "missing": "error"}, r"X contains NaN .*row 3, column 5"),
        (table(), {"kernel": "precomputed"}, "kernel is 'precomputed'"),
        (table(), {"kernel": Gaussian("optimise")}, "'optimise', which needs labels"),
        (table() * 1e200, {"standardize": False}, r"X has values up to .*; accepted with standardize=False: up to 1e"),
    ],
)
def test_what_is_refused(X, options, message):
    with pytest.raises(ValueError, match=message):
        redundancy(X, **options)
