"""Errors on gene expression, and the overlap of the chosen genes between folds, as tables of Markdown."""

from itertools import combinations
from statistics import mean, median

import numpy as np

from experiments.comparison import summaries
from experiments.genes import FOLDS, JUDGED, NESTED, NUMBERS
from experiments.markdown import markdown
from experiments.methods import METHODS
from experiments.real import STOPPED
from experiments.rows import Row

_N_JUDGES = 3


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


def judges_table(rows: list[Row], judged: list[Row]) -> str:
    """A line for each method: the error with 5 and 10 genes, the mean over sets and three judges, and the time.

    The standard error is that of the mean over the folds of all sets; the lowest mean is bold. Methods that did not
    finish everywhere have no line.
    """
    errors: dict[tuple[str, str, str, str], list[float]] = {}
    for row in (*rows, *judged):
        if row["dataset"] in FOLDS and row["n_features"] in JUDGED and row["error"]:
            key = row["method"], row["n_features"], row["dataset"], row["fold"]
            errors.setdefault(key, []).append(float(row["error"]))
    folds = [(dataset, str(fold)) for dataset, n_folds in FOLDS.items() for fold in range(n_folds)]
    found: dict[str, list[tuple[float, float]]] = {}
    for method in METHODS:
        there = [[errors.get((method, number, *fold), ()) for fold in folds] for number in JUDGED]
        # R2W2 knows two classes only.
        if all(len(each) == _N_JUDGES for number in there for each in number):
            means = [[mean(each) for each in number] for number in there]
            found[method] = [_mean_of_sets(number) for number in means]
    best = [min((values[i][0] for values in found.values()), default=0.0) for i in range(len(JUDGED))]
    lines = []
    for method, values in sorted(found.items(), key=lambda one: one[1][0][0] + one[1][1][0]):
        cells = [f"{value:.1f} ± {error:.1f}" for value, error in values]
        cells = [
            f"**{cell}**" if value[0] == low else cell for cell, value, low in zip(cells, values, best, strict=True)
        ]
        seconds = [float(row["seconds"]) for row in rows if (row["method"], row["n_features"]) == (method, "5")]
        lines.append([METHODS[method].title, *cells, f"{median(seconds):.2g}"])
    return markdown(["mean error, percent", *(f"{n} genes" for n in JUDGED), "seconds"], lines)


def _mean_of_sets(errors: list[float]) -> tuple[float, float]:
    """Return the mean over sets of the mean over folds, and its standard error."""
    parts, start = [], 0
    for n_folds in FOLDS.values():
        parts.append(np.array(errors[start : start + n_folds]))
        start += n_folds
    variances = [part.var(ddof=1) / len(part) for part in parts]
    return float(np.mean([part.mean() for part in parts])), float(np.sqrt(np.sum(variances)) / len(parts))


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
