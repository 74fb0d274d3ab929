"""The engine: exact scores of all candidate subsets of a round at the price of a few products.

`scorer_for` chooses by what the kernel is:

=====================  =====================================================================
kernel                 a round costs
=====================  =====================================================================
Gaussian               one exponential of the upper triangle, two to four columns a candidate
Linear                 nothing: one column a feature for the whole search
Polynomial, degree p   p columns a candidate
Laplacian              four multiplications for each pair of samples and candidate
any other kernel       one kernel matrix for each candidate
=====================  =====================================================================
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bahsic.engine.direct import GenericScorer, LaplacianScorer
from bahsic.engine.executor import Executor, threads
from bahsic.engine.gaussian_scorer import GaussianScorer
from bahsic.engine.plan import Plan, tile_plan
from bahsic.engine.products import MAX_DEGREE, PolynomialScorer
from bahsic.engine.scorer import Ranked, Scorer
from bahsic.hsic import Weights
from bahsic.kernels import Gaussian, Laplacian, Linear, Polynomial
from bahsic.kernels.base import Kernel


def scorer_for(
    XT: NDArray[np.float64], kernel: Kernel, weights: Weights, executor: Executor, plan: Plan | None = None
) -> Scorer:
    """The scorer for a kernel.

    Parameters
    ----------
    XT : ndarray of shape (n_features, n_samples)
        The data, a feature in each row; means of zero where the kernel is a function of distances.
    kernel : Kernel
        Its parameters may be rules.
    weights : Weights
        The matrix W of HSIC = <K, W>.
    executor : Executor
        Who works on the tiles.
    plan : Plan, optional
        The tiles; by default as scikit-learn's ``working_memory`` allows.

    Returns
    -------
    Scorer
    """
    plan = tile_plan(XT.shape[1]) if plan is None else plan
    if type(kernel) is Gaussian:
        return GaussianScorer(XT, kernel, weights, executor, plan)
    if type(kernel) is Linear:
        return PolynomialScorer(XT, kernel, weights, executor, plan)
    if type(kernel) is Polynomial and kernel.degree <= MAX_DEGREE:
        return PolynomialScorer(XT, kernel, weights, executor, plan, degree=kernel.degree, coef0=kernel.coef0)
    if type(kernel) is Laplacian:
        return LaplacianScorer(XT, kernel, weights, executor, plan)
    return GenericScorer(XT, kernel, weights)


__all__ = ["Executor", "Plan", "Ranked", "Scorer", "scorer_for", "threads", "tile_plan"]
