"""Contents of the page, as plain data for the template: nothing here is markup but the charts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from bahsic.names import for_page, target_name
from bahsic.report.charts import Point, path_axes, path_chart, size_axis
from bahsic.report.curve import HSIC, LEAVE_ONE_OUT, Curve, block_words, criterion_words, curve_of
from bahsic.report.features import (
    DASH,
    LEAST_PVALUE,
    LEVEL,
    ROWS,
    feature_cards,
    feature_table,
    probability,
    redundant_pairs,
)
from bahsic.report.headline import Outcome, findings, headline_of, knee_of, leak_words, outcome_of_result
from bahsic.report.pictures import pair_picture
from bahsic.report.roles import n_used, role_lines, role_table, treatment, used_rows
from bahsic.report.snippets import Snippet, command, python_code
from bahsic.report.svg import capitalized, shown

SCHEMA = "bahsic/1"
_NAMES = 8  # features named in the first sentence
_PIXELS = 3  # steps of the path that are nearer to each other than this are one in the chart
_CODE_CHARACTERS = 15_000

# Columns of the path's table after its curve: the entry of a step, and the heading.
_STEP_COLUMNS = (("ridge", "Ridge"), ("parameter", "Kernel parameter"))
_PERCENT = "HSIC, %"

_PARTS = ("input", "parameters", "selected", "n_features", "reason", "ranking", "path")


def checked(result: Any) -> Mapping[str, Any]:
    """The result, if it is one of a selection.

    Parameters
    ----------
    result : mapping
        See `bahsic.report.report_html`.

    Returns
    -------
    mapping

    Examples
    --------
    >>> checked({"schema": "bahsic/2"})
    Traceback (most recent call last):
    ValueError: result has schema 'bahsic/2'; accepted: 'bahsic/1'
    """
    if not isinstance(result, Mapping):
        raise TypeError(f"result is of type {type(result).__name__}; accepted: a mapping such as a result file holds")
    if result.get("schema") != SCHEMA:
        raise ValueError(f"result has schema {result.get('schema')!r}; accepted: {SCHEMA!r}")
    if result.get("kind", "select") != "select":
        raise ValueError(f"result is of kind {result['kind']!r}; accepted: 'select', the result of a selection")
    missing = [part for part in _PARTS if part not in result]
    if missing:
        raise ValueError(f"result has no {missing[0]!r}; accepted: a result with {', '.join(_PARTS)}")
    if not result["ranking"]:
        raise ValueError("result has an empty ranking; accepted: at least one feature")
    return result


def page(result: Mapping[str, Any], table_name: str | None = None) -> dict[str, Any]:
    """Everything that the template shows.

    Parameters
    ----------
    result : mapping
        As `checked` returns it.
    table_name : str, optional
        Name of the file with all features, in the folder of the page.

    Returns
    -------
    dict
        Names of the template, with text, numbers and charts. Cost O(n_features), of bounded size.
    """
    outcome, found = outcome_of_result(result), findings(result)
    everything, curve = used_rows(found), curve_of(result["path"])
    steps = _thinned(result["path"], found["n_features"]) if curve is not None else []
    points = [] if curve is None else _points(steps, curve, _scale(result["path"], curve))
    cards = feature_cards(found)
    return {
        **_headline(result, outcome),
        "criterion": for_page(f"{criterion_words(result)} {block_words(result)}".strip(), 200),
        "facts": _facts(result, outcome),
        "evidence": _evidence(found, outcome),
        "pair": _pair(found),
        "path": _path(found, steps, points, curve) if curve is not None and steps else None,
        "cards": cards,
        "n_no_card": found["n_features"] - len(cards),
        "ranking": feature_table(everything, found),
        "n_hidden": max(0, len(everything) - ROWS),
        "redundancy": redundant_pairs(found.get("redundancy")),
        "python": _short(python_code(result)),
        "command": None if result["input"]["name"] is None else _short(command(result)),
        "table_name": table_name,
        "columns": _columns(result),
        "details": _details(result),
        "script_data": _script_data(found, points, curve),
    }


def path_figure(path: Sequence[Mapping[str, Any]], chosen: int, n_all: int | None = None) -> str:
    """The chart of a path by itself.

    Parameters
    ----------
    path : sequence of mappings, at least one
        With n_features and the entries of a curve, see `curve_of`.
    chosen : int
        The number of features that was selected.
    n_all : int, optional
        The number of all features.

    Returns
    -------
    str
        An ``svg`` element; empty for a path without a curve.
    """
    curve = curve_of(path)
    if curve is None:
        return ""
    return path_chart(_points(_thinned(path, chosen), curve, _scale(path, curve)), chosen, curve, n_all)


def json_for_script(data: Any) -> str:
    r"""JSON that can stand in a ``script`` element: no ``</script>`` or ``<!--`` in it ends or changes the element.

    Parameters
    ----------
    data : plain data without NaN

    Returns
    -------
    str
        In ASCII; a JSON reader gives the same data back.

    Examples
    --------
    >>> json_for_script(["</script>"])
    '["\\u003c/script\\u003e"]'
    """
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _headline(result: Mapping[str, Any], outcome: Outcome) -> dict[str, Any]:
    target, names = result["input"]["target"], [row["feature"] for row in result["ranking"] if row["selected"]]
    return {
        "headline": headline_of(outcome, for_page(target_name(target))),
        "n_selected": result["n_features"],
        "nothing": outcome.predicts is False,
        "leak": for_page(leak_words(result["leaks"]), 300) + "." if result.get("leaks") else "",
        "reason": _reason(result, knee_of(outcome, result["path"])),
        "names": [for_page(name) for name in names[:_NAMES]],
        "n_more": max(0, len(names) - _NAMES),
    }


def _reason(result: Mapping[str, Any], knee: str) -> str:
    """The reason for this number of features, where the headline does not tell it."""
    if result.get("predicts") is False:
        return capitalized(result["reason"].partition("; ")[2])
    if result["parameters"].get("n_features_to_select") == "auto":
        why = "This is the smallest number of features that predicts as well as any, within one standard error."
        return f"{why} {knee}." if knee else why
    reason = for_page(result["reason"], None)[:600].strip().rstrip(".")
    return capitalized(reason) + "." if reason else ""


def _facts(result: Mapping[str, Any], outcome: Outcome) -> list[tuple[str, str, str]]:
    """A few numbers to remember: name, value, remark."""
    data, nothing, name = result["input"], outcome.predicts is False, capitalized(outcome.symbol)
    facts = [("Samples", str(data.get("n_samples", DASH)), for_page(data.get("name") or "", 40))]
    if outcome.score is not None and outcome.score_name != "R2" and not nothing:
        facts.append((capitalized(str(outcome.score_name)), shown(outcome.score, ".3f"), ""))
    if outcome.value is not None:
        remark = "" if outcome.error is None else f"± {max(outcome.error, 0.001):.3f}, one standard error"
        facts.append((f"{name} at best" if nothing else name, shown(outcome.value, ".3f"), remark))
    if outcome.whole is not None and outcome.n_selected < outcome.n_used:
        facts.append((f"{name} of all {outcome.n_used} features", shown(outcome.whole, ".3f"), ""))
    test = result.get("test")
    if test:
        remark = f"{len(test.get('split_pvalues') or [])} splits, selection repeated in each"
        facts.append(("p-value of the selection", f"{test['pvalue']:.2g}", remark))
    return facts


def _evidence(result: Mapping[str, Any], outcome: Outcome) -> list[str]:
    """Sentences that answer whether the selection is real."""
    lines, rows = [], [row for row in result["ranking"] if row["selected"]]
    n_folds = result.get("n_folds")
    if n_folds:
        how = f"{n_folds} folds" if n_folds > 1 else "held-out samples"
        lines.append(
            f"Every prediction behind {outcome.symbol} is of a sample that took no part in the search ({how})."
        )
    counted = [row["frequency"] for row in rows if row.get("frequency") is not None]
    if counted:
        always = sum(share >= 1 for share in counted)
        kind = "feature was" if len(counted) == 1 else "features were"
        lines.append(f"{always} of {len(counted)} selected {kind} chosen in every fold.")
    test = result.get("test")
    if not test:
        lines.append(
            "P-values: bahsic select --test, or selection_test in Python, tests on samples that did not select."
        )
        return lines
    needed = [for_page(row["feature"], 40) for row in rows if (row.get("needed") or 0.0) <= LEVEL]
    splits = f"{len(test.get('split_pvalues') or [])} times"
    lines.append(
        f"Selected on one half of the samples and tested on the other, {splits}: the target depends on the selection "
        f"with p {_pvalue(test['pvalue'])}."
    )
    if any(row.get("needed") is not None for row in rows):
        told = f"{len(needed)} of {len(rows)} selected features: {', '.join(needed[:_NAMES])}" if needed else "none"
        lines.append(f"Needed beyond the others at {LEVEL:.0%}, adjusted for the number of features: {told}.")
    return lines


def _pvalue(p: float) -> str:
    return probability(p) if p < LEAST_PVALUE else f"= {probability(p)}"


def _pair(result: Mapping[str, Any]) -> dict[str, Any] | None:
    """The two features that work together best."""
    view = result.get("pair")
    if not view:
        return None
    names = [for_page(axis["feature"], 40) for axis in view["axes"]]
    chart = pair_picture(view, target_name(result["input"]["target"]))
    return {"names": names, "together": f"{view['together']:.2f}", "chart": chart}


def _thinned(path: Sequence[Mapping[str, Any]], chosen: int) -> list[Mapping[str, Any]]:
    """Steps by size, without those too near to the one before to be told apart; the chosen one stays."""
    steps = sorted((step for step in path if step["n_features"] >= 1), key=lambda step: int(step["n_features"]))
    x = size_axis([step["n_features"] for step in steps]) if steps else None
    kept: list[Mapping[str, Any]] = []
    for step in steps:
        n, last = step["n_features"], kept[-1]["n_features"] if kept else None
        if x is None or last is None or n in (chosen, steps[-1]["n_features"]) or x(n) - x(last) >= _PIXELS:
            kept.append(step)
    return kept


def _scale(path: Sequence[Mapping[str, Any]], curve: Curve) -> float:
    """Factor of the values that are shown: R2 as it is, HSIC in percent of the highest on the path."""
    if curve.predicts:
        return 1.0
    return 100 / (max((abs(step[curve.key]) for step in path), default=0.0) or 1.0)


def _points(steps: Sequence[Mapping[str, Any]], curve: Curve, scale: float) -> list[Point]:
    """The curve at the steps, in the units of the page."""
    errors = [step.get(curve.error) for step in steps]
    return [
        Point(step["n_features"], scale * step[curve.key], None if error is None else scale * error)
        for step, error in zip(steps, errors, strict=True)
    ]


def _value(value: float | None, curve: Curve) -> str:
    return DASH if value is None else shown(value, ".3f" if curve.predicts else ".1f")


def _short_number(value: float | None) -> str:
    return DASH if value is None else f"{value:.3g}"


def _path(
    result: Mapping[str, Any], steps: Sequence[Mapping[str, Any]], points: Sequence[Point], curve: Curve
) -> dict[str, Any]:
    chosen, n_all = result["n_features"], n_used(result)
    known = [] if result.get("score_name") in (None, "R2") else [("score", result["score_name"])]
    columns = (*known, *_STEP_COLUMNS)
    others = {heading: [_short_number(step.get(key)) for step in steps] for key, heading in columns}
    if curve.predicts and all(step.get(HSIC.key) is not None for step in steps):
        found = _points(steps, HSIC, _scale(result["path"], HSIC))
        others = {_PERCENT: [_value(point.value, HSIC) for point in found], **others}
    others = {heading: cells for heading, cells in others.items() if set(cells) != {DASH}}
    banded = any(point.error is not None for point in points)
    rows = [
        {
            "size": point.size,
            "chosen": point.size == chosen,
            "numbers": [
                _value(point.value, curve),
                *([_value(point.error, curve)] if banded else []),
                *(cells[position] for cells in others.values()),
            ],
            "names": [for_page(name, 40) for name in step["features"][:3]],
            "n_more": max(0, len(step["features"]) - 3),
        }
        for position, (step, point) in enumerate(zip(steps, points, strict=True))
    ]
    name = curve.caption if curve.predicts else _PERCENT
    return {
        "chart": path_chart(points, chosen, curve, n_all),
        "curve": curve.caption,
        "predicts": curve.predicts,
        "optimistic": curve is LEAVE_ONE_OUT,
        "chosen": chosen > 0,
        "banded": banded,
        "all": curve.predicts and any(point.size == n_all != chosen for point in points),
        "headings": [name, *(["Standard error"] if banded else []), *others],
        "rows": rows,
        "n_steps": len(rows),
        "on_path": any(row["chosen"] for row in rows),
    }


def _columns(result: Mapping[str, Any]) -> dict[str, Any] | None:
    """Treatment of each column, in words and as a table; None for results without the roles of columns."""
    table = role_table(result)
    if not table:
        return None
    lines = role_lines(table, result["input"].get("n_samples", 0), "identifiers='use'")
    standardized = result["parameters"].get("standardize", True)
    rows = [
        {
            **{key: for_page(column[key], 60) for key in ("name", "role", "reason")},
            "done": treatment(column["role"], standardized=bool(standardized)),
        }
        for column in table[:ROWS]
    ]
    told = lines or [f"All {len(table)} columns are numbers without gaps."]
    return {"lines": [for_page(line, 600) for line in told], "rows": rows, "n_more": len(table) - len(rows)}


def _short(code: Snippet) -> Snippet | None:
    return code if len(code.text) <= _CODE_CHARACTERS else None


def _details(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Origin of the result: input, parameters, versions, time."""
    parts = {
        "Input": {**result["input"], **result["input"].get("options", {}), "options": None},
        "Parameters": {**result["parameters"], "seed": result.get("seed")},
        "Versions": result.get("versions") or {},
        "Seconds": {key.removesuffix("_seconds"): value for key, value in (result.get("timing") or {}).items()},
    }
    told = {part: [item for item in values.items() if item[1] is not None] for part, values in parts.items()}
    return [
        (part, " · ".join(f"{for_page(key, 40)} {_detail(value)}" for key, value in items[:40]))
        for part, items in told.items()
        if items
    ]


def _detail(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else for_page(value, 80)


def _script_data(result: Mapping[str, Any], points: Sequence[Point], curve: Curve | None) -> dict[str, Any]:
    """Sizes that the slider stops at, with their place in the chart and the number that code asks for."""
    stops = _stops(result, [point.size for point in points])
    data: dict[str, Any] = {"chosen": result["n_features"], "stops": stops}
    if curve is not None and points:
        data |= {"name": curve.symbol, "unit": "" if curve.predicts else " %"}
        x, y = path_axes(points)
        data["x"] = [x(min(max(size, points[0].size), points[-1].size)) for size, _ in stops]
        data["path"] = {
            point.size: [y(point.value), _value(point.value, curve), _value(point.error, curve)] for point in points
        }
    return data


def _stops(result: Mapping[str, Any], sizes: Sequence[int]) -> list[tuple[int, int]]:
    """Pairs of a number of features and the number of units, features or whole groups, that make it."""
    ranking, wanted = result["ranking"], {*sizes, *range(1, ROWS + 1), result["n_features"]}
    stops: list[tuple[int, int]] = []
    seen: set[str] = set()
    keep = set(result["parameters"].get("keep") or ())
    kept = len(keep)  # that are not in the subset yet
    for size, row in enumerate(ranking, start=1):
        group = row.get("group")
        seen.add(f"feature {size}" if group is None else f"group {group}")
        following = ranking[size].get("group") if size < len(ranking) else None
        kept -= row["feature"] in keep
        if size in wanted and kept <= 0 and (group is None or group != following):
            stops.append((size, len(seen)))
    return stops
