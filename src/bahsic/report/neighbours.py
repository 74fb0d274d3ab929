"""Near-duplicates of the selected features among those that were not selected."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bahsic.arrays import Array, Indices
from bahsic.data.columns import Columns
from bahsic.data.prepared import Prepared
from bahsic.inference.scores import similarities
from bahsic.kernels import Gaussian

LEAST_SIMILARITY = 0.7  # of a near-copy, as `bahsic.redundancy` measures it
MOST_COPIES = 3  # for each feature

# Number of features up to which all are compared; of more, those with the highest rank correlations.
_MOST_COMPARED = 1000
_PROMISING = 20  # for each selected feature

# Work of comparing features, in products of numbers; beyond it fewer samples are compared.
_WORK = 10**10
_FACTORS_SQUARED = 400  # products for each sample and pair of features
_FEWEST_SAMPLES, _MOST_SAMPLES = 100, 2000


def near_copies(data: Prepared, selected: Sequence[int], names: Sequence[str]) -> list[dict[str, Any]]:
    """Return for each selected feature up to three near-duplicates that are not selected, with their similarity."""
    chosen, (m, d) = np.asarray(selected, dtype=np.intp), data.table.values.shape
    affordable = _WORK // (len(chosen) * min(d, _MOST_COMPARED) * _FACTORS_SQUARED)
    size, sample = min(_MOST_SAMPLES, max(_FEWEST_SAMPLES, affordable)), data.for_kernel(Gaussian()).weighted(None)
    if m > size:
        sample = sample.ordered(np.sort(np.random.default_rng(0).permutation(m)[:size]))
    constant = sample.constant | np.isin(np.arange(d), data.table.left_out)
    others = np.setdiff1d(np.flatnonzero(~constant), chosen)
    if len(others) > _MOST_COMPARED:
        others = others[_promising(sample.columns, chosen, others)]
    return [
        {
            "feature": names[j],
            "copies": [
                {"feature": names[others[i]], "similarity": float(row[i])}
                for i in np.argsort(-row, kind="stable")[:MOST_COPIES]
                if row[i] >= LEAST_SIMILARITY
            ],
        }
        for j, row in zip(chosen, similarities(sample.columns, chosen, constant, Gaussian(), others), strict=True)
    ]


def _promising(columns: Columns, chosen: Indices, others: Indices) -> Indices:
    """Return positions among the others of those with the highest rank correlation with any chosen feature."""
    ranks, parts = _unit_ranks(columns, chosen), np.array_split(others, math.ceil(len(others) / _MOST_COMPARED))
    correlations = np.concatenate([np.abs(ranks @ _unit_ranks(columns, part).T) for part in parts], axis=1)
    return np.unique(np.argpartition(-correlations, _PROMISING, axis=1)[:, :_PROMISING])


def _unit_ranks(columns: Columns, features: Indices) -> Array:
    """Return ranks of the entries of columns, a row each, centred and of norm one."""
    ranks = np.argsort(np.argsort(columns.rows(features), axis=1, kind="stable"), axis=1) * 1.0
    ranks -= ranks.mean(axis=1, keepdims=True)
    return np.asarray(ranks / np.linalg.norm(ranks, axis=1, keepdims=True))
