"""Predictability and the criterion "prediction": regressions by hand, limits, copies, numbers, scores, bad input."""

import numpy as np
import pytest
from sklearn.datasets import load_wine

import brute_force
import prediction_oracle
from bahsic import BAHSIC, FOHSIC, hsic_biased, predictability
from bahsic.kernels import Gaussian, Polynomial, kernel_from_name, label_kernel
from pairwise import pairwise
from selecting import SELECTORS, assert_same_selection, drawn, order, same_fit, standardised
from test_stored import dask_array, mapped, zarr_array

RULE = {"criterion": "prediction"}


def gaussian(Z, size=None):
    return Gaussian(1 / (2 * (size or Z.shape[1])))(Z)


def by_hand(K, Y, ridge):
    """Leave-one-out R^2, each sample left out in turn."""
    if ridge == "auto":
        return max(by_hand(K, Y, one) for one in prediction_oracle.GRID)
    losses, baseline = prediction_oracle.left_out_losses(K, Y, ridge)
    return 1 - losses.sum() / baseline.sum()


# The oracle and `predictability`


def test_the_formula_for_all_samples_is_that_of_leaving_out():
    rng = np.random.default_rng(0)
    K, Y = gaussian(rng.normal(size=(12, 2))), rng.normal(size=(12, 3))
    for ridge in (1e-4, 1e-2, 1.0):
        found = prediction_oracle.losses(K, Y, ridge, [np.arange(12)])
        np.testing.assert_allclose(found, prediction_oracle.left_out_losses(K, Y, ridge), rtol=1e-9)


KERNELS = {
    "gaussian": ("gaussian", gaussian),
    "laplacian": ("laplacian", lambda Z: np.exp(-np.abs(Z[:, None] - Z).sum(axis=2) / (2 * Z.shape[1]))),
    "linear": ("linear", lambda Z: Z @ Z.T),
    "polynomial": (Polynomial(degree=2), lambda Z: (Z @ Z.T + 1) ** 2),
}
NUMBERS = np.random.default_rng(1).normal(size=(26, 2))
LABELS = {
    "two classes": (np.resize(["b", "a", "b"], 26), prediction_oracle.indicators),
    "classes": (np.resize([3, 1, 2, 2, 1], 26), prediction_oracle.indicators),
    "numbers": (NUMBERS[:, 0], lambda y: y[:, None]),
    "outputs": (NUMBERS * [1.0, 50.0], lambda y: y / y.std(axis=0)),
}


@pytest.mark.parametrize("ridge", ["auto", 0.03, 2.0])
@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_predictability_is_that_of_leaving_out_by_hand(kernel, labels, ridge):
    (given, definition), (y, features) = KERNELS[kernel], LABELS[labels]
    X = np.random.default_rng(2).normal(size=(26, 3)) * [1, 10, 0.1]
    X[:, 0] += NUMBERS[:, 0]
    expected = by_hand(definition(standardised(X)), features(y), ridge)
    found = predictability(X, y, kernel=given, ridge=ridge)
    assert type(found) is float
    assert found == pytest.approx(expected, abs=1e-10)
    raw = by_hand(definition(X[:, :1]), features(y), ridge)
    assert predictability(X[:, 0], y, kernel=given, ridge=ridge, standardize=False) == pytest.approx(raw, abs=1e-10)


def test_predictability_takes_what_the_label_kernel_takes():
    X, y = drawn(m=24, d=5)
    K, L = gaussian(standardised(X)), Gaussian(0.7)(NUMBERS[:24])
    expected = by_hand(K, prediction_oracle.factor(L), 0.01)
    assert predictability(X, L, target_kernel="precomputed", ridge=0.01) == pytest.approx(expected, abs=1e-10)
    assert predictability(X, NUMBERS[:24], target_kernel=Gaussian(0.7), ridge=0.01) == pytest.approx(expected, abs=1e-9)
    assert predictability(X, y, target_kernel="delta") == pytest.approx(predictability(X, y), abs=1e-12)
    shifted = predictability(X, 1e6 + 3 * NUMBERS[:24, 0], target_kernel="linear", ridge=0.01)
    assert shifted == pytest.approx(predictability(X, NUMBERS[:24, 0], ridge=0.01), abs=1e-9)


def test_constant_labels_are_not_predictable():
    assert predictability(np.arange(6.0), np.full(6, 2.5), target_kernel="regression") == 0.0
    assert predictability(np.arange(6.0), np.ones((6, 6)), target_kernel="precomputed") == 0.0


@pytest.mark.parametrize("n", [2, 3, 4])
def test_few_samples(n):
    x, y = np.arange(n, dtype=float), np.array([0.1, 2.0, 1.2, 0.4])[:n]
    expected = by_hand(gaussian(standardised(x[:, None])), y[:, None], 0.1)
    assert predictability(x, y, ridge=0.1) == pytest.approx(expected, abs=1e-10)


def test_one_sample():
    with pytest.raises(ValueError, match="x has 1 sample; accepted: at least 2"):
        predictability([1.0], [2.5], target_kernel="regression")


@pytest.mark.parametrize("ridge", [0, -1.0, np.inf, np.nan, "many", None, True, [0.1]])
def test_bad_ridges(ridge):
    X, y = drawn()
    with pytest.raises(ValueError, match=r"ridge is .*; accepted: 'auto' or a number from 1e-10 to 1e\+10"):
        predictability(X, y, ridge=ridge)
    with pytest.raises(ValueError, match=r"ridge is .*; accepted: 'auto' or a number from 1e-10 to 1e\+10"):
        BAHSIC(ridge=ridge).fit(X, y)


@pytest.mark.parametrize("options", [{"criterion": "prediction"}, {"n_features_to_select": "auto"}])
def test_kernels_that_are_not_positive_definite(options):
    def difference(X, Y):
        return np.abs(X[:, None] - Y).sum(axis=2)

    with pytest.raises(ValueError, match=r"kernel is not positive definite .*; accepted .*'gaussian'"):
        BAHSIC(kernel=difference, **options).fit(*drawn())
    with pytest.raises(ValueError, match="kernel is not positive definite"):
        predictability(*drawn(), kernel=difference)


# Examples


def test_near_copies_in_wine_are_not_selected_together():
    X, y = load_wine(return_X_y=True)
    flavanoids, rng = 6, np.random.default_rng(0)
    copies = X[:, [flavanoids]] + 0.01 * X[:, flavanoids].std() * rng.normal(size=(len(X), 3))
    table = np.column_stack([X, copies])
    same = {flavanoids, 13, 14, 15}
    assert len(same & set(BAHSIC(4, **RULE).fit(table, y).get_support(indices=True))) <= 1
    assert len(same & set(FOHSIC(4, **RULE).fit(table, y).get_support(indices=True))) <= 1
    assert len(same & set(BAHSIC(4).fit(table, y).get_support(indices=True))) > 1


def test_hsic_drops_a_feature_that_is_needed_and_prediction_keeps_it():
    """y is determined by both features and by neither alone, and yet x1 alone has the highest HSIC."""
    rows = np.repeat(np.arange(4), [15, 15, 5, 5])  # x1 is one in two cases of eight, x2 in four, independently
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])[rows]
    y = X.all(axis=1).astype(int)
    dependence = BAHSIC(1, statistic="biased", target_kernel="delta").fit(X, y)
    assert dependence.elimination_order_.tolist() == [1, 0]
    assert dependence.path_[1].hsic > 1.15 * dependence.path_[0].hsic
    K = gaussian(standardised(X))
    assert dependence.path_[0].hsic == pytest.approx(hsic_biased(K, label_kernel(y, "delta").gram()), rel=1e-9)
    scores = [predictability(X[:, S], y) for S in ([0], [1], [0, 1])]
    assert scores[2] > 0.99
    assert max(scores[:2]) < 0.5
    for options in ({}, RULE):
        assert BAHSIC("auto", **options).fit(X, y).support_.all()


# Weights, blocks, data of other kinds


@SELECTORS
@pytest.mark.parametrize("stored", [mapped, zarr_array, dask_array])
def test_stored_data(selector, stored, tmp_path):
    X, y = drawn(m=50, d=7)
    options = {"kernel": "auto", **RULE}
    assert same_fit(selector("auto", **options).fit(stored(X, tmp_path), y), selector("auto", **options).fit(X, y))


@SELECTORS
def test_groups_and_kept_ones(selector):
    X, y = drawn(m=60, d=8)
    groups = [[0, 1], [2, 3], [4, 5], [6, 7]]
    fitted = selector(2, feature_groups=groups, step=1, **RULE).fit(X, y)
    assert fitted.get_support(indices=True).tolist() == [0, 1, 4, 5]
    assert fitted.scores_[0] == fitted.scores_[1] > fitted.scores_[2] == fitted.scores_[3]
    kept = selector(2, keep=[7], **RULE).fit(X, y)
    assert kept.support_[7]
    assert kept.scores_[7] < kept.scores_[kept.support_].max()


@pytest.mark.filterwarnings("ignore:y does not vary")
def test_constant_labels():
    X = drawn()[0]
    with pytest.warns(UserWarning, match="no subset of the 8 features predicts the target"):
        fitted = BAHSIC("auto", target_kernel="regression", kernel="auto", **RULE).fit(X, np.full(40, 0.5))
    assert {step.predictability for step in fitted.path_} == {0.0}
    assert fitted.n_features_ == 1
    assert fitted.scores_.tolist() == [0.0] * 8


@SELECTORS
def test_four_samples(selector):
    X, y = drawn(m=4, d=5)[0], np.array([0, 1, 1, 0])
    fitted = selector(1, step=1, ridge=0.01, **RULE).fit(X, y)
    values = [by_hand(gaussian(x[:, None]), prediction_oracle.indicators(y), 0.01) for x in standardised(X).T]
    chosen = np.flatnonzero(fitted.support_)[0]
    assert fitted.scores_[chosen] == pytest.approx(values[chosen], abs=1e-10)
    with pytest.raises(ValueError, match="4 samples"):
        selector("auto").fit(X, y)


# The number "auto", the kernel "auto", scores


def test_predictability_is_recorded_where_samples_judge():
    X, y = drawn()
    for options in ({}, RULE):
        path = BAHSIC(2, **options).fit(X, y).path_
        assert {(step.predictability, step.predictability_error, step.score) for step in path} == {(None,) * 3}
        assert all((step.ridge in prediction_oracle.GRID) == (options == RULE) for step in path)
    for options in ({"n_features_to_select": "auto"}, {"cv": 3}, {"cv": 3, **RULE}, {"kernel": "auto"}):
        path = BAHSIC(**options).fit(X, y).path_
        assert all(step.predictability <= 1 and 0 <= step.score <= 1 for step in path)
        assert all(step.predictability_error > 0 for step in path)
    assert {step.ridge for step in BAHSIC(ridge=0.02, **RULE).fit(X, y).path_} == {0.02}


# For each kernel, what it predicts better than the others do.
FITTING = {
    "gaussian": lambda X: X[:, 0] ** 2 + 0.5 * X[:, 1] ** 2,
    "laplacian": lambda X: np.sign(np.sin(6 * X[:, 0])) + 0.1 * X[:, 1],
    "linear": lambda X: X.sum(axis=1),
}


@pairwise(selector=[BAHSIC, FOHSIC], number=[1, 2, "auto"], criterion=["hsic", "prediction"], fitting=FITTING)
@pytest.mark.filterwarnings("ignore:no subset")
def test_kernel_auto_takes_the_one_that_predicts_best(selector, number, criterion, fitting):
    X = np.random.default_rng(5).uniform(-2, 2, size=(120, 5))
    y = FITTING[fitting](X)
    options = {"step": 1, "criterion": criterion}
    each = {kernel: selector(number, kernel=kernel, **options).fit(X, y) for kernel in FITTING}
    values = {}
    for name in each:
        path = selector("auto", kernel=name, **options).fit(X, y).path_
        values[name] = max(step.predictability for step in path if number in ("auto", step.n_features))
    best = max(values, key=values.get)
    assert best == fitting or number == 1
    fitted = selector(number, kernel="auto", **options).fit(X, y)
    assert fitted.kernel_ == best
    assert fitted.kernel == "auto"
    assert order(fitted).tolist() == order(each[best]).tolist()
    assert np.array_equal(fitted.support_, each[best].support_)
    np.testing.assert_allclose(fitted.scores_, each[best].scores_, rtol=1e-12)


def for_size(kernel, size):
    """A kernel by its name, with the gamma for subsets of a size."""
    found = kernel_from_name(kernel)
    return found.with_gamma(1 / (2 * size)) if hasattr(found, "gamma") else found


@pairwise(
    selector=[BAHSIC, FOHSIC],
    kernel=["gaussian", "laplacian", "linear", "polynomial"],
    number=[1, 3],
    statistic=["unbiased", "biased"],
)
def test_scores_by_hsic(selector, kernel, number, statistic):
    """With the kernel for the selected number of features: what HSIC loses without one, and gains with one."""
    X, y = drawn(m=40, d=7)
    fitted = selector(number, kernel=kernel, statistic=statistic).fit(X, y)
    Z, L = standardised(X), label_kernel(y).gram()

    def hsic(columns):
        return brute_force.hsic(for_size(kernel, number)(Z[:, sorted(columns)]), L, statistic) if columns else 0.0

    chosen = set(np.flatnonzero(fitted.support_).tolist())
    expected = [
        hsic(chosen) - hsic(chosen - {j}) if j in chosen else hsic(chosen | {j}) - hsic(chosen) for j in range(7)
    ]
    np.testing.assert_allclose(fitted.scores_, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


@pairwise(selector=[BAHSIC, FOHSIC], kernel=["gaussian", "laplacian", "linear", "polynomial"], number=[1, 3, 18])
def test_scores_by_prediction(selector, kernel, number):
    """Differences of predictability."""
    X, y = drawn(m=30, d=20)
    fitted = selector(number, kernel=kernel, step=1, **RULE).fit(X, y)
    (step,) = [step for step in fitted.path_ if step.n_features == number]
    Z, Y = standardised(X), prediction_oracle.indicators(y)
    chosen = np.flatnonzero(fitted.support_).tolist()

    def value(columns):
        return by_hand(for_size(kernel, len(columns))(Z[:, sorted(columns)]), Y, step.ridge) if columns else 0.0

    for j in range(20):
        changed = sorted({*chosen} ^ {j})
        expected = value(changed) - value(chosen) if j not in chosen else value(chosen) - value(changed)
        assert fitted.scores_[j] == pytest.approx(expected, rel=1e-6, abs=1e-7), j


@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("m", [79, 80, 81, 129, 300])
def test_scores_of_more_samples(m, precision, monkeypatch):
    """About the sizes of the parts in which matrices are factored and multiplied."""
    if precision == "single":
        monkeypatch.setattr("bahsic.engine.ridge.DOUBLE_SAMPLES", 20)
    X, y = drawn(m, 5)
    Z, Y = standardised(X), prediction_oracle.indicators(y)
    values = [
        prediction_oracle.predictability(gaussian(np.delete(Z, out, axis=1)), Y, 0.01, [np.arange(m)])
        for out in ([], *range(5))
    ]
    first, *others = (BAHSIC(5, ridge=0.01, n_jobs=n_jobs, **RULE).fit(X, y).scores_ for n_jobs in (1, 2, 3))
    np.testing.assert_allclose(first, values[0] - np.array(values[1:]), rtol=1e-6, atol=1e-7)
    assert all(np.array_equal(other, first) for other in others)


def test_gains_of_many_samples_are_measured_on_some(monkeypatch):
    X, y = drawn(m=60, d=12)
    whole = BAHSIC(2, **RULE).fit(X, y)
    monkeypatch.setattr("bahsic.engine.prediction.GAIN_SAMPLES", 30)
    some = BAHSIC(2, **RULE).fit(X, y)
    assert np.array_equal(some.scores_[whole.support_], whole.scores_[whole.support_])
    assert not np.isclose(some.scores_[~whole.support_], whole.scores_[~whole.support_]).any()


# Threads, precision


@SELECTORS
@pytest.mark.parametrize("options", [RULE, {}, {"kernel": "auto", **RULE}], ids=str)
@pytest.mark.parametrize("precision", ["double", "single"])
def test_results_do_not_depend_on_the_number_of_threads(selector, options, precision, monkeypatch):
    if precision == "single":
        monkeypatch.setattr("bahsic.engine.ridge.DOUBLE_SAMPLES", 50)
    X, y = drawn(m=300, d=5)
    fits = [selector("auto", **options, step=0.5, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2, 3)]
    assert_same_selection(fits[0], fits[1])
    assert_same_selection(fits[0], fits[2])


@SELECTORS
@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "polynomial"])
def test_single_precision_is_refined(selector, kernel, monkeypatch):
    X, y = drawn(m=150, d=20)
    exact = selector(20, kernel=kernel, **RULE).fit(X, y)
    monkeypatch.setattr("bahsic.engine.ridge.DOUBLE_SAMPLES", 20)
    single = selector(20, kernel=kernel, **RULE).fit(X, y)
    assert not np.array_equal(single.scores_, exact.scores_)
    assert order(single).tolist() == order(exact).tolist()
    for one, other in zip(single.path_, exact.path_, strict=True):
        assert one.ridge == other.ridge
        assert one.predictability == pytest.approx(other.predictability, abs=1e-5)


def test_ill_conditioned_regressions_are_in_double_precision(monkeypatch):
    X, y = drawn(m=80, d=6)
    options = {"kernel": Polynomial(degree=5), "ridge": 1e-4, **RULE}
    exact = BAHSIC(6, **options).fit(X, y)
    monkeypatch.setattr("bahsic.engine.ridge.DOUBLE_SAMPLES", 20)
    single = BAHSIC(6, **options).fit(X, y)
    assert order(single).tolist() == order(exact).tolist()
    np.testing.assert_allclose(single.scores_, exact.scores_, rtol=1e-4, atol=1e-7)


def test_predictability_is_always_in_double_precision(monkeypatch):
    X, y = drawn(m=150, d=5)
    exact = predictability(X, y)
    monkeypatch.setattr("bahsic.engine.ridge.DOUBLE_SAMPLES", 20)
    assert predictability(X, y) == exact


@pytest.mark.parametrize("weight", [1e14, 1e20])
def test_a_sample_that_outweighs_all_others_is_refused(weight):
    X = np.random.default_rng(0).normal(size=(30, 3))
    weights = np.where(np.arange(30) == 7, weight, 1.0)
    with pytest.raises(ValueError, match=r"sample_weight has 1e\+\d\d for one sample, and less than 1e-12 of that"):
        BAHSIC(1, criterion="prediction").fit(X, X[:, 0], sample_weight=weights)
