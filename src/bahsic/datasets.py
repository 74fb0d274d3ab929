"""Artificial data sets whose relevant features are known."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bahsic.parameters import RandomStateLike, check_count, check_parameter, is_number, random_source

# Consecutive centres differ in class, so that taking them in turn balances the classes too.
_XOR_CENTRES = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]])
_CLASS_CENTRES = np.array([[-1.0, 1.0], [0.0, 0.0], [1.0, -1.0], [1.0, 1.0]])

_Problem = tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_]]


def make_xor(
    n_samples: int = 200, n_features: int = 22, *, noise: float = 0.3, random_state: RandomStateLike = None
) -> _Problem:
    """Generate binary XOR data among noise (section 5.1 of the paper, *Artificial datasets*).

    The first two features lie around the four centres (+-1, +-1); the label is 1 where the two signs agree. Neither
    feature alone carries information about the label, both together determine it. The other features are standard
    normal. Classes and clusters are of equal size, as far as `n_samples` allows, and in random order.

    Parameters
    ----------
    n_samples : int, default=200
        Number of samples m, at least 4 (one for each cluster).
    n_features : int, default=22
        Number of features d, at least 2.
    noise : float, default=0.3
        Standard deviation of the two relevant features around their centre.
    random_state : int, RandomState, Generator or None, default=None
        Seed or source of the random numbers.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        The labels, 0 or 1.
    support : ndarray of shape (n_features,)
        True for the relevant features, the first two.

    Examples
    --------
    >>> X, y, support = make_xor(n_samples=8, n_features=4, noise=0.0, random_state=0)
    >>> bool(((X[:, 0] == X[:, 1]) == (y == 1)).all())
    True
    >>> support
    array([ True,  True, False, False])
    """
    X, cluster = _clusters(_XOR_CENTRES, n_samples, n_features, noise, random_state)
    return X, (cluster % 2 == 0).astype(np.int64), np.arange(n_features) < 2


def make_multiclass(
    n_samples: int = 200, n_features: int = 22, *, noise: float = 0.3, random_state: RandomStateLike = None
) -> _Problem:
    """Generate four classes among noise, three of them collinear (section 5.1 of the paper, *Artificial datasets*).

    The first two features lie around (-1, 1), (0, 0) and (1, -1) for the classes 0, 1 and 2, which are on a
    line, and around (1, 1) for class 3, which is not. With the classes taken as numbers, class 3 removes
    almost all linear correlation of the second feature. The other features are standard normal. Classes are of
    equal size, as far as `n_samples` allows, and in random order. The paper does not give its centres.
    Parameters and results are those of `make_xor`, with the classes 0 to 3 as labels.

    Examples
    --------
    >>> X, y, support = make_multiclass(n_samples=8, n_features=4, noise=0.0, random_state=0)
    >>> bool((X[y < 3, 0] == -X[y < 3, 1]).all())
    True
    """
    X, cluster = _clusters(_CLASS_CENTRES, n_samples, n_features, noise, random_state)
    return X, cluster.astype(np.int64), np.arange(n_features) < 2


def make_nonlinear_regression(
    n_samples: int = 200, n_features: int = 22, *, noise: float = 0.1, random_state: RandomStateLike = None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Generate a nonlinear regression problem among noise (section 5.1 of the paper, *Artificial datasets*).

    All features are standard normal, and the label is y = x1 exp(-x1^2 - x2^2) plus normal noise, of which ``noise`` is
    the standard deviation. The variance of y without it is 1/25. The second feature is not correlated with y. The paper
    gives neither the distribution of the features nor the size of the noise.
    Parameters and results are those of `make_xor`, with numbers as labels and any number of samples.

    Examples
    --------
    >>> X, y, support = make_nonlinear_regression(n_samples=50, noise=0.0, random_state=0)
    >>> bool(np.allclose(y, X[:, 0] * np.exp(-(X[:, 0] ** 2) - X[:, 1] ** 2)))
    True
    """
    random = _checked_source(n_samples, 1, n_features, 2, random_state, noise)
    X = random.standard_normal((n_samples, n_features))
    y = X[:, 0] * np.exp(-np.square(X[:, :2]).sum(axis=1)) + noise * random.standard_normal(n_samples)
    return X, y, np.arange(n_features) < 2


def make_ring(n_samples: int = 500, n_features: int = 16, *, random_state: RandomStateLike = None) -> _Problem:
    r"""Generate two classes, points on a ring and all others, among uniform noise (Passemiers et al. 2024).

    With u uniform on [0, 1] in each feature, a sample is of class 1 where
    :math:`|\sqrt{(u_1 - 0.5)^2 + (u_2 - 0.5)^2} - 0.35| \le 0.1151`, about half of the square. The data are
    x = 2u - 1. Parameters and results are those of `make_xor`, without ``noise``, for any number of samples.

    References
    ----------
    Passemiers et al., *Scientific Reports* 14, 2024, doi 10.1038/s41598-024-82583-5.

    Examples
    --------
    >>> X, y, support = make_ring(1000, 4, random_state=0)
    >>> bool(0.45 < y.mean() < 0.55), support.tolist()
    (True, [True, True, False, False])
    """
    u = _checked_source(n_samples, 1, n_features, 2, random_state).random_sample((n_samples, n_features))
    return _labelled(u, _ring(u, 0.1151), n_relevant=2)


def make_uniform_xor(n_samples: int = 500, n_features: int = 16, *, random_state: RandomStateLike = None) -> _Problem:
    """Generate the XOR of two uniform features among uniform noise (Passemiers et al. 2024, see `make_ring`).

    A sample is of class 1 where the first two features lie on different sides of zero. `make_xor` has clusters
    instead. Parameters and results are those of `make_ring`.

    Examples
    --------
    >>> X, y, support = make_uniform_xor(100, 4, random_state=0)
    >>> bool(((X[:, 0] * X[:, 1] <= 0) == (y == 1)).all())
    True
    """
    u = _checked_source(n_samples, 1, n_features, 2, random_state).random_sample((n_samples, n_features))
    return _labelled(u, _xor(u[:, :2], 0.0), n_relevant=2)


def make_ring_xor(n_samples: int = 500, n_features: int = 16, *, random_state: RandomStateLike = None) -> _Problem:
    """Generate a ring of two features, or XOR of two others, among noise (Passemiers et al. 2024, see `make_ring`).

    The ring is thinner and the corners of the XOR are smaller, so that about half of the samples are of class 1.
    Parameters and results are those of `make_ring`, with at least four features, of which the first four are relevant.

    Examples
    --------
    >>> X, y, support = make_ring_xor(1000, 6, random_state=0)
    >>> bool(0.45 < y.mean() < 0.55), int(support.sum())
    (True, 4)
    """
    u = _checked_source(n_samples, 1, n_features, 4, random_state).random_sample((n_samples, n_features))
    return _labelled(u, _ring(u, 0.0704) | _xor(u[:, 2:4], 0.0337), n_relevant=4)


def make_ring_xor_sum(n_samples: int = 500, n_features: int = 16, *, random_state: RandomStateLike = None) -> _Problem:
    """Generate a ring, XOR, or a noisy sum, of two features each (Passemiers et al. 2024, see `make_ring`).

    Parameters and results are those of `make_ring`, with at least six features, of which the first six are relevant.

    Examples
    --------
    >>> X, y, support = make_ring_xor_sum(1000, 8, random_state=0)
    >>> bool(0.45 < y.mean() < 0.55), int(support.sum())
    (True, 6)
    """
    random = _checked_source(n_samples, 1, n_features, 6, random_state)
    u = random.random_sample((n_samples, n_features))
    noisy_sum = u[:, 4] + u[:, 5] + 0.2 * random.standard_normal(n_samples)
    return _labelled(u, _ring(u, 0.0479) | _xor(u[:, 2:4], 0.0598) | (noisy_sum >= 1.4074), n_relevant=6)


def _ring(u: NDArray[np.float64], width: float) -> NDArray[np.bool_]:
    return np.abs(np.hypot(u[:, 0] - 0.5, u[:, 1] - 0.5) - 0.35) <= width


def _xor(u: NDArray[np.float64], corner: float) -> NDArray[np.bool_]:
    return (u[:, 0] - 0.5) * (0.5 - u[:, 1]) >= corner


def _labelled(u: NDArray[np.float64], positive: NDArray[np.bool_], n_relevant: int) -> _Problem:
    return 2 * u - 1, positive.astype(np.int64), np.arange(u.shape[1]) < n_relevant


def _clusters(
    centres: NDArray[np.float64], n_samples: int, n_features: int, noise: float, random_state: RandomStateLike
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return normal data whose first two features lie around the given centres, and the centre of each sample."""
    random = _checked_source(n_samples, len(centres), n_features, 2, random_state, noise)
    cluster = random.permutation(np.arange(n_samples) % len(centres))
    X = random.standard_normal((n_samples, n_features))
    X[:, :2] = centres[cluster] + noise * X[:, :2]
    return X, cluster


def _checked_source(
    n_samples: Any, min_samples: int, n_features: Any, min_features: int, random_state: Any, noise: Any = 0.0
) -> np.random.RandomState:
    """Check all parameters and return the source of random numbers."""
    check_count("n_samples", n_samples, min_samples)
    check_count("n_features", n_features, min_features)
    check_parameter("noise", noise, is_number(noise) and noise >= 0, "a finite number of at least 0")
    return random_source(random_state)
