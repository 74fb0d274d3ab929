"""Kernels on vectors, labels, strings and graphs."""

from bahsic.kernels.base import Function, Kernel, PointwiseKernel, Precomputed, Product, Sum
from bahsic.kernels.labels.choice import LabelKernel, label_kernel
from bahsic.kernels.structured import Spectrum, WeisfeilerLehman
from bahsic.kernels.vector import Delta, Gaussian, InverseDistance, Laplacian, Linear, Polynomial, kernel_from_name

__all__ = [
    "Delta",
    "Function",
    "Gaussian",
    "InverseDistance",
    "Kernel",
    "LabelKernel",
    "Laplacian",
    "Linear",
    "PointwiseKernel",
    "Polynomial",
    "Precomputed",
    "Product",
    "Spectrum",
    "Sum",
    "WeisfeilerLehman",
    "kernel_from_name",
    "label_kernel",
]
