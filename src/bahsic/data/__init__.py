"""The user's data as columns that kernels can use: tables, categories, missing values, sparse and stored arrays.

Imports kernels only; everything that takes X goes through here.
"""
