"""Which selected features work together: what two are worth together beyond what they are worth apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bahsic.criteria.prediction import label_features
from bahsic.criteria.weights import Matrix
from bahsic.data.column_choice import group_of_columns
from bahsic.data.prepared import Prepared
from bahsic.engine import threads, tile_plan
from bahsic.engine.gram import GramTiles
from bahsic.engine.ridge import RidgeRegression
from bahsic.engine.scorer import kernel_values
from bahsic.inference.parts import evenly_spaced, selector_data
from bahsic.kernels import Kernel, LabelKernel, label_kernel
from bahsic.kernels.rows import check_same_length
from bahsic.kernels.vector import kernel_on_features
from bahsic.parameters import check_count

Indices = NDArray[np.intp]

# Samples that judge pairs, and kernel matrices in memory at the same time.
_SAMPLES, _AT_ONCE = 1000, 8


class Interaction(NamedTuple):
    """Two selected features and what they are worth together, see `interactions`.

    Attributes
    ----------
    first, second : str or int
        Names of the features, or indices where they have none.
    together : float
        The R2 that they are worth together beyond what they are worth apart.

    Examples
    --------
    >>> Interaction("dose", "arm", 0.4).together
    0.4
    """

    first: Any
    second: Any
    together: float


def interactions(selector: Any, X: Any = None, y: Any = None, *, n_features: int = 16) -> list[Interaction]:
    r"""Return for each pair of selected features what they are worth together beyond what they are worth apart.

    With S the selected features and :math:`R^2` the leave-one-out predictability of kernel ridge regression, zero
    where it is no better than the mean,

    .. math:: R^2(S) - R^2(S \setminus i) - R^2(S \setminus j) + R^2(S \setminus \{i, j\})

    is positive if the two need each other (XOR), negative if they can replace each other (near-copies), and near zero
    if their contributions add up.

    Parameters
    ----------
    selector : BAHSIC, FOHSIC or FeatureSelector
        A fitted one.
    X, y
        What it was fitted to. A `FeatureSelector` that was fitted in this session knows them.
    n_features : int, default=16
        Of more selected features, the pairs among those of the highest scores.

    Returns
    -------
    list of Interaction
        The pair that works together best first. Features are named as in X; with ``feature_groups``, by their groups.
        One regression for each pair, on at most 1000 samples that are evenly spread; all of them count once.

    Examples
    --------
    >>> from bahsic import FeatureSelector
    >>> from bahsic.datasets import make_xor
    >>> X, y, _ = make_xor(n_samples=200, n_features=6, random_state=0)
    >>> selector = FeatureSelector().fit(X, y)
    >>> pair = interactions(selector)[0]
    >>> pair.first, pair.second, round(pair.together, 1)
    (0, 1, 1.0)
    """
    check_count("n_features", n_features)
    if not hasattr(selector, "scores_") and hasattr(selector, "selector_"):
        raise TypeError(f"selector is {type(selector).__name__}; accepted: its selector_, a BAHSIC or FOHSIC")
    support = np.flatnonzero(selector.get_support())
    if X is None:
        if not hasattr(selector, "_fitted_to"):
            raise ValueError("X is None; accepted: the X and y of fit, unless a FeatureSelector was fitted here")
        X, y = selector._fitted_to  # noqa: SLF001 - what `fit` has kept for this
    kernel = kernel_on_features(selector.kernel_, "features that were selected")
    own = selector.target_kernel
    automatic = isinstance(own, str) and own == "auto"
    data, labels = selector_data(selector, X, kernel), label_kernel(y, selector.target_kernel_ if automatic else own)
    check_same_length(X=data.columns.n_samples, y=len(labels))
    group_of, names = group_of_columns(selector.feature_groups, len(data.constant), data.names)
    units = [support[group_of[support] == number] for number in np.unique(group_of[support])]
    best = np.argsort([-selector.scores_[unit].max() for unit in units], kind="stable")[:n_features]
    found = together(data, labels, kernel, units, np.sort(best))
    named = [names.tolist()[group_of[units[i][0]]] for i in np.sort(best)]
    pairs = [Interaction(*pair, value) for pair, value in zip(combinations(named, 2), found, strict=True)]
    return sorted(pairs, key=lambda pair: -pair.together)


def together(
    data: Prepared, labels: LabelKernel, kernel: Kernel, units: Sequence[Indices], tested: Indices
) -> list[float]:
    """Return the interaction of each pair of some units, in the order of `itertools.combinations`.

    Parameters
    ----------
    data : Prepared
        For the kernel.
    labels : LabelKernel
    kernel : Kernel
    units : sequence of ndarray of int
        The columns of each selected unit.
    tested : ndarray of int
        The units whose pairs are wanted.
    """
    samples = evenly_spaced(np.arange(len(labels)), _SAMPLES)
    columns, Y = data.columns.of_samples(samples), label_features(labels.of_samples(samples))
    plan, pairs = tile_plan(len(samples)), list(combinations(tested.tolist(), 2))

    def values(without: tuple[int, ...]) -> Matrix:
        rest = np.concatenate([unit for i, unit in enumerate(units) if i not in without])
        return Matrix(kernel_values(columns, rest, kernel))

    left: dict[tuple[int, ...], float] = {pair: 0.0 for pair in pairs if len(units) == 2}  # no feature is left
    wanted = [without for without in [*((i,) for i in tested.tolist()), *pairs] if len(without) < len(units)]
    with threads(None, len(samples)) as executor:
        regression = RidgeRegression(Y, "auto", plan, (0,), None, executor, exact=True)
        whole = regression.fit(GramTiles(values(()), plan), len(units), losses=True).predictability
        for start in range(0, len(wanted), _AT_ONCE):
            some = wanted[start : start + _AT_ONCE]
            found = regression.predictabilities([values(without) for without in some])
            left |= {without: max(0.0, value) for without, value in zip(some, found, strict=True)}
    return [whole - left[i,] - left[j,] + left[i, j] for i, j in pairs]
