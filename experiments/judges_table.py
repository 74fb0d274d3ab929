"""Methods compared by three judges: distance to the best, mean error and mean rank, on all sets and on parts."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from experiments.comparison import Summaries, chance_distances, l2_distance, summaries
from experiments.judges import FOREST, JUDGES, NEIGHBOURS, SVM, judged
from experiments.markdown import markdown
from experiments.methods import METHODS, names
from experiments.real import BINARY, MULTICLASS, REGRESSION, SIZES, task_of
from experiments.real_table import CHOSEN
from experiments.rows import Row

#: What tables call the judges.
TITLES = {SVM: "SVM", FOREST: "forest", NEIGHBOURS: "5-NN"}

#: Sets on which the rules of the criterion "prediction" were varied until they were fixed.
FIXED_ON = ("sonar", "heart", "ionosphere", "vehicle", "german", "australian", "housing", "derm", "musk")
RULES = (
    "grid of ridges, and when the ridge is chosen again",
    "number of features from which on candidates get fits of their own (16), and number of these candidates (8)",
)
#: Rules that bound the cost and were not varied.
LATER = ("ridge chosen on at most 1000 samples",)
#: Sets on which the scaling of columns of two values was decided as well.
SCALED_ON = ("adult", "cleveland", "hepatitis")

# Methods that take long: a set without a result of theirs counts all the same, and they get no figure.
_MAY_LACK_SETS = (
    "sequential",
    "prediction_laplacian",
    "prediction_kernel",
    "fastcan",
    "boosting_permutation",
    "boosting_shap",
)

#: What the short table calls our own.
_TITLES = {"prediction": "bahsic, prediction", "bahsic": "bahsic, HSIC", "fohsic": "bahsic, HSIC forward"}

_EVERYTHING = "all"  # not compared: it has more than five features

Figures = dict[str, float]
Judged = Mapping[str, Summaries]


class Column(NamedTuple):
    """A column of a table: its title, a figure for each method that has one, and whether the lowest is bold."""

    title: str
    figures: Figures
    marked: bool = True


def by_judge(table: list[Row], rows: list[Row]) -> dict[str, Summaries]:
    """Means over the folds for each judge, from the rows of `real` and of `judges`."""
    return {judge: summaries(judged(judge, table, rows)) for judge in JUDGES}


def compared(found: Summaries, datasets: Sequence[str]) -> list[str]:
    """The data sets with a result of every method that can be applied to them."""
    needed = [name for name in names(*CHOSEN) if name not in _MAY_LACK_SETS]
    return [
        dataset
        for dataset in datasets
        if all((dataset, name) in found for name in needed if task_of(dataset) in METHODS[name].tasks)
    ]


def _with_all(found: Summaries, datasets: Sequence[str], methods: Sequence[str] | None = None) -> list[str]:
    """The methods, by default those with five features, that have a result on each of the data sets."""
    methods = names(*CHOSEN) if methods is None else methods
    return [name for name in methods if datasets and all((dataset, name) in found for dataset in datasets)]


def best_distances(found: Summaries, datasets: Sequence[str]) -> Figures:
    """The l2 distance to the best of all methods on each set."""
    methods = names(*CHOSEN)
    return {name: l2_distance(found, name, datasets, methods) for name in _with_all(found, datasets)}


def mean_errors(found: Summaries, datasets: Sequence[str]) -> Figures:
    """The mean error over the data sets, also that of all features."""
    methods = [*_with_all(found, datasets), *_with_all(found, datasets, [_EVERYTHING])]
    return {name: float(np.mean([found[dataset, name].mean for dataset in datasets])) for name in methods}


def mean_ranks(found: Summaries, datasets: Sequence[str]) -> Figures:
    """The mean rank among the methods that have a result on each of the data sets; equal errors share their ranks."""
    from scipy.stats import rankdata

    methods = _with_all(found, datasets)
    if not methods:
        return {}
    errors = [[found[dataset, name].mean for name in methods] for dataset in datasets]
    ranks = rankdata(np.round(errors, 6), axis=1).mean(axis=0)
    return dict(zip(methods, ranks.tolist(), strict=True))


def summary_table(found: Judged, table: list[Row]) -> str:
    """A line for each method: distance, mean errors and mean ranks by judge; the lowest of a column is bold."""
    binary = compared(found[SVM], BINARY)
    finished = [name for name in _with_all(found[SVM], binary) if all(found[SVM][d, name].finished for d in binary)]
    chance = chance_distances(_of_sets(table, binary), finished, binary) if finished else {}
    columns = [
        Column(f"l2 distance, SVM, {len(binary)} binary sets", best_distances(found[SVM], binary)),
        Column("by chance", chance, marked=False),
        *_by_judge("mean error", found, BINARY, mean_errors, "binary sets"),
        *_by_judge("mean rank", found, (*MULTICLASS, *REGRESSION), mean_ranks, "other sets"),
    ]
    return _lines(columns)


def _of_sets(rows: list[Row], datasets: Sequence[str]) -> list[Row]:
    return [row for row in rows if row["dataset"] in datasets]


def _by_judge(
    what: str,
    found: Judged,
    datasets: Sequence[str],
    figures: Callable[[Summaries, Sequence[str]], Figures],
    kind: str,
) -> list[Column]:
    columns = []
    for judge in JUDGES:
        there = compared(found[judge], datasets)
        columns.append(Column(f"{what}, {TITLES[judge]}, {len(there)} {kind}", figures(found[judge], there)))
    return columns


def parts_table(found: Judged) -> str:
    """Distances and mean errors on the binary sets where the rules were fixed, and on the others."""
    columns = []
    for word, inside in (("fixed on", True), ("not varied on", False)):
        part = [dataset for dataset in BINARY if (dataset in FIXED_ON) is inside]
        there = compared(found[SVM], part)
        columns.append(Column(f"{word} {len(there)} sets: l2, SVM", best_distances(found[SVM], there)))
        for judge in JUDGES:
            there = compared(found[judge], part)
            columns.append(Column(f"mean error, {TITLES[judge]}, {len(there)} sets", mean_errors(found[judge], there)))
    return _lines(columns)


def rules_table() -> str:
    """Rules, the sets that they were fixed on, and the sets that are left."""
    others = [dataset for dataset in SIZES if dataset not in FIXED_ON]
    lines = [
        *([rule, ", ".join(FIXED_ON)] for rule in RULES),
        ["columns of two values are standardised as others are", ", ".join((*FIXED_ON, *SCALED_ON))],
        *([rule, "not varied, it bounds the cost"] for rule in LATER),
        ["none; rules were not varied on these", ", ".join(others)],
    ]
    return markdown(["rule", "fixed on"], lines)


def short_table(found: Judged) -> str:
    """Return mean errors by judge of the methods that have all results, on sets that no rule was fixed on."""
    datasets = [name for name in BINARY if name not in (*FIXED_ON, *SCALED_ON)]
    columns = [(judge, compared(found[judge], datasets)) for judge in JUDGES]
    errors = [mean_errors(found[judge], there) for judge, there in columns]
    methods = [m for m in ("prediction", *names("paper", "today")) if all(m in figures for figures in errors)]
    lines = [[_TITLES.get(m, METHODS[m].title), *(f"{figures[m]:.1f}" for figures in errors)] for m in methods]
    titles = [f"{TITLES[judge]}, {len(there)} sets" for judge, there in columns]
    return markdown(["mean error, percent", *titles], sorted(lines, key=lambda line: float(line[1])))


def _lines(columns: Sequence[Column]) -> str:
    lines = [
        [METHODS[name].title, *(_cell(column, name) for column in columns)] for name in (*names(*CHOSEN), _EVERYTHING)
    ]
    return markdown(["", *(column.title for column in columns)], lines)


def _cell(column: Column, name: str) -> str:
    """A figure; bold where it is the lowest of the methods with five features, as far as its digits say."""
    if name not in column.figures:
        return ""
    lowest = min(figure for other, figure in column.figures.items() if other != _EVERYTHING)
    text = f"{column.figures[name]:.2f}"
    bold = column.marked and name != _EVERYTHING and text == f"{lowest:.2f}"
    return f"**{text}**" if bold else text


def standing(found: Judged) -> str:
    """A line for each measure: the five methods with the lowest figures."""
    others = (*MULTICLASS, *REGRESSION)
    measures = [("l2 distance, SVM", best_distances(found[SVM], compared(found[SVM], BINARY)))]
    measures += [
        (f"mean error, {TITLES[judge]}", mean_errors(found[judge], compared(found[judge], BINARY))) for judge in JUDGES
    ]
    measures += [
        (f"mean rank, {TITLES[judge]}", mean_ranks(found[judge], compared(found[judge], others))) for judge in JUDGES
    ]
    return "\n".join(f"- {title}: {_first(figures)}." for title, figures in measures if figures)


def _first(figures: Figures, n: int = 5) -> str:
    order = sorted((name for name in figures if name != _EVERYTHING), key=lambda name: figures[name])
    return ", ".join(f"{METHODS[name].title} {figures[name]:.2f}" for name in order[:n])
