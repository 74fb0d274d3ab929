"""The frame of the experiments: rows, processes, resuming, and the command line."""

import os
import pickle
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from experiments.__main__ import main
from experiments.frame import NAMES, RESULTS, experiment_named
from experiments.rows import Rows
from experiments.runner import Run
from experiments.version import fingerprint, version

import bahsic
from toy_experiment import EXPERIMENT as TOY


@pytest.fixture
def rows(tmp_path):
    return Rows(tmp_path / "new" / "rows.csv", ["a", "b", "value"], keys=["a", "b"])


def test_rows_come_back_as_strings_in_their_order(rows):
    assert rows.read() == []
    rows.append([{"a": 1, "b": "x, y", "value": 0.5, "version": "0.1.0"}])
    rows.append([{"a": 2, "b": "z", "value": ""}, {"a": 2, "b": "z", "value": 3}])
    found = [list(row.values()) for row in rows.read()]
    assert found == [["1", "x, y", "0.5", "0.1.0"], ["2", "z", "", ""], ["2", "z", "3", ""]]
    assert rows.cells() == {("1", "x, y"), ("2", "z")}
    assert rows.path.read_text(encoding="utf-8").startswith("a,b,value,version\n1,")


def test_torn_last_line_goes_with_the_rows_of_its_cell(rows):
    rows.append([{"a": 1, "b": 1, "value": 1}])
    rows.append([{"a": 2, "b": 1, "value": 2}])
    with rows.path.open("a", encoding="utf-8") as file:
        file.write("2,1,")
    assert rows.cells() == {("1", "1"), ("2", "1")}  # what can be read meanwhile
    rows.recover()
    assert rows.cells() == {("1", "1")}
    rows.append([{"a": 3, "b": 1, "value": 3}])
    assert rows.path.read_text(encoding="utf-8") == "a,b,value,version\n1,1,1,\n3,1,3,\n"


def test_files_without_a_version_get_one_when_they_are_written_again(rows):
    rows.path.parent.mkdir()
    rows.path.write_text("a,b,value\n1,1,5\n", encoding="utf-8")
    rows.recover()
    rows.append([{"a": 2, "b": 1, "value": 6, "version": "0.1.0"}])
    assert rows.path.read_text(encoding="utf-8") == "a,b,value,version\n1,1,5,before\n2,1,6,0.1.0\n"


def test_fingerprint_changes_with_texts_and_names(tmp_path):
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "one.py").write_text("x = 1\n", encoding="utf-8")
    first = fingerprint([tmp_path / "engine"])
    (tmp_path / "engine" / "note.txt").write_text("no code", encoding="utf-8")
    assert fingerprint([tmp_path / "engine"]) == first
    (tmp_path / "engine" / "one.py").write_text("x = 2\n", encoding="utf-8")
    second = fingerprint([tmp_path / "engine"])
    (tmp_path / "engine" / "one.py").rename(tmp_path / "engine" / "two.py")
    assert len({first, second, fingerprint([tmp_path / "engine"])}) == 3
    assert version(ours=True).startswith(f"{bahsic.__version__}+")


def test_rows_of_another_version_are_renewed_where_that_is_wanted(tmp_path):
    store = TOY.store(tmp_path)
    store.append([{"kind": "good", "fold": fold, "value": "old", "version": "0.0"} for fold in (0, 0, 1)])
    store.append([{"kind": "good", "fold": 2, "value": "kept", "version": version(ours=True)}])
    cells = [{"kind": "good", "fold": fold} for fold in (0, 2)]
    assert Run(TOY, store, cells).finish(1) == 0
    assert [row["value"] for row in store.read()] == ["old", "old", "old", "kept"]
    assert Run(TOY, store, cells, renew=True).finish(1) == 0
    assert [(row["value"], row["version"]) for row in store.read()] == [
        ("old", "0.0"),
        ("kept", version(ours=True)),
        ("0", version(ours=True)),
        ("1", version(ours=True)),
    ]
    theirs = replace(TOY, ours=lambda cell: False)
    Run(theirs, store, [{"kind": "good", "fold": 1}], renew=True).finish(1)
    assert store.read()[0]["value"] == "old"


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


def test_finished_cells_are_not_run_again_and_two_processes_find_the_same(tmp_path):
    store = TOY.store(tmp_path)
    store.append([{"kind": "good", "fold": 1, "value": "kept"}])
    failed, found = run([{"kind": "good", "fold": fold} for fold in range(3)], tmp_path, jobs=2)
    assert failed == 0
    new = [("good", "0", "0"), ("good", "0", "1"), ("good", "2", "20"), ("good", "2", "21")]
    assert found[0] == ("good", "1", "kept")
    assert sorted(found[1:]) == new


def test_failed_cells_are_told_and_leave_no_rows(tmp_path, capfd):
    cells = [{"kind": kind, "fold": 0} for kind in ("bad", "gone", "good")]
    failed, found = run(cells, tmp_path)
    assert failed == 2
    assert [kind for kind, *_ in found] == ["good", "good"]
    text = capfd.readouterr().err
    assert "toy kind=bad fold=0 failed: Traceback" in text
    assert "ValueError: this cell is bad" in text
    assert "toy kind=gone fold=0 failed: its process ended with status 3" in text


def test_every_experiment_is_complete():
    for name in NAMES:
        experiment = experiment_named(name)
        assert experiment.name == name
        assert pickle.loads(pickle.dumps(experiment)) == experiment  # it is sent to processes
        assert set(experiment.repeats) <= set(experiment.keys) <= set(experiment.columns)
        cells = experiment.grid(False, RESULTS)
        keys = [experiment.store().key(cell) for cell in cells]
        assert len(set(keys)) == len(keys)
        assert 0 < len(experiment.grid(True, RESULTS)) < len(keys)
    with pytest.raises(ValueError, match="experiment is 'reel'; accepted: artificial, ring, real"):
        experiment_named("reel")


def test_only_some_cells_are_run(tmp_path, monkeypatch):
    ran = []
    monkeypatch.setattr(Run, "finish", lambda self, jobs: ran.extend(self.cells) or 0)
    arguments = ["run", "real", "--results", str(tmp_path), "--only", "dataset=wine,wdbc", "--only"]
    assert main([*arguments, "method=prediction"]) == 0
    assert {(cell["dataset"], cell["method"]) for cell in ran} == {("wine", "prediction"), ("wdbc", "prediction")}
    assert len(ran) == 20
    with pytest.raises(SystemExit, match="--only names 'set'; accepted for real: dataset, method"):
        main([*arguments, "set=wine"])
    with pytest.raises(SystemExit, match="--only method=best leaves no cell of real"):
        main([*arguments, "method=best"])


def command(root, *arguments):
    environment = {name: value for name, value in os.environ.items() if name != "BAHSIC_DATA"}
    return subprocess.Popen(
        [sys.executable, "-m", "experiments", *arguments],
        cwd=root,
        env=environment,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_interrupted_run_goes_on_where_it_was(root, tmp_path):
    arguments = ("run", "artificial", "--quick", "--results", str(tmp_path), "--only", "problem=xor")
    arguments += ("--only", "method=bahsic,fohsic,pearson,relief")
    path = tmp_path / "artificial.csv"
    process = command(root, *arguments)
    while process.poll() is None and not (path.exists() and path.read_text().count("\n") > 2):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, text = process.communicate(timeout=60)
    assert process.returncode == 130, text
    assert text.endswith("interrupted; the same command goes on from here\n")
    assert "Traceback" not in text
    first = path.read_text(encoding="utf-8")
    grid = [cell for cell in experiment_named("artificial").grid(True, tmp_path) if cell["problem"] == "xor"][:8]
    assert 1 <= first.count("\n") - 1 < len(grid)
    assert main(arguments) == 0
    complete = path.read_text(encoding="utf-8")
    assert complete.startswith(first)
    assert complete.count("\n") == 1 + len(grid)
