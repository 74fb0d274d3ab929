"""Errors on raw tables as a table of Markdown."""

import numpy as np

from experiments.comparison import Summaries, summaries
from experiments.markdown import markdown
from experiments.raw import DATASETS, FOLDS, STOPPED
from experiments.raw_methods import METHODS
from experiments.rows import Row

#: The measurements of wisconsin, as scikit-learn has them.
_AGAIN = "breast_cancer"


def table(rows: list[Row]) -> str:
    """A line for each method: error and mean number of columns on each set."""
    found, numbers = summaries(rows, FOLDS), _means(rows, "n_features")
    lines = []
    for method, about in METHODS.items():
        cells = [_cell(found, numbers, dataset, method) for dataset in DATASETS]
        if any(cells):
            lines.append([about.title, *cells])
    return markdown(["error, percent (columns)", *DATASETS], lines)


def _cell(found: Summaries, numbers: dict[tuple[str, str], float], dataset: str, method: str) -> str:
    one = found.get((dataset, method))
    if one is None:
        return ""
    if not one.finished:
        return "not finished"
    return f"{one.mean:.1f} ± {one.standard_error:.1f} ({numbers[dataset, method]:.1f})"


def _means(rows: list[Row], column: str) -> dict[tuple[str, str], float]:
    collected: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        if row["n_features"] != STOPPED:
            collected.setdefault((row["dataset"], row["method"]), []).append(float(row[column]))
    return {key: float(np.mean(values)) for key, values in collected.items()}


def complete(found: Summaries, method: str) -> list[str]:
    """The sets on which a method and all columns have a result."""
    there = {key for key, one in found.items() if one.finished}
    return [dataset for dataset in DATASETS if {(dataset, method), (dataset, "all")} <= there]


def summary_table(rows: list[Row]) -> str:
    """A line for each method: error minus that of all columns, mean and worst, share of the columns, and time.

    Over the sets on which all methods that have any result have one; the same measurements count once.
    """
    found = summaries(rows, FOLDS)
    each = [set(complete(found, method)) for method in METHODS]
    common = set(DATASETS).intersection(*filter(None, each)) - {_AGAIN}
    numbers, whole, seconds = (_means(rows, column) for column in ("n_features", "n_all", "seconds"))
    lines = []
    for method, about in METHODS.items():
        sets = [dataset for dataset in complete(found, method) if dataset in common]
        if not sets:
            continue
        more = {dataset: found[dataset, method].mean - found[dataset, "all"].mean for dataset in sets}
        worst = max(more, key=lambda dataset: more[dataset])
        lines.append(
            [
                about.title,
                str(len(sets)),
                f"{np.mean(list(more.values())):+.2f}",
                f"{worst} ({more[worst]:+.1f})" if method != "all" else "",
                f"{100 * np.mean([numbers[d, method] / whole[d, method] for d in sets]):.0f}%",
                f"{np.mean([seconds[d, method] for d in sets]):.2f}",
            ]
        )
    return markdown(["", "sets", "more error than all columns", "worst", "share of the columns", "seconds"], lines)
