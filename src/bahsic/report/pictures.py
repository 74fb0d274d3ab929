"""Small pictures of a feature against the target, drawn from the plain data of `bahsic.report.views`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from bahsic.names import for_page
from bahsic.report.svg import Axis, Element, SubElement, line_through, picture, text, text_width, three_digits, tostring
from bahsic.report.views import MOST_CATEGORIES, MOST_CLASSES, MOST_POINTS

_WIDTH = 300
_ROW = 21  # height of a bar with the gap below it
_HILL = 32  # height of the row of a density
_LONGEST = 20  # characters of the name of a class or category
_SHADES = 5  # of the classes in a bar, see charts.css
_SHADES_OF_TWO = ["class3", "class0"]
_PAIR_WIDTH, _PAIR_HEIGHT = 420, 260
_LONGEST_DURATION = 3000  # days
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def feature_picture(view: Mapping[str, Any], target: str) -> str:
    """The picture of a feature against the target.

    Parameters
    ----------
    view : mapping
        See `bahsic.report.views.feature_views`.
    target : str
        Name of the target, of any characters.

    Returns
    -------
    str
        An ``svg`` element of at most a few kilobytes, to be shown some 300 pixels wide.

    Examples
    --------
    >>> view = {"feature": "x", "kind": "points", "x": [0.0, 1.0], "y": [2.0, 3.0], "date": False, "n_missing": 0}
    >>> feature_picture(view, "price").count("<path")
    1
    """
    draw: Callable[[Mapping[str, Any], str], Element] = {
        "densities": _densities,
        "shares": _shares,
        "points": _points,
        "boxes": _boxes,
    }[view["kind"]]
    return tostring(draw(view, for_page(target, 24)), encoding="unicode")


def effect_picture(view: Mapping[str, Any], target: str) -> str:
    """The picture of how the prediction depends on a feature: a line with a band, or for categories points with ranges.

    Parameters
    ----------
    view : mapping
        With an ``effect``, see `bahsic.report.views.add_effects`.
    target : str

    Returns
    -------
    str
        An ``svg`` element.
    """
    effect, name = view["effect"], for_page(target, 24)
    told = f"predicted {name}" if effect["of"] is None else f"predicted share of {for_page(effect['of'], _LONGEST)}"
    numbers = all(isinstance(value, float) for value in effect["at"])
    draw = _effect_line if numbers else _effect_points
    return tostring(draw(view, told), encoding="unicode")


def _effect_line(view: Mapping[str, Any], told: str) -> Element:
    at, effect = view["effect"]["at"], view["effect"]
    svg = _empty(view, 146, told, [])
    x, y = Axis(min(at), max(at), 6, _WIDTH - 6), Axis(min(effect["low"]), max(effect["high"]), 112, 38)
    above, below = ([(x(a), y(b)) for a, b in zip(at, effect[side], strict=True)] for side in ("high", "low"))
    outline = line_through(above) + "L" + line_through(below[::-1])[1:] + "Z"
    SubElement(svg, "path", {"class": "band", "d": outline})
    line = [(x(a), y(b)) for a, b in zip(at, effect["mean"], strict=True)]
    SubElement(svg, "path", {"class": "line", "d": line_through(line)})
    text(svg, "caption", (0, 12), told)
    text(svg, "number", (0, 28), f"{three_digits(y.low)} to {three_digits(y.high)}")
    _label_ends(svg, view, (x.low, x.high), (0, _WIDTH), 132)
    return svg


def _effect_points(view: Mapping[str, Any], told: str) -> Element:
    effect = view["effect"]
    left, names = _names([{"name": name} for name in effect["at"]])
    height = _ROW * len(names) + 36
    svg = _empty(view, height, told, names)
    x = Axis(min(effect["low"]), max(effect["high"]), left + 4, _WIDTH - 8)
    for i, name in enumerate(names):
        middle = f"{_ROW * i + 9}"
        text(svg, "name", (left - 6, _ROW * i + 13), name, anchor="end")
        ends = {"x1": f"{x(effect['low'][i]):g}", "x2": f"{x(effect['high'][i]):g}", "y1": middle, "y2": middle}
        SubElement(svg, "line", {"class": "zero", **ends})
        SubElement(svg, "circle", {"class": "dot", "cx": f"{x(effect['mean'][i]):g}", "cy": middle, "r": "4"})
    bottom = _ROW * len(names) + 14
    text(svg, "number", (left, bottom), three_digits(x.low))
    text(svg, "number", (_WIDTH - 4, bottom), three_digits(x.high), anchor="end")
    text(svg, "caption", (0, bottom + 17), told)
    return svg


def pair_picture(view: Mapping[str, Any], target: str) -> str:
    """The picture of two features in the plane, each point shaded by the target.

    Parameters
    ----------
    view : mapping
        See `bahsic.report.views.pair_view`.
    target : str

    Returns
    -------
    str
        An ``svg`` element.
    """
    across, up = view["axes"]
    name, names = for_page(target, 24), [for_page(one, _LONGEST) for one in view["names"]]
    features = [for_page(axis["feature"], 40) for axis in view["axes"]]
    title = f"{features[0]} and {features[1]}, shaded by {name}"
    svg = picture(_PAIR_WIDTH, _PAIR_HEIGHT + 64, "small", title, "A point for each of some samples.")
    left = 8 + (0 if up["levels"] is None else max(text_width(for_page(one, _LONGEST)) for one in up["levels"]))
    x = _pair_axis(across, left, _PAIR_WIDTH - 8)
    y = _pair_axis(up, _PAIR_HEIGHT, 26)
    shades = _SHADES_OF_TWO if len(names) == 2 else [_shade(i) for i in range(len(names))]
    if "" in names:  # fifths of numbers, from grey to the colour
        shades = shades[::-1]
    points = zip(_jittered(across), _jittered(up), view["shades"], strict=True)
    for a, b, shade in points:
        SubElement(svg, "circle", {"class": shades[shade], "cx": f"{x(a):.1f}", "cy": f"{y(b):.1f}", "r": "3.5"})
    text(svg, "caption", (0, 12), features[1])
    text(svg, "caption", (_PAIR_WIDTH, _PAIR_HEIGHT + 34), features[0], anchor="end")
    for level, words in enumerate(up["levels"] or ()):
        text(svg, "name", (left - 6, y(level) + 4), for_page(words, _LONGEST), anchor="end")
    for level, words in enumerate(across["levels"] or ()):
        text(svg, "name", (x(level), _PAIR_HEIGHT + 18), for_page(words, 10), anchor="middle")
    if across["levels"] is None:
        _label_ends(svg, across, (x.low, x.high), (left, _PAIR_WIDTH), _PAIR_HEIGHT + 18)
    at = 0.0
    for shade, words in zip(shades, names, strict=True):
        if words:
            SubElement(svg, "circle", {"class": shade, "cx": f"{at + 5:g}", "cy": f"{_PAIR_HEIGHT + 52}", "r": "4"})
            text(svg, "name", (at + 14, _PAIR_HEIGHT + 56), f"{name} {words}" if "" in names else words)
            at += 30 + text_width(f"{name} {words}" if "" in names else words)
    return tostring(svg, encoding="unicode")


def _pair_axis(axis: Mapping[str, Any], start: float, end: float) -> Axis:
    if axis["levels"] is not None:
        return Axis(-0.5, len(axis["levels"]) - 0.5, start, end)
    return Axis(min(axis["values"]), max(axis["values"]), start + math.copysign(4, end - start), end)


def _jittered(axis: Mapping[str, Any]) -> list[float]:
    """Values of a feature; those of a category side by side in the order of the samples."""
    if axis["levels"] is None:
        return list(axis["values"])
    return [value + 0.6 * ((0.618 * i) % 1 - 0.5) for i, value in enumerate(axis["values"])]


def _densities(view: Mapping[str, Any], target: str) -> Element:
    """A hill for each class: where its values of the feature lie."""
    rows = view["classes"][:MOST_CLASSES]
    left, names = _names(rows)
    bottom = 14 + _HILL * len(rows)
    svg = _empty(view, bottom + 20, f"Values in each class of {target}", names)
    text(svg, "caption", (0, 11), target)
    for top, row, name in zip(range(14, bottom, _HILL), rows, names, strict=True):
        base = top + _HILL
        x = Axis(0, len(row["heights"]) - 1, left, _WIDTH - 4)
        heights = [(x(i), base - (_HILL - 5) * _unit(height)) for i, height in enumerate(row["heights"])]
        SubElement(svg, "path", {"class": "hill", "d": f"M{left:g} {base}L{line_through(heights)[1:]}V{base}Z"})
        SubElement(
            svg, "line", {"class": "grid", "x1": f"{left:g}", "x2": f"{_WIDTH - 4}", "y1": f"{base}", "y2": f"{base}"}
        )
        text(svg, "name", (left - 6, base - 5), name, anchor="end")
    _label_ends(svg, view, (view["low"], view["high"]), (left, _WIDTH - 4), bottom + 16)
    return svg


def _shares(view: Mapping[str, Any], target: str) -> Element:
    """A bar for each category, divided by the classes; of two classes the second one's share is told in percent."""
    rows, classes = view["categories"][: MOST_CATEGORIES + 2], view["classes"][:MOST_CLASSES]
    two = len(classes) == 2
    left, names = _names(rows)
    right = _WIDTH - (46 if two else 4)
    told = _share_words(target, for_page(classes[-1], _LONGEST)) if two else [f"shares of {target}"]
    legend = [] if two else [for_page(name, _LONGEST) for name in classes]
    height = _ROW * len(rows) + 3 + 17 * (len(told) + math.ceil(len(legend) / 2))
    svg = _empty(view, height, " ".join(told), names)
    x = Axis(0, 1, left, right)
    for top, row, name in zip(range(0, _ROW * len(rows), _ROW), rows, names, strict=True):
        text(svg, "name", (left - 6, top + 13), name, anchor="end")
        _bar(svg, "ground", (x(0), x(1)), top + 2)
        if two:
            _bar(svg, "share", (x(0), x(_unit(row["shares"][1]))), top + 2)
            text(svg, "number", (right + 5, top + 13), f"{100 * _unit(row['shares'][1]):.0f} %")
        else:
            _divided(svg, row["shares"][: len(classes)], x, top + 2)
    bottom = _ROW * len(rows) + 13
    for line, words in enumerate(told):
        text(svg, "caption", (0, bottom + 17 * line), words)
    for i, name in enumerate(legend):
        at = (150 * (i % 2), bottom + 17 * (1 + i // 2))
        square = {"x": f"{at[0]}", "y": f"{at[1] - 10}", "width": "11", "height": "11"}
        SubElement(svg, "rect", {"class": _shade(i), **square})
        text(svg, "name", (at[0] + 16, at[1]), name)
    return svg


def _share_words(target: str, name: str) -> list[str]:
    """The meaning of the bars for two classes, in one line or two."""
    told = f"share of {target} = {name}"
    return [told] if text_width(told) <= _WIDTH else [f"share of {target} =", name]


def _divided(svg: Element, shares: Sequence[float], x: Axis, top: float) -> None:
    start = 0.0
    for i, share in enumerate(shares):
        end = min(1.0, start + _unit(share))
        _bar(svg, _shade(i), (x(start), x(end)), top)
        start = end


def _points(view: Mapping[str, Any], target: str) -> Element:
    """A point for each of some samples."""
    pairs = list(zip(view["x"], view["y"], strict=True))[:MOST_POINTS]
    svg = _empty(view, 170, f"{target} against the feature", [])
    x = Axis(min(a for a, _ in pairs), max(a for a, _ in pairs), 6, _WIDTH - 6)
    y = Axis(min(b for _, b in pairs), max(b for _, b in pairs), 130, 22)
    SubElement(svg, "path", {"class": "points", "d": "".join(f"M{x(a):g} {y(b):g}h0" for a, b in pairs)})
    SubElement(svg, "line", {"class": "zero", "x1": "0", "x2": f"{_WIDTH}", "y1": "138", "y2": "138"})
    text(svg, "caption", (0, 12), f"{target}, {three_digits(y.low)} to {three_digits(y.high)}")
    _label_ends(svg, view, (x.low, x.high), (0, _WIDTH), 154)
    return svg


def _boxes(view: Mapping[str, Any], target: str) -> Element:
    """For each category the middle half of the target, its median, and a line from 5 to 95 percent."""
    rows = view["categories"][: MOST_CATEGORIES + 2]
    left, names = _names(rows)
    svg = _empty(view, _ROW * len(rows) + 36, f"{target} in each category", names)
    x = Axis(min(row["quantiles"][0] for row in rows), max(row["quantiles"][4] for row in rows), left, _WIDTH - 4)
    for top, row, name in zip(range(0, _ROW * len(rows), _ROW), rows, names, strict=True):
        q = [x(value) for value in row["quantiles"]]
        middle = f"{top + 9}"
        text(svg, "name", (left - 6, top + 13), name, anchor="end")
        SubElement(svg, "line", {"class": "zero", "x1": f"{q[0]:g}", "x2": f"{q[4]:g}", "y1": middle, "y2": middle})
        _bar(svg, "share", (q[1], q[3]), top + 2)
        ends = {"x1": f"{q[2]:g}", "x2": f"{q[2]:g}", "y1": f"{top + 2}", "y2": f"{top + 16}"}
        SubElement(svg, "line", {"class": "median", **ends})
    bottom = _ROW * len(rows) + 14
    text(svg, "number", (left, bottom), three_digits(x.low))
    text(svg, "caption", (0, bottom + 17), f"middle half of {target}")
    text(svg, "number", (_WIDTH - 4, bottom), three_digits(x.high), anchor="end")
    return svg


def _empty(view: Mapping[str, Any], height: float, title: str, names: Sequence[str]) -> Element:
    told = f"For {', '.join(names)}." if names else "A point for each of some samples."
    return picture(_WIDTH, height, "small", f"{for_page(view['feature'], 40)}: {title}", told)


def _names(rows: Sequence[Mapping[str, Any]]) -> tuple[float, list[str]]:
    """Names of the rows, and where these start beside them."""
    names = [for_page(row["name"], _LONGEST) for row in rows]
    return 8 + max(map(text_width, names), default=0.0), names


def _bar(svg: Element, kind: str, ends: tuple[float, float], top: float) -> None:
    box = {"x": f"{ends[0]:g}", "y": f"{top:g}", "width": f"{max(0.0, ends[1] - ends[0]):.2f}", "height": "14"}
    SubElement(svg, "rect", {"class": kind, **box})


def _shade(position: int) -> str:
    return f"class{position % _SHADES}"


def _unit(value: Any) -> float:
    return min(1.0, max(0.0, float(value)))


def _label_ends(
    svg: Element, view: Mapping[str, Any], values: tuple[float, float], places: tuple[float, float], y: float
) -> None:
    """Write both ends of the axis of a feature at their places."""
    low, high = _end_labels(*values, date=bool(view.get("date")))
    text(svg, "number", (places[0], y), low)
    text(svg, "number", (places[1], y), high, anchor="end")


def _end_labels(low: float, high: float, *, date: bool) -> tuple[str, str]:
    """Both ends of an axis; columns of dates hold days since 1970, or for durations and times of the day just days."""
    if date and high > _LONGEST_DURATION:
        first, last = (_EPOCH + timedelta(days=value) for value in (low, high))
        return first.date().isoformat(), last.date().isoformat()
    unit = " days" if date else ""
    return f"{three_digits(low)}{unit}", f"{three_digits(high)}{unit}"
