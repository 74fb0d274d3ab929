"""Reported R2 and that of samples that took no part, as tables of Markdown, beside the bars that were set."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from experiments.honest_drawn import NOISE, PROBLEMS, SAMPLES
from experiments.honest_large import N_ROWS, TRUTH
from experiments.honest_real import FOLDS, SIZES
from experiments.honest_variants import ALL, TITLES
from experiments.markdown import markdown
from experiments.rows import Row

#: The variant that is shown in detail.
DETAILED = "selector"


def of_part(rows: Iterable[Row], part: str) -> dict[str, list[Row]]:
    """Return the rows of a part that were finished, by variant."""
    there = [row for row in rows if row["part"] == part and row["fresh"] != ""]
    return {name: found for name in TITLES if (found := [row for row in there if row["variant"] == name])}


def bias(row: Row) -> float:
    """Return by how much the reported R2 is too high."""
    return reported(row) - fresh(row)


def reported(row: Row) -> float:
    """Return the reported R2, that of the mean where nothing predicts."""
    return 0.0 if row["predicts"] == "no" else float(row["reported"])


def fresh(row: Row) -> float:
    """Return R2 of samples that took no part, that of the mean where nothing predicts."""
    return 0.0 if row["predicts"] == "no" else float(row["fresh"])


def _bias_with_kept(row: Row) -> float:
    """Return `bias` with R2 of the feature that is kept where nothing predicts."""
    return reported(row) - float(row["fresh"])


def drawn_summary(rows: Sequence[Row]) -> str:
    """Return a line for each variant over all settings of the drawn data, below the bars."""
    header = [
        *("", "data sets", "reported - fresh R2", "mean absolute difference", "with the kept feature"),
        *("reported R2", "fresh R2", "features", "noise recognised"),
    ]
    lines = [["bar", "", "within ±0.03", "at most 0.08", "", "", "at least 0.24", "at most 6", "at least 90%"]]
    for name, found in of_part(rows, "drawn").items():
        noise = [row["predicts"] == "no" for row in found if row["problem"] == "nothing"]
        lines.append(
            [
                TITLES[name],
                str(len(found)),
                f"{_mean(found, bias):+.3f}",
                f"{_mean(found, lambda row: abs(bias(row))):.3f}",
                f"{_mean(found, _bias_with_kept):+.3f}, {_mean(found, lambda row: abs(_bias_with_kept(row))):.3f}",
                f"{_mean(found, reported):.2f}",
                f"{_mean(found, fresh):.2f}",
                f"{_mean(found, _number_in('number')):.1f}",
                f"{sum(noise)} of {len(noise)}" if name != ALL else "",
            ]
        )
    return markdown(header, lines)


def _number_in(column: str) -> Callable[[Row], float]:
    return lambda row: float(row[column])


def _mean(rows: Iterable[Row], value: Callable[[Row], float]) -> float:
    """Return the mean over settings of the mean over draws."""
    return float(np.mean([*_means(rows, value, "problem", "n_samples", "n_noise").values()]))


def _means(rows: Iterable[Row], value: Callable[[Row], float], *keys: str) -> dict[tuple[str, ...], float]:
    """Return the mean over rows that share the values of these columns."""
    collected: dict[tuple[str, ...], list[float]] = {}
    for row in rows:
        collected.setdefault(tuple(str(row[key]) for key in keys), []).append(value(row))
    return {key: float(np.mean(values)) for key, values in collected.items()}


def drawn(rows: Sequence[Row]) -> str:
    """Return a line for each problem and number of samples: reported R2 / fresh R2 (features, of which true)."""
    found = of_part(rows, "drawn").get(DETAILED, [])
    keys = ("problem", "n_samples", "n_noise")
    values = (reported, fresh, _number_in("number"), _number_in("found"))
    columns = [_means(found, value, *keys) for value in values]

    def cell(problem: str, n: int, d: int) -> str:
        key = problem, str(n), str(d)
        if key not in columns[0]:
            return ""
        told, found_fresh, number, true = (column[key] for column in columns)
        return f"{told:.2f} / {found_fresh:.2f} ({number:.1f}, {true:.1f})"

    lines = [
        [f"{problem} ({about.n_true} true)", str(n), *(cell(problem, n, d) for d in NOISE)]
        for problem, about in PROBLEMS.items()
        for n in SAMPLES
        if any(cell(problem, n, d) for d in NOISE)
    ]
    return markdown(["problem", "samples", *(f"{d} of noise" for d in NOISE)], lines)


def complete_sets(found: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the rows of the real sets all of whose folds are there."""
    by_set: dict[str, list[Row]] = {}
    for row in found:
        by_set.setdefault(row["problem"], []).append(row)
    return {name: by_set[name] for name in SIZES if len(by_set.get(name, ())) == FOLDS}


def _set_mean(rows: Iterable[Row], value: Callable[[Row], float]) -> float:
    return float(np.mean([value(row) for row in rows]))


def _share(row: Row) -> float:
    return 100 * int(row["number"]) / int(row["n_features"])


def real_summary(rows: Sequence[Row]) -> str:
    """Return a line for each variant over the real sets; errors are compared with those of all features."""
    header = [
        *("", "sets", "absolute difference of reported and test R2", "difference", "test R2"),
        *("share of the features, median", "SVM error (all)", "forest error (all)"),
    ]
    parts = {name: complete_sets(found) for name, found in of_part(rows, "real").items()}
    lines = [["bar", "", "at most 0.04", *[""] * 5]]
    for name, sets in parts.items():
        if not sets:
            continue
        biases = [_set_mean(found, bias) for found in sets.values()]
        lines.append(
            [
                TITLES[name],
                str(len(sets)),
                f"{np.mean(np.abs(biases)):.3f}",
                f"{np.mean(biases):+.3f}",
                f"{np.mean([_set_mean(found, fresh) for found in sets.values()]):.2f}",
                f"{np.median([_set_mean(found, _share) for found in sets.values()]):.0f}%",
                *(_errors(sets, parts.get(ALL, {}), judge) for judge in ("svm", "forest")),
            ]
        )
    return markdown(header, lines)


def _errors(sets: Mapping[str, list[Row]], every: Mapping[str, list[Row]], judge: str) -> str:
    """Return the mean error over the sets, and that of all features on the same sets."""
    both = [name for name in sets if name in every]
    if not both:
        return ""
    of_selected, of_all = (
        np.mean([_set_mean(found[name], _number_in(judge)) for name in both]) for found in (sets, every)
    )
    return f"{of_selected:.1f} ({of_all:.1f})"


def real(rows: Sequence[Row]) -> str:
    """Return a line for each real set: what is reported in the training part and what the test part gives."""
    parts = of_part(rows, "real")
    every = complete_sets(parts.get(ALL, []))
    lines = []
    for name, found in complete_sets(parts.get(DETAILED, [])).items():
        told, tested, number = (_set_mean(found, value) for value in (reported, fresh, _number_in("number")))
        lines.append(
            [
                name,
                str(SIZES[name][0]),
                f"{number:.1f} of {found[0]['n_features']}",
                f"{told:.2f}",
                f"{tested:.2f}",
                f"{told - tested:+.2f}",
                *(_errors({name: found}, every, judge) for judge in ("svm", "forest")),
            ]
        )
    header = [
        *("", "samples", "features", "reported R2", "test R2", "difference"),
        *("SVM error (all)", "forest error (all)"),
    ]
    return markdown(header, lines)


def large(rows: Sequence[Row]) -> str:
    """Return a line for each table and variant: what gradient boosting does with the columns of each seed."""
    header = [
        *("", "seeds", "held-out R2, mean", "spread", "different selections", "columns", "true columns"),
        *("reported R2", "seconds"),
    ]
    lines = [["bar", "5", "", "at most 0.01", *[""] * 5]]
    for table in N_ROWS:
        for name, every in of_part(rows, "large").items():
            found = [row for row in every if row["problem"] == table]
            if not found:
                continue
            fresh = [float(row["fresh"]) for row in found]
            true = f"{_set_mean(found, _number_in('found')):.1f} of {len(TRUTH[table])}" if table in TRUTH else ""
            lines.append(
                [
                    f"{table}, {TITLES[name]}",
                    str(len(found)),
                    f"{np.mean(fresh):.3f}",
                    f"{max(fresh) - min(fresh):.3f}",
                    str(len({row["features"] for row in found})),
                    f"{_set_mean(found, _number_in('number')):.1f} of {found[0]['n_features']}",
                    true,
                    f"{_set_mean(found, _number_in('reported')):.3f}",
                    f"{_set_mean(found, _number_in('seconds')):.0f}",
                ]
            )
    return markdown(header, lines)
