"""BAHSIC and FOHSIC: feature selectors for scikit-learn."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bahsic.engine import Scorer, scorer_for, threads
from bahsic.engine.columns import prepared_columns
from bahsic.hsic import Matrix, estimate_and_variance, label_weights
from bahsic.kernels import LabelKernel, Precomputed, kernel_from_name, label_kernel
from bahsic.kernels.bandwidth import ScaledKernel
from bahsic.kernels.base import Kernel
from bahsic.progress import CallbackSupportMixin, reported, with_callbacks
from bahsic.search import Step, backward, forward, round_size

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class PathStep:
    """One round of a search.

    Attributes
    ----------
    n_features : int
        Size of the subset: before the round in backward elimination, after it in forward selection.
    parameter : float or None
        The gamma of the kernel on the data for a subset of that size, if it has one.
    hsic : float
        HSIC of the subset with that kernel.
    standard_error : float or None
        Of this HSIC (equation varHSIC), with ``standard_errors=True`` or ``n_features_to_select="auto"``.
    features : tuple of int
        The features that left, the least relevant first, or entered, the most relevant first.
    reason : str
        With ``n_features_to_select="auto"``, why this number of features was chosen; empty for the others.
    """

    n_features: int
    parameter: float | None
    hsic: float
    standard_error: float | None
    features: tuple[int, ...]
    reason: str = ""


class _Selector(CallbackSupportMixin, SelectorMixin, BaseEstimator):
    """What backward elimination and forward selection share."""

    def __init__(
        self,
        n_features_to_select: float | str | None = None,
        *,
        step: float = 0.1,
        kernel: Any = "gaussian",
        target_kernel: Any = "auto",
        statistic: str = "unbiased",
        standardize: bool = True,
        standard_errors: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.step = step
        self.kernel = kernel
        self.target_kernel = target_kernel
        self.statistic = statistic
        self.standardize = standardize
        self.standard_errors = standard_errors
        self.n_jobs = n_jobs

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any) -> Self:
        """Rank the features by their contribution to the dependence between X and y.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The data.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The labels: classes or numbers, or whatever ``target_kernel`` takes.

        Returns
        -------
        self
        """
        with _unchanged_on_error(self):
            self._fit(X, y)
        return self

    def _fit(self, X: Any, y: Any) -> None:
        kernel = self._checked_kernel()
        X, labels = self._checked_data(X, y)
        number = self._checked_number(X.shape[1])
        XT, constant = prepared_columns(X, kernel, standardize=self.standardize)
        self._report_constant(constant)
        weights = label_weights(labels, self.statistic)  # type: ignore[arg-type]
        with threads(self.n_jobs, len(X)) as executor:
            scorer = scorer_for(XT, kernel, weights, executor)
            steps = self._steps(scorer, constant, number)
            rounds = reported(self, steps, self._n_rounds(X.shape[1], number), X, y)
            path = [self._record(step, XT, labels) for step in rounds]
            order = self._order(scorer, constant, [j for step in path for j in step.features])
        if self.n_features_to_select == "auto":
            chosen = _within_one_standard_error(path)
            path[chosen] = replace(path[chosen], reason=_reason(path, chosen))
            number = path[chosen].n_features
        self.n_features_ = number
        self.target_kernel_ = labels.name
        self.path_ = tuple(path)
        self._set_ranking(order)

    @abstractmethod
    def _steps(self, scorer: Scorer, constant: NDArray[np.bool_], n_selected: int) -> Iterator[Step]:
        """The rounds of the search."""

    @abstractmethod
    def _n_rounds(self, n_features: int, n_selected: int) -> int:
        """How many rounds that will be."""

    @abstractmethod
    def _order(self, scorer: Scorer, constant: NDArray[np.bool_], changed: list[int]) -> Indices:
        """All features, the most relevant first, given those that the rounds changed in order."""

    def _set_ranking(self, order: Indices) -> None:
        self.ranking_ = np.empty(len(order), dtype=np.intp)
        self.ranking_[order] = np.maximum(np.arange(len(order)) + 2 - self.n_features_, 1)
        self.support_ = self.ranking_ == 1

    def _record(self, step: Step, XT: Array, labels: LabelKernel) -> PathStep:
        gamma = getattr(step.kernel, "gamma", None)
        error = None
        if self.standard_errors or self.n_features_to_select == "auto":
            K = step.kernel.centrable(np.ascontiguousarray(XT[step.subset].T))
            error = math.sqrt(estimate_and_variance(Matrix(K), labels)[1])
        features = tuple(int(j) for j in step.changed)
        return PathStep(len(step.subset), gamma, step.score, error, features)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "support_")
        support: NDArray[np.bool_] = self.support_
        return support

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _checked_kernel(self) -> Kernel:
        """The kernel on the data; all parameters that don't depend on the data are checked."""
        step, statistic = self.step, self.statistic
        fraction = isinstance(step, Real) and not isinstance(step, Integral) and 0 < step < 1
        count = isinstance(step, Integral) and not isinstance(step, bool) and step >= 1
        if not (fraction or count):
            raise ValueError(f"step is {step!r}; accepted: a float in (0, 1) or an int of at least 1")
        if statistic not in ("unbiased", "biased"):
            raise ValueError(f"statistic is {statistic!r}; accepted: 'unbiased', 'biased'")
        if self.n_jobs is not None and (not isinstance(self.n_jobs, Integral) or self.n_jobs == 0):
            raise ValueError(f"n_jobs is {self.n_jobs!r}; accepted: None or an int other than 0")
        kernel = kernel_from_name(self.kernel)
        if isinstance(kernel, Precomputed):
            raise ValueError(  # noqa: TRY004 - a value of the parameter, like its name "precomputed"
                "kernel is 'precomputed'; accepted: a kernel on features, some of which are to be selected"
            )
        if isinstance(kernel, ScaledKernel):
            kernel.check()
        return kernel

    def _checked_data(self, X: Any, y: Any) -> tuple[NDArray[Any], LabelKernel]:
        if type(X).__name__ == "LazyFrame":
            raise TypeError("X is a polars LazyFrame, which has no data yet; call X.collect() first")
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        X = validate_data(self, X, dtype=(np.float64, np.float32), ensure_min_samples=1)
        labels = label_kernel(y, self.target_kernel)
        if len(X) != len(labels):
            raise ValueError(f"X has {len(X)} samples, y has {len(labels)}; accepted: the same number in both")
        fewest = 4 if self.statistic == "unbiased" else 2
        if len(X) < fewest:
            raise ValueError(
                f"X has n_samples={len(X)}; accepted: at least 4 for statistic='unbiased', "
                "at least 2 for statistic='biased'"
            )
        return X, labels

    def _checked_number(self, n_features: int) -> int:
        """How many features to select; all for "auto", which is decided when the search is over."""
        number = self.n_features_to_select
        if number is None:
            return max(1, n_features // 2)
        if number == "auto":
            return n_features
        if isinstance(number, Integral) and not isinstance(number, bool) and number >= 1:
            if number > n_features:
                warnings.warn(
                    f"n_features_to_select is {number}, X has {n_features} features: all are kept",
                    UserWarning,
                    stacklevel=5,
                )
            return min(int(number), n_features)
        if isinstance(number, Real) and not isinstance(number, Integral) and 0 < number <= 1:
            return max(1, int(n_features * number))
        raise ValueError(
            f"n_features_to_select is {number!r}; accepted: None (half), an int of at least 1, "
            "a float in (0, 1] for a fraction of the features, or 'auto'"
        )

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
        Whether to give each feature zero mean and unit variance first.
    standard_errors : bool, default=False
        Whether to record the standard error of HSIC in each round. It costs one kernel matrix a round.
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

    def _steps(self, scorer: Scorer, constant: NDArray[np.bool_], n_selected: int) -> Iterator[Step]:
        return backward(scorer, constant, self.step)

    def _n_rounds(self, n_features: int, n_selected: int) -> int:
        n_rounds = 0
        while n_features:
            n_features -= round_size(self.step, n_features)
            n_rounds += 1
        return n_rounds

    def _order(self, scorer: Scorer, constant: NDArray[np.bool_], changed: list[int]) -> Indices:
        self.elimination_order_ = np.array(changed, dtype=np.intp)
        return self.elimination_order_[::-1]


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
    kernel, target_kernel, statistic, standardize, standard_errors, n_jobs
        As for `BAHSIC`. A rule for gamma is evaluated for subsets of one feature more.

    Attributes
    ----------
    selection_order_ : ndarray of int of shape (n_features,)
        All features, the most relevant first.
    support_, ranking_, n_features_, path_, target_kernel_, n_features_in_, feature_names_in_
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

    def __init__(
        self,
        n_features_to_select: float | str | None = None,
        *,
        step: float = 1,
        kernel: Any = "gaussian",
        target_kernel: Any = "auto",
        statistic: str = "unbiased",
        standardize: bool = True,
        standard_errors: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            n_features_to_select,
            step=step,
            kernel=kernel,
            target_kernel=target_kernel,
            statistic=statistic,
            standardize=standardize,
            standard_errors=standard_errors,
            n_jobs=n_jobs,
        )

    def _wanted(self, n_features: int, n_selected: int) -> int:
        return n_features if self.n_features_to_select in (None, "auto") else n_selected

    def _steps(self, scorer: Scorer, constant: NDArray[np.bool_], n_selected: int) -> Iterator[Step]:
        return forward(scorer, constant, self.step, self._wanted(len(constant), n_selected))

    def _n_rounds(self, n_features: int, n_selected: int) -> int:
        selected, wanted, n_rounds = 0, self._wanted(n_features, n_selected), 0
        while selected < wanted:
            selected += min(round_size(self.step, n_features - selected), wanted - selected)
            n_rounds += 1
        return n_rounds

    def _order(self, scorer: Scorer, constant: NDArray[np.bool_], changed: list[int]) -> Indices:
        chosen = np.array(changed, dtype=np.intp)
        rest = np.setdiff1d(np.arange(len(constant)), chosen, assume_unique=True)
        candidates = rest[~constant[rest]]
        ranked = scorer.entering(np.sort(chosen), candidates, len(candidates)).features
        self.selection_order_ = np.concatenate([chosen, ranked, rest[constant[rest]]])
        return self.selection_order_


def _within_one_standard_error(path: Sequence[PathStep]) -> int:
    """Position of the smallest subset whose HSIC is within one standard error of the best."""
    best = _best(path)
    enough = best.hsic - (best.standard_error or 0.0)
    near = [position for position, step in enumerate(path) if step.hsic >= enough]
    return min(near, key=lambda position: path[position].n_features)


def _best(path: Sequence[PathStep]) -> PathStep:
    """The step of highest HSIC, of the fewest features where several have it."""
    return max(path, key=lambda step: (step.hsic, -step.n_features))


def _reason(path: Sequence[PathStep], chosen: int) -> str:
    best, step = _best(path), path[chosen]
    return (
        f"{step.n_features} is the smallest number of features on the path with HSIC ({step.hsic:.4g}) within one "
        f"standard error ({best.standard_error:.2g}) of the best ({best.hsic:.4g} with {best.n_features})"
    )


@contextmanager
def _unchanged_on_error(estimator: BaseEstimator) -> Iterator[None]:
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
