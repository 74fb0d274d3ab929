"""Kernels on strings and graphs: inner products of token counts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import norm

from bahsic.kernels.base import Kernel
from bahsic.kernels.rows import FloatArray
from bahsic.parameters import check_parameter, is_count

Vocabulary = dict[Hashable, int]  # the number of each token, in order of first appearance
Graph = tuple[list[list[int]], list[Hashable]]  # the neighbours and the label of each node


class CountKernel(Kernel):
    """k(x, x') = sum over tokens t of count_t(x) count_t(x'); normalised, k(x, x') / sqrt(k(x, x) k(x', x')).

    A sample without tokens has the value 0 with every sample, itself included, normalised or not.
    """

    normalize: bool

    @abstractmethod
    def tokens(self, sample: Any, vocabulary: Vocabulary) -> list[int]:
        """Return the numbers of the tokens of a sample, repeated as they occur; add new tokens to the vocabulary."""

    def __call__(self, X: Any, Y: Any = None) -> FloatArray:
        self.resolved(X)
        vocabulary: Vocabulary = {}
        sets = [self.rows(X)] if Y is None else [self.rows(X), self.rows(Y, "Y")]
        token_lists = [[self.tokens(sample, vocabulary) for sample in samples] for samples in sets]
        counts = [_counts(lists, len(vocabulary)) for lists in token_lists]
        K: FloatArray = (counts[0] @ counts[-1].T).toarray()
        if self.normalize:
            norms = [np.maximum(norm(each, axis=1), 1.0) for each in counts]  # of integers: below 1 only without tokens
            K /= np.multiply.outer(norms[0], norms[-1])
        return K

    @property
    def value_range(self) -> tuple[float, float] | None:
        return (0.0, 1.0) if self.normalize else None


class Spectrum(CountKernel):
    """Spectrum kernel on strings, k(s, s') = sum over strings u of n characters of count_u(s) count_u(s').

    Parameters
    ----------
    n : int
        Length of the substrings, at least 1; a shorter string has no substring and the value 0 with all.
    normalize : bool
        Divide by sqrt(k(s, s) k(s', s')).

    Examples
    --------
    >>> Spectrum(n=2)(["abab", "ab", "x"])
    array([[5., 2., 0.],
           [2., 1., 0.],
           [0., 0., 0.]])
    """

    def __init__(self, n: int = 3, normalize: bool = False) -> None:
        self.n = n
        self.normalize = normalize

    def resolved(self, X: Any, W: FloatArray | None = None, sample_weight: Any = None) -> Self:
        check_parameter("n", self.n, is_count(self.n), "a positive integer")
        return self

    def rows(self, X: Any, argument: str = "X") -> list[str]:
        strings = _samples(X, argument, "a sequence of strings")
        for position, string in enumerate(strings):
            if not isinstance(string, str):
                raise TypeError(f"{argument} has {string!r} at position {position}; accepted: strings")
        return strings

    def tokens(self, sample: str, vocabulary: Vocabulary) -> list[int]:
        substrings = (sample[start : start + self.n] for start in range(len(sample) - self.n + 1))
        return [vocabulary.setdefault(substring, len(vocabulary)) for substring in substrings]


class WeisfeilerLehman(CountKernel):
    """Subtree kernel on graphs, k(G, G') = sum over rounds 0..h and colours c of count_c(G) count_c(G').

    Round 0 colours each node by its label; each further round by its colour and the multiset of its neighbours'
    colours.

    Parameters
    ----------
    iterations : int
        The number h of rounds, not negative.
    normalize : bool
        Divide by sqrt(k(G, G) k(G', G')).

    Notes
    -----
    A graph is a networkx graph or a pair (adjacency, node labels). The adjacency is a square array or sparse matrix,
    in which a nonzero entry (i, j) makes j a neighbour of i; the labels are any hashable values, or None. In a networkx
    graph the label is the node attribute "label". Where there are no labels, or not for all nodes, the number of
    neighbours is the label. Directed graphs are followed along their edges; weights of edges are not used.

    Examples
    --------
    >>> path, triangle = [[0, 1, 0], [1, 0, 1], [0, 1, 0]], [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    >>> WeisfeilerLehman(iterations=1)([(path, None), (triangle, None)])
    array([[10.,  3.],
           [ 3., 18.]])
    """

    def __init__(self, iterations: int = 3, normalize: bool = False) -> None:
        self.iterations = iterations
        self.normalize = normalize

    def resolved(self, X: Any, W: FloatArray | None = None, sample_weight: Any = None) -> Self:
        check_parameter("iterations", self.iterations, is_count(self.iterations, 0), "an integer, not negative")
        return self

    def rows(self, X: Any, argument: str = "X") -> list[Any]:
        accepted = "a sequence of networkx graphs or (adjacency, node labels) pairs"
        samples = _samples(X, argument, accepted)
        for position, sample in enumerate(samples):
            if not (_is_networkx(sample) or (isinstance(sample, tuple) and len(sample) == 2)):
                kind = type(sample).__name__
                raise TypeError(f"{argument} has a {kind} at position {position}; accepted: {accepted}")
        return samples

    def tokens(self, sample: Any, vocabulary: Vocabulary) -> list[int]:
        neighbours, labels = _from_networkx(sample) if _is_networkx(sample) else _from_pair(*sample)
        # The key of a colour consists of colours of the round before, so rounds share a vocabulary without clashes.
        colours = [vocabulary.setdefault(("label", label), len(vocabulary)) for label in labels]
        tokens = list(colours)
        for _ in range(self.iterations):
            keys = [(colours[i], tuple(sorted(colours[j] for j in near))) for i, near in enumerate(neighbours)]
            colours = [vocabulary.setdefault(key, len(vocabulary)) for key in keys]
            tokens += colours
        return tokens


def _samples(X: Any, argument: str, accepted: str) -> list[Any]:
    if isinstance(X, str) or not hasattr(X, "__len__") or not hasattr(X, "__iter__") or _is_networkx(X):
        raise TypeError(f"{argument} is a {type(X).__name__}; accepted: {accepted}")
    samples = list(np.ravel(X)) if hasattr(X, "__array__") else list(X)  # a column of a table
    if not samples:
        raise ValueError(f"{argument} is empty; accepted: {accepted}")
    return samples


def _is_networkx(sample: Any) -> bool:
    return hasattr(sample, "adj") and hasattr(sample, "nodes")


def _from_networkx(graph: Any) -> Graph:
    index = {node: position for position, node in enumerate(graph.nodes)}
    neighbours = [[index[other] for other in graph.adj[node]] for node in graph.nodes]
    attributes = [graph.nodes[node] for node in graph.nodes]
    labelled = all("label" in attribute for attribute in attributes)
    return neighbours, [a["label"] for a in attributes] if labelled else [len(near) for near in neighbours]


def _from_pair(adjacency: Any, labels: Any) -> Graph:
    matrix = sparse.csr_array(adjacency if sparse.issparse(adjacency) else np.atleast_2d(np.asarray(adjacency)))
    matrix.eliminate_zeros()
    m = matrix.shape[0]
    if matrix.shape != (m, m):
        raise ValueError(f"an adjacency matrix has shape {matrix.shape}; accepted: a square matrix")
    neighbours = [matrix.indices[a:b].tolist() for a, b in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)]
    if labels is None:
        return neighbours, [len(near) for near in neighbours]
    if len(labels) != m:
        given = f"a graph has {m} nodes and {len(labels)} node labels"
        raise ValueError(f"{given}; accepted: one label for each node, or None")
    return neighbours, np.asarray(labels).tolist() if hasattr(labels, "__array__") else list(labels)


def _counts(token_lists: list[list[int]], n_tokens: int) -> Any:
    ends = np.cumsum([0, *map(len, token_lists)])
    tokens = np.array([token for tokens in token_lists for token in tokens], dtype=np.int64)
    counts = sparse.csr_array((np.ones(len(tokens)), tokens, ends), shape=(len(token_lists), max(n_tokens, 1)))
    counts.sum_duplicates()
    return counts
