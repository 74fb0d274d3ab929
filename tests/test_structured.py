import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import oracle
from bahsic.kernels import Spectrum, WeisfeilerLehman
from contracts import KernelContract

STRINGS = ["banana", "ananas", "bandana", "Ana", "an", "", "nab", "cabana", "naan", "band"]


def random_graphs(count=10, seed=5):
    """Pairs (adjacency, labels) of 3 to 7 nodes."""
    rng = np.random.default_rng(seed)
    graphs = []
    for size in rng.integers(3, 8, size=count):
        upper = np.triu(rng.random((size, size)) < 0.4, k=1)
        graphs.append(((upper | upper.T).astype(int), rng.choice(["C", "N"], size=size)))
    return graphs


def for_oracle(adjacency, labels=None):
    edges = {i: np.flatnonzero(row).tolist() for i, row in enumerate(np.asarray(adjacency))}
    return edges, dict(enumerate([len(near) for near in edges.values()] if labels is None else list(labels)))


def by_definition(graphs, iterations):
    graphs = [for_oracle(*graph) for graph in graphs]
    return [[oracle.weisfeiler_lehman(g, h, iterations) for h in graphs] for g in graphs]


def normalised(K):
    norms = np.sqrt(np.diag(K))
    norms[norms == 0] = 1
    return K / np.outer(norms, norms)


class TestSpectrum(KernelContract):
    kernel = Spectrum(n=2)
    samples = STRINGS


class TestWeisfeilerLehman(KernelContract):
    kernel = WeisfeilerLehman(iterations=2)
    samples = random_graphs()


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_spectrum_by_definition(n):
    expected = np.array([[oracle.spectrum(s, t, n) for t in STRINGS] for s in STRINGS], dtype=float)
    assert_array_equal(Spectrum(n)(STRINGS), expected)
    assert_array_equal(Spectrum(n)(STRINGS[:4], STRINGS[2:]), expected[:4, 2:])
    assert_allclose(Spectrum(n, normalize=True)(STRINGS), normalised(expected), rtol=1e-14)
    assert_array_equal(Spectrum(3)(["ab", ""]), np.zeros((2, 2)))


@pytest.mark.parametrize("iterations", [0, 1, 3])
@pytest.mark.parametrize("labelled", [True, False])
def test_weisfeiler_lehman_by_definition(iterations, labelled):
    graphs = [(adjacency, labels if labelled else None) for adjacency, labels in random_graphs()]
    expected = np.array(by_definition(graphs, iterations), dtype=float)
    assert_array_equal(WeisfeilerLehman(iterations)(graphs), expected)
    assert_array_equal(WeisfeilerLehman(iterations)(graphs[:4], graphs[2:]), expected[:4, 2:])
    assert_allclose(WeisfeilerLehman(iterations, normalize=True)(graphs), normalised(expected), rtol=1e-14)


def test_sparse_adjacency_with_stored_zeros():
    graphs = random_graphs()
    stored = [(sparse.csr_matrix(adjacency), labels) for adjacency, labels in graphs]
    with_zero = sparse.coo_array(([1, 1, 0], ([0, 1, 0], [1, 0, 0])), shape=(2, 2))
    assert_array_equal(WeisfeilerLehman(2)(stored), WeisfeilerLehman(2)(graphs))
    pair = np.array([[0, 1], [1, 0]])
    labels = [(pair, [1, 1]), (pair, ["1", 1]), (pair, np.array([1, 1]))]
    assert_array_equal(WeisfeilerLehman(0)(labels), [[4, 2, 4], [2, 2, 2], [4, 2, 4]])
    assert_array_equal(WeisfeilerLehman(1)([(with_zero, None)]), WeisfeilerLehman(1)([([[0, 1], [1, 0]], None)]))


@pytest.mark.parametrize("labelled", [True, False])
def test_networkx_graphs(labelled):
    networkx = pytest.importorskip("networkx")
    pairs = [(adjacency, labels if labelled else None) for adjacency, labels in random_graphs()]
    graphs = [networkx.from_numpy_array(adjacency) for adjacency, _ in pairs]
    if labelled:
        for graph, (_, labels) in zip(graphs, pairs, strict=True):
            networkx.set_node_attributes(graph, dict(enumerate(labels.tolist())), "label")
    assert_array_equal(WeisfeilerLehman(2)(graphs), WeisfeilerLehman(2)(pairs))
    path = networkx.path_graph(3)
    path.nodes[0]["label"] = "C"  # labels of some nodes only are not used
    assert_array_equal(WeisfeilerLehman(0)([path], [networkx.path_graph(3)]), [[5.0]])


@pytest.mark.parametrize(
    ("kernel", "samples", "error", "message"),
    [
        (Spectrum(), "banana", TypeError, "X is a str; accepted: a sequence of strings"),
        (Spectrum(), ["a", 1], TypeError, "X has 1 at position 1; accepted: strings"),
        (Spectrum(), [], ValueError, "X is empty"),
        (Spectrum(n=0), ["a"], ValueError, "n is 0; accepted: a positive integer"),
        (WeisfeilerLehman(-1), [([[0]], None)], ValueError, "iterations is -1; accepted: an integer, not negative"),
        (WeisfeilerLehman(), 3, TypeError, "X is a int; accepted: a sequence of networkx graphs or"),
        (WeisfeilerLehman(), ["a"], TypeError, "X has a str at position 0; accepted: a sequence of networkx graphs or"),
        (WeisfeilerLehman(), [([[0, 1]], None)], ValueError, r"an adjacency matrix has shape \(1, 2\); accepted: a"),
        (WeisfeilerLehman(), [([[0]], ["a", "b"])], ValueError, "a graph has 1 nodes and 2 node labels"),
    ],
)
def test_bad_samples(kernel, samples, error, message):
    with pytest.raises(error, match=message):
        kernel(samples)
