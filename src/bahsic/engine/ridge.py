"""Kernel ridge regression of the labels on subsets of features: residuals, leave-one-out losses, the ridge."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise, product
from typing import Any, TypeVar

import numpy as np

from bahsic.arrays import Array, Indices
from bahsic.criteria.blocks import some_samples
from bahsic.criteria.prediction import NOT_DEFINITE, RIDGES, RidgeFit
from bahsic.criteria.weights import Gram
from bahsic.engine.executor import Executor, Placed, Scratch
from bahsic.engine.gram import GramTiles, KernelTiles
from bahsic.engine.kernel_block import CholeskyFactor, KernelBlock
from bahsic.engine.plan import Plan, tile_plan
from bahsic.kernels.rows import FloatArray

Result = TypeVar("Result")

# Samples of a block up to which it is factored in float64; beyond it float32 is refined until it is as exact, unless
# the ridge is too small for that.
DOUBLE_SAMPLES = 512

_WELL_CONDITIONED = 2e4  # most trace of the kernel matrix over the penalty (bounds the condition) for float32
_SOLVED = 1e-9  # relative size of the residuals of the linear equations at which refinement ends
_MOST_STEPS = 20  # of refinement
_DIGITS = 9  # of the predictability that choose the ridge: where none explains anything, rounding does not decide
_RENEWED = (
    2 / 3
)  # the ridge is chosen anew when the number of features has changed by this factor since the last choice
_FIRST_BLOCKS = 2  # in which all candidates of a round are judged; in the others only the better half of them
_LEAST_REST = 1e-12  # share of the weight that all samples but one need, for rounding to leave them digits
_SERIAL = Executor()  # for what one thread does by itself
RIDGE_SAMPLES = 1000  # samples on which the ridge is chosen: some of them, or the first blocks


class RidgeRegression:
    """Kernel ridge regression of fixed label features Y on subsets of features, given their kernel values.

    Every block of samples has a regression of its own, and its own mean of Y; ``most_blocks`` limits their number. The
    ridge "auto" is the one with the least leave-one-out error: of all at first, of the last choice and its neighbours
    when the number of features has changed by a third. With ``exact`` leave-one-out losses have all their digits;
    otherwise, beyond `DOUBLE_SAMPLES`, about six.
    """

    def __init__(
        self,
        Y: Array,
        ridge: Any,
        plan: Plan,
        starts: tuple[int, ...],
        sample_weight: FloatArray | None,
        executor: Executor,
        *,
        exact: bool = False,
        most_blocks: int | None = None,
    ) -> None:
        bounds = [*starts, len(Y)][: None if most_blocks is None else most_blocks + 1]
        self.starts, self._Y = tuple(bounds[:-1]), Y[: bounds[-1]]
        self.sample_weight = None if sample_weight is None else sample_weight[: bounds[-1]]
        self.is_fixed = not isinstance(ridge, str)
        self._ridge = float(ridge) if self.is_fixed else None
        self._chosen_for = 0
        self._plan, self._executor, self._scratch = plan, executor, Scratch()
        w = np.ones(len(self._Y)) if sample_weight is None else np.asarray(self.sample_weight, dtype=np.float64)
        self._samples = [slice(*ends) for ends in pairwise(bounds)]
        self._blocks = [_Block(self._Y[block], w[block], self._scratch, exact=exact) for block in self._samples]
        self.in_blocks = len(self._blocks) > 1  # whether each of several blocks has a regression
        total = sum(block.variance for block in self._blocks)
        for block in self._blocks:
            block.total = total or 1.0
        tops = [tile.rows.start for tile in plan.tiles]
        self._tiles = [range(bisect_left(tops, start), bisect_left(tops, stop)) for start, stop in pairwise(bounds)]

    def of_samples(self, samples: Indices, ridge: float) -> RidgeRegression:
        """Return the regression on some of the samples, as one block."""
        w = None if self.sample_weight is None else self.sample_weight[samples]
        return RidgeRegression(self._Y[samples], ridge, tile_plan(len(samples)), (0,), w, self._executor)

    def resume(self, rounds: Iterable[tuple[int, float]]) -> None:
        """Continue after earlier fits, given the number of features and the ridge of each."""
        for n_features, ridge in rounds:
            if self._is_due(n_features):
                self._ridge, self._chosen_for = ridge, n_features

    @property
    def ridge(self) -> float:
        """The ridge in use."""
        return RIDGES[0] if self._ridge is None else float(self._ridge)

    def empty(self) -> RidgeFit:
        """Return the fit to no feature: residuals are the labels themselves."""
        return _joined([block.mean_fit(self.ridge) for block in self._blocks])

    def fit(
        self,
        kernel: KernelTiles,
        n_features: int,
        ridge: float | None = None,
        judging: float = 0.0,
        *,
        losses: bool = False,
    ) -> RidgeFit:
        """Fit to a subset of so many features, with a given ridge, or the one chosen anew where that is due.

        If that is smaller than ``judging``, `RidgeFit.Q` are the residuals with the latter. ``losses`` says whether
        leave-one-out losses are wanted.
        """
        whole = None if self.in_blocks else self._matrix(kernel, 0, self._executor)
        if ridge is None and self._is_due(n_features):
            some = self._some(kernel, whole)
            best = self._choose(some, n_features)
            if len(best.Q) == len(self._Y):  # the fit to some of the samples is that to all of them
                if best.ridge >= judging:
                    return best
                Q = [block.fit(K, judging, executor=self._executor, losses=False).Q for block, K in some]
                return replace(best, Q=np.concatenate(Q))
        used = self.ridge if ridge is None else ridge
        if whole is not None:
            return self._blocks[0].fit(whole, used, judging, self._executor, losses=losses)
        (fits,) = self._each([kernel], lambda block, K: block.fit(K, used, judging, losses=losses))
        return _joined(fits)

    def predictabilities(self, kernels: Sequence[Gram]) -> list[float]:
        """Return the predictability with each of several matrices of kernel values."""
        tiles = [GramTiles(kernel, self._plan) for kernel in kernels]
        found = self._each(tiles, lambda block, K: block.fit(K, self.ridge, losses=True))
        return [_joined(fits).predictability for fits in found]

    def judged(self, kernels: Sequence[KernelTiles], count: int) -> list[float]:
        """Return the predictability with several kernels, minus infinity for some that are not the ``count`` best."""

        def fitted(block: _Block, K: KernelBlock) -> RidgeFit:
            return block.fit(K, self.ridge, losses=True)

        first = self._each(kernels, fitted, slice(_FIRST_BLOCKS))
        order = np.argsort([-_joined(fits).predictability for fits in first], kind="stable")
        kept = sorted(int(at) for at in order[: max(count, (len(kernels) + 1) // 2)])
        others = self._each([kernels[at] for at in kept], fitted, slice(_FIRST_BLOCKS, None))
        judged = [-math.inf] * len(kernels)
        for at, fits in zip(kept, others, strict=True):
            judged[at] = _joined(first[at] + fits).predictability
        return judged

    def explained(self, kernels: Sequence[KernelTiles]) -> list[float]:
        """Return the penalised share of explained variance with each of several kernels."""
        return [sum(parts) for parts in self._each(kernels, lambda block, K: block.explained(K, self.ridge))]

    def _each(
        self, kernels: Sequence[KernelTiles], work: Callable[[_Block, KernelBlock], Result], some: slice = slice(None)
    ) -> list[list[Result]]:
        """Return a result for each of several kernels and each of some blocks; each is a task."""
        numbers = range(len(self._blocks))[some]

        def one(task: tuple[KernelTiles, int]) -> Result:
            return work(self._blocks[task[1]], self._matrix(*task))

        found = iter(self._executor.map(one, product(kernels, numbers)))
        return [[next(found) for _ in numbers] for _ in kernels]

    def _is_due(self, n_features: int) -> bool:
        """Whether the ridge is chosen anew for a subset of so many features."""
        low, high = sorted((n_features, self._chosen_for))
        return not self.is_fixed and low <= _RENEWED * high

    def _choose(self, some: Sequence[tuple[_Block, KernelBlock]], n_features: int) -> RidgeFit:
        """Choose the ridge with the least leave-one-out error on some of the samples; return the fit to these."""
        candidates = RIDGES
        if self._ridge is not None:
            place = RIDGES.index(self._ridge)
            candidates = RIDGES[max(0, place - 1) : place + 2]

        def fitted(ridge: float) -> RidgeFit:
            return _joined([block.fit(K, ridge, losses=True) for block, K in some])

        trials = self._executor.map(fitted, candidates)
        best = max(trials, key=lambda fit: (round(fit.predictability, _DIGITS), fit.ridge))
        self._ridge, self._chosen_for = best.ridge, n_features
        return best

    def _some(self, kernel: KernelTiles, whole: KernelBlock | None) -> list[tuple[_Block, KernelBlock]]:
        """Return about `RIDGE_SAMPLES` samples and their kernel values: the first blocks, or some of the only one."""
        if whole is None:
            sizes = np.cumsum([len(block.w) for block in self._blocks])
            blocks = self._blocks[: 1 + int(np.searchsorted(sizes, RIDGE_SAMPLES))]
            found = (self._matrix(kernel, number, self._executor) for number in range(len(blocks)))
            return [(block, replace(K, values=K.values.copy())) for block, K in zip(blocks, found, strict=True)]
        (block,) = self._blocks
        if len(whole) <= RIDGE_SAMPLES:
            return [(block, whole)]
        chosen = some_samples(len(whole), RIDGE_SAMPLES)
        fewer, values = block.of_samples(chosen), whole.values[np.ix_(chosen, chosen)]
        return [(fewer, KernelBlock.of_sums(values, values @ fewer.w + fewer.w @ values, fewer.w))]

    def _matrix(self, kernel: KernelTiles, number: int, executor: Executor = _SERIAL) -> KernelBlock:
        """Return the kernel values of a block, valid until the same thread makes those of another block."""
        start, w, m = self._samples[number].start, self._blocks[number].w, len(self._blocks[number].w)
        K = self._scratch.take("kernel", (m, m))

        def place(index: int) -> tuple[Placed, Placed]:
            """Put a tile in its place, and add up its rows and columns, but for the diagonal."""
            tile = self._plan.tiles[index]
            rows, cols = (slice(side.start - start, side.stop - start) for side in (tile.rows, tile.cols))
            target = K[rows, cols]
            for some, values in kernel.strips(index):
                target[some] = values
            if tile.on_diagonal:
                K[rows, : rows.start] = 0.0
                np.copyto(target[:, : len(target)], 0.0, where=np.tri(len(target), k=-1, dtype=bool))
            return Placed(rows.start, target @ w[cols]), Placed(cols.start, w[rows] @ target)

        sums = np.zeros(m)
        for part in executor.map(place, self._tiles[number]):
            for first, values in part:
                sums[first : first + len(values)] += values
        return KernelBlock.of_sums(K, sums, w)


class _Block:
    """Ridge regression on the samples of one block.

    With s the roots of the weights w, b solves (sKs + lambda I) b = sY for centred K and Y, and the residuals over
    lambda are b / s. Leave-one-out leaves out a sample as a whole, whatever its weight.
    """

    def __init__(self, Y: Array, w: Array, scratch: Scratch, *, exact: bool) -> None:
        self._Y = np.asarray(Y - w @ Y / w.sum())
        self.w, self._roots, self._scratch, self._exact = w, np.sqrt(w)[:, None], scratch, exact
        self._n = float(w.sum())
        if len(w) > 1 and self._n - w.max() < _LEAST_REST * self._n:
            raise ValueError(
                f"sample_weight has {w.max():g} for one sample, and less than {_LEAST_REST:g} of that for all others "
                "of a regression together; accepted with criterion='prediction' or held-out samples: more"
            )
        self.variance = float(w @ np.square(self._Y).sum(axis=1))
        self.total = self.variance or 1.0  # of all blocks together
        self._targets = self._Y * self._roots
        self._share = w / self._n  # of each sample in the mean
        others = np.where(self._share < 1, 1 - self._share, np.inf)
        self._baseline = np.asarray(np.square(self._Y / others[:, None]).sum(axis=1))

    def of_samples(self, samples: Indices) -> _Block:
        """Return the regression on some of the samples."""
        return _Block(self._Y[samples], self.w[samples], self._scratch, exact=self._exact)

    def mean_fit(self, ridge: float) -> RidgeFit:
        """Return the fit that predicts the mean."""
        Q = self._Y * self.w[:, None] / math.sqrt(self._n * ridge * self.total)
        return RidgeFit(ridge, 0.0, 0.0, Q, np.zeros_like(Q), self._baseline, self._baseline, self.w)

    def fit(
        self, K: KernelBlock, ridge: float, judging: float = 0.0, executor: Executor = _SERIAL, *, losses: bool
    ) -> RidgeFit:
        """Fit to centred kernel values, with residuals of a ridge of at least ``judging``; threads share the work."""
        if judging > ridge:  # two factors at the same time
            tasks = (ridge, losses), (judging, False)
            fit, judge = executor.map(lambda task: self.fit(K, task[0], losses=task[1]), tasks)
            return replace(fit, Q=judge.Q)
        lam, left_out = self._n * ridge, None
        factor = self._factor(K, lam, executor)
        b = self._solution(K, lam, factor)
        missed = lam * float(np.vdot(self._targets, b))
        if losses:  # of b_i / (s_i (A_ii - w_i / (n lambda))) with the inverse A
            own_part = factor.inverse_diagonal() - self._share / lam
            left_out = np.asarray(np.square(b / self._roots / own_part[:, None]).sum(axis=1))
        return RidgeFit(
            ridge=ridge,
            explained=(self.variance - missed) / self.total,
            quadratic=(missed - lam**2 * float(np.vdot(b, b))) / self.total,
            Q=b * self._roots * math.sqrt(lam / self.total),
            coefficients=b * self._roots,
            baseline=self._baseline,
            losses=left_out,
            sample_weight=self.w,
        )

    def explained(self, K: KernelBlock, ridge: float) -> float:
        """Return the part of the explained share of the variance of all blocks."""
        # With an approximate solution b and its residual r, lambda tr((sY + r)'b) is missed, up to the square of r.
        lam = self._n * ridge
        b = np.asarray(self._factor(K, lam, _SERIAL).solve(self._targets), dtype=np.float64)
        rest = self._targets - K.product(b) - lam * b
        return (self.variance - lam * float(np.vdot(self._targets + rest, b))) / self.total

    def _factor(self, K: KernelBlock, lam: float, executor: Executor) -> CholeskyFactor:
        well_conditioned = K.trace <= _WELL_CONDITIONED * lam
        single = len(K) > DOUBLE_SAMPLES and well_conditioned and not self._exact
        try:
            return CholeskyFactor(K, lam, executor, np.float32 if single else np.float64, self._scratch)
        except np.linalg.LinAlgError:
            raise ValueError(NOT_DEFINITE) from None

    def _solution(self, K: KernelBlock, lam: float, factor: CholeskyFactor) -> Array:
        """Solve (sKs + lambda I) b = sY, refined where the factor has the precision of float32."""
        solved = np.asarray(factor.solve(self._targets), dtype=np.float64)
        if factor.dtype == np.float64:
            return solved
        size = float(np.abs(self._targets).max())
        for _ in range(_MOST_STEPS):
            rest = self._targets - K.product(solved) - lam * solved
            worst = float(np.abs(rest).max())
            if worst <= _SOLVED * size:
                break
            solved += factor.solve(rest / worst).astype(np.float64) * worst
        return solved


def _joined(fits: Sequence[RidgeFit]) -> RidgeFit:
    """Return the fits to several blocks as one."""
    if len(fits) == 1:
        return fits[0]
    names = ["Q", "coefficients", "baseline", "sample_weight"] + ["losses"] * (fits[0].losses is not None)
    arrays: Any = {name: np.concatenate([getattr(fit, name) for fit in fits]) for name in names}
    explained, quadratic = sum(fit.explained for fit in fits), sum(fit.quadratic for fit in fits)
    return RidgeFit(fits[0].ridge, explained, quadratic, **arrays)
