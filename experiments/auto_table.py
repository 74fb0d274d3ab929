"""Rules for the number of features: what they cost in error, and how many features they keep."""

from collections.abc import Mapping, Sequence

import numpy as np

from experiments.comparison import Summaries, Summary
from experiments.judges import JUDGES, SVM
from experiments.markdown import markdown
from experiments.methods import METHODS, names
from experiments.real import SIZES, STOPPED
from experiments.rows import Row

_FEW = 1.0  # percent more error than with all features


def sizes_chosen(rows: Sequence[Row]) -> dict[tuple[str, str], float]:
    """The mean number of features over the folds, for each data set and rule."""
    counts: dict[tuple[str, str], list[int]] = {}
    for row in rows:
        if row["n_features"] == "auto" and row["features"] != STOPPED:
            counts.setdefault((row["dataset"], row["method"]), []).append(len(row["features"].split()))
    return {key: float(np.mean(numbers)) for key, numbers in counts.items()}


def compared(found: Summaries) -> list[str]:
    """The data sets on which each rule finished, and all features have a result."""
    needed = [*names("auto"), "all"]
    there = {key for key, summary in found.items() if summary.finished}
    return [dataset for dataset in SIZES if there.issuperset((dataset, name) for name in needed)]


def losses(found: Summaries, rule: str, datasets: Sequence[str]) -> dict[str, float]:
    """The error of a rule minus that with all features, for each data set."""
    return {dataset: found[dataset, rule].mean - found[dataset, "all"].mean for dataset in datasets}


def shares(numbers: Mapping[tuple[str, str], float], rule: str, datasets: Sequence[str]) -> list[float]:
    """The share of the features of each data set that a rule keeps, in percent."""
    return [100 * numbers[dataset, rule] / SIZES[dataset][1] for dataset in datasets]


def summary_table(judged: Mapping[str, Summaries], rows: Sequence[Row]) -> str:
    """A line for each rule: by how much it errs more than all features do, and the share that it keeps."""
    numbers, datasets = sizes_chosen(rows), compared(judged[SVM])
    header = [
        "",
        f"more error, SVM, {len(datasets)} sets",
        "share of the features, mean",
        "median",
        f"sets with at most {_FEW:.0f} more",
        "worst",
        *(f"more error, {judge}" for judge in JUDGES if judge != SVM),
    ]
    return markdown(header, [_line(judged, numbers, rule, datasets) for rule in names("auto") if datasets])


def _line(
    judged: Mapping[str, Summaries], numbers: Mapping[tuple[str, str], float], rule: str, datasets: Sequence[str]
) -> list[str]:
    more = losses(judged[SVM], rule, datasets)
    worst, kept = max(more, key=lambda dataset: more[dataset]), shares(numbers, rule, datasets)
    return [
        METHODS[rule].title,
        f"{np.mean(list(more.values())):+.2f}",
        f"{np.mean(kept):.0f}%",
        f"{np.median(kept):.0f}%",
        f"{sum(one <= _FEW for one in more.values())} of {len(more)}",
        f"{worst} ({more[worst]:+.1f})",
        *(_by_other_judge(judged[judge], rule) for judge in JUDGES if judge != SVM),
    ]


def _by_other_judge(found: Summaries, rule: str) -> str:
    more = losses(found, rule, compared(found))
    return f"{np.mean(list(more.values())):+.2f} ({len(more)} sets)" if more else ""


def _number_and_error(number: float | None, summary: Summary | None) -> str:
    return f"{number:.1f}: {summary.mean:.1f}" if number and summary and summary.finished else ""


def numbers_table(found: Summaries, rows: Sequence[Row]) -> str:
    """A line for each data set: the mean number of features and the error of each rule, and those of all features."""
    numbers, rules = sizes_chosen(rows), names("auto")
    lines = [
        [
            dataset,
            *(_number_and_error(numbers.get((dataset, rule)), found.get((dataset, rule))) for rule in rules),
            f"{SIZES[dataset][1]}: {found[dataset, 'all'].mean:.1f}",
        ]
        for dataset in SIZES
        if (dataset, "all") in found
    ]
    return markdown(["", *(METHODS[rule].title for rule in rules), METHODS["all"].title], lines)
