"""What users pass as X, read as a table, and how it is refused."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from bahsic import BAHSIC
from bahsic.data.tables import as_table

# One table in every container: a name, then what its entries are.
COLUMNS = {
    "height": [1.5, None, 0.5, 2.0],
    "colour": ["red", "blue", None, "red"],
    "n": [3, 1, 2, 2],
    "smokes": [True, False, True, None],
}
CODES = np.array([[1.5, 1.0, 3.0, 1.0], [np.nan, 0.0, 1.0, 0.0], [0.5, np.nan, 2.0, 1.0], [2.0, 1.0, 2.0, np.nan]])
CATEGORIES = {1: ["blue", "red"], 3: [False, True]}


def in_pandas(columns):
    return pytest.importorskip("pandas").DataFrame(columns)


def in_nullable_pandas(columns):
    with np.errstate(invalid="ignore"):  # pandas 2 tries whether infinity is an integer
        return in_pandas(columns).convert_dtypes()


def in_arrow_pandas(columns):
    pytest.importorskip("pyarrow")
    with np.errstate(invalid="ignore"):
        return in_pandas(columns).convert_dtypes(dtype_backend="pyarrow")


def in_polars(columns):
    return pytest.importorskip("polars").DataFrame(columns)


def in_pyarrow(columns):
    return pytest.importorskip("pyarrow").table(columns)


def in_record_batch(columns):
    return in_pyarrow(columns).to_batches()[0]


def in_objects(columns):
    array = np.empty((4, len(columns)), dtype=object)
    for j, entries in enumerate(columns.values()):
        array[:, j] = entries
    return array


def in_lists(columns):
    return [list(row) for row in zip(*columns.values(), strict=True)]


FRAMES = [in_pandas, in_nullable_pandas, in_arrow_pandas, in_polars, in_pyarrow, in_record_batch]
CONTAINERS = [*FRAMES, in_objects, in_lists]


def assert_same_categories(found, expected):
    assert {j: categories.tolist() for j, categories in found.items()} == expected


# The same table through each container


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_gives_the_same_table(container):
    for categorical in ([1, 3], "from_dtype", *([["smokes", "colour"]] if container in FRAMES else [])):
        table = as_table(container(COLUMNS), categorical, missing="neutral")
        assert_array_equal(table.values, CODES)
        assert table.values.dtype == np.float64
        assert table.categorical.tolist() == [False, True, False, True]
        assert_same_categories(table.categories, CATEGORIES)
    if container in FRAMES:
        assert table.names.tolist() == list(COLUMNS)
        assert all(type(name) is str for name in table.names)


def large(container, gap):
    """Write whole numbers as the only column of a table, an array, or a frame of the given type."""
    if container == "array":
        return lambda k: np.array([[value, 1] for value in k], dtype=np.uint64 if min(k) > 0 else np.int64)
    dtypes = {in_pandas: "Int64" if gap else "int64", in_nullable_pandas: "Int64", in_arrow_pandas: "int64[pyarrow]"}
    if container in dtypes:
        pandas = pytest.importorskip("pandas")
        return lambda k: pandas.DataFrame({"a": pandas.array(k, dtype=dtypes[container])})
    return lambda k: container({"a": k})


@pytest.mark.parametrize("gap", [False, True])
@pytest.mark.parametrize("container", ["array", *CONTAINERS])
@pytest.mark.parametrize("offset", [2**62, 2**62 - 10**9, -(2**62)])
def test_large_integers_keep_their_differences(container, gap, offset):
    entries = [offset + k for k in (3, 0, 7, 1)]
    if gap and container != "array":
        entries[1] = None
    X = large(container, gap)(entries)
    expected = [np.nan if entry is None else entry - min(filter(None, entries)) for entry in entries]
    assert_array_equal(as_table(X, missing="neutral").values[:, 0], expected)
    levels = sorted(filter(None, entries))
    expected = [np.nan if entry is None else levels.index(entry) for entry in entries]
    assert_array_equal(as_table(X, [0], missing="neutral").values[:, 0], expected)


def test_large_integers_beside_categories_keep_their_differences():
    X = np.array([[0, 2**60], [1, 2**60 + 1], [0, 2**60 + 5]])
    assert_array_equal(as_table(X, [0]).values, [[0, 0], [1, 1], [0, 5]])


@given(
    st.lists(st.one_of(st.none(), st.sampled_from(["a", "b", "A", ""]), st.integers(-2, 2)), min_size=1), st.randoms()
)
def test_codes_do_not_depend_on_the_order_of_rows(entries, random):
    entries = [*entries, "z"]  # one is observed
    order = random.sample(range(len(entries)), len(entries))
    table, shuffled = (
        as_table([[entry] for entry in rows], [0], missing="neutral") for rows in (entries, [entries[i] for i in order])
    )
    assert_array_equal(table.values[order], shuffled.values)
    assert_same_categories(table.categories, {0: shuffled.categories[0].tolist()})
    for entry, code in zip(entries, table.values[:, 0], strict=True):
        assert np.isnan(code) if entry is None else table.categories[0][int(code)] == entry


@pytest.mark.parametrize("array", [[[3.0], [-1.0], [np.nan], [3.0]], np.array([[3], [-1], [3], [7]], dtype=np.int8)])
def test_numbers_may_be_categories(array):
    array = np.asarray(array)
    table = as_table(array, [True], missing="neutral")
    levels = np.unique(array[~np.isnan(array)])
    assert_array_equal(table.values[:, 0], [np.nan if np.isnan(x) else levels.tolist().index(x) for x in array[:, 0]])
    assert_array_equal(table.categories[0], levels)
    assert table.categories[0].dtype == array.dtype


# Arrays


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_floats_are_not_copied(dtype, order, tmp_path):
    X = np.ones((3, 2), dtype=dtype, order=order)
    X.setflags(write=False)
    assert as_table(X).values is X
    assert as_table(X, "from_dtype").values is X
    np.save(tmp_path / "X.npy", X)
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert np.shares_memory(as_table(X).values, X)
    X = sparse.csc_matrix(sparse_example(dtype))
    X.data.setflags(write=False)
    assert np.shares_memory(as_table(X).values.data, X.data)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float16, np.longdouble, object])
def test_other_numbers_become_float64(dtype):
    for categorical in (None, [0]):
        table = as_table(np.array([[1, 0], [0, 1]], dtype=dtype), categorical)
        assert table.values.dtype == np.float64
        assert_array_equal(table.values, [[1.0, 0.0], [0.0, 1.0]])


@pytest.mark.parametrize("missing", [None, float("nan"), np.float32("nan"), Decimal("nan"), np.datetime64("NaT")])
@pytest.mark.parametrize("categorical", [None, [0]])
def test_what_counts_as_missing(missing, categorical):
    X = np.array([[2], [missing], [Decimal("0.5")]], dtype=object)
    expected = [2.0, np.nan, 0.5] if categorical is None else [1, np.nan, 0]
    assert_array_equal(as_table(X, categorical, missing="neutral").values[:, 0], expected)


def test_masked_entries_are_missing():
    X = np.ma.masked_array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    assert_array_equal(as_table(X, missing="neutral").values, [[1, np.nan], [3, 4]])
    with pytest.raises(ValueError, match="1 entry, in row 0, column 1"):
        as_table(X)


@pytest.mark.parametrize("dtype", ["U1", "S1", "T", object])
def test_arrays_of_strings(dtype):
    X = np.array([["b", "x"], ["a", "x"]]).astype("S1" if dtype == "S1" else dtype)
    table = as_table(X, "from_dtype")
    assert table.categorical.all()
    assert_array_equal(table.values, [[1, 0], [0, 0]])
    assert as_table([[10.0, "a"], [9.0, "b"]], "from_dtype").values.tolist() == [[10.0, 0.0], [9.0, 1.0]]


# Sparse


def sparse_example(dtype=np.float64):
    dense = np.zeros((5, 4), dtype=dtype)
    dense[[0, 2, 4, 4], [1, 3, 1, 0]] = [1, 2, 3, 1]
    return dense


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, bool])
@pytest.mark.parametrize("kind", ["coo", "csr", "csc"])
def test_entries_given_twice_are_added(kind, dtype):
    big = 100 if dtype is np.int8 else 1  # twice as much is beyond int8
    data, twice = np.array([big, big], dtype=dtype), np.array([1, 1])
    X = {
        "coo": sparse.coo_array((data, (twice, np.array([0, 0]))), shape=(3, 1)),
        "csr": sparse.csr_array((data, np.array([0, 0]), np.array([0, 0, 2, 2])), shape=(3, 1)),
        "csc": sparse.csc_array((data, twice, np.array([0, 2])), shape=(3, 1)),
    }[kind]
    values = as_table(X).values
    assert type(values) is sparse.csc_array
    assert values.dtype == (np.float32 if dtype is np.float32 else np.float64)
    assert values.data.tolist() == [2 * big]
    assert X.data.tolist() == [big, big]


def test_missing_entries_of_sparse_data():
    X = sparse_example()
    X[3, 1] = X[2, 1] = np.nan
    with pytest.raises(ValueError, match=r"X contains NaN or null: 2 entries, the first in row 2, column 1; accepted"):
        as_table(sparse.csr_array(X))
    assert_array_equal(as_table(sparse.csr_array(X), missing="neutral").values.toarray(), X)
    X[:, 2] = np.nan
    with pytest.raises(ValueError, match="X has no observed entry in column 2"):
        as_table(sparse.csr_array(X), missing="neutral")


def test_sparse_pandas():
    pandas = pytest.importorskip("pandas")
    dense = sparse_example()
    frame = pandas.DataFrame.sparse.from_spmatrix(sparse.csr_array(dense), columns=list("abcd"))
    table = as_table(frame)
    assert_array_equal(table.values.toarray(), dense)
    assert table.names.tolist() == list("abcd")
    assert_array_equal(as_table(frame.assign(e=1.0)).values, np.column_stack([dense, np.ones(5)]))
    filled = pandas.DataFrame({"a": pandas.arrays.SparseArray([1.0, 1.0, 0.0], fill_value=1.0)})
    assert_array_equal(as_table(filled).values, [[1.0], [1.0], [0.0]])


# Types of dataframes


def in_type(library, dtype, entries):
    """A frame with one column of a type of strings, categories or booleans."""
    frames = pytest.importorskip(library)
    if library == "pandas":
        column = (
            frames.Categorical(entries, ["z", "b", "a"])
            if dtype == "unordered"
            else frames.Series(entries, dtype=dtype)
        )
        return frames.DataFrame({"c": column})
    if library == "polars":
        kind = frames.Enum(["z", "b", "a"]) if dtype == "Enum" else getattr(frames, dtype)
        return frames.DataFrame({"c": frames.Series(entries, dtype=kind)})
    if dtype == "dictionary":
        return frames.table({"c": frames.array(entries).dictionary_encode()})
    return frames.table({"c": frames.array(entries, getattr(frames, dtype)())})


@pytest.mark.parametrize(
    ("library", "dtype"),
    [("pandas", name) for name in ("category", "unordered", "string", "object", "boolean")]
    + [("polars", name) for name in ("Categorical", "Enum", "String", "Boolean")]
    + [("pyarrow", name) for name in ("dictionary", "string", "large_string", "string_view", "bool_")],
)
def test_categorical_types(library, dtype):
    entries = [True, None, False] if dtype.lower().startswith("bool") else ["b", None, "a"]
    table = as_table(in_type(library, dtype, entries), "from_dtype", missing="neutral")
    assert_array_equal(table.values[:, 0], [1, np.nan, 0])
    assert_same_categories(table.categories, {0: [entries[2], entries[0]]})  # not "z", which does not occur


@pytest.mark.parametrize(("library", "dtype"), [("pandas", "category"), ("pyarrow", "dictionary")])
def test_numbers_of_a_categorical_type(library, dtype):
    X = in_type(library, dtype, [7, 5, 7])
    assert_same_categories(as_table(X, "from_dtype").categories, {0: [5, 7]})
    with pytest.raises(TypeError, match=r"column 'c' of X has strings or categories .*'from_dtype'"):
        as_table(X)
    numbers = in_type("pandas", object, [1, 2])
    assert not as_table(numbers, "from_dtype").categorical.any()
    assert as_table(numbers.astype(np.float32)).values.dtype == np.float32
    assert as_table(numbers.astype(np.float32).assign(d=[1, 2])).values.dtype == np.float64


def test_names_that_are_no_strings_or_duplicates():
    pandas = pytest.importorskip("pandas")
    for names in ([0, 1], ["a", 1], [("a", "b"), ("a", "c")]):
        frame = pandas.DataFrame(np.ones((2, 2)), columns=pandas.Index(names, tupleize_cols=False))
        assert as_table(frame).names is None
    with pytest.raises(ValueError, match="X has 2 columns called 'b'; accepted: names that differ"):
        as_table(pandas.DataFrame(np.ones((2, 3)), columns=["a", "b", "b"]))


# Dates


DAYS = np.array(["2020-02-01", "2020-02-03", "NaT", "2021-02-01"], dtype="M8[ns]")


def test_dates_are_days_in_every_type():
    pandas, polars, _ = (pytest.importorskip(library) for library in ("pandas", "polars", "pyarrow"))
    stamps = pandas.Series(DAYS)
    dates = [None if stamp is pandas.NaT else stamp.date() for stamp in stamps]
    hours = pandas.Series(DAYS + np.timedelta64(6, "h")).dt.tz_localize("UTC")
    columns = [stamps, stamps.dt.tz_localize("UTC"), hours.dt.tz_convert("Asia/Tokyo"), stamps.astype("M8[s]")]
    columns += [pandas.Series(dates), pandas.Series(dates).astype("date32[pyarrow]")]
    frames = [pandas.DataFrame({"when": column}) for column in (*columns, stamps.astype("timestamp[us][pyarrow]"))]
    frame = polars.DataFrame({"day": dates}).with_columns(time=polars.col("day").cast(polars.Datetime("us")))
    for X in (*frames, frame[["day"]], frame[["time"]]):
        table = as_table(X, missing="neutral")
        since = 18293.25 if X is frames[2] else 18293  # days since 1970
        assert_array_equal(table.values[:, 0] - since, [0, 2, np.nan, 366])
        assert table.special == {0: ("date", "in days")}


def test_durations_and_times_of_the_day():
    pandas = pytest.importorskip("pandas")
    away = [dt.timedelta(days=2), dt.timedelta(hours=1)]
    columns = {"long": pandas.to_timedelta([36, 12], unit="h"), "at": [dt.time(12), dt.time(6, 30)], "away": away}
    expected = [[1.5, 0.5, 2], [0.5, 6.5 / 24, 1 / 24]]
    assert_allclose(as_table(pandas.DataFrame(columns)).values, expected, rtol=1e-15)


# Refused


@pytest.mark.parametrize("container", FRAMES)
@pytest.mark.parametrize(
    ("column", "error", "message"),
    [
        (["u", None, "v", "u"], TypeError, r"column 'bad' of X has strings or categories \(dtype .*'from_dtype'"),
        (
            [1.0, None, 2.0, None],
            ValueError,
            r"NaN or null: 2 entries, the first in row 1, column 'bad'; .*'indicator'",
        ),
        ([1.0, 2.0, np.inf, 1.0], ValueError, "X contains infinity: 1 entry, in row 2, column 'bad'"),
    ],
)
def test_errors_name_the_column(container, column, error, message):
    with pytest.raises(error, match=message):
        as_table(container({"good": [1.0, 2.0, 3.0, 4.0], "bad": column}))


@pytest.mark.parametrize("container", FRAMES)
def test_columns_without_any_observed_entry(container):
    X = container({"good": [1.0, None, 3.0], "bad": [None, None, None]})
    for categorical in (None, ["bad"]):
        table = as_table(X, categorical, missing="neutral")
        assert table.special == {1: ("empty", "no entry")}
        assert table.values[:, 1].tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="X has no observed entry in column 1; accepted: some"):
        as_table([[1.0, np.nan], [2.0, np.nan]], missing="neutral")


@pytest.mark.parametrize("missing", ["error", "neutral"])
@pytest.mark.parametrize("X", [[[1.0, np.nan], [0.0, -np.inf]], [[np.inf, np.nan], [0.0, 0.0]], [[1.0, -np.inf]]])
def test_infinite_values_are_always_refused(X, missing):
    row, column = np.argwhere(np.isinf(X))[0]
    with pytest.raises(ValueError, match=f"X contains infinity: 1 entry, in row {row}, column {column}"):
        as_table(X, missing=missing)
    for categories in (X, np.array(X, dtype=object)):
        with pytest.raises(ValueError, match=f"column {column} of X contains infinity"):
            as_table(categories, [0, 1], missing=missing)
    with pytest.raises(ValueError, match=f"X contains infinity: 1 entry, in row {row}, column {column}"):
        as_table(sparse.coo_array(X), missing=missing)


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ([1.0, 2.0], ValueError, r"X has shape \(2,\); .*X.reshape\(-1, 1\)"),
        (3.0, ValueError, r"X has shape \(\); accepted: samples x features"),
        (np.ones((2, 2, 2)), ValueError, r"X has shape \(2, 2, 2\); accepted: samples x features"),
        (sparse.coo_array(np.ones(3)), ValueError, r"X has shape \(3,\); accepted: samples x features"),
        (np.ones((12, 0)), ValueError, r"0 feature\(s\) \(shape=\(12, 0\)\) while a minimum of 1 is required"),
        (np.ones((0, 3)), ValueError, r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required"),
        (sparse.csr_array((0, 3)), ValueError, r"0 sample\(s\) \(shape=\(0, 3\)\)"),
        ([[1, 2], [3]], ValueError, "X is not a rectangular array"),
        (np.array([[1j]]), ValueError, "Complex data not supported"),
        (sparse.csr_array([[1j]]), ValueError, "Complex data not supported: X is sparse of dtype complex128"),
        (np.array([[1.0, 1j]], dtype=object), TypeError, "column 1 of X has dtype object .*accepted: real numbers"),
        (np.array([[1.0, {}]], dtype=object), TypeError, "column 1 of X has .*argument must be a string or a real"),
        (np.array([[10**400], [0]], dtype=object), TypeError, "column 0 of X has values that are not real numbers"),
        (np.array([[np.longdouble("1e400")]]), ValueError, "X contains infinity: 1 entry, in row 0, column 0"),
        (np.array([["1", "2"]]), TypeError, "column 0 of X has strings .*has 'from_dtype'"),
        (np.array([[1.0, "2"]], dtype=object), TypeError, "column 1 of X has strings"),
        ({"a": [1.0]}, ValueError, r"X has shape \(\); accepted: samples x features"),
    ],
)
def test_what_is_no_table(X, error, message):
    with pytest.raises(error, match=message):
        as_table(X)


def test_options_that_are_refused():
    with pytest.raises(ValueError, match=r"^Z contains NaN"):
        as_table([[np.nan]], argument="Z")
    with pytest.raises(ValueError, match=r"categorical_features is .b.; accepted: .from_dtype."):
        as_table([[1.0]], "b", argument="Z")
    with pytest.raises(ValueError, match="missing is 'drop'; accepted: 'error', 'neutral'"):
        as_table([[1.0]], missing="drop")
    X = np.empty((2, 2), dtype=object)
    X[:, 0], X[0, 1], X[1, 1] = 1.0, [1], [2]
    with pytest.raises(TypeError, match=r"column 1 of X has values that are not categories .unhashable"):
        as_table(X, [1])
    X[0, 1], X[1, 1] = (1,), 1
    with pytest.raises(TypeError, match=r"column 1 of X has values that are not categories .*not supported"):
        as_table(X, [1])


# Choices of columns


def fitted(n=1, **options):
    frame = pytest.importorskip("pandas").DataFrame(np.random.default_rng(0).normal(size=(20, 4)), columns=list("abcd"))
    return BAHSIC(n, step=1, **options).fit(frame, np.resize([0, 1], 20))


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ("c", [2]),
        (np.int32(3), [3]),
        (["d", "a", "d"], [0, 3]),
        ({"b", "c"}, [1, 2]),
        (np.array(["b", "c"]), [1, 2]),
        (np.array([3, 0], dtype=np.uint8), [0, 3]),
        (range(2), [0, 1]),
        (np.array([False, True, True, False]), [1, 2]),
    ],
)
def test_columns_that_are_kept(columns, expected):
    assert fitted(len(expected), keep=columns).get_support(indices=True).tolist() == expected


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        (np.array(["y", "x", "x", "x"]), [[0], [1, 2, 3]]),
        (["x", 1, "x", 1], [[0, 2], [1, 3]]),
        ([[3, 1], [0]], [[0], [1, 3], [2]]),
        (np.array([[0, 2], [1, 3]]), [[0, 2], [1, 3]]),
        ({"ends": ["a", "d"], "b": "b"}, [[0, 3], [1], [2]]),
        ({"ends": [True, False, False, True]}, [[0, 3], [1], [2]]),
        ({0: [0, 1], 5: [3]}, [[0, 1], [2], [3]]),
    ],
)
def test_groups_leave_together(groups, expected):
    assert sorted(sorted(step.features) for step in fitted(feature_groups=groups).path_) == expected


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"keep": "e"},
            ValueError,
            "'e', which is not a column; accepted: a mask, or columns among 'a', 'b', 'c', 'd'$",
        ),
        ({"keep": ["a", 11]}, ValueError, "keep has 11, which is not a column"),
        ({"keep": [0, -1]}, ValueError, "keep has -1, which is not a column"),
        ({"keep": [1, True]}, ValueError, "keep has True, which is not a column"),
        ({"keep": [True, False]}, ValueError, "keep is a mask of 2 columns; accepted: a mask of 4"),
        ({"keep": 1.5}, TypeError, "keep is 1.5"),
        ({"keep": [[0], [1]]}, ValueError, r"keep has \[0\], which is not a column"),
        ({"feature_groups": []}, ValueError, "feature_groups has 0 labels"),
        ({"feature_groups": {"x": [0, 0]}}, ValueError, "feature_groups has column 'a' twice: in 'x' and 'x'"),
        ({"feature_groups": [["a", "e"]]}, ValueError, "feature_groups has 'e', which is not a column"),
        ({"feature_groups": {"c": ["a", "b"]}}, ValueError, "the label 'c', which is a column in none of the groups"),
        ({"feature_groups": [True, False, True, True]}, TypeError, "feature_groups has the label True"),
        ({"feature_groups": [0.5] * 4}, TypeError, "feature_groups has the label 0.5"),
        ({"feature_groups": [0, 0, 1]}, ValueError, "feature_groups has 3 labels; accepted: one for each of 4 columns"),
        ({"feature_groups": [[0, 1], [1, 2]]}, ValueError, "column 'b' twice: in 'group 0' and 'group 1'"),
        ({"feature_groups": {"a": []}}, ValueError, "feature_groups has no column in 'a'"),
        ({"feature_groups": 3}, TypeError, "feature_groups is 3"),
        ({"feature_groups": "abcd"}, TypeError, "feature_groups is 'abcd'; accepted: a list or an array"),
    ],
)
def test_what_are_no_columns_or_groups(options, error, message):
    with pytest.raises(error, match=message):
        fitted(**options)


def test_a_column_of_infinity_alone_is_refused_without_a_warning():
    pandas = pytest.importorskip("pandas", reason="a frame of pandas")
    with pytest.raises(ValueError, match="X contains infinity: 30 entries, the first in row 0, column 'bad'"):
        BAHSIC(1).fit(pandas.DataFrame({"a": np.arange(30) % 7, "bad": np.inf}), np.arange(30) % 2)
