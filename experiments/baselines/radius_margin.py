"""R2W2: scales of features by the gradient of the radius-margin bound (Weston et al. 2000, Chapelle et al. 2002)."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.baselines import Array, Order, Problem, by_score

# Of the soft margin: 1/C is added to the diagonal of the kernel, as in Chapelle et al.
_C = 100.0
_STEPS = 30


class Bound(NamedTuple):
    """The bound R^2 |w|^2 on the leave-one-out error, and its gradient in the scales."""

    value: float
    gradient: Array


def radius_margin(X: Array, signs: Array, scale: Array) -> Bound:
    """R^2 |w|^2 for K = exp(-|s (x - x')|^2 / (2 d)) + I/C, and its derivatives by the scales s.

    |w|^2 = 2 sum(a) - (a y)'K(a y) at the optimum of a support vector machine without errors, R^2 = sum(b K_ii) - b'Kb
    at that of the smallest ball, which for a constant diagonal is a one-class machine. Both optima are stationary, so
    only K moves: d|w|^2 = -(a y)'dK(a y), dR^2 = -b'dK b.
    """
    from scipy.spatial.distance import cdist
    from sklearn.svm import SVC, OneClassSVM

    m, d = X.shape
    K = np.exp(-cdist(X * scale, X * scale, "sqeuclidean") / (2 * d))
    ridged = K + np.eye(m) / _C
    signed = np.zeros(m)
    machine = SVC(C=1e10, kernel="precomputed", tol=1e-4).fit(ridged, signs)
    signed[machine.support_] = machine.dual_coef_[0]
    ball = OneClassSVM(nu=1 / m, kernel="precomputed", tol=1e-6).fit(ridged)
    weights = np.zeros(m)
    weights[ball.support_] = ball.dual_coef_[0] / ball.dual_coef_.sum()
    length = 2 * np.abs(signed).sum() - signed @ ridged @ signed
    radius = 1 + 1 / _C - weights @ ridged @ weights
    factors = np.outer(signed, signed) * K * radius + np.outer(weights, weights) * K * length
    return Bound(radius * length, scale / d * _spread(X, factors))


def _spread(X: Array, factors: Array) -> Array:
    """Sum over pairs of factors_ab (x_a - x_b)^2, for each feature."""
    spread: Array = 2 * (factors.sum(axis=1) @ np.square(X) - np.einsum("ij,ij->j", X, factors @ X))
    return spread


def r2w2(X: Array, y: NDArray[Any], problem: Problem) -> Order:
    """Features by their scale, after gradient descent on log(R^2 |w|^2); for two classes.

    The scales begin at one and stay in [0, inf); each step goes down the gradient of the logarithm, twice as far
    after a success and half as far after a failure.
    """
    signs = np.where(y == y.max(), 1.0, -1.0)
    scale = np.ones(X.shape[1])
    bound = radius_margin(X, signs, scale)
    pace = 0.1
    for _ in range(_STEPS):
        direction = bound.gradient / np.abs(bound.gradient).max()
        trial = np.maximum(scale - pace * direction, 0.0)
        found = radius_margin(X, signs, trial)
        if found.value < bound.value:
            scale, bound, pace = trial, found, 2 * pace
        else:
            pace /= 2
    return by_score(scale)
