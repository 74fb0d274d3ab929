"""Selections against brute force by definition, in sizes at which the expansion is used.

Units of the columns are up to 1000, which with ``standardize=False`` reach the kernel.
"""

import warnings
from dataclasses import replace

import numpy as np

import brute_force
import test_prediction_brute_force as by_prediction
import test_search_brute_force as by_hsic
from bahsic import BAHSIC, FOHSIC
from bahsic.kernels import Gaussian, Laplacian
from fuzz.apart import Outcome

# Our kernel, the power of its distances, and gamma for a size.
KERNELS = [
    ("gaussian", 2, lambda size: 1 / (2 * size)),
    ("gaussian", 2, lambda size: 1 / (2 * size)),
    (Gaussian(0.3), 2, lambda size: 0.3),
    (Gaussian(5.0), 2, lambda size: 5.0),
    ("laplacian", 1, lambda size: 1 / (2 * size)),
    (Laplacian(0.1), 1, lambda size: 0.1),
]
# Of many columns its matrix is the identity, but for rounding: all changes tie, which the check cannot order.
_NARROW = by_prediction.KERNELS["laplacian 2"][2]

STEPS = [0.1, 0.3, 0.5, 3, 20]


def case(generator, folder, number):
    """One selection: by HSIC or by prediction, backward or forward, standardised or not."""
    warnings.simplefilter("ignore")
    check = _check_hsic if number % 4 else _check_prediction
    check(generator)
    return Outcome("fine")


def _check_hsic(generator):
    m, d = int(generator.integers(20, 301)), int(generator.integers(2, 61))
    X = by_hsic.random_columns(generator, m, d)
    varies = np.ptp(X, axis=0) > 0  # constant columns take no part
    X = X[:, varies] if varies.any() else X[:, :1]
    d = X.shape[1]
    y, L, target = by_hsic.random_labels(generator, m, X)
    kernel, power, gamma = KERNELS[generator.integers(len(KERNELS))]
    statistic, step = str(generator.choice(["unbiased", "biased"])), STEPS[generator.integers(len(STEPS))]
    standardize, selector = bool(generator.random() < 0.6), [BAHSIC, FOHSIC][generator.integers(2)]
    options = {"kernel": kernel, "target_kernel": target, "statistic": statistic, "standardize": standardize}
    fitted = selector(d, step=step, criterion="hsic", **options).fit(X, y)
    Z, constant = brute_force.standardised(X)
    Z = Z if standardize else np.where(constant, 0.0, X)
    D = [np.abs(column[:, None] - column) ** power for column in Z.T]
    # Columns by their numbers, copies by that of the first one: `check_path` hands some to the definition.
    _, first, group = np.unique(Z, axis=1, return_index=True, return_inverse=True)
    places = first[np.ravel(group)][None]

    def definition(columns, size):
        total = np.zeros((m, m))
        for j in columns[0]:
            total += D[j]
        return np.exp(-gamma(size) * total)

    brute_force.check_path(fitted, places, L, constant, definition, statistic, step, leaving=selector is BAHSIC)


def _check_prediction(generator):
    shape = (int(generator.integers(20, 81)), int(generator.integers(2, 31)))
    found = by_prediction.random_case(int(generator.integers(2**31)), shape)
    while found.definition is _NARROW:
        found = by_prediction.random_case(int(generator.integers(2**31)), shape)
    names = [name for name in by_prediction.POINTWISE if found.definition is by_prediction.KERNELS[name][2]]
    plain = names and found.options["categorical_features"] is None and not np.isnan(found.X).any()
    if plain and generator.random() < 0.4:
        found = _as_it_is(found, by_prediction.KERNELS[names[0]][1])
    check = by_prediction.check_elimination if generator.random() < 0.5 else by_prediction.check_selection
    check(found)


def _as_it_is(found, power):
    """The case without standardisation."""
    repeated = np.repeat(np.arange(len(found.X)), 1 if found.weights is None else found.weights)
    Z = found.X[repeated]
    D = np.array([np.abs(column[:, None] - column) ** power for column in Z.T])
    return replace(found, Z=Z, D=D, options={**found.options, "standardize": False})
