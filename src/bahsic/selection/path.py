"""The path of a search: a record of each round."""

from __future__ import annotations

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
    hsic : float or None
        HSIC of the subset with that kernel, with a relative error of at most 1e-9 (of the magnitudes of its terms where
        these cancel); None with ``criterion="prediction"``.
    standard_error : float or None
        Standard error of this HSIC (equation varHSIC), with ``standard_errors=True``.
    features : tuple of int
        The features that left, the least relevant first, or entered, the most relevant first.
    reason : str
        With ``n_features_to_select="auto"``, why this number of features was chosen; empty for the others.
    predictability : float or None
        Held-out R^2: each sample is predicted by kernel ridge regression on a subset of this size that a search on
        other samples has found. None if no samples were held out.
    predictability_error : float or None
        Standard error of the predictability.
    ridge : float or None
        The ridge of the regression on the subset, in the search on all samples; with ``criterion="prediction"``.
    score : float or None
        Score of the same predictions in a familiar measure, see ``score_name_``.
    value : float or None
        Value of the criterion for the subset: HSIC, the explained share of the variance, or what an object returned.

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
    hsic: float | None
    standard_error: float | None
    features: tuple[int, ...]
    reason: str = ""
    predictability: float | None = None
    predictability_error: float | None = None
    ridge: float | None = None
    score: float | None = None
    value: float | None = None
