"""Inference on odd inputs: a finite value, or a ValueError or TypeError that names the argument."""

import re
import warnings

import numpy as np
from scipy import sparse

import bahsic
from bahsic.kernels import Gaussian, Laplacian
from fuzz.apart import Outcome

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


def _with_one(x, values, generator):
    """The array with one entry replaced by one of some values."""
    x = np.array(x)
    x[generator.integers(len(x)), ...] = values[generator.integers(len(values))]
    return x


# Functions of a table of numbers and a generator.
_SAMPLES = [
    lambda x, generator: x,
    lambda x, generator: x[:, 0],
    lambda x, generator: np.full(x.shape, 3.0),
    lambda x, generator: np.round(x),
    lambda x, generator: sparse.csr_array(np.where(generator.random(x.shape) < 0.5, x, 0.0)),
    lambda x, generator: _with_one(x, [np.nan, np.inf, -np.inf], generator),
    lambda x, generator: _with_one(x, [1e18, -1e300], generator),
    lambda x, generator: [str(v)[:2] for v in x[:, 0]],
    lambda x, generator: x.astype(np.float32),
    lambda x, generator: [[None, "a", 1.5, True][generator.integers(4)] for _ in x],
    lambda x, generator: x[:, :0],
    lambda x, generator: x.astype(complex),
    lambda x, generator: generator.integers(-(2**63), 2**63 - 1, x.shape),
    lambda x, generator: generator.random(x.shape) < 0.5,
]

# Functions of normal numbers and a generator.
_LABELS = [
    lambda y, generator: y.round(1),
    lambda y, generator: y * SCALES[generator.integers(len(SCALES))],
    lambda y, generator: generator.integers(0, 2, len(y)),
    lambda y, generator: generator.choice(["a", "b", "c"], len(y)),
    lambda y, generator: np.zeros(len(y)),
    lambda y, generator: _with_one(y, [np.nan, np.inf], generator),
    lambda y, generator: np.column_stack([y, y**2]),
    lambda y, generator: [[None, "a", 1][generator.integers(3)] for _ in y],
    lambda y, generator: np.arange(len(y)),
    lambda y, generator: np.array([(True, abs(t)) for t in y], dtype=[("event", bool), ("time", float)]),
]


def _odd_samples(generator, m):
    x = generator.standard_normal((m, int(generator.integers(1, 4)))) * SCALES[generator.integers(len(SCALES))]
    return _SAMPLES[generator.integers(len(_SAMPLES))](x, generator)


def _odd_labels(generator, m, x):
    if generator.random() < 0.1:
        return x
    return _LABELS[generator.integers(len(_LABELS))](generator.standard_normal(m), generator)


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
