"""Colours and sizes that the drawn pictures share, and how they are saved."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

DPI = 144

# Three colours that differ in grey too.
DARK, LIGHT, ACCENT = "#1b3a5c", "#9fb3c8", "#c2410c"

_SETTINGS = {
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "figure.facecolor": "white",
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "legend.frameon": False,
}


def pyplot() -> Any:
    """matplotlib without a screen."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def drawn(path: Path, width: int, height: int, draw: Callable[[Any], None]) -> None:
    """Make a picture of this many pixels by a function that draws on an empty figure."""
    plt = pyplot()
    with plt.rc_context(_SETTINGS):
        figure = plt.figure(figsize=(width / DPI, height / DPI), layout="constrained")
        draw(figure)
        save(figure, path)


def save(figure: Any, path: Path) -> None:
    """Write a figure as a small PNG without the versions of libraries, and close it."""
    pixels = io.BytesIO()
    figure.savefig(pixels, format="png", dpi=DPI)
    pyplot().close(figure)
    write_small(pixels, path)


def write_small(pixels: Any, path: Path) -> None:
    """Write a PNG (a file, or what is in memory) in 128 colours, which takes a fraction of the bytes."""
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    with Image.open(pixels) as image:
        small = image.convert("RGB").quantize(128, dither=Image.Dither.NONE)
    small.save(path, optimize=True)
