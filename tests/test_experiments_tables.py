"""Raw tables, and junk added to tables: preprocessing, what counts as junk, errors."""

import numpy as np
import pytest
from experiments import junk, junk_tables, raw, raw_methods
from experiments.data import MissingDataError
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import balanced_accuracy_score, r2_score

pd = pytest.importorskip("pandas")

COPIES = ["x0", "x0 rescaled", "x1", "x1 exact", "region relabelled", "x5"]
CELL = {"part": "noise", "problem": "diabetes", "added": "50", "run": 0}


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
        (COPIES, None, {"part": "copies", "problem": "drawn", "added": "copies"}, {"junk": 2, "found": 3}),
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
