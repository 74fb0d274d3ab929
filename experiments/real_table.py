"""The tables of errors: ours as the paper prints them, and beside the paper's."""

from collections.abc import Sequence

from experiments.comparison import (
    Summaries,
    Summary,
    l2_distance,
    not_worse,
    paper,
    standard_difference,
    summaries,
)
from experiments.markdown import markdown
from experiments.methods import METHODS, names
from experiments.real import BINARY, MORE, MULTICLASS, REGRESSION
from experiments.rows import Row

#: Kinds of methods that are compared with each other, because all of them give five features.
CHOSEN = ("paper", "today", "option", "prediction")

ORDER = (*BINARY, *MORE, *MULTICLASS, *REGRESSION)


def paper_table(rows: list[Row]) -> str:
    """Our errors with the paper's eight methods; bold is the best and what is not significantly worse."""
    found = summaries(rows)
    methods = names("paper")
    return errors(found, methods, methods)


def all_methods(rows: list[Row]) -> str:
    """Errors of the methods in use today and of our options, beside BAHSIC; bold as before, but among all of them."""
    found = summaries(rows)
    shown = ["bahsic", *names("option", "today", "prediction", "auto", "reference")]
    return errors(found, shown, names(*CHOSEN))


def errors(found: Summaries, methods: Sequence[str], compared: Sequence[str]) -> str:
    """A line for each data set; bold among the methods that are compared."""
    lines = []
    for dataset in ORDER:
        bold = not_worse(found, dataset, compared)
        cells = [_cell(found.get((dataset, method)), bold=method in bold) for method in methods]
        if any(cells):
            lines.append([dataset, *cells])
    return markdown(["", *(METHODS[name].title for name in methods)], lines)


def _cell(summary: Summary | None, *, bold: bool = False) -> str:
    if summary is None:
        return ""
    if not summary.finished:
        return "not finished"
    text = f"{summary.mean:.1f} ± {summary.standard_error:.1f}"
    return f"**{text}**" if bold else text


def beside_the_paper(found: Summaries, method: str) -> list[tuple[str, Summary, Summary, float]]:
    """Data set, our result, theirs, and the difference in units of its standard error."""
    theirs = paper()
    return [
        (dataset, found[dataset, method], theirs[dataset, method], difference)
        for dataset in ORDER
        if (dataset, method) in found and (dataset, method) in theirs
        for difference in [standard_difference(found[dataset, method], theirs[dataset, method])]
    ]


def differences(found: Summaries, other: Summaries) -> str:
    """BAHSIC beside the paper's: with the machine as stated, and with the smoother one."""
    smooth = {dataset: (ours, z) for dataset, ours, _, z in beside_the_paper(other, "bahsic")}
    lines = []
    for dataset, ours, theirs, z in beside_the_paper(found, "bahsic"):
        second = [_cell(smooth[dataset][0]), f"{smooth[dataset][1]:+.1f}"] if dataset in smooth else ["", ""]
        lines.append([dataset, _cell(theirs), _cell(ours), f"{z:+.1f}", *second])
    return markdown(["", "paper", "C = 100", "difference", "C = 100/m", "difference"], lines)


def complete(found: Summaries, methods: Sequence[str], datasets: Sequence[str]) -> list[str]:
    """The data sets with a result of each method."""
    return [dataset for dataset in datasets if all((dataset, method) in found for method in methods)]


def distances(found: Summaries, methods: Sequence[str], datasets: Sequence[str]) -> dict[str, float]:
    """The l2 distance to the best of the methods over those data sets that all of them have."""
    there = complete(found, methods, datasets)
    return {method: l2_distance(found, method, there, methods) for method in methods} if there else {}
