"""Sparse tables: the same selection as of the dense table, without ever making it dense."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from bahsic import BAHSIC, FOHSIC
from bahsic.kernels import Gaussian, Laplacian, Linear, Polynomial
from pairwise import pairwise


def table(m=60, d=12, seed=0, *, missing=False):
    """Columns that are mostly zero: binary, counts, numbers; a full one, an empty one, one of equal numbers."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((m, d)) < 0.3, rng.normal(3, 1, (m, d)), 0.0)
    X[:, ::3] = X[:, ::3] != 0
    X[:, 1] = rng.poisson(0.5, m)
    X[:, 2] = 100 + rng.normal(size=m)
    X[:, 4], X[:, 5] = 0.0, 7.0
    if missing:
        X[rng.random((m, d)) < 0.1] = np.nan
    y = (X[:, 0] + X[:, 3] + 0.5 * rng.normal(size=m) > 0.7).astype(int) if not missing else rng.integers(0, 2, m)
    return X, y


def test_large_values_that_are_not_standardised():
    X, y = table()
    with pytest.raises(ValueError, match=r"X has values up to 7e\+200; accepted with standardize=False: up to 1e\+150"):
        BAHSIC(2, standardize=False).fit(sparse.csr_array(X * np.where(np.arange(12) == 5, 1e200, 1.0)), y)


@pairwise(
    selector=[BAHSIC, FOHSIC],
    kernel=[Gaussian(), Gaussian("median"), Laplacian(), Linear(), Polynomial(2)],
    container=["csr_matrix", "csc_array", "coo_array", "lil_matrix", "bsr_array", "dia_matrix", "dok_array"],
)
@pytest.mark.filterwarnings("ignore:2 of 12 features are constant")
def test_the_selection_is_that_of_the_dense_table(selector, kernel, container):
    X, y = table()
    dense = selector(3, kernel=kernel, step=1).fit(X, y)
    found = selector(3, kernel=kernel, step=1).fit(getattr(sparse, container)(X), y)
    assert_array_equal(found.ranking_, dense.ranking_)
    assert_allclose([step.hsic for step in found.path_], [step.hsic for step in dense.path_], rtol=1e-9)


@pytest.mark.parametrize("selector", [BAHSIC, FOHSIC])
@pytest.mark.parametrize(
    ("kernel", "options"),
    [
        (Gaussian(), {}),
        (Laplacian(), {}),
        (Linear(), {}),
        (Gaussian(), {"standardize": False}),
        (Laplacian(), {"standardize": False}),
    ],
)
@pytest.mark.filterwarnings("ignore:2 of 12 features are constant")
def test_missing_entries_with_weights(selector, kernel, options):
    X, y = table(missing=True)
    X[:, 2] -= 100 * ("standardize" in options)
    weights = np.arange(60) % 3
    options = {"kernel": kernel, "missing": "neutral", "step": 1, **options}
    dense = selector(3, **options).fit(X, y, sample_weight=weights)
    found = selector(3, **options).fit(sparse.csr_array(X), y, sample_weight=weights)
    assert_array_equal(found.ranking_, dense.ranking_)
    assert_allclose([step.hsic for step in found.path_], [step.hsic for step in dense.path_], rtol=1e-9, atol=1e-15)
    assert sparse.issparse(found.transform(sparse.csr_array(X)))


@pytest.mark.filterwarnings("ignore:.* features are constant")
def test_the_memory_is_that_of_the_stored_entries_and_a_block(monkeypatch):
    monkeypatch.setenv("BAHSIC_COMPILED", "auto")  # numpy alone takes minutes
    rng = np.random.default_rng(0)
    m, d = 500, 20_000
    X = sparse.random_array((m, d), density=0.01, format="csc", rng=rng)
    X.data[:] = 1
    y = np.arange(m) % 2
    BAHSIC(10, step=0.5).fit(X[:, :2000], y)  # so that the loops are there
    tracemalloc.start()
    BAHSIC(10, step=0.5).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    dense = 8 * m * d
    stored = X.data.nbytes + X.indices.nbytes
    assert peak < 8 * stored + 64 * 2**20 < dense


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
@pytest.mark.parametrize(
    "selector",
    [BAHSIC(3, step=1), FOHSIC(5), FOHSIC(3, criterion="prediction"), BAHSIC(3, criterion="prediction", cv=3)],
)
def test_columns_of_few_stored_entries(monkeypatch, kernel, selector):
    """Compiled loops score them by their stored entries alone."""
    monkeypatch.setenv("BAHSIC_COMPILED", "always")
    X = sparse.random_array((200, 60), density=0.06, format="csc", rng=np.random.default_rng(0))
    y = np.resize([0, 1, 1], 200)
    selector.set_params(kernel=kernel)
    found, dense = clone(selector).fit(X, y), clone(selector).fit(X.toarray(), y)
    assert_array_equal(found.ranking_, dense.ranking_)
    assert_allclose(found.scores_, dense.scores_, rtol=1e-5, atol=1e-12)
    held_out = [np.array([step.predictability for step in fitted.path_], dtype=float) for fitted in (found, dense)]
    assert_allclose(*held_out, atol=1e-9)


@pytest.mark.filterwarnings("ignore:2 of 12 features are constant")
def test_missing_entries_in_blocks():
    """A new order of the samples leaves the stored entries of a sparse array unsorted."""
    X, y = table(missing=True)
    options = {"missing": "neutral", "block_size": 20, "random_state": 0}
    dense, found = (BAHSIC(3, **options).fit(data, y) for data in (X, sparse.csr_array(X)))
    assert_array_equal(found.ranking_, dense.ranking_)
    assert_allclose([step.hsic for step in found.path_], [step.hsic for step in dense.path_], rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize(
    ("m", "d", "density", "selector", "time"),
    [
        (3000, 40_000, 0.001, BAHSIC(5), "43 seconds"),
        (3000, 2000, 0.2, BAHSIC(5, step=0.005), "8 minutes"),
        (2000, 20_000, 0.2, FOHSIC(10), "10 seconds"),
    ],
)
@pytest.mark.filterwarnings("ignore:.* features are constant")
def test_what_a_search_costs_is_said_before_it(m, d, density, selector, time):
    X = sparse.random_array((m, d), density=density, format="csc", rng=np.random.default_rng(0))
    message = rf"X is sparse, with {100 * density:g}% of its entries stored, .* about {time} of one core"
    with pytest.raises(UserWarning, match=message):
        selector.fit(X, np.resize([0.5, 1.0, 2.5], m))  # a warning is an error here, and ends the fit


@pytest.mark.parametrize(("kernel", "shape"), [("gaussian", (60, 500)), ("linear", (3000, 1000))])
def test_what_costs_little_is_not_spoken_of(kernel, shape):
    X = sparse.random_array(shape, density=0.1, format="csc", rng=np.random.default_rng(0))
    selector = BAHSIC(5, kernel=kernel, step=0.5).fit(X, np.resize([0.5, 1.0, 2.5], shape[0]))  # a warning is an error
    assert selector.n_features_ == 5
