"""Tables as selectors return them, and as the estimator of a cross-validated selection gets them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import validate_data

from bahsic.arrays import Indices
from bahsic.data.tables import as_array, as_numbers, as_plain, by_dtype, column_names, columns_of, decoded, is_frame

_TIME = re.compile(r"date|time|period|duration", re.IGNORECASE)  # types of columns with dates, times or spans of time


def selected_columns(selector: Any, X: Any, *, missing: bool) -> Any:
    """Return the selected columns of X, a dataframe where X is one and ``set_output`` asks for the same kind."""
    chosen = np.flatnonzero(selector._get_support_mask())  # noqa: SLF001 - scikit-learn's hook for selectors
    container = _get_output_config("transform", estimator=selector)["dense"]
    if not is_frame(X):
        finite: Any = "allow-nan" if missing else True
        options = {"dtype": None, "accept_sparse": "csr", "ensure_all_finite": finite}
        return validate_data(selector, X, reset=False, **options)[:, chosen]
    part = columns_of(X, _positions(selector, X, chosen))  # before all columns become an array of one type
    kind = "pandas" if hasattr(part, "iloc") else "polars" if hasattr(part, "iter_columns") else "pyarrow"
    return part if container == kind else as_plain(part)


def _positions(selector: Any, X: Any, chosen: Indices) -> list[int]:
    """Return where the selected columns are in a frame: by name, unless it has just the columns of `fit`."""
    fitted, names = getattr(selector, "feature_names_in_", None), column_names(X, "X")
    if fitted is None or names is None or set(names) == set(fitted):
        validate_data(selector, X, reset=False, skip_check_array=True)
        return [int(j) for j in chosen]
    position = {name: j for j, name in enumerate(names)}
    absent = [repr(name) for name in fitted[chosen] if name not in position]
    if absent:
        try:  # scikit-learn's checks of estimators demand its own error
            validate_data(selector, X, reset=False, skip_check_array=True)
        except ValueError as error:
            shown = ", ".join(absent[:10]) + (", ..." if len(absent) > 10 else "")
            lacking = f"X lacks {len(absent)} of {len(chosen)} selected columns: {shown}"
            raise ValueError(f"{error}{lacking}; accepted: frames with all of them") from None
    return [position[name] for name in fitted[chosen]]


def is_numeric(X: Any, categorical_features: Any) -> bool:
    """Whether all columns are numbers or booleans, and none of them was named as a category."""
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
    """Return X as the estimator gets it: an array of numbers, or a dataframe or the entries of an array as they are."""
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
    types = _types(X) or [getattr(X, "dtype", None)]
    return all(isinstance(kind, np.dtype) and kind.kind in "fiub" for kind in types)
