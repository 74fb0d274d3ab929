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

from bahsic.report import report_html, write_report
from command import command, parsed, python_code
from reporting import cells_of, noise_result, result_of_before, synthetic, title_of, wine_result, xor_result

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
        self.elements, self.raw, self._open = [], {"script": [], "style": []}, None
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._open = tag

    def handle_endtag(self, tag):
        self._open = None

    def handle_data(self, data):
        if self._open in self.raw:
            self.raw[self._open].append(data)

    def count(self, tag):
        return sum(name == tag for name, _ in self.elements)


@pytest.fixture(scope="module")
def xor():
    return xor_result()


def script_data(html):
    return json.loads(Page(html).raw["script"][0])


def test_headline_says_how_many_and_why(xor):
    html = report_html(xor)
    assert '<h1>2 of 22 features selected for <span class="name"><bdi' in html
    assert '<p class="lead">2 features requested.</p>' in html
    result = wine_result()
    wine = report_html(result)
    target = '<span class="name"><bdi class="target">cultivar</bdi>:</span>'
    accuracy, r2 = f"accuracy {result['score']:.2f},", f"held-out R² {result['predictability']:.2f}\xa0±\xa00.0"
    first = f"<h1>{result['n_features']} of 13 features predict {target} "
    assert f'{first}<span class="name">{accuracy}</span> <span class="name">{r2}' in wine
    assert '<p class="lead">No smaller set of features scores within one standard error of the best.' in wine
    assert f'<dt>Accuracy</dt><dd>{result["score"]:.2f} <small><bdi class="name">on held-out samples, 5 folds' in wine
    assert "selected features were chosen in all 5 folds.</li>" in wine


def test_features_come_before_the_curve_and_the_pictures(xor):
    html = report_html(xor)
    parts = ["<h1>", 'id="ranking"', 'class="chart path"', 'class="cards"', "Columns of the table", "Reproduce this"]
    places = [html.index(part, html.index("<main>")) for part in parts]
    assert places == sorted(places)


def test_warnings_stand_below_the_headline():
    result = {**xor_result("prediction", cv=2), "leaks": ["x1"], "n_judged": 9}
    html = report_html(result)
    warnings = re.findall('<p class="warning" role="alert">(.*?)</p>', html)
    assert warnings == [
        "x1 looks like a leak: alone it predicts the target nearly perfectly.",
        "Only 9 samples were predicted: these scores may be due to chance.",
    ]
    assert html.index("</h1>") < html.index(warnings[0]) < html.index('class="facts"')
    assert 'class="warning"' not in report_html(xor_result())


def test_page_of_a_prediction_shows_held_out_r2_and_nothing_of_hsic_along_the_path():
    result = xor_result("prediction", cv=2)
    html = report_html(result)
    assert "Criterion: prediction; kernel: gaussian; target: two classes; 2 folds." in html
    assert "predicts samples that were not used to choose them" in html
    path = html.split('id="path-heading"')[1].split('id="cards-heading"')[0]
    assert "HSIC" not in path
    steps = sorted(result["path"], key=lambda step: step["n_features"])
    cell = r'<td class="n" data-label="[^"]*">(.*?)</td>'
    shown = re.findall(cell * 4, path)
    expected = [(s["n_features"], s["predictability"], s["predictability_error"], s["score"]) for s in steps]
    assert [tuple(float(cell.replace("\N{MINUS SIGN}", "-")) for cell in row) for row in shown] == [
        (*(round(value, 3) for value in row[:3]), float(f"{row[3]:.3g}")) for row in expected
    ]
    assert re.findall(r'<th scope="col" class="n">(.*?)</th>', path)[:4] == [
        "Features", "Held-out R²", "Standard error", "ROC AUC",
    ]  # fmt: skip
    assert 'class="band"' in path
    assert f"<dt>ROC AUC</dt><dd>{result['score']:.2f} <small>" in html
    whole = f"{steps[-1]['predictability']:.2f}".replace("-", "\N{MINUS SIGN}")
    assert f'\xa0±\xa00.01 <small><bdi class="name">all 22 features: {whole}</bdi>' in html
    assert script_data(html)["name"] == "held-out R²"
    values = re.findall(r'data-label="worth" data-value="([^"]*)"', html)
    assert [float(value) for value in values] == [row["relevance"] for row in result["ranking"]]


def test_bars_of_a_prediction_are_as_long_as_the_worth():
    result = xor_result("prediction")
    bars = [float(width) for width in re.findall(r'class="bar" width="([\d.]+)"', report_html(result))]
    worth = [row["relevance"] for row in result["ranking"]]
    assert max(bars) == 100
    assert bars == [pytest.approx(100 * max(0, value) / max(worth), abs=0.06) for value in worth]


def test_page_without_held_out_samples_has_no_curve():
    html = report_html(xor_result("prediction"))
    assert "<h1>2 of 22 features selected for <span" in html
    assert "How many features" not in html
    assert "R²</dt>" not in html
    assert set(script_data(html)) == {"selected", "stops"}  # the slider still moves table and code
    assert "Chosen in" not in html
    assert cells_of(html, "folds") == []


def test_page_that_finds_nothing_says_so_first_and_selects_nothing():
    result = noise_result()
    html = report_html(result)
    best = f"{max(step['predictability'] for step in result['path']):.2f}".replace("-", "\N{MINUS SIGN}")
    title = title_of(html)
    assert title.startswith(f"Nothing in this table predicts coin: held-out R² {best} ± ")
    assert title.endswith(" at best")
    assert "<h1>Nothing in this table predicts <span" in html
    assert f'<p class="lead">{result["kept"][0]} is kept so that pipelines still run.</p>' in html
    assert '<p class="lead">' not in html.split("pipelines still run.")[1]  # the headline has said it
    unwanted = ("What each selected", ">selected<", 'class="selected"', 'class="chosen"')
    assert [words for words in unwanted if words in html] == []
    assert "✓" not in Page(html).raw["script"][0] + html.split("<script>")[0]
    assert cells_of(html, "worth") == cells_of(html, "folds") == []
    assert "ROC AUC</dt>" not in html
    assert "<dt>Best held-out R²</dt><dd>" in html
    assert script_data(html)["selected"] == 0


def test_results_of_earlier_versions_that_found_nothing_select_nothing():
    result = noise_result()
    kept = result["kept"]
    old = {**result, "selected": kept, "n_features": 1}
    del old["kept"]
    old["ranking"] = [{**row, "selected": row["feature"] in kept} for row in result["ranking"]]
    assert report_html(old) == report_html(result)


def test_page_of_an_earlier_version_calls_its_numbers_what_they_are():
    html = report_html(result_of_before())
    assert ' <span class="name">leave-one-out R² 0.' in html
    assert "<dt>Leave-one-out R²</dt>" in html
    assert "It is optimistic, because the same samples chose the features." in html
    assert "held-out" not in html.lower()
    assert cells_of(html, "folds") == []
    assert '<p class="lead">2 of 22 features: R2 0.96 (all 22: 0.10).</p>' in html


def test_held_out_samples_are_no_folds():
    split = (range(120), range(120, 200))
    result = xor_result("prediction", cv=[split])
    assert (result["n_folds"], {row["frequency"] for row in result["ranking"]}) == (1, {None})
    html = report_html(result)
    assert "judged on held-out samples." in html
    assert " folds" not in html.split("<h2>Details")[0].split("<body>")[1]


def test_selected_rows_are_those_of_the_result(xor):
    html = report_html(xor)
    rows = re.findall(r'<tr data-place="\d+"( class="selected" data-selected)?>.*?<bdi class="name">(.*?)</bdi>', html)
    assert [name for chosen, name in rows if chosen] == xor["selected"]
    assert [name for _, name in rows] == [row["feature"] for row in xor["ranking"]]


def test_policy_holds_the_digests_of_style_and_script(xor):
    page = Page(report_html(xor))
    policy = next(a["content"] for tag, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")

    def digest(text):
        return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"

    assert policy.startswith("default-src 'none'; ")
    assert f"style-src {digest(page.raw['style'][0])};" in policy
    assert f"script-src {digest(page.raw['script'][-1])};" in policy


def test_page_is_closed_and_accessible(xor):
    page = Page(report_html(xor, "features.csv"))
    for tag, attributes in page.elements:
        assert "style" not in attributes, tag
        assert not [name for name in attributes if name.startswith("on")], tag
        assert "src" not in attributes, tag
        assert attributes.get("href", "#")[0] in "#df", attributes  # an anchor, data:, or the table
    assert ("html", {"lang": "en"}) in page.elements
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    charts = [attributes for tag, attributes in page.elements if tag == "svg"]
    pictures = [chart for chart in charts if "role" in chart]
    assert len(pictures) == 5  # the path, two features with their effects
    assert {chart["role"] for chart in pictures} == {"img"}
    assert page.count("desc") == 5
    # The other ones repeat numbers beside them, in cells that are hidden from screen readers.
    hidden = [attributes for tag, attributes in page.elements if tag == "td" and attributes.get("class") == "level"]
    assert len(charts) == 5 + report_html(xor).count('class="bar"')
    assert {cell["aria-hidden"] for cell in hidden} == {"true"}


def test_hostile_names_add_no_element():
    plain = Page(report_html(synthetic([f"a name of common length {i}" for i in range(len(HOSTILE))], 3)))
    hostile_html = report_html(synthetic(HOSTILE, 3))
    hostile = Page(hostile_html)
    assert [tag for tag, _ in hostile.elements] == [tag for tag, _ in plain.elements]
    assert "{{ 7 * 7 }}" in hostile_html
    assert not set(hostile_html) & {"\u202e", "\x00", "\x07", "\x1b", "\u2028", "\ud800"}
    hostile_html.encode()


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_every_place_escapes_a_hostile_name(name):
    result = synthetic([name, "other"], 2, reason=name, versions={name: name})
    result["input"] |= {"name": name, "target": name}
    result["parameters"] |= {"kernel": name, name: name}
    for row in result["ranking"]:
        row["group"] = name
    page = Page(report_html(result, f"{name[:20]}.csv".replace("\ud800", "")))
    assert page.count("script") == 2
    assert page.count("img") == 0
    assert not re.search(r"<!--", report_html(result))


def test_long_names_are_short_in_the_page_and_whole_in_the_title():
    name = "long " * 2000
    html = report_html(synthetic(["other", name]))
    assert f'title="{name}"' in html
    assert html.count(name) == 1


def test_script_data_of_the_page(xor):
    data = json.loads(Page(report_html(xor)).raw["script"][0])
    assert data["selected"] == 2
    assert data["stops"] == [[step["n_features"]] * 2 for step in reversed(xor["path"])]
    assert set(data["path"]) == {str(step["n_features"]) for step in xor["path"]}


def test_groups_are_counted_by_the_slider():
    result = synthetic(list("abcdef"), 3)
    for row, group in zip(result["ranking"], ["p", "p", "p", None, "q", "q"], strict=True):
        row["group"] = group
    result["path"] = [step for step in result["path"] if step["n_features"] in (3, 4, 6)]
    data = json.loads(Page(report_html(result)).raw["script"][0])
    assert data["stops"] == [[3, 1], [4, 2], [6, 3]]


@pytest.mark.parametrize("d", [1, 2, 29, 200, 10_000])
def test_page_stays_small(d):
    html = report_html(synthetic([f"feature {i}" for i in range(d)]))
    assert len(html.encode()) < 1_000_000
    assert len(re.findall("<tr data-place", html)) == min(d, 200)
    assert "nan" not in html.lower().replace("dominant", "")


def test_page_stays_small_with_the_worst_names():
    html = report_html(synthetic([f"{i}" + "\"'<🧬\u202e" * 2000 for i in range(400)], 30))
    assert len(html.encode()) < 1_000_000


def test_table_of_all_features(tmp_path):
    paths = write_report(synthetic(HOSTILE + ["x"] * 300), tmp_path / "my report.html")
    assert [path.name for path in paths] == ["my report.html", "my report_features.csv"]
    assert sorted(tmp_path.iterdir()) == sorted(paths)
    assert 'href="my%20report_features.csv"' in paths[0].read_text(encoding="utf-8")
    with paths[1].open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(HOSTILE) + 300
    assert float(rows[2]["score"]) == 1 / 3
    assert rows[HOSTILE.index("=cmd()")]["feature"] == "'=cmd()"
    assert rows[0]["feature"] == HOSTILE[0]


def test_failed_report_leaves_the_old_one(tmp_path):
    target = tmp_path / "report.html"
    target.write_text("old")
    with pytest.raises(ValueError, match="schema"):
        write_report({"schema": "other"}, target)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize(
    ("result", "error", "message"),
    [
        ([], TypeError, "result is of type list"),
        ({}, ValueError, "schema None"),
        ({"schema": "bahsic/1", "kind": "test"}, ValueError, "kind 'test'"),
        ({"schema": "bahsic/1", "kind": "select"}, ValueError, "no 'input'"),
        (synthetic(["a"], ranking=[]), ValueError, "empty ranking"),
    ],
)
def test_bad_results_are_refused(result, error, message):
    with pytest.raises(error, match=message):
        report_html(result)


def test_missing_numbers_are_dashes():
    result = synthetic(["a", "b"], path=[], redundancy=None)
    for row in result["ranking"]:
        row.update(score=None, pvalue=None)
    html = report_html(result)
    assert "<svg" not in html
    assert "data-label" not in html.split('id="ranking"')[1].split("</table>")[0]
    assert "individually" not in html


@pytest.mark.parametrize("name", ["data.csv", "it's.csv", "a b;c.csv", "שם.csv"])
def test_code_has_the_names_as_they_are(name):
    result = synthetic(["a", "b"])
    result["input"] |= {"name": name, "target": "$HOME"}
    words = shlex.split(command(result).text)
    assert words[:7] == ["bahsic", "select", name, "--target", "$HOME", "-k", "1"]
    assert repr(name) in python_code(result).text
    compile(python_code(result).text, "snippet", "exec")


def test_code_survives_dashes_and_commas():
    result = synthetic(["-a", "b,c", " d"])
    result["input"] |= {"name": "-dash.csv", "target": "--y", "options": {"drop": ["x,y", "z"]}}
    result["parameters"] |= {"keep": ["-a", "b,c"], "standard_errors": True}
    result["test"] = {"pvalue": 0.5, "split_pvalues": [0.5]}
    parsed_back = parsed(shlex.split(command(result).text)[1:])
    assert str(parsed_back.data) == "-dash.csv"
    assert (parsed_back.target, parsed_back.drop) == (["--y"], ["x,y", "z"])
    assert parsed_back.keep == ["-a", "b,c"]
    assert parsed_back.standard_errors
    assert parsed_back.test


def test_shell_reads_control_characters_as_they_were():
    result = synthetic(["a", "b"])
    result["input"]["target"] = "it's\u202e \\ \x07\n"
    text = command(result).text
    assert text.isprintable()
    word = re.search(r"--target (.*) -k", text)[1]
    done = subprocess.run(
        ["bash", "-c", f"printf %s {word}"], capture_output=True, check=True, timeout=20, env={"LC_ALL": "C.UTF-8"}
    )
    assert done.stdout.decode() == "it's\u202e \\ \x07\n"


# The chart of the path


def chart(values, errors=None, sizes=None, n_selected=1, key="hsic"):
    """The chart of a path with these values."""
    sizes = sizes or list(range(1, len(values) + 1))
    error_key = {"hsic": "standard_error", "predictability": "predictability_error"}[key]
    errors = errors or [None] * len(values)
    path = [
        {"n_features": n, "hsic": None, "score": None, "features": ["a"], key: value, error_key: error}
        for n, value, error in zip(sizes, values, errors, strict=True)
    ]
    html = report_html(synthetic([f"x{j}" for j in range(sizes[-1])], n_selected, path=path))
    svg = re.search(r'<svg[^>]*class="chart path".*?</svg>', html, re.DOTALL)[0]
    return ET.fromstring(svg)


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
    def lines(n_selected, sizes, key="predictability"):
        svg = chart([0.5, 1.0, 0.8], sizes=sizes, n_selected=n_selected, key=key)
        return svg, elements(svg, "whole")

    svg, (line,) = lines(2, [1, 2, 5])
    assert [float(line.get(key)) for key in ("y1", "y2")] == pytest.approx([dots(svg)[2, 1]] * 2, abs=0.01)
    assert "all 5 features: 0.80" in [text.text for text in elements(svg, "caption")]
    assert not lines(5, [1, 2, 5])[1]  # they are selected
    assert not lines(2, [1, 2, 5], "hsic")[1]  # says nothing of what they predict


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [([0.1, 0.9], 0, 0), ([-0.1, 0.9], -0.1, -0.1), ([0.7, 0.9], 0.65, 0.7), ([0.9, 0.901], 0, 0.82)],
)
def test_axis_starts_at_zero_unless_all_values_are_high(values, low, high):
    """The last one: small differences look small."""
    svg = chart(values)
    bottom = max(float(line.get("y2")) for line in elements(svg, "marker"))
    assert low - 1e-3 <= value_at(svg, bottom, values) <= high + 1e-3


@pytest.mark.parametrize("d", [1, 2, 30, 31, 200])
def test_charts_have_finite_coordinates_inside(d):
    svg = chart([0.0] * d)
    assert not re.search("nan|inf", ET.tostring(svg, encoding="unicode"))
    x = dots(svg)[:, 0]
    assert len(x) <= d
    assert 0 <= min(x) <= max(x) <= 600


def test_close_steps_of_a_long_path_become_one():
    html = report_html(synthetic([f"x{i}" for i in range(10_000)], 4321))
    sizes = [int(n) for n in json.loads(Page(html).raw["script"][0])["path"]]
    assert len(sizes) < 250
    assert {1, 2, 3, 4321, 10_000} <= set(sizes)
