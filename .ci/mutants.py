"""Change the code in many small ways, one at a time, and count the changes that no test notices (cosmic-ray).

``python .ci/mutants.py --most 2`` tries 2 changes, drawn at random, of each module, and writes a row for each to
.ci/mutants.csv; the same command goes on from there. Work is done in a copy of the last commit, in .mutants/, with
notes on which tests run which lines. ``--part engine`` chooses a part, ``--again`` tries what has survived once
more, with more tests, ``--report`` only prints the scores, and what survived. ``--seed 3`` draws others.
"""

import argparse
import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections import Counter, defaultdict
from hashlib import sha256
from itertools import islice, zip_longest
from pathlib import Path
from typing import NamedTuple

import cosmic_ray.plugins
from cosmic_ray.commands.init import _all_work_items
from cosmic_ray.mutating import mutate_code
from cosmic_ray.work_item import MutationSpec

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / ".ci")]

from benchmarks.marked import placed, table  # noqa: E402
from experiments.rows import Row, Rows  # noqa: E402
from mutant_tests import PARTS, Tests  # noqa: E402

ROWS = Rows(
    Path(__file__).with_name("mutants.csv"),
    ("part", "module", "operator", "occurrence", "line", "outcome", "seconds", "change", "test", "reason"),
    ("module", "operator", "occurrence"),
)
# Operators of bits in the place of others fail with any float.
_BITS = re.compile(r"BinaryOperator_(?:Add|Sub|Mul|Div|FloorDiv|Mod|Pow)_(?:[LR]Shift|Bit)")
NOTICED = ("killed", "timeout")
# Their tests run them in other processes, or compile them.
_LEFT_OUT = {"src/bahsic/engine/dask_executor.py", "src/bahsic/engine/loops.py"}
_FOLDER = ROOT / ".mutants"


class Change(NamedTuple):
    """One change of a module: which of the places that an operator applies to, and its first and last line."""

    module: Path
    operator: str
    occurrence: int
    first: int
    last: int


def main() -> int:
    """Try what is missing, and print the scores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=2, help="changes of each module")
    parser.add_argument("--seed", type=int, default=2, help="of the changes that are drawn")
    parser.add_argument("--budget", type=float, default=3.0, help="seconds of tests for a change that no test notices")
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--again", action="store_true", help="try what has survived again")
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    if not options.report:
        tests = Tests(_copied(), _FOLDER / "notes")
        parts = options.part or PARTS
        if options.again:
            changes = [_of_row(row) for row in ROWS.read() if row["outcome"] == "survived" and row["part"] in parts]
        else:
            modules = [path for part in parts for path in sorted(Path("src/bahsic", part).rglob("*.py"))]
            drawn = [_drawn(path, options.most, options.seed) for path in modules if str(path) not in _LEFT_OUT]
            changes = [
                change for turn in zip_longest(*drawn) for change in turn if change and not _is_decorator(change)
            ]
        tests.run(lambda: _try(changes, tests, options.budget, again=options.again))
    _state()
    others = [row for row in ROWS.read() if row["outcome"] == "survived"]
    print(*(f"{row['module']}:{row['line']} {row['operator']} {row['change']}" for row in others), sep="\n")
    return 0


def _copied() -> Path:
    """A copy of the last commit, in which this process works from now on."""
    copy = _FOLDER / "copy"
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    if copy.exists():  # bytecode stays
        subprocess.run(["git", "fetch", "-q"], cwd=copy, check=True)
        subprocess.run(["git", "reset", "-q", "--hard", commit.strip()], cwd=copy, check=True)
    else:
        _FOLDER.mkdir(exist_ok=True)
        subprocess.run(["git", "clone", "-q", str(ROOT), str(copy)], check=True)
    os.chdir(copy)
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    data = os.environ.get("BAHSIC_DATA", str(ROOT.parent / "shared" / "data"))
    os.environ |= {"PYTHONPATH": f"{copy}/src", "BAHSIC_DATA": data, **threads}
    sys.path.insert(0, f"{copy}/src")
    return copy


def _of_row(row: Row) -> Change:
    line = int(row["line"])
    return Change(Path(row["module"]), row["operator"], int(row["occurrence"]), line, line)


def _drawn(module: Path, most: int, seed: int) -> list[Change]:
    """Changes at some places of a module, one a place; kept, as cosmic-ray takes a second to list those of a module."""
    key = sha256(module.read_bytes() + f"{module} {most} {seed}".encode()).hexdigest()[:16]
    kept = _FOLDER / "drawn" / f"{key}.json"
    if not kept.exists():
        places = defaultdict(list)
        for change in _changes(module):
            places[change.start_pos, change.end_pos].append(change)
        drawing = random.Random(f"{seed} {module}")
        found = (drawing.choice(places[place]) for place in drawing.sample(sorted(places), len(places)))
        some = islice((c for c in found if _is_code(module.read_text(encoding="utf-8"), c)), most)
        drawn = [[str(module), c.operator_name, c.occurrence, c.start_pos[0], c.end_pos[0]] for c in some]
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(json.dumps(drawn), encoding="utf-8")
    return [Change(Path(path), *rest) for path, *rest in json.loads(kept.read_text(encoding="utf-8"))]


def _is_decorator(change: Change) -> bool:
    """Whether a change is one of a decorator, which hardly matters (dataclasses, caches) or is noticed by any test."""
    nodes = ast.walk(ast.parse(change.module.read_text(encoding="utf-8")))
    decorators = [one for node in nodes for one in getattr(node, "decorator_list", ())]
    return any(one.lineno <= change.first <= one.end_lineno for one in decorators)


def _is_code(before: str, change: MutationSpec) -> bool:
    """Whether a changed module is another one that Python reads."""
    after = _mutated(before, change.operator_name, change.occurrence)
    try:
        return ast.dump(ast.parse(after)) != ast.dump(ast.parse(before))
    except SyntaxError:  # such as << for the * before arguments by name
        return False


def _mutated(code: str, operator: str, occurrence: int) -> str:
    return mutate_code(code, cosmic_ray.plugins.get_operator(operator)(), occurrence)


def _changes(module: Path) -> list[MutationSpec]:
    """All changes of a module but those of annotations, which nothing evaluates, and those that any test notices."""
    idle = _annotations(module)
    found = [change for item in _all_work_items([module], {}) for change in item.mutations]
    return [
        change
        for change in found
        if not _BITS.search(change.operator_name)
        and not any(first <= change.start_pos and change.end_pos <= last for first, last in idle)
    ]


def _annotations(path: Path) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Where annotations, and what is for checkers of types alone, begin and end."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = [getattr(node, name, None) for node in ast.walk(tree) for name in ("annotation", "returns")]
    nodes += [node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)]
    return [
        ((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset))
        for node in nodes
        if isinstance(node, ast.expr | ast.If)
    ]


def _try(changes: list[Change], tests: Tests, budget: float, *, again: bool) -> None:
    done = {ROWS.key(row): row["outcome"] for row in ROWS.read()}
    for change in changes:
        key = {"module": change.module, "operator": change.operator, "occurrence": change.occurrence}
        outcome = done.get(ROWS.key(key))
        if outcome != "survived" if again else outcome:
            continue
        start = time.perf_counter()
        outcome, test, changed = _tried(change, tests, budget, again=again)
        row = {**key, "part": change.module.parts[2], "line": change.first, "outcome": outcome}
        row |= {"seconds": f"{time.perf_counter() - start:.1f}", "change": changed, "test": test, "reason": ""}
        if again:
            _replace(row)
        else:
            ROWS.append([row])
        print(*key.values(), row["line"], outcome, row["seconds"], changed, test, flush=True)


def _tried(change: Change, tests: Tests, budget: float, *, again: bool) -> tuple[str, str, str]:
    """Outcome of a change, the test that noticed it, and the lines that it changes."""
    path = change.module
    before, status = path.read_text(encoding="utf-8"), path.stat()
    after = _mutated(before, change.operator, change.occurrence)
    chosen = tests.of(str(path), change.first, change.last, budget, again=again)
    try:
        path.write_text(after, encoding="utf-8")
        os.utime(path, (time.time(), status.st_mtime + 1000))  # bytecode of the module as it was is not used
        found = tests.notice(path, after, change.first, chosen) if chosen else ("survived", "no test")
    finally:
        path.write_text(before, encoding="utf-8")
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    return *found, _changed(before.splitlines(), after.splitlines(), change.first)


def _changed(before: list[str], after: list[str], line: int) -> str:
    """The line before and after."""
    if len(after) != len(before):  # a decorator is gone
        return f"without {before[line - 1].strip()}"
    first = next(i for i, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1])
    return f"{before[first].strip()} -> {after[first].strip()}"


def _replace(row: Row) -> None:
    """Put a row in the place of the one with its key."""
    rows = [row if ROWS.key(old) == ROWS.key(row) else old for old in ROWS.read()]
    new = Rows(ROWS.path.with_suffix(".new"), ROWS.columns[:-1], ROWS.keys)
    new.path.unlink(missing_ok=True)
    new.append(rows)
    shutil.move(new.path, ROWS.path)


def _state() -> None:
    """Write the scores into CONTRIBUTING.md."""
    rows = ROWS.read()
    by_part = {part: [row for row in rows if row["part"] == part] for part in PARTS}
    lines = [[part, *map(str, _counts(some))] for part, some in by_part.items() if some]
    lines.append(["all", *map(str, _counts(rows))])
    score = table(["part", "changes", "of them without effect", "noticed", "not noticed"], lines)
    _, _, noticed, missed = _counts(rows)
    share = 100 * noticed / max(noticed + missed, 1)
    text = f"{score}\n\nTests notice {share:.0f}% of the changes. No test was written for a change of this draw."
    page = ROOT / "CONTRIBUTING.md"
    page.write_text(placed(page.read_text(encoding="utf-8"), {"mutants": text}), encoding="utf-8")


def _counts(rows: list[Row]) -> tuple[int, int, int, int]:
    """Numbers of all changes, of those without effect, of those that tests notice, and of those that they don't."""
    found = Counter(row["outcome"] for row in rows)
    return len(rows), found["equivalent"], sum(found[outcome] for outcome in NOTICED), found["survived"]


if __name__ == "__main__":
    sys.exit(main())
