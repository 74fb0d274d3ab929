"""Whether the two features of XOR come out on top, draw after draw."""

from table import Row, row

from bahsic import BAHSIC
from bahsic.datasets import make_xor

_SIZES = [(500, 100), (1000, 500), (2000, 1000)]
_QUICK = [(300, 60)]
_N_DRAWS = 20


def rows(*, quick: bool) -> list[Row]:
    """Number of draws in which BAHSIC ranks the two relevant features first."""
    return [_row(m, d) for m, d in (_QUICK if quick else _SIZES)]


def _row(m: int, d: int) -> Row:
    found = sum(_found(m, d, seed) for seed in range(_N_DRAWS))
    what = f"draws with XOR's two features on top, m={m}, d={d}"
    return row(what, found, f"== {_N_DRAWS}", note=f"of {_N_DRAWS}", m=m, d=d)


def _found(m: int, d: int, seed: int) -> bool:
    X, y, support = make_xor(m, d, random_state=seed)
    return bool((BAHSIC(2).fit(X, y).support_ == support).all())
