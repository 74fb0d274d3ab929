"""The quick first look at features that enter: what it leaves out is never more than it says."""

import numpy as np
import pytest

from bahsic import FOHSIC
from bahsic.criteria.weights import label_weights
from bahsic.engine import scorer_for, threads
from bahsic.engine.gaussian import entering, families, moments
from bahsic.engine.gaussian.entering import Entering, combinations
from bahsic.engine.gaussian.families import Smooth
from bahsic.kernels import Gaussian, label_kernel
from brute_force import hsic, standardised

EXACT = np.longdouble

LABELS = {
    "binary": lambda rng, m: rng.permutation(np.resize([0, 1], m)),
    "multiclass": lambda rng, m: rng.permutation(np.resize([0, 1, 2], m)),
    "regression": lambda rng, m: rng.normal(size=m),
}
COLUMNS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "wide": lambda rng, shape: rng.standard_t(3, size=shape),
    "skew": lambda rng, shape: rng.lognormal(sigma=0.5, size=shape),
}


@pytest.mark.parametrize("tail", [0.3, 1e-2, 1e-6])
@pytest.mark.parametrize(("a", "radius"), [(-0.5, 3.0), (-0.1, 4.5), (-0.02, 6.0), (-20.0, 1.0), (-0.2, 10.0)])
def test_at_any_pair_the_rest_is_at_most_the_geometric_mean_of_the_rests_at_equal_samples(a, radius, tail):
    found = combinations(a, radius, tail)
    x = np.linspace(-radius, radius, 101)
    powers = entering._powers(x, a, found.shape[1])
    u, phi = powers[0], found @ powers
    family = Entering(np.arange(1), None, np.arange(1), a, found, len(found))
    x = x.astype(EXACT)
    edges = np.expm1(a * x**2)
    core = np.expm1(a * (x[:, None] - x) ** 2) - edges[:, None] - edges
    rest = np.sqrt(np.maximum(-2 * u - np.square(phi).sum(axis=0), 0.0) + family.remainder)
    assert (np.abs(core - phi.T @ phi) <= np.outer(rest, rest)).all()
    assert np.abs(core).max() <= family.size
    assert family.remainder < 1e-10


@pytest.mark.parametrize("tail", [0.3, 1e-2, 1e-6])
def test_of_normal_columns_about_the_share_that_was_asked_for_is_left_out(tail):
    found = combinations(-0.1, 4.5, tail)
    x = np.random.default_rng(0).normal(size=10_000)
    powers = entering._powers(x, -0.1, found.shape[1])
    left = (-2 * powers[0] - np.square(found @ powers).sum(axis=0)).sum() / (-2 * powers[0]).sum()
    assert tail / 100 < left < 2 * tail


def kernel_values(Z, gamma):
    squares = np.square(Z).sum(axis=1)
    return np.exp(-gamma * np.maximum(squares[:, None] + squares - 2 * Z @ Z.T, 0))


@pytest.mark.parametrize("tail", [0.02, 1e-6])
@pytest.mark.parametrize("n_inside", [0, 1, 2])
@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("columns", COLUMNS)
def test_intervals_contain_the_changes(columns, labels, n_inside, tail, monkeypatch):
    monkeypatch.setattr(families, "_SOME_SAMPLES", 37)  # several ranges of samples
    rng = np.random.default_rng(7)
    m, d = 110, 60
    Z, _ = standardised(COLUMNS[columns](rng, (m, d)))
    weights = label_weights(label_kernel(LABELS[labels](rng, m), labels), "unbiased")
    subset, candidates = np.arange(n_inside), np.arange(n_inside, d)
    gamma = 1 / (2 * (n_inside + 1))
    with threads(1) as executor:
        scorer = scorer_for(np.ascontiguousarray(Z.T), Gaussian(gamma), weights, executor)
        scorer._round(subset, candidates, Gaussian(gamma), None, leaving=False)
        scorer._current.few_wanted = True
        used = list(scorer._current._families(candidates, tail, np.inf))
        found = scorer._current.expanded(candidates, tail, np.inf)
    assert {type(family) for family in used} in ({Entering}, {Entering, Smooth})
    assert all(isinstance(family, Entering) or family.limit < np.inf for family in used)  # some columns are very wide
    W = weights.matrix()
    np.fill_diagonal(W, 0.0)
    before = (kernel_values(Z[:, subset], gamma) * W).sum()
    changes = [(kernel_values(Z[:, [*subset, j]], gamma) * W).sum() - before for j in candidates]
    known = np.isfinite(found.radii)
    assert known.sum() > 57
    error = np.abs(found.values - changes)[known]
    assert (error <= found.radii[known]).all()
    assert np.median(found.radii[known]) < (0.02 + 200 * tail) * np.std(changes)  # bounds too wide would decide nothing


@pytest.mark.parametrize("labels", LABELS)
def test_forward_selection_on_wide_data_chooses_what_the_definition_chooses(labels, monkeypatch):
    rng = np.random.default_rng(3)
    m, d = 160, 420
    y = LABELS[labels](rng, m)
    X = rng.normal(size=(m, d))
    X[:, 10] += 0.6 * y
    X[:, 20:40] = X[:, [10]] + 1e-3 * rng.normal(size=(m, 20))  # close to each other
    monkeypatch.setattr(moments.Moments, "made", None)  # few rounds forward don't need them
    looks = []
    monkeypatch.setattr(Entering, "known", lambda *given, known=Entering.known: looks.append(given) or known(*given))
    found = FOHSIC(3, target_kernel=labels).fit(X, y)
    assert len(looks) == 3
    Z, _ = standardised(X)
    L, inside = label_kernel(y, labels).gram(), []
    for chosen in found.selection_order_[:3]:
        gamma, outside = 1 / (2 * (len(inside) + 1)), np.setdiff1d(np.arange(d), inside)
        scores = [hsic(kernel_values(Z[:, [*inside, j]], gamma), L, "unbiased") for j in outside]
        assert outside[np.argmax(scores)] == chosen
        inside.append(chosen)
