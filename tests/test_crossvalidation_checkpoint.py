"""Checkpoints of BAHSICCV: an interrupted search continues, and a folder of another search is refused."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, ShuffleSplit

from bahsic import BAHSICCV
from selecting import drawn, watch_rounds

FOLDS = [f"gaussian/fold-{number}" for number in (1, 2, 3)]
NAMES = {"gaussian", "all", "bahsic-crossvalidation.json"}


class Counted(LogisticRegression):
    """Counts its fits, and is interrupted in one of them."""

    n_fits = 0
    last = None

    def fit(self, X, y, sample_weight=None):
        Counted.n_fits += 1
        if Counted.n_fits == Counted.last:
            raise KeyboardInterrupt
        return super().fit(X, y, sample_weight)


@pytest.fixture(autouse=True)
def counted(monkeypatch):
    monkeypatch.setattr(Counted, "n_fits", 0)
    monkeypatch.setattr(Counted, "last", None)


@pytest.fixture
def rounds(monkeypatch):
    """Numbers of rounds in all files that were written."""
    return watch_rounds(monkeypatch)


def search(folder=None, **changes):
    return BAHSICCV(Counted(), **({"cv": KFold(3), "step": 0.5, "checkpoint": folder} | changes))


def same(one, other):
    assert one.cv_results_.keys() == other.cv_results_.keys()
    for name, values in one.cv_results_.items():
        assert np.array_equal(values, other.cv_results_[name])
    for name in ("support_", "ranking_"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
    assert one.selector_.path_ == other.selector_.path_
    assert np.array_equal(one.estimator_.coef_, other.estimator_.coef_)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"criterion": "prediction"},
        {"block_size": 8, "random_state": 0},
        {"feature_groups": [0, 0, 1, 1, 2, 2, 3, 3], "keep": [5], "step": 1},
    ],
    ids=str,
)
def test_an_interrupted_search_continues(options, tmp_path, monkeypatch, rounds):
    X, y = drawn(60)
    whole = search(tmp_path / "whole", **options).fit(X, y)
    n_fits, n_rounds = Counted.n_fits, len(rounds)
    sizes = len(whole.cv_results_["n_features"])
    last = sizes + 2  # the second size of the second fold
    monkeypatch.setattr(Counted, "n_fits", 0)
    monkeypatch.setattr(Counted, "last", last)
    folder = tmp_path / "interrupted"
    interrupted = search(folder, **options)
    before = dict(vars(interrupted))
    with pytest.raises(KeyboardInterrupt):
        interrupted.fit(X, y)
    assert vars(interrupted) == before
    assert len(rounds) == n_rounds + 2 * (n_rounds // 4)  # of two folds
    monkeypatch.setattr(Counted, "n_fits", 0)
    monkeypatch.setattr(Counted, "last", None)
    same(search(folder, n_jobs=1, **options).fit(X, y), whole)
    assert len(rounds) == 2 * n_rounds  # the third fold and all data
    assert Counted.n_fits == n_fits - last + 1  # from the one that was interrupted
    assert {path.name for path in folder.iterdir()} == NAMES


def test_a_finished_search_is_read_from_its_folder(tmp_path, rounds):
    X, y = drawn(60)
    first = search(tmp_path).fit(X, y, np.linspace(0.5, 2, 60))
    n_rounds = len(rounds)
    again = search(str(tmp_path)).fit(X, y, np.linspace(0.5, 2, 60))
    same(again, first)
    assert len(rounds) == n_rounds
    assert Counted.n_fits == 3 * 4 + 1 + 1  # only the last one, to the selected columns, was made twice
    assert again.selector_.checkpoint == tmp_path / "all"
    assert again.checkpoint == str(tmp_path)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"cv": KFold(4)}, "splits"),
        ({"cv": ShuffleSplit(3)}, "splits"),
        ({"step": 2}, r"step \(0.5 there, 2 here\)"),
        ({"estimator": Counted(C=2)}, "estimator"),
        ({"scoring": "roc_auc"}, r"scoring \(None there, 'roc_auc' here\)"),
        ({"one_standard_error": True}, r"one_standard_error \(False there, True here\)"),
    ],
    ids=str,
)
def test_a_folder_of_another_search_is_refused(changes, named, tmp_path):
    X, y = drawn(60)
    search(tmp_path).fit(X, y)
    other = search(tmp_path).set_params(**changes)
    with pytest.raises(
        ValueError, match=f"^checkpoint has the file .*validation.json of another fit.* in {named}; acc"
    ):
        other.fit(X, y)


@pytest.mark.parametrize("name", ["bahsic-scores.json", "bahsic-checkpoint.json"])
def test_a_damaged_file_is_refused(name, tmp_path):
    X, y = drawn(60)
    search(tmp_path).fit(X, y)
    path = tmp_path / FOLDS[0] / name
    path.write_text(path.read_text().replace("0.", "0.1", 1))
    with pytest.raises(ValueError, match=f"^checkpoint has the file .*fold-1/{name}, which is damaged"):
        search(tmp_path).fit(X, y)


def test_files_of_another_fold_are_refused(tmp_path):
    X, y = drawn(60)
    search(tmp_path).fit(X, y)
    (tmp_path / FOLDS[0] / "bahsic-scores.json").replace(tmp_path / FOLDS[1] / "bahsic-scores.json")
    named = r"fold-2/bahsic-scores.json of another fit.*part \(gaussian/fold-1 there, gaussian/fold-2 here\)"
    with pytest.raises(ValueError, match=named):
        search(tmp_path).fit(X, y)
