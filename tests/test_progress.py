"""Progress through scikit-learn's callbacks, and silence without them."""

import warnings

import numpy as np
import pytest

from bahsic import BAHSIC, FOHSIC
from bahsic.selection.progress import reported

SELECTORS = pytest.mark.parametrize("selector", [BAHSIC, FOHSIC])


@pytest.fixture
def callback():
    return pytest.importorskip("sklearn.callback", reason="scikit-learn < 1.9 has no callbacks")


class Recorder:
    """A callback that notes what it is told."""

    def __init__(self):
        self.told = []

    def setup(self, estimator, context):
        self.told.append(("setup", context.task_name, context.max_subtasks))

    def teardown(self, estimator, context):
        self.told.append(("teardown", context.task_name, context.max_subtasks))

    def on_fit_task_begin(self, estimator, context, **data):
        self.told.append(("begin", context.task_name, context.task_id))

    def on_fit_task_end(self, estimator, context, **data):
        self.told.append(("end", context.task_name, context.task_id))


def drawn():
    rng = np.random.default_rng(0)
    return rng.normal(size=(30, 7)), np.resize([0, 1], 30)


@SELECTORS
@pytest.mark.parametrize("step", [1, 3, 0.5])
def test_one_task_for_the_fit_and_one_for_each_round(callback, selector, step):
    recorder = Recorder()
    assert isinstance(recorder, callback.FitCallback)
    fitted = selector(step=step).set_callbacks(recorder).fit(*drawn())
    n_rounds = len(fitted.path_)
    assert recorder.told[0] == ("setup", "fit", n_rounds)
    assert recorder.told[1] == ("begin", "fit", 0)
    assert recorder.told[-2:] == [("end", "fit", 0), ("teardown", "fit", n_rounds)]
    rounds = [(what, name, number) for what, name, number in recorder.told[2:-2]]
    assert rounds == [(what, "round", number) for number in range(n_rounds) for what in ("begin", "end")]


@SELECTORS
def test_callbacks_change_nothing(callback, selector):
    X, y = drawn()
    plain, watched = selector().fit(X, y), selector().set_callbacks(Recorder()).fit(X, y)
    assert plain.path_ == watched.path_
    assert np.array_equal(plain.ranking_, watched.ranking_)


@SELECTORS
def test_progress_bar(callback, selector):
    pytest.importorskip("rich", reason="the progress bar of scikit-learn needs rich")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = selector().set_callbacks(callback.ProgressBar()).fit(*drawn())
    assert fitted.support_.sum() == 3


@SELECTORS
def test_nothing_is_printed_without_callbacks(selector, capsys):
    selector().fit(*drawn())
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_rounds_pass_unchanged_where_there_are_no_callbacks():
    assert list(reported(object(), iter("abc"), 3, None, None)) == ["a", "b", "c"]
