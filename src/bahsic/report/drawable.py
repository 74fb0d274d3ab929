"""Parts of pictures: checked numbers, their order and names."""

from __future__ import annotations

import reprlib
from dataclasses import asdict
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform
from scipy.stats import false_discovery_control
from sklearn.exceptions import NotFittedError

from bahsic.report.curve import Curve, curve_of

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]

# Number of selected features whose pairs are judged, and the least R2 by which a pair is one.
MOST_PAIRED, LEAST_TOGETHER = 8, 0.01

_OPTIMALLY_ORDERED = 200  # features at most; the cost of it is cubic
_ROUNDING = 1e-9


def listed(names: Any, count: int) -> list[Any]:
    """The names of so many features, x0, x1, ... where there are none."""
    if names is None:
        return [f"x{j}" for j in range(count)]
    if isinstance(names, str) or not hasattr(names, "__iter__"):
        raise TypeError(f"names is {reprlib.repr(names)}; accepted: a sequence of {count} names, one for each feature")
    found = list(names)
    if len(found) != count:
        raise ValueError(f"names has length {len(found)}; accepted: {count}, one for each feature")
    return found


def fitted(selector: Any) -> Any:
    """The selector that has the path."""
    found = getattr(selector, "selector_", selector)  # the one inside BAHSICCV
    if not hasattr(found, "path_"):
        error = NotFittedError if hasattr(selector, "fit") else TypeError
        raise error(f"selector is {reprlib.repr(selector)}, not fitted; accepted: a fitted BAHSIC, FOHSIC or BAHSICCV")
    return found


def search_order(selector: Any) -> Indices:
    """All features of a fitted selector in the order of its search, the most relevant first."""
    backward = hasattr(selector, "elimination_order_")
    order: Indices = selector.elimination_order_[::-1] if backward else selector.selection_order_
    return order


def order_of(selector: Any) -> Indices:
    """All features of a fitted selector: the selected ones by worth, then the others in the order of the search."""
    order = search_order(selector)
    selected = order[selector.support_[order]]
    by_worth = np.argsort(-selector.scores_[selected], kind="stable")
    return np.concatenate([selected[by_worth], order[~selector.support_[order]]])


def selected_mask(selector: Any) -> Mask:
    """The features that a fitted selector has found: none where nothing predicts the target."""
    found: Mask = selector.support_ & getattr(selector, "predicts_", True)
    return found


def fold_counts(selector: Any) -> Indices | None:
    """Number of folds in which each feature was among the selected; None where there were no folds."""
    n_folds = getattr(selector, "n_folds_", 1)
    return None if n_folds == 1 else np.rint(n_folds * selector.selection_frequencies_).astype(np.intp)


def path_of(selector: Any) -> list[dict[str, Any]]:
    """The steps of a fitted selector as plain data, sizes increasing."""
    return [asdict(step) for step in sorted(selector.path_, key=lambda step: int(step.n_features))]


def path_curve(selector: Any) -> tuple[Curve, Indices, Array, Array | None]:
    """The curve of a fitted selector's path: sizes, increasing, its values, and their standard errors if known."""
    path = path_of(selector)
    curve = curve_of(path)
    if curve is None:
        raise ValueError(
            "the selector has measured neither HSIC nor held-out R2 along its path; accepted: one that was fitted with "
            'cv="auto", or with criterion="hsic"'
        )
    sizes, values, errors = (np.array([step[key] for step in path]) for key in ("n_features", curve.key, curve.error))
    return curve, sizes, values, None if errors[0] is None else errors


def values_down_to(sizes: Indices, values: Array, count: int) -> Array:
    """Value of the smallest subset with the first 1, 2, ..., count features; NaN where there is none.

    Examples
    --------
    >>> values_down_to(np.array([1, 3]), np.array([0.1, 0.2]), 4)
    array([0.1, 0.2, 0.2, nan])
    """
    found: Array = np.append(values, np.nan)[np.searchsorted(sizes, np.arange(1, count + 1))]
    return found


def significant_features(pvalues: Array, level: float) -> Mask:
    """Features that are significant by the method of Benjamini and Hochberg: false discovery rate at most ``level``."""
    found: Mask = false_discovery_control(pvalues) <= level
    return found


def clustered(similarities: Array) -> Indices:
    """An order in which similar features are near each other, by average linkage."""
    if len(similarities) < 2:
        return np.arange(len(similarities))
    distances = squareform(np.clip(1 - similarities, 0, None), checks=False)
    tree = linkage(distances, "average", optimal_ordering=len(similarities) <= _OPTIMALLY_ORDERED)
    return np.asarray(leaves_list(tree), dtype=np.intp)


def edges(centres: Array) -> Array:
    """The limits of cells around increasing centres.

    Examples
    --------
    >>> edges(np.array([1.0, 2.0, 4.0]))
    array([0.5, 1.5, 3. , 5. ])
    """
    if len(centres) == 1:
        return np.array([centres[0] - 0.5, centres[0] + 0.5])
    inner = (centres[1:] + centres[:-1]) / 2
    return np.array([2 * centres[0] - inner[0], *inner, 2 * centres[-1] - inner[-1]])


def numbers(argument: str, values: Any) -> Array:
    """An array of real numbers, or an error that names the argument."""
    try:
        found = np.asarray(values)
        if found.dtype.kind in "biufO":
            return found.astype(np.float64)
    except (TypeError, ValueError):  # ragged, or objects that are no numbers
        pass
    raise TypeError(f"{argument} is {reprlib.repr(values)}; accepted: an array of real numbers")


def vector(argument: str, values: Any, count: int | None = None) -> Array:
    """A checked array of one dimension without NaN or infinity, of a given length if there is one."""
    found = numbers(argument, values)
    if found.ndim != 1 or not len(found) or (count is not None and len(found) != count):
        length = "at least 1" if count is None else str(count)
        raise ValueError(f"{argument} has shape {found.shape}; accepted: one dimension, length {length}")
    if not np.isfinite(found).all():
        position = int(np.argmin(np.isfinite(found)))
        raise ValueError(f"{argument} has {found[position]} at position {position}; accepted: finite numbers")
    return found


def fractions(argument: str, values: Any, count: int | None = None) -> Array:
    """A checked array of numbers between 0 and 1."""
    found = vector(argument, values, count)
    outside = found[(found < 0) | (found > 1)]
    if len(outside):
        raise ValueError(f"{argument} has {outside[0]:g}; accepted: numbers between 0 and 1")
    return found


def check_fraction(argument: str, value: Any) -> None:
    """Raise unless a number is between 0 and 1."""
    if np.ndim(value) or not isinstance(value, int | float | np.number) or not 0 <= value <= 1:
        raise ValueError(f"{argument} is {reprlib.repr(value)}; accepted: a number between 0 and 1")


def similarity_table(table: Any) -> Array:
    """A checked table of `bahsic.redundancy`."""
    found = numbers("table", table)
    if found.ndim != 2 or found.shape[0] != found.shape[1] or not found.size:
        raise ValueError(f"table has shape {found.shape}; accepted: as many rows as columns, at least 1")
    wrong = ~((found >= -_ROUNDING) & (found <= 1 + _ROUNDING))
    if wrong.any():
        raise ValueError(f"table has {found[wrong][0]}; accepted: numbers between 0 and 1")
    if np.abs(found - found.T).max() > _ROUNDING:
        raise ValueError("table is not symmetric; accepted: table[i, j] == table[j, i]")
    return found


def cutoffs(argument: str, values: Any) -> Array:
    """Checked frequencies."""
    found = vector(argument, values)
    for first, second in pairwise(found):
        if second <= first:
            raise ValueError(f"{argument} has {second:g} after {first:g}; accepted: increasing frequencies")
    if found[0] < 0:
        raise ValueError(f"{argument} has {found[0]:g}; accepted: frequencies of at least 0")
    return found


def band_values(hsic: Any, lower: Array, upper: Array) -> np.ma.MaskedArray[Any, Any]:
    """Checked HSIC of bands, masked where the lower cut-off is not below the upper one."""
    found = numbers("hsic", hsic)
    if found.shape != (len(lower), len(upper)):
        raise ValueError(f"hsic has shape {found.shape}; accepted: {(len(lower), len(upper))}, that of lower and upper")
    no_band = lower[:, None] >= upper
    if no_band.all():
        raise ValueError(f"lower begins at {lower[0]:g}, upper ends at {upper[-1]:g}; accepted: at least one band")
    for i, j in np.argwhere(~no_band & ~np.isfinite(found))[:1]:
        raise ValueError(f"hsic[{i}, {j}] is {found[i, j]} for a band; accepted: finite numbers where lower < upper")
    return np.ma.masked_array(found, no_band)
