"""Measure speed, memory and exactness; print a table and keep its rows in benchmarks/results.

Every figure is a ratio of two measurements of the same run, or a count, so that it means the same on
any machine; seconds stand beside it for orientation.
"""

import argparse
import importlib
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from table import machine, printed, write

# Modules with a function rows(*, quick), in the order in which they run.
BENCHMARKS = [
    *("exactness", "roof", "naive", "few_samples", "draws", "together", "peers", "memory", "growth", "threads"),
    *(
        "permutations",
        "scores",
        "inference",
        "selection_bias",
        "needed",
        "options",
        "prediction",
        "raw_tables",
        "command",
        "wide_sparse",
        "csv_memory",
        "scale",
        "versions",
    ),
]

_RESULTS = Path(__file__).resolve().parent / "results"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks; the exit status is 1 where a bar is missed."""
    options = _options(arguments)
    output = options.output or (None if options.quick else _RESULTS)
    print(", ".join(f"{name} {value}" for name, value in machine().items()), end="\n\n")
    n_missed = 0
    for name in options.names or BENCHMARKS:
        start = time.perf_counter()
        rows = importlib.import_module(name).rows(quick=options.quick)
        title = f"{name} ({time.perf_counter() - start:.0f} s)"
        print(printed(title, rows), flush=True)
        n_missed += sum(line["passed"] == "no" for line in rows)
        if output:
            write(output / f"{name}.csv", rows)
    print(f"bars missed: {n_missed}" if n_missed else "no bar missed")
    return int(n_missed > 0)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="run.py", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"which to run: {', '.join(BENCHMARKS)}; default: all")
    parser.add_argument(
        "--quick", action="store_true", help="small sizes, to try the code: no bars for speed, no files"
    )
    parser.add_argument("--output", type=Path, help="folder for the rows, default benchmarks/results")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(BENCHMARKS))
    if unknown:
        parser.error(f"name is {unknown[0]!r}; accepted: {', '.join(BENCHMARKS)}")
    return options


if __name__ == "__main__":
    sys.exit(main())
