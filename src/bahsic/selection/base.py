"""What BAHSIC and FOHSIC share: from X and y by rounds of a search to what was selected."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import asdict, dataclass, replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bahsic.data.sources import is_dask_array, source_of
from bahsic.engine import Columns, Scorer, scorer_for, tile_plan
from bahsic.engine.dask_executor import client_address, executor_for
from bahsic.inference.redundancy import similarities
from bahsic.kernels import Kernel
from bahsic.report.notebook import NotebookMixin
from bahsic.selection.checkpoint import Checkpoint, fingerprint
from bahsic.selection.path import PathStep, reason, within_one_standard_error
from bahsic.selection.problem import FeatureUnits, Problem, checked_number, checked_problem, feature_units
from bahsic.selection.progress import CallbackSupportMixin, reported, with_callbacks
from bahsic.selection.search import Step

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Round:
    """A step of the path, and the units that it is about; see `bahsic.selection.search.Step`."""

    step: PathStep
    subset: Indices
    changed: Indices
    following: Indices

    def as_plain(self) -> dict[str, Any]:
        """The round as plain data."""
        units = {name: getattr(self, name).tolist() for name in ("subset", "changed", "following")}
        return {"step": asdict(self.step), **units}

    @staticmethod
    def from_plain(found: dict[str, Any]) -> Round:
        """The round that plain data stand for."""
        step = {**found["step"], "features": tuple(found["step"]["features"])}
        units = (np.array(found[name], dtype=np.intp) for name in ("subset", "changed", "following"))
        return Round(PathStep(**step), *units)

    def as_step(self) -> Step:
        """The round as the search knows it, but for its kernel."""
        return Step(self.subset, self.step.hsic, None, self.changed, self.following)


@dataclass(frozen=True, eq=False)
class Search:
    """What the rounds of a fit share."""

    problem: Problem
    scorer: Scorer
    units: FeatureUnits

    def standard_error(self, step: Step) -> float:
        """Standard error of the score of a step."""
        return math.sqrt(self.scorer.variance(step.subset, step.kernel))


class Selector(CallbackSupportMixin, NotebookMixin, SelectorMixin, BaseEstimator):
    """What backward elimination and forward selection share."""

    def __init__(  # noqa: PLR0913 - the search, the kernels, the table, and what to report
        self,
        n_features_to_select: float | str | None = None,
        *,
        step: float = 0.1,
        kernel: Any = "gaussian",
        target_kernel: Any = "auto",
        statistic: str = "unbiased",
        standardize: bool = True,
        categorical_features: Any = None,
        missing: str = "error",
        feature_groups: Any = None,
        keep: Any = None,
        standard_errors: bool = False,
        redundancy: bool = False,
        n_jobs: int | None = None,
        block_size: int | None = None,
        random_state: Any = None,
        checkpoint: Any = None,
        executor: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.step = step
        self.kernel = kernel
        self.target_kernel = target_kernel
        self.statistic = statistic
        self.standardize = standardize
        self.categorical_features = categorical_features
        self.missing = missing
        self.feature_groups = feature_groups
        self.keep = keep
        self.standard_errors = standard_errors
        self.redundancy = redundancy
        self.n_jobs = n_jobs
        self.block_size = block_size
        self.random_state = random_state
        self.checkpoint = checkpoint
        self.executor = executor

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
            How many times each sample counts: the result is that of the repeated samples.

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
        self._report_constant(constant)
        units = feature_units(self.feature_groups, self.keep, problem.table, constant)
        number = checked_number(self.n_features_to_select, units)
        self._report_excess(units)
        plan = tile_plan(columns.n_samples, starts=problem.starts)
        with executor_for(self.executor, X, self.n_jobs, columns.n_samples) as executor:
            weights = problem.label_weights(self.statistic, executor)
            scorer = scorer_for(columns, problem.kernel, weights, executor, plan, units.groups)
            path = self._path(Search(problem, scorer, units), number, X, y)
            order = self._order(scorer, units, path)
        self._decide(path, order, units, number)
        if self.redundancy:
            self._add_redundancy(columns, constant, problem.kernel, problem.weights)
        self.target_kernel_ = problem.labels.name

    def _path(self, search: Search, number: int, X: Any, y: Any) -> list[Round]:
        """All rounds: those of a checkpoint, and then the others, each of which is added to it."""
        saved = None if self.checkpoint is None else self._checkpoint(search.problem)
        path: list[Round] = []
        after = None
        if saved is not None and saved.rounds:
            path = [Round.from_plain(found) for found in saved.rounds]
            after = path[-1].as_step()
            search.scorer.restore(saved.state)
        n_left = self._n_rounds(search.units, number) - len(path)
        steps = self._steps(search.scorer, search.units, number, after) if n_left else iter(())
        for step in reported(self, steps, n_left, X, y):
            path.append(self._record(step, search))
            if saved is not None:
                saved.write([found.as_plain() for found in path], search.scorer.state())
        return path

    def _checkpoint(self, problem: Problem) -> Checkpoint:
        if len(problem.starts) > 1 and self.random_state is None:
            raise ValueError(
                "random_state is None; accepted with block_size and checkpoint: an int, so that the blocks are the "
                "same after an interruption"
            )
        return Checkpoint(self.checkpoint, fingerprint(self, problem))

    @abstractmethod
    def _steps(self, scorer: Scorer, units: FeatureUnits, number: int, after: Step | None) -> Iterator[Step]:
        """The rounds of the search, or those after one of them."""

    @abstractmethod
    def _n_rounds(self, units: FeatureUnits, number: int) -> int:
        """How many rounds that will be."""

    @abstractmethod
    def _order(self, scorer: Scorer, units: FeatureUnits, path: Sequence[Round]) -> Indices:
        """All units, the most relevant first."""

    @abstractmethod
    def _subsets(self) -> list[Indices]:
        """The columns of the subset of each step of the path."""

    def _decide(self, rounds: Sequence[Round], order: Indices, units: FeatureUnits, number: int) -> None:
        """Set the attributes that say what was selected, given all units in order."""
        path = [found.step for found in rounds]
        if self.n_features_to_select == "auto":
            chosen = within_one_standard_error(path)
            path[chosen] = replace(path[chosen], reason=reason(path, chosen))
            number = len(rounds[chosen].subset)
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

    def _add_redundancy(
        self, columns: Columns, constant: NDArray[np.bool_], kernel: Kernel, weights: NDArray[Any] | None
    ) -> None:
        """Record in the path how similar the two most similar features of a subset are, up to the selected one."""
        selected = np.flatnonzero(self.support_)
        table = similarities(columns, selected, constant, kernel, weights) - np.eye(len(selected))
        path = list(self.path_)
        for position, subset in enumerate(self._subsets()):
            inside = np.isin(selected, subset)
            if len(subset) == inside.sum():
                highest = float(table[np.ix_(inside, inside)].max())
                path[position] = replace(path[position], redundancy=highest)
        self.path_ = tuple(path)

    def _record(self, step: Step, search: Search) -> Round:
        scorer = search.scorer
        gamma = getattr(step.kernel, "gamma", None)
        wanted = self.standard_errors or self.n_features_to_select == "auto"
        error = search.standard_error(step) if wanted else None
        parts = scorer.units.each(step.changed)
        features = tuple(int(j) for part in parts for j in part)
        path_step = PathStep(scorer.units.size(step.subset), gamma, step.score, error, features)
        return Round(path_step, step.subset, step.changed, step.following)

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
        return super().transform(decoded(X))

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "support_")
        support: NDArray[np.bool_] = self.support_
        return support

    def __sklearn_clone__(self) -> Self:
        """A clone works with the same client; scikit-learn would try to copy it."""
        bare = copy(self)
        bare.executor = None
        cloned: Self = super(Selector, bare).__sklearn_clone__()
        cloned.executor = self.executor
        return cloned

    def __getstate__(self) -> Any:
        """Of a client only the address of its scheduler is pickled; a fit connects to it."""
        state = super().__getstate__()
        return {**state, "executor": client_address(self.executor)}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "neutral"
        tags.input_tags.categorical = self.categorical_features is not None
        tags.input_tags.string = self.categorical_features is not None
        return tags

    def _report_constant(self, constant: NDArray[np.bool_]) -> None:
        if not constant.any():
            return
        names = getattr(self, "feature_names_in_", np.arange(len(constant)))[constant]
        shown = ", ".join(map(str, names[:10])) + (", ..." if len(names) > 10 else "")
        warnings.warn(
            f"{len(names)} of {len(constant)} features are constant and rank last: {shown}",
            UserWarning,
            stacklevel=5,
        )

    def _report_excess(self, units: FeatureUnits) -> None:
        wanted = self.n_features_to_select
        if isinstance(wanted, Integral) and wanted > len(units):
            warnings.warn(
                f"n_features_to_select is {wanted}, X has {len(units)} {units.name}: all are kept",
                UserWarning,
                stacklevel=5,
            )


def decoded(X: Any) -> Any:
    """X, but a pyarrow table without dictionaries: as arrays these would get values where entries are missing."""
    if not hasattr(X, "itercolumns"):
        return X
    types = [column.type for column in X.itercolumns()]
    columns = [
        column.cast(kind.value_type) if str(kind).startswith("dictionary") else column
        for column, kind in zip(X.itercolumns(), types, strict=True)
    ]
    return type(X).from_arrays(columns, names=X.column_names)


@contextmanager
def unchanged_on_error(estimator: BaseEstimator) -> Iterator[None]:
    """Leave the estimator as it was where a fit fails or is interrupted."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        now = vars(estimator)
        for name in set(now) - set(before) - {"_callback_fit_ctx", "_skl_callbacks_to_teardown"}:
            del now[name]
        now.update(before)
        raise
