"""Tables as the estimator of a cross-validated selection gets them: an array of numbers, or the columns unchanged."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from bahsic.data.tables import as_array, as_numbers, by_dtype, decoded, is_frame

# Types of pandas, polars and pyarrow that hold dates, times or spans of time.
_TIME = re.compile(r"date|time|period|duration", re.IGNORECASE)


def is_numeric(X: Any, categorical_features: Any) -> bool:
    """Whether all columns are numbers or booleans, and none of them was named as a category.

    Examples
    --------
    >>> is_numeric([[1, 2.5]], "from_dtype"), is_numeric([[1, "red"]], "from_dtype"), is_numeric([[1, 2.5]], [0])
    (True, False, False)
    """
    by_type = by_dtype(categorical_features)[0] is None
    if by_type and _is_plain(X):
        return True
    if not by_type or any(_TIME.search(str(kind)) for kind in _types(X)):
        return False
    try:
        as_numbers(X)
    except TypeError:  # strings, categories, dates
        return False
    return True


def estimator_table(owner: BaseEstimator, X: Any, *, numeric: bool, missing: bool, reset: bool) -> Any:
    """X as the estimator gets it, checked; its number of features and their names are those of the owner.

    Parameters
    ----------
    owner : BaseEstimator
        Has the number of features and their names, or is to get them.
    X : array-like or dataframe of shape (m, d)
    numeric : bool
        Whether to make an array of numbers; otherwise a dataframe stays as it is, and so do the entries of an array.
    missing : bool
        Whether entries may be missing; in an array they are NaN.
    reset : bool
        Whether the owner is to get number and names of the features.
    """
    finite = "allow-nan" if missing else True
    if sparse.issparse(X) or (numeric and _is_plain(X)):
        return validate_data(owner, X, reset=reset, ensure_all_finite=finite)
    if numeric:
        table = check_array(as_numbers(X), ensure_all_finite=finite, input_name="X")
    elif is_frame(X):
        table = decoded(X)
    else:
        table = check_array(as_array(X, "X"), dtype=None, ensure_all_finite=finite, input_name="X")
    validate_data(owner, X, reset=reset, skip_check_array=True)
    return table


def _types(X: Any) -> list[Any]:
    """Types of the columns of a dataframe."""
    if not is_frame(X):
        return []
    return list(X.schema.types if hasattr(X, "itercolumns") else X.dtypes)


def _is_plain(X: Any) -> bool:
    """Whether X is an array, or a pandas dataframe, of NumPy's numbers."""
    if np.ma.isMaskedArray(X):
        return False
    types = _types(X) if is_frame(X) else [getattr(X, "dtype", None)]
    return all(isinstance(kind, np.dtype) and kind.kind in "fiub" for kind in types)
