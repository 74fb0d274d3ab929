r"""Score changes by single columns for the Laplacian kernel, without an exponential for each pair.

With ``M = W * exp(-gamma D)``, g = gamma and the sign + where a column leaves, - where it enters, its change is

.. math::

    \sum M_{ij} (e^{\pm g |x_i - x_j|} - 1), \qquad
    e^{\pm g |x - y|} = \cosh g(x - y) \pm |\sinh g(x - y)|.

With s = sinh(g x), h = cosh(g x) - 1 and c = 1 + h, the addition theorems leave three parts (r are row sums of M):

.. math::

    \sum M_{ij} (\cosh g(x_i - x_j) - 1) = 2 r'h + h'Mh - s'Ms, \qquad
    |\sinh g(x_i - x_j)| = |s_i c_j - c_i s_j|.

The first is a sum over the samples, the second two quadratic forms, the third a matrix product of two terms for each
column, its magnitude, and a sum of products with M: three passes over the pairs. As the constant 1 and r'h are made in
float64, all that float32 rounds is of the size of g abs(x): the smaller a feature's share in D, the smaller the error.

Error bounds, with the unit roundoff u of the precision in use and the row sums q of abs(M):

- s, c and M are rounded once, the product of two terms twice: abs(s_i c_j - c_i s_j) is off by at most 4 u b_ij with
  b_ij = abs(s_i) c_j + c_i abs(s_j). The sum of n of its products with M adds (n + 1) u b_ij abs(M_ij). The sum of
  abs(M_ij) b_ij over all i and j is at most 2 max(c) q'abs(s).
- A product of M with s, or with h, of at most `INNER` terms, and that of the result with `PANEL_HEIGHT` of them, is
  off by at most (INNER + PANEL_HEIGHT + 8) u q's^2, as abs(s_i s_j) is at most the mean of the squares.
- What underflows is less than the smallest normal number, for each pair.
- M itself, sums over the samples and the functions s and h are as exact as float64 allows; see ``floor``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bahsic.engine.executor import Executor, Sums, map_sum
from bahsic.engine.gaussian.residual import Rest
from bahsic.engine.intervals import Intervals
from bahsic.engine.loops import loops
from bahsic.engine.plan import PANEL_HEIGHT, Tile
from bahsic.engine.scratch import Scratch
from bahsic.engine.tiles import INNER, quadratic_forms

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Vectors = NDArray[Any]

# Largest gamma abs(x) of the columns that are split in this way: beyond it cosh and sinh nearly cancel.
MAX_EXPONENT = 4.0

# Number of products that are added in the precision in use, before these sums are added in float64.
_SHORT = 256

# Rows of M that one operation works on.
_ROWS = 64

# Columns whose functions are copied for a tile at a time.
_COLUMNS = 64

# Pairs of samples, times columns, that one operation works on: few enough to stay in the cache.
_BATCH = 1 << 17

# Bytes of the functions of the columns of one pass, where D is kept.
_BLOCK_BYTES = 1 << 23


@dataclass(frozen=True, eq=False)
class HyperbolicChanges:
    """Score changes by single columns in one round, in float32 or float64.

    Attributes
    ----------
    rest : Rest
        The matrix M, tile by tile.
    executor : Executor
    leaving : bool
        Whether the columns leave or enter.
    sums : ndarray of shape (n_samples,)
        Row sums r of M.
    magnitudes : ndarray of shape (n_samples,)
        Bounds on the row sums q of abs(M).
    floor : float
        Relative error of M and of sums over the samples in float64.
    """

    rest: Rest
    executor: Executor
    leaving: bool
    sums: Array
    magnitudes: Array
    floor: float

    @property
    def score(self) -> float:
        """Score of the current subset, without its diagonal part."""
        return float(self.sums.sum())

    def __call__(self, features: Indices, dtype: Any) -> Intervals:
        """Changes by complete columns of numbers with gamma abs(x) of at most `MAX_EXPONENT`."""
        plan, m = self.rest.pairs.plan, len(self.sums)
        most = min(plan.budget // 8, _BLOCK_BYTES) if plan.keep else plan.budget // 2
        height = max(1, most // (3 * np.dtype(dtype).itemsize * m))
        parts = [self._changes(features[i : i + height], dtype) for i in range(0, len(features), height)]
        return Intervals(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))

    def _changes(self, features: Indices, dtype: Any) -> tuple[Array, Array]:
        functions = np.empty((3, len(features), len(self.sums)), dtype)
        height = max(1, _BATCH // len(self.sums))
        parts = [slice(i, i + height) for i in range(0, len(features), height)]
        found = self.executor.map(lambda part: self._fill(features[part], functions[:, part]), parts)
        edges, radii = np.concatenate(found, axis=1)
        forms, sines = self._products(functions)
        sign = 2 if self.leaving else -2
        return edges + forms[1] - forms[0] + sign * sines, radii

    def _fill(self, features: Indices, functions: Vectors) -> Array:
        """Write s, h and c of some columns; returns 2 r'h, and the error bounds of the changes."""
        z = self.rest.gamma * self.rest.pairs.columns.rows(features)
        e = np.expm1(z, out=z)
        inverse = e / (1 + e)  # 1 - exp(-z)
        s, h = (e + inverse) / 2, e * inverse / 2
        functions[0], functions[1] = s, h
        np.add(h, 1.0, out=functions[2], casting="same_kind")
        return np.stack([2 * (h @ self.sums), self._radii(np.abs(s), h, functions.dtype)])

    def _radii(self, s: Array, h: Array, dtype: Any) -> Array:
        limits = np.finfo(dtype)
        u, tiny, q, m = float(limits.eps) / 2, float(limits.tiny), self.magnitudes, len(self.sums)
        largest = 1 + h.max(axis=1)
        sines = 2 * largest * (s @ q)
        forms = np.square(s) @ q + np.square(h) @ q
        rounding = (_SHORT + 8) * u * sines + (INNER + PANEL_HEIGHT + 8) * u * forms
        vanished = 8 * tiny * np.square(largest) * (m**2 + q.sum())
        return np.asarray(rounding + self.floor * (sines + forms + 2 * (h @ q)) + vanished)

    def _products(self, functions: Vectors) -> tuple[Array, Array]:
        """Quadratic forms of s and h, shape (2, c), and the sums over pairs i < j with the magnitudes of sinh."""
        rest, tiles = self.rest, self.rest.pairs.plan.tiles
        columns = functions[:2].reshape(-1, functions.shape[2])

        def tile_products(index: int) -> Sums:
            M, scratch = rest.panel(index, functions.dtype.type), rest.pairs.scratch
            forms = quadratic_forms(columns, M, tiles[index], scratch)
            return forms.reshape(2, -1), _tile_sines(
                functions[0], functions[2], M, tiles[index], scratch, rest.compiled
            )

        forms, sines = map_sum(self.executor, tile_products, range(len(tiles)))
        return forms, sines


def _tile_sines(s: Vectors, c: Vectors, M: Vectors, tile: Tile, scratch: Scratch, compiled: bool) -> Array:
    """Sums over the pairs of a tile of M abs(s_i c_j - c_i s_j), for each of the columns."""
    total, machine = np.zeros(len(s)), loops(compiled=compiled)
    if machine is not None:
        sides = [np.ascontiguousarray(one[:, side]) for side in (tile.rows, tile.cols) for one in (s, c)]
        machine.sine_sums(M, *sides, total)
        return total
    for start in range(0, len(s), _COLUMNS):
        some = slice(start, start + _COLUMNS)
        left = np.stack([s[some, tile.rows], c[some, tile.rows]], axis=2)
        right = np.stack([c[some, tile.cols], -s[some, tile.cols]], axis=1)
        for rows, cols in _blocks(M.shape):
            total[some] += sine_sums(left[:, rows], right[:, :, cols], M[rows, cols], scratch)
    return total


def _blocks(shape: tuple[int, int]) -> Sequence[tuple[slice, slice]]:
    """Rectangles that cover a tile, of at most `_ROWS` rows and `_SHORT` columns."""
    tops, starts = range(0, shape[0], _ROWS), range(0, shape[1], _SHORT)
    return [(slice(top, top + _ROWS), slice(start, start + _SHORT)) for top in tops for start in starts]


def sine_sums(left: Vectors, right: Vectors, M: Vectors, scratch: Scratch) -> Array:
    """Sums over i and j of M_ij abs(left_i . right_j), for each of some columns.

    Parameters
    ----------
    left : ndarray of shape (n_columns, a, 2)
    right : ndarray of shape (n_columns, 2, b)
    M : ndarray of shape (a, b)
    scratch : Scratch

    Returns
    -------
    ndarray of shape (n_columns,)
    """
    batch = max(1, _BATCH // M.size)
    total = np.empty(len(left))
    for start in range(0, len(left), batch):
        some = slice(start, min(start + batch, len(left)))
        E = scratch.take("E", (some.stop - start, *M.shape), M.dtype)
        np.matmul(left[some], right[some], out=E)
        np.abs(E, out=E)
        total[some] = np.vecdot(E, M).sum(axis=1, dtype=np.float64)
    return total
