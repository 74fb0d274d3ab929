"""Arrays that are read piece by piece: numpy memmaps, zarr and dask arrays. Neither zarr nor dask is imported."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from bahsic.arrays import Array, Indices, Mask
from bahsic.data.standard import Standardisation, standardise, standardised
from bahsic.kernels.bandwidth import ScaledKernel
from bahsic.kernels.base import Kernel

Range = slice | Indices

# Entries that are read at a time.
_ENTRIES = 1 << 22


class Source:
    """Array of samples x features outside memory, read by ranges or indices of both."""

    def __init__(self, array: Any) -> None:
        self._array = array
        self.shape: tuple[int, int] = tuple(map(int, array.shape))  # type: ignore[assignment]
        self.dtype = np.dtype(array.dtype)
        self.chunked = not isinstance(array, np.memmap)

    def read(self, samples: Range, features: Range) -> NDArray[Any]:
        """Return a part of the array (n_samples, n_features)."""
        if hasattr(self._array, "oindex"):  # zarr
            return np.asarray(self._array.oindex[samples, features])
        if self.chunked:
            return _computed(self._array[samples][:, features])
        array = np.asarray(self._array)
        if isinstance(samples, slice) or isinstance(features, slice):
            return array[samples, features]
        return array[np.ix_(samples, features)]  # only the wanted entries, not whole rows

    def row_chunks(self) -> Iterator[slice]:
        """Return ranges of samples that together cover all, each small enough to be read at once."""
        yield from gen_batches(self.shape[0], max(1, _ENTRIES // self.shape[1]))

    def __getstate__(self) -> dict[str, Any]:
        state, array = dict(vars(self)), self._array
        if not self.chunked and isinstance(array.base, mmap.mmap):  # not a view, whose position in the file is unknown
            order = "C" if array.flags.c_contiguous else "F"
            state["_array"] = (str(array.filename), array.dtype, "r", array.offset, array.shape, order)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if isinstance(self._array, tuple):  # a memmap: another process opens the file again
            self._array = np.memmap(*self._array)


def _computed(part: Any) -> NDArray[Any]:
    """Compute a part of a dask array in this process."""
    try:
        return np.asarray(part.compute(scheduler="synchronous"))
    except ValueError as error:
        if "Missing dependency" not in str(error):
            raise
        raise ValueError(
            "X is a dask array whose chunks are on a cluster already, by persist; accepted: one that is lazy, "
            "such as X before persist, which the tasks read by themselves"
        ) from error


def source_of(X: Any) -> Source | None:
    """Return the source of an array that is read piece by piece, or None for anything else."""
    if isinstance(X, np.memmap) and X._mmap is not None:  # type: ignore[attr-defined]  # noqa: SLF001 - else memory
        return Source(X) if X.ndim == 2 else None
    if not is_dask_array(X) and not (type(X).__module__.startswith("zarr") and hasattr(X, "oindex")):
        return None
    if len(X.shape) != 2:
        raise ValueError(f"X has shape {tuple(X.shape)}; accepted: two dimensions, samples and features")
    if any(isinstance(size, float) for size in X.shape):  # dask calls it NaN
        raise ValueError(f"X has shape {X.shape}; accepted: known numbers, so call X.compute_chunk_sizes() first")
    return Source(X)


def is_dask_array(X: Any) -> bool:
    """Return whether X is a dask array."""
    return type(X).__module__.startswith("dask.array") and hasattr(X, "dask")


def places_not_finite(source: Source) -> str:
    """Return number and first place of the entries that are not finite, or an empty string; reads all rows once."""
    if source.dtype.kind not in "fiub":
        raise TypeError(f"X has dtype {source.dtype}; accepted: real numbers")
    found, first = 0, (0, 0)
    for rows in source.row_chunks() if source.dtype.kind == "f" else ():
        part = source.read(rows, slice(None))
        if np.isfinite(part.min()) and np.isfinite(part.max()):  # both propagate NaN
            continue
        bad = np.argwhere(~np.isfinite(part))
        first = first if found else (rows.start + int(bad[0, 0]), int(bad[0, 1]))
        found += len(bad)
    return place_words(found, *first) if found else ""


def place_words(count: int, row: int, column: object) -> str:
    """Return words for entries and the place of the first of them."""
    return f"{f'{count} entries, the first' if count > 1 else '1 entry,'} in row {row}, column {column}"


class _Recent:
    """Cache of the last blocks of neighbouring columns that were read from a chunked source."""

    def __init__(self) -> None:
        self._blocks: dict[int, NDArray[Any]] = {}
        self._lock = Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return _Recent, ()

    def column(self, source: Source, samples: Range, feature: int) -> NDArray[Any]:
        """Return a whole column, taken from the block that contains it."""
        width = max(1, _ENTRIES // source.shape[0])
        number, place = divmod(feature, width)
        with self._lock:
            if number not in self._blocks:
                while len(self._blocks) >= 2:
                    del self._blocks[next(iter(self._blocks))]
                last = min((number + 1) * width, source.shape[1])
                self._blocks[number] = source.read(samples, slice(number * width, last))
            return self._blocks[number][:, place]


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
        part = slice(0, self.shape[1]) if samples is None else samples
        chosen = part if self.order is None else self.order[part]
        XT = np.empty((len(features), len(range(self.shape[1])[part]))) if out is None else out
        if samples is None and self.source.chunked:
            for x, feature in zip(XT, features.tolist(), strict=True):
                x[:] = self._recent.column(self.source, chosen, feature)
        else:
            XT[:] = self.source.read(chosen, features).T
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
        parts = []
        for features in gen_batches(d, max(1, _ENTRIES // m)):
            XT = np.array(source.read(samples, features).T, dtype=np.float64, order="C")
            parts.append(standardised(XT, how, centre=centre))
        numbers, constant = (np.concatenate(values, axis=-1) for values in zip(*parts, strict=True))
        return StoredRows(source, numbers, how.order), constant
