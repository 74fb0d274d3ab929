"""Shares of relevant features on the published problems, beside the published figures."""

import csv
from pathlib import Path

from experiments.markdown import markdown
from experiments.methods import METHODS
from experiments.ring import OURS, PROBLEMS, SAMPLES, THEIRS, averages
from experiments.rows import Row

_PUBLISHED = Path(__file__).resolve().parent / "expected" / "ring.csv"

#: The configuration that is compared with the other methods on all problems.
BEST = "prediction_kernel"

#: Methods that were measured again, and what the publication calls them; its mRMR is not the one by the F statistic.
_AGAIN = {
    "forest": "Random Forest",
    "relief": "Relief",
    "mutual_information": "Mutual information",
    "mrmr_of_bins": "mRMR",
}

Shares = dict[tuple[int, str, str], tuple[float, float]]


def published() -> Shares:
    """Published shares among the first p and 2p, in percent, by number of samples, problem and method."""
    with _PUBLISHED.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        (int(row["n_samples"]), row["problem"], row["method"]): (float(row["best_p"]), float(row["best_2p"]))
        for row in rows
    }


def measured(rows: list[Row], most: int = 2048) -> Shares:
    """Our shares among the first p and 2p, by number of samples, problem and method."""
    first, second = averages(rows, "best_p", most), averages(rows, "best_2p", most)
    return {key: (first[key], second[key]) for key in first}


def tables(rows: list[Row]) -> str:
    """A table for each number of samples that has rows."""
    found = measured(rows)
    there = [n for n in SAMPLES if any(key[0] == n for key in found)]
    return "\n\n".join(f"{n} samples:\n\n{table(found, n)}" for n in there)


def table(found: Shares, n: int) -> str:
    """A line for each method, ours and the measured ones first; the highest share of a problem is bold."""
    theirs = published()
    everything = {key[1:]: value for key, value in found.items() if key[0] == n}
    everything |= {(key[1], f"published: {key[2]}"): value for key, value in theirs.items() if key[0] == n}
    highest = {p: max(share for (q, _), (share, _) in everything.items() if q == p) for p in PROBLEMS}
    named = [*((name, METHODS[name].title) for name in (*OURS, *THEIRS)), *_published_names(everything)]
    lines = [
        [title, *(_cell(everything.get((p, name)), highest[p]) for p in PROBLEMS)]
        for name, title in named
        if any((p, name) in everything for p in PROBLEMS)
    ]
    return markdown(["first p / first 2p, percent", *PROBLEMS], lines)


def _published_names(everything: dict[tuple[str, str], tuple[float, float]]) -> list[tuple[str, str]]:
    """The published methods, that with the highest mean first."""
    names = {name for _, name in everything if name.startswith("published: ")}
    return [(n, n) for n in sorted(sorted(names), key=lambda name: -sum(everything[p, name][0] for p in PROBLEMS))]


def _cell(shares: tuple[float, float] | None, highest: float) -> str:
    if shares is None:
        return ""
    first = f"{shares[0]:.1f}"
    return f"{f'**{first}**' if first == f'{highest:.1f}' else first} / {shares[1]:.1f}"


def standing(rows: list[Row], method: str = BEST) -> str:
    """For each number of samples and problem: the share of one configuration, its place, and the best other method.

    Variants of our own are not counted as others.
    """
    found, theirs = measured(rows), published()
    lines = []
    for n in SAMPLES:
        cells = [_place(found, theirs, (n, problem), method) for problem in PROBLEMS]
        if any(cells):
            lines.append([str(n), *cells])
    return markdown(["samples", *PROBLEMS], lines)


def best_other(found: Shares, theirs: Shares, which: tuple[int, str]) -> tuple[str, float]:
    """The method that is not ours with the highest share among the first p, and that share."""
    others = _others(found, theirs, which)
    best = max(others, key=lambda name: others[name])
    return best, others[best]


def _others(found: Shares, theirs: Shares, which: tuple[int, str]) -> dict[str, float]:
    others = {f"{key[2]}, published": value[0] for key, value in theirs.items() if key[:2] == which}
    return others | {METHODS[m].title: found[*which, m][0] for m in THEIRS if (*which, m) in found}


def _place(found: Shares, theirs: Shares, which: tuple[int, str], method: str) -> str:
    own = found.get((*which, method))
    if own is None:
        return ""
    best, share = best_other(found, theirs, which)
    place = 1 + sum(round(value, 1) > round(own[0], 1) for value in _others(found, theirs, which).values())
    return f"{own[0]:.1f}: place {place} (best other: {best} {share:.1f})"


def check(rows: list[Row]) -> str:
    """Methods that were measured again beside their published figures, share among the first p."""
    found, theirs = measured(rows), published()
    lines = [
        [str(n), title, *(_beside(found.get((n, p, name)), theirs[n, p, title]) for p in PROBLEMS)]
        for n in SAMPLES
        for name, title in _AGAIN.items()
        if any((n, p, name) in found for p in PROBLEMS)
    ]
    return markdown(["samples", "measured / published", *PROBLEMS], lines)


def _beside(ours: tuple[float, float] | None, theirs: tuple[float, float]) -> str:
    return f"{ours[0]:.1f} / {theirs[0]:.1f}" if ours else ""
