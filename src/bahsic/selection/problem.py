"""The problem that a search solves: parameters and data of a selector, checked against each other."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bahsic.criteria.blocks import MOST_REGRESSIONS, Blocks, auto_block_size, block_weights, random_blocks
from bahsic.criteria.weights import FEWEST_SAMPLES, Weights, label_weights
from bahsic.data.column_choice import column_mask, group_of_columns
from bahsic.data.columns import check_mixture
from bahsic.data.prepared import Prepared, prepared
from bahsic.data.roles import ColumnRole, rare_rows
from bahsic.data.tables import Table
from bahsic.engine.executor import Executor
from bahsic.inference.parts import labels_of
from bahsic.inference.predictability import check_ridge
from bahsic.inference.scores import hsic_scores
from bahsic.kernels import Kernel, LabelKernel, Laplacian, label_kernel
from bahsic.kernels.bandwidth import ScaledKernel
from bahsic.kernels.rows import FloatArray, as_weights
from bahsic.kernels.vector import kernel_on_features
from bahsic.parameters import check_jobs, is_count, is_fraction

Indices = NDArray[np.intp]

# Parameters by which a table is read.
TABLE_OPTIONS = ("standardize", "categorical_features", "missing", "identifiers")

# Level at which a column that hardly varies has to depend on the labels by itself, to be ranked beside the others.
_RARE_LEVEL = 0.01

# Rows that show which columns may hardly vary.
_SOME_ROWS = 40


@dataclass(frozen=True, eq=False)
class Problem:
    """Data and labels that fit each other and the kernel.

    Attributes
    ----------
    kernel : Kernel
        On the data; its parameters may be rules.
    data : Prepared
        The data, in the order of the labels, with the weights of the samples.
    labels : LabelKernel
    starts : tuple of int
        First sample of each block, in this order.
    others : tuple of Kernel
        Kernels that are to be tried as well.
    rare : dict of int to str
        Columns that hardly vary, in words.
    block_size : int or None
        Number of samples of a block; None if all samples are one.
    """

    kernel: Kernel
    data: Prepared
    labels: LabelKernel
    starts: tuple[int, ...] = (0,)
    others: tuple[Kernel, ...] = ()
    rare: dict[int, str] = field(default_factory=dict)
    block_size: int | None = None

    def by_kernel(self) -> list[Problem]:
        """The problem with each of its kernels."""
        return [self, *(replace(self, kernel=one, data=self.data.for_kernel(one), others=()) for one in self.others)]

    def of_samples(self, samples: Indices) -> Problem:
        """The problem of some samples as one block, with one kernel; columns are not standardised anew."""
        data, labels = self.data.of_samples(samples), self.labels.of_samples(samples)
        return replace(self, data=data, labels=labels, starts=(0,), others=(), block_size=None)

    @property
    def table(self) -> Table:
        """The data, checked."""
        return self.data.table

    @property
    def weights(self) -> FloatArray | None:
        """Number of times that each sample counts, all of them positive; None if each counts once."""
        return self.data.weights

    @property
    def order(self) -> Indices | None:
        """The samples of the table, if not all of them or in another order."""
        return self.data.order

    def label_weights(self, statistic: Any, executor: Executor) -> Weights:
        """W of the labels."""
        if len(self.starts) > 1:
            return block_weights(self.labels, self.starts, executor.stream)
        return label_weights(self.labels, statistic, self.weights, executor.stream)


@dataclass(frozen=True, eq=False)
class FeatureUnits:
    """Units of the search: columns, or groups of columns that enter or leave together.

    Attributes
    ----------
    groups : list of ndarray of int, or None
        The columns of each unit; None where each column is one.
    of_columns : ndarray of int of shape (n_features,)
        The unit of each column.
    labels : ndarray of shape (n_units,)
        Names of the units.
    idle, kept, left_out : ndarray of bool of shape (n_units,)
        Those that say nothing; those that never leave; those that take no part.
    """

    groups: list[Indices] | None
    of_columns: Indices
    labels: NDArray[Any]
    idle: NDArray[np.bool_]
    kept: NDArray[np.bool_]
    left_out: NDArray[np.bool_]

    @property
    def constant(self) -> NDArray[np.bool_]:
        """Mask of the units that say nothing and may leave."""
        return self.idle & ~self.kept

    @property
    def n_used(self) -> int:
        """Number of units that take part."""
        return int(np.count_nonzero(~self.left_out))

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def name(self) -> str:
        """The word for the units."""
        return "features" if self.groups is None else "groups"


def checked_problem(selector: Any, X: Any, y: Any, sample_weight: Any) -> Problem:
    """The problem that the parameters of a selector, data and labels pose; samples that don't count are left out."""
    kernel = _checked_kernel(selector)
    data = _checked_data(selector, X, kernel)
    m = n_counted = data.table.values.shape[0]
    w = as_weights(sample_weight, m)
    data = data.weighted(w)
    if w is not None and not w.all():
        counted = np.flatnonzero(w)
        y, w, n_counted = labels_of(y, counted, selector.target_kernel), w[counted], len(counted)
    labels = label_kernel(y, selector.target_kernel, w)
    if n_counted != len(labels):
        raise ValueError(f"X has {m} samples, y has {len(labels)}; accepted: the same number in both")
    found = m if w is None else float(w.sum())
    if found < FEWEST_SAMPLES[selector.statistic]:
        few = f"X has n_samples={m}" if w is None else f"sample_weight has the sum {found:g}, which is how many samples"
        raise ValueError(f"{few}; accepted: at least 4 for statistic='unbiased', at least 2 for statistic='biased'")
    if w is not None or selector.statistic != "unbiased":
        _warn_if_many(selector, n_counted)
    data, rare = _without_rare(data, labels)
    blocks = _blocks(selector, m, weighted=w is not None)
    if blocks is None:
        data = data if w is not None else data.ordered(None)
        return Problem(kernel, data, labels, others=_others(selector), rare=rare)
    data, labels = data.ordered(blocks.order), labels.of_samples(blocks.order)
    size = int(_block_size(selector, m, weighted=False))
    return Problem(kernel, data, labels, blocks.starts, _others(selector), rare, size)


def _without_rare(data: Prepared, labels: LabelKernel) -> tuple[Prepared, dict[int, str]]:
    """Data of a frame without columns that hardly vary and tell nothing of the labels; and all that hardly vary."""
    values = data.table.values
    if not data.table.is_frame or not isinstance(values, np.ndarray):
        return data, {}
    counts, together = data.weights, data.missing == "indicator"
    likely = _repeating(values) if counts is None else range(values.shape[1])
    found = ((j, rare_rows(values[:, j], counts, missing=together)) for j in likely)
    rare = {j: rows for j, rows in found if rows is not None}
    if not rare:
        return data, {}
    marks = np.column_stack([rows.astype(np.float64) for rows in rare.values()])
    if counts is not None and np.array_equal(counts, np.round(counts)):
        repeated = np.repeat(np.arange(len(counts)), counts.astype(np.intp))
        marks, labels = marks[repeated], labels.of_samples(repeated)
    _, pvalues = hsic_scores(marks, labels)
    level, m = _RARE_LEVEL / len(rare), len(values)
    told = {j: f"one value in all but {int(rows.sum())} of {m} rows" for j, rows in rare.items()}
    idle = [j for j, pvalue in zip(rare, pvalues, strict=True) if pvalue > level]
    told |= {j: f"{told[j]}, which tell nothing of the target: ranks last" for j in idle}
    return (replace(data, table=data.table.without(idle)) if idle else data), told


def _repeating(values: FloatArray) -> list[int]:
    """Columns of which some rows, evenly spaced, have much the same value: all that hardly vary are among them."""
    rows = np.linspace(0, len(values) - 1, min(len(values), _SOME_ROWS)).astype(np.intp)
    some = np.sort(values[rows], axis=0)
    repeated = np.count_nonzero(some[1:] == some[:-1], axis=0) + np.count_nonzero(np.isnan(some), axis=0)
    return np.flatnonzero(repeated >= len(rows) // 4).tolist()


def column_roles(problem: Problem, missing: str) -> tuple[ColumnRole, ...]:
    """The role of each column, with the reason for it."""
    constant = problem.data.constant.copy()
    constant[list(problem.rare)] = False
    roles = problem.table.roles(constant, missing)
    told = [", ".join(part for part in (role.reason, problem.rare.get(j, "")) if part) for j, role in enumerate(roles)]
    return tuple(role._replace(reason=reason) for role, reason in zip(roles, told, strict=True))


def is_auto(value: Any) -> bool:
    """Whether the value of a parameter is "auto"."""
    return isinstance(value, str) and value == "auto"


def _others(selector: Any) -> tuple[Kernel, ...]:
    return (Laplacian(),) if is_auto(selector.kernel) else ()


def prepared_for(selector: Any, X: Any) -> Prepared:
    """The data as a fit of the selector without weights needs them, to be passed to it and to what follows it.

    Blocks of samples are those of the fit if ``random_state`` is an int, or None with ``block_size="auto"``.
    """
    data = _checked_data(selector, X, _checked_kernel(selector))
    blocks = _blocks(selector, data.table.values.shape[0], weighted=False)
    return data if blocks is None else data.ordered(blocks.order)


def _blocks(selector: Any, m: int, *, weighted: bool) -> Blocks | None:
    size, seed = _block_size(selector, m, weighted=weighted), selector.random_state
    if seed is None and is_auto(selector.block_size):
        seed = 0  # who asked for nothing gets the same result each time
    found = random_blocks(m, size, seed, selector.statistic, weighted=weighted)
    if found is None or not is_auto(selector.block_size) or selector.criterion != "prediction":
        return found
    return found.first(MOST_REGRESSIONS)


def _block_size(selector: Any, m: int, *, weighted: bool) -> Any:
    """The parameter block_size, or what "auto" means: that of `auto_block_size`, where the estimate allows blocks."""
    given = selector.block_size
    if not is_auto(given):
        if given is not None and not is_count(given, 4):
            raise ValueError(f"block_size is {given!r}; accepted: 'auto', None or an int of at least 4")
        return given
    return None if weighted or selector.statistic != "unbiased" else _auto_size(selector, m)


def _auto_size(selector: Any, m: int) -> int | None:
    """Size of the blocks that "auto" stands for; None for all samples at once."""
    regressions = is_auto(selector.n_features_to_select) or is_auto(selector.kernel)
    return auto_block_size(m, prediction=selector.criterion == "prediction", regressions=regressions)


def _warn_if_many(selector: Any, m: int) -> None:
    """Warn where "auto" would take blocks, which neither know weights nor the biased statistic."""
    if is_auto(selector.block_size) and _auto_size(selector, m) is not None:
        warnings.warn(
            f"{m} samples and {'the biased statistic' if selector.statistic != 'unbiased' else 'sample_weight'}, "
            "with which there are no blocks: all pairs of samples are used, which takes long; block_size=None says "
            "that this is meant",
            UserWarning,
            stacklevel=6,
        )


def _checked_data(selector: Any, X: Any, kernel: Kernel) -> Prepared:
    """X by the parameters of a selector; its columns are not made yet."""
    options = {name: getattr(selector, name) for name in TABLE_OPTIONS}
    data = prepared(X, kernel, **options, used=selector.keep)
    categories, missing = (bool(mask.any()) for mask in (data.table.categorical_for(kernel), data.table.missing))
    check_mixture(kernel, categories=categories, missing=missing, standardize=selector.standardize)
    return data


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
    if not isinstance(selector.verbose, Integral | np.bool_) or selector.verbose < 0:
        raise ValueError(f"verbose is {selector.verbose!r}; accepted: 0, 1")
    if selector.criterion not in ("hsic", "prediction"):
        raise ValueError(f"criterion is {selector.criterion!r}; accepted: 'hsic', 'prediction'")
    check_ridge(selector.ridge)
    wanted = "gaussian" if is_auto(selector.kernel) else selector.kernel
    kernel = kernel_on_features(wanted, "features, some of which are to be selected")
    if isinstance(kernel, ScaledKernel):
        kernel.check()
    if selector.redundancy and kernel.needs_labels:
        raise ValueError(f"kernel is {kernel!r}; accepted with redundancy=True: a rule for gamma that needs no labels")
    return kernel


def feature_units(feature_groups: Any, keep: Any, table: Table, constant: NDArray[np.bool_]) -> FeatureUnits:
    """The units of a table; a group with a kept column is kept as a whole."""
    d = len(constant)
    kept = column_mask(keep, d, table.names, "keep")
    without = np.isin(np.arange(d), table.left_out)
    if feature_groups is None:
        return FeatureUnits(None, np.arange(d), np.arange(d), constant, kept, without & ~kept)
    of_columns, labels = group_of_columns(feature_groups, d, table.names)
    groups = [np.flatnonzero(of_columns == unit) for unit in range(len(labels))]
    whole = np.array([kept[group].any() for group in groups], dtype=bool)
    idle = np.array([constant[group].all() for group in groups], dtype=bool)
    away = np.array([without[group].all() for group in groups], dtype=bool)
    return FeatureUnits(groups, of_columns, labels, idle, whole, away & ~whole)


def checked_number(wanted: Any, units: FeatureUnits) -> int:
    """Number of units to select; all for "auto", which is decided when the search is over."""
    n_kept = int(units.kept.sum())
    n_used = units.n_used
    if n_used == 0:
        raise ValueError(
            f"X has {len(units)} {units.name}, which all only name the samples or are empty; accepted: at least one "
            "other, or identifiers='use'"
        )
    if wanted is None:
        return max(1, n_kept, n_used // 2)
    if is_auto(wanted):
        return n_used
    if is_count(wanted):
        number = min(int(wanted), n_used)
    elif is_fraction(wanted):
        number = max(1, int(n_used * wanted))
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
