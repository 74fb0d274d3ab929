"""What the report says of single features: near-copies, losses, pictures, p-values, stability."""

import json
import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bahsic import BAHSIC, redundancy
from bahsic.report import report_html, write_report
from bahsic.report.result import selection_result
from reporting import cards_of, cells_of, result_of, synthetic, wine_result, xor_result

pytest.importorskip("jinja2", reason="the report needs jinja2, of the extra `report`")

HOSTILE = "</text><script>alert(1)</script>\u202e\x00"
NAMES = ["x", "z", "near x", "turned x", "far x", "noise"]


def table_with_copies(m=200):
    """x and z, near-copies of x (one of them turned), a noisier relative of it, and noise."""
    x, z, u, v = np.random.default_rng(0).normal(size=(4, m))
    return np.column_stack([x, z, x + 0.1 * u, -2 * x + 0.4 * v, x + 0.7 * u, v]), x + np.sin(2 * z)


def result_with(X, y, selected, kernel="gaussian"):
    """The result of a selection of given columns."""
    selector = BAHSIC(len(selected), keep=selected, kernel=kernel).fit(X, y)
    names = [f"x{j}" for j in range(X.shape[1])] if not hasattr(X, "columns") else list(X.columns)
    return selection_result(selector, X, y, names, input={"name": None, "target": "y"}, parameters={})


def near_copies(X, y, selected, kernel="gaussian"):
    """Near-copies of the selected columns, by their names, and their similarities."""
    entries = result_with(X, y, selected, kernel)["near_copies"]
    return {entry["feature"]: {copy["feature"]: copy["similarity"] for copy in entry["copies"]} for entry in entries}


# Near-copies


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "linear"])
def test_near_copies_are_the_most_similar_features_that_are_not_selected(kernel):
    X, y = table_with_copies()
    table = redundancy(X, kernel=kernel)
    found = near_copies(X, y, [0, 1], kernel)
    assert found == {"x0": {"x2": pytest.approx(table[0, 2]), "x3": pytest.approx(table[0, 3])}, "x1": {}}
    assert list(found["x0"]) == ["x2", "x3"]
    assert list(near_copies(X, y, [0, 2], kernel)["x0"]) == ["x3"]  # not the selected one
    if kernel == "gaussian":
        assert 0.4 < table[0, 4] < 0.7  # similar, but no copy


def test_near_copies_of_many_samples_are_found_in_some_of_them():
    X, y = table_with_copies(2200)
    found, table = near_copies(X, y, [0, 1])["x0"], redundancy(X)
    assert list(found) == ["x2", "x3"]
    assert_allclose(list(found.values()), table[0, [2, 3]], atol=0.05)
    assert found["x2"] != table[0, 2]


def test_near_copies_among_very_many_features_are_found():
    X, y = table_with_copies(100)
    wide = np.column_stack([X, np.random.default_rng(1).normal(size=(100, 1100))])
    wide[:, 50] = np.exp(X[:, 1])
    table = redundancy(wide, [0, 1, 2, 3, 50])
    found = near_copies(wide, y, [0, 1])
    assert found["x0"] == {"x2": pytest.approx(table[0, 2]), "x3": pytest.approx(table[0, 3])}
    assert found["x1"] == {"x50": pytest.approx(table[1, 4])}


@pytest.mark.filterwarnings("ignore:.*are ignored")
def test_columns_that_are_left_out_or_constant_are_no_copies():
    pandas = pytest.importorskip("pandas", reason="columns are left out of data frames")
    counts = np.arange(60.0)
    frame = pandas.DataFrame({"x": counts + 0.5, "id": counts.astype(int), "same": 1.0, "y": counts**1.01})
    assert list(near_copies(frame, counts, [0])["x"]) == ["y"]


@pytest.fixture(scope="module")
def copies():
    X, y = table_with_copies()
    return result_of(X, y, NAMES, 2, target="sum", criterion="prediction", cv=2)


def test_card_shows_what_a_feature_stands_in_for_and_what_is_lost_without_it(copies):
    cards = cards_of(report_html(copies))
    chosen = next(name for name in cards if name != "z")
    copy = {entry["feature"]: entry["copies"] for entry in copies["near_copies"]}[chosen]
    assert {entry["feature"] for entry in copy} == {"x", "near x", "turned x"} - {chosen}
    first, second = ((entry["feature"], f"{entry['similarity']:.2f}") for entry in copy)
    assert cards[chosen][-1] == (
        f"Near-duplicates, not selected: {first[0]} (similarity {first[1]}) and {second[0]} ({second[1]})."
    )
    assert not any(fact.startswith("Near-duplicates") for fact in cards["z"])
    row = next(row for row in copies["ranking"] if row["feature"] == "z")
    assert cards["z"][0] == f"Without it, R² falls by {row['relevance']:.3f}."


@pytest.mark.parametrize(
    ("relevance", "text"),
    [
        (0.0001, "Without it, R² stays the same."),
        (-0.004, "Without it, R² rises by 0.004."),
        (0.25, "Without it, R² falls by 0.250."),
        (None, ""),
    ],
)
def test_loss_of_prediction_in_words(copies, relevance, text):
    rows = [{**row, "relevance": relevance} for row in copies["ranking"]]
    facts = next(iter(cards_of(report_html({**copies, "ranking": rows})).values()))
    assert [fact for fact in facts if fact.startswith("Without")] == ([text] if text else [])


def test_loss_of_hsic_is_a_share():
    result = xor_result()
    lost = [facts[0] for facts in cards_of(report_html(result)).values()]
    whole = next(step["hsic"] for step in result["path"] if step["n_features"] == 2)
    shares = [100 * row["relevance"] / whole for row in result["ranking"][:2]]
    assert lost == [f"Without it, HSIC falls by {share:.0f}%." for share in shares]
    assert min(shares) > 50


def test_near_duplicate_that_is_selected_too_is_shown():
    X, y = table_with_copies()
    cards = cards_of(report_html(result_of(X[:, :4], y, NAMES[:4], 4, target="sum")))
    similar = {
        name: re.findall(r"(\w[\w ]*) \(", facts[-1].partition("also selected:")[2]) for name, facts in cards.items()
    }
    found = {name: [other.removeprefix("and ") for other in others] for name, others in similar.items()}
    assert found == {"x": ["near x", "turned x"], "near x": ["x", "turned x"], "turned x": ["x", "near x"], "z": []}
    assert f"near x (similarity {redundancy(X)[0, 2]:.2f})" in cards["x"][-1]


def test_results_of_before_have_cards_without_copies_and_pictures(copies):
    later = ("near_copies", "views", "stability", "columns", "criterion", "kernel", "block_size", "redundancy")
    html = report_html({key: value for key, value in copies.items() if key not in later})
    section = html.split('id="cards-heading"')[1].split("</section>")[0]
    assert not any(words in section for words in ("Near-duplicates", "<figure><svg"))
    assert "Columns of the table" not in html


def test_page_of_a_result_from_a_file_is_the_same(copies):
    assert report_html(json.loads(json.dumps(copies))) == report_html(copies)


# The table


def test_single_scores_are_percent_of_the_best():
    result = wine_result()
    scores = [row["score"] for row in result["ranking"]]
    assert cells_of(report_html(result), "HSIC alone, %") == [f"{100 * score / max(scores):.0f}" for score in scores]
    noise = {**result, "ranking": [{**row, "score": -0.1} for row in result["ranking"]]}
    assert set(cells_of(report_html(noise), "HSIC alone, %")) == {"0"}
    first, *others = result["ranking"]
    one = {**result, "ranking": [{**first, "score": -0.1}, *others]}
    assert cells_of(report_html(one), "HSIC alone, %")[0] == "0"


def test_significant_features_are_counted():
    wine, xor = wine_result(), xor_result()
    fdr = "individually, at a false discovery rate of 5%"
    assert f"13 of 13 features depend on the target {fdr}." in report_html(wine)
    assert f"0 of 22 features depend on the target {fdr}." in report_html(xor)
    rows = [{**row, "pvalue": 0.9 if row["rank"] == 3 else 0.001} for row in wine["ranking"]]
    told = f"12 of 13 features depend on the target {fdr} (not {rows[2]['feature']})."
    assert told in report_html({**wine, "ranking": rows})


def test_worth_that_was_not_measured_is_a_dash(copies):
    worth = {1: 0.0002, 2: 0.25, 3: -0.02}
    rows = [{**row, "relevance": worth.get(at)} for at, row in enumerate(copies["ranking"], start=1)]
    shown = cells_of(report_html({**copies, "ranking": rows}), "worth")
    assert shown == ["< 0.001", "0.250", "−0.020", "–", "–", "–"]  # noqa: RUF001 - a minus and dashes


def test_stability_of_each_feature():
    X, y = table_with_copies()
    frequencies = np.array([0.9, 1.0, 0.1, 0.0, 0.0, 0.0])
    stability = {"n_resamples": 20, "subsample": 0.5, "frequencies": frequencies}
    result = result_of(X, y, NAMES, 6, target="sum", stability=stability)
    shares = {entry["feature"]: entry["frequency"] for entry in result["stability"]["features"]}
    assert shares == {"x": 0.9, "z": 1.0, "near x": 0.1}
    html = report_html(result)
    assert "Selected in 18 of 20 resamples." in cards_of(html)["x"]
    assert "Selected in 0 of 20 resamples." in cards_of(html)["noise"]
    cells = zip([row["feature"] for row in result["ranking"]], cells_of(html, "resamples, %"), strict=True)
    assert dict(cells)["near x"] == "10"


def test_folds_that_chose_each_feature():
    X, y = table_with_copies()
    selector = BAHSIC(3, criterion="prediction", cv=4).fit(X, y)
    result = result_of(X, y, NAMES, 3, target="sum", criterion="prediction", cv=4)
    counts = dict(zip(NAMES, np.rint(4 * selector.selection_frequencies_).astype(int), strict=True))
    assert {row["feature"]: row["frequency"] for row in result["ranking"]} == {n: c / 4 for n, c in counts.items()}
    assert len(set(counts.values())) > 2  # some features were chosen in some folds only
    html = report_html(result)
    for name, facts in cards_of(html).items():
        assert f"Chosen in {counts[name]} of 4 folds." in facts
    assert cells_of(html, "folds") == [f"{counts[row['feature']]}/4" for row in result["ranking"]]


def test_table_beside_the_page_has_all_columns(copies, tmp_path):
    table = write_report(copies, tmp_path / "page.html")[1].read_text(encoding="utf-8")
    assert table.splitlines()[0].endswith(",relevance,frequency,alone,partner,together,needed")


def treatments(html):
    """What the page says of each column, by its name."""
    section = html.split('id="columns-heading"')[1].split("</section>")[0]
    return dict(
        re.findall(r'<th scope="row"><bdi class="name">(.*?)</bdi>.*?data-label="Treatment">(.*?)</td>', section)
    )


def test_treatment_of_each_column(copies):
    html = report_html(copies)
    assert "<p>All 6 columns are numbers without missing values.</p>" in html
    assert treatments(html) == dict.fromkeys(NAMES, "mean 0, variance 1")
    roles = ["number", "category", "date", "constant", "identifier", "text"]
    found = treatments(report_html({**copies, "columns": [{"name": r, "role": r, "reason": ""} for r in roles]}))
    assert found["category"] == "all categories equally distant"
    assert found["identifier"] == found["text"] == "ignored"


def test_missing_values_are_counted():
    pandas = pytest.importorskip("pandas", reason="frames have columns of several kinds")
    X, y = table_with_copies()
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    frame.loc[:6, "b"] = np.nan
    result = result_of(frame, y, list("abcdef"), 2, target="sum")
    assert [column["n_missing"] for column in result["columns"]] == [0, 7, 0, 0, 0, 0]
    assert "<p>Columns used: 6 numbers.</p>\n<p>Missing values in 200 rows: b 7.</p>" in report_html(result)


# Pictures


def views_of(columns, y):
    X = np.column_stack(columns) if not hasattr(columns, "columns") else columns
    return sorted(result_with(X, y, list(range(X.shape[1])))["views"], key=lambda view: view["feature"])


def test_density_is_where_the_values_of_a_class_are():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(0, 1, 300), rng.normal(5, 1, 100)])
    (view,) = views_of([x], ["low"] * 300 + ["high"] * 100)
    assert [(row["name"], row["n"]) for row in view["classes"]] == [("high", 100), ("low", 300)]
    centres = np.linspace(view["low"], view["high"], len(view["classes"][0]["heights"]))
    means = [np.average(centres, weights=row["heights"]) for row in view["classes"]]
    assert_allclose(means, [5, 0], atol=0.3)
    assert [max(row["heights"]) for row in view["classes"]] == [1, 1]


def test_shares_of_classes_in_each_category():
    pandas = pytest.importorskip("pandas", reason="categories with names come with a dataframe")
    frame = pandas.DataFrame({"colour": ["red"] * 4 + ["blue"] * 4 + [None] * 2, "grade": [1, 2, 3, 3, 3] * 2})
    views = views_of(frame, [1, 1, 1, 0, 0, 0, 0, 0, 1, 0])
    told = [{row["name"]: (row["n"], row["shares"]) for row in view["categories"]} for view in views]
    assert views[0]["classes"] == ["0", "1"]
    assert told[0] == {"blue": (4, [1, 0]), "red": (4, [0.25, 0.75]), "missing": (2, [0.5, 0.5])}
    assert told[1]["2"] == (2, [0.5, 0.5])  # few values are shown like categories
    assert views[0]["n_missing"] == 2


def test_rare_categories_stand_together():
    pandas = pytest.importorskip("pandas", reason="categories with names come with a dataframe")
    letters = [letter for i, letter in enumerate("abcdefghijkl") for _ in range(20 - i)]
    (view,) = views_of(pandas.DataFrame({"letter": letters}), [0, 1] * (len(letters) // 2))
    rows = view["categories"]
    assert [row["name"] for row in rows] == [*"abcdefgh", "all others"]
    assert sum(row["n"] for row in rows) == len(letters)


def test_numbers_against_numbers_are_points_and_boxes():
    rng = np.random.default_rng(0)
    x, grade = rng.normal(size=1000), rng.integers(0, 3, 1000)
    y = x + 10.0 * grade
    points, boxes = views_of([x, grade], y)
    assert (points["kind"], boxes["kind"]) == ("points", "boxes")
    assert len(points["x"]) == len(points["y"]) == 250
    known = {(float(f"{a:.5g}"), float(f"{b:.5g}")) for a, b in zip(x, y, strict=True)}
    assert set(zip(points["x"], points["y"], strict=True)) <= known
    quantiles = [np.quantile(y[grade == k], [0.05, 0.25, 0.5, 0.75, 0.95]) for k in range(3)]
    assert_allclose([row["quantiles"] for row in boxes["categories"]], quantiles, rtol=1e-4)


def test_other_targets_have_no_pictures():
    assert views_of([np.arange(9.0)], np.random.default_rng(0).normal(size=(9, 2))) == []


def feature_picture(view, target):
    """The picture of a selected feature in the page."""
    view = {"date": False, **view}
    result = synthetic([view["feature"], "other"], views=[view])
    result["input"]["target"] = target
    return re.search(r'<svg[^>]*class="chart small".*?</svg>', report_html(result), re.DOTALL)[0]


def rects(svg, kind):
    return [element for element in ET.fromstring(svg).iter() if element.get("class") == kind]


def test_bars_are_as_long_as_the_shares():
    rows = [{"name": "a", "n": 4, "shares": [0.25, 0.75]}, {"name": "b", "n": 4, "shares": [1.0, 0.0]}]
    view = {"feature": "f", "kind": "shares", "classes": ["no", "yes"], "categories": rows, "n_missing": 0}
    svg = feature_picture(view, "ill")
    grounds, bars = ([float(e.get("width")) for e in rects(svg, kind)] for kind in ("ground", "share"))
    assert_allclose(bars, [0.75 * grounds[0], 0.0], atol=0.01)
    assert "share of ill = yes" in svg
    assert ">75%</text>" in svg


def test_bars_of_many_classes_are_divided():
    rows = [{"name": "a", "n": 4, "shares": [0.25, 0.25, 0.5]}]
    view = {"feature": "f", "kind": "shares", "classes": ["p", "q", "r"], "categories": rows, "n_missing": 0}
    svg = feature_picture(view, "kind")
    whole = float(rects(svg, "ground")[0].get("width"))
    parts = [float(rects(svg, f"class{k}")[0].get("width")) for k in range(3)]
    assert_allclose(parts, [0.25 * whole, 0.25 * whole, 0.5 * whole], atol=0.02)
    starts = [float(rects(svg, f"class{k}")[0].get("x")) for k in range(3)]
    assert_allclose(np.diff(starts), parts[:2], atol=0.02)
    assert [text in svg for text in (">p</text>", ">q</text>", ">r</text>")] == [True] * 3


def test_points_are_drawn_where_they_are():
    view = {"feature": "f", "kind": "points", "x": [0.0, 1.0, 2.0], "y": [5.0, 5.0, 15.0], "n_missing": 0}
    (path,) = rects(feature_picture(view, "price"), "points")
    places = np.array(re.findall(r"M([\d.]+) ([\d.]+)h0", path.get("d")), dtype=float)
    assert places[1, 0] == pytest.approx(places[[0, 2], 0].mean())
    assert places[0, 1] == places[1, 1] > places[2, 1]


def test_dates_have_dates_at_the_ends():
    view = {"feature": "f", "kind": "points", "x": [18262.0, 18627.0], "y": [1.0, 2.0], "n_missing": 0, "date": True}
    assert ">2020-01-01</text>" in feature_picture(view, "y")
    assert ">2020-12-31</text>" in feature_picture(view, "y")
    assert ">3 days</text>" in feature_picture({**view, "x": [3.0, 8.0]}, "y")


def hostile_views():
    many, rows = [0.0, 1.0, 0.5], [{"name": HOSTILE, "n": 3}]
    quantiles, shares = {"quantiles": [0, 1, 2, 3, 4]}, {"shares": [0.5, 0.5]}
    common = {"feature": HOSTILE, "n_missing": 1, "date": False}
    return [
        {**common, "kind": "densities", "low": 0.0, "high": 1.0, "classes": [{**rows[0], "heights": many}] * 500},
        {**common, "kind": "shares", "classes": [HOSTILE] * 2, "categories": [{**rows[0], **shares}] * 500},
        {**common, "kind": "shares", "classes": [HOSTILE] * 500, "categories": [{**rows[0], **shares}] * 500},
        {**common, "kind": "points", "x": many * 5000, "y": many * 5000},
        {**common, "kind": "boxes", "categories": [{**rows[0], **quantiles}] * 500},
    ]


@pytest.mark.parametrize("view", hostile_views(), ids=lambda view: view["kind"])
def test_pictures_are_small_and_escape_names(view):
    svg = feature_picture(view, HOSTILE)
    assert len(svg) < 10_000
    assert "<script" not in svg
    assert not set(svg) & {"\u202e", "\x00"}
    ET.fromstring(svg)


def test_page_with_thirty_pictures_of_points_stays_small():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 40))
    y = X @ np.ones(40)
    result = result_of(X, y, [f"a rather long name of a feature {j}" for j in range(40)], 40, criterion="hsic")
    assert len(result["views"]) == 30
    html = report_html(result)
    assert html.count('class="points"') == 30
    assert "10 more selected features are in the table above" in html
    assert html.count('class="line"') == 1 + 30  # the path, and an effect each
    assert len(html.encode()) < 450_000
