"""Values that results, pictures and notebooks read from a fitted selector."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from bahsic.arrays import Array, Indices, Mask
from bahsic.inference.predictability import interactions
from bahsic.report.schema import LEAST_TOGETHER, MEASURES

_MOST_PAIRED = 8  # selected features whose pairs are judged


def fitted(selector: Any) -> Any:
    """Return the selector that has the path, or raise if there is none."""
    inner = getattr(selector, "selector_", selector)  # the one inside BAHSICCV
    if not hasattr(inner, "path_"):
        error = NotFittedError if hasattr(selector, "fit") else TypeError
        raise error(f"selector is {reprlib.repr(selector)}, not fitted; accepted: a fitted BAHSIC, FOHSIC or BAHSICCV")
    return inner


def measured(selector: Any) -> dict[str, Any]:
    """Return the part of a result that needs no data: measures, roles of columns, and the path with column numbers."""
    return {
        "n_features": int(selected_mask(selector).sum()),
        **{name: getattr(selector, f"{name}_", None) for name in MEASURES},  # None where it was not cross-fitted
        "leaks": list(getattr(selector, "leaks_", ())),
        "columns": [column._asdict() for column in selector.columns_],
        "path": list(map(asdict, selector.path_)),
    }


def feature_names(selector: Any) -> list[str]:
    """Return the names seen in fit, or x0, x1, ..."""
    return [column.name for column in selector.columns_]


def search_order(selector: Any) -> Indices:
    """Return all features in the order of the search, the most relevant first."""
    backward = hasattr(selector, "elimination_order_")
    order: Indices = selector.elimination_order_[::-1] if backward else selector.selection_order_
    return order


def display_order(selector: Any) -> Indices:
    """Return all features: the selected ones by worth, then the others in the order of the search."""
    order = search_order(selector)
    selected = order[selector.support_[order]]
    by_worth = np.argsort(-selector.scores_[selected], kind="stable")
    return np.concatenate([selected[by_worth], order[~selector.support_[order]]])


def selected_mask(selector: Any) -> Mask:
    """Return the selected features: none where held-out samples show that nothing predicts the target."""
    mask: Mask = selector.support_ & bool(getattr(selector, "predicts_", True))
    return mask


def candidate_mask(selector: Any) -> Mask:
    """Return the features that took part in the selection."""
    mask: Mask = np.array([not column.left_out for column in selector.columns_]) | selector.support_
    return mask


def fold_shares(selector: Any) -> Array | None:
    """Return the share of the folds that selected each feature; None if there were no folds."""
    return selector.selection_frequencies_ if getattr(selector, "n_folds_", 1) > 1 else None


def pairs_of(selector: Any, names: Sequence[str], *data: Any) -> list[dict[str, Any]]:
    """Return the interactions of the best selected features, or groups, the strongest first; none for HSIC."""
    if selector.criterion != "prediction" or not selected_mask(selector).any():
        return []
    numbered, pairs = selector.feature_groups is None, interactions(selector, *data, n_features=_MOST_PAIRED)
    ends = [[names[end] if numbered and isinstance(end, int) else str(end) for end in pair[:2]] for pair in pairs]
    return [{"features": both, "together": pair.together} for both, pair in zip(ends, pairs, strict=True)]


def partner_in(pairs: Sequence[Mapping[str, Any]], name: str) -> dict[str, Any]:
    """Return the feature that one works with best, and what the two are worth together beyond their sum."""
    best = next((pair for pair in pairs if name in pair["features"]), None)
    if best is None or best["together"] < LEAST_TOGETHER:
        return {"partner": None, "together": None}
    first, second = best["features"]
    return {"partner": second if first == name else first, "together": best["together"]}
