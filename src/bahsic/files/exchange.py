"""Readers of formats for collections of data sets: svmlight by scikit-learn, ARFF by liac-arff."""

from __future__ import annotations

from pathlib import Path

from sklearn.datasets import load_svmlight_file

from bahsic.files.columnar import frame_data
from bahsic.files.data import (
    Data,
    DataError,
    check_gzip,
    check_names,
    library,
    one_line_errors,
    without_empty_columns,
)
from bahsic.files.targets import Wanted, with_target
from bahsic.files.text import text_encoding


def read_svmlight(path: Path, target: str | int | None = None) -> Data:
    """Read a sparse table whose rows start with their label, also compressed by gzip; columns have no names.

    Memory follows the entries, not the largest number of a column, see `without_empty_columns`.
    """
    if target not in (None, "label"):
        raise DataError(f"{path}: rows of svmlight start with their target, the label; leave target={target!r} out")
    check_gzip(path)
    with one_line_errors(path, "reading svmlight"):
        X, y = load_svmlight_file(str(path))
        if 0 in X.shape:
            raise DataError(f"{path}: there is no feature; give rows such as '1 1:0.5 3:2'")
        return with_target(path, without_empty_columns(Data(X, source=path)), y, "label")


def read_arff(path: Path, wanted: Wanted) -> Data:
    """Read a table whose attributes are numbers, nominal or strings; the last two become categories."""
    arff, pandas = library("arff", path.suffix), library("pandas", path.suffix)
    with one_line_errors(path, "reading ARFF"):
        encoding, notes = text_encoding(path)
        with path.open(encoding=encoding) as text:
            content = arff.load(text)
        names = [str(name) for name, _ in content["attributes"]]
        check_names(path, names)
        if not content["data"]:
            raise DataError(f"{path}: there is no row; give one row for each sample after @data")
        columns = {}
        for (name, kind), values in zip(content["attributes"], zip(*content["data"], strict=True), strict=True):
            is_number = isinstance(kind, str) and kind in {"NUMERIC", "REAL", "INTEGER"}
            columns[str(name)] = pandas.Series(values, dtype="float64") if is_number else pandas.Categorical(values)
        return frame_data(path, pandas.DataFrame(columns), wanted, pandas, notes)[0]
