r"""Kernel matrices of single columns: Gaussian for numbers, delta for categories, as a few factors.

Up to what centring removes, the kernel matrix of a column is F'F + diag(e), so that no m x m matrix is needed.

- **Numbers**: Cholesky factors of :math:`\langle \phi(x) - \phi(c), \phi(x') - \phi(c) \rangle` for the features
  :math:`\phi` of the Gaussian kernel and a point c. This is accurate also where all kernel values are near one.
- **Categories**: :math:`\exp(-\gamma d)` for two different ones and 1 for equal ones is a delta kernel up to a
  constant and a factor. The factors mark the samples of each category.
- **A missing number** stands at the centre of its column, and on an axis of its own, which contributes :math:`c / 2`
  to D. Its row and column of the kernel are those of the centre times :math:`s = \exp(-\gamma c / 2)`, and its diagonal
  entry is :math:`1 - s^2` more than that. If all missing entries count as the same, the axis is one more factor.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse

from bahsic.arrays import Array, Indices
from bahsic.criteria.blocks import RULE_SAMPLES, some_samples
from bahsic.criteria.weights import Matrix
from bahsic.data.columns import Columns
from bahsic.engine.scorer import kernel_values, resolved_on
from bahsic.inference.centred import CentredMatrices, from_factors, from_matrices, pivoted_cholesky
from bahsic.kernels import Gaussian, Kernel
from bahsic.kernels.base import is_number

# Entries of the columns whose factors are made at a time: factors have some twenty times as many, which fit the cache.
# Fewer columns of categories, because the squares of their matrices cost O(m c^2).
_CHUNK_ENTRIES, _MAX_CATEGORICAL = 2**13, 16

# Entries of the matrices of all pairs of samples that are made at a time.
_MATRIX_ENTRIES = 2**21

# Samples beyond which a matrix of all pairs, and a copy, would take over 16 GB.
_MAX_SAMPLES = 32_000


def column_chunks(columns: Columns, features: Indices, kernel: Kernel) -> list[Indices]:
    """Divide the positions of features into chunks for `centred_columns`, of numbers or of categories each."""
    m, categorical = columns.n_samples, columns.different[features] > 0
    size = max(1, _CHUNK_ENTRIES // m if type(kernel) is Gaussian else _MATRIX_ENTRIES // m**2)
    kinds = (np.flatnonzero(~categorical), size), (np.flatnonzero(categorical), min(size, _MAX_CATEGORICAL))
    return [kind[start : start + step] for kind, step in kinds for start in range(0, len(kind), step)]


def centred_columns(
    columns: Columns, features: Indices, kernel: Kernel, *, as_matrices: bool = False
) -> CentredMatrices:
    """Return the centred kernel matrices of a chunk of `column_chunks`; a rule for gamma is evaluated for each column.

    A Gaussian kernel has factors unless ``as_matrices``, at a cost of O(m r^2) for each column of numbers of rank r.
    """
    if type(kernel) is Gaussian and not as_matrices:
        gammas = _gammas(columns, features, kernel)
        factors = (_categories if columns.different[features].any() else _numbers)(columns, features, gammas)
        if factors is not None:
            return factors
    if columns.n_samples > _MAX_SAMPLES:
        raise ValueError(
            f"X has {columns.n_samples} samples and the kernel on single features is {kernel!r}; accepted for more "
            f"than {_MAX_SAMPLES} samples: a Gaussian kernel that is not much narrower than the features"
        )
    return from_matrices([Matrix(kernel_values(columns, np.array([j]), kernel)) for j in features])


def _gammas(columns: Columns, features: Indices, kernel: Gaussian) -> Array:
    """Evaluate the rule for gamma on each feature."""
    if is_number(kernel.gamma) or kernel.gamma == "dimension":
        return np.full(len(features), kernel.resolved(np.zeros((2, 1))).gamma)
    if columns.special[features].any():  # rules look at all pairs of samples
        columns = columns.of_samples(some_samples(columns.n_samples, RULE_SAMPLES))
    return np.array([float(resolved_on(kernel, columns, np.array([j])).gamma) for j in features])


def _numbers(columns: Columns, features: Indices, gammas: Array) -> CentredMatrices | None:
    """Return the matrices of columns of numbers, or None as `gaussian_factors`."""
    X = columns.rows(features)
    missing = np.isnan(X)
    X[missing] = 0.0  # the centre
    offsets = missing * (gammas * columns.neutral[features] / 2)[:, None] if missing.any() else None
    return gaussian_factors(X, gammas, offsets, together=columns.together)


def gaussian_factors(
    X: Array, gammas: Array, offsets: Array | None = None, *, together: bool = False
) -> CentredMatrices | None:
    """Return the centred Gaussian kernel matrices of the c rows of X, which is overwritten; None if the rank is high.

    ``offsets`` (c, m) are what the axes of missing entries contribute to gamma D; with ``together`` they are one axis.
    """
    c, m = X.shape
    X -= X.mean(axis=1, keepdims=True)  # so that zero is the point c
    X *= np.sqrt(gammas)[:, None]
    to_origin = -np.square(X) if offsets is None else -np.square(X) - offsets
    np.expm1(to_origin, out=to_origin)
    own_axes = None if offsets is None else -np.expm1(-2 * offsets)
    each = np.arange(c)

    def rows(pivots: Indices) -> Array:
        values = X - X[each, pivots][:, None]
        np.multiply(values, -values, out=values)
        if offsets is not None:
            values -= offsets + offsets[each, pivots][:, None]
        np.expm1(values, out=values)
        values -= to_origin + to_origin[each, pivots][:, None]
        return values

    max_rank = min(m, 64 + 2 * math.isqrt(m))
    diagonals = -2 * to_origin if own_axes is None else -2 * to_origin - own_axes
    factors, errors = pivoted_cholesky(diagonals, rows, max_rank)
    if factors.shape[1] == max_rank < m:
        return None
    if own_axes is not None and together:
        factors, own_axes = np.concatenate([factors, np.sqrt(own_axes)[:, None]], axis=1), None
    return from_factors(factors.reshape(-1, m), [factors.shape[1]] * c, errors, own_axes)


def _categories(columns: Columns, features: Indices, gammas: Array) -> CentredMatrices:
    """Return the matrices of columns of categories, whose last level marks the missing entries."""
    X = columns.rows(features)
    missing = np.isnan(X)
    different, neutral = (gammas * values[features] for values in (columns.different, columns.neutral))
    counts = np.nanmax(X, axis=1, initial=-1).astype(np.intp) + 2
    ends = np.cumsum(counts)
    level = np.where(missing, ends[:, None] - 1, X + (ends - counts)[:, None]).astype(np.intp)
    # Kernel values of a missing and of any other category, without what is constant in rows and columns.
    step = np.expm1(-neutral / 2) - np.expm1(-different / 2)
    heights = np.where(missing, step[:, None], np.sqrt(-np.expm1(-different))[:, None])
    excess = missing * -np.expm1(-neutral)[:, None] if missing.any() else None
    return from_factors(_indicators(level, heights, int(ends[-1])), counts.tolist(), excess=excess)


def _indicators(level: Indices, heights: Array, n_levels: int) -> sparse.csr_array:
    """Return rows that mark the samples of each level, of a column in each row of ``level``.

    A level of more than half of the samples is marked by the others, so that rare categories keep their digits.
    """
    frequent = np.bincount(level.ravel(), minlength=n_levels) > level.shape[1] / 2
    inside = frequent[level]
    columns, samples = np.nonzero(~inside)
    flipped = np.flatnonzero(inside.any(axis=1)[columns])
    of_frequent = columns[flipped], inside.argmax(axis=1)[columns[flipped]]
    rows = np.concatenate([level[columns, samples], level[of_frequent]])
    values = np.concatenate([heights[columns, samples], heights[of_frequent]])
    samples = np.concatenate([samples, samples[flipped]])
    return sparse.csr_array((values, (rows, samples)), shape=(n_levels, level.shape[1]))
