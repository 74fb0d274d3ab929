"""BAHSICCV with groups of samples, time, sample weights and blocks, against a plain loop over the folds."""

from functools import partial

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bahsic import BAHSIC, BAHSICCV
from selecting import drawn, scores_by_hand

GROUPS = np.random.default_rng(0).integers(6, size=60)
WEIGHTS = np.random.default_rng(1).uniform(0.1, 3, size=60)
SIZES = [1, 2, 4, 8]  # with step=0.5


by_hand = partial(scores_by_hand, sizes=SIZES)


def scores_of(search):
    n_splits = sum(name.endswith("_test_score") for name in search.cv_results_) - 2
    assert search.cv_results_["n_features"].tolist() == SIZES
    return np.array([search.cv_results_[f"split{i}_test_score"] for i in range(n_splits)])


def check_selection(search, X, y, expected, *weights, **parameters):
    """The chosen number and the features are those of the mean scores and of BAHSIC on all data."""
    best = SIZES[int(np.argmax(expected.mean(axis=0)))]
    alone = BAHSIC(best, **parameters).fit(X, y, *weights)
    assert np.array_equal(search.support_, alone.support_)
    assert search.selector_.path_ == alone.path_


# Splits


@pytest.mark.parametrize(
    ("cv", "groups"),
    [
        (GroupKFold(3), GROUPS),
        (StratifiedGroupKFold(3), GROUPS),
        (LeaveOneGroupOut(), GROUPS % 3),
        (PredefinedSplit(np.arange(60) % 3 - 1), None),
        (TimeSeriesSplit(4), None),
    ],
    ids=lambda value: type(value).__name__,
)
def test_splits_by_hand(cv, groups):
    X, y = drawn(60)
    search = BAHSICCV(LogisticRegression(), cv=cv, step=0.5).fit(X, y, groups=groups)
    splits = list(cv.split(X, y, groups))
    expected = by_hand(X, y, LogisticRegression(), splits, "accuracy", {"step": 0.5})
    assert np.array_equal(scores_of(search), expected)
    check_selection(search, X, y, expected, step=0.5)
    given = BAHSICCV(LogisticRegression(), cv=iter(splits), step=0.5)
    given.get_metadata_routing()  # which must not use up the iterator
    assert np.array_equal(scores_of(given.fit(X, y)), expected)


# Weights


def test_weights_count_in_rankings_fits_and_scores():
    X, y = drawn(60)
    cv = KFold(3)
    search = BAHSICCV(LogisticRegression(), cv=cv, step=0.5).fit(X, y, WEIGHTS)
    every = {"ranking": WEIGHTS, "fits": WEIGHTS, "scores": WEIGHTS}
    expected = by_hand(X, y, LogisticRegression(), cv.split(X), "accuracy", {"step": 0.5}, **every)
    assert np.array_equal(scores_of(search), expected)
    check_selection(search, X, y, expected, WEIGHTS, step=0.5, target_kernel="binary")
    fitted = LogisticRegression().fit(X[:, search.support_], y, sample_weight=WEIGHTS)
    assert np.array_equal(search.estimator_.coef_, fitted.coef_)
    assert search.score(X, y, sample_weight=WEIGHTS) == fitted.score(X[:, search.support_], y, sample_weight=WEIGHTS)


class Unweighted(KNeighborsClassifier):
    """An estimator whose score takes weights, but whose fit takes none."""

    def score(self, X, y, sample_weight=None):
        return super().score(X, y, sample_weight)


def test_weights_where_nobody_takes_them():
    X, y = drawn(60)
    message = "sample_weight is given, and the fit of the estimator, a Unweighted, takes none; accepted: one"
    search = BAHSICCV(Unweighted(), cv=2).fit(X, y)
    assert 0 <= search.score(X, y, sample_weight=WEIGHTS) <= 1
    with pytest.raises(ValueError, match=message):
        search.fit(X, y, WEIGHTS)
    with pytest.raises(ValueError, match=r"sample_weight is given, and the scorer takes none.*enable_metadata_routing"):
        BAHSICCV(LogisticRegression(), scoring=lambda estimator, X, y: 1.0, cv=2).fit(X, y, WEIGHTS)


@pytest.mark.parametrize(
    ("ranking", "fits", "scores"),
    [(True, False, False), (False, True, False), (False, False, True), (True, True, False)],
)
def test_each_gets_the_weights_that_it_requests(ranking, fits, scores):
    X, y = drawn(60)
    cv, used = KFold(3), {"ranking": ranking, "fits": fits, "scores": scores}
    with sklearn.config_context(enable_metadata_routing=True):
        estimator = LogisticRegression().set_fit_request(sample_weight=fits)
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=scores)
        search = BAHSICCV(estimator, scoring=scorer, cv=cv, step=0.5).set_fit_request(sample_weight=ranking)
        search.fit(X, y, sample_weight=WEIGHTS)
        score = search.score(X, y, sample_weight=WEIGHTS) if scores else None
        in_pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), clone(search))
        in_pipeline.fit(X, y, sample_weight=WEIGHTS)
    weights = {name: WEIGHTS if wanted else None for name, wanted in used.items()}
    expected = by_hand(X, y, LogisticRegression(), cv.split(X), "accuracy", {"step": 0.5}, **weights)
    assert np.array_equal(scores_of(search), expected)
    if scores:
        assert score == accuracy_score(y, search.predict(X), sample_weight=WEIGHTS)
    Z = StandardScaler().fit_transform(X)
    expected = by_hand(Z, y, LogisticRegression(), cv.split(X), "accuracy", {"step": 0.5}, **weights)
    assert np.array_equal(scores_of(in_pipeline[1]), expected)


# Other tools of scikit-learn


def test_groups_reach_the_splits_through_other_tools():
    X, y = drawn(60)
    template = BAHSICCV(LogisticRegression(), cv=GroupKFold(2), step=0.5)
    outer = StratifiedKFold(2)
    expected = [
        clone(template).fit(X[train], y[train], groups=GROUPS[train]).score(X[test], y[test])
        for train, test in outer.split(X, y)
    ]
    direct = clone(template).fit(X, y, groups=GROUPS)
    with sklearn.config_context(enable_metadata_routing=True):
        assert cross_val_score(template, X, y, cv=outer, params={"groups": GROUPS}).tolist() == expected
        grid = GridSearchCV(template, {"min_features_to_select": [1, 2]}, cv=outer, error_score="raise")
        grid.fit(X, y, groups=GROUPS)
        assert grid.cv_results_["mean_test_score"][0] == pytest.approx(np.mean(expected), rel=1e-14)
        last = make_pipeline(StandardScaler(), template).fit(X, y, groups=GROUPS)[1]
        first = make_pipeline(template, LogisticRegression()).fit(X, y, groups=GROUPS)[0]
    for search in (last, first):
        assert np.array_equal(search.support_, direct.support_)
        assert np.allclose(scores_of(search), scores_of(direct))


# Other parameters of BAHSIC


@pytest.mark.parametrize(
    "parameters",
    [
        {"block_size": 35, "random_state": 3},  # one block in the training parts, two in all data
        {"criterion": "prediction"},
    ],
    ids=str,
)
def test_parameters_by_hand(parameters):
    X, _ = drawn(90)
    y = X[:, 1] + 0.5 * X[:, 4] ** 2
    parameters = {"step": 0.5, **parameters}
    first, second = (BAHSICCV(Ridge(), cv=KFold(3), **parameters).fit(X, y) for _ in range(2))
    alone = parameters | {"target_kernel": "regression"}
    expected = by_hand(X, y, Ridge(), KFold(3).split(X), "r2", {"n_features_to_select": 1.0, **alone})
    assert np.allclose(scores_of(first), expected, rtol=1e-12, atol=0)
    assert np.array_equal(scores_of(first), scores_of(second))
    check_selection(first, X, y, expected, **alone)
    assert np.array_equal(first.ranking_, second.ranking_)


def test_blocks_of_a_generator_do_not_depend_on_workers():
    X, y = drawn(60)
    parameters = {"cv": 3, "step": 0.5, "block_size": 8}
    one, two = (
        BAHSICCV(LogisticRegression(), random_state=np.random.RandomState(5), n_jobs=n_jobs, **parameters).fit(X, y)
        for n_jobs in (1, 2)
    )
    assert all(np.array_equal(one.cv_results_[name], two.cv_results_[name]) for name in one.cv_results_)
    other = BAHSICCV(LogisticRegression(), random_state=6, **parameters).fit(X, y)
    assert not np.array_equal(one.cv_results_["split0_ranking"], other.cv_results_["split0_ranking"])


class Cluster:
    """Stands for a client of Dask."""

    def __deepcopy__(self, memo):
        raise TypeError("a client can't be copied")


def test_cluster():
    X, y = drawn()
    client = Cluster()
    search = BAHSICCV(LogisticRegression(), executor=client, n_jobs=2)
    assert clone(search).executor is client
    with pytest.raises(
        ValueError, match="n_jobs is 2; accepted with an executor, which works on one fold at a time: N"
    ):
        search.fit(X, y)
    with pytest.raises(TypeError, match=r"^executor is "):
        search.set_params(n_jobs=None).fit(X, y)
