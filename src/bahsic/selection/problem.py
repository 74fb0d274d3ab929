"""What is asked of a selector: its parameters and data, checked against each other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils import check_array

from bahsic.criteria.blocks import block_weights, random_blocks
from bahsic.criteria.weights import FEWEST_SAMPLES, Weights, label_weights
from bahsic.data.column_choice import column_mask, group_of_columns
from bahsic.data.columns import Columns, check_mixture, mixed_columns
from bahsic.data.sources import Source, check_entries, source_of
from bahsic.data.tables import Table, as_table
from bahsic.engine.executor import Executor
from bahsic.engine.plan import BYTES
from bahsic.inference.parts import labels_of
from bahsic.kernels import Kernel, LabelKernel, label_kernel
from bahsic.kernels.bandwidth import ScaledKernel
from bahsic.kernels.rows import FloatArray, as_weights
from bahsic.kernels.vector import kernel_on_features
from bahsic.parameters import check_jobs, is_count, is_fraction

Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Problem:
    """Data and labels that fit each other and the kernel.

    Attributes
    ----------
    kernel : Kernel
        On the data; its parameters may be rules.
    table : Table
        The data.
    labels : LabelKernel
    weights : ndarray of shape (m,) or None
        How often each sample counts, all of them positive.
    order : ndarray of int of shape (m,), or None
        The samples of the table, where not all of them or in another order; that of labels and weights.
    starts : tuple of int
        Where blocks of samples begin, in this order.
    """

    kernel: Kernel
    table: Table
    labels: LabelKernel
    weights: FloatArray | None
    order: Indices | None = None
    starts: tuple[int, ...] = (0,)

    def columns(self, *, standardize: bool) -> tuple[Columns, NDArray[np.bool_]]:
        """The columns as the kernel sees them, and which are constant."""
        table = self.table
        return mixed_columns(
            table.values,
            table.categorical,
            self.kernel,
            standardize=standardize,
            weights=self.weights,
            order=self.order,
        )

    def label_weights(self, statistic: Any, executor: Executor) -> Weights:
        """W of the labels."""
        if len(self.starts) > 1:
            return block_weights(self.labels, self.starts, executor.stream)
        return label_weights(self.labels, statistic, self.weights, executor.stream)


@dataclass(frozen=True, eq=False)
class FeatureUnits:
    """What enters or leaves together.

    Attributes
    ----------
    groups : list of ndarray of int, or None
        The columns of each unit; None where each column is one.
    of_columns : ndarray of int of shape (n_features,)
        The unit of each column.
    labels : ndarray of shape (n_units,)
        What the units are called.
    constant, kept : ndarray of bool of shape (n_units,)
        Those that say nothing, and those that never leave.
    """

    groups: list[Indices] | None
    of_columns: Indices
    labels: NDArray[Any]
    constant: NDArray[np.bool_]
    kept: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def name(self) -> str:
        """What the units are."""
        return "features" if self.groups is None else "groups"


def checked_problem(selector: Any, X: Any, y: Any, sample_weight: Any) -> Problem:
    """The problem that the parameters of a selector, data and labels pose; samples that don't count are left out."""
    kernel = _checked_kernel(selector)
    table = _table(selector, X)
    neutral = selector.missing == "neutral"
    categories = bool(table.categorical.any())
    check_mixture(kernel, categories=categories, missing=neutral, standardize=selector.standardize)
    m = table.values.shape[0]
    w = as_weights(sample_weight, m)
    order = None
    if w is not None and not w.all():
        order = np.flatnonzero(w)
        y, w = labels_of(y, order, selector.target_kernel), w[order]
        if not isinstance(table.values, Source):
            table, order = replace(table, values=table.values[order]), None
    labels = label_kernel(y, selector.target_kernel, w)
    if (table.values.shape[0] if order is None else len(order)) != len(labels):
        raise ValueError(f"X has {m} samples, y has {len(labels)}; accepted: the same number in both")
    found = m if w is None else float(w.sum())
    if found < FEWEST_SAMPLES[selector.statistic]:
        few = f"X has n_samples={m}" if w is None else f"sample_weight has the sum {found:g}, which is how many samples"
        raise ValueError(f"{few}; accepted: at least 4 for statistic='unbiased', at least 2 for statistic='biased'")
    if w is None:
        labels.warn_if_idle()
    blocks = random_blocks(m, selector.block_size, selector.random_state, selector.statistic, weighted=w is not None)
    if blocks is None:
        return Problem(kernel, table, labels, w, order)
    return Problem(kernel, table, labels.of_samples(blocks.order), None, blocks.order, blocks.starts)


def _table(selector: Any, X: Any) -> Table:
    """The data as a table, or where they stay in a file, what it says of them."""
    source = source_of(X)
    if source is None:
        return as_table(X, selector.categorical_features, selector.missing)
    check_array(np.broadcast_to(0.0, source.shape), input_name="X")
    if 64 * BYTES * source.shape[0] * source.shape[1] <= get_config()["working_memory"] * 2**20:
        values = source.read(slice(0, source.shape[0]), slice(0, source.shape[1]))
        return as_table(values, selector.categorical_features, selector.missing)
    if selector.categorical_features is not None or selector.missing != "error":
        raise ValueError(
            f"categorical_features is {selector.categorical_features!r}, missing is {selector.missing!r}; accepted "
            "where X is a memmap, a zarr or a dask array that is read piece by piece: None and 'error'"
        )
    check_entries(source)
    return Table(source, np.zeros(source.shape[1], dtype=bool), None, {})


def _checked_kernel(selector: Any) -> Kernel:
    """The kernel on the data; all parameters that don't depend on the data are checked."""
    step, statistic = selector.step, selector.statistic
    if not ((is_fraction(step) and step < 1) or is_count(step)):
        raise ValueError(f"step is {step!r}; accepted: a float in (0, 1) or an int of at least 1")
    if statistic not in FEWEST_SAMPLES:
        raise ValueError(f"statistic is {statistic!r}; accepted: 'unbiased', 'biased'")
    check_jobs(selector.n_jobs)
    for name in ("standardize", "standard_errors", "redundancy"):
        if not isinstance(getattr(selector, name), bool | np.bool_):
            raise TypeError(f"{name} is {getattr(selector, name)!r}; accepted: True, False")
    kernel = kernel_on_features(selector.kernel, "features, some of which are to be selected")
    if isinstance(kernel, ScaledKernel):
        kernel.check()
    if selector.redundancy and kernel.needs_labels:
        raise ValueError(f"kernel is {kernel!r}; accepted with redundancy=True: a rule for gamma that needs no labels")
    return kernel


def feature_units(feature_groups: Any, keep: Any, table: Table, constant: NDArray[np.bool_]) -> FeatureUnits:
    """The units of a table; a group with a kept column is kept as a whole."""
    d = len(constant)
    kept = column_mask(keep, d, table.names, "keep")
    if feature_groups is None:
        return FeatureUnits(None, np.arange(d), np.arange(d), constant & ~kept, kept)
    of_columns, labels = group_of_columns(feature_groups, d, table.names)
    groups = [np.flatnonzero(of_columns == unit) for unit in range(len(labels))]
    whole = np.array([kept[group].any() for group in groups], dtype=bool)
    idle = np.array([constant[group].all() for group in groups], dtype=bool)
    return FeatureUnits(groups, of_columns, labels, idle & ~whole, whole)


def checked_number(wanted: Any, units: FeatureUnits) -> int:
    """How many units to select; all for "auto", which is decided when the search is over."""
    n_kept = int(units.kept.sum())
    if wanted is None:
        return max(1, n_kept, len(units) // 2)
    if isinstance(wanted, str) and wanted == "auto":
        return len(units)
    if is_count(wanted):
        number = min(int(wanted), len(units))
    elif is_fraction(wanted):
        number = max(1, int(len(units) * wanted))
    else:
        raise ValueError(
            f"n_features_to_select is {wanted!r}; accepted: None (half), an int of at least 1, "
            "a float in (0, 1] for a fraction of the features, or 'auto'"
        )
    if number < n_kept:
        raise ValueError(
            f"n_features_to_select is {wanted!r}, which makes {number} {units.name}, and keep has {n_kept}; "
            "accepted: at least as many as are kept"
        )
    return number
