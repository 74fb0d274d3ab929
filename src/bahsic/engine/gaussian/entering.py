r"""A quick first look at features that enter, of which few are wanted: few functions, and a bound on all the others.

With :math:`b > 0` and :math:`y = \sqrt{2b}\, x`, the Taylor series of :math:`\exp(y y')` gives

.. math:: g(x, x') = \exp(-b (x - x')^2) = \sum_k \psi_k(x) \psi_k(x'), \quad \psi_k = e^{-y^2/2} y^k / \sqrt{k!},

so with :math:`u = \psi_0 - 1`, :math:`g - 1 - u - u'` is the sum over the functions :math:`u, \psi_1, \psi_2, \ldots`
Orthogonal combinations :math:`\varphi_k` of the first of them leave a positive semidefinite remainder, which is
at most the geometric mean of its values at (x, x) and (x', x'), and these are :math:`-2u - \sum_k \varphi_k^2`. No
function has to be evaluated for the bound alone, whatever the range of a column.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bahsic.data.columns import Columns
from bahsic.engine.gaussian.bounds import FunctionSums, Known, Matrices, Parts
from bahsic.engine.gaussian.families import Functions, fill_functions, sample_ranges
from bahsic.engine.scratch import Scratch

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

_EPS = float(np.finfo(np.float64).eps)

# Most functions of the series, and points of the distribution for which combinations of them are chosen.
_MOST, _POINTS = 64, 200


@lru_cache(maxsize=64)
def combinations(a: float, radius: float, tail: float) -> Array:
    """Coefficients of the phi_k in ``u, e y, e y^2, ...`` with ``e = exp(-y^2 / 2)``, one phi_k in each row.

    Of standardised columns within [-radius, radius] they leave out about the share ``tail``.

    Examples
    --------
    >>> combinations(-0.25, 4.0, 0.01).shape
    (4, 11)
    """
    x = np.linspace(-radius, radius, _POINTS)
    normal = np.exp(-0.5 * np.square(x))
    weights = 0.95 * normal / normal.sum() + 0.05 / _POINTS
    scales = np.exp(-0.5 * gammaln(np.arange(_MOST) + 1.0))
    values = scales[:, None] * _powers(x, a, _MOST) * np.sqrt(weights)
    n = 1 + _needed(np.square(values).sum(axis=1), tail / 2)
    vectors, sizes, _ = np.linalg.svd(values[:n], full_matrices=False)
    return np.asarray(vectors.T[: _needed(np.square(sizes), tail)] * scales[:n])


def _needed(sizes: Array, tail: float) -> int:
    """Number of leading terms, the rest of which has at most the share ``tail`` of the sum."""
    left = np.append(np.cumsum(sizes[::-1])[::-1], 0.0)
    return max(1, int(np.argmax(left <= tail * left[0])))


def _powers(x: Array, a: float, n: int) -> Array:
    """The functions ``u, e y, e y^2, ...`` of x, the first n of them."""
    y = x * math.sqrt(-2 * a)
    powers = np.empty((n, *x.shape))
    np.expm1(-0.5 * np.square(y), out=powers[0])
    powers[1:2] = (powers[0] + 1) * y
    for k in range(2, n):
        np.multiply(powers[k - 1], y, out=powers[k])
    return powers


@dataclass(frozen=True)
class Entering:
    """Complete columns of many values that may enter: a few functions, a bound on what they leave out.

    Attributes
    ----------
    members : ndarray of int
        Positions of the columns among the requested ones.
    data : Columns
    columns : ndarray of int
        The columns.
    a : float
        Negative.
    coefficients : ndarray of shape (n_functions, n_powers)
        Those of `combinations`.
    n_leading : int
        How many functions enter products with R: all of them, or none where R is zero.
    """

    members: Indices
    data: Columns
    columns: Indices
    a: float
    coefficients: Array
    n_leading: int

    @property
    def n_double(self) -> int:
        """None of the products is made in float64."""
        return 0

    @property
    def width(self) -> int:
        """Number of arrays of the size of a column that `evaluate` makes for each column."""
        return sum(self.coefficients.shape) + 2

    @property
    def remainder(self) -> float:
        """Bound on the rounding errors of the functions, at any pair of samples: their squares sum to at most 2."""
        return 64 * _EPS * math.prod(self.coefficients.shape)

    @property
    def size(self) -> float:
        """Bound on the sum of the magnitudes of all terms, at any pair of samples."""
        return 2.0

    def evaluate(self, part: slice, out: Functions, matrices: Matrices, scratch: Scratch) -> Parts:
        """Fill the functions of the members ``part`` into ``out``."""
        x, sums = self.data.rows(self.columns[part]), FunctionSums(matrices)
        edge, edge_size, left_out = np.zeros((3, len(x)))
        whole = matrices.magnitudes + matrices.kappa * matrices.low_rank.norm
        for samples in sample_ranges(x.shape[1]):
            powers = _powers(x[:, samples], self.a, self.coefficients.shape[1])
            phi, u = np.tensordot(self.coefficients, powers, axes=1), powers[0]
            fill_functions(phi, [target[:, samples] for target in out])
            sums.add(phi, samples)  # now phi is squared
            edge += u @ matrices.sums[samples]
            edge_size -= u @ np.abs(matrices.sums[samples])
            left_out += np.maximum(-2 * u - phi.sum(axis=0), 0.0) @ whole[samples]
        ones = np.ones((len(self.coefficients), len(x)))
        value, dropped, *others = sums.known(ones, edge, edge_size, self.n_leading)
        return value, dropped + left_out, *others

    def known(self, parts: Parts, matrices: Matrices) -> Known:
        """Parts of the score changes by all members that need no product."""
        return Known(*parts)
