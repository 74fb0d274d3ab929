"""Kernel matrices that add a constant within each group of samples: categories, and missing entries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Most entries of a table of two groupings that is made whole.
_TABLE_ENTRIES = 2**22


@dataclass(frozen=True, eq=False)
class Groups:
    r"""The matrix :math:`D = \sum_k e_k 1_k 1_k'`, where :math:`1_k` marks the samples of group k.

    Sums, squares and inner products are those of the centred matrix HDH. They are written as sums of positive terms
    wherever a group that holds nearly all samples would leave few digits of a difference.

    Attributes
    ----------
    order : ndarray of int of shape (n,)
        The samples that are in a group, group by group.
    starts : ndarray of int of shape (k,)
        Where each group begins in ``order``.
    excess : ndarray of shape (k,)
        The constant :math:`e_k` of each group.
    weights : ndarray of shape (m,)
        Frequencies of all samples.
    """

    order: Indices
    starts: Indices
    excess: Array
    weights: Array

    @staticmethod
    def of(codes: Indices, excess: Array, weights: Array | None = None) -> Groups:
        """Groups by their numbers ``codes`` (m,); those whose constant is zero, or that are empty, are left out.

        Examples
        --------
        >>> Groups.of(np.array([2, 0, 2, 1]), np.array([0.5, 0.0, 0.25])).matrix()
        array([[0.25, 0.  , 0.25, 0.  ],
               [0.  , 0.5 , 0.  , 0.  ],
               [0.25, 0.  , 0.25, 0.  ],
               [0.  , 0.  , 0.  , 0.  ]])
        """
        w = np.ones(len(codes)) if weights is None else weights
        order = np.argsort(codes, kind="stable")
        order = order[excess[codes[order]] > 0]
        used, starts = np.unique(codes[order], return_index=True)
        return Groups(order, starts.astype(np.intp), excess[used], w)

    def scaled(self, exponent: int) -> Groups:
        """The same matrix times 2**exponent."""
        return replace(self, excess=np.ldexp(self.excess, exponent))

    @property
    def largest(self) -> float:
        """Largest entry of D."""
        return float(self.excess.max(initial=0.0))

    @cached_property
    def sizes(self) -> Array:
        """Sum of the weights of each group."""
        return np.asarray(self.sums(self.weights[None])[0])

    @cached_property
    def labels(self) -> Indices:
        """Number of the group of each sample; that of samples in none is the number of groups."""
        labels = np.full(len(self.weights), len(self.starts), dtype=np.intp)
        labels[self.order] = np.repeat(np.arange(len(self.starts)), np.diff(self.starts, append=len(self.order)))
        return labels

    def sums(self, vectors: Array) -> Array:
        """Sums of vectors (n, m) over each group, shape (n, k)."""
        sorted_by_group = vectors[:, self.order]
        if len(self.starts) == len(self.order):
            return sorted_by_group
        return np.asarray(np.add.reduceat(sorted_by_group, self.starts, axis=1))

    def forms(self, vectors: Array) -> Array:
        """Quadratic forms v'Dv, shape (n,)."""
        if not len(self.starts):
            return np.zeros(len(vectors))
        return np.asarray(np.square(self.sums(vectors)) @ self.excess)

    def diagonal(self) -> Array:
        """Diagonal of HDH: (1 - p_k)^2 e_k and, for each other group, p^2 e, where p is a group's share."""
        total = self.weights.sum()
        shared, inside = self.excess * (self.sizes / total) ** 2, self.excess * ((total - self.sizes) / total) ** 2
        return np.append(inside + _sums_of_others(shared), shared.sum())[self.labels]

    def square(self) -> float:
        """Sum of the squared entries of HDH, each counted as often as the weights say."""
        total, n = self.weights.sum(), self.sizes
        pairs = self.excess * n**2
        return float(np.square(self.excess * n * (total - n) / total).sum() + pairs @ _sums_of_others(pairs) / total**2)

    def matrix(self) -> Array:
        """The matrix D, not centred."""
        same = np.equal.outer(self.labels, self.labels)
        return np.where(same, np.append(self.excess, 0.0)[self.labels], 0.0)

    def product(self, other: Groups) -> float:
        """Inner product of HDH with that of another grouping of the same samples."""
        total, shape = self.weights.sum(), (len(self.starts) + 1, len(other.starts) + 1)
        if shape[0] * shape[1] <= max(_TABLE_ENTRIES, 4 * len(self.weights)):
            cells = np.bincount(self.labels * shape[1] + other.labels, self.weights, shape[0] * shape[1])
            excess = cells.reshape(shape)[:-1, :-1] - np.multiply.outer(self.sizes, other.sizes) / total
            return float(self.excess @ np.square(excess) @ other.excess)
        used, held = _cells(self, other, shape[1])
        rows, cols = used // shape[1], used % shape[1]
        inside = (rows < len(self.starts)) & (cols < len(other.starts))
        rows, cols, held = rows[inside], cols[inside], held[inside]
        expected = self.sizes[rows] * other.sizes[cols] / total
        occupied = self.excess[rows] * other.excess[cols] * (np.square(held - expected) - np.square(expected))
        everywhere = (self.excess @ self.sizes**2) * (other.excess @ other.sizes**2) / total**2
        return float(occupied.sum() + everywhere)


def _cells(one: Groups, other: Groups, width: int) -> tuple[Indices, Array]:
    """Numbers of the cells of a table of two groupings that hold samples, and their weights."""
    used, cell = np.unique(one.labels * width + other.labels, return_inverse=True)
    return used, np.bincount(cell, one.weights).astype(np.float64)


def _sums_of_others(values: Array) -> Array:
    """For each of several numbers >= 0 the sum of the others, accurate also where one number outweighs them."""
    if not len(values):
        return values
    largest = int(values.argmax())
    others = values.sum() - values
    others[largest] = values[:largest].sum() + values[largest + 1 :].sum()
    return np.asarray(others)
