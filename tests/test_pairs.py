"""D of a changing subset is that of the definition, where it follows the subset and where it is made anew."""

import pickle

import numpy as np
import pytest

from bahsic.criteria.weights import label_weights
from bahsic.engine import Columns, threads, tile_plan
from bahsic.engine.pairs import Pairs
from bahsic.engine.tiles import Differences
from bahsic.kernels import label_kernel

SUBSETS = [[0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 2, 3, 5, 7], [0, 1, 3, 5], [0, 1, 3], [0, 1, 3, 6], [0]]

pytestmark = [pytest.mark.usefixtures("engine"), pytest.mark.parametrize("power", [1, 2])]


def made(power, working_memory, executor, engine):
    XT, m = np.random.default_rng(0).normal(size=(8, 150)), 150
    XT[7, ::3] = np.nan
    missing, nothing = np.arange(8) == 7, np.zeros(8)
    columns, plan = Columns(XT, nothing, 2.0 * missing, missing), tile_plan(m, working_memory)
    weights = label_weights(label_kernel(np.arange(m) % 2))
    return XT, Pairs(columns, power, weights, plan, executor, compiled=engine == "loops")


def moved(pairs, subset, scale=0.0):
    pairs.move(np.array(subset), scale)
    return [pairs.totals(index).copy() for index in range(len(pairs.plan.tiles))]


def expected(power, XT, subset):
    differences = np.abs(np.nan_to_num(XT)[subset][:, :, None] - np.nan_to_num(XT)[subset][:, None]) ** power
    gaps = np.isnan(XT[subset])
    differences += gaps[:, :, None] * 1.0 + gaps[:, None]
    differences[:, np.arange(150), np.arange(150)] = 0.0
    return differences.sum(axis=0)


@pytest.mark.parametrize("working_memory", [1024, 0.1])
def test_totals_follow_the_subset_also_in_another_process(power, working_memory, engine):
    with threads(2) as executor:
        XT, pairs = made(power, working_memory, executor, engine)
        assert pairs.is_kept == (working_memory == 1024)
        for subset in SUBSETS:
            truth, tiles = expected(power, XT, subset), moved(pairs, subset)
            sent = pickle.loads(pickle.dumps(pairs))
            for index, (tile, D) in enumerate(zip(pairs.plan.tiles, tiles, strict=True)):
                for found in (D, sent.totals(index)):
                    np.testing.assert_allclose(found, truth[tile.rows, tile.cols], rtol=0, atol=1e-11)
                assert np.array_equal(sent.weights(index), pairs.weights(index))


def test_totals_are_exact_after_dominating_columns_have_left(power, engine):
    with threads(1) as executor:
        XT, pairs = made(power, 1024, executor, engine)
        XT[[2, 6]] *= [[1e9], [1e6]]
        for subset in [[0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 3, 4, 5, 6, 7], [0, 1, 3, 4, 5, 7], [0, 1, 2, 3, 4, 5, 7]]:
            truth = expected(power, XT, subset)
            tiles = moved(pairs, subset, 1 / np.median(truth))
            assert pairs.rounding(1 / truth.max()) <= 1e-9
            for tile, D in zip(pairs.plan.tiles, tiles, strict=True):
                error = np.abs(D - truth[tile.rows, tile.cols])
                assert (error <= 1e-11 * (np.median(truth) + truth[tile.rows, tile.cols])).all()


def test_columns_made_for_each_tile_are_those_made_at_once(power, engine):
    columns, features = Columns.plain(np.random.default_rng(0).normal(size=(7, 150))), np.arange(7)
    options = {"compiled": engine == "loops"}
    one, other = (Differences(columns, features, power, most, **options) for most in (np.inf, 100.0))
    for tile in tile_plan(150, 0.1).tiles:
        assert np.array_equal(one.panel(tile, np.empty(tile.shape)), other.panel(tile, np.empty(tile.shape)))
