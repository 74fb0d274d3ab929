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

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bahsic.crossvalidation import BAHSICCV
    from bahsic.hsic import hsic, hsic_biased, hsic_blocks, hsic_bound, hsic_unbiased, hsic_variance, hsic_weights
    from bahsic.independence import HypothesisTest, hsic_interval, hsic_scores, hsic_test
    from bahsic.resampling import SelectionTest, selection_frequencies, selection_test
    from bahsic.selectors import BAHSIC, FOHSIC
    from bahsic.similarity import redundancy

__version__ = "0.1.0"

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
    "hsic_biased": "hsic",
    "hsic_blocks": "hsic",
    "hsic_bound": "hsic",
    "hsic_interval": "independence",
    "hsic_scores": "independence",
    "hsic_test": "independence",
    "hsic_unbiased": "hsic",
    "hsic_variance": "hsic",
    "hsic_weights": "hsic",
    "redundancy": "similarity",
    "selection_frequencies": "resampling",
    "selection_test": "resampling",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is: numpy and scikit-learn take longer than an answer to --help may."""
    if name in _MODULES:
        return getattr(import_module(f"bahsic.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """The package, where `hsic` is the function although a module is called so too."""

    @property
    def hsic(self) -> Any:
        """The function; `from bahsic.hsic import ...` finds the module in sys.modules."""
        return import_module("bahsic.hsic").hsic

    @hsic.setter
    def hsic(self, module: ModuleType) -> None:
        """Leave it so when the import system would put the module in its place."""


sys.modules[__name__].__class__ = _Package
