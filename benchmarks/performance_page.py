"""Put the rows of the benchmarks into the pages on speed, a table for each between comments."""

from pathlib import Path

from marked import Line, placed_where_marked, read, table

_ROOT = Path(__file__).resolve().parents[1]
PAGES = ("docs/appendix/performance.md", "docs/evidence/speed.md")
# Those of scale have a page of their own.
BENCHMARKS = (
    *("exactness", "draws", "roof", "naive", "few_samples", "together", "peers", "scores", "permutations", "options"),
    *("prediction", "raw_tables", "command"),
    *("growth", "threads", "memory", "wide_sparse", "csv_memory", "versions"),
)


def filled(page: str) -> str:
    """The page with the tables of the committed rows, and the machine that they were made on."""
    rows = {name: read(name) for name in BENCHMARKS}
    tables = {name: table(["", "measured", "bar", ""], [_cells(row) for row in rows[name]]) for name in BENCHMARKS}
    tables["command"] = _commands(rows["command"])
    return placed_where_marked(page, {**tables, "machine": _machine([row for lines in rows.values() for row in lines])})


def _commands(rows: list[Line]) -> str:
    """A line for each table: seconds of the command and of the two others, memory, number of selected features."""
    found = {row["what"]: row["note"] for row in rows}
    lines = []
    for what, note in found.items():
        name, _, measured = what.partition(": ")
        if measured == "processor seconds":
            seconds, memory, selected = note.split(", ")
            others = [
                found.get(f"{name}: bahsic select / {other}", "").partition(" against ")[2]
                for other in ("SelectFromModel, forest", "permutation importance")
            ]
            lines.append([name, seconds, *others, memory.removesuffix(" at most"), selected.split()[0]])
    return table(["table", "bahsic", "forest", "permutation", "memory", "selected"], lines)


def _cells(row: Line) -> list[str]:
    bar = f"**{row['bar']}**" if row["passed"] == "no" else row["bar"]
    return [row["what"], _number(float(row["value"])), bar, row["note"]]


def _number(value: float) -> str:
    if value.is_integer():
        return f"{value:.0f}"
    return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"


def _machine(rows: list[Line]) -> str:
    """Every kind of machine and library that a row was made with."""
    kinds = {name: sorted({row[name] for row in rows}) for name in ("cpu", "cores", "python", "numpy", "blas", "date")}
    return table(list(kinds), [[", ".join(values) for values in kinds.values()]])


if __name__ == "__main__":
    for path in (_ROOT / name for name in PAGES):
        path.write_text(filled(path.read_text(encoding="utf-8")), encoding="utf-8")
