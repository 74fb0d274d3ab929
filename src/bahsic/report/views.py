"""Plain data of the pictures of selected features, and of their near-duplicates.

A target of classes gives densities of a number within each class, or shares of the classes in each category. A numeric
target gives points, or its quantiles in each category.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bahsic.arrays import Array, Indices, Mask
from bahsic.data.columns import Columns
from bahsic.data.prepared import Prepared
from bahsic.data.sources import Source
from bahsic.data.tables import Table
from bahsic.inference.conditional import effects
from bahsic.inference.scores import similarities
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

LEAST_SIMILARITY = 0.7  # of a near-copy, as `bahsic.redundancy` measures it
MOST_COPIES = 3  # for each feature

# Number of features up to which all are compared; of more, those with the highest rank correlations.
_MOST_COMPARED = 1000
_PROMISING = 20  # for each selected feature
_WORK = 10**10  # work of comparing features, in products of numbers; beyond it fewer samples are compared
_FACTORS_SQUARED = 400  # products for each sample and pair of features
_FEWEST_SAMPLES, _MOST_SAMPLES = 100, 2000


def feature_views(
    data: Prepared, y: Any, target_kernel: str, selected: Sequence[int], described: Sequence[int], names: Sequence[str]
) -> list[dict[str, Any]]:
    """Return plain data of the pictures of some selected features: the target against them, and their effects."""
    labels, table, has_classes = np.asarray(y), data.table, target_kernel in CLASSES
    known_target = labels.ndim == 1 and (has_classes or target_kernel == "regression")
    if not known_target or isinstance(table.values, Source) or not len(described):
        return []
    views: list[dict[str, Any]] = []
    places = []
    for j in described:
        x = numbers_of(table, j)
        rows = _categories(x, table, j)
        values, samples = _grid(x, rows)
        view = {"feature": names[j], "date": _is_date(table, j), "n_missing": int(np.isnan(x).sum())}
        against = (_against_classes if has_classes else _against_numbers)(x, labels, rows)
        views.append({**view, **against, "effect": {"of": None, "at": values}})
        places.append((j, samples))
    classes = np.unique(labels) if has_classes else np.empty(0)
    classes = classes[-1:] if len(classes) == 2 else classes
    Y = np.asarray(np.equal.outer(labels, classes) if has_classes else labels[:, None], dtype=np.float64)
    curves = effects(data.for_kernel(Gaussian()).columns, Y, np.sort(selected), places)
    for entry, curve in zip(views, curves, strict=True):
        steepest = int(np.ptp(curve.mean(axis=2), axis=0).argmax())  # the class that depends on the feature most
        folds = curve[:, steepest].clip(0, 1) if has_classes else curve[:, 0]
        low, mean, high = (_rounded(summary(folds, axis=1)) for summary in (np.min, np.mean, np.max))
        of = _name(classes[steepest]) if has_classes else None
        entry["effect"] |= {"of": of, "mean": mean, "low": low, "high": high}
    return views


def pair_view(data: Prepared, y: Any, target_kernel: str, pair: Sequence[int], names: Sequence[str]) -> dict[str, Any]:
    """Return plain data of the picture of two features in the plane, with the target as shades."""
    labels, table = np.asarray(y), data.table
    samples = _sample(len(labels), MOST_POINTS)
    values, axes = [], []
    for j in pair:
        x = numbers_of(table, j)[samples]
        rows = _categories(x, table, j)
        values.append(x if rows is None else np.argmax([mask for _, mask in rows], axis=0).astype(np.float64))
        levels = None if rows is None else [name for name, _ in rows]
        axes.append({"feature": names[j], "date": _is_date(table, j), "levels": levels})
    known = np.flatnonzero(~np.isnan(values).any(axis=0))
    axes = [{**axis, "values": _rounded(x[known])} for axis, x in zip(axes, values, strict=True)]
    shades, shade_names = _shades(labels, target_kernel)
    return {"axes": axes, "shades": shades[samples][known].tolist(), "names": shade_names}


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


def numbers_of(table: Table, j: int) -> Array:
    """Return a column as numbers: codes of categories, NaN where an entry is missing."""
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
        low, high = ends = _ends(x)
        densities = []
        for k in kept:
            own = x[(codes == k) & ~np.isnan(x)]
            smoothed = np.convolve(np.histogram(own, _BINS, ends)[0], _SMOOTHING, mode="same")
            heights = _rounded(smoothed / (smoothed.max() or 1.0))
            densities.append({"name": _name(classes[k]), "n": len(own), "heights": heights})
        return {"kind": "densities", "low": _rounded(low), "high": _rounded(high), "classes": densities}
    shares = [
        {"name": name, "n": int(mask.sum()), "shares": [_rounded(np.mean(codes[mask] == k)) for k in kept]}
        for name, mask in rows
    ]
    return {"kind": "shares", "classes": [_name(classes[k]) for k in kept], "categories": shares}


def _against_numbers(x: Array, labels: NDArray[Any], rows: Rows | None) -> dict[str, Any]:
    y = labels.astype(np.float64)
    if rows is not None:
        boxes = [(name, int(mask.sum()), _rounded(np.quantile(y[mask], _QUANTILES))) for name, mask in rows]
        return {
            "kind": "boxes",
            "categories": [dict(zip(("name", "n", "quantiles"), box, strict=True)) for box in boxes],
        }
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
    rows = [(_name(table.categories[j][int(code)] if table.categorical[j] else code), x == code) for code in kept]
    rows += [(OTHERS, ~np.isnan(x) & ~np.isin(x, kept)), (MISSING, np.isnan(x))]
    return [row for row in rows if row[1].any()]


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


def near_copies(data: Prepared, selected: Sequence[int], names: Sequence[str]) -> list[dict[str, Any]]:
    """Return for each selected feature up to three near-duplicates that are not selected, with their similarity."""
    chosen, (m, d) = np.asarray(selected, dtype=np.intp), data.table.values.shape
    affordable = _WORK // (len(chosen) * min(d, _MOST_COMPARED) * _FACTORS_SQUARED)
    size, sample = min(_MOST_SAMPLES, max(_FEWEST_SAMPLES, affordable)), data.for_kernel(Gaussian()).weighted(None)
    sample = sample.ordered(_sample(m, size)) if m > size else sample
    constant = sample.constant | np.isin(np.arange(d), data.table.left_out)
    others = np.setdiff1d(np.flatnonzero(~constant), chosen)
    if len(others) > _MOST_COMPARED:
        others = others[_promising(sample.columns, chosen, others)]
    return [
        {
            "feature": names[j],
            "copies": [
                {"feature": names[others[i]], "similarity": float(row[i])}
                for i in np.argsort(-row, kind="stable")[:MOST_COPIES]
                if row[i] >= LEAST_SIMILARITY
            ],
        }
        for j, row in zip(chosen, similarities(sample.columns, chosen, constant, Gaussian(), others), strict=True)
    ]


def _promising(columns: Columns, chosen: Indices, others: Indices) -> Indices:
    """Return positions among the others of those with the highest rank correlation with any chosen feature."""
    ranks, parts = _unit_ranks(columns, chosen), np.array_split(others, math.ceil(len(others) / _MOST_COMPARED))
    correlations = np.concatenate([np.abs(ranks @ _unit_ranks(columns, part).T) for part in parts], axis=1)
    return np.unique(np.argpartition(-correlations, _PROMISING, axis=1)[:, :_PROMISING])


def _unit_ranks(columns: Columns, features: Indices) -> Array:
    """Return ranks of the entries of columns, a row each, centred and of norm one."""
    ranks = np.argsort(np.argsort(columns.rows(features), axis=1, kind="stable"), axis=1) * 1.0
    ranks -= ranks.mean(axis=1, keepdims=True)
    return np.asarray(ranks / np.linalg.norm(ranks, axis=1, keepdims=True))
