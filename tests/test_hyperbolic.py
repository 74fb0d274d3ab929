"""Laplacian scores by hyperbolic functions: error bounds hold in each stage, and are small enough to decide."""

import numpy as np
import pytest
from sklearn import config_context

from bahsic import BAHSIC, FOHSIC
from bahsic.criteria.blocks import block_weights
from bahsic.criteria.prediction import ResidualWeights
from bahsic.criteria.weights import label_weights
from bahsic.data.columns import Columns
from bahsic.engine import scorer_for, threads, tile_plan
from bahsic.engine.hyperbolic import MAX_EXPONENT, HyperbolicChanges, sine_sums
from bahsic.engine.laplacian import LaplacianScorer
from bahsic.engine.scratch import Scratch
from bahsic.kernels import Laplacian, label_kernel
from pairwise import pairwise

EXACT = np.longdouble  # has 64 bits of mantissa on x86
EPS = np.finfo(EXACT).eps
TINY = np.finfo(np.float64).tiny
DTYPES = (np.float32, np.float64)


COLUMNS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "lognormal": lambda rng, shape: rng.lognormal(sigma=2.0, size=shape),
    "cauchy": lambda rng, shape: rng.standard_cauchy(shape),
    "rare": lambda rng, shape: np.where(rng.random(shape) < 0.1, 1.0, rng.normal(size=shape) * 1e-9),
    "units": lambda rng, shape: rng.normal(size=shape) * 10.0 ** rng.integers(-40, 3, (shape[0], 1)),
}


def columns_of(kind, rng, shape):
    XT = COLUMNS[kind](rng, shape)
    XT = XT - XT.mean(axis=1, keepdims=True)
    if kind != "units":
        XT = XT / XT.std(axis=1, keepdims=True)
    return XT - XT.mean(axis=1, keepdims=True)


WEIGHTS = {
    "classes": lambda rng, m: label_weights(label_kernel(np.resize([0, 1], m), "binary")),
    "biased": lambda rng, m: label_weights(label_kernel(np.resize([0, 1, 2], m), "multiclass"), "biased"),
    "numbers": lambda rng, m: label_weights(label_kernel(rng.normal(size=m), "regression")),
    "frequencies": lambda rng, m: label_weights(
        label_kernel(rng.normal(size=m), "regression"), "unbiased", rng.integers(1, 9, m)
    ),
    "blocks": lambda rng, m: block_weights(label_kernel(np.resize([0, 1, 1], m), "binary"), starts_of(m)),
    "residuals": lambda rng, m: ResidualWeights(rng.normal(size=(m, 2)) * 1e-3),
    "tiny": lambda rng, m: ResidualWeights(rng.normal(size=(m, 2)) * 1e-21),
}


def starts_of(m):
    return (0, m // 2)


def true_changes(XT, W, gamma, subset, candidates, *, leaving):
    """Sums of W K (E - 1) by the definition, in extended precision, and a bound on their own error."""
    first, second = np.triu_indices(XT.shape[1], 1)
    W = W[first, second].astype(EXACT)
    XT, gamma = XT.astype(EXACT), EXACT(gamma)
    distance = {j: np.abs(XT[j, first] - XT[j, second]) for j in {*subset.tolist(), *candidates.tolist()}}
    D = sum((distance[j] for j in subset.tolist()), np.zeros(len(W), dtype=EXACT))
    values, errors = [], []
    for j in candidates.tolist():
        rest = D - distance[j] if leaving else D
        terms = (-2 if leaving else 2) * W * np.exp(-gamma * rest) * np.expm1(-gamma * distance[j])
        values.append(terms.sum())
        reach = 40 + len(subset) + gamma * D.max()
        errors.append(8 * EPS * reach * np.abs(2 * W * np.exp(-gamma * rest)).sum())
    return np.array(values), np.array(errors) + TINY


def split(d, *, leaving):
    everything = np.arange(d)
    return (everything, everything) if leaving else (everything[: d // 2], everything[d // 2 :])


@pairwise(kind=COLUMNS, weights=WEIGHTS, leaving=[True, False], memory=[None, 0.1])
def test_true_errors_are_within_the_radii(kind, weights, leaving, memory):
    rng = np.random.default_rng(len(kind) + 10 * len(weights))
    for m, d in [(8, 4), (60, 12), (140, 6)]:
        XT, W = columns_of(kind, rng, (d, m)), WEIGHTS[weights](rng, m)
        starts = starts_of(m) if weights == "blocks" else (0,)
        subset, candidates = split(d, leaving=leaving)
        for scale in [1e-9, 1e-3, 1.0, 5.0, 100.0]:
            gamma = scale / (2 * d)
            with threads(1) as executor:
                plan = tile_plan(m, memory, starts)
                scorer = scorer_for(XT, Laplacian(gamma), WEIGHTS["classes"](rng, m), executor, plan)
                scorer.weigh(W)
                stages, _ = scorer._round(subset, candidates, Laplacian(gamma), None, leaving=leaving)
                found = [stage(np.arange(len(candidates))) for stage in stages]
            truth, error = true_changes(XT, W.matrix(), gamma, subset, candidates, leaving=leaving)
            smooth = gamma * scorer.columns.ranges[candidates] <= MAX_EXPONENT
            assert len(found) == 3
            assert np.isfinite(found[0].radii).all()
            assert np.array_equal(np.isfinite(found[1].radii), smooth)
            assert np.isfinite(found[2].radii).all()
            for number, stage in enumerate(found):
                outside = np.abs(stage.values - truth) > stage.radii + error
                assert not outside.any(), (number, stage.values[outside], stage.radii[outside], truth[outside])


@pytest.mark.parametrize("leaving", [True, False], ids=["leaving", "entering"])
def test_each_stage_is_sharper_than_the_one_before(leaving):
    rng = np.random.default_rng(1)
    XT, W = columns_of("normal", rng, (40, 200)), WEIGHTS["numbers"](rng, 200)
    subset, candidates = split(40, leaving=leaving)
    with threads(1) as executor:
        kernel = Laplacian(1 / 80)
        scorer = scorer_for(XT, kernel, W, executor)
        stages, _ = scorer._round(subset, candidates, kernel, None, leaving=leaving)
        first, second, _ = (stage(np.arange(len(candidates))) for stage in stages)
    spread = np.ptp(second.values)
    assert first.radii.max() < 0.02 * spread
    assert second.radii.max() < 1e-9 * spread
    assert (first.radii > 1e5 * second.radii).all()


def test_columns_of_other_kinds_are_exact_at_once():
    """Categories, missing entries, wide columns and groups leave the first stage as exact as the last."""
    rng = np.random.default_rng(2)
    m, neutral = 60, 0.5
    XT = columns_of("normal", rng, (6, m))
    XT[1, :5] = np.nan
    XT[2] = rng.integers(0, 3, m)
    XT[3] *= 1e4
    different = np.where(np.arange(6) == 2, 1.5, 0.0)
    columns = Columns(XT, different, np.where(np.arange(6) == 1, neutral, 0.0), np.arange(6) == 1)
    groups = [np.array([0]), np.array([1]), np.array([2]), np.array([3]), np.array([4, 5])]
    with threads(1) as executor:
        kernel = Laplacian(0.1)
        scorer = scorer_for(columns, kernel, WEIGHTS["classes"](rng, m), executor, groups=groups)
        stages, _ = scorer._round(np.arange(6), np.arange(5), kernel, None, leaving=True)
        first, second, expected = (stage(np.arange(5)) for stage in stages)
    assert np.isfinite(second.radii).tolist() == [True] + 4 * [False]
    assert np.array_equal(first.values[1:], expected.values[1:])
    assert np.abs(first.values - expected.values)[0] <= first.radii[0] + expected.radii[0]


@pytest.mark.parametrize("selector", [BAHSIC, FOHSIC])
@pytest.mark.parametrize("memory", [1024, 0.3])
@pytest.mark.parametrize("options", [{}, {"criterion": "prediction"}, {"block_size": 50, "random_state": 0}], ids=str)
def test_fits_are_those_of_the_exact_stage_for_any_number_of_threads(selector, options, memory, monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 30))
    y = (X[:, 3] * X[:, 7] + X[:, 11] > 0).astype(int)
    options = {"kernel": "laplacian", "step": 1, **options}
    with config_context(working_memory=memory):
        fits = [selector(4, n_jobs=n_jobs, **options).fit(X, y) for n_jobs in (1, 2)]
        monkeypatch.setattr(LaplacianScorer, "_is_smooth", lambda self, features, gamma: np.zeros(len(features), bool))
        fits.append(selector(4, n_jobs=1, **options).fit(X, y))
    assert np.array_equal(*(fitted.ranking_ for fitted in fits[1:]))
    assert fits[0].path_ == fits[1].path_
    assert np.array_equal(fits[0].scores_, fits[1].scores_, equal_nan=True)


def test_most_candidates_are_decided_in_float32(monkeypatch):
    counts, changes = dict.fromkeys(DTYPES, 0), HyperbolicChanges.__call__

    def counted(self, features, dtype):
        counts[dtype] += len(features)
        return changes(self, features, dtype)

    monkeypatch.setattr(HyperbolicChanges, "__call__", counted)
    rng = np.random.default_rng(4)
    X = rng.normal(size=(200, 100))
    BAHSIC(5, kernel="laplacian").fit(X, X[:, 0] * X[:, 1] > 0)
    assert 0 < counts[np.float64] < 0.2 * counts[np.float32]


@pytest.mark.parametrize("dtype", DTYPES)
def test_sine_sums_by_definition(dtype):
    rng = np.random.default_rng(5)
    left, right, M = (rng.normal(size=shape).astype(dtype) for shape in [(3, 7, 2), (3, 2, 9), (7, 9)])
    expected = np.einsum("ij,kij->k", M, np.abs(np.einsum("kit,ktj->kij", left, right)))
    assert np.allclose(sine_sums(left, right, M, Scratch()), expected, rtol=50 * np.finfo(dtype).eps)
