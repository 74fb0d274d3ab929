"""Kernel matrices of single columns with missing entries, by the definition and loops; imports nothing of ours.

A missing number stands at the centre of its column, a distance away on an axis of its own, which contributes half of
``neutral`` to D; so does a missing category, whose place in the simplex of the categories is that of none of them.
"""

import math

import numpy as np


def contribution(a, b, *, power, different=0.0, neutral=0.0, centre=0.0, together=False):
    """What two different samples of a column contribute to D."""
    both, one = np.isnan(a) and np.isnan(b), np.isnan(a) != np.isnan(b)
    if both:
        return 0.0 if together else neutral
    if different:
        if one:
            return different if together else (different + neutral) / 2
        return different * float(a != b)
    if one:
        return abs((b if np.isnan(a) else a) - centre) ** power + neutral / 2
    return abs(a - b) ** power


def totals(x, **kind):
    """D of a column, shape (m, m): zero for a sample with itself."""
    return np.array([[0.0 if i == j else contribution(a, b, **kind) for j, b in enumerate(x)] for i, a in enumerate(x)])


def centred(D, gamma, weights=None):
    """Centred kernel matrix; it is accurate also where all kernel values are near one."""
    w = np.ones(len(D)) if weights is None else weights
    A = np.expm1(-gamma * D.astype(np.longdouble))
    A -= (A @ w / w.sum())[:, None]
    return A - w @ A / w.sum()


def alignment(A, B, weights=None):
    """Normalised inner product of two centred matrices."""
    w = np.ones(len(A)) if weights is None else weights
    pairs = np.multiply.outer(w, w)
    return float((pairs * A * B).sum() / np.sqrt((pairs * A * A).sum() * (pairs * B * B).sum()))


def median_gamma(D, power, weights):
    """The rule "median", with each sample as often as its weight says."""
    picks = [i for i, weight in enumerate(weights) for _ in range(int(weight))]
    pairs = [(i, j) for place, i in enumerate(picks) for j in picks[place + 1 :]]
    distances = [D[i, j] ** (1 / power) for i, j in pairs]
    median = np.median(distances)
    if median == 0:
        apart = [r for r in distances if r > 0]
        median = np.median(apart) if apart else 0.0
    return 1 / (2 * median**power) if median else 1.0


def mean_of_pairs(x, power):
    """Mean contribution of two observed numbers."""
    seen = x[~np.isnan(x)]
    return sum(abs(a - b) ** power for a in seen for b in seen) / len(seen) ** 2


def chance_of_difference(x):
    """Chance that two observed categories differ."""
    seen = x[~np.isnan(x)]
    return sum(a != b for a in seen for b in seen) / len(seen) ** 2


def standard_mean(power):
    """Mean contribution of standard normal numbers, which that of categories is made equal to."""
    return 2.0 if power == 2 else 2 / math.sqrt(math.pi)
