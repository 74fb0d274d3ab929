"""BAHSICCV on tables: categories, missing entries, groups and kept columns, in every fold as `BAHSIC` has them."""

from itertools import cycle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.utils import _safe_indexing, get_tags

from bahsic import BAHSIC, BAHSICCV
from patients import FRAMES, MIXED, NAMES, in_codes, in_pandas, in_polars, in_pyarrow, patients
from selecting import drawn

CV = KFold(3)
GROUPS = {"home": ["ward", "city"], "habits": ["smokes", "visits", "weight"]}  # and the dose by itself

OPTIONS = [
    {},
    {"keep": "weight"},
    {"keep": ["weight", "city"], "kernel": "laplacian"},
    {"feature_groups": GROUPS},
    {"feature_groups": GROUPS, "keep": ["city"]},
]


class Seen(ClassifierMixin, BaseEstimator):
    """Takes anything, predicts the most frequent class, and remembers what it was fitted to."""

    def fit(self, X, y):
        self.seen_ = X
        self.classes_, counts = np.unique(y, return_counts=True)
        self.favourite_ = self.classes_[counts.argmax()]
        return self

    def predict(self, X):
        return np.full(len(X), self.favourite_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


# Against BAHSIC, fold by fold


@pytest.mark.parametrize(("options", "frame"), list(zip(OPTIONS, cycle(FRAMES))))
def test_rankings_of_the_folds_are_those_of_the_selector_on_the_training_parts(frame, options):
    columns, y = patients()
    X = frame(columns)
    search = BAHSICCV(Seen(), cv=CV, **(MIXED | options)).fit(X, y)
    for i, (train, _) in enumerate(CV.split(y)):
        part = _safe_indexing(X, train)
        rankings, supports = (search.cv_results_[f"split{i}_{name}"] for name in ("ranking", "support"))
        for size, ranking, support in zip(search.cv_results_["n_features"], rankings, supports, strict=True):
            alone = BAHSIC(int(size), **(MIXED | options)).fit(part, y[train])
            assert_array_equal(ranking, alone.ranking_)
            assert_array_equal(support, alone.support_)


@pytest.mark.parametrize(
    ("options", "smallest", "expected"),
    [
        ({"keep": ["weight"]}, 1, [1, 2, 3, 4, 5, 6]),
        ({"keep": ["weight", "city", "dose"]}, 1, [3, 4, 5, 6]),
        ({"keep": ["weight", "city", "dose"]}, 5, [5, 6]),
        ({"keep": ["weight", "city", "dose"], "step": 2}, 1, [3, 4, 6]),
        ({"keep": NAMES}, 1, [6]),
        ({"feature_groups": GROUPS}, 1, [1, 2, 3]),
        ({"feature_groups": GROUPS}, 2, [2, 3]),
        ({"feature_groups": GROUPS, "keep": ["city", "dose"]}, 1, [2, 3]),
        ({"feature_groups": GROUPS, "keep": ["city", "dose", "smokes"]}, 1, [3]),
    ],
)
def test_sizes_count_groups_and_what_is_kept(options, smallest, expected):
    columns, y = patients()
    search = BAHSICCV(Seen(), cv=CV, min_features_to_select=smallest, **(MIXED | options)).fit(in_pandas(columns), y)
    assert search.cv_results_["n_features"].tolist() == expected
    kept = np.isin(NAMES, options.get("keep", []))
    assert search.cv_results_["split0_support"][:, kept].all()
    assert search.selector_.n_features_to_select == expected[0]  # all scores are the same
    assert search.n_features_ == search.support_.sum() == search.cv_results_["split0_support"][0].sum()


# What the estimator gets


def test_estimator_gets_categories_as_they_are():
    columns, y = patients()
    options = MIXED | {"keep": ["ward", "visits", "city"], "min_features_to_select": 3}
    X = in_pandas(columns)
    seen = BAHSICCV(Seen(), cv=CV, **options).fit(X, y).estimator_.seen_
    assert seen.equals(X[["ward", "visits", "city"]])
    seen = BAHSICCV(Seen(), cv=CV, **options).fit(in_polars(columns), y).estimator_.seen_
    assert seen.equals(in_polars(columns).select("ward", "visits", "city"))
    seen = BAHSICCV(Seen(), cv=CV, **options).fit(in_pyarrow(columns), y).estimator_.seen_
    assert seen.to_pydict() == {name: columns[name] for name in ("ward", "visits", "city")}
    assert str(seen.schema.field("ward").type) == "string"  # no dictionary, whose nulls an array would lose


def test_estimator_gets_listed_rows_as_objects():
    """An array of them as they come would have strings in place of numbers."""
    X, y = drawn(60)
    rows = [["red" if row[0] > 0 else "blue", *row[1:].tolist()] for row in X]
    search = BAHSICCV(Seen(), cv=CV, categorical_features=[0], min_features_to_select=8).fit(rows, y)
    assert search.estimator_.seen_.tolist() == rows
    assert search.predict(rows).shape == (60,)


@pytest.mark.parametrize("frame", [*FRAMES, lambda columns: in_codes(columns)[:, [2, 4, 5]]])
def test_estimator_gets_numbers_as_an_array_with_nan(frame):
    columns, y = patients()
    numbers = ["visits", "weight", "dose"]
    X, expected, keep = frame(columns), in_codes(columns)[:, [2, 4, 5]], 1
    if not isinstance(X, np.ndarray):
        X, keep = X[numbers] if hasattr(X, "iloc") else X.select(numbers), "weight"
    search = BAHSICCV(Seen(), cv=CV, missing="neutral", keep=keep, min_features_to_select=3).fit(X, y)
    assert type(search.estimator_.seen_) is np.ndarray
    assert_array_equal(search.estimator_.seen_, expected)
    assert search.selector_.path_ == BAHSIC(3, missing="neutral", keep=[1]).fit(expected, y).path_


def test_whole_numbers_and_booleans_stay_what_they_are():
    pd = pytest.importorskip("pandas")
    X, y = drawn()
    whole = np.round(3 * X).astype(int)
    for table in (whole, pd.DataFrame(whole), (whole > 0)):
        seen = BAHSICCV(Seen(), cv=2, min_features_to_select=8, **MIXED).fit(table, y).estimator_.seen_
        assert_array_equal(seen, np.asarray(table))
        assert seen.dtype == np.asarray(table).dtype
    mixed = pd.DataFrame(X).assign(b=whole[:, 0] > 0).rename(columns=str)
    seen = BAHSICCV(Seen(), cv=2, min_features_to_select=9, **MIXED).fit(mixed, y).estimator_.seen_
    assert_array_equal(seen, mixed.to_numpy(dtype=float))


def test_named_categories_stay_in_a_dataframe():
    pd = pytest.importorskip("pandas")
    X, y = drawn()
    frame = pd.DataFrame(X).assign(code=np.arange(40) % 3).rename(columns=str)
    search = BAHSICCV(Seen(), cv=2, min_features_to_select=9, categorical_features=["code"]).fit(frame, y)
    assert search.estimator_.seen_.equals(frame)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_columns_of_time_are_no_numbers(library):
    pd, module = pytest.importorskip("pandas"), pytest.importorskip(library)
    _, y = drawn()
    days = pd.date_range("2024-01-01", periods=40)
    columns = {"day": days, "since": days - days[0], "month": days.month}
    for names, numeric in [(["day", "month"], False), (["since", "month"], False), (["month"], True)]:
        if library == "pyarrow":
            X = module.table({name: pd.Series(columns[name]).array for name in names})
        else:
            X = module.DataFrame({name: columns[name].to_numpy() for name in names})
        search = BAHSICCV(Seen(), cv=2, min_features_to_select=len(names), identifiers="use").fit(X, y)
        assert isinstance(search.estimator_.seen_, np.ndarray) == numeric


def test_gradient_boosting_takes_categories_but_no_strings():
    columns, y = patients()
    X = in_pandas(columns)
    boosting = HistGradientBoostingClassifier(categorical_features="from_dtype", max_iter=2)
    with pytest.raises(ValueError, match=r"which fails .* column 'city' .*strings.*; accepted: one that can take it"):
        BAHSICCV(boosting, cv=CV, keep="city", **MIXED).fit(X, y)
    X = X.astype({"city": "category", "ward": "category"})
    search = BAHSICCV(boosting, cv=CV, keep="city", **MIXED).fit(X, y)
    chosen = X[search.get_feature_names_out()]
    assert_array_equal(search.predict_proba(X), clone(boosting).fit(chosen, y).predict_proba(chosen))


def test_masked_and_nullable_entries_of_arrays():
    columns, y = patients()
    pd = pytest.importorskip("pandas")
    codes = in_codes(columns)[:, [2, 4, 5]]
    nullable = pd.DataFrame(codes).astype("Float64").to_numpy()
    assert any(value is pd.NA for value in nullable.flat)
    imputed = make_pipeline(SimpleImputer(), GaussianNB())
    expected = BAHSICCV(imputed, missing="neutral").fit(codes, y)
    for X in (nullable, np.ma.masked_invalid(codes)):
        search = BAHSICCV(imputed, missing="neutral").fit(X, y)
        assert_array_equal(search.predict_proba(X), expected.predict_proba(codes))


def test_prediction_for_samples_with_nothing_observed():
    X, y = drawn()
    holes = np.where(np.arange(X.size).reshape(X.shape) % 7 == 0, np.nan, X)
    search = BAHSICCV(HistGradientBoostingClassifier(max_iter=2), cv=2, missing="neutral").fit(holes, y)
    assert search.predict(np.full((1, 8), np.nan)).shape == (1,)
    assert search.transform(np.full((1, 8), np.nan)).shape == (1, search.n_features_)
    with pytest.raises(ValueError, match="X contains infinity"):
        search.predict(np.full((1, 8), np.inf))


def test_tags():
    """What the search and its estimator take both."""
    trees = HistGradientBoostingClassifier()
    found = [get_tags(BAHSICCV(*given)).input_tags.allow_nan for given in ((trees,), (LogisticRegression(),))]
    assert found == [True, False]
    assert not get_tags(BAHSICCV(trees, missing="error")).input_tags.allow_nan
    named, unnamed = (get_tags(BAHSICCV(trees, categorical_features=columns)).input_tags for columns in ([0], None))
    assert (named.categorical, unnamed.categorical) == (True, False)


# An estimator that cannot take them


@pytest.mark.parametrize(
    ("frame", "way_out"),
    [
        (in_pandas, r"make_pipeline\(make_column_transformer\(.*OneHotEncoder.*SimpleImputer.*, estimator\)$"),
        (in_polars, r"make_pipeline\(.*OneHotEncoder.*, estimator\) and X as a pandas DataFrame$"),
    ],
)
def test_error_where_an_estimator_takes_no_text(frame, way_out):
    columns, y = patients()
    message = (
        r"^estimator is of type LogisticRegression, which fails \(could not convert string to float: '\w+'\) where "
        r"column 'city' of its part of X has strings or categories \(dtype .*\); accepted: one that can take it, such "
    )
    with pytest.raises(ValueError, match=message + "as " + way_out):
        BAHSICCV(LogisticRegression(), keep="city", **MIXED).fit(frame(columns), y)


@pytest.mark.parametrize(("row", "part"), [(3, "training"), (59, "test")])
def test_error_where_an_estimator_takes_no_missing_entries(row, part):
    pd = pytest.importorskip("pandas")
    X, y = drawn(60)
    X[row, 1] = np.nan
    splits = [(np.arange(30), np.arange(30, 60)), (np.arange(30), np.arange(30, 60))]
    message = (
        r"^estimator is of type LogisticRegression, which fails \(Input X contains NaN\) where its part of X contains "
        r"NaN or null: 1 entry, in row \d+, column {}; accepted: one that can take it, such as "
        r"make_pipeline\(SimpleImputer\(\), estimator\)$"
    )
    for table, name in ((X, "1"), (pd.DataFrame(X, columns=list("abcdefgh")), "'b'")):
        with pytest.raises(ValueError, match=message.format(name)):
            BAHSICCV(LogisticRegression(), missing="neutral", keep=[1], cv=splits).fit(table, y)


def test_other_errors_of_an_estimator_stay_as_they_are():
    X, y = drawn()
    with pytest.raises(ValueError, match=r"^Negative values in data"):
        BAHSICCV(MultinomialNB(), missing="neutral", cv=2).fit(X, y)


def test_transform_of_a_search_needs_only_the_selected_columns():
    columns, y = patients()
    X = in_pandas(columns)
    search = BAHSICCV(Seen(), cv=CV, keep=["ward", "visits"], min_features_to_select=2, **MIXED).fit(X, y)
    names = search.get_feature_names_out().tolist()
    assert {"ward", "visits"} <= set(names) < set(NAMES)
    assert search.set_output(transform="pandas").transform(X[names[::-1]]).equals(X[names])
    with pytest.raises(ValueError, match=r"X lacks 1 of .* selected columns: 'ward'; accepted"):
        search.transform(X.drop(columns="ward"))
