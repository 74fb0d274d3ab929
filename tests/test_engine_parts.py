"""Parts of the engine by themselves: the stages of a round, threads, and a factor."""

import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from bahsic.criteria.weights import Matrix
from bahsic.engine import threads
from bahsic.engine.executor import Scratch
from bahsic.engine.kernel_block import CholeskyFactor
from bahsic.engine.scorer import Intervals, leading
from bahsic.kernels import Gaussian
from pairwise import pairwise

# Stages that refine only what is undecided


class Ladder:
    """Stages around known values, each with its own radius, which note what they were asked for."""

    def __init__(self, truth, radii, seed=0):
        self.truth, self.asked = np.asarray(truth, dtype=float), []
        self.rng = np.random.default_rng(seed)
        self.stages = [self.stage(radius) for radius in radii]

    def stage(self, radius):
        def intervals(positions):
            self.asked.append(positions.tolist())
            radii = np.broadcast_to(radius, self.truth.shape)[positions].astype(float)
            offsets = np.where(np.isfinite(radii), radii, 1.0) * self.rng.uniform(-1, 1, len(positions))
            return Intervals(self.truth[positions] + offsets, radii)

        return intervals


@pytest.mark.parametrize(
    ("truth", "radii", "count", "expected", "asked"),
    [
        ([3.0, 1.0, 2.0], [0.1, 0.0], 2, [0, 2], [[0, 1, 2]]),
        # The two at the bottom overlap too, but neither is wanted.
        ([9.0, 5.0, 5.05, 1.0, 1.01], [0.1, 0.001], 3, [0, 2, 1], [[0, 1, 2, 3, 4], [1, 2]]),
        ([9.0, 5.0, 5.05, 1.0], [0.1, 0.001], 2, [0, 2], [[0, 1, 2, 3], [1, 2]]),
        ([1.0, 2.0, 3.0], [[0.1, np.inf, 0.1], 0.1], 1, [2], [[0, 1, 2], [1, 2]]),
        # A stage that knows less takes nothing back.
        ([1.0, 1.05], [0.1, 0.5, 0.001], 2, [1, 0], [[0, 1], [0, 1], [0, 1]]),
    ],
)
def test_only_what_is_undecided_is_refined(truth, radii, count, expected, asked):
    ladder = Ladder(truth, radii)
    assert leading(ladder.stages, np.arange(len(truth)), count)[0].tolist() == expected
    assert ladder.asked == asked


def test_ties_after_the_last_stage_go_to_the_lowest_position():
    def stage(positions):
        return Intervals(np.array([1.0, 2.0, 2.0 + 1e-12, 2.0])[positions], np.full(len(positions), 1e-9))

    assert leading([stage], np.arange(4), 4)[0].tolist() == [1, 2, 3, 0]


def test_copies_are_evaluated_once_and_come_in_their_order():
    ladder = Ladder([1.0, 4.0, np.nan, 2.0, np.nan], [0.1, 0.0])
    positions, scores = leading(ladder.stages, np.array([0, 1, 1, 3, 0]), 5)
    assert positions.tolist() == [1, 2, 3, 0, 4]
    assert ladder.asked == [[0, 1, 3]]
    assert scores.values[2] == scores.values[1]


@pytest.mark.parametrize("seed", range(60))
def test_order_is_that_of_the_truth_whatever_the_intervals(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    truth = rng.choice(np.arange(100), n, replace=False) / 7.0
    first = np.where(rng.random(n) < 0.2, np.inf, rng.uniform(0, 3, n))
    ladder = Ladder(truth, [first, rng.uniform(0, 0.5, n), 0.01], seed)
    count = int(rng.integers(1, n + 1))
    positions, _ = leading(ladder.stages, np.arange(n), count)
    assert positions.tolist() == np.argsort(-truth)[:count].tolist()


def test_scores_that_overflowed_are_refused():
    with pytest.raises(ValueError, match="rescale X"):
        leading([lambda at: Intervals(np.full(len(at), np.nan), np.ones(len(at)))], np.arange(3), 1)


# Threads


class RefusedError(Exception):
    pass


def test_several_threads_work_at_once_and_one_job_starts_none():
    together = threading.Barrier(2, timeout=10)
    with threads(2) as executor:
        executor.map(lambda item: together.wait(), range(2))  # would time out with one thread
    with threads(1) as executor:
        assert set(executor.map(lambda item: threading.get_ident(), range(5))) == {threading.get_ident()}


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
    with threads(-1) as executor:
        assert executor.n_threads >= 1


def test_few_samples_get_one_thread_unless_more_are_asked_for():
    n_threads = max(info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas")
    for n_jobs, n_samples, expected in [(None, 10, 1), (2, 10, 2), (None, 10**6, n_threads)]:
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


def test_nearly_singular_matrices_have_exact_factors():
    x = np.random.default_rng(0).normal(size=(300, 1))
    K = Gaussian(0.5)(x)
    with threads(1) as executor:
        U = np.triu(CholeskyFactor(Matrix(K), 1e-11, executor, np.float64, Scratch())._U)
    np.testing.assert_allclose(U.T @ U, K + 1e-11 * np.eye(300), atol=1e-13)
