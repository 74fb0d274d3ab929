"""The demonstration: a selection from a data set that needs no download, and two features that interact."""

from __future__ import annotations

import hashlib
import sys
from argparse import Namespace
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer

from bahsic import BAHSIC, FeatureSelector, __version__, hsic_scores, predictability
from bahsic.cli.selecting import check_report_place, write_report_file
from bahsic.cli.showing import table
from bahsic.cli.terminal import Style, has_blocks, selection_text
from bahsic.datasets import make_xor
from bahsic.options import recorded_options
from bahsic.report.result import selection_result

_FULL_BAR = 24  # characters
_TOP = 12  # features in the table


def demo(options: Namespace) -> None:
    """Print the demonstration, and write its report if asked for."""
    if options.report is not None:
        check_report_place(options.report)
    result, encoding = _breast_cancer_result(), sys.stdout.encoding
    sys.stdout.write(f"""\
bahsic {__version__}: select the few features that predict a target

1. Breast cancer: 569 tumours, 30 measurements, benign or malignant

{selection_text(result, Style(80, encoding), _TOP).rstrip()}

{_one_by_one(result)}

{_xor("█" if has_blocks(encoding) else "#")}

Your own data:  bahsic select table.csv --target column --report page.html
In Python:      from bahsic import FeatureSelector
                FeatureSelector().fit(X, y)
""")  # noqa: S608 - English, no SQL
    sys.stdout.flush()
    if options.report is not None:
        write_report_file(result, options.report, quiet=options.quiet)


def _breast_cancer_result() -> dict[str, Any]:
    """Return what the command finds in the data set that it writes; reading a file would take pandas."""
    data = load_breast_cancer()
    y = data.target_names[data.target]
    selector = FeatureSelector().fit(data.data, y)
    source = {
        "name": "breast_cancer.csv",
        "sha256": hashlib.sha256(table("breast_cancer", 0).encode()).hexdigest(),
        "n_samples": len(y),
        "n_features": data.data.shape[1],
        "target": "diagnosis",
        "target_kernel": selector.target_kernel_,
        "options": {},
    }
    parameters = {"method": "backward", **{o.name: getattr(selector, o.name) for o in recorded_options()}, "cv": None}
    names = list(map(str, data.feature_names))
    return selection_result(selector, data.data, y, names, input=source, parameters=parameters, seed=0)


def _one_by_one(result: Mapping[str, Any]) -> str:
    """Return the R2 of as many features, chosen by their univariate scores, for comparison."""
    X, y = load_breast_cancer(return_X_y=True)
    number = result["n_features"]
    sets: dict[str, Any] = {
        f"The {number} selected features:": [row["column"] for row in result["ranking"] if row["selected"]],
        f"The {number} with the highest univariate scores:": np.argsort(-hsic_scores(X, y)[0])[:number],
        "All 30 features:": range(X.shape[1]),
    }
    scores = {name: predictability(X[:, columns], y, kernel=result["kernel"]) for name, columns in sets.items()}
    return "\n".join(f"{name:42}leave-one-out R2 {value:.2f}" for name, value in scores.items())


def _xor(mark: str) -> str:
    """Return how two features are found that predict only in combination."""
    X, y, support = make_xor(n_samples=200, n_features=22, random_state=0)
    selector = BAHSIC("auto", criterion="prediction").fit(X, y)
    scores = hsic_scores(X, y)[0]
    noise = int(np.flatnonzero(~support)[np.argmax(scores[~support])])
    rows = [
        ("x1 alone", predictability(X[:, [0]], y)),
        ("x2 alone", predictability(X[:, [1]], y)),
        (f"x{noise + 1} alone (best of the noise)", predictability(X[:, [noise]], y)),
        ("x1 and x2 together", predictability(X[:, :2], y)),
    ]
    longest = max(value for _, value in rows)
    bars = [mark * max(0, round(_FULL_BAR * value / longest)) for _, value in rows]
    lines = [f"   {name:32}{value:8.2f}  {bar}".rstrip() for (name, value), bar in zip(rows, bars, strict=True)]
    chart = "\n".join([f"   {'R2':>40}", *lines])
    order, number = selector.elimination_order_[::-1], selector.n_features_
    return f"""\
2. XOR: 200 samples, 22 features. The label says whether x1 and x2 have the same
   sign, the other 20 features are noise. None predicts by itself:

{chart}

   Univariate ranking:  {_names(np.argsort(-scores))}, ...
   Ranking by BAHSIC:   {_names(order)}, ... (selected: {_names(order[:number])})"""


def _names(features: NDArray[np.intp]) -> str:
    return ", ".join(f"x{j + 1}" for j in features[:6])
