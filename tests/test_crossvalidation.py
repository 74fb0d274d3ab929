"""BAHSICCV: the number of features chosen by cross-validation, what it accepts, and how it refuses the rest."""

import warnings

import numpy as np
import pytest
import sklearn
from joblib import parallel_config
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, get_scorer, make_scorer
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from bahsic import BAHSIC, BAHSICCV
from bahsic.kernels import Gaussian, label_kernel
from selecting import drawn, scores_by_hand
from selecting import quick_search as quick

# scikit-learn's contract; no failure is expected. Its check of array API input skips itself
# unless SCIPY_ARRAY_API is set. Its labels do not vary in one of the folds.


@pytest.mark.filterwarnings("ignore:y does not vary:UserWarning")
@parametrize_with_checks([quick(step=0.9, kernel="gaussian")])
def test_contract_of_scikit_learn(estimator, check):
    check(estimator)


REGRESSOR = quick(Ridge(), step=0.9)
REGRESSOR_CHECKS = {
    check.func.__name__: check
    for _, check in estimator_checks_generator(REGRESSOR)
    if "regressor" in check.func.__name__
}


@pytest.mark.parametrize("name", REGRESSOR_CHECKS)
def test_contract_of_a_regressor(name):
    REGRESSOR_CHECKS[name](clone(REGRESSOR))


# Values by hand


@pytest.mark.parametrize(
    ("scoring", "score", "parameters"),
    [
        (None, "accuracy", {}),
        ("roc_auc", "roc_auc", {"step": 3, "kernel": "linear", "statistic": "biased"}),
        (make_scorer(accuracy_score), "accuracy", {"kernel": Gaussian("median"), "standardize": False}),
    ],
)
def test_scores_by_hand(scoring, score, parameters):
    X, y = drawn(60)
    X[:, 3] *= 5
    cv = StratifiedKFold(3, shuffle=True, random_state=1)
    search = BAHSICCV(LogisticRegression(), cv=cv, scoring=scoring, **parameters).fit(X, y)
    sizes = [1, 2, 5, 8] if "step" in parameters else [1, 2, 3, 4, 5, 6, 7, 8]
    expected = scores_by_hand(X, y, LogisticRegression(), cv.split(X, y), score, parameters, sizes=sizes)
    results = search.cv_results_
    assert results["n_features"].tolist() == sizes
    assert np.array_equal([results[f"split{i}_test_score"] for i in range(3)], expected)
    assert results["mean_test_score"] == pytest.approx(expected.mean(axis=0), rel=1e-14)
    assert results["std_test_score"] == pytest.approx(expected.std(axis=0), rel=1e-12)
    assert "split3_test_score" not in results
    best = sizes[int(np.argmax(expected.mean(axis=0)))]
    assert search.n_features_ == best
    assert np.array_equal(search.support_, BAHSIC(best, **parameters).fit(X, y).support_)


@pytest.mark.parametrize(
    ("step", "smallest", "expected"),
    [
        (0.1, 1, [*range(1, 20), 21, 23, 25]),
        (10, 1, [1, 5, 15, 25]),
        (10, 7, [7, 15, 25]),
        (10, 15, [15, 25]),
        (0.1, 25, [25]),
        (30, 1, [1, 25]),
    ],
)
def test_sizes_are_those_between_rounds_and_the_smallest(step, smallest, expected):
    X, y = drawn(d=25)
    search = quick(GaussianNB(), step=step, min_features_to_select=smallest).fit(X, y)
    assert search.cv_results_["n_features"].tolist() == expected


def test_estimator_is_fitted_to_the_selected_columns_of_all_data():
    X, y = drawn()
    template = LogisticRegression(C=0.3)
    search = quick(template).fit(X, y)
    expected = LogisticRegression(C=0.3).fit(X[:, search.support_], y)
    assert np.array_equal(search.estimator_.coef_, expected.coef_)
    assert not hasattr(template, "coef_")
    assert np.array_equal(search.classes_, [0, 1])
    for method in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
        assert np.array_equal(getattr(search, method)(X), getattr(expected, method)(X[:, search.support_]))
    assert search.score(X, y) == expected.score(X[:, search.support_], y)
    by_area = quick(template, scoring="roc_auc").fit(X, y)
    assert by_area.score(X, y) == get_scorer("roc_auc")(by_area.estimator_, by_area.transform(X), y)


def test_what_the_estimator_cannot_do_is_not_there():
    search = BAHSICCV(LinearSVC())
    assert hasattr(search, "decision_function")
    assert not hasattr(search, "predict_proba")
    assert not hasattr(search, "classes_")
    assert not hasattr(quick(SVC()).fit(*drawn()), "predict_log_proba")
    with pytest.raises(NotFittedError):
        search.predict(drawn()[0])
    with pytest.raises(NotFittedError):
        search.get_support()


# Which size to choose


class Given(ClassifierMixin, BaseEstimator):
    """Scores told in advance: by the first label of the test part and the number of features."""

    def __init__(self, table=None):
        self.table = table

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.zeros(len(X))

    def score(self, X, y):
        return self.table[int(y[0])][X.shape[1] - 1]


def number_by(table, *, one_standard_error):
    """The number of features where scores[split, size - 1] are given: y is the number of the split."""
    X = drawn()[0][:, : len(table[0])]
    y = np.repeat(range(len(table)), 12)
    parts = [(np.flatnonzero(y != i), np.flatnonzero(y == i)) for i in range(len(table))]
    search = quick(Given(table), step=1, cv=parts, one_standard_error=one_standard_error)
    return search.fit(X[: len(y)], y).n_features_


@pytest.mark.parametrize(
    ("table", "best", "within"),
    [
        # ties go to the fewest, also where 0.3 + 0.2 + 0.1 is less than 0.1 + 0.2 + 0.3
        ([[0.3, 0.1, 0.2, 0.1], [0.2, 0.2, 0.1, 0.3], [0.1, 0.3, 0.3, 0.2]], 1, 1),
        # of tied ones the fewest has the standard error that counts, here 0 for 2 features
        ([[0.7, 0.8, 0.6, 0.6], [0.8, 0.8, 0.8, 0.8], [0.7, 0.8, 1.0, 1.0]], 2, 2),
        # negative scores, as of errors
        ([[-9.0, -2.0, -1.0, -4.0], [-9.0, -1.0, -2.0, -4.0], [-9.0, -1.5, -1.4, -4.0]], 3, 2),
        # exactly one standard error below is within; that of 0.8 and 1.0 is 0.1, in floating point a little less
        ([[0.8, 0.8], [0.8, 1.0]], 2, 1),
    ],
)
def test_number_chosen_from_given_scores(table, best, within):
    assert number_by(table, one_standard_error=False) == best
    assert number_by(table, one_standard_error=True) == within


@pytest.mark.parametrize("rule", [False, True])
def test_rules_against_the_definition(rule):
    rng = np.random.default_rng(4)
    for _ in range(15):
        scores = rng.integers(0, 5, size=(rng.integers(2, 4), 4)) / 4.0
        columns = [list(map(float, column)) for column in scores.T]
        means = [sum(column) / len(column) for column in columns]
        best = means.index(max(means))
        variance = sum((s - means[best]) ** 2 for s in columns[best]) / (len(columns[best]) - 1)
        slack = (variance / len(columns[best])) ** 0.5 if rule else 0.0
        expected = next(k for k, mean in enumerate(means) if mean >= max(means) - slack - 1e-9)
        assert number_by(scores, one_standard_error=rule) == expected + 1


# Other tools of scikit-learn


def test_grid_search_and_nested_cross_validation():
    X, y = drawn(60)
    grid = [{"estimator__C": [1e-3]}, {"min_features_to_select": [3]}]
    template = quick()
    search = GridSearchCV(template, grid, cv=2, error_score="raise").fit(X, y)
    assert len(search.cv_results_["params"]) == 2
    best = clone(template).set_params(**search.best_params_).fit(X, y)
    assert np.array_equal(search.predict(X), best.predict(X))
    scores = cross_val_score(template, X, y, cv=2, error_score="raise")
    for (train, test), score in zip(StratifiedKFold(2).split(X, y), scores, strict=True):
        assert clone(template).fit(X[train], y[train]).score(X[test], y[test]) == score


def test_importances_of_a_search_are_those_of_its_selector():
    search = quick(step=0.5)
    assert not hasattr(search, "feature_importances_")
    search.fit(*drawn())
    assert search.feature_importances_.any()
    assert_array_equal(search.feature_importances_, np.where(search.support_, search.selector_.scores_, 0))


# Metadata and workers


def test_metadata_without_routing():
    X, y = drawn()
    search = quick()
    with pytest.raises(ValueError, match=r"fit got colour; accepted: groups, sample_weight.*enable_metadata_routing"):
        search.fit(X, y, colour=np.ones(40))
    unweighted = search.fit(X, y).score(X, y)
    with pytest.raises(ValueError, match="score got groups; accepted: sample_weight, other"):
        search.score(X, y, sample_weight=np.ones(40), groups=y)
    with sklearn.config_context(enable_metadata_routing=True):
        with pytest.raises(TypeError, match="colour"):
            quick().fit(X, y, colour=y)
        assert quick().fit(X, y).score(X, y) == unweighted


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_workers_change_neither_result_nor_warnings(backend):
    X, y = drawn(60)
    X[:, 5] = 1.0
    X[:, 6] = np.arange(60) == 3  # constant in the training part without sample 3
    (serial, said), (parallel, said_then) = (fit_and_warnings(X, y, backend, n_jobs) for n_jobs in (None, 2))
    assert said == said_then == ["1 of 8 features are constant and are ignored: 5"]
    assert all(np.array_equal(parallel.cv_results_[name], value) for name, value in serial.cv_results_.items())
    assert np.array_equal(parallel.ranking_, serial.ranking_)
    assert parallel.selector_.path_ == serial.selector_.path_
    assert serial.cv_results_["split0_ranking"][0, [5, 6]].tolist() == [8, 8]


def fit_and_warnings(X, y, backend, n_jobs):
    with parallel_config(backend=backend), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search = BAHSICCV(GaussianNB(), cv=KFold(4), step=2, n_jobs=n_jobs).fit(X, y)
    return search, [str(warning.message) for warning in caught]


# Kinds of labels


class Untyped(BaseEstimator):
    """Predicts the mean, and does not say that it is a regressor."""

    def fit(self, X, y):
        self.mean_ = np.mean(y)
        return self

    def score(self, X, y):
        return -np.mean((y - self.mean_) ** 2)


@pytest.mark.filterwarnings("ignore:y has the class 6.0 once")
def test_all_labels_decide_on_the_kernel_of_a_fold():
    """The numbers are whole in the first training part, but not everywhere."""
    X, _ = drawn(60)
    y = np.round(3 * X[:, 1])
    y[:5] += 0.5
    assert label_kernel(y[20:]).name == "multiclass"
    parts = [(np.arange(20, 60), np.arange(20)), (np.arange(40), np.arange(40, 60))]
    search = quick(Untyped(), cv=parts, kernel="gaussian").fit(X, y)
    complete, other = (
        np.argsort(BAHSIC(step=0.5, target_kernel=kind).fit(X[20:], y[20:]).elimination_order_[::-1]) + 1
        for kind in ("regression", "multiclass")
    )
    assert np.array_equal(search.cv_results_["split0_ranking"][0], complete)
    assert not np.array_equal(complete, other)


@pytest.mark.filterwarnings("ignore:y has 30 different whole numbers and is treated as numbers")
def test_the_estimator_decides_on_the_kernel_for_the_labels():
    X, _ = drawn(120)
    many = np.arange(120) % 30  # more different whole numbers than most rules take as classes
    for y, kind in ((many, "multiclass"), (many % 2, "binary"), (np.array(["no", "yes"])[many % 2], "binary")):
        search = BAHSICCV(KNeighborsClassifier(1), cv=2, step=0.9).fit(X, y)
        assert search.selector_.target_kernel_ == kind
    assert set(search.predict(X)) == {"no", "yes"}
    assert BAHSICCV(Ridge(), cv=2, step=0.9).fit(X, many).selector_.target_kernel_ == "regression"
    for y in (many, many % 2):
        expected = BAHSIC(step=0.9).fit(X, y).target_kernel_
        assert BAHSICCV(Untyped(), cv=2, step=0.9).fit(X, y).selector_.target_kernel_ == expected


def test_tags_are_those_of_the_estimator_with_labels():
    tags = get_tags(quick(MultinomialNB()))
    assert (tags.estimator_type, tags.input_tags.positive_only, tags.input_tags.sparse) == ("classifier", True, False)
    untyped = get_tags(quick(Untyped()))
    assert (untyped.estimator_type, untyped.target_tags.required) == (None, True)
    assert not get_tags(Untyped()).target_tags.required


def test_several_outputs():
    X, _ = drawn(60)
    Y = np.column_stack([X[:, 3], 2 * X[:, 6]])
    search = quick(Ridge(alpha=1e-6), kernel="gaussian").fit(X, Y)
    assert search.support_[[3, 6]].all()
    assert search.predict(X).shape == (60, 2)
    assert search.score(X, Y) > 0.99


# Bad input


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"estimator": StandardScaler}, TypeError, "estimator is <class .*; accepted: an object with a method fit"),
        ({"estimator": StandardScaler()}, TypeError, "score"),
        ({"min_features_to_select": 0}, ValueError, "min_features_to_select is 0; accepted: an int of at least 1"),
        ({"min_features_to_select": 9}, ValueError, "min_features_to_select is 9, X has 8 features"),
        (
            {"min_features_to_select": 3, "feature_groups": [0, 0, 0, 0, 1, 1, 1, 1]},
            ValueError,
            "min_features_to_select is 3, X has 2 groups; accepted: at most 2",
        ),
        ({"keep": "age"}, ValueError, "^keep has 'age', which is not a column"),
        ({"cv": 1}, ValueError, "cv is 1; accepted: at least 2"),
        ({"cv": ShuffleSplit(1)}, ValueError, r"cv is ShuffleSplit\(.*number of splits: 1; accepted: at least 2"),
        ({"cv": "five"}, ValueError, "cv.*five"),
        ({"scoring": "acuracy"}, ValueError, "acuracy"),
        ({"scoring": ["accuracy"]}, ValueError, r"scoring is \['accuracy'\]; accepted: None"),
        (
            {"scoring": lambda estimator, X, y: np.nan},
            ValueError,
            "gives nan for .* with 1 features; accepted: a finite",
        ),
        ({"scoring": lambda _, X, y: -np.inf if X.shape[1] == 2 else 1.0}, ValueError, "gives -inf .* with 2 features"),
        ({"scoring": lambda estimator, X, y: {"a": 1.0}}, ValueError, "scoring by .* gives {'a': 1.0}"),
        ({"cv": [([0, 1, 2], [3])] * 2}, ValueError, "gives 3 training and 1 test samples; accepted: at least 4"),
        ({"n_jobs": 0}, ValueError, "^n_jobs is 0"),
        ({"target_kernel": "precomputed"}, ValueError, "target_kernel is 'precomputed'"),
    ],
)
def test_invalid_parameters(changes, error, message):
    search = quick(**changes)
    before = dict(vars(search))
    with pytest.raises(error, match=message):
        search.fit(*drawn())
    assert vars(search) == before


def test_a_column_without_an_entry_in_a_training_part_ranks_last_there():
    X, y = drawn()
    X[:20, 3] = np.nan
    X[20:, 3] = 5 * y[20:]
    splits = [(np.arange(20), np.arange(20, 40)), (np.arange(20, 40), np.arange(20))]
    search = quick(DummyClassifier(), cv=splits, missing="neutral").fit(X, y)
    first, second = (search.cv_results_[f"split{i}_ranking"][0, 3] for i in range(2))
    assert (first, second) == (X.shape[1], 1)


def test_sparse_data_are_refused():
    X, y = drawn()
    for options in ({}, {"missing": "neutral"}, {"categorical_features": "from_dtype", "kernel": "gaussian"}):
        with pytest.raises(TypeError, match="Sparse data was passed"):
            quick(**options).fit(sparse.csr_array(X), y)


def test_classes_of_samples_without_weight_do_not_count():
    X, _ = drawn()
    y, weights = np.resize([0, 1, 2], len(X)), np.resize([1.0, 2.0, 0.0], len(X))
    for given, kernel in [(None, "multiclass"), (weights, "binary")]:
        search = BAHSICCV(LogisticRegression(), cv=2, step=0.5).fit(X, y, sample_weight=given)
        assert search.selector_.target_kernel_ == kernel
