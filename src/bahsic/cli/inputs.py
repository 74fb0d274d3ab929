"""Data of a file as the commands need them: checked names, columns, groups, categories."""

from __future__ import annotations

import csv
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bahsic.cli.messages import BAD_DATA, CommandError
from bahsic.files import Data, read_data
from bahsic.files.data import shown, suggestion


@dataclass(frozen=True, eq=False)
class Input:
    """Data whose columns all have names.

    Attributes
    ----------
    data : Data
    names : list of str
        Those of the file, or x0, x1, ...
    """

    data: Data
    names: list[str]

    def position(self, name: str) -> int:
        """Where the column of that name is; where columns have no names, a number from 0 will do."""
        if name in self.names:
            return self.names.index(name)
        if self.data.names is None and name.isdecimal() and int(name) < len(self.names):
            return int(name)
        raise CommandError(f"{self.data.source}: no column is called {shown(name)}; {suggestion(name, self.names)}")

    def positions(self, names: Sequence[str] | None) -> list[int] | None:
        """Where columns are."""
        return None if names is None else [self.position(name) for name in names]


def read_input(options: Namespace, *, needs_target: bool) -> Input:
    """The data that the options of a command name.

    Parameters
    ----------
    options : Namespace
        With data, delimiter, key, layer, group_by and, if it is needed, target.
    needs_target : bool

    Returns
    -------
    Input
    """
    with data_errors():
        data = read_data(options.data, getattr(options, "target", None), **reading_options(options))
    if needs_target and data.y is None:
        raise CommandError(f"{options.data}: no target; name its column by --target", 2)
    names = [f"x{j}" for j in range(data.X.shape[1])] if data.names is None else [str(name) for name in data.names]
    return Input(replace(data, source=options.data), names)


def reading_options(options: Namespace) -> dict[str, str | None]:
    """How to read the file, as `bahsic.files.read_data` takes it."""
    return {name: getattr(options, name) for name in ("delimiter", "key", "layer", "group_by")}


@contextmanager
def data_errors(status: int = BAD_DATA) -> Iterator[None]:
    """Turn what the library says about data into the end of the command."""
    try:
        yield
    except (ValueError, TypeError) as error:  # DataError among them
        raise CommandError(str(error), status) from error


def categorical_columns(names: Sequence[str], source: Input) -> Any:
    """What `BAHSIC` takes as categorical_features, for the option --categorical.

    Parameters
    ----------
    names : sequence of str
        The option. "auto" alone means columns of text; these are categories also where others are named.
    source : Input

    Returns
    -------
    "from_dtype", or list of int
    """
    named = [source.position(name) for name in names if name not in ("auto", "from_dtype")]
    if not named:
        return "from_dtype"
    types = list(source.data.X.dtypes) if hasattr(source.data.X, "dtypes") else []
    text = [j for j, dtype in enumerate(types) if getattr(dtype, "kind", "O") not in "fiu"]
    return sorted({*named, *text})


def feature_groups(rule: str | None, source: Input) -> list[str] | None:
    """The group of each feature, for the option --groups.

    Parameters
    ----------
    rule : str or None
        ``prefix:SEP``, ``file``, or the path of a CSV file with a line ``feature,group`` for each feature that is
        not a group of its own.
    source : Input

    Returns
    -------
    list of str, or None
        A label for each column.
    """
    if rule is None:
        return None
    if rule == "file":
        return _groups_in_data(source)
    separator = rule.removeprefix("prefix:")
    if separator == rule:
        return _groups_of_file(Path(rule), source)
    if not separator:
        raise CommandError("--groups prefix: has no separator; accepted: for example prefix:_", 2)
    return [name.split(separator, 1)[0] for name in source.names]


def _groups_in_data(source: Input) -> list[str]:
    if source.data.groups is None:
        raise CommandError(f"{source.data.source}: has no groups of features; accepted: FILE.csv or prefix:SEP", 2)
    return [str(group) for group in source.data.groups]


def _groups_of_file(path: Path, source: Input) -> list[str]:
    label_of = list(source.names)
    for line, row in enumerate(_rows(path), start=1):
        if len(row) != 2:
            raise CommandError(f"{path}: line {line} has {len(row)} cells; accepted: feature,group")
        if line > 1 or row[0] in source.names:  # else it is a heading
            label_of[source.position(row[0])] = row[1]
    return label_of


def _rows(path: Path) -> list[list[str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return [row for row in csv.reader(file, delimiter="\t" if path.suffix == ".tsv" else ",") if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise CommandError(f"--groups {path}: {reason}; accepted: FILE.csv, prefix:SEP or file") from None


def plain_columns(source: Input, positions: Sequence[int]) -> Any:
    """Columns as an array of labels: of one dimension for a single one."""
    X = source.data.X
    if hasattr(X, "iloc"):
        columns = [np.asarray(X.iloc[:, j]) for j in positions]
    else:
        columns = [np.asarray(X[:, [j]].toarray() if hasattr(X, "toarray") else X[:, j]).ravel() for j in positions]
    return columns[0] if len(columns) == 1 else np.column_stack(columns)
