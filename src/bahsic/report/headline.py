"""The outcome of a selection: its numbers, and the first sentence about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from bahsic.report.curve import HELD_OUT, quantity_of
from bahsic.report.svg import shown

# Entries of a result that say how well a selection predicts; a selector has them as attributes.
MEASURES = ("predictability", "predictability_error", "score", "score_name", "n_folds", "n_judged", "predicts")

SOMETHING = 0.1  # R2 that may be more than chance
_NOTHING, _WEAK = 0.005, 0.02  # R2 up to which a regression is no better than the mean, and hardly better
_NEARLY, _FAR_FEWER = 0.98, 2 / 3  # share of R2 that fewer features have to reach, and how many of them at most
_LEAST_ERROR = 0.001  # smaller standard errors are shown as this one
_FEW_SAMPLES = 20  # with fewer, chance can look like anything
_ASCII = str.maketrans({"²": "2", "±": "+/-", "−": "-", "–": "-"})  # noqa: RUF001 - a minus and a dash


def ascii_text(text: str) -> str:
    """Return a sentence with ASCII in place of the symbols that this package writes; names stay as they are."""
    return text.replace(" ± ", " +/- ").translate(_ASCII)


class Headline(NamedTuple):
    """A sentence around the name of the target, which may be any text."""

    before: str
    target: str
    after: str
    score: str = ""

    @property
    def text(self) -> str:
        """The whole sentence."""
        return "".join(self)

    @property
    def ascii(self) -> str:
        """The whole sentence, in ASCII but for the target."""
        return "".join(self._replace(score=ascii_text(self.score)))


@dataclass(frozen=True)
class Outcome:
    """Numbers that say how well a selection predicts."""

    n_selected: int
    n_candidates: int
    r2: float | None = None  # of the selected features; the best on the path where nothing predicts the target
    error: float | None = None  # its standard error
    r2_all: float | None = None  # of all candidates, where the path has it
    score: float | None = None  # the usual measure (ROC AUC, accuracy, R2) of the same predictions
    score_name: str | None = None
    predicts: bool | None = None  # False where nothing predicts the target, None where the number was fixed
    symbol: str = HELD_OUT.symbol  # name of R2
    n_judged: int | None = None  # number of samples that were predicted

    @property
    def nothing(self) -> bool:
        """Whether nothing predicts the target."""
        return self.predicts is False

    @property
    def r2_text(self) -> str:
        """R2 with its standard error, such as "0.70 ± 0.02"."""
        digits = ".2f" if self.error is None or self.error >= _NOTHING else ".3f"
        band = "" if self.error is None else f" ± {max(self.error, _LEAST_ERROR):{digits}}"
        return f"{shown(self.r2 or 0.0, digits)}{band}"

    @property
    def score_text(self) -> str:
        """The usual measure, such as "ROC AUC 0.97"; empty where it is R2, or where nothing predicts the target."""
        return (
            ""
            if self.score is None or self.score_name == "R2" or self.nothing
            else f"{self.score_name} {self.score:.2f}"
        )


def headline_of(outcome: Outcome, target: str = "the target") -> Headline:
    """Return the sentence about an outcome.

    Examples
    --------
    >>> headline_of(Outcome(5, 15, 0.7, 0.02, score=0.97, score_name="ROC AUC"), "diagnosis").text
    '5 of 15 features predict diagnosis: ROC AUC 0.97, held-out R² 0.70 ± 0.02'
    >>> headline_of(Outcome(1, 9, 0.01, 0.02, predicts=False), "price").text
    'Nothing in this table predicts price: held-out R² 0.01 ± 0.02 at best'
    """
    r2 = f"{outcome.symbol} {outcome.r2_text}"
    if outcome.nothing:
        clearly = "clearly " if (outcome.r2 or 0.0) >= SOMETHING else ""
        return Headline(f"Nothing in this table {clearly}predicts ", target, ": ", f"{r2} at best")
    count = f"{outcome.n_selected} of {outcome.n_candidates} feature{'' if outcome.n_candidates == 1 else 's'}"
    if outcome.r2 is None:
        return Headline(f"{count} selected for ", target, "")
    score = ", ".join(filter(None, (outcome.score_text, r2)))
    if outcome.r2 <= _NOTHING and not outcome.predicts:
        return Headline(f"{count} selected, without evidence that {_it(outcome)} ", target, ": ", score)
    verb, weakly = _verb(outcome)
    return Headline(f"{count} {verb} ", target, f"{weakly}: ", score)


def _it(outcome: Outcome) -> str:
    return "it predicts" if outcome.n_selected == 1 else "they predict"


def _verb(outcome: Outcome) -> tuple[str, str]:
    """Return the verb, and what follows the target."""
    value = outcome.r2 or 0.0
    if value <= 2 * (outcome.error or 0.0) and not outcome.predicts:
        return "may predict", ""
    return "predicts" if outcome.n_selected == 1 else "predict", " weakly" if value < _WEAK else ""


def knee_of(outcome: Outcome, path: Sequence[Mapping[str, Any]]) -> str:
    """Return a sentence on far fewer features that predict nearly as well; empty if there are none.

    Examples
    --------
    >>> path = [{"n_features": n, "predictability": value} for n, value in ((4, 0.70), (10, 0.906), (26, 0.924))]
    >>> knee_of(Outcome(26, 80, 0.924), path)
    '10 features reach 98% of this score'
    """
    if not outcome.r2 or outcome.nothing:
        return ""
    reached = {step["n_features"]: step["predictability"] / outcome.r2 for step in path if step.get("predictability")}
    n = min((n for n, share in reached.items() if share >= _NEARLY), default=outcome.n_selected)
    if n > _FAR_FEWER * outcome.n_selected:
        return ""
    return f"{n} feature{'s reach' if n > 1 else ' reaches'} {min(99, int(100 * reached[n]))}% of this score"


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


def few_samples_words(outcome: Outcome) -> str:
    """Return a warning where few samples were predicted; empty otherwise."""
    few = outcome.r2 is not None and outcome.n_judged is not None and outcome.n_judged < _FEW_SAMPLES
    return f"Only {outcome.n_judged} samples were predicted: these scores may be due to chance" if few else ""


def outcome_of_selector(selector: Any, path: Sequence[Mapping[str, Any]]) -> Outcome:
    """Return the outcome of a fitted `BAHSIC` or `FOHSIC`, whose path is given as plain data."""
    n_candidates = sum(not column.left_out for column in selector.columns_)
    return outcome_of(measures_of(selector), path, selector.n_features_, n_candidates)


def measures_of(selector: Any) -> dict[str, Any]:
    """Return the measures of a fitted selector as plain data, None where it was not cross-fitted."""
    return {name: getattr(selector, f"{name}_", None) for name in MEASURES}


def outcome_of(
    measures: Mapping[str, Any], path: Sequence[Mapping[str, Any]], n_selected: int, n_candidates: int
) -> Outcome:
    """Return the outcome of a selection; results of earlier versions have their measures on the path only."""
    quantity = quantity_of(path)
    steps = {step["n_features"]: step for step in path} if quantity is not None and quantity.is_r2 else {}
    here = measures if "predictability" in measures else steps.get(n_selected, {})
    if measures.get("predicts") is False:
        here = max(steps.values(), key=lambda step: float(step["predictability"]), default=measures)
    return Outcome(
        n_selected,
        n_candidates,
        here.get("predictability"),
        here.get("predictability_error"),
        steps.get(n_candidates, {}).get("predictability"),
        measures.get("score"),
        measures.get("score_name"),
        measures.get("predicts"),
        quantity.symbol if quantity is not None and steps else HELD_OUT.symbol,
        measures.get("n_judged"),
    )
