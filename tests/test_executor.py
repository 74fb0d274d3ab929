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


@COUNTS
def test_results_come_in_the_order_of_the_items(n_jobs):
    def slow_at_first(item):
        time.sleep(0.02 if item == 0 else 0.0)
        return item**2

    with threads(n_jobs) as executor:
        assert executor.map(slow_at_first, range(20)) == [item**2 for item in range(20)]
        assert executor.map(slow_at_first, []) == []
        assert executor.map(slow_at_first, [3]) == [9]


def test_several_threads_work_at_once():
    together = threading.Barrier(2, timeout=10)
    with threads(2) as executor:
        executor.map(lambda item: together.wait(), range(2))  # would time out with one thread


def test_one_job_starts_no_thread():
    with threads(1) as executor:
        workers = executor.map(lambda item: threading.get_ident(), range(5))
    assert set(workers) == {threading.get_ident()}


@COUNTS
def test_sums_are_added_in_the_order_of_the_items(n_jobs):
    parts = np.random.default_rng(0).normal(size=(50, 3)) * 10.0 ** np.arange(50)[:, None]
    expected = parts[0]
    for part in parts[1:]:
        expected = expected + part

    def jittered(index):
        time.sleep(1e-4 * (index % 3))
        return parts[index], np.array(float(index))

    with threads(n_jobs) as executor:
        values, indices = map_sum(executor, jittered, range(50))
    assert np.array_equal(values, expected)
    assert indices == 49 * 50 / 2


class RefusedError(Exception):
    pass


@pairwise(n_jobs=[1, 2, 3], error=[RefusedError, IndexError, KeyboardInterrupt], at=[0, 3, 19])
def test_errors_reach_the_caller(n_jobs, error, at):
    def function(item):
        if item == at:
            raise error("no")
        return item

    with threads(n_jobs) as executor:
        with pytest.raises(error, match="no"):
            executor.map(function, range(20))
        assert executor.map(lambda item: item, range(4)) == [0, 1, 2, 3]


@COUNTS
def test_the_rest_is_left_after_an_error(n_jobs):
    done = []

    def function(item):
        if item == 2:
            raise RefusedError
        time.sleep(1e-3)
        done.append(item)

    with threads(n_jobs) as executor, pytest.raises(RefusedError):
        executor.map(function, range(1000))
    assert len(done) < 500
    if n_jobs == 1:
        assert done == [0, 1]


def test_blas_has_one_thread_within_and_is_given_back_after():
    def counts():
        return [info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"]

    before = counts()
    with threads(2) as executor:
        for found in executor.map(lambda item: counts(), range(4)):
            assert set(found) <= {1}
    assert counts() == before


def test_numbers_of_threads():
    assert thread_count(1) == 1
    assert thread_count(3) == 3
    assert thread_count(-1) >= 1
    blas = [info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"]
    assert thread_count(None) == max(blas, default=1)


def test_few_samples_get_one_thread_unless_more_are_asked_for():
    for n_jobs, n_samples, expected in [(None, 10, 1), (2, 10, 2), (None, 10**6, thread_count(None))]:
        with threads(n_jobs, n_samples) as executor:
            assert executor.n_threads == expected


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_few_results_wait_for_their_turn(n_jobs):
    done = []

    def function(item):
        done.append(item)
        return item

    with threads(n_jobs) as executor:
        stream = executor.stream(function, range(200))
        for position, result in enumerate(stream):
            time.sleep(1e-4)  # the others go ahead meanwhile, but not far
            assert result == position
            assert len(done) <= position + 1 + 4 * n_jobs


@COUNTS
def test_a_stream_may_be_left_early(n_jobs):
    done = []
    with threads(n_jobs) as executor:
        stream = executor.stream(done.append, range(1000))
        next(stream)
        stream.close()
        assert len(done) <= 1 + 4 * n_jobs + n_jobs
        assert executor.map(abs, [-1, -2]) == [1, 2]


@pytest.mark.parametrize("closed", [False, True])
def test_nothing_runs_any_more_after_an_error_or_when_a_stream_is_left(closed):
    running, begun = set(), threading.Event()

    def function(item):
        if item == 0:
            assert begun.wait(10)
            if not closed:
                raise RefusedError
            return
        running.add(item)
        begun.set()
        time.sleep(0.1)
        running.discard(item)

    with threads(2) as executor:
        stream = executor.stream(function, range(100))
        if closed:
            next(stream)
            stream.close()
        else:
            with pytest.raises(RefusedError):
                next(stream)
        assert not running


@COUNTS
def test_placed_parts_are_added_where_they_belong(n_jobs):
    def function(start):
        return Placed(start, np.array([1.0, 10.0 * start])), np.array(2.0)

    with threads(n_jobs) as executor:
        vector, total = map_sum(executor, function, [0, 1, 3], n_samples=6)
    assert vector.tolist() == [1.0, 1.0, 10.0, 1.0, 30.0, 0.0]
    assert total == 6.0
