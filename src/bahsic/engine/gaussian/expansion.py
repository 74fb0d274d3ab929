r"""Separable expansion of the change that one feature makes to a Gaussian kernel.

With :math:`g(x, y) = \exp(a (x - y)^2)`, `a` positive where the feature leaves and negative where it
enters, and on the feature's own range :math:`[-R, R]`,

.. math:: g(x, y) - 1 = u(x) + u(y) + \sum_k \lambda_k \varphi_k(x) \varphi_k(y) + e(x, y),

where :math:`u(x) = g(x, 0) - 1` and the :math:`\varphi_k` are polynomials. A quadratic form in a
matrix M is then a few matrix-vector products instead of an exponential for each pair of samples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MAX_DEGREE = 40

# Largest a (2R)^2 for which the expansion is used: exp(a (2R)^2) multiplies the rounding error of the
# quadratic forms, so beyond it the exponential of each pair is better.
MAX_EXPONENT = 10.0

_EPS = float(np.finfo(np.float64).eps)


# Factors of the bound in `interpolation_remainders`, for each degree and a grid of ellipses.
_RHO = np.geomspace(1.2, 400.0, 60)
_LEAVING_BOUND = ((_RHO + 1 / _RHO) / 2 + 1) ** 2
_ENTERING_BOUND = ((_RHO - 1 / _RHO) / 2) ** 2
_DEGREES = np.arange(MAX_DEGREE + 1)
_LOG_ERRORS = np.log(4 / (_RHO - 1)) - _DEGREES[:, None] * np.log(_RHO)
_FACTORS = 2 * (2 + 2 / np.pi * np.log(_DEGREES + 1))


@dataclass(frozen=True)
class Expansion:
    """Coefficients of an expansion in Chebyshev polynomials of x / radius.

    Attributes
    ----------
    radius : float
        The range [-radius, radius] on which the expansion holds.
    eigenvalues : ndarray of shape (n_terms,)
        The lambda_k, greatest magnitude first.
    functions : ndarray of shape (n_terms, degree + 1)
        Chebyshev coefficients of the phi_k, each of unit norm in a measure like the distribution of standardised data.
        Each phi_k is exactly even or odd.
    edge : ndarray of shape (degree + 1,)
        Chebyshev coefficients of u.
    edge_bound : float
        Bound on abs(u(x)) / (x / radius)^2.
    remainder : float
        Bound on abs(e(x, y)) over the whole square.
    size : float
        Bound on the sum of abs(lambda_k phi_k(x) phi_k(y)) over the whole square.
    """

    radius: float
    eigenvalues: Array
    functions: Array
    edge: Array
    edge_bound: float
    remainder: float
    size: float

    @property
    def degree(self) -> int:
        """Degree of the polynomials."""
        return int(self.functions.shape[1]) - 1

    @cached_property
    def monomials(self) -> Array:
        """Coefficients of the phi_k in powers of x / radius."""
        return np.asarray(self.functions @ monomial_matrix(self.degree))

    @cached_property
    def edge_monomials(self) -> Array:
        """Coefficients of u in powers of x / radius."""
        coefficients = self.edge @ monomial_matrix(self.degree)
        coefficients[1::2] = 0.0
        return coefficients

    @cached_property
    def odd(self) -> NDArray[np.bool_]:
        """Which of the phi_k are odd."""
        return _are_odd(self.functions)

    def values(self, z: Array) -> tuple[Array, Array]:
        """Values at z = x / radius of all phi_k, the even ones first, and of the even Chebyshev polynomials."""
        even, odd = chebyshev_values(z, self.degree)
        n_even = int(np.count_nonzero(~self.odd))
        phi = np.empty((len(self.functions), *z.shape))
        flat = phi.reshape(len(phi), -1)
        np.matmul(self.functions[~self.odd, ::2], even.reshape(len(even), -1), out=flat[:n_even])
        np.matmul(self.functions[self.odd, 1::2], odd.reshape(len(odd), -1), out=flat[n_even:])
        return phi, even

    @cached_property
    def places(self) -> NDArray[np.intp]:
        """Position of each phi_k among the `values`."""
        return np.argsort(np.argsort(self.odd, kind="stable"))

    @cached_property
    def tails(self) -> Array:
        """Sum of abs(lambda_k) from the k-th on, for k = 0, 1, ..., n_terms."""
        return np.append(np.cumsum(np.abs(self.eigenvalues)[::-1])[::-1], 0.0)


@lru_cache(maxsize=MAX_DEGREE + 1)
def monomial_matrix(degree: int) -> Array:
    """Coefficients of the Chebyshev polynomials of degrees 0 to ``degree`` in powers, one in each row."""
    matrix = np.eye(degree + 1)
    for n in range(2, degree + 1):
        matrix[n] = -matrix[n - 2]
        matrix[n, 1:] += 2 * matrix[n - 1, :-1]
    return matrix


def interpolation_remainders(a: float, radius: float) -> Array:
    """Bounds on the error of interpolating g at the Chebyshev points, for degrees 0, 1, ...

    For a function that is analytic and bounded by B in the Bernstein ellipse of parameter rho, the error
    of interpolating at N + 1 Chebyshev points is at most 4 B rho^-N / (rho - 1); the best rho of a grid
    is taken. The factor in front accounts for the second variable (Lebesgue constant) and for u.
    """
    exponent = a * radius**2
    log_bound = exponent * _LEAVING_BOUND if a > 0 else -exponent * _ENTERING_BOUND
    log_errors = np.minimum((_LOG_ERRORS + log_bound).min(axis=1), 700.0)
    return np.asarray(_FACTORS * np.exp(log_errors))


def largest_radius(a: float) -> float:
    """Largest radius on which the expansion is short and safe."""
    return math.sqrt((MAX_EXPONENT if a > 0 else 8 * MAX_EXPONENT) / abs(a)) / 2 if a else math.inf


@lru_cache(maxsize=64)
def expansion(a: float, radius: float, tolerance: float) -> Expansion:
    """The expansion whose remainder is at most ``tolerance`` relative to its leading term.

    Examples
    --------
    >>> terms = expansion(0.005, 4.0, 1e-15)
    >>> terms.tails[:4] / terms.tails[0] < [2, 0.2, 0.02, 0.002]
    array([ True,  True,  True,  True])
    """
    scale = 2 * abs(a) * radius**2
    remainders = interpolation_remainders(a, radius)
    degree = max(2, int(np.argmax(remainders <= max(tolerance, _EPS) * scale)))
    if remainders[degree] > max(tolerance, _EPS) * scale:
        degree = MAX_DEGREE
    cosines = _cosines(degree + 1, degree + 1)  # of the multiples of the angles of the Chebyshev points
    x = radius * cosines[1]
    edge = np.expm1(a * x**2)
    core = np.expm1(a * (x[:, None] - x) ** 2) - edge[:, None] - edge
    to_coefficients = cosines * (2 / (degree + 1))
    to_coefficients[0] /= 2
    eigenvalues, functions = _eigenfunctions(to_coefficients @ core @ to_coefficients.T, radius)
    odd = _are_odd(functions)
    functions[odd, ::2], functions[~odd, 1::2] = 0.0, 0.0  # but for rounding they are
    # Terms below the tolerance join the remainder; abs(phi_k) is at most the sum of abs(coefficients).
    largest = np.abs(eigenvalues) * np.abs(functions).sum(axis=1) ** 2
    left_over = np.cumsum(largest[::-1])[::-1]
    n_terms = max(1, int(np.count_nonzero(left_over > remainders[degree])))
    # Entries of the core: g - 1 and two edges, which are between -1 and 0 where a < 0.
    exponent = abs(a) * (2 * radius) ** 2
    rounding = 4 * (degree + 1) * _EPS * (float(np.expm1(exponent)) if a > 0 else 3 * min(1.0, exponent))
    remainder = remainders[degree] + left_over[n_terms:].max(initial=0.0) + rounding
    return Expansion(
        radius=radius,
        eigenvalues=eigenvalues[:n_terms],
        functions=functions[:n_terms],
        edge=to_coefficients @ edge,
        edge_bound=float(np.expm1(max(a, 0.0) * radius**2) + max(-a, 0.0) * radius**2),
        remainder=remainder,
        size=float(left_over[0]),
    )


@lru_cache(maxsize=4 * MAX_DEGREE)
def _cosines(n: int, n_points: int) -> Array:
    """Chebyshev polynomials of degrees 0 to n - 1 at ``n_points`` Chebyshev points."""
    cosines: Array = np.cos(np.outer(np.arange(n), np.pi * (np.arange(n_points) + 0.5) / n_points))
    cosines.flags.writeable = False
    return cosines


def _eigenfunctions(coefficients: Array, radius: float) -> tuple[Array, Array]:
    """Eigenvalues and eigenfunctions, orthonormal in a measure like the distribution of standardised features.

    The measure is mostly normal, and standard normal for standardised features. The order of the terms
    then follows their size in the data, not at the corners of the square, where there are none.
    """
    factor = _factor(len(coefficients), radius)
    eigenvalues, vectors = np.linalg.eigh(factor.T @ coefficients @ factor)
    order = np.argsort(-np.abs(eigenvalues), kind="stable")
    return eigenvalues[order], np.linalg.solve(factor.T, vectors[:, order]).T


@lru_cache(maxsize=64)
def _factor(n: int, radius: float) -> Array:
    """Cholesky factor of the inner products of the first n Chebyshev polynomials in that measure."""
    basis, scale = _cosines(n, 4 * n), min(max(1.0, radius / 6), radius / 1.5)
    normal = np.exp(-0.5 * (radius / scale * basis[1]) ** 2) * np.sqrt(1 - basis[1] ** 2)
    weights = 0.95 * normal / normal.sum() + 0.05 / len(normal)
    factor: Array = np.linalg.cholesky((basis * weights) @ basis.T)
    factor.flags.writeable = False
    return factor


def _are_odd(functions: Array) -> NDArray[np.bool_]:
    """Which of some functions, given by Chebyshev coefficients, are odd."""
    return np.asarray(np.abs(functions[:, 1::2]).sum(axis=1) > np.abs(functions[:, ::2]).sum(axis=1))


def chebyshev_values(z: Array, degree: int) -> tuple[Array, Array]:
    """Chebyshev polynomials of degrees up to ``degree`` at z: the even ones and the odd ones, each stacked.

    Both follow from the two before: :math:`T_n = 2 T_2 T_{n-2} - T_{n-4}`.
    """
    twice = 4 * np.square(z) - 2
    even, odd = np.empty((degree // 2 + 1, *z.shape)), np.empty(((degree + 1) // 2, *z.shape))
    even[0], odd[0] = 1.0, z
    np.multiply(twice, 0.5, out=even[1])
    if len(odd) > 1:
        np.multiply(twice - 1, z, out=odd[1])
    for values in (even, odd):
        for n in range(2, len(values)):
            np.multiply(twice, values[n - 1], out=values[n])
            values[n] -= values[n - 2]
    return even, odd


def even_polynomial(coefficients: Array, square: Array, x: Array, out: Array) -> Array:
    """Values of an even or odd polynomial in x, given x^2, by half the steps of Horner's rule."""
    odd = bool(coefficients[1::2].any())
    halved = coefficients[1::2] if odd else coefficients[::2]
    if len(halved) == 1:
        np.multiply(x if odd else 1.0, halved[0], out=out)
        return out
    np.multiply(square, halved[-1], out=out)
    for coefficient in halved[-2:0:-1]:
        out += coefficient
        out *= square
    if halved[0]:
        out += halved[0]
    if odd:
        out *= x
    return out
