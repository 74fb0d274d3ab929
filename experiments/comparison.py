"""Means over folds, what is significantly worse than the best, distances to the best, and distances to the paper."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from experiments.paper_table import expected
from experiments.rows import Row

# The paper counts a program that did not finish as an error of 100%.
NOT_FINISHED = 100.0
_LEVEL = 0.05


class Summary(NamedTuple):
    """Mean and standard error of n folds; `finished` is false where there is no result."""

    mean: float
    standard_error: float
    n: int = 10
    finished: bool = True


Summaries = dict[tuple[str, str], Summary]


def summaries(rows: Iterable[Row], n_folds: Mapping[str, int] | int = 10) -> Summaries:
    """Mean and standard error for each data set and method all of whose folds are there.

    Examples
    --------
    >>> rows = [{"dataset": "a", "method": "b", "error": e} for e in ("1", "3")]
    >>> summaries(rows, n_folds=2)
    {('a', 'b'): Summary(mean=2.0, standard_error=1.0, n=2, finished=True)}
    """
    collected: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        collected.setdefault((row["dataset"], row["method"]), []).append(row["error"])
    wanted = {key: n_folds if isinstance(n_folds, int) else n_folds[key[0]] for key in collected}
    return {key: _summary(errors) for key, errors in collected.items() if len(errors) == wanted[key]}


def _summary(errors: list[str]) -> Summary:
    if "" in errors:
        return Summary(NOT_FINISHED, 0.0, len(errors), finished=False)
    values = np.array(errors, dtype=float)
    return Summary(float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values))), len(values))


def paper() -> Summaries:
    """What the paper reports."""
    return {
        (row["dataset"], row["method"]): Summary(
            float(row["error"]), float(row["standard_error"]), finished=row["finished"] == "yes"
        )
        for row in expected("real")
        if row["dataset"] != "l2"
    }


def paper_distances() -> dict[str, float]:
    """The l2 distances that the paper reports."""
    return {row["method"]: float(row["error"]) for row in expected("real") if row["dataset"] == "l2"}


def p_worse(a: Summary, b: Summary) -> float:
    """p-value of Welch's one-sided test that the mean of a is greater than that of b.

    Examples
    --------
    >>> p_worse(Summary(12.0, 1.0), Summary(10.0, 1.0)) < 0.1
    True
    """
    from scipy.stats import t

    variances = a.standard_error**2, b.standard_error**2
    if not sum(variances):
        return 0.0 if a.mean > b.mean else 1.0
    freedom = sum(variances) ** 2 / (variances[0] ** 2 / (a.n - 1) + variances[1] ** 2 / (b.n - 1))
    return float(t.sf((a.mean - b.mean) / math.sqrt(sum(variances)), freedom))


def not_worse(found: Summaries, dataset: str, methods: Iterable[str]) -> set[str]:
    """The best of the methods on a data set, and those not significantly worse than it."""
    there = {method: found[dataset, method] for method in methods if (dataset, method) in found}
    if not there:
        return set()
    best = min(there.values(), key=lambda summary: summary.mean)
    return {name for name, one in there.items() if one.finished and (one == best or p_worse(one, best) >= _LEVEL)}


def l2_distance(found: Summaries, method: str, datasets: Iterable[str], methods: Iterable[str]) -> float:
    """The distance of a method's errors to the best of all the methods, over the data sets."""
    methods = list(methods)
    gaps = [
        found[dataset, method].mean - min(found[dataset, other].mean for other in methods if (dataset, other) in found)
        for dataset in datasets
    ]
    return math.sqrt(sum(gap**2 for gap in gaps))


def chance_distances(
    rows: Iterable[Row], methods: Sequence[str], datasets: Sequence[str], n_draws: int = 1000
) -> dict[str, float]:
    """The l2 distances to be expected if all methods were equally good, so from the noise of the folds alone.

    The errors of each method are moved to the same mean on each data set, and folds are drawn again with replacement,
    the same ones for all methods, which were tried on the same folds.

    Examples
    --------
    >>> rows = [{"dataset": "d", "method": m, "fold": f, "error": e} for m, f, e in ("a01", "a11", "b05", "b15")]
    >>> chance_distances(rows, ["a", "b"], ["d"])
    {'a': 0.0, 'b': 0.0}
    """
    by_fold = {(row["dataset"], row["method"], int(row["fold"])): row["error"] for row in rows}
    n_folds = 1 + max(fold for _, _, fold in by_fold)
    errors = np.array([[[by_fold[d, m, f] for f in range(n_folds)] for m in methods] for d in datasets], dtype=float)
    centred = (errors - errors.mean(axis=2, keepdims=True)) * math.sqrt(n_folds / (n_folds - 1))
    random = np.random.default_rng(0)
    found = np.zeros(len(methods))
    for _ in range(n_draws):
        draw = random.integers(n_folds, size=(len(datasets), 1, n_folds))
        means = np.take_along_axis(centred, draw, axis=2).mean(axis=2)
        found += np.linalg.norm(means - means.min(axis=1, keepdims=True), axis=0)
    return dict(zip(methods, (found / n_draws).tolist(), strict=True))


def standard_difference(ours: Summary, theirs: Summary) -> float:
    """The difference of two means in units of its standard error; 0 where both are equal to a tenth of a percent.

    Examples
    --------
    >>> standard_difference(Summary(10.0, 3.0), Summary(15.0, 4.0))
    -1.0
    """
    error = math.hypot(ours.standard_error, theirs.standard_error)
    difference = ours.mean - theirs.mean
    if abs(difference) < 0.05:
        return 0.0
    return difference / error if error else math.copysign(math.inf, difference)
