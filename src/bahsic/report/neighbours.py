"""Near-duplicates of the selected features among those that were not selected."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bahsic.data.columns import Columns
from bahsic.data.prepared import Prepared
from bahsic.inference.redundancy import similarities
from bahsic.kernels import Gaussian
from bahsic.kernels.vector import kernel_on_features

Indices = NDArray[np.intp]

LEAST_SIMILARITY = 0.7  # of a near-copy, as `bahsic.redundancy` measures it
MOST_COPIES = 3  # for each feature

# Number of features up to which all are compared; of more, those with the highest rank correlations.
_MOST_COMPARED = 1000
_PROMISING = 20  # for each selected feature

# Work of comparing features, in products of numbers; beyond it fewer samples are compared.
_WORK = 10**10
_FACTORS_SQUARED = 400  # products for each sample and pair of features
_FEWEST_SAMPLES, _MOST_SAMPLES = 100, 2000


def near_copies(data: Prepared, selected: Sequence[int], kernel: Any) -> list[list[tuple[int, float]]]:
    """Return for each selected feature the most similar ones that are not selected, with their similarity.

    At most three each, of a similarity (see `bahsic.redundancy`) of at least 0.7, on at most 2000 samples. Of more than
    1000 features only those with the highest rank correlations are compared.
    """
    asked = kernel_on_features(kernel, "single features")
    quick = asked if type(asked) is Gaussian else Gaussian()
    d, chosen = data.table.values.shape[1], np.asarray(selected, dtype=np.intp)
    n_pairs = len(chosen) * min(d, _MOST_COMPARED)
    sample = _some_samples(data.for_kernel(quick), n_pairs)
    constant = sample.constant | np.isin(np.arange(d), data.table.left_out)
    others = np.setdiff1d(np.flatnonzero(~constant), chosen)
    if len(others) > _MOST_COMPARED:
        others = others[_promising(sample.columns, chosen, others)]
    table = similarities(sample.columns, chosen, constant, quick, others)
    if quick is asked:
        return [_nearest(row, others) for row in table]
    # Other kernels cost much more for each pair: only a few pairs are compared with them.
    columns, nearest = _some_samples(data.for_kernel(asked), n_pairs).columns, []
    for j, row in zip(chosen, table, strict=True):
        few = others[np.argsort(-row, kind="stable")[: 2 * MOST_COPIES]]
        nearest.append(_nearest(similarities(columns, np.array([j]), constant, asked, few)[0], few))
    return nearest


def _some_samples(data: Prepared, n_pairs: int) -> Prepared:
    """Return as many samples as can be compared in a few seconds, drawn at random with a fixed seed."""
    m, affordable = data.table.values.shape[0], _WORK // (n_pairs * _FACTORS_SQUARED)
    size = min(_MOST_SAMPLES, max(_FEWEST_SAMPLES, affordable))
    plain = data.weighted(None)
    return plain if m <= size else plain.ordered(np.sort(np.random.default_rng(0).permutation(m)[:size]))


def _promising(columns: Columns, chosen: Indices, others: Indices) -> Indices:
    """Return positions among the others of those with the highest rank correlation with any chosen feature."""
    ranks, parts = _unit_ranks(columns, chosen), np.array_split(others, math.ceil(len(others) / _MOST_COMPARED))
    correlations = np.concatenate([np.abs(ranks @ _unit_ranks(columns, part).T) for part in parts], axis=1)
    return np.unique(np.argpartition(-correlations, _PROMISING, axis=1)[:, :_PROMISING])


def _unit_ranks(columns: Columns, features: Indices) -> NDArray[np.float64]:
    """Return ranks of the entries of columns, a row each, centred and of norm one."""
    ranks = np.argsort(np.argsort(columns.rows(features), axis=1, kind="stable"), axis=1) * 1.0
    ranks -= ranks.mean(axis=1, keepdims=True)
    return np.asarray(ranks / np.linalg.norm(ranks, axis=1, keepdims=True))


def _nearest(similarity: NDArray[np.float64], features: Indices) -> list[tuple[int, float]]:
    best = np.argsort(-similarity, kind="stable")[:MOST_COPIES]
    return [(int(features[i]), float(similarity[i])) for i in best if similarity[i] >= LEAST_SIMILARITY]
