"""Everything by definition: loops, rational numbers, one pair at a time. Imports nothing of ours."""

import math
from collections import Counter
from decimal import Decimal, getcontext
from fractions import Fraction
from itertools import combinations, permutations, product

getcontext().prec = 60  # kernel values keep 60 digits where they are irrational


def exact(value):
    """A rational number with the value of a float, an int or a Decimal."""
    return value if isinstance(value, Fraction) else Fraction(value)


def exponential(x):
    """exp of a rational number, to 60 digits (zero where Decimal has no exponent left)."""
    x = exact(x)
    if x < -(10**6):
        return Fraction(0)
    return exact((Decimal(x.numerator) / Decimal(x.denominator)).exp())


def root(x):
    x = exact(x)
    return exact((Decimal(x.numerator) / Decimal(x.denominator)).sqrt())


# Kernels of one pair of vectors.


def squared_distance(x, y):
    return sum(((exact(a) - exact(b)) ** 2 for a, b in zip(x, y, strict=True)), Fraction(0))


def absolute_distance(x, y):
    return sum((abs(exact(a) - exact(b)) for a, b in zip(x, y, strict=True)), Fraction(0))


def linear(x, y):
    return sum((exact(a) * exact(b) for a, b in zip(x, y, strict=True)), Fraction(0))


def gaussian(x, y, gamma):
    return exponential(-exact(gamma) * squared_distance(x, y))


def laplacian(x, y, gamma):
    return exponential(-exact(gamma) * absolute_distance(x, y))


def polynomial(x, y, degree=2, coef0=1):
    return (linear(x, y) + exact(coef0)) ** degree


def inverse_distance(x, y, gamma, offset=1):
    return 1 / (exact(offset) + root(exact(gamma) * squared_distance(x, y)))


def delta(x, y):
    return Fraction(int(all(a == b for a, b in zip(x, y, strict=True))))


def gram(kernel, rows, **parameters):
    return [[kernel(x, y, **parameters) for y in rows] for x in rows]


# Rules for gamma.


def median_gamma(rows, power=2):
    """1 / (2 median(r)^power), r the Euclidean (power 2) or L1 (power 1) distances of the pairs i < j."""
    m = len(rows)
    pairs = [(rows[i], rows[j]) for i in range(m) for j in range(i + 1, m)]
    distances = [root(squared_distance(*p)) if power == 2 else absolute_distance(*p) for p in pairs]
    median = _median(distances) or _median([r for r in distances if r > 0])
    return 1 / (2 * median**power) if median else Fraction(1)


def _median(values):
    values = sorted(values)
    if not values:
        return Fraction(0)
    return (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2


# Labels.


def binary_labels(y):
    first, second = sorted(set(y))
    return [[Fraction(1, y.count(second)) if label == second else Fraction(-1, y.count(first))] for label in y]


def multiclass_labels(y):
    classes, m = sorted(set(y)), len(y)
    return [[Fraction(1, y.count(c)) if label == c else Fraction(1, y.count(c) - m) for c in classes] for label in y]


# The measure.


def u_kernel(K, L, quadruple):
    """h(i, j, q, r), equation u_kernel."""
    terms = (K[s][t] * L[s][t] + K[s][t] * L[u][v] - 2 * K[s][t] * L[s][u] for s, t, u, v in permutations(quadruple))
    return Fraction(sum(terms)) / 24


def unbiased(K, L):
    """Mean of h over all ordered quadruples, equation ustats."""
    values = [u_kernel(K, L, quadruple) for quadruple in combinations(range(len(K)), 4)]
    return sum(values) / len(values)  # h is symmetric: each set of four stands for its 24 orders


def biased(K, L):
    """tr(KHLH) / (m - 1)^2 as the V-statistic: sums over all indices, equal ones too."""
    m = len(K)
    M = range(m)
    joint = sum(K[i][j] * L[i][j] for i, j in product(M, M))
    apart = sum(K[i][j] for i, j in product(M, M)) * sum(L[i][j] for i, j in product(M, M))
    chain = sum(K[i][j] * L[i][q] for i, j, q in product(M, M, M))
    value = Fraction(joint) / m**2 + Fraction(apart) / m**4 - 2 * Fraction(chain) / m**3
    return value * m**2 / (m - 1) ** 2


def variance(K, L):
    """16 (R - HSIC^2) / m, equation varHSIC, by loops over the triples without i."""
    m = len(K)
    squares = []
    for i in range(m):
        triples = list(permutations([j for j in range(m) if j != i], 3))
        squares.append((sum(u_kernel(K, L, (i, *triple)) for triple in triples) / len(triples)) ** 2)
    return Fraction(16, m) * (sum(squares) / m - unbiased(K, L) ** 2)


def repeated(samples, weights):
    """The sample in which each element occurs weights times."""
    return [sample for sample, weight in zip(samples, weights, strict=True) for _ in range(weight)]


# Strings and graphs.


def spectrum(s, t, n):
    """Number of pairs of equal substrings of length n."""
    starts = product(range(len(s) - n + 1), range(len(t) - n + 1))
    return sum(s[a : a + n] == t[b : b + n] for a, b in starts)


def subtree(node, edges, labels, depth):
    """The colour of a node as what it stands for: the label, and the subtrees that hang on it."""
    if depth == 0:
        return repr(labels[node])
    near = sorted(subtree(other, edges, labels, depth - 1) for other in edges[node])
    return f"{subtree(node, edges, labels, depth - 1)}({','.join(near)})"


def weisfeiler_lehman(first, second, iterations):
    """Pairs of nodes with equal subtrees, over all depths; a graph is (edges: node -> nodes, labels: node -> label)."""
    total = 0
    for depth in range(iterations + 1):
        a, b = (Counter(subtree(node, *graph, depth) for node in graph[0]) for graph in (first, second))
        total += sum(a[colour] * b[colour] for colour in a)
    return total


def bound(m, delta):
    return 8 * math.sqrt(math.log(2 / delta) / m)
