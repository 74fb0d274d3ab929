"""Text for people: names made safe and aligned, tables, plots; and the command in a real terminal."""

import io
import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bahsic
from bahsic.cli.terminal import Style, path_plot, ranking_table, selection_text, style_of
from bahsic.cli.text import display_width, fitted, has_blocks
from bahsic.names import for_terminal

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


def test_width_of_characters():
    # Counted by hand: Latin 1, Chinese and emoji 2, marks 0, wide Latin 2.
    assert [display_width(text) for text in ("ab", "漢字", "😀", "n\u0308", "Ａ")] == [2, 4, 2, 1, 2]  # noqa: RUF001


def test_what_is_cut_keeps_both_ends():
    assert fitted("abcdefghij", 7) == "abc…hij"
    assert fitted("abcdefghij", 7, "ascii") == "ab...ij"
    assert fitted("abc", 5) == "abc  "
    assert fitted("漢字漢字漢字", 8) == "漢字…字 "


def test_numbers_stay_behind_a_name_from_right_to_left():
    assert fitted("שלום", 6) == "שלום\u200e  "


def test_table_is_aligned_whatever_the_names_are():
    lines = ranking_table(entries(HOSTILE), Style(80), top=0).splitlines()
    assert len(lines) == 1 + len(HOSTILE)
    marks = [display_width(line[: line.rindex("< 0.001")]) for line in lines[1:]]
    assert set(marks) == {marks[0]}
    assert max(map(display_width, lines)) <= 80
    assert [line.endswith("✓") for line in lines[1:4]] == [True, True, False]


@pytest.mark.parametrize("width", [40, 60, 200])
def test_table_fits_the_terminal(width):
    text = ranking_table(entries(["n" * 500, "short"]), Style(width))
    assert max(map(display_width, text.splitlines())) <= max(width, 58)
    assert "…" in text


def test_long_tables_end_with_what_is_left_out():
    lines = ranking_table(entries(map(str, range(50))), Style(), top=1).splitlines()
    assert lines[-1] == " ...  49 more, 1 of them selected; --top 0 shows all"


def test_folds_that_chose_a_feature_are_a_column():
    rows = [{**row, "frequency": 1 / row["rank"]} for row in entries("ab")]
    lines = ranking_table(rows, Style(), relevance=True, n_folds=10).splitlines()
    assert lines[0].endswith("  worth  folds  selected")
    assert [line.split()[-2] for line in lines[1:3]] == ["10/10", "5/10"]
    assert {line.index("✓") for line in lines[1:3]} == {lines[0].index("selected")}
    assert "folds" not in ranking_table([{**row, "frequency": None} for row in rows], Style(), n_folds=1)


def steps(*values):
    return [{"n_features": n, "hsic": value} for n, value in enumerate(values, start=1)]


def test_plot_has_heights_in_proportion():
    rows = path_plot(steps(0.25, 1.0, 0.5, -1.0), 2, Style(18 + 4)).splitlines()
    # Five rows of eight levels for six columns; 0.25 * 40 = 10 eighths, 0.5 * 40 = 20.
    assert [row[12:] for row in rows[1:6]] == [" █", " █", " █▄", "▂██", "███"]
    assert rows[1].startswith(f"{1:>10} │")
    assert rows[6] == f"{0:>10} └────"
    assert rows[7] == f"{'':13}^ 2"


def test_plot_without_blocks_is_ascii():
    plot = path_plot(steps(0.25, 1.0, 0.5), 2, Style(19, "ascii"))
    assert plot.isascii()
    # Five rows of three levels: 0.25 * 15 = 3.75, rounded to 4, and 0.5 * 15 = 7.5, to 8.
    assert [row[12:] for row in plot.splitlines()[1:6]] == [" #", " #", " #:", ".##", "###"]


def test_few_steps_are_wide_columns():
    rows = path_plot(steps(1.0, 0.2), 2, Style(80)).splitlines()
    assert [row[12:] for row in rows[1:6]] == ["███"] * 4 + ["██████"]
    assert rows[7] == f"{'':15}^ 2"


def test_plot_of_many_steps_fits_and_keeps_the_chosen_one():
    rng = np.random.default_rng(0)
    plot = path_plot(steps(*rng.uniform(0.1, 1.0, 1000)), 777, Style(80))
    assert max(map(len, plot.splitlines())) <= 80
    assert "^ 777\n" in plot


def test_plot_without_a_selected_number_has_no_pointer():
    assert "^" in path_plot(steps(0.25, 1.0), 1, Style())
    assert "^" not in path_plot(steps(0.25, 1.0), 0, Style())


@pytest.mark.parametrize("path", [[], steps(1.0), steps(-1.0, -2.0), steps(0.0, 0.0), steps(None, None)])
def test_no_plot_of_nothing(path):
    assert path_plot(path, 1, Style()) == ""


def test_selection_in_words():
    result = {
        "criterion": "hsic",
        "kernel": "gaussian",
        "parameters": {"kernel": "gaussian"},
        "ranking": entries(["a", "b", "c"]),
        "path": steps(0.1, 0.4, 0.3),
        "n_features": 2,
        "reason": "2 features asked for",
        "input": {"n_features": 3, "target_kernel": "binary"},
        "test": {"pvalue": 0.0123, "split_pvalues": [0.1] * 20},
    }
    text = selection_text(result, Style())
    assert text.startswith("2 of 3 features selected for the target\nCriterion: hsic, ")
    assert "\n2 features asked for; target: two classes.\n" in text
    assert text.endswith("did not select: p = 0.012 (20 splits).\n")
    assert "\x1b" not in text
    assert "\x1b[32m" in selection_text(result, Style(colour=True))


def test_prediction_in_words():
    reached = ((1, -0.1), (2, 0.8), (3, 0.6))
    path = [{"n_features": n, "hsic": None, "predictability": value, "score": None} for n, value in reached]
    result = {
        "criterion": "prediction",
        "kernel": "laplacian",
        "parameters": {"kernel": "auto"},
        "ranking": entries(["a", "b", "c"]),
        "path": path,
        "n_features": 2,
        "reason": "2 of 3 features predict as well as any: held-out R2 0.80 (all 3: 0.60)",
        "input": {"n_features": 3, "target_kernel": "binary", "target": "ill"},
        "predictability": 0.8,
        "predictability_error": 0.03,
        "score": 0.95,
        "score_name": "ROC AUC",
        "n_folds": 5,
        "test": None,
    }
    lines = selection_text(result, Style()).splitlines()
    assert lines[0] == "2 of 3 features predict ill: ROC AUC 0.95, held-out R2 0.80 +/- 0.03"
    assert lines[1] == "Criterion: prediction of the target; kernel: laplacian (auto); 5 folds."
    assert [line.split()[-2:] for line in lines[4:7]] == [["0.100", "✓"], ["0.050", "✓"], ["c", "0.033"]]
    assert lines[7].strip() == "worth: R2 that would be lost without the feature, or added by it; alone: R2 of it alone"
    assert "Held-out R2 along the path" in lines
    assert "       0.8 │   ███" in lines
    last = " ".join(lines[-2:])
    assert last == "2 of 3 features predict as well as any: held-out R2 0.80 (all 3: 0.60); target: two classes."


@pytest.mark.parametrize("width", [40, 60, 80])
def test_table_with_what_features_matter_fits_the_terminal(width):
    text = ranking_table(entries(["n" * 500, "short", "other"]), Style(width), relevance=True)
    table = text.splitlines()[:-1]
    assert max(map(display_width, table)) <= max(width, 69)
    assert table[3].endswith("  0.033")


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


@pytest.fixture
def spawn(tmp_path):
    pexpect = pytest.importorskip("pexpect", reason="a terminal is played by pexpect")
    if not hasattr(pexpect, "spawn"):
        pytest.skip("there are no pseudo-terminals on this system")
    rng = np.random.default_rng(0)
    # Large enough to be interrupted, small enough for a busy machine.
    np.savez(tmp_path / "data.npz", X=rng.normal(size=(600, 300)), y=np.resize([0, 1], 600))
    children = []

    def spawn(*words, **variables):
        source = str(Path(bahsic.__file__).parents[1])
        fixed = {"PYTHONPATH": source, "PYTHONIOENCODING": "utf-8", "TERM": "xterm", "COLUMNS": "80"}
        environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | fixed | variables
        command = [sys.executable, "-m", "bahsic", *words]
        child = pexpect.spawn(
            command[0],
            command[1:],
            cwd=str(tmp_path),
            env=environment,
            encoding="utf-8",
            timeout=60,
            dimensions=(24, 80),
        )
        children.append(child)
        return child

    yield spawn
    for child in children:
        child.close(force=True)


def test_progress_in_a_terminal(spawn):
    child = spawn("select", "data.npz", "-k", "3", "--step", "2", "--kernel", "gaussian", "--cv", "2")
    child.expect(r"\r\d+% done, about \d+ \w+ left\x1b\[K")
    child.expect("\r\x1b\\[K")
    child.expect("3 of 300 features")
    child.expect("\x1b\\[1m.*rank")
    child.wait()
    assert child.exitstatus == 0


def test_ctrl_c(spawn, tmp_path):
    child = spawn("select", "data.npz", "--step", "1", "-o", "out.npz", "--report", "out.html")
    child.expect(r"\d+% done")
    child.sendintr()
    child.expect("bahsic: interrupted")
    rest = child.read()
    child.wait()
    assert child.exitstatus == 130
    assert "Traceback" not in rest
    assert rest.strip() == ""
    assert [path.name for path in tmp_path.iterdir()] == ["data.npz"]


def test_an_interrupted_selection_goes_on(spawn, tmp_path):
    words = ["select", "data.npz", "--step", "1", "-k", "3", "--kernel", "gaussian", "--cv", "2"]
    words += ["--checkpoint", "rounds"]
    child = spawn(*words)
    child.expect(r"(\d+)% done")
    before = int(child.match[1])
    child.sendintr()
    child.expect("bahsic: finished rounds are in rounds; the same command goes on from them")
    child.expect("bahsic: interrupted")
    child.wait()
    assert child.exitstatus == 130
    child = spawn(*words)
    child.expect(r"(\d+)% done")
    assert int(child.match[1]) >= before
    child.expect("3 of 300 features")
    child.wait()
    assert child.exitstatus == 0


def test_quiet_and_without_colour_in_a_terminal(spawn):
    child = spawn("select", "data.npz", "-k", "3", "--quiet", NO_COLOR="1")
    text = child.read()
    child.wait()
    assert child.exitstatus == 0
    assert "3 of 300 features" in text
    assert "\x1b" not in text
    assert "done" not in text


def test_no_progress_in_a_pipe(tmp_path):
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "data.npz", X=rng.normal(size=(100, 300)), y=np.resize([0, 1], 100))
    source = str(Path(bahsic.__file__).parents[1])
    command = [sys.executable, "-m", "bahsic", "select", "data.npz", "-k", "3"]
    process = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": source}, capture_output=True, check=True
    )
    assert process.stderr == b""
    assert b"\x1b" not in process.stdout
    assert b"3 of 300 features" in process.stdout
