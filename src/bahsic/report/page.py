"""Contents of the page, as plain data for the template: nothing here is markup but the charts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from bahsic.names import for_page, target_name
from bahsic.report.cards import feature_cards, pair_card
from bahsic.report.charts import curve_axes, curve_chart
from bahsic.report.curve import HSIC, LEAVE_ONE_OUT, Curve, path_curve
from bahsic.report.headline import Outcome, headline_of, knee_of
from bahsic.report.schema import candidates, n_candidates, outcome_of_result
from bahsic.report.snippets import Snippet, command, python_code
from bahsic.report.svg import shown
from bahsic.report.table import Column, feature_columns, has_worth
from bahsic.report.words import (
    DASH,
    block_words,
    capitalized,
    column_lines,
    equation,
    evidence_lines,
    kept_words,
    method_words,
    number_words,
    pair_words,
    plural,
    significance_words,
    treatment,
    warning_lines,
)

ROWS = 200  # features in the page; all are in the table beside it
_STEPS = 200  # of the path
_TITLE_CHARACTERS = 60_000  # of all long names together, so that the page stays small
_CODE_CHARACTERS = 15_000
_show = partial(for_page, longest=40)


def page(result: Mapping[str, Any], table_name: str | None = None) -> dict[str, Any]:
    """Return everything that the template shows."""
    outcome, rows, cards = outcome_of_result(result), candidates(result), feature_cards(result)
    curve = path_curve(result["path"], result["n_features"], n_candidates(result))
    curve = None if curve is None else curve.thinned(_STEPS)
    evidence = [*evidence_lines(result, _show), pair_words(result, _show)]
    return {
        "headline": headline_of(outcome, for_page(target_name(result["input"]["target"]))),
        "nothing": outcome.nothing,
        "n_selected": result["n_features"],
        "warnings": [for_page(line, 300) for line in warning_lines(result, outcome)],
        "kept": kept_words([_show(name) for name in result["kept"]]) if result["kept"] else "",
        "why": for_page(number_words(result, knee_of(outcome, result["path"])), None),
        "facts": _facts(result, outcome),
        "evidence": [line for line in evidence if line],
        "table": _table(result, rows),
        "n_hidden": max(0, len(rows) - ROWS),
        "significance": significance_words(rows, _show),
        "curve": None if curve is None else _curve(result, curve),
        "cards": cards,
        "n_no_card": result["n_features"] - len(cards),
        "pair": pair_card(result),
        "columns": _columns(result),
        "python": _short(python_code(result)),
        "command": None if result["input"]["name"] is None else _short(command(result)),
        "table_name": table_name,
        "method": for_page(f"{method_words(result)} {block_words(result)}".strip(), 300),
        "details": _details(result),
        "script_data": _script_data(result, curve),
    }


def json_for_script(data: Any) -> str:
    r"""Return JSON that can stand in a ``script`` element: nothing in it, such as ``</script>``, ends the element.

    Examples
    --------
    >>> json_for_script(["</script>"])
    '["\\u003c/script\\u003e"]'
    """
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
        name = capitalized(outcome.symbol)
        facts.append((f"Best {outcome.symbol}" if outcome.nothing else name, outcome.r2_text, remark))
    if result["test"]:
        facts.append(("Test of the selection", equation(result["test"]["pvalue"]), "on samples that did not select"))
    data = result["input"]
    n_samples = f"{data['n_samples']:,}" if "n_samples" in data else DASH
    return [*facts, ("Samples", n_samples, for_page(data.get("name") or "", 40))]


def _table(result: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the first features with their columns, and bars for the first column."""
    shown_rows = rows[:ROWS]
    columns = feature_columns(result, shown_rows)
    values = columns[0].values if columns else []
    longest = max((value for value in values if value is not None), default=0.0)
    n_long = sum(_is_long(row["feature"]) for row in shown_rows)
    entries = [
        {
            "position": i + 1,
            "place": row.get("place") or i + 1,
            "rank": row["rank"],
            "selected": row["selected"],
            "name": for_page(row["feature"]),
            "title": for_page(row["feature"], max(60, _TITLE_CHARACTERS // n_long))
            if _is_long(row["feature"])
            else None,
            "bar": f"{100 * max(0.0, values[i]) / longest:.1f}" if longest > 0 and values[i] is not None else None,
            "cells": [_cell(column, i) for column in columns],
        }
        for i, row in enumerate(shown_rows)
    ]
    return {"columns": columns, "rows": entries, "has_worth": has_worth(result)}


def _cell(column: Column, i: int) -> dict[str, Any]:
    value = column.values[i] if column.values else None
    return {"label": column.heading, "text": for_page(column.cells[i], 40), "value": "" if value is None else value}


def _is_long(name: object) -> bool:
    return len(str(name)) > 60 or len(for_page(name, None)) > 60


def _curve(result: Mapping[str, Any], curve: Curve) -> dict[str, Any]:
    """Return the chart of the path, with what its caption says, and the path as a table."""
    quantity, steps = curve.quantity, {step["n_features"]: step for step in result["path"]}
    columns = [(quantity.key, capitalized(quantity.symbol)), (quantity.error_key, "Standard error")]
    columns += [("score", str(result["score_name"]))] if result["score_name"] not in (None, "R2") else []
    columns += [(HSIC.key, "HSIC")] if quantity.is_r2 else []
    columns += [("ridge", "Ridge"), ("parameter", "Kernel parameter")]
    known = [(key, heading) for key, heading in columns if any(steps[n].get(key) is not None for n in curve.sizes)]
    rows = [
        {
            "size": n,
            "selected": n == curve.selected,
            "numbers": [_number(steps[n].get(key), is_r2=quantity.is_r2 and i < 2) for i, (key, _) in enumerate(known)],
            "names": [_show(name) for name in steps[n]["features"][:3]],
            "n_more": max(0, len(steps[n]["features"]) - 3),
        }
        for n in curve.sizes
    ]
    return {
        "chart": curve_chart(curve),
        "name": capitalized(quantity.symbol),
        "is_r2": quantity.is_r2,
        "optimistic": quantity == LEAVE_ONE_OUT,
        "mark": "" if not curve.selected else "ring" if curve.selected in curve.sizes else "dotted line",
        "banded": curve.errors is not None,
        "all": quantity.is_r2 and curve.n_candidates in curve.sizes and curve.n_candidates != curve.selected,
        "headings": [heading for _, heading in known],
        "rows": rows,
        "n_steps": plural(len(rows), "step"),
    }


def _number(value: float | None, *, is_r2: bool) -> str:
    return DASH if value is None else shown(value, ".3f" if is_r2 else ".3g")


def _columns(result: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return how each column was treated, in words and as a table; None for results without the roles of columns."""
    # Those first of which something is to be said.
    table = sorted(result["columns"], key=lambda column: (column["role"] == "number", not column["reason"]))
    if not table:
        return None
    lines = column_lines(table, result["input"].get("n_samples", 0), "identifiers='use'")
    standardized = bool(result["parameters"].get("standardize", True))
    rows = [
        {
            "name": for_page(column["name"]),
            "role": for_page(column["role"]),
            "reason": for_page(column["reason"], 200),
            "treatment": treatment(column["role"], standardized=standardized),
        }
        for column in table[:ROWS]
    ]
    lines = lines or [f"All {len(table)} columns are numbers without missing values."]
    return {"lines": [for_page(line, 900) for line in lines], "rows": rows, "n_columns": len(table)}


def _short(code: Snippet) -> Snippet | None:
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
        (part, " · ".join(f"{_show(key)} {_detail(value)}" for key, value in items[:40]))
        for part, items in known.items()
        if items
    ]


def _detail(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else for_page(value, 80)


def _script_data(result: Mapping[str, Any], curve: Curve | None) -> dict[str, Any]:
    """Return the sizes that the slider stops at, with their places in the chart and the number that code asks for."""
    sizes = sorted({int(step["n_features"]) for step in result["path"]} | {result["n_features"]} - {0})
    if curve is not None:
        sizes = [n for n in sizes if n in (*curve.sizes, result["n_features"])]
    data: dict[str, Any] = {"selected": result["n_features"], "stops": [[n, _n_units(result, n)] for n in sizes]}
    if curve is not None:
        x, y = curve_axes(curve)
        labels = [_number(value, is_r2=curve.quantity.is_r2) for value in curve.values]
        errors: list[Any] = curve.errors or [None] * len(labels)
        points = zip(curve.sizes, curve.values, labels, errors, strict=True)
        data |= {
            "name": curve.quantity.symbol,
            "x": [x(min(max(n, curve.sizes[0]), curve.sizes[-1])) for n in sizes],
            "path": {
                n: [y(value), label, _number(error, is_r2=curve.quantity.is_r2)] for n, value, label, error in points
            },
        }
    return data


def _n_units(result: Mapping[str, Any], size: int) -> int:
    """Return the number of units, features or whole groups, that so many features are."""
    return len({("", row["feature"]) if row.get("group") is None else row["group"] for row in result["ranking"][:size]})
