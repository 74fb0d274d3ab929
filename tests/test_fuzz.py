"""The fuzz of `make fuzz` runs, counts its cases and tells of faults."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="processes and limits of Linux")


def fuzzed(root, *words, first=""):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root / "tests"), os.environ.get("PYTHONPATH", "")])}
    program = f"import sys; sys.argv[0] = 'fuzz'; {first}\nfrom fuzz.__main__ import main; sys.exit(main())"
    command = [sys.executable, "-c", program, *words]
    return subprocess.run(command, check=False, env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize(
    ("part", "cases", "libraries"),
    [
        ("files", 18, ["pandas", "pyarrow", "arff", "anndata", "h5py", "mne"]),
        ("texts", 16, ["pandas", "jinja2", "matplotlib"]),
        ("inference", 24, []),
        ("selections", 12, []),
    ],
)
def test_a_part_finds_nothing(root, part, cases, libraries):
    for library in libraries:
        pytest.importorskip(library, reason="the part needs it")
    done = fuzzed(root, "--part", part, "--cases", str(cases))
    assert done.returncode == 0, done.stdout + done.stderr
    row = done.stdout.splitlines()[-1].split()
    assert row[:2] == [part, str(cases)]
    assert sum(map(int, row[2:5])) == cases
    assert int(row[2]) > 0


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("os.abort()", "ended by SIGABRT"),
        ("os._exit(3)", "exit status 3"),
        ("1 / 0", "ZeroDivisionError"),
        ("bytearray(2**40)", "MemoryError"),
    ],
)
def test_a_fault_is_told_with_the_way_to_run_it_alone(root, fault, told):
    broken = f"import os, fuzz.inference; fuzz.inference.case = lambda *_: {fault}"
    done = fuzzed(root, "--part", "inference", "--seed", "7", "--cases", "1", first=broken)
    assert done.returncode == 1
    assert 'make fuzz ARGS="--part inference --seed 7 --case 0"' in done.stdout
    assert told in done.stdout
    assert done.stdout.splitlines()[-1].split() == ["inference", "1", "0", "0", "1"]
