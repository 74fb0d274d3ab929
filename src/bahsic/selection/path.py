"""The path of a search: a record of each round, and the choice of a number of features on it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import dropwhile, takewhile

import numpy as np
from numpy.typing import NDArray

from bahsic.criteria.prediction import mean_error
from bahsic.kernels.rows import FloatArray

Array = NDArray[np.float64]

# Means of losses that differ by less, relative to the greatest, are ties.
_ROUNDING = 1e-9


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
        HSIC of the subset with that kernel, exact to 1e-9 of it or, where its terms cancel, of the sum of their
        magnitudes; None with ``criterion="prediction"``.
    standard_error : float or None
        Standard error of this HSIC (equation varHSIC), with ``standard_errors=True``.
    features : tuple of int
        The features that left, the least relevant first, or entered, the most relevant first.
    redundancy : float or None
        With ``redundancy=True``, the highest normalised HSIC of two features of the subset, see `bahsic.redundancy`;
        None for subsets that are greater than the selected one.
    reason : str
        With ``n_features_to_select="auto"``, why this number of features was chosen; empty for the others.
    predictability : float or None
        Leave-one-out R^2 of kernel ridge regression on the subset, see `bahsic.predictability`; with
        ``criterion="prediction"`` or ``n_features_to_select="auto"``.
    predictability_error : float or None
        Standard error of the predictability.
    ridge : float or None
        The ridge of that regression.

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
    redundancy: float | None = None
    reason: str = ""
    predictability: float | None = None
    predictability_error: float | None = None
    ridge: float | None = None


def fewest_as_good(sizes: Sequence[int], losses: Sequence[Array], sample_weight: FloatArray | None = None) -> int:
    """Position of the smallest subset that predicts as well as any.

    Parameters
    ----------
    sizes : sequence of int
        Numbers of features.
    losses : sequence of ndarrays of shape (m,)
        For each subset the squared leave-one-out residual of each sample.
    sample_weight : ndarray of shape (m,), optional

    Returns
    -------
    int
        The smallest subset whose losses exceed those of the best one by at most one standard error of their mean
        difference, sample by sample.

    Examples
    --------
    >>> few, best = np.array([1.0, 0.9, 1.2, 0.8]), np.array([0.9, 1.0, 1.1, 0.8])
    >>> fewest_as_good([2, 5], [few, best])
    0
    """
    return min(_as_good(sizes, losses, sample_weight), key=lambda position: sizes[position])


def most_as_good(sizes: Sequence[int], losses: Sequence[Array]) -> int:
    """Position of the last subset that predicts as well as any, from the smallest such one upwards without a gap.

    Greater ones, behind a gap, are not taken: with very many features a regression predicts little but the mean, which
    may be as good as anything where there is nothing to find. See `fewest_as_good` for "as well as any".

    Examples
    --------
    >>> best, bad = np.array([1.0, 0.9, 1.2, 0.8]), np.array([2.0, 1.9, 2.2, 1.8])
    >>> most_as_good([1, 2, 3, 4, 9], [bad, best, best, bad, best])
    2
    """
    good = set(_as_good(sizes, losses, None))
    upwards = sorted(range(len(sizes)), key=lambda position: sizes[position])
    from_first = list(dropwhile(lambda position: position not in good, upwards))
    return list(takewhile(lambda position: position in good, from_first))[-1]


def _as_good(sizes: Sequence[int], losses: Sequence[Array], sample_weight: FloatArray | None) -> list[int]:
    """Positions of the subsets that predict as well as the best one, the smallest of equal ones."""
    means = np.array([np.average(loss, weights=sample_weight) for loss in losses])
    near = means <= means.min() + _ROUNDING * means.max()
    best = min(np.flatnonzero(near).tolist(), key=lambda position: sizes[position])

    def as_good(position: int) -> bool:
        difference = losses[position] - losses[best]
        worse = float(np.average(difference, weights=sample_weight))
        return worse <= mean_error(difference, sample_weight) + _ROUNDING * float(means.max())

    return list(filter(as_good, range(len(sizes))))


def most_units(n_units: int, n_samples: int) -> int:
    """Greatest number of units that "auto" takes.

    All of them, or if they are more than the samples, the samples over their logarithm: the best of very many subsets
    looks good by chance, and this is the number that screening keeps (Fan and Lv 2008).

    Examples
    --------
    >>> most_units(50, 60), most_units(5000, 60)
    (50, 14)
    """
    return n_units if n_units <= n_samples else max(1, int(n_samples / math.log(n_samples)))


def reason(path: Sequence[PathStep], chosen: int, largest: int) -> str:
    """The reason why the step at a position was chosen, in words; subsets of at most ``largest`` features took part."""
    step, most = path[chosen], max(path, key=lambda step: step.n_features)
    predict = "predicts" if step.n_features == 1 else "predict"
    any_ = "any" if largest == most.n_features else f"any of at most {largest}"
    reached, whole = (round(one.predictability or 0.0, 2) + 0.0 for one in (step, most))  # no -0.00
    nothing = ", which is not at all" if reached <= 0 else ""
    return (
        f"{step.n_features} of {most.n_features} features {predict} as well as {any_}{nothing}: R2 {reached:.2f}, "
        f"all {most.n_features}: {whole:.2f}"
    )
