"""The time left: the estimate on rounds whose times are known, and what a fit says of it."""

import io
import math
import re
import sys
import time

import numpy as np
import pytest

from bahsic import BAHSIC, FOHSIC, selection_test
from bahsic.selection import progress
from bahsic.selection.progress import Progress, progress_words
from bahsic.selection.search import round_size
from bahsic.selection.time_left import Work, estimate, in_words, round_constant
from selecting import SELECTORS, drawn


def backward_sizes(d, step):
    sizes = []
    while d:
        sizes.append(d)
        d -= round_size(step, d)
    return sizes


def times_of(plan, constant, fit, first=1.0, speeds=(1.0,), seed=0):
    """Seconds of rounds: one for a feature, more for a regression and those of candidates, and a tenth of noise."""
    rng = np.random.default_rng(seed)
    begin = [at == 0 or plan[at - 1].search != work.search for at, work in enumerate(plan)]
    return [
        speeds[work.search]
        * (work.candidates + constant * (1 + fit * work.fits))
        * (first if starts else 1)
        * rng.uniform(0.9, 1.1)
        for work, starts in zip(plan, begin, strict=True)
    ]


# Measured: a round costs as much as 90 to 500 candidates without a regression, and 1000 with one of 1000 samples;
# that of a candidate costs 0.3 to 0.5 of it; the first round takes two to four times as long.
HSIC = [(False, constant, 0, first) for constant in (90, 200, 500) for first in (1, 2, 4)]
PREDICTION = [(True, constant, fit, first) for constant in (300, 1000, 4000) for fit in (0.3, 0.5) for first in (2, 4)]


@pytest.mark.parametrize(("regression", "constant", "fit", "first"), HSIC + PREDICTION)
@pytest.mark.parametrize(("d", "step"), [(14, 0.1), (200, 0.1), (2000, 0.1), (100, 1)])
def test_the_estimate_is_not_far_off(d, step, regression, constant, fit, first):
    plan = [Work(n, min(8, n) if fit and n <= 16 else 0) for n in backward_sizes(d, step)]
    times = times_of(plan, constant, fit, first)
    guess = round_constant(1000, regression=regression)
    for done in range(1, len(plan)):
        left = sum(times[done:])
        found = estimate(plan, times[:done], guess)
        assert left / 5 < found.seconds_left < 5 * left
        if sum(times[:done]) > 0.2 * sum(times) and left > 0.05 * sum(times):
            assert left / 2.5 < found.seconds_left < 2.5 * left
        assert 0 <= found.share <= 1


def test_backward_rounds_that_shrink_and_then_grow():
    """A constant time for each round would be off by a factor of five at the beginning of both."""
    shrinking = [Work(n) for n in backward_sizes(2000, 0.1)]
    growing = [Work(n, min(8, n) if n <= 16 else 0) for n in backward_sizes(40, 0.1)]
    for plan, times in ((shrinking, times_of(shrinking, 100, 0)), (growing, times_of(growing, 5000, 0.5))):
        done = len(plan) // 4
        naive = sum(times[:done]) / done * (len(plan) - done)
        left = sum(times[done:])
        assert estimate(plan, times[:done], 200).seconds_left == pytest.approx(left, rel=0.4)
        assert not left / 2 < naive < left * 2


def test_a_second_search_has_a_speed_of_its_own():
    plan = [Work(n, min(8, n) if n <= 16 else 0, search) for search in (0, 1) for n in backward_sizes(100, 0.1)]
    half = len(plan) // 2
    times = times_of(plan, 300, 0.45, 2.5, speeds=(1.0, 3.0))
    before = estimate(plan, times[:half], 300).seconds_left
    assert before == pytest.approx(sum(times[half:]) / 3, rel=0.2)  # it is taken to be as quick as the first
    after = estimate(plan, times[: half + 4], 300).seconds_left
    assert after == pytest.approx(sum(times[half + 4 :]), rel=0.3)


def test_rounds_of_an_earlier_fit_are_done_and_not_timed():
    plan = [Work(40), Work(30), Work(20), Work(10)]
    assert estimate(plan, [None, 3.0], 0.0).seconds_left == pytest.approx(3.0)
    assert estimate(plan, [None, 3.0], 0.0).share == pytest.approx(
        1 - 30 / 160
    )  # the first one takes 2.5 times as long
    assert estimate(plan, [None, None], 0.0).seconds_left == math.inf


def test_nothing_is_left_in_the_end():
    found = estimate([Work(3), Work(0)], [1.0, 0.0], 0.0)
    assert (found.share, found.seconds_left) == (1.0, 0.0)
    assert estimate([Work(0)], [], 0.0).seconds_left == 0


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0, "1 s"), (9.4, "9 s"), (12, "10 s"), (59, "60 s"), (95, "2 min"), (3600, "60 min"), (7200, "2.0 h")],
)
def test_times_in_words(seconds, told):
    assert in_words(seconds) == told


def test_words_before_the_first_round_is_timed():
    assert progress_words([Work(10), Work(5)], [], 1.0) == "round 1 of 2, 0% done"


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def rounds(self, seconds):
        for second in seconds:
            self.now += second
            yield second


class Terminal(io.StringIO):
    def isatty(self):
        return True


def told(stream, monkeypatch, seconds, **options):
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    clock = Clock()
    plan = [Work(10)] * len(seconds)
    with Progress(plan, 0.0, clock=clock, **options) as found:
        assert list(found.watched(clock.rounds(seconds))) == seconds
    return stream.getvalue()


def test_lines_are_seconds_apart(monkeypatch):
    lines = told(io.StringIO(), monkeypatch, [1.0] * 12).splitlines()
    assert lines == ["round 3 of 12, 17% done, about 10 s left", "round 8 of 12, 58% done, about 5 s left",
                     "round 12 of 12, 100% done, about 1 s left"]  # fmt: skip


def test_a_line_on_a_terminal_is_drawn_again_and_erased(monkeypatch):
    drawn = told(Terminal(), monkeypatch, [1.0] * 4)
    assert drawn == (
        "\rround 3 of 4, 50% done, about 2 s left\x1b[K"
        "\rround 4 of 4, 75% done, about 1 s left\x1b[K"
        "\rround 4 of 4, 100% done, about 1 s left\x1b[K"
        "\r\x1b[K"
    )


def test_a_short_fit_says_nothing(monkeypatch):
    assert told(Terminal(), monkeypatch, [0.1] * 10) == ""
    assert told(Terminal(), monkeypatch, [10.0] * 3, silent=True) == ""
    monkeypatch.setattr(sys, "stderr", None)
    with Progress([Work(1)], 0.0, clock=lambda: 10.0) as found:
        assert list(found.watched("a")) == ["a"]


def test_the_line_ends_where_the_fit_is_interrupted(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    clock = Clock()

    def interrupted():
        with Progress([Work(9)] * 9, 0.0, clock=clock) as found:
            next(found.watched(clock.rounds([3.0] * 9)))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert sys.stderr.getvalue().endswith("left\x1b[K\r\x1b[K")


def test_the_first_round_is_announced_while_it_lasts(monkeypatch):
    monkeypatch.setattr(progress, "_SILENT", 0.01)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with Progress([Work(9)] * 9, 0.0) as found:
        next(found.watched(time.sleep(0.5) or one for one in "a"))
        assert sys.stderr.getvalue().startswith("round 1 of 9, 0% done\n")


@SELECTORS
@pytest.mark.parametrize("options", [{}, {"criterion": "prediction", "kernel": "auto"}])
def test_verbose_tells_every_round_of_a_slow_fit(selector, options, monkeypatch, capsys):
    monkeypatch.setattr(progress, "_SILENT", 0.0)
    monkeypatch.setattr(progress, "_BETWEEN_LINES", 0.0)
    X, y = drawn(60, 6)
    plain = selector(2, **options).fit(X, y)
    assert capsys.readouterr() == ("", "")
    assert selector(2, verbose=1, **options).fit(X, y).path_ == plain.path_
    out, err = capsys.readouterr()
    n_rounds = len(plain.path_) * (2 if "kernel" in options else 1)
    numbers = re.findall(rf"^round (\d+) of {n_rounds}, \d+% done(?:, about \S+ \S+ left)?$", err, re.MULTILINE)
    assert out == ""
    assert sorted({int(number) for number in numbers}) == list(range(2, n_rounds + 1)) or numbers[0] == "1"
    assert len(numbers) == len(err.splitlines())
    assert "100% done, about 1 s left" in err.splitlines()[-1]


def test_fits_inside_a_test_are_silent(monkeypatch, capsys):
    monkeypatch.setattr(progress, "_SILENT", 0.0)
    X, y = drawn(60, 6)
    selection_test(BAHSIC(2, verbose=1), X, y, n_splits=2, random_state=0)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("verbose", [-1, "yes", None, 0.5])
def test_bad_values(verbose):
    with pytest.raises(ValueError, match=r"verbose is .*; accepted: 0, 1"):
        FOHSIC(2, verbose=verbose).fit(*drawn())
