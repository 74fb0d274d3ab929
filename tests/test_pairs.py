"""D of a changing subset: by its history, the same bits wherever a tile is made, also in another process."""

import pickle

import numpy as np
import pytest

from bahsic.criteria.weights import label_weights
from bahsic.engine import Columns, tile_plan
from bahsic.engine.pairs import Pairs
from bahsic.engine.tiles import AbsoluteDistances, InnerProducts, SquaredDistances
from bahsic.kernels import label_kernel

SUBSETS = [[0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 2, 3, 5, 7], [0, 1, 3, 5], [0, 1, 3], [0, 1, 3, 6], [0]]
KINDS = pytest.mark.parametrize("kind", [SquaredDistances, InnerProducts, AbsoluteDistances])
MEMORY = pytest.mark.parametrize("working_memory", [1024, 0.2])


def made(kind, working_memory):
    rng = np.random.default_rng(0)
    XT = rng.normal(size=(8, 150))
    weights = label_weights(label_kernel(rng.integers(0, 2, 150)))
    return XT, Pairs(Columns.plain(XT), kind, weights, tile_plan(150, working_memory))


def moved(pairs, subset):
    pairs.move(np.array(subset))
    tiles = [pairs.totals(index).copy() for index in range(len(pairs.plan.tiles))]
    pairs.settle()
    return tiles


def expected(kind, XT, subset):
    X = XT[subset]
    if kind is InnerProducts:
        return X.T @ X
    differences = np.abs(X[:, :, None] - X[:, None, :])
    return (differences ** (2 if kind is SquaredDistances else 1)).sum(axis=0)


@KINDS
@MEMORY
def test_totals_follow_the_subset(kind, working_memory):
    XT, pairs = made(kind, working_memory)
    assert pairs.plan.keep == (working_memory == 1024)
    for subset in SUBSETS:
        truth = expected(kind, XT, subset)
        for tile, D in zip(pairs.plan.tiles, moved(pairs, subset), strict=True):
            assert np.allclose(D, truth[tile.rows, tile.cols], rtol=0, atol=1e-11)


@KINDS
@MEMORY
def test_a_copy_in_another_process_makes_the_same_bits(kind, working_memory):
    _, pairs = made(kind, working_memory)
    for subset in SUBSETS:
        tiles = moved(pairs, subset)
        sent = pickle.loads(pickle.dumps(pairs))
        for index, D in enumerate(tiles):
            assert np.array_equal(sent.totals(index), D)
            assert np.array_equal(sent.weights(index), pairs.weights(index))


@pytest.mark.parametrize("at", range(len(SUBSETS) - 1))
def test_a_restored_search_goes_on_with_the_same_bits(at):
    _, pairs = made(SquaredDistances, 1024)
    for subset in SUBSETS[: at + 1]:
        moved(pairs, subset)
    _, again = made(SquaredDistances, 1024)
    again.restore(pairs.state())
    assert again.subset.tolist() == SUBSETS[at]
    for subset in SUBSETS[at + 1 :]:
        for one, other in zip(moved(pairs, subset), moved(again, subset), strict=True):
            assert np.array_equal(one, other)


@KINDS
def test_totals_are_exact_after_dominating_columns_have_left(kind):
    XT, pairs = made(kind, 1024)
    XT[[2, 6]] *= [[1e9], [1e6]]
    for subset in [[0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 3, 4, 5, 6, 7], [0, 1, 3, 4, 5, 7], [0, 1, 2, 3, 4, 5, 7]]:
        truth = expected(kind, XT, subset)
        pairs.move(np.array(subset), 1 / np.median(np.abs(truth)))
        assert pairs.rounding(1 / np.abs(truth).max()) <= 1e-9
        for index, tile in enumerate(pairs.plan.tiles):
            error = np.abs(pairs.totals(index) - truth[tile.rows, tile.cols])
            assert (error <= 1e-11 * (np.median(np.abs(truth)) + np.abs(truth[tile.rows, tile.cols]))).all()
        pairs.settle()


@KINDS
def test_columns_made_for_each_tile_are_those_made_at_once(kind):
    XT, _ = made(kind, 1024)
    columns, features = Columns.plain(XT), np.arange(8)
    for tile in tile_plan(150, 0.2).tiles:
        one, other = np.empty(tile.shape), np.empty(tile.shape)
        kind(columns, features).panel(tile, one)
        kind(columns, features, np.float64, 100.0).panel(tile, other)
        assert np.array_equal(one, other)
