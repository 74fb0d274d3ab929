"""Errors on gene expression as a table of Markdown."""

from experiments.comparison import summaries
from experiments.genes import FOLDS, NESTED, NUMBERS
from experiments.markdown import markdown
from experiments.methods import METHODS
from experiments.real import STOPPED
from experiments.rows import Row


def table(rows: list[Row]) -> str:
    """A line for each data set and method, a column for each number of features."""
    found = {
        number: summaries([row for row in rows if row["n_features"] == number], FOLDS)
        for number in (*map(str, NUMBERS), NESTED)
    }
    lines = []
    for dataset in FOLDS:
        for method, about in METHODS.items():
            cells = [found[number].get((dataset, method)) for number in found]
            if all(cells):
                texts = [f"{c.mean:.1f} ± {c.standard_error:.1f}" if c.finished else "not finished" for c in cells if c]
                lines.append([dataset, about.title, *texts])
    return markdown(["", "method", *(f"{n} genes" for n in NUMBERS), "number chosen inside"], lines)


def fewer(rows: list[Row]) -> str:
    """Where a method gave fewer genes than it was asked for, and how many."""
    counts: dict[tuple[str, str, str], list[int]] = {}
    for row in rows:
        if row["n_features"] != NESTED and row["features"] != STOPPED:
            key = METHODS[row["method"]].title, row["n_features"], row["dataset"]
            counts.setdefault(key, []).append(len(row["features"].split()))
    found = [
        f"{method} gave {min(n)} to {max(n)} instead of {number} on {dataset}"
        for (method, number, dataset), n in counts.items()
        if min(n) < int(number)
    ]
    return f"{'; '.join(found)}." if found else ""
