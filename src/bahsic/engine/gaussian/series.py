"""Family of groups of columns, whose Gaussian factor separates by the exponential series."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, factorial

import numpy as np
from numpy.typing import NDArray

from bahsic.data.columns import Columns
from bahsic.engine.gaussian.bounds import Known, Matrices, Parts, known_from_functions
from bahsic.engine.gaussian.families import Functions, fill_functions
from bahsic.engine.scratch import Scratch

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Grouped:
    r"""Groups of equally many complete columns of numbers, that enter or leave together.

    With :math:`w = \exp(a |x|^2)`, over all columns of the group, the exponential series separates:

    .. math:: \exp(a |x - y|^2) = w(x) w(y) \sum_\alpha \frac{(-2a)^{|\alpha|}}{\alpha!} x^\alpha y^\alpha

    with multi-indices up to an order p, a function for each. The first term is :math:`1 + v(x) + v(y) + v(x) v(y)`
    with :math:`v = w - 1`: edges v, and the function v. Terms of higher order are bounded sample by sample,
    from :math:`2 |x_\alpha y_\alpha| \le x_\alpha^2 + y_\alpha^2`.
    """

    members: Indices
    data: Columns
    groups: NDArray[np.intp]  # (n, size)
    order: int
    a: float
    double: bool

    @property
    def n_leading(self) -> int:
        """Number of terms, which all enter the products."""
        n_terms: int = comb(self.groups.shape[1] + self.order, self.order)
        return n_terms

    @property
    def n_double(self) -> int:
        """Number of terms whose products need float64."""
        return self.n_leading if self.double else 0

    @property
    def width(self) -> int:
        """Number of arrays of the size of a column that `evaluate` makes for each group."""
        return self.n_leading + int(self.groups.shape[1]) + 4

    @property
    def remainder(self) -> float:
        """Zero: the tail of the series is bounded sample by sample instead."""
        return 0.0

    @property
    def size(self) -> float:
        """Bound on the sum of the magnitudes of all terms, at any pair of samples."""
        return float(np.exp(4 * abs(self.a) * group_norms(self.data.ranges, self.groups).max()))

    def evaluate(self, part: slice, out: Functions, matrices: Matrices, scratch: Scratch) -> Parts:
        """Fill the functions of the members ``part`` into ``out``."""
        groups = self.groups[part]
        X = self.data.rows(groups.ravel()).reshape(*groups.shape, -1)
        norms = np.square(X).sum(axis=1)
        v = np.expm1(self.a * norms)
        phi, lam = _monomials(X, v + 1, self.order, self.a)
        phi[0] = v
        fill_functions(phi, out)
        edge_size = np.abs(v) @ np.abs(matrices.sums)
        eigenvalues = np.broadcast_to(lam[:, None], phi.shape[:2])
        known = known_from_functions(matrices, eigenvalues, phi, v @ matrices.sums, edge_size, self.n_leading)
        value, dropped, *rest = known
        return (value, dropped + series_tails(norms, self.a, self.order, matrices), *rest)

    def known(self, parts: Parts, matrices: Matrices) -> Known:
        """Parts of the score changes by all members that need no product."""
        return Known(*parts)


def group_norms(ranges: Array, groups: NDArray[np.intp]) -> Array:
    """Bounds on the squared norms of samples over the columns of groups."""
    return np.asarray(np.square(ranges[groups]).sum(axis=1))


def series_tails(norms: Array, a: float, order: int, matrices: Matrices) -> Array:
    """Bounds on the tails of the series beyond an order, from the squared norms of the samples (c, n_samples)."""
    magnitudes = matrices.magnitudes + matrices.kappa * matrices.low_rank.norm
    z = 2 * abs(a) * norms
    terms = z ** (order + 1) / factorial(order + 1) * np.exp(2 * max(a, 0.0) * norms)
    return np.asarray((terms @ magnitudes) * np.exp(z.max(axis=1)))


def _monomials(X: Array, w: Array, order: int, a: float) -> tuple[Array, Array]:
    """Functions w x^alpha (n_terms, c, n_samples) of X (c, size, n_samples), for all multi-indices up to an order.

    Also returns their coefficients (-2a)^|alpha| / alpha!.
    """
    size = X.shape[1]
    phi = np.empty((comb(size + order, order), *w.shape))
    phi[0] = w
    lam = [1.0]
    last = [(0, 0, 0)]  # terms of the order before: position, last column, exponent of that column
    for _ in range(order):
        new = []
        for place, column, times in last:
            for j in range(column, size):
                repeats = times + 1 if j == column and times else 1
                np.multiply(phi[place], X[:, j], out=phi[len(lam)])
                new.append((len(lam), j, repeats))
                lam.append(lam[place] * -2 * a / repeats)
        last = new
    return phi, np.array(lam)
