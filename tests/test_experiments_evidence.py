"""The honesty of leave-one-out, ranks with their tests, and overlaps of genes."""

import numpy as np
import pytest
from experiments import against, genes_table, honest, honest_table, ranks, ring, ring_table
from experiments.comparison import Summary
from experiments.judges_table import by_judge
from experiments.real import BINARY
from scipy.stats import wilcoxon
from sklearn.kernel_ridge import KernelRidge

from bahsic import BAHSIC

# --- ranks ---


def test_critical_difference_is_that_of_the_tables():
    # Demsar (2006), Table 5: q of 0.05 is 2.343 for three methods and 3.164 for ten.
    assert ranks.critical_difference(3, 20) == pytest.approx(2.343 * np.sqrt(3 * 4 / 120), abs=1e-3)
    assert ranks.critical_difference(10, 30) == pytest.approx(3.164 * np.sqrt(10 * 11 / 180), abs=1e-3)


def test_corrected_p_values_never_fall_and_stay_below_one():
    found = ranks.holm({"a": 0.02, "b": 0.011, "c": 0.6, "d": 0.7})
    assert found == pytest.approx({"b": 0.044, "a": 0.06, "c": 1.0, "d": 1.0})


def test_methods_against_the_reference():
    random = np.random.default_rng(0)
    own, better, other = random.random((3, 12)) + np.array([[0.0], [1.0], [0.3]])
    found = {
        (str(i), m): Summary(values[i], 0.1)
        for m, values in (("prediction", own), ("bahsic", better), ("rfe", other), ("l1", own))
        for i in range(12)
    }
    p = ranks.against(found, ["prediction", "bahsic", "rfe", "l1"], [str(i) for i in range(12)])
    assert p == pytest.approx({"bahsic": 2 * wilcoxon(own, better).pvalue, "rfe": wilcoxon(own, other).pvalue})


def test_table_of_ranks_by_judge():
    rows = [
        {"dataset": d, "method": m, "fold": str(f), "error": str(error + f), "features": "1", "judge": judge}
        for judge in ("forest", "5-nn")
        for d in BINARY
        for m in ranks.METHODS
        if "binary" in ranks.METHODS[m].tasks
        for error in [1 if m == "prediction" else 3]
        for f in range(10)
    ]
    text = ranks.ranks_table(by_judge([row for row in rows if row["judge"] == "forest"], rows))
    line = next(line for line in text.split("\n") if line.startswith("| BAHSIC |"))
    assert line.count(f" {2 * np.sqrt(21):.1f} |") == 3  # two percent from the best on each of 21 sets
    assert next(line for line in text.split("\n") if line.startswith("| prediction |")).count(" 0.0 | 1.0 |  |") == 3


# --- overlap of genes ---


def test_overlap_between_folds():
    texts = ["1 2 3 4"] * 8 + ["1 2 3 6", "7"]  # fewer than were wanted
    rows = [{"dataset": "colon", "method": "l1", "n_features": "5", "features": text} for text in texts]
    # Of 45 pairs 28 are equal, 8 have three of four in common, 9 nothing.
    assert genes_table.overlaps(rows) == pytest.approx({("colon", "l1", "5"): 100 * (28 + 8 * 0.75) / 45})
    assert genes_table.overlaps(rows[:9]) == {}
    assert "| L1 | 76 |" in genes_table.overlap_table(rows)


# --- honesty of leave-one-out ---


def test_fresh_samples_are_predicted_by_the_regression_of_the_path():
    random = np.random.default_rng(0)
    X = random.standard_normal((90, 3))
    y = X[:, 0] + 0.3 * random.standard_normal(90)
    step = BAHSIC("auto", criterion="prediction", step=1).fit(X[:60], y[:60]).path_[0]
    # The promise is the mean over samples left out: predict each by the others, as fresh ones.
    left_out = []
    for i in range(60):
        order = [*np.delete(np.arange(60), i), i]
        scaled = (X[order] - X[:60].mean(axis=0)) / X[:60].std(axis=0)
        K = np.exp(-step.parameter * np.square(scaled[:, None] - scaled[None, :59]).sum(axis=2))
        K = K - K[:59].mean(axis=0) - K.mean(axis=1, keepdims=True) + K[:59].mean()
        mean = y[order[:59]].mean()
        model = KernelRidge(alpha=60 * step.ridge, kernel="precomputed").fit(K[:59], y[order[:59]] - mean)
        left_out.append((y[i] - mean - model.predict(K[59:])[0], y[i] - mean))
    errors, baseline = np.square(left_out).sum(axis=0)
    assert 1 - errors / baseline == pytest.approx(step.predictability, abs=1e-6)
    scaled = (X - X[:60].mean(axis=0)) / X[:60].std(axis=0)
    K = np.exp(-step.parameter * np.square(scaled[:, None] - scaled[None, :60]).sum(axis=2))
    K = K - K[:60].mean(axis=0) - K.mean(axis=1, keepdims=True) + K[:60].mean()
    model = KernelRidge(alpha=60 * step.ridge, kernel="precomputed").fit(K[:60], y[:60] - y[:60].mean())
    wrong = y[60:] - y[:60].mean() - model.predict(K[60:])
    wanted = 1 - np.square(wrong).sum() / np.square(y[60:] - y[:60].mean()).sum()
    assert honest.fresh_r2(X, y, 60, step.parameter, step.ridge) == pytest.approx(wanted)


def test_promise_is_too_high_where_there_is_nothing(tmp_path):
    rows = [cell | honest.rows(cell, None)[0] for cell in honest.grid(True, tmp_path)]
    found = honest_table.means(rows)
    assert {key[1] for key in found} == {"nothing", "weak", "xor"}
    assert found["hsic", "nothing", 50, 8].bias > 0.1
    assert found["hsic", "xor", 50, 8].found == 2
    assert all(one.best_fresh >= one.fresh for one in found.values())


def test_table_and_sentences_of_honesty():
    numbers = {"number": 3, "best_number": 2, "promised_of_all": 0.3, "fresh_of_all": 0.28, "found": 2}
    rows = [
        {"problem": p, "n_samples": n, "n_noise": 8, "criterion": c, "promised": high, "fresh": 0.4, "best_fresh": 0.5}
        | numbers
        for p in ("nothing", "xor")
        for n, high in ((50, 0.7), (200, 0.45))
        for c in ("hsic", "prediction")
    ]
    assert "| hsic | xor | 50 |  | 0.70 / 0.40 (3.0) |  |  |" in honest_table.table(rows)
    text = honest_table.summary(rows)
    assert "too high by 0.02 on average over these settings, and by 0.02 in the worst" in text
    assert "Led by hsic, the promise is too high by 0.17 on average and by 0.30 at worst (nothing, 50 samples" in text
    assert "more than 0.1 in 4 of 8 settings: up to 50 samples with 8 features of noise." in text
    assert "has 0.10 less fresh R2" in text
    assert honest_table.summary([]) == ""


# --- where another method is better ---


def test_clearly_better_is_by_two_points_and_significantly():
    found = {
        ("near", "prediction"): Summary(10.0, 0.1),
        ("near", "rfe"): Summary(8.5, 0.1),
        ("noisy", "prediction"): Summary(10.0, 3.0),
        ("noisy", "rfe"): Summary(7.0, 3.0),
        ("clear", "prediction"): Summary(10.0, 0.5),
        ("clear", "rfe"): Summary(7.0, 0.5),
        ("clear", "l1"): Summary(6.0, 0.5),
        ("clear", "l0"): Summary(0.0, 0.0, finished=False),
    }
    better = against.clearly_better(found, "prediction", ["rfe", "l1", "l0"], ["near", "noisy", "clear", "absent"])
    assert [(one.dataset, one.method) for one in better] == [("clear", "l1")]


def test_sets_have_their_reasons():
    found = {("arcene", "prediction"): Summary(30.0, 1.0), ("arcene", "l1"): Summary(19.0, 1.0)}
    found |= {("sonar", "prediction"): Summary(30.0, 1.0), ("sonar", "bahsic"): Summary(10.0, 1.0)}  # which is ours
    text = against.sets({"svm": {}, "forest": found, "5-nn": {}})
    assert text.startswith("- **arcene** (L1 19.0 against 30.0 by forest). Few samples")
    assert "sonar" not in text
    assert against.sets({"svm": {}, "forest": {}, "5-nn": {}}) == "None of the sets."


def test_problems_on_which_others_find_more():
    rows = [
        {
            "problem": p,
            "n_samples": 250,
            "n_features": d,
            "method": ring_table.BEST,
            "fold": f,
            "best_p": 60,
            "best_2p": 60,
        }
        for p in ring.PROBLEMS
        for d in ring.sizes(p)
        for f in range(6)
    ]
    lines = against.problems(rows).split("\n")
    assert lines == [
        "- ring with 250 samples: Random Forest, published 87.9, ours 60.0.",
        "- xor with 250 samples: LassoNet, published 63.6, ours 60.0.",
    ]


def test_raw_tables_on_which_others_are_better():
    errors = {"prediction": 10, "bahsic": 1, "boruta": 5, "all": 2}
    rows = [
        {"dataset": "wine", "method": m, "error": str(error + f / 10)} for m, error in errors.items() for f in range(5)
    ]
    assert against.raw_tables(rows) == "- wine: Boruta 5.2, ours 10.2."
    assert against.raw_tables(rows[:10]) == "None of the raw tables."
