import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from bahsic import redundancy
from bahsic.kernels import Delta, Gaussian, Laplacian, Linear
from bahsic.related import cka


def table(m=60, seed=0):
    """Different kinds of columns: normal, skewed, a near copy, a function, of few values, heavy-tailed."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, m))
    columns = [x, np.exp(z), 3 - 2 * x + 1e-3 * z, x**2, rng.integers(0, 3, m), rng.standard_cauchy(m), 1e4 + z]
    return np.column_stack(columns)


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def by_pairs(X, kernel):
    d = X.shape[1]
    return np.array([[cka(X[:, i], X[:, j], kernel, kernel) for j in range(d)] for i in range(d)])


def smaller(a, b):
    return np.minimum.outer(np.ravel(a), np.ravel(b))


KERNELS = [Gaussian(), Gaussian("median"), Gaussian(3.0), Laplacian("median"), Linear(), Delta()]


@pytest.mark.parametrize(
    "kernel", ["gaussian", smaller, *KERNELS], ids=lambda kernel: getattr(kernel, "__name__", str(kernel))
)
def test_each_pair_is_its_alignment(kernel):
    X = table()
    found = redundancy(X, kernel=kernel)
    assert_allclose(found, by_pairs(standardised(X), kernel), rtol=1e-8, atol=1e-11)
    assert_array_equal(found, found.T)
    assert_array_equal(np.diag(found), 1)
    assert found.min() >= 0
    assert found.max() <= 1


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_a_full_factorial_design_is_independent_and_copies_are_alike(kernel):
    design = np.array([(a, b) for a in np.sqrt(np.arange(5)) for b in np.exp(np.arange(7))])
    assert_array_equal(redundancy(design, kernel=kernel), np.eye(2))
    found = redundancy(np.outer(np.random.default_rng(2).normal(size=40), np.arange(1, 12)), kernel=kernel)
    assert_allclose(found, 1, rtol=1e-13)
    assert found.max() <= 1


def test_constant_features():
    X = table()
    X[:, [1, 3]] = [5.0, 0.1]
    found = redundancy(X)
    assert_array_equal(found[[1, 3]], np.eye(7)[[1, 3]])
    assert_allclose(found[np.ix_([0, 2, 4], [0, 2, 4])], redundancy(X[:, [0, 2, 4]]), rtol=1e-12)
    assert_array_equal(redundancy(np.ones((5, 3))), np.eye(3))


def test_which_features():
    X = table()
    whole, chosen = redundancy(X), [4, 0, 2]
    expected = whole[np.ix_(chosen, chosen)]
    mask = np.isin(np.arange(7), chosen)
    for matrix in (X, X.tolist(), sparse.csr_array(X), sparse.coo_matrix(X)):
        assert_allclose(redundancy(matrix, chosen), expected, rtol=1e-12)
        assert_allclose(redundancy(matrix, mask), whole[np.ix_(mask, mask)], rtol=1e-12)
        assert_allclose(redundancy(matrix), whole, rtol=1e-12)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_names(library):
    frames = pytest.importorskip(library)
    X = table()
    data = dict(zip("abcdefg", X.T, strict=True))
    frame = frames.table(data) if library == "pyarrow" else frames.DataFrame(data)
    chosen = [4, 0, 2]
    expected = redundancy(X, chosen)
    assert_allclose(redundancy(frame, ["e", "a", "c"]), expected, rtol=1e-12)
    assert_allclose(redundancy(frame, chosen), expected, rtol=1e-12)
    assert_allclose(redundancy(frame), redundancy(X), rtol=1e-12)
    assert redundancy(frame, "e") == [[1.0]]
    with pytest.raises(ValueError, match=r"features has 'z', which is not a column; accepted: .*'a', 'b'"):
        redundancy(frame, ["a", "z"])
    data["c"], data["f"] = np.where(np.arange(60) == 7, np.nan, data["c"]), np.arange(60) % 3
    frame = frames.table(data) if library == "pyarrow" else frames.DataFrame(data)
    with pytest.raises(ValueError, match=r"X contains NaN .*row 7, column 'c'"):
        redundancy(frame, ["b", "c"], missing="error")
    whole = redundancy(frame, categorical_features=["f"])
    assert not np.allclose(whole, redundancy(frame))
    positions = [3, 5, 0]
    for town in ("f", ["f"], [5], np.arange(7) == 5):
        found = redundancy(frame, positions, categorical_features=town)
        assert_allclose(found, whole[np.ix_(positions, positions)], rtol=1e-12)


HOLE = np.where(np.arange(420).reshape(60, 7) == 26, np.nan, table())  # row 3, column 5


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (table(), {"features": [0, 7]}, "features has 7, which is not a column; accepted: .* columns among 0, 1"),
        (table(), {"features": []}, r"features is \[\]; accepted: one or more"),
        (table(), {"features": [True, False]}, "features is a mask of 2 columns; accepted: a mask of 7"),
        (HOLE, {"features": [4, 5], "missing": "error"}, r"X contains NaN .*row 3, column 5"),
        (table(), {"kernel": "precomputed"}, "kernel is 'precomputed'"),
        (table(), {"kernel": Gaussian("optimise")}, "'optimise', which needs labels"),
        (table() * 1e200, {"standardize": False}, r"X has values up to .*; accepted with standardize=False: up to 1e"),
    ],
)
def test_what_is_refused(X, options, message):
    with pytest.raises(ValueError, match=message):
        redundancy(X, **options)
