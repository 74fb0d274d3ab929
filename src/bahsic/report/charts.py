"""The charts of the report as SVG: pure functions from numbers to markup, coloured by the style sheet."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

# Elements are written, never parsed, and writing them escapes whatever a name contains.
from xml.etree.ElementTree import Element, SubElement, tostring

from bahsic.names import for_page
from bahsic.report.curve import HSIC, Curve

_WIDTH = 600
_LETTER = 7.8  # widest mean width of a bold letter, in the units of the charts
_LOGARITHMIC_FROM = 30  # sizes beyond which elimination by fractions wants a logarithmic axis


@dataclass(frozen=True)
class Axis:
    """A linear map from numbers, or from their logarithms, to coordinates.

    Attributes
    ----------
    low, high : float
        Ends of the data; equal ends are mapped to the middle.
    start, stop : float
        Coordinates of the ends.
    logarithmic : bool
        Whether logarithms are mapped; then low is positive.
    """

    low: float
    high: float
    start: float
    stop: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        """The coordinate of a value."""
        low, high, at = (math.log(v) if self.logarithmic else v for v in (self.low, self.high, value))
        share = 0.5 if high == low else (at - low) / (high - low)
        return round(self.start + share * (self.stop - self.start), 2)

    def ticks(self) -> list[float]:
        """Round numbers between the ends."""
        if self.logarithmic:
            return _logarithmic_ticks(self.low, self.high)
        return _linear_ticks(self.low, self.high)


@dataclass(frozen=True)
class Point:
    """Value of a curve at one size, with its standard error if there is one."""

    size: int
    value: float
    error: float | None = None


def chart_style() -> str:
    """The style sheet of the charts, with the colours as variables: ink, muted, paper, accent, rule, other."""
    return files(__package__).joinpath("charts.css").read_text(encoding="utf-8")


def size_axis(sizes: Sequence[int]) -> Axis:
    """The horizontal axis of the path, logarithmic where it has many features.

    Parameters
    ----------
    sizes : sequence of int, at least 1 each

    Returns
    -------
    Axis

    Examples
    --------
    >>> axis = size_axis([1, 2, 13])
    >>> axis(1), axis(7), axis(13)
    (48.0, 316.0, 584.0)
    """
    return Axis(min(sizes), max(sizes), 48, _WIDTH - 16, logarithmic=max(sizes) > _LOGARITHMIC_FROM)


def path_chart(points: Sequence[Point], chosen: int, unit: str = "", curve: Curve = HSIC) -> str:
    """Curve against the number of features, with a band of one standard error and the chosen number.

    Parameters
    ----------
    points : sequence of Point, at least one, in increasing order of size
    chosen : int
        The number of features that was selected, marked where the path has it.
    unit : str
        Written after the name of the curve, such as " × 10⁻⁶".
    curve : Curve

    Returns
    -------
    str
        An ``svg`` element; `path_axes` has the same coordinates.

    Examples
    --------
    >>> path_chart([Point(1, 0.1), Point(2, 0.3), Point(3, 0.2)], 2).count("<circle")
    4
    """
    x, y = path_axes(points)
    best = max(points, key=lambda point: (point.value, -point.size))
    svg = _picture(
        300,
        f"Path: {curve.title} against the number of features",
        f"A line over {points[0].size} to {points[-1].size} features. {curve.name} is highest, {best.value:.4g}{unit}, "
        f"with {best.size}; {chosen} were selected. The table below has the numbers.",
    )
    _grid(svg, x, y, f"{curve.title}{unit}")
    with_error = [point for point in points if point.error is not None]
    if with_error:
        upper = [(x(p.size), y(p.value + (p.error or 0))) for p in with_error]
        lower = [(x(p.size), y(p.value - (p.error or 0))) for p in reversed(with_error)]
        SubElement(svg, "path", {"class": "band", "d": f"{_line([*upper, *lower])}Z"})
    SubElement(svg, "path", {"class": "line", "d": _line([(x(p.size), y(p.value)) for p in points])})
    for point in points:
        _dot(svg, "dot", 2.2, (x(point.size), y(point.value)), _point_title(point, curve))
    _mark_chosen(svg, points, chosen, curve)
    return tostring(svg, encoding="unicode")


def path_axes(points: Sequence[Point]) -> tuple[Axis, Axis]:
    """The axes of `path_chart`, which include zero and the bands."""
    low = min(0.0, *(point.value - (point.error or 0) for point in points))
    high = max(0.0, *(point.value + (point.error or 0) for point in points))
    margin = 0.06 * (high - low)
    return size_axis([point.size for point in points]), Axis(low, high + margin, 256, 24)


def ranking_chart(names: Sequence[str], scores: Sequence[float], selected: Sequence[bool], title: str) -> str:
    """A bar for each feature, filled if the feature is selected.

    Parameters
    ----------
    names : sequence of str
    scores : sequence of float, as long
    selected : sequence of bool, as long
    title : str
        The meaning of the scores.

    Returns
    -------
    str
        An ``svg`` element whose height grows with the number of features.

    Examples
    --------
    >>> ranking_chart(["age", "<b>"], [0.2, -0.1], [True, False], "HSIC alone").count("&lt;b&gt;")
    1
    """
    labels, places = [for_page(name, 30) for name in names], decimals(scores)
    x = bar_axis(labels, scores)
    description = f"Bars of {len(names)} features, the most relevant first; {sum(selected)} of them are selected."
    svg = _picture(22 * len(names) + 8, f"Ranking: {title}", f"{description} The table has the numbers.")
    for row, (label, score, chosen) in enumerate(zip(labels, scores, selected, strict=True)):
        top, ends = 22 * row + 4, sorted((x(0.0), x(score)))
        bar = SubElement(svg, "g", {"class": "feature selected" if chosen else "feature"})
        _text(bar, "name", (x.start - 10, top + 12.5), label, anchor="end")
        box = {"x": f"{ends[0]:g}", "y": str(top), "width": f"{max(1.0, ends[1] - ends[0]):g}", "height": "16"}
        SubElement(bar, "rect", {"class": "bar", **box})
        _text(bar, "number", (ends[1] + 6, top + 12.5), f"{score:.{places}f}".replace("-", "−"))  # noqa: RUF001 - a minus
    zero = f"{x(0.0):g}"
    SubElement(svg, "line", {"class": "zero", "x1": zero, "x2": zero, "y1": "0", "y2": str(22 * len(names) + 8)})
    return tostring(svg, encoding="unicode")


def bar_axis(labels: Sequence[str], scores: Sequence[float]) -> Axis:
    """The horizontal axis of `ranking_chart`, beside labels that fit."""
    longest = max(map(len, labels))
    return Axis(min(0.0, *scores), max(0.0, *scores), 20 + _LETTER * min(30, longest), _WIDTH - 56)


def heat_map(names: Sequence[str], table: Sequence[Sequence[float]]) -> str:
    """A square for each pair of features, coloured by their redundancy.

    Parameters
    ----------
    names : sequence of str
    table : square table of float, from 0 to 1

    Returns
    -------
    str
        An ``svg`` element; the columns have the numbers of the rows.

    Examples
    --------
    >>> heat_map(["age", "size"], [[1.0, 0.5], [0.5, 1.0]]).count("<rect")
    8
    """
    labels = [f"{for_page(name, 26)}  {row}" for row, name in enumerate(names, start=1)]
    left = 16 + _LETTER * max(map(len, labels))
    side = min(44.0, (_WIDTH - left - 8) / len(names))
    every = max(1, math.ceil(2.5 * _LETTER / side))  # columns that have a number
    svg = _picture(
        side * len(names) + 34,
        "Redundancy of the selected features",
        f"{len(names)} by {len(names)} squares: normalised HSIC of each pair. The table has the numbers.",
    )
    for row, (label, values) in enumerate(zip(labels, table, strict=True)):
        middle = 26 + side * (row + 0.5)
        _text(svg, "name", (left - 8, middle + 4), label, anchor="end")
        if row % every == 0:
            _text(svg, "number", (left + side * (row + 0.5), 17), str(row + 1), anchor="middle")
        for column, value in enumerate(values):
            _cell(svg, (left + side * column, middle - side / 2, side), value, f"{row + 1} and {column + 1}")
    return tostring(svg, encoding="unicode")


def decimals(values: Sequence[float]) -> int:
    """Decimal places with which the greatest of the values has four digits.

    Parameters
    ----------
    values : sequence of float

    Returns
    -------
    int
        From 0 to 12: one number for a column makes the points stand below each other.

    Examples
    --------
    >>> decimals([0.0213, -0.1]), decimals([2000.0]), decimals([])
    (4, 0, 4)
    """
    greatest = max(map(abs, values), default=0.0)
    return 4 if greatest == 0 else min(12, max(0, 3 - math.floor(math.log10(greatest))))


def _cell(svg: Element, box: tuple[float, float, float], value: float, pair: str) -> None:
    """A square with a second one of some opacity on it: the style sheet has the colours of both themes."""
    left, top, side = box
    strength = min(1.0, max(0.0, value))
    square = {"x": f"{left:.2f}", "y": f"{top:.2f}", "width": f"{side - 1:.2f}", "height": f"{side - 1:.2f}"}
    SubElement(svg, "rect", {"class": "ground", **square})
    veil = SubElement(svg, "rect", {"class": "heat", "fill-opacity": f"{strength:.3f}", **square})
    SubElement(veil, "title").text = f"{pair}: {value:.3f}"
    if side >= 30:
        kind = "value strong" if strength > 0.5 else "value"
        _text(svg, kind, (left + side / 2, top + side / 2 + 4), f"{value:.2f}", anchor="middle")


def _mark_chosen(svg: Element, points: Sequence[Point], chosen: int, curve: Curve) -> None:
    """The chosen number, and a marker that the script moves."""
    x, y = path_axes(points)
    if not points[0].size <= chosen <= points[-1].size:
        return
    at = f"{x(chosen):g}"
    line = {"class": "marker", "x1": at, "x2": at, "y1": "24", "y2": "256"}
    SubElement(svg, "line", line)
    here = next((point for point in points if point.size == chosen), None)
    if here is not None:
        _dot(svg, "chosen", 6, (x(here.size), y(here.value)), f"selected: {_point_title(here, curve)}")


def _picture(height: float, title: str, description: str) -> Element:
    """An empty chart with its title and description."""
    name = title.split(maxsplit=1)[0].lower().rstrip(":")
    # No ids: a notebook may show the same chart twice.
    svg = Element("svg", {"viewBox": f"0 0 {_WIDTH} {height:g}", "class": f"chart {name}", "role": "img"})
    SubElement(svg, "title").text = title
    SubElement(svg, "desc").text = description
    return svg


def _grid(svg: Element, x: Axis, y: Axis, caption: str) -> None:
    for value in y.ticks():
        at = f"{y(value):g}"
        ends = {"x1": f"{x.start:g}", "x2": f"{x.stop:g}", "y1": at, "y2": at}
        SubElement(svg, "line", {"class": "zero" if value == 0 else "grid", **ends})
        _text(svg, "number", (x.start - 8, y(value) + 4), f"{value:g}".replace("-", "−"), anchor="end")  # noqa: RUF001
    for value in filter(float.is_integer, x.ticks()):
        _text(svg, "number", (x(value), 274), f"{value:g}", anchor="middle")
    _text(svg, "caption", ((x.start + x.stop) / 2, 295), "number of features", anchor="middle")
    _text(svg, "caption", (0, 14), caption)


def _text(svg: Element, kind: str, at: tuple[float, float], text: str, anchor: str = "start") -> None:
    place = {"x": f"{at[0]:.2f}", "y": f"{at[1]:.2f}", "text-anchor": anchor}
    SubElement(svg, "text", {"class": kind, **place}).text = text


def _dot(svg: Element, kind: str, radius: float, at: tuple[float, float], title: str) -> None:
    circle = SubElement(svg, "circle", {"class": kind, "cx": f"{at[0]:g}", "cy": f"{at[1]:g}", "r": f"{radius:g}"})
    SubElement(circle, "title").text = title


def _line(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in points)


def _point_title(point: Point, curve: Curve) -> str:
    error = "" if point.error is None else f" ± {point.error:.2g}"
    return f"{point.size} features: {curve.name} {point.value:.4g}{error}"


def _linear_ticks(low: float, high: float) -> list[float]:
    if high == low:
        return [float(low)]
    step = 10.0 ** math.floor(math.log10((high - low) / 4))
    step *= next(factor for factor in (5, 2, 1) if (high - low) / (step * factor) >= 4)
    return [float(f"{step * i:.10g}") for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _logarithmic_ticks(low: float, high: float) -> list[float]:
    factors = (1, 2, 5) if high / low < 2000 else (1,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [tick for p in powers for factor in factors if low <= (tick := factor * 10.0**p) <= high]
