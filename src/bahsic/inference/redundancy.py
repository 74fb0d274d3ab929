"""Redundancy of features: normalised HSIC of each pair of features."""

from __future__ import annotations

from typing import Any

import numpy as np

from bahsic.arrays import Array, Indices, Mask
from bahsic.data.column_choice import Names, column_mask, column_positions
from bahsic.data.columns import Columns
from bahsic.data.prepared import Prepared, prepared
from bahsic.data.tables import column_names, columns_of
from bahsic.inference.centred import CentredMatrices, inner_products
from bahsic.inference.scores import centred_columns, column_chunks
from bahsic.kernels import Gaussian, Kernel
from bahsic.kernels.vector import kernel_on_features

# Entries of the factors or matrices of a group of features, two of which are in memory at a time.
_ENTRIES = 2**24
_TYPICAL_RANK = 20


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
    X : array-like, sparse matrix, dataframe, memmap, zarr or dask array of shape (m, d)
        The data, or what ``bahsic.data.prepared.prepared`` made of them.
    features : str, int or array-like of str, int or bool, optional
        The features to compare: numbers, names in a dataframe, or a mask such as ``support_``. All by default.
    kernel : str, Kernel or callable
        Kernel on a single feature, see `kernel_from_name`. A rule for gamma is evaluated for each feature.
    standardize : bool
        Whether to give each feature zero mean and unit variance first, as the selectors do.
    categorical_features : None, "from_dtype", or array-like of bool, int or str
        The columns of X that are categories, as for `BAHSIC`.
    missing : {"neutral", "indicator", "error"}
        How to treat missing entries, as for `BAHSIC`.
    identifiers : {"drop", "use"}
        Whether columns that look like identifiers count as constant, as for `BAHSIC`.

    Returns
    -------
    ndarray of shape (k, k)
        Symmetric, between 0 (independent in the sample) and 1 (the same up to sign and scale), in the order of
        ``features``. The diagonal is 1. The value of a constant feature with any other is 0.

    Notes
    -----
    With a Gaussian kernel (a delta kernel for categories), the cost is O(k^2 m r^2) time and up to 256 MB, or O(m r) if
    that is more, for kernel matrices of numerical rank r (about 20). Other kernels, for up to 32,000 samples, take
    O(k^2 m^2) time and up to 256 MB, or two m x m matrices. The biased HSIC of independent features is not zero but of
    the order 1 / m.

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
    columns: Columns,
    features: Indices,
    constant: Mask,
    kernel: Kernel,
    others: Indices | None = None,
) -> Array:
    """Return the table of `redundancy` for some columns, with each other or with ``others``."""
    symmetric = others is None
    others = features if others is None else others
    rows, cols = (np.flatnonzero(~constant[chosen]) for chosen in (features, others))
    m = columns.n_samples
    size = max(1, _ENTRIES // (m * (_TYPICAL_RANK if type(kernel) is Gaussian else m)))
    table = np.zeros((len(features), len(others)))
    for i in range(0, len(rows), size):
        left = _pieces(columns, features, rows[i : i + size], kernel)
        for j in range(i if symmetric else 0, len(cols), size):
            right = left if symmetric and j == i else _pieces(columns, others, cols[j : j + size], kernel)
            for at, (places, A) in enumerate(left):
                for other_places, B in right[at:] if left is right else right:
                    norms = np.sqrt(np.multiply.outer(A.squares, B.squares))
                    norms[norms == 0] = 1.0  # a matrix of zeros has no product with any other
                    table[np.ix_(places, other_places)] = cosines = inner_products(A, B) / norms
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
) -> list[tuple[Indices, CentredMatrices]]:
    """Return the centred kernel matrices of a group of features, with their positions in the table."""
    chunks = [positions[chunk] for chunk in column_chunks(columns, features[positions], kernel)]
    return [(chunk, centred_columns(columns, features[chunk], kernel)) for chunk in chunks]


def _positions(features: Any, d: int, names: Names) -> list[int]:
    """Return the numbers of the features in question."""
    if features is None:
        return list(range(d))
    positions = column_positions(features, d, names, "features")
    if not positions:
        raise ValueError(f"features is {features!r}; accepted: one or more columns")
    return positions
