"""Predictability of labels from data: leave-one-out R^2 of kernel ridge regression."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from bahsic.criteria.prediction import label_features
from bahsic.criteria.weights import Matrix
from bahsic.data.prepared import prepared
from bahsic.engine import threads, tile_plan
from bahsic.engine.gram import GramTiles
from bahsic.engine.ridge import RidgeRegression
from bahsic.engine.scorer import kernel_values
from bahsic.inference.dependence import as_table_like
from bahsic.kernels import label_kernel
from bahsic.kernels.rows import check_same_length
from bahsic.kernels.vector import kernel_on_features


def predictability(
    x: Any,
    y: Any,
    *,
    kernel: Any = "gaussian",
    target_kernel: Any = "auto",
    ridge: Any = "auto",
    standardize: bool = True,
) -> float:
    r"""Leave-one-out :math:`R^2` of kernel ridge regression of the labels y on the data x.

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

    Returns
    -------
    float
        At most 1; 0 is no better than the mean, and less is worse. Cost O(m^3) time, a few m x m matrices.

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
    found, labels = kernel_on_features(kernel, "features"), label_kernel(y, target_kernel)
    data = prepared(as_table_like(x), found, standardize=standardize, identifiers="use", whole=True, argument="x")
    columns = data.columns
    check_same_length(x=columns.n_samples, y=len(labels))
    if len(labels) < 2:
        raise ValueError(f"x has {len(labels)} sample; accepted: at least 2, so that one can be left out")
    labels.warn_of_choice()
    K = Matrix(kernel_values(columns, np.arange(columns.n_features), found))
    plan = tile_plan(len(labels))
    with threads(None, len(labels)) as executor:
        regression = RidgeRegression(label_features(labels), ridge, plan, (0,), None, executor, exact=True)
        fit = regression.fit(GramTiles(K, plan), columns.n_features)
    return fit.predictability


def check_ridge(ridge: Any) -> None:
    """Raise unless a ridge is "auto" or a positive number."""
    if isinstance(ridge, str) and ridge == "auto":
        return
    if not isinstance(ridge, Real) or isinstance(ridge, bool) or not 0 < float(ridge) < float("inf"):
        raise ValueError(f"ridge is {ridge!r}; accepted: 'auto' or a positive number")
