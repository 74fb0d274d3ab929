"""What testing a selection on its own samples claims of noise, and what `selection_test` does: rejection rates."""

from typing import NamedTuple

import numpy as np
from scipy import stats
from table import Row, row

from bahsic import BAHSIC, hsic_test, selection_test
from bahsic.datasets import make_xor

_M, _D = 40, 50  # noise: samples and features
_XOR_M, _XOR_D = 120, 12
_LEVELS = (0.01, 0.05, 0.1)
_N_NULL, _N_XOR = 2000, 200
_N_QUICK = 20
_N_SPLITS, _N_PERMUTATIONS = 5, 199


class _Pvalues(NamedTuple):
    """Of one data set: by the same samples, by others together, and the least of single features by others."""

    same_samples: float
    together: float
    single: float


def rows(*, quick: bool) -> list[Row]:
    """Rates on noise at each level, with the 99.9% binomial band as bar; then the power on XOR."""
    null = _Pvalues(*zip(*map(_of_noise, range(_N_QUICK if quick else _N_NULL)), strict=True))
    xor = _Pvalues(*zip(*map(_of_xor, range(_N_QUICK if quick else _N_XOR)), strict=True))
    sizes, setting = {"m": _XOR_M, "d": _XOR_D}, f"XOR, m={_XOR_M}, d={_XOR_D}"
    return [
        *(line for level in _LEVELS for line in _level_rows(null, level)),
        _row(f"{setting}: both features, selection_test", xor.together, 0.05, "" if quick else ">= 0.8", **sizes),
        _row(f"{setting}: a single feature, selection_test", xor.single, 0.05, _band(xor.single, 0.05), **sizes),
    ]


def _level_rows(null: _Pvalues, level: float) -> list[Row]:
    sizes, setting = {"m": _M, "d": _D}, f"noise, m={_M}, d={_D}"
    return [
        _row(f"{setting}: tested on the same samples", null.same_samples, level, **sizes),
        _row(f"{setting}: selection_test", null.together, level, _band(null.together, level), **sizes),
        _row(f"{setting}: any single feature, selection_test", null.single, level, _band(null.single, level), **sizes),
    ]


def _row(what: str, pvalues: tuple[float, ...], level: float, bar: str = "", **columns: int) -> Row:
    rate = float(np.mean(np.array(pvalues) <= level))
    note = f"rejected at {level:.0%}, of {len(pvalues)}"
    return row(what, rate, bar, note=note, level=level, n_data_sets=len(pvalues), **columns)


def _band(pvalues: tuple[float, ...], level: float) -> str:
    """The rate that a valid test exceeds with a probability of 0.1% at most."""
    return f"<= {stats.binom.ppf(0.999, len(pvalues), level) / len(pvalues):g}"


def _of_noise(seed: int) -> _Pvalues:
    random = np.random.default_rng(seed)
    return _pvalues(BAHSIC(3, step=0.5), random.normal(size=(_M, _D)), random.permutation(np.arange(_M) % 2), seed)


def _of_xor(seed: int) -> _Pvalues:
    X, y, _ = make_xor(_XOR_M, _XOR_D, random_state=seed)
    return _pvalues(BAHSIC(2), X, y, seed)


def _pvalues(selector: BAHSIC, X: np.ndarray, y: np.ndarray, seed: int) -> _Pvalues:
    options = {"n_permutations": _N_PERMUTATIONS, "random_state": seed, "n_jobs": 1}
    naive = hsic_test(selector.fit(X, y).transform(X), y, **options)
    honest = selection_test(selector, X, y, n_splits=_N_SPLITS, feature_test="marginal", **options)
    return _Pvalues(naive.pvalue, honest.pvalue, float(honest.feature_pvalues.min()))
