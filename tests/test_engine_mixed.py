"""The engine on mixed tables with missing entries and groups: certified intervals contain the truth."""

import numpy as np
import pytest

import mixed_oracle
from bahsic import hsic_weights
from bahsic.data.prepared import prepared
from bahsic.engine import Columns, Units
from bahsic.kernels import Gaussian, Laplacian, label_kernel
from pairwise import ENGINES, pairwise
from rounds import assert_within_bounds, best_values, stages_of
from test_engine import as_weights

LABELS = ["multiclass", "delta"]
POINTWISE = [Gaussian, Laplacian]


def of_values(rng, m, n):
    """A column of n codes, all of which occur."""
    return rng.permutation(np.concatenate([np.arange(n), rng.integers(0, n, m - n)])).astype(float)


def column(kind, rng, m):
    if kind == "number":
        return rng.normal(size=m)
    if kind == "outlier":
        return rng.standard_cauchy(m)
    if kind == "few":
        return of_values(rng, m, int(rng.integers(2, 5)))
    return of_values(rng, m, m - 10 if kind == "many categories" else int(rng.integers(2, 7)))


KINDS = ["number", "number", "few", "category", "outlier", "number", "many categories"]


class Draw:
    """A table, groups of its columns, labels and weights; what the engine makes of them, and the definition."""

    def __init__(
        self, seed, *, kinds=KINDS, d=14, m=60, sizes=(1, 2, 3, 4), weighted=False, statistic="unbiased", **options
    ):
        self.rng, self.m, self.d = np.random.default_rng(seed), m, d
        self.categorical = np.array([kinds[j % len(kinds)].endswith(("category", "categories")) for j in range(d)])
        self.X = np.column_stack([column(kinds[j % len(kinds)], self.rng, m) for j in range(d)])
        self.missing = options.get("missing", "neutral")
        for j in range(0, 0 if self.missing == "error" else d, 2):  # a fifth of the entries is missing, or most
            n = int(0.6 * m) if j % 4 else m // 5
            self.X[self.rng.choice(np.arange(m), n, replace=False), j] = np.nan
        self.y, self.statistic = self.rng.permutation(np.resize([0, 1, 2], m)), statistic
        self.labels, self.kernel = options.get("labels", "multiclass"), options.get("kernel", Gaussian)
        self.weights = self.rng.integers(1, 4, m) if weighted else None
        ends = np.cumsum(np.resize(sizes, d))
        self.groups = np.split(np.arange(d) if sizes == (1,) else self.rng.permutation(d), ends[ends < d])

    def stages(self, gamma, inside, candidates, *, leaving):
        data = prepared(self.X, self.kernel(), categorical_features=self.categorical, missing=self.missing)
        L = label_kernel(self.y, self.labels, self.weights).gram()
        W = as_weights(hsic_weights(L, self.statistic, sample_weight=self.weights))
        units = Units.plain(self.d, None if all(len(group) == 1 for group in self.groups) else self.groups)
        given = data.weighted(self.weights).columns, self.kernel(gamma), W, units.columns(inside), candidates
        return stages_of(*given, leaving=leaving, units=units)[0]

    def truth(self, gamma, inside, candidates, *, leaving):
        """Changes of the score by definition on the repeated sample, and a bound on their rounding errors."""
        picks = np.repeat(np.arange(self.m), 1 if self.weights is None else self.weights)
        L = label_kernel(self.y[picks], self.labels).gram()
        W = mixed_oracle.weights_of_labels(L, self.statistic)
        given = mixed_oracle.as_columns(self.X[picks]), self.categorical, self.kernel().power
        D = mixed_oracle.totals(*given, samples=picks.tolist(), together=self.missing == "indicator")
        total = sum((D[j] for unit in inside for j in self.groups[unit]), np.zeros_like(W))
        before, sign = W * np.exp(-gamma * total), -1 if leaving else 1
        after = [W * np.exp(-gamma * (total + sign * D[self.groups[unit]].sum(axis=0))) for unit in candidates]
        error = [1e-14 * (1 + gamma * total.max()) * (np.abs(K).sum() + np.abs(before).sum()) for K in after]
        return np.array([K.sum() - before.sum() for K in after]), np.array(error)

    def split(self, *, leaving):
        everything = np.arange(len(self.groups))
        return (everything, everything) if leaving else np.split(everything, [len(everything) // 2])


def check(draw, gamma, *, leaving):
    """Every stage contains the truth, and some stage is exact; what the stages found, and the truth."""
    inside, candidates = draw.split(leaving=leaving)
    found = draw.stages(gamma, inside, candidates, leaving=leaving)
    truth, error = draw.truth(gamma, inside, candidates, leaving=leaving)
    assert_within_bounds(found, truth, error)
    assert np.abs(best_values(found) - truth).max() <= 1e-8 * np.ptp(truth) + error.max()
    return found, truth


SIZES = {"columns": (1,), "pairs": (2,), "any": (1, 2, 4, 3)}


@pairwise(
    leaving=[True, False],
    sizes=SIZES,
    labels=LABELS,
    statistic=["unbiased", "biased"],
    missing=["neutral", "indicator", "error"],
    kernel=POINTWISE,
    weighted=[True, False],
    engine=ENGINES,
)
def test_every_stage_contains_the_truth(sizes, labels, statistic, missing, kernel, weighted, leaving, engine):
    options = {"labels": labels, "statistic": statistic, "missing": missing, "kernel": kernel, "weighted": weighted}
    for seed, m in enumerate([58, 61, 63]):  # loops take four rows at once
        draw = Draw(seed, d=21, m=m, sizes=SIZES[sizes], **options)
        for scale in [0.1, 1.0, 8.0, 100.0]:
            check(draw, scale / 42, leaving=leaving)


@pairwise(leaving=[True, False], labels=LABELS, kernel=POINTWISE, missing=["neutral", "indicator"])
def test_single_precision_decides_between_most_units(labels, leaving, kernel, missing, monkeypatch):
    monkeypatch.setenv("BAHSIC_COMPILED", "always")
    draw = Draw(3, d=80, m=270, sizes=(1, 2, 1, 1), labels=labels, kernel=kernel, missing=missing)
    found, truth = check(draw, 1 / 160, leaving=leaving)
    single, double, exact = (np.median(interval.radii) for interval in found)
    assert single < np.ptp(truth) / 50
    assert (double, exact) < (1e-9 * np.ptp(truth), 1e-8 * np.ptp(truth))


@pairwise(n_codes=[2, 41, 10**5], kernel=POINTWISE, leaving=[True, False], engine=ENGINES)
def test_neighbouring_codes_of_categories_differ_as_much_as_any(n_codes, kernel, leaving, engine):
    """Codes up to what float32 still tells apart."""
    m = 60
    codes = np.array([np.arange(m) % 2, np.arange(m) // 2 % 2]) + n_codes - 2.0
    codes[1, :7] = np.nan
    columns = Columns(codes, np.array([4.0, 3.0]), np.array([0.0, 2.0]), np.array([False, True]))
    W = hsic_weights(label_kernel(np.arange(m) // 4 % 2).gram())
    D = np.array([4.0 * (codes[0][:, None] != codes[0]), 3.0 * (codes[1][:, None] != codes[1])])
    D[1, :7] = D[1, :, :7] = 2.5
    D[1, :7, :7] = 2.0
    subset, kernel = np.arange(2) if leaving else np.arange(0), kernel(0.3)
    found, _ = stages_of(columns, kernel, as_weights(W), subset, np.arange(2), leaving=leaving)
    before = W * np.exp(-0.3 * D[subset].sum(axis=0))
    truth = (before * np.expm1((0.3 if leaving else -0.3) * D)).sum(axis=(1, 2))
    assert_within_bounds(found, truth, 1e-15)
    for interval in found:
        assert (interval.radii < 1e-2 * np.abs(truth)).all()


@pytest.mark.parametrize("neutral", [0.7, 1e9, 1e17])
@pairwise(kernel=POINTWISE, leaving=[True, False], engine=ENGINES)
def test_two_missing_entries_that_lie_together_differ_in_nothing(neutral, kernel, leaving, engine):
    """Not by a rounding error either, however far from the other samples they are."""
    X = np.random.default_rng(1).normal(size=(3, 30))
    X[0, :20] = X[1, 10:] = np.nan
    gaps = np.array([True, True, False])
    columns = Columns(X, np.zeros(3), neutral * gaps, gaps, together=True)
    W, kernel = hsic_weights(label_kernel(np.arange(30) % 3).gram()), kernel(5.0)
    D = np.array([np.abs(np.subtract.outer(x, x)) ** kernel.power for x in np.nan_to_num(X)])
    D += neutral / 2 * (np.isnan(X)[:, :, None] != np.isnan(X)[:, None])
    subset = np.arange(3) if leaving else np.arange(2)
    candidates = np.arange(3) if leaving else np.array([2])
    found, _ = stages_of(columns, kernel, as_weights(W), subset, candidates, leaving=leaving)
    sides = [np.setdiff1d(subset, [j]) if leaving else np.append(subset, j) for j in candidates]
    after, before = [np.exp(-5.0 * D[side].sum(axis=0)) for side in sides], np.exp(-5.0 * D[subset].sum(axis=0))
    assert_within_bounds(found, np.array([(W * (one - before)).sum() for one in after]), 1e-16)
    assert (found[-1].radii <= 1e-11).all()


# Units of measurement


@pairwise(scale=[1e9, 1e-9, 1e100], leaving=[True, False], engine=ENGINES)
def test_categories_beside_numbers_in_any_unit(scale, leaving, engine):
    """Without standardising, the numbers decide; categories and missing entries still count what they should."""
    rng = np.random.default_rng(0)
    X = np.column_stack([of_values(rng, 40, 4), scale * rng.normal(size=(40, 3)), of_values(rng, 40, 2)])
    X[::5, 0] = X[1::4, 1] = np.nan
    categorical = np.array([True, False, False, False, True])
    y = np.resize([0, 1, 2], 40)
    options = {"standardize": False, "categorical_features": categorical, "missing": "neutral"}
    columns = prepared(X, Gaussian(), **options).columns
    W, gamma = hsic_weights(label_kernel(y).gram()), min(1.0, scale**-2) / 8
    D = mixed_oracle.totals(mixed_oracle.as_columns(X), categorical, 2, standardize=False)
    inside = np.arange(5) if leaving else np.arange(3)
    candidates = np.arange(5) if leaving else np.arange(3, 5)
    before = np.exp(-gamma * D[inside].sum(axis=0))
    truth = [(W * before * np.expm1((1 if leaving else -1) * gamma * D[j])).sum() for j in candidates]
    found, _ = stages_of(columns, Gaussian(gamma), as_weights(W), inside, candidates, leaving=leaving)
    assert_within_bounds(found, np.array(truth), 1e-14 * np.abs(W * before).sum())
    np.testing.assert_allclose(found[-1].values, truth, rtol=1e-7)
