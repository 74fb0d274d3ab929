"""Matplotlib Axes, with names and numbers along them; the only module that imports matplotlib."""

from __future__ import annotations

import math
import reprlib
import textwrap
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from bahsic.names import for_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.ticker import Locator

_SHORTEST_NAME, _LONGEST_NAME = 6, 28
_SHARE_OF_NAMES = 0.4  # greatest length of names, relative to the Axes without names
_LETTER = 5  # points
_CELL = 22  # points, a small number of two decimals and a gap
_EXPONENT = 16  # points, the height of a number above the axis
_LOG_SPAN = 20  # numbers that span more than this factor get a logarithmic axis
_DENSITY = {
    "y": 1.5,
    "x": 2.25,
}  # names in the space of a tick, where matplotlib leaves gaps of one and two letters


def axes_or_new(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the given Axes, or the Axes of a new figure of the given size in inches."""
    try:
        from matplotlib import axes
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError('pictures need matplotlib: pip install "bahsic[plot]"') from error
    if ax is None:
        return plt.subplots(figsize=(width, height), layout="constrained")[1]
    if not isinstance(ax, axes.Axes):
        raise TypeError(f"ax is {reprlib.repr(ax)}; accepted: matplotlib Axes or None")
    return ax


def _points(ax: Axes) -> tuple[float, float]:
    """Return width and height of Axes in points."""
    extent, scale = ax.get_window_extent(), 72 / ax.figure.dpi
    return extent.width * scale, extent.height * scale


def _characters() -> set[int]:
    """Return the code points that the fonts in use can draw."""
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties, findfont, get_font

    paths = []
    for family in rcParams["font.family"]:
        try:
            paths.append(findfont(FontProperties(family=[family]), fallback_to_default=False))
        except ValueError:  # not installed: matplotlib uses the next family
            continue
    return {code for path in paths or [findfont(FontProperties())] for code in get_font(path).get_charmap()}


def write_names(axis: Axis, names: Sequence[Any]) -> None:
    """Write names at 0, 1, ... along an axis, as many and as long as fit."""
    from matplotlib import rcParams

    width, height = _points(axis.axes)
    space = height if axis is axis.axes.xaxis else width
    longest = min(_LONGEST_NAME, max(_SHORTEST_NAME, int(space * _SHARE_OF_NAMES / _LETTER)))
    characters, tex = _characters(), rcParams["text.usetex"]
    labels = {j: for_picture(name, characters, longest, tex=tex) for j, name in enumerate(names)}
    axis.set_major_locator(_name_locator(len(names)))
    axis.set_major_formatter(partial(_label_at, labels))
    axis.set_tick_params(length=0, labelsize="small")


def _label_at(labels: dict[int, str], value: float, _: int | None) -> str:
    return labels.get(round(value), "")


def _name_locator(count: int) -> Locator:
    """Return ticks at 0, ..., count - 1, or at every second, third, ... if the axis is too short when it is drawn."""
    from matplotlib.ticker import Locator

    class NameLocator(Locator):
        def __call__(self) -> Any:
            return self.tick_values(*self.axis.get_view_interval())  # type: ignore[union-attr]

        def tick_values(self, vmin: float, vmax: float) -> Any:
            first, last = max(0, math.ceil(min(vmin, vmax))), min(count - 1, math.floor(max(vmin, vmax)))
            axis: Any = self.axis
            room = max(1, int(axis.get_tick_space() * _DENSITY[axis.axis_name]))
            stride = max(1, math.ceil((last - first + 1) / room))
            return range(math.ceil(first / stride) * stride, last + 1, stride)

        def __reduce__(self) -> Any:  # pickle cannot find a class inside a function
            return _name_locator, (count,), vars(self)

    return NameLocator()


def write_sizes(ax: Axes, sizes: Sequence[int]) -> None:
    """Write whole numbers along x, on a logarithmic scale if they span a large factor."""
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, StrMethodFormatter

    if sizes[0] == sizes[-1]:
        ax.set_xticks([sizes[0]])
        return
    if sizes[-1] <= _LOG_SPAN * sizes[0]:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        return
    ax.set_xscale("log")
    decades, digits = math.log10(sizes[-1] / sizes[0]), len(str(sizes[-1]))
    between = 0.3 * _points(ax)[0] / decades > (digits + 1) * 8  # points from 1 to 2, and for a number
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if between else (1,)))
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:.0f}"))
    ax.xaxis.set_minor_formatter(NullFormatter())


def write_title(ax: Axes, text: str) -> None:
    """Write a small title, wrapped to the width of the Axes."""
    lines = textwrap.wrap(text, max(20, int(_points(ax)[0] / _LETTER)), break_on_hyphens=False)
    # Without y, matplotlib would move the title above an exponent of the axis, and out of the figure.
    ax.set_title("\n".join(lines), fontsize="small", y=1.0, pad=_EXPONENT)


def has_room_in_cells(ax: Axes, count: int) -> bool:
    """Return whether a number of two decimals fits into each cell of a square table."""
    return min(_points(ax)) / count >= _CELL
