"""Predictability and the criterion "prediction": regressions by hand, limits, copies, numbers, scores, bad input."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.neighbors import KNeighborsClassifier

import brute_force
import prediction_oracle
from bahsic import BAHSIC, BAHSICCV, FOHSIC, hsic_biased, predictability
from bahsic.kernels import Gaussian, Laplacian, Linear, Polynomial, label_kernel
from selecting import SELECTORS, StoppedError, assert_same_selection, drawn, order, same_fit, standardised, watch_rounds
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


def test_missing_entries_and_categories_in_predictability():
    """Of each class half the entries are missing: the mean, and one away from it in a direction of its own."""
    x = np.array([-3.0, 3.0, -0.1, 0.1, np.nan, np.nan, np.nan, 0.2, -0.2, 3.1])
    y = np.resize([0, 0, 1, 1], 10)
    observed = ~np.isnan(x)
    z = (x - x[observed].mean()) / x[observed].std()
    filled = np.where(observed, z, 0.0)
    D = np.square(np.subtract.outer(filled, filled)) + np.add.outer(~observed, ~observed, dtype=float)
    np.fill_diagonal(D, 0.0)
    K = np.exp(-0.05 * D)
    assert np.linalg.eigvalsh(K).min() > 0
    expected = by_hand(K, prediction_oracle.indicators(y), 0.003)
    assert predictability(x[:, None], y, kernel=Gaussian(0.05), ridge=0.003) == pytest.approx(expected, abs=1e-10)


def test_linear_kernel_is_ridge_regression():
    """With X and y centred, coefficients are (X'X + m eps I)^-1 X'y; leverages give leave-one-out residuals."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    y = X @ [1.0, -2.0, 0.0, 0.5] + rng.normal(size=30)
    Z, centred = X - X.mean(axis=0), y - y.mean()
    for ridge in (1e-6, 0.01, 1.0):
        hat = Z @ np.linalg.solve(Z.T @ Z + 30 * ridge * np.eye(4), Z.T) + 1 / 30
        residuals = (y - hat @ y) / (1 - np.diag(hat))
        expected = 1 - np.sum(residuals**2) / np.sum((30 / 29 * centred) ** 2)
        assert predictability(X, y, kernel="linear", ridge=ridge, standardize=False) == pytest.approx(
            expected, abs=1e-9
        )


def test_ridge_to_zero_is_least_squares():
    """The PRESS statistic: residuals of least squares over one minus the leverages."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 3))
    y = X[:, 0] - X[:, 1] + rng.normal(size=30)
    design = np.column_stack([np.ones(30), X])
    hat = design @ np.linalg.pinv(design)
    press = np.sum(((y - hat @ y) / (1 - np.diag(hat))) ** 2)
    expected = 1 - press / np.sum((30 / 29 * (y - y.mean())) ** 2)
    assert predictability(X, y, kernel="linear", ridge=1e-9) == pytest.approx(expected, abs=1e-6)


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


@SELECTORS
@pytest.mark.parametrize("criterion", ["HSIC", "predict", None, 1])
def test_bad_criteria(selector, criterion):
    with pytest.raises(ValueError, match=r"criterion is .*; accepted: 'hsic', 'prediction'"):
        selector(criterion=criterion).fit(*drawn())


def test_numbers_of_samples_differ():
    with pytest.raises(ValueError, match=r"x.* 5\b.*y.* 4\b"):
        predictability(np.arange(5.0), np.arange(4.0) / 3)


@pytest.mark.parametrize("options", [{"criterion": "prediction"}, {"n_features_to_select": "auto"}])
def test_kernels_that_are_not_positive_definite(options):
    def difference(X, Y):
        return np.abs(X[:, None] - Y).sum(axis=2)

    with pytest.raises(ValueError, match=r"kernel is not positive definite .*; accepted .*'gaussian'"):
        BAHSIC(kernel=difference, **options).fit(*drawn())
    with pytest.raises(ValueError, match="kernel is not positive definite"):
        predictability(*drawn(), kernel=difference)


# Limits and examples


def no_ties(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 22))
    return X, X[:, 2] + 0.8 * X[:, 5] ** 2 + 0.5 * X[:, 9] * X[:, 1] + 0.3 * rng.normal(size=40)


@SELECTORS
@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "linear"])
@pytest.mark.parametrize(("target", "of"), [("linear", lambda y: y), ("delta", lambda y: np.digitize(y, [0.0, 1.5]))])
def test_an_infinite_ridge_gives_biased_hsic(selector, kernel, target, of):
    X, y = no_ties(4)
    options = {"step": 1, "kernel": kernel, "target_kernel": target}
    hsic = selector(22, statistic="biased", **options).fit(X, of(y))
    prediction = selector(22, ridge=1e5, **options, **RULE).fit(X, of(y))
    assert order(prediction).tolist() == order(hsic).tolist()
    other = selector(22, ridge=1e-3, **options, **RULE).fit(X, of(y))
    assert order(other).tolist() != order(hsic).tolist()


def test_near_copies_in_wine_are_not_selected_together():
    X, y = load_wine(return_X_y=True)
    flavanoids, rng = 6, np.random.default_rng(0)
    copies = X[:, [flavanoids]] + 0.01 * X[:, flavanoids].std() * rng.normal(size=(len(X), 3))
    table = np.column_stack([X, copies])
    same = {flavanoids, 13, 14, 15}
    assert len(same & set(BAHSIC(4, **RULE).fit(table, y).get_support(indices=True))) <= 1
    assert len(same & set(FOHSIC(4, **RULE).fit(table, y).get_support(indices=True))) <= 1
    assert len(same & set(BAHSIC(4).fit(table, y).get_support(indices=True))) > 1


CELLS = np.array(list(itertools.product([0.0, 1.0], repeat=2)))  # values of x1 and x2
BOTH = np.array([0, 0, 0, 1])  # y = x1 and x2

# Frequencies of the cells: x1 is one in two cases of eight, x2 in four, independently of each other.
LAW = (3, 3, 1, 1)


def population_hsic(law, features, gamma):
    """tr(HKHL) for repeated cells over their number squared, by definition."""
    rows = np.repeat(np.arange(4), law)
    Z = standardised(CELLS[rows][:, features])
    K = np.exp(-gamma * ((Z[:, None] - Z) ** 2).sum(axis=2))
    L = (BOTH[rows][:, None] == BOTH[rows]).astype(float)
    return brute_force.hsic(K, L, "biased") * (len(rows) - 1) ** 2 / len(rows) ** 2


def drops_a_needed_feature(law, gamma):
    one, other, both = (population_hsic(law, S, gamma(len(S))) for S in ([0], [1], [0, 1]))
    return one > 1.01 * max(other, both)


def test_hsic_drops_a_feature_that_is_needed_and_prediction_keeps_it():
    """y is determined by both features and by neither alone, and yet x1 alone has the highest HSIC."""
    found = [
        law for law in itertools.product((1, 2, 3), repeat=4) if drops_a_needed_feature(law, lambda n: 1 / (2 * n))
    ]
    assert LAW in found
    assert drops_a_needed_feature(LAW, lambda n: 0.5)  # nor is it the rule for gamma
    assert drops_a_needed_feature((9, 9, 1, 1), lambda n: 0.1)
    rows = np.repeat(np.arange(4), np.multiply(LAW, 5))
    X, y = CELLS[rows], BOTH[rows]
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
@pytest.mark.parametrize("options", [{}, {"kernel": "laplacian"}], ids=str)
def test_weights_are_repeated_samples(selector, options):
    """Where nothing is left out: the ridge is given, and so is the number."""
    X, y = drawn(m=40, d=6)
    w = np.random.default_rng(0).integers(0, 4, 40)
    options = {"n_features_to_select": 3, "ridge": 0.01, **RULE, **options}
    one = selector(**options).fit(X, y, sample_weight=w)
    other = selector(**options).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert order(one).tolist() == order(other).tolist()


@SELECTORS
@pytest.mark.parametrize("stored", [mapped, zarr_array, dask_array])
def test_stored_data(selector, stored, tmp_path):
    X, y = drawn(m=50, d=7)
    options = {"kernel": "auto", **RULE}
    assert same_fit(selector("auto", **options).fit(stored(X, tmp_path), y), selector("auto", **options).fit(X, y))


@SELECTORS
@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
def test_sparse_data(selector, kernel):
    from scipy import sparse

    X, y = drawn(m=50, d=7)
    X[np.random.default_rng(0).random(X.shape) < 0.6] = 0.0
    options = {"kernel": kernel, "n_features_to_select": "auto", "standardize": False, **RULE}
    given, dense = selector(**options).fit(sparse.csr_array(X), y), selector(**options).fit(X, y)
    assert order(given).tolist() == order(dense).tolist()
    for one, other in zip(given.path_, dense.path_, strict=True):
        assert one.predictability == pytest.approx(other.predictability, abs=1e-9)


def test_predictability_of_sparse_data_and_frames():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    from scipy import sparse

    X, y = drawn(m=30, d=5)
    expected = predictability(X, y)
    assert predictability(pd.DataFrame(X), pd.Series(y)) == expected
    plain = predictability(X, y, standardize=False)
    assert predictability(sparse.csr_array(X), y, standardize=False) == pytest.approx(plain, abs=1e-12)


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


def test_cross_validation_by_prediction():
    X, y = drawn(m=90, d=8)
    X[:, 0] = X[:, 1] + 0.05 * X[:, 0]
    fitted = BAHSICCV(KNeighborsClassifier(), step=1, cv=3, **RULE).fit(X, y)
    alone = BAHSIC(fitted.n_features_, step=1, **RULE).fit(X, y)
    assert np.array_equal(fitted.support_, alone.support_)
    assert np.array_equal(fitted.ranking_, alone.ranking_)
    assert not np.array_equal(fitted.ranking_, BAHSICCV(KNeighborsClassifier(), step=1, cv=3).fit(X, y).ranking_)


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


@SELECTORS
def test_a_single_feature(selector):
    X, y = drawn(d=5)
    fitted = selector(criterion="prediction").fit(X[:, [1]], y)
    assert fitted.scores_[0] == pytest.approx(predictability(X[:, 1], y), abs=1e-12)


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


def smooth_or_rugged(rugged):
    rng = np.random.default_rng(5)
    X = rng.uniform(-2, 2, size=(120, 5))
    return X, np.sign(np.sin(6 * X[:, 0])) + 0.1 * X[:, 1] if rugged else X[:, 0] ** 2 + 0.5 * X[:, 1] ** 2


@SELECTORS
@pytest.mark.parametrize("number", [1, 2, "auto"])
@pytest.mark.parametrize("criterion", ["hsic", "prediction"])
@pytest.mark.parametrize("rugged", [False, True])
@pytest.mark.filterwarnings("ignore:no subset")
def test_kernel_auto_takes_the_one_that_predicts_better(selector, number, criterion, rugged):
    X, y = smooth_or_rugged(rugged)
    options = {"step": 1, "criterion": criterion}
    each = {kernel: selector(number, kernel=kernel, **options).fit(X, y) for kernel in ("gaussian", "laplacian")}
    values = {}
    for name in each:
        path = selector("auto", kernel=name, **options).fit(X, y).path_
        values[name] = max(step.predictability for step in path if number in ("auto", step.n_features))
    best = max(values, key=values.get)
    if number != 1:
        assert best == ("laplacian" if rugged else "gaussian")
    fitted = selector(number, kernel="auto", **options).fit(X, y)
    assert fitted.kernel_ == best
    assert fitted.kernel == "auto"
    assert order(fitted).tolist() == order(each[best]).tolist()
    assert np.array_equal(fitted.support_, each[best].support_)
    np.testing.assert_allclose(fitted.scores_, each[best].scores_, rtol=1e-12)


def test_kernel_is_recorded_as_given():
    X, y = drawn()
    given = Gaussian(0.3)
    assert BAHSIC(kernel=given).fit(X, y).kernel_ is given
    assert BAHSIC(kernel="laplacian").fit(X, y).kernel_ == "laplacian"


@SELECTORS
@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "linear", "polynomial"])
@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("statistic", ["unbiased", "biased"])
def test_scores_by_hsic(selector, kernel, number, statistic):
    """With the kernel for the selected number of features: what HSIC loses without one, and gains with one."""
    X, y = drawn(m=40, d=7)
    fitted = selector(number, kernel=kernel, statistic=statistic).fit(X, y)
    Z, L, gamma = standardised(X), label_kernel(y).gram(), 1 / (2 * number)
    kernels = {
        "gaussian": Gaussian(gamma),
        "laplacian": Laplacian(gamma),
        "linear": Linear(),
        "polynomial": Polynomial(),
    }

    def hsic(columns):
        return brute_force.hsic(kernels[kernel](Z[:, sorted(columns)]), L, statistic) if columns else 0.0

    chosen = set(np.flatnonzero(fitted.support_).tolist())
    expected = [
        hsic(chosen) - hsic(chosen - {j}) if j in chosen else hsic(chosen | {j}) - hsic(chosen) for j in range(7)
    ]
    np.testing.assert_allclose(fitted.scores_, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


@SELECTORS
@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "linear", "polynomial"])
@pytest.mark.parametrize("number", [1, 3, 18])
def test_scores_by_prediction(selector, kernel, number):
    """Differences of predictability."""
    X, y = drawn(m=30, d=20)
    fitted = selector(number, kernel=kernel, step=1, **RULE).fit(X, y)
    (step,) = [step for step in fitted.path_ if step.n_features == number]
    Z, Y = standardised(X), prediction_oracle.indicators(y)
    kernels = {"gaussian": Gaussian, "laplacian": Laplacian}
    fixed = {"linear": Linear(), "polynomial": Polynomial()}
    chosen = np.flatnonzero(fitted.support_).tolist()

    def matrix(columns, size):
        found = fixed[kernel] if kernel in fixed else kernels[kernel](1 / (2 * size))
        return found(Z[:, sorted(columns)])

    def value(columns):
        return by_hand(matrix(columns, len(columns)), Y, step.ridge) if columns else 0.0

    for j in range(20):
        changed = sorted({*chosen} ^ {j})
        expected = value(changed) - value(chosen) if j not in chosen else value(chosen) - value(changed)
        assert fitted.scores_[j] == pytest.approx(expected, rel=1e-6, abs=1e-7), j


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
def test_few_shifted_features_among_noise_come_first(kernel):
    """A ridge as small as leave-one-out wants would hide them from the residuals; see `judging_ridge`."""
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    X = rng.standard_normal((400, 150))
    X[:, :10] += 0.5 * y[:, None]
    ranking = BAHSIC(10, kernel=kernel, **RULE).fit(X, y).elimination_order_[::-1]
    assert np.count_nonzero(ranking[:10] < 10) >= 7


def test_scores_of_many_that_are_not_selected(monkeypatch):
    """The next ones in order have fits of their own, on some of the samples; the rest are not measured."""
    X, y = drawn(m=60, d=12)
    whole = BAHSIC(2, **RULE).fit(X, y)
    monkeypatch.setattr("bahsic.engine.prediction.GAINS", 4)
    few = BAHSIC(2, **RULE).fit(X, y)
    order = whole.elimination_order_[::-1]
    np.testing.assert_allclose(few.scores_[order[:6]], whole.scores_[order[:6]], rtol=1e-12)
    assert np.isnan(few.scores_[order[6:]]).all()
    monkeypatch.setattr("bahsic.engine.prediction.GAIN_SAMPLES", 30)
    some = BAHSIC(2, **RULE).fit(X, y)
    assert np.array_equal(some.scores_[whole.support_], few.scores_[whole.support_])
    assert not np.isclose(some.scores_[order[2:6]], few.scores_[order[2:6]]).any()


def test_constant_columns_have_no_score():
    X, y = drawn(d=6)
    X[:, 2] = 4.0
    for options in ({}, RULE):
        with pytest.warns(UserWarning, match="constant"):
            fitted = BAHSIC(5, **options).fit(X, y)
        assert fitted.scores_[2] == 0.0
        assert (fitted.scores_[[0, 1, 3, 4, 5]] != 0.0).all()


# Interruption, threads, precision


SEARCHES = [
    {"n_features_to_select": 2, **RULE},
    {"n_features_to_select": "auto", **RULE},
    {"n_features_to_select": "auto"},
    {"n_features_to_select": "auto", "kernel": "auto", **RULE},
    {"n_features_to_select": 3, "kernel": "auto"},
    {"n_features_to_select": "auto", "block_size": 20, "random_state": 0, **RULE},
    {"n_features_to_select": "auto", "block_size": 20, "random_state": 0, "step": 1, **RULE},
    {"n_features_to_select": 3, "block_size": 12, "random_state": 0, "step": 1, "kernel": "laplacian", **RULE},
]


@SELECTORS
@pytest.mark.parametrize("options", SEARCHES, ids=str)
def test_any_round_can_be_the_last_before_an_interruption(selector, options, tmp_path, monkeypatch):
    X, y = drawn(m=50, d=8)
    options = {"step": 2, **options}
    whole = selector(**options).fit(X, y)
    for n_rounds in range(1, len(whole.path_) + 1):
        folder = tmp_path / str(n_rounds)
        for _ in range(1 + (options.get("kernel") == "auto")):  # each kernel has a search of its own
            with monkeypatch.context() as patched:
                watch_rounds(patched, [n_rounds])
                with pytest.raises(StoppedError):
                    selector(**options, checkpoint=folder).fit(X, y)
        assert_same_selection(selector(**options, checkpoint=folder, n_jobs=2).fit(X, y), whole)
        assert_same_selection(selector(**options, checkpoint=folder).fit(X, y), whole)


def test_a_checkpoint_belongs_to_a_criterion_and_a_ridge(tmp_path):
    X, y = drawn()
    BAHSIC(2, checkpoint=tmp_path, **RULE).fit(X, y)
    with pytest.raises(ValueError, match=r"differs in criterion \('prediction' there, 'hsic' here\)"):
        BAHSIC(2, checkpoint=tmp_path).fit(X, y)
    with pytest.raises(ValueError, match=r"differs in ridge \('auto' there, 0\.1 here\)"):
        BAHSIC(2, checkpoint=tmp_path, ridge=0.1, **RULE).fit(X, y)


@SELECTORS
@pytest.mark.parametrize("options", SEARCHES[1:4], ids=str)
@pytest.mark.parametrize("precision", ["double", "single"])
def test_results_do_not_depend_on_the_number_of_threads(selector, options, precision, monkeypatch):
    if precision == "single":
        monkeypatch.setattr("bahsic.engine.ridge.DOUBLE_SAMPLES", 50)
    X, y = drawn(m=300, d=5)
    fits = [selector(**options, step=0.5, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2, 3)]
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
