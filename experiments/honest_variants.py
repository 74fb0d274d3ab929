"""The selections whose reported R2 is compared with that of fresh samples."""

import time
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.baselines import Order
from experiments.rows import Row

#: Reference without any selection: R2 of samples left out.
ALL = "all"


class Variant(NamedTuple):
    """A way to select features: class and options of the selector."""

    title: str
    selector: str = "BAHSIC"
    options: Mapping[str, Any] = {}


VARIANTS: dict[str, Variant] = {
    "prediction": Variant("prediction", options={"criterion": "prediction"}),
    "hsic": Variant("HSIC", options={"criterion": "hsic"}),
    "selector": Variant("FeatureSelector", "FeatureSelector"),
    ALL: Variant("all features"),
}

TITLES = {name: variant.title for name, variant in VARIANTS.items()}


class Selection(NamedTuple):
    """Selected columns, the kernel on them, and what a row says of both."""

    features: Order
    kernel: str
    row: Row


def select(name: str, X: Any, y: NDArray[Any], random_state: int | None = None) -> Selection:
    """Select features with the number "auto", and note what the selector reports."""
    import bahsic

    variant, start = VARIANTS[name], time.process_time()
    if name == ALL:
        every = np.arange(X.shape[1])
        reported = bahsic.predictability(X, y, random_state=random_state)
        return Selection(every, "gaussian", _row(every, start, reported=reported))
    selector = getattr(bahsic, variant.selector)("auto", n_jobs=1, random_state=random_state, **variant.options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that nothing predicts, or of columns that are left out
        selector.fit(X, y)
    features = np.flatnonzero(selector.support_)
    row = _row(
        features,
        start,
        reported=selector.predictability_,
        error=selector.predictability_error_,
        predicts=selector.predicts_,
    )
    return Selection(features, selector.kernel_, row | {"kernel": selector.kernel_})


def _row(features: Order, start: float, *, reported: float, error: float | None = None, predicts: bool = True) -> Row:
    return {
        "number": len(features),
        "reported": f"{reported:.4f}",
        "reported_error": "" if error is None else f"{error:.4f}",
        "predicts": "yes" if predicts else "no",
        "seconds": f"{time.process_time() - start:.3f}",
    }
