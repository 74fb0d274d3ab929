"""What the report says of single features: near-copies, losses, pictures, p-values, stability."""

import json
import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bahsic import BAHSIC, redundancy
from bahsic.data.prepared import prepared
from bahsic.kernels import Gaussian, kernel_from_name
from bahsic.report import neighbours, report_html, write_report
from bahsic.report.cards import feature_cards
from bahsic.report.neighbours import near_copies
from bahsic.report.page import page
from bahsic.report.pictures import feature_picture
from bahsic.report.result import as_json
from bahsic.report.schema import checked
from bahsic.report.table import feature_columns
from bahsic.report.views import feature_views
from bahsic.report.words import DASH, significance_words
from reporting import result_of, wine_result, xor_result

HOSTILE = "</text><script>alert(1)</script>\u202e\x00"


def table_with_copies(m=200):
    """x and z, near-copies of x (one of them turned), a noisier relative of it, and noise."""
    x, z, u, v = np.random.default_rng(0).normal(size=(4, m))
    return np.column_stack([x, z, x + 0.1 * u, -2 * x + 0.4 * v, x + 0.7 * u, v]), x + np.sin(2 * z)


# Near-copies


def test_near_copies_are_the_most_similar_features_that_are_not_selected():
    X, _ = table_with_copies()
    data, table = prepared(X, Gaussian()), redundancy(X)
    of_x, of_z = near_copies(data, [0, 1], "gaussian")
    assert [j for j, _ in of_x] == [2, 3]
    assert_allclose([value for _, value in of_x], table[0, [2, 3]])
    assert of_z == []
    assert 0.4 < table[0, 4] < 0.7  # similar, but no copy
    assert [j for j, _ in near_copies(data, [0, 2], "gaussian")[0]] == [3]  # not the selected one


@pytest.mark.parametrize("kernel", ["laplacian", "linear"])
def test_similarity_of_a_near_copy_is_that_of_the_kernel_of_the_selection(kernel):
    X, _ = table_with_copies(80)
    table = redundancy(X, kernel=kernel)
    of_x, of_z = near_copies(prepared(X, kernel_from_name(kernel)), [0, 1], kernel)
    assert [j for j, _ in of_x] == [2, 3]
    assert_allclose([value for _, value in of_x], table[0, [2, 3]])
    assert of_z == []


def test_near_copies_of_many_samples_are_found_in_some_of_them(monkeypatch):
    X, _ = table_with_copies(500)
    whole = near_copies(prepared(X, Gaussian()), [0], "gaussian")[0]
    monkeypatch.setattr(neighbours, "_MOST_SAMPLES", 150)
    part = near_copies(prepared(X, Gaussian()), [0], "gaussian")[0]
    assert [j for j, _ in part] == [j for j, _ in whole] == [2, 3]
    assert part != whole
    assert_allclose([v for _, v in part], [v for _, v in whole], atol=0.05)


def test_near_copies_among_very_many_features_are_found(monkeypatch):
    X, _ = table_with_copies()
    wide = np.column_stack([X, np.random.default_rng(1).normal(size=(200, 60))])
    wide[:, 50] = np.exp(X[:, 1])
    whole = near_copies(prepared(wide, Gaussian()), [0, 1], "gaussian")
    monkeypatch.setattr(neighbours, "_MOST_COMPARED", 20)
    monkeypatch.setattr(neighbours, "_PROMISING", 2)
    of_few = near_copies(prepared(wide, Gaussian()), [0, 1], "gaussian")
    assert [[j for j, _ in found] for found in of_few] == [[2, 3], [50]]
    assert [[(j, pytest.approx(value)) for j, value in found] for found in of_few] == whole


def test_columns_that_are_left_out_or_constant_are_no_copies():
    pandas = pytest.importorskip("pandas", reason="columns are left out of data frames")
    counts = np.arange(60.0)
    frame = pandas.DataFrame({"x": counts + 0.5, "id": counts.astype(int), "same": 1.0, "y": counts**1.01})
    assert [j for j, _ in near_copies(prepared(frame, Gaussian()), [0], "gaussian")[0]] == [3]


@pytest.fixture(scope="module")
def copies():
    X, y = table_with_copies()
    return result_of(
        X, y, ["x", "z", "near x", "turned x", "far x", "noise"], 2, target="sum", criterion="prediction", cv=2
    )


def cards_of(result):
    return {card["name"]: card for card in feature_cards(checked(result))}


def columns_of(result, rows=None):
    return {column.heading: column for column in feature_columns(result, result["ranking"] if rows is None else rows)}


def test_card_shows_what_a_feature_stands_in_for_and_what_is_lost_without_it(copies):
    cards = cards_of(copies)
    chosen = next(name for name in cards if name != "z")
    assert {copy["name"] for copy in cards[chosen]["instead"]} == {"x", "near x", "turned x"} - {chosen}
    assert all(0.7 <= float(copy["similarity"]) <= 1 for copy in cards[chosen]["instead"])
    assert cards["z"]["instead"] == []
    row = next(row for row in copies["ranking"] if row["feature"] == "z")
    assert cards["z"]["facts"][0] == f"Without it, R² falls by {row['relevance']:.3f}."


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
    facts = next(iter(cards_of({**copies, "ranking": rows}).values()))["facts"]
    assert [fact for fact in facts if fact.startswith("Without")] == ([text] if text else [])


def test_loss_of_hsic_is_a_share():
    result = xor_result()
    lost = [card["facts"][0] for card in cards_of(result).values()]
    whole = next(step["hsic"] for step in result["path"] if step["n_features"] == 2)
    shares = [100 * row["relevance"] / whole for row in result["ranking"][:2]]
    assert lost == [f"Without it, HSIC falls by {share:.0f}%." for share in shares]
    assert min(shares) > 50


def test_near_duplicate_that_is_selected_too_is_shown():
    X, y = table_with_copies()
    names = ["x", "z", "near x", "turned x", "far x", "noise"]
    result = result_of(X[:, :4], y, names[:4], 4, target="sum")
    beside = {name: [copy["name"] for copy in card["beside"]] for name, card in cards_of(result).items()}
    assert beside == {"x": ["near x", "turned x"], "near x": ["x", "turned x"], "turned x": ["x", "near x"], "z": []}
    similarity = next(copy["similarity"] for copy in cards_of(result)["x"]["beside"])
    assert similarity == f"{redundancy(X)[0, 2]:.2f}"


def test_results_of_before_have_cards_without_copies_and_pictures(copies):
    later = ("near_copies", "views", "stability", "columns", "criterion", "kernel", "block_size", "redundancy")
    old = checked({key: value for key, value in copies.items() if key not in later})
    (card, _) = feature_cards(old)
    assert (card["instead"], card["beside"], card["chart"], card["effect"]) == ([], [], None, None)
    assert page(old)["columns"] is None


def test_page_of_a_result_from_a_file_is_the_same(copies):
    pytest.importorskip("jinja2", reason="the report needs jinja2, of the extra `report`")
    assert report_html(json.loads(as_json(copies))) == report_html(copies)


# The table


def test_single_scores_are_percent_of_the_best():
    result = wine_result()
    shown = columns_of(result)["HSIC alone, %"]
    scores = [row["score"] for row in result["ranking"]]
    assert_allclose(shown.values, [100 * score / max(scores) for score in scores])
    noise = {**result, "ranking": [{**row, "score": -0.1} for row in result["ranking"]]}
    assert set(columns_of(noise)["HSIC alone, %"].cells) == {"0"}
    first, *others = result["ranking"]
    assert columns_of({**result, "ranking": [{**first, "score": -0.1}, *others]})["HSIC alone, %"].values[0] == 0


def test_significant_features_are_counted():
    wine, xor = wine_result(), xor_result()
    fdr = "individually, at a false discovery rate of 5%"
    assert significance_words(wine["ranking"]) == f"13 of 13 features depend on the target {fdr}."
    assert significance_words(xor["ranking"]) == f"0 of 22 features depend on the target {fdr}."
    rows = [{**row, "pvalue": 0.9 if row["rank"] == 3 else 0.001} for row in wine["ranking"]]
    name = rows[2]["feature"]
    assert significance_words(rows) == f"12 of 13 features depend on the target {fdr} (not {name})."


def test_worth_that_was_not_measured_is_a_dash(copies):
    worth = {1: 0.0002, 2: 0.25, 3: -0.02}
    rows = [{**row, "relevance": worth.get(at)} for at, row in enumerate(copies["ranking"], start=1)]
    shown = columns_of({**copies, "ranking": rows})["worth"].cells
    assert shown == ["< 0.001", "0.250", "−0.020", DASH, DASH, DASH]  # noqa: RUF001 - a minus


def test_stability_of_each_feature():
    X, y = table_with_copies()
    frequencies = np.array([0.9, 1.0, 0.1, 0.0, 0.0, 0.0])
    stability = {"n_resamples": 20, "subsample": 0.5, "frequencies": frequencies}
    names = ["x", "z", "near x", "turned x", "far x", "noise"]
    result = result_of(X, y, names, 6, target="sum", stability=stability)
    assert {found["feature"]: found["frequency"] for found in result["stability"]["features"]} == {
        "x": 0.9, "z": 1.0, "near x": 0.1
    }  # fmt: skip
    cards = cards_of(result)
    assert "Selected in 18 of 20 resamples." in cards["x"]["facts"]
    assert "Selected in 0 of 20 resamples." in cards["noise"]["facts"]
    shares = dict(
        zip([row["feature"] for row in result["ranking"]], columns_of(result)["resamples, %"].cells, strict=True)
    )
    assert shares["near x"] == "10"


def test_folds_that_chose_each_feature():
    X, y = table_with_copies()
    names = ["x", "z", "near x", "turned x", "far x", "noise"]
    selector = BAHSIC(3, criterion="prediction", cv=4).fit(X, y)
    result = result_of(X, y, names, 3, target="sum", criterion="prediction", cv=4)
    counts = dict(zip(names, np.rint(4 * selector.selection_frequencies_).astype(int), strict=True))
    assert {row["feature"]: row["frequency"] for row in result["ranking"]} == {n: c / 4 for n, c in counts.items()}
    assert len(set(counts.values())) > 2  # some features were chosen in some folds only
    for name, card in cards_of(result).items():
        assert f"Chosen in {counts[name]} of 4 folds." in card["facts"]
    cells = columns_of(result)["folds"].cells
    assert cells == [f"{counts[row['feature']]}/4" for row in result["ranking"]]
    pytest.importorskip("jinja2", reason="the report needs jinja2, of the extra `report`")
    html = report_html(result)
    assert f"<p>Chosen in {counts['z']} of 4 folds.</p>" in html
    assert f'data-label="folds" data-value="{counts["z"] / 4}">{counts["z"]}/4</td>' in html


def test_table_beside_the_page_has_all_columns(copies, tmp_path):
    pytest.importorskip("jinja2", reason="the report needs jinja2, of the extra `report`")
    table = write_report(copies, tmp_path / "page.html")[1].read_text(encoding="utf-8")
    assert table.splitlines()[0].endswith(",relevance,frequency,alone,partner,together,needed")


def test_treatment_of_each_column(copies):
    found = page(checked(copies))["columns"]
    assert found["lines"] == ["All 6 columns are numbers without missing values."]
    assert {row["treatment"] for row in found["rows"]} == {"mean 0, variance 1"}
    roles = ["number", "category", "date", "constant", "identifier", "text"]
    columns = [{"name": role, "role": role, "reason": ""} for role in roles]
    rows = page({**checked(copies), "columns": columns})["columns"]["rows"]
    treatments = {row["role"]: row["treatment"] for row in rows}
    assert treatments["category"] == "all categories equally distant"
    assert treatments["identifier"] == treatments["text"] == "left out"


def test_missing_values_are_counted():
    pandas = pytest.importorskip("pandas", reason="frames have columns of several kinds")
    X, y = table_with_copies()
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    frame.loc[:6, "b"] = np.nan
    result = result_of(frame, y, list("abcdef"), 2, target="sum")
    assert [column["n_missing"] for column in result["columns"]] == [0, 7, 0, 0, 0, 0]
    assert page(checked(result))["columns"]["lines"] == ["Columns: 6 numbers.", "Missing values: b 7 of 200 rows."]


# Pictures


def views_of(columns, y, kernel, names=None, **options):
    X = np.column_stack(columns) if not hasattr(columns, "columns") else columns
    data = prepared(X, Gaussian(), **options)
    names = names or [f"x{j}" for j in range(X.shape[1])]
    return feature_views(data, y, kernel, range(X.shape[1]), names)


def test_density_is_where_the_values_of_a_class_are():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(0, 1, 300), rng.normal(5, 1, 100)])
    (view,) = views_of([x], ["low"] * 300 + ["high"] * 100, "binary")
    assert [(row["name"], row["n"]) for row in view["classes"]] == [("high", 100), ("low", 300)]
    centres = np.linspace(view["low"], view["high"], len(view["classes"][0]["heights"]))
    means = [np.average(centres, weights=row["heights"]) for row in view["classes"]]
    assert_allclose(means, [5, 0], atol=0.3)
    assert [max(row["heights"]) for row in view["classes"]] == [1, 1]


def test_shares_of_classes_in_each_category():
    pandas = pytest.importorskip("pandas", reason="categories with names come with a dataframe")
    frame = pandas.DataFrame({"colour": ["red"] * 4 + ["blue"] * 4 + [None] * 2, "grade": [1, 2, 3, 3, 3] * 2})
    views = views_of(frame, [1, 1, 1, 0, 0, 0, 0, 0, 1, 0], "binary")
    told = [{row["name"]: (row["n"], row["shares"]) for row in view["categories"]} for view in views]
    assert views[0]["classes"] == ["0", "1"]
    assert told[0] == {"blue": (4, [1, 0]), "red": (4, [0.25, 0.75]), "missing": (2, [0.5, 0.5])}
    assert told[1]["2"] == (2, [0.5, 0.5])  # few values are shown like categories
    assert views[0]["n_missing"] == 2


def test_rare_categories_stand_together():
    pandas = pytest.importorskip("pandas", reason="categories with names come with a dataframe")
    letters = [letter for i, letter in enumerate("abcdefghijkl") for _ in range(20 - i)]
    (view,) = views_of(pandas.DataFrame({"letter": letters}), [0, 1] * (len(letters) // 2), "binary")
    rows = view["categories"]
    assert [row["name"] for row in rows] == [*"abcdefgh", "all others"]
    assert sum(row["n"] for row in rows) == len(letters)


def test_numbers_against_numbers_are_points_and_boxes():
    rng = np.random.default_rng(0)
    x, grade = rng.normal(size=1000), rng.integers(0, 3, 1000)
    y = x + 10.0 * grade
    points, boxes = views_of([x, grade], y, "regression")
    assert (points["kind"], boxes["kind"]) == ("points", "boxes")
    assert len(points["x"]) == len(points["y"]) == 250
    known = {(float(f"{a:.5g}"), float(f"{b:.5g}")) for a, b in zip(x, y, strict=True)}
    assert set(zip(points["x"], points["y"], strict=True)) <= known
    quantiles = [np.quantile(y[grade == k], [0.05, 0.25, 0.5, 0.75, 0.95]) for k in range(3)]
    assert_allclose([row["quantiles"] for row in boxes["categories"]], quantiles, rtol=1e-4)


@pytest.mark.parametrize(("y", "kernel"), [(np.zeros((9, 2)), "multioutput"), (np.zeros(9), "precomputed")])
def test_other_targets_have_no_pictures(y, kernel):
    assert views_of([np.arange(9.0)], y, kernel) == []


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
    pytest.importorskip("jinja2", reason="the report needs jinja2, of the extra `report`")
    from bahsic.report import report_html

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
