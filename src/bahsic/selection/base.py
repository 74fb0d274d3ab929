"""Base class of BAHSIC and FOHSIC: checks data, runs the searches, decides and records the selection."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import wraps
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from bahsic.arrays import Array, Indices, Mask
from bahsic.data.sources import is_dask_array, source_of
from bahsic.data.sparse_rows import warn_of_cost
from bahsic.data.tables import by_dtype
from bahsic.engine.dask_executor import client_address
from bahsic.parameters import Given, Message, is_auto
from bahsic.report.notebook import NotebookMixin
from bahsic.report.words import leak_words
from bahsic.selection.checkpoint import checkpoint_folder
from bahsic.selection.column_checks import column_roles, leaks
from bahsic.selection.crossfit import CrossFit, problem_splits, reason, trial_splits
from bahsic.selection.fitting import Fitting, fitting, kernel_name
from bahsic.selection.path import PathStep
from bahsic.selection.problem import Problem, checked_problem, is_crossfitted
from bahsic.selection.search import Search, direction
from bahsic.selection.tables import selected_columns

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn < 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(method: Any) -> Any:
        """Call the method, from a frame of its own as scikit-learn does: warnings count the frames."""

        @wraps(method)
        def call(estimator: Any, *arguments: Any, **named: Any) -> Any:
            return method(estimator, *arguments, **named)

        return call


@dataclass(eq=False, repr=False, kw_only=True)
class BaseSelector(NotebookMixin, SelectorMixin, BaseEstimator):
    """Base class of all selectors: parameters, selected features, an executor that is neither copied nor pickled."""

    step: float = 0.1
    kernel: Any = "gaussian"
    target_kernel: Any = "auto"
    criterion: Any = "hsic"
    ridge: Any = "auto"
    statistic: str = "unbiased"
    standardize: bool = True
    categorical_features: Any = "from_dtype"
    missing: str = "neutral"
    identifiers: Any = "drop"
    feature_groups: Any = None
    keep: Any = None
    cv: Any = None
    standard_errors: bool = False
    n_jobs: int | None = None
    block_size: int | str | None = "auto"
    random_state: Any = None
    checkpoint: Any = None
    executor: Any = None
    verbose: int = 0

    def _get_support_mask(self) -> Mask:
        check_is_fitted(self, "support_")
        return np.asarray(self.support_)

    @property
    def feature_importances_(self) -> Array:
        """The scores of the selected features, and 0 for the others, as scikit-learn's tools expect them."""
        check_is_fitted(self, "support_")
        fitted: Any = getattr(self, "selector_", self)
        return np.where(self.support_, fitted.scores_, 0.0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing != "error"
        named, by_type = by_dtype(self.categorical_features)
        tags.input_tags.categorical, tags.input_tags.string = named is not None, by_type or named is not None
        return tags

    def __sklearn_clone__(self) -> Self:
        """Return a clone that works with the same client, which scikit-learn would try to copy."""
        bare = copy(self)
        bare.executor = None
        cloned: Self = super(BaseSelector, bare).__sklearn_clone__()
        cloned.executor = self.executor
        return cloned

    def __getstate__(self) -> Any:
        """Return the state for pickling, with the address of the scheduler in place of a client."""
        state: Any = super().__getstate__()
        return {**state, "executor": client_address(self.executor)}


@dataclass(eq=False, repr=False)
class Selector(CallbackSupportMixin, BaseSelector):
    """Base class of backward elimination and forward selection."""

    _forward: ClassVar[bool] = False

    __metadata_request__fit: ClassVar[dict[str, Any]] = {"groups": True}  # as scikit-learn's splitters

    n_features_to_select: float | str | None = None

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Rank the features by their contribution to the dependence between X and y.

        Parameters
        ----------
        X : array-like, sparse matrix, dataframe, memmap, zarr or dask array of shape (n_samples, n_features)
            The data, or what ``bahsic.data.prepared.prepared`` made of them. A memmap, a zarr or a dask
            array is read piece by piece, unless it is small.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The labels: classes or numbers, or whatever ``target_kernel`` takes.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each sample. HSIC is that of the samples repeated so many times; folds and regressions leave out
            a sample as a whole, whatever its weight.
        groups : array-like of shape (n_samples,), optional
            Groups of samples, for a ``cv`` that keeps them together.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            self._fit(X, y, sample_weight, groups)
            self._remember(X, y)
        return self

    def _remember(self, X: Any, y: Any) -> None:
        """Keep what methods need beside the selection; nothing by default."""

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> None:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        problem = checked_problem(self, X, y, sample_weight, forward=self._forward)
        validate_data(self, problem.data.X, skip_check_array=True)  # names and number of features
        self.columns_ = column_roles(problem)
        self._warn(problem)
        splits = []
        if is_crossfitted(self):
            splits = problem_splits(self.cv, problem, y, groups, _num_samples(problem.data.X), sample_weight)
        n_searches = 1
        if splits:
            trial, n_kernels = trial_splits(problem, splits), len(problem.kernels)
            n_tried = n_kernels - (trial[0] is splits[0]) if n_kernels > 1 else 0
            n_searches = n_tried * len(trial) + len(splits) + (not problem.n_held_out)
        folder = None if self.checkpoint is None else checkpoint_folder(self, problem, splits)
        if sparse.issparse(problem.data.table.values):
            n_pairs = len(problem.searched) * (problem.block_size or len(problem)) / 2
            n_candidates = max(n_searches * sum(direction(problem).sizes()), len(problem.units))
            warn_of_cost(problem.data.table.values, problem.kernel, n_pairs, n_candidates)
        with fitting(self, problem, splits, y, folder, n_searches) as searches:
            self._select(problem, searches)
        self.target_kernel_, self.block_size_ = problem.labels.name, problem.block_size

    def _select(self, problem: Problem, searches: Fitting) -> None:
        """Search, decide on the number of units, and set the attributes that say what was selected."""
        auto, units = is_auto(self.n_features_to_select), problem.units
        kernel, judged = searches.cross_fit()
        search = searches.search(kernel)
        order, copies = search.direction.order(search.rounds, search.scorer), problem.copies
        if copies:  # which come right behind the columns that stand for them
            place = np.argsort(order)
            behind = sorted(range(len(order)), key=lambda j: (place[copies.get(j, j)], j in copies))
            order = np.array(behind, dtype=np.intp)
        chosen = judged.smallest() if judged is not None and auto else problem.number
        ranked, size = order[~units.left_out[order]], max(chosen, 1, units.n_kept)
        selected = np.sort(ranked[:size])
        if judged is not None and auto and chosen and self.criterion == "prediction":
            needed = search.needed(ranked, size)
            if not np.array_equal(needed, selected):
                judged, selected = searches.needed(kernel, judged, chosen, needed), needed
        self._record_path(search, judged, len(selected), chosen)
        self._record_ranking(search, order, selected)
        self.kernel_ = kernel_name(kernel) if is_auto(self.kernel) else self.kernel
        best = int(order[0]) if units.groups is None else None
        self.leaks_ = tuple(problem.data.table.column_names[j] for j in leaks(problem, best, self.support_, judged))
        if self.leaks_ and auto:
            warnings.warn(leak_words(self.leaks_), UserWarning, stacklevel=5)

    def _warn(self, problem: Problem) -> None:
        """Warn of labels that an estimate can't use, of columns that are left out, and of a number beyond all."""
        unbiased = self.statistic == "unbiased" and self.criterion == "hsic"
        problem.labels.warn(unbiased=unbiased, way_out="statistic='biased'", weighted=problem.data.weights is not None)
        labels = getattr(self, "feature_names_in_", np.arange(len(self.columns_)))
        ways_out = "; identifiers='use' keeps them, columns_ has the reasons"
        for roles, what, remedy in (
            (("identifier", "text", "empty"), "look like identifiers or are empty and are ignored", ways_out),
            (("constant",), "are constant and are ignored", ""),
        ):
            names = labels[[column.role in roles for column in self.columns_]]
            if len(names):
                shown = ", ".join(map(str, names[:10])) + (", ..." if len(names) > 10 else "") + remedy
                message = f"{len(names)} of {len(self.columns_)} features {what}: {shown}"
                warnings.warn(message, UserWarning, stacklevel=5)
        number, units = self.n_features_to_select, problem.units
        if isinstance(number, Integral) and number > units.n_used:
            used = "" if units.n_used == len(units) else f", of which {units.n_used} are used"
            what = f" is {number}, X has {len(units)} {units.name}{used}: all are kept"
            warnings.warn(Message(Given("n_features_to_select"), what), UserWarning, stacklevel=5)

    def _record_path(self, search: Search, judged: CrossFit | None, n_selected: int, chosen: int) -> None:
        """Set the attributes that say how well subsets predict, and why this number of units was chosen."""
        path, units = [], search.units
        for step in search.rounds:
            value, error, score = (None, None, None) if judged is None else judged.measure(len(step.subset))
            path.append(
                PathStep(
                    n_features=len(units.members(step.subset)),
                    parameter=step.parameter,
                    hsic=step.score if self.criterion == "hsic" else None,
                    value=step.score,
                    standard_error=step.standard_error,
                    features=tuple(units.members(step.changed).tolist()),
                    predictability=value,
                    predictability_error=error,
                    ridge=step.ridge,
                    score=score,
                )
            )
        if judged is not None and is_auto(self.n_features_to_select):
            why = reason(judged, chosen, n_selected, units.name)
            at = min(range(len(path)), key=lambda position: abs(len(search.rounds[position].subset) - chosen))
            path[at] = replace(path[at], reason=why)
            self.predicts_ = chosen > 0
            if not self.predicts_:
                warnings.warn(f"{why}; the best of the {units.name} is kept so that pipelines still run", stacklevel=6)
        if judged is not None:
            self.predictability_, self.predictability_error_, self.score_ = judged.measure(chosen)
            self.score_name_ = judged.score_name
            self.n_folds_, self.n_judged_ = len(judged.folds), judged.n_judged
            best = [fold.order[: max(chosen, 1, units.n_kept)] for fold in judged.folds]
            counts = np.bincount(np.concatenate(best), minlength=len(units))
            self.selection_frequencies_ = counts[units.of_columns] / len(judged.folds)
        self.path_ = tuple(path)

    def _record_ranking(self, search: Search, order: Indices, selected: Indices) -> None:
        """Set the attributes that say what was selected, given all units in order, the most relevant first."""
        units = search.units
        rank = np.ones(len(order), dtype=np.intp)
        others = order[~np.isin(order, selected)]
        rank[others] = np.arange(len(others)) + 2
        self.ranking_ = rank[units.of_columns]
        self.support_ = self.ranking_ == 1
        self.n_features_ = int(self.support_.sum())
        if self._forward:
            self.selection_order_ = units.members(order)
        else:
            self.elimination_order_ = units.members(order[::-1])
        if units.groups is not None:
            self.group_order_ = units.labels[order]
        varied = selected[~units.idle[selected]]
        outside = others[~(units.idle | units.left_out)[others]]
        scores = search.scores(varied, outside) if len(varied) else np.zeros(len(units))
        self.scores_ = np.asarray(scores[units.of_columns])  # 0 for those that take no part, NaN if not measured

    def transform(self, X: Any) -> Any:
        """Return the selected columns.

        Parameters
        ----------
        X : array-like, sparse matrix, dataframe, memmap, zarr or dask array of shape (n_samples, n_features)
            A dataframe needs only the selected columns if `fit` has seen one with names: they are found by name, in
            any order and among any others. Exactly the columns of `fit` in another order are an error, as
            scikit-learn demands of its estimators.

        Returns
        -------
        array, sparse matrix, dataframe or dask array of shape (n_samples, number of selected features)
            The selected columns in the order of `fit`. Sparse from sparse, lazy from a dask array, otherwise an array.
            As with scikit-learn's own selectors, that of a dataframe with numbers and categories is an array of
            objects; after ``set_output(transform="pandas")`` (or "polars") it is a dataframe with the types of X.
        """
        source = source_of(X)
        if source is not None:
            columns = np.flatnonzero(self._get_support_mask())
            validate_data(self, X, reset=False, skip_check_array=True)
            return X[:, columns] if is_dask_array(X) else source.read(slice(0, source.shape[0]), columns)
        return selected_columns(self, X, missing=self.missing != "error")


@contextmanager
def unchanged_on_error(estimator: BaseEstimator) -> Iterator[None]:
    """Forget an earlier fit; restore it if this one fails or is interrupted."""
    before = dict(vars(estimator))
    for name in before:
        if name.endswith("_"):
            delattr(estimator, name)
    try:
        yield
    except BaseException:
        now = vars(estimator)
        for name in set(now) - set(before) - {"_callback_fit_ctx", "_skl_callbacks_to_teardown"}:
            del now[name]
        now.update(before)
        raise
