"""Raw tables: preprocessing, selectors of columns, errors, tables."""

import numpy as np
import pytest
from experiments import raw, raw_methods
from experiments.data import MissingDataError

pd = pytest.importorskip("pandas")


def test_columns_that_name_samples_are_left_out(data_folder):
    table = raw.load("titanic", data_folder)
    assert list(table.X) == ["Pclass", "Sex", "Age", "SibSp", "Parch", "Fare", "Embarked"]
    assert np.bincount(table.y).tolist() == [549, 342]
    with pytest.raises(MissingDataError, match=r"data set is 'adult'; accepted: one with a file adult\.csv"):
        raw.load("adult", None)


def test_selectors_of_columns_find_what_matters():
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.standard_normal((300, 4)), columns=list("abcd"))
    X["e"] = pd.Categorical(np.where(random.random(300) < 0.5, "x", "y"))
    y = ((X["b"] > 0) & (X["e"] == "x")).to_numpy().astype(int)
    for name in ("all", "bahsic", "prediction", "from_model", "permutation"):
        chosen = raw_methods.METHODS[name].select(X, y, "binary", 0)
        assert chosen[[1, 4]].all(), name
        assert chosen.sum() == (5 if name == "all" else 2) or name == "from_model", name


def test_error_with_nothing_chosen_is_that_of_the_mean():
    table = raw.load("diabetes", None)
    train, test = np.arange(300), np.arange(300, 442)
    found = raw.error(table, np.zeros(10, dtype=bool), train, test)
    wanted = np.square(table.y[test] - table.y[train].mean()).mean() / table.y[test].var()
    assert found == pytest.approx(100 * wanted)
    assert raw.error(table, np.ones(10, dtype=bool), train, test) < 80
