"""What the report says of single features and columns: near-duplicates, losses, partners, pictures, p-values."""

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bahsic import BAHSIC, predictability, redundancy
from bahsic.datasets import make_xor
from reporting import cards_of, cells_of, named, page_of, plain, result_of, synthetic, wine_result, xor_result

pytest.importorskip("jinja2", reason="the report needs jinja2, of the extra `report`")

HOSTILE = "</text><script>alert(1)</script>\u202e\x00"
NAMES = ["x", "z", "near x", "turned x", "far x", "noise"]


def table_with_copies(m=200):
    """x and z, near-duplicates of x (one of them turned), a noisier relative of it, and noise."""
    x, z, u, v = np.random.default_rng(0).normal(size=(4, m))
    return np.column_stack([x, z, x + 0.1 * u, -2 * x + 0.4 * v, x + 0.7 * u, v]), x + np.sin(2 * z)


def selected(columns, y, keep, *options):
    """The result of a selection of given columns."""
    words = ("--keep", ",".join(keep), "-k", len(keep), "--kernel", "gaussian", *options)
    return result_of({**columns, "y": y}, "y", *words)


def near_copies(columns, y, keep, *options):
    """Near-duplicates of the selected columns, by their names, and their similarities."""
    entries = selected(columns, y, keep, "--criterion", "hsic", *options)["near_copies"]
    return {entry["feature"]: {copy["feature"]: copy["similarity"] for copy in entry["copies"]} for entry in entries}


# Near-duplicates


@pytest.mark.parametrize("kernel", ["gaussian", "linear"])
def test_near_duplicates_are_the_most_similar_features_that_are_not_selected(kernel):
    X, y = table_with_copies()
    table, columns = redundancy(X), named(X, NAMES)
    found = near_copies(columns, y, ["x", "z"], "--kernel", kernel)
    assert found == {"x": {"near x": pytest.approx(table[0, 2]), "turned x": pytest.approx(table[0, 3])}, "z": {}}
    assert list(found["x"]) == ["near x", "turned x"]
    assert list(near_copies(columns, y, ["x", "near x"], "--kernel", kernel)["x"]) == ["turned x"]
    assert 0.4 < table[0, 4] < 0.7  # similar, but no duplicate


def test_near_duplicates_in_many_samples_and_among_many_features():
    X, y = table_with_copies(2200)
    found, table = near_copies(named(X, NAMES), y, ["x", "z"])["x"], redundancy(X)
    assert list(found) == ["near x", "turned x"]
    assert_allclose(list(found.values()), table[0, [2, 3]], atol=0.05)
    assert found["near x"] != table[0, 2]  # by some of the samples
    X, y = table_with_copies(100)
    wide = np.column_stack([X, np.random.default_rng(1).normal(size=(100, 1100))])
    wide[:, 50] = np.exp(X[:, 1])
    table = redundancy(wide, [0, 1, 2, 3, 50])
    found = near_copies(named(wide), y, ["x1", "x2"])
    assert found["x1"] == {"x3": pytest.approx(table[0, 2]), "x4": pytest.approx(table[0, 3])}
    assert found["x2"] == {"x51": pytest.approx(table[1, 4])}


def test_columns_that_are_ignored_or_constant_are_no_duplicates():
    n = np.arange(60)
    assert list(near_copies({"x": n + 0.5, "id": n, "same": n * 0 + 1.5, "power": n**1.01}, n, ["x"])["x"]) == ["power"]


@pytest.fixture(scope="module")
def copies():
    X, y = table_with_copies()
    return result_of({**named(X, NAMES), "sum": y}, "sum", "-k", 3, "--kernel", "gaussian", "--cv", 4)


def test_card_shows_what_a_feature_stands_in_for_and_what_is_lost_without_it(copies):
    cards = cards_of(page_of(copies))
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


def test_loss_without_a_feature():
    result = xor_result()
    lost = [facts[0] for facts in cards_of(page_of(result)).values()]
    whole = next(step["hsic"] for step in result["path"] if step["n_features"] == 2)
    shares = [100 * row["relevance"] / whole for row in result["ranking"][:2]]
    assert lost == [f"Without it, HSIC falls by {share:.0f}%." for share in shares]
    result = xor_result("prediction")
    result["ranking"] = [{**row, "relevance": -0.004} for row in result["ranking"]]
    assert {facts[0] for facts in cards_of(page_of(result)).values()} == {"Without it, R² rises by 0.004."}


def test_near_duplicate_that_is_selected_too_is_shown():
    X, y = table_with_copies()
    cards = cards_of(page_of(selected(named(X[:, :4], NAMES[:4]), y, NAMES[:4], "--criterion", "hsic")))
    similar = {
        name: re.findall(r"(\w[\w ]*) \(", facts[-1].partition("also selected:")[2]) for name, facts in cards.items()
    }
    found = {name: [other.removeprefix("and ") for other in others] for name, others in similar.items()}
    assert found == {"x": ["near x", "turned x"], "near x": ["x", "turned x"], "turned x": ["x", "near x"], "z": []}
    assert f"near x (similarity {redundancy(X)[0, 2]:.2f})" in cards["x"][-1]


# The table


def test_single_scores_are_percent_of_the_best():
    result = wine_result()
    scores = [row["score"] for row in result["ranking"]]
    assert cells_of(page_of(result), "HSIC alone, %") == [f"{100 * score / max(scores):.0f}" for score in scores]
    noise = {**result, "ranking": [{**row, "score": -0.1} for row in result["ranking"]]}
    assert set(cells_of(page_of(noise), "HSIC alone, %")) == {"0"}


def test_significant_features_are_counted():
    wine, fdr = wine_result(), "at a false discovery rate of 5%."
    assert f"All 13 features depend on the target individually, {fdr}" in page_of(wine)
    assert f"None of the 22 features depends on the target individually, {fdr}" in page_of(xor_result())
    rows = [{**row, "pvalue": 0.9 if row["rank"] == 3 else 0.001} for row in wine["ranking"]]
    sentence = f"12 of 13 features depend on the target individually (not {rows[2]['feature']}), {fdr}"
    assert sentence in page_of({**wine, "ranking": rows})


def test_worth_that_was_not_measured_is_a_dash(copies):
    worth = {1: 0.0002, 2: 0.25, 3: -0.02}
    rows = [{**row, "relevance": worth.get(at)} for at, row in enumerate(copies["ranking"], start=1)]
    shown = cells_of(page_of({**copies, "ranking": rows}), "worth")
    assert shown == ["< 0.001", "0.250", "−0.020", "–", "–", "–"]  # noqa: RUF001 - a minus and dashes


def test_folds_and_resamples_that_chose_each_feature(copies):
    X, y = table_with_copies()
    shares = BAHSIC(3, criterion="prediction", cv=4).fit(X, y).selection_frequencies_
    counts = dict(zip(NAMES, np.rint(4 * shares).astype(int), strict=True))
    names = [row["feature"] for row in copies["ranking"]]
    assert cells_of(page_of(copies), "folds") == [f"{counts[name]}/4" for name in names]
    assert len(set(counts.values())) > 2  # some features were chosen in some folds only
    stability = {"n_resamples": 3, "subsample": 0.5, "features": [{"feature": names[1], "frequency": 2 / 3}]}
    cells = cells_of(page_of({**copies, "stability": stability}), "resamples, %")
    assert cells == ["67" if name == names[1] else "0" for name in names]


# Interactions, tests and effects


def trial(n=200):
    random = np.random.default_rng(0)
    columns = named(random.standard_normal((n, 4)), ["dose", "age", "noise", "more"])
    arm = random.choice(["drug", "placebo"], n)
    dose, age = np.array(columns["dose"]), np.array(columns["age"])
    y = np.where(arm == "drug", dose, -dose) + age**2 / 2 + 0.3 * random.standard_normal(n)
    return columns | {"arm": arm.tolist(), "outcome": y.tolist()}


@pytest.fixture(scope="module")
def found():
    return result_of(trial(), "outcome", "-k", 3, "--kernel", "gaussian", "--cv", 5, "--test")


def test_partners_and_needed_features_are_in_result_table_and_cards(found):
    rows = {row["feature"]: row for row in found["ranking"]}
    assert (rows["dose"]["partner"], rows["arm"]["partner"], rows["noise"]["partner"]) == ("arm", "dose", None)
    best = found["interactions"][0]
    assert set(best["features"]) == {"dose", "arm"}
    assert rows["dose"]["together"] == best["together"] > 0.3
    assert set(found["test"]["discoveries"]) == {"dose", "age", "arm"}
    assert rows["noise"]["needed"] > 0.05 > rows["dose"]["needed"]
    html = page_of(found)
    for start in ("With arm: worth 0.", "Needed beyond the other selected features: p "):
        assert any(fact.startswith(start) for fact in cards_of(html)["dose"])
    first, p = plain(html.split('id="ranking"')[0]), found["test"]["pvalue"]
    equation = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
    assert f"Test on samples not used for the selection: {equation} (20 random splits)." in first
    assert f"Needed beyond the other selected features, at 5%: {', '.join(found['selected'])}." in first
    assert "Test on samples" not in page_of({**found, "test": None})


def test_effects_follow_what_the_target_does(found):
    views = {view["feature"]: view["effect"] for view in found["views"]}
    age = views["age"]
    at, mean = np.array(age["at"]), np.array(age["mean"])
    assert np.polyfit(at**2 / 2, mean, 1)[0] == pytest.approx(1, abs=0.2)
    assert all(low <= value <= high for low, value, high in zip(age["low"], mean, age["high"], strict=True))
    assert views["arm"]["at"] == ["drug", "placebo"]
    columns = trial()
    classes = np.array(["low", "middle", "high"])[np.digitize(columns["age"], [-0.5, 0.5])]
    words = ("-k", 1, "--kernel", "gaussian", "--criterion", "hsic")
    result = result_of({"age": columns["age"], "noise": columns["noise"], "y": classes}, "y", *words)
    (view,) = result["views"]
    assert (view["effect"]["of"] in {"low", "high"}, result["interactions"], result["pair"]) == (True, [], None)
    share = view["effect"]["mean"]  # of a class
    assert 0 <= min(share) < 0.2
    assert 0.8 < max(share) <= 1


def test_picture_of_the_strongest_pair(found):
    pair = found["pair"]
    arm = next(axis for axis in pair["axes"] if axis["feature"] == "arm")
    assert arm["levels"] == ["drug", "placebo"]
    assert len(pair["shades"]) == len(arm["values"]) == 200
    assert sorted(set(pair["shades"])) == [0, 1, 2, 3, 4]
    html = page_of(found)
    assert "together</h3>" in html
    assert "shaded by outcome" in html


def test_blocks_of_samples_have_the_same_record():
    """The search has the samples in another order."""
    columns = trial(400)
    words = ("-k", 3, "--kernel", "gaussian", "--cv", "auto")
    blocks, whole = (result_of(columns, "outcome", *words, *more) for more in (("--block-size", 50), ()))
    assert blocks["views"] == whole["views"]
    assert len(blocks["views"]) == 3
    alone = {row["feature"]: row["alone"] for row in blocks["ranking"] if row["selected"]}
    assert alone["age"] == pytest.approx(predictability(columns["age"], columns["outcome"]), abs=1e-6)


# Columns


def test_treatment_of_each_column(copies):
    def treatments(html):
        section = html.split('id="columns-heading"')[1].split("</section>")[0]
        row = r'<th scope="row"><bdi class="name">(.*?)</bdi>.*?data-label="Treatment">(.*?)</td>'
        return dict(re.findall(row, section))

    html = page_of(copies)
    assert "<p>All 6 columns are numbers without missing values.</p>" in html
    assert treatments(html) == dict.fromkeys(NAMES, "mean 0, variance 1")
    roles = ["number", "category", "date", "constant", "identifier", "text"]
    found = treatments(page_of({**copies, "columns": [{"name": r, "role": r, "reason": ""} for r in roles]}))
    assert found["category"] == "all categories equally distant"
    assert found["date"] == "in days, mean 0, variance 1"
    assert found["identifier"] == found["text"] == "ignored"


def test_missing_values_are_counted():
    X, y = table_with_copies()
    columns = named(X, list("abcdef"))
    columns["b"][:7] = [""] * 7
    result = result_of({**columns, "y": y}, "y", "-k", 2, "--criterion", "hsic", "--kernel", "gaussian")
    assert [column["n_missing"] for column in result["columns"]] == [0, 7, 0, 0, 0, 0]
    assert "<p>Columns used: 6 numbers.</p>\n<p>Missing values in 200 rows: b 7.</p>" in page_of(result)


# Pictures


def views_of(y, **columns):
    views = selected(columns, y, list(columns), "--criterion", "hsic")["views"]
    return sorted(views, key=lambda view: view["feature"])


def test_density_is_where_the_values_of_a_class_are():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(0, 1, 300), rng.normal(5, 1, 100)])
    (view,) = views_of(["low"] * 300 + ["high"] * 100, x=x)
    assert [(row["name"], row["n"]) for row in view["classes"]] == [("high", 100), ("low", 300)]
    centres = np.linspace(view["low"], view["high"], len(view["classes"][0]["heights"]))
    means = [np.average(centres, weights=row["heights"]) for row in view["classes"]]
    assert_allclose(means, [5, 0], atol=0.3)
    assert [max(row["heights"]) for row in view["classes"]] == [1, 1]


def test_shares_of_classes_in_each_category():
    letters = [letter for i, letter in enumerate("abcdefghijkl") for _ in range(20 - i)]
    m = len(letters)
    colours = ["red"] * (m // 2) + ["blue"] * (m // 2 - 1) + [""]
    y = np.arange(m) % 4 == 0
    colour, grade, letter = views_of(y.astype(int), colour=colours, grade=np.arange(m) % 3, letter=letters)
    assert colour["classes"] == ["0", "1"]
    found = {row["name"]: (row["n"], row["shares"][1]) for row in colour["categories"]}
    assert found == {
        "blue": (m // 2 - 1, pytest.approx(y[m // 2 : -1].mean(), rel=1e-4)),
        "red": (m // 2, pytest.approx(y[: m // 2].mean(), rel=1e-4)),
        "missing": (1, y[-1]),
    }
    assert colour["n_missing"] == 1
    assert [row["name"] for row in grade["categories"]] == ["0", "1", "2"]  # few values are shown like categories
    assert [row["name"] for row in letter["categories"]] == [*"abcdefgh", "all others"]
    assert sum(row["n"] for row in letter["categories"]) == m


def test_numbers_against_numbers_are_points_and_boxes():
    rng = np.random.default_rng(0)
    x, grade = rng.normal(size=1000), rng.integers(0, 3, 1000)
    y = x + 10.0 * grade
    boxes, points = views_of(y, grade=grade, x=x)
    assert (points["kind"], boxes["kind"]) == ("points", "boxes")
    assert len(points["x"]) == len(points["y"]) == 250
    known = {(float(f"{a:.5g}"), float(f"{b:.5g}")) for a, b in zip(x, y, strict=True)}
    assert set(zip(points["x"], points["y"], strict=True)) <= known
    quantiles = [np.quantile(y[grade == k], [0.05, 0.25, 0.5, 0.75, 0.95]) for k in range(3)]
    assert_allclose([row["quantiles"] for row in boxes["categories"]], quantiles, rtol=1e-4)


def test_several_outputs_have_no_pictures():
    X, _, _ = make_xor(n_samples=40, n_features=4, random_state=0)
    assert result_of(named(X), "x1", "-t", "x2", "-k", 1, "--criterion", "hsic", "--kernel", "gaussian")["views"] == []


def feature_picture(view, target):
    """The picture of a selected feature in the page, with its caption and legend."""
    result = synthetic([view["feature"], "other"], views=[{"date": False, "n_missing": 0, **view}])
    result["input"]["target"] = target
    return re.search(r"<figure><figcaption>.*?</figure>", page_of(result), re.DOTALL)[0]


def shapes(figure, kind):
    svg = ET.fromstring(re.search("<svg.*?</svg>", figure, re.DOTALL)[0])
    return [element for element in svg.iter() if element.get("class") == kind]


def test_bars_are_as_long_as_the_shares():
    rows = [{"name": "a", "n": 4, "shares": [0.25, 0.75]}, {"name": "b", "n": 4, "shares": [1.0, 0.0]}]
    figure = feature_picture({"feature": "f", "kind": "shares", "classes": ["no", "yes"], "categories": rows}, "ill")
    grounds, bars = ([float(e.get("width")) for e in shapes(figure, kind)] for kind in ("ground", "share"))
    assert_allclose(bars, [0.75 * grounds[0], 0.0], atol=0.01)
    assert "share of ill = yes" in figure
    assert ">75%</text>" in figure


def test_bars_of_many_classes_are_divided():
    rows = [{"name": "a", "n": 4, "shares": [0.25, 0.25, 0.5]}]
    figure = feature_picture({"feature": "f", "kind": "shares", "classes": list("pqr"), "categories": rows}, "kind")
    whole = float(shapes(figure, "ground")[0].get("width"))
    parts = [float(shapes(figure, f"class{k}")[0].get("width")) for k in range(3)]
    assert_allclose(parts, [0.25 * whole, 0.25 * whole, 0.5 * whole], atol=0.02)
    starts = [float(shapes(figure, f"class{k}")[0].get("x")) for k in range(3)]
    assert_allclose(np.diff(starts), parts[:2], atol=0.02)
    assert plain(figure.split("legend")[1]).split()[-3:] == ["p", "q", "r"]


def test_points_are_drawn_where_they_are_and_dates_have_dates_at_the_ends():
    view = {"feature": "f", "kind": "points", "x": [0.0, 1.0, 2.0], "y": [5.0, 5.0, 15.0]}
    (path,) = shapes(feature_picture(view, "price"), "points")
    places = np.array(re.findall(r"M([\d.]+) ([\d.]+)h0", path.get("d")), dtype=float)
    assert places[1, 0] == pytest.approx(places[[0, 2], 0].mean())
    assert places[0, 1] == places[1, 1] > places[2, 1]
    view |= {"x": [18262.0, 18400.0, 18627.0], "date": True}
    assert ">2020-01-01</text>" in feature_picture(view, "y")
    assert ">2020-12-31</text>" in feature_picture(view, "y")
    assert ">3 days</text>" in feature_picture({**view, "x": [3.0, 8.0, 8.0]}, "y")


def hostile_views():
    many, rows = [0.0, 1.0, 0.5], [{"name": HOSTILE, "n": 3}]
    quantiles, shares = {"quantiles": [0, 1, 2, 3, 4]}, {"shares": [0.5, 0.5]}
    return [
        {"kind": "densities", "low": 0.0, "high": 1.0, "classes": [{**rows[0], "heights": many}] * 500},
        {"kind": "shares", "classes": [HOSTILE] * 2, "categories": [{**rows[0], **shares}] * 500},
        {"kind": "shares", "classes": [HOSTILE] * 500, "categories": [{**rows[0], **shares}] * 500},
        {"kind": "points", "x": many * 5000, "y": many * 5000},
        {"kind": "boxes", "categories": [{**rows[0], **quantiles}] * 500},
    ]


@pytest.mark.parametrize("view", hostile_views(), ids=lambda view: view["kind"])
def test_pictures_are_small_and_escape_names(view):
    figure = feature_picture({"feature": HOSTILE, **view}, HOSTILE)
    assert len(figure) < 12_000
    assert "<script" not in figure
    assert not set(figure) & {"\u202e", "\x00"}


def test_page_with_thirty_pictures_of_points_stays_small():
    X = np.random.default_rng(0).normal(size=(400, 40))
    columns = named(X, [f"a rather long name of a feature {j}" for j in range(40)])
    words = ("-k", 40, "--criterion", "hsic", "--kernel", "gaussian")
    result = result_of({**columns, "y": X.sum(axis=1)}, "y", *words)
    assert len(result["views"]) == 30
    html = page_of(result)
    assert html.count('class="points"') == 30
    assert "10 more selected features are in the table above" in html
    assert html.count('class="line"') == 1 + 30  # the path, and an effect each
    assert len(html.encode()) < 450_000
