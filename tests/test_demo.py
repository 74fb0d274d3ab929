"""The demonstration finds what it says it finds and fits a plain terminal."""

import io
import re
import sys

import pytest
from sklearn.datasets import load_breast_cancer

from bahsic import BAHSIC
from bahsic.cli import main
from bahsic.cli.demo import demonstration


@pytest.fixture(scope="module")
def text() -> str:
    return demonstration()


def value_in(text: str, row: str) -> float:
    return float(re.search(rf"{re.escape(row)}.*? (-?\d+\.\d{{4}})", text)[1])


def test_fits_a_plain_terminal(text):
    assert text.isascii()
    assert text.endswith("\n")
    assert max(map(len, text.splitlines())) <= 80
    assert not any(line.endswith(" ") for line in text.splitlines())


def test_a_few_measurements_predict_as_well_as_all_and_each_has_its_part(text):
    number, few, whole = re.search(
        r"(\d+) of 30 features predict as well as any: R2 (0\.\d\d), all 30: (0\.\d\d)", text
    ).groups()
    ranks = re.findall(r"^ +(\d+)\. [a-z ]+(0\.\d{4})  #+$", text, re.MULTILINE)
    assert [int(rank) for rank, _ in ranks] == list(range(1, int(number) + 1))
    assert int(number) <= 10
    assert float(few) >= float(whole)
    X, y = load_breast_cancer(return_X_y=True)
    selector = BAHSIC("auto", criterion="prediction", kernel="auto").fit(X, y)
    kept = selector.elimination_order_[::-1][: int(number)]
    assert [lost for _, lost in ranks] == [f"{selector.scores_[j]:.4f}" for j in kept]


def test_xor_is_found_although_its_features_alone_say_nothing(text):
    together = value_in(text, "x1 and x2 together")
    assert abs(value_in(text, "x1 alone")) < 0.05 * together
    assert abs(value_in(text, "x2 alone")) < 0.05 * together
    assert re.search(r"Ranked by BAHSIC: +(x1, x2|x2, x1), ", text)
    assert not re.search(r"Ranked one by one: +(x1, x2|x2, x1), ", text)


def test_longest_bar_belongs_to_the_greatest_value(text):
    rows = re.findall(r"(-?\d+\.\d{4})  (#+)$", text, re.MULTILINE)
    assert max(rows, key=lambda row: float(row[0]))[1] == "#" * 24
    assert len(rows) >= 8


@pytest.mark.parametrize(("encoding", "mark"), [("utf-8", "█"), ("ascii", "#"), ("latin-1", "#")])
def test_bars_are_what_the_terminal_can_show(monkeypatch, encoding, mark):
    output = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(output, encoding=encoding))
    assert main(["demo"]) == 0
    sys.stdout.flush()
    assert f"  {mark * 24}" in output.getvalue().decode(encoding)
