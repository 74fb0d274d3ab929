"""BAHSICCV: the number of features chosen by cross-validation."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, get_scorer, make_scorer
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from bahsic import BAHSIC, BAHSICCV
from bahsic.kernels import Gaussian
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
    ],
)
def test_number_chosen_from_given_scores(table, best, within):
    assert number_by(table, one_standard_error=False) == best
    assert number_by(table, one_standard_error=True) == within


def test_exactly_one_standard_error_below_is_within():
    """0.8 and 1.0 have the standard error 0.1, in floating point a little less."""
    assert np.std([0.8, 1.0], ddof=1) / np.sqrt(2) < 0.1
    assert number_by([[0.8, 0.8], [0.8, 1.0]], one_standard_error=True) == 1


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
