"""How much code one fit enters: modules and functions of the package that `FeatureSelector().fit` calls.

``python benchmarks/footprint.py [TABLE.csv TARGET]``; by default a mixed table that is drawn here.
"""

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd

import bahsic

_PACKAGE = str(Path(bahsic.__file__).parent)


def main(arguments: list[str]) -> None:
    """Print the numbers for a table."""
    if arguments:
        path, target = arguments
        X = pd.read_csv(path)
        y = X.pop(target)
    else:
        X, y = _drawn()
    modules, functions = entered(X, y)
    print(f"{len(modules)} modules, {len(functions)} functions")


def entered(X: Any, y: Any) -> tuple[set[str], set[tuple[str, str, int]]]:
    """Return the modules that a fit enters, and the functions; comprehensions and lambdas are not counted."""
    functions: set[tuple[str, str, int]] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(_PACKAGE) and not code.co_name.startswith("<"):
            functions.add((code.co_filename, code.co_qualname, code.co_firstlineno))

    selector = bahsic.FeatureSelector()
    sys.setprofile(note)
    try:
        selector.fit(X, y)
    finally:
        sys.setprofile(None)
    return {path for path, _, _ in functions}, functions


def _drawn() -> tuple[pd.DataFrame, np.ndarray]:
    """A table of numbers with gaps, categories and text, whose target depends on two of them."""
    rng = np.random.default_rng(0)
    n = 600
    X = pd.DataFrame(rng.normal(size=(n, 6)), columns=list("abcdef"))
    X["kind"] = pd.Categorical(rng.choice(["red", "green", "blue"], n))
    X["name"] = [f"sample {i}" for i in range(n)]
    y = ((X["a"] > 0) ^ (X["kind"] == "red")).astype(int).to_numpy()
    X.loc[rng.random(n) < 0.2, "b"] = np.nan
    return X, y


if __name__ == "__main__":
    main(sys.argv[1:])
