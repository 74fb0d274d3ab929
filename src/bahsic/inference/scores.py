"""HSIC of each feature with the labels, and its p-value."""

from __future__ import annotations

from typing import Any

import numpy as np

from bahsic.arrays import Array, Indices
from bahsic.criteria.weights import check_statistic
from bahsic.data.columns import Columns
from bahsic.data.prepared import prepared
from bahsic.engine import threads
from bahsic.engine.executor import Executor
from bahsic.inference.centred import (
    Permutations,
    draw_permutations,
    factored,
    gamma_test,
    permutation_test,
    unbiased,
)
from bahsic.inference.column_factors import centred_columns, column_chunks, gaussian_factors
from bahsic.inference.independence import centred_labels, check_method, without_labels
from bahsic.kernels import Gaussian, Kernel, LabelKernel, label_kernel
from bahsic.kernels.rows import check_same_length
from bahsic.kernels.vector import kernel_on_features
from bahsic.parameters import check_count, random_source


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
    check_method(method, ("gamma", "permutation"))
    check_count("n_permutations", n_permutations)
    kernel = without_labels(kernel_on_features(kernel, "single features"))
    options = {"standardize": standardize, "categorical_features": categorical_features, "missing": missing}
    options["identifiers"] = identifiers
    data = prepared(X, kernel, **options, whole=True).weighted(None)
    labels = y if isinstance(y, LabelKernel) else label_kernel(y, target_kernel)
    check_same_length(X=data.table.values.shape[0], y=len(labels))
    check_statistic("unbiased", len(labels))
    if labels.vectors is not None:  # check the range of their kernel values; others are evaluated, and checked, anyway
        largest = int(np.abs(labels.vectors).max(axis=1).argmax())
        labels.block(slice(largest, largest + 1), slice(largest, largest + 1))
    labels.warn()
    columns, labels = data.columns, labels if data.order is None else labels.of_samples(data.order)
    permutations = None
    if method == "permutation":
        permutations = draw_permutations(len(labels), n_permutations, random_source(random_state))
    with threads(n_jobs, len(labels)) as executor:
        return scores_of_columns(columns, np.arange(columns.n_features), kernel, labels, permutations, executor)


def scores_of_columns(
    columns: Columns,
    features: Indices,
    kernel: Kernel,
    labels: LabelKernel,
    permutations: Permutations | None,
    executor: Executor,
) -> tuple[Array, Array]:
    """Return the `hsic_scores` of some columns; gamma p-values without permutations."""
    B = None
    if labels.vectors is None and type(labels.kernel) is Gaussian and labels.values.shape[1] == 1:
        B = gaussian_factors(labels.values.T.astype(np.float64), np.array([labels.kernel.gamma], dtype=np.float64))
    B = factored(centred_labels(labels)) if B is None else B

    def score(chunk: Indices) -> tuple[Array, Array]:
        A = centred_columns(columns, features[chunk], kernel, as_matrices=B.factors is None)
        if permutations is None:
            return unbiased(A, B, np.arange(len(labels), dtype=np.int32)[None])[0], gamma_test(A, B)[1]
        values, pvalues = permutation_test(A, B, permutations)
        return values[0], pvalues

    chunks = column_chunks(columns, features, kernel)
    scores, pvalues = np.concatenate(executor.map(score, chunks), axis=1)
    order = np.argsort(np.concatenate(chunks))  # chunks are not in the order of the features
    return scores[order], pvalues[order]
