"""The artificial data have the structure that their documentation promises."""

import numpy as np
import pytest

from bahsic.datasets import (
    make_multiclass,
    make_nonlinear_regression,
    make_ring,
    make_ring_xor,
    make_ring_xor_sum,
    make_uniform_xor,
    make_xor,
)

FEWEST = {make_xor: 2, make_multiclass: 2, make_nonlinear_regression: 2}
FEWEST |= {make_ring: 2, make_uniform_xor: 2, make_ring_xor: 4, make_ring_xor_sum: 6}
every = pytest.mark.parametrize("make", FEWEST)


@every
def test_shapes_types_support_and_seed(make):
    X, y, support = make(30, 7, random_state=1)
    assert (X.shape, y.shape, support.shape) == ((30, 7), (30,), (7,))
    assert (X.dtype, support.dtype) == (np.float64, np.bool_)
    assert y.dtype == (np.float64 if make is make_nonlinear_regression else np.int64)
    assert support.tolist() == [j < FEWEST[make] for j in range(7)]
    assert make()[0].shape == ((200, 22) if "noise" in make.__kwdefaults__ else (500, 16))
    assert np.array_equal(make(30, 7, random_state=np.random.RandomState(1))[0], X)
    assert not np.array_equal(make(30, 7, random_state=2)[0], X)
    generated, same = (make(30, 7, random_state=np.random.default_rng(5))[0] for _ in range(2))
    assert np.array_equal(generated, same)


@every
def test_relevant_features_are_needed(make):
    with pytest.raises(ValueError, match=f"n_features is {FEWEST[make] - 1}; accepted: an int of at least"):
        make(10, FEWEST[make] - 1)
    assert make(10, FEWEST[make])[0].shape == (10, FEWEST[make])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_samples": 3}, "n_samples is 3; accepted: an int of at least 4"),
        ({"n_samples": 10.0}, "n_samples is 10.0; accepted: an int of at least 4"),
        ({"n_features": True}, "n_features is True; accepted: an int of at least 2"),
        ({"noise": -0.1}, "noise is -0.1; accepted: a finite number of at least 0"),
        ({"noise": float("nan")}, "noise is nan; accepted"),
        ({"noise": float("inf")}, "noise is inf; accepted"),
        ({"noise": "0.3"}, "noise is '0.3'; accepted"),
        ({"noise": True}, "noise is True; accepted"),
        ({"random_state": "seed"}, "random_state is 'seed'; accepted: an int"),
        ({"random_state": -1}, "random_state is -1; accepted"),
    ],
)
@pytest.mark.parametrize("make", [make_xor, make_multiclass])
def test_bad_parameters(make, parameters, message):
    with pytest.raises(ValueError, match=message):
        make(**parameters)


# --- the paper's problems ---


@pytest.mark.parametrize("n_samples", [4, 5, 6, 7, 101])
def test_samples_of_xor_are_centres_plus_noise(n_samples):
    X, y, _ = make_xor(n_samples, 2, noise=0.0, random_state=0)
    clusters, counts = np.unique(X, axis=0, return_counts=True)
    assert clusters.tolist() == [[-1, -1], [-1, 1], [1, -1], [1, 1]]
    assert np.array_equal(y, X[:, 0] == X[:, 1])
    assert np.ptp(counts) <= 1
    assert np.ptp(np.bincount(y)) <= 1


def test_xor_is_shuffled_and_no_feature_alone_tells():
    X, y, _ = make_xor(20_000, 4, noise=0.25, random_state=3)
    assert np.mean(np.diff(y) != 0) == pytest.approx(0.5, abs=0.02)
    relevant = X[:, :2] - np.sign(X[:, :2])  # four standard deviations from the wrong sign
    assert relevant.std(axis=0) == pytest.approx(0.25, abs=0.01)
    assert X[:, 2:].std(axis=0) == pytest.approx(1.0, abs=0.03)
    assert X.mean(axis=0) == pytest.approx(0.0, abs=0.03)
    assert [np.corrcoef(column, y)[0, 1] for column in X.T] == pytest.approx([0] * 4, abs=0.03)


def test_three_classes_are_collinear_and_the_fourth_is_not():
    X, y, _ = make_multiclass(42, 3, noise=0.0, random_state=0)
    assert np.bincount(y).tolist() == [11, 11, 10, 10]
    (centres,) = np.array([np.unique(X[y == k, :2], axis=0) for k in range(4)]).transpose(1, 0, 2)
    assert np.linalg.matrix_rank(centres[1:3] - centres[0]) == 1
    assert np.linalg.matrix_rank(centres[1:] - centres[0]) == 2
    assert centres[:, 1].tolist() == [1, 0, -1, 1]  # which hardly correlate with the numbers of the classes
    X, y, _ = make_multiclass(40_000, 3, noise=0.5, random_state=0)
    assert X[y == 1][:, :2].std(axis=0) == pytest.approx(0.5, abs=0.02)


def test_regression_is_its_function_plus_noise():
    X, y, _ = make_nonlinear_regression(5, 2, noise=0.0, random_state=0)
    assert y == pytest.approx([x1 * np.exp(-(x1**2) - x2**2) for x1, x2 in X])
    # For standard normal features E[x1 y] = 1/9, Var(y) = 1/25 + noise^2, and x2 is uncorrelated with y.
    X, y, _ = make_nonlinear_regression(200_000, 3, noise=0.2, random_state=0)
    assert (X[:, :2] * y[:, None]).mean(axis=0) == pytest.approx([1 / 9, 0], abs=0.004)
    assert y.var() == pytest.approx(1 / 25 + 0.04, abs=0.002)


# --- published problems ---


def _in_ring(x, width):
    return abs(((x[0] / 2) ** 2 + (x[1] / 2) ** 2) ** 0.5 - 0.35) <= width


def _in_corner(x, corner):
    return -(x[0] / 2) * (x[1] / 2) >= corner


PUBLISHED = {
    make_ring: lambda x: _in_ring(x, 0.1151),
    make_uniform_xor: lambda x: _in_corner(x, 0.0),
    make_ring_xor: lambda x: _in_ring(x, 0.0704) or _in_corner(x[2:], 0.0337),
}


@pytest.mark.parametrize("make", PUBLISHED)
def test_published_problems_follow_their_definitions_sample_by_sample(make):
    X, y, _ = make(300, 9, random_state=3)
    assert 0.99 < np.abs(X).max() <= 1
    assert y.tolist() == [int(PUBLISHED[make](x)) for x in X]
    assert 0.4 < y.mean() < 0.6


def test_the_sum_adds_samples_of_class_one_where_it_is_large():
    X, y, _ = make_ring_xor_sum(20_000, 7, random_state=0)
    others = np.array([_in_ring(x, 0.0479) or _in_corner(x[2:], 0.0598) for x in X])
    assert y[others].all()
    total = (X[:, 4] + X[:, 5]) / 2 + 1
    assert y[~others & (total < 0.6)].mean() == 0  # four standard deviations of the noise
    assert y[~others & (total > 1.9)].mean() > 0.97
    # the boundary is where half of the samples are of class one
    assert y[~others & (abs(total - 1.4074) < 0.02)].mean() == pytest.approx(0.5, abs=0.1)
    assert y.mean() == pytest.approx(0.5, abs=0.02)
