"""Near-copies of the selected features: what else would have said nearly the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bahsic.data.prepared import Prepared
from bahsic.inference.redundancy import similarities
from bahsic.kernels.vector import kernel_on_features

LEAST_SIMILARITY = 0.7  # of a near-copy, as `bahsic.redundancy` measures it
MOST_COPIES = 3  # for each feature

# Work of comparing some features with all others, in products of numbers; beyond it fewer samples are compared.
_WORK = 10**10
_FACTORS_SQUARED = 400  # products for each sample and pair of features
_FEWEST_SAMPLES, _MOST_SAMPLES = 100, 2000


def near_copies(data: Prepared, selected: Sequence[int], kernel: Any) -> list[list[tuple[int, float]]]:
    """For each selected feature the most similar ones that are not selected, with their similarity.

    Parameters
    ----------
    data : Prepared
    selected : sequence of int
        Columns, at least one.
    kernel : str or Kernel

    Returns
    -------
    list of lists of (column, similarity)
        At most three for each feature, the most similar first, all of a similarity of at least 0.7: normalised HSIC of
        two columns, see `bahsic.redundancy`, on at most 2000 samples, fewer where there are very many features.

    Examples
    --------
    >>> from bahsic.data.prepared import prepared
    >>> from bahsic.kernels import Gaussian
    >>> x, z = np.random.default_rng(0).normal(size=(2, 50))
    >>> data = prepared(np.column_stack([x, z, x + 0.01 * z]), Gaussian())
    >>> [[(j, round(similarity, 2)) for j, similarity in found] for found in near_copies(data, [0, 1], "gaussian")]
    [[(2, 1.0)], []]
    """
    d, chosen = data.table.values.shape[1], np.asarray(selected, dtype=np.intp)
    some = _some_samples(data, len(chosen))
    features = np.concatenate([chosen, np.setdiff1d(np.arange(d), chosen)]).astype(np.intp)
    found_kernel = kernel_on_features(kernel, "single features")
    columns, constant = some.columns, some.constant | np.isin(np.arange(d), data.table.left_out)
    table = similarities(columns, features, constant, found_kernel, n_rows=len(chosen))
    return [_nearest(row[len(chosen) :], features[len(chosen) :]) for row in table]


def _some_samples(data: Prepared, n_selected: int) -> Prepared:
    """The data with as many samples as can be compared in a few seconds, drawn at random with a fixed seed."""
    m, d = data.table.values.shape
    affordable = _WORK // max(1, n_selected * d * _FACTORS_SQUARED)
    size = min(_MOST_SAMPLES, max(_FEWEST_SAMPLES, affordable))
    plain = data.weighted(None)
    if m <= size:
        return plain
    return plain.ordered(np.sort(np.random.default_rng(0).permutation(m)[:size]))


def _nearest(similarity: NDArray[np.float64], features: NDArray[np.intp]) -> list[tuple[int, float]]:
    best = np.argsort(-similarity, kind="stable")[:MOST_COPIES]
    return [(int(features[i]), float(similarity[i])) for i in best if similarity[i] >= LEAST_SIMILARITY]
