"""View of a fitted selector in a notebook, below scikit-learn's own picture of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from bahsic.inference.predictability import interactions
from bahsic.names import for_page
from bahsic.report.charts import chart_style, curve_chart
from bahsic.report.selector import curve_of, display_order, feature_names, fold_counts, outcome_of_selector
from bahsic.report.svg import shown
from bahsic.report.words import LEAST_TOGETHER, MOST_PAIRED, headline_of, kept_words, warning_lines, worth_words

_ROWS = 20

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
        return lambda: theirs() + _selection_html(self)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += _selection_html(self)
        return bundle


def _selection_html(selector: Any) -> str:
    """Return the selected features and the path of a selector as HTML; nothing before it is fitted."""
    selector = getattr(selector, "selector_", selector)  # the one inside BAHSICCV
    if not hasattr(selector, "path_"):
        return ""
    names, outcome, curve = feature_names(selector), outcome_of_selector(selector), curve_of(selector)
    selected = [int(j) for j in display_order(selector) if selector.support_[j]]
    lines = warning_lines((), outcome)
    lines += [kept_words([names[j] for j in selected])] if outcome.nothing else []
    return (
        f'<style>{chart_style()}{_STYLE}</style><div class="bahsic-selection">'
        f"<p><strong>{escape(headline_of(outcome).text)}</strong></p>"
        f"{''.join(f'<p>{escape(for_page(line, None))}</p>' for line in lines)}"
        f"{'' if outcome.nothing else _table(selector, selected, names)}"
        f"{'' if curve is None else curve_chart(curve.thinned(200))}</div>"
    )


def _table(selector: Any, selected: list[int], names: Sequence[str]) -> str:
    """Return a table of the selected features: worth, number of folds, partner."""
    is_r2, counts, partners = selector.criterion == "prediction", fold_counts(selector), _partners(selector, names)
    unit = {"hsic": "HSIC", "prediction": "R²"}.get(str(selector.criterion), "criterion")
    rows, worths = selected[:_ROWS], selector.scores_.tolist()
    columns = [
        ["feature", *(names[j] for j in rows)],
        [f"{unit} lost without it", *(worth_words(worths[j]) if is_r2 else shown(worths[j], ".3g") for j in rows)],
    ]
    columns += [] if counts is None else [["folds", *(f"{counts[j]} of {selector.n_folds_}" for j in rows)]]
    columns += [["works with", *(partners.get(names[j], "") for j in rows)]] if partners else []
    lines = ["".join(f"<td>{escape(for_page(cell))}</td>" for cell in row) for row in zip(*columns, strict=True)]
    lines[0] = lines[0].replace("td>", "th>")
    more = f"<p>and {len(selected) - _ROWS} more</p>" if len(selected) > _ROWS else ""
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>{more}"


def _partners(selector: Any, names: Sequence[str]) -> dict[str, str]:
    """Return for each feature the one that it works with best, where the selector knows its data."""
    if not hasattr(selector, "_fitted_to") or selector.feature_groups is not None:
        return {}
    if "_pairs" not in vars(selector):
        selector._pairs = interactions(selector, n_features=MOST_PAIRED)  # noqa: SLF001 - once for all displays
    partners: dict[str, str] = {}
    for pair in selector._pairs:  # noqa: SLF001 - the best ones first
        if pair.together >= LEAST_TOGETHER:
            ends = [names[end] if isinstance(end, int) else str(end) for end in pair[:2]]
            for feature, other in (ends, ends[::-1]):
                partners.setdefault(feature, f"{other}, {pair.together:+.2f}")
    return partners
