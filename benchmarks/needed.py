"""Conditional p-values draw by draw: false features called needed, true ones found, near-copies, false discoveries.

Each draw is a line of results/needed_draws.csv with the version of the code, and a run goes on where the last one
stopped. The environment variable PROCESSES says how many processes draw, all cores by default. ``python
benchmarks/needed.py 5`` draws five of each setting again, and names those that the present code finds otherwise.
"""

import csv
import os
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from table import Row, row

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from experiments.version import DECIDING, fingerprint

_DRAWS = Path(__file__).resolve().parent / "results" / "needed_draws.csv"
_LEVEL, FDR, _R_COPY = 0.05, 0.1, 0.95
_COLUMNS = (
    "problem",
    "m",
    "d",
    "n_splits",
    "draw",
    "n_selected",
    "false",
    "found",
    "n_discoveries",
    "fdp",
    "power",
    "version",
)
_N_DRAWS = 200
_LONG = ("pairs", "wide")  # where the false discovery rate is measured
_N_PAIRED = 6  # features whose interactions are compared


class Setting(NamedTuple):
    """A problem, its size, the number of splits, and what is asked of false and of true features."""

    problem: str
    m: int
    d: int
    n_splits: int = 1
    most_false: float | None = 0.07
    least_found: float | None = None


def settings() -> list[Setting]:
    """All settings, the cheap ones first."""
    found = {"xor": 0.9, "weak": 0.9, "friedman": 0.9}
    plain, other = ("noise", *found), ("heavy tails", "rare class", "mixed")
    one = [
        Setting(problem, m, d, least_found=found.get(problem) if (m, d) == (400, 30) else None)
        for m in (200, 400)
        for problem, d in [*product(plain, (30, 100)), *product(other, (30,))]
    ]
    many = [Setting(p, 400, 30, 20, most_false=0.05, least_found=0.8 if p in found else None) for p in plain]
    rates = [Setting("pairs", 2500, 50, most_false=None), Setting("wide", 500, 500, most_false=None)]
    pair = Setting("pair", 400, 30, most_false=None, least_found=1.0)
    return [Setting("copy", 400, 8, most_false=0.1), pair, *one, *many, *rates]


def rows(*, quick: bool) -> list[Row]:
    """Draw what is missing, and the rates over all draws."""
    wanted = [one for one in settings() if not quick or one.problem == "copy" or (one.problem, one.m) == ("noise", 200)]
    done = _done(wanted, 2 if quick else None)
    return [line for one in wanted for line in _rates(one, done)]


def shares(one: Setting, lines: list[dict[str, str]]) -> dict[str, Any]:
    """Means over the draws of a setting: false features, true ones found, discoveries; None where there is none."""
    draws = [line for line in lines if _is_of(line, one)]
    found: dict[str, Any] = {"n_draws": len(draws)}
    for name in ("n_selected", "false", "found", "fdp", "power"):
        values = [float(line[name]) for line in draws if line[name]]
        found[name] = float(np.mean(values)) if values else None
    if one.problem not in _LONG:
        found |= {"fdp": None, "power": None}
    return found


def _rates(one: Setting, lines: list[dict[str, str]]) -> list[Row]:
    found = shares(one, lines)
    if not found["n_draws"]:
        return []
    what = f"{one.problem}, m={one.m}, d={one.d}, {one.n_splits} split{'s' if one.n_splits > 1 else ''}"
    note = f"{found['n_draws']} draws, {found['n_selected']:.1f} features selected"
    called = "near-copy called needed" if one.problem == "copy" else f"any false feature at {_LEVEL:.0%}"
    hit = "largest interaction" if one.problem == "pair" else f"true features found at {_LEVEL:.0%}"
    kinds = (
        ("false", called, one.most_false and f"<= {one.most_false}"),
        ("found", hit, one.least_found and f">= {one.least_found}"),
        ("fdp", f"false discovery rate at {FDR:.0%}", "<= 0.12"),
        ("power", "true features discovered", None),
    )
    sizes = {"problem": one.problem, "m": one.m, "d": one.d, "n_splits": one.n_splits, "n_draws": found["n_draws"]}
    return [
        row(f"{what}: {kind}", found[name], bar or "", note=note, kind=name, **sizes)
        for name, kind, bar in kinds
        if found[name] is not None
    ]


def _is_of(line: dict[str, str], one: Setting) -> bool:
    key = (one.problem, one.m, one.d, one.n_splits)
    return (line["problem"], *(int(line[name]) for name in ("m", "d", "n_splits"))) == key


def _done(wanted: list[Setting], most: int | None) -> list[dict[str, str]]:
    """Lines of all draws; what is missing is drawn, and with a small number for each setting not written."""
    lines = _read()
    known = {(r["problem"], *(int(r[name]) for name in ("m", "d", "n_splits", "draw"))) for r in lines}
    tasks = [(one, draw) for one in wanted for draw in range(most or _N_DRAWS) if (*one[:4], draw) not in known]
    tasks.sort(key=lambda task: task[1] * _costs(task[0]))
    with ProcessPoolExecutor(int(os.environ.get("PROCESSES", os.cpu_count() or 1)), initializer=_one_thread) as pool:
        for found in as_completed([pool.submit(_draw, *task) for task in tasks]):
            lines.append(found.result())
            if most is None:
                _append(lines[-1:])
    return lines


def _read() -> list[dict[str, str]]:
    return list(csv.DictReader(_DRAWS.read_text().splitlines())) if _DRAWS.exists() else []


def _costs(one: Setting) -> int:
    """How many draws of a cheap setting come with one draw."""
    return 4 if one.n_splits > 1 else 2 if one.problem in _LONG else 1


def _append(lines: list[dict[str, Any]]) -> None:
    is_new = not _DRAWS.exists()
    with _DRAWS.open("a", newline="") as file:
        writer = csv.DictWriter(file, _COLUMNS, lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerows(lines)


def _one_thread() -> None:
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


def generator(one: Setting, draw: int) -> np.random.Generator:
    """What a draw of a setting is drawn by."""
    return np.random.default_rng([draw, one.m, one.d, *one.problem.encode()])


def _draw(one: Setting, draw: int) -> dict[str, str]:
    """One data set: select and test, and count."""
    from bahsic import BAHSIC, conditional_test, interactions, selection_test

    X, y, true = PROBLEMS[one.problem](one, generator(one, draw))
    line: dict[str, Any] = dict.fromkeys(_COLUMNS, "") | one._asdict() | {"draw": draw, "version": _version()}
    if one.problem == "copy":
        p = conditional_test(X, y, feature=3, given=[0, 1, 2], n_splits=1, random_state=draw, n_jobs=1).pvalue
        line |= {"n_selected": 4, "false": int(p <= _LEVEL)}
    elif one.problem == "pair":
        selector = BAHSIC(_N_PAIRED, criterion="prediction", n_jobs=1).fit(X, y)
        best = interactions(selector, X, y)[0]
        line |= {"n_selected": _N_PAIRED, "found": int({best.first, best.second} == set(true))}
    else:
        selector = BAHSIC("auto", criterion="prediction", n_jobs=1)
        options: Any = {"method": "gamma", "random_state": draw, "n_jobs": 1}
        test = selection_test(selector, X, y, n_splits=one.n_splits, **options)
        called, is_true = test.feature_pvalues <= _LEVEL, np.isin(np.arange(one.d), true)
        line |= {"n_selected": test.frequencies.sum(), "false": int((called & ~is_true).any())}
        if len(true):
            taken = test.discoveries(FDR)
            line |= {
                "found": called[is_true].mean(),
                "n_discoveries": len(taken),
                "fdp": (~is_true[taken]).mean() if len(taken) else 0.0,
                "power": is_true[taken].sum() / len(true),
            }
    return {name: str(line[name]) for name in _COLUMNS}


@cache
def _version() -> str:
    """Version of the package, and a fingerprint of the code that selects and tests."""
    import bahsic

    root = Path(bahsic.__file__).parent
    return f"{bahsic.__version__}+{fingerprint(root / part for part in (*DECIDING, 'inference'))}"


def changed_draws(n_draws: int) -> list[str]:
    """Draw some data sets of each setting again, and describe those whose results differ from the committed ones."""
    known = {(r["problem"], *(int(r[name]) for name in ("m", "d", "n_splits", "draw"))): r for r in _read()}
    tasks = [(one, draw) for one in settings() for draw in range(_N_DRAWS) if (*one[:4], draw) in known]
    tasks = [task for task in tasks if task[1] % (_N_DRAWS // n_draws) == 1]
    changed = []
    with ProcessPoolExecutor(int(os.environ.get("PROCESSES", os.cpu_count() or 1)), initializer=_one_thread) as pool:
        for (one, draw), line in zip(tasks, pool.map(_draw, *zip(*tasks, strict=True)), strict=True):
            old = known[*one[:4], draw]
            if any(line[name] != old[name] for name in _COLUMNS if name != "version"):
                changed.append(
                    f"{one.problem}, m={one.m}, d={one.d}, {one.n_splits} splits, draw {draw}: {old}, {line}"
                )
    return [*changed, f"{len(changed)} of {len(tasks)} draws differ"]


Drawn = tuple[Any, np.ndarray, list[int]]


def _normal(labels: Callable[..., Any], n_true: int) -> Callable[[Setting, np.random.Generator], Drawn]:
    def drawn(one: Setting, random: np.random.Generator) -> Drawn:
        X = random.standard_normal((one.m, one.d))
        return X, labels(X, random), list(range(n_true))

    return drawn


def _xor(X: np.ndarray, random: np.random.Generator) -> np.ndarray:
    return ((X[:, 0] * X[:, 1] > 0) ^ (random.random(len(X)) < 0.1)).astype(int)


def _rare(X: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """A tenth of the samples is positive."""
    z = 1.5 * (X[:, 0] + X[:, 1]) + random.logistic(size=len(X))
    return (z > np.quantile(z, 0.9)).astype(int)


def _copy(X: np.ndarray, random: np.random.Generator) -> np.ndarray:
    X[:, 3:] = _R_COPY * X[:, [0]] + np.sqrt(1 - _R_COPY**2) * X[:, 3:]
    return X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * random.standard_normal(len(X))


def _friedman(one: Setting, random: np.random.Generator) -> Drawn:
    X = random.random((one.m, one.d))
    smooth = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return X, smooth + random.standard_normal(one.m), [0, 1, 2, 3, 4]


def _heavy(one: Setting, random: np.random.Generator) -> Drawn:
    X = random.standard_t(3, (one.m, one.d))
    return X, X[:, 0] + 0.5 * X[:, 1] + 1.5 * random.standard_t(2, one.m), [0, 1]


def _mixed(one: Setting, random: np.random.Generator) -> Drawn:
    """Half of the columns are categories of 2 to 6 levels; a tenth of the entries of every third column is missing."""
    import pandas as pd

    X = pd.DataFrame(random.standard_normal((one.m, one.d))).rename(columns=lambda j: f"x{j}")
    for j in range(1, one.d, 2):
        levels = 3 if j == 1 else int(random.integers(2, 7))
        X[f"x{j}"] = pd.Categorical(random.integers(0, levels, one.m))
    effect = np.array([-1.0, 0.0, 1.0])[X["x1"].cat.codes]
    y = 0.8 * X["x0"].to_numpy() + effect + random.standard_normal(one.m)
    for j in range(2, one.d, 3):
        X.loc[random.random(one.m) < 0.1, f"x{j}"] = np.nan
    return X, y, [0, 1]


def _pairs(X: np.ndarray, random: np.random.Generator) -> np.ndarray:
    return (X[:, 0:20:2] * X[:, 1:20:2]).sum(axis=1) + random.standard_normal(len(X))


PROBLEMS: dict[str, Callable[[Setting, np.random.Generator], Drawn]] = {
    "noise": _normal(lambda X, random: random.standard_normal(len(X)), 0),
    "weak": _normal(lambda X, random: 0.7 * (X[:, 0] + X[:, 1]) + 1.5 * random.standard_normal(len(X)), 2),
    "xor": _normal(_xor, 2),
    "friedman": _friedman,
    "heavy tails": _heavy,
    "rare class": _normal(_rare, 2),
    "mixed": _mixed,
    "copy": _normal(_copy, 3),
    "pair": _normal(_xor, 2),
    "pairs": _normal(_pairs, 20),
    "wide": _normal(lambda X, random: 0.5 * X[:, :40].sum(axis=1) + random.standard_normal(len(X)), 40),
}


if __name__ == "__main__":
    print(*changed_draws(int(sys.argv[1])), sep="\n")
