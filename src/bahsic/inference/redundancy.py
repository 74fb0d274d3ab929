"""Redundancy of features: normalised HSIC of each pair of features."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bahsic.criteria.weights import Matrix, centred
from bahsic.data.column_choice import Names, column_mask, column_positions
from bahsic.data.columns import Columns
from bahsic.data.prepared import Prepared, prepared
from bahsic.data.tables import column_names, columns_of
from bahsic.engine.scorer import kernel_values
from bahsic.inference.column_kernels import ColumnKernel, Part, centred_column, kernel_of_column, part_product
from bahsic.inference.factors import gaussian_factors, have_factors
from bahsic.kernels import Gaussian, Kernel, Laplacian
from bahsic.kernels.rows import scaled_by_power_of_two
from bahsic.kernels.vector import kernel_on_features

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Piece = TypeVar("Piece")

# Entries of the columns whose factors are made at a time: factors have some twenty times as many, which fit the cache.
_CHUNK_ENTRIES = 2**13

# Entries of the matrices that are kept at a time, for kernels without factors.
_MATRIX_ENTRIES = 2**24

# Typical number of factors of a feature; and the most samples, beyond which two m x m matrices take over 16 GB.
_TYPICAL_RANK = 20
_MOST_SAMPLES = 32_000


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
    r"""Normalised HSIC of each pair of single features, which is near 1 for near copies.

    :math:`\mathrm{HSIC}(K_i, K_j) / \sqrt{\mathrm{HSIC}(K_i, K_i) \, \mathrm{HSIC}(K_j, K_j)}` with the biased HSIC and
    the kernel matrix :math:`K_i` of feature i alone: `bahsic.related.cka` of two columns.

    Parameters
    ----------
    X : array-like, sparse matrix, dataframe, memmap, zarr or dask array of shape (m, d)
        The data, or what ``bahsic.data.prepared.prepared`` made of them.
    features : str, int or array-like of str, int or bool, optional
        The features to compare: their numbers, their names in a dataframe, or a mask such as ``support_`` of a
        selector. All by default.
    kernel : str, Kernel or callable
        On a single feature, see `kernel_from_name`. A rule for gamma is evaluated for each feature.
    standardize : bool
        Whether to give each feature zero mean and unit variance first, as the selectors do.
    categorical_features : None, "from_dtype", or array-like of bool, int or str
        The columns of X that are categories, as for `BAHSIC`.
    missing : {"neutral", "indicator", "error"}
        What missing entries are, as for `BAHSIC`.
    identifiers : {"drop", "use"}
        Whether columns that only name the samples count as constant, as for `BAHSIC`.

    Returns
    -------
    ndarray of shape (k, k)
        Symmetric, between 0 (independent in the sample) and 1 (the same up to sign and scale), in the order of
        ``features``. The diagonal is 1. The value of a constant feature with any other is 0.

    Notes
    -----
    With a Gaussian kernel the cost is O(k^2 m r^2) time and up to 256 MB, or O(m r) if that is more, for kernel
    matrices of numerical rank r (about 20). Categories and missing entries need no more, and a Laplacian kernel takes
    O(k^2 m log(m)^2) time. Other kernels take O(k^2 m^2) time and up to 256 MB, or two m x m matrices. The biased HSIC
    of independent features is not zero but of the order 1 / m.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 50)
    >>> redundancy(np.column_stack([x, -3 * x, x**2])).round(2)
    array([[1.  , 1.  , 0.34],
           [1.  , 1.  , 0.34],
           [0.34, 0.34, 1.  ]])
    """
    found = kernel_on_features(kernel, "single features")
    options: Any = {"standardize": standardize, "missing": missing, "identifiers": identifiers, "whole": True}
    if isinstance(X, Prepared):
        data = prepared(X, found, categorical_features=categorical_features, **options).weighted(None)
        chosen = np.array(_positions(features, len(data.constant), data.names))
        return similarities(data.columns, chosen, data.constant, found)
    some, categorical, positions = _chosen(X if hasattr(X, "shape") else np.asarray(X), features, categorical_features)
    data = prepared(some, found, categorical_features=categorical, labels=positions, **options)
    return similarities(data.columns, np.arange(data.columns.n_features), data.constant, found)


def similarities(
    columns: Columns,
    features: Indices,
    constant: NDArray[np.bool_],
    kernel: Kernel,
    weights: NDArray[Any] | None = None,
    n_rows: int | None = None,
) -> Array:
    """Table of `redundancy` for some columns of a search, or its first rows; weights are frequencies of the samples."""
    w = np.ones(columns.n_samples) if weights is None else np.asarray(weights, dtype=np.float64)
    found = np.eye(len(features) if n_rows is None else n_rows, len(features))
    varied = np.flatnonzero(~constant[features])
    rows = varied[varied < len(found)]
    if len(varied) > 1 and len(rows):
        found[np.ix_(rows, varied)] = _cosines(columns, features[varied], kernel, w, len(rows))
    return found


def _chosen(X: Any, features: Any, categorical_features: Any) -> tuple[Any, Any, Any]:
    """The chosen columns of X, which of them are categories, and their numbers."""
    if features is None or len(X.shape) != 2:
        return X, categorical_features, None
    d, names = int(X.shape[1]), column_names(X, "X")
    positions = _positions(features, d, names)
    if categorical_features is not None and not (
        isinstance(categorical_features, str) and categorical_features == "from_dtype"
    ):
        categorical_features = column_mask(categorical_features, d, names, "categorical_features")[positions]
    return columns_of(X, positions), categorical_features, positions


def _positions(features: Any, d: int, names: Names) -> list[int]:
    """The features in question, by their numbers."""
    if features is None:
        return list(range(d))
    positions = column_positions(features, d, names, "features")
    if not positions:
        raise ValueError(f"features is {features!r}; accepted: one or more columns")
    return positions


def _cosines(columns: Columns, features: Indices, kernel: Kernel, w: Array, n_rows: int) -> Array:
    """Normalised inner products of the centred kernel matrices of columns that vary: the first rows of their table."""
    found = _of_plain_columns(columns, features, kernel, w, n_rows)
    if found is None and type(kernel) in (Gaussian, Laplacian):
        found = _of_any_columns(columns, features, kernel, w, n_rows)
    return _of_matrices(columns, features, kernel, w, n_rows) if found is None else found


def _of_plain_columns(columns: Columns, features: Indices, kernel: Kernel, w: Array, n_rows: int) -> Array | None:
    """Table for complete numbers with factors that are made, and fit into memory, together."""
    k, m = len(features), columns.n_samples
    too_many = k * m * _TYPICAL_RANK > _MATRIX_ENTRIES
    if type(kernel) is not Gaussian or columns.special[features].any() or too_many:
        return None
    XT = columns.rows(features)
    gammas = np.array([float(kernel.resolved(x[:, None], None, w).gamma) for x in XT])  # type: ignore[arg-type]
    if not have_factors(XT, gammas).all():
        return None
    chunks = _slices(k, max(1, _CHUNK_ENTRIES // m), n_rows)
    factors = [_unit_factors(XT[chunk], gammas[chunk], w) for chunk in chunks]
    return _table(chunks, factors.__getitem__, _squared_products, n_rows)


def _of_any_columns(columns: Columns, features: Indices, kernel: Kernel, w: Array, n_rows: int) -> Array | None:
    """Table for columns of all kinds in short forms; None if one has none."""
    k, m = len(features), columns.n_samples
    chunks = _slices(k, max(1, _MATRIX_ENTRIES // (2 * m * _TYPICAL_RANK)), n_rows)

    def made(i: int) -> _ShortForms:
        found = [kernel_of_column(columns, int(j), kernel, w, together=columns.together) for j in features[chunks[i]]]
        if any(one is None for one in found):
            raise _NoShortFormError
        return _ShortForms.of([one for one in found if one is not None], w)

    try:
        kept = [made(0)] if len(chunks) == 1 else []
        return _table(chunks, kept.__getitem__ if kept else made, _ShortForms.products, n_rows)
    except _NoShortFormError:
        return None


def _of_matrices(columns: Columns, features: Indices, kernel: Kernel, w: Array, n_rows: int) -> Array:
    """Table for any kernel, with matrices of all pairs of samples."""
    k, m = len(features), columns.n_samples
    if m > _MOST_SAMPLES:
        raise ValueError(
            f"X has {m} samples and the kernel on single features is {kernel!r}; accepted for redundancy of more than "
            f"{_MOST_SAMPLES} samples: a Gaussian or Laplacian kernel, whose matrices have short forms"
        )
    chunks = _slices(k, max(1, _MATRIX_ENTRIES // m**2), n_rows)

    def matrices(i: int) -> Array:
        return np.stack([_unit_matrix(columns, j, kernel, w) for j in features[chunks[i]]])

    return _table(chunks, matrices, lambda A, B: A @ B.T, n_rows)


class _NoShortFormError(Exception):
    """A column whose kernel matrix has no short form."""


@dataclass(frozen=True, eq=False)
class _ShortForms:
    """Centred kernel matrices of some columns.

    Attributes
    ----------
    factors : ndarray of shape (n_factors, m)
        Those of all columns, times the roots of the weights.
    owners : ndarray of shape (n_columns, n_factors)
        One where a factor belongs to a column, else zero.
    parts : list of (int, Part)
        The other parts, each with its column.
    norms : ndarray of shape (n_columns,)
    roots : ndarray of shape (m,)
        Roots of the weights.
    """

    factors: Array
    owners: Array
    parts: list[tuple[int, Part]]
    norms: Array
    roots: Array

    @staticmethod
    def of(kernels: list[ColumnKernel], w: Array) -> _ShortForms:
        found, squares, _ = zip(*[centred_column(kernel, w) for kernel in kernels], strict=True)
        owners = np.repeat(np.eye(len(found)), [len(one.factors) for one in found], axis=1)
        parts = [(i, part) for i, one in enumerate(found) for part in one.parts]
        # A matrix of zeros has no product with any other.
        norms = np.sqrt(np.array(squares))
        norms[norms == 0] = 1.0
        return _ShortForms(np.concatenate([one.factors for one in found]), owners, parts, norms, np.sqrt(w))

    def products(self, other: _ShortForms) -> Array:
        """Inner products of each two matrices, over their norms."""
        projections = self.factors @ other.factors.T
        table: Array = self.owners @ np.square(projections, out=projections) @ other.owners.T
        across = self._forms(other)
        table += across + (across if self is other else other._forms(self)).T
        for (i, one), (j, two) in itertools.product(self.parts, other.parts):
            if self is not other or i < j:  # the table is symmetric, and its diagonal is known
                table[i, j] += part_product(one, two)
        return np.asarray(table / np.multiply.outer(self.norms, other.norms))

    def _forms(self, other: _ShortForms) -> Array:
        """Inner products of the parts of these matrices with the factors of others."""
        found, vectors = np.zeros((len(self.norms), len(other.norms))), other.factors * other.roots
        for i, part in self.parts:
            found[i] += other.owners @ part.forms(vectors)
        return found


def _unit_factors(XT: Array, gammas: Array, w: Array) -> Array:
    """Factors F (c, rank, m), times the roots of the weights, of centred matrices A = F'F of norm one."""
    factors, _ = gaussian_factors(XT, gammas)
    factors -= (factors @ (w / w.sum()))[:, :, None]
    factors *= np.sqrt(w)
    squares = np.square(np.matmul(factors, factors.transpose(0, 2, 1))).sum(axis=(1, 2))
    return np.asarray(factors / np.sqrt(np.sqrt(squares))[:, None, None])


def _squared_products(F: Array, G: Array) -> Array:
    """Inner products <A_i, A_j> = ||F_i F_j'||^2 of each two matrices."""
    products = F.reshape(-1, F.shape[2]) @ G.reshape(-1, G.shape[2]).T
    np.square(products, out=products)
    sums: Array = products.reshape(*F.shape[:2], *G.shape[:2]).sum(axis=(1, 3))
    return sums


def _unit_matrix(columns: Columns, feature: int, kernel: Kernel, w: Array) -> Array:
    """Centred kernel matrix of one feature, as a vector of norm one, or of zeros if the matrix is zero."""
    K = Matrix(kernel_values(columns, np.array([feature]), kernel, w))
    everything = slice(0, columns.n_samples)
    A = centred(K, "biased", w).block(everything, everything)
    A *= np.sqrt(np.multiply.outer(w, w))
    A = scaled_by_power_of_two(A)[0].ravel() if A.any() else A.ravel()
    return np.asarray(A / (math.sqrt(np.vdot(A, A)) or 1.0))


def _table(
    chunks: list[slice], part: Callable[[int], Piece], inner: Callable[[Piece, Piece], Array], n_rows: int
) -> Array:
    """First rows of the table of all inner products of matrices, which are made chunk by chunk, two at a time."""
    table = np.zeros((n_rows, chunks[-1].stop))
    for i, rows in enumerate(chunks):
        if rows.start >= n_rows:
            break
        left = part(i)
        for j, cols in enumerate(chunks[i:], start=i):
            table[rows, cols] = inner(left, left if i == j else part(j))
    found: Array = np.clip(np.triu(table, k=1), -1.0, 1.0)
    found[np.abs(found) < 4 * np.finfo(float).eps] = 0.0  # rounding errors, which may be negative
    found[:, :n_rows] += found[:, :n_rows].T + np.eye(n_rows)
    return found


def _slices(k: int, size: int, n_rows: int) -> list[slice]:
    """Ranges that cover k features; none is on both sides of the first ``n_rows``."""
    ends = ((0, n_rows), (n_rows, k))
    return [slice(start, min(start + size, stop)) for low, stop in ends for start in range(low, stop, size)]
