"""Doubly centred matrices and their factors, against the definitions and full enumeration."""

from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bahsic.criteria.hsic import hsic_unbiased
from bahsic.criteria.weights import Matrix
from bahsic.inference.centred import (
    CentredMatrices,
    diagonal_products,
    factored,
    for_permutations,
    from_factors,
    from_matrix,
    from_vectors,
    permutation_moments,
    permuted_products,
    products,
    unbiased,
    uncertainty,
)
from bahsic.inference.factors import gaussian_factors, pivoted_factors
from bahsic.kernels import Gaussian


def gaussian_matrix(m, d=1, seed=0, gamma=0.5):
    return Gaussian(gamma)(np.random.default_rng(seed).normal(size=(m, d)))


def doubly_centred(K):
    H = np.eye(len(K)) - 1 / len(K)
    return H @ K @ H


def random_permutations(m, count, seed=0):
    rng = np.random.default_rng(seed)
    return np.array([rng.permutation(m) for _ in range(count)], dtype=np.int32)


def permuted(L, permutation):
    return L[np.ix_(permutation, permutation)]


def test_a_matrix_is_doubly_centred():
    K = gaussian_matrix(30)
    A, expected = from_matrix(Matrix(K)), doubly_centred(K)
    assert_allclose(np.ldexp(A.matrix, A.exponent), expected, atol=1e-15)
    assert_allclose(np.ldexp(A.diagonals[0], A.exponent), np.diag(expected), atol=1e-15)
    assert_allclose(np.ldexp(A.squares[0], 2 * A.exponent), np.square(expected).sum())


def test_vectors_stand_for_their_inner_products():
    V = np.random.default_rng(0).normal(size=(20, 3))
    A = from_vectors(V)
    assert_allclose(np.ldexp(A.factors[0].T @ A.factors[0], A.exponent), doubly_centred(V @ V.T), atol=1e-14)
    assert_allclose(np.ldexp(A.squares[0], 2 * A.exponent), np.square(doubly_centred(V @ V.T)).sum())


@pytest.mark.parametrize("form", ["both factors", "matrix and factors", "factors and matrix", "both matrices"])
def test_products_of_permuted_matrices_in_all_forms(form):
    m = 60
    K, L = gaussian_matrix(m, seed=1), gaussian_matrix(m, seed=2)
    A, B = from_matrix(Matrix(K)), from_matrix(Matrix(L))
    if form in ("both factors", "factors and matrix"):
        A = from_factors(*pivoted_factors(np.diag(K)[None].copy(), lambda pivots: K[pivots], m))
    if form in ("both factors", "matrix and factors"):
        B = from_factors(*pivoted_factors(np.diag(L)[None].copy(), lambda pivots: L[pivots], m))
    shuffles = random_permutations(m, 7)
    expected = [np.vdot(doubly_centred(K), permuted(doubly_centred(L), p)) for p in shuffles]
    found = np.ldexp(permuted_products(A, B, shuffles), A.exponent + B.exponent)
    assert found.shape == (7, 1)
    assert_allclose(found[:, 0], expected, rtol=1e-11)
    assert_allclose(np.ldexp(products(A, B), A.exponent + B.exponent), np.vdot(doubly_centred(K), doubly_centred(L)))


def test_the_unbiased_estimate_follows_from_doubly_centred_matrices():
    K, L = gaussian_matrix(25, seed=1), gaussian_matrix(25, seed=2)
    A, B = from_matrix(Matrix(K)), from_matrix(Matrix(L))
    shuffles = random_permutations(25, 5)
    found = unbiased(A, B, permuted_products(A, B, shuffles), diagonal_products(A, B, shuffles))
    assert_allclose(found[:, 0], [hsic_unbiased(K, permuted(L, p)) for p in shuffles], atol=1e-16)


@pytest.mark.parametrize("m", [4, 5, 6])
def test_moments_are_those_of_all_permutations(m):
    K, L = gaussian_matrix(m, d=2, seed=1), gaussian_matrix(m, seed=2, gamma=2.0)
    values = [np.vdot(doubly_centred(K), permuted(doubly_centred(L), np.array(p))) for p in permutations(range(m))]
    A, B = from_matrix(Matrix(K)), from_matrix(Matrix(L))
    mean, variance = permutation_moments(A, B)
    exponent = A.exponent + B.exponent
    assert_allclose(np.ldexp(mean, exponent), [np.mean(values)], rtol=1e-13)
    assert_allclose(np.ldexp(variance, 2 * exponent), [np.var(values)], rtol=1e-12)


def test_factors_of_several_features_at_once():
    rng = np.random.default_rng(0)
    XT = np.array([rng.normal(size=50), rng.integers(0, 3, 50), rng.standard_t(1, 50), np.zeros(50)])
    gammas = np.array([0.5, 1.0, 3.0, 0.5])
    factors, left = gaussian_factors(XT, gammas)
    for x, gamma, F, missing in zip(XT, gammas, factors, left, strict=True):
        error = Gaussian(gamma)(x) - F.T @ F
        assert np.trace(error) == pytest.approx(missing, abs=1e-12)
        assert np.linalg.norm(error) <= missing + 1e-12
    assert left.max() <= 50 * 1e-13
    ranks = (np.abs(factors).max(axis=2) > 0).sum(axis=1)
    assert ranks[1] == 3
    assert ranks[3] == 1


def test_the_rank_is_that_of_smooth_kernels():
    factors, _ = gaussian_factors(np.random.default_rng(0).normal(size=(1, 2000)), np.array([0.5]))
    assert factors.shape[1] < 30


def test_factors_replace_a_matrix_only_where_they_are_as_good():
    smooth = from_matrix(Matrix(gaussian_matrix(200)))
    rough = from_matrix(Matrix(gaussian_matrix(200, d=50, gamma=0.01)))
    indefinite = from_matrix(Matrix(-gaussian_matrix(200)))
    found = factored(smooth)
    assert found.factors.shape[1] < 30
    assert found.errors[0] <= 1e-10 * np.sqrt(smooth.squares[0])
    assert_allclose(found.factors[0].T @ found.factors[0], smooth.matrix, atol=1e-11)
    assert factored(rough) is None
    assert factored(indefinite) is None


def test_the_cheapest_form_is_taken():
    def form(side: CentredMatrices) -> str:
        return "matrix" if side.factors is None else "factors"

    smooth = from_matrix(Matrix(gaussian_matrix(200)))
    rough = from_matrix(Matrix(gaussian_matrix(200, d=50, gamma=0.01)))
    classes = from_vectors(np.repeat([[-1.0], [1.0]], 100, axis=0))
    forms = [tuple(map(form, for_permutations(*pair))) for pair in [(smooth, smooth), (rough, classes), (rough, rough)]]
    assert forms == [("factors", "factors"), ("matrix", "factors"), ("matrix", "matrix")]


def test_the_uncertainty_covers_what_factors_miss():
    m = 100
    K, L = gaussian_matrix(m, seed=1), gaussian_matrix(m, seed=2)
    A = from_factors(*pivoted_factors(np.ones((1, m)), lambda pivots: K[pivots], 6))  # cut off long before the end
    B = from_matrix(Matrix(L))
    shuffles = random_permutations(m, 20)
    found = unbiased(A, B, permuted_products(A, B, shuffles), diagonal_products(A, B, shuffles))[:, 0]
    errors = np.abs(found - [hsic_unbiased(K, permuted(L, p)) for p in shuffles])
    assert 1e-8 < errors.max() <= uncertainty(A, B)[0]
