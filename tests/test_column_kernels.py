"""Short forms of the kernel matrices of single columns, against matrices by the definition."""

from importlib import import_module

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import column_oracle
from bahsic.data.columns import Columns
from bahsic.inference.centred import as_matrix, from_column, from_vectors, permuted_products
from bahsic.inference.chains import sum_of_products
from bahsic.inference.column_gamma import ColumnKind, gamma_of_column
from bahsic.inference.column_kernels import centred_column, column_kernel, kernel_of_column, part_product
from bahsic.inference.factors import power_factors
from bahsic.inference.independence import hsic_test
from bahsic.inference.redundancy import redundancy, similarities
from bahsic.inference.scores import hsic_scores
from bahsic.kernels import Delta, Gaussian, Laplacian, Linear


def holes(x, share=0.3, seed=9):
    missing = np.random.default_rng(seed).random(len(x)) < share
    missing[:2] = False, True
    return np.where(missing, np.nan, x)


def example(name, m, seed=0):
    """A column and its kind."""
    rng = np.random.default_rng(seed)
    numbers = {"centre": 0.1, "neutral": 1.8}
    codes = {f"{k} categories": rng.integers(0, k, m).astype(float) for k in (2, 7, 100)}
    codes["rare category"] = (np.arange(m) == m - 1) * 3.0
    codes["all different"] = np.arange(m, dtype=float)
    plain = {
        "normal": rng.normal(size=m),
        "few values": rng.integers(-2, 3, m).astype(float),
        "two values": (np.arange(m) % 3 == 0).astype(float),
        "outliers": np.where(np.arange(m) % 13 == 5, 1e3 * rng.standard_cauchy(m), rng.normal(size=m)),
        "rare value": np.where(np.arange(m) == m - 1, 30.0, 0.0),
        "constant": np.zeros(m),
    }
    name, _, rest = name.partition(", ")
    if name in plain:
        kind, x = ({} if not rest else numbers), plain[name]
    else:
        kind, x = {"different": 2.7, "neutral": 2.0 if rest else 0.0}, codes[name]
    return (holes(x) if rest else x), ColumnKind(**kind, together=rest == "missing together")


NUMBERS = ["normal", "few values", "two values", "outliers", "rare value", "constant"]
CATEGORIES = ["2 categories", "7 categories", "100 categories", "rare category", "all different"]
NAMES = [name + rest for name in NUMBERS + CATEGORIES for rest in ("", ", missing", ", missing together")]


def definition(x, kind, power):
    return column_oracle.totals(x, power=power, **vars(kind))


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("gamma", [0.5, 1e-9, 40.0])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("m", [6, 41])
def test_the_short_form_is_the_centred_matrix(name, gamma, power, m):
    x, kind = example(name, m)
    A = from_column(column_kernel(x, gamma, power, kind))
    expected = column_oracle.centred(definition(x, kind, power), gamma)
    size = float(np.abs(expected).max())
    found = as_matrix(A)
    assert_allclose(np.ldexp(found.matrix, A.exponent), expected.astype(float), rtol=0, atol=2e-12 * size)
    assert_allclose(np.ldexp(A.diagonals[0], A.exponent), np.diag(expected).astype(float), rtol=0, atol=2e-12 * size)
    assert np.ldexp(A.squares[0], 2 * A.exponent) == pytest.approx(float(np.square(expected).sum()), rel=1e-11)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("name", NAMES)
def test_products_with_permuted_labels(name, power):
    m = 50
    x, kind = example(name, m)
    rng = np.random.default_rng(3)
    B = from_vectors(rng.normal(size=(m, 2)))
    shuffles = np.array([rng.permutation(m) for _ in range(5)], dtype=np.int32)
    A = from_column(column_kernel(x, 0.5, power, kind))
    expected = column_oracle.centred(definition(x, kind, power), 0.5).astype(float)
    labels = B.factors[0].T @ B.factors[0]
    products = [np.vdot(expected, labels[np.ix_(p, p)]) for p in shuffles]
    found = np.ldexp(permuted_products(A, B, shuffles)[:, 0], A.exponent)
    assert_allclose(found, products, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("tables", [2**22, 0], ids=["whole tables", "occupied cells"])
def test_products_of_two_columns_with_weights(monkeypatch, power, tables):
    m = 40
    monkeypatch.setattr(import_module("bahsic.inference.groups"), "_TABLE_ENTRIES", tables)
    w = np.random.default_rng(1).integers(1, 4, m).astype(float)
    columns = [example(name, m, seed) for seed, name in enumerate(NAMES) if "constant" not in name]
    dense = [column_oracle.centred(definition(x, kind, power), 0.5, w).astype(float) for x, kind in columns]
    short = [centred_column(column_kernel(x, 0.5, power, kind, w), w) for x, kind in columns]
    for (one, square, first), A in zip(short, dense, strict=True):
        pairs = np.multiply.outer(w, w)
        assert np.ldexp(square, 2 * first) == pytest.approx((pairs * A * A).sum(), rel=1e-11)
        for (two, _, second), B in zip(short, dense, strict=True):
            found = np.square(one.factors @ two.factors.T).sum()
            found += sum(part.forms(two.factors * np.sqrt(w)).sum() for part in one.parts)
            found += sum(part.forms(one.factors * np.sqrt(w)).sum() for part in two.parts)
            found += sum(part_product(p, q) for p in one.parts for q in two.parts)
            assert np.ldexp(found, first + second) == pytest.approx((pairs * A * B).sum(), rel=1e-9, abs=1e-11)


@pytest.mark.parametrize("m", [2, 3, 7, 64, 97])
@pytest.mark.parametrize("gamma", [1e-7, 0.5, 60.0])
def test_two_long_chains(monkeypatch, m, gamma):
    rng = np.random.default_rng(m)
    w = rng.integers(1, 4, m).astype(float)
    x, y = rng.normal(size=m), rng.integers(0, 20, m) / 7
    one, two = (column_kernel(v, gamma, 1, ColumnKind(centre=v[0]), w).parts[0] for v in (x, y))
    expected = w @ (one.matrix() * two.matrix()) @ w
    assert sum_of_products(one, two) == pytest.approx(expected, rel=1e-12)
    A, B = (column_oracle.centred(-np.log1p(part.matrix().astype(np.longdouble)), 1.0, w) for part in (one, two))
    monkeypatch.setattr(import_module("bahsic.inference.chains"), "_FEW_LINKS", 0)
    assert part_product(one, two) == pytest.approx(float(w @ (A * B) @ w), rel=1e-9)


def test_too_many_factors_are_no_short_form(monkeypatch):
    x, kernel = np.linspace(0, 1, 200), Gaussian(1e4)
    X = np.column_stack([x, x**2])
    scores = hsic_scores(X, x, kernel=kernel, standardize=False)
    table = redundancy(X, kernel=kernel, standardize=False)
    assert column_kernel(x, 1e4, 2) is not None
    monkeypatch.setattr(import_module("bahsic.inference.column_kernels"), "_MOST_ENTRIES", 0)
    assert column_kernel(x, 1e4, 2) is None  # and the matrix itself is used
    assert_allclose(hsic_scores(X, x, kernel=kernel, standardize=False), scores, rtol=1e-9)
    assert_allclose(redundancy(X, kernel=kernel, standardize=False), table, rtol=1e-9)


def test_a_category_of_one_sample_in_very_many():
    m = 10**6
    x = (np.arange(m) == 3).astype(float)
    A = from_column(column_kernel(x, 0.5, 2, ColumnKind(different=2.0)))
    # HDH is 2 e u u' for two groups with constant e, where u is x less its mean
    diagonal = 2 * -np.expm1(-1) * np.square(x - 1 / m)
    assert_allclose(np.ldexp(A.diagonals[0, :5], A.exponent), diagonal[:5], rtol=1e-13)
    assert np.ldexp(np.sqrt(A.squares[0]), A.exponent) == pytest.approx(2 * -np.expm1(-1) * (1 - 1 / m), rel=1e-13)


@pytest.mark.parametrize("gamma", [0.5, 1e-3, 1e-12])
def test_powers_are_accurate_relative_to_what_centring_leaves(gamma):
    x = np.linspace(-0.3, 2.5, 30)
    F = power_factors(x, gamma).astype(np.longdouble)
    F -= F.mean(axis=1, keepdims=True)
    expected = column_oracle.centred(np.square(np.subtract.outer(x, x)), gamma)
    assert np.abs(F.T @ F - expected).max() <= 2e-15 * np.abs(expected).max()


def test_other_kernels_have_no_short_form():
    columns = Columns.plain(np.random.default_rng(0).normal(size=(1, 20)))
    assert all(kernel_of_column(columns, 0, kernel) is None for kernel in (Linear(), Delta()))


@pytest.mark.parametrize("kernel", [Gaussian("median"), Laplacian("median")], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", [name for name in NAMES if "constant" not in name])
def test_the_median_rule_counts_pairs(name, kernel, weighted):
    x, kind = example(name, 25)
    w = np.random.default_rng(2).integers(1, 4, 25) if weighted else np.ones(25, dtype=int)
    D = definition(x, kind, kernel.power)
    # Copies of a sample are at distance zero.
    expected = column_oracle.median_gamma(D, kernel.power, w)
    assert gamma_of_column(x, kernel, kind, w.astype(float)) == pytest.approx(expected, rel=1e-12)


def test_other_rules():
    kind, x = ColumnKind(different=2.0), np.array([0.0, 1.0])
    assert gamma_of_column(x, Gaussian(), kind) == 0.5
    assert gamma_of_column(x, Gaussian(0.3), kind) == 0.3
    with pytest.raises(ValueError, match="accepted where only distances are known"):
        gamma_of_column(x, Gaussian(np.ptp), kind)


# Tables


def mixed_table(m, seed=0):
    """Columns of all kinds, and which of them are categories."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, m))
    numbers = [x, np.exp(3 * z), holes(x + z), holes(rng.integers(0, 3, m)), rng.standard_cauchy(m), np.full(m, 2.0)]
    codes = [rng.integers(0, k, m).astype(float) for k in (2, 6, 100)]
    codes += [(x > 0).astype(float), holes((x > 0).astype(float)), holes(rng.integers(0, 100, m).astype(float))]
    return np.column_stack(numbers + codes), list(range(len(numbers), len(numbers) + len(codes)))


def totals_of_table(X, categorical, power):
    """D of each column, with the constants that the selectors use."""
    standard, found = column_oracle.standard_mean(power), []
    for j, column in enumerate(X.T):
        x = column
        if j in categorical:
            kind = {"different": standard / column_oracle.chance_of_difference(x), "neutral": standard}
        else:
            x = (column - np.nanmean(column)) / (np.nanstd(column) or 1.0)
            kind = {"centre": 0.0 if power == 2 else np.nanmedian(x), "neutral": column_oracle.mean_of_pairs(x, power)}
        found.append(column_oracle.totals(x, power=power, **kind))
    return found


def labels(kind, x):
    numbers = np.nan_to_num(x) + np.random.default_rng(4).normal(size=len(x))
    return {"numbers": numbers, "classes": np.digitize(numbers, [-0.5, 0.5])}[kind]


OPTIONS = {"missing": "neutral"}


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
@pytest.mark.parametrize("kind", ["numbers", "classes"])
@pytest.mark.parametrize("m", [7, 110])
def test_scores_of_a_mixed_table(kernel, kind, m):
    X, categorical = mixed_table(m)
    y = labels(kind, X[:, 0])
    scores, pvalues = hsic_scores(X, y, kernel=kernel, categorical_features=categorical, **OPTIONS)
    for j, D in enumerate(totals_of_table(X, categorical, 2 if kernel == "gaussian" else 1)):
        K = np.exp(-D / 2)
        alone = hsic_test(K, y, kernel="precomputed", method="gamma")
        estimate = hsic_test(K, y, kernel="precomputed", n_permutations=1, random_state=0).statistic
        assert scores[j] == pytest.approx(estimate, rel=1e-9, abs=1e-14)
        assert pvalues[j] == pytest.approx(alone.pvalue, rel=1e-7)
    assert scores[5] == 0
    assert pvalues[5] == 1


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
@pytest.mark.parametrize("kind", ["numbers", "classes"])
@pytest.mark.parametrize("m", [6, 50])
def test_permutation_p_values_of_a_mixed_table(kernel, kind, m):
    X, categorical = mixed_table(m)
    y = labels(kind, X[:, 0])
    options = {"method": "permutation", "n_permutations": 199, "random_state": 3}
    _, pvalues = hsic_scores(X, y, kernel=kernel, categorical_features=categorical, **OPTIONS, **options)
    D = totals_of_table(X, categorical, 2 if kernel == "gaussian" else 1)
    tests = [hsic_test(np.exp(-one / 2), y, kernel="precomputed", **options) for one in D]
    assert_array_equal(pvalues, [test.pvalue for test in tests])
    assert len(np.unique(pvalues)) > 4


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
def test_labels_without_factors(kernel):
    m = 40
    X, categorical = mixed_table(m)
    L = np.exp(-np.square(np.subtract.outer(*[np.arange(m) % 37 * 50.0] * 2)))
    options = {"target_kernel": "precomputed"}
    scores, pvalues = hsic_scores(X, L, kernel=kernel, categorical_features=categorical, **OPTIONS, **options)
    for j, D in enumerate(totals_of_table(X, categorical, 2 if kernel == "gaussian" else 1)):
        alone = hsic_test(np.exp(-D / 2), L, kernel="precomputed", method="gamma", **options)
        assert pvalues[j] == pytest.approx(alone.pvalue, rel=1e-8)
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
@pytest.mark.parametrize("m", [7, 110])
def test_redundancy_of_a_mixed_table(monkeypatch, kernel, m):
    X, categorical = mixed_table(m)
    found = redundancy(X, kernel=kernel, categorical_features=categorical, **OPTIONS)
    power = 2 if kernel == "gaussian" else 1
    A = [column_oracle.centred(D, 0.5).astype(float) for D in totals_of_table(X, categorical, power)]
    d = len(A)
    expected = [
        [float(i == j) if 5 in (i, j) else column_oracle.alignment(A[i], A[j]) for j in range(d)] for i in range(d)
    ]
    assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
    monkeypatch.setattr(import_module("bahsic.inference.redundancy"), "_MATRIX_ENTRIES", 120 * m)
    chunked = redundancy(X, kernel=kernel, categorical_features=categorical, **OPTIONS)
    assert_allclose(chunked, found, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("kernel", [Gaussian(), Laplacian()], ids=str)
def test_redundancy_with_weights(kernel):
    m = 40
    rng = np.random.default_rng(0)
    data = np.array(
        [rng.integers(0, 4, m), rng.integers(0, 9, m), rng.normal(size=m), rng.integers(0, 3, m)], dtype=float
    )
    columns = Columns(data, np.array([2.4, 2.1, 0.0, 0.0]), np.zeros(4), np.zeros(4, dtype=bool))
    w = rng.integers(1, 4, m)
    repeated = Columns(np.repeat(data, w, axis=1), columns.different, columns.neutral, columns.missing)
    constant, features = np.zeros(4, dtype=bool), np.arange(4)
    found = similarities(columns, features, constant, kernel, w)
    assert_allclose(found, similarities(repeated, features, constant, kernel), rtol=1e-11)
