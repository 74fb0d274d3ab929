"""Values that reports and pictures read from a fitted selector."""

from __future__ import annotations

import reprlib
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from bahsic.report.curve import Curve, path_curve
from bahsic.report.schema import MEASURES, Outcome, outcome_of

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


def selected_mask(selector: Any) -> Mask:
    """Return the selected features: none where held-out samples show that nothing predicts the target."""
    mask: Mask = selector.support_ & bool(getattr(selector, "predicts_", True))
    return mask


def candidate_mask(selector: Any) -> Mask:
    """Return the features that took part in the selection."""
    mask: Mask = np.array([not column.left_out for column in selector.columns_]) | selector.support_
    return mask


def fold_counts(selector: Any) -> Indices | None:
    """Return the number of folds that selected each feature; None if there were no folds."""
    n_folds = getattr(selector, "n_folds_", 1)
    return None if n_folds == 1 else np.rint(n_folds * selector.selection_frequencies_).astype(np.intp)


def measures_of(selector: Any) -> dict[str, Any]:
    """Return the measures of a fitted selector as plain data, None where it was not cross-fitted."""
    return {name: getattr(selector, f"{name}_", None) for name in MEASURES}


def outcome_of_selector(selector: Any) -> Outcome:
    """Return the outcome of a fitted selector."""
    n_candidates = sum(not column.left_out for column in selector.columns_)
    return outcome_of(measures_of(selector), list(map(asdict, selector.path_)), selector.n_features_, n_candidates)


def curve_of(selector: Any) -> Curve | None:
    """Return the curve along the path of a fitted selector; None if nothing was measured along it."""
    outcome = outcome_of_selector(selector)
    selected = 0 if outcome.nothing else int(outcome.n_selected)
    return path_curve(list(map(asdict, selector.path_)), selected, outcome.n_candidates)
