"""Outlying samples of columns: their pairs one by one, the others by the expansion."""

import math
from dataclasses import replace

import numpy as np
import pytest

from bahsic import BAHSIC, FOHSIC
from bahsic.criteria.weights import label_weights
from bahsic.data.columns import Columns
from bahsic.engine import scorer_for, threads
from bahsic.engine.gaussian.families import Incomplete, Smooth
from bahsic.engine.gaussian.outliers import Outliers, OutlyingPairs
from bahsic.engine.plan import tile_plan
from bahsic.kernels import Gaussian, label_kernel
from brute_force import standardised

COLUMNS = {
    "cauchy": lambda rng, shape: rng.standard_cauchy(size=shape),
    "lognormal": lambda rng, shape: rng.lognormal(sigma=1.5, size=shape),
    "far": lambda rng, shape: np.where(rng.random(shape) < 0.02, 1e4, 1.0) * rng.normal(size=shape),
}
LABELS = {
    "binary": lambda rng, m: rng.permutation(np.resize([0, 1], m)),
    "regression": lambda rng, m: rng.normal(size=m),
}
DIRECTIONS = pytest.mark.parametrize("leaving", [True, False], ids=["leaving", "entering"])


def drawn(columns, labels, m=150, d=12, seed=0):
    rng = np.random.default_rng(seed)
    Z, _ = standardised(COLUMNS[columns](rng, (m, d)))
    return Z, label_weights(label_kernel(LABELS[labels](rng, m), labels), "unbiased")


def formed(Z, weights, gamma, executor, *, leaving, working_memory=None, compiled=False):
    """The round in which all features leave, or the second half enters the first; and the candidates."""
    everything = np.arange(Z.shape[1])
    subset, candidates = (everything, everything) if leaving else np.split(everything, 2)
    scorer = scorer_for(
        np.ascontiguousarray(Z.T), Gaussian(gamma), weights, executor, tile_plan(len(Z), working_memory)
    )
    scorer._setting = replace(scorer._setting, compiled=compiled)
    scorer._round(subset, candidates, Gaussian(gamma), None, leaving=leaving)
    return scorer._current, subset, candidates


def missing_sum(Z, W, gamma, subset, feature, limit, *, leaving):
    """What the expansion leaves out, pair by pair as it is defined."""
    x, a = Z[:, feature], gamma if leaving else -gamma
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            if i == j or max(abs(x[i]), abs(x[j])) <= limit:
                continue
            D = np.square(Z[i, subset] - Z[j, subset]).sum()
            # K g, written so that nothing overflows, K, and K u of the one that is not outlying.
            total += W[i, j] * math.exp(a * (x[i] - x[j]) ** 2 - gamma * D)
            total -= W[i, j] * math.exp(-gamma * D)
            for one in (x[i], x[j]):
                if abs(one) <= limit:
                    total -= W[i, j] * math.exp(-gamma * D) * math.expm1(a * one**2)
    return total


@DIRECTIONS
@pytest.mark.parametrize("memory", [None, 0.05], ids=["one tile", "several tiles"])
def test_the_sums_are_those_of_the_definition(leaving, memory):
    Z, weights = drawn("cauchy", "binary", m=60, d=6)
    gamma, limit, W = 1 / 12, 1.5, weights.matrix()
    with threads(1) as executor:
        current, subset, candidates = formed(Z, weights, gamma, executor, leaving=leaving, working_memory=memory)
        pairs = OutlyingPairs.of(current._pairs, candidates, limit, gamma, current.a)
        values, sizes = pairs.sums(executor)
    assert (pairs.outlying.sum(axis=1) >= 1).all()
    expected = [missing_sum(Z, W, gamma, subset, j, limit, leaving=leaving) for j in candidates]
    np.testing.assert_allclose(values, expected, rtol=1e-10, atol=1e-14 * sizes.max())
    assert (sizes >= np.abs(values)).all()


@DIRECTIONS
@pytest.mark.parametrize("compiled", [False, True], ids=["numpy", "loops"])
@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("columns", COLUMNS)
def test_trimmed_columns_are_as_exact_as_by_exponentials(columns, labels, compiled, leaving):
    if compiled:
        pytest.importorskip("numba")
    Z, weights = drawn(columns, labels)
    with threads(1) as executor:
        gamma = 1 / 24 if leaving else 1 / 2
        current, _, candidates = formed(Z, weights, gamma, executor, leaving=leaving, compiled=compiled)
        used = list(current._families(candidates, 1e-12, 1e-12))
        assert any(isinstance(family, Smooth) and family.limit < math.inf for family in used)
        found, exact = current.expanded(candidates, 1e-12, 1e-12), current.direct(candidates)
        rough = current.expanded(candidates, 0.05, np.inf)
    known = np.isfinite(found.radii)
    assert known.sum() >= len(candidates) - 1
    for one in (found, rough):
        assert (np.abs(one.values - exact.values) <= one.radii + exact.radii)[known].all()
    # On the widest range of features that enter, the terms of the greatest degree don't reach full accuracy.
    assert found.radii[known].max() <= (1e-9 if leaving else 1e-5) * np.abs(weights.matrix()).sum()
    assert rough.radii[known].max() > found.radii[known].max()


@DIRECTIONS
@pytest.mark.parametrize("compiled", [False, True], ids=["numpy", "loops"])
@pytest.mark.parametrize("together", [False, True])
def test_trimmed_columns_with_missing_entries(together, compiled, leaving):
    if compiled:
        pytest.importorskip("numba")
    Z, weights = drawn("cauchy", "binary", d=10)
    rng = np.random.default_rng(1)
    Z[rng.random(Z.shape) < 0.1] = np.nan
    with threads(1) as executor:
        columns = Columns(np.ascontiguousarray(Z.T), np.zeros(10), np.full(10, 2.0), np.ones(10, dtype=bool), together)
        everything = np.arange(10)
        subset, candidates = (everything, everything) if leaving else np.split(everything, 2)
        scorer = scorer_for(columns, Gaussian(0.05), weights, executor)
        scorer._setting = replace(scorer._setting, compiled=compiled)
        scorer._round(subset, candidates, Gaussian(0.05), None, leaving=leaving)
        current = scorer._current
        used = list(current._families(candidates, 1e-12, 1e-12))
        assert any(isinstance(family, Incomplete) and family.limit < math.inf for family in used)
        found, exact = current.expanded(candidates, 1e-12, 1e-12), current.direct(candidates)
    known = np.isfinite(found.radii)
    assert known.sum() >= len(candidates) - 1
    assert (np.abs(found.values - exact.values) <= found.radii + exact.radii)[known].all()
    assert found.radii[known].max() <= 1e-9 * np.abs(weights.matrix()).sum()


def test_what_is_known_of_outlying_pairs_enters_the_intervals():
    Z, weights = drawn("far", "binary")
    with threads(1) as executor:
        current, _, candidates = formed(Z, weights, 1 / 24, executor, leaving=True)
        plain = current.expanded(candidates, 1e-12, 1e-12)
        trimmed = np.zeros(len(candidates), dtype=bool)
        for known in current._outliers.known.values():
            mine = np.isfinite(known[0])
            assert ((known[1][mine] > 0) & (known[1][mine] < 1e-9)).all()
            trimmed |= mine
            known += [[1.0], [5.0]]
        changed = current.expanded(candidates, 1e-12, 1e-12)
    assert trimmed.any()
    np.testing.assert_allclose((changed.values - plain.values)[trimmed], 1.0)
    np.testing.assert_allclose((changed.radii - plain.radii)[trimmed], 5.0)


def test_a_first_look_with_another_limit_is_not_taken_for_the_truth():
    rng = np.random.default_rng(2)
    m, d = 600, 8
    Z = np.where(rng.random((m, d)) < 0.004, 100.0, 1.0) * rng.normal(size=(m, d))
    weights = label_weights(label_kernel(rng.permutation(np.resize([0, 1], m))), "unbiased")
    with threads(1) as executor:
        current, _, candidates = formed(Z, weights, 1 / 2, executor, leaving=False)
        widest = math.sqrt(160) / 2
        Z[5, candidates] = 0.8 * widest
        current, _, candidates = formed(Z, weights, 1 / 2, executor, leaving=False)
        current.few_wanted = True
        first = current.expanded(candidates, 0.05, np.inf)
        then = current.expanded(candidates, 1e-12, 1e-12)
        exact = current.direct(candidates)
        assert sorted(current._outliers.known) == [pytest.approx(0.6 * widest), pytest.approx(widest)]
    for found in (first, then):
        assert (np.abs(found.values - exact.values) <= found.radii + exact.radii).all()


@pytest.mark.parametrize("largest", [1e8, 1e12])
def test_columns_that_dominate_are_made_anew_when_they_leave(largest):
    rng = np.random.default_rng(4)
    m, d = 120, 6
    Z = rng.normal(size=(m, d))
    Z[3, 1], Z[7, 4] = largest, -largest
    weights = label_weights(label_kernel(rng.permutation(np.resize([0, 1], m))), "unbiased")
    with threads(1) as executor:
        current, _, candidates = formed(Z, weights, 1 / 12, executor, leaving=True)
        assert current._outliers.limits(candidates, first_look=False)[[1, 4]].tolist() == [0.0, 0.0]
        plain, _, _ = formed(np.where(np.abs(Z) > 10, 0.0, Z), weights, 1 / 12, executor, leaving=True)
        assert (plain._outliers.limits(candidates, first_look=False) > 0).all()


@pytest.mark.parametrize("selector", [BAHSIC, FOHSIC])
@pytest.mark.parametrize("columns", COLUMNS)
def test_selections_are_those_without_the_expansion(selector, columns, monkeypatch):
    rng = np.random.default_rng(3)
    X = COLUMNS[columns](rng, (200, 40))
    above = np.where(np.median(X, axis=0) < X, 1, -1)
    y = above[:, 0] * above[:, 1] + above[:, 2]
    trimmed = selector(4).fit(X, y)
    monkeypatch.setattr(Outliers, "limits", lambda self, features, *, first_look: np.zeros(len(features)))
    plain = selector(4).fit(X, y)
    assert trimmed.ranking_.tolist() == plain.ranking_.tolist()
    np.testing.assert_allclose(
        [step.hsic for step in trimmed.path_], [step.hsic for step in plain.path_], rtol=1e-9, atol=1e-15
    )


def test_few_outliers_are_cut_off_and_many_are_not():
    """A column is expanded whole, up to the whole range, up to a part of it, or not at all."""
    rng = np.random.default_rng(0)
    m, gamma = 1000, 1 / 8
    widest = math.sqrt(10 / gamma) / 2
    Z = rng.uniform(-1, 1, (m, 5)) * 0.5 * widest
    Z[:300, 1] *= 1.9  # some beyond 0.6 of the range
    Z[:5, 2] = 0.8 * widest  # few
    Z[:50, 3] = 1.5 * widest
    Z[:200, 4] = 1.5 * widest
    weights = label_weights(label_kernel(rng.permutation(np.resize([0, 1], m))), "unbiased")
    with threads(1) as executor:
        current, _, candidates = formed(Z, weights, gamma, executor, leaving=True)
        limits = current._outliers.limits(candidates, first_look=False)
    assert limits.tolist() == [math.inf, math.inf, pytest.approx(0.6 * widest), pytest.approx(widest), 0.0]
