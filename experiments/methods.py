"""The selectors that are compared, by name."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.baselines import Array, Order, Problem, Task
from experiments.baselines.boosting import boosting_permutation, boosting_shap, conditional_importance, fastcan
from experiments.baselines.linear import l0_svm, l1, svm_rfe
from experiments.baselines.radius_margin import r2w2
from experiments.baselines.recent import boruta, forest, hsic_lasso, mrmr, sequential
from experiments.baselines.relief import relief
from experiments.baselines.single import mrmr_of_bins, mutual_information, pearson, pearson_of_numbers

Select = Callable[[Array, NDArray[Any], Problem], Order]

_ALL: tuple[Task, ...] = ("binary", "multiclass", "regression")
_CLASSES: tuple[Task, ...] = ("binary", "multiclass")
_OWN_KINDS = ("option", "prediction", "auto", "variant", "linear")


@dataclass(frozen=True)
class Method:
    """A selector and what is known about it.

    Parameters
    ----------
    select : callable
        ``select(X, y, problem)``, see `experiments.baselines`.
    title : str
        What tables call it.
    kind : str
        "paper": one of the paper's eight; "today": in use today; "option": an option of ours; "prediction": our other
        criterion; "variant", "linear": ours, for the published problems or for genes alone; "auto": chooses
        the number of features; "reference"; "numbers": classes taken as numbers; "bins": numbers taken as bins;
        "conditional": for planted problems alone.
    tasks : tuple
        What it can do.
    by_number : bool
        Whether its choice of few features is not the beginning of its choice of many.
    """

    select: Select
    title: str
    kind: str
    tasks: tuple[Task, ...] = _ALL
    by_number: bool = False


def bahsic(X: Array, y: NDArray[Any], problem: Problem, **options: Any) -> Order:
    """Backward elimination with the paper's settings, or the given ones."""
    from bahsic import BAHSIC

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that nothing predicts: its best feature is judged
        fitted = BAHSIC(**{"n_features_to_select": problem.number, "n_jobs": 1} | options).fit(X, y)
    order: Order = fitted.elimination_order_[::-1]
    return order[: fitted.n_features_] if options.get("n_features_to_select") == "auto" else order


def selector(X: Array, y: NDArray[Any], problem: Problem) -> Order:
    """The features that `FeatureSelector` takes by itself, however many."""
    from bahsic import FeatureSelector

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that nothing predicts: its best feature is judged
        found: Order = FeatureSelector(n_jobs=1).fit(X, y).get_support(indices=True)
    return found


def fohsic(X: Array, y: NDArray[Any], problem: Problem, **options: Any) -> Order:
    """Forward selection with the paper's settings, or the given ones."""
    from bahsic import FOHSIC

    order: Order = FOHSIC(min(problem.number, X.shape[1]), n_jobs=1, **options).fit(X, y).selection_order_
    return order


def _with(**options: Any) -> Select:
    """BAHSIC with these options; a rule stands for the Gaussian kernel with that rule."""

    def select(X: Array, y: NDArray[Any], problem: Problem) -> Order:
        from bahsic.kernels import Gaussian

        rule = options.get("rule")
        rest = {name: value for name, value in options.items() if name != "rule"}
        return bahsic(X, y, problem, **(rest | ({"kernel": Gaussian(rule)} if rule else {})))

    return select


def unscaled_indicators(X: Array, y: NDArray[Any], problem: Problem) -> Order:
    """BAHSIC with columns of two values as 0 and 1; standardised, a rare one would be large in few samples."""
    low, high = X.min(axis=0), X.max(axis=0)
    indicators = ((low == X) | (high == X)).all(axis=0)
    return bahsic(np.where(indicators, (X - low) / (high - low), X), y, problem, standardize=False)


def everything(X: Array, y: NDArray[Any], problem: Problem) -> Order:
    """All features."""
    return np.arange(X.shape[1])


METHODS: Mapping[str, Method] = {
    "bahsic": Method(bahsic, "BAHSIC", "paper"),
    "fohsic": Method(fohsic, "FOHSIC", "paper"),
    "pearson": Method(pearson, "PC", "paper"),
    "mutual_information": Method(mutual_information, "MI", "paper"),
    "rfe": Method(svm_rfe, "RFE", "paper", _CLASSES),
    "relief": Method(relief, "RELIEF", "paper"),
    "l0": Method(l0_svm, "L0", "paper", _CLASSES, by_number=True),
    "r2w2": Method(r2w2, "R2W2", "paper", ("binary",)),
    "hsic_lasso": Method(hsic_lasso, "HSIC Lasso", "today", by_number=True),
    "mrmr": Method(mrmr, "mRMR", "today"),
    "forest": Method(forest, "forest", "today"),
    "l1": Method(l1, "L1", "today"),
    "sequential": Method(sequential, "sequential", "today"),
    "boruta": Method(boruta, "Boruta", "today"),
    "fastcan": Method(fastcan, "fastcan", "today"),
    "boosting_permutation": Method(boosting_permutation, "boosting, permutation", "today"),
    "boosting_shap": Method(boosting_shap, "boosting, SHAP", "today"),
    "cfi": Method(conditional_importance, "boosting, conditional", "conditional"),
    "bahsic_median": Method(_with(rule="median"), "median", "option"),
    "bahsic_indicators": Method(unscaled_indicators, "indicators", "option"),
    "prediction": Method(_with(criterion="prediction"), "prediction", "prediction"),
    "prediction_laplacian": Method(
        _with(criterion="prediction", kernel="laplacian"), "prediction, Laplacian", "prediction"
    ),
    "prediction_kernel": Method(
        _with(criterion="prediction", kernel="auto"), "prediction, kernel auto", "prediction", by_number=True
    ),
    "prediction_step": Method(_with(criterion="prediction", step=0.2), "prediction, step 0.2", "option"),
    "selector": Method(selector, "FeatureSelector", "auto"),
    "prediction_auto": Method(
        _with(criterion="prediction", n_features_to_select="auto"), "prediction, number auto", "auto"
    ),
    "all": Method(everything, "all features", "reference"),
    "pearson_of_numbers": Method(pearson_of_numbers, "PC of class numbers", "numbers", ("multiclass",)),
    "bahsic_linear": Method(_with(kernel="linear"), "BAHSIC, linear", "linear"),
    "prediction_linear": Method(_with(criterion="prediction", kernel="linear"), "prediction, linear", "linear"),
    "mrmr_of_bins": Method(mrmr_of_bins, "mRMR, mutual information of bins", "bins", _CLASSES),
    "bahsic_laplacian": Method(_with(kernel="laplacian"), "BAHSIC, Laplacian", "variant"),
    "fohsic_laplacian": Method(partial(fohsic, kernel="laplacian"), "FOHSIC, Laplacian", "variant"),
}


@lru_cache
def warmed_up(name: str, task: Task) -> Method:
    """The method, used once on tiny data so that libraries are loaded before its time is taken."""
    method, random = METHODS[name], np.random.default_rng(0)
    y = random.standard_normal(60) if task == "regression" else np.arange(60) % 3 if task == "multiclass" else None
    method.select(random.standard_normal((60, 6)), np.arange(60) % 2 if y is None else y, Problem(task, 2))
    return method


def names(*kinds: str) -> list[str]:
    """The methods of these kinds, in the order of the tables.

    Examples
    --------
    >>> names("today")[:2]
    ['hsic_lasso', 'mrmr']
    """
    return [name for name, method in METHODS.items() if method.kind in kinds]


def selected_by_us(cell: Mapping[str, Any]) -> bool:
    """Whether the method of a cell is one of this library."""
    name = cell["method"]
    return name in ("bahsic", "fohsic") or METHODS[name].kind in _OWN_KINDS
