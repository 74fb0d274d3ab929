"""Predictability of labels from data: leave-one-out R^2 of kernel ridge regression."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

from bahsic.criteria.blocks import MOST_REGRESSIONS, RULE_SAMPLES, Blocks, auto_block_size, random_blocks
from bahsic.criteria.prediction import label_features
from bahsic.criteria.weights import Gram, Matrix
from bahsic.data.prepared import Prepared, prepared
from bahsic.engine import threads, tile_plan
from bahsic.engine.gram import GramTiles, KernelBlocks
from bahsic.engine.ridge import RidgeRegression
from bahsic.engine.scorer import kernel_values, resolved_on
from bahsic.inference.dependence import as_table_like
from bahsic.inference.parts import evenly_spaced
from bahsic.kernels import Kernel, LabelKernel, label_kernel
from bahsic.kernels.rows import check_same_length
from bahsic.kernels.vector import kernel_on_features
from bahsic.options import RIDGES

# Samples that tell how well single features predict.
_ALONE_SAMPLES = 1000


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
    r"""Compute leave-one-out :math:`R^2` of kernel ridge regression of the labels y on the data x.

    Each sample is predicted by the ridge regression, with intercept, on all the others. The result is one minus the
    sum of the squared errors over that of predicting the mean of the others; classes are predicted as indicators.

    Parameters
    ----------
    x : array-like of shape (m,) or (m, d), dataframe or sparse matrix
        The features.
    y : array-like of shape (m,) or (m, k)
        The labels: classes, numbers, several outputs, or whatever ``target_kernel`` takes.
    kernel : str, Kernel or callable, default="gaussian"
        Kernel on x; ``"gaussian"`` has gamma = 1/(2 d).
    target_kernel : str, Kernel or callable, default="auto"
        Kernel on y, see `bahsic.kernels.label_kernel`: what is predicted are its features.
    ridge : float or "auto", default="auto"
        The penalty is m times the ridge. "auto" takes the one of 0.1, 0.0316, ..., 0.0001 with the least error, which
        makes the result slightly optimistic.
    standardize : bool, default=True
        Whether to give each number zero mean and unit variance first.
    categorical_features : None, "from_dtype", or array-like of bool, int or str, default="from_dtype"
        Which columns are categories, as for `BAHSIC`.
    block_size : int, "auto" or None, default="auto"
        With an int B each of the disjoint random blocks of B samples has a regression of its own, in which one sample
        is left out at a time. "auto" takes all samples at once (None) up to 4000 of them, and five blocks of
        1000 beyond.
    random_state : int, RandomState, Generator or None, default=None
        Seed or generator used to draw the blocks; None means 0 with ``block_size="auto"``.

    Returns
    -------
    float
        At most 1; 0 is no better than the mean, and less is worse. Cost O(m^3) time, a few m x m matrices; with blocks
        O(m B^2) time.

    Notes
    -----
    With :math:`A = (HKH + \lambda I)^{-1}`, :math:`\lambda = m \varepsilon`, the residual of sample i when it is left
    out is :math:`\lambda (AY)_i / (\lambda A_{ii} - 1/m)`; the penalty stays the same and the intercept is free.
    Features that were chosen by the same samples make the result optimistic; `BAHSICCV` and
    `selection_test` are honest.

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
    options: Any = {"standardize": standardize, "categorical_features": categorical_features, "whole": True}
    identifiers = x.identifiers if isinstance(x, Prepared) else "use"  # x are the columns that the user has chosen
    data = prepared(as_table_like(x), kernel, **options, identifiers=identifiers, argument="x")
    m = len(labels)
    check_same_length(x=data.table.values.shape[0], y=m)
    if m < 2:
        raise ValueError(f"x has {m} sample; accepted: at least 2, so that one can be left out")
    labels.warn_of_choice()
    blocks = _blocks(m, block_size, random_state)
    K: Gram
    starts: tuple[int, ...] = (0,)
    if blocks is None:
        columns = data.columns
        K = Matrix(kernel_values(columns, data.varying, kernel))
    else:
        columns, starts, labels = data.ordered(blocks.order).columns, blocks.starts, labels.of_samples(blocks.order)
        m = len(labels)
        some, features = columns.of_samples(np.arange(min(m, RULE_SAMPLES))), data.varying
        K = KernelBlocks(columns, features, resolved_on(kernel, some, features))
    plan = tile_plan(m, starts=starts)
    with threads(None, m) as executor:
        regression = RidgeRegression(label_features(labels), ridge, plan, starts, None, executor, exact=True)
        return regression.fit(GramTiles(K, plan), len(data.varying), losses=True).predictability


def predictability_alone(data: Prepared, labels: LabelKernel, features: Sequence[int], kernel: Kernel) -> list[float]:
    """Return the predictability of labels from each of some columns by itself, on at most `_ALONE_SAMPLES` samples."""
    m = len(labels)
    samples = evenly_spaced(np.arange(m), _ALONE_SAMPLES)
    columns, Y, plan = (
        data.columns.of_samples(samples),
        label_features(labels.of_samples(samples)),
        tile_plan(len(samples)),
    )
    with threads(None, len(samples)) as executor:
        results = []
        for j in features:
            regression = RidgeRegression(Y, "auto", plan, (0,), None, executor)
            K = Matrix(kernel_values(columns, np.array([j]), kernel))
            results.append(regression.fit(GramTiles(K, plan), 1, losses=True).predictability)
        return results


def _blocks(m: int, block_size: Any, random_state: Any) -> Blocks | None:
    if isinstance(block_size, str) and block_size == "auto":
        blocks = random_blocks(m, auto_block_size(m, regressions=True), 0 if random_state is None else random_state)
        return None if blocks is None else blocks.first(MOST_REGRESSIONS)
    return random_blocks(m, block_size, random_state)


def check_ridge(ridge: Any) -> None:
    """Raise unless a ridge is "auto" or a number in range: outside of it rounding decides, or nothing is explained."""
    if isinstance(ridge, str) and ridge == "auto":
        return
    low, high = RIDGES
    if not isinstance(ridge, Real) or isinstance(ridge, bool) or not low <= float(ridge) <= high:
        raise ValueError(f"ridge is {ridge!r}; accepted: 'auto' or a number from {low:g} to {high:g}")
