"""Features that look like the labels themselves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from bahsic.data.levels import in_order_of_appearance
from bahsic.selection.crossfit import CrossFit
from bahsic.selection.problem import Problem

# Held-out R2 of one feature from which on it looks like a leak, and the rank correlation of numbers with the labels.
_PREDICTS, _SAME_RANKS = 0.99, 0.9999

# Samples from which on a nearly perfect prediction is no accident.
_FEWEST_SAMPLES = 20

# Selected features that are compared with the labels.
_MOST = 100


def leaks(problem: Problem, best: int | None, selected: NDArray[np.bool_], judged: CrossFit | None) -> list[int]:
    """Return the selected columns that equal the labels but for names or a scale, or predict them nearly perfectly.

    Parameters
    ----------
    problem : Problem
    best : int or None
        The column that the search ranks first; None with groups.
    selected : ndarray of bool of shape (n_features,)
    judged : CrossFit, optional
        Tells how well the best unit predicts by itself.
    """
    if len(problem) < _FEWEST_SAMPLES:
        return []
    columns = np.flatnonzero(selected)[:_MOST]
    found = {int(j) for j in columns if _is_copy(problem, int(j))}
    if best is not None and judged is not None and not problem.kept.any() and 1 in judged.sizes:
        found |= {int(best)} if judged.measure(1).predictability >= _PREDICTS else set()
    return sorted(found)


def _is_copy(problem: Problem, column: int) -> bool:
    labels, values = problem.labels, problem.data.table.values
    if not isinstance(values, np.ndarray) or labels.name not in ("binary", "multiclass", "delta", "regression"):
        return False
    x = values[:, column] if problem.data.order is None else values[problem.data.order, column]
    y, known = np.asarray(labels.values, dtype=object if labels.name == "delta" else None).ravel(), ~np.isnan(x)
    if len(y) != len(x) or np.count_nonzero(known) < 3:
        return False
    codes = np.unique(y, return_inverse=True)[1]
    x, y = (np.asarray(one[known], dtype=np.float64) for one in (x, codes))
    if labels.name != "regression":
        return np.array_equal(in_order_of_appearance(x), in_order_of_appearance(y))
    ranks = np.corrcoef(rankdata(x), rankdata(y)) if np.ptp(x) and np.ptp(y) else np.zeros((2, 2))
    return bool(abs(ranks[0, 1]) >= _SAME_RANKS)
