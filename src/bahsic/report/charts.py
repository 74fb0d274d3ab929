"""Charts as SVG: axes and elements, the path, and small pictures of the plain data of `bahsic.report.views`."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from itertools import accumulate, count, pairwise
from typing import Any, NamedTuple

# Elements are written, never parsed, and writing them escapes whatever a name contains.
from xml.etree.ElementTree import Element, SubElement, tostring

from bahsic.names import for_page
from bahsic.report.schema import Curve
from bahsic.report.views import MOST_CATEGORIES, MOST_CLASSES, MOST_POINTS, SHADES
from bahsic.report.words import capitalized, plural, r2_text, shown

_PATH_WIDTH, _TOP, _BOTTOM = 600, 24, 256
_FROM_ZERO = 0.6  # share of the highest value below which the lowest one makes the vertical axis start at zero
_LEAST_SPAN = 0.1  # of the vertical axis, so that small differences look small
_WIDTH = 300
_ROW, _BAR = 21, 14  # height of a row, and of a bar in it
_HILL = 32  # height of the row of a density
_MOST_ROWS = MOST_CATEGORIES + 2  # with the missing ones, and all others
_LONGEST = 20  # characters of the name of a class or category
_PAIR_WIDTH, _PAIR_HEIGHT = 420, 260
_LONGEST_DURATION = 3000  # days
_Rows = Sequence[tuple[str, Sequence[float]]]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Axis:
    """A linear map from numbers, or from their logarithms, to coordinates; equal ends are mapped to the middle."""

    low: float
    high: float
    start: float
    stop: float
    logarithmic: bool = False  # then low is positive

    def __call__(self, value: float) -> float:
        """Return the coordinate of a value."""
        low, high, at = (math.log(v) if self.logarithmic else v for v in (self.low, self.high, value))
        share = 0.5 if high == low else (at - low) / (high - low)
        return round(self.start + share * (self.stop - self.start), 2)

    def ticks(self) -> list[float]:
        """Return round numbers between the ends."""
        low, high = self.low, self.high
        if self.logarithmic:
            factors = (1, 2, 5) if high / low < 2000 else (1,)
            powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
            return [tick for p in powers for factor in factors if low <= (tick := factor * 10.0**p) <= high]
        if high == low:
            return [float(low)]
        step = 10.0 ** math.floor(math.log10((high - low) / 4))
        step *= next(factor for factor in (5, 2, 1) if (high - low) / (step * factor) >= 4)
        return [float(f"{step * i:.10g}") for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


def picture(width: float, height: float, kind: str, title: str, description: str) -> Element:
    """Return an empty chart with its title and description."""
    # No ids: a notebook may show the same chart twice.
    svg = Element("svg", {"viewBox": f"0 0 {width:g} {height:g}", "class": f"chart {kind}", "role": "img"})
    SubElement(svg, "title").text = title
    SubElement(svg, "desc").text = description
    return svg


def markup(svg: Element) -> str:
    """Return a chart as text."""
    return tostring(svg, encoding="unicode")


def text(svg: Element, kind: str, at: tuple[float, float], words: str, anchor: str = "start") -> None:
    """Add a line of text."""
    place = {"x": f"{at[0]:.2f}", "y": f"{at[1]:.2f}", "text-anchor": anchor}
    SubElement(svg, "text", {"class": kind, **place}).text = words


def shape(svg: Element, tag: str, kind: str, title: str = "", **attributes: float | str) -> None:
    """Add a shape."""
    written = {name: value if isinstance(value, str) else f"{value:.5g}" for name, value in attributes.items()}
    element = SubElement(svg, tag, {"class": kind, **written})
    if title:
        SubElement(element, "title").text = title


def text_width(words: str) -> float:
    """Return an upper estimate of the width of a text in the size of the charts, 12, for the widest common fonts."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" or letter in "mW@%&…—" for letter in words)
    capitals = sum(letter.isupper() or letter in "w<>=+~_#" for letter in words)
    return 7.8 * len(words) + 5.2 * wide + 2.4 * capitals


def line_through(points: Sequence[tuple[float, float]]) -> str:
    """Return the path through points."""
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in points)


def three_digits(value: float) -> str:
    """Return a number with three significant digits."""
    return shown(float(f"{value:.3g}"))


class Picture(NamedTuple):
    """A chart, with words around it that a page can wrap."""

    caption: str
    svg: str
    legend: Sequence[tuple[str, str]] = ()  # shades and what they mean


def text_of(name: str) -> str:
    """Return the text of a file of the report, such as charts.css, the style sheet of all charts."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def curve_chart(curve: Curve) -> str:
    """Draw a curve with a band of one standard error, the selected number, and for R2 a line at all features."""
    (x, y), sizes, name = curve_axes(curve), curve.sizes, capitalized(curve.quantity.name)
    best = max(range(len(sizes)), key=lambda i: (curve.values[i], -sizes[i]))
    highest = f"highest with {sizes[best]}: {curve.quantity.name} {curve.values[best]:.3g}"
    chosen = f"{curve.selected or 'none'} selected. The table below has the numbers."
    description = f"A line over {sizes[0]} to {sizes[-1]} features, {highest}; {chosen}"
    svg = picture(_PATH_WIDTH, 300, "path", f"{name} against the number of features", description)
    _draw_grid(svg, x, y, name)
    points = [(x(size), y(value)) for size, value in zip(sizes, curve.values, strict=True)]
    if curve.errors is not None:
        limits = list(zip(curve.sizes, curve.values, curve.errors, strict=True))
        outline = [(x(size), y(value + error)) for size, value, error in limits]
        outline += [(x(size), y(value - error)) for size, value, error in reversed(limits)]
        shape(svg, "path", "band", d=f"{line_through(outline)}Z")
    if (whole := curve.value_of_all) is not None:
        shape(svg, "line", "whole", x1=x.start, x2=x.stop, y1=y(whole), y2=y(whole))
        # Smaller sets mostly predict better than nearly all features, so that there is room below the line.
        at = (x.stop, y(whole) + (19 if y(whole) < 230 else -8))
        text(svg, "caption", at, f"all {curve.n_candidates} features: {shown(whole, '.2f')}", anchor="end")
    shape(svg, "path", "line", d=line_through(points))
    for i, at in enumerate(points):
        shape(svg, "circle", "dot", f"{plural(sizes[i], 'feature')}: {point_text(curve, i)}", cx=at[0], cy=at[1], r=2.2)
    if sizes[0] <= curve.selected <= sizes[-1]:  # by a line, which the script moves
        shape(svg, "line", "marker", x1=x(curve.selected), x2=x(curve.selected), y1=_TOP, y2=_BOTTOM)
        if curve.selected_value is not None:
            shape(svg, "circle", "chosen", "selected", cx=x(curve.selected), cy=y(curve.selected_value), r=6)
    return markup(svg)


def point_text(curve: Curve, i: int) -> str:
    """Return the value of a point with its standard error, in words."""
    value, error = curve.values[i], None if curve.errors is None else curve.errors[i]
    if curve.is_r2:
        return f"{curve.quantity.name} {r2_text(value, error)}"
    return f"{curve.quantity.name} {value:.3g}{'' if error is None else f' ± {error:.2g}'}"


def curve_axes(curve: Curve) -> tuple[Axis, Axis]:
    """Return the axes of `curve_chart`; the vertical one starts at zero unless all values are far above it."""
    limits = list(zip(curve.values, curve.errors or [0.0] * len(curve.sizes), strict=True))
    low, high = min(value - error for value, error in limits), max(0.0, *(value + error for value, error in limits))
    if low < _FROM_ZERO * high or high == 0:
        low = min(0.0, low)
    else:
        low = min(low - 0.1 * (high - low), high - _LEAST_SPAN * high)
    x = Axis(curve.sizes[0], curve.sizes[-1], 56, _PATH_WIDTH - 16, logarithmic=curve.is_logarithmic)
    return x, Axis(low, high + 0.06 * (high - low), _BOTTOM, _TOP)


def _draw_grid(svg: Element, x: Axis, y: Axis, caption: str) -> None:
    highest = max(map(abs, y.ticks()))
    unit = 1.0 if highest == 0 or 0.001 < highest < 10_000 else 10.0 ** math.floor(math.log10(highest))
    for value in y.ticks():
        shape(svg, "line", "zero" if value == 0 else "grid", x1=x.start, x2=x.stop, y1=y(value), y2=y(value))
        text(svg, "number", (x.start - 8, y(value) + 4), three_digits(value / unit), anchor="end")
    for value in filter(float.is_integer, x.ticks()):
        text(svg, "number", (x(value), 274), f"{value:g}", anchor="middle")
    text(svg, "caption", ((x.start + x.stop) / 2, 295), "number of features", anchor="middle")
    text(svg, "caption", (0, 14), caption if unit == 1 else f"{caption}, in units of {shown(unit)}")


def feature_picture(view: Mapping[str, Any], target: str) -> Picture:
    """Draw a feature against the target."""
    name, kind = for_page(target, 24), view["kind"]
    if kind == "points":
        xs, ys = view["x"][:MOST_POINTS], view["y"][:MOST_POINTS]
        svg, x, y = _plane(view, name, xs, ys)
        points = zip(map(x, xs), map(y, ys), strict=True)
        shape(svg, "path", "points", d="".join(f"M{a:g} {b:g}h0" for a, b in points))
        return Picture(f"{name}: {three_digits(y.low)} to {three_digits(y.high)}", markup(svg))
    if kind == "boxes":  # the middle half of the target, its median, and a line from 5 to 95 percent
        rows = [(row["name"], row["quantiles"]) for row in view["categories"][:_MOST_ROWS]]
        return _ranges(view, rows, f"median and middle half of {name}")
    return (_densities if kind == "densities" else _shares)(view, name)


def effect_picture(view: Mapping[str, Any], target: str) -> Picture:
    """Draw how the prediction depends on a feature: a line with a band, or for categories points with ranges."""
    effect, name = view["effect"], for_page(target, 24)
    low, mean, high = (effect[part] for part in ("low", "mean", "high"))
    caption, form = f"predicted {name}", three_digits
    if effect["of"] is not None:
        caption, form = f"predicted share of {name} = {for_page(effect['of'], _LONGEST)}", "{:.0%}".format
    if not all(isinstance(value, float) for value in effect["at"]):
        rows = list(zip(effect["at"], zip(low, mean, mean, mean, high, strict=True), strict=True))
        return _ranges(view, rows, caption, form)
    svg, x, y = _plane(view, caption, effect["at"], [*low, *high])
    at = list(map(x, effect["at"]))
    outline = [*zip(at, map(y, high), strict=True), *zip(at[::-1], map(y, low[::-1]), strict=True)]
    shape(svg, "path", "band", d=f"{line_through(outline)}Z")
    shape(svg, "path", "line", d=line_through(list(zip(at, map(y, mean), strict=True))))
    return Picture(f"{caption}: {form(y.low)} to {form(y.high)}", markup(svg))


def pair_picture(view: Mapping[str, Any], target: str) -> Picture:
    """Draw two features in the plane, each point shaded by the target."""
    across, up = view["axes"]
    n_shades = len(view["names"])
    shades = ["class3", "class0"] if n_shades == 2 else [f"class{i % SHADES}" for i in range(n_shades)]
    shades = shades[::-1] if "" in view["names"] else shades  # fifths of numbers, from grey to the colour
    legend = [(s, for_page(name, _LONGEST)) for s, name in zip(shades, view["names"], strict=True) if name]
    features = [for_page(axis["feature"], 40) for axis in view["axes"]]
    caption, title = f"samples, shaded by {for_page(target, 24)}", " and ".join(features)
    svg = picture(_PAIR_WIDTH, _PAIR_HEIGHT + 40, "small", title, f"A point for each of some {caption}.")
    left, levels = _row_names(up["levels"] or ())
    (x, xs), (y, ys) = _placed(across, left, _PAIR_WIDTH - 8, 0.618), _placed(up, _PAIR_HEIGHT, 26, 0.755)
    for a, b, shade in zip(xs, ys, view["shades"], strict=True):
        shape(svg, "circle", shades[shade], cx=a, cy=b, r=3.5)
    text(svg, "caption", (0, 12), features[1])
    text(svg, "caption", (_PAIR_WIDTH, _PAIR_HEIGHT + 34), features[0], anchor="end")
    for level, words in enumerate(levels):
        text(svg, "name", (left - 6, y(level) + 4), words, anchor="end")
    for level, words in enumerate(across["levels"] or ()):
        text(svg, "name", (x(level), _PAIR_HEIGHT + 18), for_page(words, 10), anchor="middle")
    if across["levels"] is None:
        _label_ends(svg, across, x, (left, _PAIR_WIDTH), _PAIR_HEIGHT + 18)
    return Picture(caption, markup(svg), legend)


def _placed(axis: Mapping[str, Any], start: float, end: float, step: float) -> tuple[Axis, list[float]]:
    """Return an axis and the values along it; those of a category side by side, by steps that fill the space evenly."""
    values = axis["values"]
    if axis["levels"] is None:
        x = Axis(min(values), max(values), start + math.copysign(4, end - start), end)
        return x, list(map(x, values))
    x = Axis(-0.5, len(axis["levels"]) - 0.5, start, end)
    return x, [x(value + 0.6 * ((step * i) % 1 - 0.5)) for i, value in enumerate(values)]


def _densities(view: Mapping[str, Any], target: str) -> Picture:
    """Draw a hill for each class: where its values of the feature lie."""
    rows, caption = view["classes"][:MOST_CLASSES], f"values by {target}"
    svg, left = _named_rows(view, [row["name"] for row in rows], caption, _HILL, 20)
    for base, row in zip(count(_HILL, _HILL), rows):
        x = Axis(0, len(row["heights"]) - 1, left, _WIDTH - 4)
        hill = [(x(i), base - (_HILL - 5) * height) for i, height in enumerate(row["heights"])]
        shape(svg, "path", "hill", d=f"M{left:g} {base}L{line_through(hill)[1:]}V{base}Z")
        shape(svg, "line", "grid", x1=left, x2=_WIDTH - 4, y1=base, y2=base)
    _label_ends(svg, view, Axis(view["low"], view["high"], 0, 0), (left, _WIDTH - 4), _HILL * len(rows) + 16)
    return Picture(caption, markup(svg))


def _shares(view: Mapping[str, Any], target: str) -> Picture:
    """Draw a bar for each category, divided by the classes; of two classes the share of the second one is written."""
    rows = view["categories"][:_MOST_ROWS]
    classes = [for_page(name, _LONGEST) for name in view["classes"][:MOST_CLASSES]]
    two = len(classes) == 2
    caption = f"share of {target} = {classes[1]}" if two else f"shares of {target}"
    svg, left = _named_rows(view, [row["name"] for row in rows], caption, _ROW)
    x = Axis(0, 1, left, _WIDTH - (46 if two else 4))
    for top, row in zip(count(0, _ROW), rows):
        _bar(svg, "ground", (x(0), x(1)), top)
        shares = row["shares"][1:2] if two else row["shares"][: len(classes)]
        ends = [0.0, *accumulate(shares, lambda a, b: min(1.0, a + b))]
        for i, (start, end) in enumerate(pairwise(ends)):
            _bar(svg, "share" if two else f"class{i % SHADES}", (x(start), x(end)), top)
        if two:
            text(svg, "number", (x.stop + 5, top + 13), f"{100 * ends[-1]:.0f}%")
    legend = [] if two else [(f"class{i % SHADES}", name) for i, name in enumerate(classes)]
    return Picture(caption, markup(svg), legend)


def _plane(view: Mapping[str, Any], caption: str, xs: list[float], ys: list[float]) -> tuple[Element, Axis, Axis]:
    """Return an empty plane with its axes, and the range of the feature written below."""
    x, y = Axis(min(xs), max(xs), 6, _WIDTH - 6), Axis(min(ys), max(ys), 88, 4)
    svg = _empty(view, 120, f"{caption} against the feature")
    shape(svg, "line", "zero", x1=0, x2=_WIDTH, y1=94, y2=94)
    _label_ends(svg, view, x, (0, _WIDTH), 110)
    return svg, x, y


def _ranges(view: Mapping[str, Any], rows: _Rows, caption: str, form: Callable[[float], str] = three_digits) -> Picture:
    """Draw a row for each category: five values, the outer ones a line, the middle three a bar and a dot."""
    svg, left = _named_rows(view, [name for name, _ in rows], caption, _ROW, 20)
    low, high, bottom = min(row[0] for _, row in rows), max(row[4] for _, row in rows), _ROW * len(rows)
    x = Axis(low, high, left + 4, _WIDTH - 8)
    for top, (_, row) in zip(count(0, _ROW), rows):
        at = [x(value) for value in row]
        shape(svg, "line", "zero", x1=at[0], x2=at[4], y1=top + 9, y2=top + 9)
        if at[3] > at[1]:
            _bar(svg, "share", (at[1], at[3]), top)
        shape(svg, "circle", "median", cx=at[2], cy=top + 9, r=4)
    text(svg, "number", (left, bottom + 14), form(x.low))
    text(svg, "number", (_WIDTH - 4, bottom + 14), form(x.high), anchor="end")
    return Picture(caption, markup(svg))


def _named_rows(
    view: Mapping[str, Any], rows: Sequence[str], title: str, height: float, below: float = 0
) -> tuple[Element, float]:
    """Return a picture with names beside its rows, and where the rows start."""
    left, names = _row_names(rows)
    svg = _empty(view, height * len(rows) + below, title, names)
    for row, name in enumerate(names):
        text(svg, "name", (left - 6, height * row + height / 2 + 3), name, anchor="end")
    return svg, left


def _empty(view: Mapping[str, Any], height: float, title: str, names: Sequence[str] = ()) -> Element:
    description = f"For {', '.join(names)}." if names else "A point for each of some samples."
    return picture(_WIDTH, height, "small", f"{for_page(view['feature'], 40)}: {title}", description)


def _row_names(rows: Sequence[str]) -> tuple[float, list[str]]:
    """Return where rows start beside their names, and the names."""
    names = [for_page(row, _LONGEST) for row in rows]
    return 8 + max(map(text_width, names), default=0.0), names


def _bar(svg: Element, kind: str, ends: tuple[float, float], top: float) -> None:
    shape(svg, "rect", kind, x=ends[0], y=top + 2, width=max(0.0, ends[1] - ends[0]), height=_BAR)


def _label_ends(svg: Element, view: Mapping[str, Any], x: Axis, places: tuple[float, float], y: float) -> None:
    """Write both ends of the axis of a feature; dates are days since 1970, durations and times of the day just days."""
    for value, place, anchor in zip((x.low, x.high), places, ("start", "end"), strict=True):
        words = f"{three_digits(value)}{' days' if view.get('date') else ''}"
        if view.get("date") and x.high > _LONGEST_DURATION:
            words = (_EPOCH + timedelta(days=value)).date().isoformat()
        text(svg, "number", (place, y), words, anchor)
