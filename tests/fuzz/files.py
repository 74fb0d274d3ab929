"""Damaged files of every format: the command must end with a result, or with one line and status 3."""

import gzip
import io
from pathlib import Path

# As in `commands`, imported before a process is forked; nothing is called here that would start threads.
import anndata
import arff  # noqa: F401
import h5py  # noqa: F401
import mne  # noqa: F401
import numpy as np
import openpyxl  # noqa: F401
import pandas as pd
import pyarrow as pa
from pyarrow import feather, ipc
from scipy import io as scipy_io
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from command import write_epochs, write_frame
from fuzz.apart import Outcome
from fuzz.commands import command_outcome
from fuzz.damage import damaged

M = 40


def _numbers(generator):
    return generator.standard_normal((M, 4))


def _frame(generator):
    X = _numbers(generator)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    frame["whole"] = generator.integers(0, 5, M)
    frame["text"] = generator.choice(["red", "blue", "green"], M)
    frame["kind"] = pd.Categorical(generator.choice(["u", "v"], M))
    frame["yes"] = generator.random(M) < 0.5
    frame["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(generator.integers(0, 999, M), "D")
    frame.loc[generator.random(M) < 0.1, ["a", "text", "day"]] = None
    frame["label"] = (X[:, 0] + X[:, 1] > 0).astype(int)
    return frame


def _delimited(path, generator):
    _frame(generator).to_csv(path, index=False, sep="\t" if ".tsv" in path.name else ",")


def _parquet(path, generator):
    kind = generator.choice(["snappy", "gzip", "none", "zstd"])
    _frame(generator).to_parquet(path, index=False, compression=None if kind == "none" else kind)


def _arrow_table(generator):
    table = pa.Table.from_pandas(_frame(generator), preserve_index=False)
    nested = pa.array([[1.0, 2.0], [], None, [3.0]] * (M // 4))
    return table.append_column("list", nested) if generator.random() < 0.3 else table


def _feather(path, generator):
    feather.write_feather(_arrow_table(generator), path, compression=str(generator.choice(["uncompressed", "lz4"])))


def _arrow(path, generator):
    table = _arrow_table(generator)
    new = ipc.new_stream if generator.random() < 0.5 else ipc.new_file
    with pa.OSFile(str(path), "wb") as sink, new(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=M // 2)


def _arrays(generator):
    X = _numbers(generator)
    return {"X": X, "y": (X[:, 0] > 0).astype(int), "feature_names": np.array(["a", "b", "c", "d"])}


def _mat(path, generator):
    arrays = _arrays(generator)
    if generator.random() < 0.3:
        arrays["X"] = sparse.csc_array(np.maximum(arrays["X"], 0))
    version = str(generator.choice(["4", "5"]))
    names = {"feature_names": arrays["feature_names"].astype(object)} if version == "5" else {}
    scipy_io.savemat(
        path, {"X": arrays["X"], "y": arrays["y"], **names}, format=version, do_compression=generator.random() < 0.5
    )


def _svmlight(path, generator):
    X = np.maximum(_numbers(generator), 0)
    text = io.BytesIO()
    dump_svmlight_file(X, (X[:, 0] > 0).astype(int), text, zero_based=False)
    path.write_bytes(text.getvalue())


def _h5ad(path, generator):
    X = np.maximum(_numbers(generator), 0)
    matrix = sparse.csr_matrix(X) if generator.random() < 0.5 else X
    obs = pd.DataFrame({"label": np.where(X[:, 0] > 0, "yes", "no")}, index=[f"cell{i}" for i in range(M)])
    anndata.AnnData(matrix, obs=obs, var=pd.DataFrame(index=list("abcd"))).write_h5ad(path)


TARGET = ["--target", "label"]

# For each file name the function that writes it, and the options of the command.
FORMATS = {
    "t.csv": (_delimited, TARGET),
    "t.tsv": (_delimited, TARGET),
    "t.parquet": (_parquet, TARGET),
    "t.feather": (_feather, TARGET),
    "t.arrow": (_arrow, TARGET),
    "t.npy": (lambda path, generator: np.save(path, _numbers(generator)), ["--target", "3"]),
    "t.npz": (lambda path, generator: np.savez_compressed(path, **_arrays(generator)), []),
    "t.mat": (_mat, []),
    "t.svmlight": (_svmlight, []),
    "t.arff": (lambda path, generator: write_frame(path, _frame(generator).drop(columns=["day", "yes"])), TARGET),
    "t.xlsx": (lambda path, generator: _frame(generator).to_excel(path, index=False), TARGET),
    "t.h5ad": (_h5ad, TARGET),
    "t-epo.fif": (lambda path, generator: write_epochs(path, M, [0]), []),
}
_PACKED = (".csv", ".tsv", ".svmlight", ".fif")  # also read when compressed by gzip
_VARIANTS = 6  # whole files of each format


def prepare(folder):
    """Write whole files of each format; in a process of its own, as threads of libraries do not survive a fork."""
    for name, (write, _) in FORMATS.items():
        for variant in range(_VARIANTS if name != "t-epo.fif" else 1):
            (Path(folder) / str(variant)).mkdir(exist_ok=True)
            write(Path(folder) / str(variant) / name, np.random.default_rng(variant))
    return Outcome("fine")


def case(generator, folder, number):
    """One damaged file, read by the command `rank` or `select`."""
    name = list(FORMATS)[number % len(FORMATS)]
    options = FORMATS[name][1]
    variants = [path for path in sorted(Path(folder).glob(f"*/{name}")) if path.parent.name.isdecimal()]
    content = damaged(variants[generator.integers(len(variants))].read_bytes(), generator)
    if name.endswith(_PACKED) and generator.random() < 0.15:
        name, content = f"{name}.gz", gzip.compress(content, 1)
        content = damaged(content, generator) if generator.random() < 0.5 else content
    path = Path(folder) / f"damaged-{name}"
    path.write_bytes(content)
    command = ["rank"] if generator.random() < 0.8 else ["select", "-k", "2", "-o", str(Path(folder) / "reduced.csv")]
    if name == "t.h5ad" and generator.random() < 0.3:
        command = ["select", "-k", "2", "-o", str(Path(folder) / "reduced.h5ad")]
    return command_outcome([*command, str(path), *options])
