"""BAHSICCV: the number of features chosen by cross-validation with an estimator."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_classifier, is_regressor
from sklearn.feature_selection import SelectorMixin
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, check_array, get_tags
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from bahsic.data.column_choice import column_mask, group_of_columns
from bahsic.data.tables import as_array, as_numbers, is_frame
from bahsic.kernels import Precomputed
from bahsic.report.notebook import NotebookMixin
from bahsic.selection.base import decoded, unchanged_on_error
from bahsic.selection.folds import Fold, FoldRanker, Indices, Samples, Split, chosen_size, cv_results, ranks
from bahsic.selection.selectors import BAHSIC


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
        Features that leave in a round, see `BAHSIC`; the subsets that are scored are those between the rounds.
    min_features_to_select : int, default=1
        Size of the smallest subset, no less than what is kept. It is scored whether or not a round ends there.
    cv : int, splitter, iterable or None, default=None
        As in scikit-learn; None means five folds, stratified for a classifier. At least two splits.
    scoring : str, callable or None, default=None
        As in scikit-learn; None means the ``score`` of the estimator.
    one_standard_error : bool, default=False
        Whether to select the fewest features whose mean score is within one standard error of the best,
        that is, the standard deviation of its scores over the root of their number. Otherwise those with
        the best mean score, the fewest in case of ties.
    kernel, target_kernel, criterion, ridge, statistic, standardize
        As for `BAHSIC`. ``target_kernel="auto"`` is "regression" where the estimator is a regressor;
        otherwise the type of all of y decides, for every fold.
    categorical_features, missing, feature_groups, keep
        As for `BAHSIC`, in every fold. The estimator gets missing entries as NaN; and where
        ``categorical_features`` is given, the selected columns as they are, of a dataframe a dataframe: it has
        to deal with them, see Notes. Numbers of features count groups, and all subsets have the kept columns.
    n_jobs : int or None, default=None
        Number of folds at a time. The result does not depend on it.

    Attributes
    ----------
    n_features_ : int
        The chosen number; with groups, that of the columns in them.
    support_, ranking_ : ndarray of shape (n_features,)
        Of `selector_`: the selected features, and 1 for these, 2 for the next best one, and so on.
    selector_ : BAHSIC
        Fitted to all data; its ``n_features_to_select`` is the chosen number.
    estimator_ : estimator
        Fitted to the selected columns of all data, as an array without names unless there are categories.
    cv_results_ : dict of ndarray
        ``n_features``, sizes in increasing order (numbers of groups, if there are any), and for these
        ``mean_test_score``, ``std_test_score`` (of the scores, dividing by their number),
        ``split{i}_test_score``, ``split{i}_ranking`` and ``split{i}_support``, the last two of shape
        (n_sizes, n_features).
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

    Neither categories nor missing entries are encoded for the estimator. `HistGradientBoostingClassifier` takes
    missing entries, and categorical columns of dataframes; for other estimators, put before them in a pipeline what
    prepares the columns of any subset, chosen by type::

        make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
            (SimpleImputer(), make_column_selector(dtype_include="number")),
        )

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
        criterion: str = "hsic",
        ridge: Any = "auto",
        statistic: str = "unbiased",
        standardize: bool = True,
        categorical_features: Any = None,
        missing: str = "error",
        feature_groups: Any = None,
        keep: Any = None,
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
        self.criterion = criterion
        self.ridge = ridge
        self.statistic = statistic
        self.standardize = standardize
        self.categorical_features = categorical_features
        self.missing = missing
        self.feature_groups = feature_groups
        self.keep = keep
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, *, groups: Any = None, **params: Any) -> Self:
        """Choose the number of features, select them, and fit the estimator to them.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
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
        y = validate_data(self, y=y, multi_output=True)  # before X, whose names it would forget
        seen = self._seen(X, reset=True)
        splits = self._splits(seen, y, routed["splitter"]["split"])
        table = X if is_frame(X) else seen  # rankings need the names
        samples = Samples(table, seen, y, routed["estimator"]["fit"], routed["scorer"]["score"])
        unit_of, smallest = self._units(selector)
        folds = self._folds(selector, samples, splits, unit_of, smallest)
        scores = np.array([fold.scores for fold in folds])
        size = folds[0].sizes[chosen_size(scores, one_standard_error=self.one_standard_error)]
        self.cv_results_ = cv_results(folds, scores)
        self._set_selection(selector, ranks(selector, unit_of), size)
        self.estimator_ = samples.fitted(self.estimator, self.support_)

    def _selector(self) -> BAHSIC:
        """The selector that ranks all features, by its `elimination_order_`."""
        by_type = _is_named(self.target_kernel, "auto") and is_regressor(self.estimator)
        shared = set(BAHSIC().get_params()) & set(self.get_params(deep=False))
        parameters = {name: getattr(self, name) for name in shared}
        return BAHSIC(1.0, **(parameters | ({"target_kernel": "regression"} if by_type else {})))

    def _seen(self, X: Any, *, reset: bool = False) -> Any:
        """X as the estimator sees it: an array of numbers, or with categories as it is; and checked."""
        neutral = self.missing == "neutral"
        if sparse.issparse(X) or (self.categorical_features is None and not neutral):
            return validate_data(self, X, reset=reset)
        finite = "allow-nan" if neutral else True
        if self.categorical_features is None:
            seen = check_array(as_numbers(X), ensure_all_finite=finite, input_name="X")
        elif is_frame(X):
            seen = decoded(X)
        else:
            seen = check_array(as_array(X, "X"), dtype=None, ensure_all_finite=finite, input_name="X")
        validate_data(self, X, reset=reset, skip_check_array=True)  # names and number of features
        return seen

    def _units(self, selector: BAHSIC) -> tuple[Indices, int]:
        """The unit of each column, that is, its group or itself; and how many make the smallest subset."""
        d, names = selector.n_features_in_, getattr(selector, "feature_names_in_", None)
        unit_of, labels = group_of_columns(self.feature_groups, d, names)
        kept = np.unique(unit_of[column_mask(self.keep, d, names, "keep")])
        smallest = self.min_features_to_select
        if smallest > len(labels):
            name = "features" if self.feature_groups is None else "groups"
            raise ValueError(f"min_features_to_select is {smallest}, X has {len(labels)} {name}; accepted: no more")
        return unit_of, max(smallest, len(kept))

    def _folds(
        self, selector: BAHSIC, samples: Samples, splits: list[Split], unit_of: Indices, smallest: int
    ) -> list[Fold]:
        ranker = FoldRanker(**selector.get_params(deep=False))
        if _is_named(ranker.target_kernel, "auto"):
            ranker.set_params(target_kernel=selector.target_kernel_)
        if effective_n_jobs(self.n_jobs) > 1:
            ranker.set_params(n_jobs=1)  # the folds are the workers
        arguments = (ranker, self.estimator, check_scoring(self.estimator, self.scoring), unit_of, smallest)
        return list(Parallel(n_jobs=self.n_jobs)(delayed(samples.fold)(split, *arguments) for split in splits))

    def _set_selection(self, selector: BAHSIC, rank: Indices, size: int) -> None:
        self.selector_ = selector.set_params(n_features_to_select=size)
        self.ranking_ = selector.ranking_ = np.maximum(rank + 1 - size, 1)
        self.support_ = selector.support_ = rank <= size
        self.n_features_ = selector.n_features_ = int(self.support_.sum())

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
        return _safe_indexing(self._seen(X), self.support_, axis=1)

    def transform(self, X: Any) -> Any:
        """The selected columns of X: an array, or a dataframe where `set_output` asks for one."""
        return super().transform(decoded(X))

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
        """Metadata for the estimator, the splitter and the scorer."""
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
        """Routing of metadata to the estimator, the splitter and the scorer."""
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
        tags.input_tags.allow_nan = self.missing == "neutral"
        tags.input_tags.categorical = tags.input_tags.string = self.categorical_features is not None
        return tags
