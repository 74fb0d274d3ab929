"""HSIC of frequency bands, a panel for each subject (the paper's figure fg:bci)."""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bahsic.eeg import band_hsic
from experiments.data import MissingDataError
from experiments.eeg_recordings import load
from experiments.figures import pyplot

LOWER, UPPER = np.arange(2.0, 40.0), np.arange(3.0, 41.0)
_COLUMNS = 3


def bands_figure(subjects: Sequence[str], data: Path | None, folder: Path) -> list[Path]:
    """Draw the bands of all trials of each subject; without the recordings say so and draw nothing."""
    try:
        recordings = {subject: load(subject, data) for subject in subjects}
    except MissingDataError as error:
        print(f"no figure of frequency bands: {error}", file=sys.stderr)
        return []
    from bahsic.plotting import plot_bands

    plt = pyplot()
    n_lines = -(-len(subjects) // _COLUMNS)
    figure, axes = plt.subplots(n_lines, _COLUMNS, figsize=(13, 4 * n_lines), layout="constrained", squeeze=False)
    for ax, (subject, trials) in zip(axes.flat, recordings.items(), strict=False):
        values = band_hsic(trials.X, trials.y, trials.sfreq, LOWER, UPPER)
        plot_bands(values, LOWER, UPPER, ax=ax).set_title(subject)
    for ax in axes.flat[len(subjects) :]:
        ax.remove()
    path = folder / "eeg_bands.png"
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=80, metadata={"Software": None})
    plt.close(figure)
    return [path]
