"""Kernel values of one block of samples, centred where they are read, and their Cholesky factor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import get_lapack_funcs

from bahsic.arrays import Array
from bahsic.criteria.weights import Gram, centring_shift
from bahsic.engine.executor import Executor, Scratch

Matrix = NDArray[Any]

_ROWS = 128  # rows that `KernelBlock.product` reads at a time
_PANEL, _CHUNK = 80, 512  # rows of a panel of the factor, and columns of it that one task works on
_WELL_CONDITIONED = 1e3  # largest condition of a square whose inverse is exact enough as it is
_INNER = 512  # length of the sums of squares in the precision of the factor, before these are added in float64


@dataclass(frozen=True, eq=False)
class KernelBlock:
    """Kernel values sKs of one block, centred when they are read: K_ij less r_i and r_j, times roots s of weights."""

    values: Array  # the upper triangle of K, and zeros below
    shift: Array  # the vector r
    roots: Array | None  # the vector s; None where all are one

    @staticmethod
    def of_sums(values: Array, sums: Array, w: Array) -> KernelBlock:
        """Centre, given the sums of the rows plus those of the columns, in which the diagonal counts twice."""
        shift = centring_shift(sums - np.diagonal(values) * w, "biased", w)
        return KernelBlock(values, np.asarray(shift, dtype=np.float64), None if (w == 1).all() else np.sqrt(w))

    def __len__(self) -> int:
        return len(self.values)

    def block(self, rows: slice, cols: slice) -> Array:
        """Return centred values of the upper triangle."""
        found = np.subtract(self.values[rows, cols], self.shift[rows, None])
        found -= self.shift[cols]
        if self.roots is not None:
            found *= self.roots[rows, None]
            found *= self.roots[cols]
        return found

    @cached_property
    def trace(self) -> float:
        """Sum of the diagonal."""
        own = np.diagonal(self.values) - 2 * self.shift
        return float(own.sum() if self.roots is None else own @ self.roots**2)

    def product(self, S: Array) -> Array:
        """Return the matrix times S, of shape (m, c)."""
        T = S if self.roots is None else S * self.roots[:, None]
        K, r = self.values, self.shift[:, None]
        found = -np.diagonal(K)[:, None] * T
        for rows in _chunks(0, len(K), _ROWS):  # each is read twice while it is at hand
            rest = slice(rows.start, None)
            found[rows] += K[rows, rest] @ T[rest]
            found[rest] += (T[rows].T @ K[rows, rest]).T
        found -= r * T.sum(axis=0)
        found -= r.T @ T
        return np.asarray(found if self.roots is None else found * self.roots[:, None])


class CholeskyFactor:
    """The upper triangular U with U'U = A + lambda I, for a symmetric A of which the upper triangle is read.

    It is made by panels, whose columns the threads of an executor share; results don't depend on their number. LAPACK
    with several threads would add in an order that does. The factor is valid until the next one that is made in the
    same memory. Raises a `LinAlgError` if the matrix is not positive definite in this precision.
    """

    def __init__(self, A: Gram, shift: float, executor: Executor, dtype: Any, scratch: Scratch) -> None:
        self.dtype, self._executor, self._scratch = dtype, executor, scratch
        self._U = scratch.take("factor", (len(A), len(A)), dtype)
        self._panels: list[tuple[slice, Matrix]] = []  # with the inverses of their squares on the diagonal
        factorise, invert = get_lapack_funcs(("potrf", "trtri"), dtype=dtype)
        for panel in _chunks(0, len(A), _PANEL):
            square = self._rest(A, panel, panel)
            square.reshape(-1)[:: len(square) + 1] += dtype(shift)
            L, info = factorise(square.T, lower=1, overwrite_a=1)
            if info:
                raise np.linalg.LinAlgError(f"leading minor of order {panel.start + info} is not positive definite")
            self._U[panel, panel] = L.T
            inverse = invert(L, lower=1)[0]
            self._panels.append((panel, inverse.T))
            refined = np.abs(L).max() * np.abs(inverse).max() > _WELL_CONDITIONED
            divide = partial(self._divide, A, panel, inverse, L if refined else None)
            executor.map(divide, _chunks(panel.stop, len(A), _CHUNK))

    def _rest(self, A: Gram, panel: slice, cols: slice) -> Matrix:
        """Return a part of A less what the panels above explain."""
        found = A.block(panel, cols).astype(self.dtype)
        found -= self._U[: panel.start, panel].T @ self._U[: panel.start, cols]
        return found

    def _divide(self, A: Gram, panel: slice, inverse: Matrix, L: Matrix | None, cols: slice) -> None:
        rest, out = self._rest(A, panel, cols), self._U[panel, cols]
        np.matmul(inverse, rest, out=out)
        if L is not None:
            out += inverse @ (rest - L @ out)

    def solve(self, R: Matrix) -> Matrix:
        """Return (A + lambda I)^-1 R, for R of shape (m, c)."""
        U, X = self._U, np.array(R, dtype=self.dtype)
        for panel, inverse in self._panels:
            X[panel] = inverse.T @ (X[panel] - U[: panel.start, panel].T @ X[: panel.start])
        for panel, inverse in reversed(self._panels):
            X[panel] = inverse @ (X[panel] - U[panel, panel.stop :] @ X[panel.stop :])
        return X

    def inverse_diagonal(self) -> Array:
        """Return the diagonal of (A + lambda I)^-1: sums of squares of the rows of U^-1, another m^3 / 3 operations."""
        U, m = self._U, len(self._U)

        def of_panel(number: int) -> Array:
            panel, inverse = self._panels[number]
            first, n = panel.start, len(inverse)
            rows = self._scratch.take("rows", (n, m - first), self.dtype)
            rows[:, :n] = inverse
            for panel, inverse in self._panels[number + 1 :]:
                known, new = rows[:, : panel.start - first], rows[:, panel.start - first : panel.stop - first]
                np.matmul(known @ U[first : panel.start, panel], -inverse, out=new)
            parts = (rows[:, some] for some in _chunks(0, m - first, _INNER))
            return np.asarray(np.sum([np.vecdot(part, part) for part in parts], axis=0, dtype=np.float64))

        return np.concatenate(self._executor.map(of_panel, range(len(self._panels))))


def _chunks(start: int, stop: int, size: int) -> Iterator[slice]:
    return (slice(first, min(first + size, stop)) for first in range(start, stop, size))
