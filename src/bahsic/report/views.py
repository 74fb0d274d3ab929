"""Plain data of the pictures of selected features.

A target of classes gives densities of a number within each class, or shares of the classes in each category. A numeric
target gives points, or its quantiles in each category.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bahsic.data.prepared import Prepared
from bahsic.data.sources import Source
from bahsic.data.tables import Table
from bahsic.inference.regression import effects
from bahsic.kernels import Gaussian

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Rows = list[tuple[str, NDArray[np.bool_]]]  # names of categories, and the samples that have them

CLASSES = ("binary", "multiclass", "delta")  # kernels on labels that are classes
MOST_CATEGORIES = 8  # with a row of their own
MOST_CLASSES = 10
MOST_POINTS = 250
SHADES = 5  # colours of points
MISSING, OTHERS = "missing", "all others"

_FEW_VALUES = 8  # numbers with at most so many different values are shown like categories
_BINS = 40
_EFFECT_POINTS = 15
_SMOOTHING = np.array([1, 4, 7, 4, 1]) / 17
_ENDS = (0.01, 0.99)  # quantiles at which the axis of a number ends
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_MOST_SAMPLES = 50_000  # that pictures are made from


def feature_views(
    data: Prepared, y: Any, target_kernel: str, columns: Sequence[int], names: Sequence[str]
) -> list[dict[str, Any]]:
    """Return plain data of the pictures of some features against the target."""
    labels, table = np.asarray(y), data.table
    has_classes = target_kernel in CLASSES
    if labels.ndim != 1 or isinstance(table.values, Source) or not (has_classes or target_kernel == "regression"):
        return []
    samples = _sample(len(labels), _MOST_SAMPLES)
    against = _against_classes if has_classes else _against_numbers
    views = []
    for j in columns:
        x = _column(table, j)[samples]
        known = {"feature": names[j], "date": _is_date(table, j), "n_missing": int(np.isnan(x).sum())}
        views.append({**known, **against(x, labels[samples], _categories(x, table, j))})
    return views


def add_effects(
    views: Sequence[dict[str, Any]], data: Prepared, y: Any, selected: Sequence[int], columns: Sequence[int]
) -> None:
    """Add to views how the prediction depends on a feature while all others stay as they are.

    The data are in the order of y. Of several classes it is the one that depends on the feature most.
    """
    if not views:
        return
    labels, table = np.asarray(y), data.table
    classes = None if views[0]["kind"] in ("points", "boxes") else np.unique(labels)
    if classes is not None:
        classes = classes[-1:] if len(classes) == 2 else classes
    Y = labels[:, None] if classes is None else np.equal.outer(labels, classes)
    grids = [_grid(_column(table, j), table, j) for j in columns]
    curves = effects(
        data.for_kernel(Gaussian()).columns,
        Y.astype(np.float64),
        np.sort(selected),
        [(j, samples) for j, (_, samples) in zip(columns, grids, strict=True)],
    )
    for view, (values, _), effect in zip(views, grids, curves, strict=True):
        steepest = int(np.ptp(effect.mean(axis=2), axis=0).argmax())
        over_folds: dict[str, Any] = {"mean": np.mean, "low": np.min, "high": np.max}
        view["effect"] = {
            "of": None if classes is None else _name(classes[steepest]),
            "at": values,
            **{name: _rounded(summary(effect[:, steepest], axis=1)) for name, summary in over_folds.items()},
        }


def pair_view(data: Prepared, y: Any, target_kernel: str, pair: Sequence[int], names: Sequence[str]) -> dict[str, Any]:
    """Return plain data of the picture of two features in the plane, with the target as shades."""
    labels, table = np.asarray(y), data.table
    samples = _sample(len(labels), MOST_POINTS)
    values, axes = [], []
    for j in pair:
        x = _column(table, j)[samples]
        rows = _categories(x, table, j)
        values.append(x if rows is None else np.argmax([mask for _, mask in rows], axis=0).astype(np.float64))
        levels = None if rows is None else [name for name, _ in rows]
        axes.append({"feature": names[j], "date": _is_date(table, j), "levels": levels})
    known = np.flatnonzero(~np.isnan(values).any(axis=0))
    axes = [{**axis, "values": _rounded(x[known])} for axis, x in zip(axes, values, strict=True)]
    shades, shade_names = _shades(labels, target_kernel)
    return {"axes": axes, "shades": shades[samples][known].tolist(), "names": shade_names}


def n_missing(table: Table, j: int) -> int:
    """Return the number of missing values of a column."""
    return int(np.isnan(_column(table, j)).sum())


def _grid(x: Array, table: Table, j: int) -> tuple[list[Any], Indices]:
    """Return values of a feature, numbers or names of categories, and samples that have them."""
    rows = _categories(x, table, j)
    if rows is not None:
        return [name for name, _ in rows], np.array([np.flatnonzero(mask)[0] for _, mask in rows])
    order = np.argsort(x, kind="stable")[: np.count_nonzero(~np.isnan(x))]
    samples = order[np.unique(np.searchsorted(x[order], np.linspace(*_ends(x), _EFFECT_POINTS)))]
    return _rounded(x[samples]), samples


def _shades(labels: NDArray[Any], target_kernel: str) -> tuple[Indices, list[str]]:
    if target_kernel in CLASSES:
        classes, codes = np.unique(labels, return_inverse=True)
        kept = _most_frequent(np.bincount(codes), SHADES - (len(classes) > SHADES))
        place = np.full(len(classes), len(kept))
        place[kept] = np.arange(len(kept))
        return place[codes], [*(_name(classes[k]) for k in kept), *([OTHERS] if len(kept) < len(classes) else [])]
    y = labels.astype(np.float64)
    limits = np.quantile(y, np.arange(1, SHADES) / SHADES)
    return np.searchsorted(limits, y), ["lowest fifth", *[""] * (SHADES - 2), "highest fifth"]


def _is_date(table: Table, j: int) -> bool:
    return table.special.get(j, ("",))[0] == "date"


def _column(table: Table, j: int) -> Array:
    values: Any = table.values
    column = values[:, [j]].toarray()[:, 0] if sparse.issparse(values) else values[:, j]
    return np.asarray(column, dtype=np.float64)


def _sample(m: int, n: int) -> Indices:
    """Return all samples, or some of them at random with a fixed seed."""
    return np.arange(m) if m <= n else np.sort(np.random.default_rng(0).permutation(m)[:n])


def _against_classes(x: Array, labels: NDArray[Any], rows: Rows | None) -> dict[str, Any]:
    classes, codes = np.unique(labels, return_inverse=True)
    kept = _most_frequent(np.bincount(codes), MOST_CLASSES)
    if rows is None:
        low, high = _ends(x)
        hills = [(k, x[(codes == k) & ~np.isnan(x)]) for k in kept]
        densities = [
            {"name": _name(classes[k]), "n": len(own), "heights": _density(own, low, high)} for k, own in hills
        ]
        return {"kind": "densities", "low": _rounded(low), "high": _rounded(high), "classes": densities}
    shares = [
        {"name": name, "n": int(mask.sum()), "shares": [_rounded(np.mean(codes[mask] == k)) for k in kept]}
        for name, mask in rows
    ]
    return {"kind": "shares", "classes": [_name(classes[k]) for k in kept], "categories": shares}


def _density(x: Array, low: float, high: float) -> list[float]:
    """Return a smoothed histogram with its peak scaled to one."""
    heights = np.convolve(np.histogram(x, _BINS, (low, high))[0], _SMOOTHING, mode="same")
    smoothed: list[float] = _rounded(heights / (heights.max() or 1.0))
    return smoothed


def _against_numbers(x: Array, labels: NDArray[Any], rows: Rows | None) -> dict[str, Any]:
    y = labels.astype(np.float64)
    if rows is not None:
        boxes = [
            {"name": name, "n": int(mask.sum()), "quantiles": _rounded(np.quantile(y[mask], _QUANTILES))}
            for name, mask in rows
        ]
        return {"kind": "boxes", "categories": boxes}
    low, high = _ends(x)
    known = np.flatnonzero((x >= low) & (x <= high))
    known = known[_sample(len(known), MOST_POINTS)]
    return {"kind": "points", "x": _rounded(x[known]), "y": _rounded(y[known])}


def _categories(x: Array, table: Table, j: int) -> Rows | None:
    """Return names and samples of the categories of a column, missing ones last; None for numbers of many values."""
    codes, counts = np.unique(x[~np.isnan(x)], return_counts=True)
    if not table.categorical[j] and len(codes) > _FEW_VALUES:
        return None
    kept = codes[_most_frequent(counts, MOST_CATEGORIES)]
    rest = ((OTHERS, ~np.isnan(x) & ~np.isin(x, kept)), (MISSING, np.isnan(x)))
    names = [_name(table.categories[j][int(code)] if table.categorical[j] else code) for code in kept]
    masks = (x == code for code in kept)
    return [*zip(names, masks, strict=True), *((name, mask) for name, mask in rest if mask.any())]


def _most_frequent(counts: NDArray[Any], n: int) -> list[int]:
    """Return positions of the greatest counts, in their own order."""
    return sorted(np.argsort(-counts, kind="stable")[:n].tolist())


def _ends(x: Array) -> tuple[float, float]:
    low, high = (float(q) for q in np.nanquantile(x, _ENDS))
    return (low, high) if high > low else (float(np.nanmin(x)), float(np.nanmax(x)))


def _rounded(values: Any) -> Any:
    """Return numbers with the digits that a picture shows."""
    return [_rounded(value) for value in values] if np.ndim(values) else float(f"{float(values):.5g}")


def _name(value: Any) -> str:
    """Return the name of a class or category; whole numbers have no point."""
    plain = value.item() if isinstance(value, np.generic) else value
    return f"{plain:g}" if isinstance(plain, float) else str(plain)[:200]
