"""Scores, stability and time of the selectors on tables of Python packages."""

from itertools import combinations

import numpy as np

from experiments.markdown import markdown
from experiments.rows import Row
from experiments.table_sources import SOURCES
from experiments.tables import FOLDS, METHODS, OURS

_TITLES = {OURS: "bahsic", **{name: title for name, (_, title) in METHODS.items()}}
_ALL = "all"

Found = dict[tuple[str, str], list[Row]]


def by_table(rows: list[Row]) -> Found:
    """Return the rows of all folds by table and method, of tables with all folds."""
    found: Found = {}
    for row in rows:
        found.setdefault((row["table"], row["method"]), []).append(row)
    return {key: folds for key, folds in found.items() if len(folds) == FOLDS}


def scores(found: Found) -> dict[tuple[str, str], float]:
    """Return mean scores by table and method."""
    return {key: float(np.mean([float(row["score"]) for row in folds])) for key, folds in found.items()}


def jaccard(folds: list[Row]) -> float:
    """Return the mean share of common features in the union of two folds' features.

    Examples
    --------
    >>> round(jaccard([{"features": "0 1"}, {"features": "1 2"}, {"features": "0 1"}]), 2)
    0.56
    """
    sets = [set(row["features"].split()) for row in folds]
    return float(np.mean([len(a & b) / len(a | b) for a, b in combinations(sets, 2)]))


def table(rows: list[Row]) -> str:
    """A line for each table: its size as bahsic takes it, and the score with the features of each method."""
    found = by_table(rows)
    means = scores(found)
    lines = []
    for name in SOURCES:
        if (name, OURS) in found:
            n = np.mean([int(row["n_features"]) for row in found[name, OURS]])
            best = max(means[name, method] for method in _TITLES)
            cells = [_bold(means[name, method], best) for method in _TITLES]
            lines.append([name, f"{n:.1f}", *cells, f"{means[name, _ALL]:.3f}"])
    return markdown(["", "features", *_TITLES.values(), "all features"], lines)


def _bold(value: float, best: float) -> str:
    text = f"{value:.3f}"
    return f"**{text}**" if text == f"{best:.3f}" else text


def summary(rows: list[Row]) -> str:
    """A line for each method: mean rank by score, mean score, stability, with standard errors over tables, and time."""
    from scipy.stats import rankdata

    found = by_table(rows)
    means = scores(found)
    there = [name for name in SOURCES if (name, OURS) in found]
    if not there:
        return ""
    ranks = np.array([rankdata([-round(means[name, method], 4) for method in _TITLES]) for name in there])
    lines = []
    for at, (method, title) in enumerate(_TITLES.items()):
        stable = [jaccard(found[name, method]) for name in there]
        seconds = [float(np.median([float(row["seconds"]) for row in found[name, method]])) for name in there]
        shown = (_with_error(ranks[:, at], 1), f"{np.mean([means[n, method] for n in there]):.3f}")
        lines.append([title, *shown, _with_error(stable, 2), f"{np.median(seconds):.1f}", f"{max(seconds):.0f}"])
    header = ["", "mean rank", "mean score", "stability (Jaccard)", "median seconds", "most seconds"]
    return markdown(header, lines)


def _with_error(values: "np.ndarray | list[float]", digits: int) -> str:
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return f"{np.mean(values):.{digits}f} ± {error:.{digits}f}"
