"""The separable expansion of exp(a (x - y)^2): its error is never more than it says."""

import numpy as np
import pytest
from numpy.polynomial import chebyshev
from numpy.polynomial.polynomial import polyval

from bahsic.engine.gaussian.expansion import (
    MAX_DEGREE,
    MAX_EXPONENT,
    chebyshev_values,
    even_polynomial,
    expansion,
    interpolation_remainders,
    largest_radius,
    monomial_matrix,
)

EXACT = np.longdouble

# a and radius: from nearly constant to the largest exponents that are expanded.
LEAVING = [(1e-12, 3.0), (1e-4, 4.5), (0.01, 4.5), (0.1, 3.0), (0.5, 2.0), (2.5, 1.0), (1e-7, 5000.0), (1e9, 5e-5)]
ENTERING = [(-a, radius) for a, radius in LEAVING] + [(-20.0, 1.0), (-0.2, 10.0)]
TOLERANCES = [1e-2, 1e-6, 1e-16]


def points(radius, n=81):
    """A fine grid with the ends, the middle and points of no particular place."""
    rng = np.random.default_rng(0)
    return radius * np.concatenate([np.linspace(-1, 1, n), np.cos(np.linspace(0, np.pi, 20)), rng.uniform(-1, 1, 20)])


def exact_change(a, x):
    x = x.astype(EXACT)
    return np.expm1(EXACT(a) * (x[:, None] - x) ** 2)


def edges(terms, x):
    return chebyshev.chebval(x / terms.radius, terms.edge)


def functions(terms, x):
    return chebyshev.chebval(x / terms.radius, terms.functions.T)


@pytest.mark.parametrize("tolerance", TOLERANCES)
@pytest.mark.parametrize(("a", "radius"), LEAVING + ENTERING)
def test_error_after_some_or_all_terms_is_at_most_the_remainder_and_the_dropped_ones(a, radius, tolerance):
    terms, x = expansion(a, radius, tolerance), points(radius)
    u, phi = edges(terms, x), functions(terms, x)
    change = exact_change(a, x) - u[:, None] - u
    size = np.abs(terms.eigenvalues) * np.abs(phi).max(axis=1) ** 2
    for n_terms in range(len(terms.eigenvalues) + 1):
        expanded = (phi[:n_terms] * terms.eigenvalues[:n_terms, None]).T @ phi[:n_terms]
        assert np.abs(change - expanded).max() <= terms.remainder + size[n_terms:].sum()


@pytest.mark.parametrize(("a", "radius"), [(1e-4, 4.5), (0.01, 4.5), (0.1, 3.0), (-0.1, 3.0), (-0.01, 4.5)])
def test_remainder_is_as_small_as_asked_for(a, radius):
    for tolerance in TOLERANCES[:2]:
        terms = expansion(a, radius, tolerance)
        assert terms.remainder <= 4 * tolerance * 2 * abs(a) * radius**2


@pytest.mark.parametrize(("a", "radius"), LEAVING + ENTERING)
def test_interpolation_error_is_within_its_bound(a, radius):
    """In both variables at once, of g - 1 - u - u' as it is expanded."""
    bounds, x = interpolation_remainders(a, radius), points(radius)
    edge = np.expm1(a * x**2)
    wanted = np.expm1(a * (x[:, None] - x) ** 2) - edge[:, None] - edge
    for degree in range(2, MAX_DEGREE + 1, 3):
        nodes = radius * np.cos(np.pi * (np.arange(degree + 1) + 0.5) / (degree + 1))
        node_edge = np.expm1(a * nodes**2)
        values = np.expm1(a * (nodes[:, None] - nodes) ** 2) - node_edge[:, None] - node_edge
        basis = chebyshev.chebvander(nodes / radius, degree)
        coefficients = np.linalg.solve(basis, np.linalg.solve(basis, values).T).T
        at = chebyshev.chebvander(x / radius, degree)
        rounding = 1e-13 * np.abs(wanted).max()
        assert np.abs(at @ coefficients @ at.T - wanted).max() <= bounds[degree] + rounding
    assert bounds.shape == (MAX_DEGREE + 1,)


def test_bounds_fall_with_the_degree_to_rounding_where_the_exponent_is_small():
    bounds = interpolation_remainders(0.001, 4.0)
    assert bounds[20] < 1e-16 < bounds[2] < 1


@pytest.mark.parametrize(("a", "radius"), LEAVING + ENTERING)
def test_edge_bound_holds(a, radius):
    terms, x = expansion(a, radius, 1e-16), points(radius)
    assert (np.abs(np.expm1(a * x**2)) <= terms.edge_bound * (x / radius) ** 2 * (1 + 1e-12)).all()


@pytest.mark.parametrize(("a", "radius"), [(0.01, 4.5), (0.1, 3.0), (-0.1, 3.0)])
def test_powers_are_the_same_polynomials(a, radius):
    terms, x = expansion(a, radius, 1e-8), points(radius)
    # The last terms are known as well as their small eigenvalues, so they count by those.
    expected, relative = functions(terms, x), np.abs(terms.eigenvalues / terms.eigenvalues[0])[:, None]
    assert np.abs(relative * (polyval(x / radius, terms.monomials.T) - expected)).max() <= 1e-13
    assert np.allclose(polyval(x / radius, terms.edge_monomials), edges(terms, x), rtol=0, atol=1e-13)
    odd, even = terms.monomials[:, 1::2].any(axis=1), terms.monomials[:, ::2].any(axis=1)
    assert (odd != even).all()
    assert terms.degree == terms.functions.shape[1] - 1


def test_terms_come_by_magnitude_and_tails_sum_what_is_left():
    terms = expansion(0.02, 4.5, 1e-12)
    assert (np.diff(np.abs(terms.eigenvalues)) <= 0).all()
    assert terms.tails[-1] == 0
    assert terms.tails[1] == pytest.approx(np.abs(terms.eigenvalues[1:]).sum(), rel=1e-14)
    # The leading term of exp(a (x - y)^2) - 1 - a x^2 - a y^2 is -2 a x y.
    assert terms.eigenvalues[0] < 0
    x = points(4.5)
    slope = functions(terms, x)[0] / x.clip(1e-3)
    assert slope[x > 1e-2].std() < 0.3 * np.abs(slope[x > 1e-2]).mean()


def test_chebyshev_values_are_cosines():
    angles = np.linspace(0, np.pi, 7)
    for degree in (2, 3, 5, 6):
        even, odd = chebyshev_values(np.cos(angles), degree)
        assert np.allclose(even, np.cos(np.outer(np.arange(0, degree + 1, 2), angles)), rtol=0, atol=1e-14)
        assert np.allclose(odd, np.cos(np.outer(np.arange(1, degree + 1, 2), angles)), rtol=0, atol=1e-14)


@pytest.mark.parametrize(("a", "radius"), [LEAVING[0], ENTERING[0]])
def test_values_are_those_of_the_coefficients_and_each_function_is_even_or_odd(a, radius):
    terms, z = expansion(a, radius, 1e-10), np.linspace(-1, 1, 9)
    phi, even = terms.values(z)
    assert np.allclose(phi[terms.places], chebyshev.chebval(z, terms.functions.T), rtol=0, atol=1e-13)
    sign = np.where(terms.odd, -1.0, 1.0)[:, None]
    assert np.array_equal(phi[terms.places][:, ::-1], sign * phi[terms.places])
    assert np.allclose(even[1], 2 * z**2 - 1, rtol=0, atol=1e-15)
    assert terms.odd.any()
    assert not terms.odd.all()


def test_chebyshev_polynomials_in_powers():
    matrix = monomial_matrix(4)
    assert matrix.tolist() == [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [-1, 0, 2, 0, 0], [0, -3, 0, 4, 0], [1, 0, -8, 0, 8]]


@pytest.mark.parametrize(
    "coefficients", [[2.0, 0, 3.0, 0, -1.0], [0, 2.0, 0, 3.0], [0, 0, 5.0], [0, 4.0, 0], [3.0, 0], [1.0, 0, 2.0, 0]]
)
def test_even_and_odd_polynomials(coefficients):
    x = np.array([[-1.5, 0.0, 2.0], [0.5, 1.0, -3.0]])
    out = np.full_like(x, np.nan)
    found = even_polynomial(np.array(coefficients, dtype=float), x**2, x, out=out)
    assert found is out
    assert np.allclose(out, polyval(x, coefficients), rtol=1e-15)


def test_long_or_unsafe_expansions_are_declined():
    assert 4 * largest_radius(1.0) ** 2 == pytest.approx(MAX_EXPONENT)
    assert 4 * largest_radius(-1.0) ** 2 == pytest.approx(8 * MAX_EXPONENT)
    assert largest_radius(0.0) == np.inf
