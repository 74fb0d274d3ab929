"""The criterion "prediction" by definition: ridge regression by dense inverses, samples left out one by one.

Imports nothing of ours. `blocks` are arrays of samples that have a regression of their own; samples that count
several times are repeated.
"""

import math

import numpy as np

GRID = [10 ** (-exponent / 2) for exponent in range(2, 9)]
FEW, FITTED, FITTED_IN_BLOCKS, FIRST_BLOCKS = 16, 8, 4, 2


def random_blocks(m, size, seed):
    """Disjoint random blocks of samples, which differ by one in size at most."""
    return np.array_split(np.random.RandomState(seed).permutation(m), max(1, m // size))


# Features of the labels.


def indicators(y):
    """One column for each class."""
    return (np.asarray(y)[:, None] == np.unique(y)).astype(float)


def standardised(y):
    y = np.asarray(y, dtype=float)
    y = y[:, None] if y.ndim == 1 else y
    return (y - y.mean(axis=0)) / y.std(axis=0)


def factor(L, weights=None):
    """Y with YY' = HLH, by a Cholesky factor with pivots that ends when a millionth of the mean diagonal is left."""
    m = len(L)
    w = np.full(m, 1 / m) if weights is None else np.asarray(weights, dtype=float) / np.sum(weights)
    H = np.eye(m) - np.ones((m, 1)) * w
    rest = H @ L @ H.T
    least = 1e-6 * np.trace(rest) / m
    columns = []
    while len(columns) < m and np.diag(rest).max() > least:
        pivot = np.diag(rest).argmax()
        columns.append(rest[:, pivot] / math.sqrt(rest[pivot, pivot]))
        rest = rest - np.outer(columns[-1], columns[-1])
        rest[pivot] = rest[:, pivot] = 0.0
    return np.stack(columns, axis=1)


# One regression.


def left_out_losses(K, Y, ridge, weights=None):
    """Squared errors of predicting each sample by ridge regression with intercept on the others, and by their mean.

    The penalty m * ridge is that of all m samples. A sample is left out as a whole, whatever its weight.
    """
    w = np.ones(len(K)) if weights is None else np.asarray(weights, dtype=float)
    losses, baseline = [], []
    for i in range(len(K)):
        left = w.copy()
        left[i] = 0.0
        others = np.flatnonzero(left)
        n = len(others)
        system = np.ones((n + 1, n + 1))
        system[:n, :n] = K[np.ix_(others, others)] + w.sum() * ridge * np.diag(1 / left[others])
        system[n, n] = 0.0
        solution = np.linalg.solve(system, np.vstack([Y[others], np.zeros((1, Y.shape[1]))]))
        losses.append(np.sum((Y[i] - K[i, others] @ solution[:-1] - solution[-1]) ** 2))
        baseline.append(np.sum((Y[i] - np.average(Y, axis=0, weights=left)) ** 2))
    return np.array(losses), np.array(baseline)


def regression(K, Y, ridge):
    """A = (HKH + m ridge I)^-1 and B = A HY, without the negative eigenvalues of HKH."""
    m = len(K)
    H = np.eye(m) - 1 / m
    values, V = np.linalg.eigh(H @ K @ H)
    A = V / (np.maximum(values, 0) + m * ridge) @ V.T
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


def losses(K, Y, ridge, blocks):
    """As `left_out_losses`, by the formula for all samples at once, in the order of the blocks."""
    found = []
    for b in blocks:
        m, centred = len(b), Y[b] - Y[b].mean(axis=0)
        A, B = regression(K[np.ix_(b, b)], Y[b], ridge)
        residuals = m * ridge * B / (m * ridge * np.diag(A) - 1 / m)[:, None]
        found.append(np.sum([residuals**2, (m / (m - 1) * centred) ** 2], axis=2))
    return np.concatenate(found, axis=1)


def predictability(K, Y, ridge, blocks, weights=None):
    """1 - sum of squared leave-one-out residuals over that of predicting the mean of the others.

    With weights, K and Y have each sample so many times, and all copies of a sample are left out together.
    """
    if weights is not None:
        first = np.cumsum(weights) - weights
        of_regression, of_mean = left_out_losses(K[np.ix_(first, first)], Y[first], ridge, weights)
        return 1 - weights @ of_regression / (weights @ of_mean)
    of_regression, of_mean = losses(K, Y, ridge, blocks)
    return 1 - of_regression.sum() / of_mean.sum()


def residual_matrix(K, Y, ridge, blocks):
    """BB' m ridge over tr(Y'HY), zero between blocks: the derivative of `explained`."""
    W, total = np.zeros_like(K), 0.0
    for b in blocks:
        B = regression(K[np.ix_(b, b)], Y[b], ridge)[1]
        W[np.ix_(b, b)] = len(b) * ridge * B @ B.T
        total += np.sum((Y[b] - Y[b].mean(axis=0)) ** 2)
    return W / total


# The search.


class Ridge:
    """The choice of the ridge along a search."""

    def __init__(self, ridge, weights=None):
        self.weights = weights
        self.fixed = ridge != "auto"
        self.value = ridge if self.fixed else GRID[0]  # with no feature at all
        self.size = 0

    def check(self, K, Y, size, blocks, found, tolerance):
        """Assert that the ridge of a round, ``found``, is that of the written rule, ties aside, and take it over."""
        low, high = sorted((size, self.size))
        if self.fixed or 3 * low > 2 * high:
            assert found == self.value
            return
        allowed = [ridge for ridge in GRID if not self.size or abs(math.log10(ridge / self.value)) < 0.51]
        values = {ridge: predictability(K, Y, ridge, blocks, self.weights) for ridge in allowed}
        used = min(values, key=lambda ridge: abs(ridge - found))
        assert abs(used - found) < 1e-12
        assert values[used] >= max(values.values()) - tolerance
        self.value, self.size = found, size

    def choose(self, K, Y, size, blocks):
        """Take over the ridge of the written rule for the first fit of a search."""
        if not self.fixed:
            values = {ridge: predictability(K, Y, ridge, blocks, self.weights) for ridge in GRID}
            self.value, self.size = max(values, key=lambda ridge: (round(values[ridge], 9), ridge)), size


def check_order(values, chosen, copies, tolerance):
    """Assert that the chosen ones are the greatest in order, ties within the tolerance free, copies by their number."""
    left = dict(values)
    for j in chosen:
        assert left[j] >= max(left.values()) - tolerance, (j, left)
        assert j == min(i for i in left if copies[i] == copies[j])
        del left[j]


def best_of(values, tolerance, number, chosen, weakest=None):
    """The units of the greatest values; of ties the chosen ones, then those that are least by another value."""
    least = sorted(values.values())[-min(number, len(values))]
    certain = [unit for unit, value in values.items() if value > least + tolerance]
    tied = [unit for unit, value in values.items() if abs(value - least) <= tolerance]
    tied.sort(key=lambda unit: (unit not in chosen, unit if weakest is None else weakest[unit]))
    return certain + tied[: number - len(certain)]


def judging_ridge(n_inside, n_samples):
    """Least ridge of the residuals that judge many features to first order."""
    if n_inside <= FEW:
        return 0.0
    return GRID[0] if n_inside > n_samples else 0.1 / n_inside


def check_changes(K, before, after, Y, ridge, blocks, chosen, *, copies, n_inside, judging=0.0):
    """Assert that the chosen units of a round are those of the written rule.

    ``K`` is the kernel matrix of the subset for its own size, ``before`` that for the changed size, and ``after`` has
    the matrix after the change by each candidate. First-order changes decide in large subsets, by residuals with a
    ridge of at least ``judging``; in small ones the candidates' own fits, of the best ones to first order where there
    are many.
    """
    W = residual_matrix(K, Y, max(ridge, judging), blocks)
    first = {unit: np.sum((matrix - before) * W) for unit, matrix in after.items()}
    tolerance = 1e-8 * max(np.abs(list(first.values())).max(), 1e-300)
    if n_inside > FEW:
        check_order(first, chosen, copies, tolerance)
        return
    leading = best_of(first, tolerance, FITTED if len(blocks) == 1 else FITTED_IN_BLOCKS, chosen)
    with_fits, fitted, rest = leading, chosen[: len(leading)], chosen[len(leading) :]
    # In blocks by leave-one-out, whose formula loses digits where kernel values are large beside the penalty.
    judged, rounding = explained, 1e-9
    if len(blocks) > 1:
        largest = max(np.linalg.norm(matrix, 2) for matrix in after.values())
        judged, rounding = predictability, 1e-5 + 1e-16 * (largest / (min(map(len, blocks)) * ridge)) ** 2
        # The better half in the first blocks is judged by all, and so are copies of these.
        early = {unit: judged(after[unit], Y, ridge, blocks[:FIRST_BLOCKS]) for unit in leading}
        late = {unit: judged(after[unit], Y, ridge, blocks) for unit in leading}
        better = best_of(early, rounding, max(len(fitted), (len(leading) + 1) // 2), chosen, weakest=late)
        leading = [unit for unit in leading if copies[unit] in {copies[other] for other in better}]
    check_order({unit: judged(after[unit], Y, ridge, blocks) for unit in leading}, fitted, copies, rounding)
    check_order({unit: value for unit, value in first.items() if unit not in with_fits}, rest, copies, tolerance)
