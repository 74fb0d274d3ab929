"""Metadata of a cross-validated selection where scikit-learn's routing is off: groups of samples and their weights."""

from __future__ import annotations

import inspect
from typing import Any

from sklearn.metrics import check_scoring

_ROUTING = "sklearn.set_config(enable_metadata_routing=True)"


def unrouted(caller: str, metadata: dict[str, Any], estimator: Any, scoring: Any) -> dict[str, Any]:
    """Metadata of `fit` or `score`: groups go to the splitter, sample weights to the estimator and to the scorer.

    Raises
    ------
    ValueError
        Where there is other metadata, or where one of them takes no sample weights.
    """
    accepted = ("groups", "sample_weight") if caller == "fit" else ("sample_weight",)
    unknown = sorted(set(metadata) - set(accepted))
    if unknown:
        raise ValueError(
            f"{caller} got {', '.join(unknown)}; accepted: {', '.join(accepted)}, other metadata only with {_ROUTING}"
        )
    groups, weights = (
        {key: metadata[key] for key in (name,) if key in metadata} for name in ("groups", "sample_weight")
    )
    if weights:
        _check_weighable(caller, estimator, scoring)
    return {"estimator": {"fit": weights}, "splitter": {"split": groups}, "scorer": {"score": weights}}


def _check_weighable(caller: str, estimator: Any, scoring: Any) -> None:
    """Raise where weights would be left out without a word."""
    score = estimator.score if scoring is None else check_scoring(estimator, scoring)
    used = {"the scorer": score}
    if caller == "fit":
        used = {f"the fit of the estimator, a {type(estimator).__name__},": estimator.fit} | used
    for name, function in used.items():
        if "sample_weight" not in inspect.signature(function).parameters:
            raise ValueError(
                f"sample_weight is given, and {name} takes none; accepted: one that does, or with {_ROUTING} requests "
                "of those that use it"
            )
