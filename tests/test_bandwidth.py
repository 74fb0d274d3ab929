from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose

import bahsic
import oracle
from bahsic.kernels import Gaussian, InverseDistance, Laplacian, Linear, label_kernel
from pairwise import pairwise

hsic = partial(bahsic.hsic, standardize=False)  # oracles take x as it is

SCALED = [Gaussian, Laplacian, InverseDistance]
RNG = np.random.default_rng(3)
X = RNG.normal(size=(9, 2))
Y = RNG.normal(size=9) + X[:, 0]


def resolved_gamma(kernel, X, **given):
    return kernel.resolved(X, **given).gamma


@pairwise(kernel=SCALED, shape=[(8, 2), (9, 12)], change=[(1, 0), (1e8, 0), (1e-8, 0), (1, 1e6), (1e120, 0)])
def test_median_by_definition(kernel, shape, change):
    m, features = shape
    factor, offset = change
    X = np.random.default_rng(m).normal(size=(m, features)) * factor + offset
    power = 1 if kernel is Laplacian else 2
    expected = float(oracle.median_gamma(X.tolist(), power))
    assert_allclose(resolved_gamma(kernel(gamma="median"), X), expected, rtol=1e-13)


@pytest.mark.parametrize("features", [1, 20])
def test_a_zero_median_gives_way_to_that_of_the_other_distances(features):
    X = np.zeros((10, features))
    X[0], X[1] = 0.1, 0.3
    expected = float(oracle.median_gamma(X.tolist()))
    assert_allclose(resolved_gamma(Gaussian("median"), X), expected, rtol=1e-13)
    assert_allclose(resolved_gamma(Gaussian("median"), X, sample_weight=np.ones(10)), expected, rtol=1e-13)


@pytest.mark.parametrize("kernel", SCALED)
@pytest.mark.parametrize("features", [1, 20])
def test_equal_samples_have_gamma_one(kernel, features):
    X = np.full((5, features), 0.1)
    assert resolved_gamma(kernel(gamma="median"), X) == 1.0
    assert resolved_gamma(kernel(gamma="median"), X, sample_weight=np.arange(5)) == 1.0


def test_small_distances_beside_a_large_one_are_not_lost():
    X = RNG.normal(size=(30, 20)) * 1e-9
    X[0] = 1e3
    assert_allclose(resolved_gamma(Gaussian("median"), X), float(oracle.median_gamma(X.tolist())), rtol=1e-12)


@pytest.mark.parametrize("kind", ["distinct", "ties", "one sample weighs most", "fractions"])
def test_weighted_median_of_many_pairs_is_exact(kind):
    """By definition: the middle of all distances, sorted, each as often as the product of its weights."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, 9, (300, 1)) / 4.0 if kind == "ties" else rng.normal(size=(300, 2))
    weights = rng.random(300) + 0.5 if kind == "fractions" else rng.integers(0, 4, 300).astype(float)
    if kind == "one sample weighs most":
        weights[7] = 200
    i, j = np.triu_indices(300, k=1)
    copies = np.maximum(weights * (weights - 1) / 2, 0).sum()  # pairs of copies of one sample
    distances = np.append(np.linalg.norm(X[i] - X[j], axis=1), 0.0)
    counts = np.append(weights[i] * weights[j], copies)
    order = np.argsort(distances)
    cumulative = np.cumsum(counts[order])
    middle = [distances[order][np.searchsorted(cumulative, cumulative[-1] / 2, side)] for side in ("left", "right")]
    expected = 1 / (2 * np.mean(middle) ** 2)
    assert_allclose(resolved_gamma(Gaussian("median"), X, sample_weight=weights), expected, rtol=1e-12)


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_a_gamma_out_of_range_is_an_error(scale):
    with pytest.raises(ValueError, match=r"gamma is .*rescale X"):
        Gaussian("median")(np.array([1.0, 2.0, 4.0]) * scale)


def test_a_function_is_a_rule():
    assert resolved_gamma(Gaussian(lambda X: X.shape[1] + 1), X) == 3.0
    assert resolved_gamma(Gaussian(len), X, sample_weight=[0, 0, 1, 1, 1, 1, 1, 1, 1]) == 7.0
    for value in (0, -1.0, np.nan, "a", None):
        with pytest.raises(ValueError, match=f"the value of the gamma rule is {value!r}; accepted: a positive"):
            Gaussian(lambda _: value)(X)  # noqa: B023 (called at once)


def test_rules_on_two_sets_have_to_be_resolved_first():
    for rule in ("median", "optimise", len):
        with pytest.raises(ValueError, match=r"call resolved\(X\) first"):
            Gaussian(rule)(X, X[:2])
    assert Gaussian("dimension")(X, X[:2]).shape == (9, 2)


@pytest.mark.parametrize(
    "kernel", [Gaussian("optimise"), Gaussian("optimise") + Linear(), Linear() * Laplacian("optimise")]
)
def test_optimise_needs_labels_and_to_be_alone(kernel):
    with pytest.raises(ValueError, match="gamma is 'optimise', which needs labels"):
        kernel(X)
    if not isinstance(kernel, Gaussian):
        with pytest.raises(ValueError, match=r"needs labels: .*not part of a sum"):
            kernel.resolved(X, W=np.eye(9))


@pytest.mark.parametrize("kernel", SCALED)
def test_optimise_is_the_best_of_the_grid(kernel):
    W = bahsic.hsic_weights(label_kernel(Y).gram())
    median = resolved_gamma(kernel(gamma="median"), X)
    scores = {median * 2.0**k: np.sum(kernel(gamma=median * 2.0**k)(X) * W) for k in range(-8, 9)}
    found = resolved_gamma(kernel(gamma="optimise"), X, W=W)
    assert_allclose(hsic(X, Y, kernel(gamma="optimise")), max(scores.values()), rtol=1e-12)
    assert resolved_gamma(kernel(gamma="optimise"), X, W=np.zeros((9, 9))) == median / 256  # the smallest of equals
    assert found == max(scores, key=scores.get)
    assert median / 256 < found < median * 256  # an interior maximum, or the test shows little


def test_median_of_many_samples():
    m = 17_000
    x = np.random.default_rng(0).permutation(m) / m
    # |x - x'| is at most t with probability 1 - (1 - t)^2
    assert resolved_gamma(Laplacian("median"), x) == pytest.approx(1 / (2 - 2**0.5), rel=1e-3)
    assert resolved_gamma(Gaussian("median"), x > 0.3) == 0.5
    assert resolved_gamma(Gaussian("median"), np.where(x > 0.5, 7.0, 7.0)) == 1.0
    assert resolved_gamma(Gaussian("median"), np.where(x == 0, 3.0, 0.0)) == pytest.approx(1 / 18)
    weights = np.full(m, 2.0)
    assert resolved_gamma(Laplacian("median"), x, sample_weight=weights) == pytest.approx(1 / (2 - 2**0.5), rel=0.05)
    assert resolved_gamma(Laplacian("median"), np.column_stack([x, 0 * x])) == pytest.approx(1.7, rel=0.05)
