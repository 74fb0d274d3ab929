"""Rows of results in a CSV file: appended as they are found, read by tables and figures."""

import csv
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.version import BEFORE

Row = dict[str, Any]

#: The last column of every file: the version of the code that made the row.
VERSION = "version"


class Rows:
    """A CSV file with one writer, to which the rows of one cell after the other are appended.

    The rows of a cell are written together and brought to the disk before the next ones. What an interrupted
    writer left behind at the end of the file is dropped when the file is opened again for writing. The last column is
    the version of the code; a file without it is read as one made before rows had a version.

    Parameters
    ----------
    path : Path
        The file; it need not exist.
    columns : sequence of str
        Names of its columns but for the version.
    keys : sequence of str
        The columns that tell cells apart.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rows = Rows(Path(folder) / "some.csv", ["m", "error"], keys=["m"])
    ...     rows.append([{"m": 40, "error": 0.25, "version": "0.1.0"}])
    ...     rows.read(), rows.cells()
    ([{'m': '40', 'error': '0.25', 'version': '0.1.0'}], {('40',)})
    """

    def __init__(self, path: Path, columns: Sequence[str], keys: Sequence[str]) -> None:
        self.path, self.columns, self.keys = path, (*columns, VERSION), tuple(keys)

    def read(self) -> list[Row]:
        """The complete rows, all values as strings."""
        if not self.path.exists():
            return []
        text = self.path.read_text(encoding="utf-8")
        complete = text[: text.rfind("\n") + 1]
        reader = csv.DictReader(io.StringIO(complete, newline=""))
        rows = list(reader)
        if complete and tuple(reader.fieldnames or ()) not in (self.columns, self.columns[:-1]):
            raise ValueError(f"columns of {self.path} are {reader.fieldnames}; accepted: {list(self.columns)}")
        return [row if VERSION in row else {**row, VERSION: BEFORE} for row in rows]

    def cells(self) -> set[tuple[str, ...]]:
        """The keys of all cells that have rows."""
        return {self.key(row) for row in self.read()}

    def key(self, row: Row) -> tuple[str, ...]:
        """What identifies the cell of this row, as strings."""
        return tuple(str(row[name]) for name in self.keys)

    def append(self, rows: Iterable[Row]) -> None:
        """Write the rows of a cell and wait until they are on the disk."""
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, self.columns, lineterminator="\n")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if not self.path.exists() or not self.path.stat().st_size:
            writer.writeheader()
        writer.writerows(rows)
        with self.path.open("ab", buffering=0) as file:
            file.write(text.getvalue().encode())
            os.fsync(file.fileno())

    def recover(self) -> None:
        """Drop a torn last line, and the rows before it that may be of the same cell; add the version if it lacks."""
        if not self.path.exists():
            return
        data = self.path.read_bytes()
        if not data.endswith(b"\n") and data:
            rows = self.read()
            last = self.key(rows[-1]) if rows else None
            self._replace([row for row in rows if self.key(row) != last])
        elif data and not data.partition(b"\n")[0].endswith(VERSION.encode()):
            self._replace(self.read())

    def drop_outdated(self, versions: Mapping[tuple[str, ...], str]) -> None:
        """Remove the rows of those cells that have another version now than their rows say."""
        rows = self.read()
        old = {self.key(row) for row in rows if row[VERSION] != versions.get(self.key(row), row[VERSION])}
        if old:
            self._replace([row for row in rows if self.key(row) not in old])

    def _replace(self, rows: Sequence[Row]) -> None:
        """Write these rows instead of those of the file, all or nothing."""
        replacement = Rows(self.path.with_suffix(".recovered"), self.columns[:-1], self.keys)
        replacement.path.unlink(missing_ok=True)
        replacement.append(rows)
        replacement.path.replace(self.path)
