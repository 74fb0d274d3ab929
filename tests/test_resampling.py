"""Stability of a selection, and p-values after it."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context, get_config
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectFdr, SelectKBest, SelectorMixin, VarianceThreshold, chi2, f_classif
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mixed_oracle
from bahsic import BAHSIC, SelectionTest, hsic_test, selection_frequencies, selection_test
from bahsic.datasets import make_xor
from bahsic.kernels import Gaussian
from selecting import drawn, standardised

BOTH = pytest.mark.parametrize("function", [selection_frequencies, selection_test])
COUNTS = {selection_frequencies: "n_resamples", selection_test: "n_splits"}


class Watched(BAHSIC):
    """BAHSIC that remembers what it was fitted to, and under which configuration."""

    seen: list = []  # noqa: RUF012 - shared by the clones on purpose

    def fit(self, X, y):
        self.seen.append((X, y, get_config()["working_memory"]))
        return super().fit(X, y)


class Fixed(SelectorMixin, BaseEstimator):
    """Selects the same features always."""

    def __init__(self, support):
        self.support = support

    def fit(self, X, y=None):
        return self

    def _get_support_mask(self):
        return np.asarray(self.support)


@pytest.fixture
def seen():
    Watched.seen.clear()
    return Watched.seen


def parts(seen, X):
    """The samples of each fit, by the values of the first feature, in the order of `parts` themselves."""
    return [np.array([int(np.flatnonzero(X[:, 0] == value)[0]) for value in part[:, 0]]) for part, _, _ in seen]


# Frequencies


def test_frequencies_are_those_of_a_loop(seen):
    X, y = drawn()
    found = selection_frequencies(Watched(2, step=2), X, y, 10, random_state=3, n_jobs=1)
    counts = np.zeros(X.shape[1])
    for part in parts(seen, X):
        counts[BAHSIC(2, step=2).fit(X[part], y[part]).get_support(indices=True)] += 1
    assert found.shape == (8,)
    np.testing.assert_array_equal(found, counts / 10)
    assert ((found > 0) & (found < 1)).any()  # so that the fractions say something


def test_parts_are_drawn_without_replacement_and_differ(seen):
    X, _ = drawn(m=30)
    selection_frequencies(Watched(2, step=4), X, X[:, 1], 12, subsample=0.4, random_state=0, n_jobs=1)
    drawn_parts = parts(seen, X)
    assert [len(set(part)) for part in drawn_parts] == [12] * 12
    assert len({tuple(part) for part in drawn_parts}) == 12
    assert set(np.concatenate(drawn_parts)) == set(range(30))
    assert all(np.array_equal(y, X[part, 1]) for part, (_, y, _) in zip(drawn_parts, seen, strict=True))


@pytest.mark.parametrize("target_kernel", ["auto", "multiclass", "delta"])
@pytest.mark.parametrize("labels", [np.array, lambda y: [f"class {c}" for c in y]])
def test_parts_keep_the_proportions_of_classes(seen, labels, target_kernel):
    X, _ = drawn(m=80)
    y = np.random.default_rng(0).permutation(np.repeat([0, 1, 2], [60, 16, 4]))
    selector = Watched(2, step=4, target_kernel=target_kernel)
    selection_frequencies(selector, X, labels(y), 10, subsample=0.25, random_state=0)
    assert [np.unique(part, return_counts=True)[1].tolist() for _, part, _ in seen] == [[15, 4, 1]] * 10
    seen.clear()
    selection_test(selector, X, labels(y), n_splits=5, test_size=0.9, method="gamma", random_state=0)
    assert [len(np.unique(part)) for _, part, _ in seen] == [3] * 5


@pytest.mark.parametrize(
    ("options", "stratify"), [({}, False), ({"target_kernel": "regression"}, True), ({"target_kernel": "linear"}, True)]
)
def test_numbers_are_no_classes_where_that_is_said(seen, options, stratify):
    X, _ = drawn()
    y = np.where(np.arange(40) == 0, 0, np.arange(40) // 4 + 1)  # by themselves classes, one of a single sample
    selection_frequencies(Watched(2, step=4, **options), X, y, 10, stratify=stratify, random_state=0)
    assert len({tuple(np.sort(part)) for _, part, _ in seen}) == 10
    assert max(np.unique(part, return_counts=True)[1].max() for _, part, _ in seen) > 2


def test_any_selector_will_do():
    X, y = drawn()
    noisy = selection_frequencies(SelectKBest(f_classif, k=2), X, y, 40, random_state=0)
    assert noisy.sum() == pytest.approx(2)
    assert set(np.argsort(noisy)[-2:]) == {1, 4}
    np.testing.assert_array_equal(
        selection_frequencies(VarianceThreshold(0.2), X * [0, *[1] * 7], None, 3), [0, *[1] * 7]
    )
    several = np.column_stack([y, 1 - y, y])
    assert selection_frequencies(SelectKBest(chi2, k=3), abs(X), several, 5).sum() == pytest.approx(3)


# Both


@BOTH
def test_the_seed_decides_and_threads_do_not(function):
    X, y = drawn(m=24)

    def values(random_state, n_jobs):
        found = function(BAHSIC(3, step=3), X, y, **{COUNTS[function]: 4}, random_state=random_state, n_jobs=n_jobs)
        return np.append(found.split_pvalues, found.feature_pvalues) if function is selection_test else found

    one = values(5, 1)
    np.testing.assert_array_equal(one, values(5, None))
    np.testing.assert_array_equal(one, values(5, 3))
    np.testing.assert_array_equal(one, values(np.random.RandomState(5), 2))
    np.testing.assert_array_equal(values(np.random.default_rng(5), 1), values(np.random.default_rng(5), 2))
    assert not np.array_equal(one, values(6, 1))


@BOTH
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_fits_have_frames_and_the_configuration_of_the_caller(seen, function, library):
    frames = pytest.importorskip(library)
    X, y = drawn()
    names = [f"gene {j}" for j in range(8)]
    X, y = frames.DataFrame(dict(zip(names, X.T, strict=True))), frames.Series(y)
    selector = Watched(2, step=4)
    with config_context(working_memory=7):
        function(selector, X, y, **{COUNTS[function]: 5}, n_jobs=3)
    assert {memory for _, _, memory in seen} == {7}
    assert not hasattr(selector, "support_")  # clones are fitted
    assert all(list(part.columns) == names for part, _, _ in seen)
    assert all(isinstance(part, frames.Series) for _, part, _ in seen)


@BOTH
def test_fits_warn_nobody(function):
    X, y = drawn()
    X[:, 3] = np.arange(40) == 0  # constant in every other part
    before = list(warnings.filters)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function(BAHSIC(20, step=4), X, y, **{COUNTS[function]: 9}, random_state=0, n_jobs=2)
    assert caught == []
    assert list(warnings.filters) == before


# The test


@pytest.mark.parametrize(
    ("options", "changes", "kernel", "target_kernel", "n_splits", "factor"),
    [
        ({}, {}, "gaussian", "auto", 5, 5 / 3),
        ({"kernel": "linear", "target_kernel": "delta"}, {}, "linear", "delta", 1, 1),
        ({"kernel": "linear"}, {"kernel": "laplacian", "target_kernel": "multiclass"}, "laplacian", "multiclass", 2, 2),
        ({"standardize": False}, {}, "gaussian", "auto", 4, 2),
    ],
)
def test_every_split_by_hand(seen, options, changes, kernel, target_kernel, n_splits, factor):
    X, y = drawn(m=50)
    X *= np.linspace(0.2, 3, 8)
    selector = Watched(3, **options)
    common = {"test_size": 0.4, "feature_test": "marginal", "method": "gamma", "random_state": 1}
    found = selection_test(selector, X, y, n_splits=n_splits, **common, **changes)
    Z = X if selector.standardize is False else standardised(X)
    fixed = {"method": "gamma", "kernel": kernel, "target_kernel": target_kernel, "standardize": False}
    single, joint, support = np.ones((n_splits, 8)), np.empty(n_splits), np.zeros((n_splits, 8), bool)
    for i, part in enumerate(parts(list(seen), X)):
        rest = np.setdiff1d(np.arange(50), part)
        assert (len(part), len(rest)) == (30, 20)
        chosen = BAHSIC(3, **options).fit(X[part], y[part]).get_support(indices=True)
        joint[i] = hsic_test(Z[rest][:, chosen], y[rest], **fixed).pvalue
        for j in chosen:
            single[i, j] = min(1, 3 * hsic_test(Z[rest, j], y[rest], **fixed).pvalue)
            support[i, j] = True
    np.testing.assert_allclose(found.split_pvalues, joint, rtol=1e-9)
    rank = (n_splits - 1) // 2
    assert found.pvalue == pytest.approx(min(1, factor * sorted(joint)[rank]), rel=1e-9)
    expected = np.minimum(1, factor * np.sort(single, axis=0)[rank])
    np.testing.assert_allclose(found.feature_pvalues, expected, rtol=1e-9)
    np.testing.assert_array_equal(found.frequencies, support.mean(axis=0))


def test_features_that_matter_together_show_together():
    X, y, support = make_xor(120, 12, random_state=0)
    options = {"n_splits": 9, "n_permutations": 199, "random_state": 0}
    found = selection_test(BAHSIC(2), X, y, **options, feature_test="marginal")
    assert found.pvalue <= 0.01
    assert found.feature_pvalues.min() > 0.1
    assert found.frequencies[support].min() > 0.5
    conditional = selection_test(BAHSIC(2), X, y, **options)
    assert conditional.pvalue == found.pvalue
    assert conditional.feature_pvalues[support].max() < 1e-4
    assert (conditional.feature_pvalues[~support] == 1).all()


def test_nothing_selected_is_nothing_found():
    X, y = drawn()[0], np.arange(40) % 2
    found = selection_test(SelectFdr(alpha=1e-12), X, y, n_splits=3)
    assert isinstance(found, SelectionTest)
    assert found.pvalue == 1.0
    np.testing.assert_array_equal(found.split_pvalues, np.ones(3))
    np.testing.assert_array_equal(found.feature_pvalues, np.ones(8))
    np.testing.assert_array_equal(found.frequencies, np.zeros(8))


@pytest.mark.parametrize("method", ["permutation", "gamma"])
def test_features_constant_in_one_part_or_both(method):
    X, y = drawn(m=30)
    X[:, 0], X[:, 2] = 7.0, np.arange(30) == 0
    found = selection_test(Fixed([True, False, True] + [False] * 5), X, y, method=method, random_state=0)
    assert found.feature_pvalues[0] == 1.0
    assert 0 < found.pvalue <= 1
    assert np.isfinite(found.split_pvalues).all()


def test_the_type_of_all_labels_counts():
    """In a part, numbers may look like classes, or like a single one."""
    X, _ = drawn()
    y = np.where(np.arange(40) < 2, [0.5], 0.0)
    for seed in range(5):
        found = selection_test(Fixed([True] * 8), X, y, n_splits=4, test_size=0.2, method="gamma", random_state=seed)
        assert np.isfinite(found.split_pvalues).all()
    assert 1.0 in found.split_pvalues


# Bad input

FREQUENCIES = [
    ({"n_resamples": 0}, "n_resamples is 0; accepted: an int of at least 1"),
    ({"subsample": 1.5}, "subsample is 1.5; accepted: a fraction between 0 and 1"),
    ({"subsample": 0.05}, "subsample is 0.05, 2 of 40 samples; accepted: at least 4"),
    ({"y": [0] * 39 + [1]}, "y has class 1 once; accepted: two samples of each class, or stratify=False"),
]
TEST = [
    ({"n_splits": 0}, "n_splits is 0; accepted: an int of at least 1"),
    ({"test_size": 1.0}, "test_size is 1.0; accepted: a fraction between 0 and 1"),
    ({"test_size": 0.95}, "test_size is 0.95, .* 2 samples to select with and 38 to test with"),
    ({"test_size": 0.05}, "test_size is 0.05, .* 38 samples to select with and 2 to test with"),
    ({"method": "normal"}, "method is 'normal'; accepted: 'permutation', 'gamma'"),
    ({"feature_test": "joint"}, "feature_test is 'joint'; accepted: 'conditional', 'marginal'"),
    ({"kernel": "gausian"}, "kernel is 'gausian'"),
    ({"kernel": "precomputed"}, "kernel is 'precomputed'; accepted: a kernel on features"),
    ({"kernel": Gaussian("optimise")}, "kernel is .*'optimise'.*, which fits gamma to the labels"),
    ({"y": ["a"] * 39 + ["b"]}, "y has class 'b' once; .*target_kernel='regression'"),
    ({"y": None}, "y has shape"),
]
EITHER = [
    ({"selector": BAHSIC}, "selector is .*BAHSIC.*; accepted: an estimator with get_support"),
    ({"selector": make_pipeline(StandardScaler(), BAHSIC(2))}, "selector is Pipeline"),
    ({"n_jobs": 0}, "n_jobs is 0; accepted: None or an int other than 0"),
    ({"random_state": -1}, "random_state is -1"),
    ({"y": np.arange(39) % 2}, "X has 40 samples, y has 39 samples"),
    ({"y": np.zeros(40)}, "one class only"),
    ({"X": np.append(np.ones(39), np.inf)[:, None]}, "X .*infinity"),
    ({"X": np.ones((3, 2)), "y": [0, 1, 0.5]}, "(subsample|test_size) is 0.5"),
]


@pytest.mark.parametrize(
    ("function", "changes", "message"),
    [(selection_frequencies, *case) for case in [*FREQUENCIES, *EITHER]]
    + [(selection_test, *case) for case in [*TEST, *EITHER]],
)
def test_invalid_arguments(function, changes, message):
    X, y = drawn()
    with pytest.raises(TypeError if "selector" in changes else ValueError, match=message):
        function(**{"selector": BAHSIC(2), "X": X, "y": y, **changes})


# Tables


def mixed_table(m=160):
    """A number and a category that matter together, among noise with missing entries."""
    rng = np.random.default_rng(0)
    codes, X = rng.integers(0, 3, m), rng.normal(size=(m, 4))
    y = ((codes == 0) ^ (X[:, 0] > 0)).astype(int)
    X[::7, 1] = np.nan
    return np.column_stack([X, codes]), y


def test_the_kernel_of_a_mixed_test_is_that_of_the_definition(seen):
    X, y = mixed_table(40)
    selector = Watched(5, categorical_features=[4], missing="neutral", kernel=Gaussian(0.3))
    found = selection_test(selector, X, y, n_splits=1, random_state=0, method="gamma")
    columns = [[None if np.isnan(x) else float(x) for x in column] for column in X.T]
    totals = mixed_oracle.totals(columns, [False] * 4 + [True], 2).sum(axis=0)
    trained = seen[0][0]
    test = [i for i, row in enumerate(X) if not np.isclose(trained, row, equal_nan=True).all(axis=1).any()]
    assert len(test) == 20
    K = np.exp(-0.3 * totals)[np.ix_(test, test)]
    assert found.split_pvalues[0] == pytest.approx(hsic_test(K, y[test], kernel="precomputed", method="gamma").pvalue)


def test_sparse_data_give_what_dense_data_give():
    X, y = mixed_table()
    dense = np.where(X > 0.5, X, 0.0)[:, [0, 2, 3, 4]]
    results = [selection_test(BAHSIC(2), Z, y, n_splits=3, random_state=0) for Z in (dense, sparse.csr_array(dense))]
    np.testing.assert_allclose(results[0].feature_pvalues, results[1].feature_pvalues, rtol=1e-4)
    np.testing.assert_allclose(results[0].split_pvalues, results[1].split_pvalues, rtol=1e-9)
