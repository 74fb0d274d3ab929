"""Details that a small change of the code would break; most were found by changing it, see `make mutants`."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bahsic import BAHSIC, BAHSICCV
from bahsic.criteria.prediction import RidgeFit
from bahsic.data import sources
from bahsic.data.prepared import prepared
from bahsic.engine import Columns, cholesky, lapack, plan, prediction, threads
from bahsic.engine.gaussian import moments, series
from bahsic.engine.gaussian.setting import GaussianSetting
from bahsic.engine.intervals import Intervals, overlap_groups
from bahsic.kernels import Delta, Gaussian, InverseDistance, Laplacian, Polynomial, WeisfeilerLehman
from bahsic.kernels.rows import as_rows
from bahsic.selection import checkpoint, crossvalidation, estimator_tables, folds, metadata

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [(Gaussian(), (0, 1)), (Laplacian(), (0, 1)), (Delta(), (0, 1)), (InverseDistance(0.5), (0, 2))],
)
def test_values_of_kernels_fill_their_range(kernel, expected):
    values = kernel(np.array([[0.0], [0.0], [1e6]]))
    assert kernel.value_range == expected
    assert_allclose([values.min(), values.max()], expected, atol=1e-5)


def test_labels_of_nodes_are_what_they_are():
    pair = np.array([[0, 1], [1, 0]])
    graphs = [(pair, [1, 1]), (pair, ["1", 1]), (pair, np.array([1, 1]))]
    assert_array_equal(WeisfeilerLehman(0)(graphs), [[4, 2, 4], [2, 2, 2], [4, 2, 4]])


def test_classes_of_samples_without_weight_do_not_count():
    labels, weights = np.repeat([0, 1, 2], 4), np.repeat([1.0, 2.0, 0.0], 4)
    assert crossvalidation._kernel_of_classes(labels, None) == "multiclass"
    assert crossvalidation._kernel_of_classes(labels, weights) == "binary"
    assert crossvalidation._kernel_of_classes(labels, weights[:5]) == "multiclass"


def test_plain_tables_are_those_of_numbers():
    pandas = pytest.importorskip("pandas")
    numbers = pandas.DataFrame({"a": [1.0, 2.0], "b": [1, 2]})
    for table, expected in [
        *((numbers, True), (numbers.to_numpy(), True), (numbers.to_numpy().tolist(), False)),
        *((numbers.assign(c=["u", "v"]), False), (numbers.to_numpy().astype(object), False)),
    ]:
        assert estimator_tables._is_plain(table) is expected


def test_parameters_with_an_entry_for_each_sample_are_cut_to_the_rows():
    params = {"each": np.arange(5), "other": np.arange(6), "fewer": [1, 2], "one": 3}
    found = folds._rows_of(params, np.array([3, 1]), 5)
    assert_array_equal(found["each"], [3, 1])
    assert all(found[name] is params[name] for name in ("other", "fewer", "one"))


class Unweighted:
    """An estimator whose score takes weights, but whose fit takes none."""

    def fit(self, X, y):
        return self

    def score(self, X, y, sample_weight=None):
        return 1.0


def test_only_what_is_called_has_to_take_weights():
    metadata._check_weighable("score", Unweighted(), None)
    with pytest.raises(ValueError, match="the fit of the estimator, a Unweighted, takes none"):
        metadata._check_weighable("fit", Unweighted(), None)


def test_tables_without_entries_are_refused():
    for empty in (np.empty((0, 3)), np.empty((3, 0))):
        with pytest.raises(ValueError, match=r"X has shape \(., .\); accepted: one or two dimensions"):
            as_rows(empty, "X")


def test_a_polynomial_of_degree_one_is_linear():
    x = RNG.standard_normal((4, 2))
    assert_allclose(Polynomial(degree=1, coef0=0.5)(x), x @ x.T + 0.5)
    with pytest.raises(ValueError, match="degree is 0; accepted: a positive integer"):
        Polynomial(degree=0)(x)


def fit_that_explains(share):
    nothing = np.zeros(2)
    return RidgeFit(ridge=0.1, explained=share, quadratic=0.0, Q=nothing[:, None], losses=nothing, baseline=nothing)


def test_bounds_on_what_is_explained():
    found = fit_that_explains(0.6).at_most(np.array([0.4, 1.2, -0.1, 0.0]))
    assert_allclose(found, [0.2, 0.3, -0.04 / 0.3, 0.0])


def test_weights_are_taken_off_again():
    data = prepared(RNG.standard_normal((5, 2)), Gaussian())
    weights = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    assert data.weighted(None) is data
    assert_array_equal(data.weighted(weights).weights, weights)
    assert data.weighted(weights).weighted(None).weights is None


def test_intervals_that_touch_are_not_told_apart():
    order, groups = overlap_groups(Intervals(np.array([1.0, 2.0, 4.0]), np.array([0.5, 0.5, 0.5])), 3)
    assert_array_equal(order, [2, 1, 0])
    assert_array_equal(groups, [0, 1, 1])


@pytest.mark.parametrize("width", [1, 3, cholesky._INNER, 2 * cholesky._INNER + 1])
def test_squares_of_rows(width):
    M = RNG.standard_normal((3, width))
    assert_allclose(cholesky._squares(M), (M**2).sum(axis=1))


def test_the_largest_contribution_of_a_column_bounds_all():
    # Numbers with missing entries, which are farther from the others than these are, or nearer; numbers; categories.
    data = SimpleNamespace(
        missing=np.array([True, True, False, False]),
        neutral=np.array([50.0, 1.0, 0.0, 3.0]),
        different=np.array([0.0, 0.0, 0.0, 2.0]),
    )
    setting = SimpleNamespace(pairs=SimpleNamespace(columns=data), ranges=np.array([3.0, 3.0, 2.0, 9.0]))
    assert_array_equal(GaussianSetting.reach.func(setting), [59.0, 36.0, 16.0, 3.0])


@pytest.mark.parametrize(
    ("statistic", "criterion", "expected"),
    [("unbiased", "hsic", True), ("biased", "hsic", False), ("unbiased", "prediction", False)],
)
def test_only_the_unbiased_estimate_needs_two_of_a_class(statistic, criterion, expected):
    told = []
    labels = SimpleNamespace(warn=lambda **options: told.append(options["unbiased"]))
    BAHSIC(statistic=statistic, criterion=criterion)._report_labels(SimpleNamespace(labels=labels, weights=None))
    assert told == [expected]


def test_tiles_of_large_data_fit_into_the_memory():
    entry = plan._PANELS * plan.BYTES
    assert plan._shape(10_000, 400 * entry) == (10, 40)
    assert plan._shape(10_000, 10_000 * plan.PANEL_HEIGHT * entry) == (plan.PANEL_HEIGHT, 10_000)
    assert plan._shape(10_000, 0) == (1, 1)


def test_routines_with_other_arguments_are_not_called(monkeypatch):
    routine = lapack._routine.__wrapped__
    assert routine("potrf", "d") is not None
    for other in ("ci#i", "zz"):
        monkeypatch.setitem(lapack._TAKES, "potrf", other)
        assert routine("potrf", "d") is None


def test_features_without_a_fit_of_their_own_get_the_least_gain(monkeypatch):
    X = RNG.standard_normal((60, 8))
    y = X[:, 0] + 0.5 * X[:, 1] + 0.1 * X[:, 2]
    plain = BAHSIC(1, criterion="prediction").fit(X, y)
    monkeypatch.setattr(prediction, "GAINS", 3)
    fewer = BAHSIC(1, criterion="prediction").fit(X, y)
    outside = ~plain.get_support()
    found = fewer.scores_[outside]
    assert (found == found.min()).sum() == 7 - 3 + 1
    assert np.isin(np.delete(found, found == found.min()), plain.scores_[outside]).all()


def test_only_blocks_of_samples_need_a_seed():
    selector = SimpleNamespace(random_state=None, block_size=100)
    checkpoint.check_seed(selector, SimpleNamespace(starts=(0,)))
    checkpoint.check_seed(SimpleNamespace(random_state=1, block_size=100), SimpleNamespace(starts=(0, 100)))
    with pytest.raises(ValueError, match="random_state is None"):
        checkpoint.check_seed(selector, SimpleNamespace(starts=(0, 100)))


def test_the_smallest_subset_has_one_feature():
    assert BAHSICCV(None).min_features_to_select == 1


@pytest.mark.parametrize("degree", [1, 4, 5])
def test_moments_are_sums_of_powers(degree):
    XT, Q = RNG.standard_normal((3, 7)), RNG.standard_normal((7, 2))
    low_rank = moments.LowRank(Q, np.eye(2), np.vecdot(Q, Q), np.zeros(7), 1.0)
    features = np.array([0, 2])
    with threads(1) as executor:
        found = moments.Moments.made(features, degree, Columns.plain(XT), low_rank, executor)
    ranges = np.abs(XT[features]).max(axis=1)
    z = XT[features] / ranges[:, None]
    powers = np.arange(degree + 1)[:, None, None]
    assert found.degree == degree
    assert_array_equal(found.ranges, ranges)
    assert_allclose(found.projections, np.einsum("pcm,mq->cpq", z**powers, Q))
    assert_allclose(found.diagonals, (z ** (2 * powers) @ low_rank.diagonal).T)
    assert_allclose(found.norms, (z ** (2 * powers)).sum(axis=2).T)


def test_the_tail_of_the_series_by_hand():
    # One sample at a squared distance of 1/4, so that z = 1/2: z^2 / 2 e^z e^z, and for a < 0 without the first e^z.
    low_rank = SimpleNamespace(norm=2.0)
    matrices = SimpleNamespace(magnitudes=np.array([1.0]), kappa=1.5, low_rank=low_rank)
    norms = np.array([[0.25]])
    assert_allclose(series.series_tails(norms, 1.0, 1, matrices), 4 * np.e / 8)
    assert_allclose(series.series_tails(norms, -1.0, 2, matrices), 4 * np.exp(0.5) / 48)


def test_what_is_an_array_of_dask():
    assert not sources.is_dask_array(SimpleNamespace(dask=1))
    assert not sources.is_dask_array(np.zeros(2))
    dask = pytest.importorskip("dask.array")
    assert sources.is_dask_array(dask.zeros((2, 2)))


def test_entries_that_are_not_finite_are_counted_and_placed():
    X = np.zeros((4, 3))
    X[2, 1] = X[3, 0] = np.nan
    source = SimpleNamespace(
        dtype=X.dtype, row_chunks=lambda: [slice(0, 2), slice(2, 4)], read=lambda rows, columns: X[rows, columns]
    )
    assert sources._not_finite(source) == "2 entries, the first in row 2, column 1"
    assert not sources.is_finite(source)
