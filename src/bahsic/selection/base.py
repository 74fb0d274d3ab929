"""Base class of BAHSIC and FOHSIC: checks data, runs the searches, decides and records the selection."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from bahsic.data.roles import ColumnRole
from bahsic.data.sources import is_dask_array, source_of
from bahsic.data.tables import as_plain, by_dtype, column_names, columns_of, is_frame
from bahsic.engine.dask_executor import executor_for
from bahsic.engine.executor import thread_count
from bahsic.engine.scorer import Round
from bahsic.kernels import Kernel
from bahsic.parameters import Given, Message
from bahsic.report.headline import leak_words
from bahsic.report.notebook import NotebookMixin
from bahsic.selection.aside import column_roles
from bahsic.selection.checkpoint import check_seed, checked_folder, digest_of, fingerprint
from bahsic.selection.cluster import ClusterMixin
from bahsic.selection.crossfit import CrossFit, reason
from bahsic.selection.fitting import Fitting, Folder, kernel_name
from bahsic.selection.leaks import leaks
from bahsic.selection.path import PathStep
from bahsic.selection.problem import Problem, checked_problem, is_auto, is_crossfitted
from bahsic.selection.progress import CallbackSupportMixin, track_progress, with_callbacks
from bahsic.selection.rounds import Search, Task
from bahsic.selection.splits import Split, check_cv, problem_splits, trial_splits
from bahsic.selection.units import FeatureUnits, checked_number, feature_units

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Attributes of a selection that was judged by held-out samples.
_JUDGED = (
    *("predictability_", "predictability_error_", "score_", "score_name_", "n_folds_", "selection_frequencies_"),
    *("n_judged_", "predicts_"),
)

_NAMES = ("identifier", "text", "empty")
_REMEDY = "; identifiers='use' takes them, columns_ has the reasons"


class Selector(ClusterMixin, CallbackSupportMixin, NotebookMixin, SelectorMixin, BaseEstimator):
    """Base class of backward elimination and forward selection."""

    _forward: ClassVar[bool] = False

    __metadata_request__fit: ClassVar[dict[str, Any]] = {"groups": True}  # as scikit-learn's splitters

    def __init__(  # noqa: PLR0913 - the search, the kernels, the table, and what to report
        self,
        n_features_to_select: float | str | None = None,
        *,
        step: float = 0.1,
        kernel: Any = "gaussian",
        target_kernel: Any = "auto",
        criterion: Any = "hsic",
        ridge: Any = "auto",
        statistic: str = "unbiased",
        standardize: bool = True,
        categorical_features: Any = "from_dtype",
        missing: str = "neutral",
        identifiers: Any = "drop",
        feature_groups: Any = None,
        keep: Any = None,
        cv: Any = None,
        standard_errors: bool = False,
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
        self.cv = cv
        self.standard_errors = standard_errors
        self.n_jobs = n_jobs
        self.block_size = block_size
        self.random_state = random_state
        self.checkpoint = checkpoint
        self.executor = executor
        self.verbose = verbose

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
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> None:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        problem = checked_problem(self, X, y, sample_weight)
        X = problem.data.X
        validate_data(self, X, skip_check_array=True)  # names and number of features
        roles = column_roles(problem, self.missing)
        units = feature_units(self.feature_groups, problem)
        number, auto = checked_number(self.n_features_to_select, units), is_auto(self.n_features_to_select)
        self._report_labels(problem)
        self._report_idle(roles)
        self._report_excess(units)
        splits = self._splits(problem, y, groups, sample_weight)
        folder = None if self.checkpoint is None else self._folder(problem, splits)
        n_threads, task = thread_count(self.n_jobs), self._task(number)
        work = _n_searches(problem, splits) * task.work(problem)
        with (
            executor_for(self.executor, X, self.n_jobs, len(problem)) as executor,
            track_progress(self, work, X, y, verbose=bool(self.verbose)) as progress,
        ):
            fitting = Fitting(problem, task, executor, n_threads, progress, folder)
            kernel, judged = self._judged(fitting, splits, units, number)
            search = fitting.search(kernel)
            order = _with_copies(search.order, problem.copies)
            chosen = judged.smallest() if judged is not None and auto else number
            used, size = order[~units.left_out[order]], max(chosen, 1, int(units.kept.sum()))
            selected = used[:size]
            if judged is not None and chosen and auto and self.criterion == "prediction":
                needed = search.needed(used, size)
                if not np.array_equal(needed, np.sort(selected)):
                    judged = fitting.needed(kernel, splits, judged, chosen, needed)
                    selected = needed
            self._decide(search, judged, order, units, selected, chosen)
            self.scores_ = self._scores(search, np.sort(selected), order, units)
        best = int(order[0]) if units.groups is None else None
        self.leaks_ = tuple(problem.data.table.column_names[j] for j in leaks(problem, best, self.support_, judged))
        if self.leaks_ and auto:
            warnings.warn(leak_words(self.leaks_), UserWarning, stacklevel=4)
        self.target_kernel_ = problem.labels.name
        self.columns_ = roles
        self.block_size_ = problem.block_size
        self.kernel_ = kernel_name(kernel) if is_auto(self.kernel) else self.kernel

    def _task(self, number: int) -> Task:
        names = ("criterion", "statistic", "ridge", "standard_errors", "feature_groups", "step")
        parameters: dict[str, Any] = {name: getattr(self, name) for name in names}
        to_the_end = self.n_features_to_select is None or is_auto(self.n_features_to_select)
        return Task(**parameters, forward=self._forward, number=None if to_the_end else number)

    def _splits(self, problem: Problem, y: Any, groups: Any, sample_weight: Any) -> list[Split]:
        """Return the splits of the samples, if the selection is to be judged."""
        check_cv(self.cv)
        if not is_crossfitted(self):
            return []
        return problem_splits(self.cv, problem, y, groups, _num_samples(problem.data.X), sample_weight)

    def _judged(
        self, fitting: Fitting, splits: list[Split], units: FeatureUnits, number: int
    ) -> tuple[Kernel, CrossFit | None]:
        """Return the kernel that predicts held-out samples best, and these predictions if there are any."""
        problem = fitting.problem
        if not splits:
            return problem.kernel, None
        auto, n_kept = is_auto(self.n_features_to_select), int(units.kept.sum())
        sizes = {0, n_kept, max(1, n_kept), *fitting.task.direction(units).sizes(), *([] if auto else [number])}
        if len(problem.kernels) == 1:
            return problem.kernel, fitting.cross_fit(problem.kernel, splits, sorted(sizes))
        trial = trial_splits(problem, splits)
        found = {kernel: fitting.cross_fit(kernel, trial, sorted(sizes)) for kernel in problem.kernels}
        best = min(found, key=lambda one: found[one].mean_loss(found[one].best if auto else number))
        known = found[best].folds if trial[0] is splits[0] else []
        return best, fitting.cross_fit(best, splits, sorted(sizes), known)

    def _folder(self, problem: Problem, splits: Sequence[Split]) -> Folder:
        check_seed(self, problem)
        parts = digest_of(part for split in splits for part in split)
        return Folder(checked_folder(self.checkpoint), {**fingerprint(self, problem), "splits": parts})

    @abstractmethod
    def _record_order(self, units: FeatureUnits, order: Indices) -> None:
        """Set the attribute that has all columns in order, given the units, the most relevant first."""

    def _decide(
        self,
        search: Search,
        judged: CrossFit | None,
        order: Indices,
        units: FeatureUnits,
        selected: Indices,
        chosen: int,
    ) -> None:
        """Set the attributes that say what was selected, given all units in order."""
        path = [self._path_step(one, units, judged) for one in search.rounds]
        for name in ("group_order_", *_JUDGED):  # of an earlier fit
            self.__dict__.pop(name, None)
        if judged is not None:
            if is_auto(self.n_features_to_select):
                why = reason(judged, chosen, len(selected), units.name)
                at = min(range(len(path)), key=lambda position: abs(len(search.rounds[position].subset) - chosen))
                path[at] = replace(path[at], reason=why)
                self.predicts_ = chosen > 0
                if not self.predicts_:
                    warnings.warn(f"{why}; the best of the {units.name} is kept so that pipelines go on", stacklevel=5)
            measure = judged.measure(chosen)
            self.predictability_, self.predictability_error_ = measure.predictability, measure.error
            self.score_, self.score_name_ = measure.score, judged.score_name
            self.n_folds_, self.n_judged_ = len(judged.folds), judged.n_judged
            number = max(chosen, 1, int(units.kept.sum()))
            self.selection_frequencies_ = judged.frequencies(number, len(units))[units.of_columns]
        rank = np.ones(len(order), dtype=np.intp)
        others = order[~np.isin(order, selected)]
        rank[others] = np.arange(len(others)) + 2
        self.path_ = tuple(path)
        self.ranking_ = rank[units.of_columns]
        self.support_ = self.ranking_ == 1
        self.n_features_ = int(self.support_.sum())
        self._record_order(units, order)
        if units.groups is not None:
            self.group_order_ = units.labels[order]

    def _path_step(self, found: Round, units: FeatureUnits, judged: CrossFit | None) -> PathStep:
        measure = None if judged is None else judged.measure(len(found.subset))
        return PathStep(
            n_features=units.size(found.subset),
            parameter=found.parameter,
            hsic=found.score if self.criterion == "hsic" else None,
            value=found.score,
            standard_error=found.standard_error,
            features=tuple(int(j) for part in units.each(found.changed) for j in part),
            predictability=None if measure is None else measure.predictability,
            predictability_error=None if measure is None else measure.error,
            ridge=found.ridge,
            score=None if measure is None else measure.score,
        )

    def _scores(self, search: Search, selected: Indices, order: Indices, units: FeatureUnits) -> Array:
        """Return the relevance of each column: 0 for those that take no part, NaN where it was not measured."""
        varied = selected[~units.idle[selected]]
        outside = order[~(units.idle | units.left_out)[order] & ~np.isin(order, selected)]
        scores = search.scores(varied, outside) if len(varied) else np.zeros(len(units))
        return np.asarray(scores[units.of_columns])

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
            chosen = np.flatnonzero(self._get_support_mask())
            validate_data(self, X, reset=False, skip_check_array=True)
            return X[:, chosen] if is_dask_array(X) else source.read(slice(0, source.shape[0]), chosen)
        return selected_columns(self, X, missing=self.missing != "error")

    @property
    def feature_importances_(self) -> Array:
        """The scores of the selected features, and 0 for the others, as scikit-learn's tools expect them."""
        check_is_fitted(self, "scores_")
        return np.where(self.support_, self.scores_, 0.0)

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
        problem.labels.warn(unbiased=unbiased, way_out="statistic='biased'", weighted=problem.data.weights is not None)

    def _report_idle(self, roles: Sequence[ColumnRole]) -> None:
        """Warn of constant columns, and of those that are left out."""
        labels = getattr(self, "feature_names_in_", np.arange(len(roles)))
        for idle, told, remedy in (
            (_NAMES, "look like identifiers or are empty and are left out", _REMEDY),
            (("constant",), "are constant and are left out", ""),
        ):
            names = labels[[role.role in idle for role in roles]]
            if len(names):
                shown = ", ".join(map(str, names[:10])) + (", ..." if len(names) > 10 else "") + remedy
                warnings.warn(f"{len(names)} of {len(roles)} features {told}: {shown}", UserWarning, stacklevel=5)

    def _report_excess(self, units: FeatureUnits) -> None:
        wanted = self.n_features_to_select
        if isinstance(wanted, Integral) and wanted > units.n_used:
            used = "" if units.n_used == len(units) else f", of which {units.n_used} are used"
            warnings.warn(
                Message(
                    Given("n_features_to_select"), f" is {wanted}, X has {len(units)} {units.name}{used}: all are kept"
                ),
                UserWarning,
                stacklevel=5,
            )


def _with_copies(order: Indices, copies: Mapping[int, int]) -> Indices:
    """Return all features in order, each copy right behind the one that stands for it.

    Examples
    --------
    >>> _with_copies(np.array([2, 0, 1, 3]), {1: 2, 3: 2})
    array([2, 1, 3, 0])
    """
    behind: dict[int, list[int]] = {}
    for copy, first in copies.items():
        behind.setdefault(first, []).append(copy)
    parts = [[j, *behind.get(j, ())] for j in order.tolist() if j not in copies]
    return np.array([j for part in parts for j in part], dtype=np.intp)


def _n_searches(problem: Problem, splits: list[Split]) -> int:
    """Return the number of searches of a fit, with those that compare kernels."""
    if not splits:
        return 1
    trial, n_kernels = trial_splits(problem, splits), len(problem.kernels)
    n_tried = n_kernels - (trial[0] is splits[0]) if n_kernels > 1 else 0
    return n_tried * len(trial) + len(splits) + (not problem.n_held_out)


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
    part = columns_of(X, _positions(selector, X, chosen))  # before all columns become an array of one type
    kind = "pandas" if hasattr(part, "iloc") else "polars" if hasattr(part, "iter_columns") else "pyarrow"
    return part if wanted == kind else as_plain(part)


def _positions(selector: Any, X: Any, chosen: Indices) -> list[int]:
    """Return where the selected columns are in a frame: by name, unless it has just the columns of `fit`."""
    fitted, names = getattr(selector, "feature_names_in_", None), column_names(X, "X")
    if fitted is None or names is None or set(names) == set(fitted):
        validate_data(selector, X, reset=False, skip_check_array=True)
        return [int(j) for j in chosen]
    position = {name: j for j, name in enumerate(names)}
    absent = [repr(name) for name in fitted[chosen] if name not in position]
    if absent:
        try:  # scikit-learn's checks of estimators demand its own error
            validate_data(selector, X, reset=False, skip_check_array=True)
        except ValueError as error:
            shown = ", ".join(absent[:10]) + (", ..." if len(absent) > 10 else "")
            reason = (
                f"X lacks {len(absent)} of {len(chosen)} selected columns: {shown}; accepted: frames with all of them"
            )
            raise ValueError(f"{error}{reason}") from None
    return [position[name] for name in fitted[chosen]]


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
