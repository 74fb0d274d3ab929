"""HSIC of single features with the labels and with each other, by kernel matrices of single columns as a few factors.

Up to what centring removes, the kernel matrix of a column, Gaussian or delta for categories, is F'F + diag(e), see
ARCHITECTURE.md. A missing number stands at the centre of its column, and on an axis of its own.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from bahsic.arrays import Array, Indices, Mask
from bahsic.criteria.blocks import RULE_SAMPLES, some_samples
from bahsic.criteria.weights import Matrix, check_statistic
from bahsic.data.column_choice import Names, column_mask, column_positions
from bahsic.data.columns import Columns
from bahsic.data.prepared import Prepared, prepared
from bahsic.data.tables import column_names, columns_of
from bahsic.engine import threads
from bahsic.engine.executor import Executor
from bahsic.engine.scorer import kernel_values, resolved_on
from bahsic.inference import centred
from bahsic.inference.independence import centred_labels, without_labels
from bahsic.kernels import Gaussian, Kernel, LabelKernel, label_kernel
from bahsic.kernels.rows import check_same_length
from bahsic.kernels.vector import kernel_on_features
from bahsic.parameters import check_choice, check_count, is_number, random_source

# Entries of the columns whose factors are made at a time: factors have some twenty times as many, which fit the cache.
# Fewer columns of categories, because the squares of their matrices cost O(m c^2).
_CHUNK_ENTRIES, _MAX_CATEGORICAL = 2**13, 16
_MATRIX_ENTRIES = 2**21  # of the matrices of all pairs of samples that are made at a time
_GROUP_ENTRIES, _TYPICAL_RANK = 2**24, 20  # of the factors or matrices of features that are compared: two such groups
_MAX_SAMPLES = 32_000  # beyond which a matrix of all pairs, and a copy, would take over 16 GB


def hsic_scores(  # noqa: PLR0913 - the kernels, the p-values, and how to run it
    X: Any,
    y: Any,
    *,
    kernel: Any = "gaussian",
    target_kernel: Any = "auto",
    standardize: bool = True,
    categorical_features: Any = "from_dtype",
    missing: str = "neutral",
    identifiers: Any = "drop",
    method: str = "gamma",
    n_permutations: int = 999,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> tuple[Array, Array]:
    """Compute HSIC of each single feature with the labels, and its p-value.

    Use it as ``score_func`` of scikit-learn's `SelectKBest`, `SelectFdr` or `SelectFwe`. A feature that matters only
    in combination with others has a score near zero; `BAHSIC` finds it.

    Parameters
    ----------
    X : array-like, sparse matrix, dataframe, memmap, zarr or dask array of shape (m, d)
        The data, or what ``bahsic.data.prepared.prepared`` made of them.
    y : array-like of shape (m,) or (m, k), or whatever ``target_kernel`` takes
    kernel, target_kernel, n_permutations, random_state, n_jobs
        As for `hsic_test`; ``kernel`` is evaluated on single features, which share the same permutations.
    standardize, categorical_features, missing, identifiers
        As for `BAHSIC`.
    method : {"gamma", "permutation"}

    Returns
    -------
    scores : ndarray of shape (d,)
        Unbiased estimates of HSIC; zero for constant and ignored features.
    pvalues : ndarray of shape (d,)
        P-values; one for constant and ignored features.

    Notes
    -----
    With a Gaussian kernel (a delta kernel for categories), and labels that are classes or numbers, the cost is
    O(d m r^2) time and O(m r) memory for kernel matrices of numerical rank r (about 20). Other kernels, for up to
    32,000 samples, and other labels cost O(d m^2) time and a few m x m matrices.

    If x and y both have heavy tails, gamma p-values are too small: for independent lognormal x and Cauchy y, 2.4% of
    them are at most 0.01. Permutations keep the level for any distribution.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.feature_selection import SelectKBest
    >>> X, y = load_iris(return_X_y=True)
    >>> SelectKBest(hsic_scores, k=2).fit(X, y).get_support()
    array([False, False,  True,  True])
    """
    check_choice("method", method, ("gamma", "permutation"))
    check_count("n_permutations", n_permutations)
    kernel = without_labels(kernel_on_features(kernel, "single features"))
    options: Any = {"standardize": standardize, "missing": missing, "identifiers": identifiers, "whole": True}
    data = prepared(X, kernel, categorical_features=categorical_features, **options).weighted(None)
    labels = y if isinstance(y, LabelKernel) else label_kernel(y, target_kernel)
    check_same_length(X=data.table.values.shape[0], y=len(labels))
    check_statistic("unbiased", len(labels), f"there are {len(labels)} samples")
    if labels.vectors is not None:  # check the range of their kernel values; others are evaluated, and checked, anyway
        largest = int(np.abs(labels.vectors).max(axis=1).argmax())
        labels.block(slice(largest, largest + 1), slice(largest, largest + 1))
    labels.warn()
    columns, labels = data.columns, labels if data.order is None else labels.of_samples(data.order)
    permutations = None
    if method == "permutation":
        permutations = centred.draw_permutations(len(labels), n_permutations, random_source(random_state))
    with threads(n_jobs, len(labels)) as executor:
        return scores_of_columns(columns, np.arange(columns.n_features), kernel, labels, permutations, executor)


def scores_of_columns(
    columns: Columns,
    features: Indices,
    kernel: Kernel,
    labels: LabelKernel,
    permutations: centred.Permutations | None,
    executor: Executor,
) -> tuple[Array, Array]:
    """Return the `hsic_scores` of some columns; gamma p-values without permutations."""
    B = None
    if labels.vectors is None and type(labels.kernel) is Gaussian and labels.values.shape[1] == 1:
        B = gaussian_factors(labels.values.T.astype(np.float64), np.array([labels.kernel.gamma], dtype=np.float64))
    B = centred.factored(centred_labels(labels)) if B is None else B

    def score(chunk: Indices) -> tuple[Array, Array]:
        A = centred_columns(columns, features[chunk], kernel, as_matrices=B.factors is None)
        if permutations is None:
            return centred.unbiased(A, B, np.arange(len(labels), dtype=np.int32)[None])[0], centred.gamma_test(A, B)[1]
        values, pvalues = centred.permutation_test(A, B, permutations)
        return values[0], pvalues

    chunks = column_chunks(columns, features, kernel)
    scores, pvalues = np.concatenate(executor.map(score, chunks), axis=1)
    order = np.argsort(np.concatenate(chunks))  # chunks are not in the order of the features
    return scores[order], pvalues[order]


def column_chunks(columns: Columns, features: Indices, kernel: Kernel) -> list[Indices]:
    """Divide the positions of features into chunks for `centred_columns`, of numbers or of categories each."""
    m, categorical = columns.n_samples, columns.different[features] > 0
    size = max(1, _CHUNK_ENTRIES // m if type(kernel) is Gaussian else _MATRIX_ENTRIES // m**2)
    kinds = (np.flatnonzero(~categorical), size), (np.flatnonzero(categorical), min(size, _MAX_CATEGORICAL))
    return [kind[start : start + step] for kind, step in kinds for start in range(0, len(kind), step)]


def centred_columns(
    columns: Columns, features: Indices, kernel: Kernel, *, as_matrices: bool = False
) -> centred.CentredMatrices:
    """Return the centred kernel matrices of a chunk of `column_chunks`, of a Gaussian kernel as factors if possible."""
    if type(kernel) is Gaussian and not as_matrices:
        gammas, X = _gammas(columns, features, kernel), columns.rows(features)
        if columns.different[features].any():
            return _categories(columns, features, gammas, X)
        missing = np.isnan(X)
        X[missing] = 0.0  # the centre
        offsets = missing * (gammas * columns.neutral[features] / 2)[:, None] if missing.any() else None
        factors = gaussian_factors(X, gammas, offsets, together=columns.together)
        if factors is not None:
            return factors
    if columns.n_samples > _MAX_SAMPLES:
        raise ValueError(
            f"X has {columns.n_samples} samples and the kernel on single features is {kernel!r}; accepted for more "
            f"than {_MAX_SAMPLES} samples: a Gaussian kernel that is not much narrower than the features"
        )
    return centred.from_matrices([Matrix(kernel_values(columns, np.array([j]), kernel)) for j in features])


def _gammas(columns: Columns, features: Indices, kernel: Gaussian) -> Array:
    """Evaluate the rule for gamma on each feature."""
    if is_number(kernel.gamma) or kernel.gamma == "dimension":
        return np.full(len(features), kernel.resolved(np.zeros((2, 1))).gamma)
    if columns.special[features].any():  # rules look at all pairs of samples
        columns = columns.of_samples(some_samples(columns.n_samples, RULE_SAMPLES))
    return np.array([float(resolved_on(kernel, columns, np.array([j])).gamma) for j in features])


def gaussian_factors(
    X: Array, gammas: Array, offsets: Array | None = None, *, together: bool = False
) -> centred.CentredMatrices | None:
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
    factors, errors = centred.pivoted_cholesky(diagonals, rows, max_rank)
    if factors.shape[1] == max_rank < m:
        return None
    if own_axes is not None and together:
        factors, own_axes = np.concatenate([factors, np.sqrt(own_axes)[:, None]], axis=1), None
    return centred.from_factors(factors.reshape(-1, m), [factors.shape[1]] * c, errors, own_axes)


def _categories(columns: Columns, features: Indices, gammas: Array, X: Array) -> centred.CentredMatrices:
    """Return the matrices of columns X of categories, whose last level marks the missing entries."""
    missing = np.isnan(X)
    different, neutral = (gammas * values[features] for values in (columns.different, columns.neutral))
    counts = np.nanmax(X, axis=1, initial=-1).astype(np.intp) + 2
    ends = np.cumsum(counts)
    level = np.where(missing, ends[:, None] - 1, X + (ends - counts)[:, None]).astype(np.intp)
    # Kernel values of a missing and of any other category, without what is constant in rows and columns.
    step = np.expm1(-neutral / 2) - np.expm1(-different / 2)
    heights = np.where(missing, step[:, None], np.sqrt(-np.expm1(-different))[:, None])
    excess = missing * -np.expm1(-neutral)[:, None]
    # A level of more than half of the samples is marked by the others, so that rare categories keep their digits.
    frequent = np.bincount(level.ravel(), minlength=int(ends[-1])) > level.shape[1] / 2
    inside = frequent[level]
    own, samples = np.nonzero(~inside)
    flipped = np.flatnonzero(inside.any(axis=1)[own])
    of_frequent = own[flipped], inside.argmax(axis=1)[own[flipped]]
    rows = np.concatenate([level[own, samples], level[of_frequent]])
    values = np.concatenate([heights[own, samples], heights[of_frequent]])
    marked = rows, np.concatenate([samples, samples[flipped]])
    factors = sparse.csr_array((values, marked), shape=(int(ends[-1]), level.shape[1]))
    return centred.from_factors(factors, counts.tolist(), excess=excess)


def redundancy(
    X: Any,
    features: Any = None,
    *,
    kernel: Any = "gaussian",
    standardize: bool = True,
    categorical_features: Any = "from_dtype",
    missing: str = "neutral",
    identifiers: Any = "drop",
) -> Array:
    r"""Compute the normalised HSIC of each pair of features: near 1 for near-duplicates.

    :math:`\mathrm{HSIC}(K_i, K_j) / \sqrt{\mathrm{HSIC}(K_i, K_i) \, \mathrm{HSIC}(K_j, K_j)}` with the biased HSIC and
    the kernel matrix :math:`K_i` of feature i alone: `bahsic.related.cka` of two columns.

    Parameters
    ----------
    X, standardize, categorical_features, missing, identifiers
        As for `hsic_scores`; columns that look like identifiers count as constant.
    features : str, int or array-like of str, int or bool, optional
        The features to compare: numbers, names in a dataframe, or a mask such as ``support_``. All by default.
    kernel : str, Kernel or callable
        Kernel on a single feature, see `kernel_from_name`. A rule for gamma is evaluated for each feature.

    Returns
    -------
    ndarray of shape (k, k)
        Symmetric, from 0 (independent in the sample, or constant) to 1 (the same up to sign and scale), in the order of
        ``features``. The diagonal is 1.

    Notes
    -----
    With a Gaussian kernel (a delta kernel for categories), the cost is O(k^2 m r^2) time and up to 256 MB, or O(m r) if
    that is more, for kernel matrices of numerical rank r (about 20). Other kernels, for up to 32,000 samples, take
    O(k^2 m^2) time and up to 256 MB, or two m x m matrices. The biased HSIC of independent features is of order 1 / m.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 50)
    >>> redundancy(np.column_stack([x, -3 * x, x**2])).round(2)
    array([[1.  , 1.  , 0.34],
           [1.  , 1.  , 0.34],
           [0.34, 0.34, 1.  ]])
    """
    kernel = kernel_on_features(kernel, "single features")
    options: Any = {"standardize": standardize, "missing": missing, "identifiers": identifiers, "whole": True}
    if isinstance(X, Prepared):
        data = prepared(X, kernel, categorical_features=categorical_features, **options).weighted(None)
        chosen = np.array(_positions(features, len(data.constant), data.table.names))
        return similarities(data.columns, chosen, data.constant, kernel)
    X, positions = X if hasattr(X, "shape") else np.asarray(X), None
    if features is not None and len(X.shape) == 2:  # read only these
        d, names = int(X.shape[1]), column_names(X, "X")
        positions = _positions(features, d, names)
        if not isinstance(categorical_features, str | None) or categorical_features not in (None, "from_dtype"):
            categorical_features = column_mask(categorical_features, d, names, "categorical_features")[positions]
        X = columns_of(X, positions)
    data = prepared(X, kernel, categorical_features=categorical_features, labels=positions, **options)
    return similarities(data.columns, np.arange(data.columns.n_features), data.constant, kernel)


def similarities(
    columns: Columns, features: Indices, constant: Mask, kernel: Kernel, others: Indices | None = None
) -> Array:
    """Return the table of `redundancy` for some columns, with each other or with ``others``."""
    symmetric = others is None
    others = features if others is None else others
    rows, cols = (np.flatnonzero(~constant[chosen]) for chosen in (features, others))
    m = columns.n_samples
    size = max(1, _GROUP_ENTRIES // (m * (_TYPICAL_RANK if type(kernel) is Gaussian else m)))
    table = np.zeros((len(features), len(others)))
    for i in range(0, len(rows), size):
        left = _pieces(columns, features, rows[i : i + size], kernel)
        for j in range(i if symmetric else 0, len(cols), size):
            right = left if symmetric and j == i else _pieces(columns, others, cols[j : j + size], kernel)
            for at, (places, A) in enumerate(left):
                for other_places, B in right[at:] if left is right else right:
                    norms = np.sqrt(np.multiply.outer(A.squares, B.squares))
                    norms[norms == 0] = 1.0  # a matrix of zeros has no product with any other
                    table[np.ix_(places, other_places)] = cosines = centred.inner_products(A, B) / norms
                    if symmetric:
                        table[np.ix_(other_places, places)] = cosines.T
    np.clip(table, -1.0, 1.0, out=table)
    table[np.abs(table) < 4 * np.finfo(float).eps] = 0.0  # rounding errors, which may be negative
    if symmetric:
        table = (table + table.T) / 2
        np.fill_diagonal(table, 1.0)
    return table


def _pieces(
    columns: Columns, features: Indices, positions: Indices, kernel: Kernel
) -> list[tuple[Indices, centred.CentredMatrices]]:
    """Return the centred kernel matrices of a group of features, with their positions in the table."""
    chunks = [positions[chunk] for chunk in column_chunks(columns, features[positions], kernel)]
    return [(chunk, centred_columns(columns, features[chunk], kernel)) for chunk in chunks]


def _positions(features: Any, d: int, names: Names) -> list[int]:
    """Return the numbers of the features in question."""
    positions = column_positions(range(d) if features is None else features, d, names, "features")
    if not positions:
        raise ValueError(f"features is {features!r}; accepted: one or more columns")
    return positions
