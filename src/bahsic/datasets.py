"""Artificial data sets whose relevant features are known."""

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bahsic.parameters import RandomStateLike, check_count, random_source

# Consecutive centres differ in class, so that taking them in turn balances the classes too.
_XOR_CENTRES = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]])
_CLASS_CENTRES = np.array([[-1.0, 1.0], [0.0, 0.0], [1.0, -1.0], [1.0, 1.0]])


def make_xor(
    n_samples: int = 200,
    n_features: int = 22,
    *,
    noise: float = 0.3,
    random_state: RandomStateLike = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_]]:
    """Binary XOR data among noise (section 5.1 of the paper, *Artificial datasets*).

    The first two features lie around the four centres (+-1, +-1); the label is 1 where the two
    signs agree. Neither feature alone says anything about the label, both together determine it.
    The other features are standard normal. Classes and clusters are of equal size, as far as
    `n_samples` allows, and in random order.

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
        The data.
    y : ndarray of shape (n_samples,)
        The labels, 0 or 1.
    support : ndarray of shape (n_features,)
        True for the relevant features, the first two.

    Examples
    --------
    >>> from bahsic.datasets import make_xor
    >>> X, y, support = make_xor(n_samples=8, n_features=4, noise=0.0, random_state=0)
    >>> bool(((X[:, 0] == X[:, 1]) == (y == 1)).all())
    True
    >>> support
    array([ True,  True, False, False])
    """
    random = _checked_source(n_samples, n_features, noise, random_state, fewest=4)
    X, cluster = _clusters(_XOR_CENTRES, n_samples, n_features, noise, random)
    return X, (cluster % 2 == 0).astype(np.int64), np.arange(n_features) < 2


def make_multiclass(
    n_samples: int = 200,
    n_features: int = 22,
    *,
    noise: float = 0.3,
    random_state: RandomStateLike = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_]]:
    """Four classes among noise, three of them collinear (section 5.1 of the paper, *Artificial datasets*).

    The first two features lie around (-1, 1), (0, 0) and (1, -1) for the classes 0, 1 and 2, which are on a
    line, and around (1, 1) for class 3, which is not. With the classes taken as numbers, class 3 removes
    almost all linear correlation of the second feature. The other features are standard normal. Classes are of
    equal size, as far as `n_samples` allows, and in random order. The paper does not give its centres.

    Parameters
    ----------
    n_samples : int, default=200
        Number of samples m, at least 4 (one for each class).
    n_features : int, default=22
        Number of features d, at least 2.
    noise : float, default=0.3
        Standard deviation of the two relevant features around their centre.
    random_state : int, RandomState, Generator or None, default=None
        Seed or source of the random numbers.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The data.
    y : ndarray of shape (n_samples,)
        The classes, 0 to 3.
    support : ndarray of shape (n_features,)
        True for the relevant features, the first two.

    Examples
    --------
    >>> from bahsic.datasets import make_multiclass
    >>> X, y, support = make_multiclass(n_samples=8, n_features=4, noise=0.0, random_state=0)
    >>> bool((X[y < 3, 0] == -X[y < 3, 1]).all())
    True
    """
    random = _checked_source(n_samples, n_features, noise, random_state, fewest=4)
    X, cluster = _clusters(_CLASS_CENTRES, n_samples, n_features, noise, random)
    return X, cluster.astype(np.int64), np.arange(n_features) < 2


def make_nonlinear_regression(
    n_samples: int = 200,
    n_features: int = 22,
    *,
    noise: float = 0.1,
    random_state: RandomStateLike = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Nonlinear regression among noise (section 5.1 of the paper, *Artificial datasets*).

    All features are standard normal, and the label is y = x1 exp(-x1^2 - x2^2) plus normal noise. Its variance
    without noise is 1/25. The second feature is not correlated with y. The paper gives neither the distribution
    of the features nor the size of the noise.

    Parameters
    ----------
    n_samples : int, default=200
        Number of samples m, at least 1.
    n_features : int, default=22
        Number of features d, at least 2.
    noise : float, default=0.1
        Standard deviation of the noise in y.
    random_state : int, RandomState, Generator or None, default=None
        Seed or source of the random numbers.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The data.
    y : ndarray of shape (n_samples,)
        The labels.
    support : ndarray of shape (n_features,)
        True for the relevant features, the first two.

    Examples
    --------
    >>> import numpy as np
    >>> from bahsic.datasets import make_nonlinear_regression
    >>> X, y, support = make_nonlinear_regression(n_samples=50, noise=0.0, random_state=0)
    >>> bool(np.allclose(y, X[:, 0] * np.exp(-(X[:, 0] ** 2) - X[:, 1] ** 2)))
    True
    """
    random = _checked_source(n_samples, n_features, noise, random_state, fewest=1)
    X = random.standard_normal((n_samples, n_features))
    y = X[:, 0] * np.exp(-np.square(X[:, :2]).sum(axis=1)) + noise * random.standard_normal(n_samples)
    return X, y, np.arange(n_features) < 2


def _clusters(
    centres: NDArray[np.float64], n_samples: int, n_features: int, noise: float, random: np.random.RandomState
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Normal data whose first two features lie around the given centres, and the number of each sample's centre."""
    cluster = random.permutation(np.arange(n_samples) % len(centres))
    X = random.standard_normal((n_samples, n_features))
    X[:, :2] = centres[cluster] + noise * X[:, :2]
    return X, cluster


def _checked_source(
    n_samples: Any, n_features: Any, noise: Any, random_state: Any, *, fewest: int
) -> np.random.RandomState:
    """Check all parameters and return the source of random numbers."""
    check_count("n_samples", n_samples, fewest)
    check_count("n_features", n_features, 2)
    if isinstance(noise, bool) or not isinstance(noise, Real) or not 0 <= float(noise) < np.inf:
        raise ValueError(f"noise is {noise!r}; accepted: a finite number of at least 0")
    return random_source(random_state)
