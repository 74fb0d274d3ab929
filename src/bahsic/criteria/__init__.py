"""Criteria that score a subset of features: estimates of HSIC, the matrix W that makes them linear in K, and blocks.

Imports kernels only; the engine evaluates these criteria for many subsets at once.
"""
