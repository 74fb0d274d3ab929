"""The demonstration finds what it says it finds and fits a plain terminal."""

import re

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from bahsic import hsic_scores, predictability
from command import run

DATA = load_breast_cancer()


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    pytest.importorskip("jinja2", reason="the report needs jinja2")
    return tmp_path_factory.mktemp("demo") / "page.html"


@pytest.fixture(scope="module")
def text(page) -> str:
    """What the command prints in a terminal without blocks; it writes the page too."""
    status, out, _ = run("demo", "--report", page, encoding="ascii")
    assert status == 0
    return out


def value_in(text: str, row: str) -> float:
    return float(re.search(rf"{re.escape(row)}.*? (-?\d+\.\d\d)", text)[1])


def test_fits_a_plain_terminal(text):
    assert text.endswith("\n")
    assert max(map(len, text.splitlines())) <= 80
    assert not any(line.endswith(" ") for line in text.splitlines())


def test_a_few_measurements_predict_better_than_the_best_single_ones(text):
    number = int(
        re.search(r"^(\d+) of 30 features predict diagnosis: ROC AUC 0\.\d\d, held-out R2", text, re.MULTILINE)[1]
    )
    assert 3 <= number <= 11
    rows = re.findall(r"^ +\d+  ([a-z ]+?) +(-?0\.\d{3}|< 0\.001) .* (\d)/5 .*\*$", text, re.MULTILINE)
    chosen = [DATA.feature_names.tolist().index(name) for name, _, _ in rows]
    assert len(set(chosen)) == number
    worths = [float(worth.removeprefix("< ")) for _, worth, _ in rows]
    assert worths == sorted(worths, reverse=True)
    best = np.argsort(-hsic_scores(DATA.data, DATA.target)[0])[:number]
    for row, columns in (("selected features:", chosen), ("with the highest univariate scores:", best)):
        kernel = re.search(r"kernel:\s+(\w+)\s+\(auto\)", text)[1]
        expected = predictability(DATA.data[:, columns], DATA.target, kernel=kernel)
        assert value_in(text, row) == round(expected, 2)
    assert value_in(text, "with the highest univariate scores:") < value_in(text, "selected features:")


def test_xor_is_found_although_its_features_alone_say_nothing(text):
    assert value_in(text, "x1 and x2 together") > 0.9
    assert max(value_in(text, "x1 alone"), value_in(text, "x2 alone")) < 0.05
    assert re.search(r"Ranking by BAHSIC: +(x1, x2|x2, x1), .*\(selected: (x1, x2|x2, x1)\)", text)
    assert not re.search(r"Univariate ranking: +(x1, x2|x2, x1), ", text)
    assert re.search(r"together +0\.9\d  #{24}$", text, re.MULTILINE)  # the longest bar


def test_report_gives_the_command_that_repeats_it(text, page):
    words = re.sub("<[^>]+>", "", page.read_text(encoding="utf-8"))
    told = "bahsic select breast_cancer.csv --target diagnosis -k auto --random-state 0"
    assert told in words.splitlines()
    assert "benign" in words
    assert "malignant" in words
