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

from bahsic.arrays import Array, Indices, Mask
from bahsic.data.prepared import Prepared
from bahsic.data.sources import Source
from bahsic.data.tables import Table
from bahsic.inference.conditional import effects
from bahsic.kernels import Gaussian

Rows = list[tuple[str, Mask]]  # names of categories, and the samples that have them

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


def feature_views(
    data: Prepared, y: Any, target_kernel: str, selected: Sequence[int], described: Sequence[int], names: Sequence[str]
) -> list[dict[str, Any]]:
    """Return plain data of the pictures of some selected features: the target against them, and their effects."""
    labels, table, has_classes = np.asarray(y), data.table, target_kernel in CLASSES
    known_target = labels.ndim == 1 and (has_classes or target_kernel == "regression")
    if not known_target or isinstance(table.values, Source) or not len(described):
        return []
    views, grids = [], []
    for j in described:
        x = _column(table, j)
        rows = _categories(x, table, j)
        view = {"feature": names[j], "date": _is_date(table, j), "n_missing": int(np.isnan(x).sum())}
        views.append(view | (_against_classes if has_classes else _against_numbers)(x, labels, rows))
        grids.append(_grid(x, rows))
    classes = np.unique(labels) if has_classes else None
    if classes is not None:
        classes = classes[-1:] if len(classes) == 2 else classes
    Y = np.asarray(labels[:, None] if classes is None else np.equal.outer(labels, classes), dtype=np.float64)
    places = [(j, samples) for j, (_, samples) in zip(described, grids, strict=True)]
    curves = effects(data.for_kernel(Gaussian()).columns, Y, np.sort(selected), places)
    for view, (values, _), curve in zip(views, grids, curves, strict=True):
        view["effect"] = _effect(values, curve, classes)
    return views


def _effect(values: list[Any], curve: Array, classes: NDArray[Any] | None) -> dict[str, Any]:
    """Return how the prediction depends on a feature while all others stay as they are.

    Of several classes it is the one that depends on the feature most.
    """
    steepest = int(np.ptp(curve.mean(axis=2), axis=0).argmax())
    folds, of = curve[:, steepest], None
    if classes is not None:
        folds, of = folds.clip(0, 1), _name(classes[steepest])
    low, mean, high = (_rounded(summary(folds, axis=1)) for summary in (np.min, np.mean, np.max))
    return {"of": of, "at": values, "mean": mean, "low": low, "high": high}


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


def _grid(x: Array, rows: Rows | None) -> tuple[list[Any], Indices]:
    """Return values of a feature, numbers or names of categories, and samples that have them."""
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
    names = [_name(table.categories[j][int(code)] if table.categorical[j] else code) for code in kept]
    rest = ((OTHERS, ~np.isnan(x) & ~np.isin(x, kept)), (MISSING, np.isnan(x)))
    return [
        *zip(names, (x == code for code in kept), strict=True),
        *((name, mask) for name, mask in rest if mask.any()),
    ]


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
