"""Samples of kernels: rows of numbers, labels and weights, and how others are refused."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from bahsic.kernels import Delta, Gaussian


def as_rows(X, argument):
    return Gaussian().rows(X, argument)


def as_labels(y, argument):
    return Delta().rows(y, argument)


@pytest.mark.parametrize("values", [[1, 2], (1.0, 2.0), np.array([1, 2], dtype=np.int8), [True, False]])
def test_numbers_become_a_column_of_float64(values):
    rows = as_rows(values, "x")
    assert rows.dtype == np.float64
    assert_array_equal(rows[:, 0], values)


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ([1.0, np.nan, np.inf], ValueError, r"x has 2 entries that are NaN or infinite, the first \(nan\) in row 1"),
        ([1.0, None], ValueError, "x has 1 entries that are NaN"),
        ([1j, 2.0], TypeError, "x has dtype complex128 .*accepted: real numbers"),
        (["1", "2"], TypeError, "x has dtype <U1 .first value .*'1'.*accepted: real numbers"),
        (
            np.array([[1.0, 2.0, "a"], ["b", "c", 3.0]], dtype=object),
            TypeError,
            r"^x has strings, the first \('a'\) in row 0, column 2; accepted: real numbers, such as a column of zeros",
        ),
        (np.array([1.0, {}], dtype=object), TypeError, "x has values that are not real numbers"),
        (np.array(["2020-01-01"], dtype="M8[D]"), TypeError, "x has dtype datetime64"),
        ([], ValueError, r"x has shape \(0,\); accepted: one or two dimensions, at least one"),
        (np.ones((3, 0)), ValueError, r"x has shape \(3, 0\)"),
        ([[1, 2], [3]], ValueError, "x is not a rectangular array"),
        (sparse.eye_array(3), TypeError, r"x is a sparse .*x.toarray\(\)"),
        (np.ma.masked_less([1.0, 2.0], 1.5), ValueError, "x has masked entries"),
    ],
)
def test_what_are_no_rows_of_numbers(values, error, message):
    with pytest.raises(error, match=message):
        as_rows(values, "x")


def test_labels_keep_their_type():
    assert as_labels([1, 2], "y").dtype.kind == "i"
    assert as_labels([True, False], "y").dtype.kind == "b"
    assert as_labels(np.array([True, False], dtype=object), "y").dtype.kind == "b"
    assert as_labels(np.array(["a", "b"]), "y").tolist() == [["a"], ["b"]]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames(library):
    frames = pytest.importorskip(library)
    frame = frames.table if library == "pyarrow" else frames.DataFrame
    assert_array_equal(as_rows(frame({"a": [1, 2], "b": [0.5, 1.5]}), "x"), [[1.0, 0.5], [2.0, 1.5]])
    with pytest.raises(ValueError, match=r"x has 1 .* in row 1, column 'age'; accepted"):
        as_rows(frame({"height": [1.0, 2.0], "age": [1.0, None]}), "x")
    with pytest.raises(TypeError, match=r"x has .* the first .*, column 'colour'; accepted"):
        as_rows(frame({"height": [1.0, 2.0], "colour": ["red", None]}), "x")
    if library == "polars":
        with pytest.raises(TypeError, match=r"x is of type LazyFrame; accepted: .*x.collect\(\)"):
            as_rows(frame({"age": [1.0]}).lazy(), "x")


def test_series_and_types_of_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2], "b": [0.5, 1.5]})
    assert_array_equal(as_rows(frame["a"], "x"), [[1.0], [2.0]])
    assert as_rows(frame.astype(np.float32), "x").dtype == np.float32
    for kind in (object, "category", "string"):
        colours = pandas.DataFrame({"height": [1.0, 2.0], "colour": pandas.Series(["red", None], dtype=kind)})
        with pytest.raises(TypeError, match=r"X has strings, the first \('red'\) in row 0, column 'colour'; accepted"):
            as_rows(colours, "X")
    for function in (as_rows, as_labels):
        assert_array_equal(function(pandas.Series([1, 2], dtype="Int64"), "y"), [[1], [2]])
        with pytest.raises(ValueError, match=r"y has 1 .* the first .*1"):
            function(pandas.Series([1, None], dtype="Int64"), "y")
    with pytest.raises(ValueError, match=r"X has 1 entries that are NaN .*\(nan\) in row 0, column 'age'; accepted"):
        as_rows(pandas.DataFrame({"height": [1.0, 2.0], "age": pandas.array([None, 3], dtype="Int64")}), "X")
    assert as_labels(pandas.Series(["a", "b"], dtype="category"), "y").tolist() == [["a"], ["b"]]
    assert as_labels(pandas.Series([True, False], dtype="boolean"), "y").dtype.kind == "b"
