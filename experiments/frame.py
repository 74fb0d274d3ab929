"""What an experiment is: a grid of cells, a quick grid, and a function from a cell to rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from experiments.rows import VERSION, Row, Rows
from experiments.version import version

Cell = dict[str, Any]

#: Modules with an `EXPERIMENT`, in the order in which all are run.
NAMES = (
    *("artificial", "ring", "planted", "real", "machines", "judges", "genes", "raw", "tables", "honest", "junk"),
    "eeg",
)

RESULTS = Path(__file__).resolve().parent / "results"


def _no_rows(cell: Cell) -> list[Row]:
    raise NotImplementedError(f"cell {cell} took too long, and its experiment does not say what to record")


def _always(cell: Cell) -> bool:
    return True


def _no_figure(rows: list[Row], folder: Path) -> list[Path]:
    return []


@dataclass(frozen=True)
class Experiment:
    """A grid of cells, each of which gives rows.

    Parameters
    ----------
    name : str
        Name of its module, and of its file of rows.
    keys : tuple of str
        The columns that tell cells apart; a cell is a dict of these, and perhaps of more that its rows need.
    columns : tuple of str
        The columns of a row, but for the version of the code, which each row has.
    grid : callable
        ``grid(quick, results)`` gives the cells, in the order in which they should run; `results` is the folder of
        the rows, for an experiment that builds on another one.
    rows : callable
        ``rows(cell, folder)`` computes the rows of a cell, with data from the folder.
    figure : callable
        ``figure(rows, folder)`` draws into files in the folder and returns their paths; none by default.
    repeats : tuple of str
        Keys that only count repetitions, such as folds. Where a cell takes too long, the cells that
        differ from it in these alone are not tried.
    time_limit : float or None
        Seconds of processor time for one cell.
    stopped : callable
        ``stopped(cell)`` gives the rows of a cell that took too long.
    ours : callable
        ``ours(cell)`` says whether the code of this library decides on the rows of a cell; it always does by default.
    """

    name: str
    keys: tuple[str, ...]
    columns: tuple[str, ...]
    grid: Callable[[bool, Path], Sequence[Cell]]
    rows: Callable[[Cell, Path | None], list[Row]]
    figure: Callable[[list[Row], Path], list[Path]] = _no_figure
    repeats: tuple[str, ...] = ()
    time_limit: float | None = None
    stopped: Callable[[Cell], list[Row]] = _no_rows
    ours: Callable[[Cell], bool] = _always

    def store(self, folder: Path = RESULTS) -> Rows:
        """The file of rows."""
        return Rows(folder / f"{self.name}.csv", self.columns, self.keys)

    def version(self, cell: Cell) -> str:
        """Version of the code that makes the rows of this cell; one built on another row has that row's version."""
        return str(cell[VERSION]) if VERSION in cell else version(ours=self.ours(cell))

    def series(self, cell: Cell) -> tuple[Any, ...]:
        """What this cell shares with its repetitions."""
        return tuple(cell[name] for name in self.keys if name not in self.repeats)


def experiment_named(name: str) -> Experiment:
    """The experiment of this name."""
    if name not in NAMES:
        raise ValueError(f"experiment is {name!r}; accepted: {', '.join(NAMES)}")
    experiment: Experiment = import_module(f"experiments.{name}").EXPERIMENT
    return experiment
