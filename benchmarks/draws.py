"""Draw after draw: whether the two features of XOR come first, and how many of many noisy features "auto" takes."""

import numpy as np
from table import Row, row

from bahsic import BAHSIC
from bahsic.datasets import make_xor

_SIZES = [(500, 100), (1000, 500), (2000, 1000)]
_QUICK = [(300, 60)]
_N_DRAWS = 20

# Samples, features and draws of the noisy data, ten features of which are shifted between the classes.
_NOISY = [(500, 2000, 5), (500, 450, 5), (100, 2000, 5)]
_N_SHIFTED = 10


def rows(*, quick: bool) -> list[Row]:
    """Number of draws in which BAHSIC ranks the two relevant features first; number of features that "auto" takes."""
    noisy = [(60, 80, 1)] if quick else _NOISY
    return [*(_row(m, d) for m, d in (_QUICK if quick else _SIZES)), *(_noisy_row(*one) for one in noisy)]


def _row(m: int, d: int) -> Row:
    found = sum(_found(m, d, seed) for seed in range(_N_DRAWS))
    what = f"draws with XOR's two features on top, m={m}, d={d}"
    return row(what, found, f"== {_N_DRAWS}", note=f"of {_N_DRAWS}", m=m, d=d)


def _found(m: int, d: int, seed: int) -> bool:
    X, y, support = make_xor(m, d, random_state=seed)
    return bool((BAHSIC(2).fit(X, y).support_ == support).all())


def _noisy_row(m: int, d: int, n_draws: int) -> Row:
    taken, shifted = np.mean([_taken(m, d, seed) for seed in range(n_draws)], axis=0)
    what = f"features that auto takes by prediction, {_N_SHIFTED} are shifted, m={m}, d={d}"
    return row(what, taken, note=f"{shifted:.3g} of the {_N_SHIFTED}; means of {n_draws} draws", m=m, d=d)


def _taken(m: int, d: int, seed: int) -> tuple[int, int]:
    """Number of features, and of those that are shifted by one standard deviation between the classes."""
    random = np.random.default_rng(seed)
    y = random.permutation(np.arange(m) % 2)
    X = random.standard_normal((m, d))
    X[:, :_N_SHIFTED] += y[:, None]
    support = BAHSIC("auto", criterion="prediction").fit(X, y).support_
    return int(support.sum()), int(support[:_N_SHIFTED].sum())
