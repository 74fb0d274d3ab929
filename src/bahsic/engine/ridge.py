"""Kernel ridge regression of the labels on subsets of features: residuals, leave-one-out losses, the ridge."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from bahsic.criteria.prediction import RIDGES, RidgeFit
from bahsic.engine.cholesky import CholeskyFactor
from bahsic.engine.executor import Executor
from bahsic.engine.gram import KernelTiles
from bahsic.engine.plan import Plan, Tile
from bahsic.kernels.rows import FloatArray

Array = NDArray[np.float64]

# Samples of a block up to which it is factored in float64; beyond it float32 is refined until it is as exact, unless
# the ridge is too small for that.
DOUBLE_SAMPLES = 512

# Greatest trace of the kernel matrix over the penalty, a bound on the condition number, at which float32 will do.
_WELL_CONDITIONED = 2e4

# Relative size of the residuals of the linear equations at which refinement ends, and the most steps.
_SOLVED = 1e-11
_MOST_STEPS = 20

# Negative eigenvalues that are smaller than this part of the trace are rounding errors.
_NEGATIVE = 1e-12

# The ridge is chosen anew when this share of the features is left since the last choice.
_RENEWED = 2 / 3


class RidgeRegression:
    """Kernel ridge regression of fixed label features on subsets of features, given their kernel values.

    Parameters
    ----------
    Y : ndarray of shape (m, c)
        See `bahsic.criteria.prediction.label_features`; it is centred in each block here.
    ridge : float or "auto"
        "auto" chooses the ridge with the least leave-one-out error: of all at first, of the neighbours of the last
        choice when the number of features has changed by a third.
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
    ) -> None:
        self._plan, self._executor, self.starts = plan, executor, starts
        self.sample_weight = sample_weight
        self._blocks = [slice(*ends) for ends in pairwise([*starts, len(Y)])]
        w = np.ones(len(Y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        self._parts = [_Part(_block_centred(Y[block], w[block]), w[block], exact=exact) for block in self._blocks]
        self._total = sum(part.variance for part in self._parts) or 1.0
        self._fixed = None if isinstance(ridge, str) else float(ridge)
        self._ridge = self._fixed
        self._chosen_for = 0

    def state(self) -> dict[str, Any]:
        """The chosen ridge as plain data."""
        return {"ridge": self._ridge, "chosen_for": self._chosen_for}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue with the ridge of an earlier search; see `state`."""
        self._ridge, self._chosen_for = state["ridge"], int(state["chosen_for"])

    @property
    def ridge(self) -> float:
        """The ridge in use."""
        return RIDGES[0] if self._ridge is None else float(self._ridge)

    def empty(self) -> RidgeFit:
        """The fit to no feature: residuals are the labels themselves."""
        return self._joined([part.mean_fit(self.ridge, self._total) for part in self._parts], self.ridge)

    def fit(
        self, kernel: KernelTiles, n_features: int, ridge: float | None = None, *, definite: bool = True
    ) -> RidgeFit:
        """The fit to a subset of so many features, with a given ridge, or the one chosen anew where that is due.

        Where kernel values need not be positive ``definite``, as with missing entries, the negative eigenvalues of
        their centred matrix are set to zero.
        """
        matrices = self._matrices(kernel, definite=definite)
        if ridge is not None or self._fixed is not None or not self._due(n_features):
            return self._fitted(matrices, self.ridge if ridge is None else ridge)
        fits = {ridge: self._fitted(matrices, ridge) for ridge in self._candidates()}
        best = max(fits.values(), key=lambda fit: (fit.predictability, fit.ridge))
        self._ridge, self._chosen_for = best.ridge, n_features
        return best

    def _due(self, n_features: int) -> bool:
        low, high = sorted((n_features, self._chosen_for))
        return low <= _RENEWED * high

    def _candidates(self) -> tuple[float, ...]:
        if self._ridge is None:
            return RIDGES
        place = RIDGES.index(self._ridge)
        return RIDGES[max(0, place - 1) : place + 2]

    def _matrices(self, kernel: KernelTiles, *, definite: bool) -> list[Array]:
        """Centred kernel values of each block, positive semidefinite."""
        parts = list(zip(self._blocks, self._parts, strict=True))
        matrices = [self._assembled(kernel, *pair) for pair in parts]
        return matrices if definite else [part.semidefinite(K) for (_, part), K in zip(parts, matrices, strict=True)]

    def _assembled(self, kernel: KernelTiles, block: slice, part: _Part) -> Array:
        """Centred kernel values of the samples of one block: the upper triangle, and zeros below."""
        tiles = [
            (index, tile)
            for index, tile in enumerate(self._plan.tiles)
            if block.start <= tile.start and tile.stop <= block.stop
        ]
        K = np.zeros((block.stop - block.start,) * 2)

        def place(found: tuple[int, Tile]) -> None:
            index, tile = found
            target = _part(K, tile, block)
            for rows, values in kernel.strips(index):
                target[rows] = values
            _without_lower(target, tile)

        self._executor.map(place, tiles)
        shift = _centring(K, part.w)

        def centre(found: tuple[int, Tile]) -> None:
            tile = found[1]
            values = _part(K, tile, block)
            rows, cols = (slice(side.start - block.start, side.stop - block.start) for side in (tile.rows, tile.cols))
            values -= shift[rows, None]
            values -= shift[cols]
            _without_lower(values, tile)

        self._executor.map(centre, tiles)
        return K

    def _fitted(self, matrices: list[Array], ridge: float) -> RidgeFit:
        parts = zip(self._parts, matrices, strict=True)
        return self._joined([part.fit(K, ridge, self._total, self._executor) for part, K in parts], ridge)

    def _joined(self, fits: list[tuple[float, Array, Array, Array]], ridge: float) -> RidgeFit:
        missed, Q, losses, baseline = zip(*fits, strict=True)
        explained = 1 - sum(missed) / self._total
        return RidgeFit(
            ridge, explained, np.concatenate(Q), np.concatenate(losses), np.concatenate(baseline), self.sample_weight
        )

    def explained(self, kernel: KernelTiles, *, definite: bool = True) -> float:
        """Penalised share of explained variance with other kernel values and the ridge in use; see `fit`."""
        parts = zip(self._parts, self._matrices(kernel, definite=definite), strict=True)
        return 1 - sum(part.missed(K, self.ridge, self._executor) for part, K in parts) / self._total


def _block_centred(Y: Array, w: Array) -> Array:
    return np.asarray(Y - w @ Y / w.sum())


def _part(K: Array, tile: Tile, block: slice) -> Array:
    return K[tile.start - block.start : tile.stop - block.start, tile.first - block.start : tile.end - block.start]


def _without_lower(values: Array, tile: Tile) -> Array:
    """The values on a tile with zeros below the diagonal, in place."""
    if tile.on_diagonal:
        square = values[:, : len(values)]
        np.copyto(square, 0.0, where=np.tri(len(square), k=-1, dtype=bool))
    return values


def _centring(K: Array, w: Array) -> Array:
    """The vector r for which K - r1' - 1r' is centred under the weights w, given the upper triangle of K."""
    means = (K @ w + w @ K - np.diagonal(K) * w) / w.sum()
    return np.asarray(means - w @ means / (2 * w.sum()))


class _Part:
    """Ridge regression on the samples of one block.

    With s the roots of the weights w, b solves (sKs + lambda I) b = sY for centred K and Y, and the residuals over
    lambda are B = b / s. A sample with weight w stands for w copies, of which leave-one-out leaves out one, or all
    of them if w is below one.
    """

    def __init__(self, Y: Array, w: Array, *, exact: bool) -> None:
        self._single = len(Y) > DOUBLE_SAMPLES and not exact
        self._Y, self.w, self._roots = Y, w, np.sqrt(w)
        self._n, self._plain = float(w.sum()), bool((w == 1).all())
        self.variance = float(w @ np.square(Y).sum(axis=1))
        self._targets = Y * self._roots[:, None]
        self._copies = np.maximum(w, 1.0)  # of which one is left out
        self._share = w / self._copies / self._n  # of that one in the mean
        others = np.where(self._share < 1, 1 - self._share, np.inf)
        self._baseline = np.asarray(np.square(Y / others[:, None]).sum(axis=1))

    def semidefinite(self, K: Array) -> Array:
        """K without the negative eigenvalues of sKs, given and returned as an upper triangle."""
        A = (K + np.triu(K, 1).T) * self._roots[:, None] * self._roots
        highest = -_NEGATIVE * float(np.trace(A))
        values, V = eigh(A, subset_by_value=(-np.inf, highest), overwrite_a=True, check_finite=False)
        V /= self._roots[:, None]
        return np.asarray(K + np.triu(V * -values @ V.T))

    def mean_fit(self, ridge: float, total: float) -> tuple[float, Array, Array, Array]:
        """The fit that predicts the mean."""
        lam = self._n * ridge
        return self.variance, self._scaled(self._Y / lam, lam, total), self._baseline, self._baseline

    def fit(self, K: Array, ridge: float, total: float, executor: Executor) -> tuple[float, Array, Array, Array]:
        """Variance that is missed, scaled residuals Q, leave-one-out losses and their baseline.

        K is centred, its upper triangle given.
        """
        lam = self._n * ridge
        factor, b = self._solved(K, lam, executor)
        B = b / self._roots[:, None]
        own = ((1 - (1 - lam * _column_squares(factor.inverse())) / self._copies) - self._share) / lam
        losses = np.square(B / own[:, None]).sum(axis=1)
        return self._missed(b, lam), self._scaled(B, lam, total), losses, self._baseline

    def missed(self, K: Array, ridge: float, executor: Executor) -> float:
        """Variance that is missed, given the upper triangle of centred K."""
        lam = self._n * ridge
        return self._missed(self._solved(K, lam, executor)[1], lam)

    def _solved(self, K: Array, lam: float, executor: Executor) -> tuple[CholeskyFactor, Array]:
        """The factor of sKs + lambda I, and b."""
        with self._shifted(K, lam) as A:
            factor = self._factored(A, lam, executor)
            return factor, self._refined(A, factor)

    @contextmanager
    def _shifted(self, K: Array, lam: float) -> Iterator[Array]:
        """sKs + lambda I, which takes the place of K where all weights are one."""
        A = K if self._plain else K * self._roots[:, None] * self._roots
        diagonal = np.diagonal(K).copy()
        A[np.diag_indices(len(A))] += lam
        yield A
        K[np.diag_indices(len(K))] = diagonal

    def _factored(self, A: Array, lam: float, executor: Executor) -> CholeskyFactor:
        well_conditioned = float(np.trace(A)) - len(A) * lam <= _WELL_CONDITIONED * lam
        try:
            return CholeskyFactor(A.astype(np.float32 if self._single and well_conditioned else np.float64), executor)
        except np.linalg.LinAlgError:
            raise ValueError(
                "kernel is not positive definite on these samples; accepted with criterion='prediction' or "
                "n_features_to_select='auto': a kernel that is, such as 'gaussian', or a greater ridge"
            ) from None

    def _refined(self, A: Array, factor: CholeskyFactor) -> Array:
        """Solution of A b = targets, refined where the factor has the precision of float32."""
        solved = np.asarray(factor.solve(self._targets), dtype=np.float64)
        if factor.dtype == np.float64:
            return solved
        size = float(np.abs(self._targets).max())
        for _ in range(_MOST_STEPS):
            rest = self._targets - _symmetric_product(A, solved)
            worst = float(np.abs(rest).max())
            if worst <= _SOLVED * size:
                break
            solved += factor.solve(rest / worst).astype(np.float64) * worst
        return solved

    def _missed(self, b: Array, lam: float) -> float:
        return lam * float(np.vdot(self._targets, b))

    def _scaled(self, B: Array, lam: float, total: float) -> Array:
        """Residuals Q of which QQ' is the derivative of the explained share of the variance."""
        return np.asarray(B * self.w[:, None] * math.sqrt(lam / total))


def _symmetric_product(A: Array, S: Array) -> Array:
    """A S, given the upper triangle of A and zeros below."""
    return np.asarray(A @ S + A.T @ S - np.diagonal(A)[:, None] * S)


def _column_squares(X: NDArray[Any]) -> Array:
    """Sums of squares of each column, in float64."""
    total = np.zeros(X.shape[1])
    for start in range(0, len(X), 256):
        part = X[start : start + 256].astype(np.float64)
        total += np.einsum("ij,ij->j", part, part)
    return total
