"""The demonstration: selections from two data sets that need no download."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer

from bahsic import BAHSIC, __version__, hsic
from bahsic.datasets import make_xor
from bahsic.report.curve import headline

_FULL_BAR = 24  # characters

_WHAT_NEXT = (
    "Your own data:  bahsic select table.csv --target column --report page.html",
    "In Python:      from bahsic import BAHSIC",
    '                BAHSIC("auto", criterion="prediction").fit_transform(X, y)',
)


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
    title = f"bahsic {__version__}: few features that say as much as all of them"
    return "\n".join([title, "", *_breast_cancer(mark), "", "", *_xor(mark), "", "", *_WHAT_NEXT, ""])


def _breast_cancer(mark: str) -> list[str]:
    """The fewest of 30 named features that predict as well as any, and the part of each in it."""
    data = load_breast_cancer()
    selector = BAHSIC("auto", criterion="prediction", kernel="auto").fit(data.data, data.target)
    kept = selector.elimination_order_[::-1][: selector.n_features_]
    rows = [(f"{rank}. {data.feature_names[j]}", selector.scores_[j]) for rank, j in enumerate(kept, start=1)]
    return [
        "1. Breast cancer: 569 tumours, 30 measurements, benign or malignant",
        "",
        '   BAHSIC("auto", criterion="prediction", kernel="auto").fit(X, y):',
        f"   {headline(selector)}",
        "   (R2 of samples that are left out one by one). Each was taken for a part:",
        "",
        *_table(rows, mark, "R2 lost without it"),
    ]


def _xor(mark: str) -> list[str]:
    """BAHSIC finds two features that matter only together."""
    X, y, support = make_xor(n_samples=200, n_features=22, random_state=0)
    order = BAHSIC(n_features_to_select=2).fit(X, y).elimination_order_[::-1]
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
        *_table(rows, mark, "HSIC"),
        "",
        f"   Ranked one by one:  {_names(np.argsort(-alone))}, ...",
        f"   Ranked by BAHSIC:   {_names(order)}, ...",
    ]


def _dependence(x: NDArray[np.float64], y: NDArray[Any]) -> float:
    # The delta kernel gives values that don't shrink with the number of samples; for two
    # classes they are proportional to those of the kernel that the selector uses.
    return hsic(x, y, target_kernel="delta")


def _table(rows: Sequence[tuple[str, float]], mark: str, heading: str) -> list[str]:
    """Aligned lines of name, value and bar, below a heading."""
    longest = max(value for _, value in rows)
    lines = [f"   {heading:>40}"]
    for name, value in rows:
        bar = mark * max(0, round(_FULL_BAR * value / longest))
        lines.append(f"   {name:32}{value:8.4f}  {bar}".rstrip())
    return lines


def _names(features: NDArray[np.intp]) -> str:
    return ", ".join(f"x{j + 1}" for j in features[:6])
