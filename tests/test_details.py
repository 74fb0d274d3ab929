"""Details that a small change of the code would break; most were found by changing it, see `make mutants`."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bahsic.kernels import Delta, Gaussian, InverseDistance, Laplacian, WeisfeilerLehman
from bahsic.selection import crossvalidation, estimator_tables

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [(Gaussian(), (0, 1)), (Laplacian(), (0, 1)), (Delta(), (0, 1)), (InverseDistance(0.5), (0, 2))],
)
def test_values_of_kernels_fill_their_range(kernel, expected):
    values = kernel(np.array([[0.0], [0.0], [1e6]]))
    assert kernel.value_range == expected
    assert_allclose([values.min(), values.max()], expected, atol=1e-5)


def test_labels_of_nodes_are_what_they_are():
    pair = np.array([[0, 1], [1, 0]])
    graphs = [(pair, [1, 1]), (pair, ["1", 1]), (pair, np.array([1, 1]))]
    assert_array_equal(WeisfeilerLehman(0)(graphs), [[4, 2, 4], [2, 2, 2], [4, 2, 4]])


def test_classes_of_samples_without_weight_do_not_count():
    labels, weights = np.repeat([0, 1, 2], 4), np.repeat([1.0, 2.0, 0.0], 4)
    assert crossvalidation._kernel_of_classes(labels, None) == "multiclass"
    assert crossvalidation._kernel_of_classes(labels, weights) == "binary"
    assert crossvalidation._kernel_of_classes(labels, weights[:5]) == "multiclass"


def test_plain_tables_are_those_of_numbers():
    pandas = pytest.importorskip("pandas")
    numbers = pandas.DataFrame({"a": [1.0, 2.0], "b": [1, 2]})
    for table, expected in [
        *((numbers, True), (numbers.to_numpy(), True), (numbers.to_numpy().tolist(), False)),
        *((numbers.assign(c=["u", "v"]), False), (numbers.to_numpy().astype(object), False)),
    ]:
        assert estimator_tables._is_plain(table) is expected
