"""A limit on the features that "auto" takes: the same search on each half of the samples, judged by the other half.

The sample that leave-one-out predicts took part in choosing the features. Where there are many features for the
samples, some subsets predict it well by chance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bahsic.criteria.prediction import label_features, predicted
from bahsic.criteria.weights import Gram, Matrix
from bahsic.data.columns import Columns
from bahsic.engine.gram import KernelBlocks
from bahsic.engine.scorer import kernel_values
from bahsic.kernels.bandwidth import ScaledKernel
from bahsic.kernels.base import Kernel
from bahsic.selection.path import most_as_good
from bahsic.selection.problem import FeatureUnits, Problem
from bahsic.selection.rounds import Search

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Fewest samples that are halved.
_FEWEST = 16

# Kinds of labels that can be sorted.
_SORTED = ("binary", "multiclass", "delta", "regression")


@dataclass(frozen=True, eq=False)
class Half:
    """A search on half of the samples.

    Attributes
    ----------
    search : Search
    whole : Problem
        That of all samples.
    own, others : ndarray of int
        The samples of the search, and those that judge it.
    """

    search: Search
    whole: Problem
    own: Indices
    others: Indices

    def losses(self, most: int) -> dict[int, Array]:
        """Squared errors of the other samples, for the number of units of each subset of at most ``most``."""
        data = self.whole.data.columns.of_samples(np.concatenate([self.own, self.others]))
        Y, n = label_features(self.whole.labels), len(self.own)
        known, new = slice(0, n), slice(n, n + len(self.others))
        found = {}
        for step in (one for one in self.search.path if len(one.subset) <= most):
            columns = self.search.linear.units.columns(step.subset)
            K = _kernel_values(data, columns, self.search.linear.kernel(columns, len(columns)))
            ridge = step.step.ridge or 0.0  # every step of these searches has one
            inner, cross = (np.asarray(K.block(rows, known), dtype=np.float64) for rows in (known, new))
            guess = predicted(inner, cross, Y[self.own], ridge)
            found[len(step.subset)] = np.square(Y[self.others] - guess).sum(axis=1)
        return found


def _kernel_values(data: Columns, columns: Indices, kernel: Kernel) -> Gram:
    """Kernel values of all samples, up to what centring removes: of inner products with all samples centred at once."""
    if isinstance(kernel, ScaledKernel):
        return KernelBlocks(data, columns, kernel)
    return Matrix(kernel_values(data, columns, kernel))


def are_needed(problem: Problem, units: FeatureUnits) -> bool:
    """Whether sizes are judged by halves too: where there are more than half as many units as samples.

    Neither samples that count several times nor blocks of samples are halved.
    """
    m = len(problem.labels)
    plain = problem.weights is None and len(problem.starts) == 1
    return plain and m >= _FEWEST and 2 * units.n_used > m


def halves(problem: Problem, search_on: Callable[[Problem, int], Search]) -> list[Half]:
    """Searches on each half of the samples, not begun; ``search_on`` makes one, given its problem and number."""
    first, second = _split(problem)
    return [
        Half(search_on(problem.of_samples(own), number), problem, own, others)
        for number, (own, others) in enumerate([(first, second), (second, first)])
    ]


def _split(problem: Problem) -> tuple[Indices, Indices]:
    """Two halves of the samples, in increasing order: with much the same labels where these can be sorted."""
    labels = problem.labels
    order = np.random.default_rng(0).permutation(len(labels))
    if labels.name in _SORTED:
        values = np.unique(np.asarray(labels.values)[order], axis=0, return_inverse=True)[1].ravel()
        order = order[np.argsort(values, kind="stable")]
    return np.sort(order[::2]), np.sort(order[1::2])


def most_trusted(both: Sequence[Half], most: int) -> int:
    """Number of units up to which, of at most ``most``, subsets predict the other halves as well as any.

    See `most_as_good`. Losses of the samples are taken as independent, given the two searches.
    """
    each = [half.losses(most) for half in both]
    sizes = list(each[0])
    return sizes[most_as_good(sizes, [np.concatenate([losses[size] for losses in each]) for size in sizes])]
