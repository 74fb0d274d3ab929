"""The criterion "prediction" by definition: ridge regression by dense inverses, samples left out one by one.

Imports nothing of ours. `blocks` are arrays of samples that have a regression of their own.
"""

import numpy as np

GRID = [10 ** (-exponent / 2) for exponent in range(2, 9)]
FEW = 16


def indicators(y):
    """One column for each class."""
    return (np.asarray(y)[:, None] == np.unique(y)).astype(float)


def standardised(y):
    y = np.asarray(y, dtype=float)
    y = y[:, None] if y.ndim == 1 else y
    return (y - y.mean(axis=0)) / y.std(axis=0)


def left_out_losses(K, Y, ridge):
    """Squared errors of predicting each sample by ridge regression with intercept on the others, and by their mean.

    The penalty m * ridge is that of all m samples.
    """
    m, losses, baseline = len(K), [], []
    for i in range(m):
        others = np.delete(np.arange(m), i)
        system = np.ones((m, m))
        system[: m - 1, : m - 1] = K[np.ix_(others, others)] + m * ridge * np.eye(m - 1)
        system[m - 1, m - 1] = 0.0
        solution = np.linalg.solve(system, np.vstack([Y[others], np.zeros((1, Y.shape[1]))]))
        losses.append(np.sum((Y[i] - K[i, others] @ solution[:-1] - solution[-1]) ** 2))
        baseline.append(np.sum((Y[i] - Y[others].mean(axis=0)) ** 2))
    return np.array(losses), np.array(baseline)


def regression(K, Y, ridge):
    """A = (HKH + m ridge I)^-1 and B = A HY."""
    m = len(K)
    H = np.eye(m) - 1 / m
    A = np.linalg.inv(H @ K @ H + m * ridge * np.eye(m))
    return A, A @ (H @ Y)


def explained(K, Y, ridge, blocks):
    """1 - sum of m ridge tr(Y'B) over that of tr(Y'HY), over the blocks."""
    missed = total = 0.0
    for b in blocks:
        centred = Y[b] - Y[b].mean(axis=0)
        B = regression(K[np.ix_(b, b)], Y[b], ridge)[1]
        missed += len(b) * ridge * np.sum(centred * B)
        total += np.sum(centred**2)
    return 1 - missed / total


def predictability(K, Y, ridge, blocks):
    """1 - sum of squared leave-one-out residuals over that of predicting the mean of the others."""
    losses = baseline = 0.0
    for b in blocks:
        m, centred = len(b), Y[b] - Y[b].mean(axis=0)
        A, B = regression(K[np.ix_(b, b)], Y[b], ridge)
        residuals = m * ridge * B / (m * ridge * np.diag(A) - 1 / m)[:, None]
        losses += np.sum(residuals**2)
        baseline += np.sum((m / (m - 1) * centred) ** 2)
    return 1 - losses / baseline


def residual_matrix(K, Y, ridge, blocks):
    """BB' m ridge, zero between blocks."""
    W = np.zeros_like(K)
    for b in blocks:
        B = regression(K[np.ix_(b, b)], Y[b], ridge)[1]
        W[np.ix_(b, b)] = len(b) * ridge * B @ B.T
    return W


class Ridge:
    """The choice of the ridge along a search."""

    def __init__(self, ridge):
        self.value = None if ridge == "auto" else ridge
        self.fixed = ridge != "auto"
        self.size = 0

    def renew(self, K, Y, size, blocks, found):
        """Check the ridge that was used in a round, ``found``, and take it over."""
        low, high = sorted((size, self.size))
        if self.fixed or low > 2 / 3 * high:
            assert found == self.value
            return
        near = [i for i, ridge in enumerate(GRID) if self.value is None or abs(np.log10(ridge / self.value)) < 0.51]
        values = {GRID[i]: predictability(K, Y, GRID[i], blocks) for i in near}
        used = min(values, key=lambda ridge: abs(ridge - found))
        assert abs(used - found) < 1e-12
        assert values[used] >= max(values.values()) - 1e-9
        self.value, self.size = found, size


def check_order(values, chosen, copies, tolerance):
    """Assert that the chosen ones are the greatest in order, ties within the tolerance free, copies by their number."""
    left = dict(values)
    for j in chosen:
        assert left[j] >= max(left.values()) - tolerance, (j, left)
        assert j == min(i for i in left if copies[i] == copies[j])
        del left[j]


def check_changes(kernel, Y, W, ridge, inside, candidates, groups, *, size, chosen, copies, blocks):
    """Assert that the chosen units of a round are those of the written rule.

    ``kernel(columns, size)`` is the kernel matrix; first-order changes decide in large subsets, and the candidates'
    own fits in small ones, of the best ones to first order where there are many.
    """
    columns = sorted(j for unit in inside for j in groups[unit])
    K = kernel(columns, size) if columns else np.ones_like(W)
    changed = {
        unit: kernel(sorted(set(columns) ^ set(groups[unit])), size) if set(columns) ^ set(groups[unit]) else None
        for unit in candidates
    }
    first = {unit: np.sum((changed[unit] - K) * W) for unit in candidates}
    scale = max(1e-300, np.abs(list(first.values())).max())
    if len(inside) > FEW:
        check_order(first, chosen, copies, 1e-8 * scale)
        return
    fitted, rest = chosen[:FEW], chosen[FEW:]
    least = sorted(first.values())[-min(FEW, len(first))]
    possible = [unit for unit, value in first.items() if value >= least - 1e-8 * scale]
    check_order({unit: explained(changed[unit], Y, ridge, blocks) for unit in possible}, fitted, copies, 1e-9)
    others = {unit: value for unit, value in first.items() if unit not in fitted}
    check_order(others, rest, copies, 1e-8 * scale)
