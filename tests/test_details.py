"""Details that a small change of the code would break; most were found by changing it, see `make mutants`."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import LinearRegression

from bahsic import BAHSIC, BAHSICCV
from bahsic.criteria import blocks
from bahsic.criteria.blocks import BlockWeights
from bahsic.criteria.prediction import ResidualWeights, RidgeFit
from bahsic.data import entries, roles, sources
from bahsic.data.prepared import prepared
from bahsic.data.stored_rows import StoredRows
from bahsic.engine import Columns, cholesky, gram, lapack, plan, prediction, scorer, scorer_for, threads
from bahsic.engine.encoding import largest_contributions
from bahsic.engine.intervals import Intervals, overlap_groups
from bahsic.engine.ridge import RidgeRegression
from bahsic.kernels import (
    Delta,
    Function,
    Gaussian,
    InverseDistance,
    Laplacian,
    Polynomial,
    WeisfeilerLehman,
)
from bahsic.kernels.distance import squared_distances
from bahsic.kernels.rows import as_labels, as_rows
from bahsic.selection import (
    checkpoint,
    crossvalidation,
    estimator_tables,
    folds,
    metadata,
    problem,
)

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
    column = nothing[:, None]
    return RidgeFit(
        ridge=0.1, explained=share, quadratic=0.0, Q=column, coefficients=column, baseline=nothing, losses=nothing
    )


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


@pytest.mark.parametrize(
    ("statistic", "criterion", "expected"),
    [("unbiased", "hsic", True), ("biased", "hsic", False), ("unbiased", "prediction", False)],
)
def test_only_the_unbiased_estimate_needs_two_of_a_class(statistic, criterion, expected):
    told = []
    labels = SimpleNamespace(warn=lambda **options: told.append(options["unbiased"]))
    problem = SimpleNamespace(labels=labels, data=SimpleNamespace(weights=None))
    BAHSIC(statistic=statistic, criterion=criterion)._report_labels(problem)
    assert told == [expected]


def test_tiles_of_large_data_fit_into_the_memory():
    entry = plan._PANELS * plan.BYTES
    assert plan._shape(10_000, 400 * entry, several=False) == (10, 40)
    assert plan._shape(10_000, 10_000 * plan.PANEL_HEIGHT * entry, several=False) == (plan.PANEL_HEIGHT, 10_000)
    assert plan._shape(10_000, 0, several=False) == (1, 1)
    assert plan._shape(500, 500 * 250 * entry, several=True) == (250, 500)
    assert plan._shape(500, 400 * entry, several=True) == (10, 40)


def test_routines_with_other_arguments_are_not_called(monkeypatch):
    routine = lapack._routine.__wrapped__
    assert routine("potrf", "d") is not None
    for other in ("ci#i", "zz"):
        monkeypatch.setitem(lapack._TAKES, "potrf", other)
        assert routine("potrf", "d") is None


def test_the_gains_of_the_next_features_in_order_are_measured(monkeypatch):
    X = RNG.standard_normal((60, 8))
    y = X[:, 0] + 0.5 * X[:, 1] + 0.1 * X[:, 2]
    plain = BAHSIC(1, criterion="prediction").fit(X, y)
    monkeypatch.setattr(prediction, "GAINS", 3)
    fewer = BAHSIC(1, criterion="prediction").fit(X, y)
    order = plain.elimination_order_[::-1]
    np.testing.assert_array_equal(fewer.scores_[order[:4]], plain.scores_[order[:4]])
    assert np.isnan(fewer.scores_[order[4:]]).all()


def test_only_blocks_of_samples_need_a_seed():
    selector = SimpleNamespace(random_state=None, block_size=100)
    whole, blocks = SimpleNamespace(block_size=None), SimpleNamespace(block_size=100)
    checkpoint.check_seed(selector, whole)
    checkpoint.check_seed(SimpleNamespace(random_state=1, block_size=100), blocks)
    checkpoint.check_seed(SimpleNamespace(random_state=None, block_size="auto"), blocks)
    with pytest.raises(ValueError, match="random_state is None"):
        checkpoint.check_seed(selector, blocks)


def test_the_largest_contribution_of_a_column_bounds_all():
    # Numbers with missing entries, which are farther from the others than these are, or nearer; numbers; categories;
    # a column of zeros.
    X = np.array([[3.0, np.nan], [3.0, np.nan], [-2.0, 1.0], [0.0, 5.0], [0.0, 0.0]])
    neutral, different = np.array([50.0, 1.0, 0.0, 3.0, 0.0]), np.array([0.0, 0.0, 0.0, 2.0, 0.0])
    columns = Columns(X, different, neutral, np.array([True, True, False, False, False]))
    for power, expected in [(2, [86.0, 37.0, 16.0, 3.0, 1.0]), (1, [56.0, 7.0, 4.0, 3.0, 1.0])]:
        assert_array_equal(largest_contributions(columns, np.arange(5), power), expected)


def test_the_smallest_subset_has_one_feature():
    assert BAHSICCV(None).min_features_to_select == 1


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


def test_columns_named_as_categories_are_no_numbers():
    X = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert estimator_tables.is_numeric(X, "from_dtype")
    assert estimator_tables.is_numeric(X, None)
    assert not estimator_tables.is_numeric(X, [0])


def test_weights_of_residuals_are_zero_between_blocks():
    Q, starts = RNG.standard_normal((9, 2)), (0, 3, 7)
    whole = np.zeros((9, 9))
    for first, last in [(0, 3), (3, 7), (7, 9)]:
        whole[first:last, first:last] = Q[first:last] @ Q[first:last].T
    weights = ResidualWeights(Q, starts)
    parts = [slice(first, last) for first in range(9) for last in range(first + 1, 10)]
    for rows in parts:
        for cols in parts:
            assert_allclose(weights.block(rows, cols), whole[rows, cols])


def test_typical_contributions_of_columns():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"number": [0.0, 2.0, 4.0, 6.0], "kind": pandas.Categorical(list("abab"))})
    columns = prepared(frame, Gaussian()).columns
    assert columns.different[0] == 0.0 < columns.different[1]
    assert_allclose(columns.typical, [2.0, columns.different[1] / 2])
    assert_allclose(columns.ranges, [3 / np.sqrt(5), np.sqrt(columns.different[1])])
    assert_array_equal(columns.n_categories, [0, 2])


def test_labels_have_one_or_two_dimensions():
    for labels in (np.full((2, 2, 2), "a", dtype=object), np.empty((0, 2), dtype=object)):
        with pytest.raises(ValueError, match="y has shape"):
            as_labels(labels, "y")


@pytest.mark.parametrize("kernel", [Gaussian, Laplacian])
def test_sums_of_kernel_values_after_a_round(kernel):
    XT, Q = RNG.standard_normal((4, 12)), RNG.standard_normal((12, 2))
    everything = np.arange(4)
    with threads(1) as executor:
        scores = scorer_for(XT, kernel(0.3), ResidualWeights(Q), executor)
        scores.leaving(everything, everything, 1)
        for columns, gamma in [(everything, 0.3), (everything, 0.5), (everything[:3], 0.3), (everything[1:], 0.4)]:
            expected = np.sum(kernel(gamma)(XT[columns].T) * (Q @ Q.T))
            assert_allclose(scores.total(columns, kernel(gamma)), expected, rtol=1e-9)


def test_rules_use_some_samples_of_blocks_and_of_stored_data():
    many, stored = scorer.RULE_SAMPLES + 1, object.__new__(StoredRows)
    block_weights = object.__new__(BlockWeights)
    for n_samples, data, weights, fewer in [
        *((many, stored, None, True), (many, None, block_weights, True), (many, stored, block_weights, True)),
        *((many, None, None, False), (many - 1, stored, block_weights, False)),
    ]:
        found = scorer._rule_samples(SimpleNamespace(n_samples=n_samples, data=data), weights)
        assert (found is not None) is fewer
        assert found is None or len(np.unique(found)) == scorer.RULE_SAMPLES


def test_the_kernel_is_named_where_auto_has_chosen_it():
    X, y = RNG.standard_normal((40, 3)), np.arange(40) % 2
    X[:, 0] += 3 * y
    assert BAHSIC(1, kernel="auto").fit(X, y).kernel_ in ("gaussian", "laplacian", "linear")
    for kernel in ("inverse_distance", Laplacian(0.5)):
        assert BAHSIC(1, kernel=kernel).fit(X, y).kernel_ is kernel


def test_rankings_of_folds_count_from_what_is_selected():
    found = folds.cv_results(
        [folds.ScoredFold([1, 3], np.array([0.5, 0.75]), np.array([2, 1, 4, 3]))], np.array([[0.5, 0.75]])
    )
    assert_array_equal(found["n_features"], [1, 3])
    assert_array_equal(found["split0_ranking"], [[2, 1, 4, 3], [1, 1, 2, 1]])
    assert_array_equal(found["split0_support"], [[False, True, False, False], [True, True, False, True]])


def test_changes_are_those_of_the_score():
    XT, Q, kernel = RNG.standard_normal((4, 12)), RNG.standard_normal((12, 2)), InverseDistance()

    def score(columns):
        return np.sum(kernel(XT[columns].T) * (Q @ Q.T)) if len(columns) else 0.0

    with threads(1) as executor:
        scores = scorer_for(XT, kernel, ResidualWeights(Q), executor)
        for subset in (np.arange(0), np.arange(2)):
            found = scores.changes(subset, np.array([2, 3]), kernel, leaving=False).values
            assert_allclose(found, [score(np.append(subset, j)) - score(subset) for j in (2, 3)])
        assert scores.entering(np.arange(0), np.arange(4), 1).score == 0.0


def test_d_is_changed_only_where_it_is_kept_for_the_subset():
    for keep, subset in [(False, [0, 1, 2]), (True, [0, 1])]:
        pairs = SimpleNamespace(is_kept=keep, subset=np.array(subset))
        assert not gram.can_change(pairs, np.arange(3), np.array([0]), Gaussian(1.0), leaving=True)


def test_near_samples_far_from_others_have_exact_distances():
    X = np.zeros((3, 40))
    X[1, 0], X[2] = 1e-3, 1e6
    assert_allclose(squared_distances(X)[0, 1], 1e-6, rtol=1e-9)


def test_predictability_of_small_numbers():
    fit = replace(fit_that_explains(0.5), losses=np.array([0.1, 0.3]), baseline=np.array([0.4, 0.4]))
    assert_allclose(fit.predictability, 0.5)
    with pytest.raises(ValueError, match="losses is None; accepted: a fit with leave-one-out losses"):
        _ = replace(fit, losses=None).predictability


class Entries:
    """A symmetric matrix as factors take it."""

    def __init__(self, A):
        self.A = A

    def __len__(self):
        return len(self.A)

    def write(self, rows, out):
        out[...] = self.A[rows, rows.start :]


@pytest.mark.parametrize("in_threads", [False, True])
def test_factors_of_several_panels(in_threads, monkeypatch):
    monkeypatch.setattr(cholesky, "ONE_CALL", 0)
    m = 2 * cholesky._PANEL + 9
    B = RNG.standard_normal((m, 5))
    A = B @ B.T
    expected = np.linalg.inv(A + 0.5 * np.eye(m))
    with threads(2) as executor:
        factor = cholesky.CholeskyFactor(Entries(A), 0.5, executor if in_threads else None, np.float64)
        assert_allclose(factor.solve(B), expected @ B, atol=1e-10)
        assert_allclose(factor.inverse_diagonal(), np.diagonal(expected), atol=1e-10)


def test_matrices_are_kept_where_they_fit_into_the_memory():
    # D and W of 300 samples, half of each, and half of the tiles on the diagonal once more: 0.95 mebibytes, less with
    # the smaller tiles of a smaller memory.
    assert plan.tile_plan(300, 1.0).keep
    assert not plan.tile_plan(300, 0.6).keep


def test_metadata_without_routing():
    weights = np.ones(3)
    found = metadata.unrouted("fit", {"groups": [0, 0, 1]}, Unweighted(), None)
    assert found == {"estimator": {"fit": {}}, "splitter": {"split": {"groups": [0, 0, 1]}}, "scorer": {"score": {}}}
    found = metadata.unrouted("score", {"sample_weight": weights}, Unweighted(), None)
    assert found["scorer"] == {"score": {"sample_weight": weights}}
    with pytest.raises(ValueError, match="score got groups; accepted: sample_weight"):
        metadata.unrouted("score", {"groups": [0, 0, 1]}, Unweighted(), None)


def test_samples_of_functions_stay_what_they_are():
    kernel, samples = Function(np.minimum.outer), [{"a": 1}, {"b": 2}]
    assert kernel.rows(samples) is samples
    column = np.array([{"a": 1}, {"b": 2}], dtype=object)
    assert isinstance(kernel.rows(column), np.ndarray)
    assert_array_equal(kernel.rows([1.0, 2.0]), [1.0, 2.0])
    pandas = pytest.importorskip("pandas")
    assert isinstance(kernel.rows(pandas.Series(column)), np.ndarray)


def test_missing_entries_among_objects_are_nan():
    pandas = pytest.importorskip("pandas")
    found = entries.numbers(np.array([1.5, None, pandas.NA, 2], dtype=object), "x")
    assert_array_equal(found, [1.5, np.nan, np.nan, 2.0])


def test_one_row_of_few_may_be_rare():
    x = np.full(60, 5.0)
    assert roles.rare_rows(x) is None
    x[7] = 1.0
    assert_array_equal(np.flatnonzero(roles.rare_rows(x)), [7])
    x[9] = 1.0
    assert roles.rare_rows(x) is None


def test_the_ridge_is_chosen_anew_after_a_third_of_the_features():
    found = [n for n in range(1, 20) if RidgeRegression.is_due(SimpleNamespace(_chosen_for=9, _fixed=None), n)]
    assert found == [1, 2, 3, 4, 5, 6, 14, 15, 16, 17, 18, 19]


def test_estimators_get_no_sparse_tables():
    X = sparse.csr_array(np.eye(3))
    for numeric in (False, True):
        with pytest.raises(TypeError, match="Sparse data was passed for X, but dense data is required"):
            estimator_tables.estimator_table(BAHSIC(), X, numeric=numeric, missing=False, reset=True)


def test_only_columns_of_frames_may_hardly_vary():
    pandas = pytest.importorskip("pandas")
    X = RNG.standard_normal((60, 2))
    X[:, 1] = 5.0
    X[7, 1] = 1.0
    y = np.arange(60) % 2
    for table, expected in [(X, "number"), (pandas.DataFrame(X, columns=["a", "b"]), "uninformative")]:
        assert BAHSIC(1).fit(table, y).columns_[1].role == expected


def test_samples_of_stored_rows_are_chosen_among_those_chosen_before():
    few = StoredRows(None, None).of_samples(np.array([4, 2, 0]))
    assert_array_equal(few.order, [4, 2, 0])
    assert_array_equal(few.of_samples(np.array([2, 1])).order, [0, 2])


def test_dates_are_told_from_numbers_and_categories():
    pandas = pytest.importorskip("pandas")
    days = pandas.to_datetime(["2024-01-01", "2024-01-03", "2024-02-01"])
    frame = pandas.DataFrame({"x": [1.0, 2.5, 3.0], "day": days, "kind": pandas.Categorical(list("aba"))})
    assert prepared(frame, Gaussian()).table.special == {1: ("date", "in days")}


def made_anew(text):
    """The same text as another object, such as one that was read from a file."""
    return "".join(list(text))


@pytest.mark.parametrize("criterion", ["hsic", "prediction"])
def test_names_are_compared_and_not_the_objects(criterion):
    X = RNG.standard_normal((30, 4))
    y = (X[:, 0] > 0).astype(int)
    X[:3, 1] = np.nan
    options = {"criterion": criterion, "missing": "indicator", "target_kernel": "binary", "block_size": "auto"}
    one, other = (
        BAHSIC(2, standard_errors=True, cv=2, **{name: copied(value) for name, value in options.items()}).fit(X, y)
        for copied in (str, made_anew)
    )
    assert_array_equal(one.ranking_, other.ranking_)
    assert_array_equal(one.scores_, other.scores_)
    assert [step.predictability for step in one.path_] == [step.predictability for step in other.path_]
    assert [step.hsic for step in one.path_] == [step.hsic for step in other.path_]
    assert [step.standard_error for step in one.path_] == [step.standard_error for step in other.path_]


def test_tables_have_as_many_columns_as_the_first():
    search = BAHSICCV(LinearRegression())
    search._numeric, search.n_features_in_ = True, 3
    assert search._seen(np.ones((2, 3))).shape == (2, 3)
    with pytest.raises(ValueError, match="X has 4 features, but BAHSICCV is expecting 3 features"):
        search._seen(np.ones((2, 4)))
    assert search._seen(np.ones((2, 4)), reset=True).shape == (2, 4)


def test_own_fits_are_for_the_candidates_that_lead(monkeypatch):
    X = RNG.standard_normal((40, 6))
    y = X[:, 0] + X[:, 1]
    original, found = prediction.PredictionScorer._by_own_fit, []

    def watched(self, columns, candidates, count, kernel, fit, *, leaving):
        leading = self.linear.leading(columns, columns, kernel, min(2, len(columns)), leaving=leaving)
        found.append((candidates.tolist(), sorted(leading.tolist())))
        return original(self, columns, candidates, count, kernel, fit, leaving=leaving)

    monkeypatch.setattr(prediction, "FITTED", 2)
    monkeypatch.setattr(prediction.PredictionScorer, "_by_own_fit", watched)
    BAHSIC(2, step=1, criterion="prediction").fit(X, y)
    assert len(found) >= 4
    assert all(fitted == leading for fitted, leading in found)


def test_blocks_are_chosen_by_the_criterion():
    sizes = [
        problem._block_size(BAHSIC(criterion=made_anew(criterion), cv=cv), 5000, weighted=False)
        for criterion, cv in [("hsic", None), ("prediction", None), ("hsic", 3)]
    ]
    assert sizes == [None, blocks.REGRESSION_SIZE, blocks.REGRESSION_SIZE]
