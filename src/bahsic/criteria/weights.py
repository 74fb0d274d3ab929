"""The matrix W of the labels, made by blocks, with which HSIC is linear in K: HSIC = sum of K_ij W_ij."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Protocol

import numpy as np

from bahsic.arrays import Indices
from bahsic.kernels.rows import Array, FloatArray, as_weights, row_blocks, whole
from bahsic.parameters import Aside, Message, check_choice

Statistic = Literal["unbiased", "biased"]

# Like the built-in `map`, perhaps by several workers.
Map = Callable[[Callable[[slice], FloatArray], Iterable[slice]], Iterable[FloatArray]]

_FEW_KINDS = 64  # of samples whose rows of W are made once for each kind
FEWEST_SAMPLES = {"unbiased": 4, "biased": 2}


class Gram(Protocol):
    """An m x m symmetric matrix that is read by blocks."""

    def __len__(self) -> int: ...
    def block(self, rows: slice, cols: slice) -> FloatArray: ...


class Weights(ABC):
    """The matrix W with ``HSIC = sum(K * W)`` for every symmetric K, by blocks."""

    sample_weight: FloatArray | None  # frequency of each sample, or None if every sample counts once

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def block(self, rows: slice, cols: slice) -> FloatArray:
        """Return rows and columns of W, a new float64 array; slices have a start and a stop."""

    @abstractmethod
    def of_samples(self, samples: Indices) -> Weights:
        """Return W of some samples alone, as one block."""

    def unbiased(self, each: Map = map) -> Weights:
        """Return the matrix of the unbiased estimate for the same labels; ``each`` as in `label_weights`."""
        return self

    def diagonal(self) -> FloatArray:
        """Return the diagonal of W."""
        m = len(self)
        parts = [slice(start, min(start + 64, m)) for start in range(0, m, 64)]
        return np.concatenate([np.diagonal(self.block(part, part)) for part in parts])

    def matrix(self) -> FloatArray:
        """Return the whole of W, shape (m, m)."""
        return whole(self)


@dataclass(frozen=True, eq=False)
class Matrix:
    """A matrix in memory, read by blocks."""

    values: FloatArray

    def __len__(self) -> int:
        return len(self.values)

    def block(self, rows: slice, cols: slice) -> FloatArray:
        return self.values[rows, cols]


@dataclass(frozen=True, eq=False)
class Centred:
    """G_ij - reference - shift_i - shift_j: doubly centred (biased), or U-centred (unbiased) off the diagonal."""

    gram: Gram
    reference: float  # a typical entry, subtracted first so that constants cancel exactly
    shift: FloatArray
    alike: tuple[Indices, Indices] | None = None  # the first sample of each kind of label, the kind of each sample

    def block(self, rows: slice, cols: slice, scale: float = 1.0) -> FloatArray:
        """Return rows and columns, times a scale; rows that are alike are computed once."""
        if self.alike is None:
            G, shift = self.gram.block(rows, cols), self.shift[rows]
        else:
            vectors: FloatArray = self.gram.vectors  # type: ignore[attr-defined]
            G, shift = vectors[self.alike[0]] @ vectors[cols].T, self.shift[self.alike[0]]
        centred = np.subtract(G, self.reference, dtype=np.float64)
        centred -= shift[:, None] + self.shift[cols]
        centred *= scale
        return centred if self.alike is None else np.take(centred, self.alike[1][rows], axis=0)


@dataclass(frozen=True, eq=False)
class CentredWeights(Weights):
    r"""The matrix W with ``HSIC = sum(K * W)`` for every symmetric K, by blocks; made by `label_weights`.

    With frequencies w, m = sum(w), and the centred :math:`\tilde L` of `hsic_weights`:
    unbiased (e_uhsic) :math:`W_{ij} = (w_i w_j - \delta_{ij} w_i) \tilde L_{ij} / (m (m - 3))`,
    biased :math:`W_{ij} = w_i w_j \tilde L_{ij} / (m - 1)^2`.
    """

    centred: Centred
    statistic: Statistic
    sample_weight: FloatArray | None
    scale: float

    def __len__(self) -> int:
        return len(self.centred.gram)

    def block(self, rows: slice, cols: slice) -> FloatArray:
        W = self.centred.block(rows, cols, self.scale)
        w, on_diagonal, samples = self.sample_weight, *_diagonal(rows, cols)
        diagonal = W[on_diagonal]
        if w is not None:
            W *= np.multiply.outer(w[rows], w[cols])
        if self.statistic == "unbiased":  # a sample is no pair with itself, but makes w - 1 pairs with its copies
            W[on_diagonal] = 0.0 if w is None else diagonal * (w[samples] * (w[samples] - 1))
        return W

    def of_samples(self, samples: Indices) -> Weights:
        labels: Any = self.centred.gram
        w = self.sample_weight
        return label_weights(labels.of_samples(samples), self.statistic, None if w is None else w[samples])

    def unbiased(self, each: Map = map) -> CentredWeights:
        if self.statistic == "unbiased":
            return self
        return label_weights(self.centred.gram, "unbiased", self.sample_weight, each)


def label_weights(
    labels: Gram, statistic: Statistic = "unbiased", sample_weight: Any = None, each: Map = map
) -> CentredWeights:
    """Return the matrix W of labels whose kernel is evaluated by blocks, see `hsic_weights`.

    ``each`` applies a function to ranges of samples, perhaps by several workers. Cost O(m^2) time, for few classes
    O(m), and O(m) memory: only the row sums of L are kept.
    """
    w = as_weights(sample_weight, len(labels))
    m = float(len(labels) if w is None else w.sum())
    check_statistic(statistic, m, f"there are {m:g} samples" if w is None else f"sample_weight sums to {m:g} samples")
    scale = 1 / (m * (m - 3)) if statistic == "unbiased" else 1 / (m - 1) ** 2
    return CentredWeights(centred(labels, statistic, w, each), statistic, w, scale)


@contextmanager
def overflow_reported() -> Iterator[None]:
    """Turn a floating-point overflow into a ValueError that says what to do."""
    try:
        with np.errstate(over="raise", invalid="raise"):
            yield
    except FloatingPointError:
        raise ValueError("kernel values are too large: HSIC exceeds the range of float64; rescale x or y") from None


@overflow_reported()
def centred(gram: Gram, statistic: Statistic, w: FloatArray | None = None, each: Map = map) -> Centred:
    """Centre a matrix, see `Centred`; w are frequencies of the samples."""
    m = len(gram)
    ones_or_w = np.ones(m) if w is None else w
    reference, alike = typical_entry(gram), None
    vectors = getattr(gram, "vectors", None) if w is None else None
    if vectors is not None:
        _, first, kinds = np.unique(vectors, axis=0, return_index=True, return_inverse=True)
        if len(first) <= min(_FEW_KINDS, m // 8):
            alike = first, kinds.reshape(-1)
    rows = row_blocks(m) if alike is None else [slice(i, i + 1) for i in first.tolist()]
    sums = np.concatenate(list(each(partial(_row_sums, gram, reference, statistic, ones_or_w), rows)))
    sums = sums if alike is None else sums[alike[1]]
    return Centred(gram, reference, centring_shift(sums, statistic, ones_or_w), alike)


def centring_shift(sums: FloatArray, statistic: Statistic, w: FloatArray) -> FloatArray:
    """Return the shift of `Centred` from the sums over j of w_j G_ij; unbiased, over the other samples."""
    n, total = float(w.sum()), float(w @ sums)
    if statistic == "unbiased":
        return np.asarray(sums / (n - 2) - total / (2 * (n - 1) * (n - 2)))
    return np.asarray(sums / n - total / (2 * n**2))


def typical_entry(gram: Gram, stop: int | None = None) -> float:
    """Return the mean of the first row without its diagonal, up to column ``stop``; exact where that is constant."""
    stop = len(gram) if stop is None else stop
    if stop == 1:  # one sample, which counts several times
        return 0.0
    entries = gram.block(slice(0, 1), slice(1, stop))
    return float(np.clip(entries.mean(dtype=np.float64), entries.min(), entries.max()))


@overflow_reported()  # here too: each thread has its own errstate
def _row_sums(gram: Gram, reference: float, statistic: Statistic, w: FloatArray, rows: slice) -> FloatArray:
    """Sum w_j G_ij over j; for the unbiased estimate sample i counts only w_i - 1 times, by its other copies."""
    everything = slice(0, len(gram))
    G = np.subtract(gram.block(rows, everything), reference, dtype=np.float64)
    if statistic == "unbiased":
        on_diagonal, samples = _diagonal(rows, everything)
        diagonal = G[on_diagonal]
        G[on_diagonal] = 0.0  # subtracting it from the sum would lose digits where it is the largest part
        return G @ w + (w[samples] - 1) * diagonal
    return G @ w


def _diagonal(rows: slice, cols: slice) -> tuple[tuple[Array, Array], Array]:
    """Return the positions in a block of the diagonal of the whole matrix, and its samples."""
    samples = np.arange(max(rows.start, cols.start), min(rows.stop, cols.stop))
    return (samples - rows.start, samples - cols.start), samples


def check_statistic(statistic: str, m: float, few: str) -> None:
    """Raise unless the statistic is known and there are enough samples for it; ``few`` says how many there are."""
    check_choice("statistic", statistic, FEWEST_SAMPLES)
    if m < FEWEST_SAMPLES[statistic]:
        aside = Aside(" for statistic='unbiased', at least 2 for statistic='biased'")
        raise ValueError(Message(f"{few}; accepted: at least 4", aside))
