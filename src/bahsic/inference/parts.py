"""Random parts of the samples, stratified by class; p-values of many splits combined into one."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn import config_context, get_config
from sklearn.base import is_regressor
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from bahsic.arrays import Array, Indices
from bahsic.criteria.weights import FEWEST_SAMPLES
from bahsic.data.prepared import Prepared, prepared
from bahsic.engine import threads
from bahsic.engine.executor import Item, Result
from bahsic.kernels.labels.choice import chosen_name, labels_of
from bahsic.kernels.rows import as_labels, check_same_length
from bahsic.kernels.vector import kernel_on_features
from bahsic.parameters import check_parameter, is_auto, is_number

MIN_SAMPLES = FEWEST_SAMPLES["unbiased"]


@dataclass(frozen=True, eq=False)
class Samples:
    """The user's data, from which parts are taken; the kernel on the labels is that of all of them."""

    X: Any
    y: Any
    target_kernel: Any

    def __post_init__(self) -> None:
        if self.y is not None:
            check_same_length(X=len(self), y=_num_samples(self.y))

    def __len__(self) -> int:
        return int(_num_samples(self.X))

    def part(self, samples: Indices) -> tuple[Any, Any]:
        """Return X and y of some samples, of the same types as the whole."""
        return _safe_indexing(self.X, samples), self.labels(samples)

    def labels(self, samples: Indices) -> Any:
        """Return the labels of some samples."""
        return None if self.y is None else labels_of(self.y, samples, self.target_kernel)

    def strata(self, way_out: str) -> list[Indices]:
        """Return the samples of each class, or all samples if the labels are not classes."""
        name = None if self.y is None else self.target_kernel
        name = chosen_name(self.y, "auto") if name == "delta" else name
        if name not in ("binary", "multiclass"):
            return [np.arange(len(self))]
        classes, codes, sizes = np.unique(as_labels(self.y, "y")[:, 0], return_inverse=True, return_counts=True)
        if sizes.min() == 1:
            single = classes[sizes == 1].tolist()[0]
            raise ValueError(f"y has class {single!r} once; accepted: two samples of each class, or {way_out}")
        return [np.flatnonzero(codes == code) for code in range(len(classes))]


def resolved_target_kernel(selector: Any, y: Any, target_kernel: Any) -> Any:
    """Return the kernel on the labels that a selector uses for all of them, in place of "auto"."""
    predicts_numbers = is_auto(target_kernel) and hasattr(selector, "__sklearn_tags__") and is_regressor(selector)
    return "regression" if predicts_numbers else chosen_name(y, target_kernel, warn=True)


def draw_part(random: np.random.RandomState, strata: Sequence[Indices], fraction: float) -> Indices:
    """Draw a fraction of each stratum at random, at least one sample and not all, in increasing order."""
    sizes = (min(max(round(fraction * len(stratum)), 1), len(stratum) - 1) for stratum in strata)
    chosen = [random.choice(stratum, size, replace=False) for stratum, size in zip(strata, sizes, strict=True)]
    return np.sort(np.concatenate(chosen))


def selector_data(selector: Any, X: Any, kernel: Any) -> Prepared:
    """Return data for a kernel on features, read by the options of a selector."""
    kernel = kernel_on_features(kernel, "features, some of which are to be selected")
    names = ("standardize", "categorical_features", "missing", "identifiers")
    options: Any = {name: getattr(selector, name) for name in names if hasattr(selector, name)}
    return prepared(X, kernel, **options, whole=True).weighted(None).ordered(None)


class Split(NamedTuple):
    """Samples to select with, samples to test with, and the seed of permutations."""

    learning: Indices
    test: Indices
    seed: int


def random_splits(samples: Samples, n_splits: int, test_size: float, random: np.random.RandomState) -> list[Split]:
    """Draw splits of the samples, stratified by class."""
    check_fraction("test_size", test_size)
    strata = samples.strata("target_kernel='regression' for numbers")
    tests = [draw_part(random, strata, test_size) for _ in range(n_splits)]
    n_test, n_learning = len(tests[0]), len(samples) - len(tests[0])
    if min(n_test, n_learning) < MIN_SAMPLES:
        raise ValueError(
            f"test_size is {test_size!r}, which makes {n_learning} samples to select with and {n_test} to test with; "
            f"accepted: at least {MIN_SAMPLES} of each"
        )
    seeds = random.randint(2**31 - 1, size=n_splits)
    learning = [np.setdiff1d(np.arange(len(samples)), test) for test in tests]
    return [Split(*parts) for parts in zip(learning, tests, seeds.tolist(), strict=True)]


def combined_pvalues(pvalues: Array) -> Array:
    """Combine p-values along the first axis, see `selection_test`; the result may exceed 1."""
    n = len(pvalues)
    k = math.ceil(n / 2)
    return np.asarray(n / k * np.sort(pvalues, axis=0)[k - 1])


def parallel_map(function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None, m: int) -> list[Result]:
    """Apply a function to items in threads, with the caller's scikit-learn configuration and without warnings."""
    configuration = get_config()

    def configured(item: Item) -> Result:
        with config_context(**configuration):
            return function(item)

    # All warnings are ignored: fits that change the filters for a while would undo each other's changes.
    with threads(n_jobs, m) as executor, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return executor.map(configured, items)


def check_fraction(name: str, value: Any) -> None:
    """Raise unless a value is a fraction."""
    check_parameter(name, value, is_number(value) and 0 < value < 1, "a fraction between 0 and 1")
