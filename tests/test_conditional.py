"""Tests whether a feature is needed beyond others: against the definition, and on problems of known truth."""

import numpy as np
import pytest
from scipy import stats

import crossfit_oracle
from bahsic import BAHSIC, SelectionTest, conditional_test, selection_test
from bahsic.datasets import make_xor

RIDGES = [10.0 ** (1 - i / 2) for i in range(19)]


def centred_kernel(X, Z, columns, width):
    """Gaussian kernel on some columns between samples X and Z, which are standardised already."""
    D = sum((np.subtract.outer(X[:, j], Z[:, j]) ** 2 for j in columns), np.zeros((len(X), len(Z))))
    return np.exp(-width * D / (2 * max(1, len(columns))))


def ridge_regression(X, Y, Z, columns, width, ridge, n):
    """Predictions for Z: least squares with a free intercept and the penalty n ridge |f|^2, as one linear system."""
    K, cross = (centred_kernel(samples, X, columns, width) for samples in (X, Z))
    return crossfit_oracle.predicted(K, cross, Y, ridge * n / len(X))


def left_out(X, Y, columns, width, ridge):
    """Residual of each sample, by the regression on the others."""
    n = len(X)
    others = [np.delete(np.arange(n), i) for i in range(n)]
    return np.array(
        [Y[i] - ridge_regression(X[o], Y[o], X[[i]], columns, width, ridge, n)[0] for i, o in enumerate(others)]
    )


def chosen(X, Y, columns):
    errors = {(w, r): np.sum(left_out(X, Y, columns, w, r) ** 2) for w in (0.25, 1.0, 4.0) for r in RIDGES}
    return min(errors, key=errors.get)


def pvalue_by_definition(X, Y, feature, given):
    """The first half of the samples learns, the second one tests."""
    X, half = (X - X.mean(axis=0)) / X.std(axis=0), len(X) // 2
    A, B, both, n = X[:half], X[half:], [feature, *given], half
    g = {}
    for name, Z in (("A", A), ("B", B)):
        parts = []
        for c in range(Y.shape[1]):
            target = Y[:half, [c]]
            parts.append(ridge_regression(A, target, Z, both, *chosen(A, target, both), n))
        g[name] = np.hstack(parts)
    m = ridge_regression(A, g["A"], B, given, *chosen(B, g["B"], given), n)
    f, y = g["B"] - m, Y[half:]
    operators = []
    for target in (y, f):
        width, ridge = chosen(B, target, given)
        operators.append(left_out(B, np.eye(len(B)), given, width, ridge / 10))
    D, E = operators
    products = [sum((D[i] @ y)[c] * (E[i] @ f)[c] for c in range(y.shape[1])) for i in range(len(B))]
    dependent = sum((D[:, i] @ E[:, k]) ** 2 for i in range(len(B)) for k in range(len(B)))
    independent = sum((D[i] @ D[i]) * (E[i] @ E[i]) for i in range(len(B)))
    variance = sum(p**2 for p in products) * dependent / independent
    return stats.norm.sf(sum(products) / np.sqrt(variance))


@pytest.mark.parametrize(("given", "n_outputs"), [([1, 2], 1), ([1], 2), ([], 1)])
def test_pvalue_is_that_of_the_definition(given, n_outputs):
    random = np.random.default_rng(3)
    X = random.standard_normal((36, 3))
    Y = X[:, [0]] * X[:, [1]] + 0.5 * random.standard_normal((36, n_outputs))
    result = conditional_test(X, Y, 0, given, n_splits=1, random_state=0)
    test = np.random.RandomState(0).choice(36, 18, replace=False)
    order = np.concatenate([np.setdiff1d(np.arange(36), test), test])
    Y = (Y - Y.mean(axis=0)) / Y.std(axis=0)
    assert result.pvalue == pytest.approx(pvalue_by_definition(X[order], Y[order], 0, given), rel=1e-6)


def xor(n=200, seed=0):
    X, y, _ = make_xor(n, 5, random_state=seed)
    return X, y


def test_what_matters_only_together_is_needed():
    X, y = xor()
    assert conditional_test(X, y, 0, random_state=0).pvalue < 1e-4
    assert conditional_test(X, y, 0, given=1, random_state=0).pvalue < 1e-4
    assert conditional_test(X, y, 0, given=[], random_state=0).pvalue > 0.05
    assert conditional_test(X, y, 2, given=[0, 1], random_state=0).pvalue > 0.05

    assert conditional_test(X, y, [0, 1], given=[2, 3], random_state=0).pvalue < 1e-4
    X[:, 4] = 7.0  # a constant adds nothing
    assert conditional_test(X, y, 4, random_state=0).pvalue == 1


def test_a_feature_that_others_replace_is_not_needed():
    random = np.random.default_rng(0)
    X = random.standard_normal((300, 3))
    X[:, 1] = X[:, 0] + 0.01 * random.standard_normal(300)
    y = X[:, 0] + 0.3 * random.standard_normal(300)
    assert conditional_test(X, y, 0, given=1, random_state=0).pvalue > 0.05
    assert conditional_test(X, y, 0, given=2, random_state=0).pvalue < 1e-6


def test_units_order_of_columns_and_threads_change_nothing():
    X, y = xor()
    y = y + np.random.default_rng(0).standard_normal(len(y))

    def pvalues(X, y, feature, given, n_jobs=1):
        options = {"n_splits": 4, "random_state": 0, "n_jobs": n_jobs}
        return conditional_test(X, y, feature, given, **options).split_pvalues

    usual = pvalues(X, y, 0, [1, 2])
    np.testing.assert_allclose(pvalues(5 - 3 * X, 2 * y, 0, [1, 2]), usual, rtol=1e-6)
    np.testing.assert_allclose(pvalues(X[:, [2, 0, 1]], y, 1, [2, 0]), usual, rtol=1e-6)
    np.testing.assert_array_equal(pvalues(X, y, 0, [1, 2], n_jobs=2), usual)


def test_mixed_tables_with_missing_entries_and_names():
    pd = pytest.importorskip("pandas", reason="names come with a dataframe")
    random = np.random.default_rng(1)
    n = 300
    X = pd.DataFrame(
        {
            "dose": random.standard_normal(n),
            "arm": pd.Categorical(random.choice(list("abc"), n)),
            "noise": random.standard_normal(n),
        }
    )
    y = np.where(X["arm"] == "a", X["dose"], -X["dose"]) + 0.5 * random.standard_normal(n)
    X.loc[::10, "dose"] = np.nan
    assert conditional_test(X, y, "arm", given="dose", random_state=0).pvalue < 1e-3
    assert conditional_test(X, y, "arm", given=["noise"], random_state=0).pvalue > 0.05
    assert conditional_test(X, y, "noise", random_state=0).pvalue > 0.05


@pytest.mark.parametrize("kind", ["classes", "outputs", "survival"])
def test_every_kind_of_target(kind):
    random = np.random.default_rng(2)
    X = random.standard_normal((300, 3))
    signal, options = X[:, 0] * X[:, 1], {}
    if kind == "classes":
        y = np.array(["low", "middle", "high"])[np.digitize(signal + 0.2 * random.standard_normal(300), [-0.4, 0.4])]
    elif kind == "outputs":
        y = np.column_stack([random.standard_normal(300), signal + 0.5 * random.standard_normal(300)])
    else:
        time = random.exponential(np.exp(-2 * signal))
        y, options = np.column_stack([time, random.random(300) < 0.8]), {"target_kernel": "survival"}
    options |= {"n_splits": 5, "random_state": 0}
    assert conditional_test(X, y, 0, given=1, **options).pvalue < 0.01
    assert conditional_test(X, y, 2, given=[0, 1], **options).pvalue > 0.05


def test_many_samples_are_tested_in_parts():
    random = np.random.default_rng(0)
    X = random.standard_normal((5000, 2))
    y = 0.25 * X[:, 0] + random.standard_normal(5000)
    found = conditional_test(X, y, 0, given=1, n_splits=1, random_state=0)
    assert found.pvalue < 1e-6
    assert conditional_test(X[:, [1]], y, 0, n_splits=1, random_state=0).pvalue > 0.01
    fewer = conditional_test(X[:500], y[:500], 0, given=1, n_splits=1, random_state=0)
    assert found.pvalue < fewer.pvalue


def test_columns_of_a_group_share_a_pvalue():
    X, y = xor(160)
    groups = ["a", "b", "c", "c", "b"]
    found = selection_test(BAHSIC(2, feature_groups=groups), X, y, n_splits=3, method="gamma", random_state=0)
    assert found.feature_pvalues[1] == found.feature_pvalues[4] < 0.05
    assert found.feature_pvalues[0] < 0.05
    assert found.feature_pvalues[2] == 1


def test_discoveries_by_hand():
    limits = 0.1 * np.arange(1, 6) / (1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5)
    values = np.array([limits[2] * 0.99, np.inf, 0.0, limits[2] * 0.98, 1.7])
    found = SelectionTest(0.0, np.minimum(1, values), np.ones(5), np.zeros(1), values)
    np.testing.assert_array_equal(found.discoveries(0.1), [0, 2, 3])
    np.testing.assert_array_equal(found.discoveries(0.05), [2])
    assert len(SelectionTest(1.0, np.ones(2), np.ones(2), np.ones(1), np.full(2, np.inf)).discoveries()) == 0
    with pytest.raises(ValueError, match="fdr is 2; accepted: a fraction between 0 and 1"):
        found.discoveries(2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"feature": 9}, "feature has 9, which is not a column"),
        ({"feature": []}, "feature has no column; accepted: one or more"),
        ({"given": [0, 1]}, "feature and given both have column 0; accepted: different ones"),
        ({"given": "x"}, "given has 'x', which is not a column"),
        ({"n_splits": 0}, "n_splits is 0"),
        ({"test_size": 2}, "test_size is 2; accepted: a fraction"),
        ({"y": [0, 1]}, "X and y have different numbers of samples|y has 2"),
    ],
)
def test_bad_arguments(changes, message):
    X, y = xor(40)
    with pytest.raises(ValueError, match=message):
        conditional_test(**{"X": X, "y": y, "feature": 0, **changes})
