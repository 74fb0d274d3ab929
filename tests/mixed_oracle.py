"""Selection from tables of numbers and categories with missing entries, by the definitions and loops; imports nothing
of ours.

A table is a list of columns; a column is a list of entries, None where one is missing; `categorical` says which
columns are categories. Weights are how often each sample counts.
"""

import math

import numpy as np


def repeated(columns, y, weights):
    """The table and labels with each sample as often as its weight says, and the sample that each one copies."""
    picks = [i for i, weight in enumerate(weights) for _ in range(int(weight))]
    return [[column[i] for i in picks] for column in columns], [y[i] for i in picks], picks


def standardised(column):
    """A column of numbers with mean zero and variance one over the entries that are there."""
    seen = [x for x in column if x is not None]
    mean = sum(seen) / len(seen)
    deviation = math.sqrt(sum((x - mean) ** 2 for x in seen) / len(seen))
    return [None if x is None else (x - mean) / (deviation or 1.0) for x in column]


def contribution(column, categorical, power, together):
    """What a column contributes to D, as a function of the entries of two samples."""
    seen = [x for x in column if x is not None]

    def of_observed(x, y):
        if categorical:
            return float(x != y)
        return abs(x - y) ** power

    mean = sum(of_observed(x, y) for x in seen for y in seen) / len(seen) ** 2
    scale = 1.0
    if categorical and mean:
        scale = (2.0 if power == 2 else 2 / math.sqrt(math.pi)) / mean
    centre = None if categorical else sum(seen) / len(seen) if power == 2 else sorted(seen)[(len(seen) - 1) // 2]

    def of_any(x, y):
        """A missing entry is in the centre and half the mean contribution away from it, in its own direction."""
        if not mean:  # a constant column contributes nothing
            return 0.0
        if x is None and y is None:
            return scale * mean * (not together)
        if x is None or y is None:
            x = y if x is None else x
            return scale * (mean / 2 + (0.5 if categorical else of_observed(x, centre)))
        return scale * of_observed(x, y)

    return of_any


def with_missing_values(column, categorical):
    """A column with missing entries as a value of their own where that makes a category; and whether it is one."""
    known = {x for x in column if x is not None}
    if not (categorical or len(known) == 1) or None not in column:
        return column, categorical
    return ["missing" if x is None else str(x) for x in column], True


def as_columns(X):
    """The columns of an array as lists, None for NaN."""
    return [[None if math.isnan(x) else x for x in column] for column in X.T.tolist()]


def totals(columns, categorical, power, samples=None, together=False, standardize=True):
    """What each column contributes to D for all pairs of entries, shape (d, m, m).

    ``samples`` has the same number for copies of one sample, which differ in nothing. ``together``: missing entries
    are one value.
    """
    found = []
    given = list(zip(columns, categorical, strict=True))
    for column, is_category in [with_missing_values(*pair) for pair in given] if together else given:
        entries = list(enumerate(standardised(column) if standardize and not is_category else column))
        of = contribution([x for _, x in entries], is_category, power, together)
        same = samples or range(len(entries))
        found.append([[0.0 if same[i] == same[j] else of(x, y) for j, y in entries] for i, x in entries])
    return np.array(found)


def weights_of_labels(L, statistic):
    """W with HSIC = sum(K * W), by e_uhsic or the biased formula, for a matrix L."""
    m = len(L)
    L = np.array(L, dtype=float)
    if statistic == "biased":
        H = np.eye(m) - 1 / m
        return H @ L @ H / (m - 1) ** 2
    np.fill_diagonal(L, 0.0)
    row = L.sum(axis=1)
    W = L + row.sum() / ((m - 1) * (m - 2)) - (row[:, None] + row) / (m - 2)
    np.fill_diagonal(W, 0.0)
    return W / (m * (m - 3))


def score(D, W, chosen, gamma):
    """<exp(-gamma D_S), W>."""
    return float((np.exp(-gamma * D[sorted(chosen)].sum(axis=0)) * W).sum())


def elimination_scores(D, W, groups, kept, inside):
    """The score that is left when each unit leaves, of those that may."""
    columns = [j for unit in inside for j in groups[unit]]
    gamma = 1 / (2 * len(columns) * (1 - 1 / len(inside)))
    free = [unit for unit in inside if unit not in kept]
    return {unit: score(D, W, [j for j in columns if j not in groups[unit]], gamma) for unit in free}


def selection_scores(D, W, groups, kept, inside):
    """The score that there is when each unit enters, of those outside."""
    outside = [unit for unit in range(len(groups)) if unit not in inside]
    columns = [j for unit in inside for j in groups[unit]]
    added = sum(len(groups[unit]) for unit in outside) / len(outside)
    gamma = 1 / (2 * (len(columns) + added))
    return {unit: score(D, W, columns + list(groups[unit]), gamma) for unit in outside}
