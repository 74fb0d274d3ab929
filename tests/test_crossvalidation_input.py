"""What BAHSICCV accepts and passes on, and how it refuses the rest."""

import warnings

import numpy as np
import pytest
import sklearn
from joblib import parallel_config
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from bahsic import BAHSIC, BAHSICCV
from bahsic.kernels import label_kernel
from selecting import drawn
from selecting import quick_search as quick

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
        np.argsort(ordered(X[20:], y[20:], kind, step=0.5)[::-1]) + 1 for kind in ("regression", "multiclass")
    )
    assert np.array_equal(search.cv_results_["split0_ranking"][0], complete)
    assert not np.array_equal(complete, other)


def test_tags_are_those_of_the_estimator_with_labels():
    tags = get_tags(quick(MultinomialNB()))
    assert (tags.estimator_type, tags.input_tags.positive_only, tags.input_tags.sparse) == ("classifier", True, False)
    untyped = get_tags(quick(Untyped()))
    assert (untyped.estimator_type, untyped.target_tags.required) == (None, True)
    assert not get_tags(Untyped()).target_tags.required


def ordered(X, y, target_kernel, step=0.1):
    return BAHSIC(step=step, target_kernel=target_kernel).fit(X, y).elimination_order_


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


def test_training_part_of_too_few_samples():
    X, y = drawn()
    with pytest.raises(ValueError, match=r"gives 3 training and 1 test samples; accepted: at least 4"):
        quick(cv=[([0, 1, 39], [2]), ([0, 1, 38], [2])]).fit(X, np.sort(y))


@pytest.mark.parametrize(
    ("scoring", "message"),
    [
        (lambda estimator, X, y: np.nan, "gives nan for GaussianNB.* with 1 features; accepted: a finite number"),
        (lambda estimator, X, y: -np.inf if X.shape[1] == 3 else 1.0, "gives -inf .* with 3 features"),
        (lambda estimator, X, y: {"a": 1.0}, "scoring by .* gives {'a': 1.0}"),
    ],
)
def test_score_that_is_no_number(scoring, message):
    with pytest.raises(ValueError, match=message):
        quick(GaussianNB(), step=1, scoring=scoring).fit(*drawn())


def test_classes_of_samples_without_weight_do_not_count():
    X, _ = drawn()
    y, weights = np.resize([0, 1, 2], len(X)), np.resize([1.0, 2.0, 0.0], len(X))
    for given, kernel in [(None, "multiclass"), (weights, "binary")]:
        search = BAHSICCV(LogisticRegression(), cv=2, step=0.5).fit(X, y, sample_weight=given)
        assert search.selector_.target_kernel_ == kernel
