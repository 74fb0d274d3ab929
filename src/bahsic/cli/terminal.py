"""Results as text: the criterion, a ranked table, the path as a small plot, the decision and its reason."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from textwrap import wrap
from typing import Any, TextIO

from bahsic.cli.text import display_width, fitted, has_blocks
from bahsic.names import for_terminal
from bahsic.options import flag_of
from bahsic.report.curve import PREDICTABILITY, block_words, criterion_words, curve_of
from bahsic.report.roles import n_used, role_lines, used_rows

_LEVELS = " ▁▂▃▄▅▆▇█"
_ASCII_LEVELS = " .:#"
_PLOT_HEIGHT = 5
_WIDEST_COLUMN = 3
_WIDEST_NAME = 60
_MOST_ADDITIONS = 20

# Meaning of the kernels on the target.
_KINDS = {"binary": "two classes", "multiclass": "classes", "regression": "numbers"}

_RELEVANCE = "relevance: R2 lost without a selected feature, or added by another one"

_BOLD, _GREEN, _DIM = "1", "32", "2"


@dataclass(frozen=True)
class Style:
    """Capabilities of the place where text goes.

    Attributes
    ----------
    width : int
        Columns.
    encoding : str or None
    colour : bool
    """

    width: int = 80
    encoding: str | None = "utf-8"
    colour: bool = False

    def painted(self, text: str, colour: str) -> str:
        """The text in a colour, if there are any."""
        return f"\x1b[{colour}m{text}\x1b[0m" if self.colour else text


def style_of(stream: TextIO) -> Style:
    """The style of a stream: colours on a terminal only, and not where NO_COLOR is set."""
    colour = stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Style(max(40, shutil.get_terminal_size().columns), stream.encoding, colour)


def selection_text(result: Mapping[str, Any], style: Style, top: int = 20) -> str:
    """The text of a result of `bahsic select`.

    Parameters
    ----------
    result : mapping
        See `bahsic.report.result`.
    style : Style
    top : int, default=20
        Number of features in the table; 0 means all.

    Returns
    -------
    str
        Lines.
    """
    predicts = result["criterion"] == "prediction"
    parts = [
        paragraphs([*_columns(result), criterion_words(result), *_blocks(result)], style),
        ranking_table(used_rows(result), style, top, relevance=predicts),
        path_plot(result["path"], result["n_features"], style),
        _additions(result, style),
        _decision(result, style),
    ]
    return "\n".join(part for part in parts if part)


def _columns(result: Mapping[str, Any]) -> list[str]:
    """Lines on what was done with the columns."""
    return role_lines(result.get("columns") or [], result["input"].get("n_samples", 0))


def _blocks(result: Mapping[str, Any]) -> list[str]:
    """A line on the blocks of samples, and how to have others, if there were any."""
    told = block_words(result)
    return [f"{told.removesuffix('.')} ({flag_of('block_size')} none: all at once)."] if told else []


def ranking_table(ranking: Sequence[Mapping[str, Any]], style: Style, top: int = 20, *, relevance: bool = False) -> str:
    """Aligned lines of rank, feature, HSIC alone, p-value and, where features were selected, a mark.

    Parameters
    ----------
    ranking : sequence of mappings
        With feature, rank, score, pvalue and perhaps selected.
    style : Style
    top : int, default=20
        Number of lines; 0 means all.
    relevance : bool, default=False
        Whether to add the relevance, of the criterion "prediction".

    Returns
    -------
    str
    """
    shown = list(ranking[:top] if top else ranking)
    digits = max(4, len(str(len(shown))))
    beside = digits + 34 + (11 if relevance else 0)
    width = _name_width([entry["feature"] for entry in shown], style, beside)
    heading = f"{'rank':>{digits}}  {'feature':{width}}  {'HSIC alone':>10}  {'p-value':>8}"
    heading += "  relevance" if relevance else ""
    marked = any("selected" in entry for entry in shown)
    lines = [style.painted(heading + ("  selected" if marked else ""), _BOLD)]
    lines += [_table_line(entry, style, digits, width, relevance=relevance) for entry in shown]
    lines += [style.painted(_rest(ranking[len(shown) :], digits), _DIM)] if len(shown) < len(ranking) else []
    note = [style.painted(f"{'':{digits}}  {_RELEVANCE}", _DIM)] if relevance else []
    return "\n".join(lines + note) + "\n"


def _name_width(names: Sequence[str], style: Style, beside: int) -> int:
    """Columns for names: as many as they need, if the terminal has them beside the other columns."""
    longest = max((display_width(for_terminal(name[:200], style.encoding)) for name in names), default=0)
    return max(10, min(longest, _WIDEST_NAME, style.width - beside))


def _table_line(entry: Mapping[str, Any], style: Style, digits: int, width: int, *, relevance: bool) -> str:
    name = fitted(entry["feature"], width, style.encoding)
    line = f"{entry['rank']:>{digits}}  {name}  {entry['score']:>10.4g}  {entry['pvalue']:>8.2g}"
    line += f"  {entry['relevance']:>9.4f}" if relevance else ""
    if not entry.get("selected"):
        return line
    return style.painted(f"{line}  {'✓' if has_blocks(style.encoding) else '*'}", _GREEN)


def _rest(entries: Sequence[Mapping[str, Any]], digits: int) -> str:
    selected = sum(bool(entry.get("selected")) for entry in entries)
    told = f", {selected} of them selected" if selected else ""
    return f"{'...':>{digits}}  {len(entries)} more{told}; --top 0 shows all"


def path_plot(path: Sequence[Mapping[str, Any]], chosen: int, style: Style) -> str:
    """Predictability or HSIC against the number of features, a column of blocks for each step of the path.

    Parameters
    ----------
    path : sequence of mappings
        With n_features and the entries of a curve, see `bahsic.report.curve`.
    chosen : int
        The number of features that was selected; its column is marked.
    style : Style

    Returns
    -------
    str
        Empty where the path has fewer than two steps. Values below zero have no block.
    """
    steps = sorted(path, key=lambda step: step["n_features"])
    curve = curve_of(path)
    if len(steps) < 2 or max(step[curve.key] for step in steps) <= 0:
        return ""
    at = min(range(len(steps)), key=lambda i: abs(steps[i]["n_features"] - chosen))
    width = style.width - 16
    steps, at = _thinned(steps, at, width)
    wide = max(1, min(_WIDEST_COLUMN, width // len(steps)))
    blocks = has_blocks(style.encoding)
    edge, corner, line = ("│", "└", "─") if blocks else ("|", "+", "-")
    values = [step[curve.key] for step in steps for _ in range(wide)]
    highest = max(values)
    rows = _columns_of_blocks([value / highest for value in values], _LEVELS if blocks else _ASCII_LEVELS)
    labels = [f"{highest:.3g}", *[""] * (_PLOT_HEIGHT - 1)]
    plot = [f"{label:>10} {edge}{row}".rstrip() for label, row in zip(labels, rows, strict=True)]
    few, many = f"{steps[0]['n_features']}", f"{steps[-1]['n_features']} features"
    gap = " " * max(1, wide * len(steps) - len(few) - len(many))
    axis = [f"{0:>10} {corner}{line * wide * len(steps)}", f"{'':12}{few}{gap}{many}"]
    pointer = style.painted(f"{'':12}{' ' * wide * at}^ {chosen}", _GREEN)
    return "\n".join([style.painted(f"{curve.title} along the path", _BOLD), *plot, axis[0], pointer, axis[1], ""])


def _thinned(steps: list[Any], at: int, width: int) -> tuple[list[Any], int]:
    """As many steps as there are columns, among them the marked one, and its position."""
    if len(steps) <= width:
        return steps, at
    kept = sorted({round(i * (len(steps) - 1) / (width - 2)) for i in range(width - 1)} | {at})
    return [steps[i] for i in kept], kept.index(at)


def _columns_of_blocks(heights: Sequence[float], levels: str) -> list[str]:
    """Rows of characters, the highest first, for heights up to 1."""
    full = len(levels) - 1
    eighths = [round(max(0.0, height) * _PLOT_HEIGHT * full) for height in heights]
    rows = range(_PLOT_HEIGHT - 1, -1, -1)
    return ["".join(levels[min(full, max(0, height - row * full))] for height in eighths) for row in rows]


def _additions(result: Mapping[str, Any], style: Style) -> str:
    """Lines on the gain of each step of a forward search, up to the selected number; empty without R2."""
    forward = result["parameters"].get("method") == "forward" and curve_of(result["path"]) is PREDICTABILITY
    steps = [step for step in result["path"] if step["n_features"] <= result["n_features"]] if forward else []
    if not 1 <= len(steps) <= _MOST_ADDITIONS:
        return ""
    kept = len(result["parameters"].get("keep") or [])
    reached = [step[PREDICTABILITY.key] for step in steps]
    gains = ["", *(f", {after - before:+.3f}" for before, after in pairwise(reached))]
    told = [
        f"{', '.join(step['features'])} (R2 {value:.3f}{gain})"
        for step, value, gain in zip(steps, reached, gains, strict=True)
    ]
    beside = f" to the {kept} that {'is' if kept == 1 else 'are'} kept" if kept else ""
    return paragraphs([f"Added{beside}, in this order: {', '.join(told)}."], style)


def _decision(result: Mapping[str, Any], style: Style) -> str:
    """The decision and its reason, in a sentence or two."""
    total, reason = n_used(result), result["reason"]
    kind = _KINDS.get(result["input"]["target_kernel"], result["input"]["target_kernel"])
    counted = f"{result['n_features']} of {total} features"
    told = reason.startswith(counted)
    lines = [f"{reason}; target: {kind}." if told else f"Selected {counted} for a target of {kind}: {reason}."]
    if result["test"] is not None:
        splits = len(result["test"]["split_pvalues"])
        lines.append(
            f"Dependence in samples that did not select: p = {result['test']['pvalue']:.2g} ({splits} splits)."
        )
    if result.get("stability"):
        lines.append(_stability(result))
    return paragraphs(lines, style)


def _stability(result: Mapping[str, Any]) -> str:
    """Sentence with the share of random halves in which each selected feature is selected again."""
    stability, selected = result["stability"], result["selected"][:_MOST_ADDITIONS]
    frequency = {found["feature"]: found["frequency"] for found in stability["features"]}
    told = [f"{name} {100 * frequency.get(name, 0.0):.0f}%" for name in selected]
    more = f" and {len(result['selected']) - len(selected)} more" if len(result["selected"]) > len(selected) else ""
    return f"Selected again, in {stability['n_resamples']} random halves of the samples: {', '.join(told)}{more}."


def paragraphs(lines: Sequence[str], style: Style) -> str:
    """Lines, wrapped to the width of the terminal."""
    return "".join(
        f"{wrapped}\n" for line in lines for wrapped in wrap(for_terminal(line, style.encoding), style.width)
    )
