"""Problems whose relevant features are known: a causal graph, epistasis between genes, many interactions, many effects.

Each is a function of a generator that returns X, y and a mask of the relevant features.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Drawn = tuple[Array, NDArray[np.float64], NDArray[np.bool_]]

# Variables of the graph with its target, those of them without any edge, probability of an edge, samples.
_VARIABLES, _ALONE, _EDGES, _GRAPH_SAMPLES = 2001, 1000, 0.004, 1000

# Samples of the problems of genes.
_PATIENTS = 1600

# Ancestors of the target in the graphs that are comparable to the published one, which has 7.
_ANCESTORS = range(5, 13)


def dag(random: np.random.Generator) -> Drawn:
    """The law of the graphs of Passemiers et al. (2024): relevant are the ancestors of the target.

    Graphs with fewer or more ancestors than are comparable to the published one are drawn again.
    """
    while True:
        X, y, causal = _graph(random)
        if causal.sum() in _ANCESTORS:
            return X, y, causal


def _graph(random: np.random.Generator) -> Drawn:
    """Draw a graph and samples of its variables; the target is the last variable after shuffling.

    An edge leads from i to j > i with a weight that is uniform on [-1, 1]. A variable is the mean of its weighted
    parents plus a normal error of deviation 0.2, standardised, doubled, through the logistic function.
    """
    n, d = _GRAPH_SAMPLES, _VARIABLES
    edges = np.triu(random.random((d, d)) < _EDGES, 1)
    alone = random.choice(d, _ALONE, replace=False)
    edges[alone], edges[:, alone] = False, False
    values, is_ancestor = np.empty((n, d)), np.zeros((d, d), dtype=bool)  # of the variable of a row
    for j in range(d):
        parents = np.flatnonzero(edges[:, j])
        z = 0.2 * random.standard_normal(n)
        if len(parents):
            z += values[:, parents] @ random.uniform(-1, 1, len(parents)) / len(parents)
            is_ancestor[j] = is_ancestor[parents].any(axis=0)
            is_ancestor[j, parents] = True
        values[:, j] = 1 / (1 + np.exp(-2 * (z - z.mean()) / z.std()))
    *features, target = random.permutation(d)
    y = values[:, target] > np.median(values[:, target])
    return values[:, features], y.astype(float), is_ancestor[target, features]


def epistasis(random: np.random.Generator, order: int, heritability: float, n_features: int) -> Drawn:
    """Pure epistasis, as in the benchmarks of scikit-rebate: genes that tell of the disease only all together.

    Genotypes 0, 1, 2 are in Hardy-Weinberg equilibrium, with minor alleles between 0.3 and 0.5. The penetrance is
    1/2 + c u_1 ... u_k, where each u has mean zero and variance one over the genotypes of its gene: no smaller set of
    genes tells anything. c makes the variance of the penetrance the heritability times 1/4; the u are drawn until all
    penetrances are probabilities.
    """
    share = random.uniform(0.3, 0.5, n_features)
    genes = random.binomial(2, share, (_PATIENTS, n_features))
    c = np.sqrt(heritability) / 2
    while True:
        effects = [_centred(random.standard_normal(3), s) for s in share[:order]]
        if c * np.prod([np.abs(u).max() for u in effects]) <= 1 / 2:
            break
    product = np.prod([u[genes[:, j]] for j, u in enumerate(effects)], axis=0)
    y = random.random(_PATIENTS) < 1 / 2 + c * product
    return genes.astype(float), y.astype(float), np.arange(n_features) < order


def _centred(u: Array, share: float) -> Array:
    """Return effects of the three genotypes with mean zero and variance one, for this share of minor alleles."""
    p = np.array([(1 - share) ** 2, 2 * share * (1 - share), share**2])
    u = u - p @ u
    return np.asarray(u / np.sqrt(p @ u**2))


def parity(random: np.random.Generator, order: int, n_features: int) -> Drawn:
    """The XOR of so many genes, as in the benchmarks of scikit-rebate: the disease where an odd number is heterozygous.

    Half of the genotypes are heterozygous, so that no smaller set of genes tells anything.
    """
    genes = random.binomial(2, 0.5, (_PATIENTS, n_features))
    y = (genes[:, :order] == 1).sum(axis=1) % 2
    return genes.astype(float), y.astype(float), np.arange(n_features) < order


def pairs(random: np.random.Generator) -> Drawn:
    """Ten products of two features, 20 of 50 features, 2,500 samples."""
    X = random.standard_normal((2500, 50))
    y = (X[:, 0:20:2] * X[:, 1:20:2]).sum(axis=1) + random.standard_normal(len(X))
    return X, y, np.arange(50) < 20


def wide(random: np.random.Generator) -> Drawn:
    """Forty linear effects, 500 features, 500 samples."""
    X = random.standard_normal((500, 500))
    return X, 0.5 * X[:, :40].sum(axis=1) + random.standard_normal(len(X)), np.arange(500) < 40
