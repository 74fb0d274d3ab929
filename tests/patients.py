"""A table as users have it, of columns of all types with missing entries, in every container."""

import numpy as np
import pytest


def patients(m=60):
    """Columns of all types with missing entries, and labels: an interaction of smoking and dose decides."""
    rng = np.random.default_rng(1)
    smokes, dose = rng.random(m) < 0.5, rng.normal(size=m)
    columns = {
        "ward": rng.choice(["east", "north", "west"], m).tolist(),
        "smokes": smokes.tolist(),
        "visits": rng.integers(0, 9, m).tolist(),
        "city": rng.choice(["Basel", "Bern"], m).tolist(),
        "weight": rng.normal(70, 10, m).tolist(),
        "dose": dose.tolist(),
    }
    for position, name in enumerate(["ward", "visits", "city", "weight", "dose"]):
        columns[name][position :: 9 + position] = [None] * len(columns[name][position :: 9 + position])
    return columns, np.where(smokes ^ (dose > 0), "ill", "well")


def in_pandas(columns):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    kinds = {"ward": "category", "smokes": bool, "visits": "Int64", "city": object, "weight": float, "dose": float}
    return pd.DataFrame({name: pd.Series(values, dtype=kinds.get(name)) for name, values in columns.items()})


def in_polars(columns):
    pl = pytest.importorskip("polars", reason="polars is not installed")
    return pl.DataFrame(columns, schema_overrides={"ward": pl.Enum(["west", "north", "east"])})


def in_pyarrow(columns):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    arrays = {name: pa.array(values) for name, values in columns.items()}
    return pa.table(arrays | {"ward": arrays["ward"].dictionary_encode()})


def in_codes(columns):
    """As an array: codes of the categories, NaN where an entry is missing."""
    lists = [columns[name] for name in columns]
    codes = [{value: code for code, value in enumerate(sorted({v for v in x if v is not None}))} for x in lists]
    entries = [
        [np.nan if v is None else code[v] if isinstance(v, str) else v for v in x]
        for x, code in zip(lists, codes, strict=True)
    ]
    return np.array(entries, dtype=float).T


FRAMES = [in_pandas, in_polars, in_pyarrow]
NAMES = ["ward", "smokes", "visits", "city", "weight", "dose"]
CATEGORIES = ["ward", "smokes", "city"]
MIXED = {"categorical_features": "from_dtype", "missing": "neutral", "step": 1}
