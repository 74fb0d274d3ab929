"""Supervised feature selection via dependence estimation (Song et al., ICML 2007).

`BAHSIC` and `FOHSIC` are scikit-learn selectors, the functions named `hsic...` the measure
of dependence that they maximise, `bahsic.kernels` the kernels on data and on labels.

Examples
--------
>>> from bahsic import BAHSIC
>>> from bahsic.datasets import make_xor
>>> X, y, support = make_xor(n_samples=200, n_features=22, random_state=0)
>>> BAHSIC(n_features_to_select=2).fit(X, y).get_support(indices=True)
array([0, 1])
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

# `hsic` is a function and the module that holds it. The import below runs first and leaves
# the function under that name here, for `from bahsic import hsic`; the module stays in
# sys.modules, for `from bahsic.hsic import hsic_unbiased`. This import can't be lazy: the
# first one of the module, whoever does it, would put the module in the function's place.
from bahsic.hsic import (
    hsic,
    hsic_biased,
    hsic_blocks,
    hsic_bound,
    hsic_unbiased,
    hsic_variance,
    hsic_weights,
)

if TYPE_CHECKING:
    from bahsic.crossvalidation import BAHSICCV
    from bahsic.independence import HypothesisTest, hsic_interval, hsic_scores, hsic_test
    from bahsic.resampling import SelectionTest, selection_frequencies, selection_test
    from bahsic.selectors import BAHSIC, FOHSIC
    from bahsic.similarity import redundancy

__version__ = "0.1.0.dev0"

__all__ = [
    "BAHSIC",
    "BAHSICCV",
    "FOHSIC",
    "HypothesisTest",
    "SelectionTest",
    "__version__",
    "hsic",
    "hsic_biased",
    "hsic_blocks",
    "hsic_bound",
    "hsic_interval",
    "hsic_scores",
    "hsic_test",
    "hsic_unbiased",
    "hsic_variance",
    "hsic_weights",
    "redundancy",
    "selection_frequencies",
    "selection_test",
]

_MODULES = {
    "BAHSIC": "selectors",
    "BAHSICCV": "crossvalidation",
    "FOHSIC": "selectors",
    "HypothesisTest": "independence",
    "SelectionTest": "resampling",
    "hsic_interval": "independence",
    "hsic_scores": "independence",
    "hsic_test": "independence",
    "redundancy": "similarity",
    "selection_frequencies": "resampling",
    "selection_test": "resampling",
}


def __getattr__(name: str) -> Any:
    """Import what needs much of scikit-learn when it is first asked for."""
    if name in _MODULES:
        return getattr(import_module(f"bahsic.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
