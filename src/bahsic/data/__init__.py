"""Conversion of the user's data to columns for kernels: tables, categories, missing values, sparse and stored arrays.

Imports kernels only; everything that takes X goes through here.
"""
