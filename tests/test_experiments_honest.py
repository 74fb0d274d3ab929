"""Reported R2 against that of samples that took no part in the selection: regressions, the three parts."""

import numpy as np
import pytest
from experiments import honest, honest_drawn, honest_large
from experiments.data import load
from experiments.evaluation import error, fold, splits
from experiments.kernel_ridge import RIDGES, kernel_values, r2
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression

from bahsic import BAHSIC, predictability

DRAWN = {"part": "drawn", "problem": "xor", "n_samples": 100, "n_noise": 8, "variant": "prediction", "run": 0}

# --- the regression ---


@pytest.fixture(params=["number", "two classes", "three classes"])
def samples(request):
    random = np.random.default_rng(0)
    X = random.standard_normal((90, 3)) * [1, 5, 0.2] + 7
    signal = np.sin(X[:, 0]) + X[:, 1] / 5 + 0.5 * random.standard_normal(90)
    levels = {"two classes": [1.0], "three classes": [0.5, 1.5]}.get(request.param)
    return X, signal if levels is None else np.digitize(signal, levels)


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "linear"])
def test_samples_left_out_and_new_ones_are_predicted_as_by_the_libraries(samples, kernel):
    X, y = samples
    left_out, new = r2(X[:60], y[:60], X[60:], y[60:], kernel)
    assert left_out == pytest.approx(predictability(X[:60], y[:60], kernel=kernel), abs=1e-9)
    scaled = (X - X[:60].mean(axis=0)) / X[:60].std(axis=0)
    K = kernel_values(scaled, scaled[:60], kernel)
    K = K - K[:60].mean(axis=0) - K.mean(axis=1, keepdims=True) + K[:60].mean()
    Y = y[:, None] if y.dtype.kind == "f" else (y[:, None] == np.unique(y)).astype(float)
    mean, found = Y[:60].mean(axis=0), []
    for ridge in RIDGES:
        model = KernelRidge(alpha=60 * ridge, kernel="precomputed").fit(K[:60], Y[:60] - mean)
        wrong = Y[60:] - mean - model.predict(K[60:])
        found.append(1 - np.square(wrong).sum() / np.square(Y[60:] - mean).sum())
    assert np.abs(np.array(found) - new).min() < 1e-9
    assert np.ptp(found) > 0.01 or kernel == "linear"  # so that the ridge matters


# --- drawn data ---


def test_problems_have_their_true_features():
    wanted = {"nothing": 0, "weak": 1.25 / 3.5, "xor": 0.64, "shifted": 6.4 / 10.4, "additive": 2 / 3}
    for problem, about in honest_drawn.PROBLEMS.items():
        X, y = honest_drawn.draw(DRAWN | {"problem": problem, "n_samples": 4000})
        assert X.shape[1] == about.n_true + 8
        features = {  # of which the labels are a linear function
            "nothing": X,
            "weak": X[:, :2],
            "xor": (X[:, :1] * X[:, 1:2] > 0),
            "shifted": X[:, :10],
            "additive": np.column_stack([np.sin(2 * X[:, 0]), X[:, 1] ** 2, X[:, 2]]),
        }[problem]
        assert LinearRegression().fit(features, y).score(features, y) == pytest.approx(wanted[problem], abs=0.03)


def test_rows_say_what_the_selector_reports_and_what_fresh_samples_give():
    X, y = honest_drawn.draw(DRAWN)
    selector = BAHSIC("auto", criterion="prediction").fit(X[:100], y[:100])
    chosen = np.flatnonzero(selector.support_)
    assert {0, 1} <= set(chosen)
    [row] = honest.rows(DRAWN, None)
    assert row["reported"] == f"{selector.predictability_:.4f}"
    assert row["fresh"] == f"{r2(X[:100, chosen], y[:100], X[100:, chosen], y[100:])[1]:.4f}"
    assert (row["number"], row["found"], row["n_features"], row["predicts"]) == (len(chosen), 2, 10, "yes")
    [whole] = honest.rows(DRAWN | {"variant": "all"}, None)
    assert (whole["reported"], whole["number"]) == (f"{predictability(X[:100], y[:100]):.4f}", 10)


# --- real sets and large tables ---


def test_outer_fold_is_predicted_by_the_training_part():
    cell = {"part": "real", "problem": "wine", "n_samples": 178, "n_noise": "", "variant": "hsic", "run": 2}
    [row] = honest.rows(cell, None)
    data = load("wine", None)
    part = fold(data, *splits(data, 5)[2])
    selector = BAHSIC("auto").fit(part.X, part.y)
    chosen = np.flatnonzero(selector.support_)
    assert row["reported"] == f"{selector.predictability_:.4f}"
    assert row["fresh"] == f"{r2(part.X[:, chosen], part.y, part.X_test[:, chosen], part.y_test)[1]:.4f}"
    assert row["svm"] == f"{error(part, chosen, 'binary'):.4f}"
    [whole] = honest.rows(cell | {"variant": "all"}, None)
    assert whole["svm"] == f"{error(part, np.arange(13), 'binary'):.4f}"


@pytest.mark.parametrize(
    ("name", "draw", "n_columns", "n_missing"),
    [(honest_large.DRAWN, honest_large.draw, 20, 3), (honest_large.CLASSES, honest_large.draw_classes, 30, 0)],
)
def test_drawn_table_has_a_truth(name, draw, n_columns, n_missing):
    pytest.importorskip("pandas")
    table = draw(8000)
    assert table.X.shape == (8000, n_columns)
    assert table.X.isna().any().sum() == n_missing
    train, test = np.arange(6000), np.arange(6000, 8000)
    true = [group[0] for group in honest_large.TRUTH[name]]
    others = [column for column in table.X if column not in sum(honest_large.TRUTH[name], ())]
    assert honest_large.boosted_r2(table, true, train, test) > 0.3
    assert honest_large.boosted_r2(table, others, train, test) < 0.02
