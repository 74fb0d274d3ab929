"""The first sentence of reports and notebooks: honest about better, equal and worse."""

import pytest

from bahsic import BAHSIC, FOHSIC
from bahsic.datasets import make_xor
from bahsic.report.drawable import path_of
from bahsic.report.headline import Outcome, headline_of, outcome_of_result, outcome_of_selector
from reporting import diabetes_result, xor_result


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        (Outcome(4, 30, 0.83, 0.03, 0.85), "4 of 30 features predict y as well as all: R² 0.83 of 0.85"),
        (Outcome(4, 30, 0.86, 0.02, 0.85), "4 of 30 features predict y as well as all: R² 0.86, all 0.85"),
        (Outcome(4, 30, 0.85, 0.02, 0.85), "4 of 30 features predict y as well as all: R² 0.85 of 0.85"),
        (Outcome(6, 5000, 0.98, 0.01, 0.73), "6 of 5000 features predict y better than all: R² 0.98, all 0.73"),
        (Outcome(4, 30, 0.80, 0.02, 0.85), "4 of 30 features predict y nearly as well as all: R² 0.80 of 0.85"),
        (Outcome(4, 30, 0.55, 0.02, 0.85), "4 of 30 features predict y worse than all: R² 0.55 of 0.85"),
        (Outcome(4, 30, 0.55, 0.4, 0.85), "4 of 30 features hardly predict y: R² 0.55 of 0.85"),
        (Outcome(1, 30, 0.84, 0.02, 0.85), "1 of 30 features predicts y as well as all: R² 0.84 of 0.85"),
        (Outcome(1, 30, -0.02, 0.02, 0.85), "1 of 30 features does not predict y: R² −0.02 of 0.85"),  # noqa: RUF001
        (Outcome(4, 30, -0.001, 0.02, -0.1), "4 of 30 features do not predict y: R² 0.00, all −0.10"),  # noqa: RUF001
        (Outcome(4, 30, 0.03, 0.02, 0.02), "4 of 30 features hardly predict y: R² 0.03, all 0.02"),
        (Outcome(30, 30, 0.85, 0.02, 0.85), "30 of 30 features predict y: R² 0.85"),
        (Outcome(1, 1, 0.85, 0.02, 0.85), "1 of 1 feature predicts y: R² 0.85"),
        (Outcome(4, 30, 0.83, 0.02), "4 of 30 features predict y: R² 0.83"),
        (Outcome(4, 30), "4 of 30 features selected for y"),
    ],
)
def test_sentence(outcome, text):
    assert headline_of(outcome, "y").text == text


def test_number_that_was_chosen_is_within_the_error_of_single_samples_and_so_as_good():
    # R2 has a standard error of its own, which says little about a difference on the same samples.
    assert Outcome(4, 30, 0.82, 0.01, 0.85, automatic=True).verdict == "as well as all"
    assert Outcome(4, 30, 0.82, 0.01, 0.85).verdict == "nearly as well as all"
    assert Outcome(4, 30, 0.79, 0.01, 0.85, automatic=True).verdict == "nearly as well as all"


def test_a_little_more_is_not_better():
    assert Outcome(4, 30, 0.87, 0.03, 0.85).verdict == "as well as all"
    assert Outcome(4, 30, 0.855, 0.001, 0.85).verdict == "as well as all"
    assert Outcome(4, 30, 0.89, 0.03, 0.85).verdict == "better than all"


def test_outcome_of_a_regression():
    result = diabetes_result()
    reached = {step["n_features"]: step for step in result["path"]}
    found = outcome_of_result(result)
    here = reached[result["n_features"]]
    assert (found.value, found.error) == (here["predictability"], here["predictability_error"])
    assert (found.whole, found.n_used, found.automatic) == (reached[10]["predictability"], 10, True)
    told = headline_of(found, "progression").text
    assert told.startswith(f"{result['n_features']} of 10 features predict progression as well as all: R² 0.")


def test_hsic_alone_has_no_predictability():
    assert outcome_of_result(xor_result()) == Outcome(2, 22)


def test_columns_that_are_left_out_do_not_count():
    result = xor_result("prediction")
    result["columns"][5] |= {"role": "identifier"}
    assert outcome_of_result(result).n_used == 21
    assert outcome_of_result(result).whole is None  # the path has no such size


@pytest.mark.parametrize(("selector", "whole"), [(BAHSIC, True), (FOHSIC, False)])
def test_selector_has_the_same_numbers(selector, whole):
    X, y, _ = make_xor(n_samples=80, n_features=5, random_state=0)
    fitted = selector(2, criterion="prediction").fit(X, y)
    found = outcome_of_selector(fitted, path_of(fitted))
    reached = {step.n_features: step.predictability for step in fitted.path_}
    assert (found.value, found.whole) == (reached[2], reached[5] if whole else None)
    assert not found.automatic
