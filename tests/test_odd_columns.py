"""Columns that are neither numbers nor categories, and files that write numbers in unusual ways."""

import uuid

import numpy as np
import pytest
from scipy import io as scipy_io
from scipy import sparse

from bahsic import BAHSIC, FOHSIC, hsic, hsic_scores, hsic_test
from bahsic.files import DataError, read_data
from command import write_frame

M = 24
X = np.random.default_rng(0).standard_normal(M)
Y = (X > 0).astype(int)


def refused(frame, *words):
    with pytest.raises(TypeError) as caught:
        BAHSIC(1, criterion="hsic").fit(frame, Y)
    message = str(caught.value)
    assert "column 's' of X has" in message
    assert "accepted: " in message
    for word in words:
        assert word in message


NESTED = {
    "list": [[1.0, 2.0]] * M,
    "ragged list": [[1.0] * (i % 3) for i in range(M)],
    "list of strings": [["a", "b"]] * M,
    "struct": [{"u": 1, "v": 2.0}] * M,
}


@pytest.mark.parametrize("kind", [*NESTED, "array", "array of strings"])
def test_nested_columns_are_refused_by_name(kind):
    polars = pytest.importorskip("polars", reason="a frame of polars")
    if kind in NESTED:
        pyarrow = pytest.importorskip("pyarrow", reason="a table of pyarrow")
        refused(pyarrow.table({"a": X, "s": NESTED[kind]}), "one number or category in each row")
        column = NESTED[kind]
    else:
        of, values = (polars.String, ["a", "2"]) if "strings" in kind else (polars.Float64, [1.0, 2.0])
        column = polars.Series([values] * M, dtype=polars.Array(of, 2))
    refused(polars.DataFrame({"a": X, "s": column}), "one number or category in each row")


@pytest.mark.parametrize(
    "values",
    [[uuid.UUID(int=i) for i in range(M)], [object()] * M, [{"a": 1}] * M, [[1, 2]] * M, "interval"],
    ids=["UUID", "object", "dict", "list", "interval"],
)
def test_objects_in_columns_of_pandas_are_refused_by_name(values):
    pandas = pytest.importorskip("pandas", reason="a frame of pandas")
    column = pandas.arrays.IntervalArray.from_breaks(range(M + 1)) if values == "interval" else values
    refused(pandas.DataFrame({"a": X, "s": column}), "strings and categorical types for categories")


@pytest.mark.parametrize("large", [2**62, 2**63])
def test_large_integers_beside_fractions_in_a_frame(large):
    pandas = pytest.importorskip("pandas", reason="a frame of pandas")
    whole = np.array([large + int(y) for y in Y], dtype=np.uint64)
    fitted = BAHSIC(1).fit(pandas.DataFrame({"whole": whole, "noise": X[::-1]}), Y)
    assert fitted.get_feature_names_out().tolist() == ["whole"]


@pytest.mark.parametrize("function", [BAHSIC(1).fit, hsic_scores], ids=["fit", "hsic_scores"])
@pytest.mark.parametrize(("x", "words"), [(X, "X has shape (24,)"), (X[:, None] + 1j, "X has dtype complex128")])
def test_arrays_of_a_wrong_kind_are_not_shown_entry_by_entry(function, x, words):
    with pytest.raises(ValueError, match="accepted: ") as caught:
        function(x, Y)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_function_as_kernel_takes_no_sparse_matrix():
    with pytest.raises(TypeError, match=r"x is a sparse matrix.*accepted: x.toarray\(\)"):
        hsic(sparse.csr_array(X[:, None]), Y, kernel=lambda a, b: a @ b.T)


@pytest.mark.parametrize("method", ["gamma", "permutation", "normal"])
@pytest.mark.parametrize("kernel", ["gaussian", "linear", "laplacian", "polynomial"])
@pytest.mark.parametrize("scale", [1e-162, 1e-200, 1e-300, 5e-322, 1e150])
def test_p_values_are_numbers_in_any_units(scale, kernel, method):
    for standardize in (True, False):
        try:
            found = hsic_test(
                X * scale, Y, method=method, kernel=kernel, standardize=standardize, n_permutations=19, random_state=0
            )
        except ValueError as error:
            assert method == "normal" or standardize is False, error  # noqa: PT017
        else:
            assert 0 <= found.pvalue <= 1
            assert np.isfinite(found.statistic)


def test_the_p_value_of_an_indefinite_kernel_is_a_number():
    found = hsic_test(X[:, None], Y, kernel=lambda a, b: -(a @ b.T), method="gamma")
    assert found.pvalue == 1


@pytest.mark.parametrize("selector", [BAHSIC, FOHSIC])
def test_selections_of_tiny_numbers(selector):
    Z = np.random.default_rng(1).standard_normal((M, 13))
    fitted = selector(3, standardize=False).fit(Z * 1e-160, Y)
    assert np.isfinite(fitted.scores_).all()
    assert fitted.n_features_ == 3


# --- files -------------------------------------------------------------------------------------------------------


@pytest.fixture
def read_column(tmp_path):
    """Return a function that reads a column of texts from a CSV file."""
    pytest.importorskip("pandas", reason="CSV is read by pandas")

    def read(*texts):
        rows = [f"{a},{texts[i % len(texts)]},{b}" for i, (a, b) in enumerate(zip(X, Y, strict=True))]
        (tmp_path / "t.csv").write_text("\n".join(["a,b,y", *rows]), encoding="utf-8")
        data = read_data(tmp_path / "t.csv", "y")
        return data.X["b"].tolist()[: len(texts)], data.notes

    return read


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["\N{MINUS SIGN}1.5", "2.5", "\N{MINUS SIGN}3e-2"], [-1.5, 2.5, -0.03]),
        *(([text, "5", "red"], [text, "5", "red"]) for text in ("1 23", "12 34", "1234 567", "1 2 3")),
        *(([text, "1", "2"], [float(text), 1.0, 2.0]) for text in (f"{2**63}", "1" * 60, f"{-(2**64) - 1}")),
    ],
)
def test_numbers_and_other_texts(read_column, texts, values):
    assert read_column(*texts) == (values, ())


@pytest.mark.parametrize("space", [" ", "\N{NO-BREAK SPACE}", "\N{THIN SPACE}", "\N{NARROW NO-BREAK SPACE}"])
def test_spaces_separate_thousands(read_column, space):
    values, notes = read_column(f"1{space}234", f"-12{space}345.5", "7", f"1{space}000{space}000")
    assert values == [1234.0, -12345.5, 7.0, 1e6]
    assert notes == ("column 'b': spaces separate thousands",)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.feather", "t.npy", "t.arff"])
def test_a_file_with_the_target_only_is_refused(tmp_path, name):
    pandas = pytest.importorskip("pandas", reason="a frame of pandas")
    if name == "t.npy":
        np.save(tmp_path / name, Y[:, None].astype(float))
    else:
        write_frame(tmp_path / name, pandas.DataFrame({"y": Y}))
    with pytest.raises(DataError, match="no column besides the target"):
        read_data(tmp_path / name, 0 if name == "t.npy" else "y")


def test_dictionaries_of_numbers_are_categories_in_every_format(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="the format")
    pytest.importorskip("pandas", reason="the format")
    from pyarrow import feather, parquet

    codes = (np.arange(M) % 3 + 7).tolist()
    table = pyarrow.table({"plain": codes, "d": pyarrow.array(codes).dictionary_encode(), "y": Y})
    parquet.write_table(table, tmp_path / "t.parquet")
    feather.write_feather(table, tmp_path / "t.feather")
    for name in ("t.parquet", "t.feather"):
        data = read_data(tmp_path / name, "y")
        assert [str(dtype) for dtype in data.X.dtypes] == ["int64", "category"]
        assert data.X["d"].tolist() == codes


# --- sparse files ------------------------------------------------------------------------------------------------


def test_memory_of_svmlight_follows_the_entries(tmp_path):
    lines = [f"{y} 1:{x} {2 * 10**9 if y else 5}:1" for x, y in zip(X, Y, strict=True)]
    (tmp_path / "t.svmlight").write_text("\n".join(lines))
    data = read_data(tmp_path / "t.svmlight")
    assert data.names == ["x0", "x4", "x1999999999"]
    assert data.notes == ("3 of 2000000000 columns have entries; the empty ones are left out",)
    np.testing.assert_array_equal(data.X.toarray(), np.column_stack([X, 1 - Y, Y]))
    np.testing.assert_array_equal(data.y, Y)


def test_wide_sparse_matrices_of_matlab_lose_their_empty_columns(tmp_path):
    wide = sparse.csc_matrix((X, (np.arange(M), np.where(Y, 150_000, 3))), shape=(M, 200_000))
    scipy_io.savemat(tmp_path / "t.mat", {"X": wide, "y": Y})
    data = read_data(tmp_path / "t.mat")
    assert data.names == ["x3", "x150000"]
    np.testing.assert_array_equal(data.X.toarray(), wide[:, [3, 150_000]].toarray())
    target = read_data(tmp_path / "t.mat", "x3")
    np.testing.assert_array_equal(target.y, wide[:, [3]].toarray().ravel())


@pytest.mark.parametrize("index", [-5, 99, 2**31 - 1])
@pytest.mark.parametrize("name", ["t.mat", "t.h5ad"])
def test_sparse_indices_outside_the_shape_are_refused(tmp_path, name, index):
    path, rows = tmp_path / name, np.arange(M, dtype=np.int32)
    whole = sparse.csc_matrix((X, (rows, rows % 2)), shape=(M, 2))
    if name == "t.mat":
        whole.indices[3] = index
        scipy_io.savemat(path, {"X": whole, "y": Y})
    else:
        anndata, h5py = pytest.importorskip("anndata", reason="the format"), pytest.importorskip("h5py")
        anndata.AnnData(whole).write_h5ad(path)
        with h5py.File(path, "r+") as file:
            file["X"]["indices"][3] = index
    with pytest.raises(DataError, match="sparse array is damaged"):
        read_data(path)
