"""Readers of arrays of numbers: .npy and .npz by numpy, .mat by scipy, svmlight by scikit-learn."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import io, sparse
from sklearn.datasets import load_svmlight_file

from bahsic.files.data import (
    Data,
    DataError,
    check_expansion,
    check_names,
    checked_sparse,
    chosen,
    column_position,
    without_empty_columns,
)
from bahsic.files.targets import with_target
from bahsic.names import for_message, suggestion


def read_numpy(path: Path, target: str | int | None = None, key: str | None = None) -> Data:
    """Read the array of an .npy file; of .npz X (or `key`, or the only array), feature_names, and by default y."""
    try:
        if path.suffix.lower() == ".npy":
            mapped = np.lib.format.open_memmap(path, mode="r")  # allocates nothing if the header is false
            return _array_data({"X": np.array(mapped)}, "X", target)
        with zipfile.ZipFile(path) as archive:
            check_expansion(path, sum(member.file_size for member in archive.infolist()))
        with np.load(path, allow_pickle=False) as arrays:
            return _array_data(arrays, _key(list(arrays), key), target)
    except ValueError as error:
        if "allow_pickle" not in str(error) and "Python objects" not in str(error):
            raise
        what = "holds Python objects (pickles), which can run code and are not read"
        raise DataError(f"{what}; save it with arrays of numbers or strings") from None


def read_mat(path: Path, target: str | int | None = None, key: str | None = None) -> Data:
    """Read MATLAB's format up to version 7 (not 7.3), with arrays as in `read_numpy`; y may be called Y."""
    try:
        shapes = {name: shape for name, shape, _ in io.whosmat(path)}
    except NotImplementedError:
        raise DataError("MATLAB's version 7.3 is not read; save it with save(..., '-v7')") from None
    key = _key(list(shapes), key)
    wanted = {key, "y", "Y", "feature_names", *([] if target is None else [str(target)])} & set(shapes)
    check_expansion(path, sum(8 * int(np.prod([float(n) for n in shapes[name]])) for name in wanted))
    # Other arrays may be large, or of any type.
    found = io.loadmat(path, variable_names=sorted(wanted))
    arrays = {name: array for name, array in found.items() if not name.startswith("__")}
    if "y" not in arrays and "Y" in arrays and target != "Y":
        arrays["y"] = arrays.pop("Y")
    if "feature_names" in arrays:
        arrays["feature_names"] = [str(np.squeeze(name)).rstrip() for name in np.ravel(arrays["feature_names"])]
    return _array_data(arrays, key, target)


def read_svmlight(path: Path, target: str | int | None = None) -> Data:
    """Read a sparse table whose rows start with their label; memory follows the entries, not the number of columns."""
    if target not in (None, "label"):
        raise DataError(f"rows of svmlight start with their target, the label; leave target={target!r} out")
    X, y = load_svmlight_file(str(path))
    if 0 in X.shape:
        raise DataError("there is no feature; give rows such as '1 1:0.5 3:2'")
    return with_target(without_empty_columns(Data(X)), y, "label")


def _key(known: list[str], key: str | None) -> str:
    if key is not None:
        return chosen("array", key, known)
    if "X" in known or len(known) == 1:
        return "X" if "X" in known else known[0]
    raise DataError(f"no array is called 'X'; give the key of the data, {suggestion('X', known)}")


def _array_data(arrays: Mapping[str, Any], key: str, target: str | int | None) -> Data:
    X = checked_sparse(arrays[key])
    if X.ndim != 2 or 0 in X.shape:
        raise DataError(f"array {for_message(key)} has shape {X.shape}; accepted: samples x features, not empty")
    if X.dtype.kind not in "fiubU":
        raise DataError(f"array {for_message(key)} is of type {X.dtype}; accepted: numbers or strings")
    names = [str(name) for name in np.ravel(arrays["feature_names"]).tolist()] if "feature_names" in arrays else None
    if names is not None:
        if len(names) != X.shape[1]:
            raise DataError(f"{len(names)} feature_names for {X.shape[1]} columns; give one for each")
        check_names(names)
    data = without_empty_columns(Data(X, names=names))
    others = [name for name in arrays if name not in {key, "feature_names"}]
    target = "y" if target is None and "y" in others else target
    if target is None:
        return data
    if target in others:
        return with_target(data, arrays[str(target)], str(target))
    X, names = data.X, data.names
    if isinstance(target, str) and target not in (names or []) and not (names is None and target.isdigit()):
        known = others + (names or [])
        raise DataError(f"no array or column is called {for_message(target)}; {suggestion(target, known)}")
    j = column_position(target, names, X.shape[1])
    column = X[:, [j]].toarray() if sparse.issparse(X) else X[:, j]
    rest = [i for i in range(X.shape[1]) if i != j]
    name = str(j) if names is None else names[j]
    left = None if names is None else [names[i] for i in rest]
    return with_target(replace(data, X=X[:, rest], names=left), column, name)
