"""Pictures that other scripts draw from committed rows."""

from pathlib import Path
from typing import Any

from style import write_small

_ROOT = Path(__file__).resolve().parents[2]


def _artificial(path: Path) -> None:
    """The paper's figure of artificial data; its script draws it in full colour."""
    from experiments.artificial import EXPERIMENT
    from experiments.figures import artificial_figure

    drawn = artificial_figure(EXPERIMENT.store().read(), path.parent, int(path.stem.split("_")[1]))
    write_small(drawn, path)


def _scale(path: Path) -> None:
    """Error of blocks against their cost."""
    import scale_page
    from marked import read

    scale_page.draw(read("scale"), path)


_ARTIFICIAL: tuple[Any, ...] = (
    *(_artificial, 1000, 1100),
    *(_ROOT / "experiments" / "figures.py", _ROOT / "experiments" / "results" / "artificial.csv"),
)
PICTURES = {
    "artificial_10_runs.png": _ARTIFICIAL,
    "artificial_100_runs.png": _ARTIFICIAL,
    "scale.svg": (
        _scale,
        648,
        273,
        _ROOT / "benchmarks" / "scale_page.py",
        _ROOT / "benchmarks" / "results" / "scale.csv",
    ),
}
