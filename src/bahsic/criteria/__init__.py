"""Criteria that score subsets of features: HSIC and W, which makes it linear in K; the base class of your own ones."""

from bahsic.criteria.base import Criterion

__all__ = ["Criterion"]
