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
from bahsic.engine.executor import Executor, threads
from bahsic.engine.plan import Plan, tile_plan
from bahsic.engine.pointwise import PointwiseScorer
from bahsic.engine.polynomial import MAX_DEGREE, PolynomialScorer
from bahsic.engine.scorer import GenericScorer, Round, Scorer
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
    """Choose and make the scorer for a kernel, whose parameters may be rules, and the matrix W of HSIC = <K, W>.

    The data have a feature in each row, with means of zero where the kernel is a function of distances. Tiles are by
    default as scikit-learn's ``working_memory`` allows; ``units`` enter or leave as a whole, by default each column.
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
