"""The quantity that is shown along a path, HSIC or held-out R2, and words for the criterion."""

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
        Name in ASCII.
    symbol : str
        Name on a page and in a picture.
    caption : str
        Name of the axis on a page.
    key, error : str
        Entries of a step: the value and its standard error.
    """

    name: str
    symbol: str
    caption: str
    key: str
    error: str

    @property
    def predicts(self) -> bool:
        """Whether it tells how well features predict."""
        return self.key == "predictability"


_R2 = ("predictability", "predictability_error")

HSIC = Curve("HSIC", "HSIC", "HSIC, percent of the highest", "hsic", "standard_error")
HELD_OUT = Curve("held-out R2", "held-out R²", "Held-out R²", *_R2)
LEAVE_ONE_OUT = Curve("leave-one-out R2", "leave-one-out R²", "Leave-one-out R²", *_R2)  # of results of before

_CRITERIA = {"hsic": "hsic, dependence on the target", "prediction": "prediction of the target"}


def curve_of(path: Sequence[Mapping[str, Any]]) -> Curve | None:
    """The curve of a path: R2 if it is recorded, else HSIC; None if neither is.

    Examples
    --------
    >>> curve_of([{"n_features": 1, "hsic": None, "predictability": 0.5, "score": 0.9}]).name
    'held-out R2'
    >>> curve_of([{"n_features": 1, "hsic": None, "predictability": None, "score": None}])
    """
    for curve in (LEAVE_ONE_OUT if path and "score" not in path[0] else HELD_OUT, HSIC):
        if path and all(step.get(curve.key) is not None for step in path):
            return curve
    return None


def criterion_words(result: Mapping[str, Any]) -> str:
    """The criterion, the kernel and the judges of a result; results without a criterion are of HSIC.

    Examples
    --------
    >>> result = {"criterion": "prediction", "kernel": "linear", "parameters": {"kernel": "auto"}, "n_folds": 5}
    >>> criterion_words(result)
    'Criterion: prediction of the target; kernel: linear (auto); 5 folds.'
    """
    wanted, criterion = result["parameters"].get("kernel", "gaussian"), result.get("criterion", "hsic")
    n_folds, chosen = result.get("n_folds"), " (auto)" if wanted == "auto" else ""
    judged = "judged on held-out samples" if n_folds == 1 else f"{n_folds} folds"
    parts = [f"Criterion: {_CRITERIA.get(criterion, criterion)}", f"kernel: {result.get('kernel', wanted)}{chosen}"]
    return "; ".join([*parts, *([judged] if n_folds else [])]) + "."


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
    samples = f"{result['input']['n_samples']:,} samples"
    if result.get("criterion") != "prediction":
        return f"{samples}: HSIC over random blocks of {size:,}."
    limit = f"up to {MOST_REGRESSIONS} " if result["parameters"].get("block_size") == "auto" else ""
    return f"{samples}: regressions on {limit}random blocks of {size:,}."
