"""Configuration, lists of names and results that somebody else wrote; standard streams that are closed."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from command import printed, run

X = np.random.default_rng(0).standard_normal((40, 3))
Y = (X[:, 0] > 0).astype(int)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "t.npz"
    np.savez(path, X=X, y=Y)
    return str(path)


@pytest.fixture(scope="module")
def result(table):
    """A result as plain data."""
    return printed("select", table, "-k", "1", "--kernel", "gaussian", "--quiet")


def check_one_line(told, *words):
    assert told.startswith("bahsic: error: ")
    assert told.count("\n") == 1
    assert all(word in told for word in words)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="devices of Linux")
@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("select TABLE --config /dev/zero", 2),
        ("select TABLE --feature-groups /dev/zero", 3),
        ("report /dev/zero", 3),
        ("select /dev/zero", 3),
    ],
)
def test_a_device_without_end_is_refused(table, words, status):
    found, _, told = run(*words.replace("TABLE", table).split())
    assert found == status
    check_one_line(told, "/dev/zero")


@pytest.mark.skipif(os.name != "posix", reason="links")
@pytest.mark.parametrize("flag", ["--config", "--feature-groups", "--report", "-o", "--checkpoint"])
def test_a_loop_of_links_is_one_line(table, tmp_path, flag):
    loop = tmp_path / ("a.html" if flag == "--report" else "a.csv")
    loop.symlink_to(loop)
    status, _, told = run("select", table, "-k", "1", flag, loop)
    assert status in (1, 2, 3)
    check_one_line(told, str(loop))
    assert "unexpected" not in told


@pytest.mark.skipif(os.name != "posix", reason="pipes")
def test_a_pipe_may_hold_a_configuration(table, tmp_path):
    os.mkfifo(tmp_path / "p")
    write = "import pathlib, sys; pathlib.Path(sys.argv[1]).write_text('quiet = true')"
    with subprocess.Popen([sys.executable, "-c", write, str(tmp_path / "p")]):
        assert run("select", table, "-k", "1", "--config", tmp_path / "p")[0] == 0


NO_NAMES = "accepted: a name of a column in each line"


@pytest.mark.parametrize(
    ("option", "content", "status", "told"),
    [
        ("--keep", "x0\nb\n", 3, "line 2: TABLE: no column is called 'b'; "),
        ("--keep", "# nothing\n\n", 3, f"no names; {NO_NAMES}"),
        ("--keep", b"\xff\xfe\x00", 3, f"not UTF-8; {NO_NAMES}"),
        ("--groups", "x00,one\n", 3, "did you mean 'x"),
        ("--groups", "x1,one\nx1,two\n", 3, "line 2 has 'x1' again"),
        ("--config", "metod = 'forward'", 2, "unknown key 'metod', did you mean 'method'?"),
        ("--config", "method = 'sideways'", 2, "invalid choice: 'sideways'"),
        ("--config", "method = true", 2, "method is true"),
        ("--config", "[select]\nk = 3", 2, "unknown key 'select'"),
        ("--config", "[keep]\nk = 3", 2, "keep is a table"),
        ("--config", "k = ", 2, "not TOML"),
        ("--config", "a = " + "[" * 10**5, 2, "given.txt"),
        ("--config", "k = " + "9" * 5000, 2, "given.txt"),
        ("--config", "k = 0x" + "f" * 9000, 2, "given.txt"),
        ("--config", b"\xed\xa0\x80", 2, "given.txt"),
        ("--config", "k = 1\nk = 2", 2, "given.txt"),
        ("--config", None, 2, "No such file"),
    ],
)
def test_lists_groups_and_configurations_that_are_wrong(table, tmp_path, option, content, status, told):
    path = tmp_path / "given.txt"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    found, out, err = run("select", table, option, path)
    assert (found, out) == (status, "")
    check_one_line(err, told.replace("TABLE", table))


HOSTILE = ["=cmd|'/c calc'!A1", "+1", "@SUM(1)", "-1+1", "\t=1", ["=1"], {"=1": 2}, None, 10**400, float("inf"), True]


def places(value, path=()):
    """Paths of all entries of nested data, of a list those in its first entry."""
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(min(1, len(value))):
            yield from places(value[key], (*path, key))


def changed(value, path, new):
    """Nested data with one entry changed."""
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = changed(value[path[0]], path[1:], new)
    return copy


def test_hostile_results_make_a_page_without_formulas_or_one_line(result, tmp_path):
    pytest.importorskip("jinja2", reason="the report needs jinja2")
    source, n_pages = tmp_path / "r.json", 0
    for number, path in enumerate(path for path in places(result) if path):
        hostile = HOSTILE[number % 2 :: 2] if path[:2] == ("ranking", 0) else [HOSTILE[number % len(HOSTILE)]]
        for new in hostile:
            source.write_text(json.dumps(changed(result, path, new)))
            status, _, told = run("report", source, "--quiet")
            assert (status, told) == (0, "") or (status == 3 and told.count("\n") == 1), (path, new, told)
            if status == 0:
                n_pages += 1
                with (tmp_path / "r_features.csv").open(newline="") as file:
                    cells = [cell for row in csv.reader(file) for cell in row]
                assert not any(cell.startswith(("=", "@", "+", "\t")) for cell in cells), (path, new)
                assert all(np.isfinite(float(cell)) for cell in cells if cell.startswith("-")), (path, new)
    assert n_pages > 20


@pytest.mark.skipif(os.name != "posix", reason="the shell")
@pytest.mark.parametrize("closed", ["2>&-", ">&- 2>&-", "2>/dev/full"])
def test_closed_standard_streams_change_no_status(closed):
    command = f'"{sys.executable}" -m bahsic datasets {closed}'
    done = subprocess.run(command, shell=True, check=False, stdout=subprocess.PIPE, timeout=120)
    assert done.returncode == 0
    mistake = f'"{sys.executable}" -m bahsic dance {closed}'
    assert subprocess.run(mistake, shell=True, check=False, timeout=120).returncode == 2
