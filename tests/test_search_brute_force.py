"""Elimination and selection equal brute force from the definition, on many random cases and in any units."""

import numpy as np
import pytest

import brute_force
import crossfit_oracle
from bahsic import BAHSIC, FOHSIC
from bahsic.kernels import Gaussian, InverseDistance, Laplacian, Linear, Polynomial
from pairwise import ENGINES, pairwise
from selecting import SELECTORS, order

N_CASES = 300


def squared(X):
    return ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=-1)


def absolute(X):
    return np.abs(X[:, None, :] - X[None, :, :]).sum(axis=-1)


def median(D):
    """Median distance over the pairs i < j, of the non-zero ones if it is zero."""
    distances = D[np.triu_indices(len(D), 1)]
    found = np.median(distances)
    return found or np.median(distances[distances > 0])


# Our kernel, and the same by definition: a function of columns and of the size that the rule is for.
KERNELS = {
    "gaussian": ("gaussian", lambda X, size: np.exp(-squared(X) / (2 * size))),
    "gaussian 0.3": (Gaussian(0.3), lambda X, size: np.exp(-0.3 * squared(X))),
    "gaussian 40": (Gaussian(40.0), lambda X, size: np.exp(-40.0 * squared(X))),
    "laplacian": ("laplacian", lambda X, size: np.exp(-absolute(X) / (2 * size))),
    "laplacian 30": (Laplacian(30.0), lambda X, size: np.exp(-30.0 * absolute(X))),
    "linear": ("linear", lambda X, size: X @ X.T),
    "polynomial": (Polynomial(degree=2), lambda X, size: (X @ X.T + 1) ** 2),
    "cubic": (Polynomial(degree=3, coef0=0.5), lambda X, size: (X @ X.T + 0.5) ** 3),
    "seventh": (Polynomial(degree=7, coef0=1.0), lambda X, size: (X @ X.T + 1) ** 7),
    "inverse": ("inverse_distance", lambda X, size: 1 / (1 + np.sqrt(squared(X) / (2 * size)))),
    "inverse 2": (InverseDistance(offset=0.5, gamma=2.0), lambda X, size: 1 / (0.5 + np.sqrt(2 * squared(X)))),
    "sum": (Gaussian("dimension") + Linear(), lambda X, size: np.exp(-squared(X) / (2 * size)) + X @ X.T),
    "function": (
        lambda X, Y: np.minimum(X[:, None], Y[None]).sum(axis=-1),
        lambda X, size: np.minimum(X[:, None], X[None]).sum(axis=-1),
    ),
}


def random_columns(rng, m, d):
    columns = []
    for _ in range(d):
        kind = rng.integers(7)
        if kind == 0 and columns:
            columns.append(columns[rng.integers(len(columns))].copy())
        elif kind == 1:
            columns.append(np.full(m, rng.normal()))
        elif kind == 2:
            columns.append(rng.integers(0, 2, m).astype(float))
        elif kind == 3:
            columns.append(rng.standard_cauchy(m))
        elif kind == 4:
            columns.append(rng.integers(0, rng.integers(3, 6), m).astype(float))
        else:
            columns.append(rng.normal(size=m) * 10.0 ** rng.integers(-3, 4) + rng.normal() * 100)
    return np.stack(columns, axis=1)


def binary_labels(rng, m):
    y = rng.permutation(np.resize([0, 1], m))
    rho = np.where(y == 1, 1 / np.sum(y == 1), -1 / np.sum(y == 0))
    return y, np.outer(rho, rho)


def random_labels(rng, m, X):
    """Labels with their Gram matrix by definition, and the name of the kernel."""
    kind = rng.choice(["binary", "multiclass", "regression", "delta", "precomputed"])
    if kind == "binary":
        return *binary_labels(rng, m), kind
    if kind == "multiclass":
        y = rng.permutation(np.resize([0, 1, 2], m))
        counts = np.array([np.sum(y == c) for c in range(3)])
        Y = np.where(y[:, None] == np.arange(3), 1 / counts, 1 / (counts - m))
        return y, Y @ Y.T, kind
    if kind == "delta":
        y = rng.integers(0, 3, m)
        return y, (y[:, None] == y).astype(float), kind
    y = X[:, 0] * X[:, -1] + rng.normal(size=m)
    D = squared(y[:, None])
    L = np.exp(-D / (2 * median(np.sqrt(D)) ** 2))
    return (y, L, "regression") if kind == "regression" else (L, L, "precomputed")


def random_case(seed):
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(4, 61)), int(rng.integers(1, 13))
    X = random_columns(rng, m, d)
    varies = np.ptp(X, axis=0) > 0  # constant columns take no part
    X = X[:, varies] if varies.any() else X[:, :1]
    y, L, target = random_labels(rng, m, X)
    name = rng.choice(list(KERNELS), p=[0.4] + [0.6 / (len(KERNELS) - 1)] * (len(KERNELS) - 1))
    statistic = str(rng.choice(["unbiased", "biased"]))
    step = [1, 0.1, 0.3, 0.5, 2][rng.integers(5)]
    return X, y, L, target, str(name), statistic, step


@pytest.mark.filterwarnings("ignore:.*features are constant")
@pytest.mark.filterwarnings("ignore:y has .* once")
@pytest.mark.parametrize("first", range(3))
@SELECTORS
def test_order_equals_brute_force(selector, first, engine):
    for seed in range(first + 3 * (engine == "loops"), N_CASES, 6):
        X, y, L, target, name, statistic, step = random_case(seed)
        kernel, definition = KERNELS[name]
        fitted = selector(X.shape[1], step=step, kernel=kernel, target_kernel=target, statistic=statistic, n_jobs=1)
        fitted.fit(X, y)
        Z, constant = brute_force.standardised(X)
        brute_force.check_path(fitted, Z, L, constant, definition, statistic, step, leaving=selector is BAHSIC)


# Columns in very different units and far outliers

IN_UNITS = {name: KERNELS[name] for name in ("gaussian", "gaussian 0.3", "laplacian", "polynomial")} | {
    "gaussian 1e-4": (Gaussian(1e-4), lambda X, size: np.exp(-1e-4 * squared(X))),
    "laplacian 3": (Laplacian(3.0), lambda X, size: np.exp(-3 * absolute(X))),
}


def random_units(rng, m, d):
    """Some columns dominate all others, by their unit, a far sample, or steps much larger than what is within them."""
    X = rng.normal(size=(m, d))
    for j in rng.permutation(d)[: rng.integers(1, 1 + (d + 1) // 2)]:
        factor = 10.0 ** rng.integers(2, 13)
        kind = rng.integers(3)
        if kind == 0:
            X[:, j] *= factor
        elif kind == 1:
            X[rng.integers(m), j] = factor
        else:
            X[:, j] += factor * rng.integers(0, 2, m)
    return X


@SELECTORS
@pytest.mark.parametrize("first", range(2))
def test_units_and_outliers(selector, first, engine):
    for seed in range(first + 2 * (engine == "loops"), 40, 4):
        rng = np.random.default_rng(seed)
        m, d = int(rng.integers(20, 71)), int(rng.integers(2, 11))
        X, (y, L) = random_units(rng, m, d), binary_labels(rng, m)
        kernel, definition = IN_UNITS[list(IN_UNITS)[seed % len(IN_UNITS)]]
        statistic, step = str(rng.choice(["unbiased", "biased"])), [1, 0.3][rng.integers(2)]
        fitted = selector(d, step=step, kernel=kernel, statistic=statistic, standardize=False, n_jobs=1)
        fitted.fit(X, y)
        constant = np.zeros(d, dtype=bool)
        brute_force.check_path(fitted, X, L, constant, definition, statistic, step, leaving=selector is BAHSIC)


@pairwise(selector=[BAHSIC, FOHSIC], name=["gaussian 0.3", "laplacian 3"], engine=ENGINES)
def test_search_by_prediction(selector, name, engine):
    rng = np.random.default_rng(6)
    X, (y, _) = rng.normal(size=(60, 7)), binary_labels(rng, 60)
    X[:, 0] += y
    X[:, 2] *= 1e10
    X[7, 5] = 1e11
    kernel, definition = IN_UNITS[name]
    options = {"criterion": "prediction", "step": 1, "kernel": kernel, "standardize": False, "n_jobs": 1}
    train, test = np.arange(42), np.arange(42, 60)
    fitted = selector(7, cv=[(train, test)], **options).fit(X, y)
    inner = selector(7, **options).fit(X[train], y[train])
    error = np.sum((y[test] - y[train].mean()) ** 2)
    for step, own in zip(fitted.path_, inner.path_, strict=True):
        K = definition(X[:, order(inner)[: step.n_features]], step.n_features)
        given = K[:42, :42], K[42:, :42], y[train, None]
        found = y[test] - crossfit_oracle.predicted(*given, own.ridge)[:, 0]
        assert step.predictability == pytest.approx(1 - np.sum(found**2) / error, rel=1e-6, abs=1e-9)


@pairwise(name=IN_UNITS, unit=[1e18, 1e60, 1e90, 1e149], engine=ENGINES)
def test_values_beyond_all_measure(name, unit, engine):
    """A right result, or one error that says which values are accepted."""
    rng = np.random.default_rng(10)
    y, weights = binary_labels(rng, 30)[0], np.resize([1, 2, 3], 30)
    for columns in (slice(None), slice(2, 4)):
        X = rng.normal(size=(30, 5))
        X[:, columns] *= unit
        for sample_weight in (None, weights):
            selector = BAHSIC(1, step=1, kernel=IN_UNITS[name][0], standardize=False, n_jobs=1)
            if name == "polynomial" and unit > 1e70:
                with pytest.raises(ValueError, match=r"X has values up to .*accepted"):
                    selector.fit(X, y, sample_weight=sample_weight)
            else:
                path = selector.fit(X, y, sample_weight=sample_weight).path_
                assert np.isfinite([step.hsic for step in path]).all()


@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e200])
def test_copies_with_gaps_in_any_unit(unit):
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 120))
    copy = np.where(rng.random(120) < 0.1, np.nan, x)
    selector = BAHSIC(1, criterion="prediction").fit(unit * np.column_stack([x, copy, noise]), x)
    assert [column.role for column in selector.columns_] == ["number", "copy", "number"]


def test_an_empty_column_of_a_frame_whose_gaps_are_a_value():
    pandas = pytest.importorskip("pandas", reason="a frame of pandas")
    x = np.random.default_rng(0).normal(size=120)
    frame = pandas.DataFrame({"x": x, "empty": np.where(np.arange(120) > 0, np.nan, 1.0)})
    weights = np.where(np.arange(120) > 0, 1.0, 0.0)
    with pytest.warns(UserWarning, match="constant"):
        selector = BAHSIC(1, missing="indicator").fit(frame, x, sample_weight=weights)
    assert selector.columns_[1].role == "constant"


@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e200])
def test_a_skewed_target_in_any_unit(unit):
    rng = np.random.default_rng(0)
    with pytest.warns(UserWarning, match="very skewed"):
        BAHSIC("auto", criterion="prediction").fit(rng.normal(size=(60, 2)), unit * np.exp(3 * rng.normal(size=60)))
