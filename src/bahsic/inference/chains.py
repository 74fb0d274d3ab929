r"""Laplacian kernel matrices of single columns, whose products with vectors cost O(m).

Conditioned on its value at a root c, the Gaussian process of the kernel :math:`\exp(-\gamma |x - x'|)` is a Markov
chain that starts with zero at c and moves outward on both sides, independently. With :math:`f = \exp(-\gamma |x - c|)`

.. math:: K = f f' + R, \qquad R_{ij} = e^{-\gamma |t_i - t_j|} (1 - e^{-2 \gamma \min(t_i, t_j)})

for samples at distances t from c on the same side, else :math:`R_{ij} = 0`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_banded

from bahsic.kernels.rows import row_blocks

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Most links of a chain that is written as factors for an inner product.
_FEW_LINKS = 64


@dataclass(frozen=True, eq=False)
class Chain:
    """The matrix R of a column.

    Links are the distinct values of the column, on each side of the root from the farthest to the nearest.

    Attributes
    ----------
    order : ndarray of int of shape (n,)
        The samples that are not at the root, link by link.
    starts : ndarray of int of shape (k,)
        Where each link begins in ``order``.
    steps : ndarray of shape (k,)
        Gamma times the distance of each link to the next one toward the root, or to the root.
    depths : ndarray of shape (k,)
        Gamma times the distance of each link to the root.
    turn : int
        Number of links on the first side.
    weights : ndarray of shape (m,)
        Frequencies of all samples.
    exponent : int
        The matrix is R times 2**exponent.
    """

    order: Indices
    starts: Indices
    steps: Array
    depths: Array
    turn: int
    weights: Array
    exponent: int = 0

    @staticmethod
    def of(x: Array, root: float, gamma: float, weights: Array | None = None) -> Chain:
        """The chain of a column x (m,) without missing entries.

        Examples
        --------
        >>> chain = Chain.of(np.array([0.0, 1.0, 2.0, -1.0]), 0.0, 1.0)
        >>> chain.matrix().round(3)
        array([[0.   , 0.   , 0.   , 0.   ],
               [0.   , 0.865, 0.318, 0.   ],
               [0.   , 0.318, 0.982, 0.   ],
               [0.   , 0.   , 0.   , 0.865]])
        """
        order = np.argsort(x, kind="stable")
        low, high = np.searchsorted(x[order], root), np.searchsorted(x[order], root, "right")
        order = np.concatenate([order[:low], order[high:][::-1]])
        values = x[order]
        begins = np.append(True, values[1:] != values[:-1])[: len(values)]
        starts = np.flatnonzero(begins)
        values, turn = values[starts], int(np.searchsorted(starts, low))
        inner = np.append(values[1:], root)
        if 0 < turn < len(values):
            inner[turn - 1] = root
        steps, depths = gamma * np.abs(values - inner), gamma * np.abs(values - root)
        return Chain(order, starts, steps, depths, turn, np.ones(len(x)) if weights is None else weights)

    def scaled(self, exponent: int) -> Chain:
        """The same matrix times 2**exponent."""
        return replace(self, exponent=self.exponent + exponent)

    @property
    def largest(self) -> float:
        """Largest entry of R."""
        return float(-np.expm1(-2 * self.depths.max(initial=0.0))) * self._scale

    @cached_property
    def sizes(self) -> Array:
        """Sum of the weights of each link."""
        return np.asarray(self._sums(self.weights[None])[0])

    @property
    def _scale(self) -> float:
        return math.ldexp(1.0, self.exponent)

    def _sums(self, vectors: Array) -> Array:
        """Sums of vectors (n, m) over the samples of each link, shape (n, k)."""
        linked = vectors[:, self.order]
        if len(self.starts) == len(self.order):
            return linked
        return np.asarray(np.add.reduceat(linked, self.starts, axis=1))

    def _inward(self, sums: Array, times: int = 1) -> Array:
        """Sums over all links farther out, and the link itself, damped by exp(-times distance); shape (n, k)."""
        band = np.ones((2, len(self.starts)))
        band[1] = -np.exp(-times * self.steps)
        if 0 < self.turn < len(self.starts):
            band[1, self.turn - 1] = 0.0
        return np.asarray(solve_banded((1, 0), band, sums.T, check_finite=False).T)

    def _outward(self, sums: Array) -> Array:
        """Sums over all links nearer to the root, and the link itself, damped by exp(-distance); shape (n, k)."""
        band = np.ones((2, len(self.starts)))
        band[0, 1:] = -np.exp(-self.steps[:-1])
        if 0 < self.turn < len(self.starts):
            band[0, self.turn] = 0.0
        return np.asarray(solve_banded((0, 1), band, sums.T, check_finite=False).T)

    def forms(self, vectors: Array) -> Array:
        """Quadratic forms v'Rv, shape (n,), as sums of squares."""
        if not len(self.starts):
            return np.zeros(len(vectors))
        return np.square(self._inward(self._sums(vectors))) @ -np.expm1(-2 * self.steps) * self._scale

    @cached_property
    def _row_sums(self) -> Array:
        """Weighted row sums of R for each link, without the scale."""
        if not len(self.starts):
            return np.empty(0)
        h, n = -np.expm1(-2 * self.depths), self.sizes[None]
        return np.asarray((h * self._inward(n) + self._outward(h * n) - h * n)[0])

    def diagonal(self) -> Array:
        """Diagonal of HRH, shape (m,)."""
        total = self.weights.sum()
        mean = float(self.sizes @ self._row_sums) / total**2
        found = np.full(len(self.weights), mean)
        found[self.order] += self._on_samples(-np.expm1(-2 * self.depths) - 2 * self._row_sums / total)
        return found * self._scale

    def square(self) -> float:
        """Sum of the squared entries of HRH, each counted as often as the weights say."""
        if not len(self.starts):
            return 0.0
        n, r, total = self.sizes, self._row_sums, float(self.weights.sum())
        outside = 2 * self._inward(n[None], 2)[0] - n
        plain = float(n @ (np.square(np.expm1(-2 * self.depths)) * outside))
        mean = float(n @ r) / total
        # About the mean, so that the second term is a sum of squares too.
        spread = float(n @ np.square(r - mean)) + (total - float(n.sum())) * mean**2
        return (plain - 2 * spread / total - mean**2) * self._scale**2

    def _on_samples(self, values: Array) -> Array:
        """Values of the links for each of the samples in ``order``."""
        return np.repeat(values, np.diff(self.starts, append=len(self.order)))

    def factors(self) -> Array:
        """Vectors whose outer products add up to R, shape (k, m)."""
        F = np.zeros((len(self.starts), len(self.weights)))
        if len(F):
            damped = self._inward(np.eye(len(F)))
            damped *= np.sqrt(-np.expm1(-2 * self.steps) * self._scale)
            F[:, self.order] = np.repeat(damped.T, np.diff(self.starts, append=len(self.order)), axis=1)
        return F

    def product(self, other: Chain) -> float:
        """Inner product of HRH with that of another column, in O(m log(m)^2) time."""
        for one, two in ((self, other), (other, self)):
            if len(one.starts) <= _FEW_LINKS:
                F = one.factors()
                F -= (F @ (one.weights / one.weights.sum()))[:, None]
                return float(two.forms(F * one.weights).sum())
        w, r, t = self.weights, self._row_means(), other._row_means()
        share = w / w.sum()
        r_mean, t_mean = share @ r, share @ t
        total = float(w.sum()) ** 2
        centring = 2 * float(share @ ((r - r_mean) * (t - t_mean))) + float(r_mean * t_mean)
        return sum_of_products(self, other) * self._scale * other._scale - total * centring

    def _row_means(self) -> Array:
        """Weighted mean of each row of R, shape (m,)."""
        found = np.zeros(len(self.weights))
        found[self.order] = self._on_samples(self._row_sums / self.weights.sum() * self._scale)
        return found

    def matrix(self) -> Array:
        """The matrix R, not centred."""
        return np.concatenate([self.rows(part) for part in row_blocks(len(self.weights))])

    def places(self) -> tuple[Array, NDArray[np.int8]]:
        """Depth of each sample, and its side of the root: 1, 2, or 0 at the root."""
        depths, sides = np.zeros(len(self.weights)), np.zeros(len(self.weights), dtype=np.int8)
        depths[self.order] = self._on_samples(self.depths)
        sides[self.order] = self._on_samples(np.where(np.arange(len(self.starts)) < self.turn, 1, 2))
        return depths, sides

    def rows(self, part: slice) -> Array:
        """Some rows of R."""
        t, side = self.places()
        found = np.exp(-np.abs(np.subtract.outer(t[part], t)))
        found *= -np.expm1(-2 * np.minimum.outer(t[part], t))
        found[np.not_equal.outer(side[part], side)] = 0.0
        return found * self._scale


def sum_of_products(one: Chain, other: Chain) -> float:
    r"""Sum over all pairs of samples of :math:`w_i w_j R_{ij} R'_{ij}`, two matrices that are not centred or scaled.

    Samples on the same side in both columns are sorted by their depth in the first column and halved again and again.
    For i in the inner and j in the outer half, divided at depth c, the first kernel is a product,
    :math:`e^{t_i - c} (1 - e^{-2 t_i}) \cdot e^{c - t_j}`, so that the sum over i is one product of a vector with the
    second matrix. All terms are positive.
    """
    (t, side), (s, other_side) = one.places(), other.places()
    inside = np.flatnonzero((side > 0) & (other_side > 0))
    quadrant = (3 * side + other_side)[inside]
    order = np.lexsort((t[inside], quadrant))
    inside, quadrant = inside[order], quadrant[order].astype(np.intp)
    t, s, w = t[inside], s[inside], one.weights[inside]
    first = np.searchsorted(quadrant, quadrant)
    position = np.arange(len(inside)) - first
    last = np.searchsorted(quadrant, quadrant, "right") - 1
    h, by_depth = -np.expm1(-2 * t), np.argsort(s, kind="stable")
    found = float(np.square(w) @ (h * -np.expm1(-2 * s)))
    half = 1
    while half <= position.max(initial=0):
        node, outer = position // (2 * half), position // half % 2 == 1
        divide = t[np.minimum(first + node * 2 * half + half - 1, last)]
        vector = np.where(outer, 0.0, w * h * np.exp(np.minimum(t - divide, 0.0)))
        weight = np.where(outer, w * np.exp(np.minimum(divide - t, 0.0)), 0.0)
        start = first + node * 2 * half
        order = by_depth[np.argsort(start[by_depth], kind="stable")]
        found += 2 * _separate_products(start[order], s[order], vector[order], weight[order])
        half *= 2
    return found


def _separate_products(node: Indices, depths: Array, vector: Array, weight: Array) -> float:
    """Products w'Rv of vectors that are zero where the other is not, for each node, added; sorted by node and depth."""
    band, h = np.ones((2, len(node))), -np.expm1(-2 * depths)
    damping = np.where(node[1:] == node[:-1], -np.exp(-np.abs(np.diff(depths))), 0.0)
    band[1, :-1] = damping
    below = solve_banded((1, 0), band, h * vector, check_finite=False)
    band[0, 1:], band[1] = damping, 1.0
    above = solve_banded((0, 1), band, vector, check_finite=False)
    return float(weight @ (below + h * above))
