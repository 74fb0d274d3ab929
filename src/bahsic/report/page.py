"""Contents of the page, as plain data for the template: nothing here is markup but the charts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from bahsic.names import for_page, target_name
from bahsic.report.charts import curve_axes, curve_chart, effect_picture, feature_picture, pair_picture
from bahsic.report.curve import HSIC, LEAVE_ONE_OUT, Curve, path_curve
from bahsic.report.neighbours import LEAST_SIMILARITY, MOST_COPIES
from bahsic.report.schema import Outcome, candidates, n_candidates, outcome_of_result
from bahsic.report.snippets import Snippet, command, python_code
from bahsic.report.svg import shown
from bahsic.report.table import feature_columns, has_worth
from bahsic.report.words import (
    DASH,
    block_words,
    capitalized,
    column_lines,
    evidence_lines,
    feature_facts,
    headline_of,
    kept_words,
    method_words,
    number,
    number_words,
    significance_words,
    treatment,
    warning_lines,
)

ROWS = 200  # features in the page; all are in the table beside it
_STEPS = 200  # of the path
_CARDS = 30
_LONG = 60  # characters of a name that are shown
_TITLE_CHARACTERS = 60_000  # of all long names together, so that the page stays small
_CODE_CHARACTERS = 15_000


def page(result: Mapping[str, Any], table_name: str | None = None) -> dict[str, Any]:
    """Return everything that the template shows."""
    outcome, rows = outcome_of_result(result), candidates(result)
    target = target_name(result["input"]["target"])
    curve = path_curve(result["path"], result["n_features"], n_candidates(result))
    curve = None if curve is None else curve.thinned(_STEPS)
    cards, columns = _cards(result, target), feature_columns(result, rows[:ROWS])
    return {
        "headline": headline_of(outcome, for_page(target)),
        "nothing": outcome.nothing,
        "n_selected": result["n_features"],
        "warnings": warning_lines(result["leaks"], outcome),
        "kept": kept_words(result["kept"]),
        "why": number_words(result, outcome),
        "facts": _facts(result, outcome),
        "evidence": evidence_lines(result),
        "table_columns": columns,
        "rows": _rows(rows[:ROWS], columns),
        "n_hidden": max(0, len(rows) - ROWS),
        "has_worth": has_worth(result),
        "significance": significance_words(rows),
        "curve": None if curve is None else _curve(result, curve),
        "cards": cards,
        "n_no_card": result["n_features"] - len(cards),
        "pair": result["pair"],
        "pair_chart": pair_picture(result["pair"], target) if result["pair"] else None,
        "columns": _columns(result),
        "python": _unless_long(python_code(result)),
        "command": None if result["input"]["name"] is None else _unless_long(command(result)),
        "table_name": table_name,
        "method": f"{method_words(result)} {block_words(result)}".strip(),
        "details": _details(result),
        "script_data": _script_data(result, curve),
    }


def json_for_script(data: Any) -> str:
    """Return JSON that can stand in a ``script`` element: nothing in it, such as ``</script>``, ends the element."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _facts(result: Mapping[str, Any], outcome: Outcome) -> list[tuple[str, str, str]]:
    """Return the numbers of the first screen: name, value, remark."""
    n_folds, facts = result["n_folds"], []
    judged = "" if not n_folds else "on held-out samples" if n_folds == 1 else f"on held-out samples, {n_folds} folds"
    if outcome.score_text:
        facts.append((capitalized(str(outcome.score_name)), f"{outcome.score:.2f}", judged))
    if outcome.r2 is not None:
        whole = outcome.r2_all if outcome.n_selected < outcome.n_candidates and not outcome.nothing else None
        beside = "" if whole is None else f"all {outcome.n_candidates} features: {shown(whole, '.2f')}"
        remark = "; ".join(filter(None, ("" if outcome.score_text else judged, beside)))
        name = f"Best {outcome.r2_name}" if outcome.nothing else capitalized(outcome.r2_name)
        facts.append((name, outcome.r2_text, remark))
    data = result["input"]
    n_samples = f"{data['n_samples']:,}" if "n_samples" in data else DASH
    return [*facts, ("Samples", n_samples, for_page(data.get("name") or "", 40))]


def _rows(rows: Sequence[Mapping[str, Any]], columns: Sequence[Any]) -> list[dict[str, Any]]:
    """Return rows of the table of features, with bars for the first column."""
    values = columns[0].values if columns else []
    longest = max((value for value in values if value is not None), default=0.0)
    is_long = [max(len(str(row["feature"])), len(for_page(row["feature"], None))) > _LONG for row in rows]
    titles = max(_LONG, _TITLE_CHARACTERS // max(1, sum(is_long)))
    return [
        {
            **row,
            "place": row.get("place") or i + 1,
            "title": for_page(row["feature"], titles) if is_long[i] else None,
            "bar": f"{100 * max(0.0, values[i]) / longest:.1f}" if longest > 0 and values[i] is not None else None,
            "cells": [(column, column.cells[i], column.values[i] if column.values else None) for column in columns],
        }
        for i, row in enumerate(rows)
    ]


def _curve(result: Mapping[str, Any], curve: Curve) -> dict[str, Any]:
    """Return the chart of the path, with what its caption says, and the path as a table."""
    quantity, steps = curve.quantity, {step["n_features"]: step for step in result["path"]}
    digits = ".3f" if quantity.is_r2 else ".3g"
    columns = [(quantity.key, capitalized(quantity.name), digits), (quantity.error_key, "Standard error", digits)]
    columns += [("score", str(result["score_name"]), ".3g")] if result["score_name"] not in (None, "R2") else []
    columns += [(HSIC.key, "HSIC", ".3g")] if quantity.is_r2 else []
    columns += [("ridge", "Ridge", ".3g"), ("parameter", "Kernel parameter", ".3g")]
    columns = [column for column in columns if any(steps[n].get(column[0]) is not None for n in curve.sizes)]
    return {
        "chart": curve_chart(curve),
        "name": capitalized(quantity.name),
        "is_r2": quantity.is_r2,
        "optimistic": quantity == LEAVE_ONE_OUT,
        "selected": curve.selected,
        "mark": "" if not curve.selected else "ring" if curve.selected in curve.sizes else "dotted line",
        "banded": curve.errors is not None,
        "all": quantity.is_r2 and curve.n_candidates in curve.sizes and curve.n_candidates != curve.selected,
        "headings": [heading for _, heading, _ in columns],
        "rows": [(steps[n], [number(steps[n].get(key), form) for key, _, form in columns]) for n in curve.sizes],
    }


def _cards(result: Mapping[str, Any], target: str) -> list[dict[str, Any]]:
    """Return cards of the selected features: pictures, what is lost without them, near-duplicates."""
    views = {view["feature"]: view for view in result["views"]}
    similar = {entry["feature"]: entry["copies"][:MOST_COPIES] for entry in result["near_copies"]}
    cards = []
    for row in [row for row in result["ranking"] if row["selected"]][:_CARDS]:
        name, view = row["feature"], views.get(row["feature"])
        card = {"name": name, "facts": feature_facts(row, result), "charts": [], "n_missing": 0}
        card |= {"instead": similar.get(name, ()), "beside": _similar_selected(name, result["redundancy"])}
        if view is not None:
            card["charts"] = [feature_picture(view, target)]
            card["charts"] += [effect_picture(view, target)] if view.get("effect") else []
            card["n_missing"] = view["n_missing"] if view["kind"] in ("densities", "points") else 0
        cards.append(card)
    return cards


def _similar_selected(name: str, redundancy: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Return other selected features that are near-duplicates of this one."""
    if not redundancy or name not in redundancy["features"]:
        return []
    row = redundancy["table"][redundancy["features"].index(name)]
    pairs = [(value, other) for value, other in zip(row, redundancy["features"], strict=True) if other != name]
    near = sorted((pair for pair in pairs if pair[0] >= LEAST_SIMILARITY), reverse=True)
    return [{"feature": other, "similarity": value} for value, other in near[:MOST_COPIES]]


def _columns(result: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return how each column was treated, in words and as a table; None for results without the roles of columns."""
    # Those first of which something is to be said.
    table = sorted(result["columns"], key=lambda column: (column["role"] == "number", not column["reason"]))
    if not table:
        return None
    lines = column_lines(table, result["input"].get("n_samples", 0), "identifiers='use'")
    standardized = bool(result["parameters"].get("standardize", True))
    return {
        "lines": lines or [f"All {len(table)} columns are numbers without missing values."],
        "rows": [(column, treatment(column["role"], standardized=standardized)) for column in table[:ROWS]],
        "n_columns": len(table),
    }


def _unless_long(code: Snippet) -> Snippet | None:
    return code if len(code.text) <= _CODE_CHARACTERS else None


def _details(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the origin of the result: input, parameters, versions, time."""
    parts = {
        "Input": {**result["input"], **result["input"].get("options", {}), "options": None},
        "Parameters": {**result["parameters"], "seed": result.get("seed")},
        "Versions": result.get("versions") or {},
        "Seconds": {key.removesuffix("_seconds"): value for key, value in (result.get("timing") or {}).items()},
    }
    known = {part: [item for item in values.items() if item[1] is not None] for part, values in parts.items()}
    return [
        (part, " · ".join(f"{for_page(key, 40)} {_detail(value)}" for key, value in items[:40]))
        for part, items in known.items()
        if items
    ]


def _detail(value: Any) -> str:
    if isinstance(value, list):
        return for_page(", ".join(map(str, value)), 80)
    return f"{value:.4g}" if isinstance(value, float) else for_page(value, 80)


def _script_data(result: Mapping[str, Any], curve: Curve | None) -> dict[str, Any]:
    """Return the sizes that the slider stops at, with their places in the chart and the number that code asks for."""
    sizes = sorted({int(step["n_features"]) for step in result["path"]} | {result["n_features"]} - {0})
    if curve is not None:
        sizes = [n for n in sizes if n in (*curve.sizes, result["n_features"])]
    data: dict[str, Any] = {"selected": result["n_features"], "stops": [[n, _n_units(result, n)] for n in sizes]}
    if curve is not None:
        (x, y), form = curve_axes(curve), ".3f" if curve.quantity.is_r2 else ".3g"
        errors: list[Any] = curve.errors or [None] * len(curve.sizes)
        points = zip(curve.sizes, curve.values, errors, strict=True)
        data |= {
            "name": curve.quantity.name,
            "x": [x(min(max(n, curve.sizes[0]), curve.sizes[-1])) for n in sizes],
            "path": {n: [y(value), number(value, form), number(error, form)] for n, value, error in points},
        }
    return data


def _n_units(result: Mapping[str, Any], size: int) -> int:
    """Return the number of units, features or whole groups, that so many features are."""
    return len({("", row["feature"]) if row.get("group") is None else row["group"] for row in result["ranking"][:size]})
