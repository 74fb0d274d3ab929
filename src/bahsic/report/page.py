"""Contents of the page, as plain data for the template: nothing here is markup but the charts."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from bahsic.names import for_page
from bahsic.report.charts import Point, decimals, heat_map, path_axes, path_chart, ranking_chart, size_axis
from bahsic.report.curve import HSIC, PREDICTABILITY, Curve, block_words, criterion_words, curve_of
from bahsic.report.roles import role_lines, role_table, used_rows
from bahsic.report.snippets import Snippet, command, python_code

SCHEMA = "bahsic/1"
ROWS = 200  # features in the page; all are in the table beside it
_BARS = 30
_NAMES = 8  # features named in the first sentence
_PIXELS = 3  # steps of the path that are nearer to each other than this are one in the chart
_TITLE_CHARACTERS = 60_000  # of all long names together, so that the page stays small
_CODE_CHARACTERS = 15_000

_RELEVANCE = "R2 lost or added"

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

# Columns of the path's table after its curve: the entry of a step, and the heading.
_STEP_COLUMNS = (("hsic", "HSIC"), ("ridge", "Ridge"), ("parameter", "Kernel parameter"))

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
    everything = used_rows(result)
    steps, ranking = _thinned(result["path"], result["n_features"]), everything[:ROWS]
    exponent = _exponent([*(step["hsic"] or 0.0 for step in steps), *(row["score"] or 0.0 for row in ranking)])
    shown = _Shown(curve_of(steps), exponent)
    points = _points(steps, shown)
    return {
        **_headline(result),
        "criterion": for_page(f"{criterion_words(result)} {block_words(result)}".strip(), 200),
        "unit": _unit(exponent),
        "facts": _facts(result, points, shown),
        "path": _path(steps, points, result["n_features"], shown) if steps else None,
        "ranking": _ranking(ranking, exponent, by_prediction=result.get("criterion") == "prediction"),
        "n_hidden": len(everything) - len(ranking),
        "redundancy": _redundancy(result.get("redundancy")),
        "python": _short(python_code(result)),
        "command": _short(command(result)),
        "table_name": table_name,
        "columns": _columns(result),
        "details": _details(result),
        "script_data": _script_data(result, points, shown),
    }


def path_figure(path: Sequence[Mapping[str, Any]], chosen: int) -> str:
    """The chart of a path by itself.

    Parameters
    ----------
    path : sequence of mappings, at least one
        With n_features and the entries of a curve, see `curve_of`.
    chosen : int
        The number of features that was selected.

    Returns
    -------
    str
        An ``svg`` element.
    """
    steps = _thinned(path, chosen)
    shown = _Shown(curve_of(steps), _exponent([step["hsic"] or 0.0 for step in steps]))
    return path_chart(_points(steps, shown), chosen, shown.unit, shown.curve)


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


def _number(value: float | None, places: int) -> str:
    return "–" if value is None else f"{value:.{places}f}".replace("-", "−")  # noqa: RUF001 - a dash, and a minus


def _probability(value: float | None) -> str:
    return "< 0.0001" if value is not None and value < 1e-4 else _number(value, 4)


def _headline(result: Mapping[str, Any]) -> dict[str, Any]:
    target, names = result["input"]["target"], [row["feature"] for row in result["ranking"] if row["selected"]]
    reason = for_page(result["reason"], None)[:600].strip().rstrip(".")
    return {
        "n_selected": result["n_features"],
        "n_features": len(used_rows(result)),
        "target": for_page("the target" if target is None else target),
        "reason": reason[:1].upper() + reason[1:] + "." if reason else "",
        "names": [for_page(name) for name in names[:_NAMES]],
        "n_more": max(0, len(names) - _NAMES),
    }


def _exponent(values: Sequence[float]) -> int:
    """A power of ten, 0 or a multiple of 3, in which the values are short: HSIC shrinks with the kernel on labels."""
    greatest = max(map(abs, values), default=0.0)
    exponent = 0 if greatest == 0 else 3 * math.floor(math.log10(greatest) / 3)
    return 0 if -3 <= exponent <= 0 and greatest >= 0.01 else exponent


def _unit(exponent: int) -> str:
    return f" × 10{str(exponent).translate(_SUPERSCRIPTS)}" if exponent else ""  # noqa: RUF001 - the sign of products


class _Shown:
    """The curve that is shown, and its power of ten: R2 has none."""

    def __init__(self, curve: Curve, exponent: int) -> None:
        self.curve, self.exponent = curve, exponent if curve is HSIC else 0
        self.unit = _unit(self.exponent)


def _facts(result: Mapping[str, Any], points: Sequence[Point], shown: _Shown) -> list[tuple[str, str, str]]:
    """A few numbers to remember: name, value, remark."""
    data, unit = result["input"], shown.unit
    facts = [("Samples", str(data.get("n_samples", "–")), for_page(data.get("name", ""), 40))]  # noqa: RUF001
    here = next((point for point in points if point.size == result["n_features"]), None)
    if here is not None:
        remark = "" if here.error is None else f"± {here.error:.2g}{unit}, one standard error"
        facts.append((f"{shown.curve.name} of the selection", f"{here.value:.4g}{unit}".replace("-", "−"), remark))  # noqa: RUF001
    test = result.get("test")
    if test:
        remark = f"{len(test.get('split_pvalues') or [])} splits, selection repeated in each"
        facts.append(("p-value of the selection", _probability(test["pvalue"]), remark))
    return facts


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


def _points(steps: Sequence[Mapping[str, Any]], shown: _Shown) -> list[Point]:
    """The curve at the steps, divided by its power of ten."""
    key, error, scale = shown.curve.key, shown.curve.error, shown.exponent
    return [Point(s["n_features"], s[key] * 10.0**-scale, _scaled(s.get(error), scale)) for s in steps]


def _scaled(value: float | None, exponent: int) -> float | None:
    return None if value is None else value * 10.0**-exponent


def _path(steps: Sequence[Mapping[str, Any]], points: Sequence[Point], chosen: int, shown: _Shown) -> dict[str, Any]:
    places, name = decimals([point.value for point in points]), f"{shown.curve.name}{shown.unit}"
    others = [(key, heading) for key, heading in _STEP_COLUMNS if key != shown.curve.key]
    others = [(key, heading) for key, heading in others if any(step.get(key) is not None for step in steps)]
    rows = [
        {
            "size": point.size,
            "chosen": point.size == chosen,
            "numbers": [
                *(_number(value, places) for value in (point.value, point.error)),
                *("–" if step.get(key) is None else f"{step[key]:.4g}" for key, _ in others),  # noqa: RUF001 - a dash
            ],
            "names": [for_page(name, 40) for name in step["features"][:3]],
            "n_more": max(0, len(step["features"]) - 3),
        }
        for step, point in zip(steps, points, strict=True)
    ]
    return {
        "chart": path_chart(points, chosen, shown.unit, shown.curve),
        "predicts": shown.curve is PREDICTABILITY,
        "banded": any(point.error is not None for point in points),
        "headings": [name, f"Standard error{shown.unit}", *(heading for _, heading in others)],
        "rows": rows,
        "n_steps": len(rows),
        "on_path": any(row["chosen"] for row in rows),
    }


def _ranking(rows: Sequence[Mapping[str, Any]], exponent: int, *, by_prediction: bool) -> dict[str, Any]:
    rows = [{**row, "score": _scaled(row["score"], exponent)} for row in rows]
    key, title = ("relevance", _RELEVANCE) if by_prediction else ("score", "HSIC of each feature alone")
    bars, scores = rows[:_BARS], [row["score"] for row in rows if row["score"] is not None]
    lengths = [row[key] or 0.0 for row in bars]
    chart = ranking_chart([row["feature"] for row in bars], lengths, [row["selected"] for row in bars], title)
    places = decimals(scores)
    n_long = sum(_is_long(row["feature"]) for row in rows)
    longest = _TITLE_CHARACTERS // max(1, n_long)
    shown = [_row(position, row, places, longest) for position, row in enumerate(rows, start=1)]
    grouped = any(row.get("group") is not None for row in rows)
    relevance = _RELEVANCE if by_prediction else None
    return {"chart": chart if scores else None, "rows": shown, "grouped": grouped, "relevance": relevance}


def _is_long(name: object) -> bool:
    return len(str(name)) > 60 or len(for_page(name, None)) > 60


def _row(position: int, row: Mapping[str, Any], places: int, longest: int) -> dict[str, Any]:
    name = for_page(row["feature"])
    return {
        "position": position,
        "rank": row["rank"],
        "selected": row["selected"],
        "name": name,
        "title": for_page(row["feature"], max(60, longest)) if _is_long(row["feature"]) else None,
        "score": _number(row["score"], places),
        "score_value": row["score"],
        "pvalue": _probability(row["pvalue"]),
        "pvalue_value": row["pvalue"],
        "relevance": _number(row.get("relevance"), 4),
        "relevance_value": row.get("relevance"),
        "group": "" if row.get("group") is None else for_page(row["group"], 40),
    }


def _redundancy(redundancy: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if not redundancy or len(redundancy["features"]) < 2:
        return None
    names, table = redundancy["features"][:_BARS], [row[:_BARS] for row in redundancy["table"][:_BARS]]
    pairs = [(table[i][j], i, j) for i in range(len(names)) for j in range(i)]
    value, i, j = max(pairs)
    rows = [
        {"name": for_page(name, 40), "values": [f"{v:.2f}" for v in row]}
        for name, row in zip(names, table, strict=True)
    ]
    nearest = {"value": f"{value:.2f}", "names": [for_page(names[j], 40), for_page(names[i], 40)]}
    return {"chart": heat_map(names, table), "rows": rows, "nearest": nearest}


def _columns(result: Mapping[str, Any]) -> dict[str, Any] | None:
    """Roles of the columns, in words and as a table; None where there is nothing to say."""
    table = role_table(result)
    lines = role_lines(table, result["input"].get("n_samples", 0), "identifiers='use'")
    if not lines:
        return None
    rows = [{key: for_page(column[key], 60) for key in ("name", "role", "reason")} for column in table[:ROWS]]
    return {"lines": [for_page(line, 600) for line in lines], "rows": rows, "n_more": len(table) - len(rows)}


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


def _script_data(result: Mapping[str, Any], points: Sequence[Point], shown: _Shown) -> dict[str, Any]:
    """Sizes that the slider stops at, with their place in the chart and the number that code asks for."""
    stops = _stops(result, [point.size for point in points])
    data: dict[str, Any] = {"chosen": result["n_features"], "stops": stops}
    data |= {"name": shown.curve.name, "unit": shown.unit}
    if points:
        x, y = path_axes(points)
        places = decimals([point.value for point in points])
        data["x"] = [x(min(max(size, points[0].size), points[-1].size)) for size, _ in stops]
        data["path"] = {
            point.size: [y(point.value), _number(point.value, places), _number(point.error, places)] for point in points
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
