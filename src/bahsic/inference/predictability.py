"""Predictability of labels from data, leave-one-out R^2 of kernel ridge regression, and interactions of features."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from bahsic.criteria.blocks import MOST_REGRESSIONS, RULE_SAMPLES, auto_block_size, random_blocks, some_samples
from bahsic.criteria.prediction import label_features
from bahsic.criteria.weights import Gram, Matrix
from bahsic.data.column_choice import group_of_columns
from bahsic.data.prepared import Prepared
from bahsic.engine import threads, tile_plan
from bahsic.engine.gram import GramTiles, KernelBlocks
from bahsic.engine.ridge import RidgeRegression
from bahsic.engine.scorer import kernel_values, resolved_on
from bahsic.inference.dependence import as_prepared
from bahsic.inference.parts import selector_data
from bahsic.kernels import Kernel, LabelKernel, label_kernel
from bahsic.kernels.rows import check_same_length
from bahsic.kernels.vector import kernel_on_features
from bahsic.parameters import check_count, check_ridge, is_auto

_SAMPLES = 1000  # that judge single features and pairs


class Interaction(NamedTuple):
    """The interaction of two selected features, see `interactions`.

    Attributes
    ----------
    first, second : str or int
        Names of the features, or indices where they have none.
    together : float
        Gain in R2 from having both features beyond the gains from having either.

    Examples
    --------
    >>> Interaction("dose", "arm", 0.4).together
    0.4
    """

    first: Any
    second: Any
    together: float


def predictability(  # noqa: PLR0913 - the kernels, the table, and blocks
    x: Any,
    y: Any,
    *,
    kernel: Any = "gaussian",
    target_kernel: Any = "auto",
    ridge: Any = "auto",
    standardize: bool = True,
    categorical_features: Any = "from_dtype",
    block_size: Any = "auto",
    random_state: Any = None,
) -> float:
    r"""Compute how well x predicts y: the leave-one-out :math:`R^2` of kernel ridge regression.

    Each sample is predicted by the ridge regression, with intercept, on all the others. The result is one minus the
    ratio of the squared errors to those of predicting the mean of the others. Classes are predicted as indicators.

    Parameters
    ----------
    x, y, kernel, target_kernel, standardize, categorical_features
        As for `hsic`; ``"gaussian"`` has gamma = 1/(2 d), and the features of the kernel on y are predicted.
    ridge : float or "auto", default="auto"
        The penalty is m times the ridge. "auto" uses the one of 0.1, 0.0316, ..., 0.0001 with the least error, which
        makes the result slightly too high.
    block_size : int, "auto" or None, default="auto"
        An int B fits a regression to each of several disjoint random blocks of B samples. "auto" uses all samples at
        once (None) up to 4000 of them, and five blocks of 1000 beyond.
    random_state : int, RandomState, Generator or None, default=None
        Seed or generator used to draw the blocks; None means 0 with ``block_size="auto"``.

    Returns
    -------
    float
        1 is perfect, 0 as good as the mean, negative worse. Costs O(m^3) time, a few m x m matrices; blocks O(m B^2).

    Notes
    -----
    With :math:`A = (HKH + \lambda I)^{-1}`, :math:`\lambda = m \varepsilon`, the residual of sample i when it is left
    out is :math:`\lambda (AY)_i / (\lambda A_{ii} - 1/m)`; the penalty stays the same and the intercept is free.

    For features that were selected on the same samples it is too high: use ``predictability_`` of the selector.

    Examples
    --------
    >>> x = np.linspace(-2, 2, 60)
    >>> round(predictability(x, x**2), 2)
    1.0
    >>> noise = np.random.default_rng(0).standard_normal(60)
    >>> predictability(noise, x**2) < 0.05
    True
    """
    check_ridge(ridge)
    kernel, labels = kernel_on_features(kernel, "features"), label_kernel(y, target_kernel)
    data = as_prepared(x, kernel, standardize=standardize, categorical_features=categorical_features)
    m = len(labels)
    check_same_length(x=data.table.values.shape[0], y=m)
    if m < 2:
        raise ValueError(f"x has {m} sample; accepted: at least 2, so that one can be left out")
    labels.warn_of_choice()
    if is_auto(block_size):
        blocks = random_blocks(m, auto_block_size(m, regressions=True), 0 if random_state is None else random_state)
        blocks = None if blocks is None else blocks.first(MOST_REGRESSIONS)
    else:
        blocks = random_blocks(m, block_size, random_state)
    K: Gram
    starts: tuple[int, ...] = (0,)
    if blocks is None:
        K = Matrix(kernel_values(data.columns, data.varying, kernel))
    else:
        columns, starts, labels = data.ordered(blocks.order).columns, blocks.starts, labels.of_samples(blocks.order)
        m = len(labels)
        rule_columns = columns.of_samples(np.arange(min(m, RULE_SAMPLES)))
        K = KernelBlocks(columns, data.varying, resolved_on(kernel, rule_columns, data.varying))
    plan = tile_plan(m, starts=starts)
    with threads(None, m) as executor:
        regression = RidgeRegression(label_features(labels), ridge, plan, starts, None, executor, exact=True)
        return regression.fit(GramTiles(K, plan), len(data.varying), losses=True).predictability


def predictability_alone(data: Prepared, labels: LabelKernel, features: Sequence[int], kernel: Kernel) -> list[float]:
    """Return the predictability of labels from each of some columns by itself, on at most `_SAMPLES` samples."""
    samples = some_samples(len(labels), _SAMPLES)
    columns, Y = data.columns.of_samples(samples), label_features(labels.of_samples(samples))
    plan, results = tile_plan(len(samples)), []
    with threads(None, len(samples)) as executor:
        for j in features:
            regression = RidgeRegression(Y, "auto", plan, (0,), None, executor)
            K = Matrix(kernel_values(columns, np.array([j]), kernel))
            results.append(regression.fit(GramTiles(K, plan), 1, losses=True).predictability)
    return results


def interactions(selector: Any, X: Any = None, y: Any = None, *, n_features: int = 16) -> list[Interaction]:
    r"""Measure which selected features work together: the joint gain in R2 of each pair beyond its single gains.

    With S the selected features and :math:`R^2` the `predictability`, zero where it is no better than the mean,

    .. math:: R^2(S) - R^2(S \setminus i) - R^2(S \setminus j) + R^2(S \setminus \{i, j\})

    is positive if the two need each other (XOR), negative if they can replace each other (near-duplicates), and near
    zero if their contributions add up.

    Parameters
    ----------
    selector : BAHSIC, FOHSIC or FeatureSelector
        A fitted selector.
    X, y
        The data that it was fitted to. Not needed for a `FeatureSelector`, unless it was loaded from a file.
    n_features : int, default=16
        If more features are selected, only those with the highest scores are paired.

    Returns
    -------
    list of Interaction
        Sorted by interaction, the strongest first. Features are named as in X; with ``feature_groups``, by their
        groups. Costs one regression for each pair, on at most 1000 samples, each of which counts once.

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
            raise ValueError("X is None; accepted: the X and y of fit, or a FeatureSelector fitted just now")
        X, y = selector._fitted_to  # noqa: SLF001 - what `fit` has kept for this
    kernel = kernel_on_features(selector.kernel_, "features that were selected")
    target_kernel = selector.target_kernel_ if is_auto(selector.target_kernel) else selector.target_kernel
    data, labels = selector_data(selector, X, kernel), label_kernel(y, target_kernel)
    check_same_length(X=data.columns.n_samples, y=len(labels))
    group_of, names = group_of_columns(selector.feature_groups, len(data.constant), data.table.names)
    units = [support[group_of[support] == number] for number in np.unique(group_of[support])]
    best = np.sort(np.argsort([-selector.scores_[unit].max() for unit in units], kind="stable")[:n_features])
    pairs: list[tuple[int, ...]] = list(combinations(best.tolist(), 2))
    if not pairs:
        return []
    samples = some_samples(len(labels), _SAMPLES)
    columns, Y = data.columns.of_samples(samples), label_features(labels.of_samples(samples))
    plan = tile_plan(len(samples))

    def kernel_without(left_out: tuple[int, ...]) -> KernelBlocks:
        features = np.concatenate([unit for i, unit in enumerate(units) if i not in left_out])
        return KernelBlocks(columns, features, resolved_on(kernel, columns, features))

    subsets = [*((i,) for i in best.tolist()), *(pairs if len(units) > 2 else [])]
    R2 = dict.fromkeys(pairs, 0.0)  # of two features none is left
    with threads(None, len(samples)) as executor:
        regression = RidgeRegression(Y, "auto", plan, (0,), None, executor, exact=True)
        whole = max(0.0, regression.fit(GramTiles(kernel_without(()), plan), len(units), losses=True).predictability)
        values = regression.predictabilities([kernel_without(subset) for subset in subsets])
    R2 |= {subset: max(0.0, value) for subset, value in zip(subsets, values, strict=True)}
    named = {i: names.tolist()[group_of[units[i][0]]] for i in best.tolist()}
    found = [Interaction(named[i], named[j], whole - R2[i,] - R2[j,] + R2[i, j]) for i, j in pairs]
    return sorted(found, key=lambda pair: -pair.together)
