"""The first sentence of results, reports and notebooks: what held-out samples say, and nothing more."""

import pytest

from bahsic import BAHSIC, FOHSIC
from bahsic.datasets import make_xor
from bahsic.report.headline import Outcome, few_samples_words, headline_of, outcome_of_selector
from bahsic.report.schema import checked
from bahsic.report.schema import outcome_of_result as outcome_of_checked
from bahsic.report.selector import path_of
from reporting import xor_result


def outcome_of_result(result):
    return outcome_of_checked(checked(result))


AUC = {"score": 0.966, "score_name": "ROC AUC"}


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        (Outcome(5, 15, 0.7, 0.02, **AUC), "5 of 15 features predict y: ROC AUC 0.97, held-out R² 0.70 ± 0.02"),
        (Outcome(5, 15, 0.7, 0.02, score=0.7, score_name="R2"), "5 of 15 features predict y: held-out R² 0.70 ± 0.02"),
        (Outcome(5, 15, 0.7, 0.02, score_name="ROC AUC"), "5 of 15 features predict y: held-out R² 0.70 ± 0.02"),
        (Outcome(5, 15, 0.98, 0.0031), "5 of 15 features predict y: held-out R² 0.980 ± 0.003"),
        (Outcome(5, 15, 0.98, 8e-13), "5 of 15 features predict y: held-out R² 0.980 ± 0.001"),
        (Outcome(1, 15, 0.003, 0.0002, predicts=True), "1 of 15 features predicts y weakly: held-out R² 0.003 ± 0.001"),
        (Outcome(3, 15, 0.015, 0.006, predicts=True), "3 of 15 features predict y weakly: held-out R² 0.01 ± 0.01"),
        (
            Outcome(1, 6, 0.32, 0.25, predicts=False),
            "Nothing in this table clearly predicts y: held-out R² 0.32 ± 0.25 at best",
        ),
        (Outcome(1, 30, 0.84, 0.02), "1 of 30 features predicts y: held-out R² 0.84 ± 0.02"),
        (Outcome(1, 1, 0.85, 0.02), "1 of 1 feature predicts y: held-out R² 0.85 ± 0.02"),
        (Outcome(4, 30, 0.55, 0.4), "4 of 30 features may predict y: held-out R² 0.55 ± 0.40"),
        (
            Outcome(1, 30, -0.02, 0.02),
            "1 of 30 features selected, without evidence that it predicts y: held-out R² −0.02 ± 0.02",  # noqa: RUF001
        ),
        (
            Outcome(4, 30, -0.001, 0.02),
            "4 of 30 features selected, without evidence that they predict y: held-out R² 0.00 ± 0.02",
        ),
        (Outcome(4, 30, 0.83, symbol="leave-one-out R²"), "4 of 30 features predict y: leave-one-out R² 0.83"),
        (Outcome(4, 30), "4 of 30 features selected for y"),
        (
            Outcome(1, 30, 0.04, 0.05, **AUC, predicts=False),
            "Nothing in this table predicts y: held-out R² 0.04 ± 0.05 at best",
        ),
    ],
)
def test_sentence(outcome, text):
    assert headline_of(outcome, "y").text == text


def test_sentence_in_ascii_but_for_the_target():
    told = headline_of(Outcome(1, 9, -0.02, 0.02), "m²").ascii
    assert told == "1 of 9 features selected, without evidence that it predicts m²: held-out R2 -0.02 +/- 0.02"


def test_few_samples_are_a_warning():
    words = few_samples_words(Outcome(2, 6, 1.0, 0.01, n_judged=5))
    assert words == "Only 5 samples were predicted: these scores may be due to chance"
    assert few_samples_words(Outcome(2, 6, 1.0, 0.01, n_judged=20)) == ""
    assert few_samples_words(Outcome(2, 6, n_judged=5)) == ""


def test_without_held_out_samples_there_is_no_r2():
    assert outcome_of_result(xor_result()) == outcome_of_result(xor_result("prediction")) == Outcome(2, 22)


def test_a_number_that_is_not_on_the_path_is_measured_too():
    X, y, _ = make_xor(n_samples=60, n_features=9, random_state=0)
    fitted = BAHSIC(4, step=0.5, cv=2).fit(X, y)
    assert 4 not in {step.n_features for step in fitted.path_}
    found = outcome_of_selector(fitted, path_of(fitted))
    assert (found.r2, found.error) == (fitted.predictability_, fitted.predictability_error_)


def test_columns_that_are_left_out_do_not_count():
    result = xor_result("prediction", cv=2)
    result["columns"][5] |= {"role": "identifier"}
    assert outcome_of_result(result).n_candidates == 21
    assert outcome_of_result(result).r2_all is None  # the path has no such size


@pytest.mark.parametrize(("selector", "whole"), [(BAHSIC, True), (FOHSIC, False)])
def test_selector_has_the_same_numbers(selector, whole):
    X, y, _ = make_xor(n_samples=80, n_features=5, random_state=0)
    fitted = selector(2, criterion="prediction", cv=2).fit(X, y)
    found = outcome_of_selector(fitted, path_of(fitted))
    reached = {step.n_features: step.predictability for step in fitted.path_}
    assert (found.r2, found.r2_all) == (reached[2], reached[5] if whole else None)
    assert (found.score, found.score_name, found.predicts) == (fitted.score_, "ROC AUC", None)
