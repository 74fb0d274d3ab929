"""Draw error against cost from the rows of `scale`: ``plot_scale.py`` writes docs/scale.svg."""

import csv
import math
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_COLOURS = {"exact": "#222222", "blocks": "#0060a0", "subsample": "#c05000"}
_WIDTH, _HEIGHT, _LEFT, _TOP = 330, 260, 60, 40
_PANELS = {"dependent": 0, "independent": _WIDTH + 70}

Line = dict[str, str]


def drawn(lines: list[Line]) -> str:
    """The plot as SVG: a panel for dependent and one for independent labels, both axes logarithmic."""
    x = _scale([float(line["pairs"]) for line in lines], _WIDTH)
    y = _scale([float(line["value"]) for line in lines], _HEIGHT)
    parts = [_panel(case, left, x, y) for case, left in _PANELS.items()]
    for case, left in _PANELS.items():
        for number, way in enumerate(_COLOURS):
            chosen = [line for line in lines if line["case"] == case and line["way"] == way]
            points = sorted((x(float(line["pairs"])), y(float(line["value"]))) for line in chosen)
            parts.append(_curve([(_LEFT + left + a, _TOP + _HEIGHT - b) for a, b in points], _COLOURS[way]))
            parts.append(_text(_LEFT + left + _WIDTH - 8, _TOP + 18 + 16 * number, way, "end", _COLOURS[way]))
    width, height = _LEFT + 2 * _WIDTH + 90, _TOP + _HEIGHT + 50
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
    ground = '<rect width="100%" height="100%" fill="white"/>'
    return "\n".join([head + 'font-size="12">', ground, *parts, "</svg>", ""])


def _scale(values: list[float], length: int):  # noqa: ANN202 - a function of floats
    low, high = math.log10(min(values)) - 0.1, math.log10(max(values)) + 0.1

    def place(value: float) -> float:
        return (math.log10(value) - low) / (high - low) * length

    ticks = [digit * 10.0**k for k in range(math.floor(low), math.ceil(high)) for digit in (1, 2, 5)]
    place.ticks = [tick for tick in ticks if low <= math.log10(tick) <= high]  # type: ignore[attr-defined]
    return place


def _panel(case: str, left: int, x, y) -> str:  # noqa: ANN001
    a, b = _LEFT + left, _TOP + _HEIGHT
    parts = [f'<rect x="{a}" y="{_TOP}" width="{_WIDTH}" height="{_HEIGHT}" fill="none" stroke="#888"/>']
    parts.append(_text(a + _WIDTH / 2, _TOP - 12, f"{case} labels", "middle"))
    parts.append(_text(a + _WIDTH / 2, b + 38, "pairs of samples", "middle"))
    parts += [_text(a + x(tick), b + 18, f"{tick / 1e6:g}M", "middle") for tick in x.ticks]
    parts += [_text(a - 6, b - y(tick) + 4, f"{tick:g}", "end") for tick in y.ticks]
    parts += [f'<path d="M{a + x(tick):.1f} {b}v-5" stroke="#888"/>' for tick in x.ticks]
    parts += [f'<path d="M{a} {b - y(tick):.1f}h5" stroke="#888"/>' for tick in y.ticks]
    if left == 0:
        parts.append(_text(a, _TOP - 26, "root mean squared error / HSIC", "start"))
    return "\n".join(parts)


def _curve(points: list[tuple[float, float]], colour: str) -> str:
    path = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in points)
    dots = "".join(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3.5" fill="{colour}"/>' for a, b in points)
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>{dots}'


def _text(x: float, y: float, words: str, anchor: str, colour: str = "#222222") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{words}</text>'


if __name__ == "__main__":
    with (_ROOT / "benchmarks" / "results" / "scale.csv").open(encoding="utf-8") as file:
        rows = [line for line in csv.DictReader(file) if line.get("way")]
    (_ROOT / "docs" / "scale.svg").write_text(drawn(rows), encoding="utf-8")
