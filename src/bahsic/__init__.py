"""Select the few features that predict a target, including features that matter only in combination.

`FeatureSelector` selects for prediction. `BAHSIC` and `FOHSIC` are the algorithms of Song et al. (ICML 2007), which
select by dependence on the target. All are scikit-learn selectors. Functions named `hsic...` estimate dependence.

Examples
--------
>>> from bahsic import FeatureSelector
>>> from bahsic.datasets import make_xor
>>> X, y, support = make_xor(n_samples=200, n_features=22, random_state=0)
>>> FeatureSelector().fit(X, y).get_support(indices=True)
array([0, 1])
"""

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

__version__ = "0.1.0"


def _public_names() -> dict[str, str]:
    """Module of each public name, read from the stub `__init__.pyi`, the one list of them."""
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in imports for alias in node.names}


_MODULES = _public_names()
__all__ = [*_MODULES, "__version__"]  # noqa: PLE0604 - the names stand in the stub


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: numpy and scikit-learn would slow down ``bahsic --help``."""
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
