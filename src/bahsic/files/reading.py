"""The function that reads every format, chosen by the suffix of the file."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from bahsic.files.arrays import read_mat, read_numpy, read_svmlight
from bahsic.files.columnar import read_arff, read_arrow, read_excel
from bahsic.files.data import Data, DataError, TargetError, check_gzip, errors_of, one_line_errors
from bahsic.files.delimited import read_delimited
from bahsic.files.science import read_epochs, read_h5ad
from bahsic.files.targets import Wanted
from bahsic.names import for_message, suggestion

# For each suffix its reader and the options that the reader takes; tables with names also take those of `Wanted`.
_TABLES: dict[str, tuple[Callable[..., Data], tuple[str, ...]]] = {
    **dict.fromkeys((".csv", ".csv.gz", ".tsv", ".tsv.gz"), (read_delimited, ("delimiter",))),
    ".xlsx": (read_excel, ()),
    **dict.fromkeys((".parquet", ".feather", ".arrow"), (read_arrow, ())),
    ".arff": (read_arff, ()),
}
_READERS: dict[str, tuple[Callable[..., Data], tuple[str, ...]]] = _TABLES | {
    ".npy": (read_numpy, ()),
    ".npz": (read_numpy, ("key",)),
    **dict.fromkeys((".svmlight", ".svmlight.gz", ".libsvm", ".libsvm.gz"), (read_svmlight, ())),
    ".mat": (read_mat, ("key",)),
    ".h5ad": (read_h5ad, ("layer",)),
    **dict.fromkeys((".fif", ".fif.gz"), (read_epochs, ("group_by",))),
}


def read_data(path: str | os.PathLike[str], target: str | int | list[str] | None = None, **options: Any) -> Data:
    """Read samples, features and target from a file.

    Parameters
    ----------
    path : str or Path
        The suffix gives the format: .csv, .tsv, .svmlight, .libsvm, .fif (each also .gz), .xlsx (its first sheet),
        .parquet, .feather, .arrow, .npy, .npz, .arff, .mat, .h5ad.
    target : str, int or list of str, optional
        The column (.h5ad: of ``obs``; .npz and .mat: or the array) that becomes y; its number if columns have no
        names. By default the target that the file itself has: y in .npz and .mat, svmlight, events of .fif. Several
        columns of a table with names are several outputs, the columns of y. Rows without a target are left out, with a
        note.
    **options
        delimiter : of .csv and .tsv, by default a comma and a tabulator, or the one that fits all rows. key : of .npz
        and .mat, the array with the data, by default X. layer : of .h5ad, by default X. group_by : of .fif,
        "frequency" (default) or "channel". drop : of tables with names (.csv, .tsv, .xlsx, .parquet, .feather,
        .arrow, .arff), columns to leave out. event : of the same tables, the column that says whether the event
        was seen (0 and 1, or true and false), for a target that is a survival time. y is then a structured array of
        both, for which the kernel "auto" is "survival".

    Returns
    -------
    Data
        Its `notes` say what was decided about the file.

    Raises
    ------
    DataError
        If the file cannot be read: one line that says what to do.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/two.npz", X=np.eye(3), y=[0, 1, 1], feature_names=["a", "b", "c"])
    ...     data = read_data(f"{folder}/two.npz")
    >>> data.names, data.y
    (['a', 'b', 'c'], array([0, 1, 1]))
    """
    path = Path(path)
    suffix = known_suffix(path, _READERS, "reading")
    reader, accepted = _READERS[suffix]
    is_table = suffix in _TABLES
    accepted += ("drop", "event") if is_table else ()
    targets: list[Any] = list(target) if isinstance(target, list | tuple) else [target] * (target is not None)
    given = {name: value for name, value in options.items() if value is not None}
    with errors_of(path):
        _check_file(path)
        if not is_table and (len(targets) > 1 or "event" in given):
            raise TargetError(f"{suffix} has one target and no event; accepted: a table with names, such as .csv")
        for name in given:
            if name not in accepted:
                takes = f"takes {', '.join(accepted)}" if accepted else "takes no option"
                raise DataError(f"{name} is not an option of {suffix}, which {takes}; leave it out")
        wanted = [Wanted(targets, given.pop("event", None), given.pop("drop", ()))] if is_table else targets
        with one_line_errors(f"reading {suffix}"):
            check_gzip(path)
            data = reader(path, *wanted, **given)
        if not data.X.shape[1]:
            raise DataError("there is no column besides the target; give a table with a column for each feature")
    return replace(data, source=path).stored_as(data.stored)


def known_suffix(path: Path, known: Any, action: str) -> str:
    """Return the suffix of a file name, in lower case, among the known ones."""
    for suffix in known:
        if path.name.lower().endswith(suffix):
            return str(suffix)
    raise DataError(f"{path}: {action} needs a known suffix, got {for_message(path.suffix)}; known: {' '.join(known)}")


def _check_file(path: Path) -> None:
    try:
        if path.is_dir():
            raise DataError("this is a folder; give a file in it")
        if not path.exists():
            hint = f"there is no folder {path.parent}"
            if path.parent.is_dir():
                names = sorted(entry.name for entry in path.parent.iterdir() if not entry.name.startswith("."))
                hint = f"in its folder: {suggestion(path.name, names).removeprefix('known: ')}"
            raise DataError(f"no such file; {hint}")
        if not path.is_file():
            raise DataError("this is not a regular file; save it as one first")
        with path.open("rb") as file:
            if not file.read(1):
                raise DataError("the file is empty; give one with data")
    except OSError as error:
        raise DataError(f"cannot be opened ({error.strerror}); check its permissions") from None
