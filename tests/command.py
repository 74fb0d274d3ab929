"""The command as the tests run it, in this process or in a fresh one, and the code that repeats a result."""

import io
import json
import os
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pytest

import bahsic
from bahsic.cli import main
from bahsic.cli.arguments import parsed
from bahsic.report.snippets import command, python_code

__all__ = [
    "check_repeated", "command", "fresh", "main", "needs", "parsed", "printed", "python_code", "run", "selector_of",
    "write_epochs", "write_frame",
]  # fmt: skip


def run(*words, encoding="utf-8", isatty=False):
    """Exit status, standard output and standard error of a command in this process."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="") for _ in range(2)]
    streams[0].isatty = lambda: isatty
    with redirect_stdout(streams[0]), redirect_stderr(streams[1]):
        status = main([str(word) for word in words])
    texts = []
    for stream in streams:
        stream.flush()
        texts.append(stream.buffer.getvalue().decode(encoding))
    return status, *texts


def printed(*words):
    """The result that a command prints as JSON."""
    status, out, err = run(*words, "--json")
    assert status == 0, err
    return json.loads(out)


def fresh(*words, **options):
    """A process of its own, from which the package can be imported."""
    source = str(Path(bahsic.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": source, "PYTHONIOENCODING": "utf-8"}
    settings = {"capture_output": True, "encoding": "utf-8", "env": environment, **options}
    return subprocess.run([sys.executable, *words], check=False, timeout=300, **settings)


def selector_of(result):
    """What the Python code of a result defines: the data and the fitted selector."""
    space = {}
    exec(python_code(result).text, space)
    return space


def check_repeated(result):
    """What the report says repeats a selection does so, in Python and in a shell."""
    selector = selector_of(result)["selector"]
    path = [(step.n_features, step.hsic, step.predictability, step.ridge) for step in selector.path_]
    assert path == [(s["n_features"], s["hsic"], s["predictability"], s["ridge"]) for s in result["path"]]
    assert selector.kernel_ == result["kernel"]
    chosen = selector.get_support(indices=True).tolist()
    assert chosen == sorted(row["column"] for row in result["ranking"] if row["selected"])
    again = printed(*shlex.split(command(result).text)[1:])
    assert {**again, "timing": None} == {**result, "timing": None}


def needs(name):
    return pytest.importorskip(name, reason=f"files of this format are read by {name}")


def write_frame(path, frame):
    """Write a frame of pandas in the format of the suffix."""
    path = Path(path)
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".xlsx":
        needs("openpyxl")
        frame.to_excel(path, index=False)
    elif path.suffix == ".arff":
        nominal = frame.select_dtypes(exclude="number")
        kinds = dict.fromkeys(frame, "REAL") | {name: sorted(set(nominal[name].dropna())) for name in nominal}
        rows = frame.astype(object).where(frame.notna(), None).to_numpy().tolist()
        table = {"relation": "r", "attributes": list(kinds.items()), "data": rows}
        path.write_text(needs("arff").dumps(table), encoding="utf-8")
    else:
        needs("pyarrow")
        getattr(frame, f"to_{path.suffix[1:]}")(path)


def write_epochs(path, m, channels, metadata=None):
    """Write two seconds of noise in the channels Cz and Pz, some with a wave of 12 Hz where the event is "left"."""
    mne, n, rate = needs("mne"), 128, 64.0
    signal = 1e-6 * np.random.default_rng(0).standard_normal((m, 2, n))
    signal[::2, channels] += 1e-5 * np.sin(2 * np.pi * 12 * np.arange(n) / rate)
    events = np.column_stack([np.arange(m), np.zeros(m, dtype=int), 1 + np.arange(m) % 2])
    info = mne.create_info(["Cz", "Pz"], rate, "eeg", verbose="error")
    epochs = mne.EpochsArray(signal, info, events, event_id={"left": 1, "right": 2}, verbose="error")
    epochs.metadata = metadata
    epochs.save(path, verbose="error")
