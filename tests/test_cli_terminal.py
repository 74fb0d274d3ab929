"""Text for people: names made safe and aligned, tables, plots; and the command in a real terminal."""

import io
import os
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bahsic
from bahsic.cli.terminal import (
    Style,
    curve_text,
    display_width,
    fitted,
    has_blocks,
    ranking_table,
    selection_text,
    style_of,
)
from bahsic.names import for_terminal
from bahsic.report.schema import curve_of
from command import fresh
from reporting import noise_result, wine_result, xor_result

HOSTILE = [
    "plain",
    "\x1b[31mred\x1b[0m",
    "two\nlines\r",
    "\u202egnorw",
    "שלום",
    "特徴量",
    "👩\u200d💻 coder",
    "e" + "\u0301" * 50,
    "x" * 10_000,
    "\ud800",
    "",
]


def entries(names):
    return [
        {"feature": name, "rank": i, "selected": i <= 2, "score": 0.5 / i, "pvalue": 1e-8 * i, "relevance": 0.1 / i}
        for i, name in enumerate(names, start=1)
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1", None])
def test_names_cannot_harm_a_terminal(encoding):
    for name in HOSTILE:
        cell = fitted(name, 20, encoding)
        assert display_width(cell) == 20
        cell.encode(encoding or "ascii")
        unseen = {unicodedata.category(c) for c in cell.replace("\u200e", "")} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
        assert unseen == set()


@given(st.text(st.characters()), st.integers(5, 40))
def test_cells_have_the_width_they_should(name, width):
    assert display_width(fitted(name, width)) == width
    assert not any(unicodedata.category(c) in ("Cc", "Cs") for c in for_terminal(name))


def test_cells_are_cut_in_the_middle_and_padded():
    # Counted by hand: Latin 1, Chinese and emoji 2, marks 0, wide Latin 2.
    assert [display_width(text) for text in ("ab", "漢字", "😀", "n\u0308", "Ａ")] == [2, 4, 2, 1, 2]  # noqa: RUF001
    assert fitted("abcdefghij", 7) == "abc…hij"
    assert fitted("abcdefghij", 7, "ascii") == "ab...ij"
    assert fitted("abc", 5) == "abc  "
    assert fitted("漢字漢字漢字", 8) == "漢字…字 "
    assert fitted("שלום", 6) == "שלום\u200e  "  # so that numbers stay behind a name from right to left


def table(rows, style, top=20, **result):
    rows = list(rows)
    return ranking_table({"ranking": rows, **result}, rows, style, top)


def test_table_is_aligned_whatever_the_names_are():
    lines = table(entries(HOSTILE), Style(80), top=0).splitlines()
    assert len(lines) == 1 + len(HOSTILE)
    marks = [display_width(line[: line.rindex("< 0.001")]) for line in lines[1:]]
    assert set(marks) == {marks[0]}
    assert max(map(display_width, lines)) <= 80
    assert [line.endswith("✓") for line in lines[1:4]] == [True, True, False]


@pytest.mark.parametrize("width", [40, 60, 200])
@pytest.mark.parametrize("criterion", ["hsic", "prediction"])
def test_table_fits_the_terminal(width, criterion):
    text = table(entries(["n" * 500, "short", "other"]), Style(width), criterion=criterion)
    rows = text.splitlines()[:4]
    assert max(map(display_width, rows)) <= max(width, 58)
    assert "…" in text
    assert rows[3].endswith("  0.033" if criterion == "prediction" else "  < 0.001")


def test_long_tables_end_with_what_is_left_out():
    lines = table(entries(map(str, range(50))), Style(), top=1).splitlines()
    assert lines[-1] == " ...  49 more, 1 of them selected; --top 0 shows all"


def test_folds_that_chose_a_feature_are_a_column():
    rows = [{**row, "frequency": 1 / row["rank"]} for row in entries("ab")]
    lines = table(rows, Style(), criterion="prediction", n_folds=10).splitlines()
    assert lines[0].endswith("  worth  folds  selected")
    assert [line.split()[-2] for line in lines[1:3]] == ["10/10", "5/10"]
    assert {line.index("✓") for line in lines[1:3]} == {lines[0].index("selected")}
    assert "folds" not in table([{**row, "frequency": None} for row in rows], Style(), n_folds=1)


def test_partners_are_a_column_of_limited_width():
    rows = [{**row, "partner": "p" * 50, "together": 0.25} for row in entries("ab")]
    lines = table(rows, Style(), criterion="prediction").splitlines()
    assert "works with" in lines[0]
    assert "  pppp" in lines[1]
    assert " +0.25  ✓" in lines[1]
    assert max(map(display_width, lines[:3])) < 80


def steps(*values):
    return [{"n_features": n, "hsic": value} for n, value in enumerate(values, start=1)]


def plot(path, selected, style):
    result = {"path": path, "n_features": selected, "predicts": None, "predictability": None, "columns": []}
    return curve_text(curve_of(result), style).splitlines()


def test_plot_has_heights_in_proportion():
    rows = plot(steps(0.25, 1.0, 0.5, -1.0), 2, Style(26 + 4))
    # Three rows of eight levels; 0.25 * 24 = 6 eighths, 0.5 * 24 = 12.
    assert [row[8:] for row in rows[:3]] == [" █", " █▄", "▆██"]
    assert rows[0].startswith("HSIC 1 │")
    assert rows[3] == "     0 └────"
    assert rows[4] == f"{'':8}1^ 2  4 features"


def test_plot_without_blocks_is_ascii():
    rows = plot(steps(0.25, 1.0, 0.5), 2, Style(29, "ascii"))
    assert "".join(rows).isascii()
    # Three rows of three levels: 0.25 * 9 = 2.25, rounded to 2, and 0.5 * 9 = 4.5, to 4.
    assert [row[8:] for row in rows[:3]] == [" #", " #.", ":##"]


def test_few_steps_are_wide_columns():
    rows = plot(steps(1.0, 0.25), 2, Style(80))
    assert [row[8:] for row in rows[:3]] == ["███", "███", "███▆▆▆"]
    assert rows[4] == f"{'':8}1  ^ 2 features"
    for path in (steps(1.0), steps(-1.0, -2.0), steps(0.0, 0.0)):
        assert plot(path, 1, Style()) == []


def test_plot_of_many_steps_fits_and_keeps_the_selected_one():
    rng = np.random.default_rng(0)
    rows = plot(steps(*rng.uniform(0.1, 1.0, 1000)), 777, Style(80))
    assert max(map(len, rows)) <= 80
    assert "^ 777" in rows[-1]


def test_selection_in_words():
    result = {**xor_result(), "test": {"pvalue": 0.0123, "split_pvalues": [0.1] * 20}}
    text = selection_text(result, Style())
    told = "Test on samples not used for the selection: p = 0.012 (20 random splits)."
    assert text.startswith(f"2 of 22 features selected for same sign\n{told}\n")
    assert text.endswith("Criterion: dependence (HSIC); kernel: gaussian; target: two classes.\n")
    assert "\x1b" not in text
    assert "\x1b[32m" in selection_text(result, Style(colour=True))


def test_prediction_in_words():
    result = wine_result("prediction")
    n, r2 = result["n_features"], f"{result['predictability']:.2f} +/- {result['predictability_error']:.2f}"
    lines = selection_text(result, Style()).splitlines()
    assert lines[0] == f"{n} of 13 features predict cultivar: accuracy {result['score']:.2f}, held-out R2 {r2}"
    assert lines[1].startswith("Smaller sets score more than one standard error below the best ")
    always = sum(row["frequency"] == 1 for row in result["ranking"] if row["selected"])
    told = f"{'All' if always == n else f'{always} of'} {n} selected features were chosen in all 5 folds."
    assert told in " ".join(lines)
    best = max(step["predictability"] for step in result["path"])
    assert any(line.startswith(f"Held-out R2 {best:.3g} │") for line in lines)
    worths = [line for line in lines if line.strip().startswith("worth: R2 lost")]
    assert len(worths) == 1
    assert lines[-1] == "Criterion: prediction; kernel: gaussian; target: classes; 5 folds."


@pytest.mark.parametrize("make", [noise_result, lambda: wine_result("prediction"), xor_result])
def test_text_has_at_most_25_lines_unless_more_are_asked_for(make):
    result = make()
    assert selection_text(result, Style()).count("\n") <= 25
    whole = selection_text(result, Style(), top=0)
    assert all(row["feature"] in whole for row in result["ranking"])
    assert "--top 0 shows all" in selection_text(result, Style(), top=1)


def test_interactions_and_needed_features_in_words():
    result = {**xor_result("prediction"), "test": {"pvalue": 0.0001, "split_pvalues": [0.1] * 3}}
    result["ranking"] = [{**row, "needed": 0.01 if row["feature"] == "x1" else 0.2} for row in result["ranking"]]
    text = " ".join(selection_text(result, Style(width=200)).split())
    assert "needed, p" in text
    assert "p < 0.001 (3 random splits). Needed beyond the other selected features, at 5%: x1." in text
    best = result["interactions"][0]
    told = f"{' and '.join(best['features'])}, worth {best['together']:.2f} more R2 together than apart."
    assert f"Strongest interaction: {told}" in text


def test_leaks_come_first_with_their_remedy():
    result = {**xor_result("prediction", cv=2), "leaks": ["x1"]}
    lines = selection_text(result, Style(width=200)).splitlines()
    assert lines[0] == "x1 looks like a leak: alone it predicts the target nearly perfectly; --drop x1 excludes it."


@pytest.mark.parametrize(
    ("variables", "terminal", "colour"),
    [({}, True, True), ({}, False, False), ({"NO_COLOR": "1"}, True, False), ({"TERM": "dumb"}, True, False)],
)
def test_colours_only_where_they_are_wanted(monkeypatch, variables, terminal, colour):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    stream = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    monkeypatch.setattr(stream, "isatty", lambda: terminal, raising=False)
    assert (style_of(stream).colour, style_of(stream).encoding) == (colour, "latin-1")


def test_blocks_need_an_encoding_that_has_them():
    assert [has_blocks(encoding) for encoding in ("utf-8", "latin-1", "ascii", None, "none")] == [True] + 4 * [False]


# In a real terminal

SELECT = ["select", "data.npz", "-k", "3", "--step", "1", "--kernel", "gaussian", "--cv", "2", "--jobs", "1"]


@pytest.fixture
def data(tmp_path):
    """A table that takes longer than the two seconds after which progress is shown."""
    X = np.random.default_rng(0).normal(size=(300, 120))
    np.savez(tmp_path / "data.npz", X=X, y=np.resize([0, 1], 300))
    return tmp_path


@pytest.fixture
def spawn(data):
    pexpect = pytest.importorskip("pexpect", reason="a terminal is played by pexpect")
    if not hasattr(pexpect, "spawn"):
        pytest.skip("there are no pseudo-terminals on this system")
    children = []

    def spawn(*words, **variables):
        fixed = {"PYTHONPATH": str(Path(bahsic.__file__).parents[1]), "PYTHONIOENCODING": "utf-8", "TERM": "xterm"}
        environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | fixed | variables
        words, options = ["-m", "bahsic", *words], {"encoding": "utf-8", "timeout": 120, "dimensions": (24, 80)}
        children.append(pexpect.spawn(sys.executable, words, cwd=str(data), env=environment, **options))
        return children[-1]

    yield spawn
    for child in children:
        child.close(force=True)


def test_an_interrupted_selection_shows_progress_and_goes_on(spawn, data):
    words = [*SELECT, "--checkpoint", "rounds", "-o", "out.npz", "--report", "out.html"]
    child = spawn(*words)
    child.expect(r"\rselecting features +(\d+)%.* left")
    before = int(child.match[1])
    child.sendintr()
    child.expect("bahsic: finished rounds are in rounds; the same command resumes from them")
    child.expect("bahsic: interrupted")
    assert child.read().strip() == ""  # no traceback
    child.wait()
    assert child.exitstatus == 130
    assert sorted(path.name for path in data.iterdir()) == ["data.npz", "rounds"]
    child = spawn(*words)
    if child.expect([r"features +(\d+)%", "3 of 120 features"]) == 0:
        assert int(child.match[1]) >= before
        child.expect("3 of 120 features")
    child.expect("\x1b\\[1m.*rank")
    child.wait()
    assert child.exitstatus == 0


def test_quiet_and_without_colour_in_a_terminal(spawn):
    child = spawn(*SELECT, "--quiet", NO_COLOR="1")
    text = child.read()
    child.wait()
    assert child.exitstatus == 0
    assert "3 of 120 features" in text
    assert "\x1b" not in text
    assert "left" not in text


def test_no_progress_in_a_pipe(data):
    process = fresh("-m", "bahsic", *SELECT, cwd=data)
    assert (process.returncode, process.stderr) == (0, "")
    assert "\x1b" not in process.stdout
    assert "3 of 120 features" in process.stdout
