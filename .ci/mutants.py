"""Change the code in many small ways, one at a time, and count the changes that no test notices (cosmic-ray).

``python .ci/mutants.py --most 50`` tries 50 changes, drawn at random, of each part, and writes a row for each to
.ci/mutants.csv; the same command goes on from there. Work is done in a copy of the last commit. ``--part search``
chooses a part, ``--report`` only prints the scores, and what survived.
"""

import argparse
import ast
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from cosmic_ray.commands.init import _all_work_items
from cosmic_ray.mutating import mutate_and_test
from cosmic_ray.work_item import MutationSpec

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.marked import placed, table  # noqa: E402
from experiments.rows import Row, Rows  # noqa: E402

ROWS = Rows(
    Path(__file__).with_name("mutants.csv"),
    ("part", "module", "operator", "occurrence", "line", "outcome", "seconds", "change"),
    ("module", "operator", "occurrence"),
)

# The files of each part, and the tests that have to notice, the quickest first: one failure is enough.
PARTS = {
    "kernels": (
        ["src/bahsic/kernels/**/*.py"],
        ["rows", "kernels", "bandwidth", "labels", "structured", "survival", "oracles", "hsic", "selectors_input"],
    ),
    "hsic": (
        ["src/bahsic/criteria/*.py"],
        ["oracles", "hsic", "blocks", "independence", "related"],
    ),
    "engine": (
        ["src/bahsic/engine/**/*.py"],
        [
            *("separable", "intervals", "columns", "pairs", "executor", "engine", "engine_mixed", "groups", "centred"),
            *("search_brute_force", "selectors_numerics", "blocks", "stored", "checkpoint", "mixed_tables"),
            *("sparse_tables", "independence", "redundancy", "processes", "cluster"),
        ],
    ),
    "search": (
        ["src/bahsic/selection/search.py", "src/bahsic/selection/path.py"],
        ["search", "search_brute_force", "selectors"],
    ),
}
_SECONDS = 1800.0


def main() -> int:
    """Try what is missing, and print the scores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=50, help="changes of each part")
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    if not options.report:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["git", "clone", "-q", str(ROOT), folder], check=True)
            os.chdir(folder)
            os.environ |= {"PYTHONPATH": f"{folder}/src", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
            for part in options.part or PARTS:
                _try(part, options.most)
    print(_report(ROWS.read()))
    return 0


def _try(part: str, most: int) -> None:
    files, tests = PARTS[part]
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:randomly", "-p", "no:cacheprovider"]
    command += [f"tests/test_{name}.py" for name in tests]
    done = ROWS.cells()
    changes = _changes(files)
    random.Random(0).shuffle(changes)
    for change in changes[:most]:
        key = {"module": change.module_path, "operator": change.operator_name, "occurrence": change.occurrence}
        if ROWS.key(key) in done:
            continue
        start = time.perf_counter()
        result = mutate_and_test([change], " ".join(command), _SECONDS)
        seconds = f"{time.perf_counter() - start:.1f}"
        found = (result.test_outcome or result.worker_outcome).value
        outcome = "timeout" if result.output == "timeout" else found  # cosmic-ray calls it killed
        row = {"part": part, "line": change.start_pos[0], "outcome": outcome, "change": _changed(result.diff)}
        ROWS.append([{**key, **row, "seconds": seconds}])
        print(*key.values(), outcome, seconds, flush=True)


def _changes(patterns: list[str]) -> list[MutationSpec]:
    """All changes of some files but those of annotations, which nothing evaluates."""
    paths = sorted(path for pattern in patterns for path in Path().glob(pattern))
    idle = {path: _annotations(path) for path in paths}
    found = [change for item in _all_work_items(paths, {}) for change in item.mutations]
    return [
        change
        for change in found
        if not any(first <= change.start_pos and change.end_pos <= last for first, last in idle[change.module_path])
    ]


def _annotations(path: Path) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Where annotations begin and end."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = [getattr(node, name, None) for node in ast.walk(tree) for name in ("annotation", "returns")]
    return [
        ((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset))
        for node in nodes
        if isinstance(node, ast.expr)
    ]


def _changed(diff: str | None) -> str:
    """The line before and after."""
    lines = [line.strip() for line in (diff or "").splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    return " ".join(lines)


def _report(rows: list[Row]) -> str:
    """The scores, which are also stated in CONTRIBUTING.md, and what no test noticed."""
    counts = Counter((row["part"], row["outcome"]) for row in rows)
    tried = Counter(row["part"] for row in rows)
    score = table(["part", "changes", "noticed"], [[p, str(tried[p]), str(counts[p, "killed"])] for p in PARTS])
    page = ROOT / "CONTRIBUTING.md"
    page.write_text(placed(page.read_text(encoding="utf-8"), {"mutants": score}), encoding="utf-8")
    others = [row for row in rows if row["outcome"] != "killed"]
    return "\n".join([score, *(f"{row['outcome']}: {row['module']}:{row['line']} {row['change']}" for row in others)])


if __name__ == "__main__":
    sys.exit(main())
