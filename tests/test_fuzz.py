"""The fuzz of `make fuzz` runs, counts its cases and tells of faults."""

import re
from pathlib import Path

import pytest

from command import fresh

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="processes and limits of Linux")


def fuzzed(root, *words, first=""):
    program = f"import sys; sys.argv[0] = 'fuzz'; {first}\nfrom fuzz.__main__ import main; sys.exit(main())"
    return fresh("-c", program, *words, cwd=root / "tests")


@pytest.mark.parametrize(
    ("parts", "libraries"),
    [
        (["files", "texts"], ["pandas", "pyarrow", "arff", "anndata", "h5py", "mne", "jinja2", "matplotlib"]),
        (["inference", "selections"], []),
    ],
)
def test_parts_find_nothing(root, parts, libraries):
    for library in libraries:
        pytest.importorskip(library, reason="the part needs it")
    done = fuzzed(root, *(word for part in parts for word in ("--part", part)), "--cases", "10")
    assert done.returncode == 0, done.stdout + done.stderr
    for part, line in zip(parts, done.stdout.splitlines()[-2:], strict=True):
        row = line.split()
        assert row[:2] == [part, "10"]
        assert sum(map(int, row[2:5])) == 10
        assert int(row[2]) > 0


def test_faults_are_told_with_the_way_to_run_each_alone(root):
    faults = ["os.abort()", "os._exit(3)", "1 / 0", "bytearray(2**40)"]
    broken = f"import os, fuzz.inference; fuzz.inference.case = lambda _, folder, number: eval({faults}[number])"
    done = fuzzed(root, "--part", "inference", "--seed", "7", "--cases", "4", first=broken)
    assert done.returncode == 1
    told = re.split(r"^inference: make fuzz ARGS=", done.stdout, flags=re.MULTILINE)[1:]
    kinds = ["ended by SIGABRT", "exit status 3", "ZeroDivisionError", "MemoryError"]
    for number, (text, kind) in enumerate(zip(told, kinds, strict=True)):
        assert text.startswith(f'"--part inference --seed 7 --case {number}"')
        assert kind in text
    assert done.stdout.splitlines()[-1].split() == ["inference", "4", "0", "0", "4"]
