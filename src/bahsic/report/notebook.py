"""View of a fitted selector in a notebook, below scikit-learn's own picture of it."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

from bahsic.inference.interactions import interactions
from bahsic.names import for_page
from bahsic.report.charts import chart_style
from bahsic.report.drawable import LEAST_TOGETHER, MOST_PAIRED, fold_counts, listed, order_of, path_of
from bahsic.report.features import relevance_words
from bahsic.report.headline import headline_of, outcome_of_selector
from bahsic.report.page import path_figure
from bahsic.report.svg import shown

_MOST_NAMES = 20

# Colours of the page around it, whichever theme that has, and one that is legible on light and dark.
_STYLE = """
.bahsic-selection { max-width: 38rem; margin-top: .6rem;
  --ink: currentColor; --muted: currentColor; --paper: transparent; --accent: #3a86c8; --rule: #8885; --other: #888; }
.bahsic-selection .chart { display: block; width: 100%; font: 12px sans-serif; }
.bahsic-selection td + td, .bahsic-selection th + th { text-align: right; }
"""


class NotebookMixin:
    """A selector whose HTML representation tells, once it is fitted, what was selected and along which path."""

    @property
    def _repr_html_(self) -> Callable[[], str]:
        theirs = super()._repr_html_  # type: ignore[misc]  # none where scikit-learn is configured to display text
        return lambda: theirs() + selection_html(self)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += selection_html(self)
        return bundle


def selection_html(selector: Any) -> str:
    """The selected features and the path of a selector as HTML; nothing before it is fitted.

    Parameters
    ----------
    selector : BAHSIC, FOHSIC or BAHSICCV

    Returns
    -------
    str

    Examples
    --------
    >>> from bahsic import BAHSIC
    >>> selection_html(BAHSIC())
    ''
    >>> from bahsic.datasets import make_xor
    >>> X, y, _ = make_xor(n_samples=100, n_features=6, random_state=0)
    >>> "<td>x1</td>" in selection_html(BAHSIC(2).fit(X, y))
    True
    """
    found = getattr(selector, "selector_", selector)  # the one inside BAHSICCV
    if not hasattr(found, "path_"):
        return ""
    path = path_of(found)
    outcome = outcome_of_selector(found, path)
    nothing = outcome.predicts is False
    return (
        f'<style>{chart_style()}{_STYLE}</style><div class="bahsic-selection">'
        f"<p><strong>{escape(headline_of(outcome).text)}</strong></p>"
        f"{_kept(found) if nothing else _names(found)}"
        f"{path_figure(path, 0 if nothing else found.n_features_, outcome.n_used)}</div>"
    )


def _kept(selector: Any) -> str:
    """The features of a selection that does not predict the target."""
    names = ", ".join(name for _, name in _selected(selector)[:_MOST_NAMES])
    return f"<p>{names} {'is' if selector.n_features_ == 1 else 'are'} kept so that pipelines still run.</p>"


def _names(selector: Any) -> str:
    """A table of the selected features: the worth of each, and the number of folds that chose it."""
    selected, counts = _selected(selector), fold_counts(selector)
    unit = "R² lost without it" if selector.criterion == "prediction" else "HSIC lost without it"
    heading = f"<th>feature</th><th>{unit}</th>" + ("" if counts is None else "<th>folds</th>")
    partners = _partners(selector)
    heading += "<th>works with</th>" if partners else ""
    rows = [
        f"<td>{name}</td><td>{_worth(selector, j)}</td>"
        + ("" if counts is None else f"<td>{counts[j]} of {selector.n_folds_}</td>")
        + (f"<td>{partners.get(name, '')}</td>" if partners else "")
        for j, name in selected[:_MOST_NAMES]
    ]
    more = f"<p>and {len(selected) - _MOST_NAMES} more</p>" if len(selected) > _MOST_NAMES else ""
    return f"<table><tr>{heading}</tr>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>{more}"


def _partners(selector: Any) -> dict[str, str]:
    """For each feature the one that it works with best, as HTML, where the selector knows its data."""
    if not hasattr(selector, "_fitted_to") or selector.feature_groups is not None:
        return {}
    if "_pairs" not in vars(selector):
        selector._pairs = interactions(selector, n_features=MOST_PAIRED)  # noqa: SLF001 - once for all displays
    names = listed(getattr(selector, "feature_names_in_", None), selector.n_features_in_)
    found: dict[str, str] = {}
    for pair in selector._pairs:  # noqa: SLF001 - the best ones first
        if pair.together >= LEAST_TOGETHER:
            ends = [escape(for_page(names[end] if isinstance(end, int) else end)) for end in pair[:2]]
            for one, other in (ends, ends[::-1]):
                found.setdefault(one, f"{other}, {pair.together:+.2f}")
    return found


def _worth(selector: Any, j: int) -> str:
    """Return the worth of a selected feature."""
    value = float(selector.scores_[j])
    return escape(relevance_words({"relevance": value})) if selector.criterion == "prediction" else shown(value, ".3g")


def _selected(selector: Any) -> list[tuple[int, str]]:
    """Positions and names of the selected features, as HTML, the most relevant first."""
    names = listed(getattr(selector, "feature_names_in_", None), selector.n_features_in_)
    return [(int(j), escape(for_page(names[j]))) for j in order_of(selector) if selector.support_[j]]
