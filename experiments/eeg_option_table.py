"""Errors after selecting frequencies by all channels, and after selecting channels, as tables and sentences."""

from collections.abc import Sequence

import numpy as np

from experiments.eeg_methods import BAND, TITLES
from experiments.eeg_options import CHANNEL_REPEATS, N_CHANNELS, OPTIONS, WAYS
from experiments.eeg_table import errors, subjects
from experiments.markdown import markdown
from experiments.rows import Row

#: Subjects on whose first eight repeats features, bins and the average of limits were chosen.
CHOSEN_ON = ("S094", "S042", "S048")

_WAY_TITLES = {"channels_hsic": "HSIC", "channels_prediction": "prediction", "channels_random": "at random"}

#: Errors by subject and method, then by repeat and fold.
_Folds = dict[tuple[str, str], dict[tuple[str, str], float]]


def options(rows: list[Row]) -> str:
    """Errors of the ways to judge frequencies by all channels, beside those of the manual band and the paper's way."""
    return errors(rows, ("csp", "bahsic", *OPTIONS))


def finding(rows: list[Row]) -> str:
    """Errors of each way against the manual band in the same folds, by the subjects that chose the rule and others."""
    found = _by_fold(rows)
    told = [_against_csp(found, subjects(rows), method) for method in OPTIONS]
    return "\n".join(f"- {line}" for line in told if line) or "No subject has results of these yet."


def _against_csp(found: _Folds, names: Sequence[str], method: str) -> str:
    compared = [name for name in names if set(found.get((name, method), {})) & set(found.get((name, "csp"), {}))]
    if not compared:
        return ""
    pairs = {name: _pair(found[name, method], found[name, "csp"]) for name in compared}
    parts = {
        "the subjects that the rule was chosen on": [name for name in compared if name in CHOSEN_ON],
        "the others": [name for name in compared if name not in CHOSEN_ON],
    }
    ours, manual = np.mean(list(pairs.values()), axis=0)
    told = [
        f"{_mean(pairs, part, 0):.1f}% against {_mean(pairs, part, 1):.1f}% on {words}"
        for words, part in parts.items()
        if part
    ]
    others = parts["the others"]
    if others and ours <= manual:
        confirmed = _mean(pairs, others, 0) <= _mean(pairs, others, 1)
        told[-1] += ", which confirms it" if confirmed else ", so it is not confirmed there"
    return (
        f"**{TITLES[method]}**: {ours:.1f}% on average over {len(compared)} subjects, against {manual:.1f}% of the "
        f"manual band of {BAND[0]:g} to {BAND[1]:g} Hz in the same folds: "
        f"{'at least as good' if ours <= manual else 'worse'} on average, and better for "
        f"{sum(mine < other for mine, other in pairs.values())} of them. {'; '.join(told)}."
    )


def _mean(pairs: dict[str, tuple[float, float]], names: Sequence[str], place: int) -> float:
    return float(np.mean([pairs[name][place] for name in names]))


def _pair(one: dict[tuple[str, str], float], other: dict[tuple[str, str], float]) -> tuple[float, float]:
    """Means over the folds that both have."""
    both = sorted(set(one) & set(other))
    return float(np.mean([one[fold] for fold in both])), float(np.mean([other[fold] for fold in both]))


def _by_fold(rows: list[Row]) -> _Folds:
    found: _Folds = {}
    for row in rows:
        found.setdefault((row["subject"], row["method"]), {})[row["repeat"], row["fold"]] = float(row["error"])
    return found


def limits(rows: list[Row], method: str = "band_prediction") -> str:
    """Quartiles of the limits of the band that was selected, by subject."""
    lines = []
    for subject in subjects(rows):
        details = [row["detail"] for row in rows if (row["subject"], row["method"]) == (subject, method)]
        if details:
            bands = np.array([[float(limit) for limit in detail.split()[0].split("-")] for detail in details])
            lines.append([subject, *(_quartiles(column) for column in bands.T)])
    return markdown(["subject", "lower limit, Hz", "upper limit, Hz"], lines)


def _quartiles(values: np.ndarray) -> str:
    first, middle, third = np.quantile(values, [0.25, 0.5, 0.75], method="nearest")
    return f"{middle:.0f} ({first:.0f} to {third:.0f})"


def channels(rows: list[Row]) -> str:
    """Mean error over the subjects by the number of channels, for each way to choose them; all channels last."""
    found = _by_fold(rows)
    lines = []
    for way, title in _WAY_TITLES.items():
        every = _curve(found, subjects(rows), way)
        if every:
            lines.append([title, *(f"{value:.1f}" for value in every)])
    return markdown(["channels", *map(str, N_CHANNELS), "all"], lines)


def _curve(found: _Folds, names: Sequence[str], way: str) -> list[float]:
    """Errors in the folds of the curve that all numbers have, and those of CSP in the same."""
    methods = [*(f"{way}_{number}" for number in N_CHANNELS), "csp"]
    values = []
    for name in names:
        tables = [found.get((name, method), {}) for method in methods]
        shared = sorted(set.intersection(*(set(table) for table in tables)))
        if shared:
            values.append([np.mean([table[fold] for fold in shared]) for table in tables])
    return [float(value) for value in np.mean(values, axis=0)] if values else []


def n_option_cells(n_subjects: int, n_repeats: int) -> int:
    """Number of cells of these methods."""
    return n_subjects * (len(OPTIONS) * n_repeats + len(WAYS) * len(N_CHANNELS) * CHANNEL_REPEATS)
