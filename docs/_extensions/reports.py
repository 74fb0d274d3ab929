"""Live reports: each is made when the site is built, and linked from docs/reports.md."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

_RESULTS = Path(__file__).resolve().parents[1] / "results"
# Tables that come with bahsic: name of the report, of the data set, and of its target.
_TABLES = {"tumours": ("breast_cancer", "diagnosis"), "diabetes": ("diabetes", "progression")}


def _write(app: Any, error: Exception | None) -> None:
    if error is not None or app.builder.name != "html":
        return
    folder = Path(app.outdir, "reports")
    folder.mkdir(exist_ok=True)
    for result in _RESULTS.glob("*.json"):
        _run("report", str(result), "-o", str(folder / f"{result.stem}.html"))
    with tempfile.TemporaryDirectory() as place:
        for name, (table, target) in _TABLES.items():
            data = str(Path(place, f"{name}.csv"))
            _run("datasets", table, "-o", data)
            _run("select", data, "--target", target, "--report", str(folder / f"{name}.html"))


def _run(*arguments: str) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-m", "bahsic", *arguments]
    subprocess.run(command, env=environment, check=True, capture_output=True)  # noqa: S603


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx."""
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
