"""The first sentence of results, reports and notebooks: what held-out samples say, and nothing more."""

import numpy as np
import pytest

from bahsic import BAHSIC, FOHSIC
from bahsic.datasets import make_xor
from bahsic.report import report_html
from bahsic.report.result import selection_result
from reporting import synthetic, title_of, xor_result

pytest.importorskip("jinja2", reason="the report needs jinja2, of the extra `report`")

AUC = {"score": 0.966, "score_name": "ROC AUC"}


def outcome(n_selected, n_features, r2=None, error=None, **more):
    """The result of a selection with these measures; the path has held-out R2 for that size alone."""
    step = {"n_features": max(1, n_selected), "features": ["x0"], "hsic": None, "score": None}
    measures = {"predictability": r2, "predictability_error": error, **more}
    names = [f"x{j}" for j in range(n_features)]
    result = synthetic(names, n_selected, path=[{**step, **measures}] if r2 is not None else [], **measures)
    return {**result, "input": {**result["input"], "target": "y"}}


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (outcome(5, 15, 0.7, 0.02, **AUC), "5 of 15 features predict y: ROC AUC 0.97, held-out R² 0.70 ± 0.02"),
        (outcome(5, 15, 0.7, 0.02, score=0.7, score_name="R2"), "5 of 15 features predict y: held-out R² 0.70 ± 0.02"),
        (outcome(5, 15, 0.7, 0.02, score_name="ROC AUC"), "5 of 15 features predict y: held-out R² 0.70 ± 0.02"),
        (outcome(5, 15, 0.98, 0.0031), "5 of 15 features predict y: held-out R² 0.980 ± 0.003"),
        (outcome(5, 15, 0.98, 8e-13), "5 of 15 features predict y: held-out R² 0.980 ± 0.001"),
        (outcome(1, 15, 0.003, 0.0002, predicts=True), "1 of 15 features predicts y weakly: held-out R² 0.003 ± 0.001"),
        (outcome(3, 15, 0.015, 0.006, predicts=True), "3 of 15 features predict y weakly: held-out R² 0.01 ± 0.01"),
        (
            outcome(0, 6, 0.32, 0.25, predicts=False),
            "Nothing in this table clearly predicts y: held-out R² 0.32 ± 0.25 at best",
        ),
        (outcome(1, 30, 0.84, 0.02), "1 of 30 features predicts y: held-out R² 0.84 ± 0.02"),
        (outcome(1, 1, 0.85, 0.02), "1 of 1 feature predicts y: held-out R² 0.85 ± 0.02"),
        (outcome(4, 30, 0.55, 0.4), "4 of 30 features may predict y: held-out R² 0.55 ± 0.40"),
        (
            outcome(1, 30, -0.02, 0.02),
            "1 of 30 features selected, without evidence that it predicts y: held-out R² −0.02 ± 0.02",  # noqa: RUF001
        ),
        (
            outcome(4, 30, -0.001, 0.02),
            "4 of 30 features selected, without evidence that they predict y: held-out R² 0.00 ± 0.02",
        ),
        (outcome(4, 30), "4 of 30 features selected for y"),
        (
            outcome(0, 30, 0.04, 0.05, **AUC, predicts=False),
            "Nothing in this table predicts y: held-out R² 0.04 ± 0.05 at best",
        ),
    ],
)
def test_sentence(result, text):
    assert title_of(report_html(result)) == text


def test_sentence_of_a_result_is_in_ascii_but_for_the_target():
    X, y = np.tile(np.random.default_rng(0).standard_normal((20, 3)), (2, 1)), np.repeat([0, 1], 20)
    heading = {"input": {"target": "m²", "name": None}, "parameters": {}}
    result = selection_result(BAHSIC(1, cv=2).fit(X, y), X, y, list("abc"), **heading)
    told = title_of(report_html(result)).replace("R²", "R2").replace("±", "+/-").replace("\N{MINUS SIGN}", "-")
    assert result["headline"] == told
    assert " m²: ROC AUC 0." in told
    assert ", held-out R2 -0." in told


@pytest.mark.parametrize(("n_judged", "r2", "warned"), [(5, 1.0, True), (20, 1.0, False), (5, None, False)])
def test_few_samples_are_a_warning(n_judged, r2, warned):
    html = report_html(outcome(2, 6, r2, 0.01, n_judged=n_judged))
    assert ("Only 5 samples were predicted: these scores may be due to chance." in html) == warned


@pytest.mark.parametrize("criterion", ["hsic", "prediction"])
def test_without_held_out_samples_there_is_no_r2(criterion):
    assert title_of(report_html(xor_result(criterion))) == "2 of 22 features selected for same sign"


def test_columns_that_are_left_out_do_not_count():
    result = xor_result("prediction", cv=2)
    result["columns"][5] |= {"role": "identifier"}
    html = report_html(result)
    assert title_of(html).startswith("2 of 21 features predict")
    assert "all 21 features:" not in html  # the path has no such size


@pytest.mark.parametrize(
    ("selector", "whole"),
    [
        (BAHSIC(2, criterion="prediction", cv=2), True),
        (FOHSIC(2, criterion="prediction", cv=2), False),
        (BAHSIC(3, step=0.9, criterion="prediction", cv=2), True),  # the path has 1 and 5 features
    ],
)
def test_result_has_the_numbers_of_the_selector(selector, whole):
    X, y, _ = make_xor(n_samples=80, n_features=5, random_state=0)
    selector.fit(X, y)
    heading = {"input": {"name": None, "target": "y"}, "parameters": {}}
    html = report_html(selection_result(selector, X, y, list("abcde"), **heading))
    r2, numbers = selector.predictability_, (selector.score_, selector.predictability_, selector.predictability_error_)
    told = title_of(html).replace("\N{MINUS SIGN}", "-")
    assert told.startswith(f"{selector.n_features_} of 5 features ")
    assert told.endswith(" y: ROC AUC {:.2f}, held-out R² {:.2f} ± {:.2f}".format(*numbers))
    assert {step.n_features: step.predictability for step in selector.path_}.get(selector.n_features_, r2) == r2
    assert ("all 5 features:" in html) == whole
