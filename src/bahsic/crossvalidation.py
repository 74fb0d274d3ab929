"""BAHSICCV: the number of features chosen by cross-validation with an estimator."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier, is_regressor
from sklearn.feature_selection import SelectorMixin
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from bahsic.kernels import Precomputed
from bahsic.notebook import NotebookMixin
from bahsic.selectors import BAHSIC, unchanged_on_error

Scores = NDArray[np.float64]
Indices = NDArray[np.intp]
Split = tuple[Indices, Indices]

_ROUNDING = 1e-12  # relative; means of the same scores in another order are ties


def _estimator_has(method: str) -> Callable[[BAHSICCV], bool]:
    return lambda search: hasattr(getattr(search, "estimator_", search.estimator), method)


def _is_named(kernel: Any, name: str) -> bool:
    return isinstance(kernel, str) and kernel == name


class BAHSICCV(NotebookMixin, SelectorMixin, MetaEstimatorMixin, BaseEstimator):
    """Backward elimination by HSIC, with the number of features chosen by cross-validation.

    In each fold `BAHSIC` ranks the features once, on the training part alone. The ranking gives nested
    subsets; the estimator is fitted to the training part with each of them and scored on the test part.
    The number with the best mean score is then selected from the ranking on all data.

    Parameters
    ----------
    estimator : estimator with ``fit``
        Any one: neither coefficients nor importances are needed, the ranking is that of HSIC.
    step : float or int, default=0.1
        What leaves in a round, see `BAHSIC`; the subsets that are scored are those between the rounds.
    min_features_to_select : int, default=1
        Size of the smallest subset. It is scored whether or not a round ends there.
    cv : int, splitter, iterable or None, default=None
        As in scikit-learn; None means five folds, stratified for a classifier. At least two splits.
    scoring : str, callable or None, default=None
        As in scikit-learn; None means the ``score`` of the estimator.
    one_standard_error : bool, default=False
        Whether to select the fewest features whose mean score is within one standard error of the best,
        that is, the standard deviation of its scores over the root of their number. Otherwise those with
        the best mean score, the fewest in case of ties.
    kernel, target_kernel, statistic, standardize
        As for `BAHSIC`. ``target_kernel="auto"`` is "regression" where the estimator is a regressor;
        otherwise the type of all of y decides, for every fold.
    n_jobs : int or None, default=None
        Number of folds at a time. The result does not depend on it.

    Attributes
    ----------
    n_features_ : int
        The chosen number.
    support_, ranking_ : ndarray of shape (n_features,)
        Of `selector_`: the selected features, and 1 for these, 2 for the next best one, and so on.
    selector_ : BAHSIC
        Fitted to all data.
    estimator_ : estimator
        Fitted to the selected columns of all data, as an array without names.
    cv_results_ : dict of ndarray
        ``n_features``, increasing, and for these sizes ``mean_test_score``, ``std_test_score`` (of the
        scores, dividing by their number), ``split{i}_test_score``, ``split{i}_ranking`` and
        ``split{i}_support``, the last two of shape (n_sizes, n_features).
    classes_ : ndarray of shape (n_classes,)
        Of `estimator_`, if it is a classifier.
    n_features_in_, feature_names_in_
        Number of features seen in `fit`, and their names where X has names.

    See Also
    --------
    BAHSIC : Backward elimination to a given number.
    sklearn.feature_selection.RFECV : The same by the weights of an estimator.

    Notes
    -----
    The best mean score is that of the best among several and so a little too high: for an honest score
    cross-validate the whole search, as in ``cross_val_score(BAHSICCV(estimator), X, y)``.

    The cost is that of `BAHSIC` for each fold and for all data, and a fit of the estimator for each fold
    and size, of which there are about log(d) / step for d features and a step below 1.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from bahsic import BAHSICCV
    >>> from bahsic.datasets import make_xor
    >>> X, y, support = make_xor(n_samples=200, n_features=22, random_state=0)
    >>> search = BAHSICCV(KNeighborsClassifier(), step=0.3, cv=3).fit(X, y)
    >>> search.n_features_, search.get_support(indices=True)
    (2, array([0, 1]))
    >>> search.cv_results_["n_features"]
    array([ 1,  2,  3,  4,  5,  7,  9, 12, 16, 22])
    """

    # They go to the splitter: `fit` itself has no request for them, and so no set_fit_request.
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"groups": UNUSED}

    def __init__(  # noqa: PLR0913 - scikit-learn's parameters, and those of BAHSIC
        self,
        estimator: Any,
        *,
        step: float = 0.1,
        min_features_to_select: int = 1,
        cv: Any = None,
        scoring: Any = None,
        one_standard_error: bool = False,
        kernel: Any = "gaussian",
        target_kernel: Any = "auto",
        statistic: str = "unbiased",
        standardize: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.step = step
        self.min_features_to_select = min_features_to_select
        self.cv = cv
        self.scoring = scoring
        self.one_standard_error = one_standard_error
        self.kernel = kernel
        self.target_kernel = target_kernel
        self.statistic = statistic
        self.standardize = standardize
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, *, groups: Any = None, **params: Any) -> Self:
        """Choose the number of features, select them, and fit the estimator to them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The data.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The labels: classes or numbers.
        groups : array-like of shape (n_samples,), optional
            Groups of samples, for a splitter that keeps them together.
        **params
            Metadata for the estimator, the scorer and the splitter, with scikit-learn's
            ``enable_metadata_routing``. The ranking makes no use of sample weights.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            self._fit(X, y, params if groups is None else {"groups": groups, **params})
        return self

    def _fit(self, X: Any, y: Any, metadata: dict[str, Any]) -> None:
        self._check_parameters()
        routed = self._routed("fit", metadata)
        selector = self._selector().fit(X, y)
        X, y = validate_data(self, X, y, multi_output=True)
        splits = self._splits(X, y, routed["splitter"]["split"])
        data = _Data(X, y, routed["estimator"]["fit"], routed["scorer"]["score"])
        folds = self._folds(selector, data, splits)
        scores = np.array([fold.scores for fold in folds])
        chosen = _chosen(scores, one_standard_error=self.one_standard_error)
        self.cv_results_ = _cv_results(folds, scores)
        self._set_selection(selector, folds[0].sizes[chosen])
        self.estimator_ = data.fitted(self.estimator, self.support_)

    def _selector(self) -> BAHSIC:
        """One feature to select makes the ranking complete: the n best are those up to rank n."""
        by_type = _is_named(self.target_kernel, "auto") and is_regressor(self.estimator)
        return BAHSIC(
            1,
            step=self.step,
            kernel=self.kernel,
            target_kernel="regression" if by_type else self.target_kernel,
            statistic=self.statistic,
            standardize=self.standardize,
            n_jobs=self.n_jobs,
        )

    def _folds(self, selector: BAHSIC, data: _Data, splits: list[Split]) -> list[_Fold]:
        smallest, n_features = self.min_features_to_select, selector.n_features_in_
        if smallest > n_features:
            raise ValueError(f"min_features_to_select is {smallest}, X has {n_features} features; accepted: no more")
        ranker = _FoldRanker(**selector.get_params(deep=False))
        if _is_named(ranker.target_kernel, "auto"):
            ranker.set_params(target_kernel=selector.target_kernel_)
        if effective_n_jobs(self.n_jobs) > 1:
            ranker.set_params(n_jobs=1)  # the folds are the workers
        arguments = (ranker, self.estimator, check_scoring(self.estimator, self.scoring), smallest)
        return list(Parallel(n_jobs=self.n_jobs)(delayed(data.fold)(split, *arguments) for split in splits))

    def _set_selection(self, selector: BAHSIC, n_features: int) -> None:
        complete = selector.ranking_
        self.selector_ = selector.set_params(n_features_to_select=n_features)
        self.n_features_ = selector.n_features_ = n_features
        self.ranking_ = selector.ranking_ = np.maximum(complete + 1 - n_features, 1)
        self.support_ = selector.support_ = complete <= n_features

    @property
    def classes_(self) -> Any:
        """The classes of the fitted estimator."""
        return self.estimator_.classes_

    @available_if(_estimator_has("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> Any:
        """Prediction of `estimator_` from the selected columns of X."""
        return self._answer("predict", X)

    @available_if(_estimator_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the classes from the selected columns of X."""
        return self._answer("predict_proba", X)

    @available_if(_estimator_has("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Any:
        """Logarithms of the probabilities of the classes from the selected columns of X."""
        return self._answer("predict_log_proba", X)

    @available_if(_estimator_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """Decision function of `estimator_` at the selected columns of X."""
        return self._answer("decision_function", X)

    def score(self, X: Any, y: Any, **params: Any) -> float:
        """Score of `estimator_` by ``scoring`` on the selected columns of X; metadata as in `fit`."""
        selected, scorer = self._selected(X), check_scoring(self.estimator, self.scoring)
        return float(scorer(self.estimator_, selected, y, **self._routed("score", params)["scorer"]["score"]))

    def _answer(self, method: str, X: Any) -> Any:
        selected = self._selected(X)  # first: it says so where nothing is fitted
        return getattr(self.estimator_, method)(selected)

    def _selected(self, X: Any) -> Any:
        """The selected columns as `estimator_` has seen them, whatever `set_output` says."""
        check_is_fitted(self)
        return validate_data(self, X, reset=False)[:, self.support_]

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def _splits(self, X: Any, y: Any, params: dict[str, Any]) -> list[Split]:
        splits = list(check_cv(self.cv, y, classifier=is_classifier(self.estimator)).split(X, y, **params))
        if len(splits) < 2:
            raise ValueError(f"cv is {self.cv!r}, number of splits: {len(splits)}; accepted: at least 2 splits")
        return splits

    def _check_parameters(self) -> None:
        estimator, number, scoring = self.estimator, self.min_features_to_select, self.scoring
        if isinstance(estimator, type) or not hasattr(estimator, "fit"):
            raise TypeError(f"estimator is {estimator!r}; accepted: an object with a method fit")
        if not isinstance(number, Integral) or isinstance(number, bool) or number < 1:
            raise ValueError(f"min_features_to_select is {number!r}; accepted: an int of at least 1")
        if isinstance(self.cv, Integral) and self.cv < 2:
            raise ValueError(f"cv is {self.cv!r}; accepted: at least 2 splits")
        if not (scoring is None or isinstance(scoring, str) or callable(scoring)):
            raise ValueError(f"scoring is {scoring!r}; accepted: None, the name of a scorer or a callable")
        if _is_named(self.target_kernel, "precomputed") or isinstance(self.target_kernel, Precomputed):
            raise ValueError("target_kernel is 'precomputed'; accepted: a kernel on labels that the estimator predicts")

    def _routed(self, caller: str, metadata: dict[str, Any]) -> Any:
        """What of the metadata goes to the estimator, the splitter and the scorer."""
        if get_config()["enable_metadata_routing"]:
            return process_routing(self, caller, **metadata)
        unknown = sorted(set(metadata) - ({"groups"} if caller == "fit" else set()))
        if unknown:
            raise ValueError(
                f"{caller} got {', '.join(unknown)}; accepted: groups in fit, "
                "other metadata only with sklearn.set_config(enable_metadata_routing=True)"
            )
        return {"estimator": {"fit": {}}, "splitter": {"split": metadata}, "scorer": {"score": {}}}

    def get_metadata_routing(self) -> MetadataRouter:
        """Where metadata go: to the estimator, the splitter and the scorer."""
        router = MetadataRouter(owner=self)
        router.add(estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        router.add(splitter=check_cv(self.cv), method_mapping=MethodMapping().add(caller="fit", callee="split"))
        scores = MethodMapping().add(caller="fit", callee="score").add(caller="score", callee="score")
        router.add(scorer=check_scoring(self.estimator, self.scoring), method_mapping=scores)
        return router

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), deepcopy(get_tags(self.estimator))
        for name in ("estimator_type", "classifier_tags", "regressor_tags", "target_tags"):
            setattr(tags, name, getattr(inner, name))
        tags.target_tags.required = True
        tags.input_tags.positive_only = inner.input_tags.positive_only
        return tags


class _FoldRanker(BAHSIC):
    """Silent about constant features: the fit on all data reports them once."""

    def _report_constant(self, constant: NDArray[np.bool_]) -> None:
        pass


@dataclass(frozen=True)
class _Fold:
    """Scores of the nested subsets of one fold, sizes increasing, and the ranking that they come from."""

    sizes: list[int]
    scores: Scores
    ranking: Indices


@dataclass(frozen=True)
class _Data:
    """Samples with what goes with them to the fit of an estimator and to the scorer."""

    X: NDArray[Any]
    y: NDArray[Any]
    fit_params: Mapping[str, Any]
    score_params: Mapping[str, Any]

    def fold(self, split: Split, ranker: BAHSIC, estimator: Any, scorer: Any, smallest: int) -> _Fold:
        train, test = (self._rows(rows) for rows in split)
        ranker = train.ranked(ranker)
        sizes = sorted({smallest, *(step.n_features for step in ranker.path_ if step.n_features > smallest)})
        supports = [ranker.ranking_ <= size for size in sizes]
        scores = [test.score(train.fitted(estimator, support), scorer, support) for support in supports]
        return _Fold(sizes, np.array(scores), ranker.ranking_)

    def ranked(self, ranker: BAHSIC) -> BAHSIC:
        try:
            return clone(ranker).fit(self.X, self.y)  # type: ignore[no-any-return]
        except ValueError as error:  # not of the parameters, which the fit on all data has accepted
            raise ValueError(f"cv gives a training part of {len(self.X)} samples without a ranking: {error}") from error

    def fitted(self, estimator: Any, support: NDArray[np.bool_]) -> Any:
        return clone(estimator).fit(self.X[:, support], self.y, **self.fit_params)

    def score(self, estimator: Any, scorer: Any, support: NDArray[np.bool_]) -> float:
        score = scorer(estimator, self.X[:, support], self.y, **self.score_params)
        if isinstance(score, Real) and math.isfinite(score):
            return float(score)
        raise ValueError(
            f"scoring by {scorer!r} gives {score!r} for {estimator!r} with {support.sum()} features; "
            "accepted: a finite number for every subset and split"
        )

    def _rows(self, rows: Indices) -> _Data:
        params = (_rows_of(params, rows, len(self.X)) for params in (self.fit_params, self.score_params))
        return _Data(self.X[rows], self.y[rows], *params)


def _rows_of(params: Mapping[str, Any], rows: Indices, n_samples: int) -> dict[str, Any]:
    """The parameters, those with an entry for each sample cut to the rows."""
    return {
        name: np.asarray(value)[rows] if np.ndim(value) and len(value) == n_samples else value
        for name, value in params.items()
    }


def _chosen(scores: Scores, *, one_standard_error: bool) -> int:
    """Which size to choose, given scores of shape (n_splits, n_sizes), sizes increasing.

    Examples
    --------
    >>> scores = np.array([[0.5, 0.8, 0.9, 0.9], [0.7, 0.7, 0.7, 0.7]])
    >>> _chosen(scores, one_standard_error=False), _chosen(scores, one_standard_error=True)
    (2, 1)
    """
    mean = scores.mean(axis=0)
    rounding = _ROUNDING * np.abs(scores[:, np.argmax(mean)]).max()
    best = int(np.argmax(mean >= mean.max() - rounding))
    if not one_standard_error:
        return best
    error = scores[:, best].std(ddof=1) / math.sqrt(len(scores))
    return int(np.argmax(mean >= mean[best] - error - rounding))


def _cv_results(folds: list[_Fold], scores: Scores) -> dict[str, NDArray[Any]]:
    sizes = np.array(folds[0].sizes)
    results = {"n_features": sizes, "mean_test_score": scores.mean(axis=0), "std_test_score": scores.std(axis=0)}
    for i, fold in enumerate(folds):
        results[f"split{i}_test_score"] = fold.scores
        results[f"split{i}_ranking"] = np.maximum(fold.ranking + 1 - sizes[:, None], 1)
        results[f"split{i}_support"] = fold.ranking <= sizes[:, None]
    return results
