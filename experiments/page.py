"""The pages of results: their numbers are computed from the rows, their words are in pages/ and reasons.py."""

from collections import Counter
from pathlib import Path
from statistics import median

from experiments import (
    against,
    eeg_page,
    honest_table,
    junk_table,
    planted_table,
    raw_table,
    real,
    ring_table,
    tables_table,
)
from experiments.artificial import N_RUNS, N_RUNS_OF_PAPER, SIZES_OF_TABLE, TODAY, means
from experiments.artificial import table as artificial_table
from experiments.auto_table import numbers_table
from experiments.auto_table import summary_table as auto_table
from experiments.comparison import (
    Summaries,
    chance_distances,
    not_worse,
    paper,
    paper_distances,
    standard_difference,
    summaries,
)
from experiments.frame import NAMES, experiment_named
from experiments.genes_table import fewer as fewer_genes
from experiments.genes_table import judges_table as genes_judges_table
from experiments.genes_table import overlap_table
from experiments.genes_table import table as genes_table
from experiments.judges_table import by_judge, parts_table, rules_table, short_table, standing
from experiments.judges_table import summary_table as judges_table
from experiments.machines import MACHINES, MEAN_LOSS, judged_by
from experiments.markdown import markdown, unbroken, wrapped
from experiments.methods import METHODS, names
from experiments.paper_table import expected
from experiments.ranks import ranks_table
from experiments.real_table import (
    CHOSEN,
    all_methods,
    beside_the_paper,
    complete,
    differences,
    distances,
    paper_table,
)
from experiments.reasons import OTHER_DATA, REASONS
from experiments.rows import VERSION, Row
from experiments.version import BEFORE

_TEMPLATES = Path(__file__).with_name("pages")
_NEAR = 2.0  # standard errors of the difference


def pages(results: Path) -> dict[str, str]:
    """Return each page as Markdown by its path below docs, from the files of rows in a folder."""
    parts = _parts(results) | eeg_page.parts(results)
    texts = {path.relative_to(_TEMPLATES): path.read_text(encoding="utf-8") for path in _TEMPLATES.glob("*/*.md")}
    return {path.as_posix(): wrapped(unbroken(text.format_map(parts))) for path, text in sorted(texts.items())}


def _parts(results: Path) -> dict[str, str]:
    """Return the tables and generated sentences by the names that the pages have for them."""
    names_here = [name for name in NAMES if name != "eeg"]  # see eeg_page
    rows = {name: experiment_named(name).store(results).read() for name in names_here}
    ours, smooth = summaries(rows["real"]), summaries(judged_by(MEAN_LOSS, rows["machines"]))
    judged = by_judge(rows["real"], rows["judges"])
    drawn, real_sets = honest_table.drawn_summary(rows["honest"]), honest_table.real_summary(rows["honest"])
    return {
        "progress": _progress(rows, results),
        "artificial_ranks": artificial_table(rows["artificial"], N_RUNS, SIZES_OF_TABLE),
        "ranks_today": artificial_table(rows["artificial"], N_RUNS_OF_PAPER, SIZES_OF_TABLE, ("bahsic", *TODAY)),
        "statements": _statements(rows["artificial"]),
        "table": paper_table(rows["real"]),
        "bold": _bold(),
        "differences": differences(ours, smooth),
        "agreement": _agreement(ours, smooth),
        "machines": _machines(rows),
        "reasons": _reasons(ours, smooth),
        "numbers": _classes_as_numbers(ours, smooth),
        "distances": _distances(rows["real"], ours, smooth),
        "nearest": _nearest(ours),
        "indicators": _indicators(ours),
        "today": all_methods(rows["real"]),
        "wins": _wins(ours),
        "judges": judges_table(judged, rows["real"]),
        "judges_short": short_table(judged),
        "standing": standing(judged),
        "rules": rules_table(),
        "parts": parts_table(judged),
        "auto": auto_table(judged, rows["real"]),
        "auto_numbers": numbers_table(ours, rows["real"]),
        "time": _time(rows["real"]),
        "genes": genes_table(rows["genes"]),
        "fewer_genes": fewer_genes(rows["genes"]),
        "genes_judged": genes_judges_table(rows["genes"], rows["judges"]),
        "overlap": overlap_table(rows["genes"]),
        "ring_best": METHODS[ring_table.BEST].title,
        "ring_standing": ring_table.standing(rows["ring"]),
        "ring_check": ring_table.check(rows["ring"]),
        "ring": ring_table.tables(rows["ring"]),
        "graphs": planted_table.graphs(rows["planted"]),
        "tables_summary": tables_table.summary(rows["tables"]),
        "tables": tables_table.table(rows["tables"]),
        "ranks": ranks_table(judged),
        "raw_summary": raw_table.summary_table(rows["raw"]),
        "raw": raw_table.table(rows["raw"]),
        "honest_drawn_summary": drawn,
        "honest_drawn": honest_table.drawn(rows["honest"]),
        "honest_real_summary": real_sets,
        **_honest(drawn, real_sets),
        "honest_real": honest_table.real(rows["honest"]),
        "honest_large": honest_table.large(rows["honest"]),
        "junk_summary": junk_table.summary(rows["junk"]),
        "junk_tables": junk_table.by_table(rows["junk"]),
        "junk_worth": junk_table.worthless(rows["junk"]),
        "junk_boosting": junk_table.boosting(rows["junk"]),
        "junk_stability": junk_table.stability(rows["junk"]),
        "better_sets": against.sets(judged),
        "better_problems": against.problems(rows["ring"]),
        "better_raw": against.raw_tables(rows["raw"]),
        "versions": _versions(rows),
        "limit": f"{real.TIME_LIMIT:.0f}",
    }


def _figure(table: str, line: str, column: str) -> str:
    """Return a cell of a table by the name of its line and of its column; nothing where the line is missing."""
    columns, _, *lines = ([cell.strip() for cell in text.split("|")[1:-1]] for text in table.splitlines())
    return next((cells[columns.index(column)] for cells in lines if cells[0] == line), "")


def _honest(drawn: str, real_sets: str) -> dict[str, str]:
    """Return the figures of the sentences on reported and fresh R2, from the tables that they summarise."""
    excess, noise = "reported - fresh R2", "noise recognised"
    return {
        "excess": _figure(drawn, "FeatureSelector", excess),
        "noise": _figure(drawn, "FeatureSelector", noise),
        "real_sets": _figure(real_sets, "FeatureSelector", "sets"),
        "real_difference": _figure(real_sets, "FeatureSelector", "absolute difference of reported and test R2"),
    }


def _versions(rows: dict[str, list[Row]]) -> str:
    """How many rows of our methods each version of the code made."""
    lines = []
    for name, found in rows.items():
        counts = Counter(row[VERSION] for row in found if row[VERSION] == BEFORE or "+" in row[VERSION])
        lines.append([name, ", ".join(f"{number} by {version}" for version, number in counts.most_common())])
    return markdown(["experiment", "rows"], [line for line in lines if line[1]])


def _progress(rows: dict[str, list[Row]], results: Path) -> str:
    """How much of each grid has rows."""
    lines = []
    for name, found in rows.items():
        experiment = experiment_named(name)
        there = {experiment.store().key(row) for row in found}
        cells = {experiment.store().key(cell) for cell in experiment.grid(False, results)}
        lines.append([name, str(len(cells & there)), str(len(cells))])
    return markdown(["experiment", "cells with rows", "cells"], lines)


_CLAIMS = (
    ("xor", ("bahsic", "relief"), "find both features", "<= 2 from m = 80 on"),
    ("xor", ("fohsic", "pearson", "mutual_information"), "fail", "> 5 everywhere"),
    ("multiclass", ("bahsic", "fohsic", "mutual_information"), "are right at every size", "<= 2 everywhere"),
    (
        "multiclass",
        ("pearson", "pearson_of_numbers"),
        "works for large samples only",
        "> 2 at m = 40 and <= 2 at m = 400",
    ),
    ("regression", ("bahsic", "fohsic"), "converge quickly", "<= 2 from m = 120 on"),
    (
        "regression",
        ("pearson", "mutual_information"),
        "slightly better than random",
        "> 5 everywhere and <= 11.5 everywhere",
    ),
)


def _statements(rows: list[Row]) -> str:
    """The paper's statements, each with a figure that has to be so, and whether it is."""
    columns = ["problem", "method", "the paper", "mean rank", *(f"{n} runs" for n in (N_RUNS_OF_PAPER, N_RUNS))]
    ranks = [means(rows, n) for n in (N_RUNS_OF_PAPER, N_RUNS)]
    lines = [
        [problem, METHODS[method].title, claim, test, *(_holds(found, problem, method, test) for found in ranks)]
        for problem, methods, claim, test in _CLAIMS
        for method in methods
    ]
    return markdown(columns, lines)


def _holds(ranks: dict[tuple[str, str, int], float], problem: str, method: str, test: str) -> str:
    parts = [_part_holds(ranks, problem, method, part) for part in test.split(" and ")]
    return "" if None in parts else "holds" if all(parts) else "no"


def _part_holds(ranks: dict[tuple[str, str, int], float], problem: str, method: str, test: str) -> bool | None:
    relation, limit, *rest = test.split()
    sizes = [m for p, other, m in ranks if (p, other) == (problem, method)]
    if "from" in rest:
        sizes = [m for m in sizes if m >= int(rest[3])]
    elif "at" in rest:
        sizes = [int(rest[-1])]
    values = [ranks[problem, method, m] for m in sizes if (problem, method, m) in ranks]
    if not values:
        return None
    return all(value <= float(limit) if relation == "<=" else value > float(limit) for value in values)


def _near(found: Summaries, method: str, *, same: bool = True) -> tuple[int, int]:
    """How many results are within two standard errors of the paper's, and of how many."""
    compared = [z for dataset, _, _, z in beside_the_paper(found, method) if not (same and dataset in OTHER_DATA)]
    return sum(abs(z) <= _NEAR for z in compared), len(compared)


def _agreement(ours: Summaries, smooth: Summaries) -> str:
    """For each of the paper's methods, on how many sets we agree."""
    lines = [
        [METHODS[method].title, *("{} of {}".format(*_near(found, method)) for found in (ours, smooth))]
        for method in names("paper")
    ]
    return markdown(["", "C = 100", "C = 100/m"], lines)


def _machines(rows: dict[str, list[Row]]) -> str:
    """Every machine that was tried, on how many sets BAHSIC then agrees with the paper, and how far it is."""
    found = {"as stated": summaries(rows["real"])}
    found |= {name: summaries(judged_by(name, rows["machines"])) for name in MACHINES}
    lines = []
    for name, judged in found.items():
        away = [abs(z) for d, _, _, z in beside_the_paper(judged, "bahsic") if d not in OTHER_DATA]
        if away:
            near = sum(z <= _NEAR for z in away)
            lines.append([name, f"{near} of {len(away)}", f"{median(away):.1f}", f"{max(away):.1f}"])
    return markdown(["machine", "sets that agree", "median distance", "largest distance"], lines)


def _reasons(ours: Summaries, smooth: Summaries) -> str:
    """A line for each data set that differs, or whose data are others."""
    lines = []
    for dataset, mine, theirs, z in beside_the_paper(ours, "bahsic"):
        if abs(z) <= _NEAR and dataset not in OTHER_DATA:
            continue
        other = smooth.get((dataset, "bahsic"))
        second = f", with C = 100/m {standard_difference(other, theirs):+.1f}" if other else ""
        text = OTHER_DATA.get(dataset) or REASONS.get(dataset, "Not explained.")
        lines.append(f"- **{dataset}** ({mine.mean:.1f} against {theirs.mean:.1f}: {z:+.1f}{second}). {text}")
    return "\n".join(lines)


def _classes_as_numbers(ours: Summaries, smooth: Summaries) -> str:
    """Pearson's correlation for many classes, in both readings."""
    theirs = paper()
    readings = [f"{reading}, C = {C}" for C in ("100", "100/m") for reading in ("one versus rest", "numbers")]
    lines = []
    for dataset in real.MULTICLASS:
        found = [s.get((dataset, m)) for s in (ours, smooth) for m in ("pearson", "pearson_of_numbers")]
        if all(found):
            cells = [f"{one.mean:.1f}" for one in found if one]
            lines.append([dataset, f"{theirs[dataset, 'pearson'].mean:.1f}", *cells])
    return markdown(["", "paper's PC", *readings], lines)


def _distances(rows: list[Row], ours: Summaries, smooth: Summaries) -> str:
    """The l2 distance to the best over the binary sets: the paper's and ours, over sets that all methods have."""
    methods, theirs = names("paper"), paper()
    there, same = _compared(ours)
    columns = {
        "paper, as printed": paper_distances(),
        f"paper, {len(there)} sets": distances(theirs, methods, there),
        f"C = 100, {len(there)} sets": distances(ours, methods, there),
        "by chance": chance_distances(rows, methods, there) if there else {},
        f"C = 100, {len(same)} sets with the same data": distances(ours, methods, same),
        f"C = 100/m, {len(complete(smooth, methods, there))} sets": distances(smooth, methods, there),
    }
    lines = [
        [METHODS[method].title, *(f"{found[method]:.1f}" if method in found else "" for found in columns.values())]
        for method in methods
    ]
    return markdown(["", *columns], lines)


def _compared(ours: Summaries) -> tuple[list[str], list[str]]:
    """The binary sets on which all eight methods finished, and those of them with the paper's data."""
    finished = {key: summary for key, summary in ours.items() if summary.finished}
    there = complete(finished, names("paper"), real.BINARY)
    return there, [dataset for dataset in there if dataset not in OTHER_DATA]


def _nearest(ours: Summaries) -> str:
    """Which of the paper's methods has the lowest distance, where BAHSIC stands, and where it is far from the best."""
    methods = names("paper")
    there, same = _compared(ours)
    if not same:
        return ""
    gaps = {d: ours[d, "bahsic"].mean - min(ours[d, method].mean for method in methods) for d in there}
    largest = ", ".join(f"{d} ({gaps[d]:.1f})" for d in sorted(gaps, key=lambda d: -gaps[d])[:4])
    return (
        f"Over the {len(there)} binary sets {_order(ours, methods, there)}. Over the {len(same)} of them with the same "
        f"data {_order(ours, methods, same)}. BAHSIC is farthest from the best on {largest}, in percent."
    )


def _order(ours: Summaries, methods: list[str], datasets: list[str]) -> str:
    found = distances(ours, methods, datasets)
    order = sorted(found, key=lambda method: found[method])
    return ", ".join(f"{METHODS[method].title} has {found[method]:.1f}" for method in order[:3])


def _indicators(ours: Summaries) -> str:
    """What becomes of BAHSIC where columns of two values are not standardised."""
    there, _ = _compared(ours)
    option, sets = "bahsic_indicators", ("adult", "adult_balanced")
    if not there or any((dataset, option) not in ours for dataset in (*there, *sets)):
        return ""
    errors = " and ".join(f"{ours[d, option].mean:.1f} instead of {ours[d, 'bahsic'].mean:.1f} on {d}" for d in sets)
    distance = distances(ours, [option, *names("paper")], there)[option]
    return f"BAHSIC then errs by {errors}, and its distance over the {len(there)} sets is {distance:.1f}."


def _bold() -> str:
    """How many of the paper's entries would be bold by Welch's test of its own numbers."""
    theirs, methods = paper(), names("paper")
    printed = {(row["dataset"], row["method"]) for row in expected("real") if row["bold"] == "yes"} - {("l2", "bahsic")}

    def by_test(found: Summaries) -> set[tuple[str, str]]:
        return {(d, m) for d in real.SIZES for m in not_worse(found, d, methods)}

    smaller = {key: one._replace(standard_error=one.standard_error / one.n**0.5) for key, one in theirs.items()}
    return (
        f"The paper prints {len(printed)} entries bold. Welch's test of its own means and standard errors, as used "
        f"here, gives {len(by_test(theirs))}, so our table has more bold entries. With standard errors divided by the "
        f"root of 10 once more the test gives {len(by_test(smaller))}, {len(by_test(smaller) & printed)} of them the "
        f"printed ones, so the paper may have divided twice."
    )


def _wins(found: Summaries) -> str:
    """How often each method is the best or not significantly worse."""
    methods = names(*CHOSEN)
    counts = {m: [0, 0] for m in methods}
    for dataset in (*real.SIZES, *real.MORE):
        good = not_worse(found, dataset, methods)
        for method in methods:
            if (dataset, method) in found:
                counts[method][1] += 1
                counts[method][0] += method in good
    lines = [[METHODS[m].title, f"{good} of {n}"] for m, (good, n) in counts.items()]
    return markdown(["", "best or not significantly worse"], lines)


def _time(rows: list[Row]) -> str:
    """Processor time of a selection over that of BAHSIC in the same fold, and seconds on the largest sets."""
    seconds: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        seconds.setdefault((row["dataset"], row["method"]), []).append(float(row["seconds"]))
    typical = {key: median(values) for key, values in seconds.items()}
    large = ("german", "usps", "gisette", "arcene", "dexter")
    lines = []
    for method in names(*CHOSEN):
        both = [d for d, m in typical if m == method and (d, "bahsic") in typical]
        ratios = [typical[d, method] / max(typical[d, "bahsic"], 1e-3) for d in both]
        cells = [f"{typical[d, method]:.2f}" if (d, method) in typical else "" for d in large]
        lines.append([METHODS[method].title, f"{median(ratios):.2f}" if ratios else "", *cells])
    return markdown(["", "time over BAHSIC's", *(f"{d}, s" for d in large)], lines)
