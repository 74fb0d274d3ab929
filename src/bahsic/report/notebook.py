"""View of a fitted selector in a notebook, below scikit-learn's own picture of it."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

from bahsic.inference.predictability import interactions
from bahsic.names import for_page
from bahsic.report.charts import chart_style, curve_chart
from bahsic.report.curve import path_curve
from bahsic.report.headline import few_samples_words, headline_of, outcome_of_selector
from bahsic.report.selector import display_order, feature_names, fold_counts, path_of
from bahsic.report.svg import shown
from bahsic.report.words import LEAST_TOGETHER, MOST_PAIRED, kept_words, worth_words

_MOST_NAMES = 20

# Colours of the page around it, whichever theme that has, and one that is legible on light and dark.
_STYLE = """
.bahsic-selection { max-width: 38rem; margin-top: .6rem;
  --ink: currentColor; --muted: currentColor; --paper: transparent; --accent: #3a86c8; --rule: #8885; --other: #888; }
.bahsic-selection .chart { display: block; width: 100%; font: 12px sans-serif; }
.bahsic-selection td + td, .bahsic-selection th + th { text-align: right; }
"""


class NotebookMixin:
    """A selector whose HTML representation shows, once it is fitted, what was selected and along which path."""

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
    """Return the selected features and the path of a selector as HTML; nothing before it is fitted.

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
    selector = getattr(selector, "selector_", selector)  # the one inside BAHSICCV
    if not hasattr(selector, "path_"):
        return ""
    path, names = path_of(selector), [for_page(name) for name in feature_names(selector)]
    outcome = outcome_of_selector(selector, path)
    selected = [int(j) for j in display_order(selector) if selector.support_[j]]
    kept = escape(kept_words([names[j] for j in selected]))
    curve = path_curve(path, 0 if outcome.nothing else selector.n_features_, outcome.n_candidates)
    return (
        f'<style>{chart_style()}{_STYLE}</style><div class="bahsic-selection">'
        f"<p><strong>{escape(headline_of(outcome).text)}</strong></p>"
        f"{f'<p>{few_samples_words(outcome)}.</p>' if few_samples_words(outcome) else ''}"
        f"{f'<p>{kept}</p>' if outcome.nothing else _table(selector, selected, names)}"
        f"{'' if curve is None else curve_chart(curve.thinned(200))}</div>"
    )


def _table(selector: Any, selected: list[int], names: list[str]) -> str:
    """Return a table of the selected features: worth, number of folds, partner."""
    is_r2, counts, partners = selector.criterion == "prediction", fold_counts(selector), _partners(selector, names)
    unit = {"hsic": "HSIC", "prediction": "R²"}.get(str(selector.criterion), "criterion")
    headings = ["feature", f"{unit} lost without it"]
    headings += [] if counts is None else ["folds"]
    headings += ["works with"] if partners else []
    rows = []
    for j in selected[:_MOST_NAMES]:
        worth = float(selector.scores_[j])
        cells = [names[j], worth_words(worth) if is_r2 else shown(worth, ".3g")]
        cells += [] if counts is None else [f"{counts[j]} of {selector.n_folds_}"]
        rows.append(cells + ([partners.get(names[j], "")] if partners else []))
    more = f"<p>and {len(selected) - _MOST_NAMES} more</p>" if len(selected) > _MOST_NAMES else ""
    return f"<table>{_row(headings, 'th')}{''.join(_row(cells, 'td') for cells in rows)}</table>{more}"


def _row(cells: list[str], tag: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"


def _partners(selector: Any, names: list[str]) -> dict[str, str]:
    """Return for each feature the one that it works with best, where the selector knows its data."""
    if not hasattr(selector, "_fitted_to") or selector.feature_groups is not None:
        return {}
    if "_pairs" not in vars(selector):
        selector._pairs = interactions(selector, n_features=MOST_PAIRED)  # noqa: SLF001 - once for all displays
    partners: dict[str, str] = {}
    for pair in selector._pairs:  # noqa: SLF001 - the best ones first
        if pair.together >= LEAST_TOGETHER:
            ends = [names[end] if isinstance(end, int) else for_page(end) for end in pair[:2]]
            for one, other in (ends, ends[::-1]):
                partners.setdefault(one, f"{other}, {pair.together:+.2f}")
    return partners
