"""The published synthetic problems: protocol and published figures."""

import numpy as np
import pytest
from experiments import ring, ring_table
from experiments.baselines import Problem
from experiments.baselines.single import information
from experiments.methods import METHODS, Method
from sklearn.metrics import mutual_info_score

from bahsic.datasets import make_ring


def test_sizes_are_those_that_the_published_digits_allow():
    # A published share is a multiple of 1 / (6 folds p k sizes), rounded to a tenth of a percent.
    for (n, problem, method), shares in ring_table.published().items():
        p = ring.PROBLEMS[problem][1]
        k = len(ring.sizes(problem)) if method != "Mutual information" else 9  # it lacks some sizes
        counts = np.array(shares) / 100 * 6 * p * k
        if method != "Mutual information" or problem == "ring":
            possible = np.round(100 * np.round(counts) / (6 * p * k), 1)
            assert possible == pytest.approx(shares, abs=0.11), (n, problem, method)


def test_share_of_the_relevant_among_the_first(monkeypatch):
    asked = []

    def select(X, y, problem):
        asked.append((X.shape, problem.number))
        truth = make_ring(60, 8, random_state=0)[0][10:]  # the first of six folds is left out
        r = np.abs(np.corrcoef(X, truth[:, :2], rowvar=False)[:8, 8:])
        first, second = r.argmax(axis=0)
        rest = [j for j in range(8) if j not in (first, second)]
        return np.array([first, rest[0], second, *rest[1:]])

    monkeypatch.setattr("experiments.ring.warmed_up", lambda name, task: Method(select, "", "today"))
    cell = {"problem": "ring", "n_samples": 60, "n_features": 8, "fold": 0}
    [row] = ring.rows(cell | {"method": "forest"}, None)
    assert (row["best_p"], row["best_2p"]) == ("50.0", "100.0")
    ring.rows(cell | {"method": "prediction_laplacian"}, None)
    assert asked == [((50, 8), 4), ((50, 8), 2)]


def test_mrmr_of_bins_avoids_copies_by_mutual_information():
    random = np.random.default_rng(0)
    bins, other = random.integers(10, size=(60, 3)), random.integers(3, size=60)
    assert information(bins, other) == pytest.approx([mutual_info_score(column, other) for column in bins.T])
    X = random.standard_normal((300, 5))
    y = (X[:, 0] + 0.5 * X[:, 1] > 0).astype(int)
    X[:, 2] = X[:, 0]
    assert METHODS["mrmr_of_bins"].select(X, y, Problem("binary", 2)).tolist() == [0, 1]
