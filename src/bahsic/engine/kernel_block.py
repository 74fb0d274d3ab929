"""Kernel values of one block of samples, centred where they are read."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bahsic.criteria.weights import centring_shift

Array = NDArray[np.float64]

# Rows that `KernelBlock.product` reads at a time.
_PANEL = 128


class Zeros(threading.local):
    """Memory of a thread for a matrix of each size that is zero below its diagonal: nothing is ever written there."""

    def __init__(self) -> None:
        self._kept: dict[int, Array] = {}

    def __call__(self, size: int) -> Array:
        if size not in self._kept:
            self._kept[size] = np.zeros((size, size))
        return self._kept[size]


@dataclass(frozen=True, eq=False)
class KernelBlock:
    """Kernel values sKs of one block, centred when they are read: K_ij less r_i and r_j, times the roots s of weights.

    Attributes
    ----------
    values : ndarray of shape (m, m)
        The upper triangle of kernel values, and zeros below.
    shift : ndarray of shape (m,)
        The vector r.
    roots : ndarray of shape (m,) or None
        The roots s; None where all are one.
    """

    values: Array
    shift: Array
    roots: Array | None

    @staticmethod
    def of_sums(values: Array, sums: Array, w: Array) -> KernelBlock:
        """Given the sums of the rows plus those of the columns, in which the diagonal counts twice."""
        shift = centring_shift(sums - np.diagonal(values) * w, "biased", w)
        return KernelBlock(values, np.asarray(shift, dtype=np.float64), None if (w == 1).all() else np.sqrt(w))

    def __len__(self) -> int:
        return len(self.values)

    def copy(self) -> KernelBlock:
        """The same with memory of its own."""
        return replace(self, values=self.values.copy())

    def write(self, rows: slice, out: NDArray[Any]) -> None:
        """Write some rows, from the diagonal on, see `Symmetric`."""
        some = np.subtract(self.values[rows, rows.start :], self.shift[rows, None])
        some -= self.shift[rows.start :]
        if self.roots is not None:
            some *= self.roots[rows, None]
            some *= self.roots[rows.start :]
        np.copyto(out, some, casting="same_kind")

    @cached_property
    def trace(self) -> float:
        """Sum of the diagonal."""
        own = np.diagonal(self.values) - 2 * self.shift
        return float(own.sum() if self.roots is None else own @ self.roots**2)

    def product(self, S: Array) -> Array:
        """The matrix times S, of shape (m, c)."""
        T = S if self.roots is None else S * self.roots[:, None]
        K, r = self.values, self.shift[:, None]
        found = -np.diagonal(K)[:, None] * T
        for start in range(0, len(K), _PANEL):  # each is read twice while it is at hand
            rows, rest = slice(start, start + _PANEL), slice(start, None)
            found[rows] += K[rows, rest] @ T[rest]
            found[rest] += (T[rows].T @ K[rows, rest]).T
        found -= r * T.sum(axis=0)
        found -= r.T @ T
        return np.asarray(found if self.roots is None else found * self.roots[:, None])


@lru_cache(maxsize=4)
def below_diagonal(n: int) -> NDArray[np.bool_]:
    """The part of an n x n matrix below its diagonal."""
    return np.tri(n, k=-1, dtype=bool)
