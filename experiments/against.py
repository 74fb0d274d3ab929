"""Where another method is clearly better than ours, from rows, with the reasons that reasons.py gives."""

from typing import NamedTuple

from experiments.comparison import Summaries, Summary, p_worse, summaries
from experiments.judges import JUDGES
from experiments.judges_table import TITLES, Judged
from experiments.methods import METHODS, names
from experiments.raw import FOLDS as RAW_FOLDS
from experiments.raw_methods import METHODS as RAW_METHODS
from experiments.raw_methods import OURS as RAW_OURS
from experiments.real import SIZES
from experiments.reasons import WHY_NOT
from experiments.ring import PROBLEMS, SAMPLES
from experiments.ring_table import BEST, best_other, measured, published
from experiments.rows import Row

OWN = "prediction"
#: What is counted as clearly better: so many points less error, and significantly so by Welch's test at 5%.
_POINTS, _LEVEL = 2.0, 0.05


class Better(NamedTuple):
    """A method that is clearly better than ours on a data set."""

    dataset: str
    method: str
    theirs: Summary
    ours: Summary


def others() -> list[str]:
    """The methods of the table that are not ours."""
    return [name for name in names("paper", "today") if name not in ("bahsic", "fohsic")]


def clearly_better(found: Summaries, own: str, methods: list[str], datasets: list[str]) -> list[Better]:
    """The best of the other methods on each data set, where it is clearly better than ours."""
    better = []
    for dataset in datasets:
        there = {m: found[dataset, m] for m in methods if (dataset, m) in found and found[dataset, m].finished}
        if not there or (dataset, own) not in found:
            continue
        best, ours = min(there, key=lambda m: there[m].mean), found[dataset, own]
        if ours.mean - there[best].mean > _POINTS and p_worse(ours, there[best]) < _LEVEL:
            better.append(Better(dataset, best, there[best], ours))
    return better


def sets(found: Judged) -> str:
    """A line for each data set on which another method is clearly better by some judge, with the reason."""
    by_set: dict[str, list[str]] = {}
    for judge in JUDGES:
        for one in clearly_better(found[judge], OWN, others(), [*SIZES]):
            text = f"{METHODS[one.method].title} {one.theirs.mean:.1f} against {one.ours.mean:.1f} by {TITLES[judge]}"
            by_set.setdefault(one.dataset, []).append(text)
    lines = [f"- **{d}** ({'; '.join(texts)}). {WHY_NOT.get(d, 'Not explained.')}" for d, texts in by_set.items()]
    return "\n".join(lines) or "None of the sets."


def problems(rows: list[Row]) -> str:
    """A line for each published problem on which another method finds more of the relevant features."""
    found, theirs = measured(rows), published()
    lines = []
    for n in SAMPLES:
        for problem in PROBLEMS:
            own = found.get((n, problem, BEST))
            name, share = best_other(found, theirs, (n, problem))
            if own is not None and share > own[0]:
                lines.append(f"- {problem} with {n} samples: {name} {share:.1f}, ours {own[0]:.1f}.")
    return "\n".join(lines) or "None of the published problems that have all their rows."


def raw_tables(rows: list[Row]) -> str:
    """A line for each raw table on which another selector is clearly better."""
    found, methods = summaries(rows, RAW_FOLDS), [name for name in RAW_METHODS if name not in (*RAW_OURS, "all")]
    better = clearly_better(found, OWN, methods, sorted({dataset for dataset, _ in found}))
    lines = [
        f"- {one.dataset}: {RAW_METHODS[one.method].title} {one.theirs.mean:.1f}, ours {one.ours.mean:.1f}."
        for one in better
    ]
    return "\n".join(lines) or "None of the raw tables."
