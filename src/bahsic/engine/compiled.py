"""Inner loops compiled by numba: the only importer of numba. `bahsic.engine.loops` decides whether they run.

No loop holds Python's lock, so threads don't wait for each other. The machine code is kept in a cache folder.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

# exp(x) = 2^n exp(r) with x = n log(2) + r; log(2) in two parts, so that n times the first one is exact.
_PER_LOG2 = 1.4426950408889634
_LOG2_HIGH, _LOG2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10
_ROUNDING = 1.5 * 2.0**52  # a number plus this one has the nearest integer in its last bits
_LEAST = -708.0  # exponentials below that of this number are not normal numbers


def _compiled(signatures: list[str], fastmath: set[str]) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function for some types of its arguments, without a cache if no folder for it can be written."""

    def compiled(function: Callable[..., Any]) -> Any:
        options: dict[str, Any] = {"nogil": True, "fastmath": fastmath}
        try:
            return numba.njit(signatures, cache=True, **options)(function)
        except (OSError, RuntimeError):  # no folder, or a full one
            return numba.njit(signatures, **options)(function)

    return compiled


_TOGETHER = 512  # samples whose powers are made together, so that these stay in the cache
_SHORT = 256  # terms that are added in the precision of the data; see `bahsic.engine.hyperbolic`

# Sums may be made in any order, which lets them be made side by side; the same code adds in the same order.
_SUMS = {"contract", "nsz", "reassoc"}


@numba.njit(fastmath={"contract"})  # part of the loops that call it
def exponential(x: Any) -> Any:
    """exp(x) of x <= 700 by a polynomial, to 2e-16 of its value; zero below -708."""
    bounded = max(x, _LEAST)
    shifted = bounded * _PER_LOG2 + _ROUNDING
    n = shifted - _ROUNDING
    r = (bounded - n * _LOG2_HIGH) - n * _LOG2_LOW
    p = 1 / 6227020800
    p = p * r + 1 / 479001600
    p = p * r + 1 / 39916800
    p = p * r + 1 / 3628800
    p = p * r + 1 / 362880
    p = p * r + 1 / 40320
    p = p * r + 1 / 5040
    p = p * r + 1 / 720
    p = p * r + 1 / 120
    p = p * r + 1 / 24
    p = p * r + 1 / 6
    p = p * r + 0.5
    p = (p * r * r + r) + 1.0
    # n is added to the exponent of p, a number between 0.7 and 1.5.
    bits = np.float64(p).view(np.int64) + (np.float64(shifted).view(np.int64) << np.int64(52))
    return np.int64(bits).view(np.float64) if x >= _LEAST else 0.0


@_compiled(["f8(f8[:,::1], f8[:,::1], f8, f8, f8, f8[:,::1], f4[:,::1], f8[:,::1], f8[:,::1])"], _SUMS)
def form(  # noqa: PLR0913, PLR0917 - arrays in and out
    D: Any, W: Any, gamma: Any, kappa: Any, own_gamma: Any, R: Any, R32: Any, across: Any, down: Any
) -> Any:  # pragma: no cover - runs as machine code
    """First pass of a Gaussian round on a tile: R = W * (exp(-gamma D) - kappa), its sums, and the subset's score.

    Parameters
    ----------
    D, W : ndarray of shape (rows, cols)
    gamma, kappa : float
    own_gamma : float
        Negative if no score is asked for.
    R, R32 : ndarray of shape (rows, cols)
        Filled with the residual in both precisions.
    across, down : ndarray of shape (2, rows) and (2, cols)
        The sums of R and of abs(R) over the columns and over the rows are added to these.

    Returns
    -------
    float
        Sum of W * exp(-own_gamma D), or zero.
    """
    own = 0.0
    for i in range(D.shape[0]):
        d, w, row, row32 = D[i], W[i], R[i], R32[i]
        total = size = 0.0
        sums, sizes = down[0], down[1]
        for j in range(len(d)):
            r = (exponential(-gamma * d[j]) - kappa) * w[j]
            row[j] = r
            row32[j] = r
            total += r
            size += abs(r)
            sums[j] += r
            sizes[j] += abs(r)
        across[0, i] += total
        across[1, i] += size
        if own_gamma >= 0:
            score = 0.0
            for j in range(len(d)):
                score += exponential(-own_gamma * d[j]) * w[j]
            own += score
    return own


@_compiled(
    [f"void(f8[:,::1], f8, f8[::1], b1, f8[::1], f{size}[:,::1], f8[::1])" for size in (8, 4)],
    _SUMS,
)
def polynomial(
    x: Any, radius: Any, halved: Any, odd: Any, weights: Any, out: Any, norms: Any
) -> None:  # pragma: no cover - runs as machine code
    """Values of an even or odd polynomial at x / radius, and the weighted sums of their squares.

    Parameters
    ----------
    x : ndarray of shape (c, n_samples)
    radius : float
    halved : ndarray
        Its coefficients of even powers, or of odd ones.
    odd : bool
    weights : ndarray of shape (n_samples,)
    out : ndarray of shape (c, n_samples)
        Filled with the values.
    norms : ndarray of shape (c,)
        Filled with the sums.
    """
    n = x.shape[1]
    z, square, values = np.empty(n), np.empty(n), np.empty(n)
    for i in range(len(x)):
        row, target = x[i], out[i]
        for j in range(n):
            z[j] = row[j] / radius
            square[j] = z[j] * z[j]
            values[j] = halved[-1]
        for k in range(len(halved) - 2, -1, -1):
            coefficient = halved[k]
            for j in range(n):
                values[j] = values[j] * square[j] + coefficient
        total = 0.0
        for j in range(n):
            value = values[j] * z[j] if odd else values[j]
            target[j] = value
            total += value * value * weights[j]
        norms[i] = total


@numba.njit(fastmath=_SUMS)  # this and the next ones are part of the loop that calls them
def _chebyshev(x: Any, radius: Any, twice: Any, T: Any) -> None:  # pragma: no cover - runs as machine code
    """Fill T with the Chebyshev polynomials at x / radius; see `bahsic.engine.gaussian.expansion`."""
    for j in range(len(x)):
        z = x[j] / radius
        twice[j] = 4 * z * z - 2
        T[0, j] = 1.0
        T[1, j] = z
        T[2, j] = 0.5 * twice[j]
    if len(T) > 3:
        for j in range(len(x)):
            T[3, j] = (twice[j] - 1) * T[1, j]
    for k in range(4, len(T)):
        new, last, before = T[k], T[k - 2], T[k - 4]
        for j in range(len(x)):
            new[j] = twice[j] * last[j] - before[j]


@numba.njit(fastmath=_SUMS)
def _combined(coefficients: Any, first: Any, T: Any, values: Any) -> None:  # pragma: no cover - runs as machine code
    """Sum of every second row of T, times its coefficient."""
    for j in range(len(values)):
        values[j] = coefficients[first] * T[first, j]
    k = first + 2
    while k + 4 < len(coefficients):  # three at a time, so that the values are read and written less often
        a, b, c = coefficients[k], coefficients[k + 2], coefficients[k + 4]
        row, second, third = T[k], T[k + 2], T[k + 4]
        for j in range(len(values)):
            values[j] += a * row[j] + b * second[j] + c * third[j]
        k += 6
    while k < len(coefficients):
        a, row = coefficients[k], T[k]
        for j in range(len(values)):
            values[j] += a * row[j]
        k += 2


@numba.njit(fastmath=_SUMS)
def _sum(values: Any, weights: Any) -> Any:  # pragma: no cover - runs as machine code
    total = 0.0
    for j in range(len(values)):
        total += values[j] * weights[j]
    return total


@numba.njit(fastmath=_SUMS)
def _sum_of_squares(values: Any, weights: Any) -> Any:  # pragma: no cover - runs as machine code
    total = 0.0
    for j in range(len(values)):
        total += values[j] * values[j] * weights[j]
    return total


@_compiled(
    ["void(f8[:,::1], f8, f8[:,::1], b1[::1], f8[:,::1], f8[:,::1], f8[:,:,::1], f8[:,:,::1])"],
    _SUMS,
)
def expanded(
    x: Any, radius: Any, functions: Any, odd: Any, plain: Any, squared: Any, out: Any, sums: Any
) -> None:  # pragma: no cover - runs as machine code
    """Values at x / radius of functions given by Chebyshev coefficients, and weighted sums of them and their squares.

    Parameters
    ----------
    x : ndarray of shape (c, n_samples)
    radius : float
    functions : ndarray of shape (n_functions, degree + 1)
    odd : ndarray of bool of shape (n_functions,)
        Which of the functions are odd; the others are even.
    plain, squared : ndarray of shape (n_plain, n_samples) and (n_squared, n_samples)
        Weights of the values and of their squares.
    out : ndarray of shape (n_leading, c, n_samples)
        Filled with the values of the first functions.
    sums : ndarray of shape (n_functions, c, n_plain + n_squared)
        Filled with the sums.
    """
    n_plain, n_squared = len(plain), len(squared)
    T, twice, room = np.empty((functions.shape[1], _TOGETHER)), np.empty(_TOGETHER), np.empty(_TOGETHER)
    sums[:] = 0.0
    for i in range(len(x)):
        for start in range(0, x.shape[1], _TOGETHER):
            some = slice(start, min(start + _TOGETHER, x.shape[1]))
            values = room[: some.stop - start]
            _chebyshev(x[i, some], radius, twice, T)
            for k in range(len(functions)):
                _combined(functions[k], 1 if odd[k] else 0, T, values)
                if k < len(out):
                    out[k, i, some] = values
                for q in range(n_plain):
                    sums[k, i, q] += _sum(values, plain[q, some])
                for q in range(n_squared):
                    sums[k, i, n_plain + q] += _sum_of_squares(values, squared[q, some])


@_compiled([f"void({','.join([f'f{size}[:,::1]'] * 5)}, f8[::1])" for size in (8, 4)], _SUMS)
def sine_sums(M: Any, s: Any, c: Any, t: Any, d: Any, sums: Any) -> None:  # pragma: no cover - runs as machine code
    """Sums over the pairs of a tile of M_ij abs(s_i d_j - c_i t_j), for each column.

    Sums over at most `_SHORT` pairs are made in the precision of M, all others in float64.

    Parameters
    ----------
    M : ndarray of shape (rows, cols)
    s, c : ndarray of shape (n_columns, rows)
    t, d : ndarray of shape (n_columns, cols)
    sums : ndarray of shape (n_columns,)
        Filled with the sums.
    """
    n = M.shape[1]
    for f in range(len(s)):
        sines, cosines = t[f], d[f]
        total = 0.0
        for i in range(M.shape[0]):
            row, sine, cosine = M[i], s[f, i], c[f, i]
            for start in range(0, n, _SHORT):
                part = M.dtype.type(0)
                for j in range(min(_SHORT, n - start)):
                    k = np.uintp(start) + np.uintp(j)  # unsigned: a number that might be negative would be checked
                    part += row[k] * abs(sine * cosines[k] - cosine * sines[k])
                total += part
        sums[f] = total
