"""Cholesky factors of large matrices by panels: several threads, and the same bits for any number of them.

LAPACK with several threads would add in an order that depends on their number.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from bahsic.engine.executor import Executor

Matrix = NDArray[Any]

# Rows of a panel: products of this size run at full speed, and the factor of a panel itself costs little.
_PANEL = 128

# Columns that one task works on.
_CHUNK = 256


class CholeskyFactor:
    """The lower triangular L with LL' = A, for symmetric positive definite A.

    Parameters
    ----------
    A : ndarray of shape (m, m), float32 or float64
        Its upper triangle is read, and overwritten by L'.
    executor : Executor
        Its threads share the work, m^3 / 3 operations.

    Raises
    ------
    numpy.linalg.LinAlgError
        If A is not positive definite in its precision.

    Examples
    --------
    >>> from bahsic.engine.executor import ThreadExecutor
    >>> factor = CholeskyFactor(np.array([[4.0, 2.0], [2.0, 5.0]]), ThreadExecutor(1))
    >>> factor.inverse()
    array([[ 0.5 ,  0.  ],
           [-0.25,  0.5 ]])
    >>> factor.solve(np.array([[8.0], [12.0]]))
    array([[1.],
           [2.]])
    """

    def __init__(self, A: Matrix, executor: Executor) -> None:
        self._U, self._executor = A, executor
        self._panels = [slice(start, min(start + _PANEL, len(A))) for start in range(0, len(A), _PANEL)]
        self._inverses = [self._factored(panel) for panel in self._panels]  # of the diagonal blocks of L

    @property
    def dtype(self) -> Any:
        """Type of the entries."""
        return self._U.dtype

    def _factored(self, panel: slice) -> Matrix:
        """Make a panel of L' of the panel of A."""
        U, done = self._U, slice(0, panel.start)

        def subtract(columns: slice) -> None:
            U[panel, columns] -= U[done, panel].T @ U[done, columns]

        self._executor.map(subtract, [panel, *_chunks(panel.stop, len(U))])
        square = np.linalg.cholesky(U[panel, panel], upper=True)
        U[panel, panel] = square
        inverse: Matrix = solve_triangular(square, np.eye(len(square), dtype=U.dtype), trans="T", check_finite=False)

        def divide(columns: slice) -> None:
            U[panel, columns] = inverse @ U[panel, columns]

        self._executor.map(divide, list(_chunks(panel.stop, len(U))))
        return inverse

    def solve(self, R: Matrix) -> Matrix:
        """A^-1 R, for R of shape (m, c)."""
        U, X = self._U, np.array(R, dtype=self.dtype)
        for panel, inverse in zip(self._panels, self._inverses, strict=True):
            X[panel] = inverse @ (X[panel] - U[: panel.start, panel].T @ X[: panel.start])
        for panel, inverse in zip(self._panels[::-1], self._inverses[::-1], strict=True):
            X[panel] = inverse.T @ (X[panel] - U[panel, panel.stop :] @ X[panel.stop :])
        return X

    def inverse(self) -> Matrix:
        """L^-1, another m^3 / 3 operations."""
        U = self._U
        X = np.zeros_like(U)
        for panel, inverse in zip(self._panels, self._inverses, strict=True):
            X[panel, panel] = inverse

            def below(columns: slice, panel: slice = panel, inverse: Matrix = inverse) -> None:
                """Rows of this panel, in columns left of it: X is zero above its diagonal."""
                inner = slice(columns.start, panel.start)
                X[panel, columns] = -inverse @ (U[inner, panel].T @ X[inner, columns])

            self._executor.map(below, list(_chunks(0, panel.start)))
        return X


def _chunks(start: int, stop: int) -> Iterator[slice]:
    return (slice(first, min(first + _CHUNK, stop)) for first in range(start, stop, _CHUNK))
