"""Kernel ridge regression of the labels on subsets of features: residuals, leave-one-out losses, the ridge."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bahsic.criteria.blocks import some_samples
from bahsic.criteria.prediction import NOT_DEFINITE, RIDGES, RidgeFit
from bahsic.criteria.weights import Gram
from bahsic.engine.cholesky import CholeskyFactor
from bahsic.engine.executor import Executor, Placed, ThreadExecutor
from bahsic.engine.gram import GramTiles, KernelTiles
from bahsic.engine.kernel_block import KernelBlock, Zeros, below_diagonal
from bahsic.engine.plan import Plan, Tile, tile_plan
from bahsic.engine.scratch import Scratch
from bahsic.kernels.rows import FloatArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Samples of a block up to which it is factored in float64; beyond it float32 is refined until it is as exact, unless
# the ridge is too small for that.
DOUBLE_SAMPLES = 512

# Greatest trace of the kernel matrix over the penalty, a bound on the condition number, at which float32 will do.
_WELL_CONDITIONED = 2e4

# Relative size of the residuals of the linear equations at which refinement ends, and the most steps.
_SOLVED = 1e-9
_MOST_STEPS = 20

# Digits of the predictability that choose the ridge: where none explains anything, rounding does not decide.
_DIGITS = 9

# The ridge is chosen anew when the number of features has changed by this factor since the last choice.
_RENEWED = 2 / 3

# Blocks in which all candidates of a round are judged; only the better half of them is judged in the others too.
_FIRST_BLOCKS = 2

# For what one thread does by itself.
_SERIAL = ThreadExecutor(1)

# Samples on which the ridge is chosen: some of them, or the first blocks.
RIDGE_SAMPLES = 1000


class RidgeRegression:
    """Kernel ridge regression of fixed label features on subsets of features, given their kernel values.

    Parameters
    ----------
    Y : ndarray of shape (m, c)
        See `bahsic.criteria.prediction.label_features`; it is centred in each block here.
    ridge : float or "auto"
        "auto" chooses the ridge with the least leave-one-out error: of all at first, of the last choice and its
        neighbours when the number of features has changed by a third.
    plan : Plan
        The tiles on which kernel values are given.
    starts : tuple of int
        First sample of each block. Every block has a regression of its own.
    sample_weight : ndarray of shape (m,), optional
        Number of times that each sample counts.
    executor : Executor
    exact : bool
        Whether to factor in float64 however many samples there are: leave-one-out losses have all their digits then.
        Otherwise beyond `DOUBLE_SAMPLES` they have about six.
    most_blocks : int, optional
        Largest number of blocks to use; by default all.
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
        end = len(Y) if most_blocks is None else [*starts, len(Y)][min(most_blocks, len(starts))]
        starts, Y = starts[:most_blocks], Y[:end]
        sample_weight = None if sample_weight is None else sample_weight[:end]
        self._plan, self._executor, self.starts = plan, executor, starts
        self._Y, self.sample_weight = Y, sample_weight
        self._blocks = [slice(*ends) for ends in pairwise([*starts, len(Y)])]
        w = np.ones(len(Y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        memory = Scratch(), Scratch()
        self._parts = [_Part(Y[block], w[block], memory, exact=exact) for block in self._blocks]
        self._fixed = None if isinstance(ridge, str) else float(ridge)
        self._ridge = self._fixed
        self._chosen_for = 0
        self._zeros = Zeros()
        self._tiles: list[list[tuple[int, Tile]]] = [[] for _ in starts]  # of each block
        for index, tile in enumerate(plan.tiles):
            if tile.start < end:
                self._tiles[bisect_right(starts, tile.start) - 1].append((index, tile))

    def of_samples(self, samples: Indices, ridge: float) -> RidgeRegression:
        """The regression on some of the samples, as one block."""
        w = None if self.sample_weight is None else self.sample_weight[samples]
        return RidgeRegression(self._Y[samples], ridge, tile_plan(len(samples)), (0,), w, self._executor)

    def resume(self, rounds: Iterable[tuple[int, float]]) -> None:
        """Continue after earlier fits, given the number of features and the ridge of each."""
        for n_features, ridge in rounds:
            if self.is_due(n_features):
                self._ridge, self._chosen_for = ridge, n_features

    @property
    def ridge(self) -> float:
        """The ridge in use."""
        return RIDGES[0] if self._ridge is None else float(self._ridge)

    def empty(self) -> RidgeFit:
        """The fit to no feature: residuals are the labels themselves."""
        return _joined(self._parts, [part.mean_fit(self.ridge) for part in self._parts], self.ridge)

    def fit(
        self,
        kernel: KernelTiles,
        n_features: int,
        ridge: float | None = None,
        judging: float = 0.0,
        *,
        losses: bool = False,
    ) -> RidgeFit:
        """The fit to a subset of so many features, with a given ridge, or the one chosen anew where that is due.

        If that is smaller than ``judging``, `RidgeFit.Q` are the residuals with the latter. ``losses`` says whether
        leave-one-out losses are wanted.
        """
        first = self._matrix(kernel, 0, self._executor) if len(self._parts) == 1 else None
        if ridge is None and self.is_due(n_features):
            parts, matrices = self._some(kernel) if first is None else _some(self._parts[0], first)
            trials = self._executor.map(lambda one: _fitted(parts, matrices, one), self._candidates())
            best = max(trials, key=lambda fit: (round(fit.predictability, _DIGITS), fit.ridge))
            self._ridge, self._chosen_for = best.ridge, n_features
            if sum(map(len, matrices)) == len(self._Y):
                return best if best.ridge >= judging else self._judging(best, matrices, judging)
        used = self.ridge if ridge is None else ridge
        if first is not None:
            found = self._parts[0].fit(first, used, self._executor, judging, losses=losses)
            return _joined(self._parts, [found], used)

        def one(number: int) -> _Found:
            K = self._matrix(kernel, number, _SERIAL)
            return self._parts[number].fit(K, used, None, judging, losses=losses)

        return _joined(self._parts, self._executor.map(one, range(len(self._parts))), used)

    @property
    def is_fixed(self) -> bool:
        """Whether the ridge was given."""
        return self._fixed is not None

    def predictabilities(self, kernels: Sequence[Gram]) -> list[float]:
        """Predictability with each of several matrices of kernel values; a task for each."""

        def one(kernel: Gram) -> float:
            tiles = GramTiles(kernel, self._plan)
            found = [
                part.fit(self._matrix(tiles, number, _SERIAL), self.ridge) for number, part in enumerate(self._parts)
            ]
            return _joined(self._parts, found, self.ridge).predictability

        return self._executor.map(one, kernels)

    @property
    def in_blocks(self) -> bool:
        """Whether there is a regression for each of several blocks."""
        return len(self._parts) > 1

    def judged(self, kernels: Sequence[KernelTiles], count: int) -> list[RidgeFit | None]:
        """The fits to several kernels, of which the ``count`` with the greatest predictability are wanted.

        All are judged in the first blocks and the better half in the other blocks too; None for the rest.
        """
        numbers = range(len(self._parts))
        found = self._fits(kernels, numbers[:_FIRST_BLOCKS])
        order = np.argsort([-self._joined(fits).predictability for fits in found], kind="stable")
        kept = sorted(int(at) for at in order[: max(count, (len(kernels) + 1) // 2)])
        others = self._fits([kernels[at] for at in kept], numbers[_FIRST_BLOCKS:])
        judged: list[RidgeFit | None] = [None] * len(kernels)
        for at, fits in zip(kept, others, strict=True):
            judged[at] = self._joined(found[at] + fits)
        return judged

    def _fits(self, kernels: Sequence[KernelTiles], numbers: Sequence[int]) -> list[list[_Found]]:
        """The fits to each of several kernels in some blocks; a task for each kernel and each block."""

        def one(task: tuple[KernelTiles, int]) -> _Found:
            kernel, number = task
            return self._parts[number].fit(self._matrix(kernel, number, _SERIAL), self.ridge)

        found = iter(self._executor.map(one, list(product(kernels, numbers))))
        return [[next(found) for _ in numbers] for _ in kernels]

    def _joined(self, fits: Sequence[_Found]) -> RidgeFit:
        """The fits in the first blocks, or in all, as one."""
        return _joined(self._parts[: len(fits)], fits, self.ridge)

    def explained(self, kernels: Sequence[KernelTiles]) -> list[float]:
        """Penalised share of explained variance with each of several kernels.

        A task for each kernel and each block.
        """

        def one(task: tuple[KernelTiles, int]) -> float:
            kernel, number = task
            K = self._matrix(kernel, number, _SERIAL)
            return self._parts[number].missed(K, self.ridge)

        n_parts, total = len(self._parts), _variance(self._parts)
        missed = self._executor.map(one, list(product(kernels, range(n_parts))))
        return [1 - sum(missed[start : start + n_parts]) / total for start in range(0, len(missed), n_parts)]

    def _judging(self, fit: RidgeFit, matrices: Sequence[KernelBlock], ridge: float) -> RidgeFit:
        """A fit with the residuals of a greater ridge."""
        found = [part.residuals(K, ridge, self._executor) for part, K in zip(self._parts, matrices, strict=True)]
        return replace(fit, Q=_weighted(self._parts, found))

    def is_due(self, n_features: int) -> bool:
        """Whether the ridge is chosen anew for a subset of so many features."""
        low, high = sorted((n_features, self._chosen_for))
        return self._fixed is None and low <= _RENEWED * high

    def _candidates(self) -> tuple[float, ...]:
        if self._ridge is None:
            return RIDGES
        place = RIDGES.index(self._ridge)
        return RIDGES[max(0, place - 1) : place + 2]

    def _some(self, kernel: KernelTiles) -> tuple[list[_Part], list[KernelBlock]]:
        """The first blocks, of about `RIDGE_SAMPLES` samples together, and their kernel values."""
        sizes = np.cumsum([block.stop - block.start for block in self._blocks])
        n_blocks = min(len(sizes), 1 + int(np.searchsorted(sizes, RIDGE_SAMPLES)))
        matrices = [self._matrix(kernel, number, self._executor).copy() for number in range(n_blocks)]
        return self._parts[:n_blocks], matrices

    def _matrix(self, kernel: KernelTiles, number: int, executor: Executor) -> KernelBlock:
        """Kernel values of the samples of a block, valid until the same thread makes those of another block."""
        block, w, tiles = self._blocks[number], self._parts[number].w, self._tiles[number]
        K = self._zeros(block.stop - block.start)

        def place(found: tuple[int, Tile]) -> tuple[Placed, Placed]:
            """Put a tile in its place, and add up its rows and columns, but for the diagonal."""
            index, tile = found
            rows, cols = (slice(side.start - block.start, side.stop - block.start) for side in (tile.rows, tile.cols))
            target = K[rows, cols]
            for some, values in kernel.strips(index):
                target[some] = values
            if tile.on_diagonal:
                np.copyto(target[:, : len(target)], 0.0, where=below_diagonal(len(target)))
            return Placed(rows.start, target @ w[cols]), Placed(cols.start, w[rows] @ target)

        sums = np.zeros(len(K))
        for part in executor.map(place, tiles):
            for start, values in part:
                sums[start : start + len(values)] += values
        return KernelBlock.of_sums(K, sums, w)


class _Found(NamedTuple):
    """Ridge regression on one block.

    Variance that is missed, tr(b'sKsb), residuals B with their penalty, coefficients, and leave-one-out losses.
    """

    missed: float
    quadratic: float
    B: Array
    penalty: float
    coefficients: Array
    losses: Array | None


class _Part:
    """Ridge regression on the samples of one block.

    With s the roots of the weights w, b solves (sKs + lambda I) b = sY for centred K and Y, and the residuals over
    lambda are B = b / s. Leave-one-out leaves out a sample as a whole, whatever its weight. There is memory for two
    factors at the same time.
    """

    def __init__(self, Y: Array, w: Array, memory: tuple[Scratch, Scratch], *, exact: bool) -> None:
        self._scratch, self._other = memory
        self._Y = np.asarray(Y - w @ Y / w.sum())
        self.w, self._roots, self._exact = w, np.sqrt(w), exact
        self._n = float(w.sum())
        self.variance = float(w @ np.square(self._Y).sum(axis=1))
        self._targets = self._Y * self._roots[:, None]
        self._share = w / self._n  # of each sample in the mean
        others = np.where(self._share < 1, 1 - self._share, np.inf)
        self.baseline = np.asarray(np.square(self._Y / others[:, None]).sum(axis=1))

    def of_samples(self, samples: Indices) -> _Part:
        """The regression on some of the samples."""
        return _Part(self._Y[samples], self.w[samples], (self._scratch, self._other), exact=self._exact)

    def mean_fit(self, ridge: float) -> _Found:
        """The fit that predicts the mean."""
        lam = self._n * ridge
        return _Found(self.variance, 0.0, self._Y / lam, lam, np.zeros_like(self._Y), self.baseline)

    def fit(
        self,
        K: KernelBlock,
        ridge: float,
        executor: Executor | None = None,
        judging: float = 0.0,
        *,
        losses: bool = True,
    ) -> _Found:
        """The fit to centred kernel values, with the B of a ridge of at least ``judging``.

        Threads share the work if there is an executor.
        """
        lam = self._n * ridge
        if judging <= ridge:
            return self._found(K, lam, self._factored(K, lam, executor), executor, losses=losses)
        # Two factors at the same time, each by one call of LAPACK: no slower than by panels, and one way for all sizes.
        tasks: list[Callable[[], Any]] = [
            partial(self._factored, K, lam, None),
            partial(self.residuals, K, judging, None, self._other),
        ]
        factor, (B, penalty) = (_SERIAL if executor is None else executor).map(lambda task: task(), tasks)
        return self._found(K, lam, factor, executor, losses=losses)._replace(B=B, penalty=penalty)

    def _found(
        self, K: KernelBlock, lam: float, factor: CholeskyFactor, executor: Executor | None, *, losses: bool
    ) -> _Found:
        b = self._refined(K, lam, factor)
        B = b / self._roots[:, None]
        missed = lam * float(np.vdot(self._targets, b))
        quadratic = missed - lam**2 * float(np.vdot(b, b))
        left_out = self._left_out(B, factor.inverse_diagonal(executor), lam) if losses else None
        return _Found(missed, quadratic, B, lam, b * self._roots[:, None], left_out)

    def _left_out(self, B: Array, inverse_diagonal: Array, lam: float) -> Array:
        """Squared residual of each sample where it is left out: B_i / (A_ii - w_i / (n lambda))."""
        own = inverse_diagonal - self._share / lam
        return np.asarray(np.square(B / own[:, None]).sum(axis=1))

    def residuals(
        self, K: KernelBlock, ridge: float, executor: Executor | None, scratch: Scratch | None = None
    ) -> tuple[Array, float]:
        """B alone, and the penalty lambda."""
        lam = self._n * ridge
        return self._refined(K, lam, self._factored(K, lam, executor, scratch)) / self._roots[:, None], lam

    def missed(self, K: KernelBlock, ridge: float) -> float:
        """Variance that is missed.

        With an approximate solution b and its residual r it is lambda tr((sY + r)'b), up to the square of r.
        """
        lam = self._n * ridge
        b = np.asarray(self._factored(K, lam, None).solve(self._targets), dtype=np.float64)
        rest = self._targets - K.product(b) - lam * b
        return lam * float(np.vdot(self._targets + rest, b))

    def _factored(
        self, K: KernelBlock, lam: float, executor: Executor | None, scratch: Scratch | None = None
    ) -> CholeskyFactor:
        well_conditioned = K.trace <= _WELL_CONDITIONED * lam
        single = len(K) > DOUBLE_SAMPLES and well_conditioned and not self._exact
        try:
            return CholeskyFactor(K, lam, executor, np.float32 if single else np.float64, scratch or self._scratch)
        except np.linalg.LinAlgError:
            raise ValueError(NOT_DEFINITE) from None

    def _refined(self, K: KernelBlock, lam: float, factor: CholeskyFactor) -> Array:
        """Solution of (sKs + lambda I) b = targets, refined where the factor has the precision of float32."""
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


def _fitted(parts: Sequence[_Part], matrices: Sequence[KernelBlock], ridge: float) -> RidgeFit:
    found = [part.fit(K, ridge) for part, K in zip(parts, matrices, strict=True)]
    return _joined(parts, found, ridge)


def _variance(parts: Sequence[_Part]) -> float:
    return sum(part.variance for part in parts) or 1.0


def _joined(parts: Sequence[_Part], found: Sequence[_Found], ridge: float) -> RidgeFit:
    """The fits to all blocks as one."""
    total = _variance(parts)
    plain = all((part.w == 1).all() for part in parts)
    losses = [fit.losses for fit in found if fit.losses is not None]
    return RidgeFit(
        ridge=ridge,
        explained=1 - sum(fit.missed for fit in found) / total,
        quadratic=sum(fit.quadratic for fit in found) / total,
        Q=_weighted(parts, [(fit.B, fit.penalty) for fit in found]),
        coefficients=np.concatenate([fit.coefficients for fit in found]),
        baseline=np.concatenate([part.baseline for part in parts]),
        losses=None if not losses else np.concatenate(losses),
        sample_weight=None if plain else np.concatenate([part.w for part in parts]),
    )


def _weighted(parts: Sequence[_Part], found: Sequence[tuple[Array, float]]) -> Array:
    """`RidgeFit.Q` of the residuals B of each block, given with their penalties."""
    total = _variance(parts)
    Q = [B * part.w[:, None] * math.sqrt(lam / total) for part, (B, lam) in zip(parts, found, strict=True)]
    return np.concatenate(Q)


def _some(part: _Part, K: KernelBlock) -> tuple[list[_Part], list[KernelBlock]]:
    """`RIDGE_SAMPLES` samples of a block and their kernel values; all where there are no more."""
    if len(K) <= RIDGE_SAMPLES:
        return [part], [K]
    chosen = some_samples(len(K), RIDGE_SAMPLES)
    fewer, values = part.of_samples(chosen), K.values[np.ix_(chosen, chosen)]
    return [fewer], [KernelBlock.of_sums(values, values @ fewer.w + fewer.w @ values, fewer.w)]
