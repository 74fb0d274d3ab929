"""BAHSIC and FOHSIC as scikit-learn selectors."""

import dataclasses
import math
import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from bahsic import BAHSIC, FOHSIC, hsic_unbiased, hsic_variance, hsic_weights
from bahsic.datasets import make_xor
from bahsic.engine import tile_plan
from bahsic.kernels import Gaussian, InverseDistance, Laplacian, Linear, Polynomial, label_kernel
from bahsic.selectors import PathStep

SELECTORS = pytest.mark.parametrize("selector", [BAHSIC, FOHSIC])


def drawn(m=40, d=8, seed=0):
    """Two relevant features, 1 and 4, among noise; two classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    y = (X[:, 1] + 0.7 * X[:, 4] + 0.3 * rng.normal(size=m) > 0).astype(int)
    return X, y


def order(fitted):
    """All features, the most relevant first."""
    return fitted.elimination_order_[::-1] if isinstance(fitted, BAHSIC) else fitted.selection_order_


def same_fit(one, other):
    return np.array_equal(order(one), order(other)) and one.path_ == other.path_


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


# scikit-learn's contract; no failure is expected. Its check of array API input skips itself
# unless SCIPY_ARRAY_API is set.


@parametrize_with_checks([BAHSIC(), FOHSIC()])
def test_contract_of_scikit_learn(estimator, check):
    check(estimator)


@SELECTORS
def test_relevant_features_are_selected(selector):
    fitted = selector(n_features_to_select=2).fit(*drawn())
    assert fitted.get_support(indices=True).tolist() == [1, 4]
    assert fitted.n_features_ == 2
    assert fitted.n_features_in_ == 8


def test_elimination_finds_what_matters_only_together():
    X, y, support = make_xor(n_samples=200, n_features=22, random_state=3)
    fitted = BAHSIC(n_features_to_select=2).fit(X, y)
    assert np.array_equal(fitted.support_, support)


def test_elimination_order_and_ranking():
    fitted = BAHSIC(n_features_to_select=3).fit(*drawn())
    assert sorted(fitted.elimination_order_.tolist()) == list(range(8))
    assert np.array_equal(fitted.support_, fitted.ranking_ == 1)
    assert sorted(fitted.elimination_order_[-3:].tolist()) == fitted.get_support(indices=True).tolist()
    # The last one to leave of those not selected is the next best.
    assert fitted.ranking_[fitted.elimination_order_].tolist() == [6, 5, 4, 3, 2, 1, 1, 1]
    assert fitted.elimination_order_.tolist() == [j for step in fitted.path_ for j in step.features]


def test_selection_order_and_ranking():
    fitted = FOHSIC(n_features_to_select=3).fit(*drawn())
    assert sorted(fitted.selection_order_.tolist()) == list(range(8))
    assert sorted(fitted.selection_order_[:3].tolist()) == fitted.get_support(indices=True).tolist()
    assert fitted.ranking_[fitted.selection_order_].tolist() == [1, 1, 1, 2, 3, 4, 5, 6]


def test_forward_selection_stops_at_the_number_and_ranks_the_rest_by_what_each_would_add():
    X, y = drawn()
    fitted = FOHSIC(n_features_to_select=3).fit(X, y)
    assert len(fitted.path_) == 3
    chosen, rest = fitted.selection_order_[:3].tolist(), fitted.selection_order_[3:].tolist()
    Z, L = standardised(X), label_kernel(y).gram()
    gains = [hsic_unbiased(Gaussian(1 / 8)(Z[:, sorted([*chosen, j])]), L) for j in rest]
    assert gains == sorted(gains, reverse=True)


def test_forward_selection_is_greedy_to_the_end_without_a_number():
    X, y = drawn()
    fitted = FOHSIC().fit(X, y)
    assert len(fitted.path_) == 8
    assert fitted.n_features_ == 4
    assert np.array_equal(fitted.selection_order_, FOHSIC(n_features_to_select=8).fit(X, y).selection_order_)
    assert fitted.selection_order_.tolist() == [j for step in fitted.path_ for j in step.features]


# What a path records


@SELECTORS
def test_path_is_frozen_and_evaluates_each_subset_with_the_rule_for_its_size(selector):
    X, y = drawn()
    fitted = selector(n_features_to_select=8, standard_errors=True).fit(X, y)
    assert isinstance(fitted.path_, tuple)
    Z, L = standardised(X), label_kernel(y).gram()
    inside = set(range(8)) if selector is BAHSIC else set()
    for step in fitted.path_:
        inside |= set() if selector is BAHSIC else set(step.features)
        K = Gaussian(1 / (2 * len(inside)))(Z[:, sorted(inside)])
        assert step.n_features == len(inside)
        assert step.parameter == 1 / (2 * len(inside))
        assert step.hsic == pytest.approx(hsic_unbiased(K, L), rel=1e-9)
        assert step.standard_error == pytest.approx(math.sqrt(hsic_variance(K, L)), rel=1e-9)
        inside -= set(step.features) if selector is BAHSIC else set()
    assert [field.name for field in dataclasses.fields(PathStep)] == [
        *("n_features", "parameter", "hsic", "standard_error", "features")
    ]
    with pytest.raises(dataclasses.FrozenInstanceError):
        fitted.path_[0].hsic = 0.0


def test_no_standard_error_unless_asked_for():
    assert {step.standard_error for step in BAHSIC().fit(*drawn()).path_} == {None}


def test_fractions_leave_by_the_paper():
    """max(1, floor(0.1 |S|)) of 25, 23, 21, 19, ... leave."""
    X, y = drawn(d=25)
    sizes = [len(step.features) for step in BAHSIC().fit(X, y).path_]
    assert sizes == [2, 2, 2] + [1] * 19
    assert [len(step.features) for step in BAHSIC(step=10).fit(X, y).path_] == [10, 10, 5]


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        (np.resize([0, 1], 40), "binary"),
        (np.resize(["a", "b", "c"], 40), "multiclass"),
        (np.linspace(0, 1, 40), "regression"),
    ],
)
def test_kernel_on_the_labels_is_recorded(y, expected):
    assert BAHSIC().fit(drawn()[0], y).target_kernel_ == expected
    assert BAHSIC(target_kernel="delta").fit(drawn()[0], y).target_kernel_ == "delta"


def test_kernel_without_a_parameter_records_none():
    assert {step.parameter for step in BAHSIC(kernel="linear").fit(*drawn()).path_} == {None}


@pytest.mark.parametrize("statistic", ["unbiased", "biased"])
@pytest.mark.parametrize("target", [np.resize([0, 1], 40), np.linspace(-1, 2, 40) ** 2], ids=["classes", "numbers"])
def test_linear_kernel_backward_forward_and_one_shot_agree(target, statistic):
    X = drawn(seed=5)[0]
    Z = standardised(X)
    W = hsic_weights(label_kernel(target).gram(), statistic)
    one_shot = np.argsort(-np.sum(Z * (W @ Z), axis=0))
    for selector in (BAHSIC(step=0.3), BAHSIC(step=1), FOHSIC(), FOHSIC(2, step=2)):
        fitted = selector.set_params(kernel="linear", statistic=statistic).fit(X, target)
        assert np.array_equal(order(fitted), one_shot)


# How many features


@SELECTORS
@pytest.mark.parametrize(("number", "expected"), [(None, 4), (1, 1), (8, 8), (0.25, 2), (0.99, 7), (1.0, 8), (0.01, 1)])
def test_numbers_of_features(selector, number, expected):
    fitted = selector(n_features_to_select=number).fit(*drawn())
    assert fitted.n_features_ == fitted.support_.sum() == expected
    assert fitted.transform(drawn()[0]).shape == (40, expected)


@SELECTORS
def test_too_many_features_are_all_kept_with_a_warning(selector):
    with pytest.warns(UserWarning, match="n_features_to_select is 9, X has 8 features: all are kept"):
        fitted = selector(n_features_to_select=9).fit(*drawn())
    assert fitted.support_.all()


@SELECTORS
@pytest.mark.parametrize("number", [0, -1, 0.0, 1.5, -0.5, "half", True, np.nan])
def test_invalid_number_of_features(selector, number):
    with pytest.raises(ValueError, match=r"n_features_to_select is .*; accepted: None"):
        selector(n_features_to_select=number).fit(*drawn())


@SELECTORS
@pytest.mark.parametrize("step", [0, -1, 0.0, 1.0, 1.5, -0.1, "all", None, True, np.nan])
def test_invalid_step(selector, step):
    with pytest.raises(ValueError, match=r"step is .*; accepted"):
        selector(step=step).fit(*drawn())


@SELECTORS
@pytest.mark.parametrize("y", [np.resize([0, 1], 12), np.linspace(0, 1, 12)], ids=["classes", "numbers"])
def test_single_feature(selector, y):
    X = np.random.default_rng(0).normal(size=(12, 1))
    fitted = selector().fit(X, y)
    assert order(fitted).tolist() == [0]
    assert fitted.ranking_.tolist() == [1]
    assert len(fitted.path_) == 1
    expected = hsic_unbiased(Gaussian(0.5)(standardised(X)), label_kernel(y).gram())
    assert fitted.path_[0].hsic == pytest.approx(expected, rel=1e-9)


# Bad input


@SELECTORS
@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"kernel": "precomputed"}, ValueError, "kernel is 'precomputed'"),
        ({"kernel": "gausian"}, ValueError, "kernel is 'gausian'.*gaussian"),
        ({"kernel": 3}, (TypeError, ValueError), "kernel is 3"),
        ({"kernel": Gaussian(-1.0)}, ValueError, "gamma is -1.0"),
        ({"kernel": Gaussian("mean")}, ValueError, "gamma is 'mean'"),
        ({"target_kernel": "bnary"}, ValueError, "target_kernel is 'bnary'"),
        ({"statistic": "exact"}, ValueError, "statistic is 'exact'; accepted: 'unbiased', 'biased'"),
        ({"n_jobs": 0}, ValueError, "n_jobs is 0"),
        ({"n_jobs": "two"}, ValueError, "n_jobs is 'two'"),
    ],
)
def test_invalid_parameters(selector, changes, error, message):
    with pytest.raises(error, match=message):
        selector(**changes).fit(*drawn())


@SELECTORS
@pytest.mark.parametrize(("value", "message"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
def test_values_that_are_no_numbers(selector, value, message):
    X, y = drawn()
    X[3, 2] = value
    with pytest.raises(ValueError, match=f"X contains {message}"):
        selector().fit(X, y)


@SELECTORS
def test_complex_values(selector):
    X, y = drawn()
    with pytest.raises(ValueError, match=r"[Cc]omplex"):
        selector().fit(X + 1j, y)


@SELECTORS
@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed"),
        (np.zeros(40), "one class only"),
        (np.resize([0, 1], 39), "X has 40 samples.* y has 39"),
        (np.full(40, np.nan), "y"),
        (np.append(np.linspace(0, 1, 39), np.inf), "y"),
    ],
)
def test_invalid_labels(selector, y, message):
    with pytest.raises(ValueError, match=message):
        selector().fit(drawn()[0], y)


@SELECTORS
def test_few_samples(selector):
    X, y = drawn()[0][:3], np.array([0, 1, 1])
    with pytest.raises(ValueError, match=r"n_samples=3; .*at least 4.*'biased'"):
        selector().fit(X, y)
    assert selector(statistic="biased").fit(X, y).support_.sum() == 4
    with pytest.raises(ValueError, match="n_samples=1"):
        selector(statistic="biased", target_kernel="regression").fit(X[:1], [0.5])


@SELECTORS
def test_four_samples_are_enough(selector):
    X = np.random.default_rng(0).normal(size=(4, 3))
    assert sorted(order(selector().fit(X, [0, 1, 0, 1]))) == [0, 1, 2]


@SELECTORS
def test_lazy_frame(selector):
    polars = pytest.importorskip("polars")
    X, y = drawn()
    with pytest.raises(TypeError, match=r"X is a polars LazyFrame.*collect\(\)"):
        selector().fit(polars.DataFrame(X).lazy(), y)


@SELECTORS
def test_not_fitted(selector):
    with pytest.raises(NotFittedError):
        selector().transform(drawn()[0])
    with pytest.raises(NotFittedError):
        selector().get_support()


# Kinds of input


@SELECTORS
def test_read_only_and_fortran_ordered_input(selector):
    X, y = drawn()
    expected = selector().fit(X, y)
    frozen, before = np.asfortranarray(X), X.copy()
    for array in (X, y, frozen):
        array.setflags(write=False)
    assert same_fit(selector().fit(X, y), expected)
    assert same_fit(selector().fit(frozen, y), expected)
    assert same_fit(selector().fit(np.repeat(X, 2, axis=0)[::2], y), expected)
    assert same_fit(selector().fit(X.tolist(), y.tolist()), expected)
    assert np.array_equal(X, before)


@SELECTORS
def test_single_precision_is_kept_and_ranks_the_same(selector):
    X, y = drawn()
    X = X.astype(np.float32)
    single, double = selector().fit(X, y), selector().fit(X.astype(np.float64), y)
    assert same_fit(single, double)
    assert single.transform(X).dtype == np.float32
    assert double.transform(X.astype(np.float64)).dtype == np.float64
    assert np.array_equal(single.transform(X), X[:, single.support_])


@SELECTORS
def test_string_labels(selector):
    X, y = drawn()
    assert same_fit(selector().fit(X, np.where(y, "yes", "no")), selector().fit(X, y))


@SELECTORS
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_dataframes_keep_their_names(selector, library):
    frames = pytest.importorskip(library)
    X, y = drawn()
    names = [f"gene {j}" for j in range(8)]
    frame = frames.DataFrame({name: X[:, j] for j, name in enumerate(names)})
    fitted = selector(n_features_to_select=2).set_output(transform=library).fit(frame, frames.Series(y))
    assert fitted.feature_names_in_.tolist() == names
    assert fitted.get_feature_names_out().tolist() == ["gene 1", "gene 4"]
    selected = fitted.transform(frame)
    assert isinstance(selected, frames.DataFrame)
    assert list(selected.columns) == ["gene 1", "gene 4"]
    assert np.array_equal(selected.to_numpy(), X[:, [1, 4]])
    assert same_fit(fitted, selector(n_features_to_select=2).fit(X, y))


@SELECTORS
def test_names_without_names(selector):
    fitted = selector(n_features_to_select=2).fit(*drawn())
    assert fitted.get_feature_names_out().tolist() == ["x1", "x4"]
    assert fitted.get_feature_names_out(list("abcdefgh")).tolist() == ["b", "e"]


# Ties, constants, scales


@SELECTORS
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "linear", Polynomial(degree=2), "inverse_distance"])
def test_duplicated_columns_go_to_the_lowest_index(selector, kernel, n_jobs):
    X, y = drawn()
    X = X[:, [0, 1, 2, 1, 4, 0, 1, 4]]
    found = order(selector(kernel=kernel, step=1, n_jobs=n_jobs).fit(X, y)).tolist()
    position = {j: found.index(j) for j in range(8)}
    for copies in ([0, 5], [1, 3, 6], [4, 7]):
        # Of equal columns the lowest index leaves first, or enters first.
        expected = copies[::-1] if selector is BAHSIC else copies
        assert sorted(copies, key=position.get) == expected


@SELECTORS
def test_all_columns_equal(selector):
    X, y = drawn()
    found = order(selector(step=1).fit(X[:, [1] * 5], y)).tolist()
    assert found == ([4, 3, 2, 1, 0] if selector is BAHSIC else [0, 1, 2, 3, 4])


@SELECTORS
def test_constant_features_are_reported_once_and_selected_last(selector):
    X, y = drawn()
    X[:, [2, 6]] = [3.0, 0.0]
    with pytest.warns(UserWarning, match="2 of 8 features are constant and rank last: 2, 6$") as caught:
        fitted = selector().fit(X, y)
    assert len(caught) == 1
    assert sorted(order(fitted)[-2:].tolist()) == [2, 6]
    assert caught[0].filename == __file__


@SELECTORS
def test_constant_features_are_reported_by_name(selector):
    pandas = pytest.importorskip("pandas")
    X, y = drawn()
    X[:, 3] = 1e6
    with pytest.warns(UserWarning, match="1 of 8 features are constant and rank last: weight$"):
        selector().fit(pandas.DataFrame(X, columns=["a", "b", "c", "weight", "e", "f", "g", "h"]), y)


@SELECTORS
def test_many_constant_features_are_not_all_listed(selector):
    X, y = drawn(d=20)
    X[:, :15] = 1.0
    with pytest.warns(UserWarning, match=r"15 of 20 .*: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, \.\.\.$"):
        selector().fit(X, y)


@SELECTORS
def test_nothing_but_constant_features(selector):
    with pytest.warns(UserWarning, match="3 of 3 features are constant"):
        fitted = selector().fit(np.ones((6, 3)), [0, 1, 0, 1, 0, 1])
    assert fitted.support_.sum() == 1
    assert [step.hsic for step in fitted.path_] == pytest.approx([0.0] * 3, abs=1e-15)


@SELECTORS
@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "linear", Polynomial(degree=2)])
def test_scales_by_powers_of_two_change_nothing(selector, kernel):
    X, y = drawn()
    scaled = X * 2.0 ** np.array([0, 300, -300, 20, -7, 664, -664, 1])
    assert same_fit(selector(kernel=kernel).fit(scaled, y), selector(kernel=kernel).fit(X, y))


@SELECTORS
@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "linear", "inverse_distance"])
def test_huge_and_tiny_columns_rank_as_the_rescaled_ones(selector, kernel):
    X, y = drawn()
    scaled = X * np.array([1.0, 1e200, 1e-200, 1e307, 1e-300, 1.0, 1e100, 3.0])
    expected, found = selector(kernel=kernel).fit(X, y), selector(kernel=kernel).fit(scaled, y)
    assert np.array_equal(order(found), order(expected))
    for one, other in zip(found.path_, expected.path_, strict=True):
        assert one.hsic == pytest.approx(other.hsic, rel=1e-9)


@SELECTORS
@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "linear"])
def test_offsets_change_nothing(selector, kernel):
    X, y = drawn()
    expected, found = selector(kernel=kernel).fit(X, y), selector(kernel=kernel).fit(X + 1e6, y)
    assert np.array_equal(order(found), order(expected))
    for one, other in zip(found.path_, expected.path_, strict=True):
        assert one.hsic == pytest.approx(other.hsic, rel=1e-7)


@SELECTORS
@pytest.mark.parametrize("kernel", [Gaussian("dimension"), Laplacian("dimension"), Linear(), Polynomial(degree=2)])
def test_without_standardising_the_units_count(selector, kernel):
    X, y = drawn()
    X = X * np.arange(1, 9) + (0 if isinstance(kernel, Linear | Polynomial) else 1e3)
    fitted = selector(kernel=kernel, standardize=False, n_features_to_select=8).fit(X, y)
    whole = fitted.path_[0] if selector is BAHSIC else fitted.path_[-1]
    expected = hsic_unbiased(kernel(X), label_kernel(y).gram())
    assert whole.hsic == pytest.approx(expected, rel=1e-8)


@SELECTORS
@pytest.mark.parametrize("exponent", [-500, -60, -10, 10, 60, 400])
def test_without_standardising_a_common_unit_goes_with_gamma(selector, exponent):
    X, y = drawn()
    X[:, 3] = np.resize([0.0, 1.0, 1.0], 40)
    expected = selector(kernel=Gaussian(0.125), standardize=False).fit(X, y)
    scaled = Gaussian(math.ldexp(0.125, -2 * exponent))
    found = selector(kernel=scaled, standardize=False).fit(np.ldexp(X, exponent), y)
    assert np.array_equal(order(found), order(expected))
    for one, other in zip(found.path_, expected.path_, strict=True):
        assert one.hsic == pytest.approx(other.hsic, rel=1e-9)


@SELECTORS
def test_without_standardising_values_beyond_range_are_refused(selector):
    X, y = drawn()
    with pytest.raises(ValueError, match=r"X has values up to .*standardize=False"):
        selector(standardize=False).fit(X * 1e200, y)


# Workers and memory

KERNELS = {
    "gaussian": "gaussian",
    "gaussian, median": Gaussian("median"),
    "gaussian, steep": Gaussian(2.0),
    "laplacian": Laplacian(0.01),
    "polynomial": Polynomial(degree=2),
    "linear": "linear",
}


@SELECTORS
@pytest.mark.parametrize("name", KERNELS)
def test_number_of_jobs_changes_not_one_bit(selector, name):
    rng = np.random.default_rng(1)
    X, y = drawn(300, 60, seed=1)
    X[:, 10], X[:, 20], X[:, 30] = X[:, 11], rng.integers(0, 2, 300), rng.standard_cauchy(300)
    number = None if name in ("gaussian", "linear") else 5  # of forward selection
    fits = [selector(number, step=0.3, kernel=KERNELS[name], n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2, None)]
    for other in fits[1:]:
        assert np.array_equal(order(other), order(fits[0]))
        assert other.path_ == fits[0].path_


@SELECTORS
@pytest.mark.parametrize("name", KERNELS)
def test_little_working_memory_gives_the_same_order(selector, name):
    X, y = drawn(300, 20, seed=2)
    estimator = selector(4, step=0.3, kernel=KERNELS[name], n_jobs=1)
    expected = clone(estimator).fit(X, y)
    with sklearn.config_context(working_memory=0.5):
        assert not tile_plan(300).keep
        found = clone(estimator).fit(X, y)
    assert tile_plan(300).keep
    assert np.array_equal(order(found), order(expected))
    for one, other in zip(found.path_, expected.path_, strict=True):
        assert one.hsic == pytest.approx(other.hsic, rel=1e-9)


# Other tools of scikit-learn


@SELECTORS
def test_pipeline(selector):
    X, y = drawn(120)
    pipeline = make_pipeline(selector(n_features_to_select=2), KNeighborsClassifier()).fit(X[:80], y[:80])
    assert pipeline[0].get_support(indices=True).tolist() == [1, 4]
    assert pipeline.score(X[80:], y[80:]) >= 0.8
    assert pipeline[:-1].get_feature_names_out().tolist() == ["x1", "x4"]


@SELECTORS
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_grid_search_over_kernel_and_number(selector, n_jobs):
    X, y = drawn(60)
    name = selector.__name__.lower()
    grid = {f"{name}__kernel__gamma": [0.05, "median"], f"{name}__n_features_to_select": [1, 2]}
    pipeline = make_pipeline(selector(kernel=Gaussian()), LogisticRegression())
    search = GridSearchCV(pipeline, grid, n_jobs=n_jobs, cv=3, error_score="raise").fit(X, y)
    assert search.best_params_[f"{name}__n_features_to_select"] == 2
    assert search.best_estimator_[0].get_support(indices=True).tolist() == [1, 4]
    assert len(search.cv_results_["params"]) == 4


@SELECTORS
def test_clone_and_pickle(selector):
    parameters = {"n_features_to_select": 3, "step": 2, "kernel": Gaussian(0.2), "statistic": "biased", "n_jobs": 1}
    X, y = drawn()
    fitted = selector(**parameters).fit(X, y)
    copied = clone(fitted)
    assert not hasattr(copied, "support_")
    assert {name: copied.get_params()[name] for name in parameters} == parameters
    restored = pickle.loads(pickle.dumps(fitted))
    assert same_fit(restored, fitted)
    assert np.array_equal(restored.transform(X), fitted.transform(X))


def test_repr_shows_what_differs():
    assert repr(BAHSIC(n_features_to_select=5, step=1)) == "BAHSIC(n_features_to_select=5, step=1)"
    assert repr(FOHSIC()) == "FOHSIC()"


@SELECTORS
def test_fit_leaves_parameters_alone(selector):
    kernel = Gaussian("median")
    estimator = selector(kernel=kernel)
    before = estimator.get_params()
    estimator.fit(*drawn())
    assert estimator.get_params() == before
    assert estimator.kernel is kernel
    assert kernel.gamma == "median"


@SELECTORS
def test_any_kernel_takes_the_slow_path(selector):
    X, y = drawn()
    by_function = Gaussian(0.1).__call__  # a function, not known to be Gaussian
    slow = selector(kernel=by_function).fit(X, y)
    assert np.array_equal(order(slow), order(selector(kernel=Gaussian(0.1)).fit(X, y)))
    inverse = selector(kernel=InverseDistance(gamma="dimension"), n_features_to_select=8).fit(X, y)
    whole = inverse.path_[0] if selector is BAHSIC else inverse.path_[-1]
    expected = hsic_unbiased(InverseDistance(gamma=1 / 16)(standardised(X)), label_kernel(y).gram())
    assert whole.hsic == pytest.approx(expected, rel=1e-9)


@SELECTORS
@pytest.mark.parametrize("target", [Gaussian(0.3), lambda Y1, Y2: np.minimum.outer(Y1.ravel(), Y2.ravel())])
def test_any_kernel_on_the_labels(selector, target):
    X, y = drawn()
    y = np.abs(X[:, 1])
    fitted = selector(target_kernel=target, n_features_to_select=8).fit(X, y)
    L = target(y[:, None], y[:, None])
    whole = fitted.path_[0] if selector is BAHSIC else fitted.path_[-1]
    assert whole.hsic == pytest.approx(hsic_unbiased(Gaussian(1 / 16)(standardised(X)), L), rel=1e-9)


@SELECTORS
def test_several_outputs(selector):
    X, _ = drawn()
    fitted = selector(2).fit(X, np.column_stack([X[:, 3], X[:, 6] ** 2]))
    assert fitted.target_kernel_ == "regression"
    assert fitted.support_[3]


@SELECTORS
def test_matrix_of_label_kernel_values(selector):
    X, y = drawn()
    L = label_kernel(y).gram()
    assert np.array_equal(order(selector(target_kernel="precomputed").fit(X, L)), order(selector().fit(X, y)))


# Interruption


class Interrupting:
    """A rule for gamma, or a kernel, that is interrupted at its n-th call."""

    def __init__(self, calls):
        self.calls = calls

    def _count(self):
        self.calls -= 1
        if self.calls == 0:
            raise KeyboardInterrupt

    def rule(self, X):
        self._count()
        return 0.1

    def kernel(self, X, Y):
        self._count()
        return X @ Y.T


def interrupted(calls):
    return [Gaussian(Interrupting(calls).rule), Interrupting(calls).kernel]


@SELECTORS
@pytest.mark.parametrize("which", [0, 1], ids=["rule", "kernel"])
def test_interrupted_fit_leaves_nothing_behind(selector, which):
    X, y = drawn()
    estimator = selector(kernel=interrupted(6)[which])
    before = dict(vars(estimator))
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(X, y)
    assert vars(estimator) == before
    with pytest.raises(NotFittedError):
        estimator.transform(X)


@SELECTORS
@pytest.mark.parametrize("which", [0, 1], ids=["rule", "kernel"])
def test_interrupted_fit_leaves_the_last_one_as_it_was(selector, which):
    X, y = drawn()
    estimator = selector().fit(X, y)
    estimator.set_params(kernel=interrupted(6)[which])
    before = {name: pickle.dumps(value) for name, value in vars(estimator).items() if name != "kernel"}
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(X[:, :5], 1 - y)
    after = {name: pickle.dumps(value) for name, value in vars(estimator).items() if name != "kernel"}
    assert after == before
    assert estimator.transform(X).shape == (40, 4)


@SELECTORS
def test_failed_fit_leaves_the_last_one_as_it_was(selector):
    X, y = drawn()
    estimator = selector().fit(X, y)
    with pytest.raises(ValueError, match="samples"):
        estimator.fit(X[:, :5], y[:-1])
    assert estimator.n_features_in_ == 8
    assert estimator.transform(X).shape == (40, 4)
