"""Scores of subsets, and of what happens to them when one feature leaves or enters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from bahsic.engine.columns import copies
from bahsic.engine.intervals import Intervals, Stage, leading
from bahsic.hsic import Weights
from bahsic.kernels.base import Kernel, is_number

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Ranked:
    """The outcome of one round.

    Attributes
    ----------
    features : ndarray of int
        The features that leave or enter, those whose change leaves the greatest score first.
    score : float
        Score of the subset before the change, with the kernel for its own size.
    kernel : Kernel or None
        That kernel; None for the empty subset.
    """

    features: Indices
    score: float
    kernel: Kernel | None


class Scorer(ABC):
    """Scores <link(D_S), W> of subsets S of the features, for one kernel and one W.

    Parameters
    ----------
    XT : ndarray of shape (n_features, n_samples)
        The data, a feature in each row.
    kernel : Kernel
        Its parameters may be rules; they are evaluated anew in each round.
    weights : Weights
        The matrix W.
    """

    def __init__(self, XT: Array, kernel: Kernel, weights: Weights) -> None:
        self.XT = XT
        parameters = kernel.get_params(deep=True)
        self._rules = {name: rule for name, rule in parameters.items() if _is_rule(name, rule)}
        self._kernel = kernel if self._rules else kernel.resolved(XT[:1].T)
        self._weights = weights
        self._copies = copies(XT)

    def kernel(self, reference: Indices, size: int) -> Kernel:
        """The kernel for subsets of ``size`` features, by its rule on the features ``reference``.

        Every feature contributes to the total D alike on average, so the gamma that a rule gives for
        the reference is scaled by the ratio of the sizes: 1/(2 d) with d = ``size`` for the rule
        "dimension" (step 3 of the paper's algorithm).
        """
        if not self._rules:
            return self._kernel
        if set(self._rules.values()) == {"dimension"}:
            return _with_gammas(self._kernel, dict.fromkeys(self._rules, 1 / (2 * size)))
        W = self._weights.matrix() if self._kernel.needs_labels else None
        resolved = self._kernel.resolved(self.XT[reference].T, W, self._weights.sample_weight)
        found = resolved.get_params(deep=True)
        return _with_gammas(resolved, {name: found[name] * len(reference) / size for name in self._rules})

    def leaving(self, subset: Indices, candidates: Indices, count: int) -> Ranked:
        """The ``count`` candidates of the subset whose removal leaves the score highest."""
        if len(subset) == 1 or count == 0:
            return replace(self.score(subset), features=candidates[:count])
        own = self.kernel(subset, len(subset))
        kernel = self.kernel(subset, len(subset) - 1)
        stages, score = self._round(subset, candidates, kernel, own, leaving=True)
        return Ranked(self._best(stages, candidates, count)[0], score, own)

    def entering(self, subset: Indices, candidates: Indices, count: int) -> Ranked:
        """The ``count`` candidates whose addition to the subset makes the score highest."""
        if count == 0:
            return self.score(subset)
        own = self.kernel(subset, len(subset)) if len(subset) else None
        kernel = self.kernel(np.union1d(subset, candidates), len(subset) + 1)
        stages, score = self._round(subset, candidates, kernel, own, leaving=False)
        return Ranked(self._best(stages, candidates, count)[0], score, own)

    def score(self, subset: Indices) -> Ranked:
        """A subset as it is, with the kernel for its own size."""
        if not len(subset):
            return Ranked(subset, 0.0, None)
        kernel = self.kernel(subset, len(subset))
        return Ranked(subset[:0], self._score(subset, kernel), kernel)

    @abstractmethod
    def _score(self, subset: Indices, kernel: Kernel) -> float:
        """Score of a subset that is not empty."""

    @abstractmethod
    def _round(
        self, subset: Indices, candidates: Indices, kernel: Kernel, own: Kernel | None, *, leaving: bool
    ) -> tuple[Sequence[Stage], float]:
        """Certified changes of the score with ``kernel`` by the candidates, and the score with ``own``."""

    def _best(self, stages: Sequence[Stage], candidates: Indices, count: int) -> tuple[Indices, Intervals]:
        """The best candidates in order, and their changes of the score as far as they were refined."""
        # The first candidate with the same column stands for all of them.
        _, first, inverse = np.unique(self._copies[candidates], return_index=True, return_inverse=True)
        positions, found = leading(stages, first[inverse], count)
        return candidates[positions], Intervals(found.values[positions], found.radii[positions])


def _with_gammas(kernel: Kernel, gammas: dict[str, float]) -> Kernel:
    if set(gammas) == {"gamma"}:  # the usual case, in every round: no need to look into the kernel
        copied = copy(kernel)
        copied.__dict__.update(gammas)
    else:
        copied = clone(kernel)
        copied.set_params(**gammas)
    return copied


def _is_rule(name: str, value: object) -> bool:
    return name.rpartition("__")[2] == "gamma" and not is_number(value)


def gamma_of(kernel: Kernel) -> float:
    """The gamma of a kernel whose rules have been resolved."""
    return float(vars(kernel)["gamma"])


def diagonal(weights: Weights) -> Array:
    """The diagonal of W."""
    m = len(weights)
    parts = [slice(start, min(start + 64, m)) for start in range(0, m, 64)]
    return np.concatenate([np.diagonal(weights.block(part, part)) for part in parts])
