"""The charts of the report as SVG: pure functions from numbers to markup, coloured by the style sheet."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from bahsic.names import for_page
from bahsic.report.curve import HSIC, Curve
from bahsic.report.svg import Axis, Element, SubElement, dot, line_through, picture, shown, text, text_width, tostring

_WIDTH = 600
_LOGARITHMIC_FROM = 30  # sizes beyond which elimination by fractions wants a logarithmic axis
_FROM_ZERO = 0.6  # share of the highest value below which the lowest one makes the vertical axis start at zero
_LEAST_SPAN = 0.1  # of the vertical axis, so that small differences look small


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
    (56.0, 320.0, 584.0)
    """
    return Axis(min(sizes), max(sizes), 56, _WIDTH - 16, logarithmic=max(sizes) > _LOGARITHMIC_FROM)


def path_chart(points: Sequence[Point], chosen: int, curve: Curve = HSIC, n_all: int | None = None) -> str:
    """Curve against the number of features: a band of one standard error, the chosen number, and all features.

    Parameters
    ----------
    points : sequence of Point, at least one, in increasing order of size
    chosen : int
        The number of features that was selected, marked where the path has it.
    curve : Curve
    n_all : int, optional
        The number of all features; where the path has it, a line at their predictability. HSIC has none: it falls as
        features join that add little, and so is no measure of what a smaller set lacks.

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
    svg = picture(
        _WIDTH,
        300,
        "path",
        f"{curve.caption} against the number of features",
        f"A line over {points[0].size} to {points[-1].size} features, highest with {best.size}: {curve.symbol} "
        f"{best.value:.3g}; {chosen or 'none'} were selected. The table below has the numbers.",
    )
    _grid(svg, x, y, curve.caption)
    with_error = [point for point in points if point.error is not None]
    if with_error:
        upper = [(x(p.size), y(p.value + (p.error or 0))) for p in with_error]
        lower = [(x(p.size), y(p.value - (p.error or 0))) for p in reversed(with_error)]
        SubElement(svg, "path", {"class": "band", "d": f"{line_through([*upper, *lower])}Z"})
    if curve.predicts:
        _mark_all(svg, x, y, next((point for point in points if point.size == n_all and point.size != chosen), None))
    SubElement(svg, "path", {"class": "line", "d": line_through([(x(p.size), y(p.value)) for p in points])})
    for point in points:
        dot(svg, "dot", 2.2, (x(point.size), y(point.value)), _point_title(point, curve))
    _mark_chosen(svg, points, chosen, curve)
    return tostring(svg, encoding="unicode")


def path_axes(points: Sequence[Point]) -> tuple[Axis, Axis]:
    """The axes of `path_chart`, with room for the bands.

    The vertical one starts at zero unless all values are far above it.
    """
    low = min(point.value - (point.error or 0) for point in points)
    high = max(0.0, *(point.value + (point.error or 0) for point in points))
    if low < _FROM_ZERO * high or high == 0:
        low = min(0.0, low)
    else:
        low = min(low - 0.1 * (high - low), high - _LEAST_SPAN * high)
    margin = 0.06 * (high - low)
    return size_axis([point.size for point in points]), Axis(low, high + margin, 256, 24)


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
    labels = [f"{for_page(name, 24)}  {row}" for row, name in enumerate(names, start=1)]
    left = 12 + max(map(text_width, labels))
    side = min(44.0, (_WIDTH - left - 8) / len(names))
    every = max(1, math.ceil(20 / side))  # columns that have a number
    svg = picture(
        _WIDTH,
        side * len(names) + 34,
        "redundancy",
        "Redundancy of the selected features",
        f"{len(names)} by {len(names)} squares: normalised HSIC of each pair.",
    )
    for row, (label, values) in enumerate(zip(labels, table, strict=True)):
        middle = 26 + side * (row + 0.5)
        text(svg, "name", (left - 8, middle + 4), label, anchor="end")
        if row % every == 0:
            text(svg, "number", (left + side * (row + 0.5), 17), str(row + 1), anchor="middle")
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
        kind = "value strong" if strength > 0.65 else "value"
        text(svg, kind, (left + side / 2, top + side / 2 + 4), f"{value:.2f}", anchor="middle")


def _mark_all(svg: Element, x: Axis, y: Axis, whole: Point | None) -> None:
    """A line at the value of all features, with a few words above it."""
    if whole is None:
        return
    at = f"{y(whole.value):g}"
    SubElement(svg, "line", {"class": "whole", "x1": f"{x.start:g}", "x2": f"{x.stop:g}", "y1": at, "y2": at})
    # Smaller sets mostly predict better than nearly all features, so that there is room below the line.
    beside = y(whole.value) + (19 if y(whole.value) < 230 else -8)
    text(svg, "caption", (x.stop, beside), f"all {whole.size} features: {shown(whole.value, '.2f')}", anchor="end")


def _mark_chosen(svg: Element, points: Sequence[Point], chosen: int, curve: Curve) -> None:
    """The chosen number, and a marker that the script moves."""
    x, y = path_axes(points)
    if not points[0].size <= chosen <= points[-1].size:
        return
    at = f"{x(chosen):g}"
    SubElement(svg, "line", {"class": "marker", "x1": at, "x2": at, "y1": "24", "y2": "256"})
    here = next((point for point in points if point.size == chosen), None)
    if here is not None:
        dot(svg, "chosen", 6, (x(here.size), y(here.value)), f"selected: {_point_title(here, curve)}")


def _grid(svg: Element, x: Axis, y: Axis, caption: str) -> None:
    for value in y.ticks():
        at = f"{y(value):g}"
        ends = {"x1": f"{x.start:g}", "x2": f"{x.stop:g}", "y1": at, "y2": at}
        SubElement(svg, "line", {"class": "zero" if value == 0 else "grid", **ends})
        text(svg, "number", (x.start - 8, y(value) + 4), shown(value), anchor="end")
    for value in filter(float.is_integer, x.ticks()):
        text(svg, "number", (x(value), 274), f"{value:g}", anchor="middle")
    text(svg, "caption", ((x.start + x.stop) / 2, 295), "number of features", anchor="middle")
    text(svg, "caption", (0, 14), caption)


def _point_title(point: Point, curve: Curve) -> str:
    error = "" if point.error is None else f" ± {point.error:.2g}"
    return f"{point.size} feature{'' if point.size == 1 else 's'}: {curve.symbol} {point.value:.4g}{error}"
