"""Loops over the pairs of samples of a tile, compiled by numba: the only module that imports it.

`bahsic.engine.compiled` decides whether they run; `bahsic.engine.reference` says the same in numpy. No loop holds
Python's lock. The machine code of each loop is made when it is first called, and kept on disk.

The arrays ``x``, ``offsets``, ``which``, ``cap`` and ``bend`` are those of `bahsic.engine.encoding.Encoded`. Column k
contributes to a pair of samples with entries x and y, and offsets u and v,

    t = min(|x - y|^p, cap) + u + v, or |u - v| in place of u + v where bend is 1

The arguments ``absolute``, ``mixed``, ``exponential`` and ``long`` are None or True, and numba compiles each case by
itself. Where ``mixed`` is None there are only complete columns of numbers, without caps and offsets.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np

# A block of pairs stays in the cache while all columns pass over it. Sums over its rows are in the precision of the
# data, so this is the number of terms whose rounding errors add up.
ROWS, COLS, TOGETHER = 16, 256, 128

# Sums in any order can be made side by side. NaN has to stay NaN: it marks a missing category.
_FAST = {"contract", "nsz", "reassoc", "arcp"}

# exp(x) = 2^n exp(r) with x = n log(2) + r; log(2) in two parts, so that n times the first one is exact.
_PER_LOG2 = 1.4426950408889634
_HIGH, _LOW = 0.693147180369123816490, 1.90821492927058770002e-10
_ROUNDING = 1.5 * 2.0**52  # a number plus this one has the nearest integer in its last bits
_LEAST = -708.0  # exponentials below that of this number are not normal numbers
_LOG2_32, _ROUNDING32 = np.float32(0.6931471805599453), np.float32(1.5 * 2.0**23)

_inlined = numba.njit(fastmath=_FAST)
_IN_ORDER = {"contract"}
_in_order = numba.njit(fastmath=_IN_ORDER)  # for the rounding to whole numbers, which must not be simplified


@_in_order
def _reduced(x: Any) -> Any:  # pragma: no cover - runs as machine code
    """exp(r) - 1 and 2^n for x = n log(2) + r, from -708 to 700; to 2e-16 of their values."""
    shifted = x * _PER_LOG2 + _ROUNDING
    n = shifted - _ROUNDING
    r = (x - n * _HIGH) - n * _LOW
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
    bits = (np.float64(shifted).view(np.int64) + np.int64(1023)) << np.int64(52)
    return p * r * r + r, np.int64(bits).view(np.float64)


@_in_order
def _reduced32(x: Any) -> Any:  # pragma: no cover - runs as machine code
    """exp(r) - 1 and 2^n in float32 for x = n log(2) + r, from -80 to 80; to 1e-6 of their values."""
    shifted = x * np.float32(_PER_LOG2) + _ROUNDING32
    n = shifted - _ROUNDING32
    r = x - n * _LOG2_32
    p = np.float32(1 / 720)
    p = p * r + np.float32(1 / 120)
    p = p * r + np.float32(1 / 24)
    p = p * r + np.float32(1 / 6)
    p = p * r + np.float32(0.5)
    bits = (np.float32(shifted).view(np.int32) + np.int32(127)) << np.int32(23)
    return p * r * r + r, np.int32(bits).view(np.float32)


@_in_order
def _exponential(x: Any) -> Any:  # pragma: no cover - runs as machine code
    """exp(x) of x <= 700; zero below -708."""
    p, scale = _reduced(max(x, _LEAST))
    return scale * p + scale if x >= _LEAST else 0.0


@_inlined
def _contribution(x, y, cap, u, sign, v, absolute, mixed):  # pragma: no cover
    t = x - y
    t = t * t if absolute is None else abs(t)
    return t if mixed is None else min(cap, t) + (u + sign * v)  # the cap also where an entry is NaN


@_inlined
def _coefficients(c: Any, k: Any) -> Any:  # pragma: no cover - runs as machine code
    return c[k, 0], c[k, 1], c[k, 2], c[k, 3], c[k, 4], c[k, 5]


@_inlined
def _exponential_change(x: Any, long: Any) -> Any:  # pragma: no cover - runs as machine code
    """exp(x) - 1 in float32 or in float64."""
    if long is None:
        p, scale = _reduced32(x)
        return scale * p + (scale - np.float32(1))
    p, scale = _reduced(max(x, _LEAST))
    return scale * p + (scale - 1.0)


@_inlined
def _change(t: Any, c: Any, exponential: Any, long: Any) -> Any:  # pragma: no cover - runs as machine code
    """t times the short or the long polynomial, or exp(c t) - 1."""
    if exponential is not None:
        return _exponential_change(c[0] * t, long)
    high = c[3] if long is None else c[3] + t * (c[4] + t * c[5])
    return t * (c[0] + t * (c[1] + t * (c[2] + t * high)))


@_inlined
def _fill(block: Any, M: Any, left: Any, right: Any, scale: Any) -> None:  # pragma: no cover - runs as machine code
    """scale M for some columns of a tile in the precision of the data, and rows of zeros below."""
    for i in range(M.shape[0]):
        row, m = block[i], M[i, left:right]
        for j in range(len(m)):
            row[j] = m[j] * scale
    for i in range(M.shape[0], len(block)):
        row = block[i]
        for j in range(len(row)):
            row[j] = 0


def _column_sums(
    M, start, first, scale, x, offsets, which, cap, bend, coefficients, sums, absolute, mixed, exponential, long
):  # pragma: no cover - runs as machine code
    """Add to ``sums`` those over the pairs of M times `_change` for each column; the second ones are of magnitudes."""
    height = (M.shape[0] + 1) // 2 * 2
    block, total, size = np.empty((height, COLS), x.dtype), np.empty(COLS, x.dtype), np.empty(COLS, x.dtype)
    one = x.dtype.type(1)
    for left in range(0, M.shape[1], COLS):
        right = min(left + COLS, M.shape[1])
        n = right - left
        _fill(block, M, left, right, scale)
        for low in range(0, len(x), TOGETHER):
            for top in range(0, height, ROWS):
                begin = min(max(0, top - left), n) if start == first else 0  # the weights before are zero
                for k in range(low, min(low + TOGETHER, len(x))):
                    u, b, h, c = offsets[which[k]], bend[k], cap[k], _coefficients(coefficients, k)
                    y, v = x[k, first + left + begin : first + right], u[first + left + begin : first + right]
                    for j in range(len(y)):
                        total[j] = size[j] = 0
                    for i in range(top, min(top + ROWS, height), 2):
                        # Rows beyond the last one have weight zero.
                        p0, p1 = start + i, start + min(i + 1, M.shape[0] - 1)
                        x0, x1, u0, u1 = x[k, p0], x[k, p1], u[p0], u[p1]
                        b0, b1 = -one if b * u0 > 0 else one, -one if b * u1 > 0 else one
                        m0, m1 = block[i, begin:n], block[i + 1, begin:n]
                        for j in range(len(y)):
                            t0 = _contribution(y[j], x0, h, u0, b0, v[j], absolute, mixed)
                            t1 = _contribution(y[j], x1, h, u1, b1, v[j], absolute, mixed)
                            e0, e1 = _change(t0, c, exponential, long), _change(t1, c, exponential, long)
                            total[j] += m0[j] * e0 + m1[j] * e1
                            if exponential is not None:
                                size[j] += abs(m0[j]) * e0 + abs(m1[j]) * e1
                    value = magnitude = 0.0
                    for j in range(len(y)):
                        value += total[j]
                        magnitude += size[j]
                    sums[0, k] += value
                    sums[1, k] += magnitude


def _group_sums(
    M, start, first, scale, x, offsets, which, cap, bend, ends, coefficients, sums, absolute, mixed, exponential, long
):  # pragma: no cover - runs as machine code
    """Do as `_column_sums` for groups of columns, whose contributions are added up first."""
    height, one = M.shape[0], x.dtype.type(1)
    block, total, size = np.empty((height, COLS), x.dtype), np.empty(COLS, x.dtype), np.empty(COLS, x.dtype)
    T = np.empty(COLS, x.dtype)
    for left in range(0, M.shape[1], COLS):
        right = min(left + COLS, M.shape[1])
        _fill(block, M, left, right, scale)
        for top in range(0, height, ROWS):
            for k in range(len(ends) - 1):
                c, t = _coefficients(coefficients, k), T[: right - left]
                for j in range(len(t)):
                    total[j] = size[j] = 0
                for i in range(top, min(top + ROWS, height)):
                    for j in range(len(t)):
                        t[j] = 0
                    for q in range(ends[k], ends[k + 1]):
                        u, h, a = offsets[which[q]], cap[q], x[q, start + i]
                        y, v, w = x[q, first + left : first + right], u[first + left : first + right], u[start + i]
                        s = -one if bend[q] * w > 0 else one
                        for j in range(len(t)):
                            t[j] += _contribution(y[j], a, h, w, s, v[j], absolute, mixed)
                    m = block[i]
                    for j in range(len(t)):
                        e = _change(t[j], c, exponential, long)
                        total[j] += m[j] * e
                        size[j] += abs(m[j]) * e
                value = magnitude = 0.0
                for j in range(len(t)):
                    value += total[j]
                    magnitude += size[j]
                sums[0, k] += value
                sums[1, k] += magnitude


def _stored_sums(
    M, start, first, starts, rows, x, changes, features, scale, sums, absolute
):  # pragma: no cover - runs as machine code
    """Add to ``sums`` what pairs of stored entries of sparse columns change beyond the sum of their own changes."""
    for k in range(len(features)):
        value = magnitude = 0.0
        for i in range(starts[features[k]], starts[features[k] + 1]):
            a = rows[i] - start
            if a < 0 or a >= M.shape[0]:
                continue
            part = size = 0.0
            for j in range(i + 1, starts[features[k] + 1]):
                b = rows[j] - first
                if b < 0 or b >= M.shape[1]:
                    continue
                t = x[i] - x[j]
                t = t * t if absolute is None else abs(t)
                e = _exponential_change(scale * t, True)
                part += M[a, b] * (e - changes[i] - changes[j])
                size += abs(M[a, b]) * (abs(e) - abs(changes[i]) - abs(changes[j]))
            value += part
            magnitude += size
        sums[0, k] += value
        sums[1, k] += magnitude


def _add(T, start, first, x, offsets, which, cap, bend, absolute, mixed):  # pragma: no cover
    """Add the contributions of columns to T."""
    for i in range(T.shape[0]):
        for left in range(0, T.shape[1], COLS):
            row = T[i, left : left + COLS]
            for k in range(len(x)):
                u = offsets[which[k]]
                y, v = x[k, first + left :], u[first + left :]
                a, h, w = x[k, start + i], cap[k], u[start + i]
                s = -1.0 if bend[k] * w > 0 else 1.0
                for j in range(len(row)):
                    row[j] += _contribution(y[j], a, h, w, s, v[j], absolute, mixed)


def _weigh(D, W, gamma, M):  # pragma: no cover - runs as machine code
    """M = W exp(-gamma D)."""
    for i in range(D.shape[0]):
        m, d, w = M[i], D[i], W[i]
        for j in range(len(d)):
            m[j] = w[j] * _exponential(-gamma * d[j])


def _form(M, across, down):  # pragma: no cover - runs as machine code
    """Add the sums of M and of abs(M) over the columns and the rows to the rows of ``across`` and ``down``."""
    for i in range(M.shape[0]):
        for left in range(0, M.shape[1], COLS):  # one sum over many terms would round too often
            m, below, sizes = M[i, left : left + COLS], down[0, left : left + COLS], down[1, left : left + COLS]
            value = magnitude = 0.0
            for j in range(len(m)):
                value += m[j]
                magnitude += abs(m[j])
                below[j] += m[j]
                sizes[j] += abs(m[j])
            across[0, i] += value
            across[1, i] += magnitude


def _changed(D, W, T, gamma, sign):  # pragma: no cover - runs as machine code
    """Sum over a tile of the changes of W exp(-gamma D) by sign T less in D, and of their magnitudes."""
    total = size = 0.0
    for i in range(D.shape[0]):
        for left in range(0, D.shape[1], COLS):  # one sum over many terms would round too often
            d, w, t = D[i, left : left + COLS], W[i, left : left + COLS], T[i, left : left + COLS]
            value = magnitude = 0.0
            for j in range(len(d)):
                top = t[j] if sign > 0 else 0.0  # the larger exponential of the two is the factor
                e = _exponential(min(gamma * (top - d[j]), 0.0)) * _exponential_change(-gamma * t[j], True)
                value -= w[j] * e
                magnitude -= abs(w[j]) * e
            total += value
            size += magnitude
    return sign * total, size


def _columns(real: str) -> str:
    """Types of an encoded table."""
    return f"{real}[:,::1],{real}[:,::1],i8[::1],{real}[::1],{real}[::1]"


@cache
def _compiled(function: Callable[..., Any], signature: str, *, in_order: bool = False) -> Callable[..., Any]:
    """Compile a function for some types, without a cache on disk if no folder for it can be written."""
    options: dict[str, Any] = {"nogil": True, "fastmath": _IN_ORDER if in_order else _FAST}
    try:
        compiled = numba.njit(cache=True, **options)(function)
    except (OSError, RuntimeError):  # no folder
        compiled = numba.njit(**options)(function)
    _announce()
    compiled.compile(signature)
    return compiled  # type: ignore[no-any-return]


@cache
def _announce() -> None:
    """Say on a terminal that the first compilation takes some seconds, unless its results are on disk already."""
    folder = Path(os.environ.get("NUMBA_CACHE_DIR") or Path(__file__).parent / "__pycache__")
    if sys.stderr.isatty() and not any(folder.rglob("loops.*.nbi")):
        print("bahsic: compiling inner loops, once; a few seconds", file=sys.stderr)  # noqa: T201 - on a terminal only


_TILE = "f8[:,::1]"


def unit_sums(tile: Any, columns: Any, coefficients: Any, sums: Any, *, absolute: bool, change: str) -> None:
    """Add the sums over a tile (M, start, first, scale) of scale M times the change by each unit; see `_column_sums`.

    The ``ends`` of the encoded columns divide them into n units, which have a row of six coefficients each. A change
    is a "short" or a "long" polynomial, or an "exponential" less one, whose first coefficient is in the exponent.
    """
    real = "f4" if columns.x.dtype == np.float32 else "f8"
    exponential = change == "exponential"
    long = real == "f8" if exponential else change == "long"
    flags = [True if one else None for one in (absolute, columns.is_mixed, exponential, long)]
    types = ",".join("none" if one is None else "b1" for one in flags)
    grouped = len(columns.ends) <= len(columns.x)
    signature = f"{_TILE},i8,i8,f8,{_columns(real)},{'i8[::1],' if grouped else ''}{real}[:,::1],{_TILE},{types}"
    function, ends = (_group_sums, [columns.ends]) if grouped else (_column_sums, [])
    _compiled(function, f"void({signature})")(*tile, *columns.arrays, *ends, coefficients, sums, *flags)


def stored_sums(
    tile: Any, stored: Any, changes: Any, features: Any, scale: float, sums: Any, *, absolute: bool
) -> None:
    """Add the sums over a tile (M, start, first) of what the stored pairs of some columns change; see `_stored_sums`.

    The columns are rows of a sparse array. ``changes`` has for each stored entry the change of exp(scale t) for it and
    one that is not stored; the second row of ``sums`` is of magnitudes.
    """
    index, flag = f"{stored.indices.dtype.kind}{stored.indices.dtype.itemsize}[::1]", True if absolute else None
    types = f"{index},{index},f8[::1],f8[::1],i8[::1],f8,{_TILE},{'b1' if absolute else 'none'}"
    arrays = stored.indptr, stored.indices, stored.data, changes, features
    _compiled(_stored_sums, f"void({_TILE},i8,i8,{types})")(*tile, *arrays, scale, sums, flag)


def add(T: Any, start: int, first: int, columns: Any, *, absolute: bool) -> None:
    """Add the contributions of columns to the tile T, whose first sample in rows and columns is given.

    In order, as the contribution of two missing entries is zero, whatever it is added to.
    """
    flags = [True if one else None for one in (absolute, columns.is_mixed)]
    types = ",".join("none" if one is None else "b1" for one in flags)
    signature = f"void({_TILE},i8,i8,{_columns('f8')},{types})"
    _compiled(_add, signature, in_order=True)(T, start, first, *columns.arrays, *flags)


def weigh(D: Any, W: Any, gamma: float, M: Any) -> None:
    """Set M to W exp(-gamma D)."""
    _compiled(_weigh, f"void({_TILE},{_TILE},f8,{_TILE})")(D, W, gamma, M)


def form(M: Any, across: Any, down: Any) -> None:
    """Add the sums of M and of abs(M) over the columns and the rows to the rows of ``across`` and ``down``."""
    _compiled(_form, f"void({_TILE},{_TILE},{_TILE})")(M, across, down)


def changed(D: Any, W: Any, T: Any, gamma: float, sign: float) -> tuple[float, float]:
    """Return the sum of W (exp(-gamma (D - sign T)) - exp(-gamma D)), and that of its magnitudes."""
    signature = f"UniTuple(f8,2)({_TILE},{_TILE},{_TILE},f8,f8)"
    total, size = _compiled(_changed, signature)(D, W, T, gamma, sign)
    return total, size
