"""Time and ranks of one other selector; runs in the environment of benchmarks/peers.txt, without bahsic.

``peer_fit.py name data.npz`` prints, in its last line, a JSON object: seconds, the rank of each
feature (1 for the best, 0 for a feature without rank), and the version of the library. Every
selector may use all cores.
"""

import json
import sys
import warnings
from importlib.metadata import version

import numpy as np
from numpy.typing import NDArray
from timing import seconds

Array = NDArray[np.float64]
Ranks = NDArray[np.int64]

# A selector has several tries, unless it is slow: at most so many, and none after so many seconds.
MAX_TRIES, ENOUGH = 5, 10.0


def mutual_information(X: Array, y: NDArray[np.int64], n_jobs: int | None = None) -> Ranks:
    """Dependence of each feature alone."""
    from sklearn.feature_selection import mutual_info_classif

    return ranks(mutual_info_classif(X, y, n_jobs=n_jobs, random_state=0))


def mutual_information_all_cores(X: Array, y: NDArray[np.int64]) -> Ranks:
    """The same in a process for each core."""
    return mutual_information(X, y, n_jobs=-1)


def hsic_lasso(X: Array, y: NDArray[np.int64]) -> Ranks:
    """Block HSIC Lasso with its default parameters: 5 features have a rank."""
    from pyHSICLasso import HSICLasso

    lasso = HSICLasso()
    lasso.input(X, y)
    lasso.classification(5)
    return selected_ranks(lasso.get_index(), X.shape[1])


def relief(X: Array, y: NDArray[np.int64]) -> Ranks:
    """ReliefF with its default of 100 neighbours, where there are as many samples."""
    from skrebate import ReliefF

    return ranks(ReliefF(n_neighbors=min(100, len(X) // 2 - 1), n_jobs=-1).fit(X, y).feature_importances_)


def recursive_elimination(X: Array, y: NDArray[np.int64]) -> Ranks:
    """RFE by the weights of a linear support vector machine, a tenth of the features in each round."""
    from sklearn.feature_selection import RFE
    from sklearn.svm import SVC

    return RFE(SVC(kernel="linear"), n_features_to_select=2, step=0.1).fit(X, y).ranking_


def sequential_selection(X: Array, y: NDArray[np.int64]) -> Ranks:
    """The two best features for nearest neighbours, one after the other, by cross-validation."""
    from sklearn.feature_selection import SequentialFeatureSelector
    from sklearn.neighbors import KNeighborsClassifier

    search = SequentialFeatureSelector(KNeighborsClassifier(), n_features_to_select=2, n_jobs=-1)
    return search.fit(X, y).support_.astype(int)


def ranks(importances: Array) -> Ranks:
    """1 for the greatest importance."""
    found = np.empty(len(importances), dtype=int)
    found[np.argsort(-np.asarray(importances), kind="stable")] = np.arange(1, len(importances) + 1)
    return found


def selected_ranks(order: list[int], n_features: int) -> Ranks:
    """Ranks of the features that were selected in this order, 0 for the others."""
    found = np.zeros(n_features, dtype=int)
    found[list(order)] = np.arange(1, len(order) + 1)
    return found


# Name, selector, package.
PEERS = {
    "mutual_info_classif": (mutual_information, "scikit-learn"),
    "mutual_info_classif(n_jobs=-1)": (mutual_information_all_cores, "scikit-learn"),
    "pyHSICLasso": (hsic_lasso, "pyHSICLasso"),
    "ReliefF": (relief, "skrebate"),
    "RFE(SVC)": (recursive_elimination, "scikit-learn"),
    "SequentialFeatureSelector(KNN)": (sequential_selection, "scikit-learn"),
}


def main(name: str, path: str) -> None:
    """Measure one selector on the data in a file."""
    warnings.simplefilter("ignore")  # of libraries that we compare with, not of ours
    data = np.load(path)
    X, y = data["X"], data["y"]
    select, package = PEERS[name]
    select(X[:100, :6], y[:100])  # imports, and processes that have to be started once
    times: list[float] = []
    found: list[Ranks] = []
    while len(times) < MAX_TRIES and sum(times) < ENOUGH:
        times.append(seconds(lambda: found.append(select(X, y))))
    result = {"seconds": min(times), "ranks": found[0].tolist(), "package": f"{package} {version(package)}"}
    print()
    print(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
