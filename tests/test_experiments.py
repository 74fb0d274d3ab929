"""The frame of the experiments: rows, processes, resuming, and the command line."""

import os
import pickle
import re
import signal
import subprocess
import sys
import time

import pytest
from experiments.__main__ import main
from experiments.frame import NAMES, RESULTS, experiment_named
from experiments.rows import Rows
from experiments.runner import Run
from experiments.version import fingerprint

from toy_experiment import EXPERIMENT as TOY


def test_rows_come_back_as_strings_and_torn_cells_are_dropped(tmp_path):
    rows = Rows(tmp_path / "new" / "rows.csv", ["a", "b", "value"], keys=["a", "b"])
    assert rows.read() == []
    rows.append([{"a": 1, "b": "x, y", "value": 0.5, "version": "0.1.0"}])
    rows.append([{"a": 2, "b": "z", "value": ""}, {"a": 2, "b": "z", "value": 3}])
    found = [list(row.values()) for row in rows.read()]
    assert found == [["1", "x, y", "0.5", "0.1.0"], ["2", "z", "", ""], ["2", "z", "3", ""]]
    assert rows.cells() == {("1", "x, y"), ("2", "z")}
    with rows.path.open("a", encoding="utf-8") as file:
        file.write("2,z,")
    assert rows.cells() == {("1", "x, y"), ("2", "z")}  # what can be read meanwhile
    rows.recover()
    rows.append([{"a": 3, "b": 1, "value": 3}])
    assert rows.path.read_text(encoding="utf-8") == 'a,b,value,version\n1,"x, y",0.5,0.1.0\n3,1,3,\n'
    rows.path.write_text("a,b,value\n1,1,5\n", encoding="utf-8")  # from the time before rows had a version
    rows.recover()
    assert rows.path.read_text(encoding="utf-8") == "a,b,value,version\n1,1,5,before\n"


def run(cells, tmp_path, jobs=1):
    """The number of failed cells of a run of the toy, and its rows."""
    store = TOY.store(tmp_path)
    return Run(TOY, store, cells).finish(jobs), [tuple(row[name] for name in TOY.columns) for row in store.read()]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows can't limit processor time")
def test_late_cells_are_recorded_and_their_repetitions_not_tried(tmp_path, capfd):
    failed, found = run(TOY.grid(False, tmp_path), tmp_path)
    assert failed == 0
    values = [("0", "0"), ("0", "1"), ("1", "10"), ("1", "11")]
    late = [("late", "0", "stopped"), ("late", "1", "stopped")]
    assert found == [*(("good", *pair) for pair in values), *late, *(("good too", *pair) for pair in values)]
    assert "toy: 6 of 6 cells" in capfd.readouterr().err


def test_failed_cells_leave_no_rows_and_finished_ones_are_not_run_again(tmp_path, capfd):
    TOY.store(tmp_path).append([{"kind": "good", "fold": 1, "value": "kept"}])
    cells = [{"kind": kind, "fold": fold} for kind in ("bad", "gone", "good") for fold in range(2)]
    failed, found = run(cells, tmp_path, jobs=2)
    assert failed == 4
    assert found == [("good", "1", "kept"), ("good", "0", "0"), ("good", "0", "1")]
    text = capfd.readouterr().err
    assert re.search(r"toy kind=bad fold=\d failed: Traceback[^$]*ValueError: this cell is bad", text)
    assert re.search(r"toy kind=gone fold=\d failed: its process ended with status 3", text)


def test_every_experiment_is_complete():
    for name in NAMES:
        experiment = experiment_named(name)
        assert experiment.name == name
        assert pickle.loads(pickle.dumps(experiment)) == experiment  # it is sent to processes
        assert set(experiment.repeats) <= set(experiment.keys) <= set(experiment.columns)
        keys = [experiment.store().key(cell) for cell in experiment.grid(False, RESULTS)]
        assert len(set(keys)) == len(keys)
        assert 0 < len(experiment.grid(True, RESULTS)) < len(keys)
    with pytest.raises(ValueError, match="experiment is 'reel'; accepted: artificial, ring, "):
        experiment_named("reel")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_interrupted_run_goes_on_where_it_was(root, tmp_path):
    arguments = ["run", "artificial", "--quick", "--results", str(tmp_path), "--only", "problem=xor"]
    arguments += ["--only", "method=bahsic,fohsic,pearson,relief"]
    path, environment = tmp_path / "artificial.csv", {k: v for k, v in os.environ.items() if k != "BAHSIC_DATA"}
    process = subprocess.Popen(
        [sys.executable, "-m", "experiments", *arguments], cwd=root, env=environment, stderr=subprocess.PIPE, text=True
    )
    while process.poll() is None and not (path.exists() and path.read_text().count("\n") > 2):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, text = process.communicate(timeout=60)
    assert process.returncode == 130, text
    assert text.endswith("interrupted; the same command resumes from here\n")
    assert "Traceback" not in text
    first = path.read_text(encoding="utf-8")
    assert 2 <= first.count("\n") < 1 + 8
    assert main(arguments) == 0
    complete = path.read_text(encoding="utf-8")
    assert complete.startswith(first)
    assert complete.count("\n") == 1 + 8


def test_rows_of_other_code_are_counted(tmp_path, capsys):
    options = ["artificial", "--quick", "--results", str(tmp_path), "--only", "problem=xor"]
    assert main(["run", *options, "--only", "method=bahsic,pearson"]) == 0
    path = tmp_path / "artificial.csv"
    path.write_text(path.read_text().replace("+", "+0"))  # the version of our rows
    capsys.readouterr()
    assert main(["stale", *options, "--only", "method=bahsic,pearson,relief"]) == 1
    assert capsys.readouterr().out == "artificial: of 6 cells 2 have no rows, 2 have rows of other code\n"
    assert main(["stale", *options, "--only", "method=pearson"]) == 0


@pytest.mark.parametrize(
    ("code", "is_same"),
    [
        ("def f(x):\n    return x + 1\n", True),
        ('from typing import Any\n\n\ndef f(x: Any) -> int:\n    """Add one."""\n    return x + 1  # more\n', True),
        ("def f(x):\n    return x + 2\n", False),
        ("import math\n\n\ndef f(x):\n    return x + 1\n", False),
    ],
)
def test_words_and_types_are_no_other_code(code, is_same, tmp_path):
    for name, text in (("first", "def f(x):\n    return x + 1\n"), ("second", code)):
        folder = tmp_path / name / "part"
        folder.mkdir(parents=True)
        (folder / "module.py").write_text(text)
    first, second = (fingerprint([tmp_path / name / "part"]) for name in ("first", "second"))
    assert (first == second) is is_same
