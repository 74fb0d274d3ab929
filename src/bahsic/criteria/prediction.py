r"""Kernel ridge regression of the labels: label features Y, the record of a fit, the matrix W of its residuals.

The penalised share of explained variance is :math:`1 - \lambda \, \mathrm{tr}(Y'B) / \mathrm{tr}(Y'Y)` with
:math:`B = (HKH + \lambda I)^{-1} Y` and :math:`\lambda = m \varepsilon`; its derivative with respect to K is
proportional to BB', so to first order a feature is judged by its dependence on the residuals :math:`\lambda B`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import lapack

from bahsic.arrays import Array, Indices
from bahsic.criteria.weights import Weights
from bahsic.kernels import LabelKernel
from bahsic.kernels.labels.outputs import OutputSum, standardised
from bahsic.kernels.rows import FloatArray

# Ridges that "auto" chooses from: half decades. Smaller ones interpolate, larger ones predict the mean.
RIDGES = tuple(10.0 ** (-exponent / 2) for exponent in range(2, 9))
_JUDGING = 0.1  # least ridge of the residuals that judge to first order, times the number of features

NOT_DEFINITE = (
    "kernel is not positive definite on these samples; accepted with criterion='prediction' or "
    "n_features_to_select='auto': a kernel that is, such as 'gaussian', or a greater ridge"
)

CLEARLY = 1.645  # standard errors by which a mean has to exceed zero: a one-sided test at 5%
_LABEL_TOLERANCE = 1e-6  # part of the variance that the factor of a label kernel may leave out


def label_features(labels: LabelKernel, sample_weight: FloatArray | None = None) -> Array:
    """Return the features Y (m, c) of the labels, whose inner products are the centred kernel to be predicted."""
    w = np.ones(len(labels)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if labels.name in ("binary", "multiclass", "delta"):
        codes = np.unique(labels.values, axis=0, return_inverse=True)[1].ravel()
        columns = np.eye(int(codes.max()) + 1)
        Y = np.ascontiguousarray((columns[:, 1:] if len(columns) == 2 else columns)[codes])
    elif labels.name == "regression":
        Y = np.asarray(standardised(labels.values, w))
    elif isinstance(labels.kernel, OutputSum):
        n_numbers = len(labels.kernel.scales)  # with the variance one over all samples, as the vectors of classes have
        numbers = standardised(labels.values[:, :n_numbers], w) / math.sqrt(w.sum())
        Y = np.column_stack([numbers, labels.values[:, n_numbers:]])
    elif labels.vectors is not None:
        Y = np.array(labels.vectors, dtype=np.float64)
    else:
        Y = _factor(np.asarray(labels.gram(), dtype=np.float64), w)
    Y -= w @ Y / w.sum()
    return Y


def judging_ridge(n_features: int, n_samples: int) -> float:
    """Return the least ridge of the residuals that judge n features to first order."""
    # One of n features is about 1/n of the kernel. Where the ridge is much smaller, the fit follows each feature so
    # closely that the residuals hardly depend on it any more, and the first-order change says little of what is lost
    # without it. With more features than samples the coefficients of a close fit are noise.
    return float(RIDGES[0]) if n_features > n_samples else _JUDGING / n_features


def _factor(L: Array, w: Array) -> Array:
    """Return Y with YY' = HLH up to a small part of its trace, by a Cholesky factor with pivoting."""
    shift = L @ (w / w.sum())
    L -= shift[:, None] + shift - w @ shift / w.sum()
    tolerance = _LABEL_TOLERANCE * max(float(np.trace(L)), 0.0) / len(L)
    if tolerance == 0:
        return np.zeros((len(L), 1))
    factor, pivots, rank, _ = lapack.dpstrf(L, tol=tolerance, lower=1)
    Y = np.zeros((len(L), rank))
    Y[pivots - 1] = np.tril(factor)[:, :rank]
    return Y


@dataclass(frozen=True, eq=False)
class RidgeFit:
    """Kernel ridge regression of the label features on a subset of the features."""

    ridge: float
    explained: float  # penalised share of the variance of Y that is explained, between 0 and 1
    quadratic: float  # <K, QQ'>
    # Residuals (m, c), scaled so that QQ' is the derivative of `explained` with respect to K; with a greater ridge
    # where these judge many features, see `judging_ridge`.
    Q: Array
    coefficients: Array  # of the kernel functions of the samples (m, c), which predict others up to the intercept
    baseline: Array  # squared leave-one-out residual of each sample where the mean is predicted
    losses: Array | None = None  # the same of the regression, where they were asked for
    sample_weight: FloatArray | None = None

    @property
    def predictability(self) -> float:
        r"""Leave-one-out :math:`R^2`: one minus the sum of the losses over that of the baseline; 0 for constant Y."""
        if self.losses is None:
            raise ValueError("losses is None; accepted: a fit with leave-one-out losses")
        total = np.average(self.baseline, weights=self.sample_weight)
        return float(1 - np.average(self.losses, weights=self.sample_weight) / total) if total > 0 else 0.0

    def at_most(self, change: Array) -> Array:
        r"""Bound changes of ``explained``, given first-order changes :math:`\delta` of it.

        With the changed kernel :math:`\tilde K` and any Z,
        :math:`\mathrm{tr}(Y' \tilde A Y) \geq 2 \mathrm{tr}(Y'Z) - \mathrm{tr}(Z'(\tilde K_c + \lambda I)Z)`. The best
        multiple of B as Z gives :math:`u \delta / (u + \delta)` for the unexplained share u.
        """
        missed = 1 - self.explained
        least = max(1e-12 * missed, 1e-300)  # the sum is positive but for rounding errors
        return np.asarray(missed * change / np.maximum(missed + change, least))


def mean_error(values: Array, sample_weight: FloatArray | None = None) -> float:
    """Return the standard error of a weighted mean of independent values."""
    w = np.ones(len(values)) if sample_weight is None else sample_weight
    w, m = w / w.sum(), len(values)
    return math.sqrt(float(np.square(w * (values - w @ values)).sum()) * m / max(m - 1, 1))


@dataclass(frozen=True, eq=False)
class ResidualWeights(Weights):
    """The matrix W = QQ' that first-order changes of ``explained`` are linear in K with; zero between blocks."""

    Q: Array
    starts: tuple[int, ...] = (0,)  # first sample of each block

    sample_weight = None  # in Q already

    def __len__(self) -> int:
        return len(self.Q)

    @cached_property
    def _blocks(self) -> Indices:
        """The block of each sample."""
        return np.searchsorted(self.starts, np.arange(len(self.Q)), side="right")

    def block(self, rows: slice, cols: slice) -> Array:
        W: Array = self.Q[rows] @ self.Q[cols].T
        if len(self.starts) > 1:
            W *= np.equal.outer(self._blocks[rows], self._blocks[cols])
        return W

    def of_samples(self, samples: Indices) -> ResidualWeights:
        return ResidualWeights(self.Q[samples])
