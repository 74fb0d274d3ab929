"""What every kernel keeps, whatever it computes: inherited by the test of each kernel."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import bahsic.kernels


class KernelContract:
    """A subclass says `kernel` and `samples`: a list or an array of at least ten samples."""

    kernel: bahsic.kernels.Kernel

    @property
    def samples(self):
        return np.random.default_rng(0).normal(size=(12, 3))

    def test_a_block_is_a_part_of_the_whole(self):
        kernel = self.kernel.resolved(self.samples)
        whole = kernel(self.samples)
        assert_allclose(kernel(self.samples[:7], self.samples[4:]), whole[:7, 4:], rtol=1e-13, atol=1e-14)

    def test_is_exactly_symmetric(self):
        K = self.kernel(self.samples)
        assert_array_equal(K, K.T)

    def test_is_positive_semidefinite(self):
        eigenvalues = np.linalg.eigvalsh(self.kernel(self.samples))
        assert eigenvalues.min() > -1e-12 * eigenvalues.max()

    def test_is_neither_constant_nor_unfinished(self):
        K = self.kernel(self.samples)
        assert K.shape == (len(self.samples), len(self.samples))
        assert np.isfinite(K).all()
        assert np.ptp(K) > 0

    def test_a_clone_is_equal_and_another_object(self):
        copy = clone(self.kernel)
        assert copy is not self.kernel
        assert copy == self.kernel
        assert hash(copy) == hash(self.kernel)

    def test_survives_pickle(self):
        copy = pickle.loads(pickle.dumps(self.kernel))
        assert copy == self.kernel
        assert_array_equal(copy(self.samples), self.kernel(self.samples))

    def test_repr_evaluates_back(self):
        assert eval(repr(self.kernel), vars(bahsic.kernels)) == self.kernel  # the text is our own

    def test_differs_from_another_kernel(self):
        assert self.kernel != bahsic.kernels.Precomputed()
        assert self.kernel != "a kernel"

    def test_resolving_twice_changes_nothing(self):
        kernel = self.kernel.resolved(self.samples)
        assert kernel.resolved(self.samples) == kernel

    def test_centrable_differs_by_terms_that_centring_removes(self):
        m = len(self.samples)
        H = np.eye(m) - 1 / m
        expected = H @ self.kernel(self.samples) @ H
        found = H @ self.kernel.centrable(self.samples) @ H
        assert_allclose(found, expected, rtol=1e-10, atol=1e-12 * np.abs(expected).max())


class VectorKernelContract(KernelContract):
    """For kernels on rows of numbers."""

    def test_float32_gives_float32(self):
        X = self.samples.astype(np.float32)
        K = self.kernel(X)
        assert K.dtype == np.float32
        assert_allclose(K, self.kernel(X.astype(np.float64)), rtol=2e-6, atol=1e-6)

    def test_mixed_precision_gives_float64(self):
        kernel = self.kernel.resolved(self.samples)
        assert kernel(self.samples.astype(np.float32), self.samples).dtype == np.float64

    @pytest.mark.parametrize("order", ["C", "F"])
    def test_reads_but_never_writes_its_input(self, order):
        X = np.array(self.samples, order=order)
        before = X.copy()
        X.flags.writeable = False
        assert_allclose(self.kernel(X), self.kernel(self.samples), rtol=1e-14, atol=1e-15)
        assert_array_equal(X, before)

    def test_one_dimension_is_one_column(self):
        x = self.samples[:, 0]
        assert_array_equal(self.kernel(x), self.kernel(x[:, None]))
        assert_array_equal(self.kernel(x.tolist()), self.kernel(x))

    def test_numbers_of_features_must_agree(self):
        kernel = self.kernel.resolved(self.samples)
        with pytest.raises(ValueError, match="X has 3 features, Y has 2"):
            kernel(self.samples, self.samples[:, :2])


class PointwiseContract(VectorKernelContract):
    """For kernels that are a link of a sum of contributions of single features."""

    def test_is_the_link_of_summed_contributions(self):
        X, Y = self.samples[:7], self.samples[4:]
        kernel = self.kernel.resolved(self.samples)
        D = sum(kernel.contribution(X[:, j], Y[:, j]) for j in range(X.shape[1]))
        assert_allclose(kernel.total(X, Y), D, rtol=1e-13, atol=1e-14)
        assert_allclose(kernel.link(D), kernel(X, Y), rtol=1e-13, atol=1e-14)

    def test_link_works_in_place(self):
        kernel = self.kernel.resolved(self.samples)
        D = kernel.total(self.samples)
        expected = kernel.link(D)
        assert kernel.link(D, out=D) is D
        assert_array_equal(D, expected)
