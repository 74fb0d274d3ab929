"""Problems with known relevant features."""

import numpy as np
import pytest
from experiments import planted, planted_table
from experiments.planted_problems import dag, epistasis, parity

GENES = [lambda random: epistasis(random, 2, 0.2, 8), lambda random: parity(random, 2, 8)]


@pytest.mark.parametrize("draw", GENES)
def test_genes_tell_of_the_disease_together_only(draw):
    X, y, relevant = draw(np.random.default_rng(0))
    assert relevant.tolist() == [True] * 2 + [False] * 6

    def explained(*genes):
        """Share of the variance of the disease between the groups of patients with the same genotypes."""
        groups = np.unique(X[:, genes], axis=0, return_inverse=True)[1]
        means = np.bincount(groups, y) / np.bincount(groups)
        return means[groups].var() / y.var()

    assert explained(0) < 0.01
    assert explained(1) < 0.01
    assert explained(0, 1) == pytest.approx(0.2 if draw is GENES[0] else 1.0, abs=0.05)
    assert explained(2, 3) < 0.02


def test_graphs_have_the_ancestors_that_matter():
    X, y, causal = dag(np.random.default_rng(4))
    assert X.shape == (1000, 2000)
    assert y.mean() == 0.5
    assert 5 <= causal.sum() <= 12
    assert 0 < X.min() < 0.5 < X.max() < 1
    # Parents are correlated with the class, and half of the variables have no edge at all.
    assert np.abs([np.corrcoef(X[:, j], y)[0, 1] for j in np.flatnonzero(causal)]).max() > 0.2


def test_shares_of_a_planted_problem():
    (row,) = planted.rows({"problem": "parity-2-20", "draw": 0, "method": "bahsic"}, None)
    assert (row["p"], row["best_p"], row["best_2p"]) == (2, "100.0", "100.0")
    assert "| XOR of 2 genes of 20 | **100** |" in planted_table.table(
        [row | {"problem": "parity-2-20", "draw": draw, "method": "bahsic"} for draw in range(10)]
    )
