"""Families of columns whose Gaussian factor separates: by polynomials, or by a table of few values.

Each family has the terms of ``g - 1 = u + u' + sum lambda_k phi_k phi_k'`` for its columns, fills the
leading functions phi_k into the columns of a product, and returns the parts that need no product.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bahsic.data.columns import Columns
from bahsic.data.levels import Levels
from bahsic.engine.gaussian.bounds import FunctionSums, Known, Matrices, Parts, known_from_functions
from bahsic.engine.gaussian.expansion import Expansion, even_polynomial
from bahsic.engine.gaussian.moments import RoundMoments, SearchMoments
from bahsic.engine.gaussian.outliers import are_outlying
from bahsic.engine.loops import loops
from bahsic.engine.scratch import Scratch

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Functions = Sequence[NDArray[Any]]  # of shape (c, n_samples) each, in the dtype that the term needs

_EPS = float(np.finfo(np.float64).eps)

# Number of samples at which functions are evaluated together.
_SOME_SAMPLES = 1 << 16


class Family(Protocol):
    """Columns whose expansions have the same form."""

    @property
    def members(self) -> Indices:
        """Positions of the columns among the requested ones."""

    @property
    def n_leading(self) -> int:
        """Number of terms that enter the products."""

    @property
    def n_double(self) -> int:
        """Number of leading terms, from the first on, whose products need float64; float32 is enough for the others."""

    @property
    def width(self) -> int:
        """Number of arrays of the size of a column that `evaluate` makes for each column."""

    @property
    def remainder(self) -> float:
        """Bound on the error of the sum of all terms, at any pair of samples."""

    @property
    def size(self) -> float:
        """Bound on the sum of the magnitudes of all terms, at any pair of samples."""

    def evaluate(self, part: slice, out: Functions, matrices: Matrices, scratch: Scratch) -> Parts:
        """Fill the leading functions of the members ``part`` into ``out``, an array for each.

        The returned arrays are concatenated over the parts along the last axis and passed to `known`.
        """

    def known(self, parts: Parts, matrices: Matrices) -> Known:
        """Parts of the score changes by all members that need no product."""


@dataclass(frozen=True)
class _Expanded:
    """Base of the families of columns of many values, which have an `Expansion`."""

    members: Indices
    data: Columns
    columns: Indices
    expansion: Expansion
    n_leading: int
    n_double: int

    @property
    def remainder(self) -> float:
        """Bound on the error of the sum of all terms, at any pair of samples."""
        return self.expansion.remainder

    @property
    def size(self) -> float:
        """Bound on the sum of the magnitudes of all terms, at any pair of samples."""
        return self.expansion.size

    @property
    def width(self) -> int:
        """Number of arrays of the size of a column that `evaluate` makes for each column."""
        return sum(self.expansion.functions.shape)

    def known(self, parts: Parts, matrices: Matrices) -> Known:
        """Parts of the score changes by all members that need no product."""
        return Known(*parts)


@dataclass(frozen=True)
class Polynomial(_Expanded):
    """Columns of many values, by an expansion of low degree: leading functions are evaluated, the others by moments."""

    moments: SearchMoments | RoundMoments
    compiled: bool = False

    @property
    def width(self) -> int:
        """Number of arrays of the size of a column that `evaluate` makes for each column."""
        return 4

    def evaluate(self, part: slice, out: Functions, matrices: Matrices, scratch: Scratch) -> Parts:
        """Fill the leading functions of the members ``part`` into ``out``."""
        columns = self.columns[part]
        shape = (len(columns), matrices.n_samples)
        z = self.data.rows(columns, out=scratch.take("first", shape))
        compiled = loops(compiled=self.compiled)
        if compiled is not None:
            return self._evaluate_compiled(compiled, z, out, matrices, scratch.take("third", shape))
        z /= self.expansion.radius
        square = np.multiply(z, z, out=scratch.take("second", shape))
        values = scratch.take("third", shape)
        norms = np.empty((self.n_leading, len(columns)))
        for k in range(self.n_leading):
            even_polynomial(self.expansion.monomials[k], square, z, out=values)
            out[k][:] = values
            norms[k] = np.multiply(values, values, out=values) @ matrices.magnitudes
        edge = even_polynomial(self.expansion.edge_monomials, square, z, out=values) @ matrices.sums
        return edge, norms

    def _evaluate_compiled(self, compiled: Any, x: Array, out: Functions, matrices: Matrices, values: Array) -> Parts:
        """The same as `evaluate` by compiled loops; ``values`` is overwritten."""
        terms, norms = self.expansion, np.empty((self.n_leading + 1, len(x)))
        targets = [*out[: self.n_leading], values]
        for row, target, norm in zip(
            [*terms.monomials[: self.n_leading], terms.edge_monomials], targets, norms, strict=True
        ):
            odd = bool(row[1::2].any())
            halved = np.ascontiguousarray(row[int(odd) :: 2])
            compiled.polynomial(x, terms.radius, halved, odd, matrices.magnitudes, target, norm)
        return values @ matrices.sums, norms[:-1]

    def known(self, parts: Parts, matrices: Matrices) -> Known:
        """Parts of the score changes by all members that need no product."""
        (edge, norms), terms, lead = parts, self.expansion, self.n_leading
        lam, degree = terms.eigenvalues[:, None], terms.degree
        projections, diagonals, plain = self.moments.of(self.columns, terms)
        of_W = lam * matrices.low_rank_forms(projections, diagonals)
        # Powers cancel: the error of a value is relative to the sum of the magnitudes of its terms.
        size = np.abs(terms.monomials).sum(axis=1)[:, None]
        error, m = 4 * (degree + 1) * _EPS * size, matrices.n_samples
        plain = np.abs(plain) + error * size * m
        largest = matrices.magnitudes.max()
        dropped = largest * (np.abs(lam) * plain)[lead:].sum(axis=0)
        sizes = np.abs(lam[:lead]) * norms
        inexact = np.abs(lam) * error * (2 * np.sqrt(plain * m) + error * m)
        edges = terms.edge_bound * np.abs(matrices.sums).max() * m
        return Known(
            value=2 * edge + matrices.kappa * of_W.sum(axis=0),
            dropped=dropped,
            sizes=sizes,
            error=(largest + matrices.kappa * matrices.low_rank.norm) * inexact.sum(axis=0)
            + matrices.floor * (2 * edges + sizes.sum(axis=0) + dropped + matrices.kappa * np.abs(of_W).sum(axis=0)),
            eigenvalues=np.broadcast_to(lam[:lead], norms.shape),
        )


def sample_ranges(n_samples: int) -> list[slice]:
    """Ranges of samples at which functions are evaluated together."""
    starts = range(0, n_samples, _SOME_SAMPLES)
    return [slice(start, min(start + _SOME_SAMPLES, n_samples)) for start in starts]


def fill_functions(phi: Array, out: Functions) -> None:
    """Copy the leading functions into the columns of the products."""
    for values, target in zip(phi, out, strict=False):
        target[:] = values


def _looked_up(tables: Array, codes: NDArray[np.int8]) -> Array:
    """Entries of tables (c, v) at codes (c, n_samples)."""
    if tables.shape[1] == 2:
        first, second = tables[:, :1], tables[:, 1:]
        return np.asarray(first + (second - first) * codes)
    return np.take_along_axis(tables, codes, axis=1)


@dataclass(frozen=True)
class _Limited(_Expanded):
    """Base of those that may have outlying entries, see `bahsic.engine.gaussian.outliers`.

    Entries beyond ``limit`` are taken for zero; ``beyond`` are the changes by the pairs of these, and their errors.
    """

    limit: float = field(default=math.inf, kw_only=True)
    beyond: tuple[Array, Array] = field(default=(np.zeros(1), np.zeros(1)), kw_only=True)

    def known(self, parts: Parts, matrices: Matrices) -> Known:
        """Parts of the score changes by all members that need no product."""
        found, (value, error) = super().known(parts, matrices), self.beyond
        return replace(found, value=found.value + value, error=found.error + error)


@dataclass(frozen=True)
class Smooth(_Limited):
    """Columns of many values, by an expansion of any degree in Chebyshev polynomials."""

    compiled: bool = False

    @property
    def width(self) -> int:
        """Number of arrays of the size of a column that `evaluate` makes for each column."""
        return self.n_leading + 2 if self.compiled else super().width

    def evaluate(self, part: slice, out: Functions, matrices: Matrices, scratch: Scratch) -> Parts:
        """Fill the leading functions of the members ``part`` into ``out``."""
        compiled, z = loops(compiled=self.compiled), self.data.rows(self.columns[part])
        if self.limit < math.inf:
            z[are_outlying(z, self.limit)] = 0.0
        if compiled is not None:
            phi, edge, sums = _by_loops(compiled, self.expansion, z, self.n_leading, matrices, scratch)
            fill_functions(phi[1:], out)
            return self._parts(sums, edge, np.vecdot(z, z) / self.expansion.radius**2, matrices)
        z /= self.expansion.radius
        edge, sums = np.zeros(len(z)), FunctionSums(matrices)
        for samples in sample_ranges(z.shape[1]):
            phi, even = self.expansion.values(z[:, samples])
            for target, place in zip(out, self.expansion.places, strict=False):
                target[:, samples] = phi[place]
            edge += self.expansion.edge[::2] @ (even @ matrices.sums[samples])
            sums.add(phi, samples)
        return self._parts(sums, edge, np.vecdot(z, z), matrices, self.expansion.places)

    def _parts(self, sums: FunctionSums, edge: Array, squares: Array, matrices: Matrices, *places: Indices) -> Parts:
        edge_size = self.expansion.edge_bound * np.abs(matrices.sums).max() * squares
        lam = np.broadcast_to(self.expansion.eigenvalues[:, None], (len(self.expansion.eigenvalues), len(squares)))
        return sums.known(lam, edge, edge_size, self.n_leading, *places)


@dataclass(frozen=True)
class Incomplete(_Limited):
    r"""Columns of many values with missing entries, two of which contribute 2c to D.

    A missing value is zero, and with q one there and :math:`b = \exp(a c) - 1`, pairs have the factor
    :math:`(1 + b q)(1 + b q') g` with the g of complete columns. Its expansion has the functions
    :math:`(1 + b q) \varphi_k`, the edges :math:`w = u + b q (1 + u)`, and
    :math:`b (q w' + w q') - b^2 q q'`; where missing entries lie together, :math:`(2 b + b^2) q q'` less. This
    is one quadratic form in q and w; its 2 x 2 eigenvectors make two more terms of the same kind, which come first.
    """

    a: float
    compiled: bool = False

    @property
    def size(self) -> float:
        """Bound on the sum of the magnitudes of all terms, at any pair of samples."""
        b = self._largest
        edge = self._edge_bound(b)
        return (1 + b) ** 2 * self.expansion.size + 2 * (1 + b) * edge + 2 * b * (1 + b)

    @property
    def remainder(self) -> float:
        """Bound on the error of the sum of all terms, at any pair of samples."""
        return (1 + self._largest) ** 2 * self.expansion.remainder

    @property
    def _largest(self) -> float:
        """Largest magnitude of b."""
        return float(np.abs(np.expm1(self.a * self.data.neutral[self.columns] / 2)).max())

    def _edge_bound(self, b: float) -> float:
        """Bound on the edges w."""
        return self.expansion.edge_bound + b * (1 + self.expansion.edge_bound)

    @property
    def width(self) -> int:
        """Number of arrays of the size of a column that `evaluate` makes for each column."""
        return self.n_leading + 6 if self.compiled else sum(self.expansion.functions.shape) + 4

    def evaluate(self, part: slice, out: Functions, matrices: Matrices, scratch: Scratch) -> Parts:
        """Fill the leading functions of the members ``part`` into ``out``."""
        columns, terms = self.columns[part], self.expansion
        x = self.data.rows(columns)
        absent = np.isnan(x)
        x[absent | are_outlying(x, self.limit)] = 0.0
        b = np.expm1(self.a * self.data.neutral[columns] / 2)
        marks = b[:, None] * absent
        compiled = loops(compiled=self.compiled)
        if compiled is None:
            u, sums = self._smooth(x, marks, out[2:], matrices)
        else:
            u, sums = self._smooth_compiled(compiled, x, marks, out[2:], matrices, scratch)
        edge = u * (1 + marks) + marks
        unit = max(self._edge_bound(self._largest), 1e-300)  # so that both rows of the form are of the same size
        forms = np.zeros((len(columns), 2, 2))
        forms[:, 0, 0] = -2 * b * (1 + b) if self.data.together else -np.square(b)
        forms[:, 0, 1] = forms[:, 1, 0] = b * unit
        eigenvalues, vectors = np.linalg.eigh(forms)
        mixed = np.einsum("cik,icm->kcm", vectors, np.stack([absent.astype(np.float64), edge / unit]))
        fill_functions(mixed, out[:2])
        first = FunctionSums(matrices)
        first.add(mixed, slice(0, matrices.n_samples))
        lam = np.concatenate([eigenvalues.T, np.repeat(terms.eigenvalues[:, None], len(columns), axis=1)])
        edge_size = np.abs(edge) @ np.abs(matrices.sums)
        projections = np.concatenate([first.projections, sums.projections])
        both = FunctionSums(matrices, projections, np.concatenate([first.norms, sums.norms]))
        return both.known(lam, edge @ matrices.sums, edge_size, self.n_leading)

    def _smooth(self, x: Array, marks: Array, out: Functions, matrices: Matrices) -> tuple[Array, FunctionSums]:
        """Fill the leading (1 + b q) phi_k into ``out``; u, and the sums of all of them. ``marks`` is b q."""
        terms, sums = self.expansion, FunctionSums(matrices)
        phi, even = terms.values(x / terms.radius)
        phi = phi[terms.places]
        phi *= 1 + marks
        fill_functions(phi, out)
        sums.add(phi, slice(0, matrices.n_samples))
        return np.tensordot(terms.edge[::2], even, axes=1), sums

    def _smooth_compiled(
        self, compiled: Any, x: Array, marks: Array, out: Functions, matrices: Matrices, scratch: Scratch
    ) -> tuple[Array, FunctionSums]:
        """The same as `_smooth` by compiled loops: x is zero where q is one, so that only sums at zero are added."""
        terms, (plain, squared) = self.expansion, matrices.weights
        phi, _, sums = _by_loops(compiled, terms, x, len(out), matrices, scratch)
        for values, target in zip(phi[1:], out, strict=True):
            np.multiply(values, 1 + marks, out=values)
            target[:] = values
        even = terms.functions[:, ::2]
        at_zero = (even @ np.resize([1.0, -1.0], even.shape[1]))[:, None, None]
        projections = sums.projections + at_zero * (marks @ plain[1:].T)
        norms = sums.norms + np.square(at_zero) * ((2 * marks + np.square(marks)) @ squared.T)
        return phi[0], FunctionSums(matrices, projections, norms)


def _by_loops(
    compiled: Any, terms: Expansion, x: Array, n_leading: int, matrices: Matrices, scratch: Scratch
) -> tuple[Array, Array, FunctionSums]:
    """By compiled loops: values of u and of the leading phi_k, sums of u over the samples, and those of all phi_k."""
    functions = np.ascontiguousarray(np.vstack([terms.edge, terms.functions]))
    odd = np.append(False, terms.odd)
    phi = scratch.take("functions", (1 + n_leading, *x.shape))
    found = np.empty((len(functions), len(x), sum(map(len, matrices.weights))))
    compiled.expanded(x, terms.radius, functions, odd, *matrices.weights, phi, found)
    return phi, found[0, :, 0], FunctionSums(matrices, found[1:, :, 1:-2], found[1:, :, -2:])


@dataclass(frozen=True)
class Discrete:
    """Columns of few values: an exact expansion, with one term fewer than there are values."""

    members: Indices
    data: Columns
    levels: Levels
    rows: Indices
    a: float
    double: bool

    @property
    def n_leading(self) -> int:
        """Number of terms, which all enter the products."""
        return int(self.levels.values.shape[1]) - 1

    @property
    def n_double(self) -> int:
        """Number of terms whose products need float64."""
        return self.n_leading if self.double else 0

    @property
    def width(self) -> int:
        """Number of arrays of the size of a column that `evaluate` makes for each column."""
        return self.n_leading + 2

    @property
    def remainder(self) -> float:
        """Zero: the terms are exact."""
        return 0.0

    @property
    def size(self) -> float:
        """Bound on the sum of the magnitudes of all terms, at any pair of samples."""
        largest = self.a * self.levels.tables[self.rows].max()
        return 4 * self.n_leading * abs(float(np.expm1(largest)))

    def evaluate(self, part: slice, out: Functions, matrices: Matrices, scratch: Scratch) -> Parts:
        """Fill the functions of the members ``part`` into ``out``."""
        rows = self.rows[part]
        codes = self.levels.codes(rows, self.data.rows(self.levels.columns[rows]))
        changes = np.expm1(self.a * self.levels.tables[rows])
        edges = changes[:, :, 0] - changes[:, :1, 0] / 2  # E_00 is not zero if the first value is a missing one
        core = changes - edges[:, :, None] - edges[:, None, :]
        eigenvalues, vectors = np.linalg.eigh(core[:, 1:, 1:])
        tables = np.insert(vectors, 0, 0.0, axis=1)  # every phi_k is zero at the first value
        phi = np.stack([_looked_up(tables[:, :, k], codes) for k in range(self.n_leading)])
        fill_functions(phi, out)
        edge = _looked_up(edges, codes)
        edge_size = np.abs(edge) @ np.abs(matrices.sums)
        return known_from_functions(matrices, eigenvalues.T, phi, edge @ matrices.sums, edge_size, self.n_leading)

    def known(self, parts: Parts, matrices: Matrices) -> Known:
        """Parts of the score changes by all members that need no product."""
        return Known(*parts)
