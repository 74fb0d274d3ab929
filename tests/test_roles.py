"""What each column is taken for: numbers, categories, dates, what looks like an identifier, and what hardly varies."""

import datetime as dt
import warnings

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from bahsic import BAHSIC, BAHSICCV, FOHSIC, hsic_scores

pd = pytest.importorskip("pandas", reason="columns with names come in dataframes; pandas is not installed")

M = 60
NEARLY = "nearly all different whole numbers, and its name"
SHUFFLED = np.random.default_rng(0).permutation(M)


def roles(fitted):
    return {column.name: column.role for column in fitted.columns_}


def quiet_fit(selector, X, y):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*(are ignored|rank last)")
        return selector.fit(X, y)


def role_of(column, name="x"):
    """Role and reason of a column of a frame, beside another one."""
    X = pd.DataFrame({name: column}).assign(
        **{"noise" if name else "": np.random.default_rng(9).normal(size=len(column))}
    )
    X = X if name else X.set_axis([0, 1], axis=1)
    return quiet_fit(BAHSIC(1, step=0.9), X, np.resize([0, 1], len(X))).columns_[0][1:]


# Identifiers and texts


@pytest.mark.parametrize(
    ("x", "names", "expected"),
    [
        (np.arange(M), [None], "counts the rows"),
        (np.arange(1, M + 1)[::-1], [None], "counts the rows"),
        (np.delete(np.arange(1, 90), np.arange(0, 90, 4)), [None], "counts the rows"),  # a training part
        (np.append(np.arange(M - 1.0), np.nan), ["id"], "counts the rows"),
        (SHUFFLED, ["PassengerId", "patient_id", "ID", "ID_customer", "index"], NEARLY),
        (np.append(np.random.default_rng(0).permutation(M - 2), [3, np.nan]), ["CUSTOMERID"], NEARLY),
        (SHUFFLED, ["rank", "humid", "Madrid", "heat_index"], None),
        (1900 + np.arange(M), ["year"], None),
        (np.arange(M) // 2, ["id"], None),
        (np.arange(M) + 0.5, ["id"], None),
        (np.arange(19), ["id"], None),
    ],
)
def test_whole_numbers_that_look_like_identifiers(x, names, expected):
    for name in names:
        role, reason = role_of(x, name)
        assert role == "number" if expected is None else (role, reason) == ("identifier", expected)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([f"No. {i}" for i in range(M)], ("text", "60 different texts in 60 rows")),
        ([f"A{i}" for i in range(M)], ("identifier", "60 different texts in 60 rows")),
        ([f"A{i % 40}" for i in range(M)], ("identifier", "40 different texts in 60 rows")),
        ([f"A{i % 30}" for i in range(M)], None),  # just half
        ([f"A{i}" for i in range(19)], None),
        ([f"A{i}" for i in range(25)] + [None] * 35, ("identifier", "25 different texts in 25 rows")),
        (list(range(M)), None),
    ],
)
def test_texts_that_are_nearly_all_different(texts, expected):
    found = role_of(pd.Series(texts, dtype=object if isinstance(texts[0], str) else "category"))
    assert found == expected or (expected is None and found[0] not in ("text", "identifier"))


def named_table(m=M):
    rng = np.random.default_rng(1)
    y = np.resize([0, 1], m)
    columns = {
        "id": np.arange(m) + 7000,
        "name": [f"Person {i}, of {rng.integers(99)}" for i in range(m)],
        "signal": y + rng.normal(size=m) / 3,
        "noise": rng.normal(size=m),
    }
    return pd.DataFrame(columns), y


@pytest.mark.parametrize("selector", [BAHSIC, FOHSIC])
@pytest.mark.parametrize("criterion", ["hsic", "prediction"])
def test_what_only_names_the_samples_is_left_out_unless_asked_for(selector, criterion):
    X, y = named_table()
    told = r"2 of 4 features look like identifiers or are empty and are ignored: id, name; identifiers='use'"
    with pytest.warns(UserWarning, match=told):
        fitted = selector(1, criterion=criterion).fit(X, y)
    assert roles(fitted) == {"id": "identifier", "name": "text", "signal": "number", "noise": "number"}
    assert fitted.get_feature_names_out().tolist() == ["signal"]
    assert sorted(fitted.ranking_[:2].tolist()) == [3, 4]
    assert fitted.scores_[:2].tolist() == [0, 0]
    assert fitted.scores_[2] > fitted.scores_[3]
    used = selector(1, criterion=criterion, identifiers="use").fit(X, y)
    assert roles(used) == {"id": "number", "name": "uninformative", "signal": "number", "noise": "number"}
    one = quiet_fit(selector(1, criterion=criterion, categorical_features=["from_dtype", "name"]), X, y)
    assert roles(one)["name"] == "uninformative"
    kept = quiet_fit(selector(2, criterion=criterion, keep=["id"]), X, y)
    assert kept.get_feature_names_out().tolist() == ["id", "signal"]
    assert roles(kept)["id"] == "number"
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        many = selector(4, criterion=criterion).fit(X, y)
        given = selector(1, criterion=criterion, identifiers=["noise"]).fit(X, y)
    told = [str(one.message) for one in said]
    assert "n_features_to_select is 4, X has 4 features, of which 2 are used: all are kept" in told
    assert many.get_feature_names_out().tolist() == ["signal", "noise"]
    assert max(step.n_features for step in many.path_) == 2
    assert given.columns_[3] == ("noise", "identifier", "given as one")
    numbers = selector(1, criterion=criterion).fit(X[["id", "signal", "noise"]].to_numpy(), y)  # taken as they are
    assert roles(numbers) == {"x0": "number", "x1": "number", "x2": "number"}
    scores, pvalues = hsic_scores(X, y)
    assert (scores[:2].tolist(), pvalues[:2].tolist()) == ([0, 0], [1, 1])
    assert hsic_scores(X, y, identifiers="use")[0][0] != 0
    with pytest.raises(ValueError, match="all features of X are empty or look like identifiers"):
        quiet_fit(selector(criterion=criterion), X[["id", "name"]], y)
    with pytest.raises(ValueError, match="identifiers is 'keep'; accepted: 'drop', 'use', or a list of columns"):
        selector(identifiers="keep").fit(X, y)


def test_the_data_of_the_user_are_not_changed():
    X, y = named_table()
    for table in (X, X[["id", "signal"]].astype(float)):
        before = table.copy()
        quiet_fit(BAHSIC(1), table, y)
        pd.testing.assert_frame_equal(table, before)


# Columns that hardly vary


@pytest.mark.parametrize(
    ("values", "n_rare"),
    [
        (np.where(np.arange(1000) == 5, 1.0, np.where(np.arange(1000) == 7, np.nan, 0.0)), 1),
        (np.where(np.arange(1000) < 10, np.arange(1000) + 1.0, 0.0), 10),
        (np.where(np.arange(1000) < 11, np.arange(1000) + 1.0, 0.0), None),
        (np.random.default_rng(0).permutation(1000) + 0.5, None),
        (np.arange(19) == 18, None),  # too few rows
    ],
)
def test_rows_that_differ_from_nearly_all(values, n_rare):
    role, reason = role_of(values.astype(float))
    assert role == ("number" if n_rare is None else "uninformative")
    assert ("one value in all but" in reason) == (n_rare is not None)
    assert n_rare is None or f"all but {n_rare} of 1000 rows" in reason


@pytest.mark.parametrize("criterion", ["hsic", "prediction"])
@pytest.mark.parametrize("seed", range(4))
def test_what_hardly_varies_never_outranks_what_explains_something(seed, criterion):
    rng = np.random.default_rng(seed)
    m = 300
    y = rng.integers(0, 2, m)
    weak = y + 1.5 * rng.normal(size=m)
    rare = {f"rare{i}": np.isin(np.arange(m), rng.choice(m, 1 + i % 3, replace=False)).astype(float) for i in range(6)}
    X = pd.DataFrame({**rare, "strong": 2 * y + rng.normal(size=m), "weak": weak, "noise": rng.normal(size=m)})
    fitted = BAHSIC(2, criterion=criterion, step=1).fit(X, y)
    assert set(fitted.get_feature_names_out()) == {"strong", "weak"}
    assert min(fitted.ranking_[:6]) > fitted.ranking_[8]  # also than noise, which at least varies
    assert fitted.columns_[0].reason == "one value in all but 1 of 300 rows, unrelated to the target"
    assert [column.role for column in fitted.columns_] == ["uninformative"] * 6 + ["number"] * 3


def test_rare_rows_that_tell_of_the_target_take_part():
    rng = np.random.default_rng(0)
    m = 1000
    rare = np.arange(m) < 10
    y = np.where(rare, 1, rng.random(m) < 0.02).astype(int)
    X = pd.DataFrame({"noise": rng.normal(size=m), "flag": np.where(rare, "yes", "no"), "more": rng.normal(size=m)})
    fitted = BAHSIC(1).fit(X, y)
    assert fitted.get_feature_names_out().tolist() == ["flag"]
    assert fitted.columns_[1] == ("flag", "category", "2 categories, one value in all but 10 of 1000 rows")


# The same table in every library


def nine_frames(columns):
    """The same columns in every library and its types."""
    pl = pytest.importorskip("polars", reason="polars is not installed")
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    frame, arrow, polar = pd.DataFrame(columns), pa.table(columns), pl.DataFrame(columns)
    coded = {name: arrow[name].dictionary_encode() for name in ("key", "colour")}
    return [
        frame.astype(object),
        frame.assign(count=frame["count"].astype(float), born=pd.to_datetime(frame["born"])),
        frame.astype({"key": "category", "colour": "category", "smokes": "category"}),
        frame.convert_dtypes(),
        frame.convert_dtypes(dtype_backend="pyarrow"),
        polar,
        polar.with_columns(pl.col("key", "colour").cast(pl.Categorical)),
        arrow,
        pa.table({name: coded.get(name, arrow[name]) for name in columns}),
    ]


@pytest.mark.parametrize("criterion", ["hsic", "prediction"])
def test_the_same_selection_from_every_kind_of_frame(criterion):
    """Strings, categories, booleans, dates, missing entries and nullable integers."""
    rng, m = np.random.default_rng(1), 80
    y = rng.integers(0, 2, m)

    def with_gaps(values):
        return [None if gap else value for value, gap in zip(values.tolist(), rng.random(m) < 0.15, strict=True)]

    columns = {
        "key": [f"K{i}" for i in range(m)],
        "colour": with_gaps(np.where(y + rng.normal(size=m) > 0.5, "red", "blue")),
        "size": with_gaps(y + rng.normal(size=m) / 2),
        "count": with_gaps(rng.integers(0, 9, m)),
        "smokes": with_gaps(rng.random(m) < 0.5),
        "born": [dt.date(1950, 1, 1) + dt.timedelta(days=int(d)) for d in rng.integers(0, 20000, m)],
        "noise": rng.normal(size=m).tolist(),
    }
    expected = ["identifier", "category", "number", "number", "category", "date", "number"]
    found = [quiet_fit(BAHSIC(3, criterion=criterion, step=1), frame, y) for frame in nine_frames(columns)]
    for other in found:
        assert list(roles(other).values()) == expected
        assert other.ranking_.tolist() == found[0].ranking_.tolist()
        np.testing.assert_allclose(other.scores_, found[0].scores_, rtol=1e-9)
    assert {"colour", "size"} <= set(found[0].get_feature_names_out())
    assert found[0].columns_[5] == ("born", "date", "in days")


# What follows a selection


def test_identifiers_never_reach_the_estimator_of_a_search():
    X, y = named_table(90)
    X["shop"] = [f"shop {i % 46}" for i in range(90)]  # nearly all different in a training part, though not in all
    seen = []

    class Watched(DummyClassifier):
        def fit(self, X, y):
            seen.append(set(X.columns))
            return super().fit(X, y)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = BAHSICCV(Watched(), cv=3).fit(X, y)
    assert set.union(*seen) <= {"signal", "noise", "shop"}
    assert search.cv_results_["n_features"].max() == 2 if roles(search.selector_)["shop"] == "text" else 3
    assert search.cv_results_["split0_ranking"].shape == (len(search.cv_results_["n_features"]), 5)


def test_missing_as_a_value_hardly_varies_or_matters():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    pool = np.where(y == 1, np.nan, 0.0)
    pool[0] = 1.0
    X = pd.DataFrame({"pool": pool, "n1": rng.normal(size=120), "n2": rng.normal(size=120)})
    assert BAHSIC(1, missing="indicator").fit(X, y).get_feature_names_out().tolist() == ["pool"]
    once = np.zeros(120)
    once[5] = np.nan
    fitted = BAHSIC(1, missing="indicator").fit(X.assign(pool=once), y)
    assert "unrelated to" in fitted.columns_[0].reason


def test_weights_are_repeated_rows_where_a_column_hardly_varies():
    rng = np.random.default_rng(0)
    y, w = rng.integers(0, 2, 120), np.append(np.ones(119, dtype=int), 60)
    X = pd.DataFrame({"rare": np.append(np.zeros(119), 1), "n1": rng.normal(size=120), "n2": y + rng.normal(size=120)})
    rows = np.repeat(np.arange(120), w)
    weighted, repeated = BAHSIC(1).fit(X, y, w), BAHSIC(1).fit(X.iloc[rows], y[rows])
    assert weighted.ranking_.tolist() == repeated.ranking_.tolist()


def test_booleans_are_numbers_for_kernels_of_products():
    X, y = named_table()
    table = X[["signal"]].assign(flag=y == 1, other=np.arange(M) % 3 == 0)
    fits = [BAHSIC(1, kernel="linear").fit(data, y) for data in (table, table.to_numpy(dtype=float))]
    np.testing.assert_allclose(*([step.hsic for step in fitted.path_] for fitted in fits), rtol=1e-12)


def test_dates_as_labels_are_refused():
    X, _ = named_table()
    with pytest.raises(ValueError, match=r"y has dates or times .*; accepted: classes or numbers, such as days"):
        BAHSIC(1).fit(X[["signal"]], pd.Series(pd.date_range("2024", periods=M)))
