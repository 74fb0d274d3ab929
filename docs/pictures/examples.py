"""Pictures of docs/pictures.md: the examples of that page are run, and what each `ax = plot_...` draws is kept."""

import doctest
import re
from pathlib import Path
from typing import Any

from style import DPI, pyplot, save

_PAGE = Path(__file__).resolve().parents[1] / "pictures.md"
_WIDTH, _HEIGHT = 920, 560
_DRAWS = re.compile(r"ax = (plot_\w+)\(")


def _code() -> list[str]:
    """The statements of the page."""
    found = doctest.DocTestParser().get_examples(_PAGE.read_text(encoding="utf-8"))
    return [example.source for example in found]


def _example(path: Path) -> None:
    """Run the page up to the call of the function that the picture is named after."""
    plt, known = pyplot(), dict[str, Any]()
    with plt.rc_context({"figure.figsize": (_WIDTH / DPI, _HEIGHT / DPI), "figure.constrained_layout.use": True}):
        for source in _code():
            plt.close("all")
            exec(source, known)  # noqa: S102 - code of our own page, which the tests run too
            if (match := _DRAWS.match(source)) and match[1] == path.stem:
                known["ax"].figure.set_size_inches(_WIDTH / DPI, _HEIGHT / DPI)  # some choose their own height
                save(known["ax"].figure, path)
                return
    raise ValueError(f"{_PAGE.name} has no line 'ax = {path.stem}(...)'")


PICTURES = {
    f"{match[1]}.png": (_example, _WIDTH, _HEIGHT, "".join(_code()))
    for source in _code()
    if (match := _DRAWS.match(source))
}
