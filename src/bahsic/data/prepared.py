"""One way in for data: an array, a frame, a sparse or a stored array becomes the columns that kernels work on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.utils import check_array

from bahsic.arrays import Indices, Mask
from bahsic.data.column_choice import column_mask
from bahsic.data.columns import Columns, mixed_columns
from bahsic.data.sources import Source, places_not_finite, source_of
from bahsic.data.standard import Standardisation
from bahsic.data.tables import Table, as_table, by_dtype
from bahsic.kernels.base import Kernel
from bahsic.kernels.rows import FloatArray

# A stored array is small, and read at once, if it takes no more than 1/64 of the working memory in float64.
_SMALL = 64 * 8


@dataclass(frozen=True, eq=False)
class Prepared:
    """Data X, checked, and as the columns that kernels of one type work on; made by `prepared`."""

    X: Any  # as it was passed
    table: Table
    kernel: Kernel  # columns are the same for all kernels of its type
    standardize: bool
    categorical_features: Any
    missing: str
    identifiers: Any = "drop"
    weights: FloatArray | None = None  # how often each sample counts, all positive
    order: Indices | None = None  # samples of the table, if not all of them or in another order
    n_own: int | None = None  # samples, the first ones, that the columns are standardised by; None for all
    _others: dict[type, Prepared] = field(default_factory=dict, init=False)

    @property
    def columns(self) -> Columns:
        """The columns, standardised if asked for; made when they are first needed, and kept."""
        return self._standardised[0]

    @property
    def constant(self) -> Mask:
        """Whether each column is constant."""
        return self._standardised[1]

    @property
    def varying(self) -> Indices:
        """The columns that are not constant; all of them if every one is."""
        return np.flatnonzero(self.constant <= self.constant.all())

    @cached_property
    def _standardised(self) -> tuple[Columns, Mask]:
        how = Standardisation(self.standardize, self.weights, self.order, self.n_own)
        return mixed_columns(self.table, self.kernel, how, together=self.missing == "indicator")

    def for_kernel(self, kernel: Kernel) -> Prepared:
        """Return the same data for another kernel; columns are made once for each type of kernel."""
        if type(self.kernel) is type(kernel):
            return self
        return self._others.setdefault(type(kernel), replace(self, kernel=kernel))

    def weighted(self, weights: FloatArray | None) -> Prepared:
        """Return the same data in their own order, with a weight for each sample, and without those of weight zero."""
        if weights is None:
            return self if self.weights is None else replace(self, weights=None, order=None)
        if weights.all():
            return replace(self, weights=weights, order=None)
        counted = np.flatnonzero(weights)
        if isinstance(self.table.values, Source):
            return replace(self, weights=weights[counted], order=counted)
        return replace(self, table=self.table.of_samples(counted), weights=weights[counted], order=None)

    def ordered(self, order: Indices | None) -> Prepared:
        """Return the same data with the samples in this order, or in their own for None."""
        same = self.order is None if order is None else np.array_equal(order, self.order)  # type: ignore[arg-type]
        return self if same else replace(self, order=order)

    def split(self, own: Indices, others: Indices) -> tuple[Prepared, Columns]:
        """Return the data of some samples, standardised by themselves, and the columns of these and of others."""
        both = np.concatenate([own, others])
        weights = None if self.weights is None else self.weights[own]
        joined = replace(self, order=both if self.order is None else self.order[both], weights=weights, n_own=len(own))
        mine = replace(self, order=own if self.order is None else self.order[own], weights=weights)
        vars(mine)["_standardised"] = joined.columns.of_samples(np.arange(len(own))), joined.constant
        return mine, joined.columns


def prepared(  # noqa: PLR0913 - the options of a table
    X: Any,
    kernel: Kernel,
    *,
    standardize: bool = True,
    categorical_features: Any = "from_dtype",
    missing: str = "neutral",
    identifiers: Any = "drop",
    used: Any = None,
    labels: Any = None,
    whole: bool = False,
    argument: str = "X",
) -> Prepared:
    """Check data and prepare their columns for a kernel; a small or ``whole`` stored array may be read into memory."""
    if isinstance(X, Prepared):
        options = {"standardize": standardize, "missing": missing, "identifiers": identifiers}
        _check_options(X, {"categorical_features": categorical_features} | options)
        return X.for_kernel(kernel)
    source = source_of(X)
    if source is None:
        table = as_table(X, categorical_features, missing, argument, labels=labels, identifiers=identifiers, used=used)
    else:
        table = _stored_table(source, categorical_features, missing, whole=whole)
    return Prepared(X, table, kernel, standardize, categorical_features, missing, identifiers)


def _stored_table(source: Source, categorical_features: Any, missing: str, *, whole: bool) -> Table:
    """Return the table of a stored array: its entries where it is small, else the array itself."""
    check_array(np.broadcast_to(0.0, source.shape), input_name="X")
    m, d = source.shape
    plain = by_dtype(categorical_features)[0] is None
    small = _SMALL * m * d <= get_config()["working_memory"] * 2**20
    if small or (whole and not plain) or (whole and missing != "error" and places_not_finite(source)):
        return as_table(source.read(slice(0, m), slice(0, d)), categorical_features, missing)
    if not plain:
        raise ValueError(
            f"categorical_features is {categorical_features!r}; accepted where X is a memmap, a zarr or a dask "
            "array that is read piece by piece: None"
        )
    places = places_not_finite(source)
    if places:
        raise ValueError(
            f"X contains NaN or infinity: {places}; accepted where X is read piece by piece: finite numbers"
        )
    nowhere = np.zeros(d, dtype=bool)
    return Table(source, nowhere, None, {}, nowhere)


def _check_options(data: Prepared, options: dict[str, Any]) -> None:
    """Raise where data were prepared with other options."""
    for name, value in options.items():
        known, table = getattr(data, name), data.table
        same = repr(known) == repr(value)
        if name == "categorical_features" and not same:  # which may be the same columns in other words
            named, by_type = by_dtype(value)
            mask = column_mask(named, len(table.categorical), table.names, name)
            same = not by_type and np.array_equal(mask, table.categorical)
        if not same:
            raise ValueError(f"X was prepared with {name}={known!r}, and {name} is {value!r}; accepted: the same")
