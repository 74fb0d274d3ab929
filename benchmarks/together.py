"""How often each selector finds two features that matter only together."""

import sys
from pathlib import Path

from table import Row, row

from bahsic.datasets import make_xor

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from experiments.baselines import Problem
from experiments.methods import METHODS

# Selectors by the names of the experiments, and as users know them.
SELECTORS = {
    "prediction": 'BAHSIC, criterion="prediction"',
    "bahsic": 'BAHSIC, criterion="hsic"',
    "rfe": "RFE, linear SVM",
    "boruta": "Boruta",
    "mrmr": "mRMR",
    "mutual_information": "SelectKBest, mutual information",
    "pearson": "SelectKBest, correlation",
}
_M, _D = 200, 22
_N_DRAWS = 20


def rows(*, quick: bool) -> list[Row]:
    """Number of draws of XOR in which a selector that is asked for two features returns the two relevant ones."""
    n_draws = 1 if quick else _N_DRAWS
    return [_row(name, title, n_draws) for name, title in SELECTORS.items()]


def _row(name: str, title: str, n_draws: int) -> Row:
    found = sum(_found(name, seed) for seed in range(n_draws))
    bar = f"== {n_draws}" if title.startswith("BAHSIC") else ""
    what = f"{title}: draws of XOR with both features found, m={_M}, d={_D}"
    return row(what, found, bar, note=f"of {n_draws}", m=_M, d=_D, method=name)


def _found(name: str, seed: int) -> bool:
    X, y, support = make_xor(_M, _D, random_state=seed)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    chosen = METHODS[name].select(X, y, Problem("binary", number=2, seed=seed))[:2]
    return len(chosen) == 2 and bool(support[chosen].all())
