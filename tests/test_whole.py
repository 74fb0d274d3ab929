"""Files appear whole or not at all, and nothing but a regular file is ever replaced."""

import os
import re
import stat
import subprocess
import threading
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bahsic import BAHSIC
from bahsic.files import Data, read_data, write_table
from command import fresh, run

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes, devices and limits of POSIX")

X = np.random.default_rng(0).standard_normal((40, 4))
Y = (X[:, 0] > 0).astype(int)


@pytest.fixture
def pipe(tmp_path):
    """Return a function that makes a pipe and reads it in a thread; its content once all was written."""

    def made(name):
        os.mkfifo(tmp_path / name)
        content = []
        reader = threading.Thread(target=lambda: content.append((tmp_path / name).read_bytes()), daemon=True)
        reader.start()

        def read():
            reader.join(30)
            return content[0]

        return tmp_path / name, read

    return made


@pytest.fixture
def table(tmp_path):
    np.savez(tmp_path / "t.npz", X=X, y=Y)
    return str(tmp_path / "t.npz")


def is_pipe(path):
    return stat.S_ISFIFO(path.stat().st_mode)


def test_devices_and_links_stay_and_permissions_are_handed_on(tmp_path):
    real, device = tmp_path / "real.npz", Path(os.devnull)
    real.write_text("old")
    real.chmod(0o600)
    before = device.stat()
    for target in (real, device):
        link = tmp_path / f"{target.name}-link.npz"
        link.symlink_to(target)
        write_table(link, Data(X, Y), [0])
        assert link.is_symlink()
    assert stat.S_ISCHR(device.stat().st_mode)
    assert os.path.samestat(device.stat(), before)
    assert real.stat().st_mode & 0o777 == 0o600
    assert_array_equal(read_data(real).X, X[:, [0]])


def test_commands_write_tables_and_reports_into_pipes(pipe, table, tmp_path):
    pytest.importorskip("jinja2", reason="the report needs jinja2")
    (npz, read_npz), (page, read_page), (beside, read_beside) = map(pipe, ["o.npz", "o.html", "o_features.csv"])
    assert run("select", table, "-k", 1, "--criterion", "hsic", "-o", npz, "--report", page, "-q")[0] == 0
    (tmp_path / "back.npz").write_bytes(read_npz())
    assert_array_equal(read_data(tmp_path / "back.npz").X, X[:, [0]])
    assert read_page().startswith(b"<!DOCTYPE html>")
    assert read_beside().startswith(b"rank,feature")
    assert all(map(is_pipe, (npz, page, beside)))


def test_a_report_goes_where_its_link_leads(table, tmp_path):
    pytest.importorskip("jinja2", reason="the report needs jinja2")
    (tmp_path / "far").mkdir()
    (tmp_path / "page.html").symlink_to(tmp_path / "far" / "real.html")
    words = ["select", table, "-k", 1, "--criterion", "hsic", "--report", tmp_path / "page.html", "-q"]
    assert run(*words)[0] == 0
    assert [path.name for path in (tmp_path / "far").iterdir()] == ["real.html"]
    assert (tmp_path / "page_features.csv").is_file()


def test_a_pipe_in_the_place_of_a_checkpoint_is_refused(tmp_path):
    os.mkfifo(tmp_path / "bahsic-checkpoint.json")
    with pytest.raises(ValueError, match="which is not a file"):
        BAHSIC(2, checkpoint=tmp_path).fit(X, Y)
    assert is_pipe(tmp_path / "bahsic-checkpoint.json")


@contextmanager
def full_disk():
    """Writes beyond 100 bytes of a file fail, as on a full disk; those of the tests' own output too."""
    resource = pytest.importorskip("resource", reason="limits of POSIX")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize(
    "name", ["o.csv", "o.csv.gz", "o.parquet", "o.feather", "o.npy", "o.npz", "o.mat", "o.svmlight", "o.html"]
)
def test_a_full_disk_names_the_file_and_leaves_the_old_one(table, tmp_path, name):
    libraries = {"parquet": ["pandas", "pyarrow"], "feather": ["pandas", "pyarrow"], "html": ["jinja2"]}
    for library in libraries.get(name[2:], ["pandas"]):
        pytest.importorskip(library, reason="writes the format")
    (tmp_path / name).write_text("old")
    option = "--report" if name == "o.html" else "-o"
    with full_disk():
        status, _, told = run("select", table, "-k", "3", "--criterion", "hsic", "--quiet", option, tmp_path / name)
    assert (status, told.count("\n"), (tmp_path / name).read_text()) == (1, 1, "old")
    assert told.startswith(f"bahsic: error: {tmp_path / name}: ")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, "t.npz"])


def test_a_full_disk_names_the_checkpoint(table, tmp_path):
    with full_disk():
        status, _, told = run("select", table, "-k", "1", "--checkpoint", tmp_path / "kept", "--quiet")
    folder = tmp_path / "kept" / "gaussian"
    assert (status, told.count("\n")) == (1, 1)
    assert re.match(rf"bahsic: error: {re.escape(str(folder))}/fold-\d/bahsic-checkpoint\.json: ", told)
    assert not any(path.is_file() for path in (tmp_path / "kept").rglob("*"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_behind_standard_output_is_one_line():
    with Path("/dev/full").open("w") as full:
        done = fresh("-m", "bahsic", "datasets", capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (1, "bahsic: error: output: No space left on device\n")
