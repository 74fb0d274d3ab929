"""The paper's third experiment: errors of a brain-computer interface after selecting frequencies."""

import time
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.data import data_folder
from experiments.eeg_methods import CONTROLS, METHODS, Trials, machine
from experiments.eeg_options import CHANNEL_REPEATS, CHANNELS, N_CHANNELS, OPTIONS
from experiments.eeg_recordings import Labels, load, others
from experiments.frame import Cell, Experiment
from experiments.rows import Row

SUBJECTS = ("S094", "S007", "S042", "S029", "S056", "S048")
N_REPEATS = 50
_ALL = METHODS | CONTROLS | OPTIONS | CHANNELS


def grid(quick: bool, results: Path) -> list[Cell]:
    """Every subject, method and repeat; the first repeats of all come first. Numbers of channels have fewer repeats.

    Beside the six subjects there are those of other files in the folder bci of $BAHSIC_DATA or ../shared/data.
    """
    if quick:
        one_number = [method for method in _ALL if method not in CHANNELS or method.endswith(f"_{N_CHANNELS[0]}")]
        return _cells(SUBJECTS[2:3], one_number, 1)
    return _cells((*SUBJECTS, *others(data_folder())), list(_ALL), N_REPEATS)


def _cells(subjects: tuple[str, ...], methods: list[str], n_repeats: int) -> list[Cell]:
    return [
        {"subject": subject, "method": method, "repeat": repeat}
        for repeat in range(n_repeats)
        for subject in subjects
        for method in methods
        if method not in CHANNELS or repeat < CHANNEL_REPEATS
    ]


def rows(cell: Cell, folder: Path | None) -> list[Row]:
    """Errors in percent in each half of the trials, after training on the other half."""
    data, method = load(cell["subject"], folder), _ALL[cell["method"]]
    machine()  # so that no import is measured
    found = []
    for fold, (train, test) in enumerate(halves(data.y, cell["subject"], cell["repeat"])):
        trials = Trials(data.X[train], data.y[train], data.X[test], data.sfreq)
        start = time.process_time()
        decoded = method(trials)
        seconds = time.process_time() - start
        error = 100 * np.mean(decoded.y != data.y[test])
        found.append({"fold": fold, "error": f"{error:.4f}", "seconds": f"{seconds:.3f}", "detail": decoded.detail})
    return found


def halves(y: Labels, subject: str, repeat: int) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Training and test trials of two folds with the same share of each class; the same ones for all methods."""
    from sklearn.model_selection import StratifiedKFold

    seed = zlib.crc32(f"{subject} {repeat}".encode())
    return list(StratifiedKFold(2, shuffle=True, random_state=seed).split(y, y))


def _figure(rows: list[Row], folder: Path) -> list[Path]:
    from experiments.eeg_figure import bands_figure

    return bands_figure(SUBJECTS, data_folder(), folder)


def _selected_by_us(cell: Cell) -> bool:
    """Whether this library chooses frequencies or channels; it takes no part in CSP, CSSP, CSSSP and random choices."""
    return cell["method"] not in ("csp", "cssp", "csssp") and "random" not in cell["method"]


EXPERIMENT = Experiment(
    name="eeg",
    keys=("subject", "method", "repeat"),
    columns=("subject", "method", "repeat", "fold", "error", "seconds", "detail"),
    grid=grid,
    rows=rows,
    figure=_figure,
    ours=_selected_by_us,
    repeats=("repeat",),
)
