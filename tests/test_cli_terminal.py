"""Text for people: names made safe and aligned, tables, plots; and the command in a real terminal."""

import os
import re
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bahsic
from bahsic.datasets import make_xor
from command import fresh, printed, run
from reporting import noise

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
    "Ａ",  # noqa: RUF001 - a wide Latin letter
    "漢字" * 40,
]


@pytest.fixture
def saved(tmp_path, monkeypatch):
    """Write a table of xor with names, and return its path."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("NO_COLOR", raising=False)

    def saved(names=None, m=40, d=6):
        X, y, _ = make_xor(n_samples=m, n_features=d if names is None else len(names), random_state=0)
        np.savez(tmp_path / "t.npz", X=X, y=y, feature_names=names or [f"x{j}" for j in range(d)])
        return tmp_path / "t.npz"

    return saved


def display_width(text):
    """Columns of a terminal: Chinese, emoji and wide Latin take two, marks none."""
    shown = [c for c in text if c != "\u200e" and unicodedata.category(c) not in ("Mn", "Me")]
    return sum(1 + (unicodedata.east_asian_width(c) in ("W", "F")) for c in shown)


def check_lines(lines):
    """Lines of a table below its heading: nothing that acts on a terminal, and numbers one below the other."""
    assert {unicodedata.category(c) for c in "".join(lines).replace("\u200e", "")} & {
        "Cc",
        "Cf",
        "Cs",
        "Zl",
        "Zp",
    } == set()
    assert len({display_width(line) for line in lines}) == 1
    assert display_width(lines[0]) <= 80


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_names_cannot_harm_a_terminal(saved, encoding):
    status, out, _ = run("rank", saved(HOSTILE), "--top", 0, encoding=encoding)
    lines = out.splitlines()[3:]
    assert (status, len(lines)) == (0, len(HOSTILE))
    check_lines(lines)
    cells = [re.match(r" +\d+  (.*?) +-?\d", line)[1] for line in lines]
    dots = "…" if encoding == "utf-8" else "..."
    assert [cell for cell in cells if re.fullmatch(rf"x{{15,}}{re.escape(dots)}x{{15,}}", cell)]
    assert ("שלום\u200e" in cells) == ("特徴量" in cells) == (encoding == "utf-8")  # numbers stay behind the former


TEXTS = st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=60)  # numpy cuts zeros off


@settings(max_examples=25)
@given(names=st.lists(TEXTS, min_size=4, max_size=20, unique=True))
def test_whatever_the_names_are_the_table_is_aligned(tmp_path_factory, names):
    path = tmp_path_factory.mktemp("names") / "t.npz"
    np.savez(path, X=np.random.default_rng(0).normal(size=(8, len(names))), y=np.resize([0, 1], 8), feature_names=names)
    status, out, err = run("rank", path, "--top", 0)
    assert status == 0, err
    check_lines(out.splitlines()[3:])


@pytest.mark.parametrize("width", [40, 60, 200])
@pytest.mark.parametrize("criterion", ["hsic", "prediction"])
def test_table_fits_the_terminal(saved, monkeypatch, width, criterion):
    monkeypatch.setenv("COLUMNS", str(width))
    words = ["-k", 2, "--criterion", criterion, "--kernel", "gaussian", "--top", 1]
    lines = run("select", saved(["n" * 500, "p" * 300, "short", "other"]), *words)[1].splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("rank"))
    assert max(map(display_width, lines[first : first + 2])) <= max(width, 90 if criterion == "prediction" else 58)
    assert "…" in lines[first + 1]
    assert lines[first + 1].endswith("  ✓")
    assert lines[first + 2] == " ...  3 more, 1 of them selected; --top 0 shows all"
    if criterion == "prediction":
        assert "works with" in lines[first]
        assert re.search(r"  ([np])\1+…\1+ +\+0\.\d\d ", lines[first + 1])


def heights_of(lines, levels):
    """Heights of the columns of a plot, in parts of a line; the widest a column may be is three characters."""
    rows = [re.split("[│|]", line)[1] for line in lines]
    rows = [row.ljust(max(map(len, rows))) for row in rows]
    return [sum(levels.index(row[i]) for row in rows) for i in range(len(rows[0]))]


@pytest.mark.parametrize(("encoding", "levels"), [("utf-8", " ▁▂▃▄▅▆▇█"), ("ascii", " .:#")])
@pytest.mark.parametrize(("d", "wide"), [(5, 3), (22, 2), (40, 1)])
def test_plot_has_heights_in_proportion(saved, encoding, levels, d, wide):
    words = ["select", saved(m=60, d=d), "-k", 3, "--criterion", "hsic", "--kernel", "gaussian", "--step", 1]
    lines = run(*words, encoding=encoding)[1].splitlines()
    values = [step["hsic"] for step in sorted(printed(*words)["path"], key=lambda step: step["n_features"])]
    (first,) = (i for i, line in enumerate(lines) if re.match(rf"HSIC {max(values):.3g} [│|]", line))
    parts = [round(3 * (len(levels) - 1) * max(0, value) / max(values)) for value in values]
    while parts[-1] == 0:
        parts.pop()
    assert heights_of(lines[first : first + 3], levels) == [part for part in parts for _ in range(wide)]
    pointer = re.match(r" +1 *(\^) 3 .*features$", lines[first + 4])
    assert pointer.start(1) == re.search("[│|]", lines[first]).end() + 2 * wide


def test_plot_of_many_steps_fits_and_keeps_the_selected_one(saved, monkeypatch):
    monkeypatch.setenv("COLUMNS", "50")
    text = run("select", saved(d=120), "-k", 77, "--criterion", "hsic", "--kernel", "gaussian", "--step", 1)[1]
    (last,) = (line for line in text.splitlines() if "^ 77" in line)
    assert len(last) <= 50


def test_prediction_in_words(saved):
    words = ["select", saved(m=60, d=4), "-k", 2, "--cv", 4, "--kernel", "gaussian", "--test", "--top", 0]
    result, text = printed(*words), run(*words)[1]
    flat = " ".join(text.split())
    assert text.splitlines()[0] == result["headline"]
    p = result["test"]["pvalue"]
    equation = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
    assert f"Test on samples not used for the selection: {equation} (20 random splits)." in flat
    needed = ", ".join(name for name in result["selected"] if name in result["test"]["discoveries"])
    assert f"Needed beyond the other selected features, at 5%: {needed}." in flat
    best = result["interactions"][0]
    told = f"{' and '.join(best['features'])}, worth {best['together']:.2f} more R2 together than apart."
    assert f"Strongest interaction: {told}" in flat
    assert "All 2 selected features were chosen in all 4 folds." in flat
    highest = max(step["predictability"] for step in result["path"])
    assert f"\nHeld-out R2 {highest:.3g} │" in text
    assert text.count("worth: R2 lost") == 1
    assert text.endswith("Criterion: prediction; kernel: gaussian; target: two classes; 4 folds.\n")


@pytest.mark.parametrize("words", [["--criterion", "hsic"], ["--criterion", "prediction"]])
@pytest.mark.parametrize("finds", [True, False])
def test_text_has_at_most_25_lines_unless_more_are_asked_for(saved, tmp_path, words, finds):
    path = saved(m=60, d=40)
    if not finds:
        path, (X, y) = tmp_path / "noise.npz", noise()
        np.savez(path, X=np.column_stack([X] + [X**k for k in range(2, 5)]), y=y)
    words = ["select", path, *words, "--kernel", "gaussian", "--step", 0.5]
    assert run(*words)[1].count("\n") <= 25
    whole = run(*words, "--top", 0)[1]
    assert len(re.findall(r"^ +\d+  x\d+ ", whole, re.MULTILINE)) == (40 if finds else 32)
    assert "--top 0 shows all" in run(*words, "--top", 1)[1]


@pytest.mark.parametrize(
    ("variables", "terminal", "colour"),
    [({}, True, True), ({}, False, False), ({"NO_COLOR": "1"}, True, False), ({"TERM": "dumb"}, True, False)],
)
def test_colours_only_where_they_are_wanted(saved, monkeypatch, variables, terminal, colour):
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    text = run("select", saved(), "-k", 2, "--criterion", "hsic", "--kernel", "gaussian", isatty=terminal)[1]
    assert [code in text for code in ("\x1b[1mrank", "\x1b[32m", "\x1b")] == [colour] * 3


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
        options = {"encoding": "utf-8", "timeout": 120, "dimensions": (24, 80)}
        words = ["-m", "bahsic", *words]
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


def test_no_progress_where_it_is_not_wanted(spawn, data):
    child = spawn(*SELECT, "--quiet", NO_COLOR="1")  # in a terminal, at the same time as in a pipe
    process = fresh("-m", "bahsic", *SELECT, cwd=data)
    text = child.read()
    child.wait()
    assert (child.exitstatus, process.returncode, process.stderr) == (0, 0, "")
    for shown in (text, process.stdout):
        assert "3 of 120 features" in shown
        assert "\x1b" not in shown
        assert "left" not in shown
