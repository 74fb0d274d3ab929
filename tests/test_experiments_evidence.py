"""Ranks with their tests, overlaps of genes, and where other methods are better."""

import numpy as np
import pytest
from experiments import against, genes_table, ranks
from experiments.comparison import Summary
from scipy.stats import wilcoxon

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


# --- overlap of genes ---


def test_overlap_between_folds():
    texts = ["1 2 3 4"] * 8 + ["1 2 3 6", "7"]  # fewer than were wanted
    rows = [{"dataset": "colon", "method": "l1", "n_features": "5", "features": text} for text in texts]
    # Of 45 pairs 28 are equal, 8 have three of four in common, 9 nothing.
    assert genes_table.overlaps(rows) == pytest.approx({("colon", "l1", "5"): 100 * (28 + 8 * 0.75) / 45})
    assert genes_table.overlaps(rows[:9]) == {}
    assert "| L1 | 76 |" in genes_table.overlap_table(rows)


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
