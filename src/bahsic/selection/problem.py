"""The problem that a search solves: parameters and data of a selector, checked against each other."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bahsic.criteria.blocks import (
    HELD_OUT_SHARE,
    MOST_HELD_OUT,
    MOST_REGRESSIONS,
    auto_block_size,
    block_weights,
    consecutive_blocks,
    random_blocks,
)
from bahsic.criteria.prediction import label_features
from bahsic.criteria.weights import FEWEST_SAMPLES, Weights, label_weights
from bahsic.data.column_choice import column_mask, group_of_columns
from bahsic.data.columns import Columns, check_mixture
from bahsic.data.levels import copies, in_order_of_appearance
from bahsic.data.prepared import Prepared, prepared
from bahsic.data.roles import ColumnRole, rare_rows
from bahsic.data.tables import Table
from bahsic.engine.executor import Executor
from bahsic.inference.parts import labels_of
from bahsic.inference.predictability import check_ridge
from bahsic.inference.scores import hsic_scores
from bahsic.kernels import Gaussian, Kernel, LabelKernel, Laplacian, Linear, label_kernel
from bahsic.kernels.bandwidth import ScaledKernel
from bahsic.kernels.rows import FloatArray, as_weights
from bahsic.kernels.vector import kernel_on_features
from bahsic.parameters import Aside, Given, Message, check_jobs, is_count, is_fraction

Indices = NDArray[np.intp]

# Parameters by which a table is read.
TABLE_OPTIONS = ("standardize", "categorical_features", "missing", "identifiers")

# Levels at which a column has to depend on the labels by itself: one that hardly varies or has gaps, and a category of
# many levels. Of noise with gaps 1.6 to 2.7% pass a test at 1% by the gamma approximation.
_RARE_LEVEL, _CATEGORY_LEVEL = 0.01, 0.05

# Number of categories, and share of missing entries, above which a column has many.
_MANY_LEVELS, _MANY_GAPS = 20, 0.5

# Difference up to which standardised columns are the same.
_SAME = 1e-6

# Rows that show which columns may hardly vary.
_SOME_ROWS = 40


@dataclass(frozen=True, eq=False)
class Problem:
    """Data and labels that fit each other and the kernel.

    Attributes
    ----------
    kernel : Kernel
        Kernel on the data; its parameters may be rules.
    data : Prepared
        The data, in the order of the labels, with the weights of the samples.
    labels : LabelKernel
    y : array-like
        The labels as they were given, of the samples that count.
    target_kernel : str, Kernel or callable
        The kernel on them as it was given.
    criterion : {"hsic", "prediction"}
    starts : tuple of int
        First sample of each block.
    kernels : tuple of Kernel
        The kernels to compare.
    kept : ndarray of bool of shape (n_features,)
        Columns that are selected anyway.
    aside : dict of int to (str, str)
        Role and reason of columns that take no part beside those of the table: uninformative ones and copies.
    notes : dict of int to str
        What else there is to say about columns.
    copies : dict of int to int
        Columns that tell the same as another one, which stands for them.
    block_size : int or None
        Number of samples in a block; None if all samples are one block.
    n_blocks : int or None
        Largest number of blocks to search on.
    n_held_out : int
        Number of samples, the last ones, that are in no block.
    """

    kernel: Kernel
    data: Prepared
    labels: LabelKernel
    kept: NDArray[np.bool_]
    y: Any
    target_kernel: Any
    criterion: str = "hsic"
    starts: tuple[int, ...] = (0,)
    kernels: tuple[Kernel, ...] = ()
    aside: dict[int, tuple[str, str]] = field(default_factory=dict)
    notes: dict[int, str] = field(default_factory=dict)
    copies: dict[int, int] = field(default_factory=dict)
    block_size: int | None = None
    n_blocks: int | None = None
    n_held_out: int = 0

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
        """Return the problem of some samples alone, and the columns of these and of others, in the units of the first.

        Neither means and deviations of the columns, nor the kernel on the labels, nor the columns that tell nothing
        depend on the others.
        """
        order = own if self.data.order is None else self.data.order[own]
        data, columns = self.data.split(own, others)
        part = replace(self, data=data, labels=self._labels_of(order, own), n_held_out=0).set_aside(order)
        vars(part)["label_features"] = self.label_features[own]
        return part.in_blocks(), columns

    def set_aside(self, order: Indices | None) -> Problem:
        """Return the problem without columns that tell nothing, by its own labels, and without copies.

        The order says which samples of the table it has.
        """
        notes, idle = _uninformative(self, order)
        names, others = self.table.column_names, ~self.data.constant | self.kept
        others[[*self.table.left_out, *self.copies, *idle]] = False
        if not others.any():  # something has to be searched
            idle = []
        aside = {j: ("uninformative", notes.pop(j)) for j in idle}
        aside |= {j: ("copy", f"same as {names[first]}") for j, first in self.copies.items()}
        return replace(self, aside=aside, notes=notes)

    def _labels_of(self, order: Indices, own: Indices) -> LabelKernel:
        kernel = self.labels.name if is_auto(self.target_kernel) else self.target_kernel
        try:
            w = None if self.weights is None else self.weights[own]
            return label_kernel(labels_of(self.y, order, kernel), kernel, w)
        except ValueError:  # one class alone, say: no feature can depend on it
            return self.labels.of_samples(own)

    @cached_property
    def label_features(self) -> NDArray[np.float64]:
        """Features of the labels that regressions predict, shape (m, c)."""
        return label_features(self.labels, self.weights)

    @property
    def table(self) -> Table:
        """The data, checked."""
        return self.data.table

    @property
    def weights(self) -> FloatArray | None:
        """Weight of each sample, all of them positive; None if all are one."""
        return self.data.weights

    @property
    def order(self) -> Indices | None:
        """The samples of the table, if not all of them or in another order."""
        return self.data.order

    def label_weights(self, statistic: Any, executor: Executor) -> Weights:
        """Return W of the labels."""
        if len(self.starts) > 1:
            return block_weights(self.labels, self.starts, executor.stream)
        return label_weights(self.labels, statistic, self.weights, executor.stream)


@dataclass(frozen=True, eq=False)
class FeatureUnits:
    """Units of the search: columns, or groups of columns that enter or leave together.

    Attributes
    ----------
    groups, used : list of ndarray of int, or None
        The columns of each unit, and those of them that take part; None where each column is one.
    of_columns : ndarray of int of shape (n_features,)
        The unit of each column.
    labels : ndarray of shape (n_units,)
        Names of the units.
    idle, kept, left_out : ndarray of bool of shape (n_units,)
        Those that say nothing; those that never leave; those that take no part.
    """

    groups: list[Indices] | None
    used: list[Indices] | None
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

    def each(self, units: Indices) -> list[Indices]:
        """Return the columns of each of some units."""
        return [units[i : i + 1] if self.groups is None else self.groups[unit] for i, unit in enumerate(units)]

    def size(self, units: Indices) -> int:
        """Return the number of columns of some units."""
        return sum(map(len, self.each(units)))

    @property
    def name(self) -> str:
        """The word for the units."""
        return "features" if self.groups is None else "groups"


def checked_problem(selector: Any, X: Any, y: Any, sample_weight: Any) -> Problem:
    """Check the parameters of a selector, data and labels against each other; samples of weight zero are left out."""
    kernels = _checked_kernels(selector)
    if isinstance(y, str):
        raise TypeError(f"y is {y!r}; accepted: the labels themselves, as in fit(X.drop(columns={y!r}), X[{y!r}])")
    data = _checked_data(selector, X, kernels[0])
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
    found = m if w is None else float(w.sum())
    if found < FEWEST_SAMPLES[selector.statistic]:
        few = f"X has n_samples={m}" if w is None else f"sample_weight has the sum {found:g}, which is how many samples"
        aside = Aside(" for statistic='unbiased', at least 2 for statistic='biased'")
        raise ValueError(Message(f"{few}; accepted: at least 4", aside))
    if w is not None or selector.statistic != "unbiased":
        _warn_if_many(selector, n_counted)
    size = _block_size(selector, m, weighted=w is not None)
    order, n_held_out = _order(selector, m, size, weighted=w is not None)
    data = data if w is not None else data.ordered(order)
    if order is not None:
        labels = labels.of_samples(order)
    kernels = tuple(one for one in kernels if len(kernels) == 1 or _fits_table(one, data, selector))
    kept = column_mask(selector.keep, len(data.table.categorical), data.names, "keep")
    copies = _copies(data, kept) if selector.criterion == "prediction" and selector.feature_groups is None else {}
    given = {"target_kernel": selector.target_kernel, "criterion": selector.criterion}
    problem = Problem(kernels[0], data, labels, kept, y, **given, kernels=kernels, copies=copies)
    problem = problem.set_aside(order)
    if order is None:
        return problem
    return replace(problem, block_size=int(size), n_blocks=_n_blocks(selector), n_held_out=n_held_out)


def _uninformative(problem: Problem, order: Indices | None) -> tuple[dict[int, str], list[int]]:
    """Return words for columns of a frame that could mislead a search, and those of them that tell nothing.

    A test of each by itself says whether it tells anything, on the samples in the given order, which are those of the
    labels. Kept columns are not looked at.
    """
    data, labels, kept = problem.data, problem.labels, problem.kept
    values, counts, m = data.table.values, data.weights, len(labels)
    if not data.table.is_frame or not isinstance(values, np.ndarray):
        return {}, []
    values = values if order is None else values[order]
    together = data.missing == "indicator"
    likely = _repeating(values) if counts is None else range(values.shape[1])
    found = ((j, rare_rows(values[:, j], counts, missing=together)) for j in likely if not kept[j])
    rare = {j: rows for j, rows in found if rows is not None}
    notes = {j: f"one value in all but {int(rows.sum())} of {m} rows" for j, rows in rare.items()}
    words = _many(problem, values) | {j: f"{note}, which" for j, note in notes.items()}
    if not words:
        return notes, []
    tested = np.column_stack([rare[j].astype(np.float64) if j in rare else values[:, j] for j in words])
    if counts is not None and np.array_equal(counts, np.round(counts)):
        repeated = np.repeat(np.arange(m), counts.astype(np.intp))
        tested, labels = tested[repeated], labels.of_samples(repeated)
    categories = [at for at, j in enumerate(words) if j not in rare and data.table.categorical[j]]
    _, pvalues = hsic_scores(tested, labels, categorical_features=categories or None, missing="neutral")
    levels = np.full(len(words), _RARE_LEVEL / len(words))
    levels[categories] = _CATEGORY_LEVEL / len(words)
    idle = [j for j, pvalue, level in zip(words, pvalues, levels, strict=True) if pvalue > level]
    return notes | {j: f"{words[j]} tell nothing of the target" for j in idle}, idle


def _many(problem: Problem, values: FloatArray) -> dict[int, str]:
    """Return words for columns with many categories or, where regressions judge, with many missing entries.

    A missing entry is unlike any other and so adds to the diagonal of the kernel, as a greater ridge would: a column
    of noise with many of them can help a regression.
    """
    data, kept = problem.data, problem.kept
    categorical, gaps = data.table.categorical, np.zeros(len(kept))
    if data.missing == "neutral" and problem.criterion == "prediction":
        gaps[data.table.missing] = np.isnan(values[:, data.table.missing]).mean(axis=0)
    found = {int(j): f"{gaps[j]:.0%} of the entries missing, and the others" for j in np.flatnonzero(gaps > _MANY_GAPS)}
    levels = ((int(j), len(np.unique(values[:, j]))) for j in np.flatnonzero(categorical))
    found |= {j: f"{n} categories, which" for j, n in levels if n > _MANY_LEVELS}
    return {j: what for j, what in found.items() if not kept[j] and gaps[j] < 1}


def _copies(data: Prepared, kept: NDArray[np.bool_]) -> dict[int, int]:
    """Return the columns that tell the same as another one, with that one: the first, or the first that is kept.

    Numbers are the same up to scale and shift if they are standardised, categories up to their names.
    """
    columns = data.columns
    if data.table.categorical.any():
        rows = np.array(columns.rows(np.arange(columns.n_features)))
        low, high = (function(rows, axis=1, keepdims=True) for function in (np.fmin.reduce, np.fmax.reduce))
        two = ((rows == low) | (rows == high) | np.isnan(rows)).all(axis=1)
        for j in np.flatnonzero(two | data.table.categorical):
            rows[j] = in_order_of_appearance(rows[j])
        columns = Columns.plain(rows)
    first = copies(columns, _SAME)
    found: dict[int, int] = {}
    for original in np.flatnonzero(np.bincount(first, minlength=len(first)) > 1):
        alike = np.flatnonzero(first == original)
        if not data.constant[original]:
            stands = int(next(iter(alike[kept[alike]]), original))
            found |= {int(j): stands for j in alike if not kept[j] and j != stands}
    gappy = np.flatnonzero(data.table.missing & ~data.constant & ~data.table.categorical & ~kept)
    complete = np.flatnonzero(~data.table.missing & ~data.constant & ~data.table.categorical)
    complete = complete[~np.isin(complete, list(found))]
    values = data.table.values
    if data.missing != "neutral" or not isinstance(values, np.ndarray):
        return found
    return found | _copies_with_gaps(values, gappy, complete)


def _copies_with_gaps(values: FloatArray, gappy: Indices, complete: Indices) -> dict[int, int]:
    """Return the columns that are the same as a complete one in all rows that they have, with that one."""
    found: dict[int, int] = {}
    for j in gappy.tolist():
        known, like = np.flatnonzero(~np.isnan(values[:, j])), complete
        for rows in (known[:_SOME_ROWS], known):  # the first ones rule out nearly all
            like = like[_correlations(values[np.ix_(rows, like)], values[rows, j]) > 1 - _SAME**2]
        if len(like) and len(known) >= _SOME_ROWS:
            found[j] = int(like[0])
    return found


def _correlations(X: FloatArray, x: FloatArray) -> FloatArray:
    """Absolute correlation of each column of X with x; 0 where one of them does not vary."""
    X, x = X - X.mean(axis=0), x - x.mean()
    scale = np.linalg.norm(X, axis=0) * np.linalg.norm(x)
    found: FloatArray = np.abs(np.divide(x @ X, scale, out=np.zeros(X.shape[1]), where=scale > 0))
    return found


def _repeating(values: FloatArray) -> list[int]:
    """Columns of which some rows, evenly spaced, have much the same value: all that hardly vary are among them."""
    rows = np.linspace(0, len(values) - 1, min(len(values), _SOME_ROWS)).astype(np.intp)
    some = np.sort(values[rows], axis=0)
    repeated = np.count_nonzero(some[1:] == some[:-1], axis=0) + np.count_nonzero(np.isnan(some), axis=0)
    return np.flatnonzero(repeated >= len(rows) // 4).tolist()


def column_roles(problem: Problem, missing: str) -> tuple[ColumnRole, ...]:
    """Return the role of each column, with the reason for it."""
    roles = problem.table.roles(problem.data.constant, missing)
    for j, note in problem.notes.items():
        roles[j] = roles[j]._replace(reason=", ".join(filter(None, (roles[j].reason, note))))
    for j, (role, why) in problem.aside.items():
        if not roles[j].left_out:
            roles[j] = roles[j]._replace(role=role, reason=why)
    return tuple(roles)


def is_auto(value: Any) -> bool:
    """Whether the value of a parameter is "auto"."""
    return isinstance(value, str) and value == "auto"


def chooses(selector: Any) -> bool:
    """Whether the number of features or the kernel is "auto", so that cross-fitting chooses it."""
    return is_auto(selector.n_features_to_select) or is_auto(selector.kernel)


def is_crossfitted(selector: Any) -> bool:
    """Whether the selection is judged by samples that took no part in it."""
    return selector.cv is not None or chooses(selector)


def prepared_for(selector: Any, X: Any) -> Prepared:
    """Return the data as a fit of the selector without weights needs them, to be passed to it and to what follows it.

    Blocks of samples are those of the fit if ``random_state`` is an int, or None with ``block_size="auto"``.
    """
    data = _checked_data(selector, X, _checked_kernels(selector)[0])
    m = data.table.values.shape[0]
    order, _ = _order(selector, m, _block_size(selector, m, weighted=False), weighted=False)
    return data if order is None else data.ordered(order)


def _n_blocks(selector: Any) -> int | None:
    """Largest number of blocks, which "auto" limits where each round has regressions."""
    return MOST_REGRESSIONS if is_auto(selector.block_size) and selector.criterion == "prediction" else None


def _order(selector: Any, m: int, size: Any, *, weighted: bool) -> tuple[Indices | None, int]:
    """Return the samples to use in random order, and how many of the last ones judge; None where there are no blocks.

    Where splits are given, these say which samples judge.
    """
    seed = selector.random_state
    if seed is None and is_auto(selector.block_size):
        seed = 0  # who asked for nothing gets the same result each time
    blocks = random_blocks(m, size, seed, selector.statistic, weighted=weighted)
    if blocks is None:
        return None, 0
    judged = is_crossfitted(selector) and (selector.cv is None or is_auto(selector.cv))
    n_blocks, given = _n_blocks(selector), selector.cv is not None and not judged
    n_searched = m if n_blocks is None else min(m, n_blocks * int(size))
    if not judged:
        return (blocks.order if given or n_blocks is None else blocks.first(n_blocks).order), 0
    n_held_out = min(MOST_HELD_OUT, max(m // HELD_OUT_SHARE, m - n_searched))
    n_searched = min(n_searched, m - n_held_out)
    if n_searched // int(size) < 2:
        return None, 0
    return blocks.order[: n_searched + n_held_out], n_held_out


def _block_size(selector: Any, m: int, *, weighted: bool) -> Any:
    """The parameter block_size, or what "auto" means: that of `auto_block_size`, where the estimate allows blocks."""
    given = selector.block_size
    if not is_auto(given):
        if given is not None and not is_count(given, 4):
            raise ValueError(
                Message(Given("block_size"), f" is {given!r}; accepted: 'auto', None or an int of at least 4")
            )
        return given
    return None if weighted or selector.statistic != "unbiased" else _auto_size(selector, m)


def _auto_size(selector: Any, m: int) -> int | None:
    """Size of the blocks that "auto" stands for; None for all samples at once."""
    return auto_block_size(m, regressions=selector.criterion == "prediction" or is_crossfitted(selector))


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
    _check_table(kernel, data, selector)
    return data


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
    if selector.criterion not in ("hsic", "prediction"):
        raise ValueError(f"criterion is {selector.criterion!r}; accepted: 'hsic', 'prediction'")
    check_ridge(selector.ridge)
    if is_auto(selector.kernel):
        return Gaussian(), Laplacian(), Linear()
    kernel = kernel_on_features(selector.kernel, "features, some of which are to be selected")
    if isinstance(kernel, ScaledKernel):
        kernel.check()
    return (kernel,)


def _fits_table(kernel: Kernel, data: Prepared, selector: Any) -> bool:
    """Whether a kernel takes the categories and missing entries of a table."""
    try:
        _check_table(kernel, data, selector)
    except ValueError:
        return False
    return True


def _check_table(kernel: Kernel, data: Prepared, selector: Any) -> None:
    table = data.table
    categories, missing = (bool(mask.any()) for mask in (table.categorical_for(kernel), table.missing))
    check_mixture(kernel, categories=categories, missing=missing, standardize=selector.standardize)


def feature_units(feature_groups: Any, problem: Problem) -> FeatureUnits:
    """Return the units of a problem; a group with a kept column is kept as a whole.

    Columns that take no part are in no unit but those of their own, unless all columns are such.
    """
    constant, kept = problem.data.constant, problem.kept
    d = len(constant)
    without = np.isin(np.arange(d), [*problem.table.left_out, *problem.aside])
    idle = constant | without
    without |= constant & (kept | ~idle).any()
    if feature_groups is None:
        return FeatureUnits(None, None, np.arange(d), np.arange(d), constant, kept, without & ~kept)
    of_columns, labels = group_of_columns(feature_groups, d, problem.table.names)
    groups = [np.flatnonzero(of_columns == unit) for unit in range(len(labels))]
    whole = np.array([kept[group].any() for group in groups], dtype=bool)
    resting, away = (np.array([mask[group].all() for group in groups], dtype=bool) for mask in (constant, without))
    used = [group if away[unit] else group[~without[group]] for unit, group in enumerate(groups)]
    return FeatureUnits(groups, used, of_columns, labels, resting, whole, away & ~whole)


def checked_number(wanted: Any, units: FeatureUnits) -> int:
    """Number of units to select; all for "auto", which is decided when the search is over."""
    n_kept = int(units.kept.sum())
    n_used = units.n_used
    if n_used == 0:
        raise ValueError(
            Message(
                f"all {units.name} of X are empty or only name the samples; accepted: at least one other, or ",
                Given("identifiers", "use"),
                " for those that name the samples",
            )
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
        what = f" is {wanted!r}, which makes {number} {units.name}, and keep has {n_kept}"
        raise ValueError(Message(Given("n_features_to_select"), what, "; accepted: at least as many as are kept"))
    return number
