"""False discovery rate and power of hidimstat on the data of needed.py; runs in the environment of peers.txt.

Each draw is a line of results/needed_peers.csv, and a run goes on where the last one stopped. The conditional feature
importance is given the regression that suits the problem.
"""

import csv
import sys
import warnings
from collections.abc import Callable
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from needed import FDR, PROBLEMS, Setting, generator, settings
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits
from timing import seconds

FILE = Path(__file__).resolve().parent / "results" / "needed_peers.csv"
_COLUMNS = ("method", "problem", "m", "d", "draw", "n_discoveries", "fdp", "power", "seconds", "version")
_N_DRAWS = 20
_N_PERMUTATIONS = 5

Found = NDArray[np.intp]


def importance(problem: str, X: NDArray[np.float64], y: NDArray[np.float64], draw: int) -> Found:
    """Conditional feature importance of kernel ridge regression for interactions, of the lasso for a linear problem."""
    from hidimstat import CFICV
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.linear_model import LassoCV
    from sklearn.model_selection import KFold

    ridge = KernelRidge(alpha=0.01, kernel="rbf", gamma=0.25 / X.shape[1])  # the best of 20 choices, on another draw
    folds = KFold(5, shuffle=True, random_state=draw)
    model = ridge if problem == "pairs" else LassoCV()
    test = CFICV(model, folds, n_permutations=_N_PERMUTATIONS, random_state=draw)
    test.fit(X, y).importance(X, y)
    return np.flatnonzero(test.fdr_selection(FDR) > 0)


def knockoffs(problem: str, X: NDArray[np.float64], y: NDArray[np.float64], draw: int) -> Found:  # noqa: ARG001
    """Model-X knockoffs with the lasso, which is linear."""
    from hidimstat import ModelXKnockoff

    test = ModelXKnockoff(random_state=draw)
    test.fit(X, y).importance()
    return np.flatnonzero(test.fdr_selection(FDR))


METHODS: dict[str, Callable[..., Found]] = {"knockoffs": knockoffs, "importance": importance}


def main() -> None:
    """Draw what is missing, up to a number of draws."""
    threadpool_limits(1)
    warnings.simplefilter("ignore")
    known = set()
    if FILE.exists():
        with FILE.open() as file:
            known = {(r["method"], r["problem"], int(r["draw"])) for r in csv.DictReader(file)}
    wanted = [one for one in settings() if one.problem in ("pairs", "wide")]
    for method, one, draw in product(METHODS, wanted, range(_N_DRAWS)):
        if (method, one.problem, draw) not in known:
            _append(_line(method, one, draw))


def _line(method: str, one: Setting, draw: int) -> dict[str, Any]:
    X, y, true = PROBLEMS[one.problem](one, generator(one, draw))
    taken: Found = np.array([], dtype=np.intp)

    def select() -> None:
        nonlocal taken
        taken = METHODS[method](one.problem, X, y, draw)

    time, hits = seconds(select), np.isin(taken, true)
    counts = {
        "n_discoveries": len(taken),
        "fdp": (~hits).mean() if len(taken) else 0.0,
        "power": hits.sum() / len(true),
    }
    sizes = {"method": method, "problem": one.problem, "m": one.m, "d": one.d, "draw": draw}
    return {**sizes, **counts, "seconds": round(time, 2), "version": f"hidimstat {version('hidimstat')}"}


def _append(line: dict[str, Any]) -> None:
    is_new = not FILE.exists()
    with FILE.open("a", newline="") as file:
        writer = csv.DictWriter(file, _COLUMNS, lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow(line)


if __name__ == "__main__":
    sys.exit(main())
