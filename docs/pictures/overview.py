"""The picture of the README: how few features are enough, which, and what scores of single features miss.

The table is scikit-learn's breast cancer, its columns of texture and shape; the README has the same example as code.
"""

from pathlib import Path
from typing import Any

import numpy as np
from style import ACCENT, DARK, LIGHT, drawn

_WIDTH, _HEIGHT = 1500, 580
_PAIR = ["mean compactness", "mean fractal dimension"]
_NEAR = {"textcoords": "offset points"}


def _overview(path: Path) -> None:
    """Draw three panels: number, reasons, pair."""
    drawn(path, _WIDTH, _HEIGHT, _panels)


PICTURES = {"overview.png": (_overview, _WIDTH, _HEIGHT)}


def _panels(figure: Any) -> None:
    from sklearn.datasets import load_breast_cancer

    from bahsic import BAHSIC

    tumours = load_breast_cancer(as_frame=True)
    X, y = tumours.data.filter(regex="texture|smooth|compact|symmetry|fractal"), tumours.target
    selector = BAHSIC("auto", criterion="prediction").fit(X, y)
    left, middle, right = figure.subplots(1, 3, width_ratios=[1, 1.12, 0.95])
    _number(left, selector, X, y)
    _reasons(middle, selector, X, y)
    _pair(right, X, y)


def _number(axes: Any, selector: Any, X: Any, y: Any) -> None:
    """Predictability along the path, the chosen number, and as many features by a score of single ones."""
    from sklearn.feature_selection import SelectKBest

    from bahsic import predictability

    path = [(step.n_features, step.predictability, step.predictability_error) for step in selector.path_]
    sizes, values, errors = np.array(path).T
    value_of = dict(zip(sizes, values, strict=True))
    number, total = selector.n_features_, X.shape[1]
    axes.fill_between(sizes, values - errors, values + errors, color=LIGHT, alpha=0.5, linewidth=0)
    axes.plot(sizes, values, color=DARK, marker="o", markersize=3.5)
    axes.axhline(value_of[total], color=DARK, linewidth=1, linestyle=":")
    axes.annotate(
        f"all {total}: {value_of[total]:.2f}", (total, value_of[total]), (0, -16), ha="right", va="top", **_NEAR
    )
    chosen = (number, value_of[number])
    axes.plot(*chosen, "o", color=ACCENT, markersize=9)
    axes.annotate(
        f"{number} chosen: {chosen[1]:.2f}", chosen, (2, 17), color=ACCENT, weight="bold", ha="center", **_NEAR
    )
    single = predictability(SelectKBest(k=number).fit(X, y).transform(X), y)
    axes.plot(number, single, "s", color="0.35", markersize=7, fillstyle="none")
    axes.annotate(
        f"the {number} with the\nbest F test: {single:.2f}", (number, single), (9, -2), va="top", color="0.25", **_NEAR
    )
    axes.set(xlabel="number of features", ylabel="R² on held-out samples", ylim=(None, max(values) + 0.09))
    axes.set_title(f"{number} of {total} features are enough")


def _reasons(axes: Any, selector: Any, X: Any, y: Any) -> None:
    """What would be lost without each selected feature, beside its rank by a score of single features."""
    from scipy.stats import rankdata
    from sklearn.feature_selection import f_classif

    ranks = rankdata(-f_classif(X, y)[0]).astype(int)
    chosen = sorted(selector.get_support(indices=True), key=lambda j: selector.scores_[j])
    names = [X.columns[j] for j in chosen]
    colours = [ACCENT if name == _PAIR[1] else DARK for name in names]
    bars = axes.barh(
        [name.replace(" ", "\n", 1) for name in names], selector.scores_[chosen], color=colours, height=0.62
    )
    for bar, j in zip(bars, chosen, strict=True):
        end = (bar.get_width(), bar.get_y() + bar.get_height() / 2)
        axes.annotate(f"F test: rank {ranks[j]}", end, (4, 0), va="center", color="0.25", **_NEAR)
    axes.set(xlabel="R² that would be lost without it", xlim=(0, 1.55 * max(selector.scores_[chosen])))
    axes.set_title("Which, and what each is worth")


def _pair(axes: Any, X: Any, y: Any) -> None:
    """Two of the selected features, one of which says nothing by itself."""
    from bahsic import predictability

    alone, together = [predictability(X[[name]], y) for name in _PAIR], predictability(X[_PAIR], y)
    for label, marker, colour, word in ((1, "o", LIGHT, "benign"), (0, "x", ACCENT, "malignant")):
        axes.plot(*X.loc[y == label, _PAIR].to_numpy().T, marker, color=colour, markersize=3.5, label=word)
    axes.legend(loc="lower right", handletextpad=0.1, markerscale=1.5)
    axes.set_xlabel(f"{_PAIR[0]}\n(R² alone {alone[0]:.2f}, with the other {together:.2f})")
    axes.set_ylabel(f"{_PAIR[1]} (R² alone {alone[1]:.2f})")
    axes.set_title("Stronger together")
