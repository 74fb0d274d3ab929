"""The columns that a random forest takes: by permutation importance, and by its own importances."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.baselines import Task

_N_TREES = 100
_N_REPEATS = 5


def by_permutation(X: Any, y: NDArray[Any], task: Task, number: int, seed: int) -> list[str]:
    """Return the columns of the highest permutation importance in a third of the samples, held out of the forest."""
    from sklearn.inspection import permutation_importance
    from sklearn.model_selection import train_test_split

    classes = None if task == "regression" else y
    X_fit, X_held, y_fit, y_held = train_test_split(X, y, test_size=1 / 3, random_state=seed, stratify=classes)
    model = _forest(X, task, seed).fit(X_fit, y_fit)
    found = permutation_importance(model, X_held, y_held, n_repeats=_N_REPEATS, random_state=seed)
    return _best(X, found.importances_mean, number)


def by_importance(X: Any, y: NDArray[Any], task: Task, number: int, seed: int) -> list[str]:
    """Return the columns of the highest decrease of impurity; a category has the sum over its indicators."""
    model = _forest(X, task, seed).fit(X, y)
    importances, places = model[-1].feature_importances_, model[0].output_indices_
    return _best(X, np.array([importances[places[str(j)]].sum() for j in range(X.shape[1])]), number)


def _best(X: Any, importances: NDArray[np.float64], number: int) -> list[str]:
    return [str(X.columns[j]) for j in np.sort(np.argsort(-importances, kind="stable")[:number])]


def _forest(X: Any, task: Task, seed: int) -> Any:
    """Return a forest on numbers with missing entries filled in and on indicators of categories."""
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    indicators = OneHotEncoder(min_frequency=5, handle_unknown="infrequent_if_exist", sparse_output=False)
    encoder = ColumnTransformer(
        [
            (str(j), SimpleImputer() if X[name].dtype.kind in "fiub" else indicators, [name])
            for j, name in enumerate(X.columns)
        ]
    )
    kind = RandomForestRegressor if task == "regression" else RandomForestClassifier
    return make_pipeline(encoder, kind(_N_TREES, random_state=seed, n_jobs=1))
