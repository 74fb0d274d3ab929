"""Contents of the page about single features: a card for each selected one, and the table of the first ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bahsic.names import for_page, target_name
from bahsic.report.charts import heat_map
from bahsic.report.curve import HSIC
from bahsic.report.drawable import significant_features, vector
from bahsic.report.neighbours import LEAST_SIMILARITY, MOST_COPIES
from bahsic.report.pictures import effect_picture, feature_picture
from bahsic.report.svg import shown

ROWS = 200  # features in the page; all are in the table beside it
CARDS = 30  # selected features with a card
_PAIRS = 5  # most similar pairs that are told
_NAMED = 6  # features named in a sentence
_TITLE_CHARACTERS = 60_000  # of all long names together, so that the page stays small
_NO_CHANGE = 0.0005  # of R2
LEAST_PVALUE = 0.001  # that is told as a number
_FALSE_DISCOVERIES = 0.05
LEVEL = 0.05  # of p-values

DASH = "–"  # noqa: RUF001 - where there is no number


def feature_cards(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Cards of the selected features: loss without the feature, its near-copies, its picture.

    Parameters
    ----------
    result : mapping
        See `bahsic.report.report_html`. Results of earlier versions have no near-copies and no pictures.

    Returns
    -------
    list of dict
        At most 30.
    """
    rows = [row for row in result["ranking"] if row["selected"]][:CARDS]
    target = target_name(result["input"]["target"])
    views = {view["feature"]: view for view in result.get("views") or []}
    copies = {found["feature"]: found["copies"] for found in result.get("near_copies") or []}
    stability = result.get("stability")
    frequencies = _frequencies(stability)
    return [
        {
            "name": for_page(row["feature"]),
            "lost": _lost(row, result),
            "instead": [_similar(copy) for copy in copies.get(row["feature"], ())[:MOST_COPIES]],
            "beside": _similar_selected(row["feature"], result.get("redundancy")),
            "folds": in_folds(row, result.get("n_folds"), "Chosen in {} of {} folds."),
            "stability": stability and _resampled(frequencies.get(row["feature"], 0.0), stability["n_resamples"]),
            "partner": partner_words(row),
            "needed": _needed(row),
            "chart": _picture(views.get(row["feature"]), target),
            "effect": _effect(views.get(row["feature"]), target),
            "missing": _missing(views.get(row["feature"])),
        }
        for row in rows
    ]


def _lost(row: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    """Sentence on the loss of R² or HSIC without the feature; empty if it is not known."""
    relevance, number = row.get("relevance"), result["n_features"]
    if relevance is None:
        return ""
    change = "fall" if relevance >= 0 else "rise"
    if result.get("criterion") == "prediction":
        same = abs(relevance) < _NO_CHANGE
        return f"Without it R² would {'stay the same' if same else f'{change} by {abs(relevance):.3f}'}."
    whole = next((step.get(HSIC.key) for step in result["path"] if step["n_features"] == number), None)
    return f"Without it HSIC would {change} by {abs(100 * relevance / whole):.0f} %." if whole else ""


def in_folds(row: Mapping[str, Any], n_folds: int | None, words: str = "{}/{}") -> str:
    """Number of folds in which a feature was among the selected, and of all folds; empty where there were none.

    Examples
    --------
    >>> in_folds({"frequency": 0.8}, 5)
    '4/5'
    """
    frequency = row.get("frequency")
    return words.format(round(frequency * n_folds), n_folds) if frequency is not None and n_folds else ""


def _similar(copy: Mapping[str, Any]) -> dict[str, str]:
    return {"name": for_page(copy["feature"]), "similarity": f"{copy['similarity']:.2f}"}


def _similar_selected(name: str, redundancy: Mapping[str, Any] | None) -> list[dict[str, str]]:
    """Other selected features that are near-copies of this one."""
    if not redundancy or name not in redundancy["features"]:
        return []
    row = redundancy["table"][redundancy["features"].index(name)]
    pairs = [(value, other) for value, other in zip(row, redundancy["features"], strict=True) if other != name]
    near = sorted((pair for pair in pairs if pair[0] >= LEAST_SIMILARITY), reverse=True)
    return [_similar({"feature": other, "similarity": value}) for value, other in near[:MOST_COPIES]]


def _frequencies(stability: Mapping[str, Any] | None) -> dict[str, float]:
    return {found["feature"]: found["frequency"] for found in stability["features"]} if stability else {}


def _resampled(frequency: float, n_resamples: int) -> str:
    return f"Selected in {round(frequency * n_resamples)} of {n_resamples} resamples."


def _picture(view: Mapping[str, Any] | None, target: str) -> str | None:
    return None if view is None else feature_picture(view, target)


def _effect(view: Mapping[str, Any] | None, target: str) -> str | None:
    return None if view is None or not view.get("effect") else effect_picture(view, target)


def partner_words(row: Mapping[str, Any]) -> str:
    """Sentence on the feature that a selected one works with; empty if there is none.

    Examples
    --------
    >>> partner_words({"partner": "x2", "together": 0.421})
    'With x2: worth 0.42 more than the two apart.'
    """
    if row.get("partner") is None:
        return ""
    return f"With {for_page(row['partner'], 40)}: worth {row['together']:.2f} more than the two apart."


def _needed(row: Mapping[str, Any]) -> str:
    p = row.get("needed")
    if p is None:
        return ""
    told = f"p {probability(p)}" if p < LEAST_PVALUE else f"p = {probability(p)}"
    return f"Needed beyond the others: {told}." if p <= LEVEL else f"Not shown to be needed beyond the others: {told}."


def _missing(view: Mapping[str, Any] | None) -> int:
    """Number of missing entries that the picture does not show."""
    return int(view["n_missing"]) if view is not None and view["kind"] in ("densities", "points") else 0


def feature_table(everything: Sequence[Mapping[str, Any]], result: Mapping[str, Any]) -> dict[str, Any]:
    """The first features in the order of the search: bars, numbers, and a sentence on their p-values."""
    rows = everything[:ROWS]
    best = max((row["score"] for row in everything if row["score"] is not None), default=0.0)
    known = any(row.get("relevance") is not None for row in rows)
    by_prediction = known and result.get("criterion") == "prediction"
    alone = [None if row["score"] is None else percent_of(row["score"], best) for row in rows]
    if by_prediction:
        alone = [row.get("alone") for row in rows]
    bars = [row.get("relevance") for row in rows] if by_prediction else alone
    longest = max((bar for bar in bars if bar is not None), default=0.0)
    stability = result.get("stability")
    frequencies = _frequencies(stability)
    n_long = sum(_is_long(row["feature"]) for row in rows)
    told = [row["pvalue"] for row in rows if row["pvalue"] is not None]
    columns = {
        "relevance": by_prediction,
        "pvalue": 2 * sum(p >= LEAST_PVALUE for p in told) > len(told),  # else it is a column of the same
        "folds": any(row.get("frequency") is not None for row in rows),
        "stability": stability is not None,
        "group": any(row.get("group") is not None for row in rows),
    }
    shown_rows = [
        {
            "position": position,
            "place": row.get("place") or position,
            "rank": row["rank"],
            "selected": row["selected"],
            "name": for_page(row["feature"]),
            "title": _title(row["feature"], _TITLE_CHARACTERS // max(1, n_long)),
            "bar": f"{100 * max(0.0, bar) / longest:.1f}" if bar is not None and longest > 0 else None,
            "relevance": relevance_words(row),
            "relevance_value": row.get("relevance"),
            "alone": _number(percent, ".3f" if by_prediction else ".0f"),
            "alone_value": percent,
            "pvalue": probability(row["pvalue"]),
            "pvalue_value": row["pvalue"],
            "folds": in_folds(row, result.get("n_folds")),
            "folds_value": row.get("frequency"),
            "stability": f"{100 * frequencies.get(row['feature'], 0.0):.0f}",
            "group": "" if row.get("group") is None else for_page(row["group"], 40),
        }
        for position, (row, bar, percent) in enumerate(zip(rows, bars, alone, strict=True), start=1)
    ]
    heading = "R² alone" if by_prediction else "Alone, %"
    return {"rows": shown_rows, "columns": columns, "alone": heading, "significance": _significance(everything)}


def relevance_words(row: Mapping[str, Any]) -> str:
    """The worth of a feature in three digits, or a dash where it was not measured."""
    relevance = row.get("relevance")
    return "< 0.001" if relevance and 0 < relevance < _NO_CHANGE else _number(relevance, ".3f")


def percent_of(score: float, best: float) -> float:
    """Unbiased estimates of HSIC may be below zero, where there is none."""
    return 100 * max(0.0, score) / best if best > 0 else 0.0


def _number(value: float | None, form: str) -> str:
    return DASH if value is None else shown(value, form)


def probability(value: float | None) -> str:
    """A p-value in three digits."""
    return f"< {LEAST_PVALUE}" if value is not None and value < LEAST_PVALUE else _number(value, ".3f")


def _is_long(name: object) -> bool:
    return len(str(name)) > 60 or len(for_page(name, None)) > 60


def _title(name: object, longest: int) -> str | None:
    """The whole name, where the page shows less."""
    return for_page(name, max(60, longest)) if _is_long(name) else None


def _significance(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Number of features that depend on the target by themselves, and the names of the others if they are few."""
    known = [row for row in rows if row["pvalue"] is not None]
    if not known:
        return None
    found = significant_features(vector("pvalue", [row["pvalue"] for row in known]), _FALSE_DISCOVERIES)
    others = [for_page(row["feature"], 40) for row, yes in zip(known, found, strict=True) if not yes]
    few = len(others) <= _NAMED
    return {"n": int(found.sum()), "of": len(known), "others": others if few else []}


def redundant_pairs(redundancy: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The most similar pairs of selected features, and a chart of all pairs; None for fewer than two features."""
    if not redundancy or len(redundancy["features"]) < 2:
        return None
    names, table = redundancy["features"][:CARDS], [row[:CARDS] for row in redundancy["table"][:CARDS]]
    pairs = sorted(((table[i][j], -j, i) for i in range(len(names)) for j in range(i)), reverse=True)
    told = [
        {"names": [for_page(names[-j], 40), for_page(names[i], 40)], "value": f"{value:.2f}"}
        for value, j, i in pairs[:_PAIRS]
    ]
    return {"chart": heat_map(names, table), "pairs": told, "n_pairs": len(pairs)}
