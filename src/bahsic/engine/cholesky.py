"""Cholesky factors of large matrices by panels: several threads, and the same bits for any number of them.

LAPACK with several threads would add in an order that depends on their number.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import get_lapack_funcs

from bahsic.engine.executor import Executor
from bahsic.engine.scratch import Scratch

Matrix = NDArray[Any]

# Rows of a panel: products of this size run at full speed, and the factor of a panel itself costs little.
_PANEL = 128

# Columns that one task works on: a multiple of the panels.
_CHUNK = 256


class CholeskyFactor:
    """The lower triangular L with LL' = A + lambda I, for a symmetric matrix A that makes this positive definite.

    Parameters
    ----------
    A : ndarray of shape (m, m)
        Its upper triangle is read.
    shift : float
        lambda.
    executor : Executor
        Its threads share the work, m^3 / 3 operations.
    dtype : float32 or float64
        Type of L.
    scratch : Scratch, optional
        Memory to work in; the factor is valid until the next one that is made in it.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrix is not positive definite in this precision.

    Examples
    --------
    >>> from bahsic.engine.executor import ThreadExecutor
    >>> factor = CholeskyFactor(np.array([[3.0, 2.0], [2.0, 4.0]]), 1.0, ThreadExecutor(1))
    >>> factor.inverse_diagonal()
    array([0.3125, 0.25  ])
    >>> factor.solve(np.array([[8.0], [12.0]]))
    array([[1.],
           [2.]])
    """

    def __init__(
        self, A: Matrix, shift: float, executor: Executor, dtype: Any = np.float64, scratch: Scratch | None = None
    ) -> None:
        self._scratch = Scratch() if scratch is None else scratch
        self._U, self._executor = self._scratch.take("factor", A.shape, dtype), executor
        self._panels = [slice(start, min(start + _PANEL, len(A))) for start in range(0, len(A), _PANEL)]
        executor.map(lambda panel: np.copyto(self._U[panel, panel.start :], A[panel, panel.start :]), self._panels)
        self._U[np.diag_indices(len(A))] += self.dtype.type(shift)
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
        inverse: Matrix = get_lapack_funcs("trtri", (square,))(square.T, lower=1)[0]

        def divide(columns: slice) -> None:
            U[panel, columns] = inverse @ U[panel, columns]

        self._executor.map(divide, list(_chunks(panel.stop, len(U))))
        return inverse

    def solve(self, R: Matrix) -> Matrix:
        """(A + lambda I)^-1 R, for R of shape (m, c)."""
        U, X = self._U, np.array(R, dtype=self.dtype)
        for panel, inverse in zip(self._panels, self._inverses, strict=True):
            X[panel] = inverse @ (X[panel] - U[: panel.start, panel].T @ X[: panel.start])
        for panel, inverse in zip(self._panels[::-1], self._inverses[::-1], strict=True):
            X[panel] = inverse.T @ (X[panel] - U[panel, panel.stop :] @ X[panel.stop :])
        return X

    def inverse_diagonal(self) -> NDArray[np.float64]:
        """The diagonal of (A + lambda I)^-1: sums of squares of the columns of L^-1, another m^3 / 3 operations."""
        X = self._scratch.take("inverse", self._U.shape, self.dtype)

        def of_columns(columns: slice) -> NDArray[np.float64]:
            """Columns of X = L^-1, from their diagonal down, and their sums of squares."""
            X[columns, columns] = 0.0
            total = np.zeros(columns.stop - columns.start)
            for panel, inverse in zip(self._panels, self._inverses, strict=True):
                if panel.start < columns.start:
                    continue
                if panel.start < columns.stop:
                    X[panel, panel] = inverse
                left = slice(columns.start, min(columns.stop, panel.start))
                inner = slice(columns.start, panel.start)
                X[panel, left] = -inverse @ (self._U[inner, panel].T @ X[inner, left])
                rows = X[panel, columns].astype(np.float64)
                total += np.einsum("ij,ij->j", rows, rows)
            return total

        return np.concatenate(self._executor.map(of_columns, list(_chunks(0, len(X)))))


def _chunks(start: int, stop: int) -> Iterator[slice]:
    return (slice(first, min(first + _CHUNK, stop)) for first in range(start, stop, _CHUNK))
