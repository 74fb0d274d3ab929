import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import oracle
from bahsic.kernels import (
    Delta,
    Function,
    Gaussian,
    InverseDistance,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Product,
    Sum,
    kernel_from_name,
)
from contracts import KernelContract, PointwiseContract, VectorKernelContract
from pairwise import pairwise


def squared_distances(X, gamma=np.inf):
    """As exact as needed for a Gaussian kernel of this gamma; infinite: by direct differences."""
    return (InverseDistance() if np.isinf(gamma) else Gaussian(gamma)).total(X)


VECTOR_KERNELS = [
    (Gaussian(0.3), oracle.gaussian, {"gamma": 0.3}),
    (Laplacian(0.3), oracle.laplacian, {"gamma": 0.3}),
    (InverseDistance(2.0, gamma=0.3), oracle.inverse_distance, {"gamma": 0.3, "offset": 2}),
    (Linear(), oracle.linear, {}),
    (Polynomial(3, 0.5), oracle.polynomial, {"degree": 3, "coef0": 0.5}),
    (Delta(), oracle.delta, {}),
]


class TestGaussian(PointwiseContract):
    kernel = Gaussian(0.3)


class TestGaussianMedian(PointwiseContract):
    kernel = Gaussian("median")


class TestLaplacian(PointwiseContract):
    kernel = Laplacian()


class TestInverseDistance(PointwiseContract):
    kernel = InverseDistance(offset=0.5, gamma="median")


class TestLinear(PointwiseContract):
    kernel = Linear()


class TestPolynomial(PointwiseContract):
    kernel = Polynomial(degree=3, coef0=0.5)


class TestPowerOfInnerProducts(PointwiseContract):
    kernel = Polynomial(degree=2, coef0=0.0)
    samples = np.random.default_rng(0).normal(size=(12, 3)) / 10  # inner products below one, which nothing is added to


class TestDelta(VectorKernelContract):
    kernel = Delta()
    samples = np.random.default_rng(0).integers(0, 2, size=(12, 3)).astype(float)


class TestDeltaOnStrings(KernelContract):
    kernel = Delta()
    samples = tuple("abcabcaabbcc")


class TestSum(VectorKernelContract):
    kernel = Gaussian("median") + Linear()

    def test_is_the_sum(self):
        expected = Gaussian("median")(self.samples) + Linear()(self.samples)
        assert_array_equal(self.kernel(self.samples), expected)


class TestProduct(VectorKernelContract):
    kernel = Gaussian(0.1) * (Laplacian() + Polynomial())

    def test_is_the_product(self):
        expected = Gaussian(0.1)(self.samples) * (Laplacian()(self.samples) + Polynomial()(self.samples))
        assert_allclose(self.kernel(self.samples), expected, rtol=1e-15)

    def test_parts_are_reached_by_name(self):
        kernel = Product(Gaussian(), Linear()).set_params(first__gamma=2.0)
        assert kernel == Product(Gaussian(2.0), Linear())


@pairwise(
    features=[2, 12],  # by differences, and by a matrix product
    formula=VECTOR_KERNELS,
    change=[(1, 0), (1e8, 0), (1e-8, 0), (1, 1e6)],
)
def test_values_by_definition(formula, features, change):
    kernel, by_definition, parameters = formula
    factor, offset = change
    X = np.random.default_rng(1).normal(size=(6, features)) * factor + offset
    X[4] = X[1]
    expected = np.array(oracle.gram(by_definition, X.tolist(), **parameters), dtype=float)
    assert_allclose(kernel(X), expected, rtol=1e-13, atol=1e-14)
    assert_allclose(kernel(X[:3], X[3:]), expected[:3, 3:], rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("scale", [1.0, 1e4, 1e8])
def test_close_points_far_out_keep_their_distance(scale):
    X = np.zeros((3, 20))
    X[0, 0], X[1, 0], X[2] = scale, scale + 1, -scale
    assert squared_distances(X, gamma=1.0)[0, 1] == 1.0
    assert Gaussian(1.0)(X)[0, 1] == np.exp(-1.0)
    X[1, 0], X[2] = scale + 1e-3, 1e6
    assert Gaussian(1e6)(X)[0, 1] == pytest.approx(np.exp(-(1e6 * (X[1, 0] - scale) ** 2)), rel=1e-9)


@pytest.mark.parametrize("kernel", [Gaussian(), Laplacian(), InverseDistance(), Gaussian(1e-300)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_huge_values_give_numbers(kernel, dtype):
    size = 1e200 if dtype == np.float64 else 1e38
    X = np.array([[1.0], [2.0], [2.0], [-3.0]], dtype=dtype) * dtype(size)
    K = kernel(X)
    assert np.isfinite(K).all()
    assert K[1, 2] == K[0, 0]
    assert K[0, 1] < 1e-30 or kernel.gamma == 1e-300
    assert np.isfinite(kernel.contribution(X[:, 0], X[:, 0])[1, 2])


def test_values_beyond_the_range_of_float32_or_float64():
    X = np.ones((3, 12), dtype=np.float32)
    X[0] = 1e25
    assert_array_equal(squared_distances(X, gamma=1e-60), [[0, np.inf, np.inf], [np.inf, 0, 0], [np.inf, 0, 0]])
    X = np.array([[1.7e308], [-1.7e308], [1.7e308]])
    assert_array_equal(squared_distances(X), [[0, np.inf, 0], [np.inf, 0, np.inf], [0, np.inf, 0]])
    assert_array_equal(Gaussian(1.0)(X), Delta()(X))
    X = np.array([[0.0], [0.0], [3e38]], dtype=np.float32)
    assert_array_equal(Gaussian(1e300)(X), [[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    assert np.isfinite(Gaussian(1e-300)(X)).all()


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(), Linear() + Gaussian(), Polynomial(degree=5)])
def test_overflowing_kernel_values_are_an_error(kernel):
    with pytest.raises(ValueError, match=r"kernel values exceed the range of float64; .*rescale"):
        kernel(np.array([1.0, -1.0]) * (1e70 if kernel == Polynomial(degree=5) else 1e200))


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Gaussian(0.0), "gamma is 0.0; accepted: a positive finite number"),
        (Gaussian(float("nan")), "gamma is nan;"),
        (Laplacian("medium"), "gamma is 'medium'; accepted: .*'median'"),
        (InverseDistance(offset=0), "offset is 0; accepted: a positive finite number"),
        (Polynomial(degree=0), "degree is 0; accepted: a positive integer"),
        (Polynomial(coef0=-1), "coef0 is -1; accepted: a finite number, not negative"),
        (Sum(Linear(), 3), "second is 3; accepted: a kernel"),
    ],
)
def test_bad_parameters(kernel, message):
    with pytest.raises(ValueError, match=message):
        kernel([1.0, 2.0])


def test_delta_compares_all_columns_and_types():
    assert_array_equal(Delta()([["a", "x"], ["a", "y"], ["a", "x"]]), [[1, 0, 1], [0, 1, 0], [1, 0, 1]])
    assert_array_equal(Delta()(["a", "b"], ["b", "c"]), [[0, 0], [1, 0]])
    assert_array_equal(Delta()([True, False], [1, 1]), [[1, 1], [0, 0]])
    assert_array_equal(Delta()([0.0, 1.0], [-0.0, 2.0]), [[1, 0], [0, 0]])


def test_precomputed_returns_the_matrix():
    K = np.array([[2e6, 1.0], [1.0 + 1e-3, 3.0]])  # symmetric up to rounding
    assert_array_equal(Precomputed()(K), K)
    assert_array_equal((Precomputed() + Precomputed())(K), 2 * np.array(K))
    assert_array_equal((Precomputed() * Precomputed())(K), np.square(K))  # the sum has left K as it is
    with pytest.raises(TypeError, match="by indexing"):
        Precomputed()(K, K)


@pytest.mark.parametrize(
    ("K", "error", "message"),
    [
        ([1.0, 2.0], ValueError, r"X has shape \(2,\); accepted: a square matrix"),
        ([[1.0, 2.0], [3.0, 1.0]], ValueError, "X is not symmetric: .* by up to 1"),
        ([[1.0, 1j], [-1j, 1.0]], TypeError, "X has dtype complex128"),
    ],
)
def test_precomputed_checks_the_matrix(K, error, message):
    with pytest.raises(error, match=message):
        Precomputed()(K)


def test_names():
    kernels = [Gaussian("dimension"), Laplacian("dimension"), Linear(), Polynomial(2, 1.0), Delta(), Precomputed()]
    names = ["gaussian", "laplacian", "linear", "polynomial", "delta", "precomputed", "inverse_distance"]
    kernels.append(InverseDistance(1.0, "dimension"))
    assert [kernel_from_name(name) for name in names] == kernels
    assert kernel_from_name(kernels[0]) is kernels[0]
    with pytest.raises(ValueError, match=r"kernel is 'lapacian', did you mean 'laplacian'.*'gaussian'.*'precomputed'"):
        kernel_from_name("lapacian")
    with pytest.raises(ValueError, match="kernel is 'zzz'; accepted"):
        kernel_from_name("zzz")
    with pytest.raises(TypeError, match=r"a class; call it: Gaussian\(\)"):
        kernel_from_name(Gaussian)
    with pytest.raises(TypeError, match="target_kernel is 3; accepted"):
        kernel_from_name(3, "target_kernel")


def test_functions_become_kernels():
    kernel = kernel_from_name(np.minimum.outer)
    assert kernel == Function(np.minimum.outer)
    assert_array_equal(kernel([1.0, 2.0], [3.0]), np.array([[1.0], [2.0]]))
    with pytest.raises(ValueError, match=r"returned shape \(2, 1\); accepted: \(2, 2\)"):
        Function(lambda a, b: np.ones(len(a)))([1.0, 2.0])
    with pytest.raises(ValueError, match="the value of the kernel function has 4 entries that are NaN"):
        Function(lambda a, b: np.full((len(a), len(b)), np.nan))([1.0, 2.0])


def test_functions_receive_samples_that_are_no_arrays_as_they_are():
    kernel = Function(lambda a, b: [[len(set(s) & set(t)) for t in b] for s in a])
    assert_array_equal(kernel([{1, 2}, {2}]), [[2, 1], [1, 1]])


# Samples: rows of numbers and labels, and how others are refused


def as_rows(X, argument):
    return Gaussian().rows(X, argument)


def as_labels(y, argument):
    return Delta().rows(y, argument)


@pytest.mark.parametrize("values", [[1, 2], (1.0, 2.0), np.array([1, 2], dtype=np.int8), [True, False]])
def test_numbers_become_a_column_of_float64(values):
    rows = as_rows(values, "x")
    assert rows.dtype == np.float64
    assert_array_equal(rows[:, 0], values)


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ([1.0, np.nan, np.inf], ValueError, r"x has 2 entries that are NaN or infinite, the first \(nan\) in row 1"),
        ([1.0, None], ValueError, "x has 1 entries that are NaN"),
        ([1j, 2.0], TypeError, "x has dtype complex128 .*accepted: real numbers"),
        (["1", "2"], TypeError, "x has dtype <U1 .first value .*'1'.*accepted: real numbers"),
        (
            np.array([[1.0, 2.0, "a"], ["b", "c", 3.0]], dtype=object),
            TypeError,
            r"^x has strings, the first \('a'\) in row 0, column 2; accepted: real numbers, such as a column of zeros",
        ),
        (np.array([1.0, {}], dtype=object), TypeError, "x has values that are not real numbers"),
        (np.array(["2020-01-01"], dtype="M8[D]"), TypeError, "x has dtype datetime64"),
        ([], ValueError, r"x has shape \(0,\); accepted: one or two dimensions, at least one"),
        (np.ones((3, 0)), ValueError, r"x has shape \(3, 0\)"),
        ([[1, 2], [3]], ValueError, "x is not a rectangular array"),
        (sparse.eye_array(3), TypeError, r"x is a sparse .*x.toarray\(\)"),
        (np.ma.masked_less([1.0, 2.0], 1.5), ValueError, "x has masked entries"),
    ],
)
def test_what_are_no_rows_of_numbers(values, error, message):
    with pytest.raises(error, match=message):
        as_rows(values, "x")


def test_labels_keep_their_type():
    assert as_labels([1, 2], "y").dtype.kind == "i"
    assert as_labels([True, False], "y").dtype.kind == "b"
    assert as_labels(np.array([True, False], dtype=object), "y").dtype.kind == "b"
    assert as_labels(np.array(["a", "b"]), "y").tolist() == [["a"], ["b"]]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames(library):
    frames = pytest.importorskip(library)
    frame = frames.table if library == "pyarrow" else frames.DataFrame
    assert_array_equal(as_rows(frame({"a": [1, 2], "b": [0.5, 1.5]}), "x"), [[1.0, 0.5], [2.0, 1.5]])
    with pytest.raises(ValueError, match=r"x has 1 .* in row 1, column 'age'; accepted"):
        as_rows(frame({"height": [1.0, 2.0], "age": [1.0, None]}), "x")
    with pytest.raises(TypeError, match=r"x has .* the first .*, column 'colour'; accepted"):
        as_rows(frame({"height": [1.0, 2.0], "colour": ["red", None]}), "x")
    if library == "polars":
        with pytest.raises(TypeError, match=r"x is of type LazyFrame; accepted: .*x.collect\(\)"):
            as_rows(frame({"age": [1.0]}).lazy(), "x")


def test_series_and_types_of_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2], "b": [0.5, 1.5]})
    assert_array_equal(as_rows(frame["a"], "x"), [[1.0], [2.0]])
    assert as_rows(frame.astype(np.float32), "x").dtype == np.float32
    for kind in (object, "category", "string"):
        colours = pandas.DataFrame({"height": [1.0, 2.0], "colour": pandas.Series(["red", None], dtype=kind)})
        with pytest.raises(TypeError, match=r"X has strings, the first \('red'\) in row 0, column 'colour'; accepted"):
            as_rows(colours, "X")
    for function in (as_rows, as_labels):
        assert_array_equal(function(pandas.Series([1, 2], dtype="Int64"), "y"), [[1], [2]])
        with pytest.raises(ValueError, match=r"y has 1 .* the first .*1"):
            function(pandas.Series([1, None], dtype="Int64"), "y")
    with pytest.raises(ValueError, match=r"X has 1 entries that are NaN .*\(nan\) in row 0, column 'age'; accepted"):
        as_rows(pandas.DataFrame({"height": [1.0, 2.0], "age": pandas.array([None, 3], dtype="Int64")}), "X")
    assert as_labels(pandas.Series(["a", "b"], dtype="category"), "y").tolist() == [["a"], ["b"]]
    assert as_labels(pandas.Series([True, False], dtype="boolean"), "y").dtype.kind == "b"
