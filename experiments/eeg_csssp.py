"""Common sparse spectral spatial patterns: one sparse FIR filter for all channels (Dornhege et al., 2005)."""

from dataclasses import dataclass

import numpy as np

from experiments.baselines import Array
from experiments.eeg_lags import filtered

N_TAPS = 16
_MOST_STEPS = 100
_TOLERANCE = 1e-5  # of the objective, which is at most one


@dataclass(frozen=True)
class SparseFilter:
    """Taps, the first of which is one, and the objective after each step."""

    taps: Array
    objectives: list[float]


def best_filter(means: Array, penalty: float) -> SparseFilter:
    """The filter with the greater objective of the two that are found for the one class and for the other.

    Parameters
    ----------
    means : ndarray of shape (2, n_taps, n_channels, n_channels)
        Mean of the symmetric lag covariances of each class.
    penalty : float
        C in the objective.
    """
    both = means.sum(axis=0)
    return max((ascent(one, both, penalty) for one in means), key=lambda found: found.objectives[-1])


def ascent(one: Array, both: Array, penalty: float) -> SparseFilter:
    r"""Proximal gradient ascent of the leading generalised eigenvalue minus a penalty.

    .. math:: \max_{b,\; b_0 = 1}\; \max_w \frac{w^\top A(b) w}{w^\top B(b) w} - \frac{C}{T} \sum_{j > 0} |b_j|,

    where A(b) and B(b) are the covariances of one class and the sum of both after the filter b of T taps. It starts
    without a filter, b = (1, 0, ..., 0), and each step raises the objective, so this is a local maximum.

    Parameters
    ----------
    one, both : ndarray of shape (n_taps, n_channels, n_channels)
        Symmetric lag covariances of one class, and of both.
    penalty : float
        C; with a large one there is no filter, which is CSP.

    Notes
    -----
    A step costs a weighted sum of the lag covariances and one eigenvector, whatever the number of trials.
    """
    weight, size = penalty / len(one), 1.0
    taps = np.eye(1, len(one))[0]
    value, slope = leading(one, both, taps)
    objectives = [value]
    for _ in range(_MOST_STEPS):
        while True:
            trial = _shrunk(taps + size * slope, size * weight)
            found, next_slope = leading(one, both, trial)
            objective, moved = found - weight * np.abs(trial[1:]).sum(), float(np.square(trial - taps).sum())
            if objective >= objectives[-1] + 0.1 * moved / size:
                break
            size /= 2
            if moved < 1e-16:  # nowhere to go
                return SparseFilter(taps, objectives)
        taps, slope, size = trial, next_slope, 2 * size
        objectives.append(objective)
        if objectives[-1] - objectives[-2] < _TOLERANCE:
            break
    return SparseFilter(taps, objectives)


def _shrunk(taps: Array, threshold: float) -> Array:
    """All taps but the first, which stays one, nearer to zero."""
    near = np.sign(taps) * np.maximum(np.abs(taps) - threshold, 0.0)
    near[0] = 1.0
    return near


def leading(one: Array, both: Array, taps: Array) -> tuple[float, Array]:
    r"""The greatest generalised eigenvalue of the filtered covariances, and its gradient.

    With its eigenvector w, for which :math:`w^\top B w = 1`, and :math:`g_\tau = w^\top (A_\tau - \lambda B_\tau) w`
    the derivative by :math:`b_k` is :math:`\sum_\tau g_\tau (b_{k+\tau} + b_{k-\tau})`.
    """
    from scipy.linalg import eigh, toeplitz

    last = len(one[0]) - 1
    values, vectors = eigh(filtered(one, taps), filtered(both, taps), subset_by_index=[last, last])
    value, w = float(values[0]), vectors[:, 0]
    g = (one @ w) @ w - value * ((both @ w) @ w)
    return value, toeplitz(g) @ taps + g[0] * taps
