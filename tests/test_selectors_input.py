"""What BAHSIC and FOHSIC accept, and how they refuse the rest."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

from bahsic import BAHSIC, BAHSICCV, FOHSIC, hsic_scores
from bahsic.kernels import Gaussian
from selecting import SELECTORS, drawn, order, same_fit, selectors_in_turn

ESTIMATORS = pytest.mark.parametrize("selector", [BAHSIC, FOHSIC, partial(BAHSICCV, LogisticRegression(), cv=2)])

# Bad input

BAD_STEPS = [0, 0.0, 1.0, -0.1, "all", None, True, np.nan]
BAD_NUMBERS = [0, 0.0, 1.5, "half", True, np.nan]


@selectors_in_turn
@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"kernel": "precomputed"}, ValueError, "kernel is 'precomputed'"),
        ({"kernel": "gausian"}, ValueError, "kernel is 'gausian'.*gaussian"),
        ({"kernel": 3}, (TypeError, ValueError), "kernel is 3"),
        ({"kernel": Gaussian(-1.0)}, ValueError, "gamma is -1.0"),
        ({"target_kernel": "bnary"}, ValueError, "target_kernel is 'bnary'"),
        ({"statistic": "exact"}, ValueError, "statistic is 'exact'; accepted: 'unbiased', 'biased'"),
        ({"standardize": "yes"}, TypeError, "standardize is 'yes'; accepted: True, False"),
        ({"kernel": "rbf"}, ValueError, "kernel is 'rbf', did you mean 'gaussian'"),
        ({"categorical_features": "auto"}, ValueError, "categorical_features is 'auto'; accepted: 'from_dtype'"),
        ({"n_jobs": 0}, ValueError, "n_jobs is 0"),
        *(({"step": step}, ValueError, "step is .*; accepted") for step in BAD_STEPS),
        *(({"n_features_to_select": number}, ValueError, "n_features_to_select is .*; ac") for number in BAD_NUMBERS),
    ],
)
def test_invalid_parameters(selector, changes, error, message):
    with pytest.raises(error, match=message):
        selector(**changes).fit(*drawn())


@SELECTORS
@pytest.mark.parametrize(
    ("y", "target_kernel", "message"),
    [
        (np.full(40, 1.5), "auto", "y does not vary"),
        (np.full(40, 2), "delta", "y does not vary"),
        (np.arange(40), "multiclass", "y has 40 classes, another one for each sample"),
        ([f"s{i}" for i in range(40)], "delta", "y has 40 classes, another one for each sample"),
    ],
)
def test_labels_that_depend_on_nothing_are_reported(selector, y, target_kernel, message):
    X = drawn()[0]
    with pytest.warns(UserWarning, match=f"{message}.*, so that no feature can depend on it"):
        fitted = selector(target_kernel=target_kernel).fit(X, y)
    assert_allclose([step.hsic for step in fitted.path_], 0, atol=1e-15)
    with pytest.warns(UserWarning, match=message):
        scores, pvalues = hsic_scores(X, y, target_kernel=target_kernel)
    assert_allclose(scores, 0, atol=1e-15)
    assert_allclose(pvalues, 1)


@SELECTORS
@pytest.mark.parametrize("y", [np.repeat(np.arange(20), 2), np.linspace(0, 1, 40), np.arange(40) > 1, np.arange(40)])
def test_other_labels_are_not_reported(selector, y):
    selector().fit(drawn()[0], y)  # a warning would be an error


@ESTIMATORS
@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed"),
        (np.zeros(40), "one class only"),
        (np.resize([0, 1], 39), "X has 40 samples.* y has 39"),
        (np.full(40, np.nan), "y"),
        (np.append(np.linspace(0, 1, 39), np.inf), "y"),
    ],
)
def test_invalid_labels(selector, y, message):
    with pytest.raises(ValueError, match=message):
        selector().fit(drawn()[0], y)


@SELECTORS
def test_few_samples(selector):
    X, y = drawn()[0][:3], np.array([0, 1, 1])
    with pytest.raises(ValueError, match=r"n_samples=3; .*at least 4.*'biased'"):
        selector().fit(X, y)
    assert selector(statistic="biased").fit(X, y).support_.sum() == 4
    with pytest.raises(ValueError, match="n_samples=1"):
        selector(statistic="biased", target_kernel="regression").fit(X[:1], [0.5])
    assert sorted(order(selector().fit(drawn()[0][:4], [0, 1, 0, 1]))) == list(range(8))
    with pytest.raises(ValueError, match=r"sample_weight has the sum 1, which is how many samples; accepted"):
        selector().fit(X, y, sample_weight=np.full(len(y), 1 / len(y)))


@ESTIMATORS
def test_containers_that_are_no_tables(selector):
    polars, anndata = pytest.importorskip("polars"), pytest.importorskip("anndata")
    X, y = drawn()
    with pytest.raises(TypeError, match=r"X is of type LazyFrame.*collect\(\)"):
        selector().fit(polars.DataFrame(X).lazy(), y)
    with pytest.raises(TypeError, match=r"X is of type AnnData; accepted: a table, such as X\.to_df\(\)"):
        selector().fit(anndata.AnnData(X), y)


@SELECTORS
def test_the_largest_numbers(selector):
    X, y = drawn()
    found = selector(2).fit(X / np.abs(X).max() * 1.5e308, y)
    assert np.array_equal(found.support_, selector(2).fit(X, y).support_)


# Kinds of input


@SELECTORS
def test_read_only_and_fortran_ordered_input(selector):
    X, y = drawn()
    expected = selector().fit(X, y)
    frozen, before = np.asfortranarray(X), X.copy()
    for array in (X, y, frozen):
        array.setflags(write=False)
    assert same_fit(selector().fit(X, y), expected)
    assert same_fit(selector().fit(frozen, y), expected)
    assert same_fit(selector().fit(np.repeat(X, 2, axis=0)[::2], y), expected)
    assert same_fit(selector().fit(X.tolist(), y.tolist()), expected)
    assert same_fit(selector().fit(X, np.where(y, "yes", "no")), expected)
    assert np.array_equal(X, before)
    single = selector().fit(X.astype(np.float32), y)
    assert same_fit(single, selector().fit(X.astype(np.float32).astype(float), y))
    assert single.transform(X.astype(np.float32)).dtype == np.float32


def test_only_columns_of_frames_may_hardly_vary():
    pandas = pytest.importorskip("pandas")
    X, y = drawn(60)
    X[:, 1] = 5.0
    X[7, 1] = 1.0
    for table, role in [(X, "number"), (pandas.DataFrame(X, columns=list("abcdefgh")), "uninformative")]:
        assert BAHSIC(1).fit(table, y).columns_[1].role == role
