"""The ordered map over tiles: same results in the same order, whoever works."""

import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from bahsic.engine import threads
from bahsic.engine.executor import Placed, map_sum, thread_count
from pairwise import pairwise

COUNTS = pytest.mark.parametrize("n_jobs", [1, 2, 3])


class RefusedError(Exception):
    pass


@COUNTS
def test_results_come_in_the_order_of_the_items(n_jobs):
    def slow_at_first(item):
        time.sleep(0.02 if item == 0 else 0.0)
        return item**2

    with threads(n_jobs) as executor:
        for items in (range(20), [], [3]):
            assert executor.map(slow_at_first, items) == [item**2 for item in items]


def test_several_threads_work_at_once_and_one_job_starts_none():
    together = threading.Barrier(2, timeout=10)
    with threads(2) as executor:
        executor.map(lambda item: together.wait(), range(2))  # would time out with one thread
    with threads(1) as executor:
        assert set(executor.map(lambda item: threading.get_ident(), range(5))) == {threading.get_ident()}


@COUNTS
def test_sums_are_added_in_the_order_of_the_items(n_jobs):
    parts = np.random.default_rng(0).normal(size=(50, 3)) * 10.0 ** np.arange(50)[:, None]
    expected = parts[0]
    for part in parts[1:]:
        expected = expected + part

    def jittered(index):
        time.sleep(1e-4 * (index % 3))
        return parts[index], np.array(float(index))

    def placed(start):
        return Placed(start, np.array([1.0, 10.0 * start])), np.array(2.0)

    with threads(n_jobs) as executor:
        values, indices = map_sum(executor, jittered, range(50))
        vector, total = map_sum(executor, placed, [0, 1, 3], n_samples=6)
    assert np.array_equal(values, expected)
    assert indices == 49 * 50 / 2
    assert (vector.tolist(), total) == ([1.0, 1.0, 10.0, 1.0, 30.0, 0.0], 6.0)


@pairwise(n_jobs=[1, 2, 3], error=[RefusedError, IndexError, KeyboardInterrupt], at=[0, 3, 19])
def test_errors_reach_the_caller_and_leave_the_rest(n_jobs, error, at):
    done = []

    def function(item):
        if item == at:
            raise error("no")
        time.sleep(1e-4)
        done.append(item)
        return item

    with threads(n_jobs) as executor:
        with pytest.raises(error, match="no"):
            executor.map(function, range(1000))
        assert len(done) < 500
        assert executor.map(abs, [-1, -2]) == [1, 2]


def test_blas_has_one_thread_within_and_is_given_back_after():
    def counts():
        return [info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"]

    before = counts()
    with threads(2) as executor:
        assert {count for found in executor.map(lambda item: counts(), range(4)) for count in found} <= {1}
    assert counts() == before
    assert [thread_count(1), thread_count(3), thread_count(None)] == [1, 3, max(before, default=1)]
    assert thread_count(-1) >= 1


def test_few_samples_get_one_thread_unless_more_are_asked_for():
    for n_jobs, n_samples, expected in [(None, 10, 1), (2, 10, 2), (None, 10**6, thread_count(None))]:
        with threads(n_jobs, n_samples) as executor:
            assert executor.n_threads == expected


def test_nothing_runs_any_more_after_an_error():
    running, begun = set(), threading.Event()

    def function(item):
        if item == 0:
            assert begun.wait(10)
            raise RefusedError
        running.add(item)
        begun.set()
        time.sleep(0.1)
        running.discard(item)

    with threads(2) as executor:
        with pytest.raises(RefusedError):
            executor.map(function, range(100))
        assert not running
