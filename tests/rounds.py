"""A round of the engine: what each of its stages says of the candidates, and that the truth is within their bounds."""

import numpy as np

from bahsic.engine import scorer_for, threads, tile_plan


def stages_of(columns, kernel, weights, subset, candidates, *, leaving, units=None, working_memory=None):
    """Intervals of all candidates by each stage, and the score of the subset of columns."""
    with threads(1) as executor:
        scorer = scorer_for(columns, kernel, weights, executor, tile_plan(len(weights.matrix()), working_memory), units)
        return stages_by(scorer, kernel, subset, candidates, leaving=leaving)


def stages_by(scorer, kernel, subset, candidates, *, leaving):
    """As `stages_of`, by a scorer that may have done other rounds before."""
    stages, score = scorer._round(subset, candidates, kernel, kernel, leaving=leaving)
    return [stage(np.arange(len(candidates))) for stage in stages], score


def assert_within_bounds(found, truth, error=0.0):
    """Every stage contains the truth up to an error of its own, and the last one always answers."""
    for number, interval in enumerate(found):
        assert np.isfinite(interval.values).all()
        assert (interval.radii >= 0).all()
        outside = np.abs(interval.values - truth) > interval.radii + error
        assert not outside.any(), (number, interval.values[outside], interval.radii[outside], truth[outside])
    assert np.isfinite(found[-1].radii).all()


def best_values(found):
    """The value of each candidate by the stage that knows it best."""
    best = np.argmin([interval.radii for interval in found], axis=0)
    return np.choose(best, [interval.values for interval in found])
