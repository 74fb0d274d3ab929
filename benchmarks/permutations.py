"""The permutation test against hyppo's: time with as many permutations of the same samples, and the decision.

hyppo runs in the environment of the peers, with one worker, its default; with a process for each core it takes
several times as long for samples of this size.
"""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from peers import environment, measured
from table import Row, row
from timing import best_times, seconds

from bahsic import hsic_test
from bahsic.datasets import make_xor

_HERE = Path(__file__).resolve().parent
_LIMIT = 600.0  # seconds


def rows(*, quick: bool) -> list[Row]:
    """Time of hyppo's test over that of ours, and whether both decide the same at 5%."""
    m, count = (100, 99) if quick else (1000, 999)
    python = environment()
    return [line for name, x, y in _data(m) for line in _rows(python, name, x, y, count, quick=quick)]


def _data(m: int) -> list[tuple[str, NDArray[np.float64], NDArray[Any]]]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(m, 1))
    X, labels, _ = make_xor(m, 2, random_state=0)
    many = rng.normal(size=(m, 50))
    return [
        ("x and sin(2 x) + noise", x, np.sin(2 * x[:, 0]) + rng.normal(size=m)),
        ("two independent numbers", x, rng.normal(size=m)),
        ("XOR and its class", X, labels),
        ("50 features and a number", many, np.abs(many[:, :3]).sum(axis=1)),
        ("50 features and 20 numbers", many, many[:, :20] ** 2 + rng.normal(size=(m, 20))),
    ]


def _rows(python: Path, name: str, x: NDArray[np.float64], y: NDArray[Any], count: int, *, quick: bool) -> list[Row]:
    def test() -> float:
        return hsic_test(x, y, kernel="gaussian", standardize=False, n_permutations=count, random_state=0).pvalue

    own = best_times({"test": lambda: seconds(test)}, repeats=3)["test"]
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "data.npz")
        np.savez(data, x=x, y=y.reshape(len(y), -1))
        peer = measured([python, _HERE / "peer_test.py", data, str(count)], _LIMIT)
    if peer is None:
        raise RuntimeError(f"hyppo took more than {_LIMIT:.0f} s for {name}")
    pvalue = test()
    columns = {"m": len(x), "n_permutations": count, "seconds": own, "peer_seconds": peer["seconds"]}
    note = f"{own:.3g} s, {peer['package']} {peer['seconds']:.3g} s, p {pvalue:.3g} and {peer['pvalue']:.3g}"
    same = int((pvalue <= 0.05) == (peer["pvalue"] <= 0.05))
    return [
        row(f"hyppo / hsic_test, {name}", peer["seconds"] / own, "" if quick else ">= 20", note=note, **columns),
        row(f"same decision, {name}", same, "== 1", **columns),
    ]
