"""Promised and fresh R2 as tables of Markdown, and where the promise fails."""

from typing import NamedTuple

import numpy as np

from experiments.honest import CRITERIA, NOISE, PROBLEMS, SAMPLES
from experiments.markdown import markdown
from experiments.rows import Row

_FAR = 0.1  # of R2

Key = tuple[str, str, int, int]


class Means(NamedTuple):
    """Means over the draws of a problem."""

    promised: float
    fresh: float
    best_fresh: float
    number: float
    best_number: float
    found: float
    bias_of_all: float

    @property
    def bias(self) -> float:
        """By how much the promise is too high."""
        return self.promised - self.fresh


def means(rows: list[Row]) -> dict[Key, Means]:
    """Means by criterion, problem, number of samples and of features of noise."""
    collected: dict[Key, list[list[float]]] = {}
    for row in rows:
        key = row["criterion"], row["problem"], int(row["n_samples"]), int(row["n_noise"])
        names = ("promised", "fresh", "best_fresh", "number", "best_number", "found")
        of_all = float(row["promised_of_all"]) - float(row["fresh_of_all"])
        collected.setdefault(key, []).append([*(float(row[name]) for name in names), of_all])
    return {key: Means(*np.mean(values, axis=0).tolist()) for key, values in collected.items()}


def table(rows: list[Row]) -> str:
    """A line for each criterion, problem and number of samples; promised R2, fresh R2 and number of features."""
    found = means(rows)
    lines = [
        [criterion, problem, str(n), *(_cell(found.get((criterion, problem, n, d))) for d in NOISE)]
        for criterion in CRITERIA
        for problem in PROBLEMS
        for n in SAMPLES
        if any((criterion, problem, n, d) in found for d in NOISE)
    ]
    return markdown(["criterion", "problem", "samples", *(f"{d} of noise" for d in NOISE)], lines)


def _cell(one: Means | None) -> str:
    return f"{one.promised:.2f} / {one.fresh:.2f} ({one.number:.1f})" if one else ""


def summary(rows: list[Row]) -> str:
    """Sentences: the bias with all features, the bias at the number of "auto", and where it is large."""
    found = means(rows)
    if not found:
        return ""
    of_all = [one.bias_of_all for one in found.values()]
    real = {key: one for key, one in found.items() if key[1] != "nothing"}
    far = [key for key, one in found.items() if one.bias > _FAR]
    texts = [
        (
            "With all features, where only the ridge was chosen, the promise is too high by "
            f"{np.mean(of_all):.2f} on average over these settings, and by {max(of_all):.2f} in the worst."
        )
    ]
    for criterion in CRITERIA:
        biases = {key[1:]: one.bias for key, one in found.items() if key[0] == criterion}
        if biases:
            worst = max(biases, key=lambda key: biases[key])
            texts.append(
                f"Led by {criterion}, the promise is too high by {np.mean(list(biases.values())):.2f} on average and "
                f"by {biases[worst]:.2f} at worst ({worst[0]}, {worst[1]} samples, {worst[2]} features of noise)."
            )
    texts.append(f"It is too high by more than {_FAR} in {len(far)} of {len(found)} settings{_where(far)}.")
    if real:
        lost = float(np.mean([one.best_fresh - one.fresh for one in real.values()]))
        texts.append(
            f"Where there is something to find, the number that auto takes has {lost:.2f} less fresh R2 on average "
            f"than the best number of the same path."
        )
    return " ".join(texts)


def _where(far: list[Key]) -> str:
    """The most samples at which the promise was far too high, by number of features of noise."""
    most = {d: max((n for _, _, n, noise in far if noise == d), default=0) for d in NOISE}
    parts = [f"up to {n} samples with {d} features of noise" for d, n in most.items() if n]
    return f": {', '.join(parts)}" if parts else ""
