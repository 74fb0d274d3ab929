"""The search alone, with a scorer that knows the answers."""

from dataclasses import dataclass
from itertools import islice
from types import SimpleNamespace

import numpy as np
import pytest

from bahsic.engine import Round
from bahsic.selection.search import Backward, Forward, round_size


def units(constant, kept=None, left_out=None):
    nowhere = np.zeros(len(constant), dtype=bool)
    masks = {"constant": constant, "kept": kept, "left_out": left_out}
    return SimpleNamespace(**{name: nowhere if mask is None else mask for name, mask in masks.items()})


def backward(scorer, constant, step, kept=None, after=None):
    return Backward(units(constant, kept), step).rounds(scorer, after)


def forward(scorer, constant, step, number, kept=None, after=None):
    return Forward(units(constant, kept), step, number).rounds(scorer, after)


@dataclass(frozen=True)
class Fit:
    name: str
    ridge: float = 0.1


class KnownOrder:
    """Ranks by fixed relevances and scores a subset by the sum of them; notes what it is asked."""

    def __init__(self, relevance):
        self.relevance = np.asarray(relevance, dtype=float)
        self.asked = []

    def _answer(self, subset, changed):
        score = float(self.relevance[subset].sum())
        return Round(subset, changed, score, f"for {len(subset)}", Fit(f"fit to {len(subset)}"))

    def leaving(self, subset, candidates, count):
        self.asked.append(("leaving", subset.tolist(), candidates.tolist(), count))
        return self._answer(subset, candidates[np.argsort(self.relevance[candidates], kind="stable")][:count])

    def entering(self, subset, candidates, count):
        self.asked.append(("entering", subset.tolist(), candidates.tolist(), count))
        return self._answer(subset, candidates[np.argsort(-self.relevance[candidates], kind="stable")][:count])

    def score(self, subset):
        self.asked.append(("score", subset.tolist()))
        return self._answer(subset, subset[:0])


RELEVANCE = [3.0, 0.0, 5.0, 1.0, 4.0, 2.0]
NONE_CONSTANT = np.zeros(6, dtype=bool)


MOST = 20  # rounds: a search that never ends is to fail as well


def records(steps):
    return [(step.subset.tolist(), step.score, step.kernel, step.changed.tolist()) for step in islice(steps, MOST)]


def test_steps_hold_the_fit_of_the_scorer():
    assert [step.fit.name for step in backward(KnownOrder(RELEVANCE), NONE_CONSTANT, 4)] == ["fit to 6", "fit to 2"]
    assert [step.fit.name for step in forward(KnownOrder(RELEVANCE), NONE_CONSTANT, 2, 3)] == ["fit to 2", "fit to 3"]


def changes(steps):
    return [step.changed.tolist() for step in islice(steps, MOST)]


def test_backward_one_at_a_time_to_the_end():
    found = records(backward(KnownOrder(RELEVANCE), NONE_CONSTANT, 1))
    assert found == [
        ([0, 1, 2, 3, 4, 5], 15.0, "for 6", [1]),
        ([0, 2, 3, 4, 5], 15.0, "for 5", [3]),
        ([0, 2, 4, 5], 14.0, "for 4", [5]),
        ([0, 2, 4], 12.0, "for 3", [0]),
        ([2, 4], 9.0, "for 2", [4]),
        ([2], 5.0, "for 1", [2]),
    ]


def test_backward_by_fractions_of_what_remains():
    changed = changes(backward(KnownOrder(RELEVANCE), NONE_CONSTANT, 0.5))
    assert changed == [[1, 3, 5], [0], [4], [2]]


def test_backward_by_a_count_that_does_not_divide():
    changed = changes(backward(KnownOrder(RELEVANCE), NONE_CONSTANT, 4))
    assert changed == [[1, 3, 5, 0], [4, 2]]


def test_constant_features_leave_first():
    constant = np.array([False, False, True, False, True, False])
    scorer = KnownOrder(RELEVANCE)
    changed = changes(backward(scorer, constant, 3))
    assert changed == [[2, 4, 1], [3, 5, 0]]
    assert scorer.asked[0] == ("leaving", [0, 1, 2, 3, 4, 5], [0, 1, 3, 5], 1)
    assert changes(backward(scorer, constant, 1))[:3] == [[2], [4], [1]]


def test_forward_one_at_a_time():
    found = records(forward(KnownOrder(RELEVANCE), NONE_CONSTANT, 1, 3))
    assert found == [
        ([2], 5.0, "for 1", [2]),
        ([2, 4], 9.0, "for 2", [4]),
        ([0, 2, 4], 12.0, "for 3", [0]),
    ]


def test_forward_stops_in_the_middle_of_a_round():
    found = records(forward(KnownOrder(RELEVANCE), NONE_CONSTANT, 4, 5))
    assert found == [([0, 2, 4, 5], 14.0, "for 4", [2, 4, 0, 5]), ([0, 2, 3, 4, 5], 15.0, "for 5", [3])]


def test_forward_by_fractions_of_what_remains():
    changed = changes(forward(KnownOrder(RELEVANCE), NONE_CONSTANT, 0.5, 6))
    assert changed == [[2, 4, 0], [5], [3], [1]]


def test_constant_features_enter_last():
    constant = np.array([False, False, True, False, True, False])
    scorer = KnownOrder(RELEVANCE)
    changed = changes(forward(scorer, constant, 3, 6))
    assert changed == [[0, 5, 3], [1, 2, 4]]
    assert scorer.asked[0] == ("entering", [], [0, 1, 3, 5], 3)


@pytest.mark.parametrize("search", [backward, lambda *a: forward(*a, 2)], ids=["backward", "forward"])
def test_nothing_but_constant_features(search):
    assert changes(search(KnownOrder([0.0, 0.0]), np.array([True, True]), 1)) == [[0], [1]]


def test_kept_features_stay_and_alone_they_are_one_step_without_change():
    kept = np.array([False, True, False, False, True, False])
    steps = list(backward(KnownOrder(RELEVANCE), NONE_CONSTANT, 1, kept))
    assert [step.changed.tolist() for step in steps] == [[3], [5], [0], [2]]
    (only,) = backward(KnownOrder(RELEVANCE), NONE_CONSTANT, 1, ~NONE_CONSTANT)
    assert only.subset.tolist() == [0, 1, 2, 3, 4, 5]
    assert only.changed.tolist() == []
    assert only.score == sum(RELEVANCE)


def test_a_search_goes_on_after_a_round():
    first, *rest = backward(KnownOrder(RELEVANCE), NONE_CONSTANT, 2)
    again = backward(KnownOrder(RELEVANCE), NONE_CONSTANT, 2, after=first)
    assert [step.changed.tolist() for step in again] == [step.changed.tolist() for step in rest] == [[5, 0], [4, 2]]


def test_rounds_are_made_when_they_are_asked_for():
    scorer = KnownOrder(RELEVANCE)
    next(backward(scorer, NONE_CONSTANT, 1))
    assert len(scorer.asked) == 1


@pytest.mark.parametrize(
    ("step", "remaining", "expected"),
    [
        (0.1, 100, 10),
        (0.1, 99, 9),
        (0.1, 9, 1),
        (0.99, 2, 1),
        (1, 5, 1),
        (3, 5, 3),
        (7, 5, 5),
        (np.int64(2), 5, 2),
        (np.float32(0.5), 5, 2),
    ],
)
def test_round_sizes(step, remaining, expected):
    assert round_size(step, remaining) == expected
