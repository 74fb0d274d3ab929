"""Values that reports and pictures read from a fitted selector."""

from __future__ import annotations

import reprlib
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]


def fitted(selector: Any) -> Any:
    """Return the selector that has the path, or raise if there is none."""
    inner = getattr(selector, "selector_", selector)  # the one inside BAHSICCV
    if not hasattr(inner, "path_"):
        error = NotFittedError if hasattr(selector, "fit") else TypeError
        raise error(f"selector is {reprlib.repr(selector)}, not fitted; accepted: a fitted BAHSIC, FOHSIC or BAHSICCV")
    return inner


def feature_names(selector: Any) -> list[str]:
    """Return the names seen in fit, or x0, x1, ..."""
    names = getattr(selector, "feature_names_in_", None)
    return [f"x{j}" for j in range(selector.n_features_in_)] if names is None else [str(name) for name in names]


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


def predicts(selector: Any) -> bool:
    """Return False where held-out samples show that nothing predicts the target."""
    return bool(getattr(selector, "predicts_", True))


def selected_mask(selector: Any) -> Mask:
    """Return the selected features: none where nothing predicts the target."""
    mask: Mask = selector.support_ & predicts(selector)
    return mask


def candidate_mask(selector: Any) -> Mask:
    """Return the features that took part in the selection."""
    mask: Mask = np.array([not column.left_out for column in selector.columns_]) | selector.support_
    return mask


def fold_counts(selector: Any) -> Indices | None:
    """Return the number of folds that selected each feature; None if there were no folds."""
    n_folds = getattr(selector, "n_folds_", 1)
    return None if n_folds == 1 else np.rint(n_folds * selector.selection_frequencies_).astype(np.intp)


def path_of(selector: Any) -> list[dict[str, Any]]:
    """Return the steps of the path as plain data, by increasing size."""
    return [asdict(step) for step in sorted(selector.path_, key=lambda step: int(step.n_features))]
