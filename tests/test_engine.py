"""The engine: certified intervals contain the truth, and every path agrees with the direct formula."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from bahsic import hsic_weights
from bahsic.engine import scorer_for, threads, tile_plan
from bahsic.kernels import Gaussian, InverseDistance, Laplacian, Linear, Polynomial, label_kernel
from pairwise import ENGINES, pairwise
from rounds import assert_within_bounds, best_values, stages_by, stages_of

EXACT = np.longdouble  # has 64 bits of mantissa on x86; where it is float64, the errors below say so
EPS = np.finfo(EXACT).eps
TINY = np.finfo(np.float64).tiny  # what is smaller is zero, and rightly so


def of_values(values, rng, shape, p=None):
    """All values occur in each row, so that none is constant."""
    XT = rng.choice(values, shape, p=p)
    XT[:, : len(values)] = values
    return rng.permuted(XT, axis=1)


def duplicated(rng, shape):
    XT = rng.normal(size=shape)
    XT[1::2] = XT[: len(XT) // 2 * 2 : 2]
    return XT


def mixed(rng, shape):
    """A row of each of the other kinds in turn."""
    kinds = [kind for kind in COLUMNS.values() if kind is not mixed]
    return np.stack([kinds[i % len(kinds)](rng, (2, shape[1]))[i % 2] for i in range(shape[0])])


COLUMNS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "cauchy": lambda rng, shape: rng.standard_cauchy(shape),
    "lognormal": lambda rng, shape: rng.lognormal(sigma=2.0, size=shape),
    "rare": lambda rng, shape: of_values([0.0, 1.0], rng, shape, p=[0.95, 0.05]),
    "three": lambda rng, shape: of_values([-1.0, 0.5, 7.0], rng, shape),
    "four": lambda rng, shape: of_values([0.0, 1.0, 2.0, 3.0], rng, shape),
    "duplicated": duplicated,
    "tiny": lambda rng, shape: rng.normal(size=shape) * 1e-170,
    "huge": lambda rng, shape: rng.normal(size=shape) * 1e130 + 1e132,
    "mixed": mixed,
}


def standardised(XT):
    """As the selectors prepare them: centred rows of unit variance."""
    XT = XT / np.abs(XT).max(axis=1, keepdims=True)
    XT -= XT.mean(axis=1, keepdims=True)
    return (XT - XT.mean(axis=1, keepdims=True)) / XT.std(axis=1, keepdims=True)


LABELS = {
    "binary": lambda rng, m: rng.permutation(np.resize([0, 1], m)),
    "multiclass": lambda rng, m: rng.permutation(np.resize([0, 1, 2], m)),
    "regression": lambda rng, m: rng.normal(size=m),
    "delta": lambda rng, m: rng.permutation(np.resize([0, 1, 2, 3], m)),
}


def as_weights(matrix):
    """W of any signs and sizes, as an object that the engine reads by blocks."""
    values = np.triu(matrix) + np.triu(matrix, 1).T
    return SimpleNamespace(
        matrix=lambda: values,
        block=lambda rows, cols: values[rows, cols].copy(),
        diagonal=lambda: np.diag(values),
        sample_weight=None,
    )


class Truth:
    """Changes of the score by the definition, in extended precision, with a bound on their error."""

    def __init__(self, XT, weights, kernel, subset):
        self.first, self.second = np.triu_indices(XT.shape[1], 1)
        self.W = weights.matrix()[self.first, self.second].astype(EXACT)
        self.XT, self.gamma = XT.astype(EXACT), EXACT(kernel.gamma)
        self.subset, self.power = subset, kernel.power
        self.D = self.total(subset)
        # Errors of D are relative to it, and where gamma D is large the kernel value is too small to count.
        self.rounding = 8 * EPS * (len(subset) + 20 + min(self.gamma * self.D.max(), 2000))

    def total(self, features):
        return sum((self.contribution(j) for j in features), np.zeros(len(self.W), dtype=EXACT))

    def contribution(self, j):
        x = self.XT[j]
        return np.abs(x[self.first] - x[self.second]) ** self.power

    def change(self, j, *, leaving):
        """Exp(-gamma D) changes by exp(-gamma D) (exp(a d) - 1), written so that nothing overflows."""
        d = self.contribution(j)
        with np.errstate(under="ignore"):
            D = self.D - d if leaving else self.D
            if leaving and self.gamma * d.max() > 1000:
                D = self.total(np.setdiff1d(self.subset, [j]))
            without = np.exp(-self.gamma * np.maximum(D, 0))
            terms = self.W * without * np.expm1(-self.gamma * d)
        sign = -1 if leaving else 1
        return sign * 2 * terms.sum(), 2 * self.rounding * np.abs(self.W * without).sum()

    def changes(self, features, *, leaving):
        found = np.array([self.change(j, leaving=leaving) for j in features], dtype=EXACT)
        return found[:, 0], found[:, 1]


def check_intervals(XT, weights, kernel, subset, candidates, *, leaving, working_memory=None):
    """Every stage contains the truth; what was found, and the truth."""
    found, _ = stages_of(XT, kernel, weights, subset, candidates, leaving=leaving, working_memory=working_memory)
    truth, error = Truth(XT, weights, kernel, subset).changes(candidates, leaving=leaving)
    assert_within_bounds(found, truth, error + TINY)
    return found, truth


def drawn(seed, m, d, columns, labels, statistic="unbiased"):
    rng = np.random.default_rng(seed)
    XT = standardised(COLUMNS[columns](rng, (d, m)))
    return XT, as_weights(hsic_weights(label_kernel(LABELS[labels](rng, m), labels).gram(), statistic))


def split(XT, most, *, leaving):
    """A subset, and at most so many candidates: all features leave, or the second half enters the first."""
    everything = np.arange(len(XT))
    subset, candidates = (everything, everything) if leaving else np.split(everything, [len(XT) // 2])
    return subset, candidates[np.unique(np.linspace(0, len(candidates) - 1, most).astype(int))]


POINTWISE = [Gaussian, Laplacian]

# Times 1/(2 d), the paper's choice.
SCALES = [1e-9, 1e-3, 1.0, 20.0, 1e3, 1e6]

TABLES = [*product(COLUMNS, [(5, 2), (60, 10)]), *(("mixed", shape) for shape in [(5, 10), (60, 60), (300, 80)])]


@pairwise(
    table=TABLES,
    labels=LABELS,
    statistic=["unbiased", "biased"],
    kernel=POINTWISE,
    leaving=[True, False],
    working_memory=[None, 0.04],  # all is kept, or nothing
    engine=ENGINES,
)
def test_intervals_contain_the_truth(table, labels, statistic, kernel, leaving, working_memory, engine):
    columns, (m, d) = table
    XT, weights = drawn(d, m, d, columns, labels, statistic)
    subset, candidates = split(XT, 12, leaving=leaving)
    for scale in SCALES:
        given = kernel(scale / (2 * d)), subset, candidates
        check_intervals(XT, weights, *given, leaving=leaving, working_memory=working_memory)


@pairwise(
    size=[1e-5, 1e-3, 0.05, 1e2, 1e4, 1e6, 1e9, 1e12],
    some=[False, True],
    labels=["binary", "regression"],
    kernel=POINTWISE,
    leaving=[True, False],
    engine=ENGINES,
)
def test_intervals_contain_the_truth_in_other_units(size, some, labels, kernel, leaving, engine):
    """Features that were not standardised, or of which some dominate, with gammas that fit them or do not."""
    XT, weights = drawn(2, 40, 12, "mixed", labels)
    if some:
        XT[[1, 4, 9]] *= [[size], [1.0], [size]]
        XT[7, 3] += size
    else:
        XT *= size
    subset, candidates = split(XT, 12, leaving=leaving)
    fitting = (1 / size) ** kernel().power / 24
    for gamma in [fitting, 1e-4 * fitting, 1 / 24]:
        found, truth = check_intervals(XT, weights, kernel(gamma), subset, candidates, leaving=leaving)
        total = np.abs(weights.matrix()).sum()
        assert found[-1].radii.max() <= 1e-9 * total
        assert np.abs(found[-1].values - truth).max() <= 1e-11 * total


@pairwise(
    shape=[("mixed", 10), ("mixed", 60), ("normal", 300), ("duplicated", 60)],
    labels=LABELS,
    kernel=POINTWISE,
    leaving=[True, False],
    engine=ENGINES,
)
def test_refined_changes_are_exact_to_a_billionth_of_their_spread(shape, labels, kernel, leaving, engine):
    columns, d = shape
    XT, weights = drawn(d, 60, d, columns, labels)
    subset, candidates = split(XT, 24, leaving=leaving)
    for scale in [1e-2, 1.0, 10.0]:
        found, truth = check_intervals(XT, weights, kernel(scale / (2 * d)), subset, candidates, leaving=leaving)
        for values in (best_values(found), found[-1].values):
            assert np.abs(values - truth).max() <= 1e-9 * np.ptp(truth)
        if engine == "loops":  # so float32 decides something
            assert np.median(found[0].radii) < 0.01 * np.ptp(truth)


def weights_of_all_sizes(unit):
    """Some samples count almost nothing, and what is left of their pairs is no normal number."""
    rng = np.random.default_rng(8)
    XT = standardised(COLUMNS["mixed"](rng, (10, 30)))
    counts = np.append(np.ones(4), 10.0 ** rng.integers(-50, 1, 26))
    return XT, unit * rng.normal(size=(30, 30)) * np.multiply.outer(counts, counts), [1e-3, 0.05, 4.0]


def only_a_sample_without_weight_is_far(spread):
    """Contributions of all other pairs are tiny in the unit of the column; times gamma, the largest is about one."""
    XT = spread * np.random.default_rng(9).normal(size=(4, 40))
    XT[:, 0], counts = 1.0, np.append(1e-30, np.ones(39))
    return XT, np.multiply.outer(counts, counts), [0.07, 0.2, 7.0]


def many_columns_with_equal_contributions(values):
    """All sums are of equal terms, so their rounding errors do not cancel."""
    XT = np.random.default_rng(10).choice(values, (3000, 6))
    largest = abs(values[1] - values[0])
    return XT, np.ones((6, 6)), [scale / (1500 * largest**power) for scale in (1, 30) for power in (1, 2)]


def many_samples_with_equal_weights(weight):
    """As for columns; samples of a class lie together."""
    m, rng = 1100, np.random.default_rng(11)
    XT = np.stack([np.where(np.arange(m) < m // 2, -0.7, 0.7), rng.choice([-0.3, 0.3], m)])
    return XT, np.full((m, m), weight), [1e-9, 0.05]


EXTREMES = [
    *((weights_of_all_sizes, unit) for unit in [1e-310, 1e-300, 1e-150, 1e60, 1e290]),
    *((only_a_sample_without_weight_is_far, spread) for spread in [1e-2, 1e-4, 1e-6]),
    *((many_columns_with_equal_contributions, values) for values in [(0.1, -0.1), (0.0, 0.3)]),
    (many_samples_with_equal_weights, 0.1),
]


@pairwise(extreme=EXTREMES, kernel=POINTWISE, leaving=[True, False], engine=ENGINES)
def test_intervals_of_extreme_data(extreme, kernel, leaving, engine):
    make, value = extreme
    XT, W, gammas = make(value)
    subset, candidates = split(XT, 4, leaving=leaving)
    for gamma in gammas:
        check_intervals(XT, as_weights(W), kernel(gamma), subset, candidates, leaving=leaving)


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("leaving", [True, False], ids=["leaving", "entering"])
@pytest.mark.parametrize("kernel", POINTWISE)
def test_a_subset_reached_in_many_steps_is_as_good_as_a_fresh_one(kernel, leaving):
    """D is updated by what left or entered; the errors of the larger D don't stay."""
    XT, weights = drawn(3, 20, 1500, "normal", "regression")
    order, kernel = np.random.default_rng(3).permutation(1500), kernel(1.0)
    sizes = [1400, 1000, 700, 450, 300, 200, 120, 80, 50, 32, 20, 12, 8, 5, 3, 2]
    with threads(1) as executor:
        scorer = scorer_for(XT, kernel, weights, executor)
        for size in sizes if leaving else sizes[::-1]:
            subset = np.sort(order[:size])
            candidates = (subset if leaving else order[size:])[:6]
            found, _ = stages_by(scorer, kernel, subset, candidates, leaving=leaving)
            if size <= 50:
                truth, error = Truth(XT, weights, kernel, subset).changes(candidates, leaving=leaving)
                assert_within_bounds(found[-1:], truth, error + TINY)


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("kernel", POINTWISE)
def test_sums_of_a_round_are_used_again_only_while_they_hold(kernel):
    """Whatever has happened since: another subset, gamma, D with larger errors, or W."""
    rng, (XT, _) = np.random.default_rng(5), drawn(5, 20, 12, "lognormal", "regression")
    XT[0] *= 1e5  # D keeps an error of its own when this column leaves
    choices = [drawn(seed, 20, 12, "normal", "regression")[1] for seed in range(2)]
    subsets = [np.arange(12), np.arange(1, 12), np.arange(2, 12), np.arange(6)]
    with threads(1) as executor:
        weights = choices[0]
        scorer = scorer_for(XT, kernel(0.1), weights, executor)
        for _ in range(80):
            subset, chosen = subsets[rng.integers(4)], kernel([0.1, 1e-3, 1e-9][rng.integers(3)])
            wanted = rng.integers(4)
            if wanted == 0:
                scorer.move(subset, chosen)
            elif wanted == 1:
                weights = choices[rng.integers(2)]
                scorer.weigh(weights)
            else:
                found = scorer.changes(subset, subset[-2:], chosen, leaving=True)
                truth, error = Truth(XT, weights, chosen, subset).changes(subset[-2:], leaving=True)
                assert (np.abs(found.values - truth) <= found.radii + error + TINY).all()
                fresh = scorer_for(XT, chosen, weights, executor)
                assert scorer.total(subset, chosen) == pytest.approx(fresh.total(subset, chosen), abs=1e-12)


def gram(kernel, XT, subset):
    """The kernel matrix of a subset by definition, in extended precision."""
    X = XT[subset].T.astype(EXACT)
    differences = X[:, None, :] - X[None, :, :]
    if isinstance(kernel, Gaussian):
        return np.exp(-EXACT(kernel.gamma) * (differences**2).sum(axis=-1))
    if isinstance(kernel, Laplacian):
        return np.exp(-EXACT(kernel.gamma) * np.abs(differences).sum(axis=-1))
    if isinstance(kernel, InverseDistance):
        return 1 / (EXACT(kernel.offset) + np.sqrt(EXACT(kernel.gamma) * (differences**2).sum(axis=-1)))
    products = (X[:, None, :] * X[None, :, :]).sum(axis=-1)
    if isinstance(kernel, Linear):
        return products
    return (products + EXACT(kernel.coef0)) ** kernel.degree


KERNELS = {
    "gaussian": Gaussian(0.05),
    "laplacian": Laplacian(0.05),
    "laplacian, steep": Laplacian(30.0),
    "linear": Linear(),
    "quadratic": Polynomial(degree=2, coef0=1.0),
    "cubic": Polynomial(degree=3, coef0=0.5),
    "seventh": Polynomial(degree=7, coef0=1.0),
    "inverse": InverseDistance(offset=1.0, gamma=0.1),
}


@pairwise(name=KERNELS, statistic=["unbiased", "biased"], leaving=[True, False], engine=ENGINES)
def test_scores_of_every_kernel_contain_the_truth(name, statistic, leaving, engine):
    """Up to a constant: the differences between candidates are what an order is made of."""
    kernel = KERNELS[name]
    for columns in ["normal", "lognormal", "mixed"]:
        XT, weights = drawn(1, 30, 12, columns, "multiclass", statistic)
        subset, candidates = split(XT, 12, leaving=leaving)
        changed = np.setdiff1d if leaving else np.union1d
        W = weights.matrix().astype(EXACT)
        terms = [gram(kernel, XT, changed(subset, [j])) * W for j in candidates]
        truth = np.array([term.sum() for term in terms])
        error = 1e3 * EPS * np.array([np.abs(term).sum() for term in terms])
        found, score = stages_of(XT, kernel, weights, subset, candidates, leaving=leaving)
        assert score == pytest.approx(float((gram(kernel, XT, subset) * W).sum()), rel=1e-9)
        constant = (found[-1].values - truth).mean()
        slack = 0 if type(kernel) in POINTWISE else found[-1].radii.max() + error.max()
        assert_within_bounds(found, truth + constant, error + slack)
        assert np.abs(found[-1].values - truth - constant).max() <= 1e-9 * np.ptp(truth)


@pytest.mark.parametrize("m", [1, 5, 128, 129, 300])
@pytest.mark.parametrize("working_memory", [0.001, 0.5, 1024])
def test_tiles_cover_every_pair_once(m, working_memory):
    plan = tile_plan(m, working_memory)
    covered = np.zeros((m, m), dtype=int)
    for tile in plan.tiles:
        assert covered[tile.rows, tile.cols].shape == tile.shape
        covered[tile.rows, tile.cols] += 1
    assert (covered[np.triu_indices(m)] == 1).all()
    panels = 8 * 8 * max(tile.shape[0] * tile.shape[1] for tile in plan.tiles)
    assert panels <= max(working_memory * 2**20, 8 * 8 * m)
