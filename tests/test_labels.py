import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import oracle
from bahsic.kernels import Delta, Gaussian, Laplacian, Linear, Spectrum, label_kernel


def floats(matrix):
    return np.array(matrix, dtype=float)


BINARY = ["no", "yes", "yes", "no", "yes"]
CLASSES = ["b", "a", "c", "a", "c", "c"]


@pytest.mark.parametrize("y", [BINARY, [0, 1, 1, 0, 1], [False, True, True, False, True], [-1.0, 1.0, 1.0, -1.0, 1.0]])
def test_binary_labels(y):
    labels = label_kernel(y)
    assert labels.name == "binary"
    assert labels.kernel == Linear()
    assert_array_equal(labels.classes, sorted(set(y)))
    assert_allclose(labels.values, floats(oracle.binary_labels(y)), rtol=1e-15)
    assert_allclose(labels.gram(), floats(oracle.gram(oracle.linear, oracle.binary_labels(y))), rtol=1e-15)


def test_multiclass_labels():
    labels = label_kernel(CLASSES)
    assert labels.name == "multiclass"
    assert list(labels.classes) == ["a", "b", "c"]
    assert_allclose(labels.values, floats(oracle.multiclass_labels(CLASSES)), rtol=1e-15)
    assert_allclose(labels.gram(), floats(oracle.gram(oracle.linear, oracle.multiclass_labels(CLASSES))), rtol=1e-14)


def test_many_classes_give_no_warning():
    assert label_kernel(np.arange(50)).name == "multiclass"


@pytest.mark.parametrize("y", [[0.5, 1.5, 4.0, 2.25], [[0.5, 1.0], [1.5, 2.5], [4.0, 0.0], [2.25, 1.0]]])
def test_regression_labels(y):
    labels = label_kernel(y)
    rows = np.reshape(y, (4, -1)).tolist()
    assert labels.name == "regression"
    assert labels.classes is None
    assert_allclose(
        labels.gram(), floats(oracle.gram(oracle.gaussian, rows, gamma=oracle.median_gamma(rows))), rtol=1e-13
    )


@pytest.mark.parametrize("scale", [2.0**660, 2.0**-660])
def test_regression_at_any_scale(scale):
    y = np.array([0.5, 1.5, 4.0, 2.25])
    assert_array_equal(label_kernel(y * scale).gram(), label_kernel(y).gram())


def test_regression_on_a_constant():
    assert_array_equal(label_kernel([0.0, 0.0, 0.0], "regression").gram(), np.ones((3, 3)))


@pytest.mark.parametrize("y", [CLASSES, BINARY, [0.5, 1.5, 4.0, 2.25, 3.0]])
def test_weights_are_repetitions(y):
    weights = [2, 1, 0, 3, 1, 2][: len(y)]
    repeated = label_kernel(oracle.repeated(y, weights))
    weighted = label_kernel(y, sample_weight=weights)
    index = np.repeat(np.arange(len(y)), weights)
    assert weighted.name == repeated.name
    assert_allclose(weighted.gram()[np.ix_(index, index)], repeated.gram(), rtol=1e-13)


def test_an_absent_class_does_not_count():
    labels = label_kernel(["a", "b", "c"], "binary", sample_weight=[1, 2, 0])
    assert list(labels.classes) == ["a", "b"]


@pytest.mark.parametrize("target", ["delta", Delta()])
def test_delta_labels(target):
    labels = label_kernel(CLASSES, target)
    assert labels.name == "delta"
    assert_array_equal(labels.gram(), floats(oracle.gram(oracle.delta, CLASSES)))


def test_precomputed_labels():
    L = np.array([[2.0, 1.0], [1.0, 3.0]])
    labels = label_kernel(L, "precomputed")
    assert labels.name == "precomputed"
    assert_array_equal(labels.gram(), L)


def test_kernels_by_name_and_object():
    y = [0.5, 1.5, 4.0]
    assert label_kernel(y, "linear").name == "Linear()"
    assert_array_equal(label_kernel(y, "linear").gram(), np.outer(y, y))
    assert label_kernel(y, Laplacian("median")).kernel == Laplacian(1 / 5)
    assert_array_equal(label_kernel(y, Gaussian(2.0)).gram(), Gaussian(2.0)(y))


def test_a_function_as_kernel():
    def common(a, b):
        return np.minimum.outer(a, b)

    labels = label_kernel([1.0, 2.0, 3.0], common)
    assert labels.name == "common"
    assert_array_equal(labels.gram(), [[1, 1, 1], [1, 2, 2], [1, 2, 3]])


def test_strings_with_a_string_kernel():
    labels = label_kernel(["aab", "ab", "b"], Spectrum(n=1))
    assert labels.name == "Spectrum(n=1, normalize=False)"
    assert_array_equal(labels.gram(), [[5, 3, 1], [3, 2, 1], [1, 1, 1]])


@pytest.mark.parametrize(
    ("y", "target"),
    [
        (CLASSES, "auto"),
        (BINARY, "auto"),
        ([0.5, 1.5, 4.0, 2.25], "auto"),
        (CLASSES, "delta"),
        (["aab", "ab", "b"], Spectrum(1)),
    ],
)
def test_blocks_are_parts_of_the_whole(y, target):
    labels = label_kernel(y, target)
    L = labels.gram()
    assert len(labels) == len(y)
    assert L.dtype == np.float64
    assert_array_equal(labels.block(slice(1, 3), slice(0, 2)), L[1:3, 0:2])


@pytest.mark.parametrize(
    ("y", "target", "message"),
    [
        (["a", "a"], "auto", r"y has one class only \('a'\); at least two are needed"),
        ([1, 1, 1], "multiclass", r"y has one class only \(1\)"),
        (["a", "b", "c"], "binary", "y has 3 classes; accepted for target_kernel='binary': two"),
        ([0.5, np.nan], "auto", "y has 1 entries that are NaN"),
        ([0.5, np.inf], "regression", "y has 1 entries that are NaN or infinite"),
        (["a", None], "auto", "y has 1 missing values"),
        ([[1, 0], [0, 1]], "auto", "y is of type 'multilabel-indicator'.*accepted: target_kernel one of 'binary'"),
        ([[1, 2], [3, 1]], "multiclass", r"y has shape \(2, 2\); accepted for target_kernel='multiclass': one label"),
        ([1, 2], "binry", "target_kernel is 'binry', did you mean 'binary'"),
        (np.array(["a", 1], dtype=object), "multiclass", "y has labels that cannot be sorted"),
        ([[1.0, 2.0]], "precomputed", r"y has shape \(1, 2\); accepted: a square"),
        ([1.0, 2.0], Gaussian("optimise"), "'optimise', which needs labels"),
    ],
)
def test_bad_labels(y, target, message):
    with pytest.raises(ValueError, match=message):
        label_kernel(y, target)


def test_complex_labels_and_numbers_as_kernels():
    with pytest.raises(TypeError, match="y has dtype complex128"):
        label_kernel([1j, 2.0])
    with pytest.raises(TypeError, match="target_kernel is 3; accepted"):
        label_kernel([1, 2], 3)
