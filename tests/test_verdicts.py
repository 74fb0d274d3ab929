"""The verdict on each selected feature: partner, p-value and effect, in pages, tables and notebooks."""

import numpy as np
import pandas as pd
import pytest

from bahsic import BAHSIC, FeatureSelector, interactions, predictability, selection_test
from bahsic.report import report_html
from bahsic.report.result import selection_result
from command import printed
from reporting import cards_of

pytest.importorskip("jinja2", reason="the report needs jinja2, of the extra `report`")


def trial(n=200):
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.standard_normal((n, 4)), columns=["dose", "age", "noise", "more"])
    X["arm"] = pd.Categorical(random.choice(["drug", "placebo"], n))
    sign = np.where(X["arm"] == "drug", 1.0, -1.0)
    y = sign * X["dose"] + X["age"] ** 2 / 2 + 0.3 * random.standard_normal(n)
    return X, pd.Series(y, name="outcome")


@pytest.fixture(scope="module")
def found():
    X, y = trial()
    selector = BAHSIC(3, criterion="prediction", cv=5).fit(X, y)
    test = selection_test(selector, X, y, n_splits=3, random_state=0)
    heading = {
        "input": {"name": "trial.csv", "target": "outcome", "target_kernel": "regression", "n_features": 5},
        "parameters": {"n_features_to_select": 3},
        "seed": 0,
    }
    return selector, test, selection_result(selector, X, y, list(X.columns), test=test, **heading)


def test_rows_have_the_partner_and_the_pvalue(found):
    selector, test, result = found
    X, y = trial()
    best = interactions(selector, X, y)[0]
    assert {best.first, best.second} == {"dose", "arm"}
    rows = {row["feature"]: row for row in result["ranking"]}
    assert (rows["dose"]["partner"], rows["arm"]["partner"]) == ("arm", "dose")
    assert rows["dose"]["together"] == pytest.approx(best.together)
    assert rows["noise"]["partner"] is None
    assert [rows[name]["needed"] for name in X.columns] == test.feature_pvalues.tolist()
    assert result["test"]["discoveries"] == [X.columns[j] for j in test.discoveries(0.1)]
    assert set(result["test"]["discoveries"]) == {"dose", "age", "arm"}


def test_page_shows_how_sure_and_how_stable_it_is_near_the_top(found):
    _, test, result = found
    html = report_html(result)
    first_screen = html.split('id="ranking"')[0].replace("\xa0", " ")
    assert "on held-out samples, 5 folds" in first_screen
    assert "<li>All 3 selected features were chosen in all 5 folds.</li>" in first_screen
    p = "p &lt; 0.001" if test.pvalue < 0.001 else f"p = {test.pvalue:.3f}"
    assert f"<li>Test on samples not used for the selection: {p} (3 random splits).</li>" in first_screen
    needed = ", ".join(row["feature"] for row in result["ranking"] if row["selected"])
    assert f"<li>Needed beyond the other selected features, at 5%: {needed}.</li>" in first_screen
    assert "<li>Test on samples" not in report_html({**result, "test": None})


def test_cards_show_partners_and_pvalues(found):
    cards = cards_of(report_html(found[2]))
    assert any(fact.startswith("With arm: worth 0.") for fact in cards["dose"])
    assert "Needed beyond the other selected features: p < 0.001." in cards["dose"]


def test_effects_follow_what_the_target_does(found):
    views = {view["feature"]: view["effect"] for view in found[2]["views"]}
    age = views["age"]
    at, mean = np.array(age["at"]), np.array(age["mean"])
    slope = np.polyfit(at**2 / 2, mean, 1)[0]
    assert slope == pytest.approx(1, abs=0.2)
    assert all(low <= value <= high for low, value, high in zip(age["low"], mean, age["high"], strict=True))
    assert views["arm"]["at"] == ["drug", "placebo"]


def test_effect_of_a_class_is_its_share():
    X, _ = trial()
    X, classes = X[["age", "noise"]], np.array(["low", "middle", "high"])[np.digitize(X["age"], [-0.5, 0.5])]
    selector = FeatureSelector(1, kernel="gaussian").fit(X, classes)
    (view,) = selection_result(selector, X, classes, list(X.columns), input={"target": "age"})["views"]
    assert view["effect"]["of"] in {"low", "high"}
    assert max(view["effect"]["mean"]) > 0.8
    assert min(view["effect"]["mean"]) < 0.2


def test_picture_of_the_strongest_pair(found):
    pair = found[2]["pair"]
    assert {axis["feature"] for axis in pair["axes"]} == {"dose", "arm"}
    arm = next(axis for axis in pair["axes"] if axis["feature"] == "arm")
    assert arm["levels"] == ["drug", "placebo"]
    assert len(pair["shades"]) == len(arm["values"]) == 200
    assert sorted(set(pair["shades"])) == [0, 1, 2, 3, 4]
    html = report_html(found[2])
    assert "together</h3>" in html
    assert "shaded by outcome" in html


def test_notebook_and_summary_tell_the_partner():
    X, y = trial()
    selector = FeatureSelector(3, kernel="gaussian").fit(X, y)
    html = selector._repr_mimebundle_()["text/html"]
    assert "<th>works with</th>" in html
    assert "<td>arm, +0." in html
    summary = selector.summary().set_index("feature")
    assert summary.loc["dose", "partner"] == "arm"
    assert summary.loc["dose", "together"] > 0.3


def test_hsic_has_no_pairs_but_effects():
    X, y = trial()
    selector = BAHSIC(3).fit(X, y)
    result = selection_result(selector, X, y, list(X.columns), input={"target": "outcome"})
    assert result["interactions"] == []
    assert result["pair"] is None
    assert all("effect" in view for view in result["views"])


def test_blocks_of_samples_have_the_same_record(tmp_path):
    X, y = trial(400)
    X.assign(outcome=y).to_csv(tmp_path / "t.csv", index=False)
    words = ["-k", 3, "--kernel", "gaussian", "--block-size", 50, "--cv", "auto", "--seed", 0]
    result = printed("select", tmp_path / "t.csv", "-t", "outcome", *words)  # whose samples are in another order
    selector = BAHSIC(3, criterion="prediction", block_size=50, random_state=0, cv="auto").fit(X, y)
    plain = selection_result(selector, X, y, list(X.columns), input={"target": "outcome", "n_features": 5})
    assert result["views"] == plain["views"]
    assert len(result["views"]) == 3
    alone = {row["feature"]: row["alone"] for row in result["ranking"] if row["selected"]}
    assert alone["age"] == pytest.approx(predictability(X[["age"]], y), abs=1e-6)
