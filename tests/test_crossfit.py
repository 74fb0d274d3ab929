"""Cross-fitting: held-out predictions, the number and the kernel that they choose, splits, weights, and no finding."""

import threading

import numpy as np
import pytest
from sklearn import config_context
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import GroupKFold, KFold, RepeatedKFold, ShuffleSplit, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import crossfit_oracle
import prediction_oracle
from bahsic import BAHSIC, FOHSIC
from bahsic.datasets import make_xor
from bahsic.kernels import label_kernel
from selecting import drawn

N_CASES = 60


def random_table(rng, m, d):
    """Columns as lists, some of them categories or with gaps, and the same as an array."""
    columns, categorical = [], []
    for _ in range(d):
        is_category = bool(rng.random() < 0.25)
        column = (rng.integers(0, 3, m) if is_category else rng.normal(size=m) * 3 + 1).astype(float).tolist()
        if rng.random() < 0.25:
            for i in rng.choice(m, 3, replace=False):
                column[i] = None
        columns.append(column)
        categorical.append(is_category)
    return columns, categorical, np.array(columns, dtype=float).T


def standardised(y, weights):
    """Numbers with mean zero and variance one over the repeated samples."""
    y = y[:, None] if y.ndim == 1 else y
    repeated = np.repeat(y, weights, axis=0)
    return (y - repeated.mean(axis=0)) / repeated.std(axis=0)


def random_labels(rng, X, kind):
    signal = np.tanh(np.nan_to_num(X[:, 0])) + np.nan_to_num(X[:, -1]) ** 2 / 9 + 0.3 * rng.normal(size=len(X))
    if kind == "regression":
        return signal, None
    if kind == "several":
        y = np.column_stack([signal, rng.normal(size=len(X))])
        return y, None
    classes = np.searchsorted(np.quantile(signal, [0.5] if kind == "binary" else [0.3, 0.6]), signal)
    Y = prediction_oracle.indicators(classes)
    return classes, Y[:, 1:] if kind == "binary" else Y


def random_splits(rng, m):
    held_out = ShuffleSplit(1, test_size=0.4, random_state=0)
    cv = [KFold(3), 4, "auto", TimeSeriesSplit(3), RepeatedKFold(n_splits=2, n_repeats=2, random_state=0), held_out]
    return cv[rng.integers(len(cv))]


def splits_of(cv, m, y):
    if not isinstance(cv, str | int):
        return list(cv.split(np.zeros((m, 1))))
    return crossfit_oracle.stratified_folds(y, 5 if cv == "auto" else cv)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("seed", range(N_CASES))
def test_held_out_losses_equal_the_definition(seed):
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(24, 40)), int(rng.integers(2, 7))
    kind = str(rng.choice(["binary", "multiclass", "regression", "several"]))
    columns, categorical, X = random_table(rng, m, d)
    y, Y = random_labels(rng, X, kind)
    power, criterion = int(rng.integers(1, 3)), str(rng.choice(["hsic", "prediction"]))
    weighted = rng.random() < 0.3
    weights = rng.integers(1, 4, m) if weighted else np.ones(m, dtype=int)
    Y = standardised(y, weights) if Y is None else Y
    given = rng.integers(0, max(1, d - 1), d) if rng.random() < 0.3 else None
    labels = np.arange(d) if given is None else given
    groups = [np.flatnonzero(labels == label).tolist() for label in np.unique(labels)]
    keep = [int(rng.integers(d))] if rng.random() < 0.3 else None
    kept = [] if keep is None else [unit for unit, group in enumerate(groups) if keep[0] in group]
    ridge, cv = float(10 ** rng.uniform(-3, -1)), random_splits(rng, m)
    target = "regression" if kind == "several" else kind
    selector = BAHSIC(
        "auto", step=1, criterion=criterion, ridge=ridge, cv=cv, kernel="gaussian" if power == 2 else "laplacian",
        feature_groups=given, keep=keep, categorical_features=categorical if any(categorical) else None,
        target_kernel=target, n_jobs=int(rng.integers(1, 3)),
    )  # fmt: skip
    selector.fit(X, y, weights.astype(float) if weighted else None)

    def gram(samples):
        return label_kernel(y[samples], target).gram()

    splits = splits_of(cv, m, y)
    losses, judged, orders = crossfit_oracle.cross_fit(
        columns, categorical, gram, Y, splits, weights=weights, power=power, groups=groups, kept=kept,
        criterion=criterion, ridge=ridge,
    )  # fmt: skip
    w = weights[judged].astype(float)
    means = [np.average(loss, weights=w) for loss in losses]
    sizes = [size for size in range(len(groups) + 1) if size == 0 or size >= len(kept)]
    for step, size in zip(selector.path_, range(len(groups), len(kept), -1), strict=False):
        expected = 1 - means[size] / means[0]
        assert step.predictability == pytest.approx(expected, abs=1e-8)
        error = crossfit_oracle.standard_error(losses[size] - means[size] / means[0] * losses[0], w) / means[0]
        assert step.predictability_error == pytest.approx(error, rel=1e-6)
    chosen = crossfit_oracle.smallest(losses, w, sizes, len(splits))
    number = max(1, len(kept), chosen)
    assert selector.predicts_ == (chosen > 0)
    assert selector.n_features_ == sum(len(group) for group in groups if selector.support_[group[0]])
    assert sum(selector.support_[group[0]] for group in groups) == number
    assert selector.predictability_ == pytest.approx(1 - means[chosen] / means[0], abs=1e-8)
    frequencies = np.mean([[unit in order[:number] for unit in range(len(groups))] for order in orders], axis=0)
    of_columns = [next(unit for unit, group in enumerate(groups) if j in group) for j in range(d)]
    assert np.allclose(selector.selection_frequencies_, frequencies[of_columns])


def noise(m=80, d=12, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, d)), rng.integers(0, 2, m)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("weights", [1, 2, 10, 1000])
def test_weights_are_no_copies_that_give_the_answer_away(weights):
    X, y = noise()
    weights = np.full(80, float(weights))
    plain, weighted = (BAHSIC("auto", criterion="prediction").fit(X, y, w) for w in (None, weights))
    for one, other in zip(weighted.path_, plain.path_, strict=True):
        assert one.predictability == pytest.approx(other.predictability, abs=1e-6)
        assert one.predictability < 0.1
    assert np.array_equal(weighted.support_, plain.support_)


def test_nothing_found_keeps_one_feature_and_warns_once():
    X, y = noise()
    with pytest.warns(UserWarning, match="no subset of the 12 features predicts the target") as caught:
        fitted = BAHSIC("auto").fit(X, y)
    assert len(caught) == 1
    assert (fitted.predicts_, fitted.n_features_) == (False, 1)
    assert (fitted.predictability_, fitted.predictability_error_, fitted.score_) == (0.0, 0.0, 0.5)  # of the mean
    (reason,) = [step.reason for step in fitted.path_ if step.reason]
    assert reason.startswith("no subset of the 12 features predicts the target: held-out R2 ")
    assert fitted.transform(X).shape == (80, 1)


def test_a_finding_says_so():
    X, y, support = make_xor(n_samples=300, n_features=8, random_state=0)
    for selector in (BAHSIC("auto"), BAHSIC("auto", criterion="prediction"), FOHSIC("auto", step=8)):
        fitted = selector.fit(X, y)
        assert fitted.predicts_
        assert fitted.n_folds_ == 5
        assert fitted.score_name_ == "ROC AUC"
        assert fitted.score_ > 0.9
    fitted = BAHSIC("auto").fit(X, y)
    assert np.array_equal(fitted.support_, support)
    assert np.array_equal(fitted.selection_frequencies_, support.astype(float))
    (reason,) = [step.reason for step in fitted.path_ if step.reason]
    assert reason.startswith("2 of 8 features are enough: held-out R2 0.")


def test_a_fixed_number_is_measured_only_with_cv():
    X, y, _ = make_xor(n_samples=120, n_features=6, random_state=0)
    plain = BAHSIC(2, criterion="prediction").fit(X, y)
    assert not hasattr(plain, "predictability_")
    assert {step.predictability for step in plain.path_} == {None}
    measured = BAHSIC(2, criterion="prediction", cv=5).fit(X, y)
    assert np.array_equal(measured.ranking_, plain.ranking_)
    assert 0.5 < measured.predictability_ < 1
    assert not hasattr(measured, "predicts_")
    plain.set_params(cv=5).fit(X, y).set_params(cv=None).fit(X, y)
    assert not hasattr(plain, "predictability_")


def test_scores_of_held_out_predictions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    classes = np.searchsorted([-0.5, 0.5], X[:, 0] + 0.5 * rng.normal(size=150))
    fitted = BAHSIC(1, cv=KFold(5), ridge=0.01).fit(X, classes)
    assert fitted.score_name_ == "accuracy"
    binary = (classes > 0).astype(int)
    other = BAHSIC(1, cv=KFold(5), ridge=0.01).fit(X, binary)
    expected = []
    for train, test in KFold(5).split(X):
        z = (X[:, :1] - X[train, :1].mean()) / X[train, :1].std()
        K = np.exp(-((z - z[:, 0]) ** 2) / 2)
        Y = np.column_stack([binary.astype(float), prediction_oracle.indicators(classes)])
        guess = crossfit_oracle.predicted(K[np.ix_(train, train)], K[np.ix_(test, train)], Y[train], 0.01)
        accuracy = accuracy_score(classes[test], guess[:, 1:].argmax(axis=1))
        expected.append((accuracy, roc_auc_score(binary[test], guess[:, 0])))
    assert (fitted.score_, other.score_) == pytest.approx(np.mean(expected, axis=0))
    assert BAHSIC(1, cv=3).fit(X, X[:, 0] + X[:, 1]).score_name_ == "R2"


def test_kernels_are_compared_on_some_of_many_samples(tmp_path):
    """Beyond 1,000 samples by a search of its own, whose checkpoint no fold of the answer reads."""
    X, y = np.random.default_rng(0).normal(size=(1030, 4)), np.arange(1030) % 2
    X[:, 0] += 3 * (y - 0.5) * np.sign(X[:, 1])
    options = {"criterion": "prediction", "kernel": "auto", "step": 1, "checkpoint": tmp_path}
    first, again = (BAHSIC("auto", **options).fit(X, y) for _ in range(2))
    folders = {path.relative_to(tmp_path).as_posix() for path in tmp_path.glob("*/*") if path.is_dir()}
    folds = {f"{first.kernel_}/fold-{number}" for number in (1, 2, 3)}
    assert folders == {"gaussian/trial", "laplacian/trial", "linear/trial", *folds}
    assert first.get_support(indices=True).tolist() == again.get_support(indices=True).tolist() == [0, 1]
    assert first.path_ == again.path_


def test_groups_and_weights_reach_the_splitter_and_the_fit():
    X, y, _ = make_xor(n_samples=120, n_features=4, random_state=0)
    groups = np.repeat(np.arange(12), 10)
    fitted = BAHSIC("auto", cv=GroupKFold(4)).fit(X, y, groups=groups)
    given = BAHSIC("auto", cv=list(GroupKFold(4).split(X, y, groups))).fit(X, y)
    assert fitted.predictability_ == given.predictability_
    with pytest.raises(ValueError, match="groups"):
        BAHSIC("auto", cv=GroupKFold(4)).fit(X, y)
    w = np.resize([1.0, 2.0], 120)
    with config_context(enable_metadata_routing=True):
        selector = BAHSIC("auto", cv=GroupKFold(4)).set_fit_request(sample_weight=True)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), selector)
        routed = pipeline.fit(X, y, groups=groups, sample_weight=w)
    expected = BAHSIC("auto", cv=GroupKFold(4)).fit(StandardScaler().fit_transform(X), y, w, groups)
    assert routed[-1].predictability_ == expected.predictability_


def test_folds_do_not_depend_on_the_names_of_classes():
    X, y = drawn(m=60, d=6)
    one, other = (BAHSIC("auto").fit(X, np.where(y == y[0], *names)) for names in (("a", "b"), ("b", "a")))
    found, expected = ([step.predictability for step in fitted.path_] for fitted in (one, other))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (1, "^cv is 1; accepted: None, 'auto', an int of at least 2"),
        ([], "which gives no split"),
        ([([0, 1, 2, 3, 4], [4, 5])], "whose parts overlap"),
        ([([0, 1, 2], [4, 5])], "gives 3 training and 2 test samples"),
        ([(0, 1, 2)], "accepted: pairs of indices"),
        ([([0, 1, 2, 3], [99])], "accepted: pairs of indices"),
    ],
)
def test_splits_that_are_none(cv, message):
    with pytest.raises(ValueError, match=message):
        BAHSIC(1, cv=cv).fit(*noise(20, 3))


@pytest.mark.parametrize("criterion", ["hsic", "prediction"])
def test_with_blocks_held_out_samples_judge(criterion):
    X, y, support = make_xor(n_samples=900, n_features=5, random_state=0)
    fitted = BAHSIC("auto", criterion=criterion, block_size=200, random_state=0).fit(X, y)
    assert (fitted.n_folds_, fitted.block_size_) == (1, 200)
    assert np.array_equal(fitted.support_, support)
    assert 0.5 < fitted.predictability_ < 1
    other = BAHSIC("auto", criterion=criterion, block_size=200, random_state=0, cv=3).fit(X, y)
    assert other.n_folds_ == 3
    assert np.array_equal(other.support_, support)


def test_a_block_predicts_in_the_units_of_all_samples():
    rng = np.random.default_rng(0)
    X, half = rng.normal(size=(100, 3)), np.arange(50)
    y = X[:, 0] * np.where(np.arange(100) < 50, 3, 1) + 2
    fits = [
        BAHSIC(1, criterion="prediction", ridge=0.01, cv=[(half, half + 50)], block_size=size, random_state=0).fit(X, y)
        for size in (50, None)
    ]
    assert fits[0].block_size_ == 50
    assert fits[0].predictability_ == pytest.approx(fits[1].predictability_, abs=1e-9)


def test_a_class_that_no_block_holds():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [149, 149, 2])
    X = rng.normal(size=(300, 2)) + y[:, None]
    splits = [(np.arange(200), np.arange(200, 300))]
    selector = BAHSIC("auto", criterion="prediction", cv=splits, block_size=50, random_state=0).fit(X, y)
    assert selector.predictability_ < 1


def test_folds_share_the_threads_that_blas_has():
    threads = set()

    def kernel(A, B):
        threads.add(threading.get_ident())
        return A @ B.T

    X = np.random.default_rng(0).normal(size=(40, 4))
    with threadpool_limits(2, "blas"):
        BAHSIC("auto", kernel=kernel).fit(X, X[:, 0] + X[:, 1])
    assert threads - {threading.get_ident()}  # folds run side by side in threads of their own
