"""Names of features, whatever characters they have, on pages, in pictures and in spreadsheets."""

import pytest
from numpy.testing import assert_allclose

from bahsic.names import for_page, for_picture, for_spreadsheet


def test_names_on_pages_and_in_spreadsheets():
    assert for_page("a\x00\u2066b\ud800") == "a␀⟨U+2066⟩b⟨U+D800⟩"
    assert for_page("👩\u200d🔬") == "👩\u200d🔬"
    assert for_page("x" * 60) == "x" * 60
    assert for_page("a" * 50 + "b" * 50, 11) == "aaaaa…bbbbb"
    assert [for_spreadsheet(name)[0] for name in ("=1", "+1", "-1", "@a", "\ta", "a")] == ["'"] * 5 + ["a"]


def test_a_dollar_is_a_dollar():
    """It takes the same room as where mathematics is switched off."""
    figure = pytest.importorskip("matplotlib.figure", reason="pictures need matplotlib").Figure()
    for name in ("$a_b$", r"\$", "$", "$$", r"$\alpha$ $"):
        escaped = figure.text(0, 0, for_picture(name, range(128), 28))
        plain = figure.text(0, 0, name, parse_math=False)
        assert_allclose(escaped.get_window_extent().bounds, plain.get_window_extent().bounds)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("é漢", "??"),
        ("x" * 28, "x" * 28),
        ("a" * 20 + "b" * 20, "a" * 14 + "?" + "b" * 13),
        ("$" * 50, r"\$" * 14 + "?" + r"\$" * 13),
        (("a", 1), "('a', 1)"),
        (3.5, "3.5"),
    ],
)
def test_names_in_ascii(name, expected):
    assert for_picture(name, range(128), 28) == expected


def test_characters_of_the_font():
    assert for_picture("é漢", {0xE9, 0xFFFD}, 28) == "é\ufffd"
    assert for_picture("e\u0301", {0xE9}, 28) == "é"


def test_names_for_latex():
    expected = r"\textbackslash{}input\{a\_b\} 50\% \$ \# \& \textasciitilde{} \textasciicircum{}"
    assert for_picture(r"\input{a_b} 50% $ # & ~ ^", range(128), 50, tex=True) == expected
