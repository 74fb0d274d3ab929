"""Each selected feature against the target, as a few numbers that a small picture can be drawn from.

Classes: the density of a number within each class, or the shares of the classes in each category. Numbers: points, or
quantiles of the target in each category. Plain data, so that results in files hold them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bahsic.data.prepared import Prepared
from bahsic.data.sources import Source
from bahsic.data.tables import Table
from bahsic.inference.effects import effects
from bahsic.kernels import Gaussian

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

CLASSES = ("binary", "multiclass", "delta")  # kernels on labels that are classes
MOST_CATEGORIES = 8  # with a row of their own
MOST_CLASSES = 10
MOST_POINTS = 250
SHADES = 5  # of points
MISSING, OTHERS = "missing", "all others"

_FEW_VALUES = 8  # different ones up to which a number is shown like a category
_BINS = 40
_EFFECT_POINTS = 15
_SMOOTHING = np.array([1, 4, 7, 4, 1]) / 17
_ENDS = (0.01, 0.99)  # quantiles at which the axis of a number ends
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_MOST_SAMPLES = 50_000  # that are looked at


def feature_views(
    data: Prepared, y: Any, target_kernel: str, columns: Sequence[int], names: Sequence[str]
) -> list[dict[str, Any]]:
    """Plain data of the pictures of some features.

    Parameters
    ----------
    data : Prepared
    y : array-like of shape (m,)
    target_kernel : str
        The kernel on the labels, which says whether they are classes or numbers.
    columns : sequence of int
    names : sequence of str
        Of all columns.

    Returns
    -------
    list of dict
        With ``feature`` and ``kind``: "densities", "shares", "points" or "boxes". Empty for labels of another kind,
        such as several outputs, and for data that are read piece by piece.

    Examples
    --------
    >>> from bahsic.data.prepared import prepared
    >>> from bahsic.kernels import Gaussian
    >>> data = prepared(np.array([[0.0], [0.0], [1.0], [1.0]]), Gaussian())
    >>> feature_views(data, ["a", "a", "a", "b"], "binary", [0], ["x"])[0]["categories"]
    [{'name': '0', 'n': 2, 'shares': [1.0, 0.0]}, {'name': '1', 'n': 2, 'shares': [0.5, 0.5]}]
    """
    labels, table = np.asarray(y), data.table
    classes = target_kernel in CLASSES
    if labels.ndim != 1 or isinstance(table.values, Source) or not (classes or target_kernel == "regression"):
        return []
    some = _some(len(labels), _MOST_SAMPLES)
    views = []
    for j in columns:
        x = _column(table, j)[some]
        view = _against_classes(x, labels[some], table, j) if classes else _against_numbers(x, labels[some], table, j)
        missing = {"n_missing": int(np.isnan(x).sum())}
        views.append({"feature": names[j], "date": _is_date(table, j), **missing, **view})
    return views


def add_effects(
    views: Sequence[dict[str, Any]], data: Prepared, y: Any, selected: Sequence[int], columns: Sequence[int]
) -> None:
    """Add to the views of some features how the prediction depends on each, if all others stay as they are.

    Of several classes it is the one that depends on the feature most.

    Parameters
    ----------
    views : sequence of dict
        Of ``columns``, see `feature_views`. Each gets an ``effect``.
    data : Prepared
    y : array-like of shape (m,)
    selected : sequence of int
        The features of the regression.
    columns : sequence of int
    """
    if not views:
        return
    labels, table = np.asarray(y), data.table
    classes = None if views[0]["kind"] in ("points", "boxes") else np.unique(labels)
    Y = labels.astype(np.float64)[:, None] if classes is None else np.equal.outer(labels, classes[-1:])
    if classes is not None and len(classes) > 2:
        Y = np.equal.outer(labels, classes)
    places = [_places(_column(table, j), table, j) for j in columns]
    found = effects(
        data.for_kernel(Gaussian()).columns,
        Y.astype(np.float64),
        np.sort(selected),
        [(j, samples) for j, (_, samples) in zip(columns, places, strict=True)],
    )
    for view, (values, _), effect in zip(views, places, found, strict=True):
        one = int(np.ptp(effect.mean(axis=2), axis=0).argmax())
        curves = effect[:, one]
        view["effect"] = {
            "of": None if classes is None else _name(classes[one if len(classes) > 2 else -1]),
            "at": values,
            "mean": [_rounded(v) for v in curves.mean(axis=1)],
            "low": [_rounded(v) for v in curves.min(axis=1)],
            "high": [_rounded(v) for v in curves.max(axis=1)],
        }


def _places(x: Array, table: Table, j: int) -> tuple[list[Any], Indices]:
    """Return values of a feature, numbers or names of categories, and samples that have them."""
    rows = _rows(x, table, j)
    if rows is not None:
        return [name for name, _ in rows], np.array([np.flatnonzero(mask)[0] for _, mask in rows])
    order = np.argsort(x, kind="stable")[: np.count_nonzero(~np.isnan(x))]
    low, high = _ends(x)
    samples = order[np.unique(np.searchsorted(x[order], np.linspace(low, high, _EFFECT_POINTS)))]
    return [_rounded(v) for v in x[samples]], samples


def pair_view(data: Prepared, y: Any, target_kernel: str, pair: Sequence[int], names: Sequence[str]) -> dict[str, Any]:
    """Return plain data of the picture of two features in the plane, with the target as shades.

    Returns
    -------
    dict
        ``axes``: for each feature its name, the values of some samples, and for categories their names. ``shades``:
        for each sample the number of its class, or the fifth of the numbers that it belongs to; ``names`` of these.
    """
    labels, table = np.asarray(y), data.table
    some = _some(len(labels), MOST_POINTS)
    values, axes = [], []
    for j in pair:
        x = _column(table, j)[some]
        rows = _rows(x, table, j) if table.categorical[j] else None
        values.append(x if rows is None else np.argmax([mask for _, mask in rows], axis=0).astype(np.float64))
        levels = None if rows is None else [name for name, _ in rows]
        axes.append({"feature": names[j], "date": _is_date(table, j), "levels": levels})
    known = np.flatnonzero(~np.isnan(values).any(axis=0))
    axes = [{**axis, "values": [_rounded(v) for v in x[known]]} for axis, x in zip(axes, values, strict=True)]
    shades, told = _shades(labels, target_kernel)
    return {"axes": axes, "shades": shades[some][known].tolist(), "names": told}


def _shades(labels: NDArray[Any], target_kernel: str) -> tuple[Indices, list[str]]:
    if target_kernel in CLASSES:
        found, codes = np.unique(labels, return_inverse=True)
        kept = _most_frequent(np.bincount(codes.ravel()), SHADES - (len(found) > SHADES))
        place = {code: i for i, code in enumerate(kept)}
        codes = np.array([place.get(code, len(kept)) for code in codes.ravel().tolist()])
        return codes, [*(_name(found[k]) for k in kept), *([OTHERS] if len(kept) < len(found) else [])]
    y = labels.astype(np.float64)
    limits = np.quantile(y, np.arange(1, SHADES) / SHADES)
    return np.searchsorted(limits, y), ["lowest fifth", *[""] * (SHADES - 2), "highest fifth"]


def _is_date(table: Table, j: int) -> bool:
    return table.special.get(j, ("",))[0] == "date"


def _column(table: Table, j: int) -> Array:
    values: Any = table.values
    column = values[:, [j]].toarray()[:, 0] if sparse.issparse(values) else values[:, j]
    return np.asarray(column, dtype=np.float64)


def _some(m: int, most: int) -> Indices:
    """All samples, or some of them at random with a fixed seed."""
    return np.arange(m) if m <= most else np.sort(np.random.default_rng(0).permutation(m)[:most])


def _against_classes(x: Array, labels: NDArray[Any], table: Table, j: int) -> Mapping[str, Any]:
    found, codes = np.unique(labels, return_inverse=True)
    codes = codes.ravel()
    rows = _rows(x, table, j)
    if rows is None:
        return _densities(x, found, codes)
    kept = _most_frequent(np.bincount(codes), MOST_CLASSES)
    shares = [[_rounded(np.mean(codes[mask] == k)) for k in kept] for _, mask in rows]
    categories = [
        {"name": name, "n": int(mask.sum()), "shares": share} for (name, mask), share in zip(rows, shares, strict=True)
    ]
    return {"kind": "shares", "classes": [_name(found[k]) for k in kept], "categories": categories}


def _densities(x: Array, found: NDArray[Any], codes: Indices) -> Mapping[str, Any]:
    """For each class the smoothed histogram of a number, its peak scaled to one."""
    low, high = _ends(x)
    rows = []
    for k in _most_frequent(np.bincount(codes), MOST_CLASSES):
        mine = x[(codes == k) & ~np.isnan(x)]
        counts = np.histogram(mine, _BINS, (low, high))[0]
        heights = np.convolve(counts, _SMOOTHING, mode="same")
        heights = heights / (heights.max() or 1.0)
        rows.append({"name": _name(found[k]), "n": len(mine), "heights": [_rounded(h) for h in heights]})
    return {"kind": "densities", "low": _rounded(low), "high": _rounded(high), "classes": rows}


def _against_numbers(x: Array, labels: NDArray[Any], table: Table, j: int) -> Mapping[str, Any]:
    y = labels.astype(np.float64)
    rows = _rows(x, table, j)
    if rows is not None:
        boxes = [
            {"name": name, "n": int(mask.sum()), "quantiles": [_rounded(q) for q in np.quantile(y[mask], _QUANTILES)]}
            for name, mask in rows
        ]
        return {"kind": "boxes", "categories": boxes}
    known = np.flatnonzero(~np.isnan(x) & (x >= _ends(x)[0]) & (x <= _ends(x)[1]))
    known = known[_some(len(known), MOST_POINTS)]
    return {"kind": "points", "x": [_rounded(v) for v in x[known]], "y": [_rounded(v) for v in y[known]]}


def _rows(x: Array, table: Table, j: int) -> list[tuple[str, NDArray[np.bool_]]] | None:
    """Names and samples of the categories of a column, the missing ones last; None for numbers of many values."""
    codes = np.unique(x[~np.isnan(x)])
    if table.categorical[j]:
        names = [_name(table.categories[j][int(code)]) for code in codes]
    elif len(codes) <= _FEW_VALUES:
        names = [_name(code) for code in codes]
    else:
        return None
    masks = [x == code for code in codes]
    kept = _most_frequent(np.array([mask.sum() for mask in masks]), MOST_CATEGORIES)
    rows = [(names[i], masks[i]) for i in kept]
    others, missing = ~np.isnan(x) & ~np.isin(x, codes[kept]), np.isnan(x)
    return [*rows, *((name, mask) for name, mask in ((OTHERS, others), (MISSING, missing)) if mask.any())]


def _most_frequent(counts: NDArray[Any], most: int) -> list[int]:
    """Positions of the greatest counts, in their own order."""
    return sorted(np.argsort(-counts, kind="stable")[:most].tolist())


def _ends(x: Array) -> tuple[float, float]:
    low, high = (float(q) for q in np.nanquantile(x, _ENDS))
    return (low, high) if high > low else (float(np.nanmin(x)), float(np.nanmax(x)))


def _rounded(value: Any) -> float:
    """A number with the digits that a picture shows."""
    return float(f"{float(value):.5g}")


def _name(value: Any) -> str:
    """A class or category; whole numbers without a point."""
    plain = value.item() if isinstance(value, np.generic) else value
    return f"{plain:g}" if isinstance(plain, float) else str(plain)[:200]
