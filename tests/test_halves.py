"""Searches on halves of the samples, which bound what "auto" takes; and kernels that are tried on some samples."""

import numpy as np
import pytest

from bahsic import BAHSIC, FOHSIC
from bahsic.criteria.prediction import predicted
from bahsic.data.columns import Columns
from bahsic.data.levels import copies
from bahsic.engine import scorer_for, tile_plan
from bahsic.engine.executor import ThreadExecutor
from bahsic.engine.scorer import kernel_values
from bahsic.kernels import Gaussian, Laplacian
from bahsic.selection import base, halves, searches
from bahsic.selection.path import most_as_good
from bahsic.selection.problem import checked_problem, feature_units

SELECTORS = pytest.mark.parametrize("selector", [BAHSIC, FOHSIC])


def shifted(m, d, seed, shift=0.6, n_shifted=5):
    """Classes, and noise of which the first columns are shifted between them."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.resize([0, 1], m))
    X = rng.normal(size=(m, d))
    X[:, :n_shifted] += shift * (2 * y[:, None] - 1)
    return X, y


def posed(selector, X, y, sample_weight=None):
    return checked_problem(selector, X, y, sample_weight)


def needed(X, y, sample_weight=None, **options):
    selector = BAHSIC("auto", **options)
    problem = posed(selector, X, y, sample_weight)
    return halves.are_needed(problem, feature_units(None, None, problem.table, problem.data.constant))


def test_predictions_are_those_of_the_centred_equations():
    rng = np.random.default_rng(0)
    x, new, Y = rng.normal(size=(12, 3)), rng.normal(size=(5, 3)), rng.normal(size=(12, 2)) + 3
    K, cross, ridge = Gaussian(0.3)(x), Gaussian(0.3)(new, x), 0.01
    H = np.eye(12) - 1 / 12
    B = np.linalg.solve(H @ K @ H + 12 * ridge * np.eye(12), H @ Y)
    expected = Y.mean(axis=0) + (cross - K.mean(axis=0)) @ H @ B
    np.testing.assert_allclose(predicted(K, cross, Y, ridge), expected, rtol=1e-10)
    np.testing.assert_allclose(predicted(K - 5, cross - 5, Y, ridge), expected, rtol=1e-10)


@pytest.mark.parametrize(
    ("losses", "chosen"),
    [
        ([[1, 1, 1, 1], [1.5, 1, 1, 1], [2, 2, 2, 2]], 1),  # 0.125 worse, which is its standard error
        ([[1, 1, 1, 1], [1.5, 1.4, 1.5, 1.4], [2, 2, 2, 2]], 0),
        ([[2, 2, 2, 2], [1, 1, 1, 1], [1, 1, 1, 1]], 2),
        ([[1, 1, 1, 1], [2, 2, 2, 2], [1, 1, 1, 1]], 0),  # not behind a gap
    ],
)
def test_the_most_that_are_as_good_by_hand(losses, chosen):
    assert most_as_good([1, 2, 3], [np.array(loss, dtype=float) for loss in losses]) == chosen


def by_definition(selector, X, y):
    """Number of features up to which, from the smallest such one, subsets predict the other halves as well as any."""
    problem = posed(selector, X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    Y = np.asarray(y, dtype=float)[:, None] if selector.target_kernel == "binary" else None
    first, second = halves._split(problem)
    losses = {}
    for own, others in ((first, second), (second, first)):
        part = type(selector)(**{**selector.get_params(), "n_features_to_select": X.shape[1], "standardize": False})
        fitted = part.fit(Z[own], y[own])
        inside = set(range(X.shape[1])) if isinstance(selector, BAHSIC) else set()
        for step in fitted.path_:
            if not isinstance(selector, BAHSIC):
                inside |= set(step.features)
            columns = sorted(inside)
            if isinstance(selector, BAHSIC):
                inside -= set(step.features)
            K = Gaussian(1 / (2 * len(columns)))
            mean = Y[own].mean(axis=0)
            H = np.eye(len(own)) - 1 / len(own)
            inner = K(Z[own][:, columns])
            B = np.linalg.solve(H @ inner @ H + len(own) * step.ridge * np.eye(len(own)), Y[own] - mean)
            guess = mean + (K(Z[others][:, columns], Z[own][:, columns]) - inner.mean(axis=0)) @ H @ B
            losses.setdefault(len(columns), []).append(np.square(Y[others] - guess).sum(axis=1))
    sizes = sorted(losses)
    joined = [np.concatenate(losses[size]) for size in sizes]
    best = min(range(len(sizes)), key=lambda at: joined[at].mean())
    spread = [np.std(loss - joined[best], ddof=1) / np.sqrt(len(y)) for loss in joined]
    good = [loss.mean() - joined[best].mean() <= error for loss, error in zip(joined, spread, strict=True)]
    first = good.index(True)
    return sizes[first + good[first:].index(False) - 1 if False in good[first:] else -1]


@SELECTORS
@pytest.mark.parametrize("seed", range(3))
def test_bound_by_its_definition(selector, seed, monkeypatch):
    X, y = shifted(60, 40, seed)
    options = {"criterion": "prediction", "target_kernel": "binary", "step": 3}
    found = []
    real = searches.most_trusted
    monkeypatch.setattr(searches, "most_trusted", lambda *given: found.append(real(*given)) or found[-1])
    fitted = selector("auto", **options).fit(X, y)
    assert found == [by_definition(selector("auto", **options), X, y)]
    assert fitted.n_features_ <= found[0]
    (reason,) = [step.reason for step in fitted.path_ if step.reason]
    assert ("as well as any: R2" if found[0] == 40 else f"as well as any of at most {found[0]}: R2") in reason


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
def test_few_features_of_much_noise(kernel, monkeypatch):
    X, y = shifted(200, 180, seed=1)
    options = {"criterion": "prediction", "kernel": kernel}
    bounded = BAHSIC("auto", **options).fit(X, y)
    assert bounded.support_[:5].all()
    assert bounded.n_features_ <= 8
    monkeypatch.setattr(base, "are_needed", lambda *_: False)
    assert BAHSIC("auto", **options).fit(X, y).n_features_ >= 20


def test_halves_where_features_are_many():
    X, y = shifted(40, 21, seed=0)
    assert needed(X, y)
    assert not needed(X[:, :20], y)  # half as many as samples
    assert not needed(X[:15], y[:15])
    assert not needed(X, y, np.full(40, 2.0))
    assert not needed(X, y, block_size=10, random_state=0)


def test_halves_share_classes_and_numbers_evenly():
    selector = BAHSIC()
    X = np.random.default_rng(0).normal(size=(41, 3))
    classes = np.repeat(["a", "b", "c"], [21, 16, 4])
    first, second = halves._split(posed(selector, X, classes))
    assert sorted([*first, *second]) == list(range(41))
    counts = [np.unique(classes[part], return_counts=True)[1].tolist() for part in (first, second)]
    assert np.abs(np.subtract(*counts)).max() <= 1
    numbers = np.random.default_rng(1).normal(size=41)
    low, high = (np.sort(numbers[part]) for part in halves._split(posed(selector, X, numbers)))
    assert (low[:-1] <= high).all()
    assert (high <= low[1:]).all()


def test_labels_of_any_kernel_are_halved():
    X, y = shifted(30, 20, seed=2)
    fitted = BAHSIC("auto", target_kernel=Gaussian(0.5)).fit(X, y + 0.1 * X[:, 0])
    assert 1 <= fitted.n_features_ <= 20


@pytest.mark.parametrize("kernel", ["gaussian", "auto"])
def test_an_interrupted_search_on_a_half_goes_on(kernel, tmp_path, monkeypatch):
    X, y = shifted(40, 30, seed=3)
    options = {"criterion": "prediction", "kernel": kernel, "step": 0.3}
    expected = BAHSIC("auto", **options).fit(X, y)
    made = []
    write = base.Checkpoint.write

    def interrupted(self, rounds, state):
        write(self, rounds, state)
        made.append(len(rounds))
        if len(made) == limit:
            raise KeyboardInterrupt

    monkeypatch.setattr(base.Checkpoint, "write", interrupted)
    n_rounds = len(expected.path_)
    limit = (1 if kernel == "gaussian" else 2) * n_rounds + n_rounds // 2
    with pytest.raises(KeyboardInterrupt):
        BAHSIC("auto", checkpoint=tmp_path, **options).fit(X, y)
    done, limit = len(made), -1
    again = BAHSIC("auto", checkpoint=tmp_path, **options).fit(X, y)
    assert len(made) - done == (3 if kernel == "gaussian" else 4) * n_rounds - done  # nothing is done twice
    assert again.path_ == expected.path_
    assert again.elimination_order_.tolist() == expected.elimination_order_.tolist()
    folders = sorted(path.parent.name for path in tmp_path.rglob("*.json"))
    assert folders.count("half-1") == folders.count("half-2") == 1


def test_callbacks_of_a_fit_whose_halves_are_kept(tmp_path):
    callback = pytest.importorskip("sklearn.callback", reason="scikit-learn < 1.9 has no callbacks")
    X, y = shifted(40, 30, seed=4)
    expected = BAHSIC("auto", step=0.3, checkpoint=tmp_path).fit(X, y)
    again = BAHSIC("auto", step=0.3, checkpoint=tmp_path).set_callbacks(callback.ProgressBar()).fit(X, y)
    assert again.n_features_ == expected.n_features_


@pytest.mark.parametrize("rugged", [False, True])
@pytest.mark.parametrize("blocks", [False, True])
def test_kernels_are_tried_on_some_samples_and_the_best_searches_on_all(rugged, blocks, monkeypatch):
    monkeypatch.setattr(searches, "TRIAL_SAMPLES", 150)
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 6))
    y = np.sign(X[:, 0] * X[:, 1]) if rugged else X[:, 0] * X[:, 1] + X[:, 2] ** 2
    options = {"criterion": "prediction", "target_kernel": "regression", "block_size": 200 if blocks else None}
    seen = []
    real = base.Search
    monkeypatch.setattr(base, "Search", lambda part, *rest: seen.append(len(part.labels)) or real(part, *rest))
    fitted = BAHSIC(3, kernel="auto", random_state=0, **options).fit(X, y)
    assert seen == [150, 150, 400]
    assert fitted.kernel_ == ("laplacian" if rugged else "gaussian")
    alone = BAHSIC(3, kernel=fitted.kernel_, random_state=0, **options).fit(X, y)
    assert alone.elimination_order_.tolist() == fitted.elimination_order_.tolist()


def test_weighted_samples_are_all_tried(monkeypatch):
    monkeypatch.setattr(searches, "TRIAL_SAMPLES", 20)
    X, y = shifted(40, 5, seed=6)
    seen = []
    real = base.Search
    monkeypatch.setattr(base, "Search", lambda part, *rest: seen.append(len(part.labels)) or real(part, *rest))
    weighted = BAHSIC(2, kernel="auto", criterion="prediction").fit(X, y, np.full(40, 2.0))
    assert seen == [40, 40]
    repeated = BAHSIC(2, kernel="auto", criterion="prediction")
    monkeypatch.setattr(searches, "TRIAL_SAMPLES", 80)
    repeated.fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    assert weighted.kernel_ == repeated.kernel_
    assert weighted.elimination_order_.tolist() == repeated.elimination_order_.tolist()


def with_missing(m, y):
    """A frame of which some columns are missing, or have one category, in one of the halves."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(rng.normal(size=(m, 10))).add_prefix("x")
    first, second = halves._split(posed(BAHSIC(), frame, y))
    kinds = np.array(["a", "b", "c"], dtype=object)[rng.integers(0, 3, m)]
    frame["kind"] = np.where(np.isin(np.arange(m), first), None, kinds)
    frame["one_kind"] = np.where(np.isin(np.arange(m), second), "a", kinds)
    for column in ("x0", "x1"):
        frame.loc[second, column] = np.nan
    frame["x1"] **= 2  # of another distance between missing entries
    return frame, (first, second)


@SELECTORS
@pytest.mark.parametrize("criterion", ["hsic", "prediction"])
@pytest.mark.parametrize("missing", ["neutral", "indicator"])
def test_columns_that_are_missing_in_one_half(selector, criterion, missing):
    y = np.resize([0, 1], 22)
    frame, _ = with_missing(22, y)
    fitted = selector("auto", criterion=criterion, kernel="auto", missing=missing, step=0.3).fit(frame, y)
    assert 1 <= fitted.n_features_ <= 12
    assert np.isfinite(fitted.scores_).all()


@pytest.mark.parametrize("kernel", [Gaussian(), Laplacian()])
@pytest.mark.parametrize("missing", ["neutral", "indicator"])
def test_scores_on_a_half_where_columns_are_missing(kernel, missing):
    y = np.resize([0, 1], 22)
    frame, parts = with_missing(22, y)
    whole = posed(BAHSIC(kernel=kernel, missing=missing), frame, y)
    serial = ThreadExecutor(1)
    for part in (whole.of_samples(samples) for samples in parts):
        data, W = part.data.columns, part.label_weights("unbiased", serial)
        scorer = scorer_for(data, kernel, W, serial, tile_plan(len(part.labels)), None)
        everyone = np.arange(12)
        ranked, changed = scorer.leaving(everyone, everyone, 12), scorer.kernel(everyone, 11)
        without = [kernel_values(data, np.delete(everyone, j), changed) for j in everyone]
        off = ~np.eye(len(part.labels), dtype=bool)
        left = np.array([(K * W.matrix())[off].sum() for K in without])
        assert (np.diff(left[ranked.features]) <= 1e-12).all()


def test_missing_columns_with_other_distances_are_no_copies():
    columns = Columns(np.full((3, 4), np.nan), np.zeros(3), np.array([2.0, 2.0, 3.0]), np.ones(3, dtype=bool))
    assert copies(columns).tolist() == [0, 0, 2]


@SELECTORS
def test_columns_of_zeros_in_one_half(selector):
    X, y = shifted(24, 14, seed=8)
    first, second = halves._split(posed(BAHSIC(), X, y))
    X[second, :9] = 0
    X[first, 9:13] = 0
    fitted = selector("auto", standardize=False, criterion="prediction").fit(X, y)
    assert np.isfinite(fitted.scores_).all()


def test_an_offset_of_all_samples_changes_nothing_with_inner_products():
    X, y = shifted(24, 14, seed=9)
    X = np.round(64 * X) / 64  # exact after adding
    plain, moved = (BAHSIC("auto", kernel="linear", standardize=False).fit(X + by, y) for by in (0, 2**18))
    assert moved.elimination_order_.tolist() == plain.elimination_order_.tolist()
    assert moved.n_features_ == plain.n_features_


def test_predictions_need_a_positive_definite_kernel():
    with pytest.raises(ValueError, match="not positive definite on these samples"):
        predicted(-np.eye(4), -np.eye(4), np.ones((4, 1)), 0.01)


def test_kernels_are_tried_on_some_samples_as_one_block(monkeypatch):
    monkeypatch.setattr(searches, "TRIAL_SAMPLES", 50)
    X, y = shifted(80, 4, seed=10)
    seen = []
    real = base.Search
    monkeypatch.setattr(base, "Search", lambda part, *rest: seen.append(part.starts) or real(part, *rest))
    BAHSIC(2, kernel="auto", block_size=20, random_state=0).fit(X, y)
    assert seen == [(0,), (0,), (0, 20, 40, 60)]
    seen.clear()
    monkeypatch.setattr(searches, "TRIAL_SAMPLES", 80)
    BAHSIC(2, kernel="auto", block_size=20, random_state=0).fit(X, y)
    assert seen == [(0, 20, 40, 60)] * 2


def test_a_missing_seed_is_told_before_kernels_are_tried(tmp_path, monkeypatch):
    monkeypatch.setattr(searches, "TRIAL_SAMPLES", 20)
    X, y = shifted(80, 4, seed=11)
    with pytest.raises(ValueError, match="random_state is None; accepted with block_size and checkpoint"):
        BAHSIC(2, kernel="auto", block_size=20, checkpoint=tmp_path).fit(X, y)
    assert not list(tmp_path.iterdir())
