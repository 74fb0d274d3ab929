"""The problem that a search solves: data, labels and the parameters of a selector, checked against each other."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np

from bahsic.arrays import Array, Indices, Mask
from bahsic.criteria.base import Criterion
from bahsic.criteria.blocks import (
    HELD_OUT_SHARE,
    MOST_HELD_OUT,
    MOST_REGRESSIONS,
    auto_block_size,
    consecutive_blocks,
    random_blocks,
)
from bahsic.criteria.prediction import label_features
from bahsic.criteria.weights import FEWEST_SAMPLES, check_statistic
from bahsic.data.column_choice import column_mask, group_of_columns
from bahsic.data.columns import Columns, check_mixture
from bahsic.data.prepared import Prepared, prepared
from bahsic.engine.units import Units
from bahsic.kernels import Gaussian, Kernel, LabelKernel, Laplacian, Linear, label_kernel
from bahsic.kernels.bandwidth import ScaledKernel
from bahsic.kernels.labels.choice import labels_of
from bahsic.kernels.rows import as_weights
from bahsic.kernels.vector import kernel_on_features
from bahsic.parameters import Aside, Given, Message, check_jobs, check_ridge, is_auto, is_count, is_fraction
from bahsic.selection.column_checks import same_columns, uninformative

_CRITERIA = ("hsic", "prediction")
_TABLE_OPTIONS = ("standardize", "categorical_features", "missing", "identifiers")  # by which a table is read


@dataclass(frozen=True, eq=False)
class Problem:
    """Data and labels that fit each other, and the selector whose parameters say what to do with them."""

    selector: Any
    kernel: Kernel  # on the data; its parameters may be rules
    data: Prepared  # in the order of the labels, with the weights of the samples
    labels: LabelKernel
    y: Any  # the labels as they were given, of the samples that count
    kept: Mask  # columns that are selected anyway
    kernels: Sequence[Kernel]  # those to compare
    forward: bool = False  # whether units enter, instead of leaving
    number: int = 0  # of units to select; all for "auto"
    starts: tuple[int, ...] = (0,)  # first sample of each block
    aside: dict[int, tuple[str, str]] = field(default_factory=dict)  # role and reason of columns that take no part
    notes: dict[int, str] = field(default_factory=dict)  # what else there is to say about columns
    copies: dict[int, int] = field(default_factory=dict)  # columns that tell the same as another one, with that one
    block_size: int | None = None  # None if all samples are one block
    n_blocks: int | None = None  # largest number of blocks to search on
    n_held_out: int = 0  # samples, the last ones, that are in no block

    def __len__(self) -> int:
        return len(self.labels)

    def with_kernel(self, kernel: Kernel) -> Problem:
        """Return the same problem with another kernel on the data."""
        return self if kernel is self.kernel else replace(self, kernel=kernel, data=self.data.for_kernel(kernel))

    @property
    def searched(self) -> Indices:
        """The samples of a search on all that are not held out."""
        return self.first(np.arange(len(self) - self.n_held_out))

    def first(self, samples: Indices) -> Indices:
        """Return the first of some samples, as many as a search uses."""
        if self.block_size is None or self.n_blocks is None:
            return samples
        return consecutive_blocks(samples, self.block_size).first(self.n_blocks).order

    def in_blocks(self) -> Problem:
        """Return the problem with all its samples in blocks, if it has a size for them."""
        if self.block_size is None:
            return self
        return replace(self, starts=consecutive_blocks(np.arange(len(self)), self.block_size).starts)

    def split(self, own: Indices, others: Indices) -> tuple[Problem, Columns]:
        """Return the problem of some samples alone, and in its units the columns of these and of other samples."""
        order = own if self.data.order is None else self.data.order[own]
        data, columns = self.data.split(own, others)
        given = self.selector.target_kernel
        kernel = self.labels.name if is_auto(given) else given
        try:
            labels = label_kernel(labels_of(self.y, order, kernel), kernel, data.weights)
        except ValueError:  # one class alone, say: no feature can depend on it
            labels = self.labels.of_samples(own)
        part = replace(self, data=data, labels=labels, n_held_out=0).set_aside(order).in_blocks()
        vars(part)["label_features"] = self.label_features[own]  # in the units of all samples, which judge
        return part, columns

    def set_aside(self, order: Indices | None) -> Problem:
        """Return the problem without uninformative columns and copies; the order says where its samples are."""
        notes, idle = uninformative(self, order)
        names, others = self.data.table.column_names, ~self.data.constant | self.kept
        others[[*self.data.table.left_out, *self.copies, *idle]] = False
        if not others.any():  # something has to be searched
            idle = []
        aside = {j: ("uninformative", notes.pop(j)) for j in idle}
        aside |= {j: ("copy", f"same as {names[first]}") for j, first in self.copies.items()}
        return replace(self, aside=aside, notes=notes)

    @cached_property
    def label_features(self) -> Array:
        """Features of the labels that regressions predict, shape (m, c)."""
        return label_features(self.labels, self.data.weights)

    @cached_property
    def units(self) -> Units:
        """Columns or groups that enter or leave as a whole, without those that take no part unless all are such."""
        constant, kept, groups = self.data.constant, self.kept, self.selector.feature_groups
        everything = np.arange(len(constant))
        without = np.isin(everything, [*self.data.table.left_out, *self.aside])
        without |= constant & (kept | ~(constant | without)).any()
        if groups is None:
            return Units(everything, everything, constant, kept, without & ~kept)
        of_columns, labels = group_of_columns(groups, len(constant), self.data.table.names)
        members = [np.flatnonzero(of_columns == unit) for unit in range(len(labels))]
        kept = np.array([self.kept[group].any() for group in members], dtype=bool)
        idle, away = (np.array([mask[group].all() for group in members], dtype=bool) for mask in (constant, without))
        used = [group if alone else group[~without[group]] for group, alone in zip(members, away, strict=True)]
        return Units(labels, of_columns, idle, kept, away & ~kept, used)


def checked_problem(selector: Any, X: Any, y: Any, sample_weight: Any, *, forward: bool = False) -> Problem:
    """Check the parameters of a selector, data and labels against each other; samples of weight zero are left out."""
    if isinstance(y, str):
        raise TypeError(f"y is {y!r}; accepted: the labels themselves, as in fit(X.drop(columns={y!r}), X[{y!r}])")
    data, kernels = _checked_data(selector, X)
    m = n_counted = data.table.values.shape[0]
    w = as_weights(sample_weight, m)
    data = data.weighted(w)
    if w is not None and not w.all():
        counted = np.flatnonzero(w)
        y, w, n_counted = labels_of(y, counted, selector.target_kernel), w[counted], len(counted)
    y = y if hasattr(y, "__getitem__") else np.asarray(y)  # of which the labels of folds are taken
    labels = label_kernel(y, selector.target_kernel, w)
    if n_counted != len(labels):
        raise ValueError(f"X has {m} samples, y has {len(labels)}; accepted: the same number in both")
    total = m if w is None else float(w.sum())
    few = f"X has n_samples={m}" if w is None else f"sample_weight has the sum {total:g}, which is how many samples"
    check_statistic(selector.statistic, total, few)
    unblocked = w is not None or selector.statistic != "unbiased"
    if unblocked and is_auto(selector.block_size) and _auto_size(selector, n_counted) is not None:
        reason = "sample_weight" if selector.statistic == "unbiased" else "the biased statistic"
        slow = "all pairs of samples are used, which is slow; block_size=None says that this is meant"
        message = f"{n_counted} samples and {reason}, with which there are no blocks: {slow}"
        warnings.warn(message, UserWarning, stacklevel=5)
    order, blocks = _sampling(selector, m, weighted=w is not None)
    data = data if w is not None else data.ordered(order)
    if order is not None:
        labels = labels.of_samples(order)
    kept = column_mask(selector.keep, len(data.table.categorical), data.table.names, "keep")
    copies = same_columns(data, kept) if selector.criterion == "prediction" and selector.feature_groups is None else {}
    problem = Problem(selector, kernels[0], data, labels, y, kept, kernels, forward=forward, copies=copies)
    problem = problem.set_aside(order)
    return replace(problem, number=_checked_number(selector.n_features_to_select, problem.units), **blocks)


def _checked_number(given: Any, units: Units) -> int:
    """Return the number of units to select; all for "auto", which is decided when the search is over."""
    n_kept, n_used = units.n_kept, units.n_used
    if n_used == 0:
        what = f"all {units.name} of X are empty or look like identifiers; accepted: at least one other, or "
        raise ValueError(Message(what, Given("identifiers", "use"), " to use the identifiers"))
    if given is None:
        return max(1, n_kept, n_used // 2)
    if is_auto(given):
        return n_used
    if is_count(given):
        number = min(int(given), n_used)
    elif is_fraction(given):
        number = max(1, int(n_used * given))
    else:
        accepted = "None (half), an int of at least 1, a float in (0, 1] for a fraction of the features, or 'auto'"
        raise ValueError(f"n_features_to_select is {given!r}; accepted: {accepted}")
    if number < n_kept:
        what = f" is {given!r}, which makes {number} {units.name}, and keep has {n_kept}"
        raise ValueError(Message(Given("n_features_to_select"), what, "; accepted: at least as many as are kept"))
    return number


def is_crossfitted(selector: Any) -> bool:
    """Whether samples that took no part in the selection judge it, which they do where something is "auto"."""
    return selector.cv is not None or is_auto(selector.n_features_to_select) or is_auto(selector.kernel)


def prepared_for(selector: Any, X: Any) -> Prepared:
    """Return the data as a fit without weights needs them; blocks are those of the fit if its seed is fixed."""
    data, _ = _checked_data(selector, X)
    order, _ = _sampling(selector, data.table.values.shape[0], weighted=False)
    return data if order is None else data.ordered(order)


def _sampling(selector: Any, m: int, *, weighted: bool) -> tuple[Indices | None, dict[str, Any]]:
    """Return the samples to use, in random order, and what a `Problem` says of their blocks; None if there are none."""
    auto, seed, size = is_auto(selector.block_size), selector.random_state, selector.block_size
    if auto:
        size = None if weighted or selector.statistic != "unbiased" else _auto_size(selector, m)
    elif size is not None and not is_count(size, 4):
        raise ValueError(Message(Given("block_size"), f" is {size!r}; accepted: 'auto', None or an int of at least 4"))
    if seed is None and auto:
        seed = 0  # who asked for nothing gets the same result each time
    blocks = random_blocks(m, size, seed, selector.statistic, weighted=weighted)
    if blocks is None:
        return None, {}
    n_blocks = MOST_REGRESSIONS if auto and selector.criterion == "prediction" else None
    record = {"block_size": int(size), "n_blocks": n_blocks}
    if not is_crossfitted(selector):
        return blocks.first(len(blocks) if n_blocks is None else n_blocks).order, record
    if not (selector.cv is None or is_auto(selector.cv)):
        return blocks.order, record
    n_searched = m if n_blocks is None else min(m, n_blocks * int(size))
    n_held_out = min(MOST_HELD_OUT, max(m // HELD_OUT_SHARE, m - n_searched))
    n_searched = min(n_searched, m - n_held_out)
    if n_searched // int(size) < 2:
        return None, {}
    return blocks.order[: n_searched + n_held_out], record | {"n_held_out": n_held_out}


def _auto_size(selector: Any, m: int) -> int | None:
    """Return the size of the blocks that "auto" stands for; None for all samples at once."""
    regressions = selector.criterion == "prediction" or is_crossfitted(selector)
    if isinstance(selector.criterion, Criterion) and not regressions:  # which gets all samples anyway
        return None
    return auto_block_size(m, regressions=regressions)


def _checked_data(selector: Any, X: Any) -> tuple[Prepared, list[Kernel]]:
    """X by the parameters of a selector, whose columns are not made yet, and the kernels to compare that take it."""
    options = {name: getattr(selector, name) for name in _TABLE_OPTIONS}
    kernels = _checked_kernels(selector)
    data = prepared(X, kernels[0], **options, used=selector.keep)
    table, fitting = data.table, []
    if isinstance(selector.criterion, Criterion) and table.categorical.any():
        names = [table.column_names[j] for j in np.flatnonzero(table.categorical)[:10]]
        raise ValueError(
            f"criterion is {selector.criterion!r}, X has categories in {', '.join(map(str, names))}; accepted: numbers "
            "alone, such as those of a OneHotEncoder before it in a pipeline"
        )
    for kernel in kernels:
        categories, missing = (bool(mask.any()) for mask in (table.categorical_for(kernel), table.missing))
        try:
            check_mixture(kernel, categories=categories, missing=missing, standardize=selector.standardize)
        except ValueError:
            if len(kernels) == 1:
                raise
        else:
            fitting.append(kernel)
    return data, fitting


def _checked_kernels(selector: Any) -> tuple[Kernel, ...]:
    """Return the kernels on the data to compare; all parameters that don't depend on the data are checked."""
    step, statistic = selector.step, selector.statistic
    if not ((is_fraction(step) and step < 1) or is_count(step)):
        raise ValueError(f"step is {step!r}; accepted: a float in (0, 1) or an int of at least 1")
    if statistic not in FEWEST_SAMPLES:
        raise ValueError(f"statistic is {statistic!r}; accepted: 'unbiased', 'biased'")
    check_jobs(selector.n_jobs)
    for name in ("standardize", "standard_errors"):
        if not isinstance(getattr(selector, name), bool | np.bool_):
            raise TypeError(f"{name} is {getattr(selector, name)!r}; accepted: True, False")
    if not isinstance(selector.verbose, Integral | np.bool_) or selector.verbose < 0:
        raise ValueError(f"verbose is {selector.verbose!r}; accepted: 0, 1")
    criterion = selector.criterion
    if not isinstance(criterion, Criterion) and not (isinstance(criterion, str) and criterion in _CRITERIA):
        accepted = Aside(", an object of a class derived from bahsic.criteria.Criterion")
        raise ValueError(Message(f"criterion is {criterion!r}; accepted: 'hsic', 'prediction'", accepted))
    check_ridge(selector.ridge)
    if is_auto(selector.kernel):
        return Gaussian(), Laplacian(), Linear()
    kernel = kernel_on_features(selector.kernel, "features, some of which are to be selected")
    if isinstance(kernel, ScaledKernel):
        kernel.check()
    return (kernel,)
