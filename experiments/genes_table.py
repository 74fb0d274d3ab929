"""Errors on gene expression, and the overlap of the chosen genes between folds, as tables of Markdown."""

from itertools import combinations
from statistics import mean

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


def overlaps(rows: list[Row]) -> dict[tuple[str, str, str], float]:
    """Mean share of the features that two folds have in common, in percent, by data set, method and number.

    Of folds that gave fewer features than wanted, the share counts the larger of both.
    """
    chosen: dict[tuple[str, str, str], list[set[str]]] = {}
    for row in rows:
        if row["n_features"] != NESTED and row["features"] != STOPPED:
            key = row["dataset"], row["method"], row["n_features"]
            chosen.setdefault(key, []).append(set(row["features"].split()))
    return {
        key: 100 * mean(len(a & b) / max(len(a), len(b), 1) for a, b in combinations(found, 2))
        for key, found in chosen.items()
        if len(found) == FOLDS[key[0]]
    }


def overlap_table(rows: list[Row]) -> str:
    """A line for each method, a column for each data set: the overlap between folds with 5, 10 and 50 features."""
    found = overlaps(rows)
    lines = []
    for method, about in METHODS.items():
        cells = [_overlap(found, dataset, method) for dataset in FOLDS]
        if any(cells):
            lines.append([about.title, *cells])
    return markdown(["5 / 10 / 50 features, percent", *FOLDS], lines)


def _overlap(found: dict[tuple[str, str, str], float], dataset: str, method: str) -> str:
    shares = [found.get((dataset, method, str(n))) for n in NUMBERS]
    return " / ".join(f"{share:.0f}" for share in shares if share is not None)


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
