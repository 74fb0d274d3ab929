"""Rows: checks that turn the user's arguments into arrays, and distances and inner products exact to rounding."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.spatial.distance import cdist

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.floating[Any]]

EXACT = 2**53  # integers up to here are exact in float64
_LARGEST_WEIGHT = 1e30  # pairs of samples have products of weights
_TOLERANCE = {np.dtype(np.float64): 1e-14, np.dtype(np.float32): 1e-6}  # of a kernel value
_FEW_FEATURES = 8  # up to here direct differences are as fast as a matrix product
_BLOCK_ENTRIES = 2**18  # 2 MB of float64: a few such blocks stay in cache


def as_rows(X: Any, argument: str, names: Any = None) -> FloatArray:
    """Return finite numbers as samples x features, float32 as it is, else float64; messages use names of columns."""
    array, names = _array(X, argument), getattr(X, "column_names", getattr(X, "columns", names))
    rows = array[:, None] if array.ndim == 1 else array
    if rows.ndim != 2 or rows.size == 0:
        raise ValueError(
            f"{argument} has shape {array.shape}; accepted: one or two dimensions, at least one sample and one feature"
        )
    rows = _as_float(rows, argument, names)
    if not (math.isfinite(rows.min()) and math.isfinite(rows.max())):  # both propagate NaN, and need no mask
        bad = ~np.isfinite(rows)
        row, column, value = _first(bad, rows, names)
        raise ValueError(
            f"{argument} has {bad.sum()} entries that are NaN or infinite, the first ({value}) in row {row}, "
            f"column {column!r}; accepted: finite numbers, so without such samples or with numbers filled in"
        )
    return rows


def as_float(numbers: Any) -> Any:
    """Return numbers in float32 or float64; those beyond its range are infinite."""
    # Of integers that float64 would round the least of their column is subtracted, which changes no difference.
    if isinstance(numbers, np.ndarray) and numbers.dtype.kind in "iu" and numbers.itemsize == 8 and numbers.size:
        low, high = numbers.min(axis=0), numbers.max(axis=0)
        large = (high > EXACT) | (low < -EXACT)
        if large.any():
            less = numbers.astype(np.uint64) - np.where(large, low, 0).astype(np.uint64)  # modulo 2**64
            return np.where(large, less.astype(np.float64), numbers.astype(np.float64))
    dtype = numbers.dtype if numbers.dtype in (np.float32, np.float64) else np.float64
    with np.errstate(over="ignore"):  # numbers beyond float64 become infinite, which is reported later
        return numbers.astype(dtype, copy=False)


def as_labels(y: Any, argument: str, names: Any = None) -> Array:
    """Return labels (samples x columns) to test for equality: numbers as in `as_rows`, strings or other objects."""
    array, names = _array(y, argument), getattr(y, "column_names", getattr(y, "columns", names))
    if array.dtype.kind in "UST" and not hasattr(y, "dtype"):
        array = np.array(y, dtype=object)  # asarray has made strings of the NaNs in a list of strings
    if array.dtype.kind == "O" and not any(isinstance(value, str) for value in array.flat):
        array = np.asarray(array.tolist())  # nullable columns hold numbers and booleans as objects
    if array.dtype.kind in "fiucb":
        numbers = as_rows(array, argument, names)
        return numbers if array.dtype.kind == "f" else array.reshape(numbers.shape)
    return _checked_objects(array, argument, names)


def as_gram(K: Any, argument: str) -> FloatArray:
    """Return a matrix of kernel values, which has to be symmetric to 1e-8 of its largest entry."""
    matrix = as_rows(K, argument)
    if np.ndim(K) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"{argument} has shape {np.shape(K)}; accepted: a square matrix of kernel values")
    with np.errstate(over="ignore"):  # an infinite gap is a gap too
        gap = max(float(np.abs(matrix[b] - matrix[:, b].T).max()) for b in row_blocks(len(matrix)))
    if gap > 1e-8 * float(max(matrix.max(), -matrix.min())):
        raise ValueError(f"{argument} is not symmetric: entries differ from their mirror image by up to {gap:.3g}")
    return matrix


def as_weights(sample_weight: Any, m: int) -> FloatArray | None:
    """Return checked frequency weights of m samples in float64; None stays None."""
    if sample_weight is None:
        return None
    weights = as_rows(sample_weight, "sample_weight").astype(np.float64)
    if weights.shape != (m, 1):
        raise ValueError(
            f"sample_weight has shape {np.shape(sample_weight)}; accepted: one weight for each of {m} samples"
        )
    if weights.min() < 0 or not 0 < weights.max() <= _LARGEST_WEIGHT:
        raise ValueError(
            f"sample_weight ranges over {weights.min()} to {weights.max()}; accepted: >= 0, up to "
            f"{_LARGEST_WEIGHT:g}, and not all zero"
        )
    return weights[:, 0]


def frequencies(sample_weight: Any, m: int) -> FloatArray:
    """Return checked weights of m samples, ones for None."""
    weights = as_weights(sample_weight, m)
    return np.ones(m) if weights is None else weights


def check_same_length(**lengths: int) -> None:
    """Raise unless all arguments have the same number of samples."""
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} has {length} samples" for name, length in lengths.items())
        raise ValueError(f"the numbers of samples differ: {listed}")


def row_blocks(m: int) -> Iterator[slice]:
    """Return slices that cover the rows of an m x m matrix, each small enough for the cache."""
    step = max(1, _BLOCK_ENTRIES // max(m, 1))
    return (slice(start, min(start + step, m)) for start in range(0, m, step))


def whole(gram: Any) -> FloatArray:
    """Return a symmetric matrix that is read by blocks, float64."""
    matrix = np.empty((len(gram), len(gram)))
    for rows in row_blocks(len(gram)):
        matrix[rows] = gram.block(rows, slice(0, len(gram)))
    return matrix


def scaled_by_power_of_two(X: FloatArray) -> tuple[FloatArray, int]:
    """Scale X by a power of two, which is exact, so that its largest magnitude is between 1/2 and 1."""
    exponent = math.frexp(float(max(X.max(), -X.min())))[1]
    return np.ldexp(X, -exponent), exponent


def check_at_hand(X: Any, argument: str) -> None:
    """Raise for lazy frames and annotated data, which first have to become a table; imports no library."""
    way_out = {"LazyFrame": "collect()", "AnnData": "to_df()"}.get(type(X).__name__)
    if way_out:
        raise TypeError(f"{argument} is of type {type(X).__name__}; accepted: a table, such as {argument}.{way_out}")


def _array(X: Any, argument: str) -> Array:
    if sparse.issparse(X):
        kind = type(X).__name__
        raise TypeError(f"{argument} is a sparse {kind}; accepted: dense data, such as {argument}.toarray()")
    check_at_hand(X, argument)
    if np.ma.is_masked(X):
        raise ValueError(f"{argument} has masked entries; accepted: complete data")
    try:
        return np.asarray(X)
    except ValueError as error:  # rows of different lengths
        raise ValueError(f"{argument} is not a rectangular array: {error}") from None


def _as_float(rows: Array, argument: str, names: Any) -> FloatArray:
    if rows.dtype in (np.float32, np.float64):
        return rows
    if rows.dtype.kind not in "fiubO":
        raise TypeError(f"{argument} has dtype {rows.dtype} (first value {rows.flat[0]!r}); accepted: real numbers")
    if rows.dtype.kind == "O":
        strings = np.vectorize(lambda value: isinstance(value, str), otypes=[bool])(rows)
        if strings.any():
            row, column, value = _first(strings, rows, names)
            raise TypeError(
                f"{argument} has strings, the first ({value!r}) in row {row}, column {column!r}; accepted: real "
                "numbers, such as a column of zeros and ones for each category"
            )
        rows = np.where(_are_missing(rows), np.nan, rows)
    try:
        return rows.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"{argument} has values that are not real numbers ({error}); accepted: real numbers") from None


def _checked_objects(array: Array, argument: str, names: Any) -> Array:
    if array.ndim not in (1, 2) or array.size == 0:
        raise ValueError(f"{argument} has shape {array.shape}; accepted: one or two dimensions, at least one sample")
    labels = array.reshape(len(array), -1)
    missing = _are_missing(labels)
    if missing.any():
        row, column, _ = _first(missing, labels, names)
        where = f"at position {row}" if array.ndim == 1 else f"in row {row}, column {column!r}"
        raise ValueError(
            f"{argument} has {missing.sum()} missing values (None or NaN), the first {where}; accepted: complete data"
        )
    return labels


def _first(found: npt.NDArray[np.bool_], rows: Array, names: Any) -> tuple[int, Any, Any]:
    """Row, column (its name if there is one) and value of the first entry of a mask."""
    row, column = (int(position) for position in np.argwhere(found)[0])
    return row, column if names is None else list(names)[column], rows[row, column]


def is_missing(value: Any) -> bool:
    """Return whether a single value is missing: None, NaN of any type, or the NA or NaT of pandas."""
    if value is None or type(value).__name__ == "NAType":
        return True
    differs = value != value  # noqa: PLR0124 - true for NaN of every type, and for NaT
    return isinstance(differs, bool | np.bool_) and bool(differs)


_are_missing = np.vectorize(is_missing, otypes=[bool])


def squared_distances(X: FloatArray, Y: FloatArray | None = None, gamma: float = math.inf) -> FloatArray:
    """Return squared Euclidean distances of all pairs of rows, exactly symmetric with zero diagonal if Y is None."""
    other = X if Y is None else Y
    centre = (X / len(X)).sum(axis=0)  # without overflow of the sums
    with np.errstate(over="ignore"):  # an infinite norm rules out the matrix product
        centred = (np.subtract(Z, centre, dtype=np.float64) for Z in (X, other))
        reach = max(float(np.vecdot(Z, Z).max()) for Z in centred)
    for dtype in (X.dtype, np.dtype(np.float64)):
        rounding = 8 * float(np.finfo(dtype).eps) * gamma * reach if reach else 0.0
        in_range = 8 * reach < float(np.finfo(dtype).max)
        if X.shape[1] > _FEW_FEATURES and in_range and rounding <= _TOLERANCE[X.dtype]:  # exp(-gamma D) is the same
            return _rounded(_by_product(X, Y, centre, dtype), X.dtype)
    return _rounded(cdist(X, other, "sqeuclidean"), X.dtype)


def inner_products(X: FloatArray, Y: FloatArray | None = None) -> FloatArray:
    """Return inner products of all pairs of rows."""
    with np.errstate(over="ignore", invalid="ignore"):  # reported by check_range, with what to do about it
        product = X @ (X if Y is None else Y).T
    return check_range(product)


def check_range(K: FloatArray) -> FloatArray:
    """Return K, or raise a ValueError if kernel values have overflowed."""
    if not (math.isfinite(K.min()) and math.isfinite(K.max())):
        raise ValueError(f"kernel values exceed the range of {K.dtype}; accepted: data of moderate size, so rescale it")
    return K


def _by_product(X: FloatArray, Y: FloatArray | None, centre: FloatArray, dtype: np.dtype[np.floating]) -> FloatArray:
    X = np.subtract(X, centre, dtype=dtype)
    Z = X if Y is None else np.subtract(Y, centre, dtype=dtype)
    x_norms, z_norms = (np.vecdot(rows, rows) for rows in (X, Z))
    D = X @ Z.T
    for rows in row_blocks(max(D.shape)):
        D[rows] *= -2
        D[rows] += x_norms[rows, None] + z_norms  # adding the two norms first makes the result symmetric
    np.maximum(D, 0, out=D)
    if Y is None:
        np.fill_diagonal(D, 0)
    return D


def _rounded(D: FloatArray, dtype: np.dtype[np.floating]) -> FloatArray:
    with np.errstate(over="ignore"):  # a distance beyond float32 is infinite there
        return D.astype(dtype, copy=False)
