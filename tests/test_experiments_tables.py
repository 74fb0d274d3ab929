"""Raw tables, and junk added to tables: preprocessing, what counts as junk, errors, tables of results."""

import numpy as np
import pytest
from experiments import junk, junk_forest, junk_table, junk_tables, raw, raw_methods
from experiments.data import MissingDataError
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import balanced_accuracy_score, r2_score

pd = pytest.importorskip("pandas")

CELL = {"part": "noise", "problem": "diabetes", "added": "50", "variant": "ours", "run": 0}


@pytest.fixture
def random():
    return np.random.default_rng(0)


# --- raw tables ---


def test_columns_that_name_samples_are_left_out(data_folder):
    table = raw.load("titanic", data_folder)
    assert list(table.X) == ["Pclass", "Sex", "Age", "SibSp", "Parch", "Fare", "Embarked"]
    assert np.bincount(table.y).tolist() == [549, 342]
    with pytest.raises(MissingDataError, match=r"data set is 'adult'; accepted: one with a file adult\.csv"):
        raw.load("adult", None)


@pytest.mark.parametrize(
    ("name", "count"), [("all", 5), ("bahsic", 2), ("prediction", 2), ("from_model", None), ("permutation", 2)]
)
def test_selectors_of_columns_find_what_matters(name, count, random):
    X = pd.DataFrame(random.standard_normal((300, 4)), columns=list("abcd"))
    X["e"] = pd.Categorical(np.where(random.random(300) < 0.5, "x", "y"))
    chosen = raw_methods.METHODS[name].select(X, ((X["b"] > 0) & (X["e"] == "x")).to_numpy().astype(int), "binary", 0)
    assert chosen[[1, 4]].all()
    assert count in (chosen.sum(), None)


def test_error_with_nothing_chosen_is_that_of_the_mean():
    table = raw.load("diabetes", None)
    train, test = np.arange(300), np.arange(300, 442)
    wanted = np.square(table.y[test] - table.y[train].mean()).mean() / table.y[test].var()
    assert raw.error(table, np.zeros(10, dtype=bool), train, test) == pytest.approx(100 * wanted)
    assert raw.error(table, np.ones(10, dtype=bool), train, test) < 80


# --- junk that is added ---


def test_copies_say_the_same_in_other_values(random):
    X = pd.DataFrame({"a": [1.0, np.nan, 3.0, 4.0], "b": [5, 6, 7, 8]})
    X["c"] = pd.Categorical(["x", None, "y", "z"])
    found = junk_tables.copies(X, junk_tables.Copied("a", "b", "c"), random)
    assert [original for original, _ in found.values()] == ["a", "b", "c"]
    rescaled, exact, renamed = (values for _, values in found.values())
    np.testing.assert_allclose(rescaled, [33.8, np.nan, 37.4, 39.2])
    assert exact.tolist() == [5, 6, 7, 8]
    assert pd.isna(renamed).tolist() == [False, True, False, False]
    assert len(set(renamed.dropna())) == len(set(renamed.dropna()) - {"x", "y", "z"}) == 3
    assert list(junk_tables.copies(X, junk_tables.Copied("a", "b"), random)) == ["a rescaled", "b exact"]


@pytest.mark.parametrize("task", ["regression", "binary"])
def test_real_category_explains_its_share_of_the_target(task, random):
    y = random.standard_normal(40_000) * 7 if task == "regression" else (random.random(40_000) < 0.3).astype(int)
    changed, category = junk_tables.real_category(raw.Table(pd.DataFrame({"a": y}), y, task), 25, random)
    means = pd.Series(changed.y).groupby(category, observed=True).transform("mean")
    assert len(category.categories) == 25
    assert means.var() / changed.y.var() == pytest.approx(junk_tables.EFFECT, abs=0.01)
    assert np.corrcoef(changed.y, y)[0, 1] > 0.7
    assert changed.y.dtype == y.dtype


# --- what counts as junk ---


def chosen(*names, worth=None):
    """Return a selector that takes these columns, whatever the data."""

    def select(X, y, seed):
        taken = [name for name in names if name in X]
        values = np.ones(len(taken)) if worth is None else np.array(worth)
        return junk.Selection(taken, values, {"number": len(taken), "features": "; ".join(taken)})

    return select


@pytest.mark.parametrize(
    ("names", "worth", "cell", "counts"),
    [
        (
            ["x0", "x0 rescaled", "x1", "x1 exact", "region relabelled", "x5"],
            None,
            {"part": "copies", "problem": "drawn", "added": "copies"},
            {"junk": 2, "found": 3},
        ),
        (["category", "bmi"], None, {"part": "categories", "added": "30"}, {"junk": 1}),
        (["bmi"], None, {"part": "categories", "added": "30"}, {"junk": 0}),
        (["category", "bmi"], None, {"part": "categories", "added": junk.REAL}, {"found": 1}),
        (["bmi"], None, {"part": "categories", "added": junk.REAL}, {"found": 0}),
        (["bmi", "noise 3", "noise 49"], None, {}, {"junk": 2}),
        (["bmi", "bp", "s5"], [0.1, 0.0, -0.1], {"part": "worth", "problem": "raw diabetes"}, {"junk": 2}),
        (["x1"], [0.1], {"part": "worth", "problem": "wine"}, {"junk": 0}),  # the paper's set has other names
    ],
)
def test_junk_and_real_columns_are_counted(names, worth, cell, counts, monkeypatch):
    monkeypatch.setattr(junk, "select", chosen(*names, worth=worth))
    [row] = junk.rows(CELL | cell, None)
    assert {name: row[name] for name in ("junk", "found") if name in row} == counts


@pytest.mark.parametrize(
    ("name", "model", "score", "chance"),
    [
        ("diabetes", HistGradientBoostingRegressor, r2_score, 100),
        ("iris", HistGradientBoostingClassifier, balanced_accuracy_score, 200 / 3),
    ],
)
def test_error_is_that_of_balanced_accuracy_or_r2(name, model, score, chance):
    table = junk_tables.load(name, None)
    train, test = raw.splits(table)[1]
    names = list(table.X)[2:4]
    fitted = model(random_state=0).fit(table.X[names].iloc[train], table.y[train])
    wanted = 100 * (1 - score(table.y[test], fitted.predict(table.X[names].iloc[test])))
    assert junk.boosted_error(table, names, train, test) == pytest.approx(wanted)
    assert junk.boosted_error(table, [], train, test) == pytest.approx(chance, abs=5)


def test_selection_sees_the_training_part_only(monkeypatch):
    seen = []

    def select(X, y, seed):
        seen.append(X.index.to_numpy())
        return chosen("petal width (cm)")(X, y, seed)

    monkeypatch.setattr(junk, "select", select)
    [row] = junk.rows(CELL | {"part": "boosting", "problem": "iris", "added": "", "run": 2}, None)
    assert np.array_equal(seen[0], raw.splits(junk_tables.load("iris", None))[2][0])
    assert float(row["error_all"]) < 10
    assert row["others"] in {"petal width (cm)", "petal length (cm)"}
    [row] = junk.rows(CELL | {"part": "stability", "problem": "iris", "added": "", "run": 2}, None)
    assert len(seen[1]) == 120
    assert row["others"].startswith("petal")


def test_forest_takes_columns_that_matter(random):
    X = pd.DataFrame(random.standard_normal((300, 4)), columns=list("abcd"))
    X.loc[::7, "b"] = np.nan
    X["e"] = pd.Categorical(random.choice([*"uvwxyz", None], 300))
    y = ((X["b"] > 0) & X["e"].isin(list("uvw"))).to_numpy().astype(int)
    for choose in (junk_forest.by_permutation, junk_forest.by_importance):
        assert choose(X, y, "binary", 2, 0) == ["b", "e"]
        assert choose(X, y.astype(float), "regression", 2, 0) == ["b", "e"]
        assert choose(X, y, "binary", 0, 0) == []


# --- tables of results ---


def row(part, problem, *, added="", variant="ours", number="4", **others):
    return {"part": part, "problem": problem, "added": added, "variant": variant, "number": number} | others


def test_summary_counts_runs():
    rows = [row("copies", "titanic", junk=n, found="2") for n in ("0", "2", "1")]
    rows += [row("copies", "titanic", number="", junk="", found="")]  # took too long
    rows += [row("copies", "housing", variant="before", junk="0", found="1")]
    rows += [row("categories", "adult", added="30", junk=n) for n in ("0", "0", "1", "0")]
    rows += [row("categories", "adult", added="25 real", found="1")]
    rows += [row("noise", "adult", junk=n) for n in ("0", "1")] + [row("noise", "diabetes", junk="0")]
    rows += [row("worth", "wine", junk="1"), row("worth", "heart", junk="0", number="6")]
    assert junk_table.summary(rows).splitlines()[2:] == [
        "| a column and its copy both selected | 0 | 2 of 3 (67%) | 0 of 1 (0%) |",
        "| random category of 30 levels selected | at most 5% | 1 of 4 (25%) |  |",
        "| random category of 150 levels selected | at most 5% |  |  |",
        "| real category of 25 levels selected | at least 80% | 1 of 1 (100%) |  |",
        "| noise columns selected | at most 0.2 per run | 0.25 per run (3 runs) |  |",
        "| selected features of worth 0 or less | 0 | 1 of 10 (2 sets) |  |",
    ]
    rows = [row("stability", "iris", features="a; b", others=other) for other in ("a", "a", "a", "a", "b")]
    lines = junk_table.stability(rows).splitlines()[3:]
    assert lines == ["| iris, now | 4.0 | 1.00 | 0.60 |", "| mean of 1, now | 4.0 | 1.00 | 0.60 |"]
    assert junk_table.similarity(["", "", "a"]) == pytest.approx(1 / 3)
