"""Level of p-values under independence, power, coverage of intervals, and the time of conditional p-values."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from table import Row, row
from timing import best_times, seconds

from bahsic import BAHSIC, conditional_test, hsic_interval, hsic_scores, hsic_test, selection_test
from bahsic.kernels import Gaussian

_LEVEL = 0.05
_N_PERMUTATIONS = 199  # 0.05 is one of the p-values that these can give


def rows(*, quick: bool) -> list[Row]:
    """Rejection rates at 5% under independence, rates of detection, and coverage of 95% intervals."""
    n = 100 if quick else 2000
    found = [
        _level(method, m, labels, n)
        for method in ("permutation", "gamma")
        for m in (50, 200)
        for labels in ("continuous", "classes")
    ]
    found += [_level_of_scores(labels, n) for labels in ("continuous", "classes")]
    found += [_level_of_conditional(m, labels, n) for m in (200, 400) for labels in ("continuous", "classes")]
    found.append(_degenerate(n))
    found += [_power(alone=alone, n=n // 10) for alone in (False, True)]
    found += [_coverage(m, n) for m in (200, 500, 1000)]
    return found + [_time(criterion, quick=quick) for criterion in ("prediction", "hsic")]


def _band(n: int) -> tuple[float, float]:
    """Rates of rejection between which 99.9% of all experiments with n data sets lie, if the level is right."""
    low, high = stats.binom.ppf([0.0005, 0.9995], n, _LEVEL) / n
    return float(low), float(high)


def _in_band(what: str, rejected: NDArray[np.bool_], **columns: Any) -> Row:
    n, rate = len(rejected), float(rejected.mean())
    low, high = _band(n)
    inside = int(low <= rate <= high)
    note = f"rejected {rate:.4f} of {n}; 99.9% band {low:.4f} to {high:.4f}"
    return row(f"level within its band, {what}", inside, "== 1", note=note, n=n, rate=rate, **columns)


def _null(labels: str, m: int, rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Independent data: heavy tails, skewness and unequal classes, none of which may matter."""
    x = rng.standard_t(3, size=m)
    return x, (rng.exponential(size=m) if labels == "continuous" else rng.choice(3, size=m, p=[0.5, 0.3, 0.2]))


def _level(method: str, m: int, labels: str, n: int) -> Row:
    rng = np.random.default_rng([m, len(method), len(labels)])

    def rejected() -> bool:
        x, y = _null(labels, m, rng)
        found = hsic_test(x, y, method=method, n_permutations=_N_PERMUTATIONS, random_state=rng)
        return found.pvalue <= _LEVEL

    rates = np.array([rejected() for _ in range(n)])
    return _in_band(f"{method}, m={m}, {labels}", rates, method=method, m=m, labels=labels)


def _level_of_scores(labels: str, n: int) -> Row:
    rng = np.random.default_rng([n, len(labels)])
    rates = [hsic_scores(rng.normal(size=(100, 1)), _null(labels, 100, rng)[1])[1][0] <= _LEVEL for _ in range(n)]
    return _in_band(f"hsic_scores, m=100, {labels}", np.array(rates), method="gamma", m=100, labels=labels)


def _level_of_conditional(m: int, labels: str, n: int) -> Row:
    """The feature depends on the one that is given, and the labels on neither."""
    rng = np.random.default_rng([m, n, len(labels)])

    def rejected() -> bool:
        x, y = _null(labels, m, rng)
        X = np.column_stack([x + rng.standard_normal(m), x])
        return conditional_test(X, y, 0, n_splits=1, random_state=rng, n_jobs=1).pvalue <= _LEVEL

    rates = np.array([rejected() for _ in range(n)])
    return _in_band(f"conditional_test, m={m}, {labels}", rates, method="conditional", m=m, labels=labels)


def _degenerate(n: int) -> Row:
    """Why the normal approximation is no test at the null: shown, with no bar."""
    rng = np.random.default_rng(n)
    rates = np.mean([hsic_test(*_null("continuous", 200, rng), method="normal").pvalue <= _LEVEL for _ in range(n)])
    return row("rejection rate of 'normal' at the null, m=200", float(rates), note="not a test: see hsic_test", n=n)


def _power(*, alone: bool, n: int) -> Row:
    rng = np.random.default_rng(n)

    def rejected() -> bool:
        signs = rng.choice([-1, 1], size=(200, 2))
        X = signs + 0.3 * rng.normal(size=signs.shape)
        y = signs.prod(axis=1)
        x = X[:, :1] if alone else X
        return hsic_test(x, y, n_permutations=_N_PERMUTATIONS, random_state=rng).pvalue <= _LEVEL

    rates = np.array([rejected() for _ in range(n)])
    if alone:
        return _in_band("XOR, one feature alone, m=200", rates, m=200)
    return row("power on XOR with both features, m=200", float(rates.mean()), ">= 1", n=n, m=200)


def _coverage(m: int, n: int) -> Row:
    """Of the HSIC of a distribution on a few cells, which is a finite sum."""
    rng = np.random.default_rng(m)
    x, y = np.array([0.0, 0.0, 1.0, 1.0, 2.0, 2.0]), np.array([0.0, 1.0, 0.0, 1.0, 1.0, 2.0])
    P = np.array([0.3, 0.05, 0.1, 0.2, 0.1, 0.25])
    kernel = Gaussian(0.5)
    truth = _population_hsic(kernel(x), kernel(y), P)

    def covered() -> bool:
        drawn = rng.choice(6, size=m, p=P)
        low, high = hsic_interval(x[drawn], y[drawn], kernel=kernel, target_kernel=kernel, standardize=False)
        return low <= truth <= high

    rate = float(np.mean([covered() for _ in range(n)]))
    inside = int(0.93 <= rate <= 0.97)
    bar = "== 1" if m == 500 and n >= 1000 else ""
    note = f"covered {rate:.4f} of {n}; asked for 0.93 to 0.97"
    return row(f"coverage of the 95% interval, m={m}", inside, bar, note=note, n=n, m=m, rate=rate)


def _time(criterion: str, *, quick: bool) -> Row:
    """Conditional p-values of ten selected features against marginal ones, on one thread, selections included."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 30))
    y = (X[:, 0:10:2] * X[:, 1:10:2]).sum(axis=1) + rng.standard_normal(1000)
    selector = BAHSIC(10, criterion=criterion)

    def test(kind: Literal["conditional", "marginal"]) -> float:
        n_splits = 2 if quick else 20
        return seconds(
            lambda: selection_test(selector, X, y, n_splits=n_splits, feature_test=kind, random_state=0, n_jobs=1)
        )

    times = best_times(
        {"conditional": lambda: test("conditional"), "marginal": lambda: test("marginal")}, 1 if quick else 3
    )
    note = ", ".join(f"{kind} {time:.3g} s" for kind, time in times.items())
    ratio = times["conditional"] / times["marginal"]
    return row(f"conditional / marginal p-values, {criterion}", ratio, "" if quick else "<= 1.5", note=note, m=1000)


def _population_hsic(K: NDArray[np.float64], L: NDArray[np.float64], P: NDArray[np.float64]) -> float:
    """The three expectations of the definition (equation hsic_k), each a finite sum."""
    return float(P @ (K * L) @ P + (P @ K @ P) * (P @ L @ P) - 2 * P @ ((K @ P) * (L @ P)))
