"""The quantity that is shown along a path, HSIC or predictability, and words for the criterion and its outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bahsic.criteria.blocks import MOST_REGRESSIONS


@dataclass(frozen=True)
class Curve:
    """A quantity that the steps of a path have.

    Attributes
    ----------
    name : str
        Short name, before a number, in ASCII.
    symbol : str
        The same on a page.
    title : str
        Name of an axis, in ASCII.
    caption : str
        Name of the axis on a page.
    key, error : str
        Entries of a step: the value and its standard error.
    """

    name: str
    symbol: str
    title: str
    caption: str
    key: str
    error: str


HSIC = Curve("HSIC", "HSIC", "HSIC", "HSIC, percent of the highest", "hsic", "standard_error")
PREDICTABILITY = Curve("R2", "R²", "R2 (leave-one-out)", "R² (leave-one-out)", "predictability", "predictability_error")

_CRITERIA = {"hsic": "hsic, dependence on the target", "prediction": "prediction of the target"}


def curve_of(path: Sequence[Mapping[str, Any]]) -> Curve:
    """The curve of a path: predictability if it is recorded, else HSIC.

    Examples
    --------
    >>> curve_of([{"n_features": 1, "hsic": None, "predictability": 0.5}]).name
    'R2'
    """
    known = bool(path) and all(step.get(PREDICTABILITY.key) is not None for step in path)
    return PREDICTABILITY if known else HSIC


def criterion_words(result: Mapping[str, Any]) -> str:
    """The criterion and the kernel of a result; results without these entries are of HSIC.

    Examples
    --------
    >>> criterion_words({"criterion": "prediction", "kernel": "laplacian", "parameters": {"kernel": "auto"}})
    'Criterion: prediction of the target; kernel: laplacian, the better of two.'
    """
    wanted, criterion = result["parameters"].get("kernel", "gaussian"), result.get("criterion", "hsic")
    chosen = ", the better of two" if wanted == "auto" else ""
    return f"Criterion: {_CRITERIA.get(criterion, criterion)}; kernel: {result.get('kernel', wanted)}{chosen}."


def block_words(result: Mapping[str, Any]) -> str:
    """The number of samples and the size of their blocks; empty if all samples were used at once.

    Examples
    --------
    >>> block_words({"block_size": 1000, "criterion": "hsic", "input": {"n_samples": 32561}})
    '32,561 samples: HSIC over random blocks of 1,000.'
    """
    size = result.get("block_size")
    if size is None:
        return ""
    m = result["input"]["n_samples"]
    if result.get("criterion") != "prediction":
        return f"{m:,} samples: HSIC over random blocks of {size:,}."
    n_blocks = m // size
    if result["parameters"].get("block_size") == "auto" and n_blocks > MOST_REGRESSIONS:
        return (
            f"{m:,} samples: regressions on {MOST_REGRESSIONS} random blocks of {size:,}; another random state draws "
            "others, and may select others."
        )
    return f"{m:,} samples: regressions on {n_blocks} random blocks of {size:,}."


def headline(selector: Any) -> str:
    """The reason for the number of features, or with the criterion "prediction" what they reach; empty without either.

    Examples
    --------
    >>> from bahsic import BAHSIC
    >>> from bahsic.datasets import make_xor
    >>> X, y, _ = make_xor(n_samples=200, n_features=4, random_state=0)
    >>> headline(BAHSIC(2, criterion="prediction").fit(X, y))
    '2 of 4 features: R2 0.96 (all 4: 0.89)'
    """
    told = [step.reason for step in selector.path_ if step.reason]
    reached = {step.n_features: step.predictability for step in selector.path_}
    number, most = selector.n_features_, max(reached)
    if told or selector.criterion == "hsic" or number not in reached:
        return "".join(told[:1])
    whole = f" (all {most}: {reached[most]:.2f})" if most > number else ""
    used = sum(not column.left_out for column in selector.columns_)
    return f"{number} of {used} features: R2 {reached[number]:.2f}{whole}"
