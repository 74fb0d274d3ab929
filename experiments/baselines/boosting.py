"""Selectors by the importance of features in gradient boosting, and forward selection by canonical correlation."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from experiments.baselines import Array, Order, Problem, by_score, indicators
from experiments.baselines.recent import library

_REPEATS = 5


def _boosting(problem: Problem) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = HistGradientBoostingRegressor if problem.task == "regression" else HistGradientBoostingClassifier
    return kind(random_state=problem.seed)


def boosting_permutation(X: Array, y: NDArray[Any], problem: Problem) -> Order:
    """Permutation importance of gradient boosting, in a third of the samples that it was not trained on."""
    from sklearn.inspection import permutation_importance
    from sklearn.model_selection import train_test_split

    classes = None if problem.task == "regression" else y
    parts = train_test_split(X, y, test_size=1 / 3, random_state=problem.seed, stratify=classes)
    with threadpool_limits(1):  # its threads would only wait for each other on small data
        model = _boosting(problem).fit(parts[0], parts[2])
        found = permutation_importance(model, parts[1], parts[3], n_repeats=_REPEATS, random_state=problem.seed)
    return by_score(found.importances_mean)


def boosting_shap(X: Array, y: NDArray[Any], problem: Problem) -> Order:
    """Mean absolute SHAP value in gradient boosting (Lundberg et al., 2020), of all classes and samples."""
    with library(), threadpool_limits(1):
        from shap import TreeExplainer

        values = TreeExplainer(_boosting(problem).fit(X, y)).shap_values(X)
    values = np.abs(np.asarray(values))
    return by_score(values.reshape(*values.shape[:2], -1).mean(axis=(0, 2)))


def conditional_importance(X: Array, y: NDArray[Any], problem: Problem) -> Order:
    """Conditional feature importance of gradient boosting (Chamma et al., 2023) of hidimstat, by five folds."""
    with library(), threadpool_limits(1):
        from hidimstat import CFICV
        from sklearn.metrics import log_loss
        from sklearn.model_selection import KFold, StratifiedKFold

        kind = KFold if problem.task == "regression" else StratifiedKFold
        folds = kind(5, shuffle=True, random_state=problem.seed)
        options: Any = {} if problem.task == "regression" else {"method": "predict_proba", "loss": log_loss}
        test = CFICV(_boosting(problem), folds, n_permutations=_REPEATS, random_state=problem.seed, **options)
        found = test.fit(X, y).importance(X, y)
    return by_score(np.mean(found, axis=-1))


def fastcan(X: Array, y: NDArray[Any], problem: Problem) -> Order:
    """Forward selection by canonical correlation with the labels (Zhang and Lang, 2022) of fastcan."""
    with library():
        from fastcan import FastCan

        selector: Any = FastCan  # which has no types
        found = selector(min(problem.number, X.shape[1]), verbose=0).fit(X, indicators(y, problem.task))
    order: Order = np.asarray(found.indices_, dtype=np.intp)
    return order
