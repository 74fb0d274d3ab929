"""The demonstration: what BAHSIC finds in two data sets that need no download."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer

from bahsic import BAHSIC, __version__, hsic
from bahsic.datasets import make_xor

_FULL_BAR = 24  # characters


def demonstration(mark: str = "#") -> str:
    """Text of the demonstration, at most 80 columns wide.

    Parameters
    ----------
    mark : str, default="#"
        The character that bars are made of.

    Returns
    -------
    str
        Lines of text.
    """
    title = f"bahsic {__version__}: the features that the labels depend on"
    return "\n".join([title, "", *_breast_cancer(mark), "", "", *_xor(mark), "", "", *_what_next(), ""])


def _breast_cancer(mark: str) -> list[str]:
    """BAHSIC keeps 5 of 30 named features."""
    data = load_breast_cancer()
    selector = BAHSIC(n_features_to_select=5).fit(data.data, data.target)
    kept = selector.elimination_order_[::-1][:5]
    X = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
    rows = [
        (f"{rank}. {data.feature_names[j]}", _dependence(X[:, [j]], data.target))
        for rank, j in enumerate(kept, start=1)
    ]
    rows.append(("these five together", _dependence(X[:, kept], data.target)))
    rows.append(("all thirty together", _dependence(X, data.target)))
    return [
        "1. Breast cancer: 569 tumours, 30 measurements, benign or malignant",
        "",
        "   BAHSIC(n_features_to_select=5).fit(X, y) keeps, the most relevant first:",
        "",
        *_table(rows, mark),
    ]


def _xor(mark: str) -> list[str]:
    """BAHSIC finds two features that matter only together."""
    X, y, support = make_xor(n_samples=200, n_features=22, random_state=0)
    order = BAHSIC(n_features_to_select=2).fit(X, y).elimination_order_[::-1]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    alone = np.array([_dependence(X[:, [j]], y) for j in range(X.shape[1])])
    noise = 2 + int(np.argmax(alone[~support]))
    rows = [
        ("x1 alone", alone[0]),
        ("x2 alone", alone[1]),
        (f"x{noise + 1} alone (best of the noise)", alone[noise]),
        ("x1 and x2 together", _dependence(X[:, :2], y)),
    ]
    return [
        "2. XOR: 200 samples, 22 features; the label says whether the signs of x1 and",
        "   x2 agree, the other 20 features are noise. One by one, none stands out:",
        "",
        *_table(rows, mark),
        "",
        f"   Ranked one by one:  {_names(np.argsort(-alone))}, ...",
        f"   Ranked by BAHSIC:   {_names(order)}, ...",
    ]


def _what_next() -> list[str]:
    return [
        "Your own data:  from bahsic import BAHSIC",
        "                BAHSIC(n_features_to_select=10).fit_transform(X, y)",
        "README.md has more.",
    ]


def _dependence(x: NDArray[np.float64], y: NDArray[Any]) -> float:
    # The delta kernel gives values that don't shrink with the number of samples; for two
    # classes they are proportional to those of the kernel that the selector uses.
    return hsic(x, y, target_kernel="delta")


def _table(rows: Sequence[tuple[str, float]], mark: str) -> list[str]:
    """Aligned lines of name, HSIC and bar, below a heading."""
    longest = max(value for _, value in rows)
    lines = [f"   {'':32}{'HSIC':>8}"]
    for name, value in rows:
        bar = mark * max(0, round(_FULL_BAR * value / longest))
        lines.append(f"   {name:32}{value:8.4f}  {bar}".rstrip())
    return lines


def _names(features: NDArray[np.intp]) -> str:
    return ", ".join(f"x{j + 1}" for j in features[:6])
