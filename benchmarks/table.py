"""Rows of results: a value, the bar that it has to meet, and whether it does; as a table and as a file."""

import csv
import datetime as dt
import operator
import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

Row = dict[str, Any]

_RELATIONS = {"<=": operator.le, ">=": operator.ge, "==": operator.eq}


def row(what: str, value: float, bar: str = "", *, note: str = "", **columns: Any) -> Row:
    """One result.

    Parameters
    ----------
    what : str
        What was measured.
    value : float
        The result: a ratio within one run, or a count.
    bar : str
        What is asked of it, such as ``"<= 2"``; empty where nothing is.
    note : str
        What the table says beside it.
    **columns
        What else belongs into the file: sizes, seconds.

    Returns
    -------
    dict
        With the key ``passed`` in addition: "yes", "no", or empty where there is no bar.

    Examples
    --------
    >>> row("fit / roof", 1.5, "<= 2")["passed"]
    'yes'
    """
    return {"what": what, "value": value, "bar": bar, "passed": _passed(value, bar), "note": note, **columns}


def _passed(value: float, bar: str) -> str:
    if not bar:
        return ""
    relation, limit = bar.split()
    return "yes" if _RELATIONS[relation](value, float(limit)) else "no"


def printed(name: str, rows: Sequence[Row]) -> str:
    """The rows of a benchmark as aligned text."""
    cells = [[r["what"], _number(r["value"]), r["bar"], r["passed"], r["note"]] for r in rows]
    cells.insert(0, [name, "value", "bar", "pass", ""])
    widths = [max(len(line[i]) for line in cells) for i in range(4)]
    lines = [
        f"{what:{widths[0]}}  {value:>{widths[1]}}  {bar:{widths[2]}}  {passed:{widths[3]}}  {note}".rstrip()
        for what, value, bar, passed, note in cells
    ]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:], ""])


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.3g}"


def machine() -> dict[str, Any]:
    """What the figures depend on beside the code: processor, libraries, day."""
    libraries = [library for library in threadpool_info() if library["user_api"] == "blas"]
    # scipy brings a BLAS of its own; the products are numpy's.
    blas: dict[str, Any] = max(libraries, key=lambda library: "numpy" in library["filepath"], default={})
    return {
        "date": dt.datetime.now(tz=dt.UTC).date().isoformat(),
        "cpu": _processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "blas": f"{blas.get('internal_api', 'unknown')} {blas.get('version', '')}".strip(),
        "blas_threads": blas.get("num_threads", ""),
    }


def _processor() -> str:
    """The processor's name; Linux has it in a file, other systems tell Python."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def write(path: Path, rows: Sequence[Row]) -> None:
    """The rows as a CSV file, with the description of the machine in each."""
    described = [{**line, **machine()} for line in rows]
    columns = list(dict.fromkeys(name for line in described for name in line))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(described)
