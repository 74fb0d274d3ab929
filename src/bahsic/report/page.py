"""Contents of the page, as plain data for the template: nothing here is markup but the charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bahsic.names import for_page, target_name
from bahsic.report import words
from bahsic.report.charts import curve_axes, curve_chart, effect_picture, feature_picture, pair_picture, point_text
from bahsic.report.schema import HSIC, Curve, candidates, curve_of
from bahsic.report.snippets import command, python_code
from bahsic.report.views import LEAST_SIMILARITY, MOST_COPIES

ROWS = 200  # features in the page; all are in the table beside it
_STEPS = 200  # of the path
_CARDS = 30
_LONG, _TITLE = 60, 300  # characters of a name that are shown, and that a pointer on a longer one shows
_CODE_CHARACTERS = 15_000


def page(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return everything that the template shows."""
    rows, n_selected = candidates(result), result["n_features"]
    target, curve = target_name(result["input"]["target"]), curve_of(result)
    curve = None if curve is None else curve.thinned(_STEPS)
    columns = words.feature_columns(result, rows[:ROWS])
    known = "it is" if len(result["leaks"]) == 1 else "they are"
    codes = python_code(result), None if result["input"]["name"] is None else command(result)
    python, shell = (code if code is not None and len(code.text) <= _CODE_CHARACTERS else None for code in codes)
    return {
        "headline": words.headline_of(result, for_page(target)),
        "source": words.judged_words(result),
        "nothing": result["predicts"] is False,
        "n_selected": n_selected,
        "warnings": words.warning_lines(result, f"; check that {known} known before the target"),
        "lead": [words.kept_words(result["kept"]), words.number_words(result, curve)],
        "evidence": words.evidence_lines(result),
        "table_columns": columns,
        "rows": _rows(rows[:ROWS], columns),
        "n_hidden": max(0, len(rows) - ROWS),
        "has_worth": words.has_worth(result),
        "significance": words.significance_words(rows),
        "curve": curve,
        "curve_chart": None if curve is None else curve_chart(curve),
        "path": None if curve is None else _path(result, curve),
        "cards": _cards(result, target),
        "n_no_card": n_selected - _CARDS,
        "pair": result["pair"],
        "pair_chart": pair_picture(result["pair"], target) if result["pair"] else None,
        "columns": _columns(result),
        "python": python,
        "command": shell,
        "method": f"{words.method_words(result)} {words.block_words(result)}".strip(),
        "details": _details(result),
        "script_data": {"selected": n_selected, "stops": _stops(result, curve)},
    }


def _rows(rows: Sequence[Mapping[str, Any]], columns: Sequence[Any]) -> list[dict[str, Any]]:
    """Return rows of the table of features, with bars for the first column."""
    values = columns[0].values if columns else []
    longest = max((value for value in values if value is not None), default=0.0)
    shares = [0.0 if value is None or longest <= 0 else 100 * max(0.0, value) / longest for value in values]
    return [
        {
            **row,
            "place": row.get("place") or i + 1,
            "title": for_page(row["feature"], _TITLE) if len(for_page(row["feature"], None)) > _LONG else None,
            "bar": f"{shares[i]:.1f}" if shares and shares[i] >= 0.05 else None,
            "cells": [(column, column.cells[i], column.values[i] if column.values else None) for column in columns],
        }
        for i, row in enumerate(rows)
    ]


def _path(result: Mapping[str, Any], curve: Curve) -> dict[str, Any]:
    """Return the path as a table."""
    quantity, steps = curve.quantity, {step["n_features"]: step for step in result["path"]}
    digits = ".3f" if curve.is_r2 else ".3g"
    columns = [(quantity.key, words.capitalized(quantity.name), digits), (quantity.error_key, "Standard error", digits)]
    columns += [("score", str(result["score_name"]), ".3g")] if result["score_name"] not in (None, "R2") else []
    columns += [(HSIC.key, "HSIC", ".3g")] if curve.is_r2 else []
    columns += [("ridge", "Ridge", ".3g"), ("parameter", "Kernel parameter", ".3g")]
    columns = [column for column in columns if any(steps[n].get(column[0]) is not None for n in curve.sizes)]
    return {
        "headings": [heading for _, heading, _ in columns],
        "rows": [(steps[n], [words.number(steps[n].get(key), form) for key, _, form in columns]) for n in curve.sizes],
    }


def _cards(result: Mapping[str, Any], target: str) -> list[dict[str, Any]]:
    """Return cards of the selected features: pictures, what is lost without them, near-duplicates."""
    views = {view["feature"]: view for view in result["views"]}
    similar = {entry["feature"]: entry["copies"][:MOST_COPIES] for entry in result["near_copies"]}
    cards = []
    for row in [row for row in result["ranking"] if row["selected"]][:_CARDS]:
        name, view = row["feature"], views.get(row["feature"], {"kind": None})
        card = {"name": name, "facts": words.feature_facts(row, result), "charts": []}
        card |= {"instead": similar.get(name, ()), "beside": _similar_selected(name, result["redundancy"])}
        card["charts"] += [feature_picture(view, target)] if view["kind"] else []
        card["charts"] += [effect_picture(view, target)] if view.get("effect") else []
        card["n_missing"] = view["n_missing"] if view["kind"] in ("densities", "points") else 0
        cards.append(card)
    return cards


def _similar_selected(name: str, redundancy: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return other selected features that are near-duplicates of this one."""
    if name not in redundancy["features"]:
        return []
    row = redundancy["table"][redundancy["features"].index(name)]
    pairs = [(value, other) for value, other in zip(row, redundancy["features"], strict=True) if other != name]
    near = sorted((pair for pair in pairs if pair[0] >= LEAST_SIMILARITY), reverse=True)
    return [{"feature": other, "similarity": value} for value, other in near[:MOST_COPIES]]


def _columns(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return how each column was treated, in words and as a table: first those of which something is to be said."""
    table = sorted(result["columns"], key=lambda column: (column["role"] == "number", not column["reason"]))
    lines = words.column_lines(table, result["input"].get("n_samples", 0), "identifiers='use'")
    standardized = bool(result["parameters"].get("standardize", True))
    return {
        "lines": lines or [f"All {words.plural(len(table), 'column')} are numbers without missing values."],
        "rows": [(column, words.treatment(column["role"], standardized=standardized)) for column in table[:ROWS]],
        "n_columns": len(table),
    }


def _details(result: Mapping[str, Any]) -> dict[str, list[tuple[str, Any]]]:
    """Return the origin of the result: input, parameters, versions, time."""
    data = result["input"]
    parts = {
        "Input": {**data, **data.get("options", {}), "options": None},
        "Parameters": {**result["parameters"], "seed": result.get("seed")},
        "Versions": result.get("versions") or {},
        "Seconds": {key.removesuffix("_seconds"): value for key, value in (result.get("timing") or {}).items()},
    }
    return {part: [item for item in values.items() if item[1] is not None][:40] for part, values in parts.items()}


def _stops(result: Mapping[str, Any], curve: Curve | None) -> list[dict[str, Any]]:
    """Return the sizes that the slider stops at, with the number that code asks for, and the point of the chart."""
    selected, axes = result["n_features"], None if curve is None else curve_axes(curve)
    points: dict[int, tuple[float | None, str]] = {int(step["n_features"]): (None, "") for step in result["path"]}
    if curve is not None:
        points = {n: (curve.values[i], f", {point_text(curve, i)}") for i, n in enumerate(curve.sizes)}
        if curve.is_r2 and selected:
            text = words.r2_text(result["predictability"], result["predictability_error"])
            points[selected] = curve.selected_value, f", {curve.quantity.name} {text}"
    stops: list[dict[str, Any]] = []
    for n in sorted(points.keys() | {selected} - {0}):
        value, text = points.get(n, (None, ""))
        # Units are features or whole groups.
        units = {("", row["feature"]) if row.get("group") is None else row["group"] for row in result["ranking"][:n]}
        stops.append({"size": n, "number": len(units), "text": words.plural(n, "feature") + text})
        if axes is not None:
            x, y = axes
            stops[-1] |= {"x": x(min(max(n, x.low), x.high)), "y": None if value is None else y(value)}
    return stops
