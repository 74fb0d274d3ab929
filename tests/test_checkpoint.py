"""Checkpoints: a search that was interrupted goes on to the same selection; what does not belong to it is refused."""

import importlib.metadata
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from itertools import cycle, product

import numpy as np
import pytest
from sklearn import config_context

from bahsic import BAHSIC, FOHSIC
from bahsic.kernels import Gaussian
from pairwise import pairwise
from selecting import ROUNDS as NAME
from selecting import StoppedError, assert_same_selection, drawn, same_fit, watch_rounds

IDS = [0, 0, 1, 1, 2, 2, 3, 3]


OPTIONS = [
    {},
    {"step": 1, "standard_errors": True},
    {"kernel": "laplacian"},
    {"kernel": "polynomial"},
    {"kernel": "linear"},
    {"kernel": "inverse_distance"},
    {"kernel": Gaussian("median")},
    {"feature_groups": [[0, 1], [2, 3, 4]], "step": 1},
    {"keep": [3, 5]},
    {"block_size": 12, "random_state": 0},
    {"standardize": False, "step": 1},
    {"standardize": False, "step": 1, "kernel": "laplacian"},
]

RULE = {"criterion": "prediction", "step": 2}
SEARCHES = [
    {"n_features_to_select": 2, **RULE},
    {"n_features_to_select": "auto", "step": 2},
    {"n_features_to_select": "auto", "kernel": "auto", **RULE},
    {"n_features_to_select": 3, "kernel": "auto", "step": 2},
    {"n_features_to_select": "auto", "block_size": 20, "random_state": 0, **RULE},
    {"n_features_to_select": 3, "block_size": 12, "random_state": 0, "kernel": "laplacian", **RULE, "step": 1},
]


@pytest.mark.parametrize(
    ("selector", "options"), [*zip(cycle([BAHSIC, FOHSIC]), OPTIONS), *product([BAHSIC, FOHSIC], SEARCHES)], ids=str
)
def test_any_round_can_be_the_last_before_an_interruption(selector, options, tmp_path, monkeypatch):
    X, y = drawn(m=50, d=8)
    X[:, 2] *= 1e9  # where it is not standardised, it dominates
    options = {"n_features_to_select": 2, **options}
    whole = selector(**options).fit(X, y)
    for n_rounds in range(1, len(whole.path_) + 1):
        folder = tmp_path / str(n_rounds)
        for _ in range(1 + (options.get("kernel") == "auto")):  # each kernel has a search of its own
            with monkeypatch.context() as patched:
                watch_rounds(patched, [n_rounds])
                with pytest.raises(StoppedError):
                    selector(**options, checkpoint=folder).fit(X, y)
        for n_jobs in (2, None):  # to the end, and read
            assert_same_selection(selector(**options, checkpoint=folder, n_jobs=n_jobs).fit(X, y), whole)


@pairwise(
    selector=[BAHSIC, FOHSIC],
    options=[{}, {"keep": [0, 5]}, {"keep": range(8)}, {"feature_groups": IDS}, {"feature_groups": IDS, "keep": 7}],
    step=[1, 2, 0.4],
    number=[None, 1.0],
)
def test_a_finished_search_is_read_at_once(selector, options, step, number, tmp_path, monkeypatch):
    X, y = drawn()
    options = {"step": step, "n_features_to_select": number, **options}
    whole = selector(checkpoint=tmp_path, **options).fit(X, y)
    written = watch_rounds(monkeypatch)
    assert same_fit(selector(checkpoint=str(tmp_path), **options).fit(X, y), whole)
    assert (written, [path.name for path in tmp_path.iterdir()]) == ([], [NAME])


def test_resuming_does_only_what_is_left(tmp_path, monkeypatch):
    X, y = drawn()
    written = watch_rounds(monkeypatch, [3])
    for stopped in (True, False):
        with pytest.raises(StoppedError) if stopped else nullcontext():
            BAHSIC(2, step=1, checkpoint=tmp_path).fit(X, y)
    assert written == [1, 2, 3, 4, 5, 6, 7, 8]


def changed_file(folder, change):
    path = folder / NAME
    path.write_text(change(path.read_text()))


DAMAGES = {
    "cut": lambda text: text[: len(text) // 2],
    "empty": lambda text: "",
    "digit": lambda text: text.replace("0.1", "0.2", 1) if "0.1" in text else text.replace("1", "2", 1),
    "list": lambda text: "[1, 2]",
    "format": lambda text: text.replace('"format": 6', '"format": 5'),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_refused(damage, tmp_path):
    X, y = drawn()
    BAHSIC(2, checkpoint=tmp_path).fit(X, y)
    before = (tmp_path / NAME).read_text()
    changed_file(tmp_path, DAMAGES[damage])
    assert (tmp_path / NAME).read_text() != before
    with pytest.raises(ValueError, match=r"checkpoint has the file .*which is damaged; delete it to start again"):
        BAHSIC(2, checkpoint=tmp_path).fit(X, y)


def test_what_an_interrupted_write_leaves_behind_does_not_matter(tmp_path):
    X, y = drawn()
    whole = BAHSIC(2, checkpoint=tmp_path).fit(X, y)
    (tmp_path / ".bahsic-killed").mkdir()
    (tmp_path / ".bahsic-killed" / NAME).write_text("{")
    assert same_fit(BAHSIC(2, checkpoint=tmp_path).fit(X, y), whole)


def test_two_fits_in_one_folder_write_drafts_of_their_own(tmp_path):
    X, y = drawn()
    with ThreadPoolExecutor(4) as pool:
        fits = list(pool.map(lambda _: BAHSIC(2, step=1, checkpoint=tmp_path).fit(X, y), range(12)))
    for fitted in fits:
        assert_same_selection(fitted, fits[0])
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


def test_a_round_is_on_the_disk_before_it_takes_the_name_and_the_name_after(tmp_path, monkeypatch):
    synced = []

    def recorded(descriptor):
        synced.append((os.fstat(descriptor).st_ino, (tmp_path / NAME).exists()))

    monkeypatch.setattr(os, "fsync", recorded)
    BAHSIC(keep=range(8), checkpoint=tmp_path).fit(*drawn())  # one round
    folder = [(tmp_path.stat().st_ino, True)] if os.name == "posix" else []
    assert synced == [((tmp_path / NAME).stat().st_ino, False), *folder]


def rule(X):
    return 0.25


def other_rule(X):
    return 0.25 + 0 * len(X)


FOREIGN = {
    "X": lambda X, y: (BAHSIC(2), X + 1e-9, y),
    "y": lambda X, y: (BAHSIC(2), X, 1 - y),
    "step": lambda X, y: (BAHSIC(2, step=0.3), X, y),
    "selector": lambda X, y: (FOHSIC(2, step=0.1), X, y),
    "kernel": lambda X, y: (BAHSIC(2, kernel=Gaussian(0.5)), X, y),
    "statistic": lambda X, y: (BAHSIC(2, statistic="biased"), X, y),
    "n_features_to_select": lambda X, y: (BAHSIC(3), X, y),
    "criterion": lambda X, y: (BAHSIC(2, criterion="prediction"), X, y),
    "ridge": lambda X, y: (BAHSIC(2, ridge=0.1), X, y),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_the_file_of_another_fit_is_refused_and_says_in_what_it_differs(name, tmp_path):
    X, y = drawn()
    BAHSIC(2, checkpoint=tmp_path).fit(X, y)
    selector, X, y = FOREIGN[name](X, y)
    with pytest.raises(ValueError, match=rf"of another fit, which differs in (.*, )?{name}\b.*; accepted: the folder"):
        selector.set_params(checkpoint=tmp_path).fit(X, y)


def test_functions_weights_and_working_memory_are_told_apart(tmp_path):
    X, y = drawn()
    BAHSIC(2, kernel=Gaussian(rule), checkpoint=tmp_path).fit(X, y)
    BAHSIC(2, kernel=Gaussian(rule), checkpoint=tmp_path).fit(X, y)
    with pytest.raises(ValueError, match="differs in kernel"):
        BAHSIC(2, kernel=Gaussian(other_rule), checkpoint=tmp_path).fit(X, y)
    with pytest.raises(ValueError, match="differs in y, sample_weight"):
        BAHSIC(2, kernel=Gaussian(rule), checkpoint=tmp_path).fit(X, y, sample_weight=np.full(len(y), 2.0))
    with config_context(working_memory=7), pytest.raises(ValueError, match=r"working_memory \(1024 there, 7 here\)"):
        BAHSIC(2, kernel=Gaussian(rule), checkpoint=tmp_path).fit(X, y)


def test_other_versions_are_refused(tmp_path, monkeypatch):
    X, y = drawn()
    BAHSIC(2, checkpoint=tmp_path).fit(X, y)
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "0.0.1")
    with pytest.raises(ValueError, match=r"differs in bahsic \(.* there, 0\.0\.1 here\), numpy"):
        BAHSIC(2, checkpoint=tmp_path).fit(X, y)


def test_blocks_want_a_seed(tmp_path):
    X, y = drawn()
    with pytest.raises(ValueError, match="random_state is None; accepted with block_size and checkpoint"):
        BAHSIC(2, block_size=10, checkpoint=tmp_path).fit(X, y)
    BAHSIC(2, block_size=10, random_state=0, checkpoint=tmp_path).fit(X, y)
    with pytest.raises(ValueError, match="differs in y, random_state"):
        BAHSIC(2, block_size=10, random_state=1, checkpoint=tmp_path).fit(X, y)


def test_no_folder(tmp_path):
    X, y = drawn()
    with pytest.raises(TypeError, match="checkpoint is 3; accepted: None or a folder"):
        BAHSIC(2, checkpoint=3).fit(X, y)
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="file', a file; accepted: None or a folder"):
        BAHSIC(2, checkpoint=tmp_path / "file").fit(X, y)
