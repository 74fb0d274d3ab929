"""The path of a search: a record of each round, and the choice of a number of features on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class PathStep:
    """One round of a search.

    Attributes
    ----------
    n_features : int
        Size of the subset: before the round in backward elimination, after it in forward selection.
    parameter : float or None
        The gamma of the kernel on the data for a subset of that size, if it has one.
    hsic : float
        HSIC of the subset with that kernel.
    standard_error : float or None
        Of this HSIC (equation varHSIC), with ``standard_errors=True`` or ``n_features_to_select="auto"``.
    features : tuple of int
        The features that left, the least relevant first, or entered, the most relevant first.
    redundancy : float or None
        With ``redundancy=True``, the highest normalised HSIC of two features of the subset, see `bahsic.redundancy`;
        None for subsets that are greater than the selected one.
    reason : str
        With ``n_features_to_select="auto"``, why this number of features was chosen; empty for the others.

    Examples
    --------
    >>> from bahsic import BAHSIC
    >>> from bahsic.datasets import make_xor
    >>> X, y, _ = make_xor(n_samples=200, n_features=4, random_state=0)
    >>> [(step.n_features, step.features) for step in BAHSIC(2).fit(X, y).path_]
    [(4, (3,)), (3, (2,)), (2, (0,)), (1, (1,))]
    """

    n_features: int
    parameter: float | None
    hsic: float
    standard_error: float | None
    features: tuple[int, ...]
    redundancy: float | None = None
    reason: str = ""


def within_one_standard_error(path: Sequence[PathStep]) -> int:
    """Position of the smallest subset whose HSIC is within one standard error of the best."""
    best = _best(path)
    enough = best.hsic - (best.standard_error or 0.0)
    near = [position for position, step in enumerate(path) if step.hsic >= enough]
    return min(near, key=lambda position: path[position].n_features)


def _best(path: Sequence[PathStep]) -> PathStep:
    """The step of highest HSIC, of the fewest features where several have it."""
    return max(path, key=lambda step: (step.hsic, -step.n_features))


def reason(path: Sequence[PathStep], chosen: int) -> str:
    """Why the step at a position was chosen, in words."""
    best, step = _best(path), path[chosen]
    return (
        f"{step.n_features} is the smallest number of features on the path with HSIC ({step.hsic:.4g}) within one "
        f"standard error ({best.standard_error:.2g}) of the best ({best.hsic:.4g} with {best.n_features})"
    )
