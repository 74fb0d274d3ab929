"""The search by definition: one whole kernel matrix for each candidate, no tricks.

Imports nothing of ours. A kernel is a function ``k(X, size)`` of the columns of a subset and of the
size that the parameter rule is for.
"""

import math

import numpy as np
import pytest


def standardised(X):
    """Zero mean, unit variance with ddof 0, zero where a column is constant; and which are constant."""
    X = np.asarray(X, dtype=np.float64)
    constant = np.ptp(X, axis=0) == 0
    centred = X - X.mean(axis=0)
    centred -= centred.mean(axis=0)
    deviation = np.where(constant, 1.0, np.sqrt((centred**2).mean(axis=0)))
    return np.where(constant, 0.0, centred / deviation), constant


def hsic(K, L, statistic):
    """Equation e_uhsic, or the biased estimate of the appendix."""
    m = len(K)
    if statistic == "biased":
        H = np.eye(m) - 1 / m
        return np.sum((H @ K @ H) * L) / (m - 1) ** 2
    K, L = K - np.diag(np.diag(K)), L - np.diag(np.diag(L))
    one = np.ones(m)
    trace = np.sum(K * L)
    product = (one @ K @ one) * (one @ L @ one) / ((m - 1) * (m - 2))
    mixed = 2 / (m - 2) * (one @ K) @ (L @ one)
    return (trace + product - mixed) / (m * (m - 3))


def changes(kernel, X, L, statistic, subset, candidates, leaving):
    """The score after the change by each candidate, and a bound on its rounding error."""
    values, errors = [], []
    for j in candidates:
        changed = [i for i in subset if i != j] if leaving else sorted([*subset, j])
        size = len(subset) - 1 if leaving else len(subset) + 1
        K = kernel(X[:, changed], size)
        values.append(hsic(K, L, statistic))
        errors.append(1e-13 * np.abs(K).max() * np.abs(L).max() * 10)
    return np.array(values), np.array(errors)


def round_size(step, remaining):
    """max(1, floor(step |S|)) for a fraction, the number itself for an int."""
    return min(remaining, max(1, math.floor(step * remaining) if isinstance(step, float) else step))


def check_round(kernel, X, L, statistic, subset, chosen, constant, leaving):
    """Assert that ``chosen`` (in order) is what the definition chooses; ties within rounding are free.

    Exact copies have to come in the order of their indices.
    """
    candidates = (
        [j for j in subset if not constant[j]]
        if leaving
        else [j for j in range(X.shape[1]) if j not in subset and not constant[j]]
    )
    idle = [j for j in range(X.shape[1]) if constant[j] and (j in subset) == leaving]
    if leaving:
        n_idle = min(len(idle), len(chosen))
        assert list(chosen[:n_idle]) == idle[:n_idle]
        chosen = chosen[n_idle:]
    else:
        n_idle = max(0, len(chosen) - len(candidates))
        assert list(chosen[len(chosen) - n_idle :]) == idle[:n_idle]
        chosen = chosen[: len(chosen) - n_idle]
    if leaving and len(subset) == 1:
        return
    scores, errors = changes(kernel, X, L, statistic, subset, candidates, leaving)
    spread = np.ptp(scores) if len(scores) > 1 else 0.0
    score = dict(zip(candidates, scores, strict=True))
    tolerance = errors.max(initial=0.0) + 1e-9 * spread
    left = list(candidates)
    for j in chosen:
        best = max(score[i] for i in left)
        assert score[j] >= best - tolerance, (j, score[j], best, tolerance)
        copies = [i for i in left if np.array_equal(X[:, i], X[:, j])]
        assert j == min(copies)
        left.remove(j)


def check_path(fitted, Z, L, constant, definition, statistic, step, *, leaving):
    """Assert that each round of a fit chooses as the definition does, and records its score."""
    d = Z.shape[1]
    subset = list(range(d)) if leaving else []
    for step_record in fitted.path_:
        chosen = list(step_record.features)
        remaining = len(subset) if leaving else d - len(subset)
        assert len(chosen) == round_size(step, remaining)
        check_round(definition, Z, L, statistic, subset, chosen, constant, leaving)
        before = subset
        subset = [j for j in subset if j not in chosen] if leaving else sorted([*subset, *chosen])
        scored = before if leaving else subset
        K = definition(Z[:, scored], len(scored))
        expected = hsic(K, L, statistic)
        scale = np.abs(K).max() * np.abs(L).max()
        assert step_record.n_features == len(scored)
        assert step_record.hsic == pytest.approx(expected, rel=1e-9, abs=1e-12 * scale)
    assert sorted(fitted.ranking_) == [1] * d
