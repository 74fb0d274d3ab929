"""Checks of columns: copies, uninformative columns, and columns that look like the labels themselves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata

from bahsic.arrays import Array, Indices, Mask
from bahsic.data.columns import Columns, copies
from bahsic.data.entries import ColumnRole, rare_rows
from bahsic.data.prepared import Prepared
from bahsic.inference.scores import hsic_scores
from bahsic.kernels.rows import FloatArray

if TYPE_CHECKING:
    from bahsic.selection.crossfit import CrossFit
    from bahsic.selection.problem import Problem


# Levels at which a column has to depend on the labels by itself: one that hardly varies or has gaps, and a category of
# many levels. Of noise with gaps 1.6 to 2.7% pass a test at 1% by the gamma approximation.
_RARE_LEVEL, _CATEGORY_LEVEL = 0.01, 0.05
_MANY_LEVELS, _MANY_GAPS = 20, 0.5  # number of categories, and share of missing entries, above which a column has many

_SAME = 1e-6  # difference up to which standardised columns are the same
_SOME_ROWS = 40  # that show which columns may hardly vary

# Held-out R2 of one feature from which on it looks like a leak, and the rank correlation of numbers with the labels.
_PREDICTS, _SAME_RANKS = 0.99, 0.9999
# Samples from which on a nearly perfect prediction is no accident, and selected features that are compared with labels.
_FEWEST_SAMPLES, _N_COMPARED = 20, 100


def uninformative(problem: Problem, order: Indices | None) -> tuple[dict[int, str], list[int]]:
    """Return words for columns of a frame that could mislead a search, and those that fail a test by themselves."""
    data, labels, kept = problem.data, problem.labels, problem.kept
    values, counts, m = data.table.values, data.weights, len(labels)
    if not data.table.is_frame or not isinstance(values, np.ndarray):
        return {}, []
    values = values if order is None else values[order]
    together = data.missing == "indicator"
    likely: Iterable[int] = range(values.shape[1])
    if counts is None:  # those of which some rows, evenly spaced, have much the same value
        some = np.sort(values[np.linspace(0, m - 1, min(m, _SOME_ROWS)).astype(np.intp)], axis=0)
        repeated = np.count_nonzero(some[1:] == some[:-1], axis=0) + np.count_nonzero(np.isnan(some), axis=0)
        likely = np.flatnonzero(repeated >= len(some) // 4).tolist()
    found = ((j, rare_rows(values[:, j], counts, missing=together)) for j in likely if not kept[j])
    rare = {j: rows for j, rows in found if rows is not None}
    notes = {j: f"one value in all but {int(rows.sum())} of {m} rows" for j, rows in rare.items()}
    words = _many(problem, values) | {j: f"{note}," for j, note in notes.items()}
    if not words:
        return notes, []
    tested = np.column_stack([rare[j].astype(np.float64) if j in rare else values[:, j] for j in words])
    if counts is not None and np.array_equal(counts, np.round(counts)):
        repeated = np.repeat(np.arange(m), counts.astype(np.intp))
        tested, labels = tested[repeated], labels.of_samples(repeated)
    categories = [at for at, j in enumerate(words) if j not in rare and data.table.categorical[j]]
    _, pvalues = hsic_scores(tested, labels, categorical_features=categories or None, missing="neutral")
    levels = np.full(len(words), _RARE_LEVEL / len(words))
    levels[categories] = _CATEGORY_LEVEL / len(words)
    idle = [j for j, pvalue, level in zip(words, pvalues, levels, strict=True) if pvalue > level]
    return notes | {j: f"{words[j]} unrelated to the target" for j in idle}, idle


def _many(problem: Problem, values: FloatArray) -> dict[int, str]:
    """Return words for columns with many categories or, where regressions judge, with many missing entries.

    A missing entry is unlike any other and so adds to the diagonal of the kernel, as a greater ridge would: a column
    of noise with many of them can help a regression.
    """
    data, kept = problem.data, problem.kept
    categorical, gaps = data.table.categorical, np.zeros(len(kept))
    if data.missing == "neutral" and problem.selector.criterion == "prediction":
        gaps[data.table.missing] = np.isnan(values[:, data.table.missing]).mean(axis=0)
    found = {int(j): f"{gaps[j]:.0%} of the entries missing, and the others" for j in np.flatnonzero(gaps > _MANY_GAPS)}
    levels = ((int(j), len(np.unique(values[:, j]))) for j in np.flatnonzero(categorical))
    found |= {j: f"{n} categories," for j, n in levels if n > _MANY_LEVELS}
    return {j: what for j, what in found.items() if not kept[j] and gaps[j] < 1}


def same_columns(data: Prepared, kept: Mask) -> dict[int, int]:
    """Return the columns that tell the same as another one, with that one: the first, or the first that is kept."""
    columns = data.columns
    if data.table.categorical.any():
        rows = np.array(columns.rows(np.arange(columns.n_features)))
        low, high = (function(rows, axis=1, keepdims=True) for function in (np.fmin.reduce, np.fmax.reduce))
        two = ((rows == low) | (rows == high) | np.isnan(rows)).all(axis=1)
        for j in np.flatnonzero(two | data.table.categorical):
            rows[j] = _in_order_of_appearance(rows[j])
        columns = Columns.plain(rows)
    first = copies(columns, _SAME)
    found: dict[int, int] = {}
    for original in np.flatnonzero(np.bincount(first, minlength=len(first)) > 1):
        alike = np.flatnonzero(first == original)
        if not data.constant[original]:
            stands = int(next(iter(alike[kept[alike]]), original))
            found |= {int(j): stands for j in alike if not kept[j] and j != stands}
    if data.missing != "neutral" or not isinstance(data.columns.data, np.ndarray):
        return found
    numbers = ~data.constant & ~data.table.categorical
    gappy, complete = (np.flatnonzero(numbers & which) for which in (data.table.missing & ~kept, ~data.table.missing))
    return found | _copies_with_gaps(data.columns.data, gappy, complete[~np.isin(complete, list(found))])


def _copies_with_gaps(values: Array, gappy: Indices, complete: Indices) -> dict[int, int]:
    """Return the rows of ``values`` that are the same as a complete one in all entries they have, with that one."""
    found: dict[int, int] = {}
    for j in gappy.tolist():
        known, like = np.flatnonzero(~np.isnan(values[j])), complete
        for some in (known[:_SOME_ROWS], known):  # the first ones rule out nearly all
            X, x = values[np.ix_(like, some)], values[j, some]
            X, x = X - X.mean(axis=1, keepdims=True), x - x.mean()
            like = like[np.abs(X @ x) > (1 - _SAME**2) * np.linalg.norm(X, axis=1) * np.linalg.norm(x)]
        if len(like) and len(known) >= _SOME_ROWS:
            found[j] = int(like[0])
    return found


def _in_order_of_appearance(codes: FloatArray) -> FloatArray:
    """Return codes that count the values in the order in which they appear; missing ones stay missing."""
    known = ~np.isnan(codes)
    _, first, inverse = np.unique(codes[known], return_index=True, return_inverse=True)
    found: FloatArray = np.full(len(codes), np.nan)
    found[known] = np.argsort(np.argsort(first))[inverse]
    return found


def column_roles(problem: Problem) -> tuple[ColumnRole, ...]:
    """Return the role of each column, with the reason for it."""
    roles = problem.data.table.roles(problem.data.constant, problem.data.missing)
    for j, note in problem.notes.items():
        roles[j] = roles[j]._replace(reason=", ".join(filter(None, (roles[j].reason, note))))
    for j, (role, why) in problem.aside.items():
        if not roles[j].left_out:
            roles[j] = roles[j]._replace(role=role, reason=why)
    return tuple(roles)


def leaks(problem: Problem, best: int | None, selected: Mask, judged: CrossFit | None) -> list[int]:
    """Return the selected columns that equal the labels, and the best one if it predicts them nearly perfectly."""
    if len(problem) < _FEWEST_SAMPLES:
        return []
    columns = np.flatnonzero(selected)[:_N_COMPARED]
    suspects = {int(j) for j in columns if _equals_labels(problem, int(j))}
    if best is not None and judged is not None and not problem.kept.any() and 1 in judged.sizes:
        suspects |= {int(best)} if judged.measure(1).predictability >= _PREDICTS else set()
    return sorted(suspects)


def _equals_labels(problem: Problem, column: int) -> bool:
    labels, values = problem.labels, problem.data.table.values
    if not isinstance(values, np.ndarray) or labels.name not in ("binary", "multiclass", "delta", "regression"):
        return False
    x = values[:, column] if problem.data.order is None else values[problem.data.order, column]
    y, known = np.asarray(labels.values, dtype=object if labels.name == "delta" else None).ravel(), ~np.isnan(x)
    if len(y) != len(x) or np.count_nonzero(known) < 3:
        return False
    codes = np.unique(y, return_inverse=True)[1]
    x, y = (np.asarray(values[known], dtype=np.float64) for values in (x, codes))
    if labels.name != "regression":
        return np.array_equal(_in_order_of_appearance(x), _in_order_of_appearance(y))
    ranks = np.corrcoef(rankdata(x), rankdata(y)) if np.ptp(x) and np.ptp(y) else np.zeros((2, 2))
    return bool(abs(ranks[0, 1]) >= _SAME_RANKS)
