"""Columns of the data in the form that kernels use: standardised numbers, codes of categories, missing entries."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse
from sklearn.utils import gen_batches

from bahsic.arrays import Array, Indices, Mask
from bahsic.data.sources import Source, StoredRows
from bahsic.data.sparse_rows import SparseRows
from bahsic.data.standard import Standardisation, prepared_columns
from bahsic.data.tables import Table
from bahsic.kernels import Gaussian, Laplacian, Linear, Polynomial
from bahsic.kernels.bandwidth import ScaledKernel
from bahsic.kernels.base import Kernel

Rows = Array | SparseRows | StoredRows

# Most columns, and entries of columns, of one step in a pass over all columns that needs memory of its own.
_BLOCK, _BLOCK_ENTRIES = 1024, 1 << 22

# Entries of columns that are made at a time, where columns are not in memory.
_PORTION = 1 << 20


@dataclass(frozen=True, eq=False)
class Columns:
    r"""Features, a row each, and their contributions to the total D of a kernel of differences.

    Two numbers contribute :math:`|x - x'|^p`. A missing one lies ``neutral / 2`` away from the centre of its column
    (the mean, or for p = 1 the median), which is zero here, in a direction of its own; a missing category is a category
    of its own. So all contributions are those of points in a space: kernel matrices are positive definite.
    """

    data: Rows  # a feature in each row: numbers, or codes of categories; NaN where an entry is missing
    different: Array  # contribution of two different categories; zero for numbers
    neutral: Array  # contribution of two missing entries: the mean one of the column; zero in complete columns
    missing: Mask  # columns with missing entries
    together: bool = False  # whether missing numbers have one direction, and so contribute zero to each other

    @staticmethod
    def plain(XT: Rows) -> Columns:
        """Complete columns of numbers."""
        n = XT.shape[0]
        return Columns(XT, np.zeros(n), np.zeros(n), np.zeros(n, dtype=bool))

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.data.shape[0])

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return int(self.data.shape[1])

    @cached_property
    def special(self) -> Mask:
        """Mask of the columns that hold categories or missing entries."""
        return np.asarray(self.missing | (self.different > 0))

    def rows(self, features: Indices | slice, out: Array | None = None, samples: slice | None = None) -> Array:
        """Return some columns, a row each, in new memory or in ``out``, of all samples or of a range of them."""
        if isinstance(features, slice):
            features = np.arange(*features.indices(self.n_features))
        if not isinstance(self.data, np.ndarray):
            return self.data.rows(features, out, samples)
        if samples is None:
            # With mode "raise" numpy would copy the output.
            return np.take(self.data, features, axis=0, out=out, mode="clip")
        part: Array = self.data[features, samples]  # np.take would copy these samples of all features first
        if out is None:
            return part
        out[:] = part
        return out

    def blocks(self) -> Iterator[slice]:
        """Return ranges of features that together cover all."""
        yield from gen_batches(self.n_features, max(1, min(_BLOCK, _BLOCK_ENTRIES // self.n_samples)))

    def portions(self, features: Indices, n_samples: int | None = None) -> list[Indices]:
        """Divide features into parts whose rows fit into a block of memory; one part if they are in memory already."""
        at_hand = isinstance(self.data, np.ndarray) and n_samples is None
        height = len(features) + 1 if at_hand else max(1, _PORTION // (n_samples or self.n_samples))
        return [features[start : start + height] for start in range(0, max(1, len(features)), height)]

    @cached_property
    def ranges(self) -> Array:
        """Largest magnitude of each column, zero if all is missing; for categories the root of ``different``."""
        parts = [np.fmax.reduce(np.abs(self.rows(block)), axis=1, initial=0.0) for block in self.blocks()]
        return np.where(self.different > 0, np.sqrt(self.different), np.concatenate(parts))

    @cached_property
    def typical(self) -> Array:
        """Typical contribution of each column to the squared distance of two samples."""
        squares = (np.square(self.rows(block)) for block in self.blocks())
        parts = [np.nansum(part, axis=1) / np.maximum((~np.isnan(part)).sum(axis=1), 1) for part in squares]
        return np.where(self.different > 0, self.different / 2, 2 * np.concatenate(parts))

    @cached_property
    def largest_norms(self) -> tuple[Array, Array]:
        """Limits on squared ranges, and the largest squared norm of a sample over the columns up to each limit."""
        squares = np.square(self.ranges) + self.neutral
        powers = np.frexp(squares)[1] // 4
        powers = np.maximum(powers, powers.max() - 7)
        limits = np.unique(powers)
        norms = np.zeros((len(limits), self.n_samples))
        for block in self.blocks():
            X = np.square(np.nan_to_num(self.rows(block), copy=False, nan=0.0)) + self.neutral[block, None]
            categories = self.different[block] > 0
            X[categories] = squares[block][categories, None]
            for position, limit in enumerate(limits):
                norms[position] += X[powers[block] == limit].sum(axis=0)
        return np.ldexp(1.0, 4 * limits + 3), np.cumsum(norms, axis=0).max(axis=1)

    def of_samples(self, samples: Indices) -> Columns:
        """Return the same columns for some samples only."""
        if not isinstance(self.data, np.ndarray):
            return replace(self, data=self.data.of_samples(samples))
        return replace(self, data=np.take(self.data, samples, axis=1))  # an index would store it by columns

    def in_unit(self, exponent: int) -> Columns:
        """Return the same columns in the unit 2**exponent, for kernels of squared differences."""
        different, neutral = (np.ldexp(values, -2 * exponent) for values in (self.different, self.neutral))
        if not isinstance(self.data, np.ndarray):
            return replace(self, data=self.data.scaled(-exponent), different=different, neutral=neutral)
        data = self.data.copy()
        numbers = self.different == 0
        data[numbers] = np.ldexp(data[numbers], -exponent)
        return replace(self, data=data, different=different, neutral=neutral)

    def contribution(self, feature: int, power: int, x: Array, y: Array, out: Array) -> Array:
        """Return contributions of a column to D for all pairs of entries, of different samples, in ``out``."""
        different, missing = float(self.different[feature]), bool(self.missing[feature])
        if different > 0:
            np.not_equal.outer(x, y, out=out, casting="unsafe")  # NaN differs from all
            out *= different
        else:
            np.subtract.outer(*((np.nan_to_num(side, nan=0.0) for side in (x, y)) if missing else (x, y)), out=out)
            (np.square if power == 2 else np.abs)(out, out=out)
        if missing:
            half, rows, cols = (float(self.neutral[feature]) - different) / 2, np.isnan(x), np.isnan(y)
            out[rows] += half
            out[:, cols] += half
            if self.together:
                out[np.ix_(rows, cols)] = 0.0
        return out


def check_mixture(kernel: Kernel, *, categories: bool, missing: bool, standardize: bool) -> None:
    """Raise if the kernel cannot take categories or missing entries."""
    of_differences = type(kernel) in (Gaussian, Laplacian)
    if categories and not of_differences:
        raise ValueError(f"kernel is {kernel!r}; accepted with categorical_features: Gaussian or Laplacian")
    # The mean of x x' is zero in standardised columns alone.
    of_products = type(kernel) in (Linear, Polynomial) and standardize
    if missing and not (of_differences or of_products):
        raise ValueError(
            f"kernel is {kernel!r}, standardize is {standardize!r}; accepted where entries are missing: "
            "Gaussian or Laplacian, or Linear or Polynomial with standardize=True"
        )


def mixed_columns(
    table: Table, kernel: Kernel, how: Standardisation, *, together: bool = False
) -> tuple[Columns, Mask]:
    """Return columns of a table, standardised if asked for, and a mask of the constant ones."""
    X, categorical, missing = table.values, table.categorical_for(kernel), table.missing
    data: Array | SparseRows
    if isinstance(X, Source):
        stored, constant = StoredRows.standardised(X, kernel, how)
        return Columns.plain(stored), constant
    if sparse.issparse(X):
        data, constant = SparseRows.standardised(X, how)
    else:
        data, constant = prepared_columns(X, kernel, how, complete=not missing.any())
        if categorical.any():
            data[categorical] = (X if how.order is None else X[how.order]).T[categorical]
    check_mixture(kernel, categories=bool(categorical.any()), missing=bool(missing.any()), standardize=how.standardize)
    if not isinstance(kernel, ScaledKernel):  # the mean of x x' is zero, as is the product with zero
        if missing.any():
            np.nan_to_num(data.stored.data if isinstance(data, SparseRows) else data, copy=False, nan=0.0)
        return Columns.plain(data), constant
    if together and missing.any() and isinstance(data, np.ndarray):
        categorical, missing, constant = _with_missing_codes(data, categorical, missing, constant, how.n_own)
    missing = missing & ~constant
    idle = np.flatnonzero(constant & (table.missing | categorical))
    if isinstance(data, SparseRows):
        data.clear(idle)
    else:
        data[idle] = 0.0  # codes and missing entries of a constant column tell nothing
    columns = Columns(data, np.zeros(len(constant)), np.zeros(len(constant)), missing, together)
    different, neutral = _contributions_of_columns(columns, categorical & ~constant, kernel.power, how)
    return replace(columns, different=different, neutral=neutral), constant


def _with_missing_codes(
    data: Array, categorical: Mask, missing: Mask, constant: Mask, n_own: int | None
) -> tuple[Mask, ...]:
    """Make missing a category, also beside a single number; return categorical, missing and constant columns."""
    absent = np.isnan(data[:, :n_own])
    varies = absent.any(axis=1) & ~absent.all(axis=1)
    categorical = categorical | (missing & constant)
    for j in np.flatnonzero(categorical & missing):
        gaps = np.isnan(data[j])
        codes = np.unique(data[j, ~gaps], return_inverse=True)[1]
        data[j, ~gaps], data[j, gaps] = codes, codes.max(initial=-1) + 1
    return categorical, missing & ~categorical, constant & ~varies


def _contributions_of_columns(
    columns: Columns, categorical: Mask, power: int, how: Standardisation
) -> tuple[Array, Array]:
    """Return what two categories and a missing entry contribute; numbers with missing entries are centred in place."""
    different, neutral = np.zeros((2, columns.n_features))
    for j in np.flatnonzero(categorical | columns.missing):
        x = columns.rows(np.array([j]))[0, : how.n_own]
        seen = ~np.isnan(x)
        values, weights = x[seen], np.ones(seen.sum()) if how.weights is None else how.weights[seen]
        counts = weights / weights.sum()
        if categorical[j]:
            shares = np.bincount(values.astype(np.intp), weights=counts)
            different[j] = _STANDARD_MEAN[power] / (1 - np.square(shares).sum())
            neutral[j] = columns.missing[j] * _STANDARD_MEAN[power]
        else:
            neutral[j] = _mean_difference(values, counts, power)
            centre = counts @ values
            if power == 1:
                centre = np.quantile(values, 0.5, weights=weights, method="inverted_cdf")
            if isinstance(columns.data, SparseRows):
                columns.data.shift(int(j), float(centre))
            else:
                columns.data[j] -= centre  # type: ignore[index]
    return different, neutral


# Mean of |x - x'|^p over pairs of standard normal numbers; for p = 2 of any with variance one.
_STANDARD_MEAN = {1: 2 / math.sqrt(math.pi), 2: 2.0}


def _mean_difference(values: Array, counts: Array, power: int) -> float:
    """Return the mean of |x - x'|^p over all pairs of entries, including each entry with itself."""
    if power == 2:
        return float(2 * (counts @ np.square(values - counts @ values)))
    order = np.argsort(values)
    values, counts = values[order], counts[order]
    below = np.cumsum(counts) - counts / 2  # half of an entry is below itself
    return float(2 * (counts * (2 * below - 1)) @ values)


def copies(columns: Columns, tolerance: float = 0.0) -> Indices:
    """Return for each column the first one that is equal to it up to a tolerance or, for numbers, to its negative."""
    first = np.arange(columns.n_features)
    # Candidates have the same inner product with any vector, up to sign and rounding.
    direction = np.cos(np.arange(columns.n_samples))
    rows = (columns.rows(block) for block in columns.blocks())
    signature = np.concatenate([np.abs(np.nan_to_num(X, copy=False, nan=math.e) @ direction) for X in rows])
    order = np.argsort(signature, kind="stable")
    close = np.diff(signature[order]) <= 1e-9 * signature[order][1:] + 1e-300 + tolerance * columns.n_samples
    for run in np.split(order, np.flatnonzero(~close) + 1):
        originals: list[tuple[int, Array]] = []
        for column in np.sort(run) if len(run) > 1 else ():
            x = columns.rows(np.array([column]))[0]
            for original, values in originals:
                alike = all(kind[original] == kind[column] for kind in (columns.different, columns.neutral))
                if alike and any(np.allclose(values, z, rtol=0, atol=tolerance, equal_nan=True) for z in (x, -x)):
                    first[column] = original
                    break
            else:
                originals.append((int(column), x))
    return first


def largest_contributions(columns: Columns, features: Indices, power: int) -> Array:
    """Return the largest possible contribution of each of some columns, and 1 for those that contribute nothing."""
    ranges, different, neutral = columns.ranges[features], columns.different[features], columns.neutral[features]
    largest = np.where(different > 0, np.maximum(different, neutral), (2 * ranges) ** power + neutral)
    return np.where(largest > 0, largest, 1.0)
