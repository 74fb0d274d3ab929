"""Columns that stay in a file or on a cluster, and are standardised as they are read."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bahsic.arrays import Array, Indices, Mask
from bahsic.data.sources import Source
from bahsic.data.standard import Standardisation, standardise, standardised
from bahsic.kernels.bandwidth import ScaledKernel
from bahsic.kernels.base import Kernel

# Entries of whole columns that are read at a time.
_ENTRIES = 1 << 22


class _Recent:
    """Cache of the last blocks of neighbouring columns that were read from a chunked source."""

    def __init__(self) -> None:
        self._blocks: dict[int, NDArray[Any]] = {}
        self._lock = Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return _Recent, ()

    def columns(self, source: Source, samples: slice | Indices, features: Indices) -> NDArray[Any]:
        """Whole columns (n_samples, n_features), taken from the blocks that contain them."""
        width = max(1, _ENTRIES // source.shape[0])
        places = [divmod(int(j), width) for j in features]
        found = [self._block(source, samples, number, width)[:, column] for number, column in places]
        n_samples = source.shape[0] if isinstance(samples, slice) else len(samples)
        return np.column_stack(found) if found else np.empty((n_samples, 0))

    def _block(self, source: Source, samples: slice | Indices, number: int, width: int) -> NDArray[Any]:
        with self._lock:
            if number not in self._blocks:
                while len(self._blocks) >= 2:
                    del self._blocks[next(iter(self._blocks))]
                last = min((number + 1) * width, source.shape[1])
                self._blocks[number] = source.read(samples, slice(number * width, last))
            return self._blocks[number]


@dataclass(frozen=True, eq=False)
class StoredRows:
    """Columns of a source, a row each, read and standardised when they are used."""

    source: Source
    standard: Array  # exponents, shifts and deviations of the columns
    order: Indices | None = None
    exponent: int = 0
    _recent: _Recent = field(default_factory=_Recent)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of features and of samples."""
        return self.source.shape[1], self.source.shape[0] if self.order is None else len(self.order)

    def rows(self, features: Indices, out: Array | None = None, samples: slice | None = None) -> Array:
        """Return some columns, a row each, of all samples or of a range of them."""
        chosen: slice | Indices = slice(0, self.shape[1]) if samples is None else samples
        if self.order is not None:
            chosen = self.order[chosen]
        if samples is None and self.source.chunked:
            raw = self._recent.columns(self.source, chosen, features)
        else:
            raw = self.source.read(chosen, features)
        XT = np.empty(raw.shape[::-1]) if out is None else out
        XT[:] = raw.T
        standardise(XT, self.standard[:, features])
        return np.ldexp(XT, self.exponent, out=XT) if self.exponent else XT

    def of_samples(self, samples: Indices) -> StoredRows:
        """Return the same columns for some samples only."""
        return replace(self, order=samples if self.order is None else self.order[samples], _recent=_Recent())

    def scaled(self, exponent: int) -> StoredRows:
        """All values times 2**exponent."""
        return replace(self, exponent=self.exponent + exponent)

    @staticmethod
    def standardised(source: Source, kernel: Kernel, how: Standardisation) -> tuple[StoredRows, Mask]:
        """Return columns of a source (n_samples, n_features), and a mask of the constant ones; reads some at a time."""
        m, d = source.shape
        samples, centre = slice(0, m) if how.order is None else how.order[: how.n_own], isinstance(kernel, ScaledKernel)
        width = max(1, _ENTRIES // m)
        parts = []
        for start in range(0, d, width):
            XT = np.array(source.read(samples, slice(start, min(start + width, d))).T, dtype=np.float64, order="C")
            parts.append(standardised(XT, how, centre=centre))
        numbers, constant = (np.concatenate(values, axis=-1) for values in zip(*parts, strict=True))
        return StoredRows(source, numbers, how.order), constant
