"""Junk among the selected columns, errors and stability as tables of Markdown, beside the bars that were set."""

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

import numpy as np

from experiments.junk import COMPARED, FOLDS, LEVELS, LEVELS_REAL, N_SUBSAMPLES, PARTS, REAL, names_in
from experiments.junk_tables import COPIED
from experiments.markdown import markdown
from experiments.rows import Row


def of_part(rows: Iterable[Row], part: str) -> list[Row]:
    """Return the rows of a part that were finished."""
    return [row for row in rows if row["part"] == part and row["number"] != ""]


def summary(rows: Sequence[Row]) -> str:
    """Return a line for each kind of junk with the bar and what is selected, in how many runs."""
    return markdown(["", "bar", "selected"], [[title, bar, count(rows)] for title, bar, count in _COUNTS])


def _copies(rows: Sequence[Row]) -> str:
    return _share(of_part(rows, "copies"), lambda row: int(row["junk"]) > 0)


def _random_categories(levels: int) -> Callable[[Sequence[Row]], str]:
    def count(rows: Sequence[Row]) -> str:
        found = [row for row in of_part(rows, "categories") if row["added"] == str(levels)]
        return _share(found, lambda row: row["junk"] == "1")

    return count


def _real_category(rows: Sequence[Row]) -> str:
    found = [row for row in of_part(rows, "categories") if row["added"] == REAL]
    return _share(found, lambda row: row["found"] == "1")


def _noise(rows: Sequence[Row]) -> str:
    """Return the mean over tables of the number of selected noise columns per run."""
    means = [np.mean([int(row["junk"]) for row in found]) for found in _by_problem(rows, "noise").values()]
    n_runs = len(of_part(rows, "noise"))
    return f"{np.mean(means):.2f} per run ({n_runs} runs)" if means else ""


def _worthless(rows: Sequence[Row]) -> str:
    found = of_part(rows, "worth")
    n_junk, n_selected = (sum(int(row[column]) for row in found) for column in ("junk", "number"))
    return f"{n_junk} of {n_selected} ({len(found)} sets)" if found else ""


_COUNTS: tuple[tuple[str, str, Callable[[Sequence[Row]], str]], ...] = (
    ("a column and its copy both selected", "0", _copies),
    *((f"random category of {n} levels selected", "at most 5%", _random_categories(n)) for n in LEVELS),
    (f"real category of {LEVELS_REAL} levels selected", "at least 80%", _real_category),
    ("noise columns selected", "at most 0.2 per run", _noise),
    ("selected features of worth 0 or less", "0", _worthless),
)


def _share(rows: Sequence[Row], holds: Callable[[Row], bool]) -> str:
    n = sum(holds(row) for row in rows)
    return f"{n} of {len(rows)} ({100 * n / len(rows):.0f}%)" if rows else ""


def _by_problem(rows: Iterable[Row], part: str) -> dict[str, list[Row]]:
    """Return the rows of each table, in the order of the part."""
    there = of_part(rows, part)
    found = {name: [row for row in there if row["problem"] == name] for name in PARTS[part].problems}
    return {name: some for name, some in found.items() if some}


def by_table(rows: Sequence[Row]) -> str:
    """Return a line for each table: copies, categories and noise that are selected."""
    header = ["", "both of a pair", "pairs found", *(f"{n} levels" for n in LEVELS), "real category", "noise per run"]
    names = dict.fromkeys(name for part in ("copies", "categories", "noise") for name in PARTS[part].problems)
    lines = []
    for name in names:
        some = [row for row in rows if row["problem"] == name]
        cells = [
            _copies(some),
            _pairs_found(some, name),
            *(_random_categories(n)(some) for n in LEVELS),
            _real_category(some),
            _mean_noise(some),
        ]
        if any(cells):
            lines.append([name, *cells])
    return markdown(header, lines)


def _pairs_found(rows: Sequence[Row], name: str) -> str:
    """Return the mean number of pairs of which a column is selected."""
    found = [int(row["found"]) for row in of_part(rows, "copies")]
    n_pairs = sum(column is not None for column in COPIED.get(name, ()))
    return f"{np.mean(found):.1f} of {n_pairs}" if found else ""


def _mean_noise(rows: Sequence[Row]) -> str:
    found = [int(row["junk"]) for row in of_part(rows, "noise")]
    return f"{np.mean(found):.1f}" if found else ""


def worthless(rows: Sequence[Row]) -> str:
    """Return the sets on which features of no worth are selected: how many, of how many selected ones."""
    found = [row for row in of_part(rows, "worth") if int(row["junk"])]
    return markdown(["", "worth 0 or less"], [[r["problem"], f"{r['junk']} of {r['number']}"] for r in found])


def boosting(rows: Sequence[Row]) -> str:
    """Return a line for each table: errors in points with the selected, all, and a forest's columns, and the means."""
    header = ["", "columns", "selected", "all", "permutation importance", "selected - all", "selected - permutation"]
    lines = [["bar", "", "", "", "", "within 0.5", "at most 0"]]
    complete = {name: some for name, some in _by_problem(rows, "boosting").items() if len(some) == FOLDS}
    columns = ("number", "error", "error_all", "error_permutation")
    means = {
        name: np.array([np.mean([float(row[column]) for row in some]) for column in columns])
        for name, some in complete.items()
    }
    if means:
        means[f"mean of {len(means)}"] = np.mean(list(means.values()), axis=0)
    lines += [[name, *_errors(values.tolist())] for name, values in means.items()]
    return markdown(header, lines)


def _errors(means: Sequence[float]) -> list[str]:
    _, selected, everything, permutation = means
    numbers = [f"{value:.1f}" for value in means]
    return [*numbers, f"{selected - everything:+.2f}", f"{selected - permutation:+.2f}"]


def similarity(names: Iterable[str]) -> float:
    """Return the mean Jaccard similarity of two selections, each a text with the names of its columns.

    Examples
    --------
    >>> similarity(["a; b", "b; c", "b; c"])  # 1/3, 1/3 and 1
    0.5555555555555555
    """
    pairs = combinations([names_in(text) for text in names], 2)
    return float(np.mean([len(a & b) / len(a | b) if a | b else 1.0 for a, b in pairs]))


def stability(rows: Sequence[Row]) -> str:
    """Return a line for each table: similarity of the selections of subsamples, beside a forest's, and the means."""
    lines = [["bar", "", "not lower", ""]]
    found = _by_problem(rows, "stability")
    complete = {name: found[name] for name in COMPARED if len(found.get(name, ())) == N_SUBSAMPLES}
    values = {
        name: [
            float(np.mean([int(row["number"]) for row in some])),
            *(similarity(row[column] for row in some) for column in ("features", "others")),
        ]
        for name, some in complete.items()
    }
    if values:
        values[f"mean of {len(values)}"] = np.mean(list(values.values()), axis=0).tolist()
    lines += [[name, f"{n:.1f}", f"{a:.2f}", f"{b:.2f}"] for name, (n, a, b) in values.items()]
    return markdown(["", "columns", "selected", "forest importance"], lines)
