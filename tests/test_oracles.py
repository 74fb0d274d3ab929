"""Values that are known exactly, and the oracle against itself."""

from fractions import Fraction
from functools import partial
from itertools import combinations, product

import numpy as np
import pytest
from numpy.testing import assert_allclose

import bahsic
import oracle
from bahsic import hsic_biased, hsic_unbiased
from bahsic.kernels import Gaussian, Linear
from pairwise import covering

hsic = partial(bahsic.hsic, standardize=False)  # oracles take x as it is

DISTANCES = [[[abs(a - b) for b in values] for a in values] for values in ([1, 2, 3, 4, 5, 6], [1, 7, 5, 5, 6, 2])]


def test_distance_matrices_give_minus_eight_ninths():
    assert oracle.unbiased(*DISTANCES) == Fraction(-8, 9)
    assert_allclose(hsic_unbiased(*DISTANCES), -8 / 9, rtol=1e-14)
    K, L = np.array(DISTANCES)  # e_uhsic, with m = 6
    terms = int((K * L).sum()), Fraction(int(K.sum() * L.sum()), 5 * 4), Fraction(2 * int((K @ L).sum()), 4)
    assert (terms[0] + terms[1] - terms[2]) / (6 * 3) == Fraction(-8, 9)


def test_the_oracle_does_not_depend_on_the_symmetry_of_h():
    K, L = ([row[:5] for row in matrix[:5]] for matrix in DISTANCES)
    assert oracle.unbiased(K, L) == oracle.unbiased_over_ordered_quadruples(K, L)


POINTS = {(0, 0): Fraction(1, 2), (1, 1): Fraction(1, 3), (1, 0): Fraction(1, 6)}


def expectation(estimate):
    total = Fraction(0)
    for sample in product(POINTS, repeat=4):
        probability = Fraction(1)
        for point in sample:
            probability *= POINTS[point]
        K, L = (oracle.gram(oracle.delta, [[point[side]] for point in sample]) for side in (0, 1))
        total += probability * oracle.exact(estimate(K, L))
    return total


def test_the_unbiased_estimate_is_unbiased_and_the_biased_one_is_not():
    assert expectation(oracle.unbiased) == Fraction(1, 9)
    found = expectation(lambda K, L: hsic_unbiased(np.array(K, dtype=float), np.array(L, dtype=float)))
    assert_allclose(float(found), 1 / 9, rtol=1e-14)
    assert expectation(oracle.biased) != Fraction(1, 9)


@pytest.mark.parametrize("offset", [0, 1e6])
def test_linear_kernels_give_the_squared_covariance(offset):
    x, y = np.random.default_rng(0).normal(size=(2, 20))
    x, y = x + offset, x + y
    expected = np.cov(x, y)[0, 1] ** 2
    assert_allclose(hsic(x, y, "linear", "linear", statistic="biased"), expected, rtol=1e-9 if offset else 1e-12)


@pytest.mark.parametrize("kernel", [Gaussian(0.7), Linear()])
def test_binary_labels_give_the_maximum_mean_discrepancy(kernel):
    x, y = np.random.default_rng(0).normal(size=(10, 3)), np.array(list("nynnyynnnn"))
    K = kernel(x)
    blocks = {(a, b): K[y == a][:, y == b].mean() for a, b in product("ny", repeat=2)}
    discrepancy = blocks["n", "n"] + blocks["y", "y"] - 2 * blocks["n", "y"]
    assert_allclose(9**2 * hsic(x, y, kernel, statistic="biased"), discrepancy, rtol=1e-12)


def test_biased_by_the_trace():
    K, L = np.array(DISTANCES, dtype=float)
    H = np.eye(6) - 1 / 6
    assert_allclose(hsic_biased(K, L), np.trace(K @ H @ L @ H) / 25, rtol=1e-13)
    assert_allclose(float(oracle.biased(*DISTANCES)), np.trace(K @ H @ L @ H) / 25, rtol=1e-13)


def test_few_combinations_have_all_pairs():
    rows = covering([4, 3, 2, 2])
    assert len(rows) == 12  # of 48
    for (i, m), (j, n) in combinations(enumerate([4, 3, 2, 2]), 2):
        assert {(row[i], row[j]) for row in rows} == set(product(range(m), range(n)))
