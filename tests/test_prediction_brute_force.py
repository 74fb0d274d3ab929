"""Elimination and selection by prediction equal brute force of the written rule, on many random cases."""

from dataclasses import dataclass
from itertools import islice

import numpy as np
import pytest

import brute_force
import mixed_oracle
import prediction_oracle
from bahsic import BAHSIC, FOHSIC
from bahsic.kernels import Gaussian, Laplacian, Linear, Polynomial, label_kernel

N_CASES = 300


def inner(D, Z, columns):
    return Z[:, columns] @ Z[:, columns].T


def distances(D, Z, columns):
    return D[columns].sum(axis=0)


def median_gamma(D):
    """1 / (2 median^2) of the distances of the pairs i < j, of the non-zero ones if it is zero."""
    roots = np.sqrt(D[np.triu_indices(len(D), 1)])
    found = np.median(roots) or (np.median(roots[roots > 0]) if roots.any() else 0.0)
    return 1 / (2 * found**2) if found else 1.0


# Our kernel, the power of its distances, and the matrix by definition: of D (d, m, m), the columns Z, those of the
# subset, the size that the rule is for, and the columns that it is evaluated on.
KERNELS = {
    "gaussian": ("gaussian", 2, lambda D, Z, S, size, R: np.exp(-distances(D, Z, S) / (2 * size))),
    "laplacian": ("laplacian", 1, lambda D, Z, S, size, R: np.exp(-distances(D, Z, S) / (2 * size))),
    "gaussian 0.3": (Gaussian(0.3), 2, lambda D, Z, S, size, R: np.exp(-0.3 * distances(D, Z, S))),
    "laplacian 2": (Laplacian(2.0), 1, lambda D, Z, S, size, R: np.exp(-2 * distances(D, Z, S))),
    "median": (
        Gaussian("median"),
        2,
        lambda D, Z, S, size, R: np.exp(-median_gamma(distances(D, Z, R)) * len(R) / size * distances(D, Z, S)),
    ),
    "linear": ("linear", 2, lambda D, Z, S, size, R: inner(D, Z, S)),
    "polynomial": (Polynomial(degree=2), 2, lambda D, Z, S, size, R: (inner(D, Z, S) + 1) ** 2),
    "cubic": (Polynomial(degree=3, coef0=0.5), 2, lambda D, Z, S, size, R: (inner(D, Z, S) + 0.5) ** 3),
    "inverse": ("inverse_distance", 2, lambda D, Z, S, size, R: 1 / (1 + np.sqrt(distances(D, Z, S) / (2 * size)))),
    "sum": (
        Gaussian("dimension") + Linear(),
        2,
        lambda D, Z, S, size, R: np.exp(-distances(D, Z, S) / (2 * size)) + inner(D, Z, S),
    ),
}
POINTWISE = ["gaussian", "laplacian", "gaussian 0.3", "laplacian 2", "median"]


def random_column(rng, m, columns, *, mixed):
    """Entries of a column, and whether they are categories."""
    kind = rng.integers(8)
    if kind == 0 and columns:
        return columns[rng.integers(len(columns))]
    if kind == 1:
        return [float(rng.normal())] * m, False
    if kind in (2, 3):
        return rng.integers(0, kind + 1, m).astype(float).tolist(), bool(mixed and rng.random() < 0.7)
    column = (rng.normal(size=m) * 10.0 ** rng.integers(-3, 4) + rng.normal() * 10).tolist()
    if mixed and rng.random() < 0.4:
        column[rng.integers(m)] = column[rng.integers(m)] = None
    return column, False


def survival_times(rng, m):
    found = np.zeros(m, dtype=[("event", bool), ("time", float)])
    found["event"], found["time"] = rng.random(m) < 0.7, rng.integers(1, 9, m)
    found["event"][:2] = True
    return found


def mixed_outputs(noisy, classes, repeated):
    """Labels of a number and a class, and their features: the squared lengths of each sum to one."""
    n, counts = len(repeated), np.bincount(classes[repeated])
    numbers = prediction_oracle.standardised(noisy[repeated]) / np.sqrt(n)
    vectors = np.where(prediction_oracle.indicators(classes), 1 / counts, 1 / (counts - n))[repeated]
    y = [[float(number), str(c)] for number, c in zip(noisy, classes, strict=True)]
    return y, np.column_stack([numbers, vectors / np.linalg.norm(vectors)])


def with_kernel_matrix(rng, kind, noisy, weights):
    """Labels whose features are a factor of their kernel matrix."""
    if kind == "precomputed":
        y = L = np.exp(-((noisy[:, None] - noisy) ** 2))
    else:
        y = survival_times(rng, len(noisy))
        L = label_kernel(y, "survival", weights).gram()
    return y, prediction_oracle.factor(L, weights)


def random_labels(rng, signal, weights):
    """Labels, the name of the kernel on them, and their features by definition, one row for each sample."""
    m, noisy = len(signal), signal + 0.3 * rng.normal(size=len(signal))
    kinds = ["binary", "multiclass", "delta", "regression", "several", "mixed", "linear", "precomputed", "survival"]
    kind, repeated = str(rng.choice(kinds)), np.repeat(np.arange(m), weights)
    classes = np.searchsorted(np.quantile(noisy, [0.5] if kind == "binary" else [0.3, 0.6]), noisy)
    if kind in ("binary", "multiclass", "delta"):
        return classes, kind, prediction_oracle.indicators(classes)[repeated]
    if kind in ("precomputed", "survival"):
        y, factor = with_kernel_matrix(rng, kind, noisy, weights)
        return y, kind, factor[repeated]
    if kind == "mixed":
        y, Y = mixed_outputs(noisy, classes, repeated)
        return y, "auto", Y
    y = np.column_stack([noisy, rng.normal(size=m)]) if kind == "several" else noisy
    Y = noisy[repeated, None] if kind == "linear" else prediction_oracle.standardised(y[repeated])
    return y, "auto" if kind == "several" else kind, Y


@dataclass
class Case:
    """Data for a selector, and the same by definition, with samples repeated as their weights say."""

    X: np.ndarray
    y: object
    options: dict
    weights: np.ndarray | None
    ridge: object
    step: object
    D: np.ndarray
    Z: np.ndarray
    Y: np.ndarray
    definition: object
    groups: list
    kept: list
    blocks: list
    copies: list
    constant: list
    number: int

    def kernel(self, units, size, reference=None):
        columns = self.columns(units)
        return self.definition(self.D, self.Z, columns, size, columns if reference is None else reference)

    def columns(self, units):
        return sorted(j for unit in units for j in self.groups[unit])


def different(columns, m):
    """Columns that vary and tell something else than those before, also in blocks; these take part in a search."""
    rows = [np.arange(m)] + ([np.concatenate(prediction_oracle.random_blocks(m, 6, 1))] if m >= 12 else [])
    kept, seen = [], set()
    for entries, is_category in columns:
        keys = [(i, what_is_told(np.array(entries, dtype=float)[some], is_category)) for i, some in enumerate(rows)]
        if not any(key in seen or len(set(key[1])) == 1 for key in keys):
            kept.append((entries, is_category))
        seen.update(keys)
    return kept or columns[:1]


def what_is_told(x, is_category):
    """The values of a column, whatever their names, scale, shift and sign."""
    first = {}
    codes = tuple(-1 if np.isnan(value) else first.setdefault(value, len(first)) for value in x)
    if is_category or len(first) <= 2:
        return codes
    z = (x - np.nanmean(x)) / np.nanstd(x)
    z = z * np.sign(z[np.flatnonzero(np.abs(np.nan_to_num(z)) > 1e-6)[0]])
    return tuple(None if np.isnan(value) else round(float(value), 8) + 0.0 for value in z)


def random_case(seed, shape=None):
    """A case; of a given shape, or a small one."""
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(8, 25)), int(rng.integers(17, 25) if rng.random() < 0.25 else rng.integers(1, 12))
    m, d = (m, d) if shape is None else shape
    mixed = rng.random() < 0.3
    columns = []
    for _ in range(d):
        columns.append(random_column(rng, m, columns, mixed=mixed))
    columns = different(columns, m)
    d = len(columns)
    entries, categorical = zip(*columns, strict=True)
    X = np.array(entries, dtype=float).T
    name = str(rng.choice(POINTWISE if mixed else list(KERNELS), p=None))
    kernel, power, definition = KERNELS[name]
    weights = rng.integers(1, 4, m) if rng.random() < 0.25 else np.ones(m, dtype=int)
    weighted, repeated = bool((weights != 1).any()), np.repeat(np.arange(m), weights)
    filled = np.nan_to_num(X)
    y, target, Y = random_labels(rng, np.tanh(brute_force.standardised(filled)[0]).sum(axis=1), weights)
    table = [[column[i] for i in repeated] for column in entries]
    blocks, options = [np.arange(len(repeated))], {}
    if not weighted and m >= 12 and rng.random() < 0.25:
        options = {"block_size": 6, "random_state": 1}
        blocks = prediction_oracle.random_blocks(m, 6, 1)
    given = None if d < 2 or rng.random() < 0.75 else rng.integers(0, max(1, d // 2), d)
    labels = np.arange(d) if given is None else given
    groups = sorted(np.flatnonzero(labels == label).tolist() for label in np.unique(labels))
    keep = rng.choice(d, size=min(d, int(rng.integers(1, 3))), replace=False) if rng.random() < 0.25 else None
    kept = [unit for unit, group in enumerate(groups) if keep is not None and set(group) & set(keep.tolist())]
    D = mixed_oracle.totals(table, categorical, power, repeated.tolist())
    idle = [not D[group].any() for group in groups]
    ridge = "auto" if rng.random() < 0.5 else float(10 ** rng.uniform(-4, 0))
    step = [1, 0.1, 0.3, 0.5, 2, 20][rng.integers(6)]
    options |= {"step": step, "kernel": kernel, "target_kernel": target, "ridge": ridge, "keep": keep, "n_jobs": 1}
    options |= {"feature_groups": given, "categorical_features": list(categorical) if any(categorical) else None}
    options |= {"missing": "neutral" if np.isnan(X).any() else "error", "criterion": "prediction"}
    Z = brute_force.standardised(filled[repeated])[0]
    copies = [str([entries[j] for j in group]) + str([categorical[j] for j in group]) for group in groups]
    constant = [idle[unit] and unit not in kept for unit in range(len(groups))]
    return Case(
        X, y, options, weights if weighted else None, ridge, step, D, Z, Y, definition, groups, kept, blocks, copies,
        constant, int(rng.integers(max(1, len(kept)), len(groups) + 1)),
    )  # fmt: skip


def units_of(case, columns):
    """The units of some columns, in order."""
    of_column = {j: unit for unit, group in enumerate(case.groups) for j in group}
    return list(dict.fromkeys(of_column[int(j)] for j in columns))


def check_record(case, step, units, ridge):
    """Assert the ridge of a subset; its kernel matrix."""
    size = len(case.columns(units))
    K = case.kernel(units, size)
    # Leave-one-out residuals divide by differences of numbers close to one.
    n = min(map(len, case.blocks))
    rounding = 1e-9 + 1e-16 * (np.linalg.norm(K, 2) / (n * step.ridge)) ** 2
    ridge.check(K, case.Y, size, case.blocks, step.ridge, tolerance=rounding)
    assert step.n_features == size
    assert step.hsic is None
    return K


def check_round(case, inside, K, chosen, ridge, *, leaving):
    """Assert that the changed units of a round, but for constant ones, are those of the written rule."""
    outside = [unit for unit in range(len(case.groups)) if unit not in inside]
    candidates = [unit for unit in (inside if leaving else outside) if not case.constant[unit]]
    candidates = [unit for unit in candidates if unit not in case.kept]
    if not chosen or (leaving and len(inside) == 1):
        return
    columns = case.columns(inside)
    if leaving:
        size, reference = len(columns) * (1 - 1 / len(inside)), columns
    else:
        size = len(columns) + len(case.columns(candidates)) / len(candidates)
        reference = case.columns([*inside, *candidates])
    n = len(case.Y)
    before = case.kernel(inside, size, reference) if inside else np.ones((n, n))
    after = {}
    for unit in candidates:
        changed = sorted(set(inside) ^ {unit})
        after[unit] = case.kernel(changed, size, reference)
    copies = {unit: case.copies[unit] for unit in candidates}
    judging = 0.0 if ridge.fixed else prediction_oracle.judging_ridge(len(inside), len(case.X))
    prediction_oracle.check_changes(
        K, before, after, case.Y, ridge.value, case.blocks, chosen, copies=copies, n_inside=len(inside), judging=judging
    )


def without_constants(case, changed, *, leaving):
    """The changed units but for constant ones, which leave first and enter last, by number."""
    constant = [unit for unit in changed if case.constant[unit]]
    others = [unit for unit in changed if not case.constant[unit]]
    assert constant == sorted(constant)
    assert changed == (constant + others if leaving else others + constant)
    return others


def check_elimination(case):
    fitted = BAHSIC(case.number, **case.options).fit(case.X, case.y, sample_weight=case.weights)
    inside, ridge = list(range(len(case.groups))), prediction_oracle.Ridge(case.ridge, case.weights)
    for step in fitted.path_:
        changed = units_of(case, step.features)
        free = [unit for unit in inside if unit not in case.kept]
        assert len(changed) == (brute_force.round_size(case.step, len(free)) if free else 0)
        K = check_record(case, step, inside, ridge)
        chosen = without_constants(case, changed, leaving=True)
        n_idle = sum(case.constant[unit] for unit in free)
        assert len(chosen) == max(0, len(changed) - n_idle)
        check_round(case, inside, K, chosen, ridge, leaving=True)
        inside = [unit for unit in inside if unit not in changed]
    assert inside == sorted(case.kept)


def check_selection(case):
    fitted = FOHSIC(case.number, **case.options).fit(case.X, case.y, sample_weight=case.weights)
    inside, ridge = sorted(case.kept), prediction_oracle.Ridge(case.ridge, case.weights)
    size, K = len(case.columns(inside)), np.ones((len(case.Y), len(case.Y)))
    if inside and fitted.path_[0].features:  # the fit to the kept ones alone is not in the path
        K = case.kernel(inside, size)
        ridge.choose(K, case.Y, size, case.blocks)
    for step in fitted.path_:
        changed = units_of(case, step.features)
        n_left, n_wanted = len(case.groups) - len(inside), case.number - len(inside)
        assert len(changed) == (min(brute_force.round_size(case.step, n_left), n_wanted) if n_wanted else 0)
        check_round(case, inside, K, without_constants(case, changed, leaving=False), ridge, leaving=False)
        inside = sorted([*inside, *changed])
        K = check_record(case, step, inside, ridge)
    rest = [unit for unit in units_of(case, fitted.selection_order_) if unit not in inside]
    check_round(case, inside, K, without_constants(case, rest, leaving=False), ridge, leaving=False)
    assert sorted([*inside, *rest]) == list(range(len(case.groups)))
    assert sorted(units_of(case, np.flatnonzero(fitted.support_))) == inside


@pytest.mark.filterwarnings("ignore:.*features are constant", "ignore:y does not vary")
@pytest.mark.parametrize("first", range(3))
@pytest.mark.parametrize("check", [check_elimination, check_selection])
def test_order_equals_brute_force(check, first, engine):
    for seed in range(first + 3 * (engine == "loops"), N_CASES, 6):
        check(random_case(seed))


@pytest.mark.filterwarnings("ignore:.*features are constant")
@pytest.mark.parametrize("check", [check_elimination, check_selection])
def test_order_equals_brute_force_for_blocks_in_several_tiles(check):
    cases = (random_case(seed, (150, 4)) for seed in range(40))
    for case in islice((case for case in cases if "block_size" in case.options), 2):
        check(case)
