"""Inference on odd inputs: a finite value, or a ValueError or TypeError that names what is wrong with which argument."""

import re
import warnings

import numpy as np
from fuzz.apart import Outcome
from scipy import sparse

import bahsic
from bahsic.kernels import Gaussian, Laplacian

FUNCTIONS = {
    name: getattr(bahsic, name)  # imported here, before processes are forked
    for name in ("hsic", "hsic_test", "hsic_interval", "hsic_scores", "predictability", "redundancy")
}
M = [1, 2, 3, 4, 5, 7, 12, 30, 60]
SCALES = [1.0, 1.0, 1.0, 1e-3, 1e6, 1e-162, 1e-300, 5e-324, 1e150, 1e200, 1e307]


def _product(a, b):
    """A kernel of a user, who knows what it takes."""
    try:
        return np.asarray(a, dtype=float) @ np.asarray(b, dtype=float).T
    except (ValueError, TypeError):
        raise TypeError("kernel takes rows of numbers") from None


KERNELS = ["gaussian", "laplacian", "linear", "polynomial", "inverse_distance", "delta", "nonsense", None, 3]
KERNELS += [Gaussian("median"), Gaussian(1e-12), Gaussian(1e12), Laplacian(3.0), _product]
TARGETS = ["auto", "auto", "auto", "binary", "multiclass", "regression", "delta", "linear", "survival", "nonsense"]

# Words that tell which argument an error is about.
_ARGUMENT = re.compile(
    r"\b([xyX]|K|labels?|samples?|features?|columns?|kernel|target_kernel|statistic|sample_weight|standardize|missing|"
    r"categorical_features|block_size|random_state|n_permutations|method|level|ridge|n_jobs|subset|threshold)\b"
)


def case(generator, folder, number):
    """One call of one function."""
    name = list(FUNCTIONS)[number % len(FUNCTIONS)]
    m = M[generator.integers(len(M))]
    with np.errstate(over="ignore"):
        x = _odd_samples(generator, m)
        y = _odd_labels(generator, m if generator.random() < 0.95 else m + 1, x)
    options = _options(generator, name)
    arguments = (x, _subset(generator)) if name == "redundancy" else (x, y)
    told = f"{name}({_shown(arguments)}, {options})"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = FUNCTIONS[name](*arguments, **options)
        except (ValueError, TypeError) as error:
            clear = _ARGUMENT.search(str(error)) and "\n" not in str(error).strip()
            return Outcome("refused" if clear else "fault", f"{told}\n{type(error).__name__}: {error}")
    return Outcome("fine" if _is_finite(found) else "fault", f"{told}\n{found}")


def _is_finite(found):
    if hasattr(found, "_fields") or hasattr(found, "__dataclass_fields__"):
        fields = getattr(found, "_fields", None) or found.__dataclass_fields__
        values = [getattr(found, name) for name in fields]
        return all(np.isfinite(value).all() for value in values if isinstance(value, float | np.ndarray))
    if isinstance(found, tuple):
        return all(map(_is_finite, found))
    return bool(np.isfinite(np.asarray(found, dtype=float)).all())


def _shown(arguments):
    return ", ".join(re.sub(r"\s+", " ", repr(argument))[:300] for argument in arguments)


def _odd_samples(generator, m):
    kind = generator.integers(14)
    d = int(generator.integers(0, 4)) or 1
    x = generator.standard_normal((m, d)) * SCALES[generator.integers(len(SCALES))]
    if kind == 0:
        return x[:, 0]
    if kind == 1:
        return np.full((m, d), 3.0)
    if kind == 2:
        return np.round(x)
    if kind == 3:
        return sparse.csr_array(np.where(generator.random((m, d)) < 0.5, x, 0.0))
    if kind == 4:
        x[generator.integers(m), 0] = [np.nan, np.inf, -np.inf][generator.integers(3)]
        return x
    if kind == 5:
        return [str(v)[:2] for v in x[:, 0]]
    if kind == 6:
        return x.astype(np.float32)
    if kind == 7:
        return [[None, "a", 1.5, True][generator.integers(4)] for _ in range(m)]
    if kind == 8:
        return x[:, :0]
    if kind == 9:
        return x.astype(complex)
    if kind == 10:
        return generator.integers(-(2**63), 2**63 - 1, (m, d))
    if kind == 11:
        x[0] *= 1e18
        return x
    if kind == 12:
        return generator.random((m, d)) < 0.5
    return x


def _odd_labels(generator, m, x):
    kind = generator.integers(11)
    if kind == 0:
        return generator.integers(0, 2, m)
    if kind == 1:
        return generator.choice(["a", "b", "c"], m)
    if kind == 2:
        return np.zeros(m)
    if kind == 3:
        return generator.standard_normal(m) * SCALES[generator.integers(len(SCALES))]
    if kind == 4:
        y = generator.standard_normal(m)
        y[generator.integers(m)] = [np.nan, np.inf][generator.integers(2)]
        return y
    if kind == 5:
        return generator.standard_normal((m, 2))
    if kind == 6:
        return [None, "a"] * (m // 2) + [1] * (m % 2)
    if kind == 7:
        return np.arange(m)
    if kind == 8:
        return x
    if kind == 9:
        return np.array([(True, t) for t in range(1, m + 1)], dtype=[("event", bool), ("time", float)])
    return generator.standard_normal(m).round(1)


def _subset(generator):
    return [[0], [0, 1], [], [-1], [99], None, "a", [True, False], [0.5]][generator.integers(9)]


def _options(generator, name):
    given = {"kernel": KERNELS[generator.integers(len(KERNELS))]} if generator.random() < 0.5 else {}
    if name != "redundancy" and generator.random() < 0.5:
        given["target_kernel"] = TARGETS[generator.integers(len(TARGETS))]
    choices = {"standardize": [True, False, False], "categorical_features": [None, "from_dtype", [0], ["a"], [True]]}
    if name != "predictability":
        choices["missing"] = ["neutral", "indicator", "error", "nothing"]
    if name == "hsic":
        choices |= {"statistic": ["biased", "unbiased", "other"], "block_size": [None, 4, 1, -1, 2.5]}
    if name in ("hsic_test", "hsic_scores"):
        choices |= {"method": ["gamma", "permutation", "normal", "other"], "n_permutations": [9, 99, 0, -1, 1.5]}
    if name == "hsic_interval":
        choices |= {"method": ["normal", "bound", "other"], "level": [0.95, 0.5, 0.0, 1.0, -1, "high", 1 - 1e-16]}
    if name == "predictability":
        choices |= {"ridge": ["auto", 0.1, 0.0, -1, 1e-300, "much"], "block_size": [None, 4, -1]}
    for option, values in choices.items():
        if generator.random() < 0.3:
            given[option] = values[generator.integers(len(values))]
    return given
