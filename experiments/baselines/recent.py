"""Selectors in use today, as their libraries have them."""

import contextlib
import io
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.baselines import Array, Order, Problem, by_score

INSTALL = 'pip install -e ".[experiments]"'


@contextlib.contextmanager
def library() -> Iterator[None]:
    """Say what to install where a library is missing, and keep the words and warnings of the others to themselves."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            yield
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(f"{error.name} is needed for this method: {INSTALL}", name=error.name) from error


@contextlib.contextmanager
def _name_of_old_numpy() -> Iterator[None]:
    """Give numpy.linalg.linalg back, by which pyHSICLasso 1.4.2 catches what a singular matrix raises."""
    missing = not hasattr(np.linalg, "linalg")
    if missing:
        np.linalg.linalg = np.linalg  # type: ignore[attr-defined]
    try:
        yield
    finally:
        if missing:
            del np.linalg.linalg  # type: ignore[attr-defined]


def hsic_lasso(X: Array, y: NDArray[Any], problem: Problem) -> Order:
    """Block HSIC Lasso (Climente-Gonzalez et al., 2019) of pyHSICLasso, with its default blocks and repetitions."""
    with library(), _name_of_old_numpy():
        from pyHSICLasso import HSICLasso

        state = np.random.get_state()  # noqa: NPY002 - the library draws from it
        np.random.seed(problem.seed)  # noqa: NPY002
        lasso = HSICLasso()
        lasso.input(X, y)
        fit = lasso.regression if problem.task == "regression" else lasso.classification
        fit(min(problem.number, X.shape[1] - 1), n_jobs=1)  # asked for all, it may look for one more and fail
        np.random.set_state(state)  # noqa: NPY002
    return np.array(lasso.get_index(), dtype=np.intp)


def mrmr(X: Array, y: NDArray[Any], problem: Problem) -> Order:
    """Minimum redundancy, maximum relevance (Peng et al., 2005) of mrmr-selection: F over mean correlation.

    Both are what the library computes by default, which calls scikit-learn and pandas for each column; here it is
    given them for all columns at once.
    """
    with library():
        import pandas as pd
        from mrmr import mrmr_classif, mrmr_regression
        from sklearn.feature_selection import f_classif, f_regression

        select, score = (mrmr_regression, f_regression) if problem.task == "regression" else (mrmr_classif, f_classif)
        unit = X - X.mean(axis=0)
        unit /= np.linalg.norm(unit, axis=0)

        def relevance(X: Any, y: Any) -> Any:
            return pd.Series(score(X.to_numpy(), y)[0])

        def redundancy(target_column: int, features: list[int], X: Any) -> Any:
            return pd.Series(unit[:, target_column] @ unit[:, features], index=features)

        number = min(problem.number, X.shape[1])
        chosen = select(pd.DataFrame(X), pd.Series(y), number, relevance, redundancy, n_jobs=1, show_progress=False)
    return np.array(chosen, dtype=np.intp)


def _forest(problem: Problem, **options: Any) -> Any:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind = RandomForestRegressor if problem.task == "regression" else RandomForestClassifier
    return kind(random_state=problem.seed, n_jobs=1, **options)


def forest(X: Array, y: NDArray[Any], problem: Problem) -> Order:
    """Impurity importance in a random forest of 300 trees."""
    return by_score(_forest(problem, n_estimators=300).fit(X, y).feature_importances_)


def boruta(X: Array, y: NDArray[Any], problem: Problem) -> Order:
    """Boruta (Kursa and Rudnicki, 2010) of BorutaPy, 30 forests of 100 trees of depth 5.

    Confirmed features first, then tentative, then rejected ones by their rank; within these by mean importance.
    """
    with library():
        from boruta import BorutaPy

        trees = _forest(problem, n_estimators=100, max_depth=5)
        fitted = BorutaPy(trees, n_estimators=100, max_iter=30, random_state=problem.seed).fit(X, y)
        history = np.nan_to_num(fitted.importance_history_[1:])  # its first row is a placeholder
    return np.lexsort((-history.mean(axis=0), fitted.ranking_))


def sequential(X: Array, y: NDArray[Any], problem: Problem) -> Order:
    """Forward selection by the threefold cross-validated score of five nearest neighbours (scikit-learn)."""
    from sklearn.feature_selection import SequentialFeatureSelector
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

    model = KNeighborsRegressor() if problem.task == "regression" else KNeighborsClassifier()
    if problem.number >= X.shape[1]:
        return np.arange(X.shape[1])
    search = SequentialFeatureSelector(model, n_features_to_select=problem.number, cv=3)
    return np.flatnonzero(search.fit(X, y).get_support())
