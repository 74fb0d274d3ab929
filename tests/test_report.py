"""The report: what it says, how small and closed it is, and what names can do to it."""

import base64
import csv
import hashlib
import json
import re
import shlex
import subprocess
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

pytest.importorskip("jinja2", reason="the report needs jinja2, of the extra `report`")

from bahsic import BAHSIC
from bahsic.datasets import make_xor
from command import parsed, run
from reporting import (
    cells_of,
    code_of,
    named,
    noise_result,
    page_of,
    plain,
    result_of,
    synthetic,
    title_of,
    wine_result,
    xor_result,
)

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "<!--",
    "\"quoted\" and 'quoted' & co",
    "$math$ {{ 7 * 7 }} {% raw %}",
    "שם עברי",
    "\u202egnp.exe",
    "long " * 2000,
    "🧬👩\u200d🔬",
    "bell\x07 null\x00 escape\x1b[31m",
    "line\nbreak\u2028",
    "=cmd()",
    "lone \ud800 surrogate",
    "",
]


class Page(HTMLParser):
    """Elements of a page with their attributes, and the text of each script."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.raw, self.inside = [], {"script": [], "style": []}, None
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.inside = tag

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside in self.raw:
            self.raw[self.inside].append(data)


@pytest.fixture(scope="module")
def xor():
    return page_of(xor_result())


def stops_of(html):
    """Where the slider stops, by the number of features."""
    return {stop["size"]: stop for stop in json.loads(Page(html).raw["script"][0])["stops"]}


# The headline


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
def test_headline(result, text):
    assert title_of(page_of(result)) == text


def test_a_number_that_is_not_on_the_path_has_a_ring_beside_it():
    X, y, _ = make_xor(n_samples=80, n_features=5, random_state=0)
    selector = BAHSIC(3, step=0.9, criterion="prediction", cv=2).fit(X, y)  # the path has 1 and 5 features
    words = ["-k", 3, "--step", 0.9, "--kernel", "gaussian", "--cv", 2]
    html = page_of(result_of({**named(X), "m²": y}, "m²", *words))
    score = f"ROC AUC {selector.score_:.2f}, held-out R² {selector.predictability_:.2f} ± "
    assert f" m²: {score}" in title_of(html).replace("\N{MINUS SIGN}", "-")
    assert "all 5 features:" in html
    assert 'class="chosen"' in html


def test_ignored_columns_do_not_count():
    result = xor_result("prediction", cv=2)
    result["columns"][5] |= {"role": "identifier"}
    html = page_of(result)
    assert title_of(html).startswith("2 of 21 features predict")
    assert "all 21 features:" not in html  # the path has no such size


# The first screen


def test_first_screen(xor):
    result = wine_result("prediction")
    html = page_of(result)
    assert '<p class="lead source">data.csv, 178 samples, judged on held-out samples in 5 folds</p>' in html
    best = max(result["path"], key=lambda step: step["predictability"])
    whole = result["path"][0]["predictability"]
    everything = "" if best["n_features"] == 13 else f"; all 13: {whole:.2f}"
    beside = f"({best['n_features']} features: R² {best['predictability']:.2f}{everything})"
    assert f"one standard error below the best {beside}." in plain(html.split('id="ranking"')[0])
    assert '<p class="lead">2 features requested.</p>' in xor
    parts = ["<h1>", 'id="ranking"', 'class="chart path"', 'class="cards"', "Columns of the table", "Reproduce this"]
    places = [html.index(part, html.index("<main>")) for part in parts]
    assert places == sorted(places)


def test_warnings_stand_below_the_headline(xor):
    result = {**xor_result("prediction", cv=2), "leaks": ["x1"], "n_judged": 9}
    html = page_of(result)
    warnings = re.findall('<p class="warning" role="alert">(.*?)</p>', html)
    leak = "x1 looks like a leak: alone it predicts the target nearly perfectly"
    assert warnings == [
        f"{leak}; check that it is known before the target.",
        "Only 9 samples were predicted: these scores may be due to chance.",
    ]
    assert html.index("</h1>") < html.index(warnings[0]) < html.index('id="ranking"')
    assert 'class="warning"' not in xor
    assert "Only" not in page_of({**result, "n_judged": 20})


def test_page_that_finds_nothing_says_so_first_and_selects_nothing():
    result = noise_result()
    html = page_of(result)
    best = f"{max(step['predictability'] for step in result['path']):.2f}".replace("-", "\N{MINUS SIGN}")
    assert title_of(html).startswith(f"Nothing in this table predicts coin: held-out R² {best} ± ")
    assert f'<p class="lead">{result["kept"][0]} is kept so that pipelines still run.</p>' in html
    assert '<p class="lead">' not in html.split("pipelines still run.")[1]  # the headline has said it
    unwanted = ("What each selected", ">selected<", 'class="selected"', 'class="chosen"', "ROC AUC")
    assert [words for words in unwanted if words in html.split("<h2>Details")[0].split("<details>")[0]] == []
    assert "✓" not in html.split("<script>")[0]
    assert cells_of(html, "worth") == cells_of(html, "folds") == []
    assert json.loads(Page(html).raw["script"][0])["selected"] == 0


def test_page_without_held_out_samples_has_no_curve():
    html = page_of(xor_result("prediction"))
    assert title_of(html) == "2 of 22 features selected for same sign"
    assert "How many features" not in html
    assert set(stops_of(html)[2]) == {"size", "number", "text"}  # the slider still moves table and code
    assert cells_of(html, "folds") == []


def test_rows_and_bars_are_those_of_the_result():
    result = xor_result("prediction")
    html, ranking = page_of(result), result["ranking"]
    rows = re.findall(r'<tr data-place="\d+"( class="selected" data-selected)?>.*?<bdi class="name">(.*?)</bdi>', html)
    assert [name for chosen, name in rows if chosen] == result["selected"]
    assert [name for _, name in rows] == [row["feature"] for row in ranking]
    bars = [float(width) for width in re.findall(r'class="bar" width="([\d.]+)"', html)]
    best = max(row["relevance"] for row in ranking)
    assert bars == [
        pytest.approx(share, abs=0.06) for row in ranking if (share := 100 * row["relevance"] / best) >= 0.05
    ]


# What is safe, closed and small


def test_policy_holds_the_digests_of_style_and_script(xor):
    page = Page(xor)
    policy = next(a["content"] for tag, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")

    def digest(text):
        return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"

    assert policy.startswith("default-src 'none'; ")
    assert f"style-src {digest(page.raw['style'][0])};" in policy
    assert f"script-src {digest(page.raw['script'][-1])};" in policy


def test_page_is_closed_and_accessible(xor):
    page = Page(xor)
    for tag, attributes in page.elements:
        assert "style" not in attributes, tag
        assert not [name for name in attributes if name.startswith("on")], tag
        assert "src" not in attributes, tag
        assert attributes.get("href", "#")[0] in "#dp", attributes  # an anchor, data:, or the table
    assert ("html", {"lang": "en"}) in page.elements
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    charts = [attributes for tag, attributes in page.elements if tag == "svg"]
    pictures = [chart for chart in charts if "role" in chart]
    assert len(pictures) == 5  # the path, two features with their effects
    assert {chart["role"] for chart in pictures} == {"img"}
    assert sum(tag == "desc" for tag, _ in page.elements) == 5
    # The other ones repeat numbers beside them, in cells that are hidden from screen readers.
    hidden = [attributes for tag, attributes in page.elements if tag == "td" and "level" in attributes.get("class", "")]
    assert len(charts) == 5 + xor.count('class="bar"')
    assert {cell["aria-hidden"] for cell in hidden} == {"true"}


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_every_place_escapes_a_hostile_name(name):
    result, harmless = (
        synthetic([text, "other"], 2, reason=text, versions={text: text}) for text in (name, "harmless")
    )
    for each, text in ((result, name), (harmless, "harmless")):
        each["input"] |= {"name": text, "target": text}
        each["parameters"] |= {"kernel": text, text: text}
        for row in each["ranking"]:
            row["group"] = text
    html = page_of(result)
    if 0 < len(name) < 1000:  # others are shortened, or named by words
        assert [tag for tag, _ in Page(html).elements] == [tag for tag, _ in Page(page_of(harmless)).elements]
    assert "<!--" not in html
    assert not set(html) & {"\u202e", "\x00", "\x07", "\x1b", "\u2028", "\ud800"}
    assert max(map(len, re.findall('title="([^"]*)"', html)), default=0) <= 300


@pytest.mark.parametrize(
    "names",
    [
        *([f"feature {i}" for i in range(d)] for d in (1, 2, 29, 10_000)),
        [f"{i}" + "\"'<🧬\u202e" * 2000 for i in range(400)],
    ],
    ids=len,
)
def test_page_stays_small(names):
    html = page_of(synthetic(names, min(len(names), 30)))
    assert len(html.encode()) < 1_000_000
    assert len(re.findall("<tr data-place", html)) == min(len(names), 200)
    assert "nan" not in html.lower().replace("dominant", "")


def test_table_of_all_features(tmp_path):
    result = tmp_path / "result.json"
    result.write_text(json.dumps(synthetic(HOSTILE + ["x"] * 300)))
    assert run("report", result, "-o", tmp_path / "my report.html")[0] == 0
    page, table = tmp_path / "my report.html", tmp_path / "my report_features.csv"
    assert sorted(tmp_path.iterdir()) == [page, table, result]
    assert 'href="my%20report_features.csv"' in page.read_text(encoding="utf-8")
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(HOSTILE) + 300
    assert float(rows[2]["score"]) == 1 / 3
    assert rows[HOSTILE.index("=cmd()")]["feature"] == "'=cmd()"
    assert rows[0]["feature"] == HOSTILE[0]
    assert list(rows[0])[-6:] == ["relevance", "frequency", "alone", "partner", "together", "needed"]


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ([], "not a result of schema bahsic/1"),
        ({"schema": "bahsic/2"}, "not a result of schema bahsic/1"),
        ({"schema": "bahsic/1", "kind": "test"}, "not a result of schema bahsic/1, kind select"),
        ({"schema": "bahsic/1", "kind": "select"}, "result has no 'input'"),
        (synthetic(["a"], ranking=[]), "empty ranking"),
    ],
)
def test_bad_results_are_refused_and_leave_the_old_report(tmp_path, result, message):
    source, page = tmp_path / "result.json", tmp_path / "page.html"
    source.write_text(json.dumps(result))
    page.write_text("old")
    status, _, err = run("report", source, "-o", page)
    assert (status, err.count("\n"), message in err) == (3, 1, True)
    assert page.read_text() == "old"
    assert sorted(tmp_path.iterdir()) == [page, source]


def test_missing_numbers_are_left_out():
    result = synthetic(["a", "b"], path=[])
    for row in result["ranking"]:
        row.update(score=None, pvalue=None)
    html = page_of(result)
    assert "<svg" not in html
    assert "data-label" not in html.split('id="ranking"')[1].split("</table>")[0]
    assert "individually" not in html


# Code


@pytest.mark.parametrize("name", ["data.csv", "it's.csv", "a b;c.csv", "שם.csv"])
def test_code_has_the_names_as_they_are(name):
    result = synthetic(["a", "b"])
    result["input"] |= {"name": name, "target": "$HOME"}
    python, command = code_of(page_of(result))
    words = shlex.split(command)
    assert words[:7] == ["bahsic", "select", name, "--target", "$HOME", "-k", "1"]
    assert repr(name) in python
    compile(python, "snippet", "exec")


def test_code_survives_dashes_and_commas():
    result = synthetic(["-a", "b,c", " d"])
    result["input"] |= {"name": "-dash.csv", "target": "--y", "options": {"drop": ["x,y", "z"]}}
    result["parameters"] |= {"keep": ["-a", "b,c"], "standard_errors": True}
    result["test"] = {"pvalue": 0.5, "split_pvalues": [0.5]}
    options = parsed(shlex.split(code_of(page_of(result))[1])[1:])
    found = (str(options.data), options.target, options.drop, options.keep, options.standard_errors, options.test)
    assert found == ("-dash.csv", ["--y"], ["x,y", "z"], ["-a", "b,c"], True, True)


def test_shell_reads_control_characters_as_they_were():
    result = synthetic(["a", "b"])
    result["input"]["target"] = "it's\u202e \\ \x07\n"
    command = code_of(page_of(result))[1]
    assert command.isprintable()
    word = re.search(r"--target (.*) -k", command)[1]
    done = subprocess.run(
        ["bash", "-c", f"printf %s {word}"], capture_output=True, check=True, timeout=20, env={"LC_ALL": "C.UTF-8"}
    )
    assert done.stdout.decode() == "it's\u202e \\ \x07\n"


# The path, its chart and the slider


def test_path_of_a_prediction():
    result = xor_result("prediction", cv=2)
    html = page_of(result)
    assert "Criterion: prediction; kernel: gaussian; target: two classes; 2 folds." in html
    path = html.split('id="path-heading"')[1].split('id="cards-heading"')[0]
    assert "predicts samples that were not used to choose them" in path
    assert "HSIC" not in path
    steps = sorted(result["path"], key=lambda step: step["n_features"])
    rows = re.findall(r'<td class="n" data-label="[^"]*">(.*?)</td>' * 4, path)
    expected = [(s["n_features"], s["predictability"], s["predictability_error"], s["score"]) for s in steps]
    assert [tuple(float(cell.replace("\N{MINUS SIGN}", "-")) for cell in row) for row in rows] == [
        (*(round(value, 3) for value in row[:3]), float(f"{row[3]:.3g}")) for row in expected
    ]
    headings = re.findall(r'<th scope="col" class="n">(.*?)</th>', path)[:4]
    assert headings == ["Features", "Held-out R²", "Standard error", "ROC AUC"]
    assert 'class="band"' in path
    r2, error = result["predictability"], result["predictability_error"]
    assert stops_of(html)[2]["text"] == f"2 features, held-out R² {r2:.2f} ± {error:.2f}"


def test_stops_of_the_slider(xor):
    stops = stops_of(xor)
    assert list(stops) == sorted(step["n_features"] for step in xor_result()["path"])
    assert all(stop["number"] == size and stop["y"] > 0 for size, stop in stops.items())
    groups = synthetic(list("abcdef"), 3)
    for row, group in zip(groups["ranking"], ["p", "p", "p", None, "q", "q"], strict=True):
        row["group"] = group
    groups["path"] = [step for step in groups["path"] if step["n_features"] in (3, 4, 6)]
    assert [(size, stop["number"]) for size, stop in stops_of(page_of(groups)).items()] == [(3, 1), (4, 2), (6, 3)]


def test_close_steps_of_a_long_path_become_one():
    sizes = set(stops_of(page_of(synthetic([f"x{i}" for i in range(10_000)], 4321))))
    assert len(sizes) < 250
    assert {1, 2, 3, 4321, 10_000} <= sizes


def chart(values, errors=None, sizes=None, n_selected=1, key="hsic"):
    """The chart of a path with these values."""
    sizes = sizes or list(range(1, len(values) + 1))
    error_key = {"hsic": "standard_error", "predictability": "predictability_error"}[key]
    path = [
        {"n_features": n, "hsic": None, "score": None, "features": ["a"], key: value, error_key: error}
        for n, value, error in zip(sizes, values, errors or [None] * len(values), strict=True)
    ]
    measured = {"predictability": values[sizes.index(n_selected)] if key == "predictability" else None}
    html = page_of(synthetic([f"x{j}" for j in range(sizes[-1])], n_selected, path=path, **measured))
    return ET.fromstring(re.search(r'<svg[^>]*class="chart path".*?</svg>', html, re.DOTALL)[0])


def elements(svg, kind):
    return [e for e in svg.iter() if e.get("class") == kind]


def dots(svg):
    return np.array([[float(dot.get("cx")), float(dot.get("cy"))] for dot in elements(svg, "dot")])


def numbers_of(path):
    return np.array(re.findall(r"[-\d.]+", path.get("d")), dtype=float).reshape(-1, 2)


def value_at(svg, y, values):
    """The value at a height, by the dots of the first two values."""
    heights = dots(svg)[:2, 1]
    return values[0] + (y - heights[0]) * (values[1] - values[0]) / (heights[1] - heights[0])


def test_curve_passes_through_the_points():
    values, errors = [0.5, 1.0, 0.0], [0.1, 0.2, 0.1]
    svg = chart(values, errors, [1, 2, 5], n_selected=2)
    points = dots(svg)
    assert_array_equal(numbers_of(elements(svg, "line")[0]), points)
    # A quarter of the way from size 1 to 5 on a linear axis, and half of the height.
    assert points[1, 0] - points[0, 0] == pytest.approx((points[2, 0] - points[0, 0]) / 4, abs=0.01)
    assert points[0, 1] == pytest.approx((points[1, 1] + points[2, 1]) / 2, abs=0.01)
    band = numbers_of(elements(svg, "band")[0])
    expected = [*np.add(values, errors), *np.subtract(values, errors)[::-1]]
    assert_allclose([value_at(svg, y, values) for y in band[:, 1]], expected, atol=1e-3)
    (ring,) = elements(svg, "chosen")
    assert [float(ring.get(key)) for key in ("cx", "cy")] == points[1].tolist()


def test_all_features_are_a_line_across():
    svg = chart([0.5, 1.0, 0.8], sizes=[1, 2, 5], n_selected=2, key="predictability")
    (line,) = elements(svg, "whole")
    assert [float(line.get(key)) for key in ("y1", "y2")] == pytest.approx([dots(svg)[2, 1]] * 2, abs=0.01)
    assert "all 5 features: 0.80" in [text.text for text in elements(svg, "caption")]
    # Not where they are selected, nor for HSIC, which says nothing of what they predict.
    for n_selected, key in ((5, "predictability"), (2, "hsic")):
        assert not elements(chart([0.5, 1.0, 0.8], sizes=[1, 2, 5], n_selected=n_selected, key=key), "whole")


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        ([0.1, 0.9], 0, 0),
        ([-0.1, 0.9], -0.1, -0.1),
        ([0.7, 0.9], 0.65, 0.7),
        ([0.9, 0.901], 0, 0.82),  # small differences look small
        ([0.0] * 200, None, None),
    ],
)
def test_axis_starts_at_zero_unless_all_values_are_high(values, low, high):
    svg = chart(values)
    bottom = max(float(line.get("y2")) for line in elements(svg, "marker"))
    assert low is None or low - 1e-3 <= value_at(svg, bottom, values) <= high + 1e-3
    assert not re.search("nan|inf", ET.tostring(svg, encoding="unicode"))
    assert 0 <= min(dots(svg)[:, 0]) <= max(dots(svg)[:, 0]) <= 600
