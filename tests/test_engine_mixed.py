"""The engine on mixed tables with missing entries and groups: certified intervals contain the truth."""

import math

import numpy as np
import pytest

from bahsic.criteria.weights import label_weights
from bahsic.data.columns import copies
from bahsic.data.prepared import prepared
from bahsic.engine import Columns, scorer_for, threads
from bahsic.engine.units import Units
from bahsic.kernels import Gaussian, Laplacian, label_kernel
from mixed_oracle import weights_of_labels
from pairwise import ENGINES, pairwise

DIRECTIONS = pytest.mark.parametrize("leaving", [True, False], ids=["leaving", "entering"])
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
        self._remove_entries(self.missing)
        self.y, self.statistic = self.rng.permutation(np.resize([0, 1, 2], m)), statistic
        self.labels, self.kernel = options.get("labels", "multiclass"), options.get("kernel", Gaussian)
        self.weights = self.rng.integers(1, 4, m) if weighted else None
        ends = np.cumsum(np.resize(sizes, d))
        self.groups = np.split(np.arange(d) if sizes == (1,) else self.rng.permutation(d), ends[ends < d])

    def _remove_entries(self, missing):
        """Every other column loses a fifth of its entries, or most of them."""
        for j in range(0, 0 if missing == "error" else self.d, 2):
            n = int(0.6 * self.m) if j % 4 else self.m // 5
            self.X[self.rng.choice(np.arange(self.m), n, replace=False), j] = np.nan

    def columns(self):
        data = prepared(self.X, self.kernel(), categorical_features=self.categorical, missing=self.missing)
        return data.weighted(self.weights).columns

    def label_weights(self):
        return label_weights(label_kernel(self.y, self.labels, self.weights), self.statistic, self.weights)

    def scorer(self, executor):
        groups = None if all(len(group) == 1 for group in self.groups) else self.groups
        units = Units.plain(self.d, groups)
        return scorer_for(self.columns(), self.kernel(), self.label_weights(), executor, units=units)

    def truth(self, gamma, inside, candidates, *, leaving):
        """Changes of the score by definition on the repeated sample, and a bound on their rounding errors."""
        picks = np.repeat(np.arange(self.m), 1 if self.weights is None else self.weights)
        L = label_kernel(self.y[picks], self.labels).gram()
        W = weights_of_labels(L, self.statistic)
        together = self.missing == "indicator"
        given, power = zip(self.X.T, self.categorical, strict=True), self.kernel().power
        D = np.array([distances(x[picks], bool(c), power, together=together) for x, c in given])
        D[:, picks[:, None] == picks] = 0.0  # a sample, and its copies by weights
        total = sum((D[j] for unit in inside for j in self.groups[unit]), np.zeros_like(W))
        before, sign = W * np.exp(-gamma * total), -1 if leaving else 1
        after = [W * np.exp(-gamma * (total + sign * D[self.groups[unit]].sum(axis=0))) for unit in candidates]
        error = [1e-14 * (1 + gamma * total.max()) * (np.abs(K).sum() + np.abs(before).sum()) for K in after]
        return np.array([K.sum() - before.sum() for K in after]), np.array(error)

    def split(self, *, leaving):
        everything = np.arange(len(self.groups))
        return (everything, everything) if leaving else np.split(everything, [len(everything) // 2])

    def size(self, units):
        return sum(len(self.groups[unit]) for unit in units)


def distances(x, categorical, power=2, *, together=False):
    """What a column contributes to D, by definition; ``together``: missing entries are one value."""
    if categorical and together:
        x = np.nan_to_num(x, nan=-1.0)
    seen = ~np.isnan(x)
    if categorical:
        D = (x[:, None] != x).astype(float)
        D *= (2 if power == 2 else 2 / math.sqrt(math.pi)) / D[np.ix_(seen, seen)].mean()
        from_centre = D.max() / 2
    else:
        z = (x - x[seen].mean()) / x[seen].std()
        D = np.abs(np.subtract.outer(z, z)) ** power
        from_centre = np.abs(z - (0.0 if power == 2 else np.sort(z[seen])[(seen.sum() - 1) // 2])) ** power
    mean = D[np.ix_(seen, seen)].mean()
    D[~seen] = np.where(seen, from_centre + mean / 2, 0.0 if together else mean)
    D[:, ~seen] = D[~seen].T
    return D


def check(draw, gamma, *, leaving):
    """Every stage contains the truth, and some stage is exact; what the stages found, and the truth."""
    inside, candidates = draw.split(leaving=leaving)
    with threads(1) as executor:
        scorer, kernel = draw.scorer(executor), draw.kernel(gamma)
        stages, _ = scorer._round(scorer.units.columns(inside), candidates, kernel, kernel, leaving=leaving)
        found = [stage(np.arange(len(candidates))) for stage in stages]
    truth, error = draw.truth(gamma, inside, candidates, leaving=leaving)
    for number, interval in enumerate(found):
        outside = np.abs(interval.values - truth) > interval.radii + error
        assert not outside.any(), (number, interval.values[outside], interval.radii[outside], truth[outside])
    assert np.isfinite(found[-1].radii).all()
    best = np.argmin([interval.radii for interval in found], axis=0)
    values = np.choose(best, [interval.values for interval in found])
    assert np.abs(values - truth).max() <= 1e-8 * np.ptp(truth) + error.max()
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
    for seed in range(2):
        draw = Draw(seed, d=21, sizes=SIZES[sizes], **options)
        for scale in [0.1, 1.0, 8.0]:
            check(draw, scale / 42, leaving=leaving)


@pairwise(leaving=[True, False], labels=LABELS, kernel=POINTWISE, missing=["neutral", "indicator"])
def test_single_precision_decides_between_most_units(labels, leaving, kernel, missing, monkeypatch):
    monkeypatch.setenv("BAHSIC_COMPILED", "always")
    draw = Draw(3, d=80, sizes=(1, 2, 1, 1), labels=labels, kernel=kernel, missing=missing)
    found, truth = check(draw, 1 / 160, leaving=leaving)
    single, double, exact = (np.median(interval.radii) for interval in found)
    assert single < np.ptp(truth) / 50
    assert (double, exact) < (1e-9 * np.ptp(truth), 1e-8 * np.ptp(truth))


@pairwise(leaving=[True, False], kernel=POINTWISE, gamma=[1e-3, 0.05, 1.0, 4.0], engine=ENGINES)
def test_many_categories_and_far_outliers(leaving, kernel, gamma, engine):
    kinds = ["many categories", "outlier", "number", "category"]
    for seed in range(2):
        draw = Draw(seed, kinds=kinds, d=12, m=90, sizes=(1,), missing="error", kernel=kernel, weighted=seed == 1)
        check(draw, gamma, leaving=leaving)


@pairwise(n_codes=[2, 41, 10**5], kernel=POINTWISE, leaving=[True, False], engine=ENGINES)
def test_neighbouring_codes_of_categories_differ_as_much_as_any(n_codes, kernel, leaving, engine):
    """Codes up to what float32 still tells apart."""
    m = 60
    codes = np.array([np.arange(m) % 2, np.arange(m) // 2 % 2]) + n_codes - 2.0
    codes[1, :7] = np.nan
    columns = Columns(codes, np.array([4.0, 3.0]), np.array([0.0, 2.0]), np.array([False, True]))
    labels = label_weights(label_kernel(np.arange(m) // 4 % 2))
    D = np.array([4.0 * (codes[0][:, None] != codes[0]), 3.0 * (codes[1][:, None] != codes[1])])
    D[1, :7] = D[1, :, :7] = 2.5
    D[1, :7, :7] = 2.0
    subset, kernel = np.arange(2) if leaving else np.arange(0), kernel(0.3)
    with threads(1) as executor:
        stages, _ = scorer_for(columns, kernel, labels, executor)._round(
            subset, np.arange(2), kernel, None, leaving=leaving
        )
        found = [stage(np.arange(2)) for stage in stages]
    before = labels.matrix() * np.exp(-0.3 * D[subset].sum(axis=0))
    truth = (before * np.expm1((0.3 if leaving else -0.3) * D)).sum(axis=(1, 2))
    for interval in found:
        assert (np.abs(interval.values - truth) <= interval.radii + 1e-15).all()
        assert (interval.radii < 1e-2 * np.abs(truth)).all()


@pytest.mark.parametrize("neutral", [0.7, 1e9, 1e17])
@pairwise(kernel=POINTWISE, leaving=[True, False], engine=ENGINES)
def test_two_missing_entries_that_lie_together_differ_in_nothing(neutral, kernel, leaving, engine):
    """Not by a rounding error either, however far from the other samples they are."""
    X = np.random.default_rng(1).normal(size=(3, 30))
    X[0, :20] = X[1, 10:] = np.nan
    gaps = np.array([True, True, False])
    columns = Columns(X, np.zeros(3), neutral * gaps, gaps, together=True)
    labels, kernel = label_weights(label_kernel(np.arange(30) % 3)), kernel(5.0)
    D = np.array([np.abs(np.subtract.outer(x, x)) ** kernel.power for x in np.nan_to_num(X)])
    D += neutral / 2 * (np.isnan(X)[:, :, None] != np.isnan(X)[:, None])
    subset = np.arange(3) if leaving else np.arange(2)
    candidates = np.arange(3) if leaving else np.array([2])
    with threads(1) as executor:
        stages, _ = scorer_for(columns, kernel, labels, executor)._round(
            subset, candidates, kernel, None, leaving=leaving
        )
        found = [stage(np.arange(len(candidates))) for stage in stages]
    sides = [np.setdiff1d(subset, [j]) if leaving else np.append(subset, j) for j in candidates]
    after, before = [np.exp(-5.0 * D[side].sum(axis=0)) for side in sides], np.exp(-5.0 * D[subset].sum(axis=0))
    truth = np.array([(labels.matrix() * (one - before)).sum() for one in after])
    for interval in found:
        assert (np.abs(interval.values - truth) <= interval.radii + 1e-16).all()
    assert (found[-1].radii <= 1e-11).all()


@DIRECTIONS
def test_the_gamma_of_a_round_is_for_the_number_of_columns_after_it_on_average(leaving):
    draw = Draw(8, d=14, sizes=(1, 2, 4))
    used = []
    with threads(1) as executor:
        scorer = draw.scorer(executor)
        original = scorer._round

        def noted(columns, candidates, kernel, own, *, leaving):
            used.append((kernel.gamma, own.gamma))
            return original(columns, candidates, kernel, own, leaving=leaving)

        scorer._round = noted
        inside, candidates = draw.split(leaving=leaving)
        (scorer.leaving if leaving else scorer.entering)(inside, candidates, 1)
    size, change = draw.size(inside), np.mean([len(draw.groups[unit]) for unit in candidates])
    after = size - change if leaving else size + change
    assert used == [(pytest.approx(1 / (2 * after)), 1 / (2 * size))]


def test_copies_of_groups_are_evaluated_once():
    draw = Draw(9, d=6, sizes=(2,))
    draw.X = draw.X[:, [0, 1, 2, 3, 1, 0]]
    draw.categorical = draw.categorical[[0, 1, 2, 3, 1, 0]]
    groups = [np.array(group) for group in ([0, 1], [2, 3], [4, 5])]
    assert Units.plain(6, groups).representatives(copies(draw.columns())).tolist() == [0, 1, 0]


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
    weights, gamma = label_weights(label_kernel(y)), min(1.0, scale**-2) / 8
    D = np.array([distances(x, bool(c)) * (1 if c else np.nanvar(x)) for x, c in zip(X.T, categorical, strict=True)])
    inside = np.arange(5) if leaving else np.arange(3)
    candidates = np.arange(5) if leaving else np.arange(3, 5)
    W, before = weights.matrix(), np.exp(-gamma * D[inside].sum(axis=0))
    truth = [(W * before * np.expm1((1 if leaving else -1) * gamma * D[j])).sum() for j in candidates]
    with threads(1) as executor:
        stages, _ = scorer_for(columns, Gaussian(), weights, executor)._round(
            inside, candidates, Gaussian(gamma), None, leaving=leaving
        )
        found = [stage(np.arange(len(candidates))) for stage in stages]
    for interval in found:
        assert (np.abs(interval.values - truth) <= interval.radii + 1e-14 * np.abs(W * before).sum()).all()
    np.testing.assert_allclose(found[-1].values, truth, rtol=1e-7)


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("gamma", [1.0, 1e6])
def test_entering_groups_of_far_samples_and_a_steep_kernel(gamma):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    X[0] = [9, -8, 7, 9, 6, 9]
    X[1], X[2], X[3] = X[0] + 1e-3 * rng.normal(size=6), -X[0], -X[0] + 1e-3 * rng.normal(size=6)
    XT = np.ascontiguousarray(((X - X.mean(axis=0)) / X.std(axis=0)).T)
    weights = label_weights(label_kernel(np.resize([0, 1], 60)))
    pairs = [np.array([0, 1]), np.array([2, 3]), np.array([4, 5])]
    with threads(1) as executor:
        scorer = scorer_for(XT, Gaussian(), weights, executor, units=Units.plain(XT.shape[0], pairs))
        stages, _ = scorer._round(np.arange(0), np.arange(3), Gaussian(gamma), None, leaving=False)
        found = stages[-1](np.arange(3))
    D = np.array([np.subtract.outer(x, x) ** 2 for x in XT])
    truth = np.array([(np.expm1(-gamma * D[pair].sum(axis=0)) * weights.matrix()).sum() for pair in pairs])
    assert (np.abs(found.values - truth) <= found.radii).all()
