"""What the pages on the brain-computer interface show of the rows."""

from pathlib import Path

from experiments import eeg_option_table, eeg_table
from experiments.eeg import EXPERIMENT, N_REPEATS, SUBJECTS
from experiments.eeg_methods import CONTROLS, METHODS


def parts(results: Path) -> dict[str, str]:
    """Return the tables and generated sentences by the names that the pages have for them."""
    rows = EXPERIMENT.store(results).read()
    cells = {(row["subject"], row["method"], row["repeat"]) for row in rows if row["subject"] in SUBJECTS}
    n_cells = len(SUBJECTS) * len(METHODS | CONTROLS) * N_REPEATS
    return {
        "n_there": str(len(cells)),
        "n_cells": str(n_cells + eeg_option_table.n_option_cells(len(SUBJECTS), N_REPEATS)),
        "errors": eeg_table.errors(rows),
        "differences": eeg_table.differences(rows),
        "paper": eeg_table.of_paper(),
        "finding": eeg_table.finding(rows),
        "controls": eeg_table.controls(rows),
        "reason": eeg_table.reason(rows),
        "options": eeg_option_table.options(rows),
        "option_finding": eeg_option_table.finding(rows),
        "limits": eeg_option_table.limits(rows),
        "channels": eeg_option_table.channels(rows),
        "rhythms": eeg_table.rhythms(rows),
        "seconds": eeg_table.seconds(rows),
    }
