"""Results as text: the headline, a ranked table, the path as a small plot, the decision and its reason."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from textwrap import wrap
from typing import Any, TextIO

from bahsic.cli.text import display_width, fitted, has_blocks
from bahsic.names import for_option, for_shell, for_terminal, target_name
from bahsic.options import flag_of
from bahsic.report.curve import block_words, criterion_words, curve_of
from bahsic.report.drawable import LEAST_TOGETHER
from bahsic.report.features import DASH, LEVEL, in_folds, percent_of, probability, relevance_words
from bahsic.report.headline import findings, headline_of, knee_of, leak_words, outcome_of_result
from bahsic.report.roles import role_lines, used_rows
from bahsic.report.svg import capitalized

_LEVELS = " ▁▂▃▄▅▆▇█"
_ASCII_LEVELS = " .:#"
_PLOT_HEIGHT = 5
_WIDEST_COLUMN = 3
_WIDEST_NAME = 60
_MOST_ADDITIONS = 20

# Meaning of the kernels on the target.
_KINDS = {
    "binary": "two classes",
    "multiclass": "classes",
    "regression": "numbers",
    "multioutput": "several outputs",
    "survival": "survival times",
}

_WORTH = "worth: R2 that would be lost without the feature, or added by it; alone: R2 of it alone"

_ASCII = str.maketrans({DASH: "-", "−": "-"})  # noqa: RUF001 - a minus
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
    found = findings(result)
    rows = used_rows(found)
    relevance = result["criterion"] == "prediction" and found is result
    parts = [
        paragraphs(
            [*_leaks(result), _headline(result), *_columns(result), criterion_words(result), *_blocks(result)], style
        ),
        ranking_table(rows, style, top, relevance=relevance, n_folds=result.get("n_folds")),
        path_plot(result["path"], found["n_features"], style),
        _additions(found, style),
        _decision(result, found, style),
    ]
    return "\n".join(part for part in parts if part)


def _headline(result: Mapping[str, Any]) -> str:
    outcome = outcome_of_result(result)
    knee = knee_of(outcome, result["path"])
    return headline_of(outcome, target_name(result["input"].get("target"))).ascii + (f"; {knee}" if knee else "")


def _leaks(result: Mapping[str, Any]) -> list[str]:
    """A line on features that look like leaks, and how to leave them out."""
    leaks = result.get("leaks")
    it = "it" if leaks and len(leaks) == 1 else "them"
    return [f"{leak_words(leaks)}; --drop {for_shell(for_option(leaks))} leaves {it} out."] if leaks else []


def _columns(result: Mapping[str, Any]) -> list[str]:
    """Lines on what was done with the columns."""
    return role_lines(result.get("columns") or [], result["input"].get("n_samples", 0))


def _blocks(result: Mapping[str, Any]) -> list[str]:
    """A line on the blocks of samples, and how to have others, if there were any."""
    told = block_words(result)
    return [f"{told.removesuffix('.')} ({flag_of('block_size')} none: all at once)."] if told else []


def ranking_table(
    ranking: Sequence[Mapping[str, Any]],
    style: Style,
    top: int = 20,
    *,
    relevance: bool = False,
    n_folds: int | None = None,
) -> str:
    """Aligned lines of rank, feature, what people ask of it and, where features were selected, a mark.

    With the criterion "prediction": its worth, and R2 with it alone; otherwise HSIC alone in percent of the best, and
    the p-value of that.

    Parameters
    ----------
    ranking : sequence of mappings
        With feature, rank, score, pvalue and perhaps selected.
    style : Style
    top : int, default=20
        Number of lines; 0 means all.
    relevance : bool, default=False
        Whether the entries have a worth, of the criterion "prediction".
    n_folds : int, optional
        Number of folds; if the entries have a frequency, the table tells in how many of them each was chosen.

    Returns
    -------
    str
    """
    shown = list(ranking[:top] if top else ranking)
    digits = max(4, len(str(len(shown))))
    more = _worths(shown) if relevance else _dependences(shown, ranking)
    more |= {"folds": folds} if any(folds := [in_folds(entry, n_folds) for entry in shown]) else {}
    needed = ["" if not entry.get("selected") else probability(entry.get("needed")) for entry in shown]
    more |= {"needed, p": needed} if any(entry.get("needed") is not None for entry in shown) else {}
    cells = [_aligned([heading, *column]) for heading, column in more.items()]
    beside = digits + 12 + sum(2 + len(column[0]) for column in cells)
    width = _name_width([entry["feature"] for entry in shown], style, beside)
    heading = f"{'rank':>{digits}}  {'feature':{width}}"
    heading += "".join(f"  {column[0]}" for column in cells)
    marked = any(entry.get("selected") for entry in ranking)
    lines = [style.painted(heading + ("  selected" if marked else ""), _BOLD)]
    for position, entry in enumerate(shown, start=1):
        beside_it = "".join(f"  {column[position]}" for column in cells)
        lines.append(_table_line(entry, style, digits, width, beside_it))
    lines += [style.painted(_rest(ranking[len(shown) :], digits), _DIM)] if len(shown) < len(ranking) else []
    note = [style.painted(f"{'':{digits}}  {_WORTH}", _DIM)] if relevance else []
    return "\n".join(lines + note) + "\n"


def _worths(shown: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    alone = ["" if entry.get("alone") is None else f"{entry['alone']:.3f}" for entry in shown]
    worth = [relevance_words(entry).translate(_ASCII) for entry in shown]
    return {"worth": worth, **({"alone": alone} if any(alone) else {})}


def _dependences(shown: Sequence[Mapping[str, Any]], ranking: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    best = max((entry["score"] for entry in ranking), default=0.0)
    return {
        "HSIC alone, %": [f"{percent_of(entry['score'], best):.0f}" for entry in shown],
        "p-value": [probability(entry["pvalue"]) for entry in shown],
    }


def _name_width(names: Sequence[str], style: Style, beside: int) -> int:
    """Columns for names: as many as they need, if the terminal has them beside the other columns."""
    longest = max((display_width(for_terminal(name[:200], style.encoding)) for name in names), default=0)
    return max(10, min(longest, _WIDEST_NAME, style.width - beside))


def _aligned(cells: Sequence[str]) -> list[str]:
    """Cells of a column, filled up on the left to the width of the widest."""
    width = max(map(len, cells))
    return [f"{cell:>{width}}" for cell in cells]


def _table_line(entry: Mapping[str, Any], style: Style, digits: int, width: int, more: str) -> str:
    name = fitted(entry["feature"], width, style.encoding)
    line = f"{entry['rank']:>{digits}}  {name}{more}"
    if not entry.get("selected"):
        return line
    return style.painted(f"{line}  {'✓' if has_blocks(style.encoding) else '*'}", _GREEN)


def _rest(entries: Sequence[Mapping[str, Any]], digits: int) -> str:
    selected = sum(bool(entry.get("selected")) for entry in entries)
    told = f", {selected} of them selected" if selected else ""
    return f"{'...':>{digits}}  {len(entries)} more{told}; --top 0 shows all"


def path_plot(path: Sequence[Mapping[str, Any]], chosen: int, style: Style) -> str:
    """Held-out R2 or HSIC against the number of features, a column of blocks for each step of the path.

    Parameters
    ----------
    path : sequence of mappings
        With n_features and the entries of a curve, see `bahsic.report.curve`.
    chosen : int
        The number of features that was selected; its column is marked. Zero marks none.
    style : Style

    Returns
    -------
    str
        Empty where the path has fewer than two steps. Values below zero have no block.
    """
    steps = sorted(path, key=lambda step: step["n_features"])
    curve = curve_of(path)
    if len(steps) < 2 or curve is None or max(step[curve.key] for step in steps) <= 0:
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
    pointer = [style.painted(f"{'':12}{' ' * wide * at}^ {chosen}", _GREEN)] if chosen else []
    title = style.painted(f"{capitalized(curve.name)} along the path", _BOLD)
    return "\n".join([title, *plot, axis[0], *pointer, axis[1], ""])


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
    forward, curve = result["parameters"].get("method") == "forward", curve_of(result["path"])
    steps = [step for step in result["path"] if step["n_features"] <= result["n_features"]] if forward else []
    if curve is None or not curve.predicts or not 1 <= len(steps) <= _MOST_ADDITIONS:
        return ""
    kept = len(result["parameters"].get("keep") or [])
    reached = [step[curve.key] for step in steps]
    gains = ["", *(f", {round(after - before, 3) + 0.0:+.3f}" for before, after in pairwise(reached))]
    told = [
        f"{', '.join(step['features'])} ({value:.3f}{gain})"
        for step, value, gain in zip(steps, reached, gains, strict=True)
    ]
    beside = f" to the {kept} that {'is' if kept == 1 else 'are'} kept" if kept else ""
    words = f"Added{beside}, in this order, with the {curve.name} of that many features: {', '.join(told)}."
    return paragraphs([words], style)


def _decision(result: Mapping[str, Any], found: Mapping[str, Any], style: Style) -> str:
    """The decision and its reason, in a sentence or two; ``found`` is the result as it is shown."""
    kind = _KINDS.get(result["input"]["target_kernel"], result["input"]["target_kernel"])
    lines = [f"{capitalized(result['reason'])}; target: {kind}."]
    lines += [f"Kept so that pipelines still run: {_some(result['selected'])}."] if found is not result else []
    if result["test"] is not None:
        splits = len(result["test"]["split_pvalues"])
        lines.append(
            f"Dependence in samples that did not select: p = {result['test']['pvalue']:.2g} ({splits} splits)."
        )
        tested = [row for row in found["ranking"] if row["selected"] and row.get("needed") is not None]
        if tested:
            needed = [row["feature"] for row in tested if row["needed"] <= LEVEL]
            lines.append(f"Needed beyond the others, at {LEVEL:.0%}: {_some(needed) or 'none is shown to be'}.")
    best = next(iter(found.get("interactions") or ()), None)
    if best is not None and best["together"] >= LEAST_TOGETHER:
        lines.append(f"Together {' and '.join(best['features'])} are worth {best['together']:.2f} more R2 than apart.")
    if found.get("stability"):
        lines.append(_stability(result))
    return paragraphs(lines, style)


def _stability(result: Mapping[str, Any]) -> str:
    """Sentence with the share of random halves in which each selected feature is selected again."""
    stability = result["stability"]
    frequency = {found["feature"]: found["frequency"] for found in stability["features"]}
    told = _some([f"{name} {100 * frequency.get(name, 0.0):.0f}%" for name in result["selected"]])
    return f"Selected again, in {stability['n_resamples']} random halves of the samples: {told}."


def _some(words: Sequence[str]) -> str:
    """The first of some words, and how many more there are."""
    more = f" and {len(words) - _MOST_ADDITIONS} more" if len(words) > _MOST_ADDITIONS else ""
    return ", ".join(words[:_MOST_ADDITIONS]) + more


def paragraphs(lines: Sequence[str], style: Style) -> str:
    """Lines, wrapped to the width of the terminal."""
    return "".join(
        f"{wrapped}\n" for line in lines for wrapped in wrap(for_terminal(line, style.encoding), style.width)
    )
