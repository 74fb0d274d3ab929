"""Tables as people have them: text that is not quite a table, read with a note on what was decided."""

import gzip
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pytest
from scipy import io as scipy_io
from scipy import sparse

from bahsic.files import DataError, read_data, write_table
from command import needs, run, write_frame

pandas = pytest.importorskip("pandas", reason="text is read by pandas")


@pytest.fixture
def read(tmp_path):
    """Read text that stands in a file."""

    def reader(text, target=None, name="t.csv", encoding="utf-8", **options):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
        return read_data(path, target, **options)

    return reader


@pytest.fixture
def refused(read):
    """The message about text that is not read."""

    def reader(text, *words, **options):
        with pytest.raises(DataError) as caught:
            read(text, **options)
        message = str(caught.value)
        assert "\n" not in message
        for word in words:
            assert word in message
        return message

    return reader


@pytest.fixture
def chunks(request, monkeypatch):
    """Parse so few cells at once."""
    for name, value in {"CELLS_AT_ONCE": request.param, "ROWS_AT_ONCE": 1, "TEXTS_AT_ONCE": request.param}.items():
        monkeypatch.setattr(f"bahsic.files.delimited.{name}", value)


def columns(data):
    """Columns as lists, None where an entry is missing."""
    return {name: [None if pandas.isna(v) else v for v in data.X[name].tolist()] for name in data.names}


# --- header and columns ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("a,b,\n1,x\n3,y\n", "the header ends with a delimiter, which is ignored"),
        ("a,b,\n1,x,\n3,y,\n", "every row, as the header, ends with a delimiter, which is ignored"),
        ("a,b\n1,x,\n3,y,\n", "every row ends with a delimiter, which is ignored"),
        ("a,b, \n1,x, \n3,y,\n", "every row, as the header, ends with a delimiter, which is ignored"),
        ("a,,b\n1,,x\n3,,y\n", "column 2 has neither a name nor entries; left out"),
        (",,a,,b\n1,,1,,x\n2,,3,,y\n", "columns 2, 4 have neither a name nor entries; left out"),
    ],
)
def test_empty_columns_without_a_name_are_left_out(read, text, note):
    data = read(text)
    assert columns(data) == {"a": [1, 3], "b": ["x", "y"]}
    assert data.notes == (note,)
    assert read(text, "a").names == ["b"]


def test_columns_without_a_name_get_one(read):
    data = read(",a,,column 3,,\n9,1,x,5,0,\n8,2,y,6,,\n", "column 5")
    assert columns(data) == {"a": [1], "column 3_": ["x"], "column 3": [5]}
    assert data.y.tolist() == [0]
    assert "2 columns have no name and are called 'column 3_', 'column 5' after their places" in data.notes
    assert read("a,\n1,2\n", drop=["a"]).notes == ("column 2 has no name and is called 'column 2'",)


def test_spaces_around_names_and_cells_do_not_count(read):
    data = read('age , work, "a, b"\n39, State-gov, x\n 50, ?, x \n38 , State-gov , "y, z"\n')
    assert columns(data) == {"age": [39, 50, 38], "work": ["State-gov", None, "State-gov"], "a, b": ["x", "x", "y, z"]}
    assert read("a,a \n1,2\n").names == ["a", "a "]
    assert columns(read("a b\n1 2\n", delimiter=" ")) == {"a": [1], "b": [2]}


# --- delimiters and encodings ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("delimiter", "name"), [(";", "t.csv"), ("\t", "t.csv"), ("|", "t.csv"), (",", "t.tsv")])
def test_the_delimiter_is_found(read, refused, delimiter, name):
    text = "a,b\n1,x\n2,y\n".replace(",", delimiter)
    data = read(text, name=name)
    assert columns(data) == {"a": [1, 2], "b": ["x", "y"]}
    usual = "\t" if name == "t.tsv" else ","
    assert data.notes == (f"the delimiter is {delimiter!r}, not {usual!r}",)
    assert read(text, name=name, delimiter=delimiter).notes == ()
    refused(text, f"give delimiter={delimiter!r}", name=name, delimiter=usual)
    refused(text + delimiter.join("xyz"), "line 4 has 3 cells, the header 2", name=name)


def test_a_delimiter_that_may_be_another_is_refused(read, refused):
    refused("a;b|c\n1;2|3\n", "the delimiter may be ';' or '|'")
    assert columns(read("a;b|c\n1;2\n")) == {"a": [1], "b|c": [2]}
    assert columns(read('"a;b"\n1\n2\n')) == {"a;b": [1, 2]}  # a name in quotes


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_encodings(read, encoding, name):
    text = "a,größe\n1,5€\n2,6€\n3,klein \N{EN DASH} “fein”\n"
    mark = "\ufeff" if encoding in ("utf-16-le", "utf-16-be") else ""
    content = (mark + text).encode(encoding)
    data = read(gzip.compress(content) if name.endswith(".gz") else content, name=name)
    assert columns(data) == {"a": [1, 2, 3], "größe": ["5€", "6€", "klein \N{EN DASH} “fein”"]}
    told = [note for note in data.notes if "UTF-8" in note]
    assert told == (["not UTF-8 (line 1), so read as Windows-1252"] if encoding == "cp1252" else [])


def test_the_line_where_utf_8_fails_is_told(read, monkeypatch):
    for size in (1, 7, 2**20):
        monkeypatch.setattr("bahsic.files.text.BYTES_AT_ONCE", size)
        data = read(b"a,b\n1,2\n\xc3\xa9,x\ncaf\xe9,y\n")
        assert data.notes == ("not UTF-8 (line 4), so read as Windows-1252",)
        assert data.X["a"].tolist() == ["1", "Ã©", "café"]
    assert read(b"a,b\n\x81,1\n").notes == ("not UTF-8 (line 2), so read as Latin-1",)


@pytest.mark.parametrize(
    "content", [b"a,b\n1,\0\n", b"a,b\n\xe9,\x01\n", "a,b\n1,\0\n".encode("utf-16"), b"\xff\xfea,b"]
)
def test_binary_data_are_refused(refused, content):
    message = refused(content)
    assert "binary data, not text" in message or "not UTF-16" in message


# --- missing values ----------------------------------------------------------------------------------------------


def test_marks_are_those_of_pandas_and_more(read):
    from pandas._libs.parsers import STR_NA_VALUES

    marks = sorted(STR_NA_VALUES - {""})
    assert len(marks) > 10
    read_back = read("a;b\n" + "".join(f"{mark};1\n" for mark in [*marks, "?", "-", "."]) + "2;2\n")
    assert read_back.X["a"].tolist()[-1] == 2
    assert read_back.X["a"].isna().sum() == len(marks) + 3


@pytest.mark.parametrize("chunks", [1, 6, 1000], indirect=True)
@pytest.mark.usefixtures("chunks")
def test_marks_among_numbers_dates_and_text(read):
    rows = ["1,-,2024-01-05,2", "?,unknown,.,Missing", "-,red, ,1e3", "3.5,? ,2024-01-06,NA", ".,.,-,4"]
    data = read("n,text,day,m\n" + "\n".join(rows) + "\n")
    days = pandas.to_datetime(["2024-01-05", "2024-01-06"]).tolist()
    assert columns(data) == {
        "n": [1, None, None, 3.5, None],
        "text": ["-", "unknown", "red", None, "."],
        "day": [days[0], None, None, days[1], None],
        "m": [2, None, 1000, None, 4],
    }
    assert len(data.notes) == 1
    counted = data.notes[0].removeprefix("treated as missing values: ").split(", ")
    assert sorted(counted[:3]) == ["'-' in 2 cells", "'.' in 2 cells", "'?' in 2 cells"]
    assert sorted(counted[3:]) == ["'Missing' in 1 cell", "'NA' in 1 cell"]


@pytest.mark.parametrize("chunks", [1, 8, 1000], indirect=True)
@pytest.mark.usefixtures("chunks")
def test_a_column_has_one_type_whatever_the_chunks(read):
    rows = ["1,1,True,,x,one", "2,,False,,,2", "0.5,07,True,,y,3", "-3e2,red,False,,x,4"]
    data = read("\n\nn,t,b,none,x,first\n\n" + "\n".join(rows) + "\n\n", "n")
    assert data.y.tolist() == [1, 2, 0.5, -300]
    assert columns(data) == {
        "t": ["1", None, "07", "red"],
        "b": ["True", "False", "True", "False"],
        "none": [None] * 4,
        "x": ["x", None, "y", "x"],
        "first": ["one", "2", "3", "4"],
    }
    assert data.X["none"].dtype == np.float64


def test_marks_are_counted_in_the_columns_that_are_read(read):
    text = "a,b,c\n?,?,1\n2,NA,\n?,3,n/a\n"
    assert read(text).notes == ("treated as missing values: '?' in 3 cells, 'NA' in 1 cell, 'n/a' in 1 cell",)
    assert read(text, drop=["b", "c"]).notes == ("treated as missing values: '?' in 2 cells",)
    assert read(text, drop=["a", "b"]).notes == ("treated as missing values: 'n/a' in 1 cell",)
    assert read("a,b\n,1\n2,\n").notes == ()
    assert columns(read("a,b\n-,1\n-,2\n")) == {"a": ["-", "-"], "b": [1, 2]}  # marks alone are no numbers


# --- numbers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["-1", "1e-3", "+.5", "1.234"], [-1, 0.001, 0.5, 1.234]),
        (["12%", "12 %", "7.5 %"], [12, 12, 7.5]),
        (["$5", "-$5.00", "$-5.00"], [5, -5, -5]),
        (["5 €", "\N{MINUS SIGN}5", "-Infinity"], [5, -5, -np.inf]),
        (["1\u00a0234\u00a0567", "1 234.5"], [1234567, 1234.5]),
        (["red", "--5", "-$-5", "$5€", "%5", "1_000", "0x10", "12,34,567", "1,2,3", "1.2.3"], None),
        (["2024-05-01 1", "\N{ARABIC-INDIC DIGIT ONE}"], None),
    ],
)
def test_numbers_in_text(read, texts, values):
    for text, value in zip(texts, values or [None] * len(texts), strict=True):
        assert columns(read(f"a;b\n{text};x\n-;y\n"))["a"] == ([text, "-"] if value is None else [value, None])


# Entries of a column; their numbers, or the reason for not reading them, with the delimiters comma, semicolon and bar.
COMMAS = [
    (["1,234,567", "5"], [1234567, 5], [1234567, 5], [1234567, 5]),
    (["1,234.5", "2,000"], [1234.5, 2000], [1234.5, 2000], [1234.5, 2000]),
    (["1,234", "2.5"], [1234, 2.5], [1234, 2.5], [1234, 2.5]),
    (["1,234", "999"], [1234, 999], "commas", "commas"),
    (["1,234", "2,500"], [1234, 2500], [1.234, 2.5], "commas"),
    (["1,5", "2"], "decimal commas", [1.5, 2], [1.5, 2]),
    (["0,123", "1,234"], "decimal commas", [0.123, 1.234], [0.123, 1.234]),
    (["-1234,5", ",5"], "decimal commas", [-1234.5, 0.5], [-1234.5, 0.5]),
    (["1.234,5", "1.234", "0,5"], "decimal commas", [1234.5, 1234, 0.5], [1234.5, 1234, 0.5]),
    (["1,5", "1.5"], "commas and points", "commas and points", "commas and points"),
    (["1,5", "1.234"], "commas and points", "commas and points", "commas and points"),
    (["1,5", "1,234,567"], "commas and points", "commas and points", "commas and points"),
]


@pytest.mark.parametrize(("texts", "comma", "semicolon", "bar"), COMMAS)
def test_what_commas_mean(read, texts, comma, semicolon, bar):
    for delimiter, expected in ((",", comma), (";", semicolon), ("|", bar)):
        content = f"a{delimiter}b\n" + "".join(f'"{text}"{delimiter}x\n' for text in texts)
        if isinstance(expected, str):
            with pytest.raises(DataError, match=rf"column 'a' has (decimal )?{expected}.*, as in '-?[0-9,.]*'; write "):
                read(content, delimiter=delimiter)
        else:
            data = read(content, delimiter=delimiter)
            assert data.X["a"].tolist() == expected
            assert data.X["a"].dtype == np.float64
            thousands = any("," in text and value >= 1000 for text, value in zip(texts, expected, strict=True))
            thousands &= "." not in texts[0] or texts[0] == "1,234.5"
            assert data.notes == (f"column 'a': commas {'separate thousands' if thousands else 'are decimal'}",)


def test_text_is_read_as_pandas_reads_it(read):
    rng = np.random.default_rng(0)
    whole, values = rng.integers(0, 10**8, 500), pandas.DataFrame(rng.standard_normal((50, 3)), columns=["a", "b", "c"])
    data = read(pandas.DataFrame({"a": [f"{value:,}" for value in whole], "b": whole}).to_csv(index=False))
    assert np.array_equal(data.X["a"], whole)
    assert np.array_equal(read(values.to_csv(sep=";", decimal=",", index=False)).X, values)
    stamps = pandas.date_range("1999-12-31 23:59:59", periods=100, freq="37h61s")
    data = read(pandas.DataFrame({"t": stamps, "n": 1.0}).to_csv(index=False))
    assert np.array_equal(data.X["t"].to_numpy(), stamps.to_numpy())
    assert columns(read("zip\n01234\n00501\n")) == {"zip": [1234, 501]}


@pytest.mark.parametrize("chunks", [1, 1000], indirect=True)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a;b\n1,234;0,5\n999;2\n", [1.234, 999]),
        ("a;b\n1,234;0.5\n999;2\n", [1234, 999]),
        ("a;b;c\n1,234;0.5;0,5\n999;2;1\n", "commas, decimal or of thousands, as in '1,234'; write"),
        ('a,b\n2.5,x\n"1,234",y\n', [2.5, 1234]),
        ("a,b\n$2,x\n3,y\n", ["$2", "3"]),
        ("a;b\n2.5;x\n1,5;y\n", "decimal commas and points"),
        ('a,b\n"1,3",1\n"2,3",2\n"1,2,3",3\n', ["1,3", "2,3", "1,2,3"]),  # a list stays text
        ("a;b\n1,5;1\n2,5;2\n3,5;3\nx;4\n", "column 'a' has decimal commas, as in '1,5'; write points"),
    ],
)
@pytest.mark.usefixtures("chunks")
def test_the_other_columns_tell_what_commas_mean(read, refused, text, expected):
    if isinstance(expected, str):
        refused(text, expected)
    else:
        assert columns(read(text))["a"] == expected


def test_signs_of_percent_and_currency_are_left_out(read):
    data = read('a,b,c,d\n12%,"$1,200",5 €,1%\n7.5 %,-$3.5,6€,2\n-,$0,,3\n')
    assert columns(data) == {"a": [12, 7.5, None], "b": [1200, -3.5, 0], "c": [5, 6, None], "d": ["1%", "2", "3"]}
    assert data.notes == (
        "column 'a': read as numbers without '%'",
        "column 'b': commas separate thousands",
        "column 'b': read as numbers without '$'",
        "column 'c': read as numbers without '€'",
        "treated as missing values: '-' in 1 cell",
    )


def test_large_numbers_stay_numbers(read):
    huge = 10**30 + 1
    data = read(f"a,b,c\n{huge},1,inf\n2,1e400,1\n,3,2\n-{huge},-1e999,3\n")
    assert columns(data) == {"a": [1e30, 2, None, -1e30], "b": [1, np.inf, 3, -np.inf], "c": [np.inf, 1, 2, 3]}
    assert data.notes == (
        "column 'b': 1e400 in row 1, counted from 0, is beyond the largest number and read as infinite",
    )


def test_numbers_beside_few_other_texts_are_noted(read):
    data = read("a\n" + "".join(f"{i}\n" for i in range(50)) + "bad\n")
    assert data.notes == ("column 'a' has numbers, but also 'bad': 1 cell is treated as missing",)
    assert data.X["a"].tolist()[:50] == list(range(50))
    assert np.isnan(data.X["a"].iloc[50])
    assert read("a\n1\n2\n3a\n4b\n5c\n").notes == ()
    few = read("a\n" + "".join(f"{i}\n" for i in range(15)) + "bad\n")
    assert few.notes == ("column 'a' has numbers, but also 'bad'; all are read as categories",)


# --- dates -------------------------------------------------------------------------------------------------------


def test_dates_in_iso_format(read):
    data = read(
        "d,t,z,o,f\n2024-05-01,2024-05-01 12:30,2024-05-01T12:30:00Z,9999-12-31,05/01/2024\n"
        ",2024-05-01T12:30:01.25,2024-05-01T12:30:00+02:00,0001-01-01,06/01/2024\n"
    )
    assert [str(dtype) for dtype in data.X.dtypes] == ["datetime64[us]"] * 4 + ["category"]
    expected = {
        "d": ["2024-05-01", "NaT"],
        "t": ["2024-05-01T12:30", "2024-05-01T12:30:01.250"],
        "z": ["2024-05-01T12:30", "2024-05-01T10:30"],
        "o": ["9999-12-31", "0001-01-01"],
    }
    for name, stamps in expected.items():
        assert np.array_equal(data.X[name].to_numpy(), np.array(stamps, dtype="M8[us]"), equal_nan=True)


@pytest.mark.parametrize(
    "texts", [["2024-02-30"], ["2024-05-01", "soon"], ["2024-05"], ["-"], ["9999-12-31T23:00-05:00"]]
)
def test_other_texts_are_no_dates(read, texts):
    assert columns(read("a,b\n" + "".join(f"{text},1\n" for text in texts)))["a"] == texts


@pytest.mark.parametrize("name", ["o.csv", "o.parquet", "o.feather"])
def test_dates_are_written_and_read_back(read, tmp_path, name):
    data = read("d,t,n\n2024-05-01,2024-05-01 12:30,1\n,2024-05-02 00:00:01.5,2\n", "n")
    if name == "o.csv":
        with pytest.raises(DataError, match=r"column 'd' has dates; write \.csv or \.parquet"):
            write_table(tmp_path / "o.npz", data, [0])
    else:
        needs("pyarrow")
    write_table(tmp_path / name, data, [1, 0])
    back = read_data(tmp_path / name, "n")
    assert back.names == ["t", "d"]
    assert np.array_equal(back.X["t"].to_numpy(), data.X["t"].to_numpy())
    assert np.array_equal(back.X["d"].to_numpy(), data.X["d"].to_numpy(), equal_nan=True)
    if name == "o.csv":
        assert (tmp_path / name).read_text(encoding="utf-8").splitlines()[1].endswith(",2024-05-01,1")


# --- rows without a target ---------------------------------------------------------------------------------------

X = np.arange(12.0).reshape(6, 2)
CLASSES = np.array([0, np.nan, 1, 1, np.nan, 0])
HAS_TARGET = [0, 2, 3, 5]


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".feather", ".arff"])
def test_rows_of_frames_without_a_target_are_left_out(tmp_path, suffix, text):
    path = tmp_path / f"t{suffix}"
    target = [{0: "no", 1: "yes"}.get(v) for v in CLASSES.tolist()] if text else CLASSES
    write_frame(path, pandas.DataFrame(X, columns=["a", "b"]).assign(c=list("uvwxyz"), y=target))
    data = read_data(path, "y")
    assert data.y.tolist() == (["no", "yes", "yes", "no"] if text else [0, 1, 1, 0])
    assert text or data.y.dtype == np.int64
    assert np.array_equal(data.X[["a", "b"]], X[HAS_TARGET])
    assert data.X["c"].tolist() == ["u", "w", "x", "z"]
    assert data.X["c"].cat.categories.tolist() == ["u", "w", "x", "z"]
    assert data.X.index.tolist() == [0, 1, 2, 3]
    assert data.notes == ("2 rows without a target left out",)
    write_table(tmp_path / "o.csv", data, [0, 2])
    back = read_data(tmp_path / "o.csv", "y")
    assert back.y.tolist() == data.y.tolist()
    assert columns(back) == {"a": X[HAS_TARGET, 0].tolist(), "c": ["u", "w", "x", "z"]}
    if suffix == ".parquet" and not text:  # nullable integers of pandas
        pandas.read_parquet(path).astype({"y": "Int64"}).to_parquet(path)
        y = read_data(path, "y").y
        assert (y.tolist(), y.dtype) == ([0, 1, 1, 0], np.int64)


def in_svmlight(path):
    lines = [f"{label} 1:{a} 2:{b}\n" for label, (a, b) in zip(CLASSES, X, strict=True)]
    path.write_text("".join(lines), encoding="utf-8")


def in_h5ad(path):
    index = list("uvwxyz")
    obs = pandas.DataFrame({"y": CLASSES}, index=index)
    needs("anndata").AnnData(sparse.csr_matrix(X), obs, pandas.DataFrame(index=["a", "b"])).write_h5ad(path)


ARRAYS = [
    ("t.npy", lambda path: np.save(path, np.column_stack([X, CLASSES])), 2),
    ("t.npz", lambda path: np.savez(path, X=X, y=CLASSES), None),
    ("t.mat", lambda path: scipy_io.savemat(path, {"X": X, "y": CLASSES}), None),
    ("t.mat", lambda path: scipy_io.savemat(path, {"X": sparse.csc_matrix(X), "y": CLASSES}), None),
    ("t.svmlight", in_svmlight, None),
    ("t.h5ad", in_h5ad, "y"),
]


@pytest.mark.parametrize(("name", "write", "target"), ARRAYS)
def test_rows_of_arrays_without_a_target_are_left_out(tmp_path, name, write, target):
    write(tmp_path / name)
    data = read_data(tmp_path / name, target)
    assert data.y.tolist() == [0, 1, 1, 0]
    assert np.array_equal(data.X.toarray() if sparse.issparse(data.X) else data.X, X[HAS_TARGET])
    assert data.notes == ("2 rows without a target left out",)


@pytest.mark.parametrize("chunks", [1, 4, 1000], indirect=True)
@pytest.mark.usefixtures("chunks")
def test_rows_are_moved_in_place(read):
    rng = np.random.default_rng(0)
    values, has = rng.integers(0, 100, (40, 2)), rng.random(40) < 0.6
    lines = [f"{a},{b},t{a},{'x' if h else ''}\n" for (a, b), h in zip(values, has, strict=True)]
    data = read("a,b,c,y\n" + "".join(lines), "y")
    assert np.array_equal(data.X[["a", "b"]], values[has])
    assert data.X["c"].tolist() == [f"t{a}" for a in values[has, 0]]
    assert data.y.tolist() == ["x"] * has.sum()


def test_all_rows_without_a_target_are_refused(read, refused, tmp_path):
    refused("a,y\n1,\n2,?\n", "target 'y' is missing in all rows; give a column with entries", target="y")
    assert read("a,y\n1,\n2,5\n", "y").notes == ("1 row without a target left out",)
    np.savez(tmp_path / "t.npz", X=X, y=np.full(6, np.nan))
    with pytest.raises(DataError, match="missing in all rows"):
        read_data(tmp_path / "t.npz")


# --- other formats -----------------------------------------------------------------------------------------------


def write_arrow(path, table):
    """Write a table of Arrow in the format of the suffix."""
    if path.suffix == ".parquet":
        needs("pyarrow.parquet").write_table(table, path)
    else:
        needs("pyarrow.feather").write_feather(table, str(path))


@pytest.mark.parametrize("name", ["t.parquet", "t.feather"])
def test_arrow_has_dates_decimals_and_nulls(tmp_path, name):
    pyarrow = needs("pyarrow")
    noon = datetime(2024, 5, 1, 12, tzinfo=UTC)
    columns = {
        "day": pyarrow.array([date(2024, 5, 1), None]),
        "time": pyarrow.array([noon, None], pyarrow.timestamp("us")),
        "zone": pyarrow.array([noon, None], pyarrow.timestamp("ms", tz="Europe/Berlin")),
        "price": pyarrow.array([Decimal("1.50"), None]),
        "whole": pyarrow.array([7, None], pyarrow.int32()),
        "": pyarrow.array([1.0, 2.0]),
    }
    write_arrow(tmp_path / name, pyarrow.table(columns))
    data = read_data(tmp_path / name)
    assert data.names == ["day", "time", "zone", "price", "whole", "column 6"]
    assert data.notes == ("column 6 has no name and is called 'column 6'",)
    stamps = [np.datetime64("2024-05-01"), *[np.datetime64("2024-05-01T12:00")] * 2]
    assert [data.X[name].to_numpy()[0] for name in ("day", "time", "zone")] == stamps
    assert data.X[["day", "time", "zone", "price", "whole"]].iloc[1].isna().all()
    assert data.X[["price", "whole"]].iloc[0].tolist() == [1.5, 7]


def test_arff_in_windows_1252(read):
    pytest.importorskip("arff", reason="the format is read by liac-arff")
    text = "@relation r\n@attribute größe real\n@attribute y {ja,nö}\n@data\n1,ja\n?,nö\n3,?\n"
    data = read(text, "y", name="t.arff", encoding="cp1252")
    assert columns(data) == {"größe": [1, None]}
    assert data.y.tolist() == ["ja", "nö"]
    assert data.notes == ("not UTF-8 (line 2), so read as Windows-1252", "1 row without a target left out")
    assert read(text, "y", name="t.arff", encoding="utf-16").y.tolist() == ["ja", "nö"]


# --- files from the web ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "target", "shape", "notes"),
    [
        ("titanic", "Survived", (891, 11), ()),
        ("adult", "class", (32561, 14), ("treated as missing values: '?' in 4262 cells",)),
        ("wisconsin", "diagnosis", (569, 31), ("the header ends with a delimiter, which is ignored",)),
    ],
)
def test_raw_files_are_read_as_pandas_reads_them(data_folder, name, target, shape, notes):
    path = data_folder / "raw" / f"{name}.csv"
    if not path.exists():
        pytest.skip(f"{path} is not here; set BAHSIC_DATA to the folder that has it")
    data = read_data(path, target)
    expected = pandas.read_csv(path, na_values="?", float_precision="round_trip", index_col=False)
    expected = expected.dropna(axis=1, how="all")
    assert (data.X.shape, data.notes) == (shape, notes)
    assert data.y.tolist() == expected.pop(target).tolist()
    for column, values in columns(data).items():
        wanted = [None if pandas.isna(v) else v.strip() if isinstance(v, str) else v for v in expected.pop(column)]
        assert values == wanted
    assert expected.empty


def test_the_command_shows_notes(tmp_path):
    a, b = np.random.default_rng(0).standard_normal((2, 30))
    rows = [f"{a[i]:.3f},{b[i]:.3f},{'' if i == 3 else int(a[i] > 0)}\n" for i in range(30)]
    (tmp_path / "t.csv").write_text("a,b,y,\n" + "".join(rows), encoding="utf-8")
    words = ["rank", tmp_path / "t.csv", "--target", "y"]
    notes = ["the header ends with a delimiter, which is ignored", "1 row without a target left out"]
    status, _, err = run(*words)
    assert (status, err) == (0, "".join(f"bahsic: note: {note}\n" for note in notes))
    assert run(*words, "--quiet")[0::2] == (0, "")


# --- as it stands in the file ------------------------------------------------------------------------------------

BIG = 2**63 + 1  # of 64 bits, and beyond what float64 tells apart
AS_WRITTEN = (
    "zip,id,price,text,when,y\n"
    '00001,9223372036854775809,"1,200.50",=1+1,2024-05-01,01\n'
    '00234,9223372036854775810,3,"a, b",?,02\n'
    "00501,9223372036854775812,,NA,2024-05-03,\n"
    "10000,9223372036854775811,7.0, x ,2024-05-04T12:00Z,02\n"
)


@pytest.mark.parametrize("name", ["o.csv", "o.tsv.gz"])
def test_cells_are_written_as_they_stand_in_the_file(read, tmp_path, name):
    data = read(AS_WRITTEN, "y")
    write_table(tmp_path / name, data, [1, 0, 4, 3, 2])
    separator = "\t" if "tsv" in name else ","
    written = pandas.read_csv(tmp_path / name, sep=separator, dtype=str, keep_default_na=False)
    assert written.columns.tolist() == ["id", "zip", "when", "text", "price", "y"]
    assert written.to_numpy().tolist() == [
        ["9223372036854775809", "00001", "2024-05-01", "=1+1", "1,200.50", "01"],
        ["9223372036854775810", "00234", "?", "a, b", "3", "02"],
        ["9223372036854775811", "10000", "2024-05-04T12:00Z", "x ", "7.0", "02"],
    ]


def read_arrow(path):
    name = "pyarrow.parquet" if path.suffix == ".parquet" else "pyarrow.feather"
    return needs(name).read_table(str(path))


@pytest.mark.parametrize("name", ["o.parquet", "o.feather"])
def test_text_becomes_typed_without_losing_what_it_says(read, tmp_path, name):
    needs("pyarrow")
    beyond = 2**70
    rows = [f"00001,9223372036854775809,1,1,1.0,{beyond},a", f"12345,3,2,,2.5,{beyond + 1},b"]
    data = read("\n".join(["zip,id,n,gap,x,beyond,y", *rows, ""]), "y")
    write_table(tmp_path / name, data, range(6))
    written = read_arrow(tmp_path / name).drop_columns("y")
    assert written.to_pydict() == {
        "zip": ["00001", "12345"],
        "id": [2**63 + 1, 3],
        "n": [1, 2],
        "gap": [1, None],
        "x": [1.0, 2.5],
        "beyond": [str(beyond), str(beyond + 1)],  # beyond 64 bits, as they stand
    }
    assert [str(written.schema.field(column).type) for column in ("id", "n", "gap")] == ["uint64", "int64", "int64"]


@pytest.mark.parametrize("out", ["o.parquet", "o.feather", "o.csv"])
@pytest.mark.parametrize("source", ["t.parquet", "t.feather", "t.arrow"])
def test_columns_of_arrow_keep_their_types(tmp_path, source, out):
    pyarrow = needs("pyarrow")
    columns = {
        "id": pyarrow.array([BIG, BIG + 1, None, BIG + 2], pyarrow.uint64()),
        "price": pyarrow.array([Decimal("1.50"), None, Decimal("2.00"), Decimal("0.10")]),
        "n": pyarrow.array([1, 2, 3, 4], pyarrow.int8()),
        "y": pyarrow.array(["01", "02", "01", None]),
    }
    table = pyarrow.table(columns)
    write_arrow(tmp_path / source, table)
    write_table(tmp_path / out, read_data(tmp_path / source, "y"), [1, 0, 2])
    if out == "o.csv":
        text = (tmp_path / out).read_text(encoding="utf-8").split()
        assert text == ["price,id,n,y", f"1.50,{BIG},1,01", f",{BIG + 1},2,02", "2.00,,3,01"]
    else:
        assert read_arrow(tmp_path / out).equals(table.slice(0, 3).select(["price", "id", "n", "y"]))


def test_what_was_changed_in_python_is_written_as_it_is(read, tmp_path):
    data = replace(read("a,y\n001,x\n002,y\n", "y"), X=pandas.DataFrame({"a": [5.0, 6.0]}))
    write_table(tmp_path / "o.csv", data, [0])
    assert (tmp_path / "o.csv").read_text(encoding="utf-8").split() == ["a,y", "5.0,x", "6.0,y"]


def test_a_file_that_changed_after_reading_is_not_copied(read, tmp_path):
    data = read("a,y\n001,x\n002,y\n", "y")
    (tmp_path / "t.csv").write_text("a,y\n001,x\n002,y\n003,z\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"t\.csv: has changed since it was read; run again"):
        write_table(tmp_path / "o.csv", data, [0])


@pytest.mark.parametrize("gap", [False, True])
@pytest.mark.parametrize("offset", [0, 2**62, 2**63 + 5, -(2**62), 2**70])
def test_large_integers_of_text_are_exact(read, offset, gap):
    whole = [offset + k for k in (4, 0, 9, 2)]
    data = read("a,y\n" + "".join(f"{k},1\n" for k in whole) + (",1\n" if gap else "6,1\n"))
    assert [None if pandas.isna(v) else int(v) for v in data.X["a"]] == [*whole, None if gap else 6]
    assert read(f"a,y\n1,{2**62 + 1}\n2,{2**62}\n", "y").y.tolist() == [2**62 + 1, 2**62]
