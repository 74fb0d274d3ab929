"""Base class of BAHSIC and FOHSIC: checks data, runs the searches, decides and records the selection."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from numbers import Integral
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from bahsic.criteria.weights import Weights
from bahsic.data.roles import ColumnRole
from bahsic.data.sources import is_dask_array, source_of
from bahsic.data.tables import as_plain, by_dtype, columns_of, is_frame
from bahsic.engine import Executor, Plan, Scorer, tile_plan
from bahsic.engine.dask_executor import executor_for
from bahsic.engine.executor import for_samples
from bahsic.inference.redundancy import similarities
from bahsic.kernels import Kernel
from bahsic.report.notebook import NotebookMixin
from bahsic.selection.checkpoint import Checkpoint, check_seed, fingerprint
from bahsic.selection.cluster import ClusterMixin
from bahsic.selection.halves import are_needed
from bahsic.selection.path import reason
from bahsic.selection.problem import (
    FeatureUnits,
    Problem,
    checked_number,
    checked_problem,
    column_roles,
    feature_units,
    is_auto,
)
from bahsic.selection.progress import CallbackSupportMixin, Progress, reported, with_callbacks
from bahsic.selection.rounds import Goal, Round, Search
from bahsic.selection.search import Step
from bahsic.selection.searches import Searches, kernel_name

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

_REMEDY = "; identifiers='use' takes them, columns_ has the reasons"


class Selector(ClusterMixin, CallbackSupportMixin, NotebookMixin, SelectorMixin, BaseEstimator):
    """Base class of backward elimination and forward selection."""

    def __init__(  # noqa: PLR0913 - the search, the kernels, the table, and what to report
        self,
        n_features_to_select: float | str | None = None,
        *,
        step: float = 0.1,
        kernel: Any = "gaussian",
        target_kernel: Any = "auto",
        criterion: str = "hsic",
        ridge: Any = "auto",
        statistic: str = "unbiased",
        standardize: bool = True,
        categorical_features: Any = "from_dtype",
        missing: str = "neutral",
        identifiers: Any = "drop",
        feature_groups: Any = None,
        keep: Any = None,
        standard_errors: bool = False,
        redundancy: bool = False,
        n_jobs: int | None = None,
        block_size: int | str | None = "auto",
        random_state: Any = None,
        checkpoint: Any = None,
        executor: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.step = step
        self.kernel = kernel
        self.target_kernel = target_kernel
        self.criterion = criterion
        self.ridge = ridge
        self.statistic = statistic
        self.standardize = standardize
        self.categorical_features = categorical_features
        self.missing = missing
        self.identifiers = identifiers
        self.feature_groups = feature_groups
        self.keep = keep
        self.standard_errors = standard_errors
        self.redundancy = redundancy
        self.n_jobs = n_jobs
        self.block_size = block_size
        self.random_state = random_state
        self.checkpoint = checkpoint
        self.executor = executor
        self.verbose = verbose

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Rank the features by their contribution to the dependence between X and y.

        Parameters
        ----------
        X : array-like, sparse matrix, dataframe, memmap, zarr or dask array of shape (n_samples, n_features)
            The data, or what ``bahsic.data.prepared.prepared`` made of them. A memmap, a zarr or a dask
            array is read piece by piece, unless it is small.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The labels: classes or numbers, or whatever ``target_kernel`` takes.
        sample_weight : array-like of shape (n_samples,), optional
            Number of times that each sample counts: the result is that of the repeated samples, whose missing
            entries are the same.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            self._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        problem = checked_problem(self, X, y, sample_weight)
        X = problem.data.X
        validate_data(self, X, skip_check_array=True)  # names and number of features
        columns, constant = problem.data.columns, problem.data.constant
        roles = column_roles(problem, self.missing)
        self._report_labels(problem)
        self._report_idle(roles)
        units = feature_units(self.feature_groups, self.keep, problem.table, constant)
        number = checked_number(self.n_features_to_select, units)
        self._report_excess(units)
        plan = tile_plan(columns.n_samples, starts=problem.starts)
        with executor_for(self.executor, X, self.n_jobs, columns.n_samples) as executor:
            searches = self._searched(problem, units, number, plan, executor, X, y)
            found = searches.best
            order = self._order(found.scorer, units, found.path)
            self._decide(searches, order, units, number)
            self.scores_ = self._scores(found, order, units)
        self.target_kernel_ = problem.labels.name
        self.columns_ = roles
        self.block_size_ = problem.block_size
        self.kernel_ = _kernel_name(self.kernel, found.problem.kernel)
        if self.redundancy:
            self._add_redundancy(found.problem)

    def _searched(
        self, problem: Problem, units: FeatureUnits, number: int, plan: Plan, executor: Executor, X: Any, y: Any
    ) -> Searches:
        """The finished searches with the kernel, or with each kernel of "auto"."""
        if self.checkpoint is not None:
            check_seed(self, problem)
        auto = is_auto(self.n_features_to_select)
        goal = Goal(
            self.criterion,
            self.statistic,
            self.ridge,
            bool(self.standard_errors),
            predictability=auto or bool(problem.others),
            losses=auto,
        )

        @cache
        def weights_of_all() -> Weights:
            return problem.label_weights(self.statistic, executor)

        def made(part: Problem, tiles: Plan, folders: tuple[str, ...]) -> Search:
            of_all = part.labels is problem.labels
            workers = executor if of_all else for_samples(executor, self.n_jobs, len(part.labels))
            weights = weights_of_all() if of_all else part.label_weights(self.statistic, workers)
            search = Search(part, units, weights, tiles, workers, goal)
            if self.checkpoint is not None:
                search.resume(self._checkpoint(part, folders))
            return search

        def quality(search: Search) -> float:
            order = self._order(search.scorer, units, search.path)
            return search.quality(None if auto else order[:number])

        def steps(scorer: Any, after: Step | None) -> Iterator[Step]:
            return self._steps(scorer, units, number, after)

        searches = Searches(problem, plan, made, quality, halved=auto and are_needed(problem, units))
        sizes = self._sizes(units, number)
        with self._progress(searches, sizes) as progress:
            rounds = (
                found
                for search in searches
                for found in progress.watched(search.rounds(steps, len(sizes)), before=len(search.path))
            )
            for _ in reported(self, rounds, searches.rounds_left(len(sizes)), X, y):
                pass
        return searches

    def _progress(self, searches: Searches, sizes: Sequence[tuple[int, int]]) -> Progress:
        plan = [searches.first.work(*size, number) for number in range(len(searches)) for size in sizes]
        return Progress(plan, searches.first.round_constant(), silent=not self.verbose)

    def _checkpoint(self, problem: Problem, folders: tuple[str, ...]) -> Checkpoint:
        folder = Path(self.checkpoint, *folders) if folders else self.checkpoint
        return Checkpoint(folder, fingerprint(self, problem))

    @abstractmethod
    def _steps(self, scorer: Scorer, units: FeatureUnits, number: int, after: Step | None) -> Iterator[Step]:
        """The rounds of the search, or those after one of them."""

    @abstractmethod
    def _sizes(self, units: FeatureUnits, number: int) -> list[tuple[int, int]]:
        """Units in the subset, and candidates, of each round of the search."""

    @abstractmethod
    def _order(self, scorer: Scorer, units: FeatureUnits, path: Sequence[Round]) -> Indices:
        """All units, the most relevant first."""

    @abstractmethod
    def _subsets(self) -> list[Indices]:
        """The columns of the subset of each step of the path."""

    def _decide(self, searches: Searches, order: Indices, units: FeatureUnits, number: int) -> None:
        """Set the attributes that say what was selected, given all units in order."""
        search = searches.best
        path = [found.step for found in search.path]
        if is_auto(self.n_features_to_select):
            chosen, largest = search.fewest_as_good(searches.most)
            path[chosen] = replace(path[chosen], reason=reason(path, chosen, largest))
            number = len(search.path[chosen].subset)
        rank = np.empty(len(order), dtype=np.intp)
        rank[order] = np.maximum(np.arange(len(order)) + 2 - number, 1)
        self.path_ = tuple(path)
        self.ranking_ = rank[units.of_columns]
        self.support_ = self.ranking_ == 1
        self.n_features_ = int(self.support_.sum())
        if units.groups is not None:
            self.group_order_ = units.labels[order]
        elif hasattr(self, "group_order_"):  # of an earlier fit
            del self.group_order_

    def _scores(self, search: Search, order: Indices, units: FeatureUnits) -> Array:
        """Relevance of each column; constant ones have none."""
        n_outside = np.bincount(units.of_columns[~self.support_], minlength=len(order))
        selected = order[n_outside[order] == 0]
        varied = selected[~units.idle[selected]]
        outside = np.setdiff1d(np.flatnonzero(~units.idle), selected, assume_unique=True)
        scores = search.scores(varied, outside, len(order)) if len(varied) else np.zeros(len(order))
        return np.asarray(scores[units.of_columns])

    def _add_redundancy(self, problem: Problem) -> None:
        """Record in the path how similar the two most similar features of a subset are, up to the selected one."""
        selected, data = np.flatnonzero(self.support_), problem.data
        table = similarities(data.columns, selected, data.constant, problem.kernel, problem.weights)
        table -= np.eye(len(selected))
        path = list(self.path_)
        for position, subset in enumerate(self._subsets()):
            inside = np.isin(selected, subset)
            if len(subset) == inside.sum():
                highest = float(table[np.ix_(inside, inside)].max())
                path[position] = replace(path[position], redundancy=highest)
        self.path_ = tuple(path)

    def transform(self, X: Any) -> Any:
        """The selected columns.

        Parameters
        ----------
        X : array-like, sparse matrix, dataframe, memmap, zarr or dask array of shape (n_samples, n_features)

        Returns
        -------
        array, sparse matrix, dataframe or dask array of shape (n_samples, number of selected features)
            Sparse from sparse, lazy from a dask array, a dataframe where `set_output` asks for one, else an array.
        """
        source = source_of(X)
        if source is not None:
            chosen = np.flatnonzero(self._get_support_mask())
            validate_data(self, X, reset=False, skip_check_array=True)
            return X[:, chosen] if is_dask_array(X) else source.read(slice(0, source.shape[0]), chosen)
        return selected_columns(self, X, missing=self.missing != "error")

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "support_")
        support: NDArray[np.bool_] = self.support_
        return support

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing != "error"
        named, by_type = by_dtype(self.categorical_features)
        tags.input_tags.categorical, tags.input_tags.string = named is not None, by_type or named is not None
        return tags

    def _report_labels(self, problem: Problem) -> None:
        unbiased = self.statistic == "unbiased" and self.criterion == "hsic"
        problem.labels.warn(unbiased=unbiased, way_out="statistic='biased'", weighted=problem.weights is not None)

    def _report_idle(self, roles: Sequence[ColumnRole]) -> None:
        """Warn of constant columns, and of those that are left out."""
        labels = getattr(self, "feature_names_in_", np.arange(len(roles)))
        for idle, told, remedy in (
            ([role.left_out for role in roles], "only name the samples or are empty and are left out", _REMEDY),
            ([role.role == "constant" for role in roles], "are constant and rank last", ""),
        ):
            names = labels[np.array(idle, dtype=bool)]
            if len(names):
                shown = ", ".join(map(str, names[:10])) + (", ..." if len(names) > 10 else "") + remedy
                warnings.warn(f"{len(names)} of {len(roles)} features {told}: {shown}", UserWarning, stacklevel=5)

    def _report_excess(self, units: FeatureUnits) -> None:
        wanted = self.n_features_to_select
        if isinstance(wanted, Integral) and wanted > units.n_used:
            used = "" if units.n_used == len(units) else f", of which {units.n_used} are used"
            warnings.warn(
                f"n_features_to_select is {wanted}, X has {len(units)} {units.name}{used}: all are kept",
                UserWarning,
                stacklevel=5,
            )


def selected_columns(selector: Any, X: Any, *, missing: bool) -> Any:
    """The columns of X that a fitted selector has selected.

    Parameters
    ----------
    selector : fitted selector of scikit-learn
    X : array-like, sparse matrix or dataframe
    missing : bool
        Whether entries of an array may be missing.

    Returns
    -------
    array or sparse matrix
        A dataframe where X is one and the selector's ``set_output`` asks for the same kind.
    """
    chosen = np.flatnonzero(selector._get_support_mask())  # noqa: SLF001 - scikit-learn's hook for selectors
    wanted = _get_output_config("transform", estimator=selector)["dense"]
    if not is_frame(X):
        finite: Any = "allow-nan" if missing else True
        options = {"dtype": None, "accept_sparse": "csr", "ensure_all_finite": finite}
        return validate_data(selector, X, reset=False, **options)[:, chosen]
    validate_data(selector, X, reset=False, skip_check_array=True)  # before all columns become an array of one type
    part = columns_of(X, chosen.tolist())
    kind = "pandas" if hasattr(part, "iloc") else "polars" if hasattr(part, "iter_columns") else "pyarrow"
    return part if wanted == kind else as_plain(part)


@contextmanager
def unchanged_on_error(estimator: BaseEstimator) -> Iterator[None]:
    """Restore the estimator if a fit fails or is interrupted."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        now = vars(estimator)
        for name in set(now) - set(before) - {"_callback_fit_ctx", "_skl_callbacks_to_teardown"}:
            del now[name]
        now.update(before)
        raise


def _kernel_name(wanted: Any, used: Kernel) -> Any:
    """The kernel on the data as it was given, or the name of the one that "auto" has chosen."""
    return kernel_name(used) if is_auto(wanted) else wanted
