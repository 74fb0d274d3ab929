"""How good a subset of features is: estimates of HSIC, the matrix W that makes them linear in K, blocks of samples.

Imports kernels only; the engine evaluates these criteria for many subsets at once.
"""
