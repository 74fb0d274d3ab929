"""The command on real files of every format, each written by its own library; and code that repeats a selection."""

import gzip
import io

import numpy as np
import pytest
from scipy import io as scipy_io
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from bahsic.datasets import make_xor
from command import check_repeated, command, needs, printed, run, write_epochs, write_frame

X, Y, _ = make_xor(n_samples=80, n_features=5, random_state=0)
NAMES = ["a", "b", "c", "d", "e"]
LABELS = np.where(Y > 0, "ill", "well")


@pytest.fixture(autouse=True)
def _in_new_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def frame():
    return needs("pandas").DataFrame(X, columns=NAMES).assign(label=LABELS)


def write(name):
    write_frame(name, frame())


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
    ("t.csv", lambda name: frame().to_csv(name, index=False, sep="|"), ["-t", "label", "--delimiter", "|"], "ab"),
    *((f"t.{suffix}", write, ["-t", "label"], "ab") for suffix in ("csv", "parquet", "feather", "arff", "xlsx")),
    ("t.npy", lambda name: np.save(name, np.column_stack([X, Y])), ["-t", "5"], ["x0", "x1"]),
    ("t.npz", lambda name: np.savez(name, X=X, y=LABELS, feature_names=NAMES), [], "ab"),
    ("t.npz", lambda name: np.savez(name, data=X, z=Y), ["--key", "data", "-t", "z"], ["x0", "x1"]),
    ("t.svmlight", lambda name: dump_svmlight_file(X, Y, name), [], ["x0", "x1"]),
    ("t.libsvm.gz", write_gzip, [], ["x0", "x1"]),
    ("t.mat", lambda name: scipy_io.savemat(name, {"X": X, "y": Y, "feature_names": NAMES}), [], "ab"),
    ("t.h5ad", write_h5ad, ["-t", "label", "--layer", "scaled"], "ab"),
]


FAST = ["-k", "2", "--criterion", "hsic", "--kernel", "gaussian"]


@pytest.mark.parametrize(("name", "writer", "options", "found"), FORMATS)
def test_every_format_from_file_to_repeated_selection(name, writer, options, found):
    writer(name)
    result = printed("select", name, *options, *FAST)
    assert sorted(result["selected"]) == list(found)
    check_repeated(result)


def test_selection_of_genes_marks_them():
    write_h5ad("t.h5ad")
    words = ["select", "t.h5ad", "-t", "label", "--layer", "scaled", *FAST, "-o", "out.h5ad", "--quiet"]
    assert run(*words)[0::2] == (0, "")
    var = needs("anndata").read_h5ad("out.h5ad").var
    assert var["hsic_selected"].tolist() == [True, True, False, False, False]
    assert sorted(var["hsic_rank"]) == [1, 1, 2, 3, 4]


def test_epochs_are_selected_by_frequency():
    write_epochs("wave-epo.fif", 40, [0, 1])
    options = ["--group-by", "frequency", "--groups", "file", *FAST, "-k", "1"]
    result = printed("select", "wave-epo.fif", *options)
    channels, frequencies = zip(*(name.split(maxsplit=1) for name in result["selected"]), strict=True)
    assert sorted(channels) == ["Cz", "Pz"]
    assert len(set(frequencies)) == 1
    assert abs(float(frequencies[0].removesuffix(" Hz")) - 12) <= 1
    assert "--group-by frequency" in command(result).text
    check_repeated(result)


@pytest.mark.parametrize(
    "options",
    [
        ["-k", "auto"],
        ["--ridge", "0.02", "--kernel", "gaussian"],
        ["--kernel", "linear", "--method", "forward", "--keep", "c,e"],
        ["--criterion", "hsic", "--groups", "prefix:_"],
        ["--criterion", "hsic", "--kernel", "gaussian", "--categorical", "d"],
        ["--criterion", "hsic", "--kernel", "laplacian", "--standard-errors"],
        ["--block-size", "30", "--seed", "1", "-k", "auto", "--kernel", "gaussian"],
    ],
)
def test_code_repeats_every_option_and_names_columns_of_arrays_by_their_places(options):
    counts = np.column_stack([X[:, :3], np.round(X[:, 3]) + 0.0, X[:, 4]])
    np.savez("t.npz", X=counts, y=Y, feature_names=["a_1", "b_1", "c", "d", "e"])
    check_repeated(printed("select", "t.npz", "-k", "3", *options))
