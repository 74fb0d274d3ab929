"""The chart of the path as SVG, coloured by a style sheet."""

from __future__ import annotations

from importlib.resources import files
from xml.etree.ElementTree import Element

from bahsic.report.curve import Curve
from bahsic.report.svg import Axis, line_through, markup, picture, shape, shown, text
from bahsic.report.words import capitalized, plural

_WIDTH, _TOP, _BOTTOM = 600, 24, 256
_FROM_ZERO = 0.6  # share of the highest value below which the lowest one makes the vertical axis start at zero
_LEAST_SPAN = 0.1  # of the vertical axis, so that small differences look small


def chart_style() -> str:
    """Return the style sheet of the charts, whose colours are variables: ink, muted, paper, accent, rule, other."""
    return files(__package__).joinpath("charts.css").read_text(encoding="utf-8")


def curve_chart(curve: Curve) -> str:
    """Draw a curve with a band of one standard error, the selected number, and for R2 a line at all features."""
    (x, y), quantity, sizes = curve_axes(curve), curve.quantity, curve.sizes
    name = capitalized(quantity.name)
    best = max(range(len(sizes)), key=lambda i: (curve.values[i], -sizes[i]))
    title, number = f"{name} against the number of features", f"{quantity.name} {curve.values[best]:.3g}"
    highest = f"A line over {sizes[0]} to {sizes[-1]} features, highest with {sizes[best]}: {number}"
    chosen = f"{curve.selected or 'none'} selected. The table below has the numbers."
    svg = picture(_WIDTH, 300, "path", title, f"{highest}; {chosen}")
    _draw_grid(svg, x, y, name)
    points = [(x(size), y(value)) for size, value in zip(sizes, curve.values, strict=True)]
    if curve.errors is not None:
        limits = list(zip(points, curve.values, curve.errors, strict=True))
        upper = [(at[0], y(value + error)) for at, value, error in limits]
        lower = [(at[0], y(value - error)) for at, value, error in reversed(limits)]
        shape(svg, "path", "band", d=f"{line_through([*upper, *lower])}Z")
    if quantity.is_r2 and curve.n_candidates in sizes and curve.n_candidates != curve.selected:
        _mark_all(svg, x, y, curve)
    shape(svg, "path", "line", d=line_through(points))
    for i, at in enumerate(points):
        shape(svg, "circle", "dot", _point_title(curve, i), cx=at[0], cy=at[1], r=2.2)
    if sizes[0] <= curve.selected <= sizes[-1]:  # by a line, which the script moves
        shape(svg, "line", "marker", x1=x(curve.selected), x2=x(curve.selected), y1=_TOP, y2=_BOTTOM)
    if curve.selected in sizes:
        i = sizes.index(curve.selected)
        shape(svg, "circle", "chosen", f"selected: {_point_title(curve, i)}", cx=points[i][0], cy=points[i][1], r=6)
    return markup(svg)


def curve_axes(curve: Curve) -> tuple[Axis, Axis]:
    """Return the axes of `curve_chart`; the vertical one starts at zero unless all values are far above it."""
    errors = curve.errors or [0.0] * len(curve.sizes)
    low = min(value - error for value, error in zip(curve.values, errors, strict=True))
    high = max(0.0, *(value + error for value, error in zip(curve.values, errors, strict=True)))
    if low < _FROM_ZERO * high or high == 0:
        low = min(0.0, low)
    else:
        low = min(low - 0.1 * (high - low), high - _LEAST_SPAN * high)
    x = Axis(curve.sizes[0], curve.sizes[-1], 56, _WIDTH - 16, logarithmic=curve.is_logarithmic)
    return x, Axis(low, high + 0.06 * (high - low), _BOTTOM, _TOP)


def _mark_all(svg: Element, x: Axis, y: Axis, curve: Curve) -> None:
    """Draw a line at the R2 of all features, with a few words below it."""
    value = curve.values[curve.sizes.index(curve.n_candidates or 0)]
    shape(svg, "line", "whole", x1=x.start, x2=x.stop, y1=y(value), y2=y(value))
    # Smaller sets mostly predict better than nearly all features, so that there is room below the line.
    beside = y(value) + (19 if y(value) < 230 else -8)
    text(svg, "caption", (x.stop, beside), f"all {curve.n_candidates} features: {shown(value, '.2f')}", anchor="end")


def _draw_grid(svg: Element, x: Axis, y: Axis, caption: str) -> None:
    for value in y.ticks():
        shape(svg, "line", "zero" if value == 0 else "grid", x1=x.start, x2=x.stop, y1=y(value), y2=y(value))
        text(svg, "number", (x.start - 8, y(value) + 4), shown(value), anchor="end")
    for value in filter(float.is_integer, x.ticks()):
        text(svg, "number", (x(value), 274), f"{value:g}", anchor="middle")
    text(svg, "caption", ((x.start + x.stop) / 2, 295), "number of features", anchor="middle")
    text(svg, "caption", (0, 14), caption)


def _point_title(curve: Curve, i: int) -> str:
    error = "" if curve.errors is None else f" ± {curve.errors[i]:.2g}"
    return f"{plural(curve.sizes[i], 'feature')}: {curve.quantity.name} {curve.values[i]:.4g}{error}"
