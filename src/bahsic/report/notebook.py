"""View of a fitted selector in a notebook, below scikit-learn's own picture of it."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np

from bahsic.names import for_page
from bahsic.report import selector as reading
from bahsic.report.charts import curve_chart, text_of
from bahsic.report.schema import curve_of
from bahsic.report.words import feature_columns, headline_of, kept_words, warning_lines

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
    known, names = reading.measured(selector), reading.feature_names(selector)
    lines, curve, nothing = warning_lines(known), curve_of(known), not known["n_features"]
    if nothing:
        lines.append(kept_words([names[j] for j in np.flatnonzero(selector.support_)]))
    return (
        f'<style>{text_of("charts.css")}{_STYLE}</style><div class="bahsic-selection">'
        f"<p><strong>{escape(''.join(headline_of(known)))}</strong></p>"
        f"{''.join(f'<p>{escape(for_page(line, None))}</p>' for line in lines)}"
        f"{'' if nothing else _table(selector, known, names)}"
        f"{'' if curve is None else curve_chart(curve.thinned(200))}</div>"
    )


def _table(selector: Any, known: dict[str, Any], names: list[str]) -> str:
    """Return a table of the selected features."""
    pairs, shares = [], reading.fold_shares(selector)
    if hasattr(selector, "_fitted_to") and selector.feature_groups is None:
        if "_pairs" not in vars(selector):  # once for all displays
            selector._pairs = reading.pairs_of(selector, names)  # noqa: SLF001
        pairs = selector._pairs  # noqa: SLF001
    rows = [
        {
            "feature": names[j],
            "relevance": float(selector.scores_[j]),
            "frequency": None if shares is None else float(shares[j]),
            **reading.partner_in(pairs, names[j]),
        }
        for j in reading.display_order(selector)[: min(_ROWS, known["n_features"])]
    ]
    columns = feature_columns({**known, "criterion": selector.criterion, "ranking": rows}, rows)
    cells = [["feature", *(row["feature"] for row in rows)], *([column.heading, *column.cells] for column in columns)]
    lines = ["".join(f"<td>{escape(for_page(cell))}</td>" for cell in line) for line in zip(*cells, strict=True)]
    lines[0] = lines[0].replace("td>", "th>")
    n_more = known["n_features"] - len(rows)
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>{f'<p>and {n_more} more</p>' * (n_more > 0)}"
