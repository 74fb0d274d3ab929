"""Against other selectors on the same XOR data: time, and ranks of the two features that matter.

The others run in an environment of their own, benchmarks/.peers, which is made when it is missing,
each in a process of its own whose start is not counted. The fit is timed before and after each of them;
of both sides the best of several tries counts, where the other takes less than some seconds.
One that takes longer than the limit is stopped, and the limit stands for its time.
"""

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from peer_fit import PEERS
from table import Row, row
from timing import best_times, seconds

from bahsic import BAHSIC
from bahsic.datasets import make_xor

_HERE = Path(__file__).resolve().parent
_ENVIRONMENT = _HERE / ".peers"

_SIZES = [(500, 100), (1000, 500), (2000, 1000)]
_QUICK = [(200, 40)]

_LIMIT = 90.0  # seconds


def rows(*, quick: bool) -> list[Row]:
    """Time of each of the others over that of a fit, with the ranks of the two features."""
    python = environment()
    return [line for m, d in (_QUICK if quick else _SIZES) for line in _size_rows(python, m, d, quick=quick)]


def environment() -> Path:
    """The interpreter of the peers' environment, which the Makefile knows how to make."""
    name = _ENVIRONMENT.relative_to(_HERE.parent).as_posix()
    command = ["make", "--no-print-directory", f"VENV={name}", f"{name}/.peers"]
    # Progress of the installation is no part of the table.
    subprocess.run(command, cwd=_HERE.parent, check=True, stdout=subprocess.DEVNULL)
    return _ENVIRONMENT / ("Scripts" if os.name == "nt" else "bin") / "python"


def _size_rows(python: Path, m: int, d: int, *, quick: bool) -> list[Row]:
    X, y, _ = make_xor(m, d, random_state=0)
    selector = BAHSIC(2).fit(X, y)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "data.npz")
        np.savez(data, X=X, y=y)
        found = []
        for name in PEERS:
            before = _fit_seconds(selector, X, y)
            peer = measured([python, _HERE / "peer_fit.py", name, data], _LIMIT)
            fit = min(before, _fit_seconds(selector, X, y))
            found.append(_row(name, peer, fit, (m, d), "" if quick else ">= 1"))
    order = selector.elimination_order_[::-1].tolist()
    note = f"{min(line['fit_seconds'] for line in found):.3g} s, ranks {_shown([order.index(j) + 1 for j in (0, 1)])}"
    return [row(f"BAHSIC, m={m}, d={d}", 1.0, note=note, m=m, d=d, peer="BAHSIC"), *found]


def _fit_seconds(selector: BAHSIC, X: NDArray[np.float64], y: NDArray[np.int64]) -> float:
    return best_times({"fit": lambda: seconds(lambda: selector.fit(X, y))}, repeats=2)["fit"]


def _row(name: str, peer: dict[str, Any] | None, fit: float, size: tuple[int, int], bar: str) -> Row:
    m, d = size
    time = _LIMIT if peer is None else peer["seconds"]
    first = [] if peer is None else peer["ranks"][:2]
    note = f"stopped after {_LIMIT:.0f} s" if peer is None else f"{time:.3g} s, ranks {_shown(first)}"
    return row(
        f"{name} / fit, m={m}, d={d}",
        time / fit,
        bar,
        note=note,
        m=m,
        d=d,
        peer=name if peer is None else f"{name}, {peer['package']}",
        fit_seconds=fit,
        peer_seconds=time,
        stopped=peer is None,
        ranks=_shown(first),
    )


def _shown(found: Sequence[int]) -> str:
    """Ranks as text; a feature that was not selected has none."""
    return " and ".join(str(rank) if rank else "none" for rank in found)


def measured(command: Sequence[str | Path], limit: float) -> dict[str, Any] | None:
    """The JSON object in the last line of a program's output, or None where it takes too many seconds."""
    # A session of its own, so that the processes that it starts can be stopped with it.
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            output, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None
    if process.returncode:
        raise RuntimeError(f"{' '.join(map(str, command[1:]))} failed with status {process.returncode}")
    result: dict[str, Any] = json.loads(output.splitlines()[-1])
    return result
