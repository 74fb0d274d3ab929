"""Files of every format, each written by the library of its field; and broken ones, each refused in one line."""

import csv
import gzip
import io
import re
import sys
import warnings
import zipfile
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from scipy import io as scipy_io
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from bahsic.files import Data, DataError, check_writing, read_data, write_table
from command import fresh, needs, write_epochs

NUMBERS = np.random.default_rng(0).standard_normal((12, 3))
NUMBERS.setflags(write=False)
CLASSES = np.arange(12) % 3
COLOURS = ["red", "blue", "red", "green"] * 3
HOSTILE = ["<script>alert(1)</script>", "a\"b'c", "$x^2$", "\u202eabc", "n" * 10_000, "\N{SNOWMAN}", "a\nb", "=1+1"]


def frame():
    pandas = needs("pandas")
    table = pandas.DataFrame(NUMBERS, columns=["a", "b", "c"])
    return table.assign(colour=COLOURS, label=CLASSES)


def refused(path, *words, **options):
    """The message, after checking that it is one line about the file."""
    with pytest.raises(DataError) as caught:
        read_data(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert "\x1b" not in message
    assert message.startswith(str(path))
    for word in words:
        assert word in message
    return message


def check(data, X, y, names=None):
    """The data are those of arrays, to the last bit, and the columns have these names."""
    assert np.array_equal(data.X.toarray() if sparse.issparse(data.X) else data.X, X)
    assert np.array_equal(data.y, y)
    assert data.names == names


def text_file(path, text):
    path.write_text(text, encoding="utf-8", newline="")
    return path


# --- tables with names -------------------------------------------------------------------------------------------


def write_frame(path):
    table, name = frame(), path.name.lower()
    if ".csv" in name or ".tsv" in name:
        table.to_csv(path, sep="\t" if ".tsv" in name else ",")  # with an index: a first column without a name
        return path
    pyarrow = needs("pyarrow")
    if path.name == "stream.arrow":
        content = pyarrow.Table.from_pandas(table)
        with pyarrow.ipc.new_stream(str(path), content.schema) as stream:
            stream.write_table(content)
    else:
        (table.to_parquet if path.suffix == ".parquet" else table.to_feather)(path)
    return path


FRAMES = ["t.csv", "t.csv.gz", "T.TSV", "t.tsv.gz", "t.parquet", "t.feather", "t.arrow", "stream.arrow"]


@pytest.mark.parametrize("name", FRAMES)
def test_frames_are_read_as_they_were_written(tmp_path, name):
    path = write_frame(tmp_path / name)
    data = read_data(path, "label")
    assert data.names == list(data.X.columns) == ["a", "b", "c", "colour"]
    assert np.array_equal(data.X[["a", "b", "c"]].to_numpy(), NUMBERS)
    assert (list(data.X["colour"]), str(data.X["colour"].dtype)) == (COLOURS, "category")
    assert (data.y.tolist(), data.y.dtype) == (CLASSES.tolist(), np.int64)
    assert (data.target, data.groups, data.source) == ("label", None, path)
    check(read_data(path, "colour"), np.column_stack([NUMBERS, CLASSES]), COLOURS, ["a", "b", "c", "label"])
    check(read_data(path, "label", drop=["b", "colour"]), NUMBERS[:, [0, 2]], CLASSES, ["a", "c"])
    refused(path, "no column is called 'colou'; did you mean 'colour'?", drop=["colou"])


def test_numbers_of_text_are_exact_and_not_copied(tmp_path):
    needs("pandas")
    numbers = np.random.default_rng(1).standard_normal((1000, 2)) * 10.0 ** np.arange(-100, 100).repeat(5)[:, None]
    rows = [f"{a!r},0,{b!r}" for a, b in numbers.tolist()]
    data = read_data(text_file(tmp_path / "t.csv", "\n".join(["a,y,b", *rows])), "y")
    values = np.asarray(data.X)
    assert np.array_equal(values, numbers)
    assert values.base is not None
    assert np.shares_memory(values, data.X["a"].to_numpy())


def test_memory_for_text_is_bounded(tmp_path):
    """The peak above what importing takes, on 8 MB of short numbers: 8 bytes a cell of 7, and little else."""
    needs("pandas")
    if not Path("/proc/self/status").exists():
        pytest.skip("the peak of a process (getrusage has that of its parent too) is read from /proc")
    row = ",".join(["0.1234"] * 200) + "\n"
    path = text_file(tmp_path / "t.csv", ",".join(f"c{j}" for j in range(200)) + "\n" + row * 6000)
    code = """if True:
        import re, sys, pandas, bahsic.files
        peak = lambda: 1024 * int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])
        before = peak()
        data = bahsic.files.read_data(sys.argv[1], "c0")
        print(peak() - before)"""
    assert 1 < int(fresh("-c", code, path).stdout) / path.stat().st_size < 2.2


def test_text_has_marks_quotes_and_other_delimiters(tmp_path):
    needs("pandas")
    path = text_file(tmp_path / "t.csv", '\ufeff"a;1";b\r\n"x\r\ny";1\r\n"say ""hi""";2\r\n')
    data = read_data(path, "b", delimiter=";")
    assert data.names == ["a;1"]
    assert data.X["a;1"].tolist() == ["x\r\ny", 'say "hi"']


# --- arrays ------------------------------------------------------------------------------------------------------


def test_npz_holds_data_labels_and_names(tmp_path):
    path = tmp_path / "t.npz"
    np.savez(path, X=NUMBERS, y=CLASSES, other=NUMBERS[:, 0], feature_names=["a", "b", "c"])
    for target, columns, y in (
        (None, [0, 1, 2], CLASSES),
        ("other", [0, 1, 2], NUMBERS[:, 0]),
        ("b", [0, 2], NUMBERS[:, 1]),
    ):
        check(read_data(path, target), NUMBERS[:, columns], y, ["abc"[j] for j in columns])
    refused(path, "no array or column is called 'othr'; did you mean 'other'?", target="othr")
    np.savez(path, measured=NUMBERS)
    assert np.array_equal(read_data(path).X, NUMBERS)
    np.savez(path, train=NUMBERS, test=-NUMBERS)
    assert np.array_equal(read_data(path, key="test").X, -NUMBERS)
    refused(path, "give the key of the data, known: 'train', 'test'")
    refused(path, "did you mean 'train'?", key="trian")


def test_npy_has_targets_by_number(tmp_path):
    np.save(tmp_path / "t.npy", NUMBERS)
    assert read_data(tmp_path / "t.npy").y is None
    for target in (2, "2", -1):
        check(read_data(tmp_path / "t.npy", target), NUMBERS[:, :2], NUMBERS[:, 2])
    refused(tmp_path / "t.npy", "accepted: a column number below 3", target=3)


@pytest.mark.parametrize("name", ["y", "Y"])
def test_mat_is_read(tmp_path, name):
    names, path = np.array(["a", "bb", "c"], dtype=object), tmp_path / "t.mat"
    scipy_io.savemat(path, {"X": NUMBERS, name: CLASSES[:, None], "feature_names": names})
    check(read_data(path), NUMBERS, CLASSES, ["a", "bb", "c"])
    scipy_io.savemat(path, {"X": sparse.csc_matrix(NUMBERS)})
    check(read_data(path, 1), NUMBERS[:, [0, 2]], NUMBERS[:, 1])


@pytest.mark.parametrize("name", ["t.svmlight", "t.libsvm", "t.svmlight.gz"])
def test_svmlight_is_read(tmp_path, name):
    path, X, content = tmp_path / name, np.where(NUMBERS > 0, NUMBERS.round(9), 0), io.BytesIO()
    dump_svmlight_file(X, CLASSES, content, zero_based=False)  # in 16 digits
    path.write_bytes(gzip.compress(content.getvalue()) if name.endswith(".gz") else content.getvalue())
    data = read_data(path)
    assert sparse.issparse(data.X)
    check(data, X, CLASSES)
    refused(path, "leave target='a' out", target="a")


def workbook(path, rows, *more_sheets):
    needs("pandas")
    book = needs("openpyxl").Workbook()
    for row in rows:
        book.active.append(row)
    for name in more_sheets:
        book.create_sheet(name).append(["something else"])
    book.save(path)
    return path


def test_excel_has_numbers_categories_dates_and_missing_cells(tmp_path):
    days = [datetime(2024, 1, day) for day in (1, 2, 3, 4)]  # noqa: DTZ001 - as workbooks have them
    rows = [
        [None, "dose", "ward", "day", "seen", "code", None, "gap", "result"],
        [1, 1.5, "east", days[0], True, 1, None, "-", "ill"],
        [2, "-", " west ", days[1], False, "b", None, 2, "well"],
        [None] * 9,
        [3, 3, None, None, True, "b", None, None, "ill"],
        [4, "NA", "east", days[3], False, 1, None, 4, None],
    ]
    data = read_data(workbook(tmp_path / "t.xlsx", rows, "notes"), "result", drop=["gap"])
    assert data.names == ["dose", "ward", "day", "seen", "code"]
    assert data.y.tolist() == ["ill", "well", "ill"]
    assert data.notes == ("read the first of 2 sheets, 'Sheet'", "1 row without a target left out")
    np.testing.assert_array_equal(data.X["dose"], [1.5, np.nan, 3.0])
    assert data.X["dose"].dtype == float
    assert data.X["ward"].tolist()[:2] == ["east", "west"]
    assert data.X["ward"].isna().tolist() == [False, False, True]
    assert str(data.X["ward"].dtype) == str(data.X["code"].dtype) == "category"
    assert data.X["code"].tolist() == ["1", "b", "b"]
    assert data.X["seen"].tolist() == [True, False, True]
    assert data.X["day"].tolist()[:2] == days[:2]
    np.testing.assert_array_equal(read_data(tmp_path / "t.xlsx").X["gap"], [np.nan, 2, np.nan, 4])


@pytest.mark.parametrize("gap", [None, 5])
def test_large_integers_of_excel_are_exact(tmp_path, gap):
    for whole in ([2**53 + 1, 2**53 + 2], [2**63 + 4097, 3]):
        path = workbook(tmp_path / "t.xlsx", [["a", "y"], *([str(k), 1] for k in whole), [gap, 1]])
        with zipfile.ZipFile(path) as archive:  # openpyxl writes them in 16 digits, other programs in all
            parts = {name: archive.read(name) for name in archive.namelist()}
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in parts.items():
                changed = re.sub(rb't="inlineStr"><is><t>([0-9]+)</t></is>', rb't="n"><v>\1</v>', content)
                archive.writestr(name, changed)
        found = read_data(path, "y").X["a"].astype(object)
        assert found.where(found.notna(), None).tolist() == [*whole, gap]


def test_arff_has_nominal_and_missing_values(tmp_path):
    arff = needs("arff")
    needs("pandas")
    attributes = [("size", "REAL"), ("hue", ["red", "sky blue"]), ("note", "STRING"), ("class", ["no", "yes"])]
    rows = [[1.5, "red", "it's", "yes"], [None, "sky blue", "a,b", "no"], [2, None, "it's", "no"]]
    path = text_file(tmp_path / "t.arff", arff.dumps({"relation": "r", "attributes": attributes, "data": rows}))
    data = read_data(path, "class")
    assert data.y.tolist() == ["yes", "no", "no"]
    assert data.names == ["size", "hue", "note"]
    np.testing.assert_array_equal(data.X["size"], [1.5, np.nan, 2])
    assert data.X["hue"].cat.categories.tolist() == ["red", "sky blue"]
    assert data.X["hue"].cat.codes.tolist() == [0, 1, -1]
    assert data.X["note"].tolist() == ["it's", "a,b", "it's"]
    refused(text_file(path, path.read_text(encoding="utf-8") + "1,green,x,no\n"), "reading .arff failed")


# --- single sciences ---------------------------------------------------------------------------------------------


@pytest.fixture
def h5ad(tmp_path):
    anndata, pandas = needs("anndata"), needs("pandas")
    counts = sparse.csr_matrix(np.arange(36.0).reshape(12, 3) % 5)
    obs = pandas.DataFrame({"kind": pandas.Categorical(COLOURS), "age": NUMBERS[:, 0]}, index=list("abcdefghijkl"))
    var = pandas.DataFrame({"length": [1, 2, 3]}, index=["g1", "g2", "g3"])
    adata = anndata.AnnData(counts, obs, var, layers={"scaled": NUMBERS.copy()})
    adata.write_h5ad(tmp_path / "t.h5ad")
    return tmp_path / "t.h5ad"


def test_h5ad_has_layers_and_targets_in_obs(h5ad):
    check(read_data(h5ad, "kind"), np.arange(36.0).reshape(12, 3) % 5, COLOURS, ["g1", "g2", "g3"])
    check(read_data(h5ad, "age", layer="scaled"), NUMBERS, NUMBERS[:, 0], ["g1", "g2", "g3"])
    refused(h5ad, "no column of obs is called 'knd'; did you mean 'kind'?", target="knd")
    refused(h5ad, "no layer is called 'scald'; did you mean 'scaled'?", layer="scald")


@pytest.mark.parametrize(("number", "size"), [(0, 0), (1, 2**64 - 16), (0, 2**64 - 64)])
def test_strings_of_h5ad_that_hdf5_would_read_without_end_are_refused(h5ad, number, size):
    content = bytearray(h5ad.read_bytes())
    at = content.index(b"GCOL") + 16  # the first of the strings
    at += 16 + -(-int.from_bytes(content[at + 8 : at + 16], "little") // 8) * 8  # and the second
    content[at : at + 2], content[at + 8 : at + 16] = number.to_bytes(2, "little"), size.to_bytes(8, "little")
    h5ad.write_bytes(content)
    refused(h5ad, f"strings are damaged at byte {at}; fetch or write the file again", target="kind")


def test_h5ad_is_written_as_a_copy_with_ranks(h5ad):
    before = h5ad.read_bytes()
    data = read_data(h5ad, "kind")
    write_table(h5ad.with_name("out.h5ad"), data, [2, 0], ranking=[2, 3, 1])
    adata = needs("anndata").read_h5ad(h5ad.with_name("out.h5ad"))
    assert adata.var["hsic_selected"].tolist() == [True, False, True]
    assert adata.var["hsic_rank"].tolist() == [2, 3, 1]
    assert adata.var["length"].tolist() == [1, 2, 3]
    assert adata.shape == (12, 3)
    assert np.array_equal(adata.layers["scaled"], NUMBERS)
    assert h5ad.read_bytes() == before


@pytest.fixture
def epochs(tmp_path):
    write_epochs(tmp_path / "t-epo.fif", 12, [0], needs("pandas").DataFrame({"speed": NUMBERS[:, 0], "side": COLOURS}))
    return tmp_path / "t-epo.fif"


def test_epochs_become_power_by_channel_and_frequency(epochs):
    data = read_data(epochs)
    assert data.y.tolist() == ["left", "right"] * 6
    assert data.names[0] == "Cz 0.0 Hz"
    assert data.names[-1] == "Pz 32.0 Hz"
    assert data.X.shape == (12, len(data.names)) == (12, 2 * 65)
    left, right = data.X[::2].mean(axis=0), data.X[1::2].mean(axis=0)
    assert abs(float(data.names[np.argmax(left - right)].split()[1]) - 12) <= 1  # multitaper spreads by 1 Hz or so
    assert data.names[np.argmax(left - right)].startswith("Cz")
    assert data.groups[24] == data.groups[65 + 24] == "12.0 Hz"
    assert read_data(epochs, group_by="channel").groups == ["Cz"] * 65 + ["Pz"] * 65


def test_epochs_have_targets_in_their_metadata(epochs):
    assert np.allclose(read_data(epochs, "speed").y, NUMBERS[:, 0], rtol=1e-9)  # mne rounds metadata
    side = read_data(epochs, "side")
    assert (side.y.tolist(), side.target) == (COLOURS, "side")
    refused(epochs, "no column of the metadata is called 'spead'; did you mean 'speed'?", target="spead")
    with pytest.raises(ValueError, match="group_by is 'band'; accepted: 'frequency', 'channel'"):
        read_data(epochs, group_by="band")


# --- writing -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["o.csv", "O.CSV", "o.csv.gz", "o.tsv", "o.parquet", "o.feather", "o.arrow"])
def test_reduced_frames_are_read_back(tmp_path, name):
    data = read_data(write_frame(tmp_path / "t.csv"), "label")
    if not name.lower().startswith(("o.csv", "o.tsv")):
        needs("pyarrow")
    write_table(tmp_path / name, data, [3, 0])
    back = read_data(tmp_path / name, "label")
    assert back.names == ["colour", "a"]
    assert list(back.X["colour"]) == COLOURS
    assert np.array_equal(back.X["a"].to_numpy(), NUMBERS[:, 0])
    assert np.array_equal(back.y, CLASSES)
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["t.csv", name])


@pytest.mark.parametrize("name", ["o.npz", "O.NPZ", "o.mat", "o.svmlight", "o.libsvm", "o.npy"])
@pytest.mark.parametrize("make", [np.array, sparse.csr_array])
def test_reduced_arrays_are_read_back(tmp_path, name, make):
    path = tmp_path / name
    write_table(path, Data(make(NUMBERS.round(9)), CLASSES), np.array([True, False, True]))
    names = ["x0", "x2"] if path.suffix.lower() in (".npz", ".mat") else None
    check(read_data(path), NUMBERS[:, [0, 2]].round(9), CLASSES if name != "o.npy" else None, names)
    assert "svm" not in name or path.read_bytes().startswith(b"0 1:")  # columns count from 1


@pytest.mark.parametrize("suffix", [".csv.gz", ".npz"])
def test_the_same_table_makes_the_same_bytes(tmp_path, monkeypatch, suffix):
    needs("pandas")
    paths = [tmp_path / f"{name}{suffix}" for name in ("now", "later")]
    for seconds, path in zip((1e9, 1.5e9), paths, strict=True):
        monkeypatch.setattr("time.time", lambda seconds=seconds: seconds)
        write_table(path, Data(NUMBERS, CLASSES), [0])
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.parametrize("from_file", [False, True])
def test_spreadsheets_find_no_formula_in_names_and_on_request_in_data(tmp_path, from_file):
    pandas = needs("pandas")
    cells = ["=1+1", "+1+1", "-x", "@a", "\tb", "\rc", "plain", "a=b"]
    table = pandas.DataFrame({"=cmd": cells, "n": -np.arange(8.0)})
    data = Data(table, np.array(cells, dtype=object), ["=cmd", "n"], target="@y")
    if from_file:
        table.assign(**{"@y": cells}).to_csv(tmp_path / "t.csv", index=False, lineterminator="\r\n")
        data = read_data(tmp_path / "t.csv", "@y")
    escaped = [*("'" + cell for cell in cells[:6]), "plain", "a=b"]
    for written, options in ((cells, {}), (escaped, {"escape_formulas": True})):
        write_table(tmp_path / "o.csv", data, [0, 1], **options)
        with (tmp_path / "o.csv").open(encoding="utf-8", newline="") as text:
            header, *rows = csv.reader(text)
        assert header == ["'=cmd", "n", "'@y"]
        assert [row[0] for row in rows] == [row[2] for row in rows] == written
        assert [float(row[1]) for row in rows] == (-np.arange(8.0)).tolist()


def test_hostile_names_are_passed_through(tmp_path):
    needs("pandas")
    path = tmp_path / "t.csv"
    with path.open("w", encoding="utf-8", newline="") as text:
        csv.writer(text).writerows([[*HOSTILE, "y"], range(9), range(1, 10)])
    data = read_data(path, "y")
    assert data.names == list(data.X.columns) == HOSTILE
    np.savez(tmp_path / "t.npz", X=np.eye(8), feature_names=HOSTILE)
    assert read_data(tmp_path / "t.npz").names == HOSTILE
    refused(path, target="\x1b[31m\n")


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = text_file(tmp_path / "o.npz", "old")
    table = needs("pandas").DataFrame({"c": ["x", "y"]})
    with pytest.raises(DataError, match=r"column 'c' has categories; write \.csv or \.parquet"):
        write_table(path, Data(table, names=["c"]), [0])
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("o.xlsx", "writing needs a known suffix, got '.xlsx'; known: .csv"),
        ("no/o.csv", r"there is no such folder; make it first: .*o\.csv"),
        ("folder.csv", "this is a folder"),
        ("o.h5ad", "written from an .h5ad file only"),
    ],
)
def test_places_that_cannot_be_written(tmp_path, name, message):
    (tmp_path / "folder.csv").mkdir()
    for refuse in (lambda path: write_table(path, Data(NUMBERS, CLASSES), [0]), check_writing):
        with pytest.raises((DataError, OSError), match=message):
            refuse(tmp_path / name)


def test_types_that_pandas_does_not_have(tmp_path):
    pyarrow = needs("pyarrow")
    columns = {
        "flag": [True, None, False, True],
        "price": pyarrow.array([Decimal(1), Decimal(2), None, Decimal(4)]),
        "void": pyarrow.nulls(4),
    }
    needs("pyarrow.parquet").write_table(pyarrow.table(columns), tmp_path / "t.parquet")
    X = read_data(tmp_path / "t.parquet").X
    assert X["void"].isna().all()
    assert str(X["flag"].dtype) == "category"
    assert X["flag"].cat.codes.tolist() == [1, -1, 0, 1]
    np.testing.assert_array_equal(X["price"], [1, 2, np.nan, 4])


def test_of_a_mat_file_only_what_is_needed_is_read(tmp_path, monkeypatch):
    scipy_io.savemat(tmp_path / "t.mat", {"X": NUMBERS, "Y": CLASSES, "other": np.zeros((500, 500))})
    monkeypatch.setattr("bahsic.files.data.HARMLESS_SIZE", 10**5)
    monkeypatch.setattr("bahsic.files.data.LARGEST_EXPANSION", 0.001)
    for target in (None, "Y"):
        assert np.array_equal(read_data(tmp_path / "t.mat", target).y, CLASSES)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (RuntimeError("bad\n\x1b[31m cell"), r"reading \.npz failed: bad \?\[31m cell$"),
        (RuntimeError("x" * 1000), r"x{100,200}\.\.\.$"),
        (MemoryError(), "not enough memory for reading"),
    ],
)
def test_what_libraries_say_is_one_printable_line(tmp_path, monkeypatch, error, message):
    def failing(*args, **kwargs):
        warnings.warn("not for the user", UserWarning, stacklevel=1)
        raise error

    np.savez(tmp_path / "t.npz", X=NUMBERS)
    monkeypatch.setattr(np, "load", failing)
    with pytest.raises(DataError, match=message):
        read_data(tmp_path / "t.npz")


# --- broken files ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n\n1,2,3\n", "line 4 has 3 cells, the header 2; correct that line"),
        ("a,b\n1,2\n1\n", "line 3 has 1 cells, the header 2"),
        ("a,b\n1,2,3\n1,2,3\n", "line 2 has 3 cells"),
        ("a,b,\n1,2\n1,2,3\n", "line 3 has 3 cells, the header 3"),
        ("a,b,\n1,2,\n1,2\n", "line 3 has 2 cells, the header 3"),
        ("a,b\n1,2,\n3,4,5\n", "line 2 has 3 cells, the header 2"),
        ("a,b\n1,2,\n3,4\n", "line 3 has 2 cells, the header 2"),
        ("a,b,c\n1,2\n", "line 2 has 2 cells, the header 3"),
        ('a,b\n"x\ny",2\n1\n', "line 4 has 1 cells"),
        ("a,b,a\n1,2,3\n", "2 columns are called 'a'"),
        ("a,b\n", "there is a header but no row"),
        ("\n\n", "the file is empty"),
        ('a,b\n1,"2\n3,4\n', "look for a quote that is not closed"),
        ("a\0b,c\n1,2\n", "binary data"),
    ],
)
def test_broken_text_is_refused(tmp_path, text, message):
    needs("pandas")
    refused(text_file(tmp_path / "t.csv", text), message)


GARBAGE = [np.random.default_rng(0).bytes(3000), b"\x89PNG\r\n\x1a\n" + bytes(100), b"PK\x03\x04", b"hello\n", b"\xff"]
LIBRARIES = {
    **dict.fromkeys([".csv", ".tsv", ".csv.gz", ".npy", ".npz", ".mat", ".svmlight"], "pandas"),
    **dict.fromkeys([".parquet", ".feather", ".arrow"], "pyarrow"),
    ".h5ad": "anndata",
    ".arff": "arff",
    ".xlsx": "openpyxl",
    ".fif": "mne",
}


@pytest.mark.parametrize("suffix", LIBRARIES)
def test_garbage_is_refused(tmp_path, suffix):
    path = tmp_path / f"t{suffix}"
    path.touch()
    refused(path, "the file is empty")
    needs(LIBRARIES[suffix])
    for content in GARBAGE:
        path.write_bytes(content)
        refused(path)


def zeros_in_h5ad(path):
    needs("anndata")
    with needs("h5py").File(path, "w") as file:
        file.create_dataset("X", shape=(4000, 500), dtype="f8", compression="gzip", chunks=(100, 500))
        genes = needs("pandas").DataFrame(index=[f"g{j}" for j in range(500)])
        needs("anndata.io").write_elem(file, "var", genes)


def zeros_in_feather(path):
    table = needs("pyarrow").table({f"c{j}": np.zeros(10**5) for j in range(4)})
    needs("pyarrow.feather").write_feather(table, str(path), compression="zstd")


def zeros_in_gzip(path):
    needs("mne" if ".fif" in path.name else "pandas")
    path.write_bytes(gzip.compress(bytes(4 * 10**6)))


ZEROS = {
    **dict.fromkeys(["t.csv.gz", "t.svmlight.gz", "t.fif.gz"], zeros_in_gzip),
    "t.npz": lambda path: np.savez_compressed(path, X=np.zeros((1000, 2000))),
    "t.mat": lambda path: scipy_io.savemat(path, {"X": np.zeros((1000, 2000))}, do_compression=True),
    "t.parquet": lambda path: needs("pandas").DataFrame({"a": np.zeros(10**6)}).to_parquet(path),
    "t.feather": zeros_in_feather,
    "t.h5ad": zeros_in_h5ad,
}


@pytest.mark.parametrize("name", ZEROS)
def test_files_that_expand_absurdly_are_refused(tmp_path, monkeypatch, name):
    needs("pyarrow" if name == "t.parquet" else "pandas")
    ZEROS[name](tmp_path / name)
    monkeypatch.setattr("bahsic.files.data.HARMLESS_SIZE", 10**6)
    refused(tmp_path / name, "over 100 times its size; if you trust it, unpack it")
    if name == "t.npz":  # within either limit it is read
        for harmless, largest in ((10**8, 1), (10, 10**8)):
            monkeypatch.setattr("bahsic.files.data.HARMLESS_SIZE", harmless)
            monkeypatch.setattr("bahsic.files.data.LARGEST_EXPANSION", largest)
            assert read_data(tmp_path / name).X.shape == (1000, 2000)


def promising(path):
    """A header of 8 PB before 80 bytes."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**6)})
    if path.suffix == ".npy":
        path.write_bytes(header.getvalue() + bytes(80))
    else:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("X.npy", header.getvalue() + bytes(80))


def book(*rows):
    return lambda path: workbook(path, rows)


def arrays(**content):
    return lambda path: np.savez(path, **{"X": np.eye(2)} | content)


def array(shape, dtype=float):
    return lambda path: np.save(path, np.zeros(shape, dtype))


def parquet(**columns):
    return lambda path: needs("pyarrow") and frame().assign(**columns).to_parquet(path)


def repeated(path):
    table = needs("pyarrow").table([[1.0], [2.0]], names=["a", "a"])
    needs("pyarrow.parquet").write_table(table, path)


PICKLED = np.array([{}, {}], dtype=object)
REFUSED = [
    ("t.xlsx", book(["a", "b"]), "there is no row; give one row for each sample below", None),
    ("t.xlsx", book(), "there is no row", None),
    ("t.xlsx", book(["a", "a"], [1, 2]), "2 columns are called 'a'", None),
    ("t.xlsx", book(["a", "b"], [1, 2]), "no column is called 'c'", "c"),
    ("t.npz", arrays(X=PICKLED), "Python objects (pickles)", None),
    ("t.npz", arrays(y=PICKLED), "Python objects (pickles)", None),
    ("t.npy", array((2, 1), object), "Python objects (pickles)", None),
    ("t.npy", promising, "", None),
    ("t.npz", promising, "", None),
    ("t.csv.gz", lambda path: path.write_bytes(gzip.compress(b"a,b\n1,2\n" * 100)[:-12]), "incomplete gzip file", None),
    (
        "t.parquet",
        parquet(took=[[1, 2]] * 12),
        "column 'took' is of type object; drop it or convert it to numbers",
        None,
    ),
    ("t.parquet", parquet(when=datetime(2020, 1, 1)), "has times (2020-01-01", "when"),  # noqa: DTZ001 - without a zone
    ("t.parquet", repeated, "2 columns are called 'a'", None),
    ("t.npz", arrays(feature_names=["a", "a"]), "2 columns are called 'a'", None),
    ("t.npz", arrays(feature_names=["a", "b", "c"]), "3 feature_names for 2 columns; give one for each", None),
    ("t.npz", arrays(y=[0, 1, 2]), "target 'y' has shape (3,); accepted: one value a row (2)", None),
    *(("t.npy", array(shape), "accepted: ", None) for shape in ((3,), (2, 2, 2), (0, 3))),
    ("t.npy", array((2, 2), complex), "accepted: ", None),
]


@pytest.mark.parametrize(("name", "write", "message", "target"), REFUSED)
def test_what_holds_no_table_is_refused(tmp_path, name, write, message, target):
    needs("pandas")
    write(tmp_path / name)
    refused(tmp_path / name, message, target=target)


def test_paths_that_are_no_file(tmp_path, monkeypatch):
    np.save(tmp_path / "measured.npy", NUMBERS)
    (tmp_path / "folder.csv").mkdir()
    refused(tmp_path / "mesured.npy", "no such file; in its folder: did you mean 'measured.npy'?")
    refused(tmp_path / "wine.npy", "no such file; in its folder: 'folder.csv', 'measured.npy'")
    refused(tmp_path / "no" / "t.npy", "no such file; there is no folder")
    refused(tmp_path / "folder.csv", "this is a folder; give a file in it")
    refused(tmp_path / "t.ods", "known: .csv .csv.gz .tsv")
    refused(tmp_path / "measured.npy", "layer is not an option of .npy, which takes no option", layer="a")

    def denied(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)  # the superuser may read everything
    refused(tmp_path / "measured.npy", "cannot be opened (Permission denied); check its permissions")


@pytest.mark.parametrize(
    ("suffix", "module", "extra"),
    [
        *((suffix, name, "files") for suffix, name in ((".csv", "pandas"), (".arff", "arff"), (".xlsx", "openpyxl"))),
        *((suffix, "pyarrow", "files") for suffix in (".parquet", ".arrow")),
        (".h5ad", "anndata", "anndata"),
        (".fif", "mne", "mne"),
    ],
)
def test_a_library_that_is_absent_is_named(tmp_path, monkeypatch, suffix, module, extra):
    parts = [name for name in sys.modules if name.startswith(f"{module}.")]
    for name in (module, f"{module}.parquet", f"{module}.io", *parts):
        monkeypatch.setitem(sys.modules, name, None)
    path, package = text_file(tmp_path / f"t{suffix}", "content"), {"arff": "liac-arff"}.get(module, module)
    with pytest.raises(ImportError, match=rf'^reading {suffix} needs {package}: pip install "bahsic\[{extra}\]"$'):
        read_data(path)
