"""The outcome of a selection in one sentence: how well the selected features predict, beside all features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from bahsic.report.curve import PREDICTABILITY, curve_of
from bahsic.report.roles import n_used
from bahsic.report.svg import shown

_NOTHING = 0.005  # R2 up to which a regression predicts no better than guessing
_SAME = 0.05  # R2 that may be missing to that of all features in "as well as all"
_NEARLY = 0.9  # share of the R2 of all features from which on it is "nearly as well"
_DIFFERENT = 0.01  # R2 beyond that of all features from which on it can be "better than all"


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


@dataclass(frozen=True)
class Outcome:
    """Numbers that say how well a selection predicts.

    Attributes
    ----------
    n_selected, n_used : int
        Numbers of features: selected, and to choose from.
    value, error : float or None
        R2 of the selected features and its standard error; None where it was not recorded.
    whole : float or None
        R2 of all features; None where the path does not have it.
    automatic : bool
        Whether the number of features was chosen because it predicts as well as any.
    """

    n_selected: int
    n_used: int
    value: float | None = None
    error: float | None = None
    whole: float | None = None
    automatic: bool = False

    @property
    def verdict(self) -> str:
        """Comparison with all features, in words; empty where there is none.

        Examples
        --------
        >>> Outcome(4, 30, 0.83, 0.03, 0.85).verdict, Outcome(4, 30, 0.55, 0.02, 0.85).verdict
        ('as well as all', 'worse than all')
        """
        if self.value is None or self.whole is None or self.n_selected >= self.n_used:
            return ""
        error, missing = self.error or 0.0, self.whole - self.value
        if -missing > max(error, _DIFFERENT):
            return "better than all"
        if missing <= (_SAME if self.automatic else min(_SAME, error)):
            return "as well as all"
        return "nearly as well as all" if self.value >= _NEARLY * self.whole else "worse than all"


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
    >>> headline_of(Outcome(4, 30, 0.83, 0.03, 0.85), "diagnosis").text
    '4 of 30 features predict diagnosis as well as all: R² 0.83 of 0.85'
    >>> headline_of(Outcome(1, 9, 0.0, 0.02, 0.4), "price").text
    '1 of 9 features does not predict price: R² 0.00 of 0.40'
    """
    one = outcome.n_selected == 1
    count = f"{outcome.n_selected} of {outcome.n_used} feature{'' if outcome.n_used == 1 else 's'}"
    if outcome.value is None:
        return Headline(f"{count} selected for ", target, "")
    reached = _reached(outcome.value, None if outcome.n_selected >= outcome.n_used else outcome.whole)
    if outcome.value <= _NOTHING:
        return Headline(f"{count} do{'es' if one else ''} not predict ", target, ": ", reached)
    if outcome.value <= 2 * (outcome.error or 0.0):
        return Headline(f"{count} hardly predict{'s' if one else ''} ", target, ": ", reached)
    verdict = outcome.verdict and f" {outcome.verdict}"
    return Headline(f"{count} predict{'s' if one else ''} ", target, f"{verdict}: ", reached)


def outcome_of_result(result: Mapping[str, Any]) -> Outcome:
    """The outcome of a result, see `bahsic.report.report_html`."""
    automatic = result["parameters"].get("n_features_to_select") == "auto"
    return _outcome(result["path"], result["n_features"], n_used(result), automatic=automatic)


def outcome_of_selector(selector: Any, path: Sequence[Mapping[str, Any]]) -> Outcome:
    """The outcome of a fitted `BAHSIC` or `FOHSIC`, whose path is given as plain data."""
    used = sum(not column.left_out for column in selector.columns_)
    return _outcome(path, selector.n_features_, used, automatic=selector.n_features_to_select == "auto")


def _outcome(path: Sequence[Mapping[str, Any]], n_selected: int, used: int, *, automatic: bool) -> Outcome:
    steps = {step["n_features"]: step for step in path} if curve_of(path) is PREDICTABILITY else {}
    if n_selected not in steps:
        return Outcome(n_selected, used)
    here, whole = steps[n_selected], steps.get(used, {})
    value, error = here[PREDICTABILITY.key], here.get(PREDICTABILITY.error)
    return Outcome(n_selected, used, value, error, whole.get(PREDICTABILITY.key), automatic)


def _reached(value: float, whole: float | None) -> str:
    here = _two_digits(value)
    if whole is None:
        return f"R² {here}"
    more = round(value, 2) > round(whole, 2)  # "0.88 of 0.87" would be hard to understand
    return f"R² {here}, all {_two_digits(whole)}" if more else f"R² {here} of {_two_digits(whole)}"


def _two_digits(value: float) -> str:
    return shown(value, ".2f")
