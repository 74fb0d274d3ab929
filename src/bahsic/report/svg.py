"""Elements of charts as SVG, and axes: nothing here knows what is drawn."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

# Elements are written, never parsed, and writing them escapes whatever a name contains.
from xml.etree.ElementTree import Element, SubElement, tostring


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


def shown(value: float, form: str = "g") -> str:
    """Return a number with a minus instead of a hyphen, and none before zero."""
    return f"{value:z{form}}".replace("-", "−")  # noqa: RUF001 - a minus


def three_digits(value: float) -> str:
    """Return a number with three significant digits."""
    return shown(float(f"{value:.3g}"))
