"""The whole command, from a file to a report: processor seconds, and time over that of other selectors.

``bahsic select FILE --target label --report PAGE`` with its defaults, and two programs with the same reading: selection
by a random forest of 100 trees, ``SelectFromModel``, and permutation importance of gradient boosting in a third of the
rows. The tables are made up, or those of Python packages in `experiments.table_sources`.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import dump_svmlight_file
from table import Row, row

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from experiments.table_sources import SOURCES, load

_SHORT = 60.0  # seconds up to which the command runs twice, and the faster run counts
# Both others read as the command does, and use both cores.
_READ = """
import sys
from sklearn.ensemble import (HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestClassifier,
    RandomForestRegressor)
from bahsic.files import read_data
data = read_data(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)
numbers = data.y.dtype.kind in "fiu" and len(set(data.y)) > 20
"""
_FOREST = """
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.feature_selection import SelectFromModel
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
model = SelectFromModel((RandomForestRegressor if numbers else RandomForestClassifier)(100, n_jobs=-1, random_state=0))
if hasattr(data.X, "columns"):
    text, others = make_column_selector(dtype_exclude="number"), make_column_selector(dtype_include="number")
    encoder = OneHotEncoder(handle_unknown="ignore")
    model = make_pipeline(make_column_transformer((encoder, text), (SimpleImputer(), others)), model)
print(model.fit(data.X, data.y).transform(data.X).shape)
"""
_PERMUTATION = """
from sklearn.inspection import permutation_importance
from sklearn.model_selection import train_test_split
X = data.X.apply(lambda x: x if x.dtype.kind in "fiub" else x.astype("category").cat.codes)
X, X_test, y, y_test = train_test_split(X, data.y, test_size=1 / 3, random_state=0)
model = (HistGradientBoostingRegressor if numbers else HistGradientBoostingClassifier)(random_state=0).fit(X, y)
found = permutation_importance(model, X_test, y_test, random_state=0, n_jobs=-1)
print((found.importances_mean > 2 * found.importances_std).sum())
"""
_PROGRAMS = {"SelectFromModel, forest": (_FOREST, "<= 3"), "permutation importance": (_PERMUTATION, "<= 1")}


# Run by a small process of its own: a program's peak is at least that of the process which started it.
_MEASURED = """
import json, resource, subprocess, sys, time
start = time.perf_counter()
with open(sys.argv[1], "wb") as file:
    status = subprocess.call(sys.argv[2:], stdout=file)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
sys.exit(status)
"""


class _Case(NamedTuple):
    name: str
    write: Callable[[Path], list[str]]  # into a folder; returns the words of the command that name file and target
    bar: str = ""  # for processor seconds
    is_table: bool = False  # whether the times of others are bars


class _Used(NamedTuple):
    seconds: float
    processor: float
    peak: float  # MiB


def rows(*, quick: bool) -> list[Row]:
    """Three rows for each table: processor seconds, and the time over that of the two others."""
    found = []
    for case in _cases(quick=quick):
        with tempfile.TemporaryDirectory() as folder:
            found += _rows(case, Path(folder), quick=quick)
            print(*(f"{line['what']}: {line['value']:.2f}" for line in found[-3:]), sep="; ", file=sys.stderr)
    return found


def _rows(case: _Case, folder: Path, *, quick: bool) -> list[Row]:
    words = case.write(folder)
    printed = folder / "selection.json"
    ours = [sys.executable, "-m", "bahsic", "select", *words, "--report", str(folder / "report.html"), "--json"]
    own = _used(ours, printed)
    if not quick and own.seconds < _SHORT:  # the first run may have compiled, and reads libraries from the disk
        own = min(own, _used(ours, printed))
    selected = json.loads(printed.read_text(encoding="utf-8"))["selected"]
    note = f"{own.seconds:.3g} s, {own.peak:.0f} MiB at most, {len(selected)} selected"
    bar = "" if quick else case.bar
    found = [row(f"{case.name}: processor seconds", own.processor, bar, note=note, seconds=own.seconds)]
    for name, (program, most) in _PROGRAMS.items():
        if program is _PERMUTATION and not case.is_table:  # 10,000 columns one by one take half an hour
            continue
        other = _used([sys.executable, "-c", _READ + program, words[0], *words[2:]], folder / "other.txt")
        what, note = f"{case.name}: bahsic select / {name}", f"{own.seconds:.3g} s against {other.seconds:.3g} s"
        bar = most if case.is_table and not quick else ""
        found.append(row(what, own.seconds / other.seconds, bar, note=note, seconds=own.seconds))
    return found


def _used(words: list[str], output: Path) -> _Used:
    """What a program takes, whose output goes to a file."""
    found = subprocess.run(
        [sys.executable, "-c", _MEASURED, output, *words], check=False, capture_output=True, text=True
    )
    if found.returncode:
        raise RuntimeError(f"{' '.join(words)} failed: {found.stderr}")
    return _Used(*json.loads(found.stdout))


def _cases(*, quick: bool) -> list[_Case]:
    if quick:
        return [_mixed(300, 10), _sparse(60, 500)]
    return [
        *(_packaged(name) for name in SOURCES),
        _mixed(7000, 25, "<= 10"),
        _mixed(3000, 80),
        _mixed(32_000, 14),
        _numbers(1000, 10_000),
        _numbers(60, 20_000),
        _sparse(350, 100_000),
    ]


def _packaged(name: str) -> _Case:
    """A table that a Python package ships."""

    def write(folder: Path) -> list[str]:
        table = load(name)
        y = table.y if table.task == "regression" else [f"class {label}" for label in table.y]
        table.X.assign(target=y).to_csv(folder / "table.csv", index=False)
        return [str(folder / "table.csv"), "--target", "target"]

    return _Case(name, write, is_table=True)


def _mixed(m: int, d: int, bar: str = "") -> _Case:
    """Numbers (every fourth with outliers), categories and missing entries; five columns tell the class."""

    def write(folder: Path) -> list[str]:
        rng = np.random.default_rng(0)
        table: dict[str, object] = {}
        hidden = rng.standard_normal((m, 3))
        for j in range(d):
            x = rng.standard_normal(m) + (hidden[:, j] if j < 3 else 0)
            kind = j % 4
            if kind == 1:
                levels = 3 + j % 9
                x = np.array(list("abcdefghijkl"))[np.clip(levels / 2 + 1.5 * x, 0, levels - 1).astype(int)]
            elif kind == 2:
                x = np.where(rng.random(m) < 0.1, np.nan, x)
            elif kind == 3:
                x = np.round(np.exp(1.5 * x), 2)
            table[f"column{j}"] = x
        score = hidden[:, 0] * hidden[:, 1] + hidden[:, 2] + 0.5 * rng.standard_normal(m)
        table["label"] = np.where(score > 0, "yes", "no")
        pd.DataFrame(table).to_csv(folder / "table.csv", index=False)
        return [str(folder / "table.csv"), "--target", "label"]

    return _Case(f"{m:,} x {d} mixed", write, bar)


def _numbers(m: int, d: int) -> _Case:
    """Normal numbers, ten of which are shifted between the classes."""

    def write(folder: Path) -> list[str]:
        rng = np.random.default_rng(0)
        y = rng.integers(0, 2, m)
        X = rng.standard_normal((m, d))
        X[:, :10] += 0.8 * y[:, None]
        table = pd.DataFrame(np.round(X, 4)).rename(columns="x{}".format)
        table.assign(label=np.where(y, "yes", "no")).to_csv(folder / "table.csv", index=False)
        return [str(folder / "table.csv"), "--target", "label"]

    return _Case(f"{m:,} x {d:,} numbers", write)


def _sparse(m: int, d: int) -> _Case:
    """Zeros and ones, one in a hundred; ten columns are more frequent in one class."""

    def write(folder: Path) -> list[str]:
        rng = np.random.default_rng(0)
        y = rng.integers(0, 2, m)
        X = sparse.random_array((m, d), density=0.01, format="lil", rng=rng, data_sampler=_ones)
        for j in range(10):
            X[np.flatnonzero((rng.random(m) < 0.4) & (y == 1)), j] = 1.0
        dump_svmlight_file(X.tocsr(), y, str(folder / "table.svmlight"))
        return [str(folder / "table.svmlight")]

    return _Case(f"{m:,} x {d:,} sparse", write)


def _ones(size: int) -> np.ndarray:
    return np.ones(size)
