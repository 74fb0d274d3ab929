"""The demonstration finds what it says it finds and fits a plain terminal."""

import io
import re
import sys

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from bahsic import BAHSIC, hsic_scores, predictability
from bahsic.cli import main
from bahsic.cli.arguments import parsed
from bahsic.cli.demo import breast_cancer_result, demonstration

DATA = load_breast_cancer()


@pytest.fixture(scope="module")
def result():
    return breast_cancer_result("the file")


@pytest.fixture(scope="module")
def text(result) -> str:
    return demonstration(result)


@pytest.fixture(scope="module")
def selector():
    return BAHSIC("auto", criterion="prediction", kernel="auto").fit(DATA.data, DATA.target)


def value_in(text: str, row: str) -> float:
    return float(re.search(rf"{re.escape(row)}.*? (-?\d+\.\d\d)", text)[1])


def test_fits_a_plain_terminal(text):
    assert text.isascii()
    assert text.endswith("\n")
    assert max(map(len, text.splitlines())) <= 80
    assert not any(line.endswith(" ") for line in text.splitlines())


def test_a_few_measurements_predict_and_each_has_its_part(text, selector):
    number = selector.n_features_
    reached = f"held-out R2 {selector.predictability_:.2f} +/- {selector.predictability_error_:.2f}"
    assert f"{number} of 30 features predict diagnosis: ROC AUC {selector.score_:.2f}, {reached}" in text
    assert 3 <= number <= 11
    rows = re.findall(r"^ +\d+  ([a-z ]+?) +(-?0\.\d{3}) .* (\d)/5 .*\*$", text, re.MULTILINE)
    kept = np.flatnonzero(selector.support_)[np.argsort(-selector.scores_[selector.support_], kind="stable")]
    folds = np.rint(5 * selector.selection_frequencies_).astype(int)
    assert rows == [(DATA.feature_names[j], f"{selector.scores_[j]:.3f}", str(folds[j])) for j in kept]


def test_single_scores_choose_a_worse_set(text, selector):
    best = np.argsort(-hsic_scores(DATA.data, DATA.target)[0])[: selector.n_features_]
    assert value_in(text, "with the highest univariate scores:") == round(
        predictability(DATA.data[:, best], DATA.target, kernel=selector.kernel_), 2
    )
    assert value_in(text, "with the highest univariate scores:") < value_in(text, "selected features:")


def test_xor_is_found_although_its_features_alone_say_nothing(text):
    assert value_in(text, "x1 and x2 together") > 0.9
    assert max(value_in(text, "x1 alone"), value_in(text, "x2 alone")) < 0.05
    assert re.search(r"Ranking by BAHSIC: +(x1, x2|x2, x1), .*\(selected: (x1, x2|x2, x1)\)", text)
    assert not re.search(r"Univariate ranking: +(x1, x2|x2, x1), ", text)


def test_longest_bar_belongs_to_the_two_together(text):
    assert re.search(r"together +0\.9\d  #{24}$", text, re.MULTILINE)


def test_result_is_that_of_the_command(result, selector):
    given = vars(parsed(["select", "breast_cancer.csv", "--target", "diagnosis"]))
    defaults = BAHSIC().get_params()
    recorded = {name: value for name, value in result["parameters"].items() if name != "method"}
    assert recorded == {name: defaults[name] if given[name] is None else given[name] for name in recorded}
    assert result["parameters"]["method"] == given["method"]
    assert result["seed"] == given["random_state"]
    assert result["kernel"] == selector.kernel_
    assert {row["name"] for row in result["views"][0]["classes"]} == {"benign", "malignant"}


@pytest.mark.parametrize(("encoding", "mark"), [("utf-8", "█"), ("ascii", "#"), ("latin-1", "#")])
def test_bars_are_what_the_terminal_can_show(monkeypatch, result, encoding, mark):
    output = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(output, encoding=encoding))
    monkeypatch.setattr("bahsic.cli.demo.breast_cancer_result", lambda _: result)
    assert main(["demo"]) == 0
    sys.stdout.flush()
    assert f"  {mark * 24}" in output.getvalue().decode(encoding)
