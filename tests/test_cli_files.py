"""The command on real files of every format, each written by its own library; and code that repeats a selection."""

import gzip
import io
import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from scipy import io as scipy_io
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from bahsic.cli import main
from bahsic.datasets import make_xor
from bahsic.report.snippets import command, python_code

X, Y, _ = make_xor(n_samples=80, n_features=5, random_state=0)
NAMES = ["a", "b", "c", "d", "e"]
LABELS = np.where(Y > 0, "ill", "well")


@pytest.fixture(autouse=True)
def _in_new_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def needs(name):
    return pytest.importorskip(name, reason=f"files of this format are read by {name}")


def frame():
    return needs("pandas").DataFrame(X, columns=NAMES).assign(label=LABELS)


def write_parquet(name):
    needs("pyarrow")
    frame().to_parquet(name)


def write_feather(name):
    needs("pyarrow")
    frame().to_feather(name)


def write_arff(name):
    arff = needs("arff")
    attributes = [*((column, "REAL") for column in NAMES), ("label", ["ill", "well"])]
    rows = [[*row, label] for row, label in zip(X.tolist(), LABELS.tolist(), strict=True)]
    needs("pandas")
    with open(name, "w", encoding="utf-8") as file:  # noqa: PTH123 - as its users do
        arff.dump({"relation": "xor", "attributes": attributes, "data": rows}, file)


def write_excel(name):
    needs("openpyxl")
    frame().to_excel(name)


def write_h5ad(name):
    anndata, pandas = needs("anndata"), needs("pandas")
    index = [f"cell{i}" for i in range(len(X))]
    obs = pandas.DataFrame({"label": pandas.Categorical(LABELS)}, index=index)
    counts = sparse.csr_matrix(np.zeros_like(X))
    var = pandas.DataFrame(index=NAMES)
    anndata.AnnData(counts, obs, var, layers={"scaled": X}).write_h5ad(name)


def write_gzip(name):
    content = io.BytesIO()
    dump_svmlight_file(X, Y, content)
    with gzip.open(name, "wb") as file:
        file.write(content.getvalue())


# The file, who writes it, the options it needs, and how its features a and b are called.
FORMATS = [
    ("t.csv", lambda name: frame().to_csv(name, index=False), ["-t", "label"], "ab"),
    ("t.csv.gz", lambda name: frame().to_csv(name, index=False), ["-t", "label"], "ab"),
    ("t.csv", lambda name: frame().to_csv(name, index=False, sep="|"), ["-t", "label", "--delimiter", "|"], "ab"),
    ("t.tsv", lambda name: frame().to_csv(name, index=False, sep="\t"), ["-t", "label"], "ab"),
    ("t.parquet", write_parquet, ["-t", "label"], "ab"),
    ("t.feather", write_feather, ["-t", "label"], "ab"),
    ("t.npy", lambda name: np.save(name, np.column_stack([X, Y])), ["-t", "5"], ["x0", "x1"]),
    ("t.npz", lambda name: np.savez(name, X=X, y=LABELS, feature_names=NAMES), [], "ab"),
    ("t.npz", lambda name: np.savez(name, data=X, z=Y), ["--key", "data", "-t", "z"], ["x0", "x1"]),
    ("t.svmlight", lambda name: dump_svmlight_file(X, Y, name), [], ["x0", "x1"]),
    ("t.libsvm.gz", write_gzip, [], ["x0", "x1"]),
    ("t.arff", write_arff, ["-t", "label"], "ab"),
    ("t.xlsx", write_excel, ["-t", "label"], "ab"),
    ("t.npz", lambda name: np.savez(name, X=X, y=Y), ["--block-size", "30", "--seed", "1"], ["x0", "x1"]),
    ("t.mat", lambda name: scipy_io.savemat(name, {"X": X, "y": Y, "feature_names": NAMES}), [], "ab"),
    ("t.h5ad", write_h5ad, ["-t", "label", "--layer", "scaled"], "ab"),
]


@pytest.mark.parametrize(("name", "write", "options", "found"), FORMATS)
def test_every_format_from_file_to_repeated_selection(capsys, name, write, options, found):
    write(name)
    assert main(["select", name, *options, "-k", "2", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert sorted(result["selected"]) == list(found)

    # What the report says repeats it, in Python and in a shell.
    space = {}
    exec(python_code(result).text, space)
    assert space["selector"].get_support(indices=True).tolist() == [0, 1]
    assert main([*shlex.split(command(result).text)[1:], "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert {**again, "timing": None} == {**result, "timing": None}


@pytest.mark.parametrize(
    ("name", "write", "told"),
    [
        ("ragged.csv", b"a,b,label\n1,2,x\n3,y\n", "line 3 has 2 cells, the header 3; correct that line"),
        ("nearest.csv", b"a,b,lable\n1,2,x\n3,4,y\n", "no column is called 'label'; did you mean 'lable'?"),
        ("empty.csv", b"", "the file is empty"),
        ("heading.csv", b"a,b,label\n", "there is a header but no row"),
        ("garbage.csv", bytes(range(256)) * 9, "no text"),
        ("garbage.parquet", bytes(range(256)) * 9, "reading Parquet failed"),
        ("garbage.npz", bytes(range(256)) * 9, "reading .npz failed"),
        ("twice.csv", b"a,a,label\n1,2,x\n3,4,y\n", "2 columns are called 'a'; rename or remove all but one"),
        ("pickle.npz", lambda name: np.savez(name, X=np.array([[{}]])), "Python objects"),
        ("text.csv", b"a,b,label\n1,2,x\n3,4,y\n", "accepted: at least 4"),
    ],
)
def test_malformed_files_end_in_one_line_that_says_what_to_do(capsys, name, write, told):
    needs("pandas")
    needs("pyarrow")
    if callable(write):
        write(name)
    else:
        Path(name).write_bytes(write)
    options = [] if name.endswith(".npz") else ["--target", "label"]
    assert main(["select", name, *options]) == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("bahsic: error: ")
    assert captured.err.count("\n") == 1
    assert told in captured.err


def test_selection_of_genes_marks_them(capsys):
    write_h5ad("t.h5ad")
    words = ["select", "t.h5ad", "-t", "label", "--layer", "scaled", "-k", "2", "-o", "out.h5ad", "--quiet"]
    assert main(words) == 0
    assert capsys.readouterr().err == ""
    var = needs("anndata").read_h5ad("out.h5ad").var
    assert var["hsic_selected"].tolist() == [True, True, False, False, False]
    assert sorted(var["hsic_rank"]) == [1, 1, 2, 3, 4]


def test_epochs_are_selected_by_frequency(capsys):
    mne = needs("mne")
    n, rate = 128, 64.0
    signal = 1e-6 * np.random.default_rng(0).standard_normal((40, 2, n))
    events = np.column_stack([np.arange(40), np.zeros(40, dtype=int), 1 + np.arange(40) % 2])
    signal[::2] += 1e-5 * np.sin(2 * np.pi * 12 * np.arange(n) / rate)
    info = mne.create_info(["Cz", "Pz"], rate, "eeg", verbose="error")
    made = mne.EpochsArray(signal, info, events, event_id={"left": 1, "right": 2}, verbose="error")
    made.save("wave-epo.fif", verbose="error")
    words = ["select", "wave-epo.fif", "--group-by", "frequency", "--groups", "file", "-k", "1", "--json"]
    assert main(words) == 0
    result = json.loads(capsys.readouterr().out)
    channels, frequencies = zip(*(name.split(maxsplit=1) for name in result["selected"]), strict=True)
    assert sorted(channels) == ["Cz", "Pz"]
    assert len(set(frequencies)) == 1
    assert abs(float(frequencies[0].removesuffix(" Hz")) - 12) <= 1
    assert "--group-by frequency" in command(result).text
    assert_repeated_in_python(result)


def assert_repeated_in_python(result):
    space = {}
    exec(python_code(result).text, space)
    chosen = space["selector"].get_support(indices=True).tolist()
    assert chosen == sorted(row["column"] for row in result["ranking"] if row["selected"])


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["-k", "auto"],
        ["--ridge", "0.02"],
        ["--kernel", "linear", "--method", "forward"],
        ["--criterion", "hsic"],
        ["--criterion", "hsic", "--kernel", "gaussian", "-k", "auto"],
        ["--criterion", "hsic", "--kernel", "laplacian", "--standard-errors"],
        ["--block-size", "30", "--seed", "1", "-k", "auto"],
    ],
)
def test_code_repeats_the_criterion_the_kernel_and_the_ridge(capsys, options):
    np.savez("t.npz", X=X, y=Y, feature_names=NAMES)
    assert main(["select", "t.npz", "-k", "3", *options, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    space = {}
    exec(python_code(result).text, space)
    path = [(step.n_features, step.hsic, step.predictability, step.ridge) for step in space["selector"].path_]
    assert path == [(s["n_features"], s["hsic"], s["predictability"], s["ridge"]) for s in result["path"]]
    assert space["selector"].kernel_ == result["kernel"]
    assert main([*shlex.split(command(result).text)[1:], "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert {**again, "timing": None} == {**result, "timing": None}


@pytest.mark.parametrize(
    "options", [["--keep", "c,e"], ["--groups", "prefix:_"], ["--categorical", "d"], ["--method", "forward"]]
)
def test_code_names_columns_of_arrays_by_their_places(capsys, options):
    names = ["a_1", "b_1", "c", "d", "e"]
    counts = np.column_stack([X[:, :3], np.round(X[:, 3]), X[:, 4]])
    np.savez("t.npz", X=counts, y=Y, feature_names=names)
    assert main(["select", "t.npz", "-k", "3", *options, "--json"]) == 0
    assert_repeated_in_python(json.loads(capsys.readouterr().out))


def test_numbers_beyond_the_range_of_floats_are_refused(capsys, tmp_path, monkeypatch):
    needs("pandas")
    monkeypatch.chdir(tmp_path)
    Path("wide.csv").write_bytes(b"a,label\n1,x\n1e400,y\n3,x\n4,y\n5,x\n")
    assert main(["select", "wide.csv", "--target", "label"]) == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "X contains infinity: 1 entry, in row 1, column 'a'; accepted: finite numbers, or missing" in captured.err
