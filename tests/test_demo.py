"""The demonstration finds what it says it finds and fits a plain terminal."""

import io
import re
import sys
from textwrap import dedent

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from bahsic import BAHSIC, hsic_scores, predictability, redundancy
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


def test_nothing_is_said_in_units_of_hsic(text):
    assert "HSIC" not in text.replace("BAHSIC", "")


def test_a_few_measurements_predict_and_each_has_its_part(text, selector):
    number = selector.n_features_
    reached = f"held-out R2 {selector.predictability_:.2f} +/- {selector.predictability_error_:.2f}"
    assert f"{number} of 30 features predict diagnosis: ROC AUC {selector.score_:.2f}, {reached}" in text
    assert 3 <= number <= 11
    rows = re.findall(r"^   ([a-z ]+?) +(\d)/5 +(-?0\.\d{3})", text, re.MULTILINE)
    kept = np.flatnonzero(selector.support_)[np.argsort(-selector.scores_[selector.support_], kind="stable")]
    folds = np.rint(5 * selector.selection_frequencies_).astype(int)
    assert rows == [(DATA.feature_names[j], str(folds[j]), f"{selector.scores_[j]:.3f}") for j in kept]


def test_curve_is_that_of_the_path(text, selector):
    reached = {step.n_features: step.predictability for step in selector.path_}
    sizes, values = (re.search(rf"^   {name} +(.*)", text, re.MULTILINE)[1] for name in ("features", "R2"))
    numbers = [int(size) for size in re.findall(r"\d+", sizes)]
    assert numbers == [1, 2, 3, 5, selector.n_features_, 15, 30]
    assert f"[{selector.n_features_}]" in sizes
    assert values.split() == [f"{reached[size]:.2f}" for size in numbers]


def test_near_copies_are_those_of_the_data(text, selector):
    table, names = redundancy(DATA.data, kernel=selector.kernel_), list(DATA.feature_names)
    line = " ".join(dedent(text[text.index("Near-copies of") :]).split("\n\n")[0].split())
    name, left_out = re.match(r"Near-copies of ([a-z ]+), left out: (.*?)\.(?: [A-Z]|$)", line).groups()
    j = names.index(name)
    others = np.flatnonzero(~selector.support_)
    best = [i for i in others[np.argsort(-table[j, others])][:3] if table[j, i] >= 0.7]
    assert left_out == ", ".join(f"{names[i]} {table[j, i]:.2f}" for i in best)
    assert selector.support_[j]
    kept = np.flatnonzero(selector.support_)[np.argsort(-selector.scores_[selector.support_], kind="stable")]
    near = [i for i in kept if i != j and table[j, i] >= 0.7]
    told = re.search(r"Taken as well: (.*)\.$", line)
    assert [f"{names[i]} {table[j, i]:.2f}" for i in near] == (told[1].split(", ") if told else [])


def test_single_scores_choose_a_worse_set(text, selector):
    best = np.argsort(-hsic_scores(DATA.data, DATA.target)[0])[: selector.n_features_]
    assert value_in(text, "with the highest single scores:") == round(
        predictability(DATA.data[:, best], DATA.target, kernel=selector.kernel_), 2
    )
    assert value_in(text, "with the highest single scores:") < value_in(text, "selected together:")


def test_xor_is_found_although_its_features_alone_say_nothing(text):
    assert value_in(text, "x1 and x2 together") > 0.9
    assert max(value_in(text, "x1 alone"), value_in(text, "x2 alone")) < 0.05
    assert re.search(r"Ranked by BAHSIC: +(x1, x2|x2, x1), .*\(selected: (x1, x2|x2, x1)\)", text)
    assert not re.search(r"Ranked by single scores: +(x1, x2|x2, x1), ", text)


def test_longest_bar_belongs_to_the_greatest_value(text):
    parts = re.findall(r"(0\.\d{3})  (#+)", text)
    assert max(parts, key=lambda row: float(row[0]))[1] == "#" * 10
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
