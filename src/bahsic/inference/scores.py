"""HSIC of every single feature with the labels, and its p-value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bahsic.criteria.weights import Matrix, check_statistic
from bahsic.data.columns import Columns
from bahsic.data.prepared import prepared
from bahsic.engine import threads
from bahsic.engine.scorer import kernel_values
from bahsic.inference.centred import (
    CentredMatrices,
    Permutations,
    as_matrix,
    diagonal_products,
    factored,
    from_column,
    from_factors,
    from_matrix,
    products,
    unbiased,
)
from bahsic.inference.column_kernels import kernel_of_column
from bahsic.inference.factors import gaussian_factors, have_factors
from bahsic.inference.independence import centred_labels, check_method, without_labels
from bahsic.inference.null import gamma_test, permutation_test, permutations_of
from bahsic.kernels import Gaussian, Kernel, LabelKernel, label_kernel
from bahsic.kernels.rows import check_same_length
from bahsic.kernels.vector import kernel_on_features
from bahsic.parameters import check_count, random_source

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Entries of the columns whose factors are made at a time: factors have some twenty times as many, which fit the cache.
_CHUNK_ENTRIES = 2**13

# Most samples for which the matrix of a column of numbers is made sooner than its short form.
_SMALL = 128


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
    """HSIC of every single feature with the labels, and its p-value.

    Usable as ``score_func`` of scikit-learn's `SelectKBest`, `SelectFdr`, `SelectFwe` and the like.
    A feature that matters only together with others has a score near zero: see `BAHSIC`.

    Parameters
    ----------
    X : array-like, sparse matrix, dataframe, memmap, zarr or dask array of shape (m, d)
        The data, or what ``bahsic.data.prepared.prepared`` made of them.
    y : array-like of shape (m,) or (m, k), or whatever ``target_kernel`` takes
    kernel, target_kernel
        As for `hsic_test`; ``kernel`` is evaluated on single features.
    standardize, categorical_features, missing, identifiers
        As for `BAHSIC`.
    method : {"gamma", "permutation"}
        As for `hsic_test`; all features share the same permutations.
    n_permutations, random_state, n_jobs
        As for `hsic_test`.

    Returns
    -------
    scores : ndarray of shape (d,)
        Unbiased estimates of HSIC; zero for features that are constant or left out.
    pvalues : ndarray of shape (d,)
        One for these.

    Notes
    -----
    With a Gaussian or Laplacian kernel on the data, also for categories and missing entries, and labels that are
    classes or numbers, the cost is O(d m (log m + r^2)) time and O(m r) memory for kernel matrices of numerical rank r
    (about 20). Other kernels and labels cost O(m^2 d) time and two m x m matrices.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.feature_selection import SelectKBest
    >>> X, y = load_iris(return_X_y=True)
    >>> SelectKBest(hsic_scores, k=2).fit(X, y).get_support()
    array([False, False,  True,  True])
    """
    check_method(method, ("gamma", "permutation"))
    check_count("n_permutations", n_permutations)
    kernel = without_labels(kernel_on_features(kernel, "single features"))
    options = {"standardize": standardize, "categorical_features": categorical_features, "missing": missing}
    options["identifiers"] = identifiers
    data, labels = prepared(X, kernel, **options, whole=True).weighted(None), _labels(y, target_kernel)
    check_same_length(X=data.table.values.shape[0], y=len(labels))
    check_statistic("unbiased", len(labels))
    _check_label_values(labels)
    labels.warn()
    columns, labels = data.columns, labels if data.order is None else labels.of_samples(data.order)
    B = centred_labels(labels)
    B = factored(B) or B
    permutations = None
    if method == "permutation":
        permutations = permutations_of(len(labels), n_permutations, random_source(random_state))
    parts = columns.blocks(max(1, _CHUNK_ENTRIES // len(labels)))
    with threads(n_jobs, len(labels)) as executor:
        found = executor.map(lambda part: _scores(columns, part, kernel, B, permutations), parts)
    scores, pvalues = (np.concatenate(values) for values in zip(*found, strict=True))
    return scores, pvalues


def _labels(y: Any, target_kernel: Any) -> LabelKernel:
    """Labels with their kernel, which may have been made before."""
    return y if isinstance(y, LabelKernel) else label_kernel(y, target_kernel)


def _scores(
    columns: Columns, part: slice, kernel: Kernel, B: CentredMatrices, permutations: Permutations | None
) -> tuple[Array, Array]:
    """Scores and p-values of some features."""
    scores, pvalues = np.empty((2, part.stop - part.start))
    for features, A in _centred_features(columns, np.arange(part.start, part.stop), kernel):
        places = features - part.start
        scores[places], pvalues[places] = _score_and_pvalue(A, B, permutations)
    return scores, pvalues


def _centred_features(columns: Columns, features: Indices, kernel: Kernel) -> Iterator[tuple[Indices, CentredMatrices]]:
    """Yield features and their centred kernel matrices: factors of several at once where there are some."""
    if type(kernel) is Gaussian:
        plain = features[~columns.special[features]]
        XT = columns.rows(plain)
        gammas = np.array([float(kernel.resolved(x[:, None]).gamma) for x in XT])  # type: ignore[arg-type]
        alike = have_factors(XT, gammas)
        if alike.any():
            yield plain[alike], from_factors(*gaussian_factors(XT[alike], gammas[alike]))
            features = np.setdiff1d(features, plain[alike], assume_unique=True)
    for feature in features:
        small = columns.n_samples <= _SMALL and not columns.special[feature]
        short = None if small else kernel_of_column(columns, int(feature), kernel, together=columns.together)
        if short is None:
            yield np.array([feature]), from_matrix(Matrix(kernel_values(columns, np.array([feature]), kernel)))
        else:
            yield np.array([feature]), from_column(short)


def _score_and_pvalue(A: CentredMatrices, B: CentredMatrices, permutations: Permutations | None) -> tuple[Array, Array]:
    if B.factors is None and A.parts:
        A = as_matrix(A)
    identity = np.arange(A.diagonals.shape[1], dtype=np.int32)[None]
    scores = unbiased(A, B, products(A, B), diagonal_products(A, B, identity)[0])
    if permutations is None:
        return scores, gamma_test(A, B)[1]
    return scores, permutation_test(A, B, permutations)[1]


def _check_label_values(labels: LabelKernel) -> None:
    """Raise where the kernel values of vectors leave the range; for other labels they are made, and checked, anyway."""
    if labels.vectors is not None:
        largest = int(np.abs(labels.vectors).max(axis=1).argmax())
        labels.block(slice(largest, largest + 1), slice(largest, largest + 1))
