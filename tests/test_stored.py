"""Data that stay in a file: the bits of a fit in memory, in little memory, with the same errors."""

import pickle
import tracemalloc
from itertools import cycle

import numpy as np
import pytest
from sklearn import config_context

from bahsic import BAHSIC
from bahsic.data.sources import StoredRows, source_of
from bahsic.data.standard import Standardisation
from bahsic.kernels import Gaussian
from selecting import SELECTORS, drawn, same_fit


def mapped(X, folder):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def fortran(X, folder):
    return mapped(np.asfortranarray(X), folder)


def zarr_array(X, folder):
    zarr = pytest.importorskip("zarr")
    array = zarr.create_array(store=str(folder / "X.zarr"), shape=X.shape, chunks=(17, 3), dtype=X.dtype)
    array[:] = X
    return array


def dask_array(X, folder):
    return pytest.importorskip("dask.array").from_array(X, chunks=(17, 3))


STORES = pytest.mark.parametrize("stored", [mapped, fortran, zarr_array, dask_array])


@pytest.fixture(autouse=True)
def _little_memory():
    """So little that these data are not read at once."""
    with config_context(working_memory=0.1):
        yield


@SELECTORS
@STORES
def test_the_bits_are_those_of_a_fit_in_memory(selector, stored, tmp_path):
    X, y = drawn(m=60, d=6)
    A = stored(X, tmp_path)
    fits = [selector(2, step=2, standard_errors=True).fit(data, y) for data in (X, A)]
    assert same_fit(*fits)
    assert np.array_equal(fits[0].ranking_, fits[1].ranking_)


OPTIONS = [
    {"kernel": "laplacian"},
    {"kernel": "linear"},
    {"kernel": "polynomial"},
    {"kernel": "inverse_distance"},
    {"kernel": Gaussian("median")},
    {"kernel": Gaussian("optimise")},
    {"standardize": False},
    {"standardize": False, "kernel": Gaussian("median"), "unit": 1e30},
    {"weighted": True},
    {"statistic": "biased", "standard_errors": True},
    {"feature_groups": [[0, 1], [2, 3, 4]]},
    {"keep": [3]},
    {"block_size": 20, "random_state": 0, "standard_errors": True},
]


@pytest.mark.parametrize(
    ("options", "stored"),
    list(zip(OPTIONS, cycle([zarr_array, mapped]))),
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_the_bits_with_options(stored, options, tmp_path):
    X, y = drawn(m=70, d=6)
    X = X * [3.0, 1.0, 0.5, 2.0, 1.0, 1.0] * options.pop("unit", 1.0) + 10.0
    weights = np.arange(70) % 4 if options.pop("weighted", False) else None
    fits = [BAHSIC(2, step=0.5, **options).fit(data, y, weights) for data in (X, stored(X, tmp_path))]
    assert same_fit(*fits)


@pytest.mark.parametrize("dtype", [np.float32, np.int16, bool])
@pytest.mark.parametrize("stored", [mapped, zarr_array])
def test_other_types_of_numbers(stored, dtype, tmp_path):
    X, y = drawn(m=60, d=6)
    Z = (10 * X).astype(dtype) if dtype is not bool else X > 0.3
    assert same_fit(BAHSIC(2).fit(Z, y), BAHSIC(2).fit(stored(Z, tmp_path), y))


@pytest.mark.parametrize("part", [np.s_[10:50:2], np.s_[::-1, 1:], np.arange(3, 40)], ids=str)
def test_a_part_of_a_memmap(part, tmp_path):
    """Views are read where they lie, also by other processes; what an index array takes is in memory."""
    X, y = drawn(m=60, d=6)
    y = y[part] if not isinstance(part, tuple) else y[part[0]]
    assert same_fit(BAHSIC(2).fit(X[part], y), BAHSIC(2).fit(mapped(X, tmp_path)[part], y))


@pytest.mark.parametrize("stored", [mapped, zarr_array])
def test_columns_beyond_the_range_of_squares_and_constant_ones(stored, tmp_path):
    X, y = drawn(m=60, d=7)
    X[:, 0] *= 1e200
    X[:, 2] *= 1e-200
    X[:, 3] = 5.0
    with pytest.warns(UserWarning, match="1 of 7 features are constant"):
        fits = [BAHSIC(2).fit(data, y) for data in (X, stored(X, tmp_path))]
    assert same_fit(*fits)


@STORES
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_entries_that_are_not_finite(stored, value, tmp_path):
    X, y = drawn(m=60, d=6)
    X[33, 2] = X[50, 0] = value
    message = r"X contains NaN or infinity: 2 entries, the first in row 33, column 2; accepted where X is read piece"
    A = stored(X, tmp_path)
    with pytest.raises(ValueError, match=message):
        BAHSIC(2).fit(A, y)
    with config_context(working_memory=1024):  # read at once, where entries may be missing
        if np.isnan(value):
            fits = [BAHSIC(2, missing="neutral").fit(data, y) for data in (X, A)]
            assert same_fit(*fits)


@STORES
def test_what_is_not_supported_is_said(stored, tmp_path):
    X, y = drawn(m=60, d=6)
    A = stored(X, tmp_path)
    for options, labels, message in (
        ({"categorical_features": [0]}, y, "piece by piece: None"),
        ({}, y[:-1], "has 59"),
    ):
        with pytest.raises(ValueError, match=message):
            BAHSIC(2, **options).fit(A, labels)
    with pytest.raises(TypeError, match="X has dtype complex128; accepted: real numbers"):
        BAHSIC(2).fit(mapped(np.ones((60, 40), dtype=complex), tmp_path), y)
    with pytest.raises(ValueError, match="X has shape"):
        BAHSIC(2).fit(pytest.importorskip("dask.array").ones((60, 4, 4)), y)


@STORES
def test_transform(stored, tmp_path):
    X, y = drawn(m=60, d=6)
    A = stored(X, tmp_path)
    selector = BAHSIC(2).fit(X, y)
    found = selector.transform(A)
    if stored is dask_array:
        assert type(found).__module__.startswith("dask.array")
        found = found.compute()
    assert type(found) is np.ndarray
    assert np.array_equal(found, X[:, selector.support_])
    (tmp_path / "new").mkdir()
    with pytest.raises(ValueError, match="6 features"):
        selector.transform(stored(X[:, :5], tmp_path / "new"))


def test_a_memmap_is_sent_by_the_name_of_its_file_and_a_part_as_it_is(tmp_path):
    X, _ = drawn(m=60, d=6)
    for array, most in ((mapped(X, tmp_path), 500), (mapped(X, tmp_path)[10:50:2], X.nbytes)):
        sent = pickle.dumps(source_of(array))
        assert len(sent) < most
        assert np.array_equal(pickle.loads(sent).read(np.array([5, 3, 19]), slice(1, 3)), array[[5, 3, 19], 1:3])


def test_columns_of_chunks_are_read_with_their_neighbours(tmp_path, monkeypatch):
    X, _ = drawn(m=60, d=8)
    source, reads = source_of(zarr_array(X, tmp_path)), []
    rows, _ = StoredRows.standardised(source, Gaussian(), Standardisation())
    monkeypatch.setattr("bahsic.data.sources._ENTRIES", 60 * 4)
    read = source.read
    monkeypatch.setattr(source, "read", lambda *where: reads.append(where) or read(*where))
    expected = (X - X.mean(axis=0)) / X.std(axis=0)
    for j in range(8):
        np.testing.assert_allclose(rows.rows(np.array([j]))[0], expected[:, j], rtol=1e-12, atol=1e-14)
    assert len(reads) == 2


def test_memory_does_not_grow_with_the_square_of_the_samples(tmp_path):
    """m x m in float64 would take 8 MB."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 12)), rng.integers(0, 2, 1000)
    A = mapped(X, tmp_path)
    with config_context(working_memory=1):
        tracemalloc.start()
        BAHSIC(2, step=0.5, n_jobs=1).fit(A, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 5 * 2**20
