"""Peak memory of `bahsic select` on large CSV files, over the size of the file, each in a fresh process.

Run as a program, it measures one command: ``csv_memory.py FILE`` prints the peak in bytes.
"""

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from table import Row, row

from bahsic.cli import main
from bahsic.datasets import make_xor

_MEGABYTE = 10**6
_SAMPLES = 1000

# How numbers are written, what that is, and whether it has a bar.
_WAYS: list[tuple[Callable[[float], str], str, bool]] = [
    (repr, "all digits", True),
    ("{:.4f}".format, "four decimals", True),
    ("{:.0f}".format, "single digits", False),
]


def rows(*, quick: bool) -> list[Row]:
    """Peak of the whole command over the size of the file."""
    size = (5 if quick else 200) * _MEGABYTE
    with tempfile.TemporaryDirectory() as folder:
        return [
            _row(Path(folder) / "table.csv", size, written, what, "<= 4" if barred and not quick else "")
            for written, what, barred in _WAYS
        ]


def _row(path: Path, size: int, written: Callable[[float], str], what: str, bar: str) -> Row:
    n_features = _write(path, size, written)
    start = time.perf_counter()
    command = [sys.executable, __file__, str(path)]
    peak = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    seconds, size = time.perf_counter() - start, path.stat().st_size
    return row(
        f"peak / file, {what}, m={_SAMPLES}, d={n_features}",
        peak / size,
        bar,
        note=f"{peak / 2**20:.0f} MiB, of which {_idle() / 2**20:.0f} the program itself; {seconds:.0f} s",
        d=n_features,
        peak_bytes=peak,
        file_bytes=size,
    )


def _write(path: Path, size: int, written: Callable[[float], str]) -> int:
    """A file of about that size with two relevant features; how many features it has."""
    X, y, _ = make_xor(_SAMPLES, 2, random_state=0)
    rng = np.random.default_rng(0)
    cell = np.mean([len(written(value)) + 1 for value in rng.standard_normal(1000).tolist()])
    n_features = int(size / cell / _SAMPLES)
    with path.open("w", encoding="ascii") as file:
        file.write(",".join([*(f"x{j}" for j in range(n_features)), "label"]) + "\n")
        for start, label in zip(X, y, strict=True):
            noise = rng.standard_normal(n_features - 2)
            file.write(",".join(map(written, [*start.tolist(), *noise.tolist()])) + f",{label}\n")
    return n_features


def _idle() -> int:
    """The peak of a process that has imported what the command needs."""
    code = "import csv_memory, pandas, bahsic.cli.selecting; print(csv_memory.peak_bytes())"
    folder = Path(__file__).resolve().parent
    return int(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, cwd=folder).stdout)


def peak_bytes() -> int:
    """The most memory that this process has occupied."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0])


if __name__ == "__main__":
    from contextlib import redirect_stdout

    with redirect_stdout(sys.stderr):
        words = ["--criterion", "hsic", "--kernel", "gaussian", "-k", "2", "--step", "0.5", "--quiet"]
        main(["select", sys.argv[1], "--target", "label", *words])
    print(peak_bytes())
