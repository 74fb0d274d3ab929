"""Critical-difference picture: mean ranks by judge, with bars over methods that can't be told apart."""

from pathlib import Path
from typing import Any

from experiments.figures import pyplot
from experiments.judges import JUDGES
from experiments.judges_table import TITLES, Judged, compared, mean_ranks
from experiments.methods import METHODS
from experiments.ranks import alike, critical_difference
from experiments.real import BINARY


def ranks_figure(found: Judged, folder: Path) -> Path:
    """A panel for each judge: the mean ranks on the binary sets, the best above."""
    plt = pyplot()
    figure, axes = plt.subplots(1, len(JUDGES), figsize=(13, 5.5), layout="constrained")
    for panel, judge in zip(axes, JUDGES, strict=True):
        there = compared(found[judge], BINARY)
        ranks = mean_ranks(found[judge], there)
        if len(ranks) > 1:
            _panel(panel, ranks, critical_difference(len(ranks), len(there)))
        panel.set(title=f"{TITLES[judge]}, {len(there)} binary sets")
    path = folder / "ranks.png"
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100, metadata={"Software": None})
    plt.close(figure)
    return path


def _panel(panel: Any, ranks: dict[str, float], width: float) -> None:
    """A point for each method, and for each group that can't be told apart a bar beside them."""
    order = sorted(ranks, key=lambda name: ranks[name])
    panel.plot([ranks[name] for name in order], range(len(order)), "o", color="tab:red", markersize=5)
    right = max(ranks.values()) + 0.5
    for number, group in enumerate(alike(ranks, width)):
        x = right + 0.4 * number
        panel.plot([x, x], [order.index(group[0]) - 0.2, order.index(group[-1]) + 0.2], color="0.4", linewidth=2.5)
    panel.set_yticks(range(len(order)), [METHODS[name].title for name in order])
    panel.invert_yaxis()
    panel.grid(axis="x", color="0.9")
    panel.set_xlabel(f"mean rank; critical difference {width:.1f}")
