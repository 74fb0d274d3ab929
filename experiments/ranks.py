"""Mean ranks of methods by judge, and which of their differences can be told apart."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from experiments.comparison import Summaries
from experiments.judges import JUDGES
from experiments.judges_table import TITLES, Judged, best_distances, compared, mean_ranks
from experiments.markdown import markdown
from experiments.methods import METHODS
from experiments.real import BINARY

#: The method that the others are tested against.
REFERENCE = "prediction"
_LEVEL = 0.05


def critical_difference(n_methods: int, n_sets: int, level: float = _LEVEL) -> float:
    """The least difference of two mean ranks that Nemenyi's test calls significant (Demsar, 2006).

    Examples
    --------
    >>> round(critical_difference(4, 30), 2)
    0.86
    """
    from scipy.stats import studentized_range

    quantile = float(studentized_range.ppf(1 - level, n_methods, np.inf)) / math.sqrt(2)
    return quantile * math.sqrt(n_methods * (n_methods + 1) / (6 * n_sets))


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """p-values corrected for their number by Holm's method.

    Examples
    --------
    >>> holm({"a": 0.01, "b": 0.5, "c": 0.03})
    {'a': 0.03, 'c': 0.06, 'b': 0.5}
    """
    corrected, largest = {}, 0.0
    for place, name in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        largest = max(largest, min(1.0, (len(p_values) - place) * p_values[name]))
        corrected[name] = largest
    return corrected


def against(found: Summaries, methods: Sequence[str], datasets: Sequence[str]) -> dict[str, float]:
    """Holm-corrected p-values of Wilcoxon's signed-rank test of each method against the reference."""
    from scipy.stats import wilcoxon

    def errors(method: str) -> list[float]:
        return [round(found[dataset, method].mean, 6) for dataset in datasets]

    own = np.array(errors(REFERENCE))
    different = [name for name in methods if name != REFERENCE and np.any(own != errors(name))]
    return holm({name: float(wilcoxon(own, errors(name)).pvalue) for name in different})


def alike(ranks: Mapping[str, float], width: float) -> list[list[str]]:
    """The largest groups of methods whose mean ranks differ by less than the width, the best first.

    Examples
    --------
    >>> alike({"a": 1.0, "b": 1.5, "c": 2.2, "d": 5.0}, 1.0)
    [['a', 'b'], ['b', 'c']]
    """
    order = sorted(ranks, key=lambda name: ranks[name])
    groups: list[list[str]] = []
    for start, first in enumerate(order):
        group = [name for name in order[start:] if ranks[name] - ranks[first] < width]
        if len(group) > 1 and (not groups or group[-1] != groups[-1][-1]):
            groups.append(group)
    return groups


def ranks_table(found: Judged) -> str:
    """A line for each method: l2 distance, mean rank and corrected p-value by judge, on the binary sets."""
    columns: list[tuple[str, Mapping[str, float], str]] = []
    for judge in JUDGES:
        there = compared(found[judge], BINARY)
        ranks = mean_ranks(found[judge], there)
        columns += [
            (f"l2 distance, {TITLES[judge]}", best_distances(found[judge], there), ".1f"),
            (f"mean rank, {TITLES[judge]}, {len(there)} sets", ranks, ".1f"),
            ("p", against(found[judge], [*ranks], there) if REFERENCE in ranks else {}, ".3f"),
        ]
    methods = [name for name in METHODS if any(name in figures for _, figures, _ in columns)]
    lines = [
        [METHODS[name].title, *(f"{figures[name]:{form}}" if name in figures else "" for _, figures, form in columns)]
        for name in methods
    ]
    return markdown(["", *(title for title, _, _ in columns)], lines)
