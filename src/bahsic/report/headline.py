"""The outcome of a selection in one sentence: how well the selected features predict held-out samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from bahsic.report.curve import HELD_OUT, curve_of
from bahsic.report.roles import n_used
from bahsic.report.svg import shown

# Entries of a result that say how well a selection predicts; a selector has them as attributes.
MEASURES = ("predictability", "predictability_error", "score", "score_name", "n_folds", "n_judged", "predicts")

_NEARLY, _FAR_FEWER = 0.98, 2 / 3  # share of R2 that fewer features have to reach, and how many of them at most
_NOTHING, SOMETHING = 0.005, 0.1  # R2 up to which a regression is no better than guessing, and that may be more
_LEAST_ERROR = 0.001  # smaller standard errors are told as this one
_FEW_SAMPLES = 20  # with fewer, chance can look like anything
_ASCII = str.maketrans({"²": "2", "±": "+/-", "−": "-"})  # noqa: RUF001 - a minus


class Headline(NamedTuple):
    """A sentence around the name of the target, which may be any text."""

    before: str
    target: str
    after: str
    reached: str = ""

    @property
    def text(self) -> str:
        """The whole sentence."""
        return "".join(self)

    @property
    def ascii(self) -> str:
        """The whole sentence, in ASCII but for the target."""
        return "".join(self._replace(reached=self.reached.translate(_ASCII)))


@dataclass(frozen=True)
class Outcome:
    """Numbers that say how well a selection predicts.

    Attributes
    ----------
    n_selected, n_used : int
        Numbers of features: selected, and to choose from.
    value, error : float or None
        R2 of the selected features and its standard error; the best on the path where nothing predicts the target.
        None where it was not measured.
    whole : float or None
        R2 of all features; None where the path does not have it.
    score : float or None
        The measure that people know, of the same predictions.
    score_name : str or None
    predicts : bool or None
        False where nothing predicts the target, None where nobody asked.
    symbol : str
        What R2 is called.
    n_judged : int or None
        Number of samples that were predicted; None where it is not known.
    """

    n_selected: int
    n_used: int
    value: float | None = None
    error: float | None = None
    whole: float | None = None
    score: float | None = None
    score_name: str | None = None
    predicts: bool | None = None
    symbol: str = HELD_OUT.symbol
    n_judged: int | None = None


def headline_of(outcome: Outcome, target: str = "the target") -> Headline:
    """The sentence about an outcome.

    Parameters
    ----------
    outcome : Outcome
    target : str

    Returns
    -------
    Headline

    Examples
    --------
    >>> headline_of(Outcome(5, 15, 0.7, 0.02, score=0.97, score_name="ROC AUC"), "diagnosis").text
    '5 of 15 features predict diagnosis: ROC AUC 0.97, held-out R² 0.70 ± 0.02'
    >>> headline_of(Outcome(1, 9, 0.01, 0.02, predicts=False), "price").text
    'Nothing in this table predicts price: held-out R² 0.01 ± 0.02 at best'
    """
    if outcome.predicts is False:
        clearly = "clearly " if (outcome.value or 0.0) >= SOMETHING else ""
        return Headline(f"Nothing in this table {clearly}predicts ", target, ": ", f"{_r2(outcome)} at best")
    count = f"{outcome.n_selected} of {outcome.n_used} feature{'' if outcome.n_used == 1 else 's'}"
    if outcome.value is None:
        return Headline(f"{count} selected for ", target, "")
    known = outcome.score is not None and outcome.score_name != "R2"
    reached = f"{outcome.score_name} {outcome.score:.2f}, {_r2(outcome)}" if known else _r2(outcome)
    return Headline(f"{count} {_verb(outcome)} ", target, ": ", reached)


def knee_of(outcome: Outcome, path: Sequence[Mapping[str, Any]]) -> str:
    """A sentence on far fewer features that predict nearly as well; empty if there are none.

    Examples
    --------
    >>> path = [{"n_features": n, "predictability": value} for n, value in ((4, 0.70), (10, 0.906), (26, 0.924))]
    >>> knee_of(Outcome(26, 80, 0.924), path)
    '10 features reach 98% of that'
    """
    if not outcome.value or outcome.predicts is False:
        return ""
    reached = {
        step["n_features"]: step["predictability"] / outcome.value for step in path if step.get("predictability")
    }
    n = min((n for n, share in reached.items() if share >= _NEARLY), default=outcome.n_selected)
    if n > _FAR_FEWER * outcome.n_selected:
        return ""
    return f"{n} feature{'s reach' if n > 1 else ' reaches'} {min(99, int(100 * reached[n]))}% of that"


def leak_words(names: Sequence[str]) -> str:
    """Return a sentence on features that look like leaks.

    Examples
    --------
    >>> leak_words(["sales_eur"])
    'sales_eur looks like a leak: alone it predicts the target nearly perfectly'
    """
    if len(names) == 1:
        return f"{names[0]} looks like a leak: alone it predicts the target nearly perfectly"
    return f"{', '.join(names)} look like leaks: each alone predicts the target nearly perfectly"


def outcome_of_result(result: Mapping[str, Any]) -> Outcome:
    """The outcome of a result, see `bahsic.report.report_html`."""
    return _outcome(result, result["path"], result["n_features"], n_used(result))


def outcome_of_selector(selector: Any, path: Sequence[Mapping[str, Any]]) -> Outcome:
    """The outcome of a fitted `BAHSIC` or `FOHSIC`, whose path is given as plain data."""
    used = sum(not column.left_out for column in selector.columns_)
    return _outcome(measures_of(selector), path, selector.n_features_, used)


def measures_of(selector: Any) -> dict[str, Any]:
    """The measures of a fitted selector as plain data, None where it was not cross-fitted."""
    return {name: getattr(selector, f"{name}_", None) for name in MEASURES}


def findings(result: Mapping[str, Any]) -> Mapping[str, Any]:
    """The result as it is shown: where nothing predicts the target, no feature is selected.

    Examples
    --------
    >>> findings({"predicts": False, "selected": ["a"], "n_features": 1, "ranking": [{"selected": True}]})["selected"]
    []
    """
    if result.get("predicts") is not False:
        return result
    ranking = [{**row, "selected": False, "relevance": None, "frequency": None} for row in result["ranking"]]
    return {
        **result,
        "selected": [],
        "n_features": 0,
        "ranking": ranking,
        "redundancy": None,
        "pair": None,
        "stability": None,
    }


def _outcome(found: Mapping[str, Any], path: Sequence[Mapping[str, Any]], n_selected: int, used: int) -> Outcome:
    curve = curve_of(path)
    steps = {step["n_features"]: step for step in path} if curve is not None and curve.predicts else {}
    here = found if "predictability" in found else steps.get(n_selected, {})  # in results of before
    if found.get("predicts") is False:
        here = max(steps.values(), key=lambda step: float(step["predictability"]), default=found)
    return Outcome(
        n_selected,
        used,
        here.get("predictability"),
        here.get("predictability_error"),
        steps.get(used, {}).get("predictability"),
        found.get("score"),
        found.get("score_name"),
        found.get("predicts"),
        curve.symbol if curve is not None and steps else HELD_OUT.symbol,
        found.get("n_judged"),
    )


def _verb(outcome: Outcome) -> str:
    value, s = outcome.value or 0.0, "s" if outcome.n_selected == 1 else ""
    if value <= _NOTHING and not outcome.predicts:
        return "does not predict" if s else "do not predict"
    hardly = value <= max(_NOTHING, 2 * (outcome.error or 0.0))
    return f"hardly predict{s}" if hardly else f"predict{s}"


def _r2(outcome: Outcome) -> str:
    error, n = outcome.error, outcome.n_judged
    digits = ".2f" if error is None or error >= _NOTHING else ".3f"
    band = "" if error is None else f" ± {max(error, _LEAST_ERROR):{digits}}"
    few = f" (caution: only {n} samples)" if n is not None and n < _FEW_SAMPLES else ""
    return f"{outcome.symbol} {shown(outcome.value or 0.0, digits)}{band}{few}"
