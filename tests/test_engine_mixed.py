"""The engine on mixed tables with missing entries and groups: certified intervals contain the truth."""

import math

import numpy as np
import pytest

from bahsic.criteria.weights import label_weights
from bahsic.data.levels import MAX_CATEGORIES, few_levels
from bahsic.data.prepared import prepared
from bahsic.engine import scorer_for, threads, units
from bahsic.engine.gaussian import groups
from bahsic.engine.gaussian import round as rounds
from bahsic.engine.gaussian.bounds import Matrices
from bahsic.engine.gaussian.families import Discrete, Incomplete
from bahsic.engine.gaussian.moments import LowRank
from bahsic.engine.gaussian.series import Grouped, group_norms, series_tails
from bahsic.engine.units import (
    MAX_TERMS,
    QUICK_ERROR,
    QUICK_LARGEST,
    SHORT,
    Units,
    _polynomial,
    expm1_coefficients,
    short_dots,
)
from bahsic.kernels import Gaussian, label_kernel
from mixed_oracle import weights_of_labels
from pairwise import pairwise

DIRECTIONS = pytest.mark.parametrize("leaving", [True, False], ids=["leaving", "entering"])
LABELS = {"multiclass": "of low rank", "delta": "full"}


@pytest.fixture
def every_stage(monkeypatch):
    """All stages, however few the features and samples are."""
    monkeypatch.setattr(rounds, "_CHEAP", 0)


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
    return of_values(rng, m, MAX_CATEGORIES + 3 if kind == "many categories" else int(rng.integers(2, 7)))


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
        self.labels = options.get("labels", "multiclass")
        self.weights = self.rng.integers(1, 4, m) if weighted else None
        ends = np.cumsum(np.resize(sizes, d))
        self.groups = np.split(np.arange(d) if sizes == (1,) else self.rng.permutation(d), ends[ends < d])

    def _remove_entries(self, missing):
        """Every other column loses a fifth of its entries, or most of them."""
        for j in range(0, 0 if missing == "error" else self.d, 2):
            n = int(0.6 * self.m) if j % 4 else self.m // 5
            self.X[self.rng.choice(np.arange(self.m), n, replace=False), j] = np.nan

    def columns(self):
        data = prepared(self.X, Gaussian(), categorical_features=self.categorical, missing=self.missing)
        return data.weighted(self.weights).columns

    def label_weights(self):
        return label_weights(label_kernel(self.y, self.labels, self.weights), self.statistic, self.weights)

    def scorer(self, executor, kernel=None):
        groups = None if all(len(group) == 1 for group in self.groups) else self.groups
        return scorer_for(self.columns(), kernel or Gaussian(), self.label_weights(), executor, groups=groups)

    def truth(self, gamma, inside, candidates, *, leaving):
        """Changes of the score by definition on the repeated sample, and a bound on their rounding errors."""
        picks = np.repeat(np.arange(self.m), 1 if self.weights is None else self.weights)
        L = label_kernel(self.y[picks], self.labels).gram()
        W = weights_of_labels(L, self.statistic)
        together = self.missing == "indicator"
        D = np.array([distances(x[picks], bool(c), together) for x, c in zip(self.X.T, self.categorical, strict=True)])
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


def distances(x, categorical, together=False):
    """What a column contributes to D, by definition; ``together``: missing entries are one value."""
    if categorical and together:
        x = np.nan_to_num(x, nan=-1.0)
    seen = ~np.isnan(x)
    if categorical:
        D = (x[:, None] != x).astype(float)
        D *= 2 / D[np.ix_(seen, seen)].mean()
    else:
        D = np.subtract.outer(x, x) ** 2 / x[seen].var()
    mean = D[np.ix_(seen, seen)].mean()
    from_centre = D[np.ix_(seen, seen)].max() / 2 if categorical else (x - x[seen].mean()) ** 2 / x[seen].var()
    D[~seen] = np.where(seen, from_centre + mean / 2, 0.0 if together else mean)
    D[:, ~seen] = D[~seen].T
    return D


def check(draw, gamma, *, leaving):
    """Every stage contains the truth, and some stage is exact; what the stages found, and the truth."""
    inside, candidates = draw.split(leaving=leaving)
    with threads(1) as executor:
        scorer = draw.scorer(executor)
        kernel = Gaussian(gamma)
        stages, _ = scorer._round(scorer.units.columns(inside), candidates, kernel, kernel, leaving=leaving)
        found = [stage(np.arange(len(candidates))) for stage in stages]
    truth, error = draw.truth(gamma, inside, candidates, leaving=leaving)
    for number, interval in enumerate(found):
        outside = np.abs(interval.values - truth) > interval.radii + error
        assert not outside.any(), (number, interval.values[outside], interval.radii[outside], truth[outside])
    assert np.isfinite([interval.radii for interval in found]).any(axis=0).all()
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
    missing=["neutral", "indicator"],
)
@pytest.mark.usefixtures("every_stage")
def test_every_stage_contains_the_truth(sizes, labels, statistic, leaving, missing):
    options = {"sizes": SIZES[sizes], "labels": labels, "statistic": statistic, "missing": missing}
    for seed, weighted in enumerate([False, True]):
        draw = Draw(seed, d=21, weighted=weighted, **options)
        for scale in [0.1, 1.0, 8.0]:
            check(draw, scale / 42, leaving=leaving)


@DIRECTIONS
@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.usefixtures("every_stage")
def test_every_stage_contains_the_truth_with_many_units(labels, leaving):
    """Enough of them for four stages, of which the first ones are in float32."""
    draw = Draw(3, d=80, sizes=(1,), labels=labels)
    found, truth = check(draw, 1 / 160, leaving=leaving)
    assert len(found) == 4
    known = np.isfinite(found[0].radii)
    assert known.mean() > 0.8
    assert np.median(found[0].radii[known]) < np.ptp(truth)  # so it decides something
    draw = Draw(4, d=80, sizes=(1, 2, 3), labels=labels)
    found, truth = check(draw, 1 / 160, leaving=leaving)
    assert np.median(found[0].radii[np.isfinite(found[0].radii)]) < np.ptp(truth)


@DIRECTIONS
@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.usefixtures("every_stage")
def test_columns_without_an_expansion_are_known_at_once(labels, leaving):
    """Many categories and far outliers: the first stage has their values, which the others are compared with."""
    kinds = ["many categories", "outlier", "number", "category"]
    for seed in range(4):
        draw = Draw(seed, kinds=kinds, d=12, m=90, sizes=(1,), missing="error", labels=labels, weighted=seed % 2 == 1)
        for gamma in (1e-3, 0.05, 1.0, 4.0):
            found, _ = check(draw, gamma, leaving=leaving)
            assert np.isfinite(found[0].radii).all()
            many = draw.split(leaving=leaving)[1] % 4 == 0
            assert (found[0].radii[many] <= 1e-9 * np.abs(draw.label_weights().matrix()).sum()).all()


@DIRECTIONS
@pytest.mark.usefixtures("every_stage")
def test_groups_in_batches_make_no_difference(leaving, monkeypatch):
    draw = Draw(4, d=40, sizes=(1, 2, 3))
    whole, _ = check(draw, 1 / 80, leaving=leaving)
    monkeypatch.setattr(units, "_BLOCK_ENTRIES", 1)
    monkeypatch.setattr(groups, "_SERIES_ENTRIES", 1)
    single, _ = check(draw, 1 / 80, leaving=leaving)
    for one, other in zip(whole, single, strict=True):
        assert np.array_equal(np.isfinite(one.radii), np.isfinite(other.radii))
    sizes = [np.arange(n) for n in (5, 1, 7, 2)]
    assert [np.arange(4)[part].tolist() for part in units.batches(sizes, 3)] == [[0], [1], [2], [3]]


@pytest.mark.usefixtures("every_stage")
def test_every_kind_of_column_has_its_family():
    draw = Draw(0, d=28, sizes=(1,))
    with threads(1) as executor:
        scorer = draw.scorer(executor)
        scorer._round(np.arange(28), np.arange(28), Gaussian(1 / 56), None, leaving=True)
        families = list(scorer._current._families(np.arange(28), 1e-12, 1e-12))
    kinds = {type(family) for family in families}
    assert {Discrete, Incomplete} <= kinds
    members = np.concatenate([family.members for family in families])
    assert len(np.unique(members)) == len(members)
    # What has no expansion are more categories than products are worth, and ranges that are too wide.
    others = np.setdiff1d(np.arange(28), members)
    n_values = np.array([len(np.unique(x[~np.isnan(x)])) for x in draw.X.T])
    many = np.flatnonzero(draw.categorical & (n_values > MAX_CATEGORIES))
    assert len(many) >= 2
    assert others[scorer._setting.ranges[others] < 5].tolist() == many.tolist()
    levels = few_levels(scorer.columns)
    assert any(np.isnan(found.values[:, 0]).any() for found in levels), "missing is nowhere the most frequent value"


# Groups


def round_of(draw, gamma, executor, *, leaving):
    inside, candidates = draw.split(leaving=leaving)
    scorer = draw.scorer(executor)
    scorer._round(scorer.units.columns(inside), candidates, Gaussian(gamma), None, leaving=leaving)
    return scorer._current, draw.truth(gamma, inside, candidates, leaving=leaving), candidates


@pairwise(leaving=[True, False], labels=LABELS, missing=["neutral", "indicator", "error"], share=[0.02, 0.3, 0.999])
def test_groups_in_single_precision(share, missing, labels, leaving):
    """The widest group takes a share of what the polynomial is good for."""
    draw = Draw(5, d=24, sizes=(2, 4, 3), labels=labels, missing=missing)
    with threads(1) as executor:
        reach = draw.scorer(executor)._setting.reach
        gamma = share * QUICK_LARGEST / max(reach[group].sum() for group in draw.groups)
        found, (truth, error), candidates = round_of(draw, gamma, executor, leaving=leaving)
        quick = found.quick([draw.groups[unit] for unit in candidates])
    assert np.isfinite(quick.radii).all()
    assert (np.abs(quick.values - truth) <= quick.radii + error).all()
    assert np.abs(quick.values - truth).max() <= 1e-4 * np.abs(truth).max()


@DIRECTIONS
def test_nothing_is_said_in_single_precision_of_groups_that_are_too_wide(leaving):
    draw = Draw(5, d=24, sizes=(1, 2, 4, 3))
    with threads(1) as executor:
        reach = np.array([draw.scorer(executor)._setting.reach[group].sum() for group in draw.groups])
        gamma = QUICK_LARGEST / np.median(reach)
        found, (truth, error), candidates = round_of(draw, gamma, executor, leaving=leaving)
        quick = found.quick([draw.groups[unit] for unit in candidates])
        assert found.quick([]).values.shape == (0,)
    held = gamma * reach[candidates] <= QUICK_LARGEST
    assert 0 < held.sum() < len(held)
    assert np.array_equal(np.isfinite(quick.radii), held)
    assert (np.abs(quick.values - truth) <= quick.radii + error)[held].all()


@DIRECTIONS
@pytest.mark.parametrize("labels", LABELS)
def test_groups_by_the_series(labels, leaving):
    draw = Draw(6, kinds=["number", "few"], d=36, sizes=(1, 2, 3, 4), labels=labels, missing="error")
    gamma = 1 / 72
    with threads(1) as executor:
        found, (truth, error), candidates = round_of(draw, gamma, executor, leaving=leaving)
        groups = [draw.groups[unit] for unit in candidates]
        errors = []
        for tail in [1e-1, 1e-2, 1e-3, 1e-4]:
            families = list(found._group_families(groups, tail))
            assert all(isinstance(family, Grouped) for family in families)
            values, radii = found._evaluated(families, len(groups))
            assert (np.abs(values - truth) <= radii + error).all()
            errors.append(np.median(radii[np.isfinite(radii)]))
    assert np.isfinite(errors).all()
    assert np.all(np.diff(errors) <= 0)
    assert errors[0] > 10 * errors[-1]


def test_groups_by_the_series_have_no_special_columns():
    draw = Draw(7, kinds=["number", "category"], d=12, sizes=(2,), missing="error")
    with threads(1) as executor:
        found, _, _ = round_of(draw, 1 / 24, executor, leaving=True)
        families = list(found._group_families(draw.groups, 0.5))
    plain = [unit for unit, group in enumerate(draw.groups) if not draw.categorical[group].any()]
    assert plain
    assert [family.members.tolist() for family in families] == [plain]


@pairwise(a=[0.003, -0.003, 0.4, -0.4], order=[1, 2, 4], parallel=[True, False])
def test_tails_of_the_series_bound_what_is_left_out(a, order, parallel):
    """For the worst matrix: the signs of what is left out at each pair of samples; samples are worst on one line."""
    rng = np.random.default_rng(order)
    X = np.ones((3, 1)) * rng.choice([-1.0, 1.0], 40) if parallel else rng.normal(size=(3, 40))
    inner, norms = X.T @ X, (X**2).sum(axis=0)
    series = sum((-2 * a * inner) ** k / math.factorial(k) for k in range(order + 1))
    left_out = np.exp(a * (norms[:, None] + norms)) * (np.exp(-2 * a * inner) - series)
    nothing = LowRank(np.empty((40, 0)), np.empty((0, 0)), np.zeros(40), np.zeros(40), 0.0)
    for M in [np.sign(left_out), rng.normal(size=(1, 40)) * np.sign(left_out) * rng.normal(size=(40, 1))]:
        M = (M + M.T) / 2  # noqa: PLW2901
        matrices = Matrices(M.sum(axis=1), np.abs(M).sum(axis=1), 0.0, nothing, 0.0)
        (bound,) = series_tails(norms[None], a, order, matrices)
        assert np.abs((M * left_out).sum()) <= bound
    assert group_norms(np.abs(X).max(axis=1), np.array([[0, 2]])) >= (X[[0, 2]] ** 2).sum(axis=0).max()


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("largest", [0.0, 1e-9, 1e-3, 0.1, 0.7, 2.0, 3.3, QUICK_LARGEST])
def test_polynomial_of_the_exponential(largest, sign):
    """Relative to abs(a D) exp(largest), what the radius of a group is made of."""
    a = 0.37 * sign
    coefficients = expm1_coefficients(a, largest)
    assert len(coefficients) <= MAX_TERMS
    D = np.linspace(0, largest / abs(a), 1001)
    in_double = sum(float(c) * (a * D) ** (k + 1) for k, c in enumerate(coefficients))
    in_single = _polynomial((a * D).astype(np.float32), coefficients, out=np.empty(1001, np.float32))
    size = np.abs(a * D) * math.exp(largest)
    rounding = np.finfo(np.float32).eps
    assert (np.abs(in_double - np.expm1(a * D)) <= (QUICK_ERROR + rounding) * size).all()
    assert (np.abs(in_single - np.expm1(a * D)) <= (QUICK_ERROR + 2 * MAX_TERMS * rounding) * size).all()


@pytest.mark.parametrize("n", [1, SHORT - 1, SHORT, 5 * SHORT + 7])
def test_short_dots(n):
    rng = np.random.default_rng(n)
    rows, vector = rng.normal(size=(3, n)).astype(np.float32), rng.normal(size=n).astype(np.float32)
    exact = rows.astype(float) @ vector.astype(float)
    bound = SHORT * np.finfo(np.float32).eps / 2 * (np.abs(rows.astype(float)) @ np.abs(vector.astype(float)))
    assert (np.abs(short_dots(rows, vector) - exact) <= bound).all()


def test_short_dots_of_many_do_not_lose_what_is_small():
    """In float32 throughout, the sum would stop growing at 2**24."""
    ones = np.ones(2**24 + 2**22, dtype=np.float32)
    assert short_dots(ones[None], ones).tolist() == [len(ones)]


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
    assert Units(draw.columns(), groups).representatives.tolist() == [0, 1, 0]


# Units of measurement


@DIRECTIONS
@pytest.mark.parametrize("scale", [1e9, 1e-9, 1e100])
def test_categories_beside_numbers_in_any_unit(scale, leaving):
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
    np.testing.assert_allclose(found[0].values, truth, rtol=1e-7)


@pytest.mark.parametrize("gamma", [1.0, 1e4, 1e6])
def test_entering_groups_of_far_samples_and_a_steep_kernel(gamma):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    X[0] = [9, -8, 7, 9, 6, 9]
    X[1], X[2], X[3] = X[0] + 1e-3 * rng.normal(size=6), -X[0], -X[0] + 1e-3 * rng.normal(size=6)
    XT = np.ascontiguousarray(((X - X.mean(axis=0)) / X.std(axis=0)).T)
    weights = label_weights(label_kernel(np.resize([0, 1], 60)))
    pairs = [np.array([0, 1]), np.array([2, 3]), np.array([4, 5])]
    with threads(1) as executor:
        scorer = scorer_for(XT, Gaussian(), weights, executor, groups=pairs)
        stages, _ = scorer._round(np.arange(0), np.arange(3), Gaussian(gamma), None, leaving=False)
        found = stages[0](np.arange(3))
    assert np.isfinite(found.radii).all()
    D = np.array([np.subtract.outer(x, x) ** 2 for x in XT])
    truth = np.array([(np.expm1(-gamma * D[pair].sum(axis=0)) * weights.matrix()).sum() for pair in pairs])
    assert (np.abs(found.values - truth) <= found.radii).all()


@pytest.mark.usefixtures("every_stage")
def test_groups_in_single_precision_do_not_depend_on_the_unit():
    XT = np.random.default_rng(0).normal(size=(6, 50))
    weights = label_weights(label_kernel(np.resize([0, 1], 50)))
    pairs = [np.array([0, 1]), np.array([2, 3]), np.array([4, 5])]
    found = []
    for unit in (1.0, 1000.0):
        with threads(1) as executor:
            scorer = scorer_for(unit * XT, Gaussian(), weights, executor, groups=pairs)
            scorer._round(np.arange(6), np.arange(3), Gaussian(0.03 / unit**2), None, leaving=True)
            found.append(scorer._current.quick(pairs))
    assert np.isfinite(found[0].radii).all()
    assert found[1].values == pytest.approx(found[0].values, rel=1e-5)
