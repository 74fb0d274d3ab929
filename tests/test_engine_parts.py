"""Parts of the engine by themselves: stages, threads, blocks of samples, ridge regressions and their factors."""

import itertools
import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import prediction_oracle
from bahsic import BAHSIC
from bahsic.criteria.blocks import block_weights, random_blocks
from bahsic.criteria.hsic import estimate_and_variance
from bahsic.criteria.prediction import ResidualWeights, label_features
from bahsic.criteria.weights import Matrix, label_weights
from bahsic.data.columns import Columns
from bahsic.engine import threads, tile_plan
from bahsic.engine.executor import Placed, Scratch, map_sum, thread_count
from bahsic.engine.gram import GramTiles, KernelBlocks, tiled_variance
from bahsic.engine.intervals import Intervals, leading
from bahsic.engine.kernel_block import CholeskyFactor, KernelBlock
from bahsic.engine.pairs import WeightTiles
from bahsic.engine.ridge import RidgeRegression
from bahsic.kernels import Gaussian, InverseDistance, Laplacian, Linear, label_kernel
from bahsic.selection.problem import checked_problem
from pairwise import pairwise
from selecting import drawn, standardised

# Stages that refine only what is undecided


class Ladder:
    """Stages around known values, each with its own radius, which note what they were asked for."""

    def __init__(self, truth, radii, seed=0):
        self.truth, self.asked = np.asarray(truth, dtype=float), []
        self._rng = np.random.default_rng(seed)
        self.stages = [self._stage(radius) for radius in radii]

    def _stage(self, radius):
        def stage(positions):
            self.asked.append(positions.tolist())
            radii = np.broadcast_to(radius, self.truth.shape)[positions].astype(float)
            offsets = np.where(np.isfinite(radii), radii, 1.0) * self._rng.uniform(-1, 1, len(positions))
            return Intervals(self.truth[positions] + offsets, radii)

        return stage


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


# Blocks of samples


def test_blocks_hold_every_sample_once_and_differ_by_one_in_size():
    for m, size in [(8, 4), (10, 4), (103, 10), (1000, 7)]:
        parts = list(random_blocks(m, size, random_state=0).samples())
        assert sorted(np.concatenate(parts)) == list(range(m))
        assert max(map(len, parts)) - min(map(len, parts)) <= 1


@pytest.mark.parametrize("labels", ["binary", "regression", "delta", "precomputed"])
def test_weights_are_zero_between_blocks_and_those_of_each_block_within(labels):
    rng = np.random.default_rng(0)
    y = {"regression": rng.normal(size=23), "precomputed": np.cov(rng.normal(size=(23, 5)))}.get(
        labels, rng.permutation(np.resize([0, 1, 1], 23))
    )
    kernel = label_kernel(y, labels)
    starts = [0, 6, 12, 18]
    weights, expected = block_weights(kernel, starts), np.zeros((23, 23))
    for start, end in zip(starts, [*starts[1:], 23], strict=True):
        block = slice(start, end)
        alone = label_weights(kernel.of_samples(np.arange(start, end)))
        expected[block, block] = alone.matrix() / 4
    assert np.allclose(weights.matrix(), expected, rtol=1e-15, atol=0)
    for rows, cols in [((0, 3), (2, 6)), ((3, 9), (5, 20)), ((7, 9), (12, 14)), ((18, 23), (0, 23)), ((4, 5), (4, 5))]:
        assert np.array_equal(weights.block(slice(*rows), slice(*cols)), weights.matrix()[slice(*rows), slice(*cols)])


@pytest.mark.parametrize(
    "kernel", [Gaussian(0.2), Gaussian(1e-13), Laplacian(0.3), InverseDistance(gamma=0.4), Linear()], ids=repr
)
def test_kernel_values_by_blocks_have_the_same_variance(kernel):
    rng = np.random.default_rng(0)
    XT = rng.normal(size=(3, 90))
    XT -= XT.mean(axis=1, keepdims=True)
    labels = label_kernel(rng.normal(size=90) + XT[0])
    lazy = KernelBlocks(Columns.plain(XT), np.arange(3), kernel, 100.0)
    for weights in (None, rng.integers(1, 4, 90)):
        W = label_weights(labels, "unbiased", weights)
        expected = estimate_and_variance(Matrix(kernel.centrable(XT.T)), W)
        assert estimate_and_variance(lazy, W) == pytest.approx(expected, rel=1e-9, abs=0)
        with threads(1) as executor:
            plan = tile_plan(90, 0.2)
            found = tiled_variance(GramTiles(lazy, plan), WeightTiles(W, plan, keep=False), executor)
        assert found == pytest.approx(expected[1], rel=1e-8, abs=0)


def test_regressions_of_auto_use_some_of_the_blocks(monkeypatch):
    for name, value in {"EXACT_SAMPLES": 120, "EXACT_REGRESSION": 100, "BLOCK_SIZE": 10, "REGRESSION_SIZE": 20}.items():
        monkeypatch.setattr(f"bahsic.criteria.blocks.{name}", value)
    X, y = drawn(141, 6)
    found = {name: checked_problem(BAHSIC(1, criterion=name), X, y, None) for name in ("hsic", "prediction")}
    assert [len(found[name].in_blocks().starts) for name in found] == [14, 5]
    assert found["prediction"].data.columns.n_samples == len(found["prediction"].labels) == 101
    assert np.array_equal(found["prediction"].data.order, found["hsic"].data.order[:101])
    given = checked_problem(BAHSIC(1, criterion="prediction", block_size=20), X, y, None)
    assert len(given.in_blocks().starts) == 7
    for options in ({"n_features_to_select": "auto"}, {"n_features_to_select": 1, "kernel": "auto"}):
        assert checked_problem(BAHSIC(**options), X, y, None).block_size == 20
    X, y = X[:110], y[:110]
    sizes = [checked_problem(BAHSIC(1, criterion=name), X, y, None).block_size for name in ("hsic", "prediction")]
    assert sizes == [None, 20]


# Ridge regressions


def gaussian(Z):
    return Gaussian(1 / (2 * Z.shape[1]))(Z)


def test_a_label_factor_leaves_out_less_than_a_millionth():
    L = Gaussian(0.7)(np.random.default_rng(0).normal(size=(60, 2)))
    Y = label_features(label_kernel(L, "precomputed"))
    H = np.eye(60) - 1 / 60
    rest = H @ L @ H - Y @ Y.T
    assert Y.shape[1] < 60
    assert np.abs(Y.sum(axis=0)).max() < 1e-12
    assert 0 < np.trace(rest) < 1e-6 * np.trace(H @ L @ H)
    np.testing.assert_allclose(Y @ Y.T, prediction_oracle.factor(L) @ prediction_oracle.factor(L).T, atol=1e-9)


@pytest.mark.parametrize("scale", [0.5, 1.0, 1000.0])
def test_a_weighted_sample_is_left_out_whole(scale):
    X, y = drawn(m=30, d=5)
    w = np.random.default_rng(0).choice([0.2, 0.9, 1.0, 2.0, 10.0], 30)
    K, Y, plan = gaussian(standardised(X)), prediction_oracle.indicators(y), tile_plan(30)
    with threads(1) as executor:
        regression = RidgeRegression(Y, 1e-3, plan, (0,), scale * w, executor)
        fit = regression.fit(GramTiles(Matrix(K), plan), 5, losses=True)
    losses, baseline = prediction_oracle.left_out_losses(K, Y, 1e-3, w)
    np.testing.assert_allclose(fit.losses, losses, rtol=1e-8)
    assert fit.predictability == pytest.approx(1 - w @ losses / (w @ baseline), abs=1e-10)


def test_residuals_in_single_precision_are_as_exact(monkeypatch):
    X, y = drawn(m=150, d=5)
    K, Y, plan = gaussian(standardised(X)), prediction_oracle.indicators(y), tile_plan(150)
    monkeypatch.setattr("bahsic.engine.ridge.DOUBLE_SAMPLES", 20)
    with threads(1) as executor:
        for exact in (False, True):
            regression = RidgeRegression(Y, 1e-3, plan, (0,), None, executor, exact=exact)
            found = regression.fit(GramTiles(Matrix(K), plan), 5)
            W = prediction_oracle.residual_matrix(K, Y, 1e-3, [np.arange(150)])
            np.testing.assert_allclose(found.Q @ found.Q.T, W, atol=1e-9 * np.abs(W).max())
            expected = prediction_oracle.explained(K, Y, 1e-3, [np.arange(150)])
            assert found.explained == pytest.approx(expected, abs=1e-10)
            (value,) = regression.explained([GramTiles(Matrix(K), plan)])
            assert value == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("starts", [(0,), (0, 70)])
@pytest.mark.parametrize("ridge", ["auto", 1e-3])
def test_residuals_of_a_greater_ridge(ridge, starts, precision, monkeypatch):
    if precision == "single":
        monkeypatch.setattr("bahsic.engine.ridge.DOUBLE_SAMPLES", 20)
    X, y = drawn(m=150, d=5)
    K, Y, plan = gaussian(standardised(X)), prediction_oracle.indicators(y), tile_plan(150, starts=starts)
    blocks = np.split(np.arange(150), starts[1:])
    found = []
    for n_jobs in (1, 2, 3):
        with threads(n_jobs) as executor:
            regression = RidgeRegression(Y, ridge, plan, starts, None, executor)
            found.append(regression.fit(GramTiles(Matrix(K), plan), 5, judging=0.5, losses=True))
    fit = found[0]
    W = prediction_oracle.residual_matrix(K, Y, 0.5, blocks)
    np.testing.assert_allclose(ResidualWeights(fit.Q, starts).matrix(), W, atol=1e-9 * np.abs(W).max())
    assert fit.explained == pytest.approx(prediction_oracle.explained(K, Y, fit.ridge, blocks), abs=1e-9)
    expected = prediction_oracle.predictability(K, Y, fit.ridge, blocks)
    assert fit.predictability == pytest.approx(expected, abs=1e-5)
    for other in found[1:]:
        assert np.array_equal(other.Q, fit.Q)
        assert np.array_equal(other.losses, fit.losses)


def test_residual_weights_are_zero_between_blocks():
    Q = np.arange(10.0).reshape(5, 2) + 1
    weights = ResidualWeights(Q, (0, 2))
    W = Q @ Q.T
    W[:2, 2:] = W[2:, :2] = 0.0
    assert np.array_equal(weights.matrix(), W)
    for rows, cols in itertools.product([slice(0, 2), slice(1, 4), slice(2, 5)], repeat=2):
        assert np.array_equal(weights.block(rows, cols), W[rows, cols])
    assert np.array_equal(ResidualWeights(Q).matrix(), Q @ Q.T)
    assert np.array_equal(weights.of_samples(np.array([1, 3])).matrix(), Q[[1, 3]] @ Q[[1, 3]].T)


def positive_definite(m, dtype):
    X = np.random.default_rng(m).normal(size=(m, m + 5))
    return (X @ X.T / m + 0.5 * np.eye(m)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("m", [1, 79, 80, 81, 300, 700])
def test_cholesky_factors(m, dtype):
    A, tolerance = positive_definite(m, dtype), 1e3 * np.finfo(dtype).eps
    R = np.random.default_rng(0).normal(size=(m, 3))
    upper = np.triu(A) + np.tril(np.full((m, m), np.nan), -1)
    results = []
    for n_jobs in (1, 2, 3):
        with threads(n_jobs) as executor:
            factor = CholeskyFactor(Matrix(upper - 0.25 * np.eye(m)), 0.25, executor, dtype, Scratch())
            results.append((factor.inverse_diagonal(), factor.solve(R)))
    inverse, solution = results[0]
    assert solution.dtype == factor.dtype == dtype
    np.testing.assert_allclose(inverse, np.diag(np.linalg.inv(A.astype(np.float64))), rtol=tolerance)
    np.testing.assert_allclose(solution, np.linalg.solve(A.astype(np.float64), R), atol=tolerance)
    for other in results[1:]:
        assert np.array_equal(other[0], inverse)
        assert np.array_equal(other[1], solution)


def test_nearly_singular_matrices_have_exact_factors():
    K = gaussian(np.random.default_rng(0).normal(size=(300, 1)))
    with threads(1) as executor:
        U = np.triu(CholeskyFactor(Matrix(K), 1e-11, executor, np.float64, Scratch())._U)
    np.testing.assert_allclose(U.T @ U, K + 1e-11 * np.eye(300), atol=1e-13)


@pytest.mark.parametrize("at", [0, 79, 80, 200, 299])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_cholesky_of_what_is_not_positive_definite(at, n_jobs):
    A = positive_definite(300, np.float64)
    A[at, at] = -2.0
    with threads(n_jobs) as executor, pytest.raises(np.linalg.LinAlgError):
        CholeskyFactor(Matrix(A), 0.5, executor, np.float64, Scratch())


@pytest.mark.parametrize("m", [1, 128, 129, 300])
@pytest.mark.parametrize("weighted", [False, True])
def test_products_with_centred_kernel_values(m, weighted):
    rng = np.random.default_rng(m)
    w, S = rng.uniform(0.5, 2, size=m) if weighted else np.ones(m), rng.normal(size=(m, 2))
    K = gaussian(rng.normal(size=(m, 3)))
    H = np.eye(m) - w / w.sum()
    expected = np.sqrt(w)[:, None] * (H @ K @ H.T) * np.sqrt(w)
    upper = np.triu(K)
    block = KernelBlock.of_sums(upper, upper @ w + w @ upper, w)
    np.testing.assert_allclose(block.product(S), expected @ S, atol=1e-12)
