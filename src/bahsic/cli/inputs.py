"""Data of a file as the commands need them: checked names, columns, groups, categories."""

from __future__ import annotations

import csv
import hashlib
import shlex
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from bahsic.cli.messages import BAD_DATA, WRONG_USAGE, CommandError, say, text_of
from bahsic.files import Data, read_data
from bahsic.files.data import TargetError, errors_of
from bahsic.files.targets import observed_targets
from bahsic.names import for_message, suggestion
from bahsic.options import flag_of, options_of
from bahsic.parameters import Aside, Given

# What the command calls the parameters of the library.
_NAMES = {"y": "the target", "delimiter": "--delimiter"} | {o.name: o.flags[0] for o in options_of("select")}


@dataclass(frozen=True, eq=False)
class Input:
    """Data whose columns all have names: those of the file, or x0, x1, ..., and the SHA-256 of the file."""

    data: Data
    names: list[str]
    sha256: str

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: j for j, name in enumerate(self.names)}

    def position(self, name: str) -> int:
        """Return the position of the column of that name, or of that number if columns have no names."""
        if name in self._positions:
            return self._positions[name]
        if self.data.names is None and name.isdecimal() and int(name) < len(self.names):
            return int(name)
        hint = suggestion(name, self.names)
        raise CommandError(f"{self.data.source}: no column is called {for_message(name)}; {hint}")

    def positions(self, names: Sequence[str]) -> list[int]:
        """Return the positions of columns."""
        return [self.position(name) for name in names]

    def names_of(self, columns: str | Sequence[int | str]) -> str | list[str]:
        """Return columns by their names; the name of a rule for them stays what it is."""
        if isinstance(columns, str):
            return columns
        return [j if isinstance(j, str) else self.names[j] for j in columns]


def listed_names(words: Sequence[str] | None, source: Input, flag: str) -> list[str] | None:
    """Return the names of columns that an option lists, or a file with one in each line that does not begin with #."""
    if words is None or len(words) != 1 or words[0] in source.names or not Path(words[0]).is_file():
        return None if words is None else list(words)
    accepted = "accepted: a name of a column in each line"
    lines = enumerate(map(str.strip, _text(words[0], flag, accepted).splitlines()), start=1)
    numbers = {name: number for number, name in lines if name and not name.startswith("#")}
    for name, number in numbers.items():
        try:
            source.position(name)
        except CommandError as error:
            raise CommandError(f"{words[0]}: line {number}: {error}") from None
    if not numbers:
        raise CommandError(f"{flag} {words[0]}: no names; {accepted}")
    return list(numbers)


def _text(path: str, flag: str, accepted: str) -> str:
    try:
        return text_of(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise CommandError(f"{flag} {path}: {reason}; {accepted}") from None


def read_input(options: Namespace, *, needs_target: bool = True) -> Input:
    """Read the data that the options of a command name."""
    target = getattr(options, "target", None)
    event, kernel, flag = getattr(options, "event", None), options.target_kernel, flag_of("target_kernel")
    if event is not None and kernel not in ("auto", "survival"):
        raise CommandError(f"--event is for survival times, and {flag} is {kernel}; leave out one of the two", 2)
    if event is None and kernel == "survival" and len(target or ()) == 1:
        raise CommandError(f"{flag} survival needs the event as well as the time; name its column with --event", 2)
    with data_errors():
        data = read_data(options.data, target, **reading_options(options))
    if needs_target and data.y is None:
        raise CommandError(f"{options.data}: no target; name its column with --target", 2)
    names = [f"x{j}" for j in range(data.X.shape[1])] if data.names is None else [str(name) for name in data.names]
    for note in () if options.quiet else data.notes:
        say(f"note: {note}")
    with options.data.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Input(data, names, digest)


def reading_options(options: Namespace) -> dict[str, Any]:
    """Return the options of `bahsic.files.read_data` for the file."""
    return {name: getattr(options, name, None) for name in ("delimiter", "drop", "event", "key", "layer", "group_by")}


@contextmanager
def data_errors(status: int = BAD_DATA) -> Iterator[None]:
    """Turn errors of the library about data into the end of the command."""
    try:
        yield
    except (ValueError, TypeError) as error:  # DataError among them
        status = WRONG_USAGE if isinstance(error, TargetError) else status
        raise CommandError(in_options(error), status) from error


def in_options(error: Warning | Exception) -> str:
    """Return what an error or a warning of the library says, with the options of the command for its parameters."""
    message = error.args[0] if error.args else ""
    words = []
    for part in getattr(message, "parts", (str(error),)):
        if isinstance(part, Given):
            words += [_NAMES.get(part.name, part.name), *([] if part.value is None else [" ", shlex.quote(part.value)])]
        elif not isinstance(part, Aside):
            words.append(part)
    return "".join(words)


def categorical_columns(names: str | Sequence[str], source: Input, among: Sequence[int] | None = None) -> Any:
    """Return the parameter categorical_features, as places among some columns if given; text is always a category."""
    listed = [] if isinstance(names, str) else names
    named = {source.position(name) for name in listed if name not in ("auto", "from_dtype")}
    columns = range(len(source.names)) if among is None else among
    return ["from_dtype", *(i for i, j in enumerate(columns) if j in named)] if named else "from_dtype"


def feature_groups(rule: str | None, source: Input) -> list[str] | None:
    """Return the group of each feature by a rule: ``prefix:SEP``, ``file``, or the path of a CSV file."""
    if rule is None:
        return None
    if rule == "file":
        if source.data.groups is None:
            raise CommandError(f"{source.data.source}: has no groups of features; accepted: FILE.csv or prefix:SEP", 2)
        return [str(group) for group in source.data.groups]
    if not rule.startswith("prefix:"):
        return _groups_of_file(rule, source)
    if rule == "prefix:":
        raise CommandError(f"{flag_of('feature_groups')} prefix: has no separator; accepted: for example prefix:_", 2)
    return [name.split(rule.removeprefix("prefix:"), 1)[0] for name in source.names]


def _groups_of_file(path: str, source: Input) -> list[str]:
    accepted = "accepted: FILE.csv, prefix:SEP or file"
    text = _text(path, flag_of("feature_groups"), accepted)
    label_of: dict[int, str] = {}
    try:
        reader = csv.reader(StringIO(text, newline=""), delimiter="\t" if path.endswith(".tsv") else ",")
        rows = [row for row in reader if row]
    except csv.Error as error:
        raise CommandError(f"{flag_of('feature_groups')} {path}: {error}; {accepted}") from None
    for line, row in enumerate(rows, start=1):
        if len(row) != 2:
            raise CommandError(f"{path}: line {line} has {len(row)} cells; accepted: feature,group")
        if line == 1 and row == ["feature", "group"]:
            continue
        if (position := source.position(row[0])) in label_of:
            again = for_message(row[0])
            raise CommandError(f"{path}: line {line} has {again} again; accepted: one group for a feature")
        label_of[position] = row[1].strip()
    return [label_of.get(j, name) for j, name in enumerate(source.names)]


def plain_columns(source: Input, positions: Sequence[int]) -> Any:
    """Return columns as an array of labels: of one dimension for a single one."""
    X, checked = source.data.X, []
    for j in positions:
        column = X.iloc[:, j] if hasattr(X, "iloc") else X[:, [j]].toarray() if hasattr(X, "toarray") else X[:, j]
        with errors_of(Path(source.data.source or "")):
            (labels,), rows, _ = observed_targets({source.names[j]: column}, X.shape[0])
        if rows is not None:
            gaps = np.setdiff1d(np.arange(X.shape[0]), rows)
            where = f"{source.data.source}: target {for_message(source.names[j])} is missing in {len(gaps)} rows"
            raise CommandError(f"{where}, the first row {gaps[0]}, counted from 0; remove them")
        checked.append(labels)
    if len({column.dtype.kind in "fiu" for column in checked}) == 2:  # numbers beside text stay numbers
        checked = [column.astype(object) for column in checked]
    return checked[0] if len(checked) == 1 else np.column_stack(checked)
