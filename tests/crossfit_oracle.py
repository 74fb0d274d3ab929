"""Cross-fitting by definition: a search by brute force on each training part, ridge regression by `np.linalg.solve`.

Imports nothing of ours. Tables are as in `mixed_oracle`; samples that count several times are repeated.
"""

import math

import numpy as np

import mixed_oracle
from brute_force import hsic
from prediction_oracle import explained


def contributions(columns, categorical, power, train):
    """What each column contributes to D for all pairs of samples, shape (d, m, m), in the units of some samples."""
    found = []
    for column, is_category in zip(columns, categorical, strict=True):
        own = [column[i] for i in train if column[i] is not None]
        mean = 0.0 if is_category else sum(own) / len(own)
        deviation = 1.0 if is_category else math.sqrt(sum((x - mean) ** 2 for x in own) / len(own))
        z = [x if x is None or is_category else (x - mean) / deviation for x in column]
        of = mixed_oracle.contribution([z[i] for i in train], is_category, power, together=False)
        found.append([[0.0 if i == j else of(x, y) for j, y in enumerate(z)] for i, x in enumerate(z)])
    return np.array(found)


def eliminated(D, L, Y, groups, kept, ridge):
    """Units in the order of backward elimination one at a time, the best first: by HSIC, or by what is explained."""
    inside, leaving = list(range(len(groups))), []
    everyone = [np.arange(len(Y))]
    while len(inside) > len(kept):
        size = sum(len(groups[unit]) for unit in inside) * (1 - 1 / len(inside)) or 1
        values = {}
        for unit in (one for one in inside if one not in kept):
            columns = [j for other in inside if other != unit for j in groups[other]]
            K = np.exp(-D[columns].sum(axis=0) / (2 * size))
            values[unit] = hsic(K, L, "unbiased") if ridge is None else explained(K, Y, ridge, everyone)
        leaving.append(max(values, key=values.get))
        inside.remove(leaving[-1])
    return [*inside, *leaving[::-1]]


def predicted(K, cross, Y, ridge):
    """Ridge regression with intercept, for other samples."""
    n = len(K)
    system = np.ones((n + 1, n + 1))
    system[:n, :n] = K + n * ridge * np.eye(n)
    system[n, n] = 0.0
    solution = np.linalg.solve(system, np.vstack([Y, np.zeros((1, Y.shape[1]))]))
    return cross @ solution[:-1] + solution[-1]


def cross_fit(columns, categorical, labels, Y, splits, *, weights, power, groups, kept, criterion, ridge):
    """Mean losses of the test samples for each number of units, 0 included, and the order of the units in each fold.

    ``labels`` gives the kernel matrix of the labels of some samples.
    """
    m, sizes = len(Y), range(len(groups) + 1)
    losses, times, orders = np.zeros((len(sizes), m)), np.zeros(m), []
    for train, test in splits:
        own = np.repeat(train, weights[train])
        D = contributions(columns, categorical, power, own)
        inner = D[:, own[:, None], own]
        order = eliminated(inner, labels(own), Y[own], groups, kept, ridge if criterion == "prediction" else None)
        for size in sizes:
            chosen = [j for unit in order[:size] for j in groups[unit]]
            guess = np.repeat([Y[own].mean(axis=0)], len(test), axis=0)
            if size:
                parts = (inner, D[:, test[:, None], own])
                K, cross = (np.exp(-part[chosen].sum(axis=0) / (2 * len(chosen))) for part in parts)
                guess = predicted(K, cross, Y[own], ridge)
            losses[size, test] += np.sum((Y[test] - guess) ** 2, axis=1)
        times[test] += 1
        orders.append(order)
    judged = times > 0
    return losses[:, judged] / times[judged], judged, orders


def stratified_folds(y, n_folds):
    """Samples in a fixed random order, sorted by their label, dealt to the folds in turn.

    Classes come in the order in which they appear, numbers by size.
    """
    order = np.random.default_rng(0).permutation(len(y)).tolist()
    labels = [tuple(np.atleast_1d(value).tolist()) for value in y]
    if np.asarray(y).dtype.kind == "f":
        order.sort(key=lambda i: labels[i])
    else:
        appeared = list(dict.fromkeys(labels[i] for i in order))
        order.sort(key=lambda i: appeared.index(labels[i]))
    tests = [np.sort(order[first::n_folds]) for first in range(n_folds)]
    return [(np.setdiff1d(np.arange(len(y)), test), test) for test in tests]


def standard_error(values, weights):
    """Of a weighted mean of independent values."""
    w, m = weights / weights.sum(), len(values)
    return math.sqrt(np.sum(w**2 * (values - w @ values) ** 2) * m / (m - 1))


def smallest(losses, weights, sizes, n_splits):
    """Smallest size whose mean loss is within one standard error of the least, and R^2 1.645 of its own above zero.

    With a single split, the error of the difference counts.
    """
    means = {size: np.average(losses[size], weights=weights) for size in sizes}
    best = min(sizes, key=lambda size: (means[size], size))
    errors = [standard_error(losses[best] - (losses[size] if n_splits == 1 else 0), weights) for size in sizes]
    found = min(size for size, error in zip(sizes, errors, strict=True) if means[size] <= means[best] + error)
    ratio = means[found] / means[0]
    return found if (1 - ratio) * means[0] > 1.645 * standard_error(losses[found] - ratio * losses[0], weights) else 0
