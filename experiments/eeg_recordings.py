"""Recordings of motor imagery: trials and their classes, from two kinds of files."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.baselines import Array
from experiments.data import MissingDataError

Labels = NDArray[np.int64]

#: Seconds after the cue between which the signals are looked at.
START, STOP = 0.5, 3.5

INSTALL = 'pip install -e ".[experiments]"'


@dataclass(frozen=True)
class Recording:
    """Trials of two classes.

    Parameters
    ----------
    X : ndarray of shape (n_trials, n_channels, n_samples)
        Microvolts, from `START` to `STOP`.
    y : ndarray of int of shape (n_trials,)
        0 or 1.
    sfreq : float
        Samples a second.
    """

    X: Array
    y: Labels
    sfreq: float


@lru_cache(maxsize=2)
def load(subject: str, folder: Path | None) -> Recording:
    """Return the recording of a subject in the folder ``bci`` of the data sets."""
    readers = {
        f"{subject}.npz": from_archive,
        f"data_set_IVa_{subject}.mat": from_competition,
    }
    if folder is None:
        raise MissingDataError(
            f"folder of the data sets is None; accepted: --data or $BAHSIC_DATA with bci/{subject}.npz"
        )
    for name, reader in readers.items():
        if (path := folder / "bci" / name).exists():
            return reader(path)
    raise MissingDataError(
        f"subject is {subject!r}; accepted: one with bci/{' or bci/'.join(readers)} in the data folder"
    )


def others(folder: Path | None) -> list[str]:
    """Return the subjects of the competition that a folder of data sets has."""
    found = [] if folder is None else (folder / "bci").glob("data_set_IVa_*.mat")
    return sorted(path.stem.removeprefix("data_set_IVa_") for path in found)


def from_archive(path: Path) -> Recording:
    """An .npz file with X (trials x channels x samples), scale, y, sfreq and tmin, the time of the first sample."""
    with np.load(path, allow_pickle=False) as file:
        sfreq, values = float(file["sfreq"]), file["X"]
        part = _window(-float(file["tmin"]) * sfreq, sfreq, values.shape[-1])
        return Recording(values[..., part] * float(file["scale"]), _binary(file["y"]), sfreq)


def from_competition(path: Path) -> Recording:
    """A file of the BCI Competition III, data set IVa, with the file of its true labels beside it.

    The .mat file has ``cnt`` (samples x channels, int16, units of 0.1 microvolts), ``mrk.pos`` (sample of each cue,
    counted from 1), ``mrk.y`` (1 or 2, NaN in the test trials) and ``nfo.fs``; ``true_labels_aa.mat`` has ``true_y``.
    """
    from scipy.io import loadmat

    labels = path.with_name(path.name.replace("data_set_IVa_", "true_labels_"))
    if not labels.exists():
        raise ValueError(f"true labels of {path.name} are missing; accepted: a file {labels.name} beside it")
    file = loadmat(path, squeeze_me=True, struct_as_record=False)
    y, known = loadmat(labels, squeeze_me=True)["true_y"], np.asarray(file["mrk"].y, dtype=float)
    if y.shape != known.shape or np.any((y != known) & ~np.isnan(known)):
        raise ValueError(f"true_y of {labels.name} differs from mrk.y; accepted: the labels of the same subject")
    sfreq = float(file["nfo"].fs)
    trials = [file["cnt"][_window(cue - 1.0, sfreq, len(file["cnt"]))].T for cue in file["mrk"].pos]
    return Recording(0.1 * np.array(trials, dtype=float), _binary(y), sfreq)


def _window(cue: float, sfreq: float, n_samples: int) -> slice:
    """Samples from `START` to `STOP` of a trial whose cue is at this sample."""
    first = round(cue + START * sfreq)
    last = first + round((STOP - START) * sfreq)
    if first < 0 or last > n_samples:
        raise ValueError(f"a trial has samples {first} to {last} of {n_samples}; accepted: {STOP:g} s after each cue")
    return slice(first, last)


def _binary(y: NDArray[Any]) -> Labels:
    classes, numbers = np.unique(y, return_inverse=True)
    if len(classes) != 2:
        raise ValueError(f"classes are {classes.tolist()}; accepted: two of them")
    return numbers.astype(np.int64)
