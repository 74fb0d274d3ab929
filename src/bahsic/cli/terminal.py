"""Results as text: headline, table of features, curve and columns, safe and aligned whatever the names are."""

from __future__ import annotations

import os
import shutil
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from textwrap import wrap
from typing import Any, TextIO

from bahsic.names import for_option, for_shell, for_terminal, target_name
from bahsic.options import flag_of
from bahsic.report import words
from bahsic.report.schema import Curve, candidates, checked, curve_of
from bahsic.report.words import feature_columns, has_worth

_LINES = 25  # of the whole text, unless --top says how long the table is
_FEWEST_ROWS = 3
_LEVELS, _ASCII_LEVELS = " ▁▂▃▄▅▆▇█", " .:#"
_PLOT_HEIGHT, _WIDEST_BAR = 3, 3
_WIDEST_NAME, _WIDEST_TEXT = 60, 24
_MOST_ADDITIONS = 20

_WORTH = "worth: R2 lost without the feature, or gained with it; alone: R2 by itself"

_BOLD, _GREEN, _DIM = "1", "32", "2"
_LEFT_TO_RIGHT_MARK = "\u200e"


@dataclass(frozen=True)
class Style:
    """Capabilities of the place where text goes."""

    width: int = 80
    encoding: str | None = "utf-8"
    colour: bool = False

    def painted(self, text: str, colour: str) -> str:
        """Return the text in a colour, if there are any."""
        return f"\x1b[{colour}m{text}\x1b[0m" if self.colour else text


def style_of(stream: TextIO) -> Style:
    """Return the style of a stream: colours on a terminal only, and not where NO_COLOR is set."""
    colour = stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Style(max(40, shutil.get_terminal_size().columns), stream.encoding, colour)


def selection_text(result: Mapping[str, Any], style: Style, top: int | None = None) -> str:
    """Return the text of a result of `bahsic select`, in at most 25 lines unless ``top`` asks for more (0: all)."""
    result = checked(result)
    leaks, curve = result["leaks"], curve_of(result)
    remedy = f"; --drop {for_shell(for_option(leaks))} excludes {'it' if len(leaks) == 1 else 'them'}"
    why = words.number_words(result, curve) if result["predictability"] is not None else ""
    headline = words.headline_of(result, target_name(result["input"].get("target"))).ascii
    evidence = " ".join(filter(None, [words.kept_words(result["kept"]), why, *words.evidence_lines(result)]))
    before = paragraphs([*words.warning_lines(result, remedy), headline, evidence.replace("R²", "R2")], style)
    additions = "" if curve is None else _additions(result, curve)
    columns = " ".join(words.column_lines(result["columns"], result["input"].get("n_samples", 0)))
    blocks = words.block_words(result).removesuffix(".")
    blocks = f"{blocks} ({flag_of('block_size')} none: all at once)." if blocks else ""
    notes = paragraphs([additions, columns, words.method_words(result), blocks], style)
    rows = candidates(result)

    def space_beside(plot: str) -> int:
        if top is not None:
            return top or len(rows)
        space = _LINES - 1 - has_worth(result) - sum(part.count("\n") + 1 for part in (before, plot, notes) if part)
        return space if len(rows) <= space else max(_FEWEST_ROWS, space - 1)

    # A lower plot if there is no space for all selected features.
    plots = [curve_text(curve, style, height) for height in range(_PLOT_HEIGHT, 0, -1)] if curve is not None else [""]
    after = next((plot for plot in plots if space_beside(plot) >= result["n_features"]), plots[-1])
    table = ranking_table(result, rows, style, space_beside(after))
    return "\n".join(part for part in (before, table, after, notes) if part)


def ranking_table(result: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], style: Style, top: int = 20) -> str:
    """Return aligned lines of rank, feature, what is known of it and, where features were selected, a mark."""
    shown = list(rows[:top] if top else rows)
    marked, mark = any(row.get("selected") for row in rows), "✓" if has_blocks(style.encoding) else "*"
    columns = [column for column in feature_columns(result, shown) if column.heading not in ("group", "resamples, %")]
    cells = [_aligned([c.heading, *c.cells], style, right=bool(c.values)) for c in columns]
    ranks = _aligned(["rank", *(str(row["rank"]) for row in shown)], style, right=True)
    digits, names = len(ranks[0]), ["feature", *(row["feature"] for row in shown)]
    beside = digits + (12 if marked else 2) + sum(2 + display_width(column[0]) for column in cells)
    width = max(10, min(_longest(names, style), _WIDEST_NAME, style.width - beside))
    features = [fitted(name, width, style.encoding) for name in names]
    heading, *table = ("  ".join(line) for line in zip(ranks, features, *cells, strict=True))
    lines = [style.painted(heading + "  selected" if marked else heading.rstrip(), _BOLD)]
    for row, line in zip(shown, table, strict=True):
        lines.append(style.painted(f"{line}  {mark}", _GREEN) if row.get("selected") else line.rstrip())
    if len(shown) < len(rows):
        n_selected = sum(bool(row.get("selected")) for row in rows[len(shown) :])
        more = f"{len(rows) - len(shown)} more" + (f", {n_selected} of them selected" if n_selected else "")
        lines.append(style.painted(f"{'...':>{digits}}  {more}; --top 0 shows all", _DIM))
    lines += [style.painted(f"{'':{digits}}  {_WORTH}", _DIM)] if has_worth(result) else []
    return "\n".join(lines) + "\n"


def _longest(cells: Iterable[str], style: Style) -> int:
    return max(display_width(for_terminal(cell[:200], style.encoding)) for cell in cells)


def _aligned(cells: Sequence[str], style: Style, *, right: bool) -> list[str]:
    """Return the cells of a column, numbers on the right and text on the left."""
    if right:
        width = max(map(len, cells))
        return [f"{words.ascii_text(cell):>{width}}" for cell in cells]
    width = min(_WIDEST_TEXT, _longest(cells, style))
    return [fitted(cell, width, style.encoding) for cell in cells]


def curve_text(curve: Curve, style: Style, height: int = _PLOT_HEIGHT) -> str:
    """Return a curve as a plot, a column of blocks for each step; empty for one step, or without a value above zero."""
    width = style.width - 26
    curve = curve.thinned(width)
    n, highest = len(curve.sizes), max(curve.values)
    if n < 2 or highest <= 0:
        return ""
    levels, (edge, corner, line) = (_LEVELS, "│└─") if has_blocks(style.encoding) else (_ASCII_LEVELS, "|+-")
    wide, full = max(1, min(_WIDEST_BAR, width // n)), len(levels) - 1
    parts = [round(max(0.0, value / highest) * height * full) for value in curve.values]
    label = f"{words.capitalized(words.ascii_text(curve.quantity.name))} {highest:.3g}"
    lines = []
    for row in range(height - 1, -1, -1):
        blocks = "".join(wide * levels[min(full, max(0, part - row * full))] for part in parts)
        lines.append(f"{label if row == height - 1 else '':{len(label)}} {edge}{blocks}".rstrip())
    lines.append(f"{0:>{len(label)}} {corner}{line * wide * n}")
    return "\n".join([*lines, f"{'':{len(label) + 2}}{_axis(curve, wide, style)}", ""])


def _axis(curve: Curve, wide: int, style: Style) -> str:
    """Return the line below a plot: the first size, the last one, and a pointer at the selected one."""
    few, many = f"{curve.sizes[0]}", f"{curve.sizes[-1]} features"
    if not curve.selected:
        return few + " " * max(1, wide * len(curve.sizes) - len(few) - len(many)) + many
    at = wide * min(range(len(curve.sizes)), key=lambda i: abs(curve.sizes[i] - curve.selected))
    pointer = f"^ {curve.selected}"
    first = f"{few:{at}}" if at >= len(few) else " " * at
    rest = " " * max(2, wide * len(curve.sizes) - at - len(pointer) - len(many)) + many
    return f"{first}{style.painted(pointer, _GREEN)}{rest if curve.selected != curve.sizes[-1] else ' features'}"


def _additions(result: Mapping[str, Any], curve: Curve) -> str:
    """Return a sentence on the gain of each step of a forward search, up to the selected number; empty without R2."""
    steps = [step for step in result["path"] if step["n_features"] <= result["n_features"]]
    forward = result["parameters"].get("method") == "forward"
    if not forward or not curve.is_r2 or not 1 <= len(steps) <= _MOST_ADDITIONS:
        return ""
    values = [step["predictability"] for step in steps]
    gains = ["", *(f", {round(after - before, 3) + 0.0:+.3f}" for before, after in pairwise(values))]
    added = [f"{', '.join(s['features'])} ({v:.3f}{g})" for s, v, g in zip(steps, values, gains, strict=True)]
    kept = result["parameters"].get("keep")
    beside = f" to the {words.plural(len(kept), 'kept feature').removeprefix('1 ')}" if kept else ""
    return f"Added{beside}, with {words.ascii_text(curve.quantity.name)} after each step: {', '.join(added)}."


def paragraphs(lines: Sequence[str], style: Style) -> str:
    """Return lines, wrapped to the width of the terminal; empty ones are left out."""
    wrapped = [part for line in lines for part in wrap(for_terminal(line, style.encoding), style.width)]
    return "".join(f"{part}\n" for part in wrapped)


def display_width(text: str) -> int:
    """Return the number of columns of a terminal that printable text takes."""
    return sum(map(_columns, text))


def _columns(character: str) -> int:
    if character == _LEFT_TO_RIGHT_MARK or unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def fitted(name: object, width: int, encoding: str | None = "utf-8") -> str:
    """Return a name as a cell of a table: printable, cut in the middle if it is too long, padded with spaces."""
    name = str(name)
    # Only the ends are looked at: a name may be very long.
    ends = name if len(name) <= 8 * width else name[: 4 * width] + name[-4 * width :]
    text = for_terminal(ends, encoding)
    if len(ends) < len(name) or display_width(text) > width:
        ellipsis = "…" if _has(encoding, "…") else "..."
        space = width - len(ellipsis)
        text = _beginning(text, space - space // 2) + ellipsis + _beginning(text[::-1], space // 2)[::-1]
    filling = " " * (width - display_width(text))
    # Terminals attach numbers to a right-to-left name before them.
    turned = any(unicodedata.bidirectional(character) in ("R", "AL") for character in text)
    return text + (_LEFT_TO_RIGHT_MARK if turned and _has(encoding, _LEFT_TO_RIGHT_MARK) else "") + filling


def _beginning(text: str, width: int) -> str:
    return text[: bisect_right(list(accumulate(map(_columns, text))), width)]


def _has(encoding: str | None, characters: str) -> bool:
    """Return whether an encoding has these characters."""
    try:
        characters.encode(encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def has_blocks(encoding: str | None) -> bool:
    """Return whether a terminal of that encoding can show the characters of plots and bars."""
    return _has(encoding, "▁▂▃▄▅▆▇█░│└─✓")
