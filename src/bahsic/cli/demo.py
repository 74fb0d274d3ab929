"""The demonstration: what is found in two data sets that need no download."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer

from bahsic import BAHSIC, FeatureSelector, __version__, hsic_scores, predictability
from bahsic.cli.text import has_blocks
from bahsic.datasets import make_xor
from bahsic.options import options_of
from bahsic.report.features import in_folds
from bahsic.report.headline import headline_of, outcome_of_result
from bahsic.report.neighbours import LEAST_SIMILARITY
from bahsic.report.result import selection_result

_FULL_BAR = 24  # characters
_SHORT_BAR = 10
_SIZES = (1, 2, 3, 5, 15)  # of the path that are shown, beside the selected one and all

_WHAT_NEXT = (
    "Your own data:  bahsic select table.csv --target column --report page.html",
    "In Python:      from bahsic import FeatureSelector",
    "                FeatureSelector().fit(X, y)",
)


def breast_cancer_result(text: str) -> dict[str, Any]:
    """The result of a selection from scikit-learn's breast cancer data, as the command would give it.

    Parameters
    ----------
    text : str
        The file that ``bahsic datasets breast_cancer`` writes, of which the result has the digest.

    Returns
    -------
    dict
        See `bahsic.report.report_html`.
    """
    X, y, names = _breast_cancer_data()
    selector = FeatureSelector().fit(X, y)
    recorded = [option.name for option in options_of("select") if option.recorded]
    source = {
        "name": "breast_cancer.csv",
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
        "n_samples": len(X),
        "n_features": len(names),
        "target": "diagnosis",
        "target_kernel": selector.target_kernel_,
        "options": {},
    }
    parameters = {"method": "backward", **{name: getattr(selector, name) for name in recorded}, "cv": None}  # or "auto"
    return selection_result(selector, X, y, names, input=source, parameters=parameters, seed=0)


def _breast_cancer_data() -> tuple[NDArray[np.float64], NDArray[Any], list[str]]:
    data = load_breast_cancer()
    return data.data, data.target_names[data.target], [str(name) for name in data.feature_names]


def demonstration(result: Mapping[str, Any], encoding: str | None = "ascii") -> str:
    """Text of the demonstration, at most 80 columns wide.

    Parameters
    ----------
    result : mapping
        That of `breast_cancer_result`.
    encoding : str or None
        Of the terminal, which may have no blocks for bars.

    Returns
    -------
    str
        Lines of text.
    """
    title = f"bahsic {__version__}: few features that say as much as all of them"
    mark = "█" if has_blocks(encoding) else "#"
    parts = [title, "", *_breast_cancer(result, mark), "", "", *_xor(mark), "", "", *_WHAT_NEXT, ""]
    return "\n".join(parts)


def _breast_cancer(result: Mapping[str, Any], mark: str) -> list[str]:
    """The fewest of 30 named features that predict as well as any, why each was taken, and instead of which others."""
    return [
        "1. Breast cancer: 569 tumours, 30 measurements, benign or malignant",
        "",
        "   FeatureSelector().fit(X, y)",
        f"   {headline_of(outcome_of_result(result), 'diagnosis').ascii}",
        "   (R2 of tumours that took no part in the search: 1 is perfect, 0 is guessing)",
        "",
        *_curve(result),
        "",
        "   Folds that chose each, why it was taken, and the most similar measurement",
        "   that was left out for it (similarity from 0 to 1):",
        "",
        f"   {'':21}folds  {'R2 lost without it':20}instead of",
        *_reasons(result, mark),
        "",
        *_copies(result),
        "",
        *_one_by_one(result),
    ]


def _curve(result: Mapping[str, Any]) -> list[str]:
    """Held-out R2 of some numbers of features."""
    reached = {step["n_features"]: step["predictability"] for step in result["path"]}
    sizes = sorted(size for size in {*_SIZES, result["n_features"], max(reached)} if size in reached)
    marked = [f"[{size}]" if size == result["n_features"] else f"{size} " for size in sizes]
    return [
        "   features" + "".join(f"{size:>7}" for size in marked) + "   [selected]",
        "   R2      " + "".join(f"{reached[size]:6.2f} " for size in sizes).rstrip(),
    ]


def _copies(result: Mapping[str, Any]) -> list[str]:
    """All near-copies of the feature that has the most similar one, and those that were taken as well."""
    found = max(result["near_copies"], key=lambda entry: [copy["similarity"] for copy in entry["copies"]])
    name, table = found["feature"], result["redundancy"]
    row = table["table"][table["features"].index(name)]
    similar = [(other, value) for other, value in zip(table["features"], row, strict=True) if other != name]
    taken = [pair for pair in similar if pair[1] >= LEAST_SIMILARITY]
    told = f"Near-copies of {name}, left out: {_listed([tuple(copy.values()) for copy in found['copies']])}."
    told += f" Taken as well: {_listed(taken)}." if taken else ""
    return wrap(told, 78, initial_indent="   ", subsequent_indent="   ")


def _listed(found: Sequence[tuple[Any, ...]]) -> str:
    return ", ".join(f"{name} {similarity:.2f}" for name, similarity in found)


def _reasons(result: Mapping[str, Any], mark: str) -> list[str]:
    """A line for each selected feature."""
    rows = [row for row in result["ranking"] if row["selected"]]
    copies = {found["feature"]: found["copies"] for found in result["near_copies"]}
    longest = max(row["relevance"] for row in rows)
    lines = []
    for row in rows:
        bar = mark * max(0, round(_SHORT_BAR * row["relevance"] / longest))
        near = [f"{copy['feature']} {copy['similarity']:.2f}" for copy in copies[row["feature"]]]
        others = f", {len(near) - 1} more" if len(near) > 1 else ""
        lost = f"{row['relevance']:6.3f}  {bar}"
        folds = in_folds(row, result["n_folds"])
        lines.append(f"   {row['feature']:21}{folds:>5}  {lost:20}{near[0] + others if near else '-'}".rstrip())
    return lines


def _one_by_one(result: Mapping[str, Any]) -> list[str]:
    """The same number of features, chosen by their single scores, for comparison."""
    X, y, _ = _breast_cancer_data()
    number = result["n_features"]
    selected = [row["column"] for row in result["ranking"] if row["selected"]]
    sets: dict[str, Any] = {
        f"The {number} selected together:": selected,
        f"The {number} with the highest single scores:": np.argsort(-hsic_scores(X, y)[0])[:number],
        "All 30:": range(X.shape[1]),
    }
    reached = {name: predictability(X[:, columns], y, kernel=result["kernel"]) for name, columns in sets.items()}
    return [f"   {name:40}leave-one-out R2 {value:.2f}" for name, value in reached.items()]


def _xor(mark: str) -> list[str]:
    """BAHSIC finds two features that matter only together."""
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
    order, number = selector.elimination_order_[::-1], selector.n_features_
    return [
        "2. XOR: 200 samples, 22 features; the label says whether the signs of x1 and",
        "   x2 agree, the other 20 features are noise. One by one, none stands out:",
        "",
        *_table(rows, mark, "R2"),
        "",
        f"   Ranked by single scores:  {_names(np.argsort(-scores))}, ...",
        f"   Ranked by BAHSIC:         {_names(order)}, ... (selected: {_names(order[:number])})",
    ]


def _table(rows: Sequence[tuple[str, float]], mark: str, heading: str) -> list[str]:
    """Aligned lines of name, value and bar, below a heading."""
    longest = max(value for _, value in rows)
    lines = [f"   {heading:>40}"]
    for name, value in rows:
        bar = mark * max(0, round(_FULL_BAR * value / longest))
        lines.append(f"   {name:32}{value:8.2f}  {bar}".rstrip())
    return lines


def _names(features: NDArray[np.intp]) -> str:
    return ", ".join(f"x{j + 1}" for j in features[:6])
