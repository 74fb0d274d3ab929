"""Progress on a stream and through scikit-learn's callbacks, and silence without them."""

import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from io import StringIO

import numpy as np
import pytest

from bahsic import BAHSIC, FOHSIC
from bahsic.selection import progress
from bahsic.selection.progress import Progress, in_words, reported

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
@pytest.mark.parametrize("options", [{"step": 1}, {"step": 0.5}, {"cv": 3}, {"cv": 3, "kernel": "auto", "n_jobs": 2}])
def test_one_task_for_the_fit_and_a_hundred_for_its_parts(callback, selector, options):
    recorder = Recorder()
    assert isinstance(recorder, callback.FitCallback)
    selector(**options).set_callbacks(recorder).fit(*drawn())
    assert recorder.told[:2] == [("setup", "fit", 100), ("begin", "fit", 0)]
    assert recorder.told[-2:] == [("end", "fit", 0), ("teardown", "fit", 100)]
    assert recorder.told[2:-2] == [(what, "part", number) for number in range(100) for what in ("begin", "end")]


@SELECTORS
@pytest.mark.parametrize("cv", [None, 3])
def test_callbacks_change_nothing(callback, selector, cv):
    X, y = drawn()
    plain, watched = selector(cv=cv).fit(X, y), selector(cv=cv).set_callbacks(Recorder()).fit(X, y)
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


@SELECTORS
@pytest.mark.parametrize("options", [{}, {"cv": 3}, {"kernel": "auto"}, {"cv": 2, "step": 2, "n_jobs": 2}])
def test_the_work_is_known_beforehand(selector, options, monkeypatch):
    made = []

    class Watched(Progress):
        def __init__(self, total, *others):
            super().__init__(total, *others)
            self.total, self.done = total, 0
            made.append(self)

        def advance(self, amount):
            super().advance(amount)
            self.done += amount

    monkeypatch.setattr(progress, "Progress", Watched)
    selector(3, **options).fit(*drawn())
    assert [(one.total, one.done) for one in made] == [(made[0].total, made[0].total)]


class Terminal(StringIO):
    def isatty(self):
        return True


def test_lines_after_two_seconds_and_every_five():
    stream, clock = StringIO(), iter([0.0, 1.9, 2.0, 6.9, 7.0, 8.0])
    shown = Progress(100, stream, clock=lambda: next(clock))
    for _ in range(5):
        shown.advance(20)
    shown.close()
    assert stream.getvalue() == "40% done, about 3 s left\n80% done, about 2 s left\n"


def test_the_time_left_never_rises_and_the_end_is_told_once():
    stream, clock = StringIO(), iter([0.0, 10.0, 100.0, 110.0, 120.0, 130.0])
    shown = Progress(100, stream, clock=lambda: next(clock))
    for amount in (50, 10, 40, 5, 5):
        shown.advance(amount)
    shown.close()
    told = ["50% done, about 10 s left", "60% done, about 10 s left", "99% done, about 1 s left"]
    assert stream.getvalue().splitlines() == told


def test_one_line_on_a_terminal_is_drawn_again_and_erased(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    stream, clock = Terminal(), iter([0.0, 3.0, 3.1, 6.0])
    shown = Progress(4, stream, clock=lambda: next(clock))
    for _ in range(3):
        shown.advance(1)
    shown.close()
    drawings = ["\r25% done, about 9 s left\x1b[K", "\r75% done, about 2 s left\x1b[K", "\r\x1b[K"]
    assert stream.getvalue() == "".join(drawings)


def test_nothing_is_erased_where_nothing_was_drawn():
    stream = Terminal()
    shown = Progress(4, stream)
    shown.advance(4)
    shown.close()
    assert stream.getvalue() == ""


def test_the_line_is_erased_when_a_fit_fails(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "_SILENT", 0.0)
    monkeypatch.setattr(sys, "stderr", Terminal())
    with suppress(RuntimeError), reported(object(), 3, None, None, verbose=True) as shown:
        shown.advance(1)
        raise RuntimeError("no")
    assert sys.stderr.getvalue().endswith("left\x1b[K\r\x1b[K")


@pytest.mark.parametrize("total", [0, 1, 7, 1000])
def test_threads_make_each_task_once(total):
    tasks = []
    shown = Progress(total, task=lambda: tasks.append(len(tasks)))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: shown.advance(1), range(max(total, 1))))
    shown.advance(1)  # more than there was to do
    assert tasks == list(range(100))


def test_times_in_words_at_the_limits():
    found = [in_words(seconds) for seconds in (9.9, 10.1, 92, 93, 599, 600.5, 5399, 5401)]
    assert found == ["10 s", "10 s", "90 s", "2 min", "10 min", "10 min", "90 min", "1.5 h"]
