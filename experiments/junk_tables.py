"""Tables of numbers and categories, and the copies, noise and categories that are added to them."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments import honest_large, raw, real
from experiments.baselines.recent import library
from experiments.data import load as load_arrays
from experiments.raw import Table

DRAWN = "drawn"
_N_DRAWN = 1000

#: Share of the variance of the target that a real category explains.
EFFECT = 0.05


class Copied(NamedTuple):
    """Columns that matter, by the copy that is made of them."""

    rescaled: str
    exact: str
    relabelled: str | None = None


#: The columns of each table that are copied.
COPIED = {
    "titanic": Copied("Age", "Pclass", "Sex"),
    "wisconsin": Copied("texture_worst", "concave points_mean"),
    "housing": Copied("x13", "x6"),  # share of poor households, and rooms per dwelling
    DRAWN: Copied("x0", "x1", "region"),
}


def load(name: str, folder: Path | None, most_rows: int = 5000) -> Table:
    """Return the table of this name as a data frame, with at most so many rows of a raw file."""
    if name == DRAWN:
        return honest_large.draw_classes(_N_DRAWN)
    if name == "iris":
        return raw.bundled(name, "multiclass")
    if name in raw.DATASETS:
        return raw.load(name, folder, most_rows)
    return paper_set(name, folder)


def paper_set(name: str, folder: Path | None) -> Table:
    """Return one of the paper's sets, with columns x1, x2, ..."""
    with library():
        import pandas as pd
    data = load_arrays(name, folder)
    return Table(pd.DataFrame(data.X, columns=[f"x{j + 1}" for j in range(data.X.shape[1])]), data.y, data.task)


def small_sets(most_samples: int, most_columns: int) -> list[str]:
    """Return the paper's sets of at most this size."""
    sizes = real.SIZES | real.MORE
    return [name for name, (m, d) in sizes.items() if m <= most_samples and d <= most_columns]


def subsample(table: Table, share: float, random: np.random.Generator) -> Table:
    """Return a random share of the rows, in their order."""
    n = len(table.y)
    rows = np.sort(random.permutation(n)[: round(share * n)])
    return Table(table.X.iloc[rows].reset_index(drop=True), table.y[rows], table.task)


def with_columns(table: Table, columns: dict[str, Any], random: np.random.Generator) -> Table:
    """Return the table with more columns, all of them in random order, so that no position tells them apart."""
    import pandas as pd

    X = pd.concat([table.X, pd.DataFrame(columns, index=table.X.index)], axis=1)
    return table._replace(X=X.iloc[:, random.permutation(X.shape[1])])


def copies(X: Any, copied: Copied, random: np.random.Generator) -> dict[str, tuple[str, Any]]:
    """Return copies of columns: for each its name, and the name of the original and the values."""
    found = {
        "rescaled": (copied.rescaled, 1.8 * X[copied.rescaled] + 32),
        "exact": (copied.exact, X[copied.exact].copy()),
    }
    if copied.relabelled is not None:
        found["relabelled"] = (copied.relabelled, relabelled(X[copied.relabelled], random))
    return {f"{original} {kind}": (original, values) for kind, (original, values) in found.items()}


def relabelled(column: Any, random: np.random.Generator) -> Any:
    """Return a category with other names for its levels, which stand in another order."""
    import pandas as pd

    codes = column.cat.codes.to_numpy()
    n = len(column.cat.categories)
    names = random.permutation(n)
    return pd.Categorical.from_codes(np.where(codes < 0, -1, names[codes]), [f"level {i}" for i in range(n)])


def noise(n_samples: int, n_columns: int, random: np.random.Generator) -> dict[str, Any]:
    """Return columns of noise: half of them normal, a quarter uniform, a quarter categories of 2 to 5 levels."""
    n_uniform = n_categories = n_columns // 4
    columns: dict[str, Any] = {}
    for i in range(n_columns):
        if i < n_categories:
            values = category(random.integers(0, random.integers(2, 6), n_samples))
        elif i < n_categories + n_uniform:
            values = random.random(n_samples)
        else:
            values = random.standard_normal(n_samples)
        columns[f"noise {i}"] = values
    return columns


def category(codes: NDArray[Any]) -> Any:
    """Return a category whose levels are these whole numbers."""
    import pandas as pd

    return pd.Categorical([f"c{code}" for code in codes])


def real_category(table: Table, n_levels: int, random: np.random.Generator) -> tuple[Table, Any]:
    """Return the table with a target that depends weakly on a new category, and that category.

    The effects of the levels are normal, and scaled so that the category explains a share `EFFECT` of the variance of
    the target. They are added to numbers. With two classes, so many labels of a level are flipped, at random, that the
    expected share of the second class moves by the effect.
    """
    codes = random.integers(0, n_levels, len(table.y))
    effect = random.standard_normal(n_levels)[codes]
    effect = (effect - effect.mean()) / effect.std()
    y = table.y.astype(float) if table.task == "regression" else (table.y == table.y.max()).astype(float)
    if table.task == "regression":
        y = y + effect * y.std() * np.sqrt(EFFECT / (1 - EFFECT))
        return table._replace(y=y), category(codes)
    share = y.mean()
    shift = effect * np.sqrt(EFFECT * share * (1 - share))
    flipped = random.random(len(y)) < np.where(y == 0, shift / (1 - share), -shift / share)
    return table._replace(y=np.where(flipped, 1 - y, y).astype(int)), category(codes)
