"""Threads inside processes: forked or spawned, and inside a grid search, with one BLAS thread each."""

import multiprocessing

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_info

from bahsic import BAHSIC
from bahsic.kernels import InverseDistance
from selecting import drawn

SEEN = set()


class Watched(InverseDistance):
    """A kernel that notes how many BLAS threads are at work where it is evaluated."""

    def __call__(self, X, Y=None):
        SEEN.update(info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas")
        return super().__call__(X, Y)


def fit_and_look(n_jobs):
    """The path of a fit, and how many BLAS threads it saw."""
    SEEN.clear()
    fitted = BAHSIC(2, kernel=Watched(), step=0.5, n_jobs=n_jobs).fit(*drawn(m=300, d=6))
    return [step.hsic.hex() for step in fitted.path_], set(SEEN)


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("method", sorted(set(multiprocessing.get_all_start_methods()) - {"forkserver"}))
def test_a_fit_in_another_process(method):
    expected, _ = fit_and_look(2)  # threads and BLAS have been at work here before
    with multiprocessing.get_context(method).Pool(1) as pool:
        found, seen = pool.apply_async(fit_and_look, (2,)).get(timeout=120)
    assert found == expected
    assert seen == {1}


def test_in_a_grid_search_of_two_processes():
    X, y = drawn(m=300, d=6)
    pipeline = make_pipeline(BAHSIC(kernel=Watched(), step=0.5, n_jobs=2), GaussianNB())
    grid = {"bahsic__n_features_to_select": [1, 2]}
    one, two = (GridSearchCV(pipeline, grid, cv=2, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2))
    assert np.array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])
    assert two.best_estimator_[0].path_ == one.best_estimator_[0].path_
    assert {1} == SEEN


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_label_kernels_that_exceed_the_range_are_told_of_by_every_thread(n_jobs):
    X, _ = drawn(m=1500, d=6)
    y = np.append(np.zeros(1000), np.full(500, 1e154))
    with pytest.raises(ValueError, match="too large"):
        BAHSIC(1, target_kernel="linear", n_jobs=n_jobs).fit(X, y)
