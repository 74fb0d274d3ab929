"""Put the rows of `scale` into docs/appendix/scale.md, two tables between comments, and draw error against cost."""

import math
from collections.abc import Sequence
from pathlib import Path

from marked import Line, placed, read, table

_ROOT = Path(__file__).resolve().parents[1]
_COLOURS = {"exact": "black", "blocks": "tab:blue", "subsample": "tab:orange"}


def filled(page: str, rows: Sequence[Line]) -> str:
    """The page with the tables of these rows."""
    return placed(page, {"errors": _errors(rows), "measured": _measured(rows)})


def _measured(rows: Sequence[Line]) -> str:
    lines = [[row["what"], _plain(float(row["value"])), row["bar"], row["note"]] for row in rows if not row["way"]]
    return table(["", "measured", "bar", ""], lines)


def _plain(value: float) -> str:
    return f"{value:.0f}" if value.is_integer() else f"{value:.2f}"


def _errors(rows: Sequence[Line]) -> str:
    """A line for each size of blocks, beside the subsample with as many pairs; the last one is exact."""
    of_pairs = [row for row in rows if row["case"] == "dependent" and row["way"] != "subsample"]
    of_pairs.sort(key=lambda row: float(row["pairs"]))
    head = ["B", "pairs", "blocks, dependent", "subsample", "blocks, independent", "subsample"]
    return table(head, [_error_line(row, rows) for row in of_pairs])


def _error_line(line: Line, rows: Sequence[Line]) -> list[str]:
    pairs = float(line["pairs"])
    cells = [
        next((f"{100 * float(row['value']):.2f} %" for row in rows if _is(row, case, way, pairs)), "")
        for case in ("dependent", "independent")
        for way in (line["way"], "subsample")
    ]
    return ["all: exact" if line["way"] == "exact" else line["size"], f"{pairs:,.0f}", *cells]


def _is(row: Line, case: str, way: str, pairs: float) -> bool:
    return (row["case"], row["way"]) == (case, way) and math.isclose(float(row["pairs"]), pairs, rel_tol=0.01)


def draw(rows: Sequence[Line], path: Path) -> None:
    """A panel for dependent labels and one for independent ones, both axes logarithmic."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")
    for axes, case in zip(panels, ("dependent", "independent"), strict=True):
        for way, colour in _COLOURS.items():
            chosen = [row for row in rows if row["way"] == way and row["case"] == case]
            points = sorted((float(row["pairs"]), float(row["value"])) for row in chosen)
            axes.loglog(*zip(*points, strict=True), "o-", color=colour, label=way)
        axes.set(title=f"{case} labels", xlabel="pairs of samples")
    panels[0].set_ylabel("root mean squared error / HSIC")
    panels[0].legend()
    with mpl.rc_context({"svg.hashsalt": "bahsic"}):
        figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    page = _ROOT / "docs" / "appendix" / "scale.md"
    page.write_text(filled(page.read_text(encoding="utf-8"), read("scale")), encoding="utf-8")
    draw(read("scale"), _ROOT / "docs" / "scale.svg")
