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


def inverse_factor(A: Matrix, executor: Executor) -> Matrix:
    """The lower triangular X with X'X = A^-1, for symmetric positive definite A.

    Parameters
    ----------
    A : ndarray of shape (m, m), float32 or float64
        Its upper triangle is read, and overwritten by the upper Cholesky factor.
    executor : Executor
        Its threads share the work.

    Returns
    -------
    ndarray of shape (m, m)
        Of the type of A. Cost 2/3 m^3 operations.

    Raises
    ------
    numpy.linalg.LinAlgError
        If A is not positive definite in its precision.

    Examples
    --------
    >>> from bahsic.engine.executor import ThreadExecutor
    >>> inverse_factor(np.array([[4.0, 2.0], [2.0, 5.0]]), ThreadExecutor(1))
    array([[ 0.5 ,  0.  ],
           [-0.25,  0.5 ]])
    """
    m = len(A)
    X = np.zeros_like(A)
    for start in range(0, m, _PANEL):
        panel = slice(start, min(start + _PANEL, m))
        _factor_panel(A, X, panel, executor)
        inverse = X[panel, panel]

        def below(columns: slice, panel: slice = panel, inverse: Matrix = inverse) -> None:
            """Rows of X in this panel, for columns left of it: zero above the columns' own rows."""
            inner = slice(columns.start, panel.start)
            X[panel, columns] = inverse @ (A[inner, panel].T @ X[inner, columns])
            np.negative(X[panel, columns], out=X[panel, columns])

        executor.map(below, list(_chunks(0, start)))
    return X


def _factor_panel(A: Matrix, X: Matrix, panel: slice, executor: Executor) -> None:
    """Turn rows of A into rows of its upper factor U; the inverse of the transposed diagonal block goes into X."""
    done = slice(0, panel.start)

    def subtract(columns: slice) -> None:
        A[panel, columns] -= A[done, panel].T @ A[done, columns]

    executor.map(subtract, [panel, *_chunks(panel.stop, len(A))])
    U = np.linalg.cholesky(A[panel, panel], upper=True)
    A[panel, panel] = U
    inverse = solve_triangular(U, np.eye(len(U), dtype=A.dtype), trans="T", check_finite=False)
    X[panel, panel] = inverse

    def divide(columns: slice) -> None:
        A[panel, columns] = inverse @ A[panel, columns]

    executor.map(divide, list(_chunks(panel.stop, len(A))))


def _chunks(start: int, stop: int) -> Iterator[slice]:
    return (slice(first, min(first + _CHUNK, stop)) for first in range(start, stop, _CHUNK))
