"""Tables as they are found: error of gradient boosting on what is selected, missing entries.

The tables are those of shared/data beside the project, or of $BAHSIC_DATA; without them there are no rows.
"""

import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold
from table import Row, row

from bahsic import BAHSIC
from bahsic.files import read_data

_DATA = Path(os.environ.get("BAHSIC_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
_TARGETS = {"titanic": "Survived", "adult": "class", "wisconsin": "diagnosis"}

# Sets on which "neutral" or "indicator" was decided, and those on which it was confirmed.
_DECIDED, _CONFIRMED = ("titanic", "wdbc", "heart"), ("adult, 2500 rows", "wine", "ionosphere", "australian")


def rows(*, quick: bool) -> list[Row]:
    """Differences of errors in points."""
    if not (_DATA / "raw").is_dir():
        print(f"no rows: {_DATA / 'raw'} is not there", file=sys.stderr)
        return []
    names = ["titanic"] if quick else list(_TARGETS)
    found = [_error(name) for name in names]
    if quick:
        return found
    sets = [(name, kind) for kind, group in (("decided", _DECIDED), ("confirmed", _CONFIRMED)) for name in group]
    return [*found, *(_missing(name, holes, kind) for name, kind in sets for holes in _holes_of(name))]


def _error(name: str) -> Row:
    data = read_data(_DATA / "raw" / f"{name}.csv", _TARGETS[name])
    options = {"kernel": "auto", "criterion": "prediction"}
    repeats = 1 if len(data.y) > 10_000 else 3
    selected, whole, sizes = _errors(data.X, data.y, options, repeats)
    note = f"{selected:.2f} % with {min(sizes)} to {max(sizes)} features, {whole:.2f} % with all; {repeats} x 5 folds"
    what = f"{name}: error of gradient boosting on the selected (auto) less on all features, points"
    return row(what, selected - whole, "<= 1.5", note=note, m=len(data.y))


def _missing(name: str, holes: str, kind: str) -> Row:
    """Error where missing entries are a value of their own, less where they are neutral."""
    X, y = _table(name, holes)
    neutral, indicator = (
        _errors(X, y, {"criterion": "prediction", "missing": missing})[0] for missing in ("neutral", "indicator")
    )
    what = f"missing: indicator less neutral, points; {name}, {holes} ({kind})"
    return row(what, indicator - neutral, note=f"{indicator:.2f} % and {neutral:.2f} %", m=len(y))


def _holes_of(name: str) -> tuple[str, ...]:
    return ("as it is",) if name.startswith(("titanic", "adult")) else ("at random", "large values")


def _table(name: str, holes: str) -> tuple[Any, Any]:
    if name.startswith(("titanic", "adult")):
        name = name.partition(",")[0]
        data = read_data(_DATA / "raw" / f"{name}.csv", _TARGETS[name])
        rows = np.random.default_rng(0).permutation(len(data.y))[:2500]
        return data.X.iloc[rows], data.y[rows]
    if name in ("wdbc", "wine"):
        found = (load_breast_cancer if name == "wdbc" else load_wine)(as_frame=True)
        X, y = found.data.copy(), found.target.to_numpy()
    else:
        with np.load(_DATA / f"{name}.npz", allow_pickle=False) as stored:
            X, y = pd.DataFrame(stored["X"].astype(float)).rename(columns="x{}".format), stored["y"]
    rng = np.random.default_rng(0)
    for column in X:
        x = X[column].to_numpy()
        share = 0.3 if holes == "at random" else np.where(x > np.median(x), 0.5, 0.05)
        X[column] = np.where(rng.random(len(x)) < share, np.nan, x)
    return X, y


def _splits(X: Any, y: Any, repeats: int) -> Iterator[tuple[Any, Any]]:
    for seed in range(repeats):
        yield from StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y)


def _errors(X: Any, y: Any, options: dict[str, Any], repeats: int = 1) -> tuple[float, float, list[int]]:
    """Errors in percent of gradient boosting on the selected and on all columns, 5 folds, and numbers of columns."""
    encoded = pd.DataFrame({name: X[name] if X[name].dtype.kind in "fiu" else X[name].astype("category") for name in X})
    selected, whole, sizes = [], [], []
    for train, test in _splits(X, y, repeats):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what is left out
            selector = BAHSIC("auto", **options).fit(X.iloc[train], y[train])
        used = np.array([not column.left_out for column in selector.columns_])
        for mask, errors in ((selector.support_, selected), (used, whole)):
            part = encoded.loc[:, mask]
            model = HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)
            errors.append(1 - model.fit(part.iloc[train], y[train]).score(part.iloc[test], y[test]))
        sizes.append(int(selector.n_features_))
    return 100 * float(np.mean(selected)), 100 * float(np.mean(whole)), sizes
