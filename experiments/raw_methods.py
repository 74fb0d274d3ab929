"""Selectors of columns of raw tables, each after the preprocessing that its users would use."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.baselines import Task
from experiments.baselines.recent import library

Mask = NDArray[np.bool_]


class Method(NamedTuple):
    """A selector of columns, ``select(X, y, task, seed)``, and what tables call it."""

    select: Callable[[Any, NDArray[Any], Task, int], Mask]
    title: str


def _all(X: Any, y: NDArray[Any], task: Task, seed: int) -> Mask:
    return np.ones(X.shape[1], dtype=bool)


def _bahsic(**options: Any) -> Callable[[Any, NDArray[Any], Task, int], Mask]:
    """BAHSIC on the table as it is."""

    def select(X: Any, y: NDArray[Any], task: Task, seed: int) -> Mask:
        from bahsic import BAHSIC

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of columns that are left out
            support: Mask = BAHSIC("auto", n_jobs=1, **options).fit(X, y).support_
        return support

    return select


def _selector(X: Any, y: NDArray[Any], task: Task, seed: int) -> Mask:
    from bahsic import FeatureSelector

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of columns that are left out
        support: Mask = FeatureSelector(n_jobs=1).fit(X, y).support_
    return support


def forest_of(task: Task, seed: int) -> Any:
    """Return a random forest of 100 trees."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind = RandomForestRegressor if task == "regression" else RandomForestClassifier
    return kind(100, random_state=seed, n_jobs=1)


def encoded(X: Any) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Numbers with missing entries filled in and categories as indicators, and the column that each comes from."""
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import OneHotEncoder

    parts, origins = [], []
    for j, name in enumerate(X):
        if X[name].dtype.kind in "fiub":
            part = SimpleImputer().fit_transform(X[[name]].astype(float))
        else:
            part = OneHotEncoder(min_frequency=5, sparse_output=False).fit_transform(X[[name]].astype(object))
        parts.append(part)
        origins.append(np.full(part.shape[1], j))
    return np.hstack(parts), np.concatenate(origins)


def _columns(support: NDArray[Any], origins: NDArray[np.intp], n_columns: int) -> Mask:
    """The columns of which an indicator was selected."""
    return np.isin(np.arange(n_columns), origins[support])


def _rfecv(X: Any, y: NDArray[Any], task: Task, seed: int) -> Mask:
    """Recursive elimination by a forest, a tenth at a time, with the number by five folds (scikit-learn)."""
    from sklearn.feature_selection import RFECV

    values, origins = encoded(X)
    support = RFECV(forest_of(task, seed), step=0.1, cv=5).fit(values, y).support_
    return _columns(support, origins, X.shape[1])


def _from_model(X: Any, y: NDArray[Any], task: Task, seed: int) -> Mask:
    """Columns of more than the mean importance in a forest (scikit-learn)."""
    from sklearn.feature_selection import SelectFromModel

    values, origins = encoded(X)
    return _columns(SelectFromModel(forest_of(task, seed)).fit(values, y).get_support(), origins, X.shape[1])


def _boruta(X: Any, y: NDArray[Any], task: Task, seed: int) -> Mask:
    """Confirmed and tentative columns of BorutaPy, 30 rounds."""
    values, origins = encoded(X)
    with library():
        from boruta import BorutaPy

        trees = forest_of(task, seed).set_params(max_depth=5)
        fitted = BorutaPy(trees, n_estimators=100, max_iter=30, random_state=seed).fit(values, y)
    return _columns(fitted.support_ | fitted.support_weak_, origins, X.shape[1])


def importance(X: Any, y: NDArray[Any], task: Task, seed: int) -> Any:
    """Return the permutation importance of columns in gradient boosting, in a third of the samples held out."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.inspection import permutation_importance
    from sklearn.model_selection import train_test_split
    from threadpoolctl import threadpool_limits

    kind = HistGradientBoostingRegressor if task == "regression" else HistGradientBoostingClassifier
    classes = None if task == "regression" else y
    parts = train_test_split(X, y, test_size=1 / 3, random_state=seed, stratify=classes)
    with threadpool_limits(1):
        model = kind(categorical_features="from_dtype", random_state=seed).fit(parts[0], parts[2])
        return permutation_importance(model, parts[1], parts[3], n_repeats=10, random_state=seed)


def _permutation(X: Any, y: NDArray[Any], task: Task, seed: int) -> Mask:
    """Columns whose permutation importance is more than twice its deviation."""
    found = importance(X, y, task, seed)
    mask: Mask = found.importances_mean > 2 * found.importances_std
    return mask


#: Ours, with the number that held-out samples choose.
OURS = ("bahsic", "prediction", "selector")

METHODS: Mapping[str, Method] = {
    "all": Method(_all, "all columns"),
    "bahsic": Method(_bahsic(), "BAHSIC"),
    "prediction": Method(_bahsic(criterion="prediction"), "prediction"),
    "selector": Method(_selector, "FeatureSelector"),
    "from_model": Method(_from_model, "SelectFromModel, forest"),
    "permutation": Method(_permutation, "permutation importance"),
    "boruta": Method(_boruta, "Boruta"),
    "rfecv": Method(_rfecv, "RFECV, forest"),
}
