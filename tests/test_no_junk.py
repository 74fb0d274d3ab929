"""Copies, constants, uninformative categories and features that add nothing are not selected."""

import json
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from bahsic import BAHSIC, FOHSIC, FeatureSelector, hsic, predictability
from bahsic.plotting import plot_scores
from command import main

SKEWED = (
    r"no subset of the 6 features clearly predicts the target: held-out R2 0\.\d\d \+/- 0\.\d\d at best; the target is "
    "positive and very skewed: its logarithm may be predictable"
)


def drawn(m=120, d=6, seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((m, d))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * random.standard_normal(m)


@pytest.mark.parametrize("selector", [BAHSIC, FOHSIC])
@pytest.mark.parametrize("copy", [lambda x: x, lambda x: 1.8 * x + 32, lambda x: -x / 7])
def test_copies_are_one_candidate(selector, copy):
    X, y = drawn()
    Z = np.column_stack([copy(X[:, 1]), X])  # the first of the two stands for both
    fitted = selector("auto", criterion="prediction").fit(Z, y)
    assert_array_equal(fitted.get_support(indices=True), [0, 1])
    assert fitted.columns_[2] == ("x2", "copy", "same as x0")
    assert fitted.ranking_[2] == 2  # right behind
    order = fitted.elimination_order_[::-1] if selector is BAHSIC else fitted.selection_order_
    assert list(order).index(2) == list(order).index(0) + 1
    alone = selector("auto", criterion="prediction").fit(np.delete(Z, 2, axis=1), y)
    assert fitted.predictability_ == pytest.approx(alone.predictability_, abs=1e-9)


def test_relabelled_categories_are_copies():
    X, y = drawn()
    level = np.digitize(X[:, 1], [-1, 0, 1])
    frame = pd.DataFrame({"grade": pd.Categorical(np.array(list("abcd"))[level]), "x": X[:, 0], "noise": X[:, 2]})
    frame["note"] = pd.Categorical(np.array(["very good", "bad", "good", "best"])[level])
    frame["other"] = pd.Categorical(np.array(list("abcd"))[np.roll(level, 1)])
    fitted = BAHSIC(2, criterion="prediction").fit(frame, y)
    assert {role.name: role.reason for role in fitted.columns_ if role.role == "copy"} == {"note": "same as grade"}
    assert fitted.get_feature_names_out().tolist() == ["grade", "x"]


def test_two_values_are_the_same_in_a_number_and_a_category():
    X, y = drawn()
    frame = pd.DataFrame({"sex": pd.Categorical(np.where(X[:, 0] > 0, "male", "female")), "x": X[:, 1]})
    frame["is_male"] = (X[:, 0] > 0).astype(float)
    roles = BAHSIC("auto", criterion="prediction").fit(frame, y).columns_
    assert [role.role for role in roles] == ["category", "number", "copy"]


def test_kept_copy_stands_for_the_others():
    X, y = drawn()
    Z = np.column_stack([X, 2 * X[:, 0]])
    fitted = BAHSIC("auto", criterion="prediction", keep=[6]).fit(Z, y)
    assert fitted.columns_[0].reason == "same as x6"
    assert fitted.support_[6]
    assert not fitted.support_[0]


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_a_complete_column_stands_for_its_copy_with_gaps(share):
    random = np.random.default_rng(0)
    X, y = drawn(m=200)
    frame = pd.DataFrame({"gaps": with_gaps(3 - 2 * X[:, 0], share, random), "again": X[:, 0]})
    frame = frame.assign(a=X[:, 0], b=X[:, 1], c=X[:, 2], other=with_gaps(X[:, 3], share, random))
    fitted = FeatureSelector(kernel="gaussian").fit(frame, y > 0)
    copies = {role.name: role.reason for role in fitted.columns_ if role.role == "copy"}
    assert copies == {"gaps": "same as again", "a": "same as again"}
    assert fitted.get_feature_names_out().tolist() == ["again", "b"]
    indicator = FeatureSelector(2, kernel="gaussian", missing="indicator", cv=None).fit(frame, y > 0)
    assert indicator.columns_[0].role == "number"  # being missing may tell something


def test_near_copies_and_hsic_keep_all_candidates():
    X, y = drawn()
    near = X[:, 0] + 1e-4 * np.random.default_rng(1).standard_normal(len(X))
    assert not any(role.left_out for role in BAHSIC(2, criterion="prediction").fit(np.c_[X, near], y).columns_)
    fitted = BAHSIC(2).fit(np.c_[X, X[:, 0]], y)
    assert not any(role.left_out for role in fitted.columns_)
    assert fitted.path_[0].n_features == 7


@pytest.mark.parametrize("criterion", ["hsic", "prediction"])
@pytest.mark.parametrize("selector", [BAHSIC, FOHSIC])
def test_constant_columns_take_no_part(selector, criterion):
    X, y = drawn()
    Z = np.insert(X, [0, 2, 6], 7.0, axis=1)
    with pytest.warns(UserWarning, match="3 of 9 features are constant and are ignored: 0, 3, 8"):
        fitted = selector("auto", criterion=criterion, step=1).fit(Z, y)
    plain = selector("auto", criterion=criterion, step=1).fit(X, y)
    used = [1, 2, 4, 5, 6, 7]
    assert_array_equal(fitted.support_[used], plain.support_)
    assert fitted.n_features_ == plain.n_features_
    assert [step.predictability for step in fitted.path_] == [step.predictability for step in plain.path_]
    assert [step.parameter for step in fitted.path_] == [step.parameter for step in plain.path_]
    assert_array_equal(fitted.scores_[used], plain.scores_)
    assert [fitted.columns_[j].role for j in (0, 3, 8)] == ["constant"] * 3
    assert (fitted.scores_[[0, 3, 8]] == 0.0).all()


@pytest.mark.parametrize("standardize", [True, False])
def test_constant_columns_change_no_measure(standardize):
    X, y = drawn()
    Z = np.insert(X, [0, 6], 7.0, axis=1)
    assert predictability(Z, y, standardize=standardize) == predictability(X, y, standardize=standardize)
    assert hsic(Z, y, standardize=standardize) == pytest.approx(hsic(X, y, standardize=standardize), rel=1e-12)


def test_kept_column_that_hardly_varies_conditions_the_scores():
    X, y = drawn(m=200)
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(rare=np.arange(200) == 7)
    kept = BAHSIC(3, criterion="prediction", keep=["rare"]).fit(frame, y)
    assert kept.columns_[6].role == "category"
    assert kept.support_[6]
    without = BAHSIC(3, criterion="prediction").fit(frame, y)
    assert without.columns_[6].role == "uninformative"
    assert without.scores_[6] == 0
    assert not without.support_[6]
    assert not np.allclose(kept.scores_[:6], without.scores_[:6])


def test_random_category_of_many_levels_is_left_out_and_a_real_one_found():
    X, y = drawn(m=400)
    random = np.random.default_rng(3)
    zip_code, place = random.permutation(400) % 80, random.integers(0, 25, 400)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["zip"] = pd.Categorical(zip_code.astype(str))
    frame["place"] = pd.Categorical(place.astype(str))
    fitted = FeatureSelector(kernel="gaussian").fit(frame, y + random.standard_normal(25)[place])
    roles = {role.name: role for role in fitted.columns_}
    assert roles["zip"].role == "uninformative"
    assert roles["zip"].reason == "80 categories, unrelated to the target"
    assert fitted.get_feature_names_out().tolist() == ["a", "b", "place"]


def with_gaps(values, share, random):
    return np.where(random.random(len(values)) < share, np.nan, values)


def test_a_column_with_some_gaps_may_matter_only_together_with_another():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.standard_normal((400, 4)), columns=list("abcd"))
    y = np.where(frame["a"] * frame["b"] > 0, "yes", "no")
    frame["a"] = with_gaps(frame["a"], 0.3, random)
    fitted = FeatureSelector(kernel="gaussian").fit(frame, y)
    assert fitted.get_feature_names_out().tolist() == ["a", "b"]


@pytest.mark.parametrize("share", [0.6, 0.9])
def test_noise_with_many_gaps_is_left_out_and_a_predictor_found(share):
    random = np.random.default_rng(1)
    frame = pd.DataFrame(random.standard_normal((400, 5)), columns=list("abcde"))
    score = with_gaps(random.standard_normal(400), share, random)
    y = frame["a"] + frame["b"] * frame["c"] + 1.5 * np.nan_to_num(score) + 0.7 * random.standard_normal(400)
    for j in range(3):
        frame[f"gaps {j}"] = with_gaps(random.standard_normal(400), share, random)
    fitted = FeatureSelector(kernel="gaussian").fit(frame.assign(score=score), np.where(y > 0, "yes", "no"))
    roles = {role.name: role for role in fitted.columns_}
    assert [roles[f"gaps {j}"].role for j in range(3)] == ["uninformative"] * 3
    n = int(np.round(100 * frame["gaps 1"].isna().mean()))
    assert roles["gaps 1"].reason == f"{n}% of the entries missing, and the others unrelated to the target"
    assert roles["score"].role == "number"
    assert "score" in fitted.get_feature_names_out()
    indicator = FeatureSelector(2, kernel="gaussian", missing="indicator", cv=None).fit(frame, y)
    assert not any(role.left_out for role in indicator.columns_)  # there missing entries are alike


def test_a_useful_feature_takes_the_place_of_a_useless_one():
    random = np.random.default_rng(0)
    X = random.standard_normal((400, 6))
    y = X[:, 0] + 0.5 * X[:, 1] + 0.5 * random.standard_normal(400) > 0
    random.random((3, 400))
    gone = random.random(400) < 0.95
    gaps = np.where(gone, np.nan, random.standard_normal(400))  # of an array, whose columns are not tested
    fitted = FeatureSelector(kernel="gaussian").fit(np.column_stack([X, gaps]), y)
    assert_array_equal(fitted.get_support(indices=True), [0, 1])
    assert (fitted.scores_[fitted.support_] > 0.05).all()


def test_every_selected_feature_has_a_positive_worth():
    pruned = 0
    for seed in range(3):
        random = np.random.default_rng(seed)
        X = random.standard_normal((60, 40))
        X[:, 20:] = X[:, :20] + 0.3 * random.standard_normal((60, 20))
        y = X[:, :8].sum(axis=1) + random.standard_normal(60)
        fitted = BAHSIC("auto", criterion="prediction").fit(X, y)
        if fitted.predicts_:
            assert (fitted.scores_[fitted.support_] > 0).all()
            assert fitted.n_features_ == fitted.support_.sum()
            (why,) = (step.reason for step in fitted.path_ if step.reason)
            assert why.startswith(f"{fitted.n_features_} of 40 features are enough")
            pruned += "that added nothing" in why
    assert pruned


def test_number_that_was_asked_for_is_kept():
    X, y = drawn()
    fitted = BAHSIC(5, criterion="prediction", cv="auto").fit(X, y)
    assert fitted.n_features_ == 5
    assert (fitted.scores_[fitted.support_] <= 0).any()


def test_front_door_has_the_defaults_of_the_paths_beyond_the_paper():
    X, y = drawn()
    front = FeatureSelector().fit(X, y)
    long = BAHSIC("auto", criterion="prediction", kernel="auto", cv="auto").fit(X, y)
    assert_array_equal(front.support_, long.support_)
    assert_array_equal(front.scores_, long.scores_)
    assert front.predictability_ == long.predictability_


def test_summary_and_report(tmp_path):
    X, y = drawn()
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(again=X[:, 0])
    selector = FeatureSelector().fit(frame, pd.Series(y, name="growth"))
    table = selector.summary()
    assert table["feature"].tolist()[:2] == ["b", "a"]  # by worth
    assert table["selected"].tolist() == [True, True, False, False, False, False]
    worth = table["worth"].to_numpy()
    assert worth[0] > worth[1] > 0
    assert table["folds"].tolist()[:2] == [5, 5]
    assert table["alone"][1] == pytest.approx(predictability(frame[["b"]], y, kernel=selector.kernel_), abs=0.01)
    page, features = selector.report(tmp_path / "growth.html")
    assert "2 of 6 features predict" in page.read_text()
    assert "same as a" in page.read_text()
    assert features.name == "growth_features.csv"


def test_worth_is_measured_for_the_next_in_order_and_blank_for_the_others(tmp_path):
    X, y = drawn(d=30)
    frame = pd.DataFrame(X).add_prefix("x").assign(again=X[:, 0], same=1.0)
    with pytest.warns(UserWarning, match="constant"):
        selector = FeatureSelector(kernel="gaussian").fit(frame, y)
    table = selector.summary()
    assert selector.get_feature_names_out().tolist() == ["x0", "x1"]
    assert table["worth"].notna().tolist() == [True] * 26 + [False] * 4
    _, features = selector.report(tmp_path / "page.html")
    written = pd.read_csv(features)
    assert written["relevance"].notna().tolist() == (written["feature"].isin(table["feature"][:26])).tolist()
    bars = [label.get_text() for label in plot_scores(selector).get_yticklabels()]
    assert bars == table.sort_values("worth", ascending=False)["feature"].tolist()[: len(bars)]


def test_views_agree_where_nothing_predicts(tmp_path):
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.standard_normal((80, 4)), columns=list("abcd"))
    y = np.r_[random.integers(0, 3, 77), 3, 4, 5]
    with pytest.warns(UserWarning, match="no subset of the 4 features"):
        selector = FeatureSelector(kernel="gaussian", target_kernel="multiclass").fit(frame, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nor do classes of one sample each matter here
        table = selector.summary()
    assert not table["selected"].any()
    assert table["worth"].isna().all()
    assert table.loc[table["kept"], "feature"].tolist() == selector.get_feature_names_out().tolist()
    _, features = selector.report(tmp_path / "page.html")
    assert not pd.read_csv(features)["selected"].any()


def test_the_name_of_a_column_is_no_target():
    with pytest.raises(TypeError, match=r"y is 'b'; accepted: .* fit\(X.drop\(columns='b'\), X\['b'\]\)"):
        FeatureSelector(kernel="gaussian").fit(pd.DataFrame({"a": [1.0, 2.0], "b": [0, 1]}), "b")


def test_few_samples_show_no_leak():
    X = np.random.default_rng(0).standard_normal((8, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = FeatureSelector(kernel="linear").fit(X, X[:, 0])
    assert fitted.leaks_ == ()


def test_a_skewed_target_that_is_not_clearly_predicted():
    random = np.random.default_rng(0)
    X = random.standard_normal((400, 6))
    z = X[:, 0] + 0.5 * X[:, 1] + 0.5 * random.standard_normal(400)
    with pytest.warns(UserWarning, match=SKEWED):
        assert not FeatureSelector().fit(X, np.exp(2 * z)).predicts_
    assert FeatureSelector(kernel="gaussian").fit(X, z).predicts_


def test_leak_is_told_of():
    X, y = drawn()
    for leak in (np.exp(y), -3 * y):
        with pytest.warns(UserWarning, match="x6 looks like a leak"):
            fitted = FeatureSelector(kernel="gaussian").fit(np.column_stack([X, leak]), y)
        assert fitted.leaks_ == ("x6",)
    classes = np.where(y > 0, "ill", "well")
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(code=np.where(y > 0, "C50", "Z00"))
    with pytest.warns(UserWarning, match="code looks like a leak"):
        assert FeatureSelector(kernel="gaussian").fit(frame, classes).leaks_ == ("code",)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert FeatureSelector(kernel="gaussian").fit(X, y).leaks_ == ()


def test_the_command_selects_the_same(tmp_path, capsys):
    X, y = drawn(m=150)
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(shop=np.where(X[:, 2] > 0, "old", "new"), again=2 * X[:, 0])
    frame.loc[::9, "b"] = np.nan
    frame.assign(growth=y).to_csv(tmp_path / "t.csv", index=False)
    assert main(["select", str(tmp_path / "t.csv"), "--target", "growth", "--json", "--quiet"]) == 0
    found = json.loads(capsys.readouterr().out)
    selector = FeatureSelector().fit(frame, y)
    assert found["selected"] == selector.summary().query("selected")["feature"].tolist()
    assert found["predictability"] == pytest.approx(selector.predictability_, abs=1e-9)
    worth = {row["column"]: row["relevance"] for row in found["ranking"]}
    assert worth.pop(7) is None  # the copy
    assert list(worth.values()) == pytest.approx(selector.scores_[list(worth)], abs=1e-9)
    assert found["headline"].startswith(f"{selector.n_features_} of 7 features predict growth")


def test_a_pickle_has_no_data():
    X, y = drawn()
    selector = pickle.loads(pickle.dumps(FeatureSelector().fit(X, y)))
    assert_array_equal(selector.transform(X), X[:, selector.support_])
    with pytest.raises(ValueError, match="the selector is from a pickle, which has no data"):
        selector.summary()


@pytest.mark.parametrize("criterion", ["hsic", "prediction"])
def test_a_table_of_nothing_but_a_random_category_says_that_nothing_predicts(criterion):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"zip": pd.Categorical(random.integers(0, 40, 120).astype(str)), "same": 1.0})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = BAHSIC("auto", criterion=criterion).fit(frame, random.standard_normal(120))
    assert not fitted.predicts_
    assert fitted.get_feature_names_out().tolist() == ["zip"]
