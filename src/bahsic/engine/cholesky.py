"""Cholesky factors of large matrices: by one call of LAPACK, or by panels that several threads share.

LAPACK with several threads would add in an order that depends on their number. Panels have the same bits for any
number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bahsic.engine.executor import Executor, ThreadExecutor
from bahsic.engine.lapack import divide, factorise, inverse
from bahsic.engine.scratch import Scratch

Matrix = NDArray[Any]

# Rows of a panel of the factor: products of this size run at full speed, and the factor of a panel itself costs little.
_PANEL = 192

# Rows of the triangles that are inverted, to solve equations and for the inverse.
_TRIANGLE = 96

# Columns that one task works on.
_CHUNK = 192

# Rows up to which one call of LAPACK is as quick as two threads.
ONE_CALL = 1024

# Length of the sums of squares in the precision of the factor, before these are added in float64.
_INNER = 512

_ALONE = ThreadExecutor(1)


class Symmetric(Protocol):
    """A symmetric matrix that is read by panels of its upper triangle."""

    def __len__(self) -> int: ...

    def write(self, rows: slice, out: Matrix) -> None:
        """Write some rows, from their first sample on to the right, into ``out``."""


class CholeskyFactor:
    """The upper triangular U with U'U = A + lambda I, for a symmetric matrix A that makes this positive definite.

    Parameters
    ----------
    A : Symmetric
    shift : float
        lambda.
    executor : Executor or None
        Its threads share the work, m^3 / 3 operations; without one, and up to `ONE_CALL` rows, it is one call of
        LAPACK, which is quicker by itself. Results differ in rounding.
    dtype : float32 or float64
        Type of U.
    scratch : Scratch, optional
        Memory to work in; the factor is valid until the next one that is made in it.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrix is not positive definite in this precision.
    """

    def __init__(
        self, A: Symmetric, shift: float, executor: Executor | None, dtype: Any, scratch: Scratch | None = None
    ) -> None:
        m, self._scratch = len(A), Scratch() if scratch is None else scratch
        self._U, self._executor = self._scratch.take("factor", (m, m), dtype), _ALONE if executor is None else executor
        panels = [*_chunks(0, m, _PANEL)]
        self._executor.map(lambda panel: A.write(panel, self._U[panel, panel.start :]), panels)
        self._U.reshape(-1)[:: m + 1] += self.dtype.type(shift)
        if executor is None or m <= ONE_CALL:
            factorise(self._U)
        else:
            for panel in panels:
                self._make(panel)
        self._panels = [*_chunks(0, m, _TRIANGLE)]
        self._inverses = [inverse(self._U[panel, panel]) for panel in self._panels]

    @property
    def dtype(self) -> Any:
        """Type of the entries."""
        return self._U.dtype

    def _make(self, panel: slice) -> None:
        """Make a panel of U of the panel of A."""
        U, done = self._U, slice(0, panel.start)

        def subtract(columns: slice) -> None:
            U[panel, columns] -= U[done, panel].T @ U[done, columns]

        if panel.start:
            self._executor.map(subtract, [panel, *_chunks(panel.stop, len(U), _CHUNK)])
        factorise(U[panel, panel])
        square = U[panel, panel]
        self._executor.map(lambda columns: divide(square, U[panel, columns]), [*_chunks(panel.stop, len(U), _CHUNK)])

    def solve(self, R: Matrix) -> Matrix:
        """(A + lambda I)^-1 R, for R of shape (m, c)."""
        U, X = self._U, np.array(R, dtype=self.dtype)
        for panel, one in zip(self._panels, self._inverses, strict=True):
            X[panel] = one.T @ (X[panel] - U[: panel.start, panel].T @ X[: panel.start])
        for panel, one in zip(self._panels[::-1], self._inverses[::-1], strict=True):
            X[panel] = one @ (X[panel] - U[panel, panel.stop :] @ X[panel.stop :])
        return X

    def inverse_diagonal(self, executor: Executor | None = None) -> NDArray[np.float64]:
        """The diagonal of (A + lambda I)^-1: sums of squares of the rows of U^-1, another m^3 / 3 operations.

        The threads of an executor share the work, with the same result.
        """
        U, m = self._U, len(self._U)

        def of_panel(number: int) -> NDArray[np.float64]:
            first, n = self._panels[number].start, len(self._inverses[number])
            rows = self._scratch.take("rows", (n, m - first), self.dtype)
            rows[:, :n] = self._inverses[number]
            for panel, one in zip(self._panels[number + 1 :], self._inverses[number + 1 :], strict=True):
                known, new = rows[:, : panel.start - first], rows[:, panel.start - first : panel.stop - first]
                np.matmul(known @ U[first : panel.start, panel], -one, out=new)
            return _squares(rows)

        threads = _ALONE if executor is None else executor
        return np.concatenate(threads.map(of_panel, range(len(self._panels))))


def _squares(M: Matrix) -> NDArray[np.float64]:
    """Sums of squares of the rows."""
    total = np.zeros(len(M))
    for start in range(0, M.shape[1], _INNER):
        part = M[:, start : start + _INNER]
        total += np.vecdot(part, part)
    return total


def _chunks(start: int, stop: int, size: int) -> Iterator[slice]:
    return (slice(first, min(first + size, stop)) for first in range(start, stop, size))
