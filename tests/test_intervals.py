"""The ladder that refines only what is undecided."""

import numpy as np
import pytest

from bahsic.engine.intervals import Intervals, leading, overlap_groups


class Ladder:
    """Stages around known values, each with its own radius, which note what they were asked for."""

    def __init__(self, truth, radii, seed=0):
        self.truth, self.asked = np.asarray(truth, dtype=float), []
        self._rng = np.random.default_rng(seed)
        self.stages = [self._stage(radius) for radius in radii]

    def _stage(self, radius):
        def stage(positions):
            self.asked.append(positions.tolist())
            radii = np.broadcast_to(radius, self.truth.shape)[positions].astype(float)
            offsets = np.where(np.isfinite(radii), radii, 1.0) * self._rng.uniform(-1, 1, len(positions))
            return Intervals(self.truth[positions] + offsets, radii)

        return stage


def alone(n):
    return np.arange(n)


def test_ends_of_intervals():
    intervals = Intervals(np.array([1.0, 2.0]), np.array([0.5, np.inf]))
    assert intervals.lower.tolist() == [0.5, -np.inf]
    assert intervals.upper.tolist() == [1.5, np.inf]


def test_decided_at_the_first_stage():
    ladder = Ladder([3.0, 1.0, 2.0], [0.1, 0.0])
    positions, scores = leading(ladder.stages, alone(3), 2)
    assert positions.tolist() == [0, 2]
    assert ladder.asked == [[0, 1, 2]]
    assert scores.radii.tolist() == [0.1] * 3
    assert np.abs(scores.values - ladder.truth).max() <= 0.1


def test_only_what_is_undecided_is_refined():
    ladder = Ladder([9.0, 5.0, 5.05, 1.0, 1.01], [0.1, 0.001])
    positions, _ = leading(ladder.stages, alone(5), 3)
    assert positions.tolist() == [0, 2, 1]
    # The two at the bottom overlap too, but neither is wanted.
    assert ladder.asked == [[0, 1, 2, 3, 4], [1, 2]]


def test_what_straddles_the_cut_is_refined():
    ladder = Ladder([9.0, 5.0, 5.05, 1.0], [0.1, 0.001])
    assert leading(ladder.stages, alone(4), 2)[0].tolist() == [0, 2]
    assert ladder.asked[1] == [1, 2]


def test_nothing_known_is_refined():
    ladder = Ladder([1.0, 2.0, 3.0], [[0.1, np.inf, 0.1], 0.1])
    assert leading(ladder.stages, alone(3), 1)[0].tolist() == [2]
    assert 1 in ladder.asked[1]


def test_ties_after_the_last_stage_go_to_the_lowest_position():
    def stage(positions):
        return Intervals(np.array([1.0, 2.0, 2.0 + 1e-12, 2.0])[positions], np.full(len(positions), 1e-9))

    assert leading([stage], alone(4), 2)[0].tolist() == [1, 2]
    assert leading([stage], alone(4), 4)[0].tolist() == [1, 2, 3, 0]


def test_copies_are_evaluated_once_and_come_in_their_order():
    ladder = Ladder([1.0, 4.0, np.nan, 2.0, np.nan], [0.1, 0.0])
    positions, scores = leading(ladder.stages, np.array([0, 1, 1, 3, 0]), 5)
    assert positions.tolist() == [1, 2, 3, 0, 4]
    assert ladder.asked == [[0, 1, 3]]
    assert scores.values[2] == scores.values[1]


def test_a_worse_stage_takes_nothing_back():
    ladder = Ladder([1.0, 1.05], [0.1, 0.5, 0.001])
    assert leading(ladder.stages, alone(2), 2)[0].tolist() == [1, 0]
    assert ladder.asked == [[0, 1], [0, 1], [0, 1]]
    ladder = Ladder([1.0, 1.05], [0.1, 0.5])
    scores = leading(ladder.stages, alone(2), 2)[1]
    assert scores.radii.tolist() == [0.1, 0.1]
    assert np.abs(scores.values - ladder.truth).max() <= 0.1


@pytest.mark.parametrize("seed", range(60))
def test_order_is_that_of_the_truth_whatever_the_intervals(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    truth = rng.choice(np.arange(100), n, replace=False) / 7.0
    first = np.where(rng.random(n) < 0.2, np.inf, rng.uniform(0, 3, n))
    ladder = Ladder(truth, [first, rng.uniform(0, 0.5, n), 0.01], seed)
    count = int(rng.integers(1, n + 1))
    positions, _ = leading(ladder.stages, alone(n), count)
    assert positions.tolist() == np.argsort(-truth)[:count].tolist()


def test_groups_are_chains_of_overlaps():
    scores = Intervals(np.array([5.0, 4.0, 3.0, 0.0, -9.0]), np.array([0.6, 0.6, 0.6, 0.1, 0.1]))
    order, groups = overlap_groups(scores, 4)
    assert order.tolist() == [0, 1, 2, 3]
    assert groups.tolist() == [0, 0, 0, 1]


def test_a_wide_interval_joins_all_that_it_covers():
    scores = Intervals(np.array([5.0, 3.0, 1.0, 2.9]), np.array([0.1, 0.1, 0.1, 10.0]))
    order, groups = overlap_groups(scores, 2)
    assert sorted(order.tolist()) == [0, 1, 3]
    assert set(groups.tolist()) == {0}


def test_scores_that_overflowed_are_refused():
    with pytest.raises(ValueError, match="rescale X"):
        leading([lambda at: Intervals(np.full(len(at), np.nan), np.ones(len(at)))], np.arange(3), 1)
