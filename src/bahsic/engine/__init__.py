"""The engine: scores of all candidate subsets of a round, with error bounds.

`scorer_for` chooses the scorer by the type of the kernel:

=====================  =====================================================================
kernel                 cost of a round
=====================  =====================================================================
Gaussian, Laplacian    some multiplications for each pair of samples and candidate
Linear                 nothing: one column a feature for the whole search
Polynomial, degree p   p columns of a matrix product a candidate
any other kernel       one kernel matrix for each candidate
=====================  =====================================================================
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bahsic.criteria.weights import Weights
from bahsic.data.columns import Columns
from bahsic.engine.direct import GenericScorer
from bahsic.engine.executor import Executor, threads
from bahsic.engine.plan import Plan, tile_plan
from bahsic.engine.pointwise import PointwiseScorer
from bahsic.engine.polynomial import MAX_DEGREE, PolynomialScorer
from bahsic.engine.scorer import Round, Scorer
from bahsic.engine.units import Units
from bahsic.kernels import Gaussian, Laplacian, Linear, Polynomial
from bahsic.kernels.base import Kernel


def scorer_for(
    columns: Columns | NDArray[np.float64],
    kernel: Kernel,
    weights: Weights,
    executor: Executor,
    plan: Plan | None = None,
    units: Units | None = None,
) -> Scorer:
    """Choose and make the scorer for a kernel.

    Parameters
    ----------
    columns : Columns, or ndarray of shape (n_features, n_samples)
        The data, a feature in each row; means of zero where the kernel is a function of distances.
    kernel : Kernel
        Its parameters may be rules.
    weights : Weights
        The matrix W of HSIC = <K, W>.
    executor : Executor
        Workers for the tiles.
    plan : Plan, optional
        The tiles; by default as scikit-learn's ``working_memory`` allows.
    units : Units, optional
        What enters or leaves as a whole; by default each column by itself.

    Returns
    -------
    Scorer
    """
    data = columns if isinstance(columns, Columns) else Columns.plain(columns)
    plan = tile_plan(data.n_samples) if plan is None else plan
    grouped = units is not None and any(len(group) > 1 for group in units.groups or ())
    scorer: type[Scorer] = GenericScorer
    if type(kernel) in (Gaussian, Laplacian):
        scorer = PointwiseScorer
    elif type(kernel) is Linear or (type(kernel) is Polynomial and kernel.degree <= MAX_DEGREE and not grouped):
        scorer = PolynomialScorer
    return scorer(data, kernel, weights, executor, plan, units)


__all__ = ["Columns", "Executor", "Plan", "Round", "Scorer", "scorer_for", "threads", "tile_plan"]
