"""What is known of the columns before a search."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from bahsic.data.columns import Columns, prepared_columns
from bahsic.data.levels import copies as copies_of
from bahsic.data.prepared import prepared
from bahsic.data.sparse_rows import SparseRows
from bahsic.kernels import Gaussian, Linear
from test_sparse_tables import table


def copies(XT):
    return copies_of(Columns.plain(XT))


def test_copies_and_negatives_point_to_the_first():
    rng = np.random.default_rng(1)
    XT = rng.normal(size=(8, 30))
    XT[3], XT[5], XT[6], XT[7] = XT[1], -XT[1], XT[2], -XT[6]
    assert copies(XT).tolist() == [0, 1, 2, 1, 4, 1, 2, 7]
    XT[7] = -XT[2]
    assert copies(XT).tolist() == [0, 1, 2, 1, 4, 1, 2, 2]


def test_nearly_equal_columns_are_no_copies():
    x = np.random.default_rng(2).normal(size=30)
    nearly = x.copy()
    nearly[7] = np.nextafter(nearly[7], np.inf)
    assert copies(np.stack([x, nearly, x])).tolist() == [0, 1, 0]


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1.0, 1e150])
def test_copies_of_any_scale(scale):
    x = np.random.default_rng(3).normal(size=(3, 20)) * scale
    assert copies(x[[0, 1, 0, 2, 1]]).tolist() == [0, 1, 0, 3, 1]


def test_columns_of_zeros_are_copies():
    assert copies(np.zeros((3, 5))).tolist() == [0, 0, 0]


def test_copies_whose_inner_products_vanish():
    """Columns that differ, with the same signature of nearly zero."""
    weights = np.cos(np.arange(4.0))
    x = np.array([weights[1], -weights[0], 0.0, 0.0])
    y = np.array([0.0, 0.0, weights[3], -weights[2]])
    assert copies(np.stack([x, y, x, y])).tolist() == [0, 1, 0, 1]


def test_copies_among_many():
    rng = np.random.default_rng(4)
    XT = rng.integers(0, 2, (400, 8)).astype(float)
    first = {}
    expected = [first.setdefault(min(tuple(x), tuple(-x)), j) for j, x in enumerate(XT)]
    assert copies(XT).tolist() == expected


@pytest.mark.parametrize("offset", [0.0, 1e6, -1e12])
@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e-143, 1e-3, 1.0, 1e160, 1e290])
def test_standardised_columns(scale, offset):
    """Zero mean and unit variance (ddof 0), whatever the unit and the offset in that unit."""
    X = (np.random.default_rng(5).normal(size=(50, 4)) + offset) * scale
    before = X.copy()
    XT, constant = prepared_columns(X, Gaussian(1.0), standardize=True)
    assert XT.shape == (4, 50)
    assert XT.flags.c_contiguous
    assert np.abs(XT.mean(axis=1)).max() <= 1e-14
    assert np.allclose((XT**2).mean(axis=1), 1.0, rtol=1e-13, atol=0)
    assert not constant.any()
    assert np.array_equal(X, before)


def test_standardising_by_hand():
    X = np.array([[1.0, 7.0], [3.0, 7.0], [1.0, 7.0], [3.0, 7.0]])
    XT, constant = prepared_columns(X, Linear(), standardize=True)
    assert XT.tolist() == [[-1.0, 1.0, -1.0, 1.0], [0.0, 0.0, 0.0, 0.0]]
    assert constant.tolist() == [False, True]


def test_without_standardising_only_kernels_of_differences_are_centred():
    X = np.array([[1.0, 7.0], [3.0, 7.0], [5.0, 7.0]])
    assert prepared_columns(X, Linear(), standardize=False)[0].tolist() == X.T.tolist()
    assert prepared_columns(X, Gaussian(1.0), standardize=False)[0].tolist() == [[-2.0, 0.0, 2.0], [0.0, 0.0, 0.0]]


def test_values_of_which_squares_leave_the_range_need_standardising():
    with pytest.raises(ValueError, match=r"X has values up to 1e\+200; accepted with standardize=False: up to 1e\+150"):
        prepared_columns(np.array([[1.0], [-1e200]]), Gaussian(1.0), standardize=False)


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("missing", [True, False])
def test_sparse_rows_are_those_of_the_dense_table(standardize, weighted, missing):
    X, _ = table(missing=missing)
    weights = np.arange(1.0, 61.0) if weighted else None
    options = {"standardize": standardize, "missing": "neutral" if missing else "error"}
    tables = [prepared(data, Gaussian(), **options).weighted(weights) for data in (X, sparse.csc_array(X))]
    (dense, constant), (columns, found) = ((data.columns, data.constant) for data in tables)
    assert isinstance(columns.data, SparseRows)
    assert_array_equal(found, constant)
    everything = np.arange(12)
    rows = [found.rows(everything) for found in (columns, dense)]
    differences = [part - np.nanmin(part, axis=1, keepdims=True) for part in rows]
    assert_allclose(*differences, atol=1e-12)  # the origin does not matter to kernels of differences
    assert_array_equal(columns.missing, dense.missing)
    assert_allclose(columns.neutral, dense.neutral, rtol=1e-12)
    assert_array_equal(columns.rows(np.array([7, 2, 7])), columns.rows(everything)[[7, 2, 7]])
