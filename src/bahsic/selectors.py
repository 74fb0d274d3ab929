"""BAHSIC and FOHSIC: feature selectors for scikit-learn."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bahsic.engine import Columns, Scorer, scorer_for, threads
from bahsic.engine.columns import mixed_columns
from bahsic.hsic import Matrix, estimate_and_variance, label_weights
from bahsic.kernels import Kernel, LabelKernel
from bahsic.notebook import NotebookMixin
from bahsic.path import PathStep, reason, within_one_standard_error
from bahsic.problem import FeatureUnits, checked_number, checked_problem, feature_units
from bahsic.progress import CallbackSupportMixin, reported, with_callbacks
from bahsic.search import Step, backward, forward, round_size
from bahsic.similarity import similarities

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


class _Round(NamedTuple):
    """A step of the path, and the units that it is about."""

    step: PathStep
    n_units: int
    changed: Indices


class _Selector(CallbackSupportMixin, NotebookMixin, SelectorMixin, BaseEstimator):
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

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Rank the features by their contribution to the dependence between X and y.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            The data.
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
        validate_data(self, X, skip_check_array=True)  # names and number of features
        kernel, table, labels, w = problem.kernel, problem.table, problem.labels, problem.weights
        columns, constant = mixed_columns(
            table.values, table.categorical, kernel, standardize=self.standardize, weights=w
        )
        self._report_constant(constant)
        units = feature_units(self.feature_groups, self.keep, table, constant)
        number = checked_number(self.n_features_to_select, units)
        self._report_excess(units)
        weights = label_weights(labels, self.statistic, w)  # type: ignore[arg-type]
        with threads(self.n_jobs, columns.n_samples) as executor:
            scorer = scorer_for(columns, kernel, weights, executor, groups=units.groups)
            steps = self._steps(scorer, units, number)
            rounds = reported(self, steps, self._n_rounds(units, number), X, y)
            path = [self._record(step, scorer, labels) for step in rounds]
            order = self._order(scorer, units, path)
        self._decide(path, order, units, number)
        if self.redundancy:
            self._add_redundancy(columns, constant, kernel, w)
        self.target_kernel_ = labels.name

    @abstractmethod
    def _steps(self, scorer: Scorer, units: FeatureUnits, number: int) -> Iterator[Step]:
        """The rounds of the search."""

    @abstractmethod
    def _n_rounds(self, units: FeatureUnits, number: int) -> int:
        """How many rounds that will be."""

    @abstractmethod
    def _order(self, scorer: Scorer, units: FeatureUnits, path: Sequence[_Round]) -> Indices:
        """All units, the most relevant first."""

    @abstractmethod
    def _subsets(self) -> list[Indices]:
        """The columns of the subset of each step of the path."""

    def _decide(self, rounds: Sequence[_Round], order: Indices, units: FeatureUnits, number: int) -> None:
        """Set the attributes that say what was selected, given all units in order."""
        path = [found.step for found in rounds]
        if self.n_features_to_select == "auto":
            chosen = within_one_standard_error(path)
            path[chosen] = replace(path[chosen], reason=reason(path, chosen))
            number = rounds[chosen].n_units
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

    def _record(self, step: Step, scorer: Scorer, labels: LabelKernel) -> _Round:
        gamma = getattr(step.kernel, "gamma", None)
        error = None
        if self.standard_errors or self.n_features_to_select == "auto":
            K = Matrix(scorer.gram(step.subset, step.kernel))
            error = math.sqrt(estimate_and_variance(K, labels, scorer.weights.sample_weight)[1])
        parts = scorer.units.each(step.changed)
        features = tuple(int(j) for part in parts for j in part)
        path_step = PathStep(scorer.units.size(step.subset), gamma, step.score, error, features)
        return _Round(path_step, len(step.subset), step.changed)

    def transform(self, X: Any) -> Any:
        """The selected columns.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)

        Returns
        -------
        array, sparse matrix or dataframe of shape (n_samples, n_features_)
            Sparse from sparse, a dataframe where `set_output` asks for one, else an array.
        """
        return super().transform(_decoded(X))

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "support_")
        support: NDArray[np.bool_] = self.support_
        return support

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


class BAHSIC(_Selector):
    """Backward elimination by the Hilbert-Schmidt independence criterion.

    At each round the features leave without which HSIC between the remaining ones and the labels is
    highest (the paper's algorithm BAHSIC). Features that matter only together with others are found,
    because each is judged in the context of all the others.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        How many features to select: a number, a fraction of all, or half of them (None). "auto" takes
        the smallest subset on the path whose HSIC is within one standard error of the best; see Notes.
    step : float or int, default=0.1
        What leaves in a round: a fraction of the features that remain (at least one), or a number.
    kernel : str, Kernel or callable, default="gaussian"
        Kernel on the data; ``"gaussian"`` is ``Gaussian("dimension")``, the paper's gamma = 1/(2 d).
        A rule for gamma is evaluated anew in each round, for subsets of one feature less.
    target_kernel : str, Kernel or callable, default="auto"
        Kernel on the labels, see `bahsic.kernels.label_kernel`; ``"auto"`` chooses by the type of y.
    statistic : {"unbiased", "biased"}, default="unbiased"
        The estimate of HSIC.
    standardize : bool, default=True
        Whether to give each number zero mean and unit variance first.
    categorical_features : None, "from_dtype", or array-like of bool, int or str, default=None
        Which columns are categories: none, those of strings, booleans and categorical types, or the given
        ones. Two different categories contribute to a squared distance so much that the mean contribution
        of the column is that of a standardised number. For the kernels `Gaussian` and `Laplacian`.
    missing : {"error", "neutral"}, default="error"
        Whether entries may be missing (NaN, None, null). If so, such an entry contributes the mean
        contribution of its column, whatever the other one is: it neither attracts nor repels.
    feature_groups : array-like of n_features labels, list of lists of columns, or dict, default=None
        Groups of columns that enter and leave together, such as one-hot columns or gene sets; numbers of
        features then count groups. gamma is for the columns that are left when a group of mean size leaves.
    keep : str, int or array-like of str, int or bool, default=None
        Columns that are never eliminated and condition all scores; the group of such a column is kept.
    standard_errors : bool, default=False
        Whether to record the standard error of HSIC in each round. It costs one kernel matrix a round.
    redundancy : bool, default=False
        Whether to record, for each subset up to the selected one, how similar its two most similar features
        are, see `bahsic.redundancy`. It costs the square of the number of selected features.
    n_jobs : int or None, default=None
        Number of threads. None means as many as BLAS uses, or one where there are few samples.
        The result does not depend on it.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
        The selected features.
    ranking_ : ndarray of int of shape (n_features,)
        1 for the selected features, 2 for the next best one, and so on.
    elimination_order_ : ndarray of int of shape (n_features,)
        All features, the least relevant first (the paper's S-dagger).
    n_features_ : int
        Number of selected features.
    group_order_ : ndarray of shape (n_groups,)
        With ``feature_groups``, the labels of the groups, the most relevant first.
    path_ : tuple of PathStep
        A record of each round.
    target_kernel_ : str
        The kernel on the labels that was used.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of str of shape (n_features,)
        Their names, where X has names.

    See Also
    --------
    FOHSIC : Forward selection.
    sklearn.feature_selection.RFE : Elimination by the weights of an estimator.

    Notes
    -----
    For the Gaussian, linear and polynomial kernels a round costs a few matrix products, O(m^2 n) for
    m samples and n remaining features; the whole elimination with a fraction f costs O(m^2 d / f).
    Other kernels take a slower path, see `bahsic.engine`.

    The choice by "auto" needs no estimator and costs one kernel matrix a round, but know its limits: only the
    sizes on the path are compared (a smaller ``step`` gives more of them); HSIC of subsets of different size is
    taken with different kernels, if a rule sets gamma; the standard error (equation varHSIC) is that of one
    HSIC under dependence, not of a difference; and the best of many values is too high. It answers how few
    features keep the dependence, not whether there is any: for that see `selection_test`, and `BAHSICCV` for
    the number that predicts best.

    References
    ----------
    Song, Smola, Gretton, Borgwardt, Bedo: Supervised feature selection via dependence estimation.
    ICML 2007.

    Examples
    --------
    >>> from bahsic import BAHSIC
    >>> from bahsic.datasets import make_xor
    >>> X, y, support = make_xor(n_samples=200, n_features=22, random_state=0)
    >>> selector = BAHSIC(n_features_to_select=2).fit(X, y)
    >>> selector.get_support(indices=True)
    array([0, 1])
    >>> selector.target_kernel_
    'binary'
    """

    def _steps(self, scorer: Scorer, units: FeatureUnits, number: int) -> Iterator[Step]:
        return backward(scorer, units.constant, self.step, units.kept)

    def _n_rounds(self, units: FeatureUnits, number: int) -> int:
        n_free, n_rounds = int(np.count_nonzero(~units.kept)), 0
        while n_free:
            n_free -= round_size(self.step, n_free)
            n_rounds += 1
        return max(1, n_rounds)

    def _order(self, scorer: Scorer, units: FeatureUnits, path: Sequence[_Round]) -> Indices:
        leaving = [unit for found in path for unit in found.changed]
        order = np.array([*leaving, *np.flatnonzero(units.kept)], dtype=np.intp)
        self.elimination_order_ = np.concatenate(scorer.units.each(order))
        return order[::-1]

    def _subsets(self) -> list[Indices]:
        n = len(self.elimination_order_)
        return [self.elimination_order_[n - step.n_features :] for step in self.path_]


class FOHSIC(_Selector):
    """Forward selection by the Hilbert-Schmidt independence criterion.

    At each round the features enter with which HSIC between the selected ones and the labels is
    highest. This is quicker than elimination where few features are wanted, but a feature that
    matters only together with others is not found: see `BAHSIC`.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        As for `BAHSIC`. The search stops at a number or fraction, and the other features are ranked by
        what each would add next; with None and "auto" it goes on to the end.
    step : int or float, default=1
        What enters in a round: a number, or a fraction of the features that remain (at least one).
    kernel, target_kernel, statistic, standardize, categorical_features, missing, feature_groups, keep
        As for `BAHSIC`. A rule for gamma is evaluated for subsets of one feature more. Kept columns are
        selected from the beginning.
    standard_errors, redundancy, n_jobs
        As for `BAHSIC`.

    Attributes
    ----------
    selection_order_ : ndarray of int of shape (n_features,)
        All features, the most relevant first.
    support_, ranking_, n_features_, group_order_, path_, target_kernel_, n_features_in_, feature_names_in_
        As for `BAHSIC`.

    See Also
    --------
    BAHSIC : Backward elimination.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bahsic import FOHSIC
    >>> X, y = load_iris(return_X_y=True)
    >>> FOHSIC(n_features_to_select=2).fit(X, y).selection_order_
    array([2, 3, 0, 1])
    """

    def __init__(  # noqa: PLR0913 - every parameter of BAHSIC, with another default step
        self,
        n_features_to_select: float | str | None = None,
        *,
        step: float = 1,
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
    ) -> None:
        super().__init__(
            n_features_to_select,
            step=step,
            kernel=kernel,
            target_kernel=target_kernel,
            statistic=statistic,
            standardize=standardize,
            categorical_features=categorical_features,
            missing=missing,
            feature_groups=feature_groups,
            keep=keep,
            standard_errors=standard_errors,
            redundancy=redundancy,
            n_jobs=n_jobs,
        )

    def _wanted(self, units: FeatureUnits, number: int) -> int:
        return len(units) if self.n_features_to_select in (None, "auto") else number

    def _steps(self, scorer: Scorer, units: FeatureUnits, number: int) -> Iterator[Step]:
        return forward(scorer, units.constant, self.step, self._wanted(units, number), units.kept)

    def _n_rounds(self, units: FeatureUnits, number: int) -> int:
        selected, wanted, n_rounds = int(units.kept.sum()), self._wanted(units, number), 0
        while selected < wanted:
            selected += min(round_size(self.step, len(units) - selected), wanted - selected)
            n_rounds += 1
        return max(1, n_rounds)

    def _order(self, scorer: Scorer, units: FeatureUnits, path: Sequence[_Round]) -> Indices:
        entering = [unit for found in path for unit in found.changed]
        chosen = np.array([*np.flatnonzero(units.kept), *entering], dtype=np.intp)
        rest = np.setdiff1d(np.arange(len(units)), chosen, assume_unique=True)
        candidates = rest[~units.constant[rest]]
        ranked = scorer.entering(np.sort(chosen), candidates, len(candidates)).features
        order = np.concatenate([chosen, ranked, rest[units.constant[rest]]])
        self.selection_order_ = np.concatenate(scorer.units.each(order))
        return order

    def _subsets(self) -> list[Indices]:
        return [self.selection_order_[: step.n_features] for step in self.path_]


def _decoded(X: Any) -> Any:
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
