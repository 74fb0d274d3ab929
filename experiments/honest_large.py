"""Tables of many rows: R2 of gradient boosting on held-out samples, for several seeds of the selection."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments import raw
from experiments.baselines.recent import library
from experiments.frame import Cell
from experiments.honest_variants import ALL, VARIANTS, select
from experiments.rows import Row

N_SEEDS = 5
_TEST_SHARE = 0.25
DRAWN, CLASSES, ADULT = "drawn table", "drawn classes", "adult"
N_ROWS = {ADULT: 32_561, DRAWN: 300_000, CLASSES: 60_000}
N_QUICK = 6000

#: The columns of the drawn tables that matter; of two that are nearly the same, either will do.
TRUTH = {
    DRAWN: (("a", "a_copy"), ("b",), ("hour",), ("carrier",), ("kind",)),
    CLASSES: (("x0",), ("x1",), ("x2",), ("x3",), ("region",)),
}


def cells(quick: bool) -> list[Cell]:
    """Return tables, variants and seeds; without a selection one seed is enough."""
    rows_of = {DRAWN: N_QUICK} if quick else N_ROWS
    return [
        {"part": "large", "problem": name, "n_samples": n, "n_noise": "", "variant": variant, "run": seed}
        for name, n in rows_of.items()
        for variant in VARIANTS
        for seed in range(1 if quick or variant == ALL else N_SEEDS)
    ]


def draw(n_samples: int) -> raw.Table:
    """Return a table of 20 numbers and categories with missing entries, and labels with heavy tails.

    The labels depend on a number, on the sign of another one together with a category of three levels, on the hour of
    the day and on a category of twelve levels; the best R2 is near 0.4.
    """
    with library():
        import pandas as pd

    random = np.random.default_rng(0)
    a, b = random.standard_normal((2, n_samples))
    hour, carrier, kind = (random.integers(0, levels, n_samples) for levels in (24, 12, 3))
    columns = {"a": a, "a_copy": a + 0.1 * random.standard_normal(n_samples), "b": b, "hour": hour}
    columns |= {f"normal{i}": random.standard_normal(n_samples) for i in range(4)}
    columns |= {f"skewed{i}": np.exp(1.5 * random.standard_normal(n_samples)) for i in range(3)}
    columns |= {f"count{i}": random.poisson(rate, n_samples) for i, rate in enumerate((0.1, 3))}
    columns["date"] = random.integers(0, 365, n_samples)
    columns |= {"carrier": _category(carrier), "kind": _category(kind)}
    columns |= {f"level{n}": _category(random.integers(0, n, n_samples)) for n in (2, 5, 30, 100)}
    X = pd.DataFrame(columns)
    for name in ("a_copy", "normal0", "level5"):
        X.loc[random.random(n_samples) < 0.1, name] = None
    effects = np.linspace(-0.8, 0.8, 12)[carrier] + np.sin(2 * np.pi * hour / 24) + 0.5 * a
    y = effects + np.sign(b) * (kind - 1) + random.standard_t(4, n_samples)
    return raw.Table(X, y, "regression")


def draw_classes(n_samples: int) -> raw.Table:
    """Return a table of 30 columns and two classes, a quarter of them positive.

    The odds depend on a number, on the square of another one, on the product of two and on a category of eight levels.
    """
    import pandas as pd

    random = np.random.default_rng(1)
    x, region = random.standard_normal((26, n_samples)), random.integers(0, 8, n_samples)
    columns = {f"x{i}": values for i, values in enumerate(x)} | {"region": _category(region)}
    columns |= {f"level{n}": _category(random.integers(0, n, n_samples)) for n in (3, 12, 60)}
    odds = x[0] + 0.7 * np.square(x[1]) + x[2] * x[3] + np.linspace(-1, 1, 8)[region] - 2.2
    y = (random.random(n_samples) < 1 / (1 + np.exp(-odds))).astype(int)
    return raw.Table(pd.DataFrame(columns), y, "binary")


def _category(codes: NDArray[Any]) -> Any:
    import pandas as pd

    return pd.Categorical([f"c{code}" for code in codes])


def rows(cell: Cell, folder: Path | None) -> list[Row]:
    """Select in three quarters of the rows, and predict the others by gradient boosting on the selected columns."""
    from sklearn.model_selection import train_test_split

    name = cell["problem"]
    drawn = {DRAWN: draw, CLASSES: draw_classes}.get(name)
    table = raw.load(name, folder, most_rows=None) if drawn is None else drawn(cell["n_samples"])
    classes = None if table.task == "regression" else table.y
    train, test = train_test_split(np.arange(len(table.y)), test_size=_TEST_SHARE, random_state=0, stratify=classes)
    found = select(cell["variant"], table.X.iloc[train], table.y[train], cell["run"])
    chosen = table.X.columns[found.features]
    n_found = sum(any(one in chosen for one in group) for group in TRUTH[name]) if name in TRUTH else ""
    fresh = boosted_r2(table, chosen, train, test)
    about = {"n_features": table.X.shape[1], "found": n_found, "features": " ".join(chosen)}
    return [found.row | about | {"fresh": f"{fresh:.4f}"}]


def boosted_r2(table: raw.Table, chosen: Any, train: NDArray[np.intp], test: NDArray[np.intp]) -> float:
    """Return R2 of gradient boosting in the test part, of two classes that of the predicted probabilities."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from threadpoolctl import threadpool_limits

    X, y, regression = table.X[chosen], table.y, table.task == "regression"
    kind = HistGradientBoostingRegressor if regression else HistGradientBoostingClassifier
    with threadpool_limits(1):
        model = kind(categorical_features="from_dtype", random_state=0).fit(X.iloc[train], y[train])
        predicted = model.predict(X.iloc[test]) if regression else model.predict_proba(X.iloc[test])[:, 1]
    return 1 - float(np.square(y[test] - predicted).sum() / np.square(y[test] - y[train].mean()).sum())
