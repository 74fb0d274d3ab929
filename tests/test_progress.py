"""Progress on stderr and through scikit-learn's callbacks, and silence without them."""

import re

import numpy as np
import pytest
import tqdm

from bahsic import BAHSIC
from bahsic.criteria import Criterion
from selecting import SELECTORS


@pytest.fixture
def callback():
    return pytest.importorskip("sklearn.callback", reason="scikit-learn < 1.9 has no callbacks")


class Recorder:
    """A callback that records its calls."""

    def __init__(self):
        self.calls = []

    def setup(self, estimator, context):
        self.calls.append(("setup", context.task_name, context.max_subtasks))

    def teardown(self, estimator, context):
        self.calls.append(("teardown", context.task_name, context.max_subtasks))

    def on_fit_task_begin(self, estimator, context, **data):
        self.calls.append(("begin", context.task_name, context.task_id))

    def on_fit_task_end(self, estimator, context, **data):
        self.calls.append(("end", context.task_name, context.task_id))


@pytest.fixture
def no_delay(monkeypatch):
    """Bars that appear at once."""
    bar = tqdm.tqdm
    monkeypatch.setattr(tqdm, "tqdm", lambda **options: bar(**options | {"delay": 0}))


def drawn():
    rng = np.random.default_rng(0)
    return rng.normal(size=(30, 7)), np.resize([0, 1], 30)


@SELECTORS
@pytest.mark.parametrize("options", [{"step": 1}, {"step": 0.5}, {"cv": 3}, {"cv": 3, "kernel": "auto", "n_jobs": 2}])
def test_one_task_for_the_fit_and_a_hundred_for_its_parts(callback, selector, options):
    recorder = Recorder()
    assert isinstance(recorder, callback.FitCallback)
    selector(**options).set_callbacks(recorder).fit(*drawn())
    assert recorder.calls[:2] == [("setup", "fit", 100), ("begin", "fit", 0)]
    assert recorder.calls[-2:] == [("end", "fit", 0), ("teardown", "fit", 100)]
    assert recorder.calls[2:-2] == [(what, "part", number) for number in range(100) for what in ("begin", "end")]


@SELECTORS
@pytest.mark.parametrize("cv", [None, 3])
def test_callbacks_change_nothing(callback, selector, cv):
    X, y = drawn()
    plain, watched = selector(cv=cv).fit(X, y), selector(cv=cv).set_callbacks(Recorder()).fit(X, y)
    assert plain.path_ == watched.path_
    assert np.array_equal(plain.ranking_, watched.ranking_)
    pytest.importorskip("rich", reason="the progress bar of scikit-learn needs rich")
    assert selector(cv=cv).set_callbacks(callback.ProgressBar()).fit(X, y).support_.sum() == 3


@SELECTORS
@pytest.mark.parametrize("verbose", [0, 1])
def test_short_fits_print_nothing(selector, verbose, capsys):
    selector(verbose=verbose).fit(*drawn())
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "%" not in captured.err
    assert verbose or captured.err == ""


@SELECTORS
@pytest.mark.parametrize("options", [{}, {"cv": 3}, {"kernel": "auto"}, {"cv": 2, "step": 2, "n_jobs": 2}])
def test_the_bar_ends_at_the_whole_work_and_never_falls(selector, options, no_delay, capsys):
    selector(3, verbose=1, **options).fit(*drawn())
    shares = [int(share) for share in re.findall(r"selecting features +(\d+)%", capsys.readouterr().err)]
    assert shares
    assert shares == sorted(shares)
    assert max(shares) <= 100


class Failing(Criterion):
    """A criterion that fails in the middle of a search."""

    def fit(self, X, Y, sample_weight=None):
        return self

    def score(self, columns):
        if len(columns) < 4:
            raise RuntimeError("no")
        return 1.0


def test_the_bar_is_erased_when_a_fit_fails(no_delay, capsys):
    with pytest.raises(RuntimeError, match="no"):
        BAHSIC(criterion=Failing(), verbose=1).fit(*drawn())
    assert capsys.readouterr().err.endswith("\r")
