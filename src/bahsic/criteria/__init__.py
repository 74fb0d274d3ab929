"""Criteria that score a subset of features: estimates of HSIC, the matrix W that makes them linear in K, and blocks.

`Criterion` is the base class of your own criteria.

Imports kernels only; the engine evaluates these criteria for many subsets at once.
"""

from bahsic.criteria.base import Criterion

__all__ = ["Criterion"]
