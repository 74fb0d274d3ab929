"""Search by prediction: features are judged by what the others leave unexplained."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bahsic.arrays import Array, Indices
from bahsic.criteria.blocks import some_samples
from bahsic.criteria.prediction import ResidualWeights, RidgeFit, judging_ridge
from bahsic.engine.gram import KernelBlocks, KernelTiles
from bahsic.engine.ridge import RidgeRegression
from bahsic.engine.scorer import Intervals, Ranking, Round, Scorer
from bahsic.kernels.base import Kernel

# In subsets of at most so many units, the best candidates to first order get a regression of their own, so many.
EXACT, FITTED = 16, 8
FITTED_IN_BLOCKS = 4  # by leave-one-out in blocks, which costs several times as much
GAINS, GAIN_SAMPLES = 24, 1000  # candidates whose gains are measured, and the samples of these fits
_ROUNDING = 1e-11  # rounding error of the explained variance of a fit; candidates that differ by less are ties
_TOGETHER = 2  # candidates that are fitted at the same time


class PredictionScorer(Ranking):
    """Changes of the explained variance, to first order by the residuals of the subset, or by a fit for each candidate.

    In a subset of more than `EXACT` units, candidates are ranked by the first-order change <K * (E_j - 1), W>, where
    W is that of the residuals of the subset, with a ridge of at least `judging_ridge`. In a smaller one the `FITTED`
    candidates that this ranks highest are ranked by the explained variance of their own ridge regression, with the
    ridge of the subset; in blocks the `FITTED_IN_BLOCKS` highest by its predictability, see `RidgeRegression.judged`.

    The scorer ``linear`` finds the greatest changes of <K, W> for a given W.
    """

    def __init__(self, linear: Scorer, regression: RidgeRegression) -> None:
        self.linear, self.units, self._regression = linear, linear.units, regression

    def resume(self, subsets: Sequence[Indices], ridges: Sequence[float]) -> None:
        """Continue after rounds with some subsets, and the ridge of each."""
        sizes = [len(self.units.columns(subset)) for subset in subsets]
        self._regression.resume(zip(sizes, ridges, strict=True))

    def fit(
        self, subset: Indices, ridge: float | None = None, *, judges: bool = True, losses: bool = False
    ) -> tuple[RidgeFit, Kernel | None]:
        """Ridge regression on a subset with the kernel for its size and a ridge or that of the search; that kernel.

        ``judges`` says whether `RidgeFit.Q` will judge features, with a ridge of at least `judging_ridge` where they
        have no fits of their own, and ``losses`` whether leave-one-out losses are wanted.
        """
        if not len(subset):
            return self._regression.empty(), None
        columns = self.units.columns(subset)
        kernel = self.linear.kernel(columns, len(columns))
        self.linear.move(columns, kernel)
        tiles = self.linear.kernel_tiles(columns, kernel)
        judging = 0.0
        if judges and len(subset) > EXACT and not self._regression.is_fixed:
            judging = judging_ridge(len(subset), self.linear.columns.n_samples)
        return self._regression.fit(tiles, len(columns), ridge, judging, losses=losses), kernel

    def losses(self, subset: Indices, fit: RidgeFit) -> Array:
        """Predictability that a subset with a given fit would lose without each of its units."""
        without = [np.setdiff1d(subset, unit) for unit in subset]
        others = [self.fit(rest, fit.ridge, judges=False, losses=True)[0].predictability for rest in without]
        return fit.predictability - np.array(others)

    def gains(self, subset: Indices, candidates: Indices, fit: RidgeFit) -> Array:
        """Predictability that the first `GAINS` candidates would add to a subset, on some samples; NaN for others."""
        columns = self.units.columns(subset)
        kernel = self.linear.changed_kernel(subset, candidates, leaving=False)
        samples = some_samples(self.linear.columns.n_samples, GAIN_SAMPLES)
        data, regression = self.linear.columns.of_samples(samples), self._regression.of_samples(samples, fit.ridge)
        with_each = [np.union1d(columns, group) for group in self.units.each(candidates[:GAINS])]
        own = self.linear.kernel(columns, len(columns))
        grams = [KernelBlocks(data, columns, own), *(KernelBlocks(data, changed, kernel) for changed in with_each)]
        before, *after = regression.predictabilities(grams)
        return np.append(np.array(after) - before, np.full(len(candidates) - len(after), np.nan))

    def score(self, subset: Indices) -> Round:
        """Explained variance of a subset, with its regression."""
        fit, kernel = self.fit(subset)
        return Round(subset, subset[:0], fit.explained, kernel, fit)

    def _ranked(self, subset: Indices, candidates: Indices, count: int, *, leaving: bool) -> Round:
        kernel = self.linear.changed_kernel(subset, candidates, leaving=leaving)
        fit, own = self.fit(subset)
        columns = self.units.columns(subset)
        self.linear.weigh(ResidualWeights(fit.Q, self._regression.starts))
        exact = len(subset) <= EXACT
        most = min(FITTED_IN_BLOCKS if self._regression.in_blocks else FITTED, len(candidates))
        leading = candidates
        if not exact or len(candidates) > most:
            wanted = max(count, most) if exact else count
            leading = self.linear.leading(columns, candidates, kernel, wanted, leaving=leaving)
        if exact:
            fitted = self._by_own_fit(columns, np.sort(leading[:most]), min(count, most), kernel, fit, leaving=leaving)
            leading = np.concatenate([fitted, leading[most:count]])
        return Round(subset, leading, fit.explained, own, fit)

    def _by_own_fit(
        self, columns: Indices, candidates: Indices, count: int, kernel: Kernel, fit: RidgeFit, *, leaving: bool
    ) -> Indices:
        """The ``count`` candidates whose own fits are best, in order.

        By the variance that they explain; candidates for which `RidgeFit.at_most` is below what others explain need
        no fit. In blocks, whose few samples are explained by noise too, by their predictability.
        """
        groups = self.units.each(candidates)

        def changed(at: int) -> KernelTiles:
            return self.linear.changed_tiles(columns, groups[at], kernel, leaving=leaving)

        if self._regression.in_blocks:
            values = np.array(self._regression.judged([changed(at) for at in range(len(candidates))], count))
            # Rounding may have left out one of two copies: both count as the better one.
            copies = np.equal.outer(*[self.linear.representatives[candidates]] * 2)
            values = np.where(copies, values, -np.inf).max(axis=1)
        else:
            first = self.linear.changes(columns, candidates, kernel, leaving=leaving)
            # From the kernel of the subset to that of the round.
            moved = self.linear.total(columns, kernel) - fit.quadratic if len(columns) else 0.0
            bounds = fit.explained + fit.at_most(moved + first.values + first.radii) + _ROUNDING
            values, queue = np.full(len(candidates), -np.inf), np.argsort(-bounds, kind="stable")
            for some in (queue[start : start + _TOGETHER] for start in range(0, len(queue), _TOGETHER)):
                if bounds[some[0]] < np.sort(values)[len(values) - count] - 4 * _ROUNDING:
                    break  # the others can't be among the best
                values[some] = self._regression.explained([changed(at) for at in some])
        radii = np.full(len(values), _ROUNDING)
        return self.linear.best([lambda at: Intervals(values[at], radii[at])], candidates, count)
