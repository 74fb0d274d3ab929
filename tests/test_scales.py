"""Columns in very different units and far outliers: orders and recorded scores equal the definition."""

import numpy as np
import pytest

import brute_force
import crossfit_oracle
from bahsic import BAHSIC, FOHSIC
from bahsic.kernels import Gaussian, Laplacian, Polynomial
from pairwise import ENGINES, pairwise
from selecting import SELECTORS, order
from test_search_brute_force import absolute, squared

N_CASES = 40


KERNELS = {
    "gaussian": ("gaussian", lambda X, size: np.exp(-squared(X) / (2 * size))),
    "gaussian 0.3": (Gaussian(0.3), lambda X, size: np.exp(-0.3 * squared(X))),
    "gaussian 1e-4": (Gaussian(1e-4), lambda X, size: np.exp(-1e-4 * squared(X))),
    "laplacian": ("laplacian", lambda X, size: np.exp(-absolute(X) / (2 * size))),
    "laplacian 3": (Laplacian(3.0), lambda X, size: np.exp(-3 * absolute(X))),
    "polynomial": (Polynomial(degree=2), lambda X, size: (X @ X.T + 1) ** 2),
}


def random_labels(rng, m):
    y = rng.permutation(np.resize([0, 1], m))
    rho = np.where(y == 1, 1 / np.sum(y == 1), -1 / np.sum(y == 0))
    return y, np.outer(rho, rho)


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
    for seed in range(first + 2 * (engine == "loops"), N_CASES, 4):
        rng = np.random.default_rng(seed)
        m, d = int(rng.integers(20, 71)), int(rng.integers(2, 11))
        X, (y, L) = random_units(rng, m, d), random_labels(rng, m)
        kernel, definition = KERNELS[list(KERNELS)[seed % len(KERNELS)]]
        statistic, step = str(rng.choice(["unbiased", "biased"])), [1, 0.3][rng.integers(2)]
        fitted = selector(d, step=step, kernel=kernel, statistic=statistic, standardize=False, n_jobs=1)
        fitted.fit(X, y)
        constant = np.zeros(d, dtype=bool)
        brute_force.check_path(fitted, X, L, constant, definition, statistic, step, leaving=selector is BAHSIC)


@pairwise(selector=[BAHSIC, FOHSIC], name=["gaussian 0.3", "laplacian 3"], engine=ENGINES)
def test_search_by_prediction(selector, name, engine):
    rng = np.random.default_rng(6)
    X, (y, _) = rng.normal(size=(60, 7)), random_labels(rng, 60)
    X[:, 0] += y
    X[:, 2] *= 1e10
    X[7, 5] = 1e11
    kernel, definition = KERNELS[name]
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


@pairwise(name=KERNELS, unit=[1e18, 1e60, 1e90, 1e149], engine=ENGINES)
def test_values_beyond_all_measure(name, unit, engine):
    """A right result, or one error that says which values are accepted."""
    rng = np.random.default_rng(10)
    y, weights = random_labels(rng, 30)[0], np.resize([1, 2, 3], 30)
    for columns in (slice(None), slice(2, 4)):
        X = rng.normal(size=(30, 5))
        X[:, columns] *= unit
        for sample_weight in (None, weights):
            selector = BAHSIC(1, step=1, kernel=KERNELS[name][0], standardize=False, n_jobs=1)
            if name == "polynomial" and unit > 1e70:
                with pytest.raises(ValueError, match=r"X has values up to .*accepted"):
                    selector.fit(X, y, sample_weight=sample_weight)
            else:
                path = selector.fit(X, y, sample_weight=sample_weight).path_
                assert np.isfinite([step.hsic for step in path]).all()
