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


def _ring(path: Path) -> None:
    """Shares of the relevant features on the published problems."""
    from experiments.ring import EXPERIMENT
    from experiments.ring_figure import ring_figure

    write_small(ring_figure(EXPERIMENT.store().read(), path.parent), path)


def _ranks(path: Path) -> None:
    """Mean ranks of the methods by each judge."""
    from experiments.judges import EXPERIMENT

    drawn = EXPERIMENT.figure(EXPERIMENT.store().read(), path.parent)
    write_small(drawn[0], path)


def _scale(path: Path) -> None:
    """Error of blocks against their cost."""
    import scale_page
    from marked import read

    scale_page.draw(read("scale"), path)


_RESULTS = _ROOT / "experiments" / "results"
_ARTIFICIAL: tuple[Any, ...] = (
    *(_artificial, 1000, 1100),
    *(_ROOT / "experiments" / "figures.py", _RESULTS / "artificial.csv"),
)
PICTURES = {
    "artificial_10_runs.png": _ARTIFICIAL,
    "artificial_100_runs.png": _ARTIFICIAL,
    "ring.png": (_ring, 1300, 900, _ROOT / "experiments" / "ring_figure.py", _RESULTS / "ring.csv"),
    "ranks.png": (
        *(_ranks, 1300, 550, _ROOT / "experiments" / "ranks_figure.py"),
        *(_RESULTS / "real.csv", _RESULTS / "judges.csv"),
    ),
    "scale.svg": (
        _scale,
        648,
        273,
        _ROOT / "benchmarks" / "scale_page.py",
        _ROOT / "benchmarks" / "results" / "scale.csv",
    ),
}
