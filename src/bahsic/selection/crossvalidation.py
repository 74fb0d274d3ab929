"""BAHSICCV: the number of features chosen by cross-validation with an estimator."""

from __future__ import annotations

import warnings
from copy import deepcopy
from dataclasses import KW_ONLY, dataclass, fields
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn import get_config
from sklearn.base import MetaEstimatorMixin, clone, is_classifier, is_regressor
from sklearn.metrics import check_scoring
from sklearn.model_selection import KFold
from sklearn.model_selection import check_cv as as_splitter
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _estimator_has, check_is_fitted, validate_data

from bahsic.arrays import Indices
from bahsic.kernels import Precomputed
from bahsic.kernels.labels.outputs import outputs, target_type
from bahsic.parameters import check_count, is_auto
from bahsic.selection.base import BaseSelector, unchanged_on_error
from bahsic.selection.checkpoint import checkpoint_folder
from bahsic.selection.crossfit import problem_splits
from bahsic.selection.fitting import fitting, kernel_name
from bahsic.selection.folds import Samples, chosen_size, cv_results, judged, unrouted
from bahsic.selection.problem import Problem, checked_problem
from bahsic.selection.selectors import BAHSIC
from bahsic.selection.tables import estimator_table, is_numeric, selected_columns

_FILE = "bahsic-crossvalidation.json"


@dataclass(eq=False, repr=False)
class BAHSICCV(MetaEstimatorMixin, BaseSelector):
    """Select features by `BAHSIC`, and their number by cross-validating an estimator.

    In each fold, `BAHSIC` ranks the features once, on the training part alone. The estimator is then fitted to the
    training part with each of the nested subsets, and scored on the test part. The number with the best mean score is
    selected from a ranking on all data.

    Parameters
    ----------
    estimator : estimator with ``fit``
        Any estimator; it needs neither coefficients nor importances.
    min_features_to_select : int, default=1
        Size of the smallest subset. It is scored whether or not a round ends there.
    cv : int, "auto", splitter, iterable or None, default=None
        As in scikit-learn, with at least two splits; None means five folds, stratified for a classifier. "auto" uses
        the folds of `BAHSIC`: five up to 1000 samples, three beyond.
    scoring : str, callable or None, default=None
        As in scikit-learn; None means the ``score`` of the estimator.
    one_standard_error : bool, default=False
        Whether to select the fewest features whose mean score is within one standard error of the best. Otherwise
        the number with the best mean score is selected, the smallest in case of ties.
    step : float or int, default=0.1
        Features that leave in a round, see `BAHSIC`. The subsets between the rounds are scored.
    kernel, target_kernel, criterion, ridge, statistic, standardize
        As for `BAHSIC`, in every fold. ``kernel="auto"`` uses the kernel with the highest best mean score.
        ``target_kernel="auto"`` is "binary" or "multiclass" for a classifier and "regression" for a regressor;
        otherwise it follows from all of y, for every fold.
    categorical_features, missing, identifiers, feature_groups, keep
        As for `BAHSIC`, in every fold. The estimator gets an array of numbers, with NaN for missing entries. If
        columns have other types, or ``categorical_features`` names some, it gets the selected columns as they are, as
        a dataframe if X is one, and must accept them; see Notes. Numbers of features count groups, and all subsets
        include the kept columns.
    standard_errors : bool, default=False
        As for `BAHSIC`, for `selector_` only.
    n_jobs : int or None, default=None
        Number of folds that run in parallel, each in one thread; None as for `BAHSIC`. The result is the same.
    block_size, random_state
        As for `BAHSIC`. The samples are shuffled once, and each fold takes the blocks of its training part in that
        order.
    checkpoint : str, path or None, default=None
        Folder that keeps finished rounds and scores, from which an interrupted fit resumes. A folder of other data,
        parameters or splits is refused, so a ``cv`` that shuffles needs a ``random_state``.
    executor : dask.distributed.Client, str or None, default=None
        As for `BAHSIC`. A cluster works on one fold after the other, so ``n_jobs`` must be None or 1.
    verbose : int, default=0
        As for `BAHSIC`, for the folds and then for the selection on all data.

    Attributes
    ----------
    n_features_ : int
        The chosen number; with groups, that of the columns in them.
    support_, ranking_, feature_importances_ : ndarray of shape (n_features,)
        Those of `selector_`.
    selection_frequencies_ : ndarray of shape (n_features,)
        Share of the folds that rank each feature among the best `n_features_`.
    selector_ : BAHSIC
        Fitted to all data, with the chosen number as its ``n_features_to_select``.
    estimator_ : estimator
        Fitted to the selected columns of all data, as an array without names if all columns are numbers.
    cv_results_ : dict of ndarray
        ``n_features``, the sizes in increasing order (numbers of groups, if there are any), and for these
        ``mean_test_score``, ``std_test_score``, ``split{i}_test_score``, ``split{i}_ranking`` and ``split{i}_support``,
        the last two of shape (n_sizes, n_features).
    classes_ : ndarray of shape (n_classes,)
        Of `estimator_`, if it is a classifier.
    n_features_in_, feature_names_in_
        As for `BAHSIC`.

    See Also
    --------
    BAHSIC : Backward elimination to a given number.
    sklearn.feature_selection.RFECV : The same with a ranking by the weights of an estimator.

    Notes
    -----
    The best of several mean scores is slightly too high. For an honest score, cross-validate the whole search:
    ``cross_val_score(BAHSICCV(estimator), X, y)``.

    The cost is that of `BAHSIC` for each fold and for all data, and a fit of the estimator for each fold and size.
    There are about log(d) / step sizes for d features and a step below 1.

    For samples that belong together (patients, sites), use ``cv=GroupKFold()`` with ``fit(X, y, groups=groups)``; for
    time series, ``cv=TimeSeriesSplit()``. Sample weights count in the rankings, the fits of the estimator and the
    scores. With scikit-learn's ``enable_metadata_routing``, each of them uses the metadata that it requests, the
    ranking by ``set_fit_request(sample_weight=True)`` of this class.

    Categories and missing entries are not encoded for the estimator. `HistGradientBoostingClassifier` accepts both in
    dataframes. Other estimators need a pipeline that prepares the columns of any subset, chosen by type::

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

    # Groups are for the splitter; `fit` itself makes no use of them.
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"groups": UNUSED}

    estimator: Any
    _: KW_ONLY
    min_features_to_select: int = 1
    scoring: Any = None
    one_standard_error: bool = False

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, **params: Any) -> Self:
        """Choose the number of features, select them, and fit the estimator to them.

        Parameters
        ----------
        X, y, groups
            As for `BAHSIC.fit`; X is an array or a dataframe.
        sample_weight : array-like of shape (n_samples,), optional
            Number of times that each sample counts, in the rankings, the fits of the estimator and the scores. With
            scikit-learn's ``enable_metadata_routing`` estimator and scorer get the weights if they request them, and
            the rankings unless ``set_fit_request(sample_weight=False)`` was called.
        **params
            Other metadata for the estimator, the scorer and the splitter, with ``enable_metadata_routing``.

        Returns
        -------
        self
        """
        given = {"sample_weight": sample_weight, "groups": groups}
        metadata = {name: np.asarray(value) for name, value in given.items() if value is not None}
        with unchanged_on_error(self):
            self._fit(X, y, metadata | params)
        return self

    def _fit(self, X: Any, y: Any, metadata: dict[str, Any]) -> None:
        self._check_parameters()
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        routed, weights = self._routed("fit", metadata), metadata.get("sample_weight")
        if get_config()["enable_metadata_routing"]:
            refused = self._get_metadata_request().fit.requests.get("sample_weight") is False
            weights = None if refused else weights
        parameters = {field.name: getattr(self, field.name) for field in fields(BaseSelector)}
        selector = BAHSIC(1.0, **(parameters | {"target_kernel": self._target_kernel(y, weights), "cv": None}))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit on all data warns
            problem = checked_problem(clone(selector), X, y, weights)
        labels = validate_data(self, y=y, multi_output=True)  # before X, whose names it would forget
        self._numeric = is_numeric(X, self.categorical_features)
        self._missing = bool(problem.data.table.missing.any())
        seen, names = self._seen(X, reset=True), problem.data.table.names
        known = range(self.n_features_in_) if names is None else names
        params = routed["estimator"]["fit"], routed["scorer"]["score"]
        samples = Samples(self.estimator, check_scoring(self.estimator, self.scoring), seen, labels, known, *params)
        pairs = self._pairs(problem, samples, routed["splitter"]["split"])
        splits = problem_splits(pairs, problem, samples.y, None, len(samples.y), weights)
        own = ("estimator", "scoring", "min_features_to_select", "one_standard_error")
        record = {name: getattr(self, name) for name in own} | {"metadata": params}
        folder = None if self.checkpoint is None else checkpoint_folder(selector, problem, pairs, **record)
        if folder is not None and not folder.read(_FILE):
            folder.write(_FILE)
        smallest, units = self.min_features_to_select, problem.units
        if smallest > len(units):
            what = f"min_features_to_select is {smallest}, X has {len(units)} {units.name}"
            raise ValueError(f"{what}; accepted: at most {len(units)}")
        judge = partial(judged, samples, pairs, max(smallest, units.n_kept))
        with fitting(self, problem, splits, y, folder, len(splits) * len(problem.kernels)) as searches:
            scored = searches.folds(problem.kernels, splits, judge, regressions=False)
        best = int(np.argmax([np.mean([fold.scores for fold in folds], axis=0).max() for folds in scored]))
        folds = scored[best]
        scores = np.array([fold.scores for fold in folds])
        size = folds[0].sizes[chosen_size(scores, one_standard_error=self.one_standard_error)]
        self.cv_results_ = cv_results(folds, scores)
        self.selection_frequencies_ = np.mean([fold.rank <= size for fold in folds], axis=0)
        selector.set_params(n_features_to_select=size, checkpoint=folder and folder.path / "all")
        if is_auto(self.kernel):
            selector.set_params(kernel=kernel_name(problem.kernels[best]))
        self.selector_ = selector.fit(X, y, weights)
        self.support_, self.ranking_, self.n_features_ = selector.support_, selector.ranking_, selector.n_features_
        self.estimator_ = samples.fitted(self.support_)

    def _target_kernel(self, y: Any, weights: Any) -> Any:
        """Return the kernel on the labels; for "auto" by the type of the estimator, if it says what it predicts."""
        if not is_auto(self.target_kernel):
            return self.target_kernel
        if not is_classifier(self.estimator):
            return "regression" if is_regressor(self.estimator) else "auto"
        try:
            (column,) = outputs(y)
            weighted = np.shape(weights) == column.values.shape
            kind = target_type(column.values[weights > 0] if weighted else column.values, "y")
        except (TypeError, ValueError):  # several outputs, or the selector says what is wrong
            return "auto"
        return kind if kind in ("binary", "multiclass") else "auto"

    def _seen(self, X: Any, *, reset: bool = False) -> Any:
        """Return X as the estimator sees it, checked."""
        return estimator_table(self, X, numeric=self._numeric, missing=self.missing != "error", reset=reset)

    @property
    def classes_(self) -> Any:
        """The classes of the fitted estimator."""
        return self.estimator_.classes_

    @available_if(_estimator_has("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> Any:
        """Predict with `estimator_` from the selected columns of X."""
        selected = self._selected(X)  # first, as it checks whether anything is fitted
        return self.estimator_.predict(selected)

    @available_if(_estimator_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the classes from the selected columns of X."""
        selected = self._selected(X)
        return self.estimator_.predict_proba(selected)

    @available_if(_estimator_has("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithms of the probabilities of the classes from the selected columns of X."""
        selected = self._selected(X)
        return self.estimator_.predict_log_proba(selected)

    @available_if(_estimator_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """Return the decision function of `estimator_` at the selected columns of X."""
        selected = self._selected(X)
        return self.estimator_.decision_function(selected)

    def score(self, X: Any, y: Any, **params: Any) -> float:
        """Score `estimator_` by ``scoring`` on the selected columns of X; metadata as in `fit`."""
        selected, scorer = self._selected(X), check_scoring(self.estimator, self.scoring)
        return float(scorer(self.estimator_, selected, y, **self._routed("score", params)["scorer"]["score"]))

    def _selected(self, X: Any) -> Any:
        """Return the selected columns as `estimator_` has seen them, whatever `set_output` says."""
        check_is_fitted(self)
        return _safe_indexing(self._seen(X), self.support_, axis=1)

    def transform(self, X: Any) -> Any:
        """Return the selected columns of X, as `BAHSIC.transform` does."""
        return selected_columns(self, X, missing=self._missing)

    def _pairs(self, problem: Problem, samples: Samples, params: dict[str, Any]) -> list[tuple[Indices, Indices]]:
        """Return the rows of the training and of the test part of each split."""
        y = samples.y
        if is_auto(self.cv):
            rows = np.arange(len(y)) if problem.data.order is None else problem.data.order
            splits = problem_splits(self.cv, problem, y, None, len(y))
            return [(rows[split.train], rows[split.test]) for split in splits]
        pairs = list(as_splitter(self.cv, y, classifier=is_classifier(self.estimator)).split(samples.X, y, **params))
        if len(pairs) < 2:
            raise ValueError(f"cv is {self.cv!r}, number of splits: {len(pairs)}; accepted: at least 2 splits")
        return pairs

    def _check_parameters(self) -> None:
        estimator, scoring = self.estimator, self.scoring
        if isinstance(estimator, type) or not hasattr(estimator, "fit"):
            raise TypeError(f"estimator is {estimator!r}; accepted: an object with a method fit")
        check_count("min_features_to_select", self.min_features_to_select)
        if isinstance(self.cv, Integral) and self.cv < 2:
            raise ValueError(f"cv is {self.cv!r}; accepted: at least 2 splits")
        if not (scoring is None or isinstance(scoring, str) or callable(scoring)):
            raise ValueError(f"scoring is {scoring!r}; accepted: None, the name of a scorer or a callable")
        kernel = self.target_kernel
        if isinstance(kernel, Precomputed) or (isinstance(kernel, str) and kernel == "precomputed"):
            raise ValueError("target_kernel is 'precomputed'; accepted: a kernel on labels that the estimator predicts")
        if self.executor is not None and self.n_jobs not in (None, 1):
            raise ValueError(
                f"n_jobs is {self.n_jobs}; accepted with an executor, which works on one fold at a time: None or 1"
            )

    def _routed(self, caller: str, metadata: dict[str, Any]) -> Any:
        """Return the metadata for the estimator, the splitter and the scorer."""
        if get_config()["enable_metadata_routing"]:
            return process_routing(self, caller, **metadata)
        return unrouted(caller, metadata, self.estimator, self.scoring)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the routing of metadata to the rankings, the estimator, the splitter and the scorer."""
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        splitter = self.cv if hasattr(self.cv, "split") else KFold()  # splits that are given request nothing either
        router.add(splitter=splitter, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        scores = MethodMapping().add(caller="fit", callee="score").add(caller="score", callee="score")
        router.add(scorer=check_scoring(self.estimator, self.scoring), method_mapping=scores)
        return router

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), deepcopy(get_tags(self.estimator))
        for name in ("estimator_type", "classifier_tags", "regressor_tags", "target_tags"):
            setattr(tags, name, getattr(inner, name))
        tags.target_tags.required, tags.input_tags.sparse = True, False
        tags.input_tags.positive_only = inner.input_tags.positive_only
        tags.input_tags.allow_nan &= inner.input_tags.allow_nan
        tags.input_tags.string &= inner.input_tags.string
        return tags
