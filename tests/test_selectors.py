"""BAHSIC and FOHSIC as scikit-learn selectors: results, and input that is accepted or refused."""

import pickle
from contextlib import nullcontext
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from bahsic import BAHSIC, BAHSICCV, FOHSIC, FeatureSelector, hsic_scores, hsic_unbiased
from bahsic.kernels import Gaussian, Kernel, Linear, label_kernel
from selecting import SELECTORS, drawn, order, same_fit, selectors_in_turn, standardised

# scikit-learn's contract. Its check of array API input skips itself
# unless SCIPY_ARRAY_API is set. The three share their fit and all their checks of input, so
# each is asked once; FeatureSelector is judged by folds.


# A weight is not a number of copies where samples are left out: no copy of a sample may predict
# another one, so a weighted sample is left out as a whole.
FAILING = {
    f"check_sample_weight_equivalence_on_{kind}_data": "leave-one-out leaves out a weighted sample as a whole"
    for kind in ("dense", "sparse")
}


@pytest.mark.filterwarnings("ignore:no subset of", "ignore:.* looks? like")
@parametrize_with_checks(
    [BAHSIC(), FOHSIC(missing="neutral"), FeatureSelector()],
    expected_failed_checks=lambda selector: FAILING if isinstance(selector, FeatureSelector) else {},
)
def test_contract_of_scikit_learn(estimator, check):
    check(estimator)


@SELECTORS
def test_order_and_ranking(selector):
    fitted = selector(n_features_to_select=3).fit(*drawn())
    assert {1, 4} < set(fitted.get_support(indices=True).tolist())
    assert sorted(order(fitted).tolist()) == list(range(8))
    assert sorted(order(fitted)[:3].tolist()) == fitted.get_support(indices=True).tolist()
    # The last one to leave of those not selected is the next best.
    assert fitted.ranking_[order(fitted)].tolist() == [1, 1, 1, 2, 3, 4, 5, 6]
    if selector is BAHSIC:
        assert fitted.elimination_order_.tolist() == [j for step in fitted.path_ for j in step.features]


def test_forward_selection_stops_at_the_number_and_ranks_the_rest_by_what_each_would_add():
    X, y = drawn()
    fitted = FOHSIC(n_features_to_select=3).fit(X, y)
    assert len(fitted.path_) == 3
    chosen, rest = fitted.selection_order_[:3].tolist(), fitted.selection_order_[3:].tolist()
    Z, L = standardised(X), label_kernel(y).gram()
    gains = [hsic_unbiased(Gaussian(1 / 8)(Z[:, sorted([*chosen, j])]), L) for j in rest]
    assert gains == sorted(gains, reverse=True)


def test_forward_selection_is_greedy_to_the_end_without_a_number():
    X, y = drawn()
    fitted = FOHSIC().fit(X, y)
    assert len(fitted.path_) == 8
    assert fitted.n_features_ == 4
    assert np.array_equal(fitted.selection_order_, FOHSIC(n_features_to_select=8).fit(X, y).selection_order_)
    assert fitted.selection_order_.tolist() == [j for step in fitted.path_ for j in step.features]


# What a path records


def test_no_standard_error_unless_asked_for_and_no_parameter_without_a_gamma():
    for number in (2, "auto"):
        path = BAHSIC(number, kernel="linear").fit(*drawn()).path_
        assert {(step.standard_error, step.parameter) for step in path} == {(None, None)}


# How many features


@selectors_in_turn
@pytest.mark.parametrize(("number", "expected"), [(None, 4), (1, 1), (8, 8), (0.25, 2), (0.99, 7), (1.0, 8), (0.01, 1)])
def test_numbers_of_features(selector, number, expected):
    fitted = selector(n_features_to_select=number).fit(*drawn())
    assert fitted.n_features_ == fitted.support_.sum() == expected
    assert fitted.transform(drawn()[0]).shape == (40, expected)


@SELECTORS
@pytest.mark.parametrize(("groups", "units"), [(None, "8 features"), ([0, 0, 1, 1, 1, 2, 2, 3], "4 groups")])
def test_too_many_features_are_all_kept_with_a_warning(selector, groups, units):
    with pytest.warns(UserWarning, match=f"n_features_to_select is 9, X has {units}: all are kept"):
        fitted = selector(n_features_to_select=9, feature_groups=groups).fit(*drawn())
    assert fitted.support_.all()


# Other tools of scikit-learn


@SELECTORS
def test_grid_search_over_kernel_and_number(selector):
    X, y = drawn(60)
    name = selector.__name__.lower()
    grid = {f"{name}__kernel__gamma": [0.05, "median"], f"{name}__n_features_to_select": [1, 2]}
    pipeline = make_pipeline(selector(kernel=Gaussian()), LogisticRegression())
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_params_[f"{name}__n_features_to_select"] == 2
    assert search.best_estimator_[0].get_support(indices=True).tolist() == [1, 4]
    assert len(search.cv_results_["params"]) == 4


@SELECTORS
def test_fit_leaves_parameters_alone(selector):
    kernel = Gaussian("median")
    estimator = selector(kernel=kernel)
    before = estimator.get_params()
    estimator.fit(*drawn())
    assert estimator.get_params() == before
    assert estimator.kernel is kernel
    assert kernel.gamma == "median"


class Weighted(Kernel):
    """An inner product with a weight for all features, given as an array, which is not hashable."""

    def __init__(self, weights):
        self.weights = weights

    def __call__(self, X, Y=None):
        return self.weights[0] * X @ (X if Y is None else Y).T


def test_parameters_of_a_kernel_need_not_be_hashable():
    X, y = drawn()
    for number in (2, "auto"):
        fitted, expected = (BAHSIC(number, kernel=k).fit(X, y) for k in (Weighted(np.array([2.0])), Linear()))
        assert np.array_equal(order(fitted), order(expected))


# Interruption


def after_five_calls(value):
    """A function that is interrupted when it is called once more."""
    calls = iter(range(5))

    def function(*samples):
        if next(calls, None) is None:
            raise KeyboardInterrupt
        return value(*samples)

    return function


@SELECTORS
@pytest.mark.parametrize("kind", ["rule", "kernel"])
@pytest.mark.parametrize("is_fitted", [False, True])
def test_interrupted_fit_leaves_the_selector_as_it_was(selector, kind, is_fitted):
    X, y = drawn()
    estimator = selector().fit(X, y) if is_fitted else selector()
    rule, kernel = after_five_calls(lambda X: 0.1), after_five_calls(lambda X, Y: X @ Y.T)
    estimator.set_params(kernel=Gaussian(rule) if kind == "rule" else kernel)
    before = {name: pickle.dumps(value) for name, value in vars(estimator).items() if name != "kernel"}
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(X[:, :5], 1 - y)
    assert {name: pickle.dumps(value) for name, value in vars(estimator).items() if name != "kernel"} == before
    with nullcontext() if is_fitted else pytest.raises(NotFittedError):
        assert estimator.transform(X).shape == (40, 4)


@SELECTORS
def test_importances_are_the_scores_of_the_selected_features(selector):
    X, y = drawn()
    assert not hasattr(selector(), "feature_importances_")
    fitted = selector(2).fit(X, y)
    assert fitted.feature_importances_[fitted.support_].tolist() == fitted.scores_[fitted.support_].tolist()
    assert fitted.feature_importances_[~fitted.support_].tolist() == [0.0] * 6
    found = SelectFromModel(fitted, prefit=True, threshold=1e-12).fit(X)
    assert found.get_support(indices=True).tolist() == [1, 4]


def another(text):
    """The same text as another object, such as one that was read from a file."""
    return "".join(list(text))


@pytest.mark.parametrize("criterion", ["hsic", "prediction"])
def test_names_are_compared_and_not_the_objects(criterion):
    X, y = drawn(30, 5)
    X[:3, 2] = np.nan
    options = {"criterion": criterion, "missing": "indicator", "target_kernel": "binary", "block_size": "auto"}
    one, other = (
        BAHSIC(2, standard_errors=True, cv=2, **{name: copied(value) for name, value in options.items()}).fit(X, y)
        for copied in (str, another)
    )
    assert same_fit(one, other)
    np.testing.assert_array_equal(one.scores_, other.scores_)


# Input: what is accepted, and how the rest is refused

ESTIMATORS = pytest.mark.parametrize("selector", [BAHSIC, FOHSIC, partial(BAHSICCV, LogisticRegression(), cv=2)])

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
